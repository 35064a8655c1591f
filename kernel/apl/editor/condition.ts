/** Conditions made from a result: a value becomes the text of a predicate. */
import { writtenName } from '../catalog/catalog-written.js';
import { writtenText } from '../syntax/tokens/quote.js';

/** A column of a result: its name, and its type as the service declares it. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** Returns the condition that keeps the rows with a value, given as its exact text (null for a null), or that leaves them out. */
export function conditionFor({ name, type }: ResultColumn, value: string | null, keep: boolean): string {
  return conditionOn({ field: writtenName(name), type }, value, keep);
}

/** As `conditionFor`, of an expression. */
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
      // The text of what is missing is empty.
      return value === '' && keep ? `(isnotnull(${field}) and ${test})` : test;
    }
  }
}

/** Whether a text is the exact value of a type, so that it can stand in a condition; whoever wrote it down may have written anything. */
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

/** True for the name of a type of real numbers, here or on the hosted service. */
export function isReal(type: string): boolean {
  return reals.has(type);
}

const reals: ReadonlySet<string> = new Set(['real', 'float', 'double']);

/** True for the text of an infinity, as the service or a front end writes it. */
export function isInfinite(text: string): boolean {
  return /Inf(?:inity)?$/.test(text);
}

/** Returns the text of a finite real as a literal: without a point, digits are an integer, of which few are as large. */
export function realLiteral(text: string): string {
  return /^-?\d{16,}$/.test(text) ? `${Number(text)}`.replace(/^(-?\d+)$/, '$1.0') : text;
}

function realCondition(field: string, value: string, keep: boolean): string {
  const negated = (condition: string) => (keep ? condition : `not(${condition})`);
  if (value === 'NaN') return negated(`isnan(${field})`);
  if (!isInfinite(value)) return `${field} ${keep ? '==' : '!='} ${realLiteral(value)}`;
  return negated(`isinf(${field}) and ${field} ${value.startsWith('-') ? '<' : '>'} 0`);
}
