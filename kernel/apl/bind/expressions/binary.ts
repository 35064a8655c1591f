import { datesMeant, parseTime, parseTimespan } from '../../../time.js';
import type { TypeName } from '../../catalog/entry.js';
import type { Scalar } from '../../plan/plan.js';
import { binary, call, condition, constant, joined, not } from '../../plan/scalars.js';
import type { BinaryOperator, Expr, Span } from '../../syntax/ast.js';
import {
  type Binder,
  convertTo,
  isNull,
  isNumber,
  type Scope,
  shorten,
  typeInWords,
  unbound,
  unwrap,
} from '../binder.js';
import { bindExpression, bindPredicate } from './bind-expression.js';
import { both, either } from './chain.js';
import { warnOfQuotedField } from './constants.js';
import { alignDurations, quoted, sinceHint, sinceUnits, warnOfBareNumber } from './duration.js';
import { anyField } from './star.js';

type BinaryExpr = Extract<Expr, { kind: 'binary' }>;

/** Binds `left operator right`: logic, comparison, arithmetic or text search. */
export function bindBinary(binder: Binder, expr: BinaryExpr, scope: Scope): Scalar {
  const { operator } = expr;
  if (operator === 'and' || operator === 'or') {
    const left = bindPredicate(binder, expr.left, scope, `\`${operator}\``);
    const right = bindPredicate(binder, expr.right, scope, `\`${operator}\``, comparedLike(binder, expr));
    return operator === 'or' ? either(left, right) : both(left, right);
  }
  if (expr.left.kind === 'star')
    return anyField(operator, scope.columns, convertTo(bindExpression(binder, expr.right, scope), 'string'));
  const left = bindExpression(binder, expr.left, scope);
  const right = bindExpression(binder, expr.right, mayBeText(expr) ? { ...scope, mayBeText: true } : scope);
  if (arithmetic.has(operator)) return bindArithmetic(binder, expr, left, right);
  warnOfQuotedField(binder, expr.left, expr.right, scope);
  if (comparisons.has(operator)) return bindComparison(binder, expr, left, right, scope);
  return condition(operator, asText(binder, expr.left, left), asText(binder, expr.right, right), [
    expr.left,
    expr.right,
  ]);
}

/**
 * Reads `a == "x" or "y"` as a second comparison like the first; returns undefined unless the right side is a value and the left a
 * comparison.
 */
function comparedLike(binder: Binder, { left, right }: BinaryExpr): string | undefined {
  const last =
    left.kind === 'binary' && (left.operator === 'and' || left.operator === 'or') ? left.right : left;
  if (right.kind !== 'literal' || last.kind !== 'binary' || arithmetic.has(last.operator)) return undefined;
  return `${binder.text(last.left)} ${last.operator} ${binder.text(right)}`;
}

/** Returns the values of `("x" or "y")`; undefined if it contains anything else. */
function alternatives(binder: Binder, expr: Expr): readonly string[] | undefined {
  if (expr.kind === 'paren') return alternatives(binder, expr.inner);
  if (expr.kind === 'literal') return [binder.text(expr)];
  if (expr.kind !== 'binary' || expr.operator !== 'or') return undefined;
  const [left, right] = [alternatives(binder, expr.left), alternatives(binder, expr.right)];
  return left === undefined || right === undefined ? undefined : [...left, ...right];
}

/** Reads `x == ("a" or "b")` as a list. */
function listMeant(binder: Binder, { operator, operatorSpan, right }: BinaryExpr): Meant | undefined {
  const values = operator === '==' || operator === '!=' ? alternatives(binder, right) : undefined;
  if (values === undefined || values.length < 2) return undefined;
  const instead = `${operator === '==' ? '' : '!'}in (${values.join(', ')})`;
  return { span: { from: operatorSpan.from, to: right.to }, instead };
}

/** True if the right side is a bare word, which may be an unquoted string. */
function mayBeText({ operator, right }: BinaryExpr): boolean {
  return right.kind === 'name' && !right.quoted && !arithmetic.has(operator);
}

const arithmetic: ReadonlySet<BinaryOperator> = new Set(['+', '-', '*', '/', '%']);
const comparisons: ReadonlySet<BinaryOperator> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** Returns the operand of a string operator; numbers and the like are read as strings, with a warning. */
function asText(binder: Binder, expr: Expr, value: Scalar): Scalar {
  if (value.type !== 'string' && value.type !== 'dynamic') {
    binder.report(
      'warning',
      'not-text',
      expr,
      `\`${shorten(binder.text(expr))}\` is ${typeInWords(value.type)}, read as text here`,
      `Write tostring(${shorten(binder.text(expr))}) to make this explicit.`,
    );
  }
  return convertTo(value, 'string');
}

