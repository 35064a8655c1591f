/** Two numbers of each row as a dot. */

import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { formatCount } from '../../../text.js';
import { keyTexts, nameOf } from '../chart-columns.js';
import { NO_LOG, notDrawn, notes } from '../chart-notes.js';
import {
  allRows,
  type ChartColumn,
  groupNumbers,
  numbersOf,
  rowsOfGroup,
  valuesIn,
} from '../chart-values.js';
import { xyForm } from '../draw/xy.js';
import type { XyChart } from '../model.js';
import { entriesFor } from '../palette.js';
import { isLogFor, plotOf, scaled, titleOf, unitOf, valuesOf } from '../plots.js';
import { spread } from '../thin.js';
import { toSeries } from '../time/time-series.js';
import { greatestSize, scaleFor } from '../units.js';
import type { ChartInput } from './input.js';
import type { KindRow } from './kind.js';
import { numbersChart } from './shared/along.js';

const MAX_GROUPS = 10;
/** Each dot is a mark of its own in the image, which the notebook stores. */
const MAX_DOTS = 1_000;

/** Returns the second measure over the first, colored by the keys if they are few. */
function toScatter(
  { table, roles: { keys, measures, leftOut } }: ChartInput,
  options: ChartOptions,
): XyChart | string {
  const [across, up, ...beyond] = measures;
  if (across === undefined || up === undefined) return 'No scatter plot: it needs two numbers in each row.';
  const rows = rowsWith(across, up);
  if (rows.length === 0) return `No scatter plot: no row has both ${nameOf(across)} and ${nameOf(up)}.`;
  const groups = groupNumbers(keys, rows);
  const isFew = groups.count <= MAX_GROUPS;
  const colored = isFew ? groups : groupNumbers([], rows);
  // Each group keeps its extremes, even if dots of other groups cover it.
  const most = rows.length <= MAX_DOTS ? MAX_DOTS : Math.floor(MAX_DOTS / colored.count);
  const drawn = Array.from({ length: colored.count }, (_, group) => {
    const own = rowsOfGroup(rows, colored, group);
    const [x, y] = [valuesIn(across, own), valuesIn(up, own)];
    return spread({ x, y }, most).map(at => ({ row: own[at] ?? 0, t: x[at] ?? 0, v: y[at] ?? 0 }));
  });
  const kept = drawn.flat();
  const xScale = scaleFor(unitOf(across), greatestSize(valuesIn(across, rows)));
  const entries = entriesFor(drawn.map(([first]) => keyTexts(keys, first?.row ?? 0)));
  const lines = entries.map((entry, index) => ({
    ...entry,
    points: (drawn[index] ?? []).map(({ t, v }) => ({ t: scaled(t, xScale.factor), v, partial: false })),
  }));
  const isLog = isLogFor(valuesOf(lines), options);
  const without = table.data.numRows - rows.length;
  const plot = plotOf(nameOf(up), lines, { unit: unitOf(up, options), mark: 'dots', isLog });
  return numbersChart([plot], {
    across: titleOf(nameOf(across), xScale.unit),
    legend: isFew && keys.length > 0 && lines.length > 1 ? entries : [],
    names: [nameOf(up), nameOf(across)],
    notes: notes(
      options.log === true && !isLog && NO_LOG,
      without > 0 &&
        `not drawn: ${formatCount(without)} of ${formatCount(table.data.numRows)} rows, which lack a number`,
      kept.length < rows.length &&
        `${formatCount(kept.length)} of ${formatCount(rows.length)} dots: overlapping dots are drawn once`,
      !isFew && keys.length > 0 && `more than ${MAX_GROUPS} groups: one color`,
      notDrawn([...beyond, ...leftOut]),
    ),
  });
}

/** Returns the rows that have both numbers. */
function rowsWith(across: ChartColumn, up: ChartColumn): Uint32Array {
  const [x, y] = [numbersOf(across), numbersOf(up)];
  return allRows(x.length).filter(row => !Number.isNaN(x[row]) && !Number.isNaN(y[row]));
}

export const scatter: KindRow = {
  label: 'Dots',
  title: 'scatter plot',
  needs: 'two numbers in each row, or numbers over time',
  draws: {
    'percentiles over time': toSeries,
    series: toSeries,
    'measures over time': toSeries,
    'numbers by name': toScatter,
    'two numbers in each row': toScatter,
  },
  form: xyForm,
};
