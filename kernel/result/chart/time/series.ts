/**
 * Turns an aggregate over time into plots of lines along the searched range, with every datum in them or reported
 * as left out.
 */

import { DataType } from 'apache-arrow';
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { present } from '../../../present.js';
import { cut } from '../../../text.js';
import { safeWords } from '../../display/summary.js';
import { FIELD_KEY } from '../../field.js';
import type { ArrowTable, QueryResult } from '../../result.js';
import { mayMissBins } from '../../shortfall.js';
import { aggregateOf, distinctNames, nameOf, rolesOf } from '../columns.js';
import { endsFor, greatestSize, largest, smallest } from '../extent.js';
import type { Line, Plot, XyChart } from '../model.js';
import { namesOf, notes, notStacked, noValue } from '../notes.js';
import { type Entry, entriesFor, FIRST_LOOK } from '../palette.js';
import { thinned, thinnedTogether } from '../thin.js';
import { scaleFor } from '../units.js';
import { type ChartColumn, numberAt, valuesIn } from '../values.js';
import { betweenRows, binCount, everyBin, runOf, type Searched, timeAxis, withMissing } from './bins.js';
import { type Group, hasTwins, largestGroups, timedRows } from './groups.js';
import type { Facts, FullSeries, TimeLayout, Track } from './layout.js';
import { notesOf } from './notes.js';

/** How a chart over time is wanted, and the name of the list whose parts the measures are. */
export interface SeriesOptions extends ChartOptions {
  readonly together?: string;
}

/** Returns the chart of an aggregate over time, or a sentence that says why there is none; undefined for other results. */
export function toSeries(
  result: QueryResult,
  now: number,
  { together, ...options }: SeriesOptions = {},
): XyChart | string | undefined {
  const table = result.tables[0];
  const roles = table && rolesOf(table, new Set(result.reading?.keyColumns), options.kind !== undefined);
  if (table === undefined || roles === undefined) return undefined;
  const rows = timedRows(roles.time);
  if (rows.length === 0) return undefined;
  const isEmpty = (measure: ChartColumn) => rows.every(row => numberAt(measure, row) === null);
  const flags = roles.measures.filter(measure => isFlag(measure, rows));
  const numbers =
    flags.length === roles.measures.length
      ? roles.measures
      : roles.measures.filter(measure => !flags.includes(measure));
  const empty = numbers.filter(isEmpty);
  const filled = numbers.filter(measure => !empty.includes(measure));
  const first = filled[0];
  if (first === undefined) return noValue(empty);
  const timestamps = distinctTimes(valuesIn(roles.time, rows));
  const axis = axisOf(result, table, timestamps, now);
  if (axis === undefined || Math.max(timestamps.length, binCount(axis)) < 2) return undefined;
  const missing = missingBins(result);
  return chartOf({
    options,
    ...present({ together }),
    axis: missing === 'empty' ? axis : betweenRows(axis, timestamps),
    missing,
    time: roles.time,
    untimed: table.data.numRows - rows.length,
    keys: roles.keys,
    groups: largestGroups(rows, roles, first, MAX_GROUPS),
    measures: filled.slice(0, MAX_MEASURES),
    beyond: filled.slice(MAX_MEASURES),
    empty,
    leftOut: roles.leftOut,
    flags: flags.length === roles.measures.length ? [] : flags,
  });
}

/** Each of some ascending times once. */
function distinctTimes(times: Float64Array): Float64Array {
  const distinct = new Float64Array(times.length);
  let count = 0;
  for (const t of times) if (count === 0 || distinct[count - 1] !== t) distinct[count++] = t;
  return distinct.subarray(0, count);
}

/** The result of looking for anomalies: -1, 0 or 1 for each bin. */
function isFlag(measure: ChartColumn, rows: Uint32Array): boolean {
  if (!/anomal|ad_flag/i.test(measure.field.name)) return false;
  return rows.every(row => [-1, 0, 1, null].includes(numberAt(measure, row)));
}

/** Returns the time axis for the timestamps of a result, in ascending order; undefined when there are too few to draw along. */
export function axisOf(
  result: QueryResult,
  table: ArrowTable,
  timestamps: Float64Array,
  now: number,
): XyChart['axis'] | undefined {
  return timeAxis(timestamps, binWidth(table), searchedRange(result, table, now));
}

const MAX_GROUPS = 10;
const MAX_MEASURES = 6;
/** With their image they take less than 256 KB in a notebook; a point of a stack has three numbers. */
const MAX_POINTS = 3_000;
const MAX_BARS = 240;
/** Measures whose greatest values differ by more than this factor get plots of their own. */
const LIKE_SIZE = 20;
/** Values that vary by less than this share of their size would be a flat line far above zero. */
const NARROW = 0.1;

