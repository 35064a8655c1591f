/**
 * One row of numbers, as big numbers.
 */
import type { ChartWish } from '../../../apl/operators/drawing.js';
import { formatNumber, numberFormat } from '../../display/format.js';
import { cellText } from '../../display/text.js';
import { FIELD_KEY } from '../../field.js';
import { distinctNames, namesOf } from '../columns.js';
import type { StatChart } from '../model.js';
import { unitOf } from '../time/series.js';
import type { ChartColumn } from '../values.js';

const MAX_TILES = 12;

/** Returns the numbers of the first row; their exact texts are beside those for people. */
export function toStat(
  measures: readonly ChartColumn[],
  leftOut: readonly ChartColumn[],
  wish: ChartWish,
): StatChart {
  const shown = measures.slice(0, MAX_TILES);
  const names = distinctNames(shown);
  const tiles = shown.map((column, index) => {
    const { field, vector } = column;
    const exact = cellText(vector, 0, field) ?? 'null';
    const unit = unitOf(column, wish);
    const asked = wish.unit === undefined ? field : withUnit(field, wish.unit);
    const text = formatNumber(exact, numberFormat(asked, vector));
    const isPlain = unit !== '' && exact !== 'null' && !/[a-z\u00b5%]/i.test(text);
    return { name: names[index] ?? '', text: isPlain ? `${text} ${unit}` : text, exact };
  });
  return {
    kind: 'stat',
    tiles,
    legend: [],
    names,
    remarks: [
      ...(measures.length > shown.length ? [`the first ${shown.length} of ${measures.length} numbers`] : []),
      ...(leftOut.length > 0 ? [`not drawn: ${namesOf(leftOut)}`] : []),
    ],
  };
}

function withUnit(field: ChartColumn['field'], unit: string): ChartColumn['field'] {
  return field.clone({ metadata: new Map([...field.metadata, [FIELD_KEY.unit, unit]]) });
}
