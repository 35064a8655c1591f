/** Conditions made from a result: a value becomes a predicate in APL. */
import { writtenName } from '../catalog/catalog-written.js';
import { writtenText } from '../syntax/tokens/quote.js';

/** A result column: its name, and its type as the service declares it. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** Returns the condition that keeps or excludes the rows with a value, given as its exact string (null for a null). */
export function conditionFor({ name, type }: ResultColumn, value: string | null, keep: boolean): string {
  return conditionOn({ field: writtenName(name), type }, value, keep);
}

/** Like `conditionFor`, but for an expression. */
export function conditionOn(
  { field, type }: { readonly field: string; readonly type: string },
  value: string | null,
  keep: boolean,
): string {
  if (value === null) return keep ? `isnull(${field})` : `isnotnull(${field})`;
  const is = keep ? '==' : '!=';
  if (isReal(type)) return realCondition(field, value, keep);
  switch (type) {
    case 'datetime':
      return `${field} ${is} datetime(${value})`;
    case 'timespan':
      return `${field} ${is} totimespan(${writtenText(value)})`;
    case 'integer':
    case 'long':
    case 'int':
      return `${field} ${is} ${value}`;
    case 'boolean':
    case 'bool':
      return `${field} ${is} ${value}`;
    case 'string':
      return `${field} ${is} ${writtenText(value)}`;
    default: {
      const test = `tostring(${field}) ${is} ${writtenText(value)}`;
      // A missing value converts to the empty string.
      return value === '' && keep ? `(isnotnull(${field}) and ${test})` : test;
    }
  }
}

/** True if a string is an exact value of a type, and so can be used in a condition; it may come from an untrusted source. */
export function isExact(type: string, text: string): boolean {
  return exactTexts.get(type)?.test(text) ?? true;
}

const whole = /^-?\d+$/;
const real = /^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$/;
const exactTexts: ReadonlyMap<string, RegExp> = new Map([
  ...['integer', 'long', 'int'].map(type => [type, whole] as const),
  ...['float', 'real', 'double'].map(type => [type, real] as const),
  ...['boolean', 'bool'].map(type => [type, /^(?:true|false)$/] as const),
  ['datetime', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/] as const,
]);

/** True for the name of a real type, here or in the hosted service. */
export function isReal(type: string): boolean {
  return reals.has(type);
}

const reals: ReadonlySet<string> = new Set(['real', 'float', 'double']);

/** True for an infinity as written by the service or a front end. */
export function isInfinite(text: string): boolean {
  return /Inf(?:inity)?$/.test(text);
}

/** Returns a finite real as a literal: digits without a point would be an integer, and few integers are that large. */
export function realLiteral(text: string): string {
  return /^-?\d{16,}$/.test(text) ? `${Number(text)}`.replace(/^(-?\d+)$/, '$1.0') : text;
}

function realCondition(field: string, value: string, keep: boolean): string {
  const negated = (condition: string) => (keep ? condition : `not(${condition})`);
  if (value === 'NaN') return negated(`isnan(${field})`);
  if (!isInfinite(value)) return `${field} ${keep ? '==' : '!='} ${realLiteral(value)}`;
  return negated(`isinf(${field}) and ${field} ${value.startsWith('-') ? '<' : '>'} 0`);
}
