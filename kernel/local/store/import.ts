import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ImportReport, ImportRequest } from '../../api/wire.js';
import { Engine, type Session } from '../engine/duckdb.js';
import { EngineError } from '../engine/failure.js';
import { columnNames, copyToParquet, type FileField } from '../engine/parquet.js';
import { wireType } from '../engine/run.js';
import { ServiceError } from '../http/service-error.js';
import type { DatasetStore } from './datasets.js';
import { type CsvOptions, type Staged, stageCsv, stageJson, stageParquet } from './staging.js';
import type { Extent } from './stored.js';
import { findTime, type TimeOptions, type TimeSource } from './timestamps.js';

/** The kinds of file that become a dataset. */
export type FileFormat = 'csv' | 'json' | 'parquet';

/** Turns a CSV, NDJSON, JSON or Parquet file anywhere on this machine into rows of a dataset; throws ServiceError. */
export async function importFile(
  store: DatasetStore,
  dataDir: string,
  request: ImportRequest,
  nowNs: bigint,
  signal?: AbortSignal,
): Promise<ImportReport> {
  store.checkName(request.dataset);
  const file = path.resolve(request.path);
  const format = await formatOf(file);
  // The engine that serves queries sees the data directory only; this one sees one file more.
  const engine = await Engine.open({ dataDir, allow: [file], families: [], connections: 1 });
  try {
    const load = {
      file,
      format,
      dataset: request.dataset,
      time: timeOptions(request, nowNs),
      replace: request.replace === true,
    };
    const before = await store.extent(request.dataset);
    const stored = await storeFile(store, engine, load, signal);
    if (stored.rows === 0) throw emptyFile(file);
    return report(request.dataset, stored, before, await store.extent(request.dataset));
  } finally {
    await engine.close();
  }
}

/** A file to add to a dataset. */
export interface Load {
  readonly file: string;
  readonly format: FileFormat;
  readonly dataset: string;
  readonly time: TimeOptions;
  readonly csv?: CsvOptions;
  /** The rows take the place of what the dataset holds. */
  readonly replace?: boolean;
}

/** What was stored. `late` rows have no readable time. */
export interface Stored {
  readonly rows: number;
  readonly late: number;
  readonly fields: readonly FileField[];
  /** Where the times are from; absent when no field holds a time. */
  readonly timeField?: string;
  readonly notes: readonly string[];
}

