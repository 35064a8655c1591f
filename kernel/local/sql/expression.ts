import type { TypeName } from '../../apl/catalog/entry.js';
import type { Bound } from '../../apl/plan/plan.js';
import { computedOnce } from '../duckdb/arguments.js';
import { templateOf } from '../duckdb/functions/all.js';
import { convert, toDynamic } from '../duckdb/functions/conversion.js';
import { located, sqlString } from '../duckdb/literal.js';
import type { SqlArg, SqlContext } from '../duckdb/template.js';
import { sqlTypes } from '../duckdb/types.js';
import { textOperator } from './text-match.js';

/** What expressions need besides themselves: the request's fixed times, and how a query inside a list is written. */
export interface ExpressionContext extends SqlContext {
  /** Columns that are not called c0, c1, … by their ids. */
  readonly columns?: ReadonlyMap<number, string>;
  /** SQL of a query with one column, which is called `value`. */
  readonly subquery: (expr: Extract<Bound, { kind: 'in' }>) => string;
}

/**
 * Returns an expression as SQL. As a `predicate` null counts as false, which spares the guards that make comparisons
 * total; its value is used only as true or not true.
 */
export function expressionSql(expr: Bound, context: ExpressionContext, predicate = false): string {
  const value = (bound: Bound): string => expressionSql(bound, context);
  switch (expr.kind) {
    case 'column':
      return context.columns?.get(expr.id) ?? `c${expr.id}`;
    case 'constant':
      return constantSql(expr.type, expr.value);
    case 'convert':
      return convert(argument(expr.value, context), expr.type);
    case 'call':
      return callSql(expr, context);
    case 'binary':
      return binarySql(expr, context, predicate);
    case 'not':
      return `(NOT coalesce(${value(expr.operand)}, false))`;
    case 'negate':
      return expr.type === 'real' ? `(-${value(expr.operand)})` : `TRY(-${value(expr.operand)})`;
    case 'in':
      return listSql(expr, context, predicate);
    case 'between': {
      const high = value(expr.high);
      // The engine has NaN above all numbers.
      const ordered = mayBeNaN(expr.high) ? ` AND NOT isnan(${high})` : '';
      const test = `(${value(expr.value)} BETWEEN ${value(expr.low)} AND ${high}${ordered})`;
      return expr.negated ? `(NOT coalesce(${test}, false))` : predicate ? test : `coalesce(${test}, false)`;
    }
    case 'path':
      return pathSql(expr, context);
    case 'array':
      return expr.items.length === 0
        ? `'[]'::JSON`
        : `json_array(${expr.items.map(item => jsonSql(item, context)).join(', ')})`;
    case 'map':
      return expr.entries.length === 0
        ? `'{}'::JSON`
        : `json_object(${expr.entries.map(entry => `${sqlString(entry.key)}, ${jsonSql(entry.value, context)}`).join(', ')})`;
  }
}

/** A constant as an SQL literal of its type. */
export function constantSql(type: TypeName, value: string | number | bigint | boolean | null): string {
  if (value === null) return `NULL::${sqlTypes[type]}`;
  switch (type) {
    case 'string':
      return sqlString(String(value));
    case 'dynamic':
      return `${sqlString(String(value))}::JSON`;
    case 'bool':
      return String(value);
    case 'real':
      return realSql(Number(value));
    case 'long':
    case 'timespan':
      return `(${String(value)})::BIGINT`;
    case 'datetime':
      return `make_timestamp_ns(${String(value)})`;
  }
}

/** An expression as an argument of a template. */
export function argument(expr: Bound, context: ExpressionContext, predicate = false): SqlArg {
  const sql = expressionSql(expr, context, predicate);
  return expr.kind === 'constant' ? { sql, type: expr.type, constant: expr.value } : { sql, type: expr.type };
}

function realSql(value: number): string {
  if (Number.isNaN(value)) return "'NaN'::DOUBLE";
  if (!Number.isFinite(value)) return `'${value > 0 ? '' : '-'}Infinity'::DOUBLE`;
  return `'${value}'::DOUBLE`;
}

/** A value inside an array or a map: null is JSON's null. */
function jsonSql(expr: Bound, context: ExpressionContext): string {
  return expr.kind === 'constant' && expr.value === null ? 'NULL' : toDynamic(argument(expr, context));
}

function callSql(expr: Extract<Bound, { kind: 'call' }>, context: ExpressionContext): string {
  const template = templateOf(expr.name);
  if (template === undefined) throw new RangeError(`no SQL for the function ${expr.name}`);
  const args = expr.args.map((item, index) => argument(item, context, isCondition(expr, index)));
  // A window function cannot stand inside the lambda that binds what is computed first.
  if (expr.name === '$histogram_bucket') return template(args, context);
  return located(expr.at, () => computedOnce(args, each => template(each, context)));
}

