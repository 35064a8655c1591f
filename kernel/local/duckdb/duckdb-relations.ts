import type { RowFunctionName } from '../../apl/catalog/row-functions.js';
import { mostSequenceRows } from '../../apl/plan/effort.js';
import type { JoinKind } from '../../apl/plan/plan.js';
import type { AddStage, ExpandParts } from '../sql/dialect.js';
import { type SqlArg, sqlOr } from '../sql/sql-template.js';
import { standard } from '../sql/standard.js';
import { withoutNaN } from './duckdb-expressions.js';
import { sqlText } from './duckdb-literal.js';
import { convert } from './functions/duckdb-conversion.js';

/** Returns a stage of a WITH clause; the engine inlines it unless materialized. */
export function stageSql(name: string, body: string, materialized: boolean): string {
  return `${name} AS ${materialized ? '' : 'NOT '}MATERIALIZED (${body})`;
}

/** Returns a key of ORDER BY. NaN sorts with the nulls; dynamic values that read as numbers sort first, by value. */
export function orderKey(arg: SqlArg, descending: boolean, nullsFirst: boolean): string {
  const direction = descending ? 'DESC' : 'ASC';
  if (arg.type !== 'dynamic') return `${withoutNaN(arg)} ${direction} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
  const number = convert(arg, 'real');
  const numbers = `${number} ${direction} NULLS ${descending ? 'FIRST' : 'LAST'}`;
  return `(${arg.sql} IS NULL) ${nullsFirst ? 'DESC' : 'ASC'}, ${numbers}, ${arg.sql}::VARCHAR ${direction}`;
}

/** Returns a join as the text after FROM. */
export function joinSql(kind: JoinKind, left: string, right: string, on: string): string {
  const [kept, other] = kind.startsWith('right') ? [right, left] : [left, right];
  if (kind.endsWith('semi')) return `${kept} SEMI JOIN ${other} ON ${on}`;
  if (kind.endsWith('anti')) return `${kept} ANTI JOIN ${other} ON ${on}`;
  return standard.join(kind, left, right, on);
}

/** The engine's error for a `range` with too many rows, which only running the query reveals if its bounds are computed. */
export const sequenceTooLong = 'too many rows: range';

export const sequenceTooLongMessage = `\`range\` would have more than ${mostSequenceRows} rows.`;

/** Returns the numbers or times from `start` to `end` in increments of `step`, as one column. */
export function sequenceSql(column: string, start: SqlArg, end: SqlArg, step: SqlArg): string {
  const isReal = start.type === 'real';
  const isTime = start.type === 'datetime';
  const [from, to] = [start, end].map(({ sql }) => (isTime ? `epoch_ns(${sql})` : sql));
  // Bounds may be queries, so each is computed once.
  const bounds = `SELECT ${from} AS a, ${to} AS b, ${step.sql} AS s`;
  const last = `SELECT a, s, ${isReal ? 'apl_last_real_step' : 'apl_last_step'}(a, b, s) AS last FROM (${bounds})`;
  const count = `CASE WHEN last < ${mostSequenceRows} THEN last + 1 WHEN last IS NOT NULL THEN error(${sqlText(sequenceTooLong)}) END`;
  const value = isReal ? 'a + i * s' : '(a::HUGEINT + i * s::HUGEINT)::BIGINT';
  return `SELECT ${isTime ? `apl_long_time(${value})` : value} AS ${column} FROM (SELECT a, s, unnest(range(${count})) AS i FROM (${last}))`;
}

/** Returns the first `count` rows of each group, in an order. */
export function firstOfEach(
  stage: string,
  where: string,
  groups: readonly string[],
  order: string,
  count: string,
): string {
  const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
  const sorted = [...groups, order].join(', ');
  const rank = `row_number() OVER (${partition}ORDER BY ${order})`;
  return `SELECT * FROM ${stage} WHERE ${where} QUALIFY ${rank} <= ${count} ORDER BY ${sorted}`;
}

/**
 * Returns `mv-expand`: lists are built once per row, then unnested side by side, with nulls for the missing elements of shorter ones. No
 * list is copied to the rows it expands into.
 */
export function expandSql(parts: ExpandParts, stage: AddStage): string {
  const { place } = parts;
  const values = parts.items.map(({ name, value, list }) => `${list ?? value.sql} AS array_${name}`);
  const count = place?.order ? [`row_number() OVER (${place.order.trim()}) AS ${place.column}`] : [];
  // A separate stage, since its columns are read several times.
  const arrays = stage(`SELECT *, ${[...values, ...count].join(', ')} FROM ${parts.input}`);
  const cut = parts.limit === undefined ? '' : `[1:${parts.limit}]`;
  const lists = parts.items.map(item => `${elementsOf(item, parts.bag)}${cut} AS list_${item.name}`);
  const arrayNames = parts.items.map(({ name }) => `array_${name}`).join(', ');
  const apart = place?.order === '' ? [`hash(${arrayNames}) AS ${place.column}`] : [];
  const input = stage(`SELECT *, ${[...lists, ...apart].join(', ')} FROM ${arrays}`);
  const expanded = new Set(parts.items.map(({ name }) => name));
  const longest = `greatest(${parts.items.map(({ name }) => `len(list_${name})`).join(', ')})`;
  const columns = parts.columns.map(name => {
    if (expanded.has(name)) return `unnest(list_${name}) AS ${name}`;
    return name === parts.index ? `unnest(range(${longest})) AS ${name}` : name;
  });
  // Without any item read, the row count still depends on their lengths.
  if (!parts.columns.some(name => expanded.has(name) || name === parts.index))
    columns.push(`unnest(range(${longest})) AS place`);
  return `SELECT ${columns.join(', ')} FROM ${input}`;
}

function elementsOf({ name, as, list }: ExpandParts['items'][number], bag: boolean): string {
  if (list !== undefined) return `apl_expanded_list(array_${name})`;
  return `${as === 'text' ? 'apl_expanded_texts' : 'apl_expanded'}(array_${name}, ${bag ? 'false' : 'true'})`;
}

/** The engine keeps this many rows at most while it reads others. */
const mostNear = 2047n;

/** Returns whether the engine computes a function over neighboring rows while it reads them, without sorting them again. */
export function isStreamed(_: RowFunctionName, [, ...more]: readonly SqlArg[]): boolean {
  return more.every(
    ({ constant }) => constant !== undefined && (typeof constant !== 'bigint' || constant <= mostNear),
  );
}

/** Returns the SQL of a function over neighboring rows: those of the window `rows`, numbered by `place`. */
export function neighborSql(
  name: RowFunctionName,
  args: readonly SqlArg[],
  rows: string,
  place: string,
): string {
  const [value] = args;
  const over = `OVER (${rows})`;
  const list = args.map(({ sql }) => sql).join(', ');
  switch (name) {
    case 'prev':
      return `lag(${list}) ${over}`;
    case 'next':
      return `lead(${list}) ${over}`;
    case 'row_number':
      return `TRY(${place} - 1 + ${sqlOr(value, '1')})`;
    case 'row_cumsum': {
      const soFar = `OVER (${rows} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
      const sum = `coalesce(sum(${sqlOr(value, '0')}) ${soFar}, 0)`;
      return value?.type === 'real' ? sum : `TRY_CAST(${sum} AS BIGINT)`;
    }
  }
}
