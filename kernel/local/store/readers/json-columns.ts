import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBStructType, type DuckDBType } from '@duckdb/node-api';
import { sqlName, sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { columnNames } from '../../engine/engine-parquet.js';
import type { JsonLeaf } from './json-shape.js';
import { mismatch } from './reading.js';

/** Returns the relation of the leaf values r_i of the objects in a file, one per line or in an array. */
export type ColumnReader = (file: string) => string;

/**
 * Returns a reader based on the engine's own columns, which takes a third of the time of maps. Columns of `texts` are the content of a
 * string or the source of any other value, see {@link maybeNoString}; other strings are JSON, and everything else is its JSON source. The
 * reader fails at a row that is not an object, repeats a key, has an unknown key, or has no values, as the engine reads null as an object.
 * Undefined if the engine would name the columns differently.
 */
export async function columnReader(
  connection: Connection,
  leaves: readonly JsonLeaf[],
  texts: ReadonlySet<JsonLeaf>,
  workDir: string,
): Promise<ColumnReader | undefined> {
  const example = exampleOf(leaves, texts);
  const origin = columnNames([...example.keys(), 'file']).at(-1) ?? 'file';
  // The engine takes the columns from the first file, and rejects unknown keys in all files only if it detected the columns itself.
  const head = path.join(workDir, `${crypto.randomUUID()}.head.ndjson`);
  await writeFile(head, `${jsonOf(example)}\n`, { mode: 0o600 });
  const found = `sample_size = 1, maximum_sample_files = 1, map_inference_threshold = -1, field_appearance_threshold = 0`;
  const rows = (file: string) =>
    `read_json([${sqlText(head)}, ${sqlText(file)}], format = 'auto', filename = ${sqlText(origin)}, ${found})`;
  if (!(await hasColumns(connection, rows(head), [...example, [origin, text]]))) return undefined;
  const values = leaves.map(leaf => `${columnSql(leaf, texts)} AS r`).map((sql, index) => sql + index);
  const isBare = [...example.keys()].map(key => `${sqlName(key)} IS NULL`).join(' AND ');
  return file => {
    const isFrom = `${sqlName(origin)} = ${sqlText(file)}`;
    const isObject = `CASE WHEN ${isFrom} AND ${isBare} THEN ${mismatch} ELSE true END`;
    return `(SELECT ${values.join(', ')} FROM ${rows(file)} WHERE ${isFrom} AND ${isObject})`;
  };
}

/** Corrects the progress of a scan: the engine counts the head and the file as four files, the head as finished. */
export function afterHead(share: number): number {
  return 4 * share - 1;
}

/** Example of a value that the engine reads as a string, as any value, or as an object with members. */
type Example = typeof text | null | Members;
type Members = Map<string, Example>;

const text = 'x';

function exampleOf(leaves: readonly JsonLeaf[], texts: ReadonlySet<JsonLeaf>): Members {
  const root: Members = new Map();
  for (const leaf of leaves) {
    const holder = leaf.path.slice(0, -1).reduce(membersAt, root);
    holder.set(leaf.path.at(-1) ?? '', texts.has(leaf) ? text : null);
  }
  return root;
}

function membersAt(members: Members, key: string): Members {
  const known = members.get(key);
  if (known instanceof Map) return known;
  const below: Members = new Map();
  members.set(key, below);
  return below;
}

/** Returns JSON; unlike JavaScript objects, maps keep numeric keys in order. */
function jsonOf(example: Example): string {
  if (!(example instanceof Map)) return JSON.stringify(example);
  return `{${[...example].map(([key, below]) => `${JSON.stringify(key)}:${jsonOf(below)}`).join(',')}}`;
}

async function hasColumns(
  connection: Connection,
  rows: string,
  wanted: readonly (readonly [string, Example])[],
): Promise<boolean> {
  try {
    const columns = await connection.columns(`SELECT * FROM ${rows}`);
    return (
      columns.length === wanted.length &&
      wanted.every(([name, example], index) => {
        const column = columns[index];
        return column?.name === name && fits(column.type, example);
      })
    );
  } catch {
    return false;
  }
}

function fits(type: DuckDBType, example: Example): boolean {
  if (!(example instanceof Map))
    return (type.alias ?? type.toString()) === (example === null ? 'JSON' : 'VARCHAR');
  if (!(type instanceof DuckDBStructType) || type.entryCount !== example.size) return false;
  return [...example].every(([name, below], index) => {
    const found = type.entryTypes[index];
    return type.entryNames[index] === name && found !== undefined && fits(found, below);
  });
}

function columnSql(leaf: JsonLeaf, texts: ReadonlySet<JsonLeaf>): string {
  const [root = '', ...keys] = leaf.path;
  const value = keys.reduce((sql, key) => `struct_extract(${sql}, ${sqlText(key)})`, sqlName(root));
  return leaf.type === 'string' || texts.has(leaf) ? value : `${value}::VARCHAR`;
}
