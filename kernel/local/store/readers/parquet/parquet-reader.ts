import path from 'node:path';
import { cut, plural, visible } from '../../../../text.js';
import type { Connection } from '../../../engine/duckdb.js';
import { LocalError } from '../../../local-errors.js';
import { mostFields, tooManyColumns } from '../../bounds/bounded-text.js';
import { distinctNames, keep, noFields, type Reading, renamedNotes, sampleRows } from '../reading.js';
import { checkPages } from './parquet-damage.js';
import { exactFiles, listOf } from './parquet-exact.js';
import { leavesOf, type ParquetLeaf } from './parquet-values.js';
import { partitionLeaves, partitionNotes, partitionsOf, withPartitions } from './partitions.js';

/**
 * Reads Parquet files as one: structs become dotted names, lists and maps become JSON, times get nanoseconds, and partition values in
 * directory names become fields.
 */
export async function readParquet(
  connection: Connection,
  files: readonly string[],
  workDir: string,
): Promise<Reading | undefined> {
  await refuseLargeDecimals(connection, files);
  await checkPages(connection, files);
  const exact = await exactFiles(connection, files, workDir);
  const rows = `read_parquet(${listOf(exact.files)}, union_by_name = true, hive_partitioning = false, can_have_nan = true)`;
  const columns = await connection.columns(`SELECT * FROM ${rows}`);
  const given = partitionsOf(files);
  const partitions = given.filter(({ name }) => !columns.some(column => column.name === name));
  const taken = columns.map(({ name }) => name);
  const from = withPartitions(rows, partitions, taken);
  const leaves = [...leavesOf(columns, exact), ...partitionLeaves(partitions, taken)];
  if (leaves.length === 0) throw noFields();
  if (leaves.length > mostFields) throw tooManyColumns(path.basename(files[0] ?? ''));
  const names = distinctNames(leaves.map(leaf => leaf.name));
  await keep(connection, 'sample', `SELECT * FROM ${from} LIMIT ${sampleRows}`);
  if ((await connection.run('SELECT 1 FROM sample LIMIT 1')).length === 0) return undefined;
  const named = leaves.map((leaf, index) => ({ ...leaf, name: names[index] ?? leaf.name }));
  const fields = await narrowed(connection, from, named);
  const notes = [
    ...partitionNotes(given, partitions),
    ...renamedNotes(
      leaves.map(({ name }) => name),
      names,
    ),
    ...fields.flatMap(({ name, note }) => (note === undefined ? [] : [`\`${name}\` ${note}.`])),
    ...(await changeNotes(connection, from, await mayChange(connection, exact.files, fields))),
  ];
  return { from, sample: 'sample', fields, notes, refused: 0 };
}

/** Throws LocalError if a file has decimals with more digits than the engine supports: it would read wrong numbers. */
async function refuseLargeDecimals(connection: Connection, files: readonly string[]): Promise<void> {
  const [row] = await connection.run(
    `SELECT name, precision FROM parquet_schema(${listOf(files)}) WHERE precision > ${mostDigits}`,
  );
  if (row === undefined) return;
  const name = visible(cut(String(row[0]), 80));
  const message = `\`${name}\` has decimals with ${Number(row[1])} digits: the limit is ${mostDigits}.`;
  throw new LocalError('invalid', 'unreadable', message, {
    hint: 'Write the column as text, or drop it.',
  });
}

const mostDigits = 38;

/** Returns the number of rows in Parquet files. */
export async function rowsInParquet(connection: Connection, files: readonly string[]): Promise<number> {
  const [row] = await connection.run(`SELECT sum(num_rows) FROM parquet_file_metadata(${listOf(files)})`);
  return Number(row?.[0]);
}

/** Gives fields the narrower type that all of their values fit, such as long for unsigned counters. */
async function narrowed(
  connection: Connection,
  from: string,
  fields: readonly ParquetLeaf[],
): Promise<ParquetLeaf[]> {
  const tests = fields.flatMap(({ narrower }) => narrower?.fits ?? []);
  const [row = []] =
    tests.length === 0 ? [] : await connection.run(`SELECT ${tests.join(', ')} FROM ${from}`);
  return fields.map(field => {
    if (field.narrower === undefined || row[tests.indexOf(field.narrower.fits)] === false) return field;
    const { note: _, narrower, ...rest } = field;
    const { fits: __, ...value } = narrower;
    return { ...rest, ...value };
  });
}

/** Returns the fields in which values may be changed: for times, file statistics usually show that all are in range. */
async function mayChange(
  connection: Connection,
  files: readonly string[],
  fields: readonly ParquetLeaf[],
): Promise<readonly ParquetLeaf[]> {
  const some = fields.filter(field => field.changed !== undefined);
  if (some.length === 0) return [];
  const bounds = ['min', 'max'].map(bound => `isfinite(TRY_CAST(stats_${bound}_value AS TIMESTAMP_NS))`);
  const rows = await connection.run(
    `SELECT path_in_schema FROM parquet_metadata(${listOf(files)}) GROUP BY path_in_schema
     HAVING bool_and(coalesce(stats_null_count = num_values OR (${bounds.join(' AND ')}), false))`,
  );
  const near = new Set(rows.map(([path]) => path));
  return some.filter(({ path, type }) => type !== 'datetime' || !near.has(path));
}

async function changeNotes(
  connection: Connection,
  from: string,
  fields: readonly ParquetLeaf[],
): Promise<string[]> {
  const changes = fields.flatMap(({ name, changed }) => (changed === undefined ? [] : { name, ...changed }));
  if (changes.length === 0) return [];
  const [row = []] = await connection.run(
    `SELECT ${changes.map(({ count }) => count).join(', ')} FROM ${from}`,
  );
  return changes.flatMap(({ name, say }, index) => {
    const rows = Number(row[index]);
    return rows === 0 ? [] : [`\`${name}\` ${say(plural(rows, 'row'))}.`];
  });
}
