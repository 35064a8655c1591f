import { DuckDBStructType, type DuckDBType } from '@duckdb/node-api';
import type { TypeName } from '../../apl/catalog/entry.js';
import { type Session, sqlName, sqlText } from '../engine/duckdb.js';
import { typeOfSql } from '../engine/parquet.js';
import { ServiceError } from '../http/service-error.js';
import type { StagedColumn } from './timestamps.js';

/** Rows read into the temporary table `staged`, with columns c0..cn. */
export interface Staged {
  readonly columns: readonly StagedColumn[];
  readonly rows: number;
  readonly notes: readonly string[];
}

/** How a CSV file is read; what is absent is found out. */
export interface CsvOptions {
  readonly delimiter?: string;
  /** The first line names the fields. */
  readonly header?: boolean;
}

/** The longest line and the largest JSON object that are read. */
const largestValueBytes = 256 * 2 ** 20;

/** Reads a file of JSON objects, one per line or in an array: nested objects become dotted names, the rest stays exact. */
export async function stageJson(session: Session, file: string): Promise<Staged> {
  const reader = `read_json_objects(${sqlText(file)}, format = 'auto', maximum_object_size = ${largestValueBytes})`;
  await session.run(`CREATE OR REPLACE TEMP TABLE raw AS SELECT json AS j FROM ${reader}`);
  if ((await session.run('SELECT 1 FROM raw LIMIT 1')).length === 0) return nothing;
  await refuseNonObjects(session);
  const [row] = await session.run('SELECT json_group_structure(j)::VARCHAR FROM raw');
  const structure: unknown = row?.[0] == null ? {} : JSON.parse(String(row[0]));
  const { leaves, notes } = flattened(structure);
  const typed = await exactTypes(session, leaves);
  const paths = `[${typed.map(leaf => sqlText(leaf.pointer)).join(', ')}]`;
  const cells = typed.map((leaf, index) => `${jsonCell(`l[${index + 1}]`, leaf.type)} AS c${index}`);
  if (cells.length === 0) throw noFields();
  await session.run(
    `CREATE OR REPLACE TEMP TABLE staged AS SELECT ${cells.join(', ')} FROM (SELECT json_extract(j, ${paths}) AS l FROM raw)`,
  );
  return stagedRows(session, typed, notes);
}

/** Reads a CSV file: every value as text first, then each column as the narrowest type that loses nothing. */
export async function stageCsv(session: Session, file: string, options: CsvOptions = {}): Promise<Staged> {
  const reader = await csvReader(session, file, options.delimiter);
  const [line] = await session.run(`SELECT * FROM ${reader(false)} LIMIT 1`);
  if (!line) return nothing;
  const first = line.map(cell => String(cell ?? '').trim());
  const header = options.header ?? looksLikeHeader(first);
  const names = first.map((name, index) => (header && name !== '' ? name : `column${index + 1}`));
  await session.run(`CREATE OR REPLACE TEMP TABLE raw AS SELECT * FROM ${reader(header)}`);
  const fields = await csvTypes(session, distinctNames(names));
  const cells = fields.map((field, index) => `${csvCell(`t${index}`, field.type)} AS c${index}`);
  await session.run(`CREATE OR REPLACE TEMP TABLE staged AS SELECT ${cells.join(', ')} FROM raw`);
  const notes = header
    ? []
    : ['The first line does not look like names: the fields are column1, column2, ….'];
  return stagedRows(session, fields, notes);
}

/** Reads a Parquet file: structs become dotted names, lists and maps become JSON, times get nanoseconds. */
export async function stageParquet(session: Session, file: string): Promise<Staged> {
  const source = `SELECT * FROM read_parquet(${sqlText(file)})`;
  const columns = await session.columns(source);
  const leaves = columns.flatMap(({ name, type }) => structLeaves(name, sqlName(name), type));
  if (leaves.length === 0) throw noFields();
  const fields = distinctNames(leaves.map(leaf => leaf.name)).map((name, index) => ({
    name,
    type: leaves[index]?.type ?? ('string' as const),
  }));
  const cells = leaves.map((leaf, index) => `${leaf.sql} AS c${index}`);
  await session.run(`CREATE OR REPLACE TEMP TABLE staged AS SELECT ${cells.join(', ')} FROM (${source})`);
  return stagedRows(session, fields, []);
}

const nothing: Staged = { columns: [], rows: 0, notes: [] };

interface Field {
  readonly name: string;
  readonly type: TypeName;
}

function noFields(): ServiceError {
  return new ServiceError(400, 'no-fields', 'The data has no fields.');
}

async function stagedRows(
  session: Session,
  fields: readonly Field[],
  notes: readonly string[],
): Promise<Staged> {
  const counts = fields.map((_, index) => `count(c${index})`);
  const [row = []] = await session.run(`SELECT count(*), ${counts.join(', ')} FROM staged`);
  await session.run('DROP TABLE IF EXISTS raw');
  const columns = fields.map(({ name, type }, index) => ({
    name,
    type,
    column: `c${index}`,
    ...(Number(row[index + 1]) === 0 && { empty: true }),
  }));
  return { columns, rows: Number(row[0]), notes };
}

