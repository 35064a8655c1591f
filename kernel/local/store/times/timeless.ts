import type { TypeName } from '../../../apl/catalog/entry.js';
import { DAY, SECOND } from '../../../time.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { keep, type ReadField, type Reading } from '../readers/reading.js';
import { epochNsOfRealSql, epochNsSql } from './epoch.js';

/** A column of the table `sampled`, with its field. */
export interface SampledColumn {
  readonly name: string;
  readonly type: TypeName;
  readonly column: string;
  /** Whether all of its sampled values are null. */
  readonly empty: boolean;
  /** As in {@link ReadField}. */
  readonly ofDirectory: boolean;
}

/** Creates the table `sampled` with some fields of the sample, column c_i for field i, and returns its columns. */
export async function sampled(
  connection: Connection,
  { fields, sample }: Pick<Reading, 'fields' | 'sample'>,
  wanted: (field: ReadField) => boolean,
): Promise<readonly SampledColumn[]> {
  const chosen = fields.flatMap((field, index) => (wanted(field) ? [{ ...field, column: `c${index}` }] : []));
  if (chosen.length === 0) return [];
  const values = chosen.map(({ sql, column }) => `${sql} AS ${column}`);
  await keep(connection, 'sampled', `SELECT ${values.join(', ')} FROM ${sample}`);
  const counts = chosen.map(({ column }) => `count(${column})`);
  const [row = []] = await connection.run(`SELECT ${counts.join(', ')} FROM sampled`);
  return chosen.map(({ name, type, column, ofDirectory = false }, index) => ({
    name,
    type,
    column,
    empty: Number(row[index]) === 0,
    ofDirectory,
  }));
}

export const consequence = 'every row gets the time of the import and matches every time range.';

/**
 * Returns a note that there is no time field, naming fields that hold times although their names do not suggest it. `near` explains why a
 * field with a suitable name does not count.
 */
export async function timelessNote(
  connection: Connection,
  reading: Pick<Reading, 'fields' | 'sample'>,
  nowNs: bigint,
  near: string | undefined,
): Promise<string> {
  const candidates = await sampled(
    connection,
    reading,
    ({ name, type }) =>
      type === 'datetime' ||
      type === 'string' ||
      ((type === 'long' || type === 'real') && speaksOfTime(name)),
  );
  const fields = await unnamedTimes(
    connection,
    candidates.filter(({ empty }) => !empty),
    nowNs,
  );
  if (fields.length > 0) {
    const shown = fields.slice(0, mostNamed).map(name => `\`${name}\``);
    const names = `${shown.join(', ')}${fields.length > mostNamed ? ', …' : ''}`;
    const verb = fields.length === 1 ? 'holds' : 'hold';
    return `No field is named like a timestamp: ${consequence} ${names} ${verb} timestamps: choose one, for example with \`--time ${asArgument(fields[0] ?? '')}\`.`;
  }
  return `No field contains timestamps: ${consequence} ${near ?? 'Set one with `--time` if there is one.'}`;
}

/** Returns a name as an argument of a command line. */
export function asArgument(name: string): string {
  return /^[\w.@-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Maximum number of fields named in a message. */
const mostNamed = 10;

/** Dates in numbers or with a month name, optionally with a time of day: an approximation, as matches are parsed afterwards. */
const dateForm = (() => {
  const separator = '[-/. ]';
  const numbers = `\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}|\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{4}|\\d{1,2}[-/]\\d{1,2}[-/]\\d{2}`;
  const named = `\\d{1,2}${separator}[A-Za-z]{3,9}${separator}\\d{2,4}|[A-Za-z]{3,9}\\.? \\d{1,2},? \\d{4}`;
  return `([A-Z][a-z]{2,8}, )?(${numbers}|${named})([T, ].*\\d:\\d{2}.*)?`;
})();

/**
 * Returns the fields whose sampled values are all dates, with or without a time of day. Tests all fields as one, as planning a thousand
 * tests would take the engine a second; remaining candidates are then parsed.
 */
async function unnamedTimes(
  connection: Connection,
  candidates: readonly SampledColumn[],
  nowNs: bigint,
): Promise<readonly string[]> {
  const texts = candidates.flatMap(({ type, column }, index) =>
    type === 'string' ? [{ column, index }] : [],
  );
  const found = new Set(await numberTimes(connection, candidates));
  const alike = await indexesWhere(connection, texts, `regexp_full_match(t, ${sqlText(dateForm)})`);
  const readable = `(TRY_CAST(t AS TIMESTAMP_NS) IS NOT NULL OR apl_date_orders(t) > 0 OR apl_event_time(t, ${nowNs}::BIGINT, '') IS NOT NULL)`;
  const open = texts.filter(({ index }) => alike.includes(index));
  for (const index of await indexesWhere(connection, open, readable)) found.add(index);
  return candidates
    .filter(({ type }, index) => type === 'datetime' || found.has(index))
    .map(({ name }) => name);
}

/** Returns the indexes of the string columns whose values `t` all satisfy a condition. */
async function indexesWhere(
  connection: Connection,
  columns: readonly { readonly column: string; readonly index: number }[],
  condition: string,
): Promise<readonly number[]> {
  if (columns.length === 0) return [];
  const indexes = columns.map(({ index }) => index).join(', ');
  const values = columns.map(({ column }) => column).join(', ');
  const rows = await connection.run(
    `SELECT i FROM (SELECT unnest([${indexes}]) AS i, unnest([${values}]) AS t FROM sampled)
     WHERE t IS NOT NULL GROUP BY i HAVING bool_and(${condition})`,
  );
  return rows.map(([index]) => Number(index));
}

/** Returns the indexes of the candidates whose numbers are all recent times: since 2001 in seconds, ms, µs or ns. */
async function numberTimes(
  connection: Connection,
  candidates: readonly SampledColumn[],
): Promise<readonly number[]> {
  const numbers = candidates.flatMap(({ type, column }, index) => {
    if (type !== 'long' && type !== 'real') return [];
    const time = type === 'long' ? epochNsSql(column) : epochNsOfRealSql(column);
    return [
      {
        index,
        sql: `bool_and(coalesce(${time} BETWEEN ${recentFromNs} AND ${recentToNs}, ${column} IS NULL))`,
      },
    ];
  });
  if (numbers.length === 0) return [];
  const [row = []] = await connection.run(`SELECT ${numbers.map(({ sql }) => sql).join(', ')} FROM sampled`);
  return numbers.filter((_, place) => row[place] === true).map(({ index }) => index);
}

/** 2001-09-09T01:46:40Z, the first time with ten digits in seconds, and 2100-01-01. */
const [recentFromNs, recentToNs] = [1_000_000_000n * SECOND, 47_482n * DAY];

/** Whether the name of a numeric field suggests times: an id may have as many digits. */
function speaksOfTime(name: string): boolean {
  return /time|date|epoch|(^|[._-])(ts|at)$|(?<=[a-z])At$|Ts$/.test(name) || /timestamp|epoch/i.test(name);
}
