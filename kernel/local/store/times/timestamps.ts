import { present } from '../../../present.js';
import { cut } from '../../../text.js';
import { DAY, type DateOrder, EARLIEST_TIME, formatTime, LATEST_TIME, SECOND } from '../../../time.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';
import { timeAtStart } from '../readers/logs/line-times.js';
import { cells, type ReadField, type Reading } from '../readers/reading.js';
import { clockNsSql, clockPattern, type DayOfFile, dayNote } from './clocks.js';
import { beginsWithNumbers, dateAtAll, type FoundOrder, findOrder, orderMismatch } from './date-order.js';
import { epochNsOfRealSql, epochNsSql, exceedsMicrosecondsSql } from './epoch.js';
import { goTimeSql, strptimeSql } from './go-layout.js';
import { datesIn } from './numbers.js';
import { lastName, likelyNames, plainName, timeRank } from './time-names.js';
import { inZone, mayNameZone, unclearZoneHint, withoutZoneWord } from './time-zone.js';
import { consequence, type SampledColumn, sampled, timelessNote } from './timeless.js';

/** How to find the time of a row. `field` and `format` are user options; the format is a Go layout or a strptime format. */
export interface TimeOptions {
  readonly nowNs: bigint;
  readonly field?: string;
  readonly format?: string;
  /** Order of day, month and year in ambiguous dates. */
  readonly dates?: DateOrder;
  /** Time zone of texts without one (default: UTC). */
  readonly zone?: string;
  /** Date of the first time of day in rows whose times have no date. */
  readonly day?: DayOfFile;
  /**
   * Whether the rows come from a file: then the time field is detected, and numbers may be dates, such as spreadsheet serial numbers or
   * digits such as 20240201. Ingested events have their time in `_time` or the field that the request names, as documented in the API.
   */
  readonly inFile?: boolean;
  /** Whether to use all dates of the file to determine their order, because the sample was misleading. */
  readonly whole?: boolean;
}

/** Context of a search for the time field. */
interface Search {
  readonly connection: Connection;
  readonly reading: Rows;
  readonly options: TimeOptions;
}

type Rows = Pick<Reading, 'fields' | 'from' | 'sample' | 'carries'>;

/** Source of a row's time. `sql` is a TIMESTAMP_NS over the cells of a reading, null or infinite if a row has no readable time. */
export interface TimeSource {
  readonly sql: string;
  /** Field with the time, undefined if there is none. */
  readonly field?: string;
  readonly notes: readonly string[];
  /** Why the times cannot be read until the user makes a choice. */
  readonly refusal?: LocalError;
  /**
   * Whether the times are times of day, all on the first day and without a zone, to be moved to later days wherever the clock goes back.
   */
  readonly rolls?: true;
}

/** Returns the time source of a reading; throws LocalError if the named field has no times or its date order is ambiguous. */
export async function findTime(
  connection: Connection,
  reading: Rows,
  options: TimeOptions,
): Promise<TimeSource> {
  const found = await searchTime(connection, reading, options);
  if (found.refusal !== undefined) throw found.refusal;
  return found;
}

/** Like {@link findTime}, but returns an error in `refusal`; its rows have no time. */
export async function searchTime(
  connection: Connection,
  reading: Rows,
  options: TimeOptions,
): Promise<TimeSource> {
  const found = await search({ connection, reading, options });
  if (options.day?.of !== 'option' || found.rolls) return found;
  const note = '`--date` has no effect: there are no times without a date.';
  return { ...found, notes: [...found.notes, note] };
}

async function search(search: Search): Promise<TimeSource> {
  const { connection, reading, options } = search;
  if (options.field !== undefined) return namedTime(search, options.field);
  const columns = await sampled(connection, reading, ({ name }) => isTimeName(name));
  const own = columns.find(column => column.name === '_time');
  const stated = own && (await ownTime(search, own, columns));
  if (stated !== undefined) return stated;
  if (!options.inFile) return { sql: 'NULL::TIMESTAMP_NS', notes: [] };
  const found = await timeByName(search, columns);
  if (found !== undefined) return withLineTimes(search, found);
  const [zone, near] = [await zoneNote(search, columns), await nearly(search, columns)];
  return (
    (await nestedTime(search)) ??
    (await serialTime(search)) ??
    (await clockTime(search)) ?? {
      sql: 'NULL::TIMESTAMP_NS',
      notes: [zone ?? (await timelessNote(connection, reading, options.nowNs, near))],
    }
  );
}

