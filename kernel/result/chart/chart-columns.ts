/** The role of each column of a result in a chart: the time, a measure, a group key, or none. */
import { DataType, type Field, type Vector } from 'apache-arrow';
import { cut } from '../../text.js';
import { cellText, isNumeric, shownText } from '../display/display-text.js';
import { safeWords } from '../display/summary.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable } from '../result.js';
import { allRows, type ChartColumn, groupNumbers } from './chart-values.js';
import { distinctLabels, LABEL_LENGTH } from './labels.js';
import type { KeyValue } from './palette.js';

/** The columns of a result by role. */
export interface Roles {
  /** Undefined for a result without a time axis. */
  readonly time: ChartColumn | undefined;
  readonly measures: readonly ChartColumn[];
  readonly keys: readonly ChartColumn[];
  /** Columns that are not drawn: lists, maps, and strings and times beside the measures. */
  readonly leftOut: readonly ChartColumn[];
}

/**
 * Returns the roles of columns. `derived` names the columns that the query computes from the keys alone: over time they repeat a group
 * and measure nothing. A table of events has a time column only if a chart of it `isAsked` for.
 */
export function rolesOf(
  table: ArrowTable,
  columns: readonly ChartColumn[],
  derived: ReadonlySet<string>,
  isAsked: boolean,
): Roles {
  const groups = groupNames(table, columns);
  const isGroup = ({ field }: ChartColumn) => groups.has(field.name);
  const time =
    timeColumn(table, columns) ??
    (isAsked ? columns.find(isTime) : undefined) ??
    columns.find(column => isTime(column) && isGroup(column));
  const others = columns.filter(column => column !== time);
  const keys = others.filter(isGroup);
  const isDerived = ({ field }: ChartColumn) => time !== undefined && derived.has(field.name);
  const rest = others.filter(column => !isGroup(column) && !isDerived(column));
  const stand = others.filter(column => isDerived(column) && !isGroup(column));
  return {
    time,
    measures: rest.filter(isNumber),
    keys: time === undefined ? keys : withStandIns(time, keys, stand, table.data.numRows),
    leftOut: rest.filter(column => !isNumber(column)),
  };
}

/** Returns whether a missing row of the measure means zero, and whether its values may be added up. */
export function aggregateOf(column: Pick<ChartColumn, 'field'>): {
  readonly emptyIsZero: boolean;
  readonly additive: boolean;
  /** A sum of its values is meaningless, as opposed to unknown. */
  readonly isNever: boolean;
} {
  const name = aggregateName(column);
  const additive = SUMS.has(name);
  return { emptyIsZero: name === 'dcount' || additive, additive, isNever: name !== '' && !additive };
}

/** Returns the arguments of the aggregate behind a column; empty if there is none. */
export function aggregateArguments({ field }: ChartColumn): readonly unknown[] {
  const agg = aggregateIn(field);
  return Array.isArray(agg?.args) ? agg.args : [];
}

/** Returns every column of a table. */
export function columnsOf({ data }: ArrowTable): readonly ChartColumn[] {
  return data.schema.fields.map((field, index) => ({ field, vector: data.getChildAt(index) as Vector }));
}

/** Returns whether a column holds numbers or durations. */
export function isNumber({ field }: ChartColumn): boolean {
  return isNumeric(field);
}

/** Returns whether a column holds timestamps. */
export function isTime({ field }: ChartColumn): boolean {
  return DataType.isTimestamp(field.type);
}

/** Returns the name of the aggregate behind a column, without the `if` of conditional ones; empty if there is none. */
export function aggregateName({ field }: Pick<ChartColumn, 'field'>): string {
  const named = aggregateIn(field)?.name;
  return typeof named === 'string' ? named.replace(/if$/, '') : '';
}

/** Returns whether the rows are groups or bins, or have aggregates, as opposed to events. */
export function isAggregation({ info }: ArrowTable, columns: readonly ChartColumn[]): boolean {
  return info.groups.length > 0 || info.buckets !== undefined || columns.some(isAggregate);
}

function isAggregate({ field }: ChartColumn): boolean {
  return field.metadata.has(FIELD_KEY.agg);
}

/** Returns the keys of an aggregation; for any other table, the first column that is neither a number nor a time. */
export function groupNames(table: ArrowTable, columns: readonly ChartColumn[]): ReadonlySet<string> {
  if (isAggregation(table, columns))
    return new Set([
      ...table.info.groups.map(group => group.name),
      ...columns.filter(isTopValue).map(({ field }) => field.name),
    ]);
  const text = columns.find(column => !isNumber(column) && !isTime(column));
  return new Set(text === undefined ? [] : [text.field.name]);
}

/** Returns the display name of a column. */
export function nameOf({ field }: ChartColumn): string {
  return cut(safeWords(field.name), LABEL_LENGTH);
}

/** Returns the display names of columns, no two the same. */
export function distinctNames(columns: readonly ChartColumn[]): readonly string[] {
  return distinctLabels(columns.map(({ field }) => safeWords(field.name)));
}

/** Returns the displayed keys of a row. */
export function keyTexts(keys: readonly ChartColumn[], row: number): readonly string[] {
  return keys.map(({ field, vector }) => shownText(vector, row, field).text);
}

/** Maximum length of a key; a longer one would be in the notebook twice. */
const KEY_LENGTH = 1_000;

/** Returns the exact values of the keys of a row; undefined if one is too long to repeat beside the result. */
export function keyValues(keys: readonly ChartColumn[], row: number): readonly KeyValue[] | undefined {
  const values = keys.map(({ field, vector }) => ({
    column: field.name,
    type: field.metadata.get(FIELD_KEY.type) ?? String(field.type),
    value: cellText(vector, row, field),
  }));
  return values.some(({ value }) => (value?.length ?? 0) > KEY_LENGTH) ? undefined : values;
}

const SUMS: ReadonlySet<string> = new Set(['count', 'sum', 'rate']);

/** Returns whether a column holds the values that `topk` found, which tell its rows apart. */
function isTopValue(column: ChartColumn): boolean {
  return !isNumber(column) && aggregateName(column) === 'topk';
}

function aggregateIn(field: Field): { readonly name?: unknown; readonly args?: unknown } | undefined {
  const text = field.metadata.get(FIELD_KEY.agg);
  if (text === undefined) return undefined;
  const agg: unknown = JSON.parse(text);
  return typeof agg === 'object' && agg !== null ? agg : undefined;
}

/** Returns the column of the time bins; without bins, a first column of times by which the result is grouped. */
function timeColumn({ info }: ArrowTable, columns: readonly ChartColumn[]): ChartColumn | undefined {
  const binned = columns.find(column => column.field.name === info.buckets?.field);
  if (binned !== undefined) return DataType.isTimestamp(binned.field.type) ? binned : undefined;
  const first = columns[0];
  if (first === undefined || !DataType.isTimestamp(first.field.type)) return undefined;
  const isGroup = info.groups.some(group => group.name === first.field.name);
  const isAggregated = columns.slice(1).some(isAggregate);
  return isGroup || (isAggregated && info.groups.length > 0) ? first : undefined;
}

/** Returns the keys that tell the groups apart, using columns computed from the keys if those were projected away. */
function withStandIns(
  time: ChartColumn,
  keys: readonly ChartColumn[],
  candidates: readonly ChartColumn[],
  rows: number,
): readonly ChartColumn[] {
  if (candidates.length === 0) return keys;
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
  return groupNumbers([time, ...keys], allRows(rows)).count;
}
