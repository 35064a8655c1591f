import { EARLIEST_TIME, LATEST_TIME, MICROSECOND, MILLISECOND } from '../../../../time.js';
import { metadataKey } from '../../../engine/engine-parquet.js';
import {
  bytesOf,
  numberOf,
  structBytes,
  structOf,
  structsField,
  structsOf,
  type ThriftStruct,
  textOf,
} from '../../readers/parquet/thrift.js';

/** Field ids in structs (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift). */
const inFile = {
  version: 1,
  schema: 2,
  rows: 3,
  groups: 4,
  pairs: 5,
  creator: 6,
  orders: 7,
  encryption: 8,
} as const;
const inPair = { key: 1, value: 2 } as const;
const inSchema = { type: 1, name: 4, children: 5, converted: 6, logical: 10 } as const;
const inGroup = { columns: 1, rows: 3 } as const;
const inChunk = { offset: 2, metadata: 3 } as const;
const inMetadata = {
  values: 5,
  size: 7,
  pairs: 8,
  pages: 9,
  dictionary: 11,
  statistics: 12,
  bloom: 14,
  bloomLength: 15,
  sizes: 16,
} as const;
const inStatistics = { oldMax: 1, oldMin: 2, nulls: 3, max: 5, min: 6 } as const;

/** Timestamp units by number, for converted and logical types. */
const int64 = 2;
const int96 = 3;
const converted: ReadonlyMap<number | undefined, bigint> = new Map([
  [9, MILLISECOND],
  [10, MICROSECOND],
]);
const timestamp = { member: 8, unit: 2, units: [undefined, MILLISECOND, MICROSECOND, 1n] } as const;

/** Byte range of a column in a row group. */
export interface ChunkRange {
  readonly from: number;
  readonly to: number;
}

/** A row group of an object. */
export interface ObjectGroup {
  readonly rows: number;
  /** Times of the rows in nanoseconds since 1970; the full range if unknown. */
  readonly minNs: bigint;
  readonly maxNs: bigint;
  /** Whether every row is known to have a time within this range. */
  readonly timed: boolean;
  /** By position of top-level columns, which may be nested. */
  readonly chunks: readonly (readonly ChunkRange[])[];
}

/** Contents of an object's footer. */
export interface ObjectFooter {
  readonly groups: readonly ObjectGroup[];
  /** Schema as the engine sees it; identifies files with the same columns. */
  readonly schema: Buffer;
  /** Names of time columns that the engine truncates to microseconds. */
  readonly cut: readonly string[];
  /** Field names by column, if this product wrote the object. */
  readonly names: ReadonlyMap<string, string>;
}

/** Parses a footer; `time` is the time column. Throws RangeError if it is not a footer or is encrypted. */
export function readObjectFooter(bytes: Buffer, time: string): ObjectFooter {
  const file = structOf({ type: 0, bytes });
  const elements = structsOf(file.get(inFile.schema));
  if (elements.length < 2 || file.has(inFile.encryption))
    throw new RangeError('the footer of a Parquet file has no columns, or is encrypted');
  const top = topOf(elements);
  const timeAt = top.findIndex(({ element }) => textOf(element.get(inSchema.name)) === time);
  const unit = unitOf(top[timeAt]?.element);
  return {
    groups: structsOf(file.get(inFile.groups)).map(group => groupOf(group, top, { at: timeAt, unit })),
    schema: structsField(elements.map(withoutZone)).bytes,
    cut: elements
      .filter(each => numberOf(each.get(inSchema.type)) === int96)
      .map(each => textOf(each.get(inSchema.name))),
    names: namesIn(structsOf(file.get(inFile.pairs))),
  };
}