/** Returns the seconds since 1970 before the serial number of an audit event, as written by laurel. */
async function serialTime(search: Search): Promise<TimeSource | undefined> {
  const { connection, reading } = search;
  const [column] = await sampled(connection, reading, ({ name, type }) => name === 'ID' && type === 'string');
  if (column === undefined || column.empty) return undefined;
  const all = `bool_and(regexp_full_match(${column.column}, '\\d{9,10}\\.\\d{3}:\\d+'))`;
  const [row] = await connection.run(`SELECT ${all} FROM sampled`);
  return row?.[0] === true ? readingOf(search, column) : undefined;
}

/** Returns the times of day in a field named like one. */
async function clockTime({ connection, reading, options }: Search): Promise<TimeSource | undefined> {
  const columns = await sampled(connection, reading, ({ name }) => isTimeName(name));
  const clock = await findPart(connection, columns, parts.clock);
  return clock && clockOf(clock, options);
}

function clockOf({ name, column }: SampledColumn, { day }: TimeOptions): TimeSource {
  const notes = [dayNote(name, day)];
  if (day === undefined) return { sql: 'NULL::TIMESTAMP_NS', notes };
  const sql = `make_timestamp_ns(epoch_ns(${sqlText(day.text)}::TIMESTAMP_NS) + ${clockNsSql(`${column}::VARCHAR`)})`;
  return { field: name, sql, notes, rolls: true };
}

async function timeByName(
  search: Search,
  columns: readonly SampledColumn[],
): Promise<TimeSource | undefined> {
  return (
    (await combinedTime(search, columns)) ??
    (await countedTime(search, columns)) ??
    (await guessedTime(search, columns))
  );
}

/** Returns the time in `_time`, with another field as a fallback; undefined if it has no values and there is no other field. */
async function ownTime(
  search: Search,
  own: SampledColumn,
  columns: readonly SampledColumn[],
): Promise<TimeSource | undefined> {
  const time = await readingOf(search, own);
  if (!search.options.inFile) return time;
  const { rows, present, read, example, ahead } = await countRead(search, own, time.sql);
  const others = columns.filter(column => column !== own);
  if (read * 2 > rows)
    return withOthers(search, { ...time, notes: [...time.notes, ...ahead] }, rankedByName(others));
  const found = (await timeByName(search, others)) ?? (await nestedTime(search));
  if (found === undefined) return present === 0 ? undefined : time;
  const what = present === 0 ? 'no values' : `few or no timestamps, and values such as ${example}`;
  const note = `\`_time\` has ${what}: rows without a timestamp use \`${found.field}\`.`;
  return {
    ...found,
    sql: time.refusal === undefined ? `coalesce(${time.sql}, ${found.sql})` : found.sql,
    notes: [note, ...found.notes],
  };
}

/**
 * Returns the time in a nested field named like one, if it is the only one in which most rows have times since 1990, or the outermost one
 * with a name that hardly ever means anything but the event time.
 */
async function nestedTime(search: Search): Promise<TimeSource | undefined> {
  const { connection, reading } = search;
  const isNested = ({ name }: ReadField) => name.includes('.') && timeRank(lastName(name)) >= 0;
  const columns = await sampled(connection, reading, isNested);
  const found: { readonly time: TimeSource; readonly rank: number; readonly depth: number }[] = [];
  for (const column of columns.filter(({ empty }) => !empty)) {
    const time = await readingOf(search, column);
    const { rows, plausible } = await countRead(search, column, time.sql);
    if (plausible * 2 > rows && time.refusal === undefined)
      found.push({
        time,
        rank: timeRank(lastName(column.name)),
        depth: column.name.split('.').length,
      });
  }
  const likely = found.filter(({ rank }) => rank < likelyNames);
  const least = Math.min(...likely.map(({ depth }) => depth));
  const outer = likely.filter(({ depth }) => depth === least);
  const [only, more] = outer.length === 1 ? outer : found;
  if (only === undefined || more !== undefined) return undefined;
  return { ...only.time, notes: [otherNote(only.time), ...only.time.notes] };
}

