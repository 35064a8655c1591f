import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, printed, shown, startBench, traceback } from '../../session.js';

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

describe('%results', () => {
  test('lists results with names, rows, columns, memory, range and query', async () => {
    expect(shown(await bench.run('%results'))).toEqual([
      'No results yet. name << query names one; _ is the last one.',
    ]);
    await bench.run('first << web | count');
    await bench.run('web | summarize n = count()');
    const [text = ''] = shown(await bench.run('%results'));
    const [caption, , , ...lines] = text.split('\n').map(line => line.trim().replace(/ {2,}/g, ' | '));
    expect(caption).toMatch(/^2 results; \d+ B of [\d.]+ [MG]B used$/);
    const range = '2026-03-04T04:06:07.123456789Z .. 2026-03-04T05:06:07.123456789Z';
    expect(lines).toEqual([
      expect.stringMatching(/^_ \| 1 \| 1 \| \d+ B \| /),
      expect.stringMatching(/^first \| 1 \| 1 \| \d+ B \| /),
    ]);
    expect(lines.map(line => line.includes(range))).toEqual([true, true]);
  });

  test('drops one result, or all', async () => {
    await bench.run('first << web');
    await bench.run('second << web | count');
    expect(printed(await bench.run('%results first --drop'))).toBe('Dropped the result first.\n');
    expect(traceback(await bench.run('%results first --drop'))[0]).toBe('magic: there is no result first');
    expect(printed(await bench.run('%results --drop'))).toBe('Dropped 1 result.\n');
  });

  test.each([
    ['512MB', '512 MB'],
    ['1.5 GB', '1.5 GB'],
    ['1GiB', '1.1 GB'],
    ['0b', '0 B'],
  ])('sets the memory budget with --budget %s', async (size, said) => {
    expect(printed(await bench.run(`%results --budget "${size}"`))).toBe(
      `Results may take ${said}; 0 B used.\n`,
    );
  });

  test.each([
    ['%results --budget much', 'magic: much is not an amount of memory'],
    ['%results a --budget 1MB', 'magic: --budget cannot be combined with other options'],
  ])('refuses %s', async (code, message) => {
    expect(traceback(await bench.run(code))[0]).toContain(message.replace('magic: ', ''));
  });
});

describe('%export', () => {
  test("writes the last result, a named one, or the one of its cell's query", async () => {
    await bench.run('first << web');
    const run = await bench.run('%export ~/last.csv');
    const path = JSON.stringify(join(bench.homeDir, 'last.csv'));
    expect(shown(run).at(-1)).toBe(
      [
        '~/last.csv: 1 row, 5 B',
        `import json, pandas as pd; df = pd.read_csv(${path}, dtype={"n": "Int64"}, keep_default_na=False, na_values={"n": [""]})`,
        `import polars as pl; df = pl.read_csv(${path}, schema={"n": pl.Int64})`,
      ].join('\n'),
    );
    expect(await readFile(join(bench.homeDir, 'last.csv'), 'utf8')).toBe('n\n42\n');
    await bench.run('%export ~/named.ndjson --from first');
    await bench.run('%export ~/own.tsv\nweb | count');
    expect((await readdir(bench.homeDir)).sort()).toEqual(['last.csv', 'named.ndjson', 'own.tsv']);
    expect(traceback(await bench.run('%export ~/last.csv'))[0]).toBe('export: last.csv already exists');
    expect((await bench.run('%export ~/last.csv --force')).outcome.status).toBe('ok');
  });

  test.each([
    ['%export ~/x.csv', 'magic: there is no result to export yet'],
    ['%export ~/x.csv --from nothing', 'magic: there is no result nothing'],
  ])('refuses %s without a result', async (code, message) => {
    expect(traceback(await bench.run(code))[0]).toBe(message);
  });
});
