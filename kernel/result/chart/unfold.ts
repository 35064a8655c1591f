/**
 * Lists flattened: percentiles become columns, series become rows, and histograms become bins, so that every chart is made from
 * plain columns.
 */
import {
  Field,
  Float64,
  Schema,
  Table,
  TimestampMillisecond,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { parseTime } from '../../time.js';
import { cellText } from '../display/display-text.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable, QueryResult } from '../result.js';
import { type SpotlightEntry, spotlightEntries } from '../spotlight.js';
import {
  aggregateArguments,
  aggregateName,
  columnsOf,
  groupNames,
  isAggregation,
  isNumber,
  isTime,
} from './chart-columns.js';
import type { ChartColumn } from './chart-values.js';

/** A result with one flat table. */
export type Unfolded =
  | { readonly kind: 'percentiles'; readonly result: QueryResult; readonly list: ListParts }
  | { readonly kind: 'series'; readonly result: QueryResult };

/** A column of lists, and the fields that it has become. */
export interface ListParts {
  readonly column: ChartColumn;
  readonly parts: readonly Field[];
}

/** One bucket of a histogram. */
export interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** A column of histograms: the buckets of each row, empty for a row that has none. */
export interface Histograms {
  readonly column: ChartColumn;
  readonly rows: readonly (readonly Bucket[])[];
}

/** Returns the findings of the only `spotlight` in a table; undefined for a table with none or several, or with groups. */
export function spotlightIn(table: ArrowTable): readonly SpotlightEntry[] | undefined {
  const [column, ...more] = columnsOf(table).filter(each => aggregateName(each) === 'spotlight');
  const isOne = more.length === 0 && table.data.numRows === 1 && table.info.groups.length === 0;
  if (column === undefined || !isOne) return undefined;
  return spotlightEntries(listAt(column, 0) ?? []);
}

/** Returns a result whose percentiles are columns and whose series are rows; undefined for one that has neither. */
export function unfolded(result: QueryResult): Unfolded | undefined {
  const table = result.tables[0];
  if (table === undefined) return undefined;
  const columns = columnsOf(table);
  return percentiles(result, table, columns) ?? series(result, table, columns);
}

/** Returns the first column of histograms; undefined if there is none. */
export function histograms(table: ArrowTable): Histograms | undefined {
  const column = columnsOf(table).find(each => aggregateName(each) === 'histogram');
  if (column === undefined) return undefined;
  return { column, rows: Array.from({ length: table.data.numRows }, (_, row) => bucketsIn(column, row)) };
}

function bucketsIn(column: ChartColumn, row: number): readonly Bucket[] {
  return (listAt(column, row) ?? []).flatMap(each => {
    const { from, to, count } = (each ?? {}) as Readonly<Record<string, unknown>>;
    const isBucket = typeof from === 'number' && typeof to === 'number' && typeof count === 'number';
    return isBucket ? [{ from, to, count }] : [];
  });
}

/** Returns the list in a cell; undefined for a cell without one. */
export function listAt(column: ChartColumn, row: number): readonly unknown[] | undefined {
  const value = parsedAt(column, row, '[');
  return Array.isArray(value) ? value : undefined;
}

/** Returns the keys and values of the map in a cell; undefined for a cell without one. */
export function entriesAt(
  column: ChartColumn,
  row: number,
): readonly (readonly [string, unknown])[] | undefined {
  const value = parsedAt(column, row, '{');
  return value === undefined ? undefined : Object.entries(Object(value));
}

function parsedAt({ field, vector }: ChartColumn, row: number, opening: string): unknown {
  const text = cellText(vector, row, field);
  if (text === null || !text.startsWith(opening)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A column of lists, which a row may lack. */
interface ListColumn {
  readonly column: ChartColumn;
  readonly rows: readonly (readonly unknown[] | undefined)[];
}

/**
 * Returns the columns that hold nothing but lists of such values, and nulls. Reading stops at the first other value, since a result may
 * have millions of rows.
 */
function listColumns(
  columns: readonly ChartColumn[],
  holds: (value: unknown) => boolean,
): readonly ListColumn[] {
  return columns.flatMap(column => {
    const rows: (readonly unknown[] | undefined)[] = [];
    for (let row = 0; row < column.vector.length; row++) {
      const list = column.vector.isValid(row) ? listAt(column, row) : undefined;
      if (column.vector.isValid(row) && list?.every(holds) !== true) return [];
      rows.push(list);
    }
    return rows.some(list => list !== undefined && list.length > 0) ? [{ column, rows }] : [];
  });
}

function percentiles(
  result: QueryResult,
  table: ArrowTable,
  columns: readonly ChartColumn[],
): Unfolded | undefined {
  const lists = columns.filter(column => aggregateName(column) === 'percentiles_array');
  const [list] = lists;
  if (list === undefined || lists.length > 1) return undefined;
  const names = aggregateArguments(list)
    .flat()
    .filter(each => typeof each === 'number')
    .map(each => `p${each}`);
  const rows = Array.from({ length: table.data.numRows }, (_, row) => listAt(list, row));
  if (names.length === 0 || rows.some(row => row !== undefined && row.length !== names.length))
    return undefined;
  const parts = names.map((name, index) => {
    const values = rows.map(row => numberOf(row?.[index]));
    return { field: partField(name, list.field), vector: vectorFromArray(values, new Float64()) };
  });
  const flat = columns.flatMap(column => (column === list ? parts : [column]));
  const fields = parts.map(({ field }) => field);
  return {
    kind: 'percentiles',
    result: withTable(result, table, flat),
    list: { column: list, parts: fields },
  };
}

function partField(name: string, list: Field): Field {
  const unit = list.metadata.get(FIELD_KEY.unit);
  const metadata = new Map([
    [FIELD_KEY.agg, '{"name":"percentile"}'],
    ...(unit === undefined ? [] : [[FIELD_KEY.unit, unit] as const]),
  ]);
  return new Field(name, new Float64(), true, metadata);
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Flattens the result of `make-series`: a row for each group, whose times and values are lists of one length. */
function series(
  result: QueryResult,
  table: ArrowTable,
  columns: readonly ChartColumn[],
): Unfolded | undefined {
  if (columns.some(isTime)) return undefined;
  const others = columns.filter(column => !isNumber(column));
  const [times] = listColumns(others, isTimestamp);
  if (times === undefined) return undefined;
  const measures = listColumns(others, isNumberOrNull);
  if (measures.length === 0) return undefined;
  const lengths = times.rows.map(row => row?.length ?? 0);
  const lists = [times, ...measures].map(({ column }) => column);
  const plain = columns.filter(column => !lists.includes(column));
  const groups = groupNames(table, isAggregation(table, columns) ? columns : plain);
  const keys = plain.filter(({ field }) => groups.has(field.name));
  const flat = [
    timesOf(times.column.field.name, times.rows),
    ...keys.map(key => repeated(key, lengths)),
    ...measures.map(({ column, rows }) => ({
      field: new Field(column.field.name, new Float64(), true, column.field.metadata),
      vector: vectorFromArray(
        lengths.flatMap((length, row) => Array.from({ length }, (_, index) => numberOf(rows[row]?.[index]))),
        new Float64(),
      ),
    })),
  ];
  const info = {
    ...table.info,
    groups: [times.column, ...keys].map(({ field }) => ({ name: field.name })),
  };
  const unfoldedResult = withTable(result, { ...table, info }, flat);
  return {
    kind: 'series',
    result: { ...unfoldedResult, reading: { missingBins: 'empty-between', keyColumns: [] } },
  };
}

function isTimestamp(value: unknown): boolean {
  return timestampOf(value) !== undefined;
}

function isNumberOrNull(value: unknown): boolean {
  return value === null || typeof value === 'number';
}

function timestampOf(value: unknown): bigint | undefined {
  return typeof value === 'string' ? parseTime(value) : undefined;
}

function timesOf(name: string, rows: readonly (readonly unknown[] | undefined)[]): ChartColumn {
  const timestamps = rows.flatMap(row => (row ?? []).map(each => (timestampOf(each) ?? 0n) / 1_000_000n));
  const type = new TimestampMillisecond();
  return { field: new Field(name, type, true), vector: vectorFromArray(timestamps, type) as Vector };
}

/** Repeats a key as a string for each element of its row's lists. */
function repeated({ field, vector }: ChartColumn, lengths: readonly number[]): ChartColumn {
  const texts = lengths.flatMap((length, row) => Array.from({ length }, () => cellText(vector, row, field)));
  return { field: new Field(field.name, new Utf8(), true), vector: vectorFromArray(texts, new Utf8()) };
}

/** Returns a result whose first table has these columns instead of its own. */
export function withTable(
  result: QueryResult,
  table: ArrowTable,
  columns: readonly ChartColumn[],
): QueryResult {
  const fields = columns.map(({ field }) => field);
  const schema = new Schema(fields);
  // By number: two columns may share a name, and vectors have batches of their own.
  const vectors = Object.fromEntries(columns.map(({ vector }, index) => [index, vector]));
  const flat = { info: table.info, data: new Table(schema, vectors) };
  return { ...result, tables: [flat, ...result.tables.slice(1)] };
}