/** A field of an object within the event. */
const nested = /\.[^$]*$/;

/** Returns a note with the time field, as its name alone is not conclusive. */
function otherNote({ field }: TimeSource): string {
  return `The time comes from \`${field}\`: use another field with \`--time FIELD\`.`;
}

async function zoneNote(
  { connection }: Search,
  columns: readonly SampledColumn[],
): Promise<string | undefined> {
  const [first] = columns.filter(({ type, empty }) => type === 'string' && !empty);
  const hint = first && (await unclearZoneHint(connection, first.column, first.name));
  return hint === undefined ? undefined : `${hint} Until then, ${consequence}`;
}

/** Returns whether the name of a field suggests a time, or part of one. */
export function isTimeName(name: string): boolean {
  return (
    timeRank(name) >= 0 ||
    countedName(name) !== undefined ||
    Object.values<Part>(parts).some(({ names }) => names.includes(plainName(name)))
  );
}

/** 1990-01-01. */
const likelyFromNs = 7305n * DAY;

async function namedTime(search: Search, field: string): Promise<TimeSource> {
  const { connection, reading, options } = search;
  const { format } = options;
  const [column] = await sampled(connection, reading, ({ name }) => name === field);
  if (!column) throw unknownField(reading.fields, field);
  const found = format === undefined ? await readingOf(search, column) : formatted(column, format);
  const { present, read, plausible, example, ahead } = await countRead(search, column, found.sql);
  const notes = plausible * 2 <= read ? [oldNote(field, example)] : ahead;
  if (read > 0 && options.inFile) return { ...found, notes: [...found.notes, ...notes] };
  if (read > 0 || present === 0) return found;
  const clock =
    options.inFile && (await findPart(connection, [column], { ...parts.clock, names: [plainName(field)] }));
  if (clock) return clockOf(clock, options);
  throw new LocalError(
    'invalid',
    'time-unreadable',
    `No value in \`${field}\` can be read as a timestamp, for example ${example}.`,
    {
      hint: 'Use RFC 3339, seconds, ms, µs or ns since 1970, or the format of Apache logs, syslog or RFC 1123.',
    },
  );
}

function oldNote(field: string, example: string): string {
  return `Most times in \`${field}\` are before 1990, such as ${example}: check the field and its unit.`;
}

function unknownField(columns: readonly ReadField[], field: string): LocalError {
  const known = columns.slice(0, 20).map(each => `\`${cut(each.name, longestShown)}\``);
  return new LocalError(
    'invalid',
    'time-field-unknown',
    `There is no field \`${field}\` to read the time from.`,
    {
      hint: `The fields are ${known.join(', ')}${columns.length > 20 ? ', …' : ''}.`,
    },
  );
}

/**
 * Returns the time in a field named like one if most of its values are times, and recent ones if numeric: a small number is more likely a
 * duration. Prefers the first field that most rows have, otherwise the one that the most rows have; a field within an object only as a
 * last resort.
 */
async function guessedTime(
  search: Search,
  columns: readonly SampledColumn[],
): Promise<TimeSource | undefined> {
  let most: { readonly found: TimeSource; readonly read: number } | undefined;
  const ranked = rankedByName(columns);
  for (const column of ranked) {
    if (most !== undefined && nested.test(column.name)) break;
    const found = await readingOf(search, column);
    const { rows, present, read, plausible, ahead } = await countRead(search, column, found.sql);
    if ((isNumeric(column) ? plausible : read) * 2 <= present) continue;
    if (most === undefined || read > most.read || read * 2 > rows)
      most = { found: { ...found, notes: [...found.notes, ...ahead] }, read };
    if (read * 2 > rows) break;
  }
  if (most === undefined) return undefined;
  const notes = nested.test(most.found.field ?? '') ? [otherNote(most.found)] : [];
  return withOthers(search, { ...most.found, notes: [...notes, ...most.found.notes] }, ranked);
}

