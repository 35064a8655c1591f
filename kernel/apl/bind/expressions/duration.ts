import { UNITS } from '../../../time.js';
import type { TypeName } from '../../catalog/entry.js';
import type { Column, Scalar } from '../../plan/plan.js';
import type { Expr } from '../../syntax/ast.js';
import {
  type Binder,
  commonType,
  convertTo,
  isNull,
  isNumber,
  type Scope,
  shorten,
  typeInWords,
  unbound,
} from '../binder.js';

/** Operand with its value. */
export interface Operand {
  readonly expr: Expr;
  readonly value: Scalar;
}

/** Aligns a duration with a number: the duration becomes integer nanoseconds, which few fields contain. */
export function alignDurations(
  binder: Binder,
  scope: Scope,
  left: Operand,
  right: Operand,
): { readonly left: Scalar; readonly right: Scalar } | undefined {
  if (left.value.type === 'timespan' && isNumber(right.value.type)) {
    warnOfNanoseconds(binder, scope, right, left);
    return { left: convertTo(left.value, right.value.type), right: right.value };
  }
  if (right.value.type === 'timespan' && isNumber(left.value.type)) {
    warnOfNanoseconds(binder, scope, left, right);
    return { left: left.value, right: convertTo(right.value, left.value.type) };
  }
  return undefined;
}

/** Warns about `took > 1s` if `took` holds seconds: 1,000,000,000 seconds are not meant. */
function warnOfNanoseconds(binder: Binder, scope: Scope, number: Operand, duration: Operand): void {
  const { value } = number;
  if (value.kind === 'constant') warnOfBareNumber(binder, number, quoted(binder, duration.expr));
  const column =
    value.kind === 'column' ? scope.columns.find(candidate => candidate.id === value.id) : undefined;
  const ns = duration.value.kind === 'constant' ? Number(duration.value.value) : Number.NaN;
  if (column === undefined || ns === 0) return;
  const unit = unitOf(column);
  if (unit === undefined ? mayCountNanoseconds(column) : unit.ns === 1) return;
  const [field, text] = [number.expr, duration.expr].map(expr => `\`${shorten(binder.text(expr))}\``);
  const counted = Number.isNaN(ns) ? 'in nanoseconds' : `as ${ns} nanoseconds`;
  const meant = Number.isNaN(ns) || unit === undefined ? undefined : String(ns / unit.ns);
  binder.report(
    'warning',
    'duration-with-number',
    duration.expr,
    `${text} counts ${counted} here, but ${field} is ${unit === undefined ? kinds[column.type] : `in ${unit.name}`}`,
    meant === undefined
      ? `Write a number in the unit of ${field}, or toint(…) of the duration if the field is in nanoseconds.`
      : `Write ${meant}.`,
    meant,
  );
}

/**
 * Warns about `took > 500` if `took` is a timespan: 500 nanoseconds are hardly ever meant. Zero is the same in every unit. `duration` names
 * the other operand.
 */
export function warnOfBareNumber(binder: Binder, { expr, value }: Operand, duration: string): void {
  if (value.kind !== 'constant' || !isNumber(value.type) || value.value === null) return;
  const ns = Number(value.value);
  if (ns === 0) return;
  const written = shorten(binder.text(expr));
  const meant = isWritten(expr) ? asDuration(ns) : undefined;
  binder.report(
    'warning',
    'duration-with-number',
    expr,
    `\`${written}\` counts as ${written === String(ns) ? '' : `${ns} `}nanoseconds here, because ${duration} is a duration`,
    meant === undefined
      ? 'Add a unit, as in `500ms`.'
      : `Write ${meant}, or use another unit; ${ns}ns is its current meaning.`,
    meant,
  );
}

/**
 * Returns the common type of alternative values, as in `iff`. A literal number beside a duration becomes one, with a warning; any other
 * number there is reported, and the type is undefined.
 */
