import type { TypeName } from '../../apl/catalog/entry.js';
import type { RowFunctionName } from '../../apl/catalog/row-functions.js';
import { mostSequenceRows } from '../../apl/plan/effort.js';
import type { JsonColumn } from '../results/sent-json.js';
import type { AddStage, ExpandParts, SeriesParts } from '../sql/dialect.js';
import { type SqlArg, sqlArg, TemplateError } from '../sql/sql-template.js';
import { wide } from './calendar.js';
import { sqlText } from './trino-literal.js';
import { arrayOf, convert, element, literal, notHere, sqlTypes, withoutNaN } from './trino-values.js';

/** Returns a key of ORDER BY. NaN sorts with the nulls. */
export function orderKey(arg: SqlArg, descending: boolean, nullsFirst: boolean): string {
  if (arg.type === 'dynamic') return notHere('Sorting by dynamic values');
  return `${withoutNaN(arg)} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
}

/** Returns the text after ORDER BY that limits the rows; the number must be constant. */
export function limitSql(count: string, skip: number): string {
  const plain = /^(?:BIGINT ')?(\d+)'?$/.exec(count.replace(/^\((.*)\)$/, '$1'))?.[1];
  if (plain === undefined) return notHere('A limit that is not a constant');
  return `${skip === 0 ? '' : ` OFFSET ${skip} ROWS`} LIMIT ${plain}`;
}

/** Returns rows as the text after FROM, a literal per column: a thousand rows of VALUES take seconds to plan. */
export function rowsSql(columns: readonly JsonColumn[]): string {
  const arrays = columns.map(
    ({ type, json }) => `CAST(json_parse(${sqlText(json)}) AS array(${sqlTypes[type]}))`,
  );
  return `UNNEST(${arrays.join(', ')}) AS w(${columns.map((_, index) => `c${index}`).join(', ')})`;
}

/** Maximum elements of a sequence in Trino. */
const longestSequence = 10_000;

/** Returns the numbers or times from `start` to `end` in increments of `step`, as one column. */
export function sequenceSql(column: string, start: SqlArg, end: SqlArg, step: SqlArg): string {
  const bounds = [start, end, step].map(({ constant }) => constant);
  if (start.type === 'real' || !bounds.every(each => typeof each === 'bigint'))
    return notHere('A `range` of anything but constant integers or timestamps');
  const [from, to, by] = bounds as [bigint, bigint, bigint];
  const rows = by === 0n || (to - from) / by < 0n || (to - from) * by < 0n ? 0n : (to - from) / by + 1n;
  if (rows > BigInt(mostSequenceRows))
    throw new TemplateError(
      `\`range\` would have more than ${mostSequenceRows} rows.`,
      0,
      'Use a larger step or a shorter range.',
    );
  const places = numbers(rows);
  const value = `CAST(${wide(literal('long', from))} + ${wide('n')} * ${wide(literal('long', by))} AS bigint)`;
  return `SELECT ${value} AS ${column} FROM ${places} ORDER BY n`;
}

/** Returns the numbers from 0 to below a count as `n`, as text after FROM. */
function numbers(count: bigint): string {
  const most = BigInt(longestSequence);
  const inner = `UNNEST(sequence(BIGINT '0', ${literal('long', BigInt(longestSequence - 1))})) AS b(j)`;
  const outer = `UNNEST(sequence(BIGINT '0', ${literal('long', count / most)})) AS a(i)`;
  return `(SELECT i * ${longestSequence} + j AS n FROM ${outer} CROSS JOIN ${inner} WHERE i * ${longestSequence} + j < ${count}) AS v`;
}

/**
 * Returns `mv-expand`: arrays side by side, with nulls for the missing elements of shorter ones; an empty array, and any value that is not
 * an array, gives one row.
 */
export function expandSql(parts: ExpandParts, stage: AddStage): string {
  const { place } = parts;
  const values = parts.items.map(({ name, value }) => `${elements(value, parts)} AS list_${name}`);
  const count = place === undefined ? [] : [`row_number() OVER (${place.order.trim()}) AS ${place.column}`];
  const lists = stage(`SELECT *, ${[...values, ...count].join(', ')} FROM ${parts.input}`);
  const expanded = new Map(parts.items.map(item => [item.name, item]));
  const columns = parts.columns.map(name => {
    const item = expanded.get(name);
    if (item === undefined) return name === parts.index ? `u.place - 1 AS ${name}` : `l.${name}`;
    const json = `nullif(json_format(u.${name}), 'null')`;
    return `${item.as === 'text' ? `apl_dyn_text(${json})` : json} AS ${name}`;
  });
  const unnested = [...parts.items.map(({ name }) => name), 'place'].join(', ');
  const arrays = parts.items.map(({ name }) => `l.list_${name}`).join(', ');
  const select = columns.length === 0 ? '1 AS place' : columns.join(', ');
  return `SELECT ${select} FROM ${lists} AS l CROSS JOIN UNNEST(${arrays}) WITH ORDINALITY AS u(${unnested})`;
}

