import { expect, test } from 'vitest';
import { progressLine } from '../../kernel/commands/command-progress.js';

function told(
  isTTY: boolean,
  rows: number,
  shares: readonly (number | undefined)[] = [0.1, 0.25, 0.5, 0.75, 1],
): string {
  let text = '';
  let now = 0;
  const stream = {
    isTTY,
    write: (part: string) => {
      text += part;
    },
  };
  const line = progressLine(stream, '/logs/a\x1b[31mb.csv', () => now);
  for (const [index, seconds] of [1, 9, 11, 12, 25].entries()) {
    now = seconds * 1_000;
    line.show(shares[index], rows);
  }
  line.end();
  return text;
}

const name = 'a⟨U+001B⟩[31mb.csv';

test('on a terminal, progress overwrites one line and clears it at the end', () => {
  const lines = ['10 % in 1 s', '25 % in 9 s', '50 % in 11 s', '75 % in 12 s', '100 % in 25 s'];
  expect(told(true, 0)).toBe(`${lines.map(line => `\r\x1b[K${name}: ${line}`).join('')}\r\x1b[K`);
});

test('without a terminal, progress is a plain line every ten seconds', () => {
  expect(told(false, 0)).toBe(`${name}: 50 % in 11 s\n${name}: 100 % in 25 s\n`);
});

test('progress includes the approximate number of rows read, if the total is known', () => {
  expect(told(false, 24_680)).toBe(
    `${name}: 50 %, about 12,000 rows in 11 s\n${name}: 100 %, about 25,000 rows in 25 s\n`,
  );
});

test('the scan of values before the import reports no progress of reading', () => {
  const shares = [undefined, undefined, undefined, 0.5, 1];
  expect(told(false, 0, shares)).toBe(`${name}: inspecting its values, 11 s\n${name}: 100 % in 25 s\n`);
});
