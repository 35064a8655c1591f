/**
 * Which results are aggregates over time, and what of them is drawn: measures, the largest groups, a bounded number of points.
 */
import { DataType, type Field, type Vector } from 'apache-arrow';
import { cut } from '../text.js';
import { FIELD_KEY } from './arrow.js';
import type { ArrowTable } from './result.js';
import { said } from './summary.js';
import { exactInt64, shownText } from './text.js';

/** One numeric column. `key` names it in the rows; the label is for people. */
export interface Measure {
  readonly key: string;
  readonly label: string;
  readonly unit: string;
  readonly integral: boolean;
  /** Whether the axis begins at 0: always for counts, and for values that come near it. */
  readonly fromZero: boolean;
}

/** What a chart draws: rows `{t, g?, m0, m1, ...}` with `t` in epoch milliseconds and `g` one of `groups`. */
export interface ChartData {
  readonly rows: readonly Readonly<Record<string, number | string | null>>[];
  readonly measures: readonly Measure[];
  /** Names of the lines, the largest first; empty when there is one line only. */
  readonly groups: readonly string[];
  /** Measures of like unit and size share one plot. */
  readonly overlaid: boolean;
  readonly moments: number;
  /** From the first moment to the last. */
  readonly spanMs: number;
  /** What of the result is not drawn. */
  readonly remarks: readonly string[];
}

/** The drawable part of a time-binned aggregate; undefined for any other table. */
export function toChartData(table: ArrowTable): ChartData | undefined {
  const columns = columnsOf(table);
  const time = timeColumn(table, columns);
  if (time === undefined) return undefined;
  const groupNames = new Set(table.info.groups.map(group => group.name));
  const others = columns.filter(column => column !== time);
  const measured = others.filter(column => isMeasure(column) && !groupNames.has(column.field.name));
  const grouping = others.filter(
    column => !measured.includes(column) && !DataType.isTimestamp(column.field.type),
  );
  if (measured.length === 0) return undefined;
  return draw(time, measured, grouping, table.data.numRows);
}

const MAX_GROUPS = 10;
const MAX_MEASURES = 6;
const MAX_POINTS = 4_000;
const LABEL_LENGTH = 60;
/** Measures whose largest values differ by more than this factor get plots of their own. */
const LIKE_SIZE = 20;

interface Column {
  readonly field: Field;
  readonly vector: Vector;
}

function columnsOf({ data }: ArrowTable): readonly Column[] {
  return data.schema.fields.map((field, index) => ({ field, vector: data.getChildAt(index) as Vector }));
}

/** The column of the time buckets; without buckets a first column of times by which the result is grouped. */
function timeColumn({ info }: ArrowTable, columns: readonly Column[]): Column | undefined {
  const bucketed = columns.find(column => column.field.name === info.buckets?.field);
  if (bucketed !== undefined) return DataType.isTimestamp(bucketed.field.type) ? bucketed : undefined;
  const first = columns[0];
  if (first === undefined || !DataType.isTimestamp(first.field.type)) return undefined;
  const isGroup = info.groups.some(group => group.name === first.field.name);
  const isAggregated = columns.slice(1).some(column => column.field.metadata.has(FIELD_KEY.agg));
  return isGroup || (isAggregated && info.groups.length > 0) ? first : undefined;
}

function isMeasure({ field }: Column): boolean {
  return DataType.isInt(field.type) || DataType.isFloat(field.type) || DataType.isDuration(field.type);
}

function draw(
  time: Column,
  measured: readonly Column[],
  grouping: readonly Column[],
  total: number,
): ChartData | undefined {
  const drawn = measured.slice(0, MAX_MEASURES);
  const points = Array.from({ length: total }, (_, row) => row)
    .filter(row => time.vector.isValid(row))
    .map(row => ({ row, t: milliseconds(time, row), g: groupName(grouping, row) }));
  const groups = grouping.length === 0 ? [] : largestGroups(points, drawn[0] as Column);
  const kept = new Set(groups.slice(0, MAX_GROUPS));
  const inKept = groups.length === 0 ? points : points.filter(point => kept.has(point.g));
  const times = [...new Set(inKept.map(point => point.t))].sort((a, b) => a - b);
  if (times.length < 2) return undefined;
  const step = Math.ceil(inKept.length / MAX_POINTS);
  const keptTimes = new Set(times.filter((_, index) => index % step === 0));
  const rows = inKept
    .filter(point => keptTimes.has(point.t))
    .sort((a, b) => a.t - b.t)
    .map(point => toRow(point, drawn, groups.length > 0));
  const measures = drawn.map((column, index) => toMeasure(column, index, rows));
  return {
    rows,
    measures,
    groups: [...kept],
    overlaid: groups.length === 0 && measures.length > 1 && areAlike(drawn, measures, rows),
    moments: keptTimes.size,
    spanMs: (times.at(-1) as number) - (times[0] as number),
    remarks: remarks(groups.length, grouping, measures, measured.length, step, times.length),
  };
}

