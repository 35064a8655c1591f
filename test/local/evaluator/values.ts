/**
 * The values of the language and what its operators do with them, written from the documentation and the table of
 * decisions, and sharing no code with the compiler: an answer of the engine is compared with what is computed here.
 */

export type Type = 'long' | 'real' | 'string' | 'bool' | 'datetime' | 'timespan' | 'dynamic';

/** A JSON value within a dynamic field; an integer is a `bigint`. */
export type Json =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** A value that is not JSON's null: `dynamic(null)` is the null of the language. */
export class Dynamic {
  readonly json: Exclude<Json, null>;

  constructor(json: Exclude<Json, null>) {
    this.json = json;
  }
}

/** long, timespan and datetime are `bigint`, the last two in nanoseconds; real is `number`. */
export type Value = null | bigint | number | string | boolean | Dynamic;

export const int64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };

/** A JSON value as a value of the language. */
export function dynamicOf(json: Json): Value {
  return json === null ? null : new Dynamic(json);
}

/** An integer that fits into 64 bits, or null. */
export function fitted(value: bigint): bigint | null {
  return value < int64.least || value > int64.greatest ? null : value;
}

/** A value as the language writes it; `type` tells a timespan from a long. */
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

/** RFC 3339 with the digits that are needed, as the service writes times. */
export function timeText(ns: bigint): string {
  const seconds = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  const rest = ns - seconds * 1_000_000_000n;
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = rest === 0n ? '' : `.${rest.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${date}${fraction}Z`;
}

/** A value as it is compared with a cell of the answer: reals rounded, negative zero as zero, no number as null. */
export function cell(value: Value, type: Type): string {
  if (value === null) return 'null';
  if (type === 'real') return realCell(value as number);
  if (type === 'datetime') return JSON.stringify(timeText(value as bigint));
  if (value instanceof Dynamic) return jsonCell(value.json);
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** The text of a JSON value with its numbers as `cell` writes them. */
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

/** -1, 0, 1 for two values of one type, as sort orders them ascending; null first, and NaN with it. */
export function order(a: Value, b: Value): number {
  const rank = (value: Value): number => (value === null || Number.isNaN(value) ? 0 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (rank(a) === 0) return 0;
  if (a instanceof Dynamic && b instanceof Dynamic) return orderDynamic(a.json, b.json);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  const [left, right] = [a as bigint, b as bigint];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What reads as a number by its value, before what does not; then by their text. */
function orderDynamic(a: Json, b: Json): number {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined && left !== right) return left < right ? -1 : 1;
  if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1;
  return Buffer.compare(Buffer.from(jsonText(a)), Buffer.from(jsonText(b)));
}

/** Numbers, texts of numbers, and bools as 1 and 0. */
export function numberOf(json: Json): number | undefined {
  if (typeof json === 'string') return /^-?\d+(\.\d+)?$/.test(json) ? Number(json) : undefined;
  return typeof json === 'object' ? undefined : Number(json);
}

/** The same text for values that are one group: negative zero is zero, every NaN is one, 1 and 1.0 of dynamic too. */
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
