import { present } from '../../../present.js';
import { EARLIEST_TIME, LATEST_TIME, MICROSECOND, MILLISECOND } from '../../../time.js';
import {
  type ColumnFacts,
  type FileField,
  type FileNote,
  type Footer,
  footerFrom,
  metadataKey,
} from '../../engine/engine-parquet.js';
import type { RowGroup } from '../../sql/compiled-query.js';
import { squareable } from '../../sql/sql-template.js';
import {
  bytesOf,
  numberOf,
  structOf,
  structsOf,
  type ThriftStruct,
  textOf,
  textsOf,
} from '../readers/parquet/thrift.js';

/** Field ids in structs (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift). */
const inFile = { schema: 2, groups: 4, pairs: 5, writer: 6, encryption: 8 } as const;
const inSchema = { type: 1, name: 4, children: 5, converted: 6, logical: 10 } as const;
const inGroup = { columns: 1, rows: 3 } as const;
const inChunk = { metadata: 3 } as const;
const inMetadata = { path: 3, values: 5, statistics: 12 } as const;
const inStatistics = { oldMax: 1, oldMin: 2, nulls: 3, max: 5, min: 6 } as const;
const inPair = { key: 1, value: 2 } as const;

/** Enum values: 64-bit integers, reals of 32 and 64 bits, the converted type of a BIGINT, and the members of a logical timestamp. */
const int64 = 2;
const byteArray = 6;
const reals: readonly unknown[] = [4, 5];
const int64Signed = 18;
const timestamp = { member: 8, unit: 2, units: [undefined, MILLISECOND, MICROSECOND, 1n] } as const;

/** Kind of a column: signed 64-bit integers, reals, timestamps with a unit in nanoseconds, or one that needs no statistics. */
type Kind = 'integers' | 'reals' | 'bytes' | bigint | 'other';

/** Statistics of a column in a row group. */
interface Chunk {
  readonly values: number;
  readonly nulls: number;
  readonly min: Buffer | undefined;
  readonly max: Buffer | undefined;
  /** They are those of an old writer. */
  readonly old: boolean;
}

interface Group {
  readonly rows: number;
  readonly chunks: ReadonlyMap<string, Chunk>;
}

/** Footer of a file from another program: only the engine knows the types of its columns. */
export interface ExternalFooter {
  /** Equal for files with the same columns. */
  readonly shape: string;
  /** Returns the footer, given the fields of a file with this shape. */
  readonly of: (fields: readonly FileField[]) => Footer;
}

/**
 * Parses the footer of a Parquet file in the usual form. Returns undefined for any other, which the engine reads: that takes ten times as
 * long, but covers every form and does not block this thread.
 */
export function partFooter(path: string, bytes: Buffer): Footer | ExternalFooter | undefined {
  if (bytes.length > largestFooter) return undefined;
  try {
    return footerOf(path, bytes);
  } catch {
    return undefined;
  }
}

/** Maximum size in bytes, parsed within a few milliseconds. */
const largestFooter = 2 ** 18;

function footerOf(path: string, bytes: Buffer): Footer | ExternalFooter | undefined {
  const footer = structOf({ type: 0, bytes });
  const schema = footer.get(inFile.schema);
  const kinds = kindsIn(structsOf(schema));
  const groups = kinds && groupsIn(structsOf(footer.get(inFile.groups)), kinds);
  if (kinds === undefined || groups === undefined || footer.has(inFile.encryption)) return undefined;
  const columns = new Map<string, ColumnFacts>();
  for (const [name, kind] of groups.length === 0 ? [] : kinds) {
    const chunks = groups.flatMap(each => each.chunks.get(name) ?? []);
    columns.set(name, {
      empty: chunks.every(({ nulls, values }) => nulls === values),
      wide: kind === 'integers' && chunks.some(isWide),
      ...present({
        bounded: (kind === 'reals' && chunks.every(isBounded)) || undefined,
        signed: (kind === 'bytes' && chunks.some(({ old }) => old)) || undefined,
        filled: chunks.every(({ nulls }) => nulls === 0) || undefined,
      }),
    });
  }
  const blocks = kinds.has('_time') ? blocksOf(groups, kinds.get('_time')) : [];
  if (blocks === undefined) return undefined;
  const pairs = structsOf(footer.get(inFile.pairs));
  const note = noteIn(pairs);
  const writer = textOf(footer.get(inFile.writer));
  if (note !== undefined) return footerFrom(path, note, columns, blocks, writer);
  // Geo metadata changes column types.
  if (pairs.some(each => textOf(each.get(inPair.key)) === 'geo')) return undefined;
  return {
    shape: schema?.bytes.toString('latin1') ?? '',
    of: fields =>
      footerFrom(path, { fields: fields.map(unmeasured), foreign: true }, columns, blocks, writer),
  };
}

function unmeasured(measured: FileField): FileField {
  const { empty: _, wide: __, bounded: ___, signed: ____, filled: _____, ...field } = measured;
  return field;
}

