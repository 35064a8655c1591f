import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { LogFormat } from '../../../../api/logs/log-format.js';
import { present } from '../../../../present.js';
import { plural } from '../../../../text.js';
import type { Connection } from '../../../engine/duckdb.js';
import { LocalError } from '../../../local-errors.js';
import { isTimeName } from '../../times/timestamps.js';
import { lineReader } from '../line-reader.js';
import { packingOf } from '../packing.js';
import { countRefused, readTexts } from '../reader-texts.js';
import { distinctNames, keep, type Reading } from '../reading.js';
import { rowsInSample } from '../sample.js';
import { packedBegin, unpacked } from '../unpacked.js';
import { headedParts } from './headed.js';
import { findLineClock, findLineTime, timeInLine, timeOfLine } from './line-times.js';
import { writeEvents } from './log-events.js';
import { keysOf, pairValue, withPairs } from './log-pairs.js';
import { shapeParts } from './log-shapes.js';
import type { Parts } from './parts.js';

/** A file of log lines, with a directory for drafts, which are removed after the import. */
export interface LogSource {
  readonly file: string;
  /** File name in messages. */
  readonly name: string;
  readonly workDir: string;
}

/** Reads log lines: the fields of the format, and `line` with the whole line if part of it is in none of them. */
export async function readLines(
  connection: Connection,
  source: LogSource,
  format: LogFormat,
): Promise<Reading | undefined> {
  const file = await withWholeEvents(source, format);
  const raw = lineReader(file, 'fast');
  const begin = await packedBegin(file, source.workDir);
  const rows = await rowsInSample(begin ?? file);
  const first = begin === undefined ? raw : lineReader(begin, 'fast');
  await keep(connection, 'raw', `SELECT l FROM ${first} WHERE l IS NOT NULL LIMIT ${rows}`);
  const [[count = 0] = []] = await connection.run('SELECT count(*) FROM raw');
  if (Number(count) === 0) return undefined;
  const sample = { lines: Number(count), isWhole: Number(count) < rows && (await isSmall(file)) };
  const found = await partsOf(connection, format, raw, sample);
  if (found === undefined) throw unfit(source.name, format, Number(count), Number(count) === rows);
  const {
    names,
    columns,
    rows: taken,
    whole = '',
    notes = [],
  } = await timed(connection, found, format, sample);
  const distinct = distinctNames(names);
  const texts = (from: string) =>
    `(SELECT ${columns.map((sql, index) => `nullif(${sql}, '') AS t${index}`).join(', ')} FROM (${taken(from)}))`;
  await keep(connection, 'sample', `SELECT * FROM ${texts('raw')}`);
  const careful = lineReader(file, 'careful');
  return readTexts(connection, {
    names: distinct,
    fast: texts(raw),
    careful: texts(careful),
    refused: () => countRefused(connection, careful),
    notes: [format.reading.kind === 'text' ? plainNote : `The lines are read as ${format.label}.`, ...notes],
    ...present({ whole: distinct[names.lastIndexOf(whole)] }),
  });
}

/** Returns the file, or a copy with multiline events joined. */
async function withWholeEvents({ file, workDir }: LogSource, { reading }: LogFormat): Promise<string> {
  if (reading.kind !== 'lines' || reading.begins === undefined) return file;
  const target = path.join(workDir, `${crypto.randomUUID()}.events`);
  await writeEvents(await unpacked(file, workDir), target, reading.begins);
  return target;
}

/** Returns the error for an explicit format that no line has: nothing is imported. */
function unfit(name: string, format: LogFormat, lines: number, isSample: boolean): LocalError {
  const counted = isSample ? `the first ${plural(lines, 'line')}` : plural(lines, 'line');
  return new LocalError('invalid', 'format-unfit', `0 of ${counted} of ${name} are ${format.label}.`, {
    hint: 'Omit the format to detect it, or import the file as text, with each line in one field.',
  });
}

const plainNote =
  'The file is plain text, with each line in the field `line`. Split it with `parse`, for example `| parse line with * "status=" status:long " " *`, or import it with a format or pattern.';

/** The lines of the table `raw`: the beginning of a file, or all of it. */
interface LineSample {
  readonly lines: number;
  readonly isWhole: boolean;
}

