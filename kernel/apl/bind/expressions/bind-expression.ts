import type { Scalar } from '../../plan/plan.js';
import { binary, condition, constant, not, reference } from '../../plan/scalars.js';
import type { Expr, Literal } from '../../syntax/ast.js';
import {
  type Binder,
  convertTo,
  isNumber,
  type Scope,
  shorten,
  typeInWords,
  unbound,
  type Weight,
} from '../binder.js';
import { bindBinary, bindComparison } from './binary.js';
import { bindList } from './bind-list.js';
import { bindCall } from './call.js';
import { fold, int64Max } from './constant.js';
import { bindName } from './name.js';

/**
 * Binds an expression: resolves its names, infers its type, inserts conversions. A part that cannot be bound is reported and becomes null.
 */
export function bindExpression(binder: Binder, expr: Expr, scope: Scope): Scalar {
  const weight = weightOf(expr);
  if (!binder.enter(expr, weight)) return unbound;
  const value = bindNode(binder, expr, scope);
  binder.leave(weight);
  return value;
}

const heavy: Weight = { levels: 5, nodes: 1 };
const light: Weight = { levels: 1, nodes: 1 };

/** Returns the weight of an expression: conditions joined by `and` and `or` stay flat in an engine, computations nest. */
function weightOf(expr: Expr): Weight {
  return expr.kind === 'binary'
    ? isFlat.has(expr.operator)
      ? light
      : heavy
    : nested.has(expr.kind)
      ? heavy
      : light;
}

const isFlat: ReadonlySet<string> = new Set(['and', 'or', '==', '!=', '<', '<=', '>', '>=']);
const nested: ReadonlySet<Expr['kind']> = new Set(['call', 'unary', 'member', 'index', 'array', 'map']);

function bindNode(binder: Binder, expr: Expr, scope: Scope): Scalar {
  const key = bindKey(binder, expr, scope);
  if (key !== undefined) return key;
  switch (expr.kind) {
    case 'literal':
      return bindLiteral(binder, expr);
    case 'name':
    case 'member':
    case 'index':
      return bindName(binder, expr, scope);
    case 'call':
      return bindCall(binder, expr, scope);
    case 'paren':
      return bindExpression(binder, expr.inner, scope);
    case 'unary':
      return bindUnary(binder, expr, scope);
    case 'binary':
      return bindBinary(binder, expr, scope);
    case 'list':
      return bindList(binder, expr, scope);
    case 'between':
      return bindBetween(binder, expr, scope);
    case 'array':
      return {
        kind: 'array',
        items: expr.items.map(item => bindExpression(binder, item, scope)),
        type: 'dynamic',
      };
    case 'map':
      return {
        kind: 'map',
        entries: expr.entries.map(entry => ({
          key: entry.key,
          value: bindExpression(binder, entry.value, scope),
        })),
        type: 'dynamic',
      };
    case 'star':
      binder.error(
        'misplaced-star',
        expr,
        '`*` cannot be used as a value here',
        '`*` means all fields in `* has "text"`, `arg_max(x, *)` and `pack_array(*)`.',
      );
      return unbound;
    case 'typeof':
      binder.error(
        'misplaced-typeof',
        expr,
        '`typeof(…)` is not a value',
        'Use it to specify a type in `ensure_field` and `mv-expand … to`.',
      );
      return unbound;
    // Only `bindList` reads lists with a query; the parser has reported what is missing.
    case 'subquery':
    case 'missing':
      return unbound;
  }
}

/** Binds a condition: a bool, or a dynamic read as one. `instead` is the probable condition if the expression is not one. */
export function bindPredicate(
  binder: Binder,
  expr: Expr,
  scope: Scope,
  context: string,
  instead?: string,
): Scalar {
  const value = bindExpression(binder, expr, scope);
  if (value.type === 'bool' || value.type === 'dynamic') return convertTo(value, 'bool');
  binder.error(
    'not-a-condition',
    expr,
    `${context} needs a condition, but \`${shorten(binder.text(expr))}\` is ${typeInWords(value.type)}`,
    instead === undefined
      ? 'Compare it with something: ==, !=, <, contains, …'
      : `Write \`${shorten(instead)}\`.`,
    instead,
  );
  return constant('bool', null);
}

