import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { plural } from '../../../text.js';
import { writeCopy } from '../bounds/bounded-copies.js';

/** Copies a text, replacing bytes that are not UTF-8 with U+FFFD; returns the number of lines with such bytes. */
export async function repairText(file: string, target: string): Promise<number> {
  const count = { lines: 0 };
  const chunks = Readable.from(repaired(createReadStream(file, { highWaterMark: chunkBytes }), count));
  await writeCopy(target, [chunks]);
  return count.lines;
}

const codeStart = '\u001b';
const terminalCode = new RegExp(`${codeStart}\\[[\\d;?]*[A-Za-z]`, 'g');
const begunCode = new RegExp(`${codeStart}(?:\\[[\\d;?]*)?$`);

/** Whether a text contains terminal color codes. */
export function isColored(text: string): boolean {
  return new RegExp(`${codeStart}\\[[\\d;]*m`).test(text);
}

/** Removes terminal codes, such as colors. */
export function withoutColors(): Transform {
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = rest + chunk.toString('latin1');
      // A code at the end may continue in the next chunk.
      rest = begunCode.exec(text)?.[0] ?? '';
      const whole = text.slice(0, text.length - rest.length);
      done(null, Buffer.from(whole.replace(terminalCode, ''), 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(rest, 'latin1'));
    },
  });
}

/** Returns a note on the number of lines with bytes that are not UTF-8. */
export function notUtf8Note(lines: number): string {
  return `Bytes that are not UTF-8 become \ufffd in ${plural(lines, 'line')}: set another encoding with \`--encoding\`.`;
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

/** Copies a text with mixed line endings, with line feeds only; returns the number of carriage returns, 0 if line endings are uniform. */
export async function unifyLineEnds(file: string, target: string): Promise<number> {
  const { returns, pairs, feeds } = await writeUnified(file, target);
  return feeds > pairs || (pairs > 0 && returns > pairs) ? returns : 0;
}

/** Copies a text, replacing carriage returns with line feeds; returns their number, 0 if most lines end differently. */
export async function replaceReturns(file: string, target: string): Promise<number> {
  const { returns, pairs, feeds } = await writeUnified(file, target);
  return returns - pairs > feeds ? returns : 0;
}

interface LineEnds {
  returns: number;
  /** Carriage returns followed by a line feed. */
  pairs: number;
  feeds: number;
}

async function writeUnified(file: string, target: string): Promise<LineEnds> {
  const count = { returns: 0, pairs: 0, feeds: 0 };
  const chunks = Readable.from(unified(createReadStream(file, { highWaterMark: chunkBytes }), count));
  await writeCopy(target, [chunks]);
  return count;
}

async function* unified(chunks: AsyncIterable<Buffer>, count: LineEnds): AsyncGenerator<Buffer> {
  let last = '';
  for await (const chunk of chunks) {
    const text = last + chunk.toString('latin1');
    // It may be the first half of a line ending.
    last = text.endsWith('\r') ? '\r' : '';
    yield Buffer.from(withFeeds(last === '' ? text : text.slice(0, -1), count), 'latin1');
  }
  yield Buffer.from(withFeeds(last, count), 'latin1');
}

function withFeeds(text: string, count: LineEnds): string {
  count.returns += text.split('\r').length - 1;
  count.pairs += text.split('\r\n').length - 1;
  count.feeds += text.split('\n').length - 1;
  return text.replace(/\r\n?/g, '\n');
}

const lineFeed = 0x0a;
const chunkBytes = 2 ** 20;
