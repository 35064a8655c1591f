import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { LogFormat } from '../../api/logs/log-format.js';
import { fileFormats, plainText } from '../../api/logs/log-formats.js';
import type { ImportReport, ImportRequest } from '../../api/wire.js';
import { serviceTypes } from '../../apl/catalog/entry.js';
import { present } from '../../present.js';
import { formatCount, plural } from '../../text.js';
import { dateOrders } from '../../time.js';
import { sqlName, sqlText } from '../duckdb/duckdb-literal.js';
import type { Connection, Engine } from '../engine/duckdb.js';
import { EngineError, engineWords } from '../engine/engine-failure.js';
import { columnNames, copyToParquet, type FileField } from '../engine/engine-parquet.js';
import type { RequestContext, Watch } from '../engine/engine-request.js';
import { LocalError } from '../local-errors.js';
import type { RawObject } from './append/append-events.js';
import { withLabels } from './append/append-labels.js';
import { type ImportEngines, openEngine } from './append/import-engines.js';
import { firstBytes, type InspectedFile, inspectFile, shortLine } from './bounds/bounded-file.js';
import { whileFiles } from './bounds/bounded-names.js';
import { longestLine, mostLevels, valueTooLong } from './bounds/bounded-text.js';
import { type DraftFacts, factsOf } from './dataset/draft-facts.js';
import type { Extent } from './dataset/stored.js';
import type { DatasetStore } from './datasets.js';
import { type CsvOptions, readCsv } from './readers/csv.js';
import { readJson } from './readers/json.js';
import { readLines } from './readers/logs/log-lines.js';
import { failureOf } from './readers/parquet/parquet-damage.js';
import { readParquet, rowsInParquet } from './readers/parquet/parquet-reader.js';
import { cells, doubtOf, type ReadField, type Reading } from './readers/reading.js';
import { rowsByLines, spreadSample } from './readers/sample.js';
import { unpacked } from './readers/unpacked.js';
import type { Prepared } from './sources/joined.js';
import { Originals } from './sources/originals.js';
import { prepare } from './sources/prepared.js';
import { importable } from './sources/private.js';
import { notUtf8Note, repairText, replaceReturns, unifyLineEnds } from './sources/repaired.js';
import { type FoundFiles, filesOf } from './sources/source-files.js';
import {
  damageOf,
  emptyFile,
  type FileFormat,
  formatOf,
  formatOfLog,
  noSuchFile,
  unreadableFile,
} from './sources/source-formats.js';
import { hasCode } from './store-files.js';
import { carryTimes, rollDays } from './times/carried-times.js';
import { dayInName } from './times/clocks.js';
import { isOrderMismatch } from './times/date-order.js';
import { sortByTime } from './times/sorted-times.js';
import { twiceNotes } from './times/time-zone.js';
import { findTime, searchTime, type TimeOptions, type TimeSource } from './times/timestamps.js';

/** Imports a local file into a dataset; `context` can cancel the import and receives its progress. Throws LocalError. */
export async function importFile(
  store: DatasetStore,
  dataDir: string,
  request: ImportRequest,
  nowNs: bigint,
  context: RequestContext = {},
): Promise<ImportReport> {
  store.checkName(request.dataset);
  const work = async () => {
    const source = await openSource(dataDir, request, context.signal, store.engines);
    const imported = importSource(store, source, request, nowNs, context);
    const failure = await imported.then(
      () => undefined,
      (error: unknown) => error,
    );
    await store.engines.release(source.engine, failure);
    return imported;
  };
  return request.replace ? store.inTurn(request.dataset, work) : work();
}

/** A local file, or several read as one, with the engine that reads it. */
export interface Source extends Prepared {
  /** Name in messages. */
  readonly name: string;
  readonly format: FileFormat;
  readonly engine: Engine;
  readonly originals: Originals;
}

