/** Turns an aggregate over time into plots of lines along the searched range; every datum is drawn or reported as left out. */

import { DataType } from 'apache-arrow';
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { present } from '../../../present.js';
import { formatCount } from '../../../text.js';
import { safeWords } from '../../display/summary.js';
import { FIELD_KEY } from '../../field.js';
import type { QueryResult, Reading } from '../../result.js';
import { mayMissBins } from '../../shortfall.js';
import { aggregateOf, distinctNames, keyTexts, keyValues, nameOf } from '../chart-columns.js';
import {
  firstOf,
  namesOf,
  notDrawn,
  notes,
  notStacked,
  noValue,
  rowsWithout,
  withoutValues,
} from '../chart-notes.js';
import {
  allRows,
  type ChartColumn,
  distinctTimes,
  greatestOf,
  groupNumbers,
  numberAt,
  numbersOf,
  rowsOfGroup,
  sizesOf,
  valuesIn,
} from '../chart-values.js';
import type { ChartInput } from '../kinds/input.js';
import type { Line, Plot, XyChart } from '../model.js';
import { type Entry, entriesFor, FIRST_LOOK } from '../palette.js';
import { largest, plotOf, smallest, unitOf, valuesOf } from '../plots.js';
import { type Point, type Run, thinned, thinnedTogether } from '../thin.js';
import type { ListParts } from '../unfold.js';
import { greatestSize } from '../units.js';
import { atEach, axisOf, betweenRows, binCount, runOf, type TimeAxis, withMissing } from './bins.js';

/** One group: its displayed keys, and its rows in order of time. */
interface Group {
  readonly keys: readonly string[];
  readonly rows: Uint32Array;
  /** Two rows have the same time, so no line can join them. */
  readonly hasTwins: boolean;
}

/**
 * The groups that are drawn, how many of how many were chosen, and the `keys` that tell them apart: a chosen one may have a line for each
 * period.
 */
interface Groups {
  readonly drawn: readonly Group[];
  readonly chosen: number;
  readonly count: number;
  readonly keys: readonly ChartColumn[];
}

/** The properties of a chart over time, gathered before drawing. */
interface Layout {
  readonly axis: TimeAxis;
  readonly options: ChartOptions;
  readonly missing: Reading['missingBins'];
  readonly time: ChartColumn;
  /** Rows without a time. */
  readonly untimed: number;
  readonly keys: readonly ChartColumn[];
  readonly groups: Groups;
  readonly measures: readonly ChartColumn[];
  /** In order: measures beyond the maximum; those without a value; columns that are not measures; flags of anomalies. */
  readonly beyond: readonly ChartColumn[];
  readonly empty: readonly ChartColumn[];
  readonly leftOut: readonly ChartColumn[];
  readonly flags: readonly ChartColumn[];
  /** The list whose parts are among the measures: percentiles of a field, which share a plot if there are no groups. */
  readonly list?: ListParts;
  /** Display names of the measures. */
  readonly names: readonly string[];
  /** The timestamps at which every line of a stack has a point; undefined without a stack. */
  readonly stackedAt: Float64Array | undefined;
  /** Maximum points of all lines together. */
  readonly most: number;
}

/** One line: a measure of a group, or of the whole result, with all its points and with those that are drawn. */
interface Track {
  readonly measure: ChartColumn;
  readonly group: Group;
  readonly run: Run;
  /** The stand-ins for missing bins: zeros or breaks. */
  readonly added?: 0 | null;
  readonly points: readonly Point[];
}

/** Traits shared by all plots of a chart. */
interface Traits {
  readonly isLog: boolean;
  readonly isThinned: boolean;
  /** All values are far from zero and near each other, so no axis begins at zero. */
  readonly isNarrow: boolean;
}

const MAX_GROUPS = 10;
const MAX_MEASURES = 6;
/** With their image, this many take less than 256 KB in a notebook; a point of a stack has three numbers. */
const MAX_POINTS = 3_000;
const MAX_BARS = 240;
/** Measures whose greatest values differ by more than this factor get plots of their own. */
const LIKE_SIZE = 20;
/** Values that vary by less than this share of their size would be a flat line far above zero. */
const NARROW = 0.1;

