import type { CatalogEntry } from '../../apl/catalog/all-functions.js';
import type { TypeName } from '../../apl/catalog/entry.js';
import type { JoinKind } from '../../apl/plan/plan.js';
import type { BinaryOperator } from '../../apl/syntax/ast.js';
import { formatTime } from '../../time.js';
import type { AggregateParts, Dialect } from './dialect.js';
import {
  type ArgsOf,
  type ConstantValue,
  type SqlArg,
  type SqlTemplate,
  TemplateError,
} from './sql-template.js';

/** Throws a refusal of a function, operator or conversion that the engine lacks. */
function notHere(what: string): never {
  throw new TemplateError(
    `${what} is not available here: the engine does not support it`,
    -1,
    'Remove it, or run the query on another connection.',
  );
}

const refuse = (what: string) => (): never => notHere(`\`${what}\``);

/** The standard's types; `dynamic` is JSON text. */
const types: Readonly<Record<TypeName, string>> = {
  bool: 'BOOLEAN',
  long: 'BIGINT',
  real: 'DOUBLE PRECISION',
  string: 'VARCHAR',
  datetime: 'TIMESTAMP(9)',
  timespan: 'BIGINT',
  dynamic: 'VARCHAR',
};

const cast = (sql: string, type: string): string => `CAST(${sql} AS ${type})`;

function quoted(text: string): string {
  return ["'", text.replaceAll("'", "''"), "'"].join('');
}

function literal(type: TypeName, value: ConstantValue): string {
  if (value === null) return cast('NULL', types[type]);
  switch (type) {
    case 'string':
    case 'dynamic':
      return quoted(String(value));
    case 'bool':
      return value === true ? 'TRUE' : 'FALSE';
    case 'real':
      return Number.isFinite(value)
        ? cast(quoted(String(value)), types.real)
        : notHere(`The number ${value}`);
    case 'long':
    case 'timespan':
      return cast(String(value), types.long);
    case 'datetime':
      return `TIMESTAMP ${quoted(formatTime(BigInt(value)).replace('T', ' ').replace('Z', ''))}`;
  }
}

/** Conversions that never fail; any others are refused unless a dialect overrides them. */
const safe: Readonly<Partial<Record<TypeName, readonly TypeName[]>>> = {
  long: ['timespan'],
  timespan: ['long'],
  real: ['long', 'timespan'],
  string: ['long'],
};

function convert({ sql, type, constant }: SqlArg, to: TypeName): string {
  if (type === to) return sql;
  if (constant === null) return literal(to, null);
  return safe[to]?.includes(type) === true ? cast(sql, types[to]) : notHere(`Converting ${type} to ${to}`);
}

type Functions = {
  readonly [Entry in CatalogEntry as Entry['name']]?: SqlTemplate<ArgsOf<Entry['params']>>;
};

/** Catalog functions in standard SQL: an engine adds its own, and any other function is refused by name. */
const functions: Functions = {
  abs: ([x]) => `ABS(${x.sql})`,
  case: args => caseSql(args),
  ceiling: ([x]) => `CEILING(${x.sql})`,
  coalesce: args => `COALESCE(${args.map(arg => arg.sql).join(', ')})`,
  exp: ([x]) => `EXP(${x.sql})`,
  floor: ([x]) => `FLOOR(${x.sql})`,
  iff: ([test, yes, no]) => `CASE WHEN ${test.sql} THEN ${yes.sql} ELSE ${no.sql} END`,
  isnotnull: ([value]) => `(${value.sql} IS NOT NULL)`,
  isnull: ([value]) => `(${value.sql} IS NULL)`,
  not: ([value]) => `(NOT ${value.sql})`,
  strlen: ([text]) => `CHAR_LENGTH(${text.sql})`,
  tolower: ([text]) => `LOWER(${text.sql})`,
  toupper: ([text]) => `UPPER(${text.sql})`,
};

function caseSql(args: readonly [SqlArg, ...SqlArg[]]): string {
  const branches = args.flatMap((result, index) => {
    const condition = args[index - 1];
    return condition === undefined || index % 2 === 0 ? [] : [`WHEN ${condition.sql} THEN ${result.sql}`];
  });
  return `CASE ${branches.join(' ')} ELSE ${(args.at(-1) ?? args[0]).sql} END`;
}

function total(test: string, predicate: boolean): string {
  return predicate ? `(${test})` : `COALESCE(${test}, FALSE)`;
}

