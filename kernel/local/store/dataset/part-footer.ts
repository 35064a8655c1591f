import {
  type ColumnFacts,
  type FileNote,
  type Footer,
  footerFrom,
  metadataKey,
} from '../../engine/parquet.js';
import type { RowGroup } from '../../sql/compiled.js';
import {
  bytesOf,
  numberOf,
  structOf,
  structsOf,
  type ThriftStruct,
  textOf,
  textsOf,
} from '../readers/parquet/thrift.js';

/** Members of structs (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift). */
const inFile = { schema: 2, groups: 4, pairs: 5 } as const;
const inSchema = { type: 1, name: 4, children: 5, converted: 6, logical: 10 } as const;
const inGroup = { columns: 1, rows: 3 } as const;
const inChunk = { metadata: 3 } as const;
const inMetadata = { path: 3, values: 5, statistics: 12 } as const;
const inStatistics = { nulls: 3, max: 5, min: 6 } as const;
const inPair = { key: 1, value: 2 } as const;

/** Values of members: 64-bit integers, those that a BIGINT is written as, and the members of a logical type. */
const int64 = 2;
const int64Signed = 18;
const logical = { timestamp: 8, unit: 2, nanoseconds: 3 } as const;

/** What the values of a column are: signed integers of 64 bits, times in nanoseconds, or what no statistics are needed of. */
type Kind = 'integers' | 'nanoseconds' | 'other';

/** The statistics of a column in one row group. */
interface Chunk {
  readonly values: number;
  readonly nulls: number;
  readonly min: Buffer | undefined;
  readonly max: Buffer | undefined;
}

interface Group {
  readonly rows: number;
  readonly chunks: ReadonlyMap<string, Chunk>;
}

/**
 * Returns what the footer of a Parquet file says that was written as this version writes small files; undefined for another, which is for
 * the engine to read: it takes ten times as long, but knows every form, and does not keep this thread from other work.
 */
export function partFooter(path: string, bytes: Buffer): Footer | undefined {
  if (bytes.length > largestFooter) return undefined;
  try {
    return footerOf(path, bytes);
  } catch {
    return undefined;
  }
}

/** Read within some milliseconds. */
const largestFooter = 2 ** 18;

function footerOf(path: string, bytes: Buffer): Footer | undefined {
  const footer = structOf({ type: 0, bytes });
  const note = noteIn(structsOf(footer.get(inFile.pairs)));
  const kinds = kindsIn(structsOf(footer.get(inFile.schema)));
  if (note === undefined || kinds === undefined) return undefined;
  const groups = groupsIn(structsOf(footer.get(inFile.groups)), kinds);
  if (groups === undefined) return undefined;
  const columns = new Map<string, ColumnFacts>();
  for (const [name, kind] of groups.length === 0 ? [] : kinds) {
    const chunks = groups.flatMap(each => each.chunks.get(name) ?? []);
    columns.set(name, {
      empty: chunks.every(({ nulls, values }) => nulls === values),
      wide: kind === 'integers' && chunks.some(isWide),
    });
  }
  const blocks = kinds.has('_time') ? blocksOf(groups, kinds.get('_time')) : [];
  return blocks && footerFrom(path, note, columns, blocks);
}

function noteIn(pairs: readonly ThriftStruct[]): FileNote | undefined {
  const own = pairs.find(each => textOf(each.get(inPair.key)) === metadataKey);
  return own && (JSON.parse(textOf(own.get(inPair.value))) as FileNote);
}

/** The columns by their names; undefined if one is not as this version writes it. */
function kindsIn([_root, ...elements]: readonly ThriftStruct[]): ReadonlyMap<string, Kind> | undefined {
  const kinds = new Map<string, Kind>();
  for (const element of elements) {
    const kind = kindOf(element);
    if (kind === undefined || element.has(inSchema.children)) return undefined;
    kinds.set(textOf(element.get(inSchema.name)), kind);
  }
  return kinds;
}

function kindOf(element: ThriftStruct): Kind | undefined {
  if (numberOf(element.get(inSchema.type)) !== int64) return 'other';
  const time = structOf(element.get(inSchema.logical)).get(logical.timestamp);
  if (time !== undefined)
    return structOf(structOf(time).get(logical.unit)).has(logical.nanoseconds) ? 'nanoseconds' : 'other';
  return numberOf(element.get(inSchema.converted)) === int64Signed ? 'integers' : undefined;
}

/** The row groups; undefined if one does not have the statistics of each column. */
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
      const [name = ''] = textsOf(metadata.get(inMetadata.path));
      const [values, nulls] = [metadata.get(inMetadata.values), statistics.get(inStatistics.nulls)].map(
        numberOf,
      );
      if (values === undefined || nulls === undefined) return undefined;
      const [min, max] = [inStatistics.min, inStatistics.max].map(each => bytesOf(statistics.get(each)));
      chunks.set(name, { values, nulls, min, max });
    }
    const rows = numberOf(group.get(inGroup.rows));
    if (rows === undefined || ![...kinds.keys()].every(name => chunks.has(name))) return undefined;
    read.push({ rows, chunks });
  }
  return read;
}

/** Beyond 2^53, which a double cannot hold. */
function isWide({ min, max }: Chunk): boolean {
  return integerIn(min) < -largestExact || integerIn(max) > largestExact;
}

const largestExact = 2n ** 53n;

function integerIn(bytes: Buffer | undefined): bigint {
  return bytes?.length === 8 ? bytes.readBigInt64LE() : 0n;
}

/** Undefined if the times of a row group are not known. */
function blocksOf(groups: readonly Group[], kind: Kind | undefined): readonly RowGroup[] | undefined {
  const times = groups.flatMap(({ rows, chunks }) => {
    const { min, max, nulls = 0 } = chunks.get('_time') ?? {};
    return min?.length === 8 && max?.length === 8 ? { rows, nulls, min, max } : [];
  });
  if (kind !== 'nanoseconds' || times.length < groups.length) return undefined;
  const timed = times.every(({ nulls }) => nulls === 0);
  return times.map(({ rows, min, max }) => ({
    ...{ rows, minNs: min.readBigInt64LE(), maxNs: max.readBigInt64LE(), timed },
  }));
}