function chartOf(layout: TimeLayout): XyChart {
  const { measures, groups, keys, together, options } = layout;
  const whole = measures.map(measure => groups.drawn.map(group => fullSeries(layout, measure, group)));
  const isStacked = stacks(layout);
  const most = isStacked ? MAX_POINTS / 2 : MAX_POINTS;
  const budget = Math.floor(most / Math.max(1, whole.flat().length));
  const thin = (runs: readonly FullSeries[]) =>
    isStacked
      ? thinnedStack(runs, budget)
      : runs.map(each => ({ ...each, points: thinned(each.run, budget) }));
  const drawn = whole.map(thin);
  const isGrouped = keys.length > 0;
  const isOnePlot = !isGrouped && (together !== undefined || areAlike(layout, drawn.flat()));
  const sheets = isOnePlot ? [drawn.flat()] : drawn;
  const entries = isGrouped
    ? entriesFor(
        groups.drawn.map(({ keys }) => keys),
        { areSurfaces: isStacked || options.kind === 'bar' },
      )
    : sheets.length === 1
      ? entriesFor(measures.map(({ field }) => [safeWords(field.name)]))
      : [];
  const isLog = options.log === true && !drawn.flat().some(holdsNoLog);
  const isNarrow = !isLog && drawn.flat().every(variesLittle);
  const facts = {
    isThinned: whole.flat().some(({ run }) => run.length > budget),
    isNarrow,
    zeros: measures.filter((_, index) => whole[index]?.some(each => each.added === 0)),
    breaks: measures.filter((_, index) => whole[index]?.some(each => each.added === null)),
    refusals: refusalsOf(layout, drawn.flat(), isStacked),
  };
  const plots = sheets.map(tracks => toPlot(layout, tracks, entries, facts, { isStacked, isLog }));
  return {
    kind: 'xy',
    axis: layout.axis,
    plots,
    legend: isGrouped || entries.length > 1 ? entries : [],
    names: together === undefined ? distinctNames(measures) : [together],
    notes: notesOf(layout, plots, facts),
  };
}

/** Lines of a stack keep the same bins, as each stands on those below it. */
function thinnedStack(runs: readonly FullSeries[], budget: number): readonly Track[] {
  const points = thinnedTogether(
    runs.map(each => each.run),
    budget,
  );
  return runs.map((each, index) => ({ ...each, points: points[index] ?? [] }));
}

/** Bars of groups are stacked where their values add up, anything else if that is asked for. */
function stacks({ options, time, keys, measures, groups }: TimeLayout): boolean {
  const [first] = measures;
  if (first === undefined || keys.length === 0) return false;
  const wants = options.stack ?? (options.kind === 'bar' && aggregateOf(first).additive);
  if (!wants || measures.some(measure => aggregateOf(measure).isNever)) return false;
  return !groups.drawn.some(group => hasTwins(group.rows, time));
}

function holdsNoLog({ points }: Track): boolean {
  return points.some(({ v, added }) => v !== null && v <= 0 && added !== true);
}

function refusalsOf(
  { options, measures, keys }: TimeLayout,
  tracks: readonly Track[],
  isStacked: boolean,
): readonly string[] {
  const low = options.log === true ? tracks.filter(holdsNoLog).map(track => track.measure) : [];
  return notes(
    low.length > 0 &&
      `no log axis: ${namesOf([...new Set(low)])} ${new Set(low).size === 1 ? 'holds' : 'hold'} values of 0 or less`,
    options.stack === true && !isStacked && notStacked(keys.length > 0, 'there are no groups', measures),
  );
}

/** The points of one line: one per datum, and stand-ins for the bins that have none. */
function fullSeries(layout: TimeLayout, measure: ChartColumn, group: Group): FullSeries {
  const { axis, missing, options, time } = layout;
  const [flag] = measure === layout.measures[0] ? layout.flags : [];
  const flags = flag && valuesIn(flag, group.rows);
  const run = runOf(valuesIn(time, group.rows), valuesIn(measure, group.rows), axis, flags);
  // No logarithmic axis shows a zero.
  const isZero =
    missing !== 'unknown' &&
    aggregateOf(measure).emptyIsZero &&
    (options.log !== true || run.v.some(v => v <= 0));
  const fill = isZero ? 0 : null;
  if (options.kind === 'scatter' || hasTwins(group.rows, time)) return { measure, group, run };
  const all = stacks(layout) ? everyBin(run, axis, fill) : withMissing(run, axis, fill);
  return all.length === run.length ? { measure, group, run } : { measure, group, run: all, added: fill };
}

function toPlot(
  layout: TimeLayout,
  tracks: readonly Track[],
  entries: readonly Entry[],
  { isThinned, isNarrow }: Facts,
  { isStacked, isLog }: { readonly isStacked: boolean; readonly isLog: boolean },
): Plot {
  const { options, together } = layout;
  const measures = [...new Set(tracks.map(track => track.measure))];
  const scale = scaleFor(unitOf(measures[0], options), greatest(tracks));
  const lines = tracks.map(({ points, measure }, index): Line => {
    const entry = entries[index] ?? { label: nameOf(measure), look: FIRST_LOOK };
    return { ...entry, points: points.map(point => ({ ...point, v: scaled(point.v, scale.factor) })) };
  });
  const [only] = measures;
  const own = only === undefined ? '' : distinctNames(layout.measures)[layout.measures.indexOf(only)];
  const name = together ?? (measures.length === 1 ? (own ?? '') : '');
  const values = lines.flatMap(line => line.points.map(point => point.v)).filter(v => v !== null);
  const mark = markOf(layout, tracks, isThinned);
  return {
    title: titleOf(name, scale.unit),
    unit: scale.unit,
    mark,
    arrangement: isStacked
      ? 'stacked'
      : together !== undefined && options.kind === undefined
        ? 'band'
        : 'apart',
    lines,
    ...(isStacked && !isLog ? stackEnds(lines) : endsFor(values, { mark, isLog, isNarrow })),
    isLog,
    isIntegral: scale.factor === 1 && tracks.every(({ measure }) => DataType.isInt(measure.field.type)),
  };
}

