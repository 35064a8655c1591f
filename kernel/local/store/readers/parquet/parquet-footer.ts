import { present } from '../../../../present.js';
import { numberOf, structBytes, ThriftReader, type ThriftStruct, textOf } from './thrift.js';

/** A column or column group in the footer of a Parquet file. */
export interface FooterColumn {
  readonly name: string;
  /** Path of names from the top, including its own. */
  readonly path: readonly string[];
  /** Whether it is in a list or map, or is one. */
  readonly repeated: boolean;
  /** How to read its values exactly, if the engine would truncate them. */
  readonly exact?: ExactReading;
  /** Whether it has no type, as every value is null. */
  readonly untyped?: boolean;
}

/**
 * Changes to the footer so that the engine keeps nanoseconds: INT96 times become their 12 bytes, times of day become integers, and UTC
 * timestamps lose their zone.
 */
export type ExactReading = 'bytes' | 'integer' | 'no-zone';

/** Field ids in SchemaElement (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift). */
const member = { type: 1, length: 2, repetition: 3, name: 4, children: 5, logical: 10 } as const;

/** Encoded field values. */
const written = {
  int96: Buffer.from([0x06]),
  fixedBytes: Buffer.from([0x0e]),
  twelve: Buffer.from([0x18]),
  repeated: Buffer.from([0x04]),
  utcNanoseconds: Buffer.from([0x8c, 0x11, 0x1c, 0x3c, 0x00, 0x00, 0x00, 0x00]),
  nanoseconds: Buffer.from([0x8c, 0x12, 0x1c, 0x3c, 0x00, 0x00, 0x00, 0x00]),
  untyped: Buffer.from([0xbc, 0x00, 0x00]),
  nanosecondsOfDay: [0x11, 0x12].map(zone => Buffer.from([0x7c, zone, 0x1c, 0x3c, 0x00, 0x00, 0x00, 0x00])),
} as const;

/** A parsed footer, with a version that makes the engine read the file exactly. */
export interface Footer {
  /** Columns and column groups, in schema order. */
  readonly columns: readonly FooterColumn[];
  /** Encoded schema. */
  readonly schema: Buffer;
  readonly exact: Buffer;
}

/** Parses the footer of a file. */
export function readFooter(footer: Buffer): Footer {
  const reader = new ThriftReader(footer);
  const { start, elements } = schemaOf(reader);
  const columns = columnsOf(elements);
  const changed = elements.map((element, index) => structBytes(exactly(element, columns[index - 1]?.exact)));
  return {
    columns,
    schema: footer.subarray(start, reader.at),
    exact: Buffer.concat([footer.subarray(0, start), ...changed, footer.subarray(reader.at)]),
  };
}

/** Header of a page: its own length, the size of the page after it, and the CRC-32 of the page if the writer stored one. */
export interface PageHeader {
  readonly length: number;
  readonly size: number;
  readonly checksum?: number;
}

/** Parses a page header, undefined if the bytes end early or are not a header. */
export function readPageHeader(bytes: Buffer): PageHeader | undefined {
  const reader = new ThriftReader(bytes);
  try {
    const fields = reader.struct();
    const size = numberOf(fields.get(pageMember.size));
    const checksum = numberOf(fields.get(pageMember.checksum));
    if (size === undefined) return undefined;
    return { length: reader.at, size, ...present({ checksum: checksum && checksum >>> 0 }) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Field ids in PageHeader. */
const pageMember = { size: 3, checksum: 4 } as const;

/** Finds the schema, the second field of the footer, after the version. */
function schemaOf(reader: ThriftReader): { start: number; elements: readonly ThriftStruct[] } {
  for (let id = 0; ; ) {
    const header = reader.fieldHeader(id);
    if (header === undefined) return { start: reader.at, elements: [] };
    id = header.id;
    if (id === 2) break;
    reader.skip(header.type);
  }
  const { size } = reader.listHeader();
  const start = reader.at;
  return { start, elements: Array.from({ length: size }, () => reader.struct()) };
}

/** Returns the columns; the first element is the root, and the remaining ones follow depth first. */
function columnsOf(elements: readonly ThriftStruct[]): readonly FooterColumn[] {
  const columns: FooterColumn[] = [];
  let next = 1;
  const below = (count: number, path: readonly string[], inList: boolean) => {
    for (let index = 0; index < count && next < elements.length; index++) {
      const element = elements[next++] ?? new Map();
      const name = textOf(element.get(member.name));
      const repeated = inList || element.get(member.repetition)?.bytes.equals(written.repeated) === true;
      const exact = exactReading(element, repeated);
      const untyped = element.get(member.logical)?.bytes.equals(written.untyped) || undefined;
      columns.push({ name, path: [...path, name], repeated, ...present({ exact, untyped }) });
      below(numberOf(element.get(member.children)) ?? 0, [...path, name], repeated);
    }
  };
  below(numberOf(elements[0]?.get(member.children)) ?? 0, [], false);
  return columns;
}

/** Returns how to read a column exactly. Within lists, values stay as the engine reads them. */
function exactReading(element: ThriftStruct, repeated: boolean): ExactReading | undefined {
  const logical = element.get(member.logical)?.bytes;
  if (logical?.equals(written.utcNanoseconds)) return 'no-zone';
  if (repeated) return undefined;
  if (written.nanosecondsOfDay.some(each => logical?.equals(each))) return 'integer';
  return element.get(member.type)?.bytes.equals(written.int96) ? 'bytes' : undefined;
}

function exactly(element: ThriftStruct, exact: ExactReading | undefined): ThriftStruct {
  const changed = new Map(element);
  const logical = element.get(member.logical);
  if (exact === 'no-zone' && logical !== undefined)
    changed.set(member.logical, { ...logical, bytes: written.nanoseconds });
  if (exact === 'integer') changed.delete(member.logical);
  const type = element.get(member.type);
  if (exact !== 'bytes' || type === undefined) return changed;
  changed.delete(member.logical);
  return changed
    .set(member.type, { ...type, bytes: written.fixedBytes })
    .set(member.length, { ...type, bytes: written.twelve });
}