/** The note of a chart that leaves out points. */
export const THINNED = 'too many points to draw: only the lowest and highest of neighboring points are shown';

/**
 * Returns the chart of an aggregate over time, or a sentence that says why there is none; undefined for other results. Draws about `most`
 * points at most.
 */
export function toSeries(
  { result, table, flat, roles, now }: ChartInput,
  options: ChartOptions,
  most = MAX_POINTS,
): XyChart | string | undefined {
  const { time, keys, leftOut } = roles;
  if (time === undefined || roles.measures.length === 0) return undefined;
  const rows = timedRows(time);
  if (rows.length === 0) return undefined;
  const found = roles.measures.filter(measure => isFlag(measure, rows));
  const flags = found.length === roles.measures.length ? [] : found;
  const numbers = roles.measures.filter(measure => !flags.includes(measure));
  const empty = numbers.filter(measure => rows.every(row => numberAt(measure, row) === null));
  const filled = numbers.filter(measure => !empty.includes(measure));
  const measures = filled.slice(0, MAX_MEASURES);
  const [first] = measures;
  if (first === undefined) return noValue(empty);
  const timestamps = distinctTimes(time);
  const axis = axisOf(result, table, timestamps, now);
  if (axis === undefined || Math.max(timestamps.length, binCount(axis)) < 2) return undefined;
  const missing = missingBins(result);
  const groups = largestGroups(rows, time, keys, first);
  const covered = missing === 'empty' ? axis : betweenRows(axis, timestamps);
  const list = flat?.kind === 'percentiles' ? flat.list : undefined;
  const isStacked = keys.length > 0 && stacks(options, measures, groups);
  return chartOf({
    ...{ options, missing, time, keys, groups, measures, empty, leftOut, flags, most },
    ...present({ list }),
    names: distinctNames(measures).map((name, index) =>
      list !== undefined && isPart(list, measures[index]) ? `${name} of ${nameOf(list.column)}` : name,
    ),
    axis: covered,
    untimed: table.data.numRows - rows.length,
    beyond: filled.slice(MAX_MEASURES),
    stackedAt: isStacked ? withMissing(timestamps, covered, 0) : undefined,
  });
}

/** Returns whether a measure is the result of anomaly detection: -1, 0 or 1 for each bin. */
function isFlag(measure: ChartColumn, rows: Uint32Array): boolean {
  if (!/anomal|ad_flag/i.test(measure.field.name)) return false;
  return rows.every(row => [-1, 0, 1, null].includes(numberAt(measure, row)));
}

/** Returns how to read missing bins. A truncated or partial result says nothing about them. */
function missingBins(result: QueryResult): Layout['missing'] {
  const isCut =
    mayMissBins(result) || result.status.messages?.some(({ code }) => /limit/i.test(code)) === true;
  return isCut ? 'unknown' : (result.reading?.missingBins ?? 'empty');
}

/** Returns whether to stack: by default bars of groups whose values add up, anything else on request. */
function stacks(options: ChartOptions, measures: readonly ChartColumn[], { drawn }: Groups): boolean {
  const isAsked =
    options.stack ??
    (options.kind === 'bar' && measures.slice(0, 1).every(each => aggregateOf(each).additive));
  if (!isAsked || measures.some(measure => aggregateOf(measure).isNever)) return false;
  return !drawn.some(({ hasTwins }) => hasTwins);
}

function chartOf(layout: Layout): XyChart {
  const { axis, measures, groups, keys, list, options, stackedAt } = layout;
  const drawn = tracksOf(layout);
  const all = drawn.flat();
  const isGrouped = keys.length > 0;
  const sheets = sheetsOf(layout, drawn);
  const entries = isGrouped
    ? entriesFor(
        groups.drawn.map(({ keys }) => keys),
        {
          areSurfaces: stackedAt !== undefined || options.kind === 'bar',
          groups: groups.drawn.map(({ rows }) => keyValues(keys, rows[0] ?? 0)),
        },
      )
    : sheets.length === 1 || list !== undefined
      ? entriesFor(measures.map(({ field }) => [safeWords(field.name)]))
      : [];
  const isLog = options.log === true && !all.some(holdsNoLog);
  const traits = {
    isLog,
    isThinned: all.some(({ run, points }) => run.length > points.length),
    isNarrow: !isLog && all.every(variesLittle),
  };
  const plots = sheets.map(tracks => toPlot(layout, tracks, entries, traits));
  return {
    kind: 'xy',
    ...{ axis, plots },
    legend: isGrouped || entries.length > 1 ? entries : [],
    names: isGrouped || list === undefined ? layout.names : sheets.map(tracks => sheetName(layout, tracks)),
    notes: notesOf(layout, all, plots, traits),
  };
}

