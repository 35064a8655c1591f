import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { recognizeFormat } from '../../../../kernel/local/store/readers/logs/recognize-log.js';
import { rowsByLines, rowsInSample, spreadSample } from '../../../../kernel/local/store/readers/sample.js';
import { beginBytes, packedBegin } from '../../../../kernel/local/store/readers/unpacked.js';
import { startOf } from '../../../../kernel/local/store/sources/source-formats.js';
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

test('the sample of a large file in gzip is spread over its beginning', async () => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'file.ndjson.gz');
  const line = (n: number) => `{"n":${n},"text":"${'x'.repeat(280)}"}\n`;
  const rows = Math.ceil(beginBytes / line(10_000).length);
  await writeFile(file, gzipSync(Array.from({ length: 2 * rows }, (_, n) => line(n)).join('')));
  const sample = await spreadSample(file, directory);
  const taken = (await readFile(sample ?? '', 'utf8')).trimEnd().split('\n');
  const places = taken.map(each => Math.floor((JSON.parse(each).n / rows) * 20));
  expect([...new Set(places)]).toEqual([...Array(20).keys()]);
  expect(taken.length).toBeLessThanOrEqual(await rowsInSample(sample ?? ''));
});

test.each<readonly [what: string, content: string, begin: string | undefined]>([
  ['in short lines', 'abc,de\n'.repeat(beginBytes), 'abc,de\n'.repeat(Math.floor(beginBytes / 7))],
  ['of a small file', 'a,b\n'.repeat(1000), undefined],
  ['of a file in few lines', `${'x'.repeat(2 ** 20)}\n`.repeat(12), undefined],
])('the beginning %s in gzip is copied if the engine would read more than it', async (_, content, begin) => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'a.csv.gz');
  await writeFile(file, gzipSync(content));
  const copy = await packedBegin(file, directory);
  expect(copy === undefined ? undefined : await readFile(copy, 'utf8')).toBe(begin);
  expect(await packedBegin(copy ?? file, directory)).toBe(undefined);
});

test('no more of a text in gzip is looked at than of any other', async () => {
  const file = path.join(await temporaryDirectory(), 'a.ndjson.gz');
  const text = '{"a":1}\n'.repeat(100_000);
  await writeFile(file, gzipSync(text));
  expect(await startOf(file)).toBe(text.slice(0, 64 * 1024));
});
