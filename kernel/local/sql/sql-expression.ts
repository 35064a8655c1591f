import type { AggregateCall, Relation, Scalar } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import { type Atom, atom, grouped } from './atom.js';
import type { AggregateParts, Dialect } from './dialect.js';
import { documentOf } from './rewrite/elements.js';
import { located, type Size, type SqlArg, type SqlContext, sizeOfAll } from './sql-template.js';

/** The context of expressions: the engine's SQL, the request's fixed times, and the SQL of subqueries in lists. */
export interface ExpressionContext extends SqlContext {
  readonly dialect: Dialect;
  /** Collects the names of called functions. */
  readonly calls: Set<string>;
  /** Ids of columns that the catalog knows to be `bounded`. */
  readonly bounded: Set<number>;
  /** Ids of columns without nulls. */
  readonly filled?: ReadonlySet<number>;
  /** Names of columns that are not c0, c1, … by id. */
  readonly columns?: ReadonlyMap<number, string>;
  /** Returns the SQL of a query with one column, named `value`. */
  readonly subquery: (query: Relation) => string;
}

/**
 * Returns an expression as SQL. As a `predicate`, null counts as false, which avoids the guards that make comparisons total; the value may
 * only be used as true or not true.
 */
export function expressionSql(expr: Scalar, context: ExpressionContext, predicate = false): Atom {
  // Chains of these are long, so their text is not parsed again at each link.
  if (expr.kind === 'binary' && (expr.operator === 'and' || expr.operator === 'or'))
    return joinedSql(expr, context, predicate);
  return atom(writtenSql(expr, context, predicate));
}

function writtenSql(expr: Scalar, context: ExpressionContext, predicate: boolean): string {
  const { dialect } = context;
  switch (expr.kind) {
    case 'column':
      return context.columns?.get(expr.id) ?? `c${expr.id}`;
    case 'constant':
      return dialect.literal(expr.type, expr.value);
    case 'convert':
      return dialect.convert(argument(expr.value, context), expr.type);
    case 'call':
      return callSql(expr, context, predicate);
    case 'binary':
      return binarySql(expr, context, predicate);
    case 'not':
      return negated(expressionSql(expr.operand, context));
    case 'negate':
      return dialect.negate(argument(expr.operand, context));
    case 'in':
      return total(listSql(expr, context), expr.operator.startsWith('!'), predicate);
    case 'query':
      return `(${context.subquery(expr.query)})`;
    case 'between':
      return total(
        dialect.between(
          argument(expr.value, context),
          argument(expr.low, context),
          argument(expr.high, context),
        ),
        expr.negated,
        predicate,
      );
    case 'path':
      return pathSql(expr, context);
    case 'array':
      return dialect.array(expr.items.map(item => argument(item, context)));
    case 'map':
      return dialect.map(expr.entries.map(({ key, value }) => ({ key, value: argument(value, context) })));
  }
}

/** Returns aggregates of the same rows as SQL. `order` is the ORDER BY of the rows, for aggregates that depend on it. */
export function aggregatesSql(
  calls: readonly AggregateCall[],
  context: ExpressionContext,
  order: string,
): readonly Atom[] {
  const all = calls.map(call => aggregateParts(call, context));
  const asked = new Map<string, number[]>();
  for (const parts of all) {
    const percentage = percentageOf(parts.call);
    if (percentage === undefined) continue;
    const values = asked.get(valuesOf(parts)) ?? [];
    if (!values.includes(percentage)) asked.set(valuesOf(parts), [...values, percentage]);
  }
  return all.map(parts => {
    const percentages = percentageOf(parts.call) === undefined ? undefined : asked.get(valuesOf(parts));
    const write = () => context.dialect.aggregate({ ...parts, order, ...present({ percentages }) });
    return atom(located(parts.call.at, write));
  });
}

function percentageOf({ name, args: [, percentage] }: AggregateCall): number | undefined {
  return name === 'percentile' && percentage?.kind === 'constant'
    ? Number(percentage.value ?? 50)
    : undefined;
}

