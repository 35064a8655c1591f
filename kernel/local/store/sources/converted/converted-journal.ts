import { isUtf8 } from 'node:buffer';

/** A value as written by `journalctl -o json`: a string, or byte values. */
export type Value = string | readonly number[];

/**
 * Yields the entries of a journal in export format (https://systemd.io/JOURNAL_EXPORT_FORMATS/) as `journalctl -o json` writes them. Throws
 * RangeError if the file is damaged.
 */
export async function* journalEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<object> {
  let entry = new Map<string, Value[]>();
  for await (const [name, value] of fieldsOf(chunks)) {
    if (name !== '') addTo(entry, name, value);
    else if (entry.size > 0) {
      yield objectOf(entry);
      entry = new Map();
    }
  }
  if (entry.size > 0) yield objectOf(entry);
}

/** Adds the value of a field to an entry. */
export function addTo(entry: Map<string, Value[]>, name: string, value: Value): void {
  const values = entry.get(name);
  if (values === undefined) entry.set(name, [value]);
  else values.push(value);
}

/** Returns an entry as an object; repeated fields become lists. */
export function objectOf(entry: ReadonlyMap<string, Value[]>): object {
  return Object.fromEntries(
    [...entry].map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  );
}

/** Yields fields with their values; an empty name ends an entry. */
async function* fieldsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly [string, Value]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let field = fieldAt(rest, at); field !== undefined; field = fieldAt(rest, at)) {
      yield [field.name, readValue(field.value)];
      at = field.end;
    }
    rest = rest.subarray(at);
  }
  const last = rest.indexOf('=');
  if (last > 0 && !rest.includes('\n'))
    yield [rest.toString('utf8', 0, last), readValue(rest.subarray(last + 1))];
  else if (rest.length > 0) throw new RangeError('a field is cut off');
}

interface Field {
  readonly name: string;
  readonly value: Buffer;
  readonly end: number;
}

/** Returns the field at an offset, if complete: `NAME=text`, or `NAME`, a 64-bit length, and that many bytes. */
function fieldAt(bytes: Buffer, at: number): Field | undefined {
  const lineEnd = bytes.indexOf('\n', at);
  if (lineEnd < 0) return undefined;
  const line = bytes.subarray(at, lineEnd);
  const equals = line.indexOf('=');
  if (line.length === 0) return { name: '', value: line, end: lineEnd + 1 };
  if (equals >= 0)
    return { name: line.toString('utf8', 0, equals), value: line.subarray(equals + 1), end: lineEnd + 1 };
  const start = lineEnd + 1 + lengthBytes;
  if (bytes.length < start) return undefined;
  const end = start + Number(bytes.readBigUInt64LE(lineEnd + 1));
  if (end - start > mostBytes) throw new RangeError('a field is too long');
  if (bytes.length <= end) return undefined;
  return { name: line.toString(), value: bytes.subarray(start, end), end: end + 1 };
}

const lengthBytes = 8;
const mostBytes = 64 * 2 ** 20;

function readValue(bytes: Buffer): Value {
  return isUtf8(bytes) ? bytes.toString() : [...bytes];
}