/** Adds other fields named like a time as fallbacks for sampled rows without one, such as other kinds of events. */
async function withOthers(
  search: Search,
  first: TimeSource,
  others: readonly SampledColumn[],
): Promise<TimeSource> {
  const { connection } = search;
  const further = others.filter(({ name }) => name !== first.field);
  if (further.length === 0 || first.refusal !== undefined) return first;
  const timeless = async (sql: string) => {
    const [row] = await connection.run(
      `SELECT count(*) FILTER (NOT coalesce(isfinite(${sql}), false)) FROM sampled`,
    );
    return Number(row?.[0]);
  };
  let [time, missing] = [first, await timeless(first.sql)];
  const added: string[] = [];
  for (const column of further) {
    if (missing === 0) break;
    const other = await readingOf(search, column);
    const { present, read, plausible, ahead } = await countRead(search, column, other.sql);
    if (other.refusal !== undefined || (isNumeric(column) ? plausible : read) * 2 <= present) continue;
    const sql = `coalesce(${time.sql}, ${other.sql})`;
    const left = await timeless(sql);
    if (left === missing) continue;
    missing = left;
    added.push(`\`${column.name}\``);
    time = { ...time, sql, notes: [...time.notes, ...other.notes, ...ahead] };
  }
  if (added.length === 0) return time;
  const note = `Rows without a timestamp in \`${first.field}\` use ${added.join(', else ')}.`;
  return { ...time, notes: [...time.notes, note] };
}

/** Adds the times at the beginning of text lines between objects. */
function withLineTimes({ reading, options }: Search, found: TimeSource): TimeSource {
  const index = reading.fields.findIndex(({ name, type }) => name === 'message' && type === 'string');
  if (reading.carries !== true || index < 0 || found.refusal !== undefined) return found;
  const text = timeAtStart(`c${index}`);
  const time = `make_timestamp_ns(apl_event_time(nullif(${text}, ''), ${options.nowNs}::BIGINT, ''))`;
  const own = options.zone === undefined ? time : inZone(time, text, options.zone);
  return { ...found, sql: `coalesce(${found.sql}, ${own})` };
}

/** Returns the fields named like a time, likeliest first. */
function rankedByName(columns: readonly SampledColumn[]): readonly SampledColumn[] {
  return columns
    .map(column => ({ column, rank: timeRank(column.name) }))
    .filter(each => each.rank >= 0 && !each.column.empty)
    .sort((a, b) => Number(a.column.ofDirectory) - Number(b.column.ofDirectory) || a.rank - b.rank)
    .map(({ column }) => column);
}

function isNumeric({ type }: SampledColumn): boolean {
  return type === 'long' || type === 'real' || type === 'timespan';
}

/** Returns a note on why the numbers of the likeliest time field do not count as times, undefined if there is none. */
async function nearly(search: Search, columns: readonly SampledColumn[]): Promise<string | undefined> {
  for (const column of rankedByName(columns).filter(isNumeric)) {
    const found = await readingOf(search, column);
    const { present, read, example } = await countRead(search, column, found.sql);
    if (read * 2 > present)
      return `\`${column.name}\` is named like a timestamp, but most of its numbers, such as ${example}, would be before 1990: use them anyway with \`--time ${column.name}\`.`;
  }
  return undefined;
}

async function readingOf(search: Search, column: SampledColumn): Promise<TimeSource> {
  const { name: field, column: value } = column;
  const dates = await numberedTime(search, column);
  if (dates !== undefined) return dates;
  const instant = (sql: string) => ({ field, sql, notes: unzonedNotes(search.options, field) });
  switch (column.type) {
    case 'datetime':
      return instant(value);
    case 'long':
    case 'timespan':
      return instant(`make_timestamp_ns(${epochNsSql(value)})`);
    case 'real': {
      const found = instant(`make_timestamp_ns(${epochNsOfRealSql(value)})`);
      return { ...found, notes: [...found.notes, ...(await roundedNotes(search.connection, field, value))] };
    }
    case 'string':
      return readText(search, field, value);
    case 'dynamic':
      return readText(search, field, `if(starts_with(${value}, '"'), ${value}::JSON->>'$', ${value})`);
    case 'bool':
      return { field, sql: 'NULL::TIMESTAMP_NS', notes: [] };
  }
}

