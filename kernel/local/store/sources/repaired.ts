import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { writeCopy } from '../bounds/copies.js';
import { longestLine } from '../bounds/text.js';

/** Copies a text and replaces bytes that are not UTF-8 by U+FFFD; returns in how many lines there are some. */
export async function repairText(file: string, target: string): Promise<number> {
  const count = { lines: 0 };
  const chunks = Readable.from(repaired(createReadStream(file, { highWaterMark: chunkBytes }), count));
  await writeCopy(target, [chunks]);
  return count.lines;
}

async function* repaired(chunks: AsyncIterable<Buffer>, count: { lines: number }): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > 0) yield repairedLines(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]), count);
    rest = [...rest, chunk.subarray(end)];
  }
  yield repairedLines(Buffer.concat(rest), count);
}

function repairedLines(text: Buffer, count: { lines: number }): Buffer {
  if (isUtf8(text)) return text;
  const lines: Buffer[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(lineFeed, at) + 1 || text.length;
    const line = text.subarray(at, end);
    const isWhole = isUtf8(line);
    if (!isWhole) count.lines += 1;
    lines.push(isWhole ? line : Buffer.from(line.toString()));
    at = end;
  }
  return Buffer.concat(lines);
}

/** Copies a text whose lines end in several ways, with line feeds alone; returns how many carriage returns there were, 0 if lines end alike. */
export async function unifyLineEnds(file: string, target: string): Promise<number> {
  const count = { returns: 0, pairs: 0, feeds: 0 };
  await writeCopy(target, [
    Readable.from(unified(createReadStream(file, { highWaterMark: chunkBytes }), count)),
  ]);
  const { returns, pairs, feeds } = count;
  return feeds > pairs || (pairs > 0 && returns > pairs) ? returns : 0;
}

async function* unified(
  chunks: AsyncIterable<Buffer>,
  count: { returns: number; pairs: number; feeds: number },
): AsyncGenerator<Buffer> {
  let last = '';
  for await (const chunk of chunks) {
    const text = last + chunk.toString('latin1');
    // What follows tells whether it is half of an end.
    last = text.endsWith('\r') ? '\r' : '';
    yield Buffer.from(withFeeds(last === '' ? text : text.slice(0, -1), count), 'latin1');
  }
  yield Buffer.from(withFeeds(last, count), 'latin1');
}

function withFeeds(text: string, count: { returns: number; pairs: number; feeds: number }): string {
  count.returns += text.split('\r').length - 1;
  count.pairs += text.split('\r\n').length - 1;
  count.feeds += text.split('\n').length - 1;
  return text.replace(/\r\n?/g, '\n');
}

/** Whether a line of a text begins and ends as a JSON object does. */
export function isObjectLine(line: string): boolean {
  return line.startsWith('{') && line.trimEnd().endsWith('}');
}

/** Whether most lines of a text are JSON objects, so that any other line stands by itself. */
export function isOfObjects(lines: readonly string[]): boolean {
  return lines.filter(isObjectLine).length * 2 > lines.filter(line => line.trim() !== '').length;
}

/**
 * Copies a text with each line that does not look like a JSON object as the `message` of one, but for nulls; returns how many there are, 0
 * also if a line is too long to be taken.
 */
export async function wrapPlainLines(file: string, target: string): Promise<number> {
  const count = { lines: 0, tooLong: false };
  const chunks = createReadStream(file, { highWaterMark: chunkBytes });
  await writeCopy(target, [Readable.from(wrapped(chunks, count))]);
  return count.tooLong ? 0 : count.lines;
}

async function* wrapped(
  chunks: AsyncIterable<Buffer>,
  count: { lines: number; tooLong: boolean },
): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > 0) yield wrappedLines(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]), count);
    rest = [...rest, chunk.subarray(end)];
    count.tooLong = rest.length * chunkBytes > longestLine;
    if (count.tooLong) return;
  }
  yield wrappedLines(Buffer.concat(rest), count);
}

/** Lines of objects stay as they are, byte by byte. */
function wrappedLines(text: Buffer, count: { lines: number }): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(lineFeed, at) + 1 || text.length;
    if (!mayBeObject(text, at, end)) {
      const line = text.toString('utf8', at, end).trimEnd();
      if (!/^\s*(?:null)?$/.test(line)) {
        count.lines += 1;
        parts.push(text.subarray(from, at), Buffer.from(`${JSON.stringify({ message: line })}\n`));
        from = end;
      }
    }
    at = end;
  }
  return Buffer.concat([...parts, text.subarray(from)]);
}

function mayBeObject(text: Buffer, start: number, end: number): boolean {
  let [first, last] = [start, end - 1];
  while (first < last && blanks.has(text[first] ?? 0)) first += 1;
  while (last > first && blanks.has(text[last] ?? 0)) last -= 1;
  return text[first] === opening && text[last] === closing;
}

const lineFeed = 0x0a;
const [opening, closing] = [0x7b, 0x7d];
const blanks = new Set([0x20, 0x09, 0x0a, 0x0d]);
const chunkBytes = 2 ** 20;