/** Returns the value of an expression that must be known before the query runs, or undefined with a report. */
export function bindConstant(
  binder: Binder,
  expr: Expr,
  what: string,
): Extract<Scalar, { kind: 'constant' }> | undefined {
  const found = binder.diagnostics.length;
  const value = fold(bindExpression(binder, expr, { columns: [], open: false, constant: what }));
  if (binder.diagnostics.length > found) return undefined;
  if (value.kind === 'constant') return value;
  binder.error('not-constant', expr, `${what} must be a constant`);
  return undefined;
}

/** Binds a non-negative integer that is known before the query runs. */
export function bindCount(binder: Binder, expr: Expr, what: string): Scalar {
  const value = bindConstant(binder, expr, what);
  const number =
    value?.type === 'real' && typeof value.value === 'number' && Number.isInteger(value.value)
      ? BigInt(value.value)
      : value?.value;
  if (typeof number === 'bigint' && number >= 0n && value?.type !== 'timespan' && value?.type !== 'datetime')
    return constant('long', number);
  if (value !== undefined && expr.kind !== 'missing')
    binder.error('bad-count', expr, `${what} must be a non-negative integer`);
  return constant('long', 0n);
}

function bindLiteral(binder: Binder, literal: Literal, negated = false): Scalar {
  const { type, value } = literal;
  if (type === 'long' && typeof value === 'bigint' && value > int64Max && !negated) {
    binder.error(
      'number-too-large',
      literal,
      `\`${value}\` does not fit in 64 bits`,
      `The largest long is ${int64Max}; write ${value}.0 for a real.`,
    );
    return unbound;
  }
  return constant(type, value);
}

/** Replaces an expression that the query groups by with the key's column if aggregates are allowed. */
function bindKey(binder: Binder, expr: Expr, scope: Scope): Scalar | undefined {
  const sink = scope.aggregates;
  if (sink === undefined || expr.kind === 'name' || expr.kind === 'literal') return undefined;
  const key = sink.keys.find(candidate => binder.sameWritten(candidate.span, expr));
  return key === undefined ? undefined : reference(key.column);
}

function bindUnary(binder: Binder, expr: Extract<Expr, { kind: 'unary' }>, scope: Scope): Scalar {
  if (expr.operator === 'not') return not(bindPredicate(binder, expr.operand, scope, '`not`'));
  const negative = expr.operator === '-';
  const operand =
    expr.operand.kind === 'literal'
      ? bindLiteral(binder, expr.operand, negative)
      : bindExpression(binder, expr.operand, scope);
  const value = operand.type === 'dynamic' ? convertTo(operand, 'real') : operand;
  if (!isNumber(value.type) && value.type !== 'timespan') {
    binder.error(
      'bad-operand',
      expr.operand,
      `\`${expr.operator}\` needs a number, but \`${shorten(binder.text(expr.operand))}\` is ${typeInWords(value.type)}`,
      negative && expr.operand.kind === 'name'
        ? 'Remove a field with `| project-away field`, or reverse an order with `sort by field desc`.'
        : undefined,
    );
    return unbound;
  }
  return negative ? fold({ kind: 'negate', operand: value, type: value.type }) : value;
}

/** Binds `value between (low .. high)`; if `low` is a time, `high` may be a timespan after it. */
function bindBetween(binder: Binder, expr: Extract<Expr, { kind: 'between' }>, scope: Scope): Scalar {
  const value = bindExpression(binder, expr.value, scope);
  const start = bindExpression(binder, expr.low, scope);
  const end = bindExpression(binder, expr.high, scope);
  const compare = (operator: '>=' | '<=', right: Expr, bound: Scalar): Scalar =>
    bindComparison(
      binder,
      { ...expr, kind: 'binary', operator, operatorSpan: expr, left: expr.value, right },
      value,
      bound,
      scope,
    );
  const low = compare('>=', expr.low, start);
  const from = low.kind === 'binary' ? low.right : start;
  const lasts = from.type === 'datetime' && end.type === 'timespan';
  const high = compare('<=', expr.high, lasts ? binary('+', from, end, 'datetime') : end);
  if (low.kind === 'binary' && high.kind === 'binary' && low.left.type === high.left.type) {
    return {
      kind: 'between',
      negated: expr.negated,
      value: low.left,
      low: low.right,
      high: high.right,
      type: 'bool',
    };
  }
  const both = condition('and', low, high);
  return expr.negated ? not(both) : both;
}