/** Returns a note that times lose digits: a double has no nanoseconds at this magnitude. */
async function roundedNotes(
  connection: Connection,
  field: string,
  value: string,
): Promise<readonly string[]> {
  const [row = []] = await connection.run(
    `SELECT any_value(${value}::VARCHAR) FILTER (${exceedsMicrosecondsSql(value)}) FROM sampled`,
  );
  return row[0] === null
    ? []
    : [
        `Times in \`${field}\` are rounded to microseconds, the precision of reals such as ${String(row[0])}: use text or integers to keep nanoseconds.`,
      ];
}

/** Returns a note that the times of a field need no zone: they have an offset, or are not text. */
function unzonedNotes({ zone }: TimeOptions, field: string): readonly string[] {
  return zone === undefined
    ? []
    : [`\`--zone\` has no effect: times in \`${field}\` have an offset or are not text.`];
}

/** Returns the time in a field of numeric dates, if the user named it or its name contains "date": small numbers may be durations. */
async function numberedTime(search: Search, column: SampledColumn): Promise<TimeSource | undefined> {
  const { name: field, type, column: value } = column;
  const { inFile, field: named, zone, nowNs } = search.options;
  const isDate = named !== undefined || plainName(field).includes('date');
  if (!inFile || !isDate || (type !== 'long' && type !== 'real')) return undefined;
  const found = await datesIn(search.connection, value, nowNs);
  if (found === undefined) return undefined;
  const sql = zone === undefined ? found.sql : inZone(found.sql, "''", zone);
  return { field, sql, notes: [`Numbers in \`${field}\` are read as ${found.as}.`] };
}

/** Formats that the engine reads natively, fastest first; JavaScript reads the rest. */
const textReaders: readonly ((text: string) => string)[] = [
  text => `TRY_CAST(${text} AS TIMESTAMP_NS)`,
  text => `TRY_CAST(replace(${text}, ',', '.') AS TIMESTAMP_NS)`,
  text =>
    `make_timestamp_ns(CASE WHEN regexp_full_match(${text}, '\\d{10}|\\d{13}|\\d{16}|\\d{19}') THEN ${epochNsSql(`TRY_CAST(${text} AS BIGINT)`)} END)`,
  accessTime,
  // As .NET and PowerShell write times in JSON.
  text =>
    `make_timestamp_ns(TRY_CAST(1000000::HUGEINT * TRY_CAST(regexp_extract(${text}, '^/Date\\((-?\\d{1,15})([+-]\\d{4})?\\)/$', 1) AS BIGINT) AS BIGINT))`,
];

/**
 * Returns the SQL of an access log time, for years 19xx and 20xx only, as the engine would fail beyond the range of nanoseconds. Casting
 * from a time with a zone, and trimming every text, would take three times as long.
 */
function accessTime(text: string): string {
  const bare = `CASE WHEN ${text} GLOB '[0-9]*[0-9]' THEN ${text} ELSE trim(${text}, '[]') END`;
  const us = `epoch_us(try_strptime(${bare}, '%d/%b/%Y:%H:%M:%S %z'))`;
  return `CASE WHEN ${text} GLOB '*/[12][09]??:*' THEN make_timestamp_ns(TRY_CAST(1000::HUGEINT * ${us} AS BIGINT)) END`;
}

/** Numeric month and day as in logcat; in other formats the order may be reversed. */
const monthAndDay = '\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3}';

/** Letters of any language: the Unicode class takes the engine twenty times as long to compile. */
const letters = '[^\\d\\s[:punct:]]{3,9}';

const yearless = [
  monthAndDay,
  `\\d{1,2} ${letters}\\.? \\d{1,2}:\\d{2}:\\d{2}([.,]\\d{1,9})?( [AP]M)?`,
  `([A-Z]{3,5} )?${letters}\\.?\\s+\\d{1,2}\\s+\\d{1,2}:\\d{2}:\\d{2}([.,]\\d{1,9})?( [AP]M)?`,
  '(\\d{4} |\\d{2}/\\d{2}-)\\d{2}:\\d{2}:\\d{2}\\.\\d{6}',
].join('|');