/** Reads a file with `engine` and puts its rows into a dataset as one new Parquet file, or nothing at all. */
export async function storeFile(
  store: DatasetStore,
  engine: Engine,
  load: Load,
  signal?: AbortSignal,
): Promise<Stored> {
  const draft = path.join(engine.workDir, `${crypto.randomUUID()}.parquet`);
  try {
    const replaces = load.replace ? await store.fileNames(load.dataset) : [];
    const stored = await engine.session(session => writeDraft(session, draft, load, replaces), signal);
    if (stored.rows > 0) await store.publish(load.dataset, draft);
    return stored;
  } catch (error) {
    throw readingError(error, load.file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDraft(
  session: Session,
  draft: string,
  load: Load,
  replaces: readonly string[],
): Promise<Stored> {
  const staged = await stage(session, load);
  if (staged.rows === 0) return { rows: 0, late: 0, fields: [], notes: [] };
  const time = await findTime(session, staged.columns, load.time);
  const [row] = await session.run(`SELECT count(*) FROM staged WHERE (${time.sql}) IS NULL`);
  const late = Number(row?.[0]);
  const fields = fieldsOf(staged);
  const timeless = time.field === undefined;
  await session.run(
    copyToParquet(selectOf(staged, fields, time, load.time), draft, { fields, timeless, replaces }),
  );
  const notes = [...staged.notes, ...time.notes, ...lateNotes(time, late)];
  return {
    rows: staged.rows,
    late,
    fields,
    notes,
    ...(time.field !== undefined && { timeField: time.field }),
  };
}

function stage(session: Session, { file, format, csv }: Load): Promise<Staged> {
  switch (format) {
    case 'csv':
      return stageCsv(session, file, csv);
    case 'json':
      return stageJson(session, file);
    case 'parquet':
      return stageParquet(session, file);
  }
}

const systemNames = ['_time', '_sysTime'];

function fieldsOf(staged: Staged): FileField[] {
  const own = staged.columns.filter(column => !systemNames.includes(column.name));
  const columns = columnNames([...systemNames, ...own.map(field => field.name)]);
  const system = systemNames.map((name, index) => ({
    name,
    type: 'datetime' as const,
    column: columns[index] ?? name,
  }));
  const rest = own.map(({ name, type, empty }, index) => ({
    name,
    type,
    column: columns[index + systemNames.length] ?? name,
    ...(empty && { empty }),
  }));
  return [...system, ...rest];
}

/** Rows are sorted by time, so that a row group spans little of it and a window reads few. */
function selectOf(
  staged: Staged,
  fields: readonly FileField[],
  time: TimeSource,
  { nowNs }: TimeOptions,
): string {
  const now = `make_timestamp_ns(${nowNs})`;
  const own = staged.columns
    .filter(column => !systemNames.includes(column.name))
    .map(column => column.column);
  const values = [`coalesce(${time.sql}, ${now})`, now, ...own];
  const columns = fields.map((field, index) => `${values[index]} AS "${field.column.replaceAll('"', '""')}"`);
  return `SELECT ${columns.join(', ')} FROM staged ORDER BY 1`;
}

function lateNotes(time: TimeSource, late: number): string[] {
  if (time.field === undefined || late === 0) return [];
  return [`${late} rows have no readable time in \`${time.field}\`: they have the time of their import.`];
}

function timeOptions(request: ImportRequest, nowNs: bigint): TimeOptions {
  return { nowNs, ...(request.timeField !== undefined && { field: request.timeField }) };
}

function report(dataset: string, stored: Stored, before: Extent, { rows, ...span }: Extent): ImportReport {
  return {
    dataset,
    rows: stored.rows,
    fields: stored.fields.map(({ name, type }) => ({ name, type: wireType(type) })),
    timeField: stored.timeField ?? '',
    notes: stored.notes,
    rowsBefore: before.rows,
    rowsNow: rows,
    ...span,
  };
}

const formats: Readonly<Record<string, FileFormat>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
  '.ndjson': 'json',
  '.jsonl': 'json',
  '.parquet': 'parquet',
};

/** The format by the name, else by the first bytes. */
async function formatOf(file: string): Promise<FileFormat> {
  const found = await stat(file).catch(() => undefined);
  if (!found) throw new ServiceError(400, 'no-such-file', `There is no file ${file}.`);
  if (!found.isFile()) throw new ServiceError(400, 'not-a-file', `${file} is not a file.`);
  if (found.size === 0) throw emptyFile(file);
  const start = await firstBytes(file);
  if (start.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  if (isUtf16(start)) {
    throw new ServiceError(400, 'encoding', `${file} is UTF-16.`, { hint: 'Convert it to UTF-8 first.' });
  }
  const named = formats[path.extname(file.replace(/\.(gz|zst)$/, '')).toLowerCase()];
  return (
    named ??
    (/^[[{]/.test(
      start
        .toString('utf8')
        .replace(/^\uFEFF/, '')
        .trimStart(),
    )
      ? 'json'
      : 'csv')
  );
}

function isUtf16(start: Buffer): boolean {
  return start.length >= 2 && [0xfffe, 0xfeff].includes(start.readUInt16BE(0));
}

async function firstBytes(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function emptyFile(file: string): ServiceError {
  return new ServiceError(400, 'empty', `${file} holds no rows.`);
}

/** What the engine says about a file is about the user's data; the place in the file matters, its advice on SQL does not. */
function readingError(error: unknown, file: string): unknown {
  if (!(error instanceof EngineError) || error.code !== 'engine-failed') return error;
  const [text = ''] = error.detail.split(/\n\s*Possible fixes/);
  const message = text
    .replace(/^[A-Za-z ]+ Error: /, '')
    .replaceAll(file, path.basename(file))
    .trim();
  return new ServiceError(400, 'unreadable', message, { cause: error });
}
