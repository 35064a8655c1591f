import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { progressLine } from '../../kernel/commands/command-progress.js';

async function told(
  isTTY: boolean,
  rows: number,
  shares: readonly (number | undefined)[] = [0.1, 0.25, 0.5, 0.75, 1],
): Promise<string> {
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
  for (const [index, seconds] of [1, 9, 11, 12, 25].entries()) {
    now = seconds * 1_000;
    line.show(shares[index], rows);
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

test('while the values are looked at, before the file is read, nothing is said to be read', async () => {
  const shares = [undefined, undefined, undefined, 0.5, 1];
  expect(await told(false, 0, shares)).toBe(
    `${name}: looking at its values, 11 s\n${name}: 2 MB of 2 MB in 25 s\n`,
  );
});
