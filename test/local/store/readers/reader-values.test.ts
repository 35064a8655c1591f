import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { writeValues } from '../../../../kernel/local/store/readers/reader-values.js';
import { temporaryDirectory } from '../../service.js';

/** Values of all lengths up to a few hundred bytes, with characters that are misleading at the end of a chunk. */
const values = Array.from({ length: 20_000 }, (_, index) => ({
  v: index,
  w: `\\"{[,]}\n${'x'.repeat(index % 257)}é`,
}));

test.each([
  ['an array on one line', JSON.stringify(values)],
  ['a pretty-printed array', JSON.stringify(values, null, 2)],
  ['adjacent objects', values.map(value => JSON.stringify(value)).join('')],
  ['a sequence with record separators', values.map(value => `\x1e${JSON.stringify(value)}\n`).join('')],
])('values are whole in a text that is read in parts: %s', async (_, text) => {
  const directory = await temporaryDirectory();
  const [file, target] = [path.join(directory, 'in.json'), path.join(directory, 'out.ndjson')];
  await writeFile(file, text);
  expect(Buffer.byteLength(text)).toBeGreaterThan(3 * 2 ** 20);
  for (const recovers of [false, true]) {
    await writeFile(target, '');
    expect(await writeValues(file, target, { recovers })).toBe(true);
    const lines = (await readFile(target, 'utf8')).trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line))).toEqual(values);
  }
});

test.each([-1, 0, 1])(
  'an unterminated object loses none after it, %i bytes from the read boundary',
  async shift => {
    const directory = await temporaryDirectory();
    const [file, target] = [path.join(directory, 'in.json'), path.join(directory, 'out.ndjson')];
    const broken = '{\n "v": [7\n}\n';
    const before = '{"v": "\n';
    const long = `{"v":"${'x'.repeat(2 ** 20 + shift - broken.length - before.length - 10)}"}\n`;
    await writeFile(file, `${long}${before}${broken}{\n "v": 8\n}\n`);
    expect(await writeValues(file, target, { recovers: true })).toBe(true);
    const lines = (await readFile(target, 'utf8')).split('\n').slice(1);
    expect(lines).toEqual(['{"v": "', '{  "v": [7 }', '{  "v": 8 }', '']);
  },
);
