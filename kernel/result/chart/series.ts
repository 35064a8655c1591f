/**
 * Turns an aggregate over time into plots of lines along the searched range, with every datum in them or reported
 * as left out.
 */
import { DataType } from 'apache-arrow';
import { safeWords } from '../display/summary.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable, QueryResult } from '../result.js';
import { betweenRows, binCount, isPartial, type Searched, timeAxis, withMissing } from './bins.js';
import { aggregateOf, type ChartColumn, nameOf, namesOf, numberAt, rolesOf } from './columns.js';
import { type Group, type Groups, hasTwins, largestGroups, timedRows } from './groups.js';
import { distinctLabels } from './labels.js';
import type { Facts, Line, Outline, Plot, TimeChart, Track } from './model.js';
import { FIRST_LOOK, looksFor } from './palette.js';
import { remarksOf } from './remarks.js';
import { thinned } from './thin.js';
import { scaleFor } from './units.js';

/** Returns the chart of an aggregate over time, or a sentence that says why there is none; undefined for other results. */
export function toSeries(result: QueryResult, now: number): TimeChart | string | undefined {
  const table = result.tables[0];
  const roles = table && rolesOf(table, new Set(result.reading?.keyColumns));
  if (table === undefined || roles === undefined) return undefined;
  const rows = timedRows(roles, table.data.numRows);
  if (rows.length === 0) return undefined;
  const isEmpty = (measure: ChartColumn) => rows.every(({ row }) => numberAt(measure, row) === null);
  const empty = roles.measures.filter(isEmpty);
  const filled = roles.measures.filter(measure => !empty.includes(measure));
  const first = filled[0];
  if (first === undefined)
    return `No chart: ${namesOf(empty)} ${empty.length === 1 ? 'has' : 'have'} no value in any row.`;
  const moments = [...new Set(rows.map(row => row.t))];
  const axis = timeAxis(moments, binWidth(table), searchedRange(result, table, now));
  if (axis === undefined || Math.max(moments.length, binCount(axis)) < 2) return undefined;
  const missing = missingBins(result);
  return chartOf({
    axis: missing === 'empty' ? axis : betweenRows(axis, moments),
    missing,
    keys: roles.keys,
    groups: largestGroups(rows, roles, first, MAX_GROUPS),
    measures: filled.slice(0, MAX_MEASURES),
    beyond: filled.slice(MAX_MEASURES),
    empty,
    leftOut: roles.leftOut,
  });
}

const MAX_GROUPS = 10;
const MAX_MEASURES = 6;
const MAX_POINTS = 4_000;
const MAX_BARS = 240;
/** Measures whose greatest values differ by more than this factor get plots of their own. */
const LIKE_SIZE = 20;
/** Values that vary by less than this share of their size would be a flat line far above zero. */
const NARROW = 0.1;

function chartOf(outline: Outline): TimeChart {
  const { measures, groups, keys } = outline;
  const whole = measures.map(measure => groups.drawn.map(group => trackOf(outline, measure, group)));
  const budget = Math.floor(MAX_POINTS / Math.max(1, whole.flat().length));
  const drawn = whole.map(tracks =>
    tracks.map(track => ({ ...track, points: thinned(track.points, budget) })),
  );
  const isGrouped = keys.length > 0;
  const sheets = !isGrouped && areAlike(drawn.flat()) ? [drawn.flat()] : drawn;
  const entries = isGrouped ? groupEntries(groups) : sheets.length === 1 ? measureEntries(measures) : [];
  const isNarrow = drawn.flat().every(variesLittle);
  const facts = {
    isThinned: whole.flat().some(({ points }) => points.length > budget),
    isNarrow,
    zeros: measures.filter((_, index) => whole[index]?.some(track => track.added === 0)),
    breaks: measures.filter((_, index) => whole[index]?.some(track => track.added === null)),
  };
  const plots = sheets.map(tracks => toPlot(outline, tracks, entries, facts));
  return {
    axis: outline.axis,
    plots,
    legend: isGrouped || entries.length > 1 ? entries : [],
    names: measures.map(nameOf),
    remarks: remarksOf(outline, plots, facts),
  };
}

type Entry = TimeChart['legend'][number];

function groupEntries({ drawn }: Groups): readonly Entry[] {
  const looks = looksFor(drawn.map(group => group.keys));
  return drawn.map(({ label }, index) => ({ label, look: looks[index] ?? FIRST_LOOK }));
}

function measureEntries(measures: readonly ChartColumn[]): readonly Entry[] {
  const looks = looksFor(measures.map(measure => [measure.field.name]));
  const labels = distinctLabels(measures.map(nameOf));
  return labels.map((label, index) => ({ label, look: looks[index] ?? FIRST_LOOK }));
}