/** Returns the field names in the metadata. Any program may have written it: a malformed note, or one with duplicate names, yields none. */
function namesIn(pairs: readonly ThriftStruct[]): ReadonlyMap<string, string> {
  const note = pairs.find(pair => textOf(pair.get(inPair.key)) === metadataKey);
  const { fields } = Object(note && parsed(textOf(note.get(inPair.value)))) as { readonly fields?: unknown };
  const names = new Map<string, string>();
  for (const each of Array.isArray(fields) ? fields : []) {
    const { name, column } = Object(each) as { readonly name?: unknown; readonly column?: unknown };
    if (typeof name === 'string' && typeof column === 'string') names.set(column, name);
  }
  return new Set(names.values()).size === names.size ? names : new Map();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns a footer with one of its row groups, or none, for a file that has the bytes of some columns at their original offsets. It
 * references no other bytes. UTC timestamps lose their zone, so that the engine keeps nanoseconds.
 */
export function footerOfGroup(bytes: Buffer, index: number | undefined): Buffer {
  const file = structOf({ type: 0, bytes });
  const group = index === undefined ? undefined : structsOf(file.get(inFile.groups))[index];
  const changed: ThriftStruct = new Map();
  for (const member of [inFile.version, inFile.creator, inFile.orders]) {
    const field = file.get(member);
    if (field !== undefined) changed.set(member, field);
  }
  const rows = group?.get(inGroup.rows) ?? { type: varint, bytes: Buffer.from([0]) };
  changed.set(inFile.schema, structsField(structsOf(file.get(inFile.schema)).map(withoutZone)));
  changed.set(inFile.rows, rows);
  changed.set(inFile.groups, structsField(group === undefined ? [] : [withChunksOnly(group)]));
  return structBytes(changed);
}

/** Thrift type of a 64-bit integer. */
const varint = 6;
const struct = 12;

function withChunksOnly(group: ThriftStruct): ThriftStruct {
  const columns = structsOf(group.get(inGroup.columns)).map(column => {
    const metadata = structOf(column.get(inChunk.metadata));
    for (const member of [inMetadata.pairs, inMetadata.bloom, inMetadata.bloomLength, inMetadata.sizes])
      metadata.delete(member);
    const statistics = structOf(metadata.get(inMetadata.statistics));
    // Old writers put bytes in the order of signed ones.
    statistics.delete(inStatistics.oldMin);
    statistics.delete(inStatistics.oldMax);
    if (metadata.has(inMetadata.statistics))
      metadata.set(inMetadata.statistics, { type: struct, bytes: structBytes(statistics) });
    const changed: ThriftStruct = new Map();
    const offset = column.get(inChunk.offset);
    if (offset !== undefined) changed.set(inChunk.offset, offset);
    return changed.set(inChunk.metadata, { type: struct, bytes: structBytes(metadata) });
  });
  return new Map(group).set(inGroup.columns, structsField(columns));
}

/** Clears the UTC flag of a logical timestamp, which is encoded as its member, the flag, and its unit. */
function withoutZone(element: ThriftStruct): ThriftStruct {
  const logical = element.get(inSchema.logical);
  if (logical?.bytes[0] !== 0x8c || logical.bytes[1] !== 0x11) return element;
  const bytes = Buffer.from(logical.bytes);
  bytes[1] = 0x12;
  return new Map(element).set(inSchema.logical, { ...logical, bytes });
}

/** A top-level column, which may be nested, and its number of leaf columns. */
interface TopColumn {
  readonly element: ThriftStruct;
  leaves: number;
}

/** Returns the top-level columns of a schema, whose first element is the root. */
function topOf([_root, ...elements]: readonly ThriftStruct[]): readonly TopColumn[] {
  const top: TopColumn[] = [];
  let below = 0;
  for (const element of elements) {
    const children = numberOf(element.get(inSchema.children)) ?? 0;
    if (below === 0) top.push({ element, leaves: 0 });
    else below -= 1;
    below += children;
    const last = top.at(-1);
    if (element.has(inSchema.type) && last !== undefined) last.leaves += 1;
  }
  return top;
}

/** Returns the unit of a timestamp column in nanoseconds, undefined for any other column. */
function unitOf(element: ThriftStruct | undefined): bigint | undefined {
  if (element === undefined || numberOf(element.get(inSchema.type)) !== int64) return undefined;
  const time = structOf(element.get(inSchema.logical)).get(timestamp.member);
  if (time === undefined) return converted.get(numberOf(element.get(inSchema.converted)));
  const [unit] = structOf(structOf(time).get(timestamp.unit)).keys();
  return timestamp.units[unit ?? 0];
}

function groupOf(
  group: ThriftStruct,
  top: readonly TopColumn[],
  time: { readonly at: number; readonly unit: bigint | undefined },
): ObjectGroup {
  const metadata = structsOf(group.get(inGroup.columns)).map(column =>
    structOf(column.get(inChunk.metadata)),
  );
  let next = 0;
  const columns = top.map(({ leaves }) => {
    next += leaves;
    return metadata.slice(next - leaves, next);
  });
  const [ofTime] = columns[time.at] ?? [];
  const times = ofTime === undefined || time.unit === undefined ? anyTime : timesOf(ofTime, time.unit);
  const chunks = columns.map(each => each.map(rangeOf));
  return { rows: numberOf(group.get(inGroup.rows)) ?? 0, ...times, chunks };
}

function rangeOf(metadata: ThriftStruct): ChunkRange {
  const [pages = 0, dictionary = 0, size = 0] = [
    inMetadata.pages,
    inMetadata.dictionary,
    inMetadata.size,
  ].map(member => numberOf(metadata.get(member)));
  const from = dictionary > 0 ? Math.min(dictionary, pages) : pages;
  return { from, to: from + size };
}

const anyTime = { minNs: EARLIEST_TIME, maxNs: LATEST_TIME, timed: false } as const;

function timesOf(metadata: ThriftStruct, unit: bigint): Pick<ObjectGroup, 'minNs' | 'maxNs' | 'timed'> {
  const statistics = structOf(metadata.get(inMetadata.statistics));
  // For signed integers, the deprecated members mean the same.
  const [min, max] = [
    [inStatistics.min, inStatistics.oldMin],
    [inStatistics.max, inStatistics.oldMax],
  ].map(members => members.map(each => bytesOf(statistics.get(each))).find(each => each?.length === 8));
  if (min === undefined || max === undefined) return anyTime;
  const [minNs, maxNs] = [min.readBigInt64LE() * unit, max.readBigInt64LE() * unit] as const;
  if (minNs < EARLIEST_TIME || maxNs > LATEST_TIME || minNs > maxNs) return anyTime;
  return { minNs, maxNs, timed: numberOf(statistics.get(inStatistics.nulls)) === 0 };
}