/** Opens files for an import, with a new engine or a spare one. Throws LocalError. */
export async function openSource(
  dataDir: string,
  request: Pick<ImportRequest, 'path' | 'format' | 'pattern' | 'encoding' | 'list' | 'zone'>,
  signal?: AbortSignal,
  engines?: ImportEngines,
): Promise<Source> {
  const found = await filesOf(request.path);
  return whileFiles(
    () => found.files,
    signal,
    signal => openFiles(dataDir, request, found, signal, engines),
  );
}

async function openFiles(
  dataDir: string,
  request: Parameters<typeof openSource>[1],
  found: FoundFiles,
  signal: AbortSignal,
  engines: ImportEngines | undefined,
): Promise<Source> {
  const files = await Promise.all(found.files.map(file => publicFile(file, dataDir)));
  const originals = new Originals(files);
  const engine = await (engines?.open(files) ?? openEngine(dataDir, files));
  try {
    const prepared = await prepare(engine, files, request, signal);
    const { log } = prepared;
    const format = log ? formatOfLog(log) : await formatOf(prepared.file, prepared.ending, request);
    const notes = [...found.notes, ...prepared.notes];
    const file = (await engines?.near(engine, prepared.file)) ?? prepared.file;
    return { ...prepared, file, notes, name: path.basename(request.path), format, engine, originals };
  } catch (error) {
    await (engines?.release(engine, error) ?? engine.close());
    const failure = originals.failure(error);
    if (failure instanceof LocalError) throw failure;
    const damages = await Promise.all(files.map(file => damageOf(file, signal)));
    throw damages.find(damage => damage !== undefined) ?? failure;
  }
}

/** Returns the resolved path of a file, so that the file checked is the one read; throws LocalError if it must not be imported. */
async function publicFile(file: string, dataDir: string): Promise<string> {
  const found = await importable(file, dataDir).catch(error => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw noSuchFile(file);
    if (hasCode(error, 'EACCES', 'EPERM', 'ELOOP')) throw unreadableFile(file, error);
    throw error;
  });
  if ('path' in found) return found.path;
  throw new LocalError('invalid', 'private-file', `${file} ${found.refusal}, so it cannot be imported.`, {
    hint: found.hint,
  });
}

/** Imports the file of a source, like {@link importFile}, without closing the engine. */
export async function importSource(
  store: DatasetStore,
  source: Source,
  request: ImportRequest,
  nowNs: bigint,
  context: RequestContext = {},
): Promise<ImportReport> {
  return whileFiles(
    () => source.originals.files,
    context.signal,
    signal => importOpened(store, source, request, nowNs, { ...context, signal }),
  );
}

async function importOpened(
  store: DatasetStore,
  source: Source,
  request: ImportRequest,
  nowNs: bigint,
  context: RequestContext,
): Promise<ImportReport> {
  const { file, name, format, engine, notes, originals } = source;
  const load = {
    ...loadOf(source, request, nowNs),
    replace: request.replace === true,
    damage: whenAsked(format.kind === 'json', () => damageOf(file, context.signal)),
  };
  const before = await store.extent(request.dataset);
  const stored = await storeFile(store, engine, load, context).catch(error => {
    throw originals.failure(error);
  });
  if (stored.rows === 0) throw emptyFile(name);
  const noted = { ...stored, notes: [...originals.notes(), ...notes, ...stored.notes] };
  return report(request.dataset, noted, before, await store.extent(request.dataset));
}

/** Returns a function with the result of some work, which begins now or with the first call, and is done once. */
function whenAsked<T>(now: boolean, work: () => Promise<T>): () => Promise<T> {
  let result = now ? work() : undefined;
  return () => {
    result ??= work();
    return result;
  };
}

/** Returns what to load from a source for a request. */
export function loadOf(
  { file, parts, name, format, originals }: Source,
  request: ImportRequest,
  nowNs: bigint,
): Load {
  const isOneFile = originals.files.length === 1;
  return {
    ...{ file, name, format: format.kind, csv: csvOptions(format.log), dataset: request.dataset },
    ...present({ parts, log: format.log }),
    time: timeOptions(request, nowNs, isOneFile ? name : ''),
  };
}