function noteIn(pairs: readonly ThriftStruct[]): FileNote | undefined {
  const own = pairs.find(each => textOf(each.get(inPair.key)) === metadataKey);
  return own && (JSON.parse(textOf(own.get(inPair.value))) as FileNote);
}

/** Returns the columns that are not nested, by name; undefined if one has a form that only the engine reads. */
function kindsIn([_root, ...elements]: readonly ThriftStruct[]): ReadonlyMap<string, Kind> | undefined {
  const kinds = new Map<string, Kind>();
  let below = 0;
  for (const element of elements) {
    const children = numberOf(element.get(inSchema.children)) ?? 0;
    const isBelow = below > 0;
    if (isBelow || children > 0) {
      below += children - (isBelow ? 1 : 0);
      continue;
    }
    const kind = kindOf(element);
    const name = textOf(element.get(inSchema.name));
    // The engine renames the second of two columns with the same name.
    if (kind === undefined || kinds.has(name)) return undefined;
    kinds.set(name, kind);
  }
  return kinds;
}

function kindOf(element: ThriftStruct): Kind | undefined {
  const physical = numberOf(element.get(inSchema.type));
  if (reals.includes(physical)) return 'reals';
  if (physical === byteArray) return 'bytes';
  if (physical !== int64) return 'other';
  const time = structOf(element.get(inSchema.logical)).get(timestamp.member);
  if (time !== undefined)
    return timestamp.units.find((_, unit) => structOf(structOf(time).get(timestamp.unit)).has(unit));
  const type = numberOf(element.get(inSchema.converted));
  const isPlain = type === undefined && !element.has(inSchema.logical);
  return isPlain || type === int64Signed ? 'integers' : undefined;
}

/** Returns the row groups, undefined if one lacks statistics for a column. */
function groupsIn(
  groups: readonly ThriftStruct[],
  kinds: ReadonlyMap<string, Kind>,
): readonly Group[] | undefined {
  const read: Group[] = [];
  for (const group of groups) {
    const chunks = new Map<string, Chunk>();
    for (const column of structsOf(group.get(inGroup.columns))) {
      const metadata = structOf(column.get(inChunk.metadata));
      const statistics = structOf(metadata.get(inMetadata.statistics));
      const [name = '', ...below] = textsOf(metadata.get(inMetadata.path));
      if (below.length > 0) continue;
      const [values, nulls] = [metadata.get(inMetadata.values), statistics.get(inStatistics.nulls)].map(
        numberOf,
      );
      if (values === undefined || nulls === undefined) return undefined;
      const [min, max] = [inStatistics.min, inStatistics.max].map(each => bytesOf(statistics.get(each)));
      const old = !statistics.has(inStatistics.min) && statistics.has(inStatistics.oldMin);
      chunks.set(name, { values, nulls, min, max, old });
    }
    const rows = numberOf(group.get(inGroup.rows));
    if (rows === undefined || ![...kinds.keys()].every(name => chunks.has(name))) return undefined;
    read.push({ rows, chunks });
  }
  return read;
}

/** Whether a chunk has integers beyond 2^53, which a double cannot represent, or may have them for lack of statistics. */
function isWide({ values, nulls, min, max }: Chunk): boolean {
  if (nulls === values) return false;
  if (min?.length !== 8 || max?.length !== 8) return true;
  return min.readBigInt64LE() < -largestExact || max.readBigInt64LE() > largestExact;
}

const largestExact = 2n ** 53n;

/** Whether all reals in a chunk are known to be within the bounds. */
function isBounded({ values, nulls, min, max }: Chunk): boolean {
  return nulls === values || (realOf(min) > -squareable && realOf(max) < squareable);
}

function realOf(bytes: Buffer | undefined): number {
  if (bytes?.length === 8) return bytes.readDoubleLE();
  return bytes?.length === 4 ? bytes.readFloatLE() : Number.NaN;
}

/** Returns the row groups with their times, undefined if the times of one are unknown. */
function blocksOf(groups: readonly Group[], kind: Kind | undefined): readonly RowGroup[] | undefined {
  const times = groups.flatMap(({ rows, chunks }) => {
    const { min, max, nulls = 0 } = chunks.get('_time') ?? {};
    return min?.length === 8 && max?.length === 8 ? { rows, nulls, min, max } : [];
  });
  if (typeof kind !== 'bigint' || times.length < groups.length) return undefined;
  const timed = times.every(({ nulls }) => nulls === 0);
  const blocks = times.map(({ rows, min, max }) => ({
    ...{ rows, minNs: min.readBigInt64LE() * kind, maxNs: max.readBigInt64LE() * kind, timed },
  }));
  return blocks.every(({ minNs, maxNs }) => minNs >= EARLIEST_TIME && maxNs <= LATEST_TIME)
    ? blocks
    : undefined;
}
