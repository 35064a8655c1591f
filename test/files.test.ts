import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writeAll } from '../kernel/files.js';

/** A file that takes three bytes at a time, as a disk does that gets full. */
class SlowFile {
  readonly written: (readonly [text: string, position: number | null])[] = [];

  readonly write = (async (bytes: Uint8Array, from: number, length: number, position: number | null) => {
    const part = bytes.subarray(from, from + Math.min(3, length));
    this.written.push([Buffer.from(part).toString(), position]);
    return { bytesWritten: part.length, buffer: bytes };
  }) as unknown as Parameters<typeof writeAll>[0]['write'];
}

test('what a file takes in parts is written whole, each part at its position', async () => {
  const file = new SlowFile();
  await writeAll(file, Buffer.from('abcdefgh'), 100);
  await writeAll(file, Buffer.from('ijkl'));
  expect(file.written).toEqual([
    ['abc', 100],
    ['def', 103],
    ['gh', 106],
    ['ijk', null],
    ['l', null],
  ]);
});

test('nothing else of the kernel writes to an open file', () => {
  const sources = readdirSync('kernel', { recursive: true, encoding: 'utf8' }).filter(path =>
    /\.ts$/.test(path),
  );
  const writes = /\b(?:file|handle)\??\.write\(/i;
  expect(sources.filter(path => writes.test(readFileSync(`kernel/${path}`, 'utf8')))).toEqual(['files.ts']);
});