function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    let distinct = name;
    for (let suffix = 2; taken.has(distinct); suffix++) distinct = `${name}_${suffix}`;
    taken.add(distinct);
    return distinct;
  });
}

// ---- JSON ----

interface JsonLeaf extends Field {
  /** RFC 6901, which can name any key. */
  readonly pointer: string;
  /** The engine's name of what was found there. */
  readonly found: string;
}

async function refuseNonObjects(session: Session): Promise<void> {
  const [row] = await session.run(
    `SELECT count(*), any_value(left(j::VARCHAR, 60)) FROM raw WHERE json_type(j) IS DISTINCT FROM 'OBJECT'`,
  );
  if (Number(row?.[0]) === 0) return;
  throw new ServiceError(
    400,
    'not-an-object',
    `${row?.[0]} of the values are not JSON objects, such as ${row?.[1]}.`,
    {
      hint: 'Each event is one object: {"field": value, …}.',
    },
  );
}

/** An object with more keys than this over all rows is a map with open keys, not a record; tried in turn until it fits. */
const keyLimits = [200, 50, 10, 0];
const mostFields = 1000;

function flattened(structure: unknown): { leaves: JsonLeaf[]; notes: string[] } {
  for (const limit of keyLimits) {
    const leaves = keysOf(structure).flatMap(([key, below]) =>
      jsonLeaves(key, `/${escapePointer(key)}`, below, limit),
    );
    if (leaves.length > mostFields && limit > 0) continue;
    const names = distinctNames(leaves.map(leaf => leaf.name));
    const renamed = leaves.map((leaf, index) => ({ ...leaf, name: names[index] ?? leaf.name }));
    return { leaves: renamed, notes: renameNotes(leaves, names) };
  }
  return { leaves: [], notes: [] };
}

function renameNotes(leaves: readonly JsonLeaf[], names: readonly string[]): string[] {
  return leaves.flatMap(({ name }, index) =>
    names[index] === name
      ? []
      : [`\`${name}\` occurs as a name and as a path: the second became \`${names[index]}\`.`],
  );
}

function jsonLeaves(name: string, pointer: string, structure: unknown, keyLimit: number): JsonLeaf[] {
  const keys = keysOf(structure);
  if (typeof structure === 'string' || keys.length === 0 || keys.length > keyLimit) {
    const found = typeof structure === 'string' ? structure : 'JSON';
    return [{ name: name === '' ? '_' : name, pointer, found, type: jsonTypes[found] ?? 'dynamic' }];
  }
  return keys.flatMap(([key, below]) =>
    jsonLeaves(`${name}.${key}`, `${pointer}/${escapePointer(key)}`, below, keyLimit),
  );
}

const jsonTypes: Readonly<Record<string, TypeName>> = {
  NULL: 'string',
  BOOLEAN: 'bool',
  BIGINT: 'long',
  UBIGINT: 'long',
  HUGEINT: 'long',
  DOUBLE: 'real',
  VARCHAR: 'string',
};

