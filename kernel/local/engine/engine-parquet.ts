import type { TypeName } from '../../apl/catalog/entry.js';
import { present } from '../../present.js';
import { EARLIEST_TIME, LATEST_TIME } from '../../time.js';
import { sqlText } from '../duckdb/duckdb-literal.js';
import { textListType } from '../duckdb/duckdb-types.js';
import type { RowGroup } from '../sql/compiled-query.js';
import { squareable } from '../sql/sql-template.js';
import type { Connection, Engine } from './duckdb.js';
import { engineWords } from './engine-failure.js';

/** A field of a Parquet file and its column. Engines fold the case of column names; field names keep theirs. */
export interface FileField {
  readonly name: string;
  readonly type: TypeName;
  readonly column: string;
  /** The type was declared rather than inferred, so it counts even without values. */
  readonly declared?: boolean;
  /** All values are null, so the type is meaningless. */
  readonly empty?: boolean;
  /** Has integers that a double cannot represent exactly. */
  readonly wide?: boolean;
  /** No value is null. */
  readonly filled?: boolean;
  /** Reals without NaN, all between -{@link squareable} and {@link squareable}. */
  readonly bounded?: boolean;
  /** The column is a list of strings, which the engine need not convert to JSON. */
  readonly texts?: boolean;
  /** Engine type of the column, if another program wrote it: several engine types map to one type of a field. */
  readonly written?: string;
  /** Statistics of its strings may be in the order of signed bytes, as old writers have it. */
  readonly signed?: boolean;
  /** Times with nanoseconds, of which the engine reads microseconds. */
  readonly cut?: boolean;
  /** The field is not in the file but in its directory names: `partitions` of the file has the value. */
  readonly ofDirectory?: boolean;
}

/** Facts from the footer of a Parquet file. */
export interface FileSummary {
  readonly path: string;
  readonly fields: readonly FileField[];
  readonly blocks: readonly RowGroup[];
  readonly bytes: number;
  /** File size and modification time; empty outside the directory of a dataset. */
  readonly version: string;
  /** Its rows have no timestamps. */
  readonly timeless: boolean;
  /** Names of files in the same directory that it replaces, according to its note. */
  readonly replaces: readonly string[];
  /** Written by another program. */
  readonly foreign: boolean;
  /** The statistics of reals omit NaN, as the format specifies; statistics written by the engine include it. */
  readonly hidesNaN: boolean;
  /** Values of fields in directory names; null if absent there. */
  readonly partitions?: ReadonlyMap<string, string | null>;
}

/** A file's note about itself in its metadata. */
export type FileNote = Partial<Pick<FileSummary, 'timeless' | 'replaces' | 'foreign'>> &
  Pick<FileSummary, 'fields'>;

/** Returns the statement that writes the rows of `select` to a Parquet file with a note. */
export function copyToParquet(select: string, file: string, note: FileNote): string {
  const metadata = sqlText(JSON.stringify({ version: 1, ...note }));
  return `COPY (${select}) TO ${sqlText(file)} (FORMAT parquet, COMPRESSION snappy${rowGroupSize(note.fields.length)}${dictionarySize(note.fields.length)}, KV_METADATA {'${metadataKey}': ${metadata}})`;
}

/** Number of fields from which the engine's memory per field matters, so less is done at once. */
export const wideFields = 200;

/**
 * Returns the option for smaller row groups if there are many columns, since the engine holds a row group in memory. Smaller row groups
 * mean more of them, and starting each one costs the square of the number of columns.
 */
function rowGroupSize(columns: number): string {
  const rows = Math.max(1, Math.floor(mostValues / columns / vectorRows)) * vectorRows;
  return rows < usualRows ? `, ROW_GROUP_SIZE ${rows}` : '';
}