export function typeOfOneOf(
  binder: Binder,
  name: string,
  operands: readonly Operand[],
): TypeName | undefined {
  const type = commonType(operands.map(({ value }) => value));
  const known = operands.filter(({ value }) => !isNull(value));
  const duration = known.find(({ value }) => value.type === 'timespan');
  const numbers = known.filter(({ value }) => isNumber(value.type));
  const isMixed = duration !== undefined && numbers.length > 0;
  if (!isMixed || known.some(({ value }) => value.type !== 'timespan' && !isNumber(value.type))) return type;
  const other = numbers.find(({ value }) => value.kind !== 'constant');
  if (other === undefined) {
    for (const number of numbers) warnOfBareNumber(binder, number, quoted(binder, duration.expr));
    return 'timespan';
  }
  binder.error(
    'argument-type',
    other.expr,
    `\`${name}\` returns one type, but ${quoted(binder, duration.expr)} is a duration and ${quoted(binder, other.expr)} is ${typeInWords(other.value.type)}`,
    `Add a unit to the number, as in \`${factor(binder, other.expr)} * 1ms\`, or convert the duration to a number: \`${factor(binder, duration.expr)} / 1ms\`.`,
  );
  return undefined;
}

/** How to read a number that should be a time. */
export const sinceHint =
  'Convert it with unixtime_seconds_todatetime(…) or unixtime_milliseconds_todatetime(…).';

/** Returns an expression as an operand of `*` or `/`. */
function factor(binder: Binder, expr: Expr): string {
  const text = shorten(binder.text(expr));
  return expr.kind === 'name' || expr.kind === 'literal' || expr.kind === 'call' ? text : `(${text})`;
}

/**
 * Reports a `bin` whose size does not match its value, with a fix: `bin(field, 1d)` for a field that is not known to be a time, or
 * `bin(_time, 60)`, whose size has no unit. Returns whether it did.
 */
export function refusesBin(binder: Binder, [binned, size]: readonly Operand[]): boolean {
  if (binned === undefined || size === undefined || binned.value === unbound) return false;
  const { value, expr } = binned;
  const isTimed = value.type === 'datetime' || value.type === 'timespan';
  if (size.value.type === 'timespan' && (value.type === 'string' || value.type === 'dynamic')) {
    const instead = `todatetime(${binder.text(expr)})`;
    const message = `${quoted(binder, expr)} is ${typeInWords(value.type)}, and \`${shorten(binder.text(size.expr))}\` is the width of a time bin`;
    binder.error('argument-type', expr, message, `Write ${shorten(instead)}.`, instead);
    return true;
  }
  if (size.value.type === 'timespan' && isNumber(value.type)) {
    const message = `${quoted(binder, expr)} is ${typeInWords(value.type)}, and \`${shorten(binder.text(size.expr))}\` is the width of a time bin`;
    binder.error('argument-type', expr, message, sinceHint);
    return true;
  }
  const { value: width } = size;
  if (isTimed && width.kind === 'constant' && /^\d+(?:\.\d+)?(?:[dhms]|[mun]s)$/.test(String(width.value))) {
    const message = `the size of a bin of times is a duration, and ${quoted(binder, size.expr)} is a string`;
    binder.error('argument-type', size.expr, message, `Write ${width.value}.`, String(width.value));
    return true;
  }
  if (!isTimed || width.kind !== 'constant' || !isNumber(width.type) || !(Number(width.value) > 0))
    return false;
  // Times are binned by seconds or more, durations by the usual unit.
  const meant = value.type === 'datetime' ? asSeconds(Number(width.value)) : asDuration(Number(width.value));
  const message = `the size of a bin of ${value.type === 'datetime' ? 'times' : 'durations'} needs a unit`;
  binder.error(
    'argument-type',
    size.expr,
    message,
    `Write ${meant}.`,
    isWritten(size.expr) ? meant : undefined,
  );
  return true;
}

/** Warns about `step 60` between times: nanoseconds are hardly ever meant, seconds are. */
export function warnOfBareStep(binder: Binder, { expr, value }: Operand, type: TypeName): void {
  if (type !== 'datetime') {
    warnOfBareNumber(binder, { expr, value }, 'the range');
    return;
  }
  if (value.kind !== 'constant' || value.type !== 'long' || value.value === null || value.value === 0n)
    return;
  const meant = asSeconds(Number(value.value));
  const message = `${quoted(binder, expr)} counts as nanoseconds here, because the step between timestamps is a duration`;
  binder.report(
    'warning',
    'duration-with-number',
    expr,
    message,
    `Write ${meant}, or another unit.`,
    isWritten(expr) ? meant : undefined,
  );
}