function keysOf(structure: unknown): [string, unknown][] {
  if (typeof structure !== 'object' || structure === null || Array.isArray(structure)) return [];
  return Object.entries(structure);
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Numbers that would lose digits as long or real stay as the JSON they are. */
async function exactTypes(session: Session, leaves: readonly JsonLeaf[]): Promise<JsonLeaf[]> {
  const doubtful = leaves.filter(leaf => ['UBIGINT', 'HUGEINT', 'DOUBLE'].includes(leaf.found));
  if (doubtful.length === 0) return [...leaves];
  const paths = `[${doubtful.map(leaf => sqlText(leaf.pointer)).join(', ')}]`;
  const tests = doubtful.map(
    (leaf, index) => `bool_or(${losesDigits(`l[${index + 1}]::VARCHAR`, leaf.type)})`,
  );
  const [row = []] = await session.run(
    `SELECT ${tests.join(', ')} FROM (SELECT json_extract(j, ${paths}) AS l FROM raw)`,
  );
  const inexact = new Set(doubtful.filter((_, index) => row[index] === true));
  return leaves.map(leaf => (inexact.has(leaf) ? { ...leaf, type: 'dynamic' } : leaf));
}

function losesDigits(text: string, type: TypeName): string {
  const integer = `regexp_full_match(${text}, '-?\\d+')`;
  if (type === 'long') return `${integer} AND TRY_CAST(${text} AS BIGINT) IS NULL`;
  return `${integer} AND coalesce(abs(TRY_CAST(${text} AS HUGEINT)) > 9007199254740992, true)`;
}

function jsonCell(cell: string, type: TypeName): string {
  switch (type) {
    case 'string':
      return `${cell}->>'$'`;
    case 'bool':
      return `TRY_CAST(${cell} AS BOOLEAN)`;
    case 'long':
      return `TRY_CAST(${cell}::VARCHAR AS BIGINT)`;
    case 'real':
      return `TRY_CAST(${cell}::VARCHAR AS DOUBLE)`;
    default:
      return `nullif(${cell}::VARCHAR, 'null')`;
  }
}

// ---- CSV ----

const largestCsvLineBytes = 32 * 2 ** 20;

/** Returns the reader of a file, all columns as text t0..tn, with or without a first line of names. */
async function csvReader(
  session: Session,
  file: string,
  delimiter: string | undefined,
): Promise<(header: boolean) => string> {
  const limits = `max_line_size = ${largestCsvLineBytes}, buffer_size = ${2 * largestCsvLineBytes}, null_padding = true`;
  const given = delimiter === undefined ? '' : `, delim = ${sqlText(delimiter)}`;
  const [row] = await session.run(
    `SELECT "Delimiter", "Quote", "Escape", "SkipRows", len("Columns")
     FROM sniff_csv(${sqlText(file)}, all_varchar = true, header = false, ${limits}${given})`,
  );
  const [delim, quote, escaped, skip, width] = row ?? [];
  // What the sample did not quote may be quoted further down.
  const quoted = dialectText(quote, '"');
  const dialect = `delim = ${sqlText(dialectText(delim, ','))}, quote = ${sqlText(quoted)}, escape = ${sqlText(dialectText(escaped, quoted))}, skip = ${Number(skip)}`;
  const columns = Array.from({ length: Number(width) }, (_, index) => `'t${index}': 'VARCHAR'`).join(', ');
  return header =>
    `read_csv(${sqlText(file)}, auto_detect = false, parallel = false, header = ${header}, ${dialect}, ${limits}, columns = {${columns}})`;
}

function dialectText(found: unknown, otherwise: string): string {
  return typeof found === 'string' && found !== '' && found !== '(empty)' ? found : otherwise;
}

/** Most names are there, and none is a number or a time. */
function looksLikeHeader(cells: readonly string[]): boolean {
  const names = cells.filter(cell => cell !== '');
  return (
    names.length * 2 > cells.length &&
    names.every(name => /\p{L}/u.test(name) && !/^\d{1,4}[-/:.]/.test(name))
  );
}

/** Patterns that a text must have to be read as another type and written back the same. */
const csvPatterns: readonly (readonly [TypeName, string])[] = [
  ['bool', 'true|false|True|False|TRUE|FALSE'],
  ['long', '0|-?[1-9]\\d{0,18}'],
  ['real', '-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d{1,3})?'],
  ['datetime', '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,6})?(Z|[+-]\\d{2}:\\d{2})'],
];

async function csvTypes(session: Session, names: readonly string[]): Promise<Field[]> {
  const tests = names.flatMap((_, index) =>
    csvPatterns.map(([type, pattern]) => csvTest(`t${index}`, type, pattern)),
  );
  const [row = []] = await session.run(`SELECT ${tests.join(', ')} FROM raw`);
  return names.map((name, index) => {
    const from = index * csvPatterns.length;
    const fit = csvPatterns.findIndex((_, offset) => row[from + offset] === true);
    return { name, type: csvPatterns[fit]?.[0] ?? 'string' };
  });
}

/** True when every value fits; null for a column without values. A real must not be an integer that it cannot hold. */
function csvTest(column: string, type: TypeName, pattern: string): string {
  const value = `nullif(${column}, '')`;
  const matches = `regexp_full_match(${value}, ${sqlText(pattern)})`;
  const exact =
    type === 'real' ? `NOT (${losesDigits(value, 'real')})` : `${csvCell(column, type)} IS NOT NULL`;
  return `bool_and(CASE WHEN ${value} IS NOT NULL THEN ${matches} AND ${exact} END)`;
}

function csvCell(column: string, type: TypeName): string {
  const value = `nullif(${column}, '')`;
  if (type === 'string') return value;
  if (type === 'datetime') return `TRY_CAST(TRY_CAST(${value} AS TIMESTAMPTZ) AS TIMESTAMP_NS)`;
  return `TRY_CAST(${value} AS ${type === 'bool' ? 'BOOLEAN' : type === 'long' ? 'BIGINT' : 'DOUBLE'})`;
}

// ---- Parquet ----

interface StructLeaf extends Field {
  readonly sql: string;
}

function structLeaves(name: string, sql: string, type: DuckDBType): StructLeaf[] {
  if (type instanceof DuckDBStructType) {
    return type.entryNames.flatMap((entry, index) => {
      const below = type.entryTypes[index];
      return below
        ? structLeaves(`${name}.${entry}`, `struct_extract(${sql}, ${sqlText(entry)})`, below)
        : [];
    });
  }
  const target = typeOfSql(type.toString());
  return [{ name, type: target, sql: parquetCell(sql, target) }];
}

function parquetCell(sql: string, type: TypeName): string {
  switch (type) {
    case 'datetime':
      return `TRY_CAST(${sql} AS TIMESTAMP_NS)`;
    case 'dynamic':
      return `to_json(${sql})::VARCHAR`;
    case 'string':
      return `${sql}::VARCHAR`;
    case 'bool':
      return sql;
    case 'real':
      return `${sql}::DOUBLE`;
    case 'long':
    case 'timespan':
      return `${sql}::BIGINT`;
  }
}