interface Point {
  readonly row: number;
  readonly t: number;
  readonly g: string;
}

function toMeasure({ field }: Column, index: number, rows: ChartData['rows']): Measure {
  const unit = DataType.isDuration(field.type) ? 's' : said(field.metadata.get(FIELD_KEY.unit) ?? '');
  const name = cut(said(field.name), LABEL_LENGTH);
  const key = `m${index}`;
  const values = rows.map(row => row[key]).filter(value => typeof value === 'number');
  const integral = DataType.isInt(field.type);
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return {
    key,
    label: unit === '' ? name : `${name} (${unit})`,
    unit,
    integral,
    fromZero: integral || least <= most / 2,
  };
}

function milliseconds({ field, vector }: Column, row: number): number {
  const perUnit = [1000, 1, 1e-3, 1e-6][DataType.isTimestamp(field.type) ? field.type.unit : 1] as number;
  return Math.round(Number(exactInt64(vector, row)) * perUnit);
}

function groupName(grouping: readonly Column[], row: number): string {
  const parts = grouping.map(({ field, vector }) => shownText(vector, row, field).text);
  return cut(parts.join(' \u00b7 '), LABEL_LENGTH);
}

/** All groups, those with the largest total of the measure first. */
function largestGroups(points: readonly Point[], measure: Column): readonly string[] {
  const totals = new Map<string, number>();
  for (const { row, g } of points)
    totals.set(g, (totals.get(g) ?? 0) + Math.abs(numberAt(measure, row) ?? 0));
  return [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

function toRow(
  { row, t, g }: Point,
  drawn: readonly Column[],
  isGrouped: boolean,
): Readonly<Record<string, number | string | null>> {
  const values = drawn.map((column, index) => [`m${index}`, numberAt(column, row)] as const);
  return { t, ...(isGrouped ? { g } : {}), ...Object.fromEntries(values) };
}

/** A drawable number: seconds for a span, null for a null and for what no axis can show. */
function numberAt({ field, vector }: Column, row: number): number | null {
  if (!vector.isValid(row)) return null;
  const value = Number(vector.get(row));
  const perUnit = [1, 1e-3, 1e-6, 1e-9][DataType.isDuration(field.type) ? field.type.unit : 0] as number;
  return Number.isFinite(value) ? value * perUnit : null;
}

function areAlike(drawn: readonly Column[], measures: readonly Measure[], rows: ChartData['rows']): boolean {
  if (new Set(measures.map(measure => measure.unit)).size > 1) return false;
  const sizes = drawn.map((_, index) =>
    rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[`m${index}`] ?? 0))), 0),
  );
  return Math.max(...sizes) <= LIKE_SIZE * Math.min(...sizes);
}

function remarks(
  groups: number,
  grouping: readonly Column[],
  measures: readonly Measure[],
  measured: number,
  step: number,
  moments: number,
): readonly string[] {
  const by = grouping.map(column => cut(said(column.field.name), LABEL_LENGTH)).join(', ');
  return [
    ...(groups > MAX_GROUPS
      ? [`top ${MAX_GROUPS} of ${groups} groups by ${by}, by total of ${measures[0]?.label}`]
      : []),
    ...(measured > measures.length ? [`the first ${measures.length} of ${measured} measures`] : []),
    ...(step > 1 ? [`every ${ordinal(step)} of ${moments} moments`] : []),
  ];
}

function ordinal(n: number): string {
  return `${n}${n === 2 ? 'nd' : n === 3 ? 'rd' : 'th'}`;
}
