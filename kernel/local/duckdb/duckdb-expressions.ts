import type { TypeName } from '../../apl/catalog/entry.js';
import type { BinaryOperator, ListOperator } from '../../apl/syntax/ast.js';
import { type Atom, atom } from '../sql/atom.js';
import type { ConstantValue, SqlArg, SqlContext } from '../sql/sql-template.js';
import { limited } from './bounds/lengths.js';
import { computeHeavyFirst } from './duckdb-arguments.js';
import { jsonPointer, sqlText } from './duckdb-literal.js';
import { sqlTypes } from './duckdb-types.js';
import { convert, memberOf } from './functions/duckdb-conversion.js';
import { templateOf } from './functions/duckdb-functions.js';
import { anyTermTest, asWritten, mayBeElement, textTest } from './text-test.js';

/** Returns a constant as an SQL literal of its type. */
export function literal(type: TypeName, value: ConstantValue): string {
  if (value === null) return `NULL::${sqlTypes[type]}`;
  switch (type) {
    case 'string':
      return sqlText(String(value));
    case 'dynamic':
      return `${sqlText(String(value))}::JSON`;
    case 'bool':
      return String(value);
    case 'real':
      return realSql(Number(value));
    case 'long':
    case 'timespan':
      // A bare number would be 32 bits wide.
      return `(${String(value)})::BIGINT`;
    case 'datetime':
      return `make_timestamp_ns(${String(value)})`;
  }
}

function realSql(value: number): string {
  if (Number.isNaN(value)) return "'NaN'::DOUBLE";
  if (!Number.isFinite(value)) return `'${value > 0 ? '' : '-'}Infinity'::DOUBLE`;
  return `'${Object.is(value, -0) ? '-0' : value}'::DOUBLE`;
}

/** Returns a call to a catalog function or to one of the compiler's internal functions. */
export function callSql(name: string, args: readonly SqlArg[], context: SqlContext): string {
  const template = templateOf(name);
  if (template === undefined) throw new RangeError(`no SQL for the function ${name}`);
  if (readOnce.has(name)) return template(args, context);
  return computeHeavyFirst(args, each => limited(name, each, template(each, context)));
}

/**
 * Functions that compute no argument first: they read each argument once, some only in rows that need it. A window function cannot be
 * inside the lambda that binds computed arguments.
 */
const readOnce: ReadonlySet<string> = new Set(['$histogram_bucket', 'case', 'iff', 'tostring']);

/** Returns a comparison of values of one type. The engine treats NaN as equal to itself and above all numbers, which is undone here. */
export function compare(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  if (!mayMeetNaN(operator, left, right)) return plainComparison(operator, left, right, predicate);
  const range = rangeOf(operator, left, right);
  if (range !== undefined) return predicate ? range : `coalesce(${range}, false)`;
  return computeHeavyFirst([left, right], ([a = left, b = right]) =>
    unorderedComparison(operator, a, b, predicate),
  );
}

function plainComparison(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  const [a, b] = [asWritten(left, [right]), asWritten(right, [left])];
  if (a !== left || b !== right) return plainComparison(operator, a, b, predicate);
  if (operator === '!=' && left.filled === true && right.constant !== undefined)
    return `(${mayBeZero(right) ? lookedFor(left) : left.sql} <> ${right.sql})`;
  if (operator === '!=')
    // Beside OR, the engine loses row groups of only nulls if it applies IS DISTINCT FROM a constant while reading.
    return right.constant !== undefined && left.computed === true
      ? `(${mayBeZero(right) ? lookedFor(left) : left.sql} <> ${right.sql} OR ${left.sql} IS NULL)`
      : `(${left.sql} IS DISTINCT FROM ${right.sql})`;
  const test = operator === '==' ? equality(left, right) : `${left.sql} ${operator} ${right.sql}`;
  return predicate ? `(${test})` : `coalesce(${test}, false)`;
}

function equality(left: SqlArg, right: SqlArg): string {
  return `${mayBeZero(right) ? lookedFor(left) : left.sql} = ${mayBeZero(left) ? lookedFor(right) : right.sql}`;
}