/** Returns the option for smaller string dictionaries if there are many columns: the engine allocates at least 600 KiB for each. */
function dictionarySize(columns: number): string {
  if (columns < wideFields) return '';
  return `, STRING_DICTIONARY_PAGE_SIZE_LIMIT ${Math.floor(mostDictionaryBytes / columns)}`;
}

/** Maximum total bytes of the dictionaries in a row group. */
const mostDictionaryBytes = 256 * 2 ** 20;

/** Default rows per row group, and rows per vector; a row group is a multiple of a vector. */
const usualRows = 122_880;
const vectorRows = 2048;

/** Maximum values per row group. */
const mostValues = wideFields * usualRows;

/** Returns column names for fields, in order, that are unique even with case folded. */
export function columnNames(fields: readonly string[]): string[] {
  const taken = new Set<string>();
  return fields.map(field => {
    // Names in the engine end at a NUL character.
    const plain = field.replaceAll('\0', '');
    let column = plain;
    for (let suffix = 2; taken.has(fold(column)); suffix++) column = `${plain}_${suffix}`;
    taken.add(fold(column));
    return column;
  });
}

/** An unreadable Parquet file with the reason, from the system or the engine. */
export interface UnreadableFile {
  readonly path: string;
  readonly unreadable: string;
}

/** Facts from the footer of a Parquet file alone. */
export type Footer = Omit<FileSummary, 'bytes' | 'version'>;

/**
 * Reads the footers of Parquet files, in order; files without a time column have no blocks. Bisects the files to isolate those the engine
 * cannot read.
 */
export async function readFooters(
  engine: Engine,
  paths: readonly string[],
): Promise<readonly (Footer | UnreadableFile)[]> {
  try {
    return await readAll(engine, paths);
  } catch (error) {
    const reason = engineWords(error);
    if (reason === undefined) throw error;
    const [path = '', ...others] = paths;
    if (others.length === 0) return [{ path, unreadable: reason }];
    const middle = paths.length >> 1;
    return [
      ...(await readFooters(engine, paths.slice(0, middle))),
      ...(await readFooters(engine, paths.slice(middle))),
    ];
  }
}

async function readAll(engine: Engine, paths: readonly string[]): Promise<Footer[]> {
  const list = `[${paths.map(sqlText).join(', ')}]`;
  const { notes, columns, blocks, writers } = await engine.withConnection(async connection => ({
    notes: await readNotes(connection, list, paths),
    columns: await readColumns(connection, list),
    blocks: await readBlocks(connection, list),
    writers: await readWriters(connection, list),
  }));
  return paths.map(path =>
    footerFrom(
      path,
      notes.get(path) ?? { fields: [] },
      columns.get(path) ?? new Map(),
      blocks.get(path) ?? [],
      writers.get(path),
    ),
  );
}

/** Facts from the statistics of a column. */
export type ColumnFacts = Pick<FileField, 'empty' | 'wide' | 'filled' | 'bounded' | 'signed'>;

/** Returns the footer facts from a file's note, column statistics by name, row groups, and the name of its writer. */
export function footerFrom(
  path: string,
  { fields, timeless = false, replaces = [], foreign = false }: FileNote,
  columns: ReadonlyMap<string, ColumnFacts>,
  blocks: readonly RowGroup[],
  writer: string | undefined,
): Footer {
  // Another program may store something else under that name.
  const hasTimes = !foreign || fields.some(({ name, type }) => name === '_time' && type === 'datetime');
  // The engine treats NaN as the largest number: its statistics include it, or are missing.
  const hidesNaN = writer?.startsWith('DuckDB') !== true;
  const measured = fields.map(field => {
    const { bounded, ...facts } = columns.get(field.column) ?? {};
    return { ...field, ...facts, ...present({ bounded: hidesNaN ? undefined : bounded }) };
  });
  return {
    path,
    fields: measured.map(({ empty = false, ...field }) => ({ ...field, empty: empty && !field.declared })),
    ...{ blocks: hasTimes ? blocks : [], timeless, replaces, foreign, hidesNaN },
  };
}

