import type { TypeName } from '../../apl/catalog/entry.js';
import { type Session, sqlText } from '../engine/duckdb.js';
import { ServiceError } from '../http/service-error.js';

/** A column of rows that wait to be stored, and the field that it will be. */
export interface StagedColumn {
  readonly name: string;
  readonly type: TypeName;
  /** Its name in the table `staged`. */
  readonly column: string;
  /** Every value is null. */
  readonly empty?: boolean;
}

/** How to find the time of a row. `field` and `format` are what the user named; a format is Go's or strptime's. */
export interface TimeOptions {
  readonly nowNs: bigint;
  readonly field?: string;
  readonly format?: string;
}

/** Where the time of a row comes from. `sql` is a TIMESTAMP_NS over `staged`, null where a row has no readable time. */
export interface TimeSource {
  readonly sql: string;
  /** The field it was read from; undefined when no field holds a time. */
  readonly field?: string;
  readonly notes: readonly string[];
}

/** Returns where the rows of the table `staged` have their time; throws ServiceError when the named field has none. */
export async function findTime(
  session: Session,
  columns: readonly StagedColumn[],
  options: TimeOptions,
): Promise<TimeSource> {
  for (const macro of macros(options.nowNs)) await session.run(macro);
  if (options.field !== undefined) return namedTime(session, columns, options.field, options.format);
  return (
    (await combinedTime(session, columns)) ??
    (await guessedTime(session, columns)) ?? {
      sql: 'NULL::TIMESTAMP_NS',
      notes: ['No field holds a time: every row has the time of its import. Name one if there is one.'],
    }
  );
}

/** Names that hold the time of an event, the likeliest first; compared without case, `_`, `-` and `@`. */
const timeNames = [
  '_time',
  'timestamp',
  '@timestamp',
  'time',
  'ts',
  'datetime',
  'date_time',
  'eventTime',
  'event_timestamp',
  'date',
  'time_local',
  'time_iso8601',
  'timeGenerated',
  'createdAt',
  'created',
  'startTime',
  'start_timestamp',
  'logged_at',
  'observedTimestamp',
  'published',
  't',
].map(plainName);

/** One way to write a time: the SQL that reads it from a text, null where the text is not of this kind. */
interface TimeFormat {
  readonly label: string;
  readonly macro: string;
  readonly assumesYear?: boolean;
}

const textFormats: readonly TimeFormat[] = [
  { label: 'ISO 8601', macro: 'ingest_iso' },
  { label: 'seconds or fractions of a second since 1970', macro: 'ingest_epoch_text' },
  { label: 'Apache log time', macro: 'ingest_apache' },
  { label: 'RFC 1123', macro: 'ingest_http' },
  { label: 'ctime', macro: 'ingest_ctime' },
  { label: 'syslog time', macro: 'ingest_syslog', assumesYear: true },
];

async function namedTime(
  session: Session,
  columns: readonly StagedColumn[],
  field: string,
  format: string | undefined,
): Promise<TimeSource> {
  const column = columns.find(each => each.name === field);
  if (!column) {
    const known = columns.slice(0, 20).map(each => `\`${each.name}\``);
    throw new ServiceError(
      400,
      'time-field-unknown',
      `There is no field \`${field}\` to take the time from.`,
      {
        hint: `The fields are ${known.join(', ')}${columns.length > 20 ? ', …' : ''}.`,
      },
    );
  }
  const found = format === undefined ? await bestReading(session, column) : formatted(column, format);
  const counted = await countRead(session, column, found.sql);
  if (counted.read > 0 || counted.present === 0) return found;
  throw new ServiceError(
    400,
    'time-unreadable',
    `No value of \`${field}\` can be read as a time, such as ${counted.sample}.`,
    {
      hint: 'Times are RFC 3339, seconds, ms, µs or ns since 1970, or in the format of Apache logs, syslog or RFC 1123.',
    },
  );
}

async function guessedTime(
  session: Session,
  columns: readonly StagedColumn[],
): Promise<TimeSource | undefined> {
  const ranked = columns
    .map(column => ({
      column,
      rank: column.name === '_time' ? 0 : timeNames.indexOf(plainName(column.name), 1),
    }))
    .filter(each => each.rank >= 0 && !each.column.empty)
    .sort((a, b) => a.rank - b.rank);
  for (const { column } of ranked) {
    const found = await bestReading(session, column);
    const { present, read, plausible } = await countRead(session, column, found.sql);
    if (present > 0 && read === present && plausible === present) return found;
  }
  return undefined;
}