/** Constants are known not to be zero. */
function mayBeZero({ constant }: SqlArg): boolean {
  return constant === undefined || Number(constant) === 0;
}

/**
 * Returns a value for an equality search. The addition keeps the engine from using the Bloom filter of a Parquet column, which
 * distinguishes -0.0 from 0.0 and would lose equal rows.
 */
export function lookedFor({ sql, type, constant }: SqlArg): string {
  return type === 'real' && constant === undefined ? `(${sql} + 0.0)` : sql;
}

/** Returns a comparison with a constant as a range test up to infinity, which names the computed value only once. */
function rangeOf(operator: BinaryOperator, left: SqlArg, right: SqlArg): string | undefined {
  const [larger, bound] = operator.startsWith('<') ? [right, left] : [left, right];
  const { constant } = bound;
  if (operator === '==' || operator === '!=' || larger.computed === true) return undefined;
  if (bound.type !== 'real' || typeof constant !== 'number' || !Number.isFinite(constant)) return undefined;
  const least = operator.endsWith('=') ? constant : nextAbove(constant);
  return `(${larger.sql} BETWEEN ${realSql(least)} AND ${realSql(Number.POSITIVE_INFINITY)})`;
}

/** Returns the next larger real. */
function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** Returns whether the engine's result may differ from IEEE 754. */
function mayMeetNaN(operator: BinaryOperator, left: SqlArg, right: SqlArg): boolean {
  const [a, b] = [left.mayBeNaN === true, right.mayBeNaN === true];
  if (operator === '==' || operator === '!=') return a && b;
  return operator === '<' || operator === '<=' ? b : a;
}

function unorderedComparison(
  operator: BinaryOperator,
  left: SqlArg,
  right: SqlArg,
  predicate: boolean,
): string {
  if (operator === '!=')
    return `(${left.sql} IS DISTINCT FROM ${right.sql} OR coalesce(isnan(${left.sql}), false))`;
  const larger = operator === '<' || operator === '<=' ? right : left;
  const compared = operator === '==' ? equality(left, right) : `${left.sql} ${operator} ${right.sql}`;
  const test = `${compared} AND NOT isnan(${larger.sql})`;
  return predicate ? `(${test})` : `coalesce(${test}, false)`;
}

/** Returns whether a value is from `low` to `high`. */
export function between(value: SqlArg, low: SqlArg, high: SqlArg): string {
  const ordered = high.mayBeNaN === true ? ` AND NOT isnan(${high.sql})` : '';
  return `(${value.sql} BETWEEN ${low.sql} AND ${high.sql}${ordered})`;
}

/** Returns the value with NaN as null, since aggregates and sorts treat it as missing. */
export function withoutNaN({ sql, mayBeNaN }: SqlArg): Atom {
  return mayBeNaN === true ? atom(`nullif(${sql}, 'NaN'::DOUBLE)`) : sql;
}

/** Returns the negated value. */
export function negate(value: SqlArg): string {
  return computeHeavyFirst([value], ([{ sql, type } = value]) =>
    type === 'real' ? `(-${sql})` : `TRY(-${sql})`,
  );
}

/** Returns `+`, `-`, `*`, `/` or `%`: integers beyond 64 bits and integer division by zero are null; reals follow IEEE 754. */
export function arithmetic(operator: BinaryOperator, left: SqlArg, right: SqlArg, type: TypeName): string {
  return computeHeavyFirst([left, right], ([a = left, b = right]) => {
    if (a.type === 'datetime' || b.type === 'datetime') return timeArithmetic(operator, a, b, type);
    if (a.type === 'real') {
      const result = `(${a.sql} ${operator} ${b.sql})`;
      return type === 'timespan' ? `apl_real_long(${result})` : result;
    }
    return exactArithmetic(operator, a, b) ?? integerArithmetic(operator, a.sql, b.sql);
  });
}

