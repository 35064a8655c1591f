import { tableFromIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { ARROW_MIME, toBundle, toOutputs, VEGA_MIME } from '../../kernel/result/mime.js';
import type { QueryResult } from '../../kernel/result/result.js';
import { cells, type SampleColumn, sampleResult } from './sample.js';

const BUCKETS = { field: '_time', size: 60_000_000_000 };
const OVER_TIME = {
  columns: [
    ['_time', 'datetime', '["2026-11-20T09:00:00Z","2026-11-20T09:01:00Z"]'],
    ['count_', 'integer', '[9007199254740993,2]'],
  ] as const,
  buckets: BUCKETS,
};

test('an aggregate over time has two outputs, the chart first; other results have one', async () => {
  const types = async (outputs: ReturnType<typeof toOutputs>) =>
    (await outputs).map(output => Object.keys(output.data));
  const table = ['text/html', 'text/plain', ARROW_MIME];
  expect(await types(toOutputs(sampleResult([OVER_TIME])))).toEqual([
    [VEGA_MIME, 'image/svg+xml', 'text/plain'],
    table,
  ]);
  expect(await types(toOutputs(sampleResult([OVER_TIME]), { chart: { kind: 'none' } }))).toEqual([table]);
  expect(await types(toOutputs(sampleResult([OVER_TIME]), { svgOnly: true }))).toEqual([
    ['image/svg+xml', 'text/plain'],
    table,
  ]);
  expect(await types(toOutputs(sampleResult([{ columns: [['i', 'integer', '[1]']] }])))).toEqual([table]);
});

test('a chart by name is below its table for several figures, and above it for one', async () => {
  const shown = async (columns: readonly SampleColumn[]) =>
    (await toOutputs(sampleResult([{ columns, groups: ['uri'] }]))).map(({ data }) => VEGA_MIME in data);
  const names: SampleColumn = ['uri', 'string', '["/a","/b"]'];
  const figures = (name: string): SampleColumn => [name, 'integer', '[5,20]'];
  expect(await shown([names, figures('n')])).toEqual([true, false]);
  expect(await shown([names, figures('n'), figures('m')])).toEqual([false, true]);
});

test('only a table placed side by side has a class for it', async () => {
  const html = async (options: object) => {
    const outputs = await toOutputs(sampleResult([OVER_TIME]), options);
    return outputs.map(({ data }) => String(data['text/html'] ?? ''));
  };
  const opening = async (options: object) => (await html(options)).at(-1)?.split('>')[0];
  expect(await opening({})).toMatch(/^<div class="apl-[0-9a-f]{6} tex2jax_ignore mathjax_ignore"$/);
  expect((await html({})).join('')).not.toContain('apl-beside');
  expect(await opening({ beside: 'chart and table' })).toMatch(/ apl-beside apl-beside-2"$/);
  expect(await opening({ beside: 1 })).toMatch(/ apl-beside apl-beside-1 apl-under-chart"$/);
  expect(await opening({ beside: 2, chart: { kind: 'none' } })).toMatch(/ apl-beside apl-beside-2"$/);
  expect((await html({ beside: 1 })).join('')).toContain('@container');
});

test('a chart without values becomes a sentence above the table', async () => {
  const nothing = { ...OVER_TIME, columns: [OVER_TIME.columns[0], ['p95', 'float', '[null,null]']] as const };
  const [table, ...others] = await toOutputs(sampleResult([nothing]));
  expect(others).toEqual([]);
  expect(table?.data['text/plain']).toContain('No chart: p95 has no value in any row.');
});

test('metadata has the provenance and the notices of the result', () => {
  const { metadata } = toBundle(sampleResult([OVER_TIME], { status: { isPartial: true } }));
  expect(metadata.apl).toMatchObject({
    query: "['logs'] | limit 5",
    startTime: '2026-11-20T09:00:00Z',
    traceId: 'trace-1',
    profile: 'local',
    status: { rowsExamined: 5_000_000, isPartial: true },
    tables: [{ name: '0', rows: 2, columns: 2 }],
    limits: [
      {
        level: 'warn',
        text: 'The result contains only part of the rows: the service did not read all data in the range.',
      },
    ],
  });
});

describe('the same response over a range', () => {
  const groups = ['g'];
  const charted = {
    columns: [
      ['_time', 'datetime', '["2026-11-20T09:00:00Z","2026-11-20T09:00:00Z","2026-11-20T09:01:00Z"]'],
      ['g', 'string', '["a","b","a"]'],
      ['count_', 'integer', '[1,2,3]'],
    ] as const,
    groups,
    buckets: BUCKETS,
  };
  const run = async (frozen: boolean, elapsedMs: number) =>
    JSON.stringify(
      await toOutputs(
        sampleResult([charted], {
          provenance: { frozen, elapsedMs, traceId: `trace-${elapsedMs}` },
          status: {
            elapsedTime: elapsedMs * 1000,
            cacheStatus: elapsedMs,
            blocksCached: elapsedMs,
            minCursor: `${elapsedMs}`,
            maxBlockTime: new Date(elapsedMs).toISOString(),
          },
        }),
      ),
    );
  test('gives the same bytes if the range is frozen', async () =>
    expect(await run(true, 5)).toBe(await run(true, 900)));
  test('keeps its timings and trace if the range is not frozen', async () => {
    const output = await run(false, 5);
    expect(output).not.toBe(await run(false, 900));
    expect(output).toContain('"elapsedMs":5,');
    expect(output).toContain('"traceId":"trace-5"');
  });
});

describe('an output in a notebook', () => {
  const size = (result: QueryResult, options = {}) => JSON.stringify(toBundle(result, options)).length;
  const table = (rows: number) =>
    sampleResult([
      {
        columns: Array.from({ length: 10 }, (_, column) =>
          column % 2 === 0
            ? ([
                `field ${column}`,
                'string',
                cells(rows, row => `${row * 7919}/products/${row % 13}`),
              ] as const)
            : ([`field ${column}`, 'float', cells(rows, row => Math.sin(row * column))] as const),
        ),
      },
    ]);
  test('is small for a thousand rows of ten columns', () =>
    expect(size(table(1000))).toBeLessThan(256 * 1024));
  test('is small for 50,000 rows', () => expect(size(table(50_000))).toBeLessThan(256 * 1024));
  test('has all rows if requested', () => {
    const html = String(toBundle(table(1000), { rows: 1000 }).data['text/html']);
    expect(html.split('<tr>').length - 2).toBe(1000);
    expect(html).not.toContain('Showing the first');
  });
});

describe('Arrow within a byte budget', () => {
  const rows = 100_000;
  const result = sampleResult([
    {
      columns: [
        ['word', 'string', cells(rows, row => (row % 11 === 0 ? null : `word ${row % 3000}`))],
        ['text', 'string', cells(rows, row => `unique ${row}`)],
        ['n', 'integer', cells(rows, row => row)],
        ['flag', 'boolean', cells(rows, row => row % 3 === 0)],
      ],
    },
  ]);

  test.each([
    [64 * 1024, 1000],
    [1024 * 1024, 10_000],
  ])('keeps the first rows in %i bytes, with the number in metadata', (budget, atLeast) => {
    const { data, metadata } = toBundle(result, { byteBudget: budget });
    const bytes = Buffer.from(data[ARROW_MIME] as string, 'base64');
    const table = tableFromIPC(bytes);
    expect(bytes.length).toBeLessThanOrEqual(budget);
    expect(table.numRows).toBeGreaterThan(atLeast);
    expect(metadata[ARROW_MIME]).toEqual({
      nteract: { summary: { total_rows: rows, included_rows: table.numRows, sampled: false } },
    });
    const last = table.numRows - 1;
    expect(table.getChildAt(0)?.get(last)).toBe(last % 11 === 0 ? null : `word ${last % 3000}`);
    expect(table.getChildAt(1)?.get(last)).toBe(`unique ${last}`);
    expect(table.getChildAt(2)?.get(last)).toBe(BigInt(last));
    expect(table.getChildAt(3)?.get(last)).toBe(last % 3 === 0);
  });

  test.each([0, 100])('keeps no rows in %i bytes, with the number in metadata', budget => {
    const { data, metadata } = toBundle(result, { byteBudget: budget });
    expect(Object.keys(data)).toEqual(['text/html', 'text/plain']);
    expect(metadata[ARROW_MIME]).toEqual({
      nteract: { summary: { total_rows: rows, included_rows: 0, sampled: false } },
    });
  });

  test('keeps a small table complete and exact', () => {
    const table = tableFromIPC(
      Buffer.from(toBundle(sampleResult([OVER_TIME])).data[ARROW_MIME] as string, 'base64'),
    );
    expect([...(table.getChildAt(1) ?? [])]).toEqual([9007199254740993n, 2n]);
  });

  test('keeps the columns of an empty table', () => {
    const empty = sampleResult([
      {
        columns: [
          ['s', 'string', '[]'],
          ['i', 'integer', '[]'],
        ],
      },
    ]);
    const table = tableFromIPC(Buffer.from(toBundle(empty).data[ARROW_MIME] as string, 'base64'));
    expect([table.numRows, table.schema.fields.map(field => field.name)]).toEqual([0, ['s', 'i']]);
  });
});