/** Returns whether the engine can read every value of a Parquet file. */
export async function isReadable(engine: Engine, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await engine.run(`SELECT bit_xor(hash(r)) FROM read_parquet(${sqlText(path)}) AS r`, signal);
    return true;
  } catch (error) {
    if (engineWords(error) === undefined) throw error;
    return false;
  }
}

/** Returns the language's type for an engine type; nested and unknown types are dynamic. */
export function typeOfSql(sqlType: string): TypeName {
  if (/^(TINYINT|SMALLINT|INTEGER|BIGINT|UTINYINT|USMALLINT|UINTEGER)$/.test(sqlType)) return 'long';
  if (/^(FLOAT|DOUBLE|DECIMAL\(.*\))$/.test(sqlType)) return 'real';
  if (/^(TIMESTAMP.*|DATE)$/.test(sqlType) && !sqlType.endsWith(']')) return 'datetime';
  if (sqlType === 'BOOLEAN') return 'bool';
  if (/^(VARCHAR|UUID|TIME|BLOB|INTERVAL|BIT|ENUM\(.*\))$/.test(sqlType)) return 'string';
  return 'dynamic';
}

/** The key of a file's {@link FileNote} in its metadata. */
export const metadataKey = 'apl-kernel';

/** Folds a column name like the engine does. */
function fold(name: string): string {
  return name.toLowerCase();
}

async function readNotes(
  connection: Connection,
  list: string,
  paths: readonly string[],
): Promise<Map<string, FileNote>> {
  const rows = await connection.run(
    `SELECT file_name, decode(value) FROM parquet_kv_metadata(${list}) WHERE decode(key) = '${metadataKey}'`,
  );
  const notes = new Map(rows.map(([path, json]) => [String(path), JSON.parse(String(json)) as FileNote]));
  for (const path of paths) {
    if (!notes.has(path)) notes.set(path, { fields: await externalFields(connection, path), foreign: true });
  }
  return notes;
}

/** Returns the columns of a file from another program as its fields. */
async function externalFields(connection: Connection, path: string): Promise<FileField[]> {
  const rows = await connection.run(`DESCRIBE SELECT * FROM read_parquet(${sqlText(path)})`);
  const cut = new Set((await connection.run(cutColumns(path))).map(([name]) => name));
  return rows.map(([column, sqlType]) => ({
    ...describedField(String(column), String(sqlType)),
    ...present({ texts: sqlType === textListType || undefined, cut: cut.has(column) || undefined }),
  }));
}

/** INT96, and nanoseconds in UTC. */
function cutColumns(path: string): string {
  const zoned =
    "starts_with(logical_type, 'TimestampType(isAdjustedToUTC=1') AND contains(logical_type, 'NANOS=Nano')";
  return `SELECT name FROM parquet_schema(${sqlText(path)}) WHERE type = 'INT96' OR ${zoned}`;
}

/** Returns the field of a column that another program wrote, from its name and engine type. */
export function describedField(column: string, written: string): FileField {
  return { name: column, type: typeOfWritten(written), column, declared: true, written };
}

/** A decimal of more digits than a real holds is a long, or else dynamic, with every digit. */
function typeOfWritten(written: string): TypeName {
  const [, digits, fraction] = /^DECIMAL\((\d+),(\d+)\)$/.exec(written) ?? [];
  if (digits === undefined || Number(digits) <= realDigits) return typeOfSql(written);
  return fraction === '0' && Number(digits) <= longDigits ? 'long' : 'dynamic';
}

/** Decimal digits that a double, and a 64-bit integer, always represents. */
export const realDigits = 15;
const longDigits = 18;

/**
 * Reads the statistics of columns: whether every value is null; whether there are, or may be for lack of statistics, integers beyond 2^53,
 * which a double cannot represent; whether no value is null; and whether all values are reals within the bounds.
 */