async function bestReading(session: Session, column: StagedColumn): Promise<TimeSource> {
  const { name: field } = column;
  switch (column.type) {
    case 'datetime':
      return { field, sql: column.column, notes: [] };
    case 'long':
    case 'timespan':
      return { field, sql: `make_timestamp_ns(ingest_epoch(${column.column}))`, notes: [] };
    case 'real':
      return { field, sql: `ingest_epoch_real(${column.column})`, notes: [] };
    case 'string':
    case 'dynamic':
      return bestTextReading(session, column);
    case 'bool':
      return { field, sql: 'NULL::TIMESTAMP_NS', notes: [] };
  }
}

async function bestTextReading(session: Session, column: StagedColumn): Promise<TimeSource> {
  const counts = textFormats.map(format => `count(${format.macro}(${column.column}))`);
  const [row = []] = await session.run(`SELECT ${counts.join(', ')} FROM staged`);
  const best = row
    .map(Number)
    .reduce((best, count, index, all) => (count > (all[best] ?? 0) ? index : best), 0);
  const format = textFormats[best] as TimeFormat;
  return {
    field: column.name,
    sql: `${format.macro}(${column.column})`,
    notes: format.assumesYear ? [yearNote(`\`${column.name}\``)] : [],
  };
}

function formatted(column: StagedColumn, format: string): TimeSource {
  const strptime = format.includes('%') ? format : strptimeOf(format);
  const sql = `TRY_CAST(try_strptime(${column.column}::VARCHAR, ${sqlText(strptime)}) AS TIMESTAMP_NS)`;
  return { field: column.name, sql, notes: [] };
}

const goLayout: readonly (readonly [string, string])[] = [
  ['January', '%B'],
  ['Monday', '%A'],
  ['2006', '%Y'],
  ['Z07:00', '%z'],
  ['-07:00', '%z'],
  ['-0700', '%z'],
  ['Jan', '%b'],
  ['Mon', '%a'],
  ['MST', '%Z'],
  ['PM', '%p'],
  ['01', '%m'],
  ['02', '%d'],
  ['15', '%H'],
  ['03', '%I'],
  ['04', '%M'],
  ['05', '%S'],
];

/** A layout written with Go's reference time, as strptime has it. */
function strptimeOf(layout: string): string {
  const pattern = new RegExp(`[.,][09]+|${goLayout.map(([token]) => token).join('|')}`, 'g');
  return layout.replace(pattern, token =>
    /^[.,]/.test(token) ? `${token[0]}%f` : (goLayout.find(([go]) => go === token)?.[1] ?? token),
  );
}

interface ReadCount {
  readonly present: number;
  readonly read: number;
  /** Times later than 1990: a small number is rather a duration. */
  readonly plausible: number;
  readonly sample: string;
}

async function countRead(session: Session, column: StagedColumn, sql: string): Promise<ReadCount> {
  const [row = []] = await session.run(
    `SELECT count(${column.column}), count(t), count(*) FILTER (t > '1990-01-01'::TIMESTAMP_NS), any_value(${column.column}::VARCHAR)
     FROM (SELECT ${column.column}, ${sql} AS t FROM staged)`,
  );
  const [present, read, plausible, sample] = row;
  return {
    present: Number(present),
    read: Number(read),
    plausible: Number(plausible),
    sample: JSON.stringify(sample),
  };
}

// ---- a time spread over several columns ----

interface Part {
  readonly names: readonly string[];
  readonly pattern: string;
}

const parts = {
  clock: { names: ['time', 'timeofday', 'clock'], pattern: '\\d{1,2}:\\d{2}(:\\d{2}([.,]\\d{1,9})?)?' },
  date: { names: ['date', 'day'], pattern: '\\d{4}[-/.]\\d{2}[-/.]\\d{2}' },
  month: {
    names: ['month', 'mon', 'date'],
    pattern: '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*',
  },
  day: { names: ['day', 'mday', 'date'], pattern: '\\d{1,2}' },
  year: { names: ['year'], pattern: '\\d{4}' },
} satisfies Record<string, Part>;

