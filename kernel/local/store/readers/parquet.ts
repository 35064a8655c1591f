import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBStructType, type DuckDBType } from '@duckdb/node-api';
import { present } from '../../../present.js';
import { cut, plural, visible } from '../../../text.js';
import { EARLIEST_TIME, LATEST_TIME, MICROSECOND } from '../../../time.js';
import { sqlName, sqlText } from '../../duckdb/literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { typeOfSql } from '../../engine/parquet.js';
import { LocalError } from '../../errors.js';
import { mostFields, tooManyColumns } from '../bounds/text.js';
import { distinctNames, keep, noFields, type ReadField, type Reading, sampleRows } from './reading.js';

/** Reads a Parquet file: structs become dotted names, lists and maps become JSON, times get nanoseconds. */
export async function readParquet(
  connection: Connection,
  file: string,
  workDir: string,
): Promise<Reading | undefined> {
  await refuseLargeDecimals(connection, file);
  const exact = await exactFile(connection, file, workDir);
  const from = `read_parquet(${sqlText(exact)})`;
  const columns = await connection.columns(`SELECT * FROM ${from}`);
  const leaves = columns.flatMap(({ name, type }) => leavesOf(name, name, sqlName(name), type));
  if (leaves.length === 0) throw noFields();
  if (leaves.length > mostFields) throw tooManyColumns(path.basename(file));
  const names = distinctNames(leaves.map(leaf => leaf.name));
  await keep(connection, 'sample', `SELECT * FROM ${from} LIMIT ${sampleRows}`);
  if ((await connection.run('SELECT 1 FROM sample LIMIT 1')).length === 0) return undefined;
  const named = leaves.map((leaf, index) => ({ ...leaf, name: names[index] ?? leaf.name }));
  const fields = await withLongs(connection, from, named);
  const far = await farTimes(connection, exact, fields);
  const lost = await timeNotes(connection, from, far);
  const notes = [
    ...fields.flatMap(({ name, note }) => (note === undefined ? [] : [`\`${name}\` ${note}.`])),
    ...lost,
  ];
  return { from, sample: 'sample', fields, notes, refused: 0 };
}

/** Throws LocalError where a file has decimals of more digits than the engine holds: it would read other numbers. */
async function refuseLargeDecimals(connection: Connection, file: string): Promise<void> {
  const [row] = await connection.run(
    `SELECT name, precision FROM parquet_schema(${sqlText(file)}) WHERE precision > ${mostDigits}`,
  );
  if (row === undefined) return;
  const name = visible(cut(String(row[0]), 80));
  const message = `\`${name}\` has decimals of ${Number(row[1])} digits: at most ${mostDigits} can be read.`;
  throw new LocalError('invalid', 'unreadable', message, {
    hint: 'Write the column as text, or leave it out of the file.',
  });
}

const mostDigits = 38;

/** Returns how many rows a Parquet file has. */
export async function rowsInParquet(connection: Connection, file: string): Promise<number> {
  const [row] = await connection.run(`SELECT num_rows FROM parquet_file_metadata(${sqlText(file)})`);
  return Number(row?.[0]);
}

interface Leaf extends ReadField {
  /** The names that lead to the column, as the engine joins them in what it says of a file. */
  readonly path: string;
  /** How the values were converted, if they were. */
  readonly note?: string;
  /** A time that may lie outside the range of nanoseconds. */
  readonly far?: string;
  /** An integer that may take more than 64 bits. */
  readonly large?: string;
}

function leavesOf(name: string, path: string, sql: string, type: DuckDBType): Leaf[] {
  if (type instanceof DuckDBStructType) {
    return type.entryNames.flatMap((entry, index) => {
      const below = type.entryTypes[index];
      const value = `struct_extract(${sql}, ${sqlText(entry)})`;
      return below ? leavesOf(`${name}.${entry}`, `${path}, ${entry}`, value, below) : [];
    });
  }
  return [{ name, path, ...cellOf(sql, type.alias ?? type.toString()), declared: true }];
}

/** Decimal digits that a double always holds. */
const realDigits = 15;