/** Returns the title of an axis: a name with its unit. */
export function titleOf(name: string, unit: string): string {
  if (name === '') return unit;
  return unit === '' ? name : `${name} (${unit})`;
}

function markOf(layout: TimeLayout, tracks: readonly Track[], isThinned: boolean): Plot['mark'] {
  const { axis, keys, missing, time, options } = layout;
  if (options.kind === 'scatter' || tracks.some(track => hasTwins(track.group.rows, time))) return 'dots';
  const fits = axis.grid !== undefined && binCount(axis) <= MAX_BARS && !isThinned;
  switch (options.kind) {
    case 'line':
      return 'lines';
    case 'area':
      return 'area';
    case 'bar':
      return fits ? 'bars' : 'area';
    default: {
      const [only] = tracks;
      if (
        only === undefined ||
        tracks.length > 1 ||
        keys.length > 0 ||
        !aggregateOf(only.measure).emptyIsZero
      )
        return stacks(layout) ? 'area' : 'lines';
      return fits && missing !== 'unknown' ? 'bars' : 'area';
    }
  }
}

/** The greatest sum and the least of a stack. */
function stackEnds(lines: readonly Line[]): Pick<Plot, 'low' | 'high'> {
  const [up, down] = [new Map<number, number>(), new Map<number, number>()];
  for (const { t, v } of lines.flatMap(({ points }) => points)) {
    const side = (v ?? 0) < 0 ? down : up;
    side.set(t, (side.get(t) ?? 0) + (v ?? 0));
  }
  return { low: smallest([0, ...down.values()]), high: largest([0, ...up.values()]) };
}

function variesLittle({ measure, points }: Track): boolean {
  if (aggregateOf(measure).emptyIsZero) return false;
  const values = points.map(point => point.v).filter(v => v !== null);
  if (values.length < 2) return false;
  const [least, most] = [smallest(values), largest(values)];
  return most > least && most - least < NARROW * Math.min(Math.abs(least), Math.abs(most));
}

function areAlike({ options }: TimeLayout, tracks: readonly Track[]): boolean {
  if (tracks.length < 2 || new Set(tracks.map(track => unitOf(track.measure, options))).size > 1)
    return false;
  const sizes = tracks.map(track => greatest([track]));
  return largest(sizes) <= LIKE_SIZE * smallest(sizes);
}

function greatest(tracks: readonly Track[]): number {
  return greatestSize(tracks.flatMap(({ points }) => points.map(({ v }) => v ?? 0)));
}

/** As many digits as no product of two doubles gets wrong. */
const DIGITS = 15;

/** Returns a value in the unit of an axis. */
export function scaled(value: number | null, factor: number): number | null {
  return value === null || factor === 1 ? value : Number((value * factor).toPrecision(DIGITS));
}

/** Characters of a unit that nobody knows. */
const UNIT_LENGTH = 24;

/** Returns the unit of a measure, empty if it has none. */
export function unitOf(measure: ChartColumn | undefined, options: ChartOptions = {}): string {
  if (options.unit !== undefined) return cut(safeWords(options.unit), UNIT_LENGTH);
  if (measure === undefined) return '';
  if (DataType.isDuration(measure.field.type)) return 's';
  return cut(safeWords(measure.field.metadata.get(FIELD_KEY.unit) ?? ''), UNIT_LENGTH);
}

function binWidth({ info, data }: ArrowTable): number | undefined {
  const { buckets } = info;
  const field = data.schema.fields.find(({ name }) => name === buckets?.field);
  return buckets !== undefined && field !== undefined && DataType.isTimestamp(field.type) && buckets.size > 0
    ? buckets.size / NANOS_PER_MS
    : undefined;
}

const NANOS_PER_MS = 1e6;

/** The range as the service reports it, else the requested one where that is absolute. */
function searchedRange({ provenance }: QueryResult, { info }: ArrowTable, now: number): Searched | undefined {
  const start = Date.parse(info.range?.start ?? provenance.startTime);
  const end = Date.parse(info.range?.end ?? provenance.endTime);
  return Number.isFinite(start) && start < end ? { start, end, now } : undefined;
}

/** A result that is cut or partial says nothing about its missing bins. */
function missingBins(result: QueryResult): TimeLayout['missing'] {
  const isCut =
    mayMissBins(result) || result.status.messages?.some(({ code }) => /limit/i.test(code)) === true;
  return isCut ? 'unknown' : (result.reading?.missingBins ?? 'empty');
}