async function combinedTime(
  session: Session,
  columns: readonly StagedColumn[],
): Promise<TimeSource | undefined> {
  const clock = await findPart(session, columns, parts.clock);
  if (!clock) return undefined;
  const date = await findPart(session, columns, parts.date);
  if (date)
    return combination([date, clock], `ingest_iso(${date.column} || 'T' || ingest_clock(${clock.column}))`);
  const month = await findPart(session, columns, parts.month);
  const day = await findPart(session, columns, parts.day);
  if (!month || !day) return undefined;
  const year = await findPart(session, columns, parts.year);
  const monthDay = `ingest_month_day(${month.column}, ${day.column}::VARCHAR)`;
  if (year) {
    const sql = `ingest_iso(${year.column}::VARCHAR || '-' || ${monthDay} || 'T' || ingest_clock(${clock.column}))`;
    return combination([year, month, day, clock], sql);
  }
  return combination(
    [month, day, clock],
    `ingest_yearless(${monthDay}, ingest_clock(${clock.column}))`,
    true,
  );
}

function combination(columns: readonly StagedColumn[], sql: string, assumesYear = false): TimeSource {
  const names = columns.map(column => `\`${column.name}\``).join(', ');
  const notes = [`The time is put together from ${names}.`];
  return {
    sql,
    field: columns.map(column => column.name).join(', '),
    notes: assumesYear ? [...notes, yearNote(names)] : notes,
  };
}

async function findPart(
  session: Session,
  columns: readonly StagedColumn[],
  { names, pattern }: Part,
): Promise<StagedColumn | undefined> {
  for (const name of names) {
    const column = columns.find(each => plainName(each.name) === name && !each.empty);
    if (!column) continue;
    const [row] = await session.run(
      `SELECT bool_and(regexp_full_match(${column.column}::VARCHAR, ${sqlText(pattern)})) FROM staged`,
    );
    if (row?.[0] === true) return column;
  }
  return undefined;
}

function yearNote(source: string): string {
  return `${source} gives no year: each time is taken to lie in the twelve months before the import.`;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\-@]/g, '');
}

// ---- SQL ----

const isoPattern =
  '^\\s*(\\d{4})[-/.](\\d{2})[-/.](\\d{2})(?:[T ](\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,](\\d{1,9})\\d*)?)?)?\\s*(Z|z|UTC|GMT|[+-]\\d{2}(?::?\\d{2})?)?\\s*$';
const apachePattern =
  '^\\[?(\\d{1,2})/([A-Z][a-z]{2})/(\\d{4}):(\\d{2}):(\\d{2}):(\\d{2})(?:[.,](\\d{1,9})\\d*)?\\s*([+-]\\d{4})?\\]?$';
const httpPattern =
  '^(?:[A-Z][a-z]{2,8},?\\s+)?(\\d{1,2})[ -]([A-Z][a-z]{2})[ -](\\d{4})\\s+(\\d{2}):(\\d{2}):(\\d{2})\\s*(GMT|UTC|[+-]\\d{4})?$';
const ctimePattern =
  '^(?:[A-Z][a-z]{2}\\s+)?([A-Z][a-z]{2})\\s+(\\d{1,2})\\s+(\\d{2}):(\\d{2}):(\\d{2})(?:[.,](\\d{1,9})\\d*)?\\s+(\\d{4})$';
const syslogPattern = '^([A-Z][a-z]{2})\\s+(\\d{1,2})\\s+(\\d{2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9})?)$';

