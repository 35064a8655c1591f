import { crc32 } from 'node:zlib';
import { present } from '../../../present.js';
import { LocalError } from '../../local-errors.js';
import type { Batch } from './append-batch.js';

/*
 * Layout of a log: a header, then a record for each batch.
 *
 *   header  magic (8), version (4), acknowledged length of the file (8), checksum of the above (4)
 *   record  marker (8), number (4), length of the content (4), checksum of both and the content (4), content
 *
 * Integers are little-endian. The marker is not valid UTF-8 but the content is, so content never contains a marker: after a damaged
 * record, reading resumes at the next marker. The header has this layout in every version.
 */

/** The readable batches of a log. */
export interface LogContent {
  readonly batches: readonly Batch[];
  /** Undefined if every byte is accounted for. */
  readonly damage?: Damage;
}

/** The damage to a log. */
export interface Damage {
  /** Bytes that belong to no readable record. */
  readonly unread: number;
  /** Acknowledged bytes missing from the file. */
  readonly missing: number;
}

/** Size of the header, in bytes. */
export const headerBytes = 24;

/** Returns the header of a log with this many acknowledged bytes. */
export function encodeHeader(acknowledged: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  magic.copy(header);
  header.writeUInt32LE(version, 8);
  header.writeBigUInt64LE(BigInt(acknowledged), 12);
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  return header;
}

/** Returns the record of a batch; `number` is its index in the log, from 0. */
export function encodeRecord({ events, nowNs, ...rest }: Batch, number: number): Buffer {
  const record: Content = {
    ...rest,
    nowNs: String(nowNs),
    times: events.map(event => String(event.time)),
    cells: events.map(event => event.cells.map(cell => cell ?? null)),
  };
  const content = Buffer.from(JSON.stringify(record));
  const head = Buffer.alloc(headBytes);
  marker.copy(head);
  head.writeUInt32LE(number, numberAt);
  head.writeUInt32LE(content.length, lengthAt);
  head.writeUInt32LE(checksumOf(head, content), checksumAt);
  return Buffer.concat([head, content]);
}

/**
 * Reads a log: every intact record, wherever it is in the file, once. An unfinished record at the end that was never acknowledged is not
 * damage. Throws LocalError for a log of a later version.
 */
export function decodeLog(bytes: Buffer): LogContent {
  const acknowledged = acknowledgedIn(bytes);
  const isFirst = acknowledged === undefined && !bytes.includes(marker);
  const records = [...recordsIn(bytes, isFirst ? firstFormat : currentFormat)];
  const start = isFirst ? 0 : headerBytes;
  const { end, count } = runOf(records, start);
  const isWhole =
    count === records.length &&
    (isFirst
      ? bytes.length > 0 && end === bytes.length
      : acknowledged !== undefined && end >= acknowledged && isUnfinished(bytes.subarray(end), count));
  const batches = records.map(record => record.batch);
  if (isWhole) return { batches };
  const read = records.reduce((sum, record) => sum + record.end - record.start, 0);
  const damage = {
    unread: bytes.length - read - (acknowledged === undefined ? 0 : headerBytes),
    missing: Math.max(0, (acknowledged ?? 0) - bytes.length),
  };
  return { batches, damage };
}

/** A batch as JSON. 64-bit integers are strings, as JSON numbers would lose digits. */
interface Content extends Omit<Batch, 'events' | 'nowNs'> {
  readonly nowNs: string;
  readonly times: readonly string[];
  readonly cells: readonly (readonly (string | null)[])[];
}

interface FoundRecord {
  readonly start: number;
  readonly end: number;
  /** Index in its log, if the format has it. */
  readonly number?: number;
  readonly batch: Batch;
}

/** Layout of records in a file. */
interface Format {
  /** Bytes that only records contain, and their offset in a record. */
  readonly marker: Buffer;
  readonly markerAt: number;
  readonly headBytes: number;
  /** Length of the content, and whether the checksum in the head matches the content. */
  lengthOf(head: Buffer): number;
  holds(head: Buffer, content: Buffer): boolean;
  numberOf?(head: Buffer): number;
}

const magic = Buffer.from('\x93apl-log', 'latin1');
const version = 2;