function csvOptions(log: LogFormat | undefined): CsvOptions {
  if (log?.reading.kind === 'converted') return { header: true, delimiter: ',' };
  if (log?.reading.kind !== 'csv') return { spreadsheet: true };
  return { header: log.reading.header ?? false, known: { names: log.reading.fields, label: log.label } };
}

/** A file to add to a dataset. */
export interface Load {
  readonly file: string;
  /** Files of a Parquet dataset; `file` is the first. */
  readonly parts?: readonly string[];
  /** File name in messages. */
  readonly name: string;
  readonly format: FileFormat['kind'];
  /** Log format of its lines, if any. */
  readonly log?: LogFormat;
  readonly dataset: string;
  readonly time: TimeOptions;
  readonly csv?: CsvOptions;
  /** Whether JSON that is not an object fails, as in a request, instead of becoming an event. */
  readonly onlyObjects?: true;
  /** Additional members of every row. */
  readonly labels?: RawObject;
  /** Whether the rows replace those of the dataset. */
  readonly replace?: boolean;
  /** Length of the longest line in bytes, if the text was inspected on arrival; 0 for JSON. */
  readonly longest?: number;
  /** Number of rows to read for a preview, from the first (default: all). */
  readonly atMost?: number;
  /** Returns the error if a compressed file cannot be read to its end: the engine accepts a truncated one. */
  readonly damage?: () => Promise<LocalError | undefined>;
}

/** Result of storing a file. `late` rows have no readable time; `refused` ones could not be read. */
export interface Stored {
  readonly rows: number;
  readonly late: number;
  readonly refused: number;
  readonly fields: readonly FileField[];
  /** Time field; undefined if no field holds a time. */
  readonly timeField?: string;
  /** Why the times of a preview cannot be read until the user makes a choice. */
  readonly refusal?: LocalError;
  /** Approximate number of rows in the file; 0 if unknown. */
  readonly about: number;
  readonly notes: readonly string[];
}

/** Reads a file with `engine` and stores its rows in a dataset as one new Parquet file, all or nothing. */
export async function storeFile(
  store: DatasetStore,
  engine: Engine,
  load: Load,
  context?: RequestContext,
): Promise<Stored> {
  return drafted(
    engine,
    load,
    async (stored, draft) => {
      if (stored.rows > 0) await store.publish(load.dataset, draft, load.replace);
      return stored;
    },
    context,
  );
}

