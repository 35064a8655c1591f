/** One row of numbers, large enough to read from afar. */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { cutToWidth } from '../../display/aligned.js';
import { formatNumber, numberFormat } from '../../display/display-format.js';
import { cellText } from '../../display/display-text.js';
import { FIELD_KEY } from '../../field.js';
import { distinctNames } from '../chart-columns.js';
import { firstOf, notDrawn, notes } from '../chart-notes.js';
import type { ChartColumn } from '../chart-values.js';
import { tip } from '../draw/axes.js';
import { type Drawing, mark, TEXT_COLOR, widest } from '../draw/draw-style.js';
import type { ChartModel } from '../model.js';
import { unitOf } from '../plots.js';
import type { ChartInput } from './input.js';
import type { ChartForm, KindRow } from './kind.js';

/** Numbers to read from afar. */
export interface StatChart extends ChartModel {
  readonly kind: 'stat';
  readonly tiles: readonly { readonly name: string; readonly text: string; readonly exact: string }[];
}

const MAX_TILES = 12;
/** The exponent of a number without a unit. */
const EXPONENT = /e-?\d+$/;

/** Returns the numbers of the first row; their exact values are beside the formatted ones. */
function toStat({ roles: { measures, leftOut } }: ChartInput, options: ChartOptions): StatChart {
  const shown = measures.slice(0, MAX_TILES);
  const names = distinctNames(shown);
  const tiles = shown.map((column, index) => {
    const { field, vector } = column;
    const exact = cellText(vector, 0, field) ?? 'null';
    const unit = unitOf(column, options);
    const asked = options.unit === undefined ? field : withUnit(field, options.unit);
    const text = formatNumber(exact, numberFormat(asked, vector));
    const isPlain = unit !== '' && exact !== 'null' && !/[a-z\u00b5%]/i.test(text.replace(EXPONENT, ''));
    return { name: names[index] ?? '', text: isPlain ? `${text} ${unit}` : text, exact };
  });
  return {
    kind: 'stat',
    tiles,
    legend: [],
    names,
    notes: notes(firstOf(shown.length, measures.length, 'numbers'), notDrawn(leftOut)),
  };
}

function withUnit(field: ChartColumn['field'], unit: string): ChartColumn['field'] {
  return field.clone({ metadata: new Map([...field.metadata, [FIELD_KEY.unit, unit]]) });
}

/** Returns as many numbers in a row as fit. Neither a number nor a name is cut, since that would change its meaning. */
function statDrawing({ tiles }: StatChart): Drawing {
  const longest = tiles.reduce((most, { text }) => Math.max(most, text.length), 0);
  const size = longest <= 16 ? 30 : 20;
  const names = widest(tiles.map(each => each.name)) * (NAME_SIZE / 11);
  const tile = Math.max(170, Math.ceil(longest * size * 0.6) + 24, Math.ceil(names) + 16);
  const columns = `max(1, min(${tiles.length}, floor(outer / ${tile})))`;
  const [name, number] = [16, 52];
  const line = (offset: number, field: string, more: object) =>
    mark('text', 'tiles', {
      ...{ x: { field: 'x' }, y: { field: 'y', offset }, text: { field }, align: { value: 'left' } },
      ...{ baseline: { value: 'alphabetic' }, fill: { value: TEXT_COLOR }, ...more },
      tooltip: tip({ name: 'datum.n', 'exact value': 'datum.e' }),
    });
  return {
    marks: [
      line(name, 'n', { fontSize: { value: NAME_SIZE } }),
      line(number, 'v', { fontSize: { value: size }, fontWeight: { value: 600 } }),
    ],
    data: [
      {
        name: 'tiles',
        values: tiles.map((each, i) => ({ i, n: each.name, v: each.text, e: each.exact })),
        transform: [
          { type: 'formula', as: 'x', expr: `(datum.i % ${columns}) * ${tile}` },
          { type: 'formula', as: 'y', expr: `floor(datum.i / ${columns}) * ${ROW}` },
        ],
      },
    ],
    labels: {},
    titles: [],
    beside: String(BESIDE),
    height: `ceil(${tiles.length} / ${columns}) * ${ROW}`,
  };
}

const ROW = 74;
const NAME_SIZE = 12;
const BESIDE = 12;

const form: ChartForm<StatChart> = {
  type: 'stat',
  title: () => 'Big numbers',
  clauses: ({ tiles }) => tiles.map(({ name, text }) => `${name}: ${text}`),
  draw: statDrawing,
  print: ({ tiles }, width) => tiles.map(({ name, text }) => cutToWidth(`${name}: ${text}`, width)),
};

export const stat: KindRow = {
  label: 'Big numbers',
  title: 'big number',
  needs: 'a single row of numbers',
  draws: { 'one row of numbers': toStat, 'one number': toStat },
  form,
};