const marker = Buffer.from('ff9d65b2c41ae0ff', 'hex');
const numberAt = 8;
const lengthAt = 12;
const checksumAt = 16;
const headBytes = 20;

const currentFormat: Format = {
  marker,
  markerAt: 0,
  headBytes,
  lengthOf: head => head.readUInt32LE(lengthAt),
  holds: (head, content) => checksumOf(head, content) === head.readUInt32LE(checksumAt),
  numberOf: head => head.readUInt32LE(numberAt),
};

/**
 * The first format had no header, and a head of content length and checksum, four bytes each. Strings in the content have escaped quotes,
 * so only its start matches this marker. Bytes cut off at the end count as damage, as nothing shows whether they were acknowledged.
 */
const firstFormat: Format = {
  marker: Buffer.from('{"fields":'),
  markerAt: 8,
  headBytes: 8,
  lengthOf: head => head.readUInt32LE(0),
  holds: (head, content) => crc32(content) === head.readUInt32LE(4),
};

/** Returns the acknowledged length, undefined without a valid header. */
function acknowledgedIn(bytes: Buffer): number | undefined {
  if (bytes.length < headerBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined;
  if (crc32(bytes.subarray(0, 20)) !== bytes.readUInt32LE(20)) return undefined;
  if (bytes.readUInt32LE(8) > version) {
    throw new LocalError('invalid', 'log-unreadable', 'a later version of apl-kernel wrote it');
  }
  return Number(bytes.readBigUInt64LE(12));
}

/** Finds records. Content never contains a marker, so no record is read twice, however many heads are damaged. */
function* recordsIn(bytes: Buffer, format: Format): Generator<FoundRecord> {
  const seen = new Set<number>();
  let at = 0;
  for (let place = bytes.indexOf(format.marker, format.markerAt); place >= 0; ) {
    const next = bytes.indexOf(format.marker, place + 1);
    const start = place - format.markerAt;
    const record =
      start >= at ? recordAt(bytes.subarray(0, next < 0 ? bytes.length : next), start, format) : undefined;
    if (record !== undefined) at = record.end;
    if (record !== undefined && (record.number === undefined || !seen.has(record.number))) {
      if (record.number !== undefined) seen.add(record.number);
      yield record;
    }
    place = next;
  }
}

/** Returns the record that starts here and lies within the bytes. */
function recordAt(bytes: Buffer, start: number, format: Format): FoundRecord | undefined {
  const content = start + format.headBytes;
  if (content > bytes.length) return undefined;
  const head = bytes.subarray(start, content);
  const end = content + format.lengthOf(head);
  if (end > bytes.length || !format.holds(head, bytes.subarray(content, end))) return undefined;
  const batch = decodeContent(bytes.subarray(content, end));
  const number = format.numberOf?.(head);
  return { start, end, batch, ...present({ number }) };
}

/** Returns how many consecutive records from `start` are in their original order, and the end of the last one. */
function runOf(
  records: readonly FoundRecord[],
  start: number,
): { readonly end: number; readonly count: number } {
  let end = start;
  let count = 0;
  for (const record of records) {
    if (record.start !== end || (record.number ?? count) !== count) break;
    end = record.end;
    count++;
  }
  return { end, count };
}

/** Whether these bytes are what a killed process may leave of the record with this number: its beginning, or nothing. */
function isUnfinished(bytes: Buffer, number: number): boolean {
  const head = Buffer.alloc(lengthAt);
  marker.copy(head);
  head.writeUInt32LE(number, numberAt);
  const known = Math.min(bytes.length, lengthAt);
  if (!bytes.subarray(0, known).equals(head.subarray(0, known))) return false;
  return bytes.length < checksumAt || headBytes + bytes.readUInt32LE(lengthAt) > bytes.length;
}

function checksumOf(head: Buffer, content: Buffer): number {
  return crc32(content, crc32(head.subarray(numberAt, checksumAt)));
}

function decodeContent(content: Buffer): Batch {
  const { nowNs, times, cells, ...rest } = JSON.parse(content.toString('utf8')) as Content;
  const events = times.map((time, row) => ({
    time: BigInt(time),
    cells: (cells[row] ?? []).map(cell => cell ?? undefined),
  }));
  return { ...rest, nowNs: BigInt(nowNs), events };
}