function someMatch(text: string, pattern: string): string {
  return some(`regexp_full_match(${text}, ${sqlText(pattern)})`);
}

function some(condition: string): string {
  return `coalesce(bool_or(${condition}), false)`;
}

async function readText(search: Search, field: string, text: string): Promise<TimeSource> {
  const { connection, options } = search;
  const [row = []] = await connection.run(
    `SELECT count(${text}), ${someMatch(text, yearless)}, ${someMatch(text, monthAndDay)}, ${some(beginsWithNumbers(text))}, ${some(mayNameZone(text))} FROM sampled`,
  );
  const [, , , isNumbered, mayBeUnclear] = row;
  const quick = await bestReader(connection, text, Number(row[0]));
  const { order = '', notes, refusal } = await orderIn(search, field, text, isNumbered === true);
  const isLooked = options.zone === undefined && mayBeUnclear === true;
  const unclear = isLooked ? await unclearZoneHint(connection, text, field) : undefined;
  const checked = options.dates === undefined && !options.whole;
  const timeIn = (value: string) => {
    const ordered = `apl_event_time(${value}, ${options.nowNs}::BIGINT, ${sqlText(order)})`;
    return checked ? `coalesce(${ordered}, ${orderMismatch(value)})` : ordered;
  };
  const slow =
    options.zone === undefined ? timeIn(text) : `coalesce(${timeIn(text)}, ${timeIn(withoutZoneWord(text))})`;
  const numbered = order === 'dmy' || order === 'mdy' ? `${numberedSql(text, order)}, ` : '';
  const read = `coalesce(${quick}, ${numbered}make_timestamp_ns(${refusal === undefined ? slow : dateAtAll(text, options.nowNs)}))`;
  return {
    field,
    sql: options.zone === undefined ? read : inZone(read, text, options.zone),
    notes: [
      ...(row[1] === true ? [yearNote(`\`${field}\``)] : []),
      ...(row[2] === true ? [`\`${field}\` is read as month and day.`] : []),
      ...(unclear === undefined ? [] : [unclear]),
      ...notes,
    ],
    ...present({ refusal }),
  };
}

/** Returns the SQL of a common text with a numeric date, null for any other: the engine takes a tenth of the time of JavaScript. */
function numberedSql(text: string, order: 'dmy' | 'mdy'): string {
  const usual = '(\\d{1,2})[-/.](\\d{1,2})[-/.](\\d{4}) (\\d{1,2}:\\d{2}:\\d{2})([.,]\\d{1,6})?( [AP]M)?';
  const dashed = `regexp_replace(${text}, ${sqlText(usual)}, '\\1-\\2-\\3 \\4\\6')`;
  const date = order === 'dmy' ? '%d-%m-%Y' : '%m-%d-%Y';
  const formats = ['%H:%M:%S', '%I:%M:%S %p'].map(clock => sqlText(`${date} ${clock}`)).join(', ');
  const fraction = `coalesce(TRY_CAST(replace('0' || nullif(regexp_extract(${text}, ${sqlText(usual)}, 5), ''), ',', '.') AS DECIMAL(9, 6)), 0)`;
  const time = `epoch_us(try_strptime(${dashed}, [${formats}])) + (${fraction} * 1000000)::BIGINT`;
  return `CASE WHEN regexp_full_match(${text}, ${sqlText(usual)}) THEN make_timestamp_ns(1000 * (${time})) END`;
}

async function orderIn(
  { connection, reading, options }: Search,
  field: string,
  text: string,
  isNumbered: boolean,
): Promise<FoundOrder> {
  if (options.dates !== undefined) return { order: options.dates, notes: [] };
  if (!isNumbered && options.whole !== true) return { notes: [] };
  const file = `(${cells(reading.fields, reading.from)})`;
  const { whole = false, inFile = false } = options;
  return findOrder(connection, field, text, { sample: 'sampled', file, whole, inFile });
}