function cellOf(sql: string, type: string): Omit<Leaf, 'name' | 'path'> {
  const [, digits, fraction] = /^DECIMAL\((\d+),(\d+)/.exec(type) ?? [];
  if ((digits !== undefined && Number(digits) > realDigits) || /^(HUGEINT|UHUGEINT|UBIGINT)$/.test(type))
    return {
      type: 'dynamic',
      sql: `${sql}::VARCHAR`,
      note: `is ${type.replace(',', ', ')}: it is dynamic, with every digit`,
      ...present({ large: fraction === undefined || fraction === '0' ? sql : undefined }),
    };
  if (/^TIME(_NS)?$/.test(type)) return { type: 'timespan', sql: `epoch_ns(${sql})` };
  if (type === 'BLOB')
    return { type: 'string', sql: `base64(${sql})`, note: 'is binary: it is text in Base64' };
  const target = typeOfSql(type);
  switch (target) {
    case 'datetime':
      return {
        type: target,
        sql: nanosecondsOf(sql, type),
        ...present({ far: type !== 'TIMESTAMP_NS' ? sql : undefined }),
      };
    case 'dynamic':
      return { type: target, sql: `to_json(${sql})::VARCHAR` };
    case 'string':
      return { type: target, sql: `${sql}::VARCHAR` };
    case 'bool':
      return { type: target, sql };
    case 'real':
      return { type: target, sql: `${sql}::DOUBLE` };
    case 'long':
    case 'timespan':
      return { type: target, sql: `${sql}::BIGINT` };
  }
}

/** Null where a time does not fit 64 bits of nanoseconds: the engine fails at such a time, also within TRY_CAST, but at a date it does not. */
function nanosecondsOf(sql: string, type: string): string {
  if (!/^TIMESTAMP( WITH TIME ZONE)?$/.test(type)) return `TRY_CAST(${sql} AS TIMESTAMP_NS)`;
  const micros = `epoch_us(${sql})`;
  const inside = `${micros} BETWEEN ${EARLIEST_TIME / MICROSECOND} AND ${LATEST_TIME / MICROSECOND}`;
  return `CASE WHEN ${inside} THEN make_timestamp_ns(${micros} * ${MICROSECOND}) END`;
}

/** Counters are often unsigned, and some databases have no integers but decimals: those that fit 64 bits are integers here. */
async function withLongs(connection: Connection, from: string, fields: readonly Leaf[]): Promise<Leaf[]> {
  const large = fields.flatMap(field => field.large ?? []);
  const fits = large.map(sql => `min(${sql}) >= ${leastLong} AND max(${sql}) <= ${mostLong}`);
  const [row = []] = large.length === 0 ? [] : await connection.run(`SELECT ${fits.join(', ')} FROM ${from}`);
  return fields.map(field => {
    if (field.large === undefined || row[large.indexOf(field.large)] === false) return field;
    const { note: _, ...rest } = field;
    return { ...rest, type: 'long', sql: `${field.large}::BIGINT` };
  });
}

const mostLong = 2n ** 63n - 1n;
const leastLong = -(2n ** 63n);

/** Returns the fields with times that the statistics of the file do not show to fit 64 bits of nanoseconds. */
async function farTimes(
  connection: Connection,
  file: string,
  fields: readonly Leaf[],
): Promise<readonly Leaf[]> {
  const far = fields.filter(field => field.far !== undefined);
  if (far.length === 0) return [];
  const bounds = ['min', 'max'].map(bound => `isfinite(TRY_CAST(stats_${bound}_value AS TIMESTAMP_NS))`);
  const rows = await connection.run(
    `SELECT path_in_schema FROM parquet_metadata(${sqlText(file)}) GROUP BY path_in_schema
     HAVING bool_and(coalesce(stats_null_count = num_values OR (${bounds.join(' AND ')}), false))`,
  );
  const near = new Set(rows.map(([path]) => path));
  return far.filter(({ path }) => !near.has(path));
}

/** Times before 1677 and after 2262 do not fit 64 bits of nanoseconds. */
async function timeNotes(connection: Connection, from: string, far: readonly Leaf[]): Promise<string[]> {
  if (far.length === 0) return [];
  const counts = far.map(field => `count(${field.far}) - count(${field.sql})`);
  const [row = []] = await connection.run(`SELECT ${counts.join(', ')} FROM ${from}`);
  return far.flatMap(({ name }, index) =>
    Number(row[index]) === 0
      ? []
      : [
          `\`${name}\` is null in ${plural(Number(row[index]), 'row')}: the times there are before 1677 or after 2262.`,
        ],
  );
}

/**
 * Returns the file itself, or a copy in which UTC times in nanoseconds are marked as having no zone: the engine cuts those with
 * one to microseconds. The copy is removed with `workDir`.
 */
async function exactFile(connection: Connection, file: string, workDir: string): Promise<string> {
  const [row] = await connection.run(
    `SELECT count(*) FROM parquet_schema(${sqlText(file)})
     WHERE logical_type LIKE 'TimestampType(isAdjustedToUTC=1%' AND logical_type NOT LIKE '%NANOS=<null>%'`,
  );
  const wanted = Number(row?.[0]);
  if (wanted === 0) return file;
  const copy = path.join(workDir, `${crypto.randomUUID()}.utc.parquet`);
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o600);
  return (await clearZones(copy)) === wanted ? copy : file;
}

/**
 * A timestamp in nanoseconds and UTC, as the compact encoding of the footer
 * (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift) has it; the second byte is the zone.
 */
const utcNanoseconds = Buffer.from([0x8c, 0x11, 0x1c, 0x3c, 0x00, 0x00]);
const noZone = Buffer.from([0x12]);

/** Returns how many columns of the file have lost their zone. */
async function clearZones(file: string): Promise<number> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    const tail = await readAt(handle, size - 8, 4);
    const start = size - 8 - tail.readUInt32LE();
    const footer = await readAt(handle, start, size - 8 - start);
    let count = 0;
    for (let at = footer.indexOf(utcNanoseconds); at >= 0; at = footer.indexOf(utcNanoseconds, at + 1)) {
      await handle.write(noZone, 0, 1, start + at + 1);
      count++;
    }
    return count;
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  return (await handle.read(Buffer.alloc(length), 0, length, position)).buffer;
}