/** The points of one line: one per datum, and stand-ins for the bins that have none. */
function trackOf(outline: Outline, measure: ChartColumn, group: Group): Track {
  const { axis, missing } = outline;
  const points = group.rows.map(({ row, t }) => ({
    t,
    v: numberAt(measure, row),
    partial: isPartial(axis, t),
  }));
  const fill = missing !== 'unknown' && aggregateOf(measure).emptyIsZero ? 0 : null;
  if (hasTwins(group.rows)) return { measure, group, points };
  const all = withMissing(points, axis, fill);
  return all.length === points.length
    ? { measure, group, points }
    : { measure, group, points: all, added: fill };
}

function toPlot(
  outline: Outline,
  tracks: readonly Track[],
  entries: readonly Entry[],
  { isThinned, isNarrow }: Facts,
): Plot {
  const measures = [...new Set(tracks.map(track => track.measure))];
  const scale = scaleFor(unitOf(measures[0]), greatest(tracks));
  const lines = tracks.map(({ points, measure }, index): Line => {
    const entry = entries[index] ?? { label: nameOf(measure), look: FIRST_LOOK };
    return { ...entry, points: points.map(point => ({ ...point, v: scaled(point.v, scale.factor) })) };
  });
  const name = measures.length === 1 ? namesOf(measures) : '';
  const values = lines.flatMap(line => line.points.map(point => point.v)).filter(v => v !== null);
  return {
    title: titleOf(name, scale.unit),
    mark: markOf(outline, tracks, isThinned),
    lines,
    ...limits(values, isNarrow),
    isIntegral: scale.factor === 1 && tracks.every(({ measure }) => DataType.isInt(measure.field.type)),
  };
}

function titleOf(name: string, unit: string): string {
  if (name === '') return unit;
  return unit === '' ? name : `${name} (${unit})`;
}

function markOf(
  { axis, keys, missing }: Outline,
  tracks: readonly Track[],
  isThinned: boolean,
): Plot['mark'] {
  if (tracks.some(track => hasTwins(track.group.rows))) return 'dots';
  const [only] = tracks;
  if (only === undefined || tracks.length > 1 || keys.length > 0 || !aggregateOf(only.measure).emptyIsZero)
    return 'lines';
  const fits = axis.grid !== undefined && binCount(axis) <= MAX_BARS && !isThinned;
  return fits && missing !== 'unknown' ? 'bars' : 'area';
}

/** The ends of the vertical axis: from zero, unless all values of the chart are far from it. */
function limits(values: readonly number[], isNarrow: boolean): Pick<Plot, 'low' | 'high'> {
  const least = values.reduce((a, b) => Math.min(a, b), isNarrow ? Number.POSITIVE_INFINITY : 0);
  const most = values.reduce((a, b) => Math.max(a, b), isNarrow ? Number.NEGATIVE_INFINITY : 0);
  return least === most ? { low: 0, high: 1 } : { low: least, high: most };
}

function variesLittle({ measure, points }: Track): boolean {
  if (aggregateOf(measure).emptyIsZero) return false;
  const values = points.map(point => point.v).filter(v => v !== null);
  if (values.length < 2) return false;
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  return most > least && most - least < NARROW * Math.min(Math.abs(least), Math.abs(most));
}

function areAlike(tracks: readonly Track[]): boolean {
  if (tracks.length < 2 || new Set(tracks.map(track => unitOf(track.measure))).size > 1) return false;
  const sizes = tracks.map(track => greatest([track]));
  return Math.max(...sizes) <= LIKE_SIZE * Math.min(...sizes);
}

function greatest(tracks: readonly Track[]): number {
  return tracks.flatMap(({ points }) => points).reduce((most, { v }) => Math.max(most, Math.abs(v ?? 0)), 0);
}

/** As many digits as no product of two doubles gets wrong. */
const DIGITS = 15;

function scaled(value: number | null, factor: number): number | null {
  return value === null || factor === 1 ? value : Number((value * factor).toPrecision(DIGITS));
}

function unitOf(measure: ChartColumn | undefined): string {
  if (measure === undefined) return '';
  if (DataType.isDuration(measure.field.type)) return 's';
  return safeWords(measure.field.metadata.get(FIELD_KEY.unit) ?? '');
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
function missingBins({ reading, status }: QueryResult): Outline['missing'] {
  const isCut = status.isPartial || status.messages?.some(({ code }) => /limit/i.test(code)) === true;
  return isCut ? 'unknown' : (reading?.missingBins ?? 'empty');
}