/** Compares two values already bound: the operands of `expr`. */
export function bindComparison(
  binder: Binder,
  expr: BinaryExpr,
  left: Scalar,
  right: Scalar,
  scope: Scope,
): Scalar {
  const numeric = compareDynamic(expr.operator, left, right);
  if (numeric !== undefined) return numeric;
  const pair = alignComparison(binder, expr, left, right, scope);
  return pair === undefined ? unbound : condition(expr.operator, pair.left, pair.right);
}

/** Compares a dynamic value with an integer, a bool or another dynamic value: numbers by value, so 1.5 is not 1, and 9 comes before 10. */
function compareDynamic(operator: BinaryOperator, left: Scalar, right: Scalar): Scalar | undefined {
  if (isNull(left) || isNull(right)) return undefined;
  const other = left.type === 'dynamic' ? right : left;
  if (left.type !== 'dynamic' && right.type !== 'dynamic') return undefined;
  if (other.type === 'long' && isExactReal(other))
    return condition(operator, convertTo(left, 'real'), convertTo(right, 'real'));
  if (other.type === 'long' || other.type === 'dynamic')
    return call('$compare', [constant('string', operator), left, right], 'bool');
  // Converting the dynamic value would make every number but 0 equal to true.
  if (other.type === 'bool')
    return call(
      '$compare',
      [constant('string', operator), ...[left, right].map(side => convertTo(side, 'dynamic'))],
      'bool',
    );
  if (operator !== '!=' || other.kind === 'constant') return undefined;
  // A value not of the other's type would be null, and two nulls do not differ.
  const present = joined(
    'or',
    [left, right].map(side => call('isnotnull', [side], 'bool')),
  );
  const equal = condition('==', convertTo(left, other.type), convertTo(right, other.type));
  return present && condition('and', present, not(equal));
}

/** True for an integer that no other integer equals after conversion to a real. */
export function isExactReal(value: Scalar): boolean {
  return value.kind === 'constant' && Number.isSafeInteger(Number(value.value));
}

interface Pair {
  readonly left: Scalar;
  readonly right: Scalar;
}

function alignComparison(
  binder: Binder,
  expr: BinaryExpr,
  left: Scalar,
  right: Scalar,
  scope: Scope,
): Pair | undefined {
  const [a, b] = [left.type, right.type];
  if (isNull(right)) return { left, right: convertTo(right, a) };
  if (isNull(left)) return { left: convertTo(left, b), right };
  if (a === b) return { left, right };
  if (isNumber(a) && isNumber(b)) return { left: convertTo(left, 'real'), right: convertTo(right, 'real') };
  if (a === 'dynamic') return { left: convertTo(left, b), right };
  if (b === 'dynamic') return { left, right: convertTo(right, a) };
  return (
    alignConstant(left, right) ??
    alignDurations(binder, scope, { expr: expr.left, value: left }, { expr: expr.right, value: right }) ??
    alignStringWithNumber(binder, expr, left, right) ??
    mismatch(binder, expr, a, b)
  );
}

/** Reads a string compared with a time or duration as one. */
function alignConstant(left: Scalar, right: Scalar): Pair | undefined {
  const converted = textAs(right, left.type);
  if (converted !== undefined) return { left, right: converted };
  const swapped = textAs(left, right.type);
  return swapped === undefined ? undefined : { left: swapped, right };
}

function textAs(value: Scalar, type: TypeName): Scalar | undefined {
  if (value.kind !== 'constant' || value.type !== 'string' || (type !== 'datetime' && type !== 'timespan'))
    return undefined;
  const parsed = type === 'datetime' ? parseTime(String(value.value)) : parseTimespan(String(value.value));
  return parsed === undefined ? undefined : constant(type, parsed);
}