/** Parts are texts, empty where absent; nothing but int64 arithmetic touches the nanoseconds. */
function macros(nowNs: bigint): string[] {
  const now = `make_timestamp_ns(${nowNs})`;
  return [
    `ingest_month(m) AS (instr('JanFebMarAprMayJunJulAugSepOctNovDec', left(m, 3)) + 2) // 3`,
    `ingest_month_day(m, d) AS lpad(ingest_month(m)::VARCHAR, 2, '0') || '-' || lpad(d, 2, '0')`,
    `ingest_clock(t) AS if(strpos(t, ':') = 2, '0' || t, t)`,
    `ingest_offset_us(z) AS CASE WHEN regexp_full_match(z, '[+-].*')
       THEN if(left(z, 1) = '-', -1, 1) * 60000000::BIGINT
         * (z[2:3]::BIGINT * 60 + coalesce(TRY_CAST(right(replace(z[4:], ':', ''), 2) AS BIGINT), 0)) ELSE 0 END`,
    `ingest_of(y, mo, d, h, mi, s, f, z) AS CASE WHEN y BETWEEN '1678' AND '2261' THEN make_timestamp_ns(
       (epoch_us(try_strptime(concat(y, '-', mo, '-', d, ' ', coalesce(nullif(h, ''), '00'), ':', coalesce(nullif(mi, ''), '00'),
         ':', coalesce(nullif(s, ''), '00')), '%Y-%m-%d %H:%M:%S')) - ingest_offset_us(z)) * 1000
         + rpad(coalesce(f, ''), 9, '0')::BIGINT) END`,
    partsMacro(
      'ingest_iso',
      isoPattern,
      ['y', 'mo', 'd', 'h', 'mi', 's', 'f', 'z'],
      'ingest_of(p.y, p.mo, p.d, p.h, p.mi, p.s, p.f, p.z)',
    ),
    partsMacro(
      'ingest_apache',
      apachePattern,
      ['d', 'mo', 'y', 'h', 'mi', 's', 'f', 'z'],
      'ingest_of(p.y, ingest_month(p.mo)::VARCHAR, p.d, p.h, p.mi, p.s, p.f, p.z)',
    ),
    partsMacro(
      'ingest_http',
      httpPattern,
      ['d', 'mo', 'y', 'h', 'mi', 's', 'z'],
      `ingest_of(p.y, ingest_month(p.mo)::VARCHAR, p.d, p.h, p.mi, p.s, '', p.z)`,
    ),
    partsMacro(
      'ingest_ctime',
      ctimePattern,
      ['mo', 'd', 'h', 'mi', 's', 'f', 'y'],
      `ingest_of(p.y, ingest_month(p.mo)::VARCHAR, p.d, p.h, p.mi, p.s, p.f, '')`,
    ),
    `ingest_year_of(md, clock) AS year(${now}) - if(md || clock > strftime(${now}, '%m-%d%H:%M:%S'), 1, 0)`,
    `ingest_leap(md, y) AS if(md = '02-29', y - y % 4, y)`,
    `ingest_yearless(md, clock) AS ingest_iso(ingest_leap(md, ingest_year_of(md, clock))::VARCHAR || '-' || md || 'T' || clock)`,
    partsMacro(
      'ingest_syslog',
      syslogPattern,
      ['mo', 'd', 'clock'],
      'ingest_yearless(ingest_month_day(p.mo, p.d), p.clock)',
    ),
    `ingest_epoch(v) AS CASE WHEN abs(v::HUGEINT) < 100000000000 THEN TRY_CAST(v::HUGEINT * 1000000000 AS BIGINT)
       WHEN abs(v::HUGEINT) < 100000000000000 THEN v * 1000000 WHEN abs(v::HUGEINT) < 100000000000000000 THEN v * 1000 ELSE v END`,
    `ingest_epoch_us(v) AS CASE WHEN abs(v) < 1e11 THEN v * 1e6 WHEN abs(v) < 1e14 THEN v * 1e3 WHEN abs(v) < 1e17 THEN v ELSE v / 1e3 END`,
  ]
    .map(macro => `CREATE OR REPLACE TEMP MACRO ${macro}`)
    .concat(epochMacros);
}

/** The engine folds a repeated expression into one, so the pattern is matched once. */
function partsMacro(name: string, pattern: string, groups: readonly string[], sql: string): string {
  const matched = `regexp_extract(t::VARCHAR, ${sqlText(pattern)}, [${groups.map(sqlText).join(', ')}])`;
  const guarded = `CASE WHEN regexp_matches(t::VARCHAR, ${sqlText(pattern)}) THEN ${sql.replaceAll('p.', () => `${matched}.`)} END`;
  return `${name}(t) AS ${guarded}`;
}

const epochMacros = [
  'CREATE OR REPLACE TEMP MACRO ingest_epoch_real(v) AS make_timestamp_ns(TRY_CAST(round(ingest_epoch_us(v)) AS BIGINT) * 1000)',
  `CREATE OR REPLACE TEMP MACRO ingest_epoch_text(t) AS CASE WHEN regexp_full_match(t::VARCHAR, '\\d{9,19}')
     THEN make_timestamp_ns(ingest_epoch(TRY_CAST(t AS BIGINT))) WHEN regexp_full_match(t::VARCHAR, '\\d{9,10}[.]\\d{1,9}')
     THEN make_timestamp_ns(split_part(t::VARCHAR, '.', 1)::BIGINT * 1000000000 + rpad(split_part(t::VARCHAR, '.', 2), 9, '0')::BIGINT) END`,
];