/** Integers beyond 64 bits are null: their sums and products fit 38 digits. */
function arithmetic(operator: BinaryOperator, left: SqlArg, right: SqlArg, type: TypeName): string {
  if (left.type === 'datetime' || right.type === 'datetime') return notHere('Arithmetic with timestamps');
  const [a, b] = [left.sql, right.sql];
  if (left.type === 'real' || type === 'real')
    return operator === '/' ? `(${a} / NULLIF(${b}, 0))` : `(${a} ${operator} ${b})`;
  const wide = (sql: string): string => cast(sql, 'DECIMAL(38)');
  const bounded = (sql: string, value: string): string =>
    `CASE WHEN ${sql} BETWEEN -9223372036854775808 AND 9223372036854775807 THEN ${value} END`;
  if (operator === '%')
    return `CASE WHEN ${b} NOT IN (0, -1) THEN MOD(${a}, ${b}) WHEN ${b} = -1 AND ${a} IS NOT NULL THEN 0 END`;
  if (operator === '/')
    return `CASE WHEN ${b} NOT IN (0, -1) THEN ${a} / ${b} WHEN ${b} = -1 THEN ${bounded(`-${wide(a)}`, `-${a}`)} END`;
  return bounded(`${wide(a)} ${operator} ${wide(b)}`, `${a} ${operator} ${b}`);
}

function compare(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  if (operator === '!=') return `(${left.sql} IS DISTINCT FROM ${right.sql})`;
  return total(`${left.sql} ${operator === '==' ? '=' : operator} ${right.sql}`, predicate);
}

function textTest(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  const negated = operator.startsWith('!');
  const test = positiveTest(negated ? operator.slice(1).replace(/^~$/, '=~') : operator, left, right);
  return negated ? `(NOT COALESCE(${test}, FALSE))` : total(test, predicate);
}

function positiveTest(operator: string, left: SqlArg, right: SqlArg): string {
  const sensitive = operator.endsWith('_cs');
  const [a, b] = [left.sql, right.sql].map(sql => (sensitive ? sql : `LOWER(${sql})`)) as [string, string];
  switch (sensitive ? operator.slice(0, -3) : operator) {
    case '=~':
      return `${a} = ${b}`;
    case 'contains':
      return `POSITION(${b} IN ${a}) > 0`;
    case 'startswith':
      return `SUBSTRING(${a} FROM 1 FOR CHAR_LENGTH(${b})) = ${b}`;
    case 'endswith':
      return `CHAR_LENGTH(${a}) >= CHAR_LENGTH(${b}) AND SUBSTRING(${a} FROM CHAR_LENGTH(${a}) - CHAR_LENGTH(${b}) + 1) = ${b}`;
    default:
      return notHere(`\`${operator}\``);
  }
}

function where(filter: string | undefined): string {
  return filter === undefined ? '' : ` FILTER (WHERE ${filter})`;
}

function aggregate({ call: { name, type }, args: [value], filter }: AggregateParts): string {
  const of = (word: string): string => `${word}(${value?.sql})${where(filter)}`;
  if (value === undefined) return name === 'count' ? `COUNT(*)${where(filter)}` : notHere(`\`${name}\``);
  switch (name) {
    case '$values':
      return of('COUNT');
    case 'dcount':
      return `COUNT(DISTINCT ${value.sql})${where(filter)}`;
    case 'sum':
      return type === 'real' ? `COALESCE(${of('SUM')}, 0)` : sumOf(cast(value.sql, 'DECIMAL(38)'), filter);
    case 'avg':
      return type === 'timespan'
        ? notHere('`avg` of durations')
        : `AVG(${cast(value.sql, types.real)})${where(filter)}`;
    case 'min':
    case 'max':
      return value.type === 'dynamic' ? notHere(`\`${name}\` of dynamic values`) : of(name.toUpperCase());
    default:
      return notHere(`\`${name}\``);
  }
}

/** Sums beyond 64 bits are null, and a sum over no rows is 0. */
function sumOf(value: string, filter: string | undefined): string {
  const sum = `COALESCE(SUM(${value})${where(filter)}, 0)`;
  return `CASE WHEN ${sum} BETWEEN -9223372036854775808 AND 9223372036854775807 THEN ${cast(sum, types.long)} END`;
}

const merge: Dialect['merge'] = {
  count: own => cast(`COALESCE(SUM(${own}), 0)`, types.long),
  sum: (own, type) =>
    type === 'real'
      ? `SUM(${own})`
      : `CASE WHEN COUNT(*) = COUNT(${own}) THEN ${sumOf(cast(own, 'DECIMAL(38)'), undefined)} END`,
  extreme: (name, own) => `${name.toUpperCase()}(${own.sql})`,
  any: own => `MAX(${own})`,
  scaled: (own, factor) => `SUM(${own}) * ${literal('real', factor)}`,
  mean: (own, count, sum) =>
    sum === undefined
      ? `${cast(`SUM(${own} * ${count})`, types.real)} / NULLIF(SUM(${count}), 0)`
      : notHere('`avg` of durations'),
  rowOf: name => notHere(`\`${name}\``),
};

