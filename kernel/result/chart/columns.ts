/**
 * Which part each column of a result plays in a chart over time: the time, a measure, a key of the groups, or none.
 */
import { DataType, type Field, type Vector } from 'apache-arrow';
import { cut } from '../../text.js';
import { safeWords } from '../display/summary.js';
import { cellText, exactInt64 } from '../display/text.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable } from '../result.js';
import { LABEL_LENGTH } from './labels.js';

/** One column with its description. */
export interface ChartColumn {
  readonly field: Field;
  readonly vector: Vector;
}

/** The columns of a result over time by the part they play. */
export interface Roles {
  readonly time: ChartColumn;
  readonly measures: readonly ChartColumn[];
  readonly keys: readonly ChartColumn[];
  /** Columns that are not drawn: lists, maps, texts and times beside the measures. */
  readonly leftOut: readonly ChartColumn[];
}

/**
 * Returns the roles of an aggregate over time; undefined for any other result. `derived` names the columns that the query
 * computes from the keys alone: they repeat a group and measure nothing.
 */
export function rolesOf(table: ArrowTable, derived: ReadonlySet<string>): Roles | undefined {
  const columns = columnsOf(table);
  const time = timeColumn(table, columns);
  if (time === undefined) return undefined;
  const groups = new Set(table.info.groups.map(group => group.name));
  const others = columns.filter(column => column !== time);
  const keys = others.filter(({ field }) => groups.has(field.name));
  const rest = others.filter(column => !keys.includes(column) && !derived.has(column.field.name));
  const measures = rest.filter(isNumber);
  if (measures.length === 0) return undefined;
  const stand = others.filter(({ field }) => derived.has(field.name) && !groups.has(field.name));
  return {
    time,
    measures,
    keys: withStandIns(time, keys, stand, table.data.numRows),
    leftOut: rest.filter(column => !measures.includes(column)),
  };
}

/** Whether a missing row of the measure means zero, and whether its values may be added up. */
export function aggregateOf({ field }: ChartColumn): {
  readonly emptyIsZero: boolean;
  readonly additive: boolean;
} {
  const name = aggregateName(field);
  return { emptyIsZero: COUNTS.test(name) || SUMS.test(name), additive: SUMS.test(name) };
}

/** The exact identity of a row's group: different groups never share one, whatever their names look like. */
export function groupKey(keys: readonly ChartColumn[], row: number): string {
  return JSON.stringify(keys.map(({ vector, field }) => cellText(vector, row, field)));
}

/** The name of a column as it is shown. */
export function nameOf({ field }: ChartColumn): string {
  return cut(safeWords(field.name), LABEL_LENGTH);
}

/** Names of columns, for a sentence. */
export function namesOf(columns: readonly ChartColumn[]): string {
  return columns.map(nameOf).join(', ');
}

/** A drawable number, in seconds for a span; null for a null and for a value that no axis can show. */
export function numberAt({ field, vector }: ChartColumn, row: number): number | null {
  if (!vector.isValid(row)) return null;
  const { type } = field;
  if (DataType.isDuration(type)) return Number(exactInt64(vector, row)) / PER_SECOND[type.unit];
  const value = Number(vector.get(row));
  return Number.isFinite(value) ? value : null;
}

/** Milliseconds since 1970, with a fraction where the time has one; undefined for a null. */
export function timeAt({ field, vector }: ChartColumn, row: number): number | undefined {
  if (!vector.isValid(row) || !DataType.isTimestamp(field.type)) return undefined;
  return Number(exactInt64(vector, row)) / (PER_SECOND[field.type.unit] / 1000);
}

const SUMS = /^(?:count|countif|sum|sumif|rate)$/;
const COUNTS = /^dcount(?:if)?$/;
/** By Arrow's units: second, millisecond, microsecond, nanosecond. */
const PER_SECOND = [1, 1e3, 1e6, 1e9] as const;

function aggregateName(field: Field): string {
  const text = field.metadata.get(FIELD_KEY.agg);
  if (text === undefined) return '';
  const agg: unknown = JSON.parse(text);
  const named = typeof agg === 'object' && agg !== null && 'name' in agg ? agg.name : undefined;
  return typeof named === 'string' ? named : '';
}

function columnsOf({ data }: ArrowTable): readonly ChartColumn[] {
  return data.schema.fields.map((field, index) => ({ field, vector: data.getChildAt(index) as Vector }));
}

/** The column of the time bins; without bins a first column of times by which the result is grouped. */
function timeColumn({ info }: ArrowTable, columns: readonly ChartColumn[]): ChartColumn | undefined {
  const binned = columns.find(column => column.field.name === info.buckets?.field);
  if (binned !== undefined) return DataType.isTimestamp(binned.field.type) ? binned : undefined;
  const first = columns[0];
  if (first === undefined || !DataType.isTimestamp(first.field.type)) return undefined;
  const isGroup = info.groups.some(group => group.name === first.field.name);
  const isAggregated = columns.slice(1).some(column => column.field.metadata.has(FIELD_KEY.agg));
  return isGroup || (isAggregated && info.groups.length > 0) ? first : undefined;
}

function isNumber({ field }: ChartColumn): boolean {
  return DataType.isInt(field.type) || DataType.isFloat(field.type) || DataType.isDuration(field.type);
}

/** Where the keys were projected away, columns computed from them tell the groups apart. */
function withStandIns(
  time: ChartColumn,
  keys: readonly ChartColumn[],
  candidates: readonly ChartColumn[],
  rows: number,
): readonly ChartColumn[] {
  let chosen = keys;
  let distinct = distinctRows(time, chosen, rows);
  for (const candidate of candidates) {
    if (distinct === rows) break;
    const more = distinctRows(time, [...chosen, candidate], rows);
    if (more > distinct) [chosen, distinct] = [[...chosen, candidate], more];
  }
  return chosen;
}

function distinctRows(time: ChartColumn, keys: readonly ChartColumn[], rows: number): number {
  const seen = new Set<string>();
  for (let row = 0; row < rows; row++) seen.add(groupKey([time, ...keys], row));
  return seen.size;
}