/** Returns the SQL of the engine's best reader for a sample: the first that reads all values, otherwise the one that reads the most. */
async function bestReader(connection: Connection, text: string, present: number): Promise<string> {
  let best = { sql: '', read: -1 };
  for (const reader of textReaders) {
    const sql = reader(text);
    const [row] = await connection.run(`SELECT count(${sql}) FROM sampled`);
    const read = Number(row?.[0]);
    if (read > best.read) best = { sql, read };
    if (read === present) break;
  }
  return best.sql;
}

function formatted(column: SampledColumn, format: string): TimeSource {
  const text = `${column.column}::VARCHAR`;
  const sql = format.includes('%') ? strptimeSql(text, format) : goTimeSql(text, format);
  return { field: column.name, sql, notes: [] };
}

/** Maximum length of a name or value in a message, in characters. */
const longestShown = 80;

interface ReadCount {
  readonly rows: number;
  readonly present: number;
  readonly read: number;
  readonly plausible: number;
  /** A value, before 1990 if some time is. */
  readonly example: string;
  /** A note on the latest time if it is more than a year ahead and its year has two digits. */
  readonly ahead: readonly string[];
}

async function countRead(
  { connection, options }: Search,
  { name, column }: Pick<SampledColumn, 'name' | 'column'>,
  sql: string,
): Promise<ReadCount> {
  const text = `${column}::VARCHAR`;
  const isLikely = `t > make_timestamp_ns(${likelyFromNs})`;
  const isAhead = `isfinite(t) AND t > make_timestamp_ns(${options.nowNs + 366n * DAY}) AND NOT regexp_matches(${text}, '\\d{4}')`;
  const [row = []] = await connection.run(
    `SELECT count(${column}), count(*) FILTER (isfinite(t)), count(*) FILTER (isfinite(t) AND ${isLikely}),
       coalesce(any_value(${text}) FILTER (NOT ${isLikely}), any_value(${text})), count(*),
       max_by(${text}, t) FILTER (${isAhead}), epoch_ns(max(t) FILTER (${isAhead}))
     FROM (SELECT *, ${sql} AS t FROM sampled)`,
  );
  const [present, read, plausible, example, rows, latest, latestNs] = row;
  return {
    rows: Number(rows),
    present: Number(present),
    read: Number(read),
    plausible: Number(plausible),
    example: quoted(example),
    ahead: typeof latestNs === 'bigint' ? [aheadNote(name, quoted(latest), latestNs)] : [],
  };
}

function quoted(value: unknown): string {
  return JSON.stringify(cut(String(value), longestShown));
}

function aheadNote(field: string, text: string, ns: bigint): string {
  return `Times in \`${field}\` are as late as ${formatTime(ns)}, from ${text}: the two-digit years 00 to 68 are read as 2000 to 2068.`;
}

// ---- a time spread over several columns ----

/** Name pairs of seconds since 1970 and additional nanoseconds, after a common prefix. */
const counted = [
  // Log4j's JSON layout.
  { seconds: 'epochsecond', nanos: 'nanoofsecond' },
  // A Protocol Buffers timestamp as JSON.
  { seconds: 'seconds', nanos: 'nanos' },
];

/** Returns the prefix and last word of a name that is part of such a pair. */
function countedName(name: string): { readonly prefix: string; readonly word: string } | undefined {
  const [, prefix = '', word = ''] = /^(.*?)([^.]+)$/.exec(name) ?? [];
  const plain = plainName(word);
  const isPart = counted.some(({ seconds, nanos }) => plain === seconds || plain === nanos);
  return isPart && prefix !== '' ? { prefix, word: plain } : undefined;
}