/** The conditions of `iff` and `case`, where null is as good as false. */
function isCondition({ name, args }: Extract<Bound, { kind: 'call' }>, index: number): boolean {
  if (name === 'iff') return index === 0;
  return name === 'case' && index % 2 === 0 && index < args.length - 1;
}

type Binary = Extract<Bound, { kind: 'binary' }>;

function binarySql(expr: Binary, context: ExpressionContext, predicate: boolean): string {
  const { operator } = expr;
  if (operator === 'and' || operator === 'or') {
    const sides = [expr.left, expr.right].map(side => expressionSql(side, context, predicate));
    return `(${sides.join(operator === 'and' ? ' AND ' : ' OR ')})`;
  }
  if (doubling.has(operator)) {
    const sides = [argument(expr.left, context), argument(expr.right, context)];
    return computedOnce(sides, ([a, b]) => arithmeticSql(expr, a?.sql ?? '', b?.sql ?? ''));
  }
  const [left, right] = [argument(expr.left, context), argument(expr.right, context)];
  switch (operator) {
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return isNull(expr.left) || isNull(expr.right) || !mayMeetNaN(expr)
        ? comparisonSql(expr, left.sql, right.sql, predicate)
        : computedOnce([left, right], ([a = left, b = right]) => unorderedSql(expr, a.sql, b.sql, predicate));
    default:
      return located(expr.at, () =>
        computedOnce([left, right], ([a = left, b = right]) => textOperator(operator, a, b, predicate)),
      );
  }
}

function comparisonSql(expr: Binary, left: string, right: string, predicate: boolean): string {
  const { operator } = expr;
  if (operator === '==') return equalitySql(expr, left, right, predicate);
  if (operator === '!=') return inequalitySql(expr, left, right);
  return predicate ? `(${left} ${operator} ${right})` : `coalesce(${left} ${operator} ${right}, false)`;
}

/** True when the engine, for which NaN equals NaN and is above all numbers, may answer otherwise than IEEE 754. */
function mayMeetNaN({ operator, left, right }: Binary): boolean {
  const [a, b] = [mayBeNaN(left), mayBeNaN(right)];
  if (operator === '==' || operator === '!=') return a && b;
  return operator === '<' || operator === '<=' ? b : a;
}

/** A comparison where {@link mayMeetNaN}: all but `!=` are false with NaN on either side. */
function unorderedSql({ operator }: Binary, left: string, right: string, predicate: boolean): string {
  if (operator === '!=') return `(${left} IS DISTINCT FROM ${right} OR coalesce(isnan(${left}), false))`;
  const larger = operator === '<' || operator === '<=' ? right : left;
  const test = `${left} ${operator === '==' ? '=' : operator} ${right} AND NOT isnan(${larger})`;
  return predicate ? `(${test})` : `coalesce(${test}, false)`;
}

/** Whether a value may be NaN: a real that is neither a number written in the query nor converted from an integer. */
export function mayBeNaN(expr: Bound): boolean {
  if (expr.type !== 'real') return false;
  if (expr.kind === 'constant') return typeof expr.value === 'number' && Number.isNaN(expr.value);
  return expr.kind !== 'convert' || expr.value.type === 'string' || expr.value.type === 'dynamic';
}

/** NaN as null: aggregates and the order of rows pass over it as they pass over what is missing. */
export function withoutNaN(expr: Bound, sql: string): string {
  return mayBeNaN(expr) ? `nullif(${sql}, 'NaN'::DOUBLE)` : sql;
}

/** Operators whose SQL may name a side several times. */
const doubling: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);

/** Null equals nothing, but `x == null` asks whether x is null. */
function equalitySql(expr: Binary, left: string, right: string, predicate: boolean): string {
  if (isNull(expr.right)) return `(${left} IS NULL)`;
  if (isNull(expr.left)) return `(${right} IS NULL)`;
  return predicate ? `(${left} = ${right})` : `coalesce(${left} = ${right}, false)`;
}

function inequalitySql(expr: Binary, left: string, right: string): string {
  if (isNull(expr.right)) return `(${left} IS NOT NULL)`;
  if (expr.right.kind === 'constant' && expr.left.kind === 'column')
    return `(${left} <> ${right} OR ${left} IS NULL)`;
  return `(${left} IS DISTINCT FROM ${right})`;
}

function isNull(expr: Bound): boolean {
  return expr.kind === 'constant' && expr.value === null;
}

/** Integers beyond 64 bits and integer division by zero are null; reals follow IEEE 754. */
function arithmeticSql(expr: Binary, left: string, right: string): string {
  const { operator, type } = expr;
  const types = [expr.left.type, expr.right.type];
  if (types.includes('datetime')) return timeSql(expr, left, right);
  if (expr.left.type === 'real') {
    const result = `(${left} ${operator} ${right})`;
    return type === 'timespan' ? `apl_real_long(${result})` : result;
  }
  if (operator === '%')
    return `(CASE WHEN ${right} NOT IN (0, -1) THEN ${left} % ${right} WHEN ${right} = -1 THEN 0 END)`;
  return operator === '/' ? `TRY(${left} // nullif(${right}, 0))` : `TRY(${left} ${operator} ${right})`;
}

