import type { TypeName } from '../../apl/catalog/entry.js';
import { type Engine, sqlText } from './duckdb.js';

/** A field of one Parquet file and the column that holds it. Engines fold the case of column names; fields keep theirs. */
export interface FileField {
  readonly name: string;
  readonly type: TypeName;
  readonly column: string;
  /** Every value is null, so that the type says nothing. */
  readonly empty?: boolean;
  /** Integers that a double cannot hold exactly. */
  readonly wide?: boolean;
}

/** One row group: its rows and the times they span, in nanoseconds since 1970. */
export interface Block {
  readonly rows: number;
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

/** What the footer of a Parquet file says. */
export interface FileSummary {
  readonly path: string;
  readonly fields: readonly FileField[];
  readonly blocks: readonly Block[];
}

/** Returns the statement that writes the rows of `select` to a Parquet file which knows the names of its fields. */
export function copyToParquet(select: string, file: string, fields: readonly FileField[]): string {
  const described = fields.map(({ name, type, column, empty }) => ({
    name,
    type,
    column,
    ...(empty && { empty }),
  }));
  const metadata = sqlText(JSON.stringify({ version: 1, fields: described }));
  return `COPY (${select}) TO ${sqlText(file)} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {'${metadataKey}': ${metadata}})`;
}

/** Returns column names for fields, in order, that differ even where case is folded. */
export function columnNames(fields: readonly string[]): string[] {
  const taken = new Set<string>();
  return fields.map(field => {
    let column = field;
    for (let suffix = 2; taken.has(fold(column)); suffix++) column = `${field}_${suffix}`;
    taken.add(fold(column));
    return column;
  });
}

/** Reads the footers of Parquet files; those without a time column have no blocks. */
export async function readFooters(engine: Engine, paths: readonly string[]): Promise<FileSummary[]> {
  if (paths.length === 0) return [];
  const list = `[${paths.map(sqlText).join(', ')}]`;
  const fields = await readFields(engine, list, paths);
  const wide = await readWide(engine, list);
  const blocks = await readBlocks(engine, list);
  return paths.map(path => ({
    path,
    fields: (fields.get(path) ?? []).map(field =>
      wide.has(`${path}\n${field.column}`) ? { ...field, wide: true } : field,
    ),
    blocks: blocks.get(path) ?? [],
  }));
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

const metadataKey = 'apl-kernel';

/** Column names are compared as the engine does. */
function fold(name: string): string {
  return name.toLowerCase();
}

async function readFields(
  engine: Engine,
  list: string,
  paths: readonly string[],
): Promise<Map<string, readonly FileField[]>> {
  const rows = await engine.run(
    `SELECT file_name, decode(value) FROM parquet_kv_metadata(${list}) WHERE decode(key) = '${metadataKey}'`,
  );
  const fields = new Map(
    rows.map(([path, json]) => [String(path), JSON.parse(String(json)).fields as FileField[]]),
  );
  for (const path of paths) {
    if (!fields.has(path)) fields.set(path, await foreignFields(engine, path));
  }
  return fields;
}

/** A file that another program has put there names its fields by its columns. */
async function foreignFields(engine: Engine, path: string): Promise<FileField[]> {
  const rows = await engine.run(`DESCRIBE SELECT * FROM read_parquet(${sqlText(path)})`);
  return rows.map(([column, type]) => ({
    name: String(column),
    column: String(column),
    type: typeOfSql(String(type)),
  }));
}

/** Doubles hold integers exactly up to 2^53. */
async function readWide(engine: Engine, list: string): Promise<Set<string>> {
  const rows = await engine.run(
    `SELECT DISTINCT file_name, path_in_schema FROM parquet_metadata(${list})
     WHERE type = 'INT64' AND (TRY_CAST(stats_min_value AS BIGINT) < -9007199254740992
       OR TRY_CAST(stats_max_value AS BIGINT) > 9007199254740992)`,
  );
  return new Set(rows.map(([path, column]) => `${path}\n${column}`));
}

async function readBlocks(engine: Engine, list: string): Promise<Map<string, Block[]>> {
  const rows = await engine.run(
    `SELECT file_name, row_group_num_rows::BIGINT, epoch_ns(TRY_CAST(stats_min_value AS TIMESTAMP_NS)),
       epoch_ns(TRY_CAST(stats_max_value AS TIMESTAMP_NS))
     FROM parquet_metadata(${list}) WHERE path_in_schema = '_time' ORDER BY file_name, row_group_id`,
  );
  const blocks = new Map<string, Block[]>();
  for (const [path, count, min, max] of rows) {
    if (typeof min !== 'bigint' || typeof max !== 'bigint') continue;
    const block = { rows: Number(count), minNs: min, maxNs: max };
    const known = blocks.get(String(path));
    if (known) known.push(block);
    else blocks.set(String(path), [block]);
  }
  return blocks;
}
