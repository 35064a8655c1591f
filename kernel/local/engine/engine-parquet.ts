import type { TypeName } from '../../apl/catalog/entry.js';
import { present } from '../../present.js';
import { sqlText } from '../duckdb/duckdb-literal.js';
import { textListType } from '../duckdb/duckdb-types.js';
import type { RowGroup } from '../sql/compiled-query.js';
import { squareable } from '../sql/sql-template.js';
import type { Connection, Engine } from './duckdb.js';
import { engineWords } from './engine-failure.js';

/** A field of one Parquet file and the column that holds it. Engines fold the case of column names; fields keep theirs. */
export interface FileField {
  readonly name: string;
  readonly type: TypeName;
  readonly column: string;
  /** The type was declared, not found in the values, so that it counts even if there are none. */
  readonly declared?: boolean;
  /** Every value is null, so that the type means nothing. */
  readonly empty?: boolean;
  /** Integers that a double cannot hold exactly. */
  readonly wide?: boolean;
  /** Reals of which none is NaN, and all are between -{@link squareable} and it. */
  readonly bounded?: boolean;
  /** The column is a list of texts, which the engine need not make JSON of. */
  readonly texts?: boolean;
  /** It is not in the file, but in the names of the directories above it: `partitions` of the file has the value. */
  readonly ofDirectory?: boolean;
}

/** The facts in the footer of a Parquet file. */
export interface FileSummary {
  readonly path: string;
  readonly fields: readonly FileField[];
  readonly blocks: readonly RowGroup[];
  readonly bytes: number;
  /** The size of the file and the time of its last change; empty if it is not in the directory of a dataset. */
  readonly version: string;
  /** Its rows have no time of their own. */
  readonly timeless: boolean;
  /** The names of files in the same directory that it replaces, if it says so itself. */
  readonly replaces: readonly string[];
  /** Another program wrote it. */
  readonly foreign: boolean;
  /** The statistics of its reals leave out NaN, as the format has it; those that the engine writes do not. */
  readonly hidesNaN: boolean;
  /** The values of fields in the names of directories; null if it is absent there. */
  readonly partitions?: ReadonlyMap<string, string | null>;
}

/** What a file says about itself in its metadata. */
export type FileNote = Partial<Pick<FileSummary, 'timeless' | 'replaces' | 'foreign'>> &
  Pick<FileSummary, 'fields'>;

/** Returns the statement that writes the rows of `select` to a Parquet file with a note on itself. */
export function copyToParquet(select: string, file: string, note: FileNote): string {
  const metadata = sqlText(JSON.stringify({ version: 1, ...note }));
  return `COPY (${select}) TO ${sqlText(file)} (FORMAT parquet, COMPRESSION snappy${rowGroupSize(note.fields.length)}${dictionarySize(note.fields.length)}, KV_METADATA {'${metadataKey}': ${metadata}})`;
}

/** From how many fields on the memory that the engine takes for each counts: less is done at once. */
export const wideFields = 200;

/**
 * Names how many rows a row group has if there are many columns, since the engine holds them in memory. Fewer rows make more row groups, and
 * each takes the engine the square of the columns to begin with.
 */
function rowGroupSize(columns: number): string {
  const rows = Math.max(1, Math.floor(mostValues / columns / vectorRows)) * vectorRows;
  return rows < usualRows ? `, ROW_GROUP_SIZE ${rows}` : '';
}

/** Names how many bytes a dictionary of texts has if there are many columns: the engine allocates 600 KiB and more for each. */
function dictionarySize(columns: number): string {
  if (columns < wideFields) return '';
  return `, STRING_DICTIONARY_PAGE_SIZE_LIMIT ${Math.floor(mostDictionaryBytes / columns)}`;
}

/** Bytes of the dictionaries of a row group together. */
const mostDictionaryBytes = 256 * 2 ** 20;

/** Rows of a row group if nothing else is said, and rows of a vector, of which a row group has a multiple. */
const usualRows = 122_880;
const vectorRows = 2048;

/** Values of a row group. */
const mostValues = wideFields * usualRows;

/** Returns column names for fields, in order, that differ even where case is folded. */
export function columnNames(fields: readonly string[]): string[] {
  const taken = new Set<string>();
  return fields.map(field => {
    // The engine's names end at a NUL character.
    const plain = field.replaceAll('\0', '');
    let column = plain;
    for (let suffix = 2; taken.has(fold(column)); suffix++) column = `${plain}_${suffix}`;
    taken.add(fold(column));
    return column;
  });
}