/** Returns the operation on integers whose result is known to fit 64 bits, about which the engine then knows more. */
function exactArithmetic(operator: BinaryOperator, left: SqlArg, right: SqlArg): string | undefined {
  if (left.most === undefined || right.most === undefined || !['+', '-', '*'].includes(operator))
    return undefined;
  const most = operator === '*' ? left.most * right.most : left.most + right.most;
  return most < 2 ** 62 ? `(${left.sql} ${operator} ${right.sql})` : undefined;
}

function integerArithmetic(operator: BinaryOperator, left: string, right: string): string {
  if (operator === '%')
    return `(CASE WHEN ${right} NOT IN (0, -1) THEN ${left} % ${right} WHEN ${right} = -1 AND ${left} IS NOT NULL THEN 0 END)`;
  return operator === '/' ? `TRY(${left} // nullif(${right}, 0))` : `TRY(${left} ${operator} ${right})`;
}

function timeArithmetic(operator: BinaryOperator, left: SqlArg, right: SqlArg, type: TypeName): string {
  const result = `TRY(${nanoseconds(left)} ${operator} ${nanoseconds(right)})`;
  return type === 'timespan' ? result : `apl_long_time(${result})`;
}

function nanoseconds({ sql, type, constant }: SqlArg): string {
  if (type !== 'datetime') return sql;
  return typeof constant === 'bigint' ? literal('long', constant) : `epoch_ns(${sql})`;
}

/** Returns the member or element of JSON at constant keys. */
export function path(object: string, keys: readonly string[]): string {
  return `apl_json(${rawPath(object, keys)})`;
}

/** Returns several members or elements: the engine computes the list that they have in common once. */
export function paths(object: string, keys: readonly (readonly string[])[]): readonly string[] {
  const list = `json_extract(${object}, [${keys.map(jsonPointer).join(', ')}])`;
  return keys.map((_, index) => `apl_json(${list}[${index + 1}])`);
}

/** Returns the same, but keeps JSON nulls. */
export function rawPath(object: string, keys: readonly string[]): string {
  return `json_extract(${object}, ${jsonPointer(keys)})`;
}

/** Returns the member or element of JSON at constant keys as a string. */
export function pathText(object: string, keys: readonly string[]): string {
  return `apl_path_text(${writtenPath(object, keys)}, ${rawPath(object, keys)})`;
}

/** Returns the same, with numbers as written in the JSON. */
export function writtenPath(object: string, keys: readonly string[]): string {
  return `json_extract_string(${object}, ${jsonPointer(keys)})`;
}

/** Returns the member or element of JSON at a computed key. */
export function element(object: SqlArg, key: SqlArg): string {
  return computeHeavyFirst([object, key], ([o = object, k = key]) =>
    k.type === 'long'
      ? `apl_json(json_extract(${o.sql}, CASE WHEN ${k.sql} < 0 THEN '$[#' || ${k.sql} || ']' ELSE '$[' || ${k.sql} || ']' END))`
      : `apl_json(json_extract(${o.sql}, '/' || replace(replace(${k.sql}, '~', '~0'), '/', '~1')))`,
  );
}

/** Returns a JSON array of values. */
export function array(items: readonly SqlArg[]): string {
  return items.length === 0
    ? `'[]'::JSON`
    : limited('pack_array', items, `json_array(${items.map(memberOf).join(', ')})`);
}

/** Returns a JSON object. */
export function map(entries: readonly { readonly key: string; readonly value: SqlArg }[]): string {
  if (entries.length === 0) return `'{}'::JSON`;
  const values = entries.map(({ value }) => value);
  const object = `json_object(${entries.map(({ key, value }) => `${sqlText(key)}, ${memberOf(value)}`).join(', ')})`;
  return limited('bag_pack', values, object);
}

/** Returns whether a value is in the column `value` of a query. */
export function queryTest(operator: ListOperator, left: SqlArg, query: string): string {
  const fold = folding(operator);
  return `(${fold(lookedFor(left))} IN (SELECT ${fold('value')} FROM (${query}) WHERE value IS NOT NULL))`;
}

