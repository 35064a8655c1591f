import type { LogReading } from '../../../../api/logs/log-format.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';
import { distinctNames } from '../reading.js';
import { timeInLine } from './line-times.js';
import type { Parts } from './parts.js';

type Headed = Extract<LogReading, { kind: 'headed' }>;

/** Returns the fields named by header lines of `from`, undefined if there are none. */
export async function headedParts(
  connection: Connection,
  reading: Headed,
  from: string,
): Promise<Parts | undefined> {
  const headers = await headersOf(connection, reading, from);
  if (headers.length === 0) return undefined;
  const names = [...new Set(headers.flatMap(({ fields }) => fields))];
  const fits = `len(v) = CASE h ${headers.map(({ line, fields }) => `WHEN ${sqlText(line)} THEN ${fields.length}`).join(' ')} END`;
  const absent = `[${reading.absent.map(sqlText).join(', ')}]`;
  const value = (name: string) => {
    const cases = headers.flatMap(({ line, fields }) =>
      fields.includes(name) ? [`WHEN ${sqlText(line)} THEN v[${fields.indexOf(name) + 1}]`] : [],
    );
    const found = `CASE h ${cases.join(' ')} END`;
    return `CASE WHEN ok THEN CASE WHEN NOT list_contains(${absent}, ${found}) THEN ${reading.escapes ? unescaped(found) : found} END ${ofWhole[name] ?? ''} END`;
  };
  const rows = (lines: string) =>
    `SELECT *, coalesce(${fits}, false) AS ok FROM (${split(lines, reading, headers)})`;
  const parts = {
    names: [...names, 'line'],
    columns: [...names.map(value), 'CASE WHEN NOT ok THEN l END'],
    rows,
    whole: 'line',
  };
  if (!isUndated(reading, headers)) return parts;
  const dated = (lines: string) => withDays(rows(lines), value('time'));
  return { ...parts, names: ['date', ...parts.names], columns: ['day', ...parts.columns], rows: dated };
}

/** Returns the SQL of a value without its escapes, or as written if the result is not UTF-8. */
function unescaped(text: string): string {
  const bytes = `replace(replace(${text}, '%', '%25'), '\\\\', '%5C')`;
  const plain = `TRY(url_decode(regexp_replace(${bytes}, '\\\\x([0-9a-fA-F]{2})', '%\\1', 'g')))`;
  return `CASE WHEN contains(${text}, '\\') THEN coalesce(${plain}, ${text}) ELSE ${text} END`;
}

/** Whether lines have a time of day only, with the day in a comment above them. */
function isUndated({ day }: Headed, headers: readonly Header[]): boolean {
  const fields = headers.flatMap(header => header.fields);
  return day !== undefined && fields.includes('time') && !fields.includes('date');
}

/** Adds the day of each row as a string: that of the comment above it, plus one for each midnight since, in line order. */
function withDays(rows: string, time: string): string {
  const clock = `SELECT *, epoch(TRY_CAST(${time} AS TIME)) AS clock FROM (${rows})`;
  const turned = `SELECT *, clock < lag(clock IGNORE NULLS) OVER (PARTITION BY d ORDER BY n) - 43200 AS turned FROM (${clock})`;
  const midnights = 'CAST(count(*) FILTER (turned) OVER (PARTITION BY d ORDER BY n) AS INTEGER)';
  return `SELECT *, (TRY_CAST(d[1] AS DATE) + ${midnights})::VARCHAR AS day FROM (${turned}) ORDER BY n`;
}

/** SQL for fields of a line that has more or fewer values than the header. */
const ofWhole: Readonly<Record<string, string>> = {
  date: `ELSE left(${timeInLine}, 10)`,
  time: `ELSE substr(${timeInLine}, 12)`,
};

interface Header {
  readonly line: string;
  readonly fields: readonly string[];
}

async function headersOf(
  connection: Connection,
  { header }: Headed,
  from: string,
): Promise<readonly Header[]> {
  const rows = await connection.run(
    `SELECT l FROM (SELECT l, row_number() OVER () AS n FROM ${from}) WHERE regexp_matches(l, ${sqlText(header)}) GROUP BY l ORDER BY min(n)`,
  );
  return rows.map(([line]) => {
    const [, names = ''] = new RegExp(header, 'u').exec(String(line)) ?? [];
    return {
      line: String(line),
      fields: distinctNames(names.trim().split(names.includes(',') ? ',' : /[ \t]+/)),
    };
  });
}

/** Returns the event lines l with their values v and their header line h. */
function split(lines: string, reading: Headed, headers: readonly Header[]): string {
  const { header, comment, day = '' } = reading;
  const isHeader = `regexp_matches(l, ${sqlText(header)})`;
  const isEvent = `NOT ${isHeader} AND NOT regexp_matches(l, ${sqlText(comment)})`;
  const [only] = headers;
  const isEach = isUndated(reading, headers);
  const own = isEach ? `nullif(regexp_extract(l, ${sqlText(day)}, 1), '')` : 'NULL';
  const headed =
    headers.length === 1 && !isEach
      ? `SELECT l, ${sqlText(only?.line ?? '')} AS h FROM ${lines} WHERE ${isEvent}`
      : `SELECT l, h${isEach ? ', d, n' : ''} FROM (${underHeaders(lines, isHeader, own)}) WHERE ${isEvent}${isEach ? '' : ' ORDER BY n'}`;
  const isOfCommas = headers.every(({ fields: [first = ''], line }) => line.includes(`${first},`));
  return `SELECT *, ${isOfCommas ? betweenCommas : valuesOf} AS v FROM (${headed})`;
}

/** Returns each line with the last header h and the last day d above it; the second element of d distinguishes equal days. */
function underHeaders(lines: string, isHeader: string, day: string): string {
  const numbered = `SELECT l, CASE WHEN ${isHeader} THEN l END AS own, ${day} AS day, row_number() OVER () AS n FROM ${lines} WHERE l IS NOT NULL`;
  const above = 'OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)';
  const days = `CASE WHEN day IS NOT NULL THEN [day, n::VARCHAR] END`;
  return `SELECT l, n, last_value(own IGNORE NULLS) ${above} AS h, last_value(${days} IGNORE NULLS) ${above} AS d FROM (${numbered})`;
}

/** Splits values at commas, as in Exchange protocol logs: optionally quoted, with doubled quotes inside. */
const betweenCommas = `list_transform(regexp_extract_all(',' || l, ${sqlText(',("(?:[^"]|"")*"|[^,]*)')}, 1), lambda p: CASE WHEN starts_with(p, '"') THEN replace(p[2:-2], '""', '"') ELSE p END)`;

/** Splits values at tabs if there are any, otherwise at spaces with optional quotes. */
const valuesOf = `CASE WHEN contains(l, chr(9)) THEN string_split(l, chr(9)) ELSE list_transform(regexp_extract_all(l, ${sqlText('"[^"]*"|[^ ]+')}), lambda p: regexp_replace(p, ${sqlText('^"(.*)"$')}, '\\1')) END`;