function timeSql(expr: Binary, left: string, right: string): string {
  const [a, b] = [nanoseconds(expr.left, left), nanoseconds(expr.right, right)];
  const result = `TRY(${a} ${expr.operator} ${b})`;
  return expr.type === 'timespan' ? result : `apl_long_time(${result})`;
}

function nanoseconds(expr: Bound, sql: string): string {
  if (expr.type !== 'datetime') return sql;
  return expr.kind === 'constant' ? constantSql('long', expr.value) : `epoch_ns(${sql})`;
}

/** Keys that are constant become one JSON pointer, so that a path is read in one pass. */
function pathSql(expr: Extract<Bound, { kind: 'path' }>, context: ExpressionContext): string {
  const keys: string[] = [];
  let at: Bound = expr;
  for (; at.kind === 'path'; at = at.object) {
    const token = pointerToken(at.key);
    if (token === undefined) break;
    keys.unshift(token);
  }
  if (keys.length > 0)
    return `apl_json(json_extract(${expressionSql(at, context)}, ${sqlString(`/${keys.join('/')}`)}))`;
  return computedOnce([argument(expr.object, context), argument(expr.key, context)], ([object, key]) =>
    elementSql(object?.sql ?? '', key?.sql ?? '', expr.key.type === 'long'),
  );
}

function elementSql(object: string, key: string, isIndex: boolean): string {
  if (isIndex)
    return `apl_json(json_extract(${object}, CASE WHEN ${key} < 0 THEN '$[#' || ${key} || ']' ELSE '$[' || ${key} || ']' END))`;
  return `apl_json(json_extract(${object}, '/' || replace(replace(${key}, '~', '~0'), '/', '~1')))`;
}

function pointerToken(key: Bound): string | undefined {
  if (key.kind !== 'constant' || key.value === null) return undefined;
  if (key.type === 'long') return BigInt(key.value) >= 0n ? String(key.value) : undefined;
  return String(key.value).replaceAll('~', '~0').replaceAll('/', '~1');
}

type List = Extract<Bound, { kind: 'in' }>;

function listSql(expr: List, context: ExpressionContext, predicate: boolean): string {
  const negated = expr.operator.startsWith('!');
  const test = expr.operator.startsWith('has') ? hasListSql(expr, context) : membershipSql(expr, context);
  if (negated) return `(NOT coalesce(${test}, false))`;
  return predicate ? test : `coalesce(${test}, false)`;
}

function membershipSql(expr: List, context: ExpressionContext): string {
  const folded = expr.operator.endsWith('~');
  const fold = (sql: string): string => (folded ? `lower(${sql})` : sql);
  const left = argument(expr.left, context);
  if (expr.subquery !== undefined) {
    const subject = folded ? fold(left.sql) : left.sql;
    return `(${subject} IN (SELECT ${fold('value')} FROM (${context.subquery(expr)}) WHERE value IS NOT NULL))`;
  }
  const scalars = expr.items
    .filter(item => item.type !== 'dynamic' && !isNull(item))
    .map(item => fold(expressionSql(item, context)));
  const arrays = expr.items
    .filter(item => item.type === 'dynamic' && !isNull(item))
    .map(item => expressionSql(item, context));
  const text = fold(convert(left, 'string'));
  const tests = arrays.map(
    array => `list_contains(apl_texts(${folded ? `lower(${array}::VARCHAR)::JSON` : array}), ${text})`,
  );
  const ordered = mayBeNaN(expr.left) && expr.items.some(mayBeNaN) ? ` AND NOT isnan(${left.sql})` : '';
  if (scalars.length > 0) tests.unshift(`(${fold(left.sql)} IN (${scalars.join(', ')})${ordered})`);
  return tests.length === 0 ? 'false' : `(${tests.join(' OR ')})`;
}

function hasListSql(expr: List, context: ExpressionContext): string {
  const sensitive = expr.operator.endsWith('_cs');
  const joiner = expr.operator.startsWith('has_all') ? ' AND ' : ' OR ';
  const pattern = sensitive ? 'apl_term_cs(t)' : 'apl_term(t)';
  const test = (left: SqlArg, item: SqlArg): string => {
    if (item.type !== 'dynamic') return textOperator(sensitive ? 'has_cs' : 'has', left, item, true);
    const found = `len(list_filter(apl_texts(${item.sql}), lambda t: regexp_matches(${left.sql}, ${pattern})))`;
    return joiner === ' OR ' ? `(${found} > 0)` : `(${found} = len(apl_texts(${item.sql})))`;
  };
  const args = [expr.left, ...expr.items].map(item => argument(item, context));
  return computedOnce(args, ([left, ...items]) => {
    const tests = left === undefined ? [] : items.map(item => test(left, item));
    return tests.length === 0 ? 'false' : `(${tests.join(joiner)})`;
  });
}
