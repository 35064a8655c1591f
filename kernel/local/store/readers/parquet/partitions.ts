import path from 'node:path';
import type { TypeName } from '../../../../apl/catalog/entry.js';
import { sqlName, sqlText } from '../../../duckdb/duckdb-literal.js';
import { columnNames } from '../../../engine/engine-parquet.js';
import type { ParquetLeaf } from './parquet-values.js';

/** A field with values in directory names, such as `day` in `day=2026-11-01/region=eu/a.parquet`. */
export interface Partition {
  readonly name: string;
  readonly type: Extract<TypeName, 'datetime' | 'long' | 'string'>;
  /** Value for each file, null if its directories have none or a null marker. */
  readonly values: readonly (string | null)[];
}

/** Returns the partitions in the names of the directories right above the files, outermost first. */
export function partitionsOf(files: readonly string[]): readonly Partition[] {
  const found = files.map(pairsOf);
  const names = new Set(found.flatMap(pairs => [...pairs.keys()]));
  return [...names].map(name => {
    const values = found.map(pairs => pairs.get(name) ?? null);
    return { name, type: typeOf(values.filter(value => value !== null)), values };
  });
}

/** Value that writers of the Hive layout use for null. */
const noValue = '__HIVE_DEFAULT_PARTITION__';

function pairsOf(file: string): ReadonlyMap<string, string | null> {
  const pairs: [string, string | null][] = [];
  for (const directory of path.dirname(file).split(path.sep).reverse()) {
    const at = directory.indexOf('=');
    if (at <= 0) break;
    const value = decoded(directory.slice(at + 1));
    pairs.unshift([decoded(directory.slice(0, at)), value === noValue ? null : value]);
  }
  return new Map(pairs);
}

/** Decodes a directory name: writers percent-encode characters that it cannot contain. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function typeOf(values: readonly string[]): Partition['type'] {
  if (values.length === 0) return 'string';
  if (values.every(isTime)) return 'datetime';
  return values.every(isInteger) || values.every(value => /^\d\d$/.test(value)) ? 'long' : 'string';
}

function isTime(value: string): boolean {
  const [, date = '', clock = '00:00:00'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z?)?$/.exec(value) ?? [];
  const time = new Date(`${date}T${clock}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(`${date}T${clock}`) && inRange(time);
}

function inRange(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year > 1677 && year < 2262;
}

/** Whether a value is a 64-bit integer. Leading zeros are significant, except in months, days and hours. */
function isInteger(value: string): boolean {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value);
}

const sqlType = { datetime: 'TIMESTAMP_NS', long: 'BIGINT', string: 'VARCHAR' } as const;

/** Returns the rows of Parquet files with partition values after their `columns`. */
export function withPartitions(
  rows: string,
  partitions: readonly Partition[],
  columns: readonly string[],
): string {
  if (partitions.length === 0) return rows;
  const names = namesBehind(columns, partitions);
  const values = partitions.map(({ type, values: of }, index) => {
    const list = of.map(value => {
      if (value === null) return 'NULL';
      return sqlText(type === 'datetime' ? value.replace('Z', '') : value);
    });
    return `([${list.join(', ')}]::${sqlType[type]}[])[file_index::BIGINT + 1] AS ${sqlName(names[index] ?? '')}`;
  });
  return `(SELECT *, ${values.join(', ')} FROM ${rows})`;
}

/** Returns the column names of {@link withPartitions}. */
function namesBehind(columns: readonly string[], partitions: readonly Partition[]): readonly string[] {
  return columnNames([...columns, ...partitions.map(({ name }) => name)]).slice(columns.length);
}

/** Returns the fields of partitions. */
export function partitionLeaves(
  partitions: readonly Partition[],
  columns: readonly string[],
): readonly ParquetLeaf[] {
  const names = namesBehind(columns, partitions);
  return partitions.map(({ name, type }, index) => ({
    name,
    path: name,
    type,
    sql: sqlName(names[index] ?? ''),
    declared: true,
    ofDirectory: true,
  }));
}

/** Reports fields from directory names, and which of them the files have too. */
export function partitionNotes(given: readonly Partition[], used: readonly Partition[]): readonly string[] {
  const listed = (partitions: readonly Partition[]) => partitions.map(({ name }) => `\`${name}\``).join(', ');
  const both = given.filter(each => !used.includes(each));
  return [
    ...(used.length === 0 ? [] : [`Fields from directory names: ${listed(used)}.`]),
    ...(both.length === 0
      ? []
      : [`Both in the files and in directory names: ${listed(both)}. The values in the files are used.`]),
  ];
}