async function readColumns(
  connection: Connection,
  list: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, ColumnFacts>>> {
  const rows = await connection.run(
    `SELECT file_name, path_in_schema, bool_and(stats_null_count = num_values),
       bool_or(type = 'INT64' AND stats_null_count IS DISTINCT FROM num_values
         AND (stats_min_value IS NULL OR stats_max_value IS NULL OR TRY_CAST(stats_min_value AS BIGINT) < -9007199254740992
         OR TRY_CAST(stats_max_value AS BIGINT) > 9007199254740992)),
       bool_and(type IN ('DOUBLE', 'FLOAT') AND (stats_null_count IS NOT DISTINCT FROM num_values OR coalesce(
         TRY_CAST(stats_min_value AS DOUBLE) > -${squareable} AND TRY_CAST(stats_max_value AS DOUBLE) < ${squareable}, false))),
       bool_or(type = 'BYTE_ARRAY' AND stats_min_value IS NULL AND stats_min IS NOT NULL), bool_and(coalesce(stats_null_count = 0, false))
     FROM parquet_metadata(${list}) GROUP BY ALL`,
  );
  const columns = new Map<string, Map<string, ColumnFacts>>();
  for (const [file, column, empty, wide, bounded, signed, filled] of rows) {
    const path = String(file);
    const known = columns.get(path) ?? new Map<string, ColumnFacts>();
    const flags = {
      ...{ bounded: bounded === true || undefined, signed: signed === true || undefined },
      filled: filled === true || undefined,
    };
    const facts = { empty: empty === true, wide: wide === true, ...present(flags) };
    columns.set(path, known.set(String(column), facts));
  }
  return columns;
}

async function readWriters(connection: Connection, list: string): Promise<ReadonlyMap<string, string>> {
  const rows = await connection.run(`SELECT file_name, created_by FROM parquet_file_metadata(${list})`);
  return new Map(rows.map(([file, writer]) => [String(file), String(writer)]));
}

/** Reads the times of row groups: any time if unknown, none if all are null. */
async function readBlocks(connection: Connection, list: string): Promise<Map<string, RowGroup[]>> {
  const rows = await connection.run(
    `SELECT file_name, row_group_num_rows::BIGINT, epoch_ns(TRY_CAST(coalesce(stats_min_value, stats_min) AS TIMESTAMP_NS)),
       epoch_ns(TRY_CAST(coalesce(stats_max_value, stats_max) AS TIMESTAMP_NS)), stats_null_count
     FROM parquet_metadata(${list}) WHERE path_in_schema = '_time'
     QUALIFY column_id = min(column_id) OVER (PARTITION BY file_name, row_group_id) ORDER BY file_name, row_group_id`,
  );
  const blocks = new Map<string, RowGroup[]>();
  const untimed = new Set<string>();
  for (const [path, count, minNs, maxNs, nulls] of rows) {
    const file = String(path);
    const known = blocks.get(file) ?? [];
    const span = count === 0n || count === nulls ? noTimes : spanOf(minNs, maxNs);
    known.push({ rows: Number(count), ...span, timed: true });
    blocks.set(file, known);
    if (count !== 0n && (nulls !== 0n || span === anyTime)) untimed.add(file);
  }
  for (const file of untimed)
    blocks.set(file, blocks.get(file)?.map(block => ({ ...block, timed: false })) ?? []);
  return blocks;
}

function spanOf(minNs: unknown, maxNs: unknown): Pick<RowGroup, 'minNs' | 'maxNs'> {
  return typeof minNs === 'bigint' && typeof maxNs === 'bigint' ? { minNs, maxNs } : anyTime;
}

/** Times of a row group without statistics. */
export const anyTime = { minNs: EARLIEST_TIME, maxNs: LATEST_TIME } as const;

/** Times of a row group whose times are all null: outside of every window. */
const noTimes = { minNs: LATEST_TIME, maxNs: EARLIEST_TIME } as const;