/** A Parquet file that cannot be read, with the reason: the system's, or the engine's own words. */
export interface UnreadableFile {
  readonly path: string;
  readonly unreadable: string;
}

/** What the footer of a Parquet file says. */
export type Footer = Omit<FileSummary, 'bytes' | 'version'>;

/**
 * Reads the footers of Parquet files, in order; those without a time column have no blocks. Files that the engine cannot read are
 * told apart from the others by reading ever smaller groups.
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

/** What the statistics of a column say. */
export type ColumnFacts = Pick<FileField, 'empty' | 'wide' | 'bounded'>;

/** Returns what a footer says, from its note, the statistics of its columns by their names, its row groups, and the name of its writer. */
export function footerFrom(
  path: string,
  { fields, timeless = false, replaces = [], foreign = false }: FileNote,
  columns: ReadonlyMap<string, ColumnFacts>,
  blocks: readonly RowGroup[],
  writer: string | undefined,
): Footer {
  // To the engine NaN is the largest number: its statistics have it, or say nothing.
  const hidesNaN = writer?.startsWith('DuckDB') !== true;
  const measured = fields.map(field => {
    const { bounded, ...facts } = columns.get(field.column) ?? {};
    return { ...field, ...facts, ...present({ bounded: hidesNaN ? undefined : bounded }) };
  });
  return {
    path,
    fields: measured.map(({ empty = false, ...field }) => ({ ...field, empty: empty && !field.declared })),
    ...{ blocks, timeless, replaces, foreign, hidesNaN },
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

/** Returns the type of the language that holds an engine type; nested and unknown types are dynamic. */
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

/** Column names are compared as the engine does. */
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

/** The fields of a file that another program wrote are its columns. */
async function externalFields(connection: Connection, path: string): Promise<FileField[]> {
  const rows = await connection.run(`DESCRIBE SELECT * FROM read_parquet(${sqlText(path)})`);
  return rows.map(([column, sqlType]) => {
    return {
      name: String(column),
      column: String(column),
      type: typeOfSql(String(sqlType)),
      declared: true,
      ...present({ texts: sqlType === textListType ? true : undefined }),
    };
  });
}

/**
 * Reads the statistics of columns: whether every value is null, whether there are integers beyond 2^53, which a double
 * cannot hold, or may be, as their writer did not say, and whether all are reals within the bounds.
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
         TRY_CAST(stats_min_value AS DOUBLE) > -${squareable} AND TRY_CAST(stats_max_value AS DOUBLE) < ${squareable}, false)))
     FROM parquet_metadata(${list}) GROUP BY ALL`,
  );
  const columns = new Map<string, Map<string, ColumnFacts>>();
  for (const [file, column, empty, wide, bounded] of rows) {
    const path = String(file);
    const known = columns.get(path) ?? new Map<string, ColumnFacts>();
    const isBounded = bounded === true ? bounded : undefined;
    const facts = { empty: empty === true, wide: wide === true, ...present({ bounded: isBounded }) };
    columns.set(path, known.set(String(column), facts));
  }
  return columns;
}

async function readWriters(connection: Connection, list: string): Promise<ReadonlyMap<string, string>> {
  const rows = await connection.run(`SELECT file_name, created_by FROM parquet_file_metadata(${list})`);
  return new Map(rows.map(([file, writer]) => [String(file), String(writer)]));
}

async function readBlocks(connection: Connection, list: string): Promise<Map<string, RowGroup[]>> {
  const rows = await connection.run(
    `SELECT file_name, row_group_num_rows::BIGINT, epoch_ns(TRY_CAST(stats_min_value AS TIMESTAMP_NS)),
       epoch_ns(TRY_CAST(stats_max_value AS TIMESTAMP_NS)), stats_null_count
     FROM parquet_metadata(${list}) WHERE path_in_schema = '_time' ORDER BY file_name, row_group_id`,
  );
  const blocks = new Map<string, RowGroup[]>();
  const untimed = new Set<string>();
  for (const [path, count, minNs, maxNs, nulls] of rows) {
    const file = String(path);
    if (typeof minNs !== 'bigint' || typeof maxNs !== 'bigint') {
      untimed.add(file);
      continue;
    }
    if (nulls !== 0n) untimed.add(file);
    const known = blocks.get(file) ?? [];
    known.push({ rows: Number(count), minNs, maxNs, timed: true });
    blocks.set(file, known);
  }
  for (const file of untimed)
    blocks.set(file, blocks.get(file)?.map(block => ({ ...block, timed: false })) ?? []);
  return blocks;
}