/** Returns a key that is the same for aggregates of the same values of the same rows. */
function valuesOf({ args: [value], filter }: Omit<AggregateParts, 'order'>): string {
  return JSON.stringify([value?.sql, value?.type, filter]);
}

/** Returns an aggregate with its arguments and filter as SQL. */
export function aggregateParts(
  call: AggregateCall,
  context: ExpressionContext,
): Omit<AggregateParts, 'order'> {
  const filter = call.filter === undefined ? undefined : expressionSql(call.filter, context, true);
  return { call, args: call.args.map(item => argument(item, context)), filter };
}

/** Returns an expression as an argument of a template. */
export function argument(expr: Scalar, context: ExpressionContext, predicate = false): SqlArg {
  const sql = expressionSql(expr, context, predicate);
  const size = sizeOf(expr, context);
  const arg = { sql, type: expr.type, mayBeNaN: mayBeNaN(expr, context), size, ...formsOf(expr, context) };
  if (expr.kind === 'constant')
    return { ...arg, constant: expr.value, ...present({ most: mostOf(expr, context) }) };
  if (expr.kind !== 'column') return { ...arg, ...present({ most: mostOf(expr, context) }) };
  const more = { filled: context.filled?.has(expr.id) || undefined, most: mostOf(expr, context) };
  return { ...arg, computed: true, ...present(more) };
}