/** Returns the lines of each plot: those of one measure, of all if they are alike, or of all parts of a list. */
function sheetsOf(layout: Layout, drawn: readonly (readonly Track[])[]): readonly (readonly Track[])[] {
  const { keys, list } = layout;
  if (keys.length > 0) return drawn;
  if (list === undefined) return areAlike(layout, drawn.flat()) ? [drawn.flat()] : drawn;
  const parts = drawn.filter(([track]) => isPart(list, track?.measure));
  return drawn.flatMap(tracks =>
    tracks === parts[0] ? [parts.flat()] : parts.includes(tracks) ? [] : [tracks],
  );
}

function isPart({ parts }: ListParts, measure: ChartColumn | undefined): boolean {
  return measure !== undefined && parts.includes(measure.field);
}

/** Returns whether the lines of a plot are the parts of a list. */
function isBand({ keys, list }: Layout, [track]: readonly Track[]): boolean {
  return keys.length === 0 && list !== undefined && isPart(list, track?.measure);
}

/** Returns what a plot shows; empty for several measures. */
function sheetName(layout: Layout, tracks: readonly Track[]): string {
  if (layout.list !== undefined && isBand(layout, tracks)) return nameOf(layout.list.column);
  const [only, ...others] = measuresOf(tracks);
  return only === undefined || others.length > 0 ? '' : (layout.names[layout.measures.indexOf(only)] ?? '');
}

/** Returns the lines of each measure; those that are stacked, or parts of a band, keep the same bins. */
function tracksOf(layout: Layout): readonly (readonly Track[])[] {
  const { measures, groups, stackedAt, list, keys } = layout;
  const whole = measures.map(measure => groups.drawn.map(group => wholeTrack(layout, measure, group)));
  const most = stackedAt ? layout.most / 2 : layout.most;
  const budget = Math.floor(most / Math.max(1, whole.flat().length));
  const runs = whole.flat().map(({ run }) => run);
  const points =
    list !== undefined && keys.length === 0
      ? thinnedTogether(runs, budget)
      : stackedAt
        ? whole.flatMap(tracks =>
            thinnedTogether(
              tracks.map(({ run }) => run),
              budget,
            ),
          )
        : runs.map(run => thinned(run, budget));
  let next = 0;
  return whole.map(tracks => tracks.map(track => ({ ...track, points: points[next++] ?? [] })));
}

/** Returns the points of one line: one per datum, and stand-ins for the missing bins. */
function wholeTrack(layout: Layout, measure: ChartColumn, group: Group): Omit<Track, 'points'> {
  const { axis, missing, options, time, stackedAt } = layout;
  const [flag] = measure === layout.measures[0] ? layout.flags : [];
  const flags = flag && valuesIn(flag, group.rows);
  const run = runOf(valuesIn(time, group.rows), valuesIn(measure, group.rows), axis, flags);
  // A logarithmic axis cannot show a zero.
  const isZero =
    missing !== 'unknown' &&
    aggregateOf(measure).emptyIsZero &&
    (options.log !== true || run.v.some(v => v <= 0));
  const fill = isZero ? 0 : null;
  if (options.kind === 'scatter' || group.hasTwins) return { measure, group, run };
  const all = atEach(stackedAt ?? withMissing(run.t, axis, fill), run, axis, fill);
  return all.length === run.length ? { measure, group, run } : { measure, group, run: all, added: fill };
}

function holdsNoLog({ points }: Track): boolean {
  return points.some(({ v, added }) => v !== null && v <= 0 && added !== true);
}

