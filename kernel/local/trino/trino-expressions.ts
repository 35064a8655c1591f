import type { TypeName } from '../../apl/catalog/entry.js';
import type { BinaryOperator, ListOperator } from '../../apl/syntax/ast.js';
import { foldCase } from '../sql/fold-case.js';
import { constantText, type SqlArg } from '../sql/sql-template.js';
import { timeOf } from './calendar.js';
import { jsonPath } from './trino-literal.js';
import { pattern, termPattern } from './trino-patterns.js';
import { arrayOf, convert, element, literal, notHere } from './trino-values.js';

/** Returns a comparison of values of one type. To Trino, two NaNs are not distinct, but they must be unequal. */
export function compare(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  if (operator === '!=') {
    const distinct = `${left.sql} IS DISTINCT FROM ${right.sql}`;
    const bothMay = left.mayBeNaN === true && right.mayBeNaN === true;
    return bothMay ? `(${distinct} OR coalesce(is_nan(${left.sql}), false))` : `(${distinct})`;
  }
  return total(`${left.sql} ${operator === '==' ? '=' : operator} ${right.sql}`, predicate);
}

/** Returns one side of a join's equality, which matches NaN with NaN. */
export function joinKey({ sql, type }: SqlArg): string {
  return type === 'real' ? `ROW(is_nan(${sql}), CASE WHEN is_nan(${sql}) THEN 0e0 ELSE ${sql} END)` : sql;
}

function total(test: string, predicate: boolean): string {
  return predicate ? `(${test})` : `coalesce(${test}, false)`;
}

/**
 * Returns `+`, `-`, `*`, `/` or `%`: integers beyond 64 bits, times out of range and integer division by zero are null; reals follow IEEE
 * 754.
 */
export function arithmetic(operator: BinaryOperator, left: SqlArg, right: SqlArg, type: TypeName): string {
  const result = `${left.sql} ${operator} ${right.sql}`;
  if (type === 'datetime') return timeOf(`TRY(${result})`);
  if (left.type !== 'real') return `TRY(${result})`;
  return type === 'timespan' ? `apl_real_long(${result})` : `(${result})`;
}

/** Returns the negated value. */
export function negate({ sql, type }: SqlArg): string {
  return type === 'real' ? `(-${sql})` : `TRY(-${sql})`;
}

/** Returns a text operator as SQL. Null contains nothing: false, or true if the operator is negated. */
export function textTest(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  const negated = operator.startsWith('!');
  const test = positiveTest(negated ? operator.slice(1).replace(/^~$/, '=~') : operator, left, right);
  return negated ? `(NOT coalesce(${test}, false))` : total(test, predicate);
}

function positiveTest(operator: string, left: SqlArg, right: SqlArg): string {
  const sensitive = operator.endsWith('_cs');
  const [a, b] = [left.sql, right.sql].map(sql => (sensitive ? sql : `lower(${sql})`)) as [string, string];
  switch (sensitive ? operator.slice(0, -3) : operator) {
    case '=~':
      return `${a} = ${b}`;
    case 'contains':
      return `strpos(${a}, ${b}) > 0`;
    case 'startswith':
      return `starts_with(${a}, ${b})`;
    case 'endswith':
      return `starts_with(reverse(${a}), reverse(${b}))`;
    case 'matches regex':
      return `regexp_like(${left.sql}, ${pattern(right, 1).sql})`;
    case 'has':
      return termTest(a, right, sensitive, true, true);
    case 'hasprefix':
      return termTest(a, right, sensitive, true, false);
    case 'hassuffix':
      return termTest(a, right, sensitive, false, true);
    default:
      return notHere(`\`${operator}\``);
  }
}

/** Searches for the substring first, which is cheaper than the pattern and rules out most rows. */
function termTest(
  subject: string,
  term: SqlArg,
  sensitive: boolean,
  before: boolean,
  behind: boolean,
): string {
  const source = constantText(term);
  if (source === undefined) return notHere('`has` with a term that is not a constant');
  if (source === '') return 'false';
  const needle = sensitive ? source : foldCase(source);
  const found = `strpos(${subject}, ${literal('string', needle)}) > 0`;
  return `${found} AND regexp_like(${subject}, ${termPattern(needle, before, behind)})`;
}

