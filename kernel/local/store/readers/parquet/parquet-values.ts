import {
  DuckDBArrayType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
} from '@duckdb/node-api';
import { present } from '../../../../present.js';
import { DAY, EARLIEST_TIME, LATEST_TIME, MICROSECOND } from '../../../../time.js';
import { sqlName, sqlText } from '../../../duckdb/duckdb-literal.js';
import { realDigits, typeOfSql } from '../../../engine/engine-parquet.js';
import type { ReadField } from '../reading.js';
import { type ArrowDuration, nanoseconds } from './parquet-durations.js';
import type { ExactFiles } from './parquet-exact.js';
import type { ExactReading } from './parquet-footer.js';

/** A column of a Parquet file that becomes a field. */
export interface ParquetLeaf extends ReadField {
  /** Path of names to the column, joined like in the engine's metadata. */
  readonly path: string;
  /** How values were converted, if they were. */
  readonly note?: string;
  /** For values that change if they do not fit: SQL of an aggregate that counts them, and the note for that number of rows. */
  readonly changed?: { readonly count: string; readonly say: (rows: string) => string };
  /** Type and SQL if all values of the file fit; `fits` is the SQL of an aggregate that checks this. */
  readonly narrower?: Pick<ReadField, 'type' | 'sql'> & { readonly fits: string };
}

/** Returns the columns as fields, with dotted names for structs; names are those in the file, which may differ only by case. */
export function leavesOf(
  columns: readonly { readonly name: string; readonly type: DuckDBType }[],
  { columns: written, durations }: ExactFiles,
): readonly ParquetLeaf[] {
  const file: Described = {
    names: namesBelow(written),
    exact: new Map(written.map(({ path, exact }) => [keyOf(path), exact])),
    durations,
  };
  return columns.flatMap(({ name, type }, index) =>
    leavesBelow([nameOf(file, [], index, name)], sqlName(name), type, file),
  );
}

function namesBelow(columns: ExactFiles['columns']): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const { path, name } of columns) {
    const above = keyOf(path.slice(0, -1));
    const beside = names.get(above);
    if (beside === undefined) names.set(above, [name]);
    else beside.push(name);
  }
  return names;
}