function orderKey(arg: SqlArg, descending: boolean, nullsFirst: boolean): string {
  if (arg.type === 'dynamic') return notHere('Sorting by dynamic values');
  return `${arg.sql} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
}

const joinWords: Readonly<Partial<Record<JoinKind, string>>> = {
  inner: 'JOIN',
  innerunique: 'JOIN',
  leftouter: 'LEFT JOIN',
  rightouter: 'RIGHT JOIN',
  fullouter: 'FULL JOIN',
};

/** Returns a join as the text after FROM, which must end the SELECT. */
function join(kind: JoinKind, left: string, right: string, on: string): string {
  const [kept, other] = kind.startsWith('right') ? [right, left] : [left, right];
  const exists = `EXISTS (SELECT 1 FROM ${other} WHERE ${on})`;
  if (kind.endsWith('semi')) return `${kept} WHERE ${exists}`;
  if (kind.endsWith('anti')) return `${kept} WHERE NOT ${exists}`;
  return `${left} ${joinWords[kind]} ${right} ON ${on}`;
}

/**
 * Standard SQL (ISO/IEC 9075): the base of every engine's dialect, which overrides and adds to it. Anything that the standard cannot
 * express exactly is refused by name.
 */
export const standard: Dialect = {
  literal,
  convert,
  call: (name, args, context) => {
    const template: SqlTemplate<never> | undefined = functions[name as keyof Functions];
    return template === undefined ? notHere(`\`${name}\``) : (template as SqlTemplate)(args, context);
  },
  bytes: ({ sql }) => `COALESCE(OCTET_LENGTH(${sql}), 0)`,
  growthFactor: () => 1,
  compare,
  between: (value, low, high) => `(${value.sql} BETWEEN ${low.sql} AND ${high.sql})`,
  arithmetic,
  negate: ({ sql, type }) =>
    type === 'real' ? `(-${sql})` : `CASE WHEN ${sql} > -9223372036854775808 THEN -${sql} END`,
  textTest,
  listTest: (operator, left, items) => {
    if (operator.includes('has')) return notHere(`\`${operator}\``);
    const fold = (sql: string): string => (operator.endsWith('~') ? `LOWER(${sql})` : sql);
    const known = items.filter(({ constant }) => constant !== null).map(({ sql }) => fold(sql));
    return known.length === 0 ? 'FALSE' : `(${fold(left.sql)} IN (${known.join(', ')}))`;
  },
  queryTest: (operator, left, query) => {
    const fold = (sql: string): string => (operator.endsWith('~') ? `LOWER(${sql})` : sql);
    return `(${fold(left.sql)} IN (SELECT ${fold('value')} FROM (${query}) AS q WHERE value IS NOT NULL))`;
  },
  path: () => notHere('Reading a dynamic value'),
  pathText: () => notHere('Reading a dynamic value'),
  rawPath: () => notHere('Reading a dynamic value'),
  writtenPath: () => notHere('Reading a dynamic value'),
  documents: new Set(),
  composedText: () => undefined,
  element: () => notHere('Reading a dynamic value'),
  array: () => notHere('An array'),
  map: () => notHere('A map'),

  aggregate,
  withoutNaN: ({ sql }) => sql,
  merge,

  statement: ({ stages, select }) =>
    stages.length === 0 ? select : `WITH ${stages.join(',\n')}\n ${select}`,
  stage: (name, body) => `${name} AS (${body})`,
  keepsOrder: false,
  nothing: items => `SELECT ${items} FROM (VALUES (0)) AS v(n) WHERE 1 = 0`,
  limit: (count, skip) => `${skip === 0 ? '' : ` OFFSET ${skip} ROWS`} FETCH FIRST ${count} ROWS ONLY`,
  unionItem: ({ sql, type }) => cast(sql, types[type]),
  orderKey,
  same: (left, right) => `${left} IS NOT DISTINCT FROM ${right}`,
  joinKey: ({ sql }) => sql,
  join,
  // VALUES is a single scan: rows joined by UNION ALL have no order.
  values: (rows, columns) =>
    `SELECT * FROM (VALUES ${rows.map(row => `(${row.join(', ')})`).join(', ')}) AS v(${columns.join(', ')})`,
  sequence: refuse('range'),
  sample: refuse('sample'),
  firstOfEach: (stage, where, groups, order, count) => {
    const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
    const ranked = `SELECT ${stage}.*, ROW_NUMBER() OVER (${partition}ORDER BY ${order}) AS place FROM ${stage} WHERE ${where}`;
    return `SELECT * FROM (${ranked}) AS r WHERE place <= ${count} ORDER BY ${[...groups, order].join(', ')}`;
  },
  expand: refuse('mv-expand'),
  isStreamed: () => false,
  neighbor: name => notHere(`\`${name}\``),
  series: refuse('make-series'),
  spotlight: refuse('spotlight'),
  external: refuse('externaldata'),
  temporary: table => table,
};