/** Returns the time in the first pair of integer fields, to the nanosecond. */
async function countedTime(
  search: Search,
  columns: readonly SampledColumn[],
): Promise<TimeSource | undefined> {
  const whole = columns.filter(({ type, empty }) => type === 'long' && !empty);
  for (const first of whole) {
    const name = countedName(first.name);
    const pair = counted.find(({ seconds }) => seconds === name?.word);
    const second = whole.find(each => {
      const other = countedName(each.name);
      return other?.prefix === name?.prefix && other?.word === pair?.nanos;
    });
    if (pair === undefined || second === undefined) continue;
    const nanos = `TRY(${first.column} * ${SECOND} + coalesce(${second.column}, 0))`;
    const sql = `make_timestamp_ns(CASE WHEN ${nanos} BETWEEN ${EARLIEST_TIME} AND ${LATEST_TIME} THEN ${nanos} END)`;
    const { present, plausible } = await countRead(search, first, sql);
    if (plausible * 2 <= present) continue;
    const field = `${first.name}, ${second.name}`;
    const note = `The time is combined from \`${first.name}\` and \`${second.name}\`.`;
    return { field, sql, notes: [note, ...unzonedNotes(search.options, field)] };
  }
  return undefined;
}

interface Part {
  readonly names: readonly string[];
  readonly pattern: string;
}

const parts = {
  clock: {
    names: ['time', 'timeofday', 'clock', 'timelocal', 'uhrzeit', 'zeit', 'hora', 'ora', 'heure'],
    pattern: clockPattern,
  },
  date: {
    names: ['date', 'day', 'datelocal', 'datum', 'fecha', 'data'],
    pattern: '\\d{4}[-/.]\\d{2}[-/.]\\d{2}|\\d{1,2}[-/.]\\d{1,2}[-/.](\\d{4}|\\d{2})',
  },
  month: {
    names: ['month', 'mon', 'date'],
    pattern: '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*',
  },
  day: { names: ['day', 'mday', 'date'], pattern: '\\d{1,2}' },
  year: { names: ['year'], pattern: '\\d{4}' },
  // As in Fortinet firewall logs.
  zone: { names: ['tz', 'timezone', 'tzoffset', 'utcoffset'], pattern: '[+-]\\d{2}:?\\d{2}|Z|UTC|GMT' },
} satisfies Record<string, Part>;

async function combinedTime(
  search: Search,
  columns: readonly SampledColumn[],
): Promise<TimeSource | undefined> {
  const find = (part: Part) => findPart(search.connection, columns, part);
  const clock = await find(parts.clock);
  if (!clock) return undefined;
  const date = await find(parts.date);
  if (date) return combination(search, columns, [date, clock]);
  const month = await find(parts.month);
  const day = await find(parts.day);
  if (!month || !day) return undefined;
  const year = await find(parts.year);
  if (!year) return combination(search, columns, [month, day, clock]);
  return combination(search, columns, [year, month, day, clock], [month, day, year, clock]);
}

/** Returns the time from several columns; `columns` are in display order, `written` in the order of the parsed text. */
async function combination(
  search: Search,
  all: readonly SampledColumn[],
  columns: readonly SampledColumn[],
  written: readonly SampledColumn[] = columns,
): Promise<TimeSource> {
  const field = columns.map(column => column.name).join(', ');
  const zone = await findPart(search.connection, all, parts.zone);
  const offset = zone && ` || coalesce(' ' || ${zone.column}, '')`;
  const text = `(${written.map(({ column }) => `${column}::VARCHAR`).join(` || ' ' || `)}${offset ?? ''})`;
  const { notes, ...read } = await readText(search, field, text);
  const names = [...columns, ...(zone ? [zone] : [])].map(column => `\`${column.name}\``).join(', ');
  const { ahead } = await countRead(search, { name: field, column: text }, read.sql);
  return { ...read, notes: [`The time is combined from ${names}.`, ...notes, ...ahead] };
}

async function findPart(
  connection: Connection,
  columns: readonly SampledColumn[],
  { names, pattern }: Part,
): Promise<SampledColumn | undefined> {
  for (const name of names) {
    const column = columns.find(each => plainName(each.name) === name && !each.empty);
    if (!column) continue;
    const [row] = await connection.run(
      `SELECT avg(regexp_full_match(${column.column}::VARCHAR, ${sqlText(pattern)})::INTEGER) FROM sampled`,
    );
    if (Number(row?.[0]) > 0.5) return column;
  }
  return undefined;
}

function yearNote(source: string): string {
  return `${source} has no year: each time is assumed to be within the twelve months before the import.`;
}