function variesLittle({ measure, points }: Track): boolean {
  if (aggregateOf(measure).emptyIsZero) return false;
  const values = valuesOf([{ points }]);
  if (values.length < 2) return false;
  const [least, most] = [smallest(values), largest(values)];
  return most > least && most - least < NARROW * Math.min(Math.abs(least), Math.abs(most));
}

function areAlike({ options }: Layout, tracks: readonly Track[]): boolean {
  if (tracks.length < 2 || new Set(tracks.map(track => unitOf(track.measure, options))).size > 1)
    return false;
  const sizes = tracks.map(track => greatestSize(valuesOf([track])));
  return largest(sizes) <= LIKE_SIZE * smallest(sizes);
}

function toPlot(
  layout: Layout,
  tracks: readonly Track[],
  entries: readonly Entry[],
  { isThinned, isNarrow, isLog }: Traits,
): Plot {
  const { options, stackedAt, keys } = layout;
  const measures = measuresOf(tracks);
  const first = measures[0] as ChartColumn;
  const from = keys.length > 0 || entries.length === 0 ? 0 : layout.measures.indexOf(first);
  const lines = tracks.map(
    ({ points, measure }, index): Line => ({
      ...(entries[from + index] ?? { label: nameOf(measure), look: FIRST_LOOK }),
      points,
    }),
  );
  const isArea = isBand(layout, tracks) && options.kind === undefined;
  const plot = plotOf(sheetName(layout, tracks), lines, {
    unit: unitOf(first, options),
    mark: markOf(layout, tracks, isThinned),
    arrangement: stackedAt ? 'stacked' : isArea ? 'band' : 'apart',
    isIntegral: measures.every(({ field }) => DataType.isInt(field.type)),
    ...{ isLog, isNarrow },
  });
  return from === 0 ? plot : { ...plot, from };
}

function markOf(layout: Layout, tracks: readonly Track[], isThinned: boolean): Plot['mark'] {
  const { axis, keys, missing, options, stackedAt } = layout;
  const { kind } = options;
  if (kind === 'scatter' || tracks.some(({ group }) => group.hasTwins)) return 'dots';
  const fits = axis.grid !== undefined && binCount(axis) <= MAX_BARS && !isThinned;
  if (kind === 'line') return 'lines';
  if (kind === 'area') return 'area';
  if (kind === 'bar') return fits ? 'bars' : 'area';
  const [only, ...others] = tracks;
  if (only === undefined || others.length > 0 || keys.length > 0 || !aggregateOf(only.measure).emptyIsZero)
    return stackedAt ? 'area' : 'lines';
  return fits && missing !== 'unknown' ? 'bars' : 'area';
}

/** Returns a note for each value that is drawn differently from the table, or not at all. */
function notesOf(
  layout: Layout,
  tracks: readonly Track[],
  plots: readonly Plot[],
  { isThinned, isNarrow }: Traits,
): readonly string[] {
  const { empty, leftOut, beyond, measures, untimed, options, flags } = layout;
  const hasMark = (mark: Plot['mark']) => plots.some(plot => plot.mark === mark);
  return notes(
    refusalsOf(layout, tracks),
    groupNote(layout),
    firstOf(measures.length, measures.length + beyond.length, 'measures'),
    withoutValues(empty),
    rowsWithout(untimed, 'a time'),
    notDrawn(leftOut),
    edgeNotes(layout, tracks),
    missingNotes(layout, tracks),
    hasMark('dots') && options.kind !== 'scatter' && 'rows that share a timestamp are drawn as dots',
    options.kind === 'bar' && hasMark('area') && 'too many bins for bars: drawn as an area',
    flags.length > 0 && `anomalies by ${namesOf(flags)} are red`,
    isThinned && THINNED,
    isNarrow && 'the axis does not start at 0',
  );
}

/** Returns why the chart is not as requested. */
function refusalsOf(
  { options, measures, keys, stackedAt }: Layout,
  tracks: readonly Track[],
): readonly string[] {
  const low = options.log === true ? measuresOf(tracks.filter(holdsNoLog)) : [];
  return notes(
    low.length > 0 && `no log axis: ${namesOf(low)} ${low.length === 1 ? 'has' : 'have'} values of 0 or less`,
    options.stack === true &&
      stackedAt === undefined &&
      notStacked(keys.length > 0, 'there are no groups', measures),
  );
}