/** Whether a file is so small that it has no long line, and every line reader reads all of it. */
async function isSmall(file: string): Promise<boolean> {
  return (await packingOf(file)) === undefined && (await stat(file)).size < smallBytes;
}

const smallBytes = 2 ** 20;

async function partsOf(
  connection: Connection,
  { reading }: LogFormat,
  raw: string,
  sample: LineSample,
): Promise<Parts | undefined> {
  switch (reading.kind) {
    case 'lines':
      return shapeParts(connection, reading, sample.isWhole);
    case 'headed':
      return headedParts(connection, reading, raw);
    case 'pairs':
      return pairParts(connection, sample);
    default:
      return textParts(connection);
  }
}

const asTheyAre = (from: string) => `SELECT l FROM ${from} WHERE l IS NOT NULL`;

/** Returns the line, and the time or time of day at its beginning if lines of the sample have one. */
async function textParts(connection: Connection): Promise<Parts> {
  const time = await findLineTime(connection);
  const clock = time === undefined ? await findLineClock(connection) : undefined;
  if (clock !== undefined) return { names: ['line', 'time_of_day'], columns: ['l', clock], rows: asTheyAre };
  if (time === undefined) return { names: ['line'], columns: ['l'], rows: asTheyAre };
  return { names: ['line', '_time'], columns: ['l', time.sql], rows: asTheyAre, notes: time.notes };
}

/** Returns the keys of the sample, and the whole line, as later lines may have other keys. */
async function pairParts(connection: Connection, { lines, isWhole }: LineSample): Promise<Parts> {
  const rows = (from: string) => withPairs(asTheyAre(from), 'l', 'logfmt');
  const found = await keysOf(connection, withPairs('SELECT l, rowid AS n FROM raw', 'l', 'logfmt'));
  const keys = [...found.keys()];
  // A line without pairs may begin with its time, or contain it, as a JSON object does.
  const timeKey = keys.find(isTimeName);
  const ofOthers = `CASE WHEN len(list_filter(ks, lambda k: k <> '')) = 0 THEN ${timeInLine} ELSE ${timeOfLine} END`;
  const textOf = (name: string) => {
    const value = pairValue(name);
    const isInAll = isWhole && found.get(name) === lines;
    return name === timeKey && !isInAll ? `coalesce(${value}, ${ofOthers})` : value;
  };
  return { names: [...keys, 'line'], columns: [...keys.map(textOf), 'l'], rows };
}

/** Adds `_time` if the fields with the time have names that do not show it. */
async function timed(
  connection: Connection,
  parts: Parts,
  format: LogFormat,
  { lines, isWhole }: LineSample,
): Promise<Parts> {
  const { time, timeAsInText, reading } = format;
  if (timeAsInText) return withTimeOfText(connection, parts);
  if (time === undefined) return parts;
  const columnsOf = (names: readonly string[]) =>
    names.flatMap(name => parts.columns[parts.names.indexOf(name)] ?? []);
  const fields = columnsOf(time);
  // Another field holds the event time, which takes precedence over the time of sending or any time within the line.
  if (fields.length === 0 && parts.names.some(isTimeName)) return parts;
  const inLine = reading.kind === 'lines' ? [...fields, ...columnsOf(['syslog_time'])] : fields;
  const withTime = async (sources: readonly string[], fewest: number): Promise<Parts | undefined> => {
    if (sources.length === 0) return undefined;
    const sql = `coalesce(${sources.map(source => `nullif(${source}, '')`).join(', ')})`;
    const [[count = 0] = []] = await connection.run(`SELECT count(${sql}) FROM (${parts.rows('raw')})`);
    if (Number(count) < fewest) return undefined;
    return { ...parts, names: [...parts.names, '_time'], columns: [...parts.columns, sql] };
  };
  if (reading.kind !== 'lines') return (await withTime(inLine, 1)) ?? parts;
  const ofFields = isWhole ? await withTime(inLine, lines) : undefined;
  return ofFields ?? (await withTime([...inLine, timeInLine], 1)) ?? parts;
}

async function withTimeOfText(connection: Connection, parts: Parts): Promise<Parts> {
  const found = await findLineTime(connection);
  if (found === undefined) return parts;
  const { names, columns, notes = [] } = parts;
  return {
    ...parts,
    names: [...names, '_time'],
    columns: [...columns, found.sql],
    notes: [...notes, ...found.notes],
  };
}