/** Returns a number of seconds as a timespan in its largest whole unit. */
function asSeconds(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const unit = units.find(([, size]) => seconds % size === 0);
  return unit === undefined ? `${seconds}s` : `${seconds / unit[1]}${unit[0]}`;
}

/** Warns about `todatetime(started)` if `started` holds seconds, or of a literal with as many digits as seconds since 1970 have. */
export function warnOfTimeUnit(binder: Binder, scope: Scope, [operand]: readonly Operand[]): void {
  if (operand === undefined || !isNumber(operand.value.type)) return;
  const { expr, value } = operand;
  const column =
    value.kind === 'column' ? scope.columns.find(candidate => candidate.id === value.id) : undefined;
  const unit =
    value.kind === 'constant' ? sinceUnits[String(value.value).length] : column && fieldUnit(column);
  if (unit === undefined) return;
  const text = binder.text(expr);
  const read = (name: string, shown = shorten(text)): string => `unixtime_${name}_todatetime(${shown})`;
  const hint =
    unit === ''
      ? `Write ${read('seconds')} or ${read('milliseconds')} if it is in another unit.`
      : `Write ${read(unit)}.`;
  const message = `${quoted(binder, expr)} counts as nanoseconds since 1970 here`;
  binder.report('warning', 'time-unit', expr, message, hint, unit === '' ? undefined : read(unit, text));
}

/** Units of present times since 1970, by their digits. */
export const sinceUnits: Readonly<Record<number, string>> = {
  10: 'seconds',
  13: 'milliseconds',
  16: 'microseconds',
};

/** Returns the unit of a stored field of numbers, empty if unknown, or undefined if it may be nanoseconds. */
function fieldUnit(column: Column): string | undefined {
  const unit = unitOf(column);
  if (column.table === undefined || unit?.ns === 1 || /nano/i.test(column.name)) return undefined;
  return { 1e3: 'microseconds', 1e6: 'milliseconds', 1e9: 'seconds' }[unit?.ns ?? 0] ?? '';
}

/** Returns an expression quoted for messages. */
export function quoted(binder: Binder, expr: Expr): string {
  return `\`${shorten(binder.text(expr))}\``;
}

/** True for a literal number in the query, which can be replaced in place. */
function isWritten(expr: Expr): boolean {
  return expr.kind === 'literal' || (expr.kind === 'unary' && expr.operand.kind === 'literal');
}

/** Returns the duration that a number means: a millisecond or more in nanoseconds is taken literally; fewer are probably milliseconds. */
function asDuration(ns: number): string {
  const ms = UNITS.get('ms') ?? 1n;
  if (Math.abs(ns) < Number(ms)) return `${ns}ms`;
  const unit = ['h', 'm', 's'].find(each => ns % Number(UNITS.get(each)) === 0) ?? 'ms';
  return `${ns / Number(UNITS.get(unit))}${unit}`;
}

const kinds: Readonly<Partial<Record<TypeName, string>>> = { long: 'an integer', real: 'a real number' };

/** Returns a field's unit of time, from its description or the end of its name, or undefined. */
function unitOf({ name, unit }: Column): { readonly name: string; readonly ns: number } | undefined {
  const words = [unit ?? '', /(?:[_.\- ]|(?<=[a-z0-9])(?=[A-Z]))([A-Za-z]+)$/.exec(name)?.[1] ?? ''];
  for (const word of words) {
    const ns = UNITS.get(word) ?? UNITS.get(word.toLowerCase());
    if (ns !== undefined) return { name: word, ns: Number(ns) };
  }
  return undefined;
}

/** True for a field that may count nanoseconds: trace durations are such integers, and so may be computed fields. */
function mayCountNanoseconds({ name, type, table }: Column): boolean {
  return table === undefined || (type === 'long' && /duration|nano/i.test(name));
}