function measuresOf(tracks: readonly Track[]): readonly ChartColumn[] {
  return [...new Set(tracks.map(({ measure }) => measure))];
}

function groupNote({ groups, measures }: Layout): string | false {
  const [first] = measures;
  if (groups.count <= groups.chosen || first === undefined) return false;
  const rank = aggregateOf(first).additive ? `total of ${nameOf(first)}` : nameOf(first);
  const shown = `${groups.chosen} of ${formatCount(groups.count)}`;
  return `the ${shown} groups by ${namesOf(groups.keys)} with the highest ${rank}`;
}

/** Returns notes on partial bins at the edges, if a value is drawn in them. */
function edgeNotes({ axis }: Layout, tracks: readonly Track[]): readonly string[] {
  const partial = tracks.flatMap(({ points }) => points.filter(point => point.partial));
  const edges = notes(
    partial.some(point => point.t < axis.start) && 'first',
    partial.some(point => point.t >= axis.start) && 'last',
  );
  return notes(
    edges.length > 0 && `the ${edges.join(' and the ')} bin ${edges.length > 1 ? 'are' : 'is'} partial`,
    axis.isSearched && axis.until < axis.end && 'the range ends in the future',
    !axis.isSearched && 'the axis covers the times of the result, not the searched range',
  );
}

function missingNotes({ missing }: Layout, tracks: readonly Track[]): readonly string[] {
  const why = missing === 'unknown' ? 'the result leaves out' : 'without rows';
  const [zeros, breaks] = [0, null].map(fill => measuresOf(tracks.filter(({ added }) => added === fill)));
  return notes(
    zeros !== undefined && zeros.length > 0 && `bins without rows are 0 in ${namesOf(zeros)}`,
    breaks !== undefined && breaks.length > 0 && `bins ${why} are gaps in ${namesOf(breaks)}`,
  );
}

/** Returns the rows that have a time, in order of time. */
function timedRows(time: ChartColumn): Uint32Array {
  const times = numbersOf(time);
  const at = (row: number | undefined) => times[row ?? 0] ?? 0;
  const rows = allRows(times.length).filter(row => !Number.isNaN(at(row)));
  const isSorted = rows.every((row, index) => index === 0 || at(rows[index - 1]) <= at(row));
  return isSorted ? rows : rows.sort((a, b) => at(a) - at(b) || a - b);
}

/**
 * Returns the largest groups, in `MAX_GROUPS` lines: by the sum of the measure if its values add up, otherwise by its greatest value, to
 * include a group that peaks once. The periods of a comparison are chosen together.
 */
function largestGroups(
  rows: Uint32Array,
  time: ChartColumn,
  keys: readonly ChartColumn[],
  measure: ChartColumn,
): Groups {
  const periods = keys.filter(({ field }) => field.metadata.has(FIELD_KEY.period));
  const compared = keys.filter(key => !periods.includes(key));
  const groups = groupNumbers(compared, rows);
  const linesEach = Math.max(1, groupNumbers(periods, rows).count);
  const sizes = sizesOf(groups, valuesIn(measure, rows), aggregateOf(measure).additive, Math.abs);
  const greatest = greatestOf(sizes, Math.floor(MAX_GROUPS / linesEach));
  const members = greatest.flatMap(group => byPeriod(rowsOfGroup(rows, groups, group), periods));
  const drawn = members.map(own => {
    const times = valuesIn(time, own);
    const hasTwins = times.some((t, at) => t === times[at - 1]);
    return { rows: own, keys: keyTexts(keys, own[0] ?? 0), hasTwins };
  });
  return { drawn, chosen: greatest.length, count: groups.count, keys: compared };
}

/** Splits rows by the values of some columns, in order of appearance. */
function byPeriod(rows: Uint32Array, periods: readonly ChartColumn[]): readonly Uint32Array[] {
  const groups = groupNumbers(periods, rows);
  return Array.from({ length: groups.count }, (_, group) => rowsOfGroup(rows, groups, group));
}
