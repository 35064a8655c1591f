import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { recognizeFormat } from '../../../../kernel/local/store/readers/logs/recognize-log.js';
import { rowsByLines, rowsInSample, spreadSample } from '../../../../kernel/local/store/readers/sample.js';
import { temporaryDirectory } from '../../service.js';

test.each<readonly [what: string, content: string | Uint8Array, quoted: boolean, rows: number]>([
  ['JSON lines', '{"a": 1}\n{"a": 2}\n', false, 2],
  ['a million lines, only the first of them read', 'four\n'.repeat(1_000_000), false, 1_000_000],
  ['line breaks within CSV quotes', 'a,b\n1,"x\ny\nz"\n2,"say ""no""\n"\n', true, 3],
  ['quotes in lines of text', 'he said "no\nshe said "yes\n', false, 2],
  ['a JSON array', '[{"a": 1},\n{"a": 2}]\n', false, 0],
  ['a line without a line break', `{"a": "${'x'.repeat(3_000_000)}"}`, false, 0],
  ['a compressed file', gzipSync('a\nb\n'), false, 0],
  ['an empty file', '', false, 0],
])('the row count of a file is estimated: %s', async (_, content, quoted, rows) => {
  const file = path.join(await temporaryDirectory(), 'file');
  await writeFile(file, content);
  expect(await rowsByLines(file, quoted)).toBe(rows);
});

test('the sample of a large file is spread over all of it, even if lines are short', async () => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'file.ndjson');
  const rows = 2_000_000;
  await writeFile(file, Array.from({ length: rows }, (_, n) => `{"n":${n}}\n`).join(''));
  const sample = await spreadSample(file, directory);
  const taken = (await readFile(sample ?? '', 'utf8'))
    .trimEnd()
    .split('\n')
    .slice(0, await rowsInSample(file));
  const places = taken.map(line => Math.floor((JSON.parse(line).n / rows) * 40));
  expect([...new Set(places)]).toEqual([...Array(40).keys()]);
});

test('a format of six lines in ten is the likeliest but not the usual one', () => {
  const line = '1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 200 5';
  const found = [9, 6, 5].map(count => {
    const { format, isUsual } = recognizeFormat(
      Array.from({ length: 10 }, (_, n) => (n < count ? line : 'x')),
    );
    return [format.name, isUsual];
  });
  expect(found).toEqual([
    ['combined', true],
    ['combined', false],
    ['text', false],
  ]);
});