/** Metadata of columns in the file, by path. */
interface Described {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly exact: ReadonlyMap<string, ExactReading | undefined>;
  readonly durations: readonly ArrowDuration[];
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** Returns the name of a nested column in the file. */
function nameOf({ names }: Described, above: readonly string[], index: number, ofEngine: string): string {
  return names.get(keyOf(above))?.[index] ?? ofEngine;
}

function leavesBelow(
  path: readonly string[],
  sql: string,
  type: DuckDBType,
  file: Described,
): readonly ParquetLeaf[] {
  if (type instanceof DuckDBStructType) {
    return type.entryNames.flatMap((entry, index) => {
      const below = type.entryTypes[index];
      const name = nameOf(file, path, index, entry);
      return below ? leavesBelow([...path, name], member(sql, entry), below, file) : [];
    });
  }
  const value = knownValue(path, sql, file) ?? cellOf(sql, type, insideNote(path, file));
  return [{ name: path.join('.'), path: path.join(', '), declared: true, ...value }];
}

type Value = Omit<ParquetLeaf, 'name' | 'path'>;

function member(sql: string, name: string): string {
  return `struct_extract(${sql}, ${sqlText(name)})`;
}

/** Returns a value whose type only the footer shows. */
function knownValue(path: readonly string[], sql: string, file: Described): Value | undefined {
  const key = keyOf(path);
  const exact = file.exact.get(key);
  if (exact === 'integer') return { type: 'timespan', sql };
  if (exact === 'bytes') return time(sql, inRange(nanosOfInt96(sql)));
  const duration = file.durations.find(each => keyOf(each.path) === key);
  if (duration === undefined) return undefined;
  const size = nanoseconds[duration.unit];
  const most = (2n ** 63n - 1n) / size;
  const inside = `CASE WHEN ${sql} BETWEEN ${-most} AND ${most} THEN ${sql} * ${size} END`;
  if (size === 1n) return { type: 'timespan', sql };
  return {
    type: 'timespan',
    sql: inside,
    changed: nullIn(sql, inside, 'duration is longer than 292 years'),
  };
}

/** Returns the note on a list or map whose values lose their type in JSON. */
function insideNote(path: readonly string[], { durations }: Described): string | undefined {
  const inside = durations.find(({ path: inner }) => path.every((name, index) => name === inner[index]));
  return inside && `contains durations, which become numbers of ${inside.unit}`;
}

function time(sql: string, value: string): Value {
  return {
    type: 'datetime',
    sql: value,
    changed: nullIn(sql, value, 'time is before 1677-09-22 or after 2262-04-11'),
  };
}

function nullIn(sql: string, value: string, why: string): ParquetLeaf['changed'] & object {
  return { count: `count(${sql}) - count(${value})`, say: rows => `is null in ${rows} because the ${why}` };
}

/**
 * Returns the SQL of a time from its nanoseconds, null if it is out of range. The condition is within the call, as the engine may convert
 * every value of a dictionary regardless of conditions around it.
 */
function inRange(nanos: string): string {
  return `make_timestamp_ns(CASE WHEN ${nanos} BETWEEN ${EARLIEST_TIME} AND ${LATEST_TIME} THEN ${nanos}::BIGINT END)`;
}

/** Returns the SQL of an INT96 time: eight bytes of nanoseconds of the day and four of the Julian day, little-endian. */
function nanosOfInt96(sql: string): string {
  const number = (...bytes: readonly number[]) =>
    `('0x' || ${bytes.map(byte => `substr(hex(${sql}), ${2 * byte + 1}, 2)`).join(' || ')})::UBIGINT::HUGEINT`;
  const epochDay = 2_440_588n;
  return `(${number(7, 6, 5, 4, 3, 2, 1, 0)} + (${number(11, 10, 9, 8)} - ${epochDay}) * ${DAY})`;
}

function cellOf(sql: string, type: DuckDBType, insideNote: string | undefined): Value {
  const name = type.alias ?? type.toString();
  const [, digits, fraction] = /^DECIMAL\((\d+),(\d+)\)$/.exec(name) ?? [];
  if ((digits !== undefined && Number(digits) > realDigits) || name === 'UBIGINT')
    return largeNumber(sql, name, fraction === undefined || fraction === '0');
  if (name === 'TIME' || name === 'TIME WITH TIME ZONE')
    return { type: 'timespan', sql: `epoch_ns(${sql}::TIME)` };
  if (name === 'INTERVAL') return interval(sql);
  if (name === 'BLOB')
    return { type: 'string', sql: `base64(${sql})`, note: 'is binary and becomes Base64 text' };
  if (name === 'VARIANT')
    return {
      type: 'dynamic',
      sql: `${variantOf(sql)}::VARCHAR`,
      note: 'is VARIANT and becomes dynamic, with times and binary values as text',
    };
  if (name.startsWith('GEOMETRY'))
    return { type: 'string', sql: `${sql}::VARCHAR`, note: 'is a geometry and becomes WKT text' };
  const target = typeOfSql(name);
  switch (target) {
    case 'datetime':
      return time(sql, nanosecondsOf(sql, name));
    case 'dynamic':
      return { type: target, ...jsonOf(sql, type), ...present({ note: insideNote }) };
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

/** Counters are often unsigned, and some databases have decimals instead of integers: if they fit into 64 bits, they become long. */
function largeNumber(sql: string, name: string, isInteger: boolean): Value {
  const fits = `coalesce(min(${sql}) >= ${-(2n ** 63n)} AND max(${sql}) <= ${2n ** 63n - 1n}, true)`;
  return {
    type: 'dynamic',
    sql: `${sql}::VARCHAR`,
    note: `is ${name.replace(',', ', ')} and becomes dynamic, with every digit`,
    ...present({ narrower: isInteger ? { type: 'long' as const, sql: `${sql}::BIGINT`, fits } : undefined }),
  };
}

/** Days of an interval have 24 hours; months have no fixed length. */
function interval(sql: string): Value {
  const months = `year(${sql}) = 0 AND month(${sql}) = 0`;
  return {
    type: 'string',
    sql: `${sql}::VARCHAR`,
    note: 'contains months, which have no fixed length, and becomes text',
    narrower: {
      type: 'timespan',
      sql: `epoch_us(${sql}) * ${MICROSECOND}`,
      fits: `coalesce(bool_and(${months}), true)`,
    },
  };
}

/**
 * Returns the SQL of a time of an engine type as TIMESTAMP_NS, null if out of range. The engine fails at such a timestamp even within
 * TRY_CAST, but not at a date.
 */
export function nanosecondsOf(sql: string, type: string): string {
  if (type === 'TIMESTAMP_NS') return inRange(`epoch_ns(${sql})`);
  if (type === 'DATE') return inRange(`epoch_ns(TRY_CAST(${sql} AS TIMESTAMP_NS))`);
  const micros = `epoch_us(${sql})`;
  const inside = `${micros} BETWEEN ${EARLIEST_TIME / MICROSECOND} AND ${LATEST_TIME / MICROSECOND}`;
  return `make_timestamp_ns(CASE WHEN ${inside} THEN ${micros} * ${MICROSECOND} END)`;
}

/** Returns the SQL of a value as JSON, with times as RFC 3339, binary values in Base64, and numbers that JSON lacks as strings. */
function jsonOf(sql: string, type: DuckDBType): Pick<Value, 'sql' | 'changed'> {
  const plain = `to_json(${plainOf(sql, type, 0, false) ?? sql})::VARCHAR`;
  if (!hasReals(type)) return { sql: plain };
  const odd = `(contains(${plain}, 'NaN') OR contains(${plain}, 'Infinity'))`;
  return {
    sql: `CASE WHEN ${odd} THEN to_json(${plainOf(sql, type, 0, true) ?? sql})::VARCHAR ELSE ${plain} END`,
    changed: {
      count: `count(*) FILTER (${odd})`,
      say: rows =>
        `has NaN or infinite numbers in ${rows}: they become text, because JSON cannot represent them`,
    },
  };
}

function hasReals(type: DuckDBType): boolean {
  return /\b(FLOAT|DOUBLE)\b/.test(type.toString());
}

/** Returns the SQL of a value with nested types converted to those of JSON, undefined if unnecessary. Reals are checked only if `reals`. */
function plainOf(sql: string, type: DuckDBType, depth: number, reals: boolean): string | undefined {
  const name = type.toString();
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) {
    const element = `e${depth}`;
    const inner = plainOf(element, type.valueType, depth + 1, reals);
    return inner && `list_transform(${sql}, lambda ${element}: ${inner})`;
  }
  if (type instanceof DuckDBMapType) {
    const entry = `e${depth}`;
    const inner = plainOf(`${entry}.value`, type.valueType, depth + 1, reals);
    return (
      inner &&
      `map_from_entries(list_transform(map_entries(${sql}), lambda ${entry}: {'key': ${entry}.key, 'value': ${inner}}))`
    );
  }
  if (type instanceof DuckDBStructType) return plainStruct(sql, type, depth, reals);
  if (name === 'BLOB') return `base64(${sql})`;
  if (name === 'VARIANT') return variantOf(sql);
  if (reals && hasReals(type))
    return `CASE WHEN isfinite(${sql}) THEN to_json(${sql}) ELSE to_json(${sql}::VARCHAR) END`;
  return name.startsWith('TIMESTAMP') ? timeText(sql, name) : undefined;
}

/** Returns the SQL of a VARIANT as JSON, or as a string if it contains NaN or an infinity, which JSON lacks. */
function variantOf(sql: string): string {
  const odd = `regexp_matches(${sql}::JSON::VARCHAR, '(^|[\\[:,])-?(NaN|Infinity)')`;
  return `CASE WHEN ${odd} THEN to_json(${sql}::VARCHAR) ELSE ${sql}::JSON END`;
}

function plainStruct(sql: string, type: DuckDBStructType, depth: number, reals: boolean): string | undefined {
  const members = type.entryTypes.map((entry, index) => {
    const value = member(sql, type.entryNames[index] ?? '');
    return { value, plain: plainOf(value, entry, depth, reals) };
  });
  if (members.every(({ plain }) => plain === undefined)) return undefined;
  const packed = members.map(
    ({ value, plain }, index) => `${sqlText(type.entryNames[index] ?? '')}: ${plain ?? value}`,
  );
  return `CASE WHEN ${sql} IS NOT NULL THEN {${packed.join(', ')}} END`;
}

function timeText(sql: string, type: string): string {
  const time = type === 'TIMESTAMP_NS' ? sql : `make_timestamp(epoch_us(${sql}))`;
  return `replace(${time}::VARCHAR, ' ', 'T') || 'Z'`;
}