/** Writes the rows of a file to a Parquet file, which is removed once `use` has resolved. */
export async function drafted<T>(
  engine: Engine,
  load: Load,
  use: (stored: Stored, draft: string) => Promise<T>,
  context?: RequestContext,
): Promise<T> {
  const scratch = path.join(engine.workDir, crypto.randomUUID());
  await mkdir(scratch, { mode: 0o700 });
  try {
    const draft = path.join(scratch, 'draft.parquet');
    const pass = new Pass();
    const work = (connection: Connection) => writeReadable(connection, draft, load, pass);
    const stored = await engine.withConnection(work, pass.seenBy(context));
    const damage = pass.isIntact ? undefined : await load.damage?.();
    if (damage !== undefined) throw damage;
    return await use(stored, draft);
  } catch (error) {
    const damage = await load.damage?.();
    if (damage !== undefined) throw damage;
    if (isOfEngine(error)) await inspect(load);
    throw readingError(error, load, path.dirname(engine.workDir));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Reports the progress of an import: undefined before the main pass over the file, complete afterwards. */
class Pass {
  /** Approximate number of rows in the file; 0 if unknown. */
  rows = 0;
  /** Whether the file is known to be compressed without damage. */
  isIntact = false;
  #shareOfFile: (share: number | undefined) => number | undefined = () => undefined;

  /** Returns a context whose watch receives the share of the file. */
  seenBy(context: RequestContext = {}): RequestContext {
    const { watch } = context;
    if (watch === undefined) return context;
    const runs: Watch['runs'] = share =>
      watch.runs(
        () => this.#shareOfFile(share()),
        () => this.rows,
      );
    return { ...context, watch: { ...watch, runs } };
  }

  /** Runs the statement that writes the rows of a reading; returns their number. */
  async write(
    connection: Connection,
    sql: string,
    { shareOfFile = share => share }: Reading,
  ): Promise<number> {
    this.#shareOfFile = share => {
      const read = share === undefined ? 0 : Math.min(shareOfFile(share), 1);
      return read > 0 ? read : undefined;
    };
    try {
      const [copied] = await connection.runApart(sql);
      this.#shareOfFile = () => 1;
      return Number(copied?.[0]);
    } catch (error) {
      this.#shareOfFile = () => undefined;
      throw error;
    }
  }
}

const nothing: Stored = { rows: 0, late: 0, refused: 0, fields: [], about: 0, notes: [] };

/** A problem that makes the engine or a bound reject a text, fixed in a copy. */
interface Repair {
  /** `words` are those of the engine, if it has rejected the text. */
  readonly isFor: (words: string | undefined, load: Load, error: unknown) => boolean;
  /** Writes the copy; resolves to the number of changes, 0 if there is nothing to fix. */
  readonly write: (file: string, target: string) => Promise<number>;
  readonly note: (count: number) => string;
}

const repairs: readonly Repair[] = [
  {
    isFor: words => words !== undefined && notUtf8.test(words),
    write: repairText,
    note: notUtf8Note,
  },
  {
    isFor: (words, { format }) => format === 'csv' && words !== undefined,
    write: unifyLineEnds,
    note: returns =>
      `Line endings are mixed: ${formatCount(returns)} carriage returns are read as line feeds, also within values.`,
  },
  {
    // Lines that end in carriage returns count as a single line.
    isFor: (_words, { format }, error) =>
      format === 'csv' && error instanceof LocalError && error.code === 'too-large',
    write: replaceReturns,
    note: returns =>
      `Lines end in carriage returns: ${formatCount(returns)} are read as line feeds, also within values.`,
  },
];

/** Writes a draft; if the text is rejected for a reason that a repair covers, retries with a repaired copy. */
async function writeReadable(
  connection: Connection,
  draft: string,
  load: Load,
  pass: Pass,
  left: readonly Repair[] = repairs,
): Promise<Stored> {
  try {
    return await writeDraft(connection, draft, load, pass);
  } catch (error) {
    const words = engineWords(error);
    const repair = left.find(({ isFor }) => isFor(words, load, error));
    if (repair === undefined) throw error;
    const workDir = path.dirname(draft);
    const file = path.join(workDir, `${crypto.randomUUID()}.repaired`);
    const count = await repair.write(await unpacked(load.file, workDir), file);
    if (count === 0) throw error;
    const others = left.filter(each => each !== repair);
    const stored = await writeReadable(connection, draft, { ...load, file }, pass, others);
    return { ...stored, notes: [repair.note(count), ...stored.notes] };
  }
}

/** Engine errors about text that is not UTF-8. */
const notUtf8 = /not utf-8 encoded|invalid unicode/i;

async function writeDraft(connection: Connection, draft: string, given: Load, pass: Pass): Promise<Stored> {
  let load = given;
  const isPart = load.format === 'json' || load.atMost !== undefined;
  const { longest, isIntact } = await inspect(load, isPart ? firstBytes : undefined);
  pass.isIntact = isIntact;
  pass.rows = await rowsOfFile(connection, load);
  const unlabeled = await read(connection, load, path.dirname(draft));
  if (!unlabeled) return nothing;
  let reading = load.labels === undefined ? unlabeled : withLabels(unlabeled, load.labels);
  // The engine's fast reader silently drops such a line at the end of a file.
  if (longest > shortLine && reading.wider !== undefined) reading = await reading.wider();
  for (;;) {
    try {
      return await write(connection, draft, reading, load, pass);
    } catch (error) {
      // The engine may have found a value that does not fit the types of the sample.
      const failure = engineWords(error);
      if (isOrderMismatch(failure)) {
        load = { ...load, time: { ...load.time, whole: true } };
        continue;
      }
      if (!reading.wider || failure === undefined || notUtf8.test(failure)) throw error;
      // The same columns are read again.
      if (doubtOf(failure) === undefined) await inspect(load);
      reading = await reading.wider(failure);
    }
  }
}

/** Inspects a text before the engine reads or rereads it, see {@link inspectFile}. */
async function inspect(
  { file, name, format, csv, longest }: Load,
  mostBytes?: number,
): Promise<InspectedFile> {
  if (longest !== undefined) return { longest, isIntact: false };
  return inspectFile(file, { name, format, ...present({ delimiter: csv?.delimiter }) }, mostBytes);
}

/** Whether a read failed in the engine, or ran out of memory there. */
function isOfEngine(error: unknown): boolean {
  return engineWords(error) !== undefined || (error instanceof EngineError && error.code === 'engine-memory');
}

/** Returns the approximate number of rows in a file; 0 if unknown before reading them. */
async function rowsOfFile(connection: Connection, { file, parts, format }: Load): Promise<number> {
  if (format === 'parquet') return rowsInParquet(connection, parts ?? [file]);
  return rowsByLines(file, format === 'csv');
}

function read(
  connection: Connection,
  { file, parts = [file], name, format, log = plainText, csv, onlyObjects }: Load,
  workDir: string,
): Promise<Reading | undefined> {
  switch (format) {
    case 'csv':
      return readCsv(connection, { file, workDir }, csv);
    case 'json':
      return spreadSample(file, workDir)
        .then(sampleFile => readJson(connection, { file, sampleFile, workDir, ...present({ onlyObjects }) }))
        .then(reading => reading && withDurations(reading, log));
    case 'parquet':
      return readParquet(connection, parts, workDir);
    case 'lines':
      return readLines(connection, { file, name, workDir }, log);
  }
}

/** Turns the integers that a format uses for durations into durations. */
function withDurations(reading: Reading, log: LogFormat): Reading {
  const { durations } = log;
  if (durations === undefined) return reading;
  const { fields, wider } = reading;
  const isDuration = ({ name, type }: ReadField) => type === 'long' && durations.includes(name);
  return {
    ...reading,
    fields: fields.map(field => (isDuration(field) ? { ...field, type: 'timespan' } : field)),
    ...present({ wider: wider && (async (failure?: string) => withDurations(await wider(failure), log)) }),
  };
}

async function write(
  connection: Connection,
  draft: string,
  reading: Reading,
  load: Load,
  pass: Pass,
): Promise<Stored> {
  const isPreview = load.atMost !== undefined;
  const time = await (isPreview ? searchTime : findTime)(connection, reading, load.time);
  const fields = fieldsOf(reading);
  const note = { fields, timeless: load.time.inFile === true && time.field === undefined };
  const rowsOf = isPreview ? ` LIMIT ${load.atMost}` : '';
  const copy = copyToParquet(selectOf(reading, fields, time, load.time) + rowsOf, draft, note);
  const rows = await pass.write(connection, copy, reading);
  let facts = await factsOf(connection, draft);
  if (load.format === 'json' && (await mayBeDeep(connection, draft, fields, facts))) await inspect(load);
  const long = await longField(connection, draft, fields, facts);
  if (long !== undefined) {
    await inspect(load);
    throw valueTooLong(load.name, long.name);
  }
  const hasNull = (name: string) => {
    const column = ownColumn(fields, name);
    return isPreview || column === undefined || facts.mayHaveNull(column);
  };
  if (time.rolls) {
    await rollDays(connection, draft, note, load.time);
    facts = await factsOf(connection, draft);
  }
  const isTimed = time.field !== undefined && time.refusal === undefined;
  const late =
    isTimed && facts.mayHaveTime(load.time.nowNs) ? await countLate(connection, draft, load.time) : 0;
  const isCarried = late > 0 && late < rows && (load.format === 'lines' || reading.carries === true);
  if (isCarried) {
    await carryTimes(connection, draft, note, load.time);
    facts = await factsOf(connection, draft);
  }
  await sortByTime(connection, draft, note, facts, rows);
  return {
    rows,
    late,
    refused: reading.refused,
    fields,
    notes: [
      ...reading.notes,
      ...((await reading.emptied?.(isPreview ? reading.sample : reading.from, hasNull)) ?? []),
      ...time.notes,
      ...(await wholeNotes(connection, draft, reading, fields, facts)),
      ...lateNotes(isCarried, time, late),
      ...(load.time.zone === undefined ? [] : await twiceNotes(connection, draft, load.time.zone)),
    ],
    about: pass.rows,
    ...present({ timeField: time.field, refusal: time.refusal }),
  };
}

/** Whether a value has as many brackets as one that is nested too deeply; brackets in strings count too. */
async function mayBeDeep(
  connection: Connection,
  draft: string,
  fields: readonly FileField[],
  facts: DraftFacts,
): Promise<boolean> {
  const tests = fields.flatMap(({ type, column }) => {
    if (type !== 'dynamic' || facts.largest(column) < 2 * mostLevels) return [];
    const text = sqlName(column);
    const brackets = `strlen(${text}) - strlen(translate(${text}, '[{', ''))`;
    return [
      `CASE WHEN strlen(${text}) >= ${2 * mostLevels} THEN ${brackets} >= ${mostLevels} ELSE false END`,
    ];
  });
  if (tests.length === 0) return false;
  const rows = await connection.run(
    `SELECT 1 FROM read_parquet(${sqlText(draft)}) WHERE ${tests.join(' OR ')} LIMIT 1`,
  );
  return rows.length > 0;
}

/** Returns a field with a value that is too long. Column sizes in the file rule out all but large columns. */
async function longField(
  connection: Connection,
  draft: string,
  fields: readonly FileField[],
  facts: DraftFacts,
): Promise<FileField | undefined> {
  for (const field of fields) {
    if (facts.largest(field.column) <= longestLine || (field.type !== 'string' && field.type !== 'dynamic'))
      continue;
    const longest = `SELECT max(strlen(${sqlName(field.column)})) FROM read_parquet(${sqlText(draft)})`;
    const [row] = await connection.run(longest);
    if (Number(row?.[0]) > longestLine) return field;
  }
  return undefined;
}

const systemNames = ['_time', '_sysTime'];

function fieldsOf(reading: Reading): FileField[] {
  const own = reading.fields.filter(field => !systemNames.includes(field.name));
  const columns = columnNames([...systemNames, ...own.map(field => field.name)]);
  const system = systemNames.map(name => ({ name, type: 'datetime' as const }));
  return [...system, ...own].map(({ name, type, ...rest }, index) => ({
    name,
    type,
    column: columns[index] ?? name,
    ...present({ declared: ('declared' in rest && rest.declared) || undefined }),
  }));
}

/** Returns the column of a field from the file; system fields have other values. */
function ownColumn(fields: readonly FileField[], name: string): string | undefined {
  return systemNames.includes(name) ? undefined : fields.find(field => field.name === name)?.column;
}

function selectOf(
  reading: Reading,
  fields: readonly FileField[],
  time: TimeSource,
  { nowNs }: TimeOptions,
): string {
  const now = `make_timestamp_ns(${nowNs})`;
  const own = reading.fields.flatMap(({ name }, index) => (systemNames.includes(name) ? [] : [`c${index}`]));
  const values = [`CASE WHEN isfinite(t) THEN t ELSE ${now} END`, now, ...own];
  const columns = fields.map(({ column }, index) => `${values[index]} AS ${sqlName(column)}`);
  const timed = `SELECT *, ${time.sql} AS t FROM (${cells(reading.fields, reading.from)})`;
  return `SELECT ${columns.join(', ')} FROM (${timed})`;
}

/** Counts the rows without a readable time, which have the time of the import. */
async function countLate(connection: Connection, draft: string, { nowNs }: TimeOptions): Promise<number> {
  const [row] = await connection.run(
    `SELECT count(*) FROM read_parquet(${sqlText(draft)}) WHERE _time = make_timestamp_ns(${nowNs})`,
  );
  return Number(row?.[0]);
}

/** Counts the lines stored whole. */
async function wholeNotes(
  connection: Connection,
  draft: string,
  { whole }: Reading,
  fields: readonly FileField[],
  facts: DraftFacts,
): Promise<string[]> {
  const column = fields.find(({ name }) => name === whole)?.column;
  if (column === undefined) return [];
  const counted = `SELECT count(${sqlName(column)}) FROM read_parquet(${sqlText(draft)})`;
  const count = facts.present(column) ?? Number((await connection.run(counted))[0]?.[0]);
  if (count === 0) return [];
  return [
    `${plural(count, 'line')} did not fully match the format: \`${whole}\` has the whole line, next to the fields that could be read.`,
  ];
}

function lateNotes(isCarried: boolean, time: TimeSource, late: number): string[] {
  if (late === 0) return [];
  if (isCarried)
    return [
      `No readable timestamp in ${plural(late, 'line')}, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.`,
    ];
  return [
    `No readable timestamp in \`${time.field}\` in ${plural(late, 'row')}: they get the time of the import.`,
  ];
}

/** Returns the time options of an import; `name` is that of the only file, or empty. */
function timeOptions(request: ImportRequest, nowNs: bigint, name: string): TimeOptions {
  const dates = dateOrders.find(order => order === request.dates);
  const { timeField: field, zone, date } = request;
  const day = date === undefined ? dayInName(name) : ({ text: date, of: 'option' } as const);
  return { nowNs, inFile: true, ...present({ field, dates, zone, day }) };
}

function report(dataset: string, stored: Stored, before: Extent, { rows, ...span }: Extent): ImportReport {
  return {
    dataset,
    rows: stored.rows,
    fields: stored.fields.map(({ name, type }) => ({ name, type: serviceTypes[type] })),
    timeField: stored.timeField ?? '',
    notes: stored.notes,
    rowsBefore: before.rows,
    rowsNow: rows,
    ...span,
  };
}

/**
 * Converts a read error, which concerns the user's data: it passes on the line number, but not the engine's message. `scratchDir` is on the
 * disk of the draft.
 */
function readingError(error: unknown, { name, format }: Load, scratchDir: string): unknown {
  if (error instanceof EngineError && error.code === 'engine-disk')
    return new LocalError('storage', error.code, `The disk with ${scratchDir} is full: nothing was stored.`, {
      hint: 'Free some space there, then try again.',
      cause: error,
    });
  if (error instanceof EngineError && error.code === 'engine-memory')
    return new LocalError('invalid', error.code, `Reading ${name} exceeds the memory limit.`, {
      hint: 'Split it and import the parts into the same dataset.',
      cause: error,
    });
  const words = engineWords(error);
  if (words === undefined) return error;
  const known = format === 'parquet' ? failureOf(name, words, error) : undefined;
  if (known !== undefined) return known;
  const [, line] = /\bline:?\s+(\d+)/i.exec(words) ?? [];
  const place = line === undefined || format === 'parquet' ? '' : `, from line ${line} on`;
  const label = fileFormats.find(({ kind }) => kind === format)?.label ?? 'lines of text';
  const message = `${name} cannot be read as ${label}${place}.`;
  return new LocalError('invalid', 'unreadable', message, { cause: error });
}