/** Returns the largest possible magnitude of an integer, undefined if unknown. */
function mostOf(expr: Scalar, context: ExpressionContext): number | undefined {
  if (expr.type !== 'long') return undefined;
  switch (expr.kind) {
    case 'column':
      return context.bounded.has(expr.id) ? 2 ** 53 : undefined;
    case 'constant':
      return expr.value === null ? undefined : Math.abs(Number(expr.value));
    case 'negate':
      return mostOf(expr.operand, context);
    case 'binary': {
      const [left, right] = [mostOf(expr.left, context), mostOf(expr.right, context)];
      if (left === undefined || right === undefined) return undefined;
      if (expr.operator === '*') return left * right;
      return expr.operator === '+' || expr.operator === '-' ? left + right : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns alternative forms of a value, which save some functions work. */
function formsOf(
  expr: Scalar,
  context: ExpressionContext,
): Pick<SqlArg, 'text' | 'raw' | 'written' | 'list' | 'items' | 'json'> {
  const { dialect } = context;
  if (expr.kind === 'convert' && expr.type === 'string' && expr.value.type === 'dynamic') {
    const list = textListOf(expr.value, context);
    if (expr.value.kind === 'column' || list !== undefined)
      return { json: expressionSql(expr.value, context), ...present({ list }) };
    if (expr.value.kind !== 'path' || elementOf(expr.value, context) !== undefined) return {};
    const { object, keys } = constantPath(expr.value);
    if (keys.length === 0) return {};
    return { written: atom(dialect.writtenPath(documentSql(object, context), keys)) };
  }
  if (expr.kind === 'path') {
    const element = elementOf(expr, context);
    if (element !== undefined) return { text: element };
    const { object, keys } = constantPath(expr);
    if (keys.length === 0) return {};
    const sql = documentSql(object, context);
    return { text: atom(dialect.pathText(sql, keys)), raw: atom(dialect.rawPath(sql, keys)) };
  }
  return present({
    list: textListOf(expr, context),
    items: constantItems(expr),
    text: composedText(expr, context),
  });
}

/** Returns the elements of an array literal if all are constants. */
function constantItems(expr: Scalar): SqlArg['items'] {
  if (expr.kind !== 'array') return undefined;
  const values = expr.items.map(item => (item.kind === 'constant' && isPlain(item) ? item.value : undefined));
  return values.every(value => value !== undefined) ? values : undefined;
}

/** Returns whether a value is the same in JSON. */
function isPlain({ type, value }: Extract<Scalar, { kind: 'constant' }>): boolean {
  return value === null || !['datetime', 'dynamic'].includes(type);
}

/** Returns the text of an array or map that the engine has already serialized. */
function composedText(expr: Scalar, context: ExpressionContext): Atom | undefined {
  if (expr.kind !== 'call' && expr.kind !== 'array' && expr.kind !== 'map') return undefined;
  const name = expr.kind === 'call' ? expr.name : expr.kind;
  const text = context.dialect.composedText(name);
  return text === undefined ? undefined : atom(text(expressionSql(expr, context)));
}

/** Returns an array as a list of strings, if a function returns one. */
export function textListOf(expr: Scalar, context: ExpressionContext): string | undefined {
  if (expr.kind !== 'call') return undefined;
  const list = context.dialect.textLists?.of(expr.name);
  return list?.(
    expr.args.map(arg => argument(arg, context)),
    context,
  );
}

/** Returns an element of such an array as a string. */
function elementOf(
  { object, key }: Extract<Scalar, { kind: 'path' }>,
  context: ExpressionContext,
): Atom | undefined {
  if (key.kind !== 'constant' || key.type !== 'long' || typeof key.value !== 'bigint' || key.value < 0n)
    return undefined;
  const list = textListOf(object, context);
  if (list === undefined) return undefined;
  const element = context.dialect.textLists?.element(list, key.value);
  return element === undefined ? undefined : atom(element);
}

/** Returns the maximum size of a value in bytes, in terms of the columns it is made of. */
function sizeOf(expr: Scalar, context: ExpressionContext): Size {
  if (expr.type !== 'string' && expr.type !== 'dynamic') return plain;
  const below = (exprs: readonly Scalar[], factor = 1) =>
    sizeOfAll(
      exprs.map(each => sizeOf(each, context)),
      factor,
    );
  switch (expr.kind) {
    case 'column': {
      const bytes = context.dialect.bytes({ sql: expressionSql(expr, context), type: expr.type });
      return { fixed: 0, columns: new Map([[bytes, 1]]) };
    }
    case 'constant':
      return { fixed: new TextEncoder().encode(String(expr.value)).length, columns: new Map() };
    case 'call':
      return below(expr.args, context.dialect.growthFactor(expr.name));
    case 'convert':
      return below([expr.value]);
    case 'path':
      return below([expr.object]);
    case 'array':
      return below(expr.items);
    case 'map':
      return below(expr.entries.map(({ value }) => value));
    default:
      return plain;
  }
}

/** Upper bound for a number, bool or time as a string. */
const plain: Size = { fixed: 40, columns: new Map() };

function mayBeNaN(expr: Scalar, { bounded }: ExpressionContext): boolean {
  if (expr.type !== 'real') return false;
  if (expr.kind === 'column') return !bounded.has(expr.id);
  if (expr.kind === 'constant') return Number.isNaN(expr.value);
  return expr.kind !== 'convert' || expr.value.type === 'string' || expr.value.type === 'dynamic';
}

/** Makes a nullable test true or false; null counts as false before negation. */
function total(test: string, isNegated: boolean, predicate: boolean): string {
  if (isNegated) return negated(test);
  return predicate ? test : `coalesce(${test}, false)`;
}

function negated(test: string): string {
  return `(NOT coalesce(${test}, false))`;
}

function callSql(
  expr: Extract<Scalar, { kind: 'call' }>,
  context: ExpressionContext,
  predicate: boolean,
): string {
  context.calls.add(expr.name);
  const args = expr.args.map((item, index) => argument(item, context, isCondition(expr, index)));
  return located(expr.at, () => context.dialect.call(expr.name, args, { ...context, predicate }));
}

/** Returns whether an argument is a condition of `iff` or `case`, for which null counts as false. */
function isCondition({ name, args }: Extract<Scalar, { kind: 'call' }>, index: number): boolean {
  if (name === 'iff') return index === 0;
  return name === 'case' && index % 2 === 0 && index < args.length - 1;
}

type Binary = Extract<Scalar, { kind: 'binary' }>;

function joinedSql(expr: Binary, context: ExpressionContext, predicate: boolean): Atom {
  const sides = [expr.left, expr.right].map(side => expressionSql(side, context, predicate));
  return grouped(sides.join(expr.operator === 'and' ? ' AND ' : ' OR '));
}

function binarySql(expr: Binary, context: ExpressionContext, predicate: boolean): string {
  const { operator, type } = expr;
  const { dialect } = context;
  const [left, right] = [argument(expr.left, context), argument(expr.right, context)];
  if (arithmetic.has(operator)) return dialect.arithmetic(operator, left, right, type);
  if (!comparisons.has(operator))
    return located(expr.at, () => dialect.textTest(operator, left, right, predicate));
  return nullTest(operator, left, right) ?? dialect.compare(operator, left, right, predicate);
}

const arithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** Returns a null test for `x == null` and `x != null`, although null equals nothing; undefined for other comparisons. */
function nullTest(operator: string, left: SqlArg, right: SqlArg): string | undefined {
  if (operator !== '==' && operator !== '!=') return undefined;
  const test = operator === '==' ? 'IS NULL' : 'IS NOT NULL';
  if (right.constant === null) return `(${left.sql} ${test})`;
  return left.constant === null ? `(${right.sql} ${test})` : undefined;
}

/** Combines constant keys, so a path takes one pass; an element of a string list never goes through JSON. */
function pathSql(expr: Extract<Scalar, { kind: 'path' }>, context: ExpressionContext): string {
  const { dialect } = context;
  const element = elementOf(expr, context);
  if (element !== undefined) return dialect.convert({ sql: element, type: 'string' }, 'dynamic');
  const { object, keys } = constantPath(expr);
  if (keys.length > 0) return dialect.path(documentSql(object, context), keys);
  return dialect.element(argument(expr.object, context), argument(expr.key, context));
}

/** Most members of a value that are read in one pass: the SQL of each names all of them. */
const mostPaths = 8;

/** Returns the SQL of values that are members of a column and can be read in one pass with others. */
export function pathsSql(values: readonly Scalar[], context: ExpressionContext): ReadonlyMap<Scalar, string> {
  const groups: {
    readonly object: string;
    readonly values: Scalar[];
    readonly keys: (readonly string[])[];
  }[] = [];
  for (const value of values) {
    if (value.kind !== 'path' || elementOf(value, context) !== undefined) continue;
    const { object: column, keys } = constantPath(value);
    if (column.kind !== 'column') continue;
    const object = documentSql(column, context);
    const open = groups.find(group => group.object === object && group.keys.length < mostPaths);
    const group = open ?? { object, values: [], keys: [] };
    if (open === undefined) groups.push(group);
    group.values.push(value);
    group.keys.push(keys);
  }
  const several = groups.filter(group => group.keys.length > 1);
  return new Map(
    several.flatMap(group => {
      const written = context.dialect.paths?.(group.object, group.keys) ?? [];
      return written.map((sql, index) => [group.values[index] as Scalar, sql]);
    }),
  );
}

/** Returns a value whose members are read: parsed text need not become a dynamic value first. */
function documentSql(object: Scalar, context: ExpressionContext): string {
  return expressionSql(documentOf(object, context.dialect.documents) ?? object, context);
}

/** Returns the constant keys at the end of a path, and the value they apply to. */
function constantPath(expr: Extract<Scalar, { kind: 'path' }>): {
  readonly object: Scalar;
  readonly keys: readonly string[];
} {
  const keys: string[] = [];
  let object: Scalar = expr;
  for (; object.kind === 'path'; object = object.object) {
    const key = constantKey(object.key);
    if (key === undefined) break;
    keys.unshift(key);
  }
  return { object, keys };
}

/** Returns a member name or a zero-based index. */
function constantKey(key: Scalar): string | undefined {
  if (key.kind !== 'constant' || key.value === null) return undefined;
  if (key.type === 'long') return BigInt(key.value) >= 0n ? String(key.value) : undefined;
  return String(key.value);
}

function listSql(expr: Extract<Scalar, { kind: 'in' }>, context: ExpressionContext): string {
  const { dialect } = context;
  const left = argument(expr.left, context);
  if (expr.subquery !== undefined)
    return dialect.queryTest(expr.operator, left, context.subquery(expr.subquery));
  return dialect.listTest(
    expr.operator,
    left,
    expr.items.map(item => argument(item, context)),
  );
}
