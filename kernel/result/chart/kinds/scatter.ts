/**
 * Two numbers of each row as a dot.
 */

import { formatCount } from '../../../text.js';
import type { ArrowTable } from '../../result.js';
import { groupKey, nameOf, namesOf, numberAt } from '../columns.js';
import { largest, smallest } from '../extent.js';
import { distinctLabels } from '../labels.js';
import type { ChartWish, XyChart } from '../model.js';
import { FIRST_LOOK, looksFor } from '../palette.js';
import { spread } from '../thin.js';
import { scaled, titleOf, unitOf } from '../time/series.js';
import { scaleFor } from '../units.js';
import { keyTexts, type NameRoles } from './names.js';

const MAX_GROUPS = 10;
/** Each is a mark of its own in the picture, which a notebook holds. */
const MAX_DOTS = 1_000;

/** Returns the second measure over the first, coloured by the keys where they are few. */
export function toScatter(
  table: ArrowTable,
  { keys, measures, leftOut }: NameRoles,
  wish: ChartWish,
): XyChart | string {
  const [across, up, ...beyond] = measures;
  if (across === undefined || up === undefined) return 'No scatter plot: it needs two numbers in each row.';
  const rows = Array.from({ length: table.data.numRows }, (_, row) => ({
    row,
    x: numberAt(across, row),
    y: numberAt(up, row),
  }));
  const known = rows.flatMap(({ row, x, y }) => (x === null || y === null ? [] : [{ row, t: x, v: y }]));
  if (known.length === 0) return `No scatter plot: no row has both ${nameOf(across)} and ${nameOf(up)}.`;
  const kept = spread(known, MAX_DOTS);
  const isFew = new Set(known.map(({ row }) => groupKey(keys, row))).size <= MAX_GROUPS;
  const byKey = new Map<string, (typeof kept)[number][]>();
  for (const dot of kept) {
    const key = isFew ? groupKey(keys, dot.row) : '';
    byKey.set(key, [...(byKey.get(key) ?? []), dot]);
  }
  const xScale = scaleFor(
    unitOf(across),
    known.reduce((most, { t }) => Math.max(most, Math.abs(t)), 0),
  );
  const yScale = scaleFor(
    unitOf(up, wish),
    known.reduce((most, { v }) => Math.max(most, Math.abs(v)), 0),
  );
  const names = [...byKey.values()].map(([first]) => keyTexts(keys, first?.row ?? 0));
  const looks = looksFor(names);
  const labels = distinctLabels(names.map(each => each.join(' \u00b7 ')));
  const lines = [...byKey.values()].map((dots, index) => ({
    label: labels[index] ?? '',
    look: looks[index] ?? FIRST_LOOK,
    points: dots.map(({ t, v }) => ({
      t: scaled(t, xScale.factor) ?? t,
      v: scaled(v, yScale.factor),
      partial: false,
    })),
  }));
  const points = lines.flatMap(line => line.points);
  const ends = endsOf(points.map(({ t }) => t));
  const values = points.flatMap(({ v }) => v ?? []);
  const isLog = wish.log === true && values.every(v => v > 0);
  const [low, high] = isLog ? [smallest(values), largest(values)] : endsOf([0, ...values]);
  const without = rows.length - known.length;
  return {
    kind: 'xy',
    axis: { start: ends[0], end: ends[1], until: ends[1], isSearched: false },
    across: titleOf(nameOf(across), xScale.unit),
    plots: [
      {
        ...{
          title: titleOf(nameOf(up), yScale.unit),
          unit: yScale.unit,
          mark: 'dots',
          arrangement: 'apart',
          lines,
        },
        ...{ flagged: [], low, high, isLog, isIntegral: false },
      },
    ],
    legend:
      isFew && keys.length > 0 && lines.length > 1 ? lines.map(({ label, look }) => ({ label, look })) : [],
    names: [nameOf(up), nameOf(across)],
    remarks: [
      ...(wish.log === true && !isLog ? ['no log axis: there are values of 0 or less'] : []),
      ...(without > 0
        ? [`not drawn: ${formatCount(without)} of ${formatCount(rows.length)} rows, which lack a number`]
        : []),
      ...(kept.length < known.length
        ? [
            `${formatCount(kept.length)} of ${formatCount(known.length)} dots: of those that cover each other one is drawn`,
          ]
        : []),
      ...(isFew || keys.length === 0 ? [] : [`more than ${MAX_GROUPS} groups: one colour`]),
      ...(beyond.length + leftOut.length > 0 ? [`not drawn: ${namesOf([...beyond, ...leftOut])}`] : []),
    ],
    rules: [],
  };
}

function endsOf(values: readonly number[]): readonly [number, number] {
  const low = smallest(values);
  const high = largest(values);
  return low === high ? [low, low + 1] : [low, high];
}