/** Each member of a map becomes a separate map. */
function elements(value: SqlArg, { bag, limit }: ExpandParts): string {
  if (!bag) return notHere('`mv-expand` of maps as arrays');
  const { sql } = value;
  const json = `json_extract(${sql}, '$')`;
  const members = `map_entries(TRY_CAST(${json} AS map(varchar, json)))`;
  const maps = `transform(${members}, e -> CAST(map(ARRAY[e[1]], ARRAY[e[2]]) AS json))`;
  const list = `CASE WHEN substr(${sql}, 1, 1) = '[' AND ${sql} <> '[]' THEN TRY_CAST(${json} AS array(json))
    WHEN substr(${sql}, 1, 1) = '{' AND ${sql} <> '{}' THEN ${maps} WHEN ${sql} <> '[]' AND ${sql} <> '{}' THEN ARRAY[${json}]
    ELSE ARRAY[CAST(NULL AS json)] END`;
  return limit === undefined ? list : `slice(${list}, 1, ${limit})`;
}

/** Returns the SQL of a function over neighboring rows: `rows` is the window with their order, and `place` numbers them. */
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
      return `TRY(${place} - 1 + ${value === undefined ? '1' : value.sql})`;
    case 'row_cumsum': {
      const plain = value === undefined ? '0' : value.sql;
      if (value?.type === 'real') return `coalesce(sum(${plain}) ${over}, 0)`;
      return `TRY_CAST(coalesce(sum(CAST(${plain} AS decimal(38, 0))) ${over}, DECIMAL '0') AS bigint)`;
    }
  }
}

/** Returns `make-series`: aggregates by group and step, and from those of each group its arrays, with the default for missing steps. */
export function seriesSql(parts: SeriesParts, stage: AddStage): string {
  const { axis, start, stop, step } = parts;
  const steps = step > 0n && stop > start ? (stop - start + step - 1n) / step : 0n;
  if (steps > BigInt(longestSequence)) return notHere(`A series of more than ${longestSequence} steps`);
  const keys = parts.keys.map(({ name }) => name);
  const selected = [
    ...parts.keys.map(key => `${key.sql} AS ${key.name}`),
    `(${axis.sql} - ${start}) / ${step} AS step`,
    ...parts.aggregates.map(item => `${item.sql} AS ${item.name}`),
  ];
  const groups = [...keys, 'step'].map((_, index) => index + 1).join(', ');
  const within = `${axis.sql} >= ${literal('long', start)} AND ${axis.sql} < ${literal('long', stop)}`;
  const grouped = stage(
    `SELECT ${selected.join(', ')} FROM ${parts.input} WHERE ${within} GROUP BY ${groups}`,
  );
  const places =
    steps === 0n ? 'CAST(ARRAY[] AS array(bigint))' : `sequence(BIGINT '0', ${literal('long', steps - 1n)})`;
  const arrays = parts.aggregates.map(item => {
    const values = `coalesce(map_agg(step, ${element(sqlArg(item.name, item.type))}), map(ARRAY[], ARRAY[]))`;
    return `${values} AS ${item.name}_map`;
  });
  const maps = stage(
    `SELECT ${[...keys, ...arrays].join(', ') || 'count(*) AS none'} FROM ${grouped}${keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`}`,
  );
  const outputs = parts.aggregates.map(item => {
    const other = defaultJson(item.fallback, item.type);
    return `${arrayOf(`transform(${places}, n -> coalesce(element_at(${item.name}_map, n), ${other}))`)} AS ${item.output}`;
  });
  const at = `${start} + n * ${step}`;
  const shown = axis.type === 'datetime' ? `apl_time_json(${at})` : `CAST(${at} AS varchar)`;
  return `SELECT ${[...keys, ...outputs, `${arrayOf(`transform(${places}, n -> ${shown})`)} AS ${parts.time}`].join(', ')} FROM ${maps}`;
}

/** A default has the type of its aggregate; for times it may be anything. */
function defaultJson(fallback: SqlArg, type: TypeName): string {
  return element(type === 'datetime' ? fallback : sqlArg(convert(fallback, type), type));
}
