/** Cells and numbers as exact strings, the same in every rendering. */
import { DataType, type Field, Int64, type Table, TimeUnit, Vector } from 'apache-arrow';
import { visible } from '../../text.js';
import { formatDuration, formatTime, MICROSECOND, MILLISECOND, SECOND } from '../../time.js';
import { FIELD_KEY } from '../field.js';

/**
 * Returns the exact value of a cell as a string, or null for a null: all digits of an int64, RFC 3339 for a time, a Go duration for a
 * timespan, the shortest decimal that reads back as the same double.
 */
export function cellText(vector: Vector, row: number, field: Field): string | null {
  if (!vector.isValid(row)) return null;
  const { type } = field;
  if (DataType.isTimestamp(type)) return formatTime(exactInt64(vector, row) * NANOS_PER[type.unit]);
  if (DataType.isDuration(type)) return formatDuration(exactInt64(vector, row) * NANOS_PER[type.unit]);
  const value: unknown = vector.get(row);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  return String(value);
}

/** Returns the exact cells of a table, row by row; none for a result without a table. */
export function rowTexts(
  table: { readonly data: Table } | undefined,
): readonly (readonly (string | null)[])[] {
  if (table === undefined) return [];
  const { data } = table;
  const columns = data.schema.fields.map((field, at) => ({ field, vector: data.getChildAt(at) }));
  return Array.from({ length: data.numRows }, (_, row) =>
    columns.map(({ field, vector }) => (vector === null ? null : cellText(vector, row, field))),
  );
}

/**
 * Returns a cell as displayed: as in `cellText`, but with control characters made visible, and with quotes around a string that is empty
 * or blank, reads `null` or starts with a quote, to distinguish it from a null. `isNull` lets a rendering dim a null.
 */
export function shownText(
  vector: Vector,
  row: number,
  field: Field,
): { readonly text: string; readonly isNull: boolean } {
  const text = cellText(vector, row, field);
  if (text === null) return { text: 'null', isNull: true };
  const shown = isText(field) ? distinctText(text) : withoutNoise(text, field);
  return { text: visible(shown), isNull: false };
}

/** Returns a string, quoted if it could look missing. */
export function distinctText(text: string): string {
  return AMBIGUOUS.test(text) ? JSON.stringify(text) : text;
}

/** Returns the language's name of a type from the service's: `long` for `integer`. */
export function typeWord(type: string): string {
  return TYPE_WORDS.get(type) ?? type;
}

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['integer', 'long'],
  ['int', 'long'],
  ['float', 'real'],
  ['double', 'real'],
  ['boolean', 'bool'],
  ['array', 'dynamic'],
  ['map', 'dynamic'],
  ['object', 'dynamic'],
  ['unknown', 'dynamic'],
]);

/** Kind of the values of a field. */
export type ValueKind = 'time' | 'span' | 'integer' | 'real' | 'bool' | 'text';

/** Returns the kind of the values of a field; a dynamic value is its JSON, as text. */
export function valueKind({ type }: Field): ValueKind {
  if (DataType.isTimestamp(type)) return 'time';
  if (DataType.isDuration(type)) return 'span';
  if (DataType.isInt(type)) return 'integer';
  if (DataType.isFloat(type)) return 'real';
  return DataType.isBool(type) ? 'bool' : 'text';
}

/** Returns whether a field holds numbers or durations, which are right-aligned. */
export function isNumeric({ type }: Field): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDuration(type);
}

/** Returns the 64-bit integer of a time or a timespan, in the unit of its type. */
export function exactInt64(vector: Vector, row: number): bigint {
  return int64View(vector).get(row) as bigint;
}

const NANOS_PER: Readonly<Record<TimeUnit, bigint>> = {
  [TimeUnit.SECOND]: SECOND,
  [TimeUnit.MILLISECOND]: MILLISECOND,
  [TimeUnit.MICROSECOND]: MICROSECOND,
  [TimeUnit.NANOSECOND]: 1n,
};

/** Rounds numbers with double-precision noise (17 digits) in JSON to seven digits, as in a column of floating-point numbers. */
function withoutNoise(text: string, { metadata }: Field): string {
  if (!metadata.has(FIELD_KEY.extension)) return text;
  return text.replace(TEXT_OR_REAL, found => (found.startsWith('"') ? found : realText(found)));
}

/**
 * Returns a floating-point number, rounded to seven digits if it has double-precision noise: 17 digits, or 16 that end after zeros or
 * nines.
 */
export function realText(exact: string): string {
  const digits = exact.replace(/^[-0.]+|\./g, '');
  const isLong = digits.length > SURE_DIGITS || (digits.length === SURE_DIGITS && ROUNDED.test(digits));
  const isNoise = exact.includes('.') && isLong;
  return isNoise ? String(Number(Number(exact).toPrecision(SHOWN_DIGITS))) : exact;
}

const TEXT_OR_REAL = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+\.\d+(?![\deE])/g;
const SURE_DIGITS = 16;
const ROUNDED = /(?:0000|9999)\d{1,2}$/;
const SHOWN_DIGITS = 7;

const AMBIGUOUS = /^(?:\s*$|null$|")/;

const int64Views = new WeakMap<Vector, Vector<Int64>>();

/** Views the buffers as plain int64, keeping every digit: Arrow's accessors return milliseconds for a time. */
function int64View(vector: Vector): Vector<Int64> {
  const known = int64Views.get(vector);
  if (known !== undefined) return known;
  const view = new Vector(vector.data.map(chunk => chunk.clone(new Int64()))) as Vector<Int64>;
  int64Views.set(vector, view);
  return view;
}

function isText(field: Field): boolean {
  const type = DataType.isDictionary(field.type) ? (field.type.dictionary as DataType) : field.type;
  return DataType.isUtf8(type) && !field.metadata.has(FIELD_KEY.extension);
}
