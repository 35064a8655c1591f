/**
 * The language's values and operators, written from the documentation and the decisions table without sharing code with the
 * compiler: the tests compare the engine's answers with these results.
 */

export type Type = 'long' | 'real' | 'string' | 'bool' | 'datetime' | 'timespan' | 'dynamic';

/** A JSON value in a dynamic field; an integer is a `bigint`. */
export type Json =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** A value other than JSON's null, since `dynamic(null)` is the language's null. */
export class Dynamic {
  readonly json: Exclude<Json, null>;

  constructor(json: Exclude<Json, null>) {
    this.json = json;
  }
}

/** A value: long, timespan and datetime are `bigint`, the last two in nanoseconds; real is `number`. */
export type Value = null | bigint | number | string | boolean | Dynamic;

export const int64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };

/** Converts a JSON value to a value of the language. */
export function dynamicOf(json: Json): Value {
  return json === null ? null : new Dynamic(json);
}

/** Returns an integer that fits into 64 bits; null otherwise. */
export function fitted(value: bigint): bigint | null {
  return value < int64.least || value > int64.greatest ? null : value;
}

/** Formats a value as a literal; `type` distinguishes a timespan from a long. */
export function literal(value: Value, type: Type): string {
  if (value === null) return type === 'dynamic' ? 'dynamic(null)' : `${type}(null)`;
  switch (type) {
    case 'string':
      return JSON.stringify(value);
    case 'datetime':
      return `datetime(${timeText(value as bigint)})`;
    case 'timespan':
      return `${value}ns`;
    case 'dynamic':
      return `dynamic(${jsonText((value as Dynamic).json)})`;
    case 'real':
      return realLiteral(value as number);
    default:
      return String(value);
  }
}

function realLiteral(value: number): string {
  if (!Number.isFinite(value)) return `todouble("${String(value).replace('inity', '')}")`;
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function jsonText(json: Json): string {
  if (typeof json === 'bigint' || typeof json === 'number') return String(json);
  if (Array.isArray(json)) return `[${json.map(jsonText).join(',')}]`;
  if (json !== null && typeof json === 'object') {
    return `{${Object.entries(json)
      .map(([key, value]) => `${JSON.stringify(key)}:${jsonText(value)}`)
      .join(',')}}`;
  }
  return JSON.stringify(json);
}

/** Formats a time like the service: RFC 3339 with as many decimals as necessary. */
export function timeText(ns: bigint): string {
  const seconds = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  const rest = ns - seconds * 1_000_000_000n;
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = rest === 0n ? '' : `.${rest.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${date}${fraction}Z`;
}

/** Formats a value for comparison with a cell of the response: reals rounded, negative zero as zero, non-finite numbers as null. */
export function cell(value: Value, type: Type): string {
  if (value === null) return 'null';
  if (type === 'real') return realCell(value as number);
  if (type === 'datetime') return JSON.stringify(timeText(value as bigint));
  if (value instanceof Dynamic) return jsonCell(value.json);
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Formats a JSON value, with its numbers as in `cell`. */
export function jsonCell(json: Json): string {
  if (typeof json === 'number') return realCell(json);
  if (Array.isArray(json)) return `[${json.map(jsonCell).join(',')}]`;
  if (json !== null && typeof json === 'object') {
    return `{${Object.entries(json)
      .map(([key, value]) => `${JSON.stringify(key)}:${jsonCell(value)}`)
      .join(',')}}`;
  }
  return typeof json === 'bigint' ? String(json) : JSON.stringify(json);
}

function realCell(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const rounded = Number(value.toPrecision(12));
  return String(rounded === 0 ? 0 : rounded);
}

/** Returns -1, 0 or 1 for two values of one type in ascending sort order; null and NaN come first and are equal. */
export function order(a: Value, b: Value): number {
  const rank = (value: Value): number => (value === null || Number.isNaN(value) ? 0 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (rank(a) === 0) return 0;
  if (a instanceof Dynamic && b instanceof Dynamic) return orderDynamic(a.json, b.json);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  const [left, right] = [a as bigint, b as bigint];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Orders values that read as numbers by value, before all others; then by text. */
function orderDynamic(a: Json, b: Json): number {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined && left !== right) return left < right ? -1 : 1;
  if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1;
  return Buffer.compare(Buffer.from(jsonText(a)), Buffer.from(jsonText(b)));
}

/** Returns the number of a number, a numeric string, or a bool (1 and 0). */
export function numberOf(json: Json): number | undefined {
  if (typeof json === 'string') return /^-?\d+(\.\d+)?$/.test(json) ? Number(json) : undefined;
  return typeof json === 'object' ? undefined : Number(json);
}

/** Returns the same text for values of one group: negative zero equals zero, all NaN are equal, and dynamic 1 equals 1.0. */
export function groupKey(values: readonly Value[]): string {
  return JSON.stringify(
    values.map(value => {
      if (value instanceof Dynamic) return ['dynamic', jsonCell(value.json)];
      if (typeof value === 'bigint') return ['integer', String(value)];
      if (typeof value === 'number') return ['real', String(value === 0 ? 0 : value)];
      return value;
    }),
  );
}