/** Returns whether a value is in a list, or has some or all of its terms. */
export function listTest(operator: ListOperator, left: SqlArg, items: readonly SqlArg[]): string {
  const known = items.flatMap(constantItems).filter(({ constant }) => constant !== null);
  if (known.length === 0) return 'false';
  const plain = operator.replace('!', '');
  if (!plain.startsWith('has')) return membership(plain.endsWith('~'), left, known);
  const sensitive = plain.endsWith('_cs');
  const subject = sensitive ? left.sql : `lower(${left.sql})`;
  const tests = known.map(item => `(${termTest(subject, item, sensitive, true, true)})`);
  return `(${tests.join(plain.startsWith('has_all') ? ' AND ' : ' OR ')})`;
}

function membership(folds: boolean, left: SqlArg, items: readonly SqlArg[]): string {
  const fold = (sql: string): string => (folds ? `lower(${sql})` : sql);
  const values = items.map(item => fold(item.type === left.type ? item.sql : convert(item, left.type)));
  return `(${fold(left.sql)} IN (${values.join(', ')}))`;
}

/** A constant array stands for its elements and those of arrays within it; a computed one is read by nobody here. */
function constantItems(item: SqlArg): readonly SqlArg[] {
  if (item.type !== 'dynamic' || item.constant === null) return [item];
  const source = constantText(item);
  if (source === undefined) return notHere('A list that is not a constant');
  const value: unknown = JSON.parse(source);
  const elements: readonly unknown[] = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value];
  return elements.flatMap(each => {
    if (each === null) return [];
    const text = typeof each === 'string' ? each : JSON.stringify(each);
    return [
      {
        ...item,
        type: 'string',
        sql: literal('string', text) as SqlArg['sql'],
        constant: text,
      } satisfies SqlArg,
    ];
  });
}

/** Returns whether a value is in the column `value` of a query. */
export function queryTest(operator: ListOperator, left: SqlArg, query: string): string {
  const fold = (sql: string): string => (operator.endsWith('~') ? `lower(${sql})` : sql);
  return `(${fold(left.sql)} IN (SELECT ${fold('value')} FROM (${query}) AS q WHERE value IS NOT NULL))`;
}

/** Returns the member or element of JSON at constant keys. */
export function path(object: string, keys: readonly string[]): string {
  return `apl_at(${object}, ${jsonPath(keys)})`;
}

/** Returns the member or element of JSON at constant keys as a string. */
export function pathText(object: string, keys: readonly string[]): string {
  return `apl_dyn_text(${path(object, keys)})`;
}

/** Returns the member or element of JSON at a computed key. */
export function elementAt(object: SqlArg, key: SqlArg): string {
  const json = `json_extract(${object.sql}, '$')`;
  const found =
    key.type === 'long'
      ? `element_at(TRY_CAST(${json} AS array(json)), CASE WHEN ${key.sql} < 0 THEN ${key.sql} ELSE ${key.sql} + 1 END)`
      : `element_at(TRY_CAST(${json} AS map(varchar, json)), ${key.sql})`;
  return `nullif(json_format(TRY(${found})), 'null')`;
}

/** Returns a JSON array of values. */
export function array(items: readonly SqlArg[]): string {
  return items.length === 0 ? literal('dynamic', '[]') : arrayOf(`ARRAY[${items.map(element).join(', ')}]`);
}

/** Returns a JSON object. */
export function map(entries: readonly { readonly key: string; readonly value: SqlArg }[]): string {
  if (entries.length === 0) return literal('dynamic', '{}');
  const members = entries.map(
    ({ key, value }) => `concat(${literal('string', `${JSON.stringify(key)}:`)}, ${element(value)})`,
  );
  return `concat('{', array_join(ARRAY[${members.join(', ')}], ','), '}')`;
}