/** Compares `status == '500'`, for a numeric status, as strings, and `status >= '500'` as numbers. */
function alignStringWithNumber(
  binder: Binder,
  expr: BinaryExpr,
  left: Scalar,
  right: Scalar,
): Pair | undefined {
  const text = left.type === 'string' ? left : right;
  const number = left.type === 'string' ? right : left;
  if (text.type !== 'string' || !isNumber(number.type)) return undefined;
  const shown = shorten(binder.text(left.type === 'string' ? expr.left : expr.right));
  const equality = expr.operator === '==' || expr.operator === '!=';
  const explicit = `${readsAsInteger(text) ? 'toint' : 'todouble'}(${shown})`;
  const hint = binder.strict
    ? `Strict types are on: write ${explicit}, or quotes around the number.`
    : equality
      ? textHint(text, number, explicit)
      : `Its text is read as a number; write ${explicit} to make this explicit.`;
  binder.report(
    binder.strict ? 'error' : 'warning',
    'string-with-number',
    expr,
    `\`${shown}\` is a string, compared with a number`,
    hint,
  );
  const exact = equality ? exactInteger(text, number) : undefined;
  if (exact !== undefined) return left === text ? { left: exact, right } : { left, right: exact };
  const type: TypeName = equality ? 'string' : 'real';
  return { left: convertTo(left, type), right: convertTo(right, type) };
}

/** Returns a constant string as an integer, if it is that integer's canonical form: comparing either way gives the same result. */
export function exactInteger(text: Scalar, number: Scalar): Scalar | undefined {
  if (
    text.kind !== 'constant' ||
    text.type !== 'string' ||
    number.type !== 'long' ||
    !/^(?:0|-?[1-9]\d*)$/.test(String(text.value))
  )
    return undefined;
  const value = BigInt(String(text.value));
  return BigInt.asIntN(64, value) === value ? constant('long', value) : undefined;
}

/** True for a constant string of digits; fields may hold fractions too, which `toint` does not read. */
function readsAsInteger(text: Scalar): boolean {
  return text.kind === 'constant' && /^-?\d+$/.test(String(text.value));
}

function textHint(text: Scalar, number: Scalar, explicit: string): string {
  if (number.kind === 'constant') return 'It is compared as text; put quotes around the number.';
  if (text.kind !== 'constant')
    return `Both are compared as text; write ${explicit} to compare them as numbers.`;
  const isNumeric = String(text.value).trim() !== '' && Number.isFinite(Number(text.value));
  return isNumeric ? 'It is compared as text; write the number without quotes.' : 'It is compared as text.';
}

function mismatch(binder: Binder, expr: BinaryExpr, left: TypeName, right: TypeName): undefined {
  const message = `\`${expr.operator}\` cannot compare ${typeInWords(left)} with ${typeInWords(right)}`;
  const meant = timeMeant(binder, expr, left, right) ?? chainedRange(binder, expr) ?? listMeant(binder, expr);
  if (meant !== undefined) {
    const { span, instead } = meant;
    binder.error('type-mismatch', span, message, `Write \`${shorten(instead)}\`.`, instead);
    return undefined;
  }
  const other = left === 'datetime' ? right : left;
  const hint =
    isNumber(other) && (left === 'datetime' || right === 'datetime')
      ? sinceHint
      : left === 'datetime' || right === 'datetime'
        ? 'Write a time as datetime(2026-01-02T03:04:05Z), ago(1h) or todatetime(text).'
        : left === 'bool' || right === 'bool'
          ? 'Compare with `true` or `false`, without quotes.'
          : 'Convert one side: tostring(), toint(), todouble(), tobool(), todatetime().';
  binder.error('type-mismatch', expr.operatorSpan, message, hint);
  return undefined;
}

interface Meant {
  readonly span: Span;
  readonly instead: string;
}

