import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { progressLine } from '../../kernel/commands/progress.js';

async function told(isTTY: boolean, rows: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-progress-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'a\x1b[31mb.csv');
  writeFileSync(file, Buffer.alloc(2_000_000));
  let text = '';
  let now = 0;
  const stream = {
    isTTY,
    write: (part: string) => {
      text += part;
    },
  };
  const line = progressLine(stream, file, () => now);
  for (const [seconds, share] of [
    [1, 0.1],
    [9, 0.25],
    [11, 0.5],
    [12, 0.75],
    [25, 1],
  ] as const) {
    now = seconds * 1_000;
    line.show(share, rows);
  }
  line.end();
  return text;
}

const name = 'a⟨U+001B⟩[31mb.csv';

test('on a terminal one line is written over, and nothing of it stays', async () => {
  const lines = [
    '200 kB of 2 MB in 1 s',
    '500 kB of 2 MB in 9 s',
    '1 MB of 2 MB in 11 s',
    '1.5 MB of 2 MB in 12 s',
    '2 MB of 2 MB in 25 s',
  ];
  expect(await told(true, 0)).toBe(`${lines.map(line => `\r\x1b[K${name}: ${line}`).join('')}\r\x1b[K`);
});

test('elsewhere there is a plain line every ten seconds', async () => {
  expect(await told(false, 0)).toBe(`${name}: 1 MB of 2 MB in 11 s\n${name}: 2 MB of 2 MB in 25 s\n`);
});

test('about how many rows have been read is said where it is known how many there are', async () => {
  expect(await told(false, 24_680)).toBe(
    `${name}: 1 MB of 2 MB, about 12,000 rows in 11 s\n${name}: 2 MB of 2 MB, about 25,000 rows in 25 s\n`,
  );
});