/** Returns whether a value is in a list, or has some or all of its terms. */
export function listTest(operator: ListOperator, left: SqlArg, items: readonly SqlArg[]): string {
  return operator.replace('!', '').startsWith('has')
    ? termsTest(operator, left, items)
    : membership(operator, left, items);
}

function folding(operator: ListOperator): (sql: string) => string {
  return operator.endsWith('~') ? sql => `lower(${sql})` : sql => sql;
}

function membership(operator: ListOperator, left: SqlArg, items: readonly SqlArg[]): string {
  const fold = folding(operator);
  const known = items.filter(item => item.constant !== null);
  const scalars = known.filter(item => item.type !== 'dynamic');
  const text = fold(convert(left, 'string'));
  const tests = known
    .filter(item => item.type === 'dynamic')
    .map(item => {
      const { sql, computed, list } = item;
      if (list !== undefined) return `list_contains(${folded(list, operator)}, ${text})`;
      const flat = flatArray(item);
      const texts = operator.endsWith('~') ? `lower(${flat}::VARCHAR)::JSON` : flat;
      const found = `list_contains(apl_texts(${texts}), ${text})`;
      const first = computed ? mayBeElement(sql, left, operator.endsWith('~')) : undefined;
      if (first === undefined) return found;
      const among = `CASE WHEN apl_shows_elements(${sql}) THEN true ELSE list_contains(apl_plain_texts(${texts}), ${text}) END`;
      return `CASE WHEN ${first} THEN CASE WHEN starts_with(${sql}::VARCHAR, '[') THEN ${among} ELSE ${found} END END`;
    });
  const ordered =
    left.mayBeNaN === true && scalars.some(item => item.mayBeNaN) ? ` AND NOT isnan(${left.sql})` : '';
  const listed = scalars.map(({ sql }) => fold(sql)).join(', ');
  const sought = scalars.some(mayBeZero) ? lookedFor(left) : asWritten(left, scalars).sql;
  if (scalars.length > 0) tests.unshift(`(${fold(sought)} IN (${listed})${ordered})`);
  return tests.length === 0 ? 'false' : `(${tests.join(' OR ')})`;
}

/** An array with the elements of those within it in their place, as lists read it. */
function flatArray({ sql, constant }: SqlArg): string {
  const isFlat = typeof constant === 'string' && !constant.slice(1).includes('[');
  return isFlat ? sql : `apl_flat(${sql})`;
}

function folded(list: string, operator: ListOperator): string {
  return operator.endsWith('~') ? `list_transform(${list}, lambda x: lower(x))` : list;
}

function termsTest(operator: ListOperator, left: SqlArg, items: readonly SqlArg[]): string {
  const sensitive = operator.endsWith('_cs');
  const all = operator.startsWith('has_all');
  const pattern = sensitive ? 'apl_term_cs(t)' : 'apl_term(t)';
  const test = (text: SqlArg, item: SqlArg): string => {
    if (item.type !== 'dynamic') return textTest(sensitive ? 'has_cs' : 'has', text, item, true);
    const texts = `apl_texts(${flatArray(item)})`;
    const found = `len(list_filter(${texts}, lambda t: t <> '' AND regexp_matches(${text.sql}, ${pattern})))`;
    return all ? `(${found} = len(${texts}))` : `(${found} > 0)`;
  };
  return computeHeavyFirst([left, ...items], ([text = left, ...terms]) => {
    const texts = terms.map(term => term.constant).filter(constant => typeof constant === 'string');
    const together = !all && texts.length >= manyTerms;
    const tests = terms
      .filter(({ constant }) => !together || typeof constant !== 'string')
      .map(item => test(text, item));
    if (together) tests.unshift(anyTermTest(text, texts, sensitive));
    return tests.length === 0 ? 'false' : `(${tests.join(all ? ' AND ' : ' OR ')})`;
  });
}

/** Number of terms from which one pattern of all is faster than a search for each. */
const manyTerms = 4;
