import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { writeCopy } from '../bounds/copies.js';

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

const lineFeed = 0x0a;
const chunkBytes = 2 ** 20;