/** Returns the time meant by an operand compared with a time: `-1h`, `2026-11-20`, `"now-15m"`, or seconds since 1970. */
function timeMeant(binder: Binder, expr: BinaryExpr, left: TypeName, right: TypeName): Meant | undefined {
  if (left !== 'datetime' && right !== 'datetime') return undefined;
  const [span, type] = left === 'datetime' ? [expr.right, right] : [expr.left, left];
  if (type === 'string' && unwrap(span).kind !== 'literal')
    return { span, instead: `todatetime(${binder.text(span)})` };
  const text = binder.text(span).replace(/^(["'])(.*)\1$/, '$2');
  const [, ago] = /^(?:now\s*)?-\s*(\d+[a-z]+)$/.exec(text) ?? [];
  if (ago !== undefined && parseTimespan(ago) !== undefined) return { span, instead: `ago(${ago})` };
  const [date, other] = /^\d{4}-\d{2}-\d{2}$/.test(text) ? [text] : datesMeant(text);
  if (date !== undefined && other === undefined) return { span, instead: `datetime(${date})` };
  const unit = text.length === 19 ? 'nanoseconds' : sinceUnits[text.length];
  return unit !== undefined && /^\d+$/.test(text)
    ? { span, instead: `unixtime_${unit}_todatetime(${text})` }
    : undefined;
}

/** Reads `1 <= x < 5`, which compares the truth of the first comparison, as both comparisons. */
function chainedRange(
  binder: Binder,
  { left, operatorSpan, right, from, to }: BinaryExpr,
): Meant | undefined {
  if (left.kind !== 'binary' || !/^[<>]=?$/.test(left.operator)) return undefined;
  const [first, middle] = [binder.text(left), binder.text(left.right)];
  const instead = `${first} and ${middle} ${binder.text(operatorSpan)} ${binder.text(right)}`;
  return { span: { from, to }, instead };
}

function bindArithmetic(binder: Binder, expr: BinaryExpr, left: Scalar, right: Scalar): Scalar {
  const { operator } = expr;
  if (left === unbound || right === unbound) return unbound;
  const pair = { left: operand(left, right), right: operand(right, left) };
  const rule = arithmeticRule(operator, pair.left.type, pair.right.type);
  if (rule === undefined) return refuseArithmetic(binder, expr, left.type, right.type);
  if (rule.right === 'timespan' && isNumber(pair.right.type))
    warnOfBareNumber(binder, { expr: expr.right, value: pair.right }, quoted(binder, expr.left));
  return binary(operator, convertTo(pair.left, rule.left), convertTo(pair.right, rule.right), rule.result);
}

/** Reads a dynamic operand as a number, or as a duration beside a time or a duration. */
function operand(value: Scalar, other: Scalar): Scalar {
  if (value.type !== 'dynamic') return value;
  return convertTo(value, other.type === 'datetime' || other.type === 'timespan' ? 'timespan' : 'real');
}

interface Rule {
  readonly left: TypeName;
  readonly right: TypeName;
  readonly result: TypeName;
}

function arithmeticRule(operator: BinaryOperator, left: TypeName, right: TypeName): Rule | undefined {
  if (isNumber(left) && isNumber(right)) {
    const type = left === 'long' && right === 'long' ? 'long' : 'real';
    return { left: type, right: type, result: type };
  }
  return timeRules[`${left} ${operator} ${right}`];
}

function rule(left: TypeName, right: TypeName, result: TypeName): Rule {
  return { left, right, result };
}

const timeRules: Readonly<Record<string, Rule>> = {
  'datetime - datetime': rule('datetime', 'datetime', 'timespan'),
  'datetime + timespan': rule('datetime', 'timespan', 'datetime'),
  'timespan + datetime': rule('timespan', 'datetime', 'datetime'),
  'datetime - timespan': rule('datetime', 'timespan', 'datetime'),
  'datetime % timespan': rule('long', 'long', 'timespan'),
  'timespan + timespan': rule('timespan', 'timespan', 'timespan'),
  'timespan - timespan': rule('timespan', 'timespan', 'timespan'),
  'timespan + long': rule('timespan', 'timespan', 'timespan'),
  'timespan - long': rule('timespan', 'timespan', 'timespan'),
  'timespan / timespan': rule('real', 'real', 'real'),
  'timespan % timespan': rule('timespan', 'timespan', 'timespan'),
  'timespan % long': rule('timespan', 'timespan', 'timespan'),
  'timespan * long': rule('long', 'long', 'timespan'),
  'long * timespan': rule('long', 'long', 'timespan'),
  'timespan * real': rule('real', 'real', 'timespan'),
  'real * timespan': rule('real', 'real', 'timespan'),
  'timespan / long': rule('long', 'long', 'timespan'),
  'timespan / real': rule('real', 'real', 'timespan'),
};

/** Returns what to write instead of arithmetic with a string: a string beside a time or a duration is one too, unless it is a literal. */
function stringHint({ operator, left: a, right: b }: BinaryExpr, left: TypeName, right: TypeName): string {
  const isTimed = [left, right].some(type => type === 'datetime' || type === 'timespan');
  const isLiteral = unwrap(left === 'string' ? a : b).kind === 'literal';
  if (operator === '+' && (!isTimed || isLiteral)) return 'Join strings with strcat(a, b).';
  if (isTimed) return 'Convert the text first: todatetime(), totimespan().';
  return `Convert the text first: toint(), todouble()${operator === '-' && left === right ? ', todatetime()' : ''}.`;
}

function refuseArithmetic(binder: Binder, expr: BinaryExpr, left: TypeName, right: TypeName): Scalar {
  const hint = left === 'string' || right === 'string' ? stringHint(expr, left, right) : undefined;
  binder.error(
    'bad-operands',
    expr.operatorSpan,
    `\`${expr.operator}\` cannot be applied to ${typeInWords(left)} and ${typeInWords(right)}`,
    hint,
  );
  return unbound;
}
