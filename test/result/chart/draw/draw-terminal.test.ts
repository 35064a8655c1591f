import { expect, test } from 'vitest';
import { toTerminal } from '../../../../kernel/result/chart/chart-describe.js';
import { chartOutput } from '../../../../kernel/result/mime.js';
import { cells, type SampleTable, sampleResult } from '../../sample.js';
import { buckets, chartOf, minute, time } from '../fixtures.js';
import { boxesIn } from '../marks.js';

const range = { start: '2026-11-20T09:00:00Z', end: '2026-11-20T09:08:00Z' };
const total = { n: { name: 'count' } };
const overTime: SampleTable = {
  columns: [time(8), ['n', 'integer', '[0,1,2,3,4,5,6,7]']],
  ...{ buckets, range, aggs: total },
};
const byHost: SampleTable = {
  columns: [
    time(16, 2),
    ['host', 'string', cells(16, row => (row % 2 === 0 ? 'alpha' : 'be\u001b[31mta'))],
    ['n', 'float', cells(16, row => (row === 5 ? null : row % 2 === 0 ? row : 15 - row))],
  ],
  groups: ['_time', 'host'],
  ...{ buckets, range, aggs: { n: { name: 'avg' } } },
};
const byName: SampleTable = {
  columns: [
    ['uri', 'string', '["/a","/long/path/of/a/resource","/c"]'],
    ['n', 'integer', '[5,20,1]'],
  ],
  groups: ['uri'],
  aggs: total,
};

async function drawn(table: SampleTable, width: number, kind?: 'pie' | 'heat'): Promise<readonly string[]> {
  const { model } = await chartOf(table, kind && { kind });
  return toTerminal(model, width).split('\n');
}

test('draws one measure as a line of blocks, with its minimum and maximum below', async () => {
  expect(await drawn(overTime, 80)).toEqual([
    'n  \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588',
    '0 to 7',
  ]);
});

test('gives a bin that begins before the range its own column', async () => {
  const table: SampleTable = {
    columns: [
      ['_time', 'datetime', cells(8, row => minute(row * 10 - 10))],
      ['n', 'integer', '[335,628,668,700,730,837,347,50]'],
    ],
    buckets: { field: '_time', size: 600_000_000_000 },
    range: { start: minute(-4), end: minute(66) },
    aggs: total,
  };
  expect((await drawn(table, 80))[0]).toBe('n  \u2584\u2587\u2587\u2587\u2587\u2588\u2584\u2581');
  expect((await drawn(table, 80, 'heat'))[0]).toBe('n  \u2592\u2588\u2588\u2588\u2588\u2588\u2592\u2591');
});

test('keeps columns for bins before the first row', async () => {
  const table: SampleTable = {
    columns: [
      ['_time', 'datetime', cells(5, row => minute(row + 3))],
      ['n', 'float', '[1,2,3,4,5]'],
    ],
    ...{ buckets, range, aggs: { n: { name: 'avg' } } },
  };
  expect((await drawn(table, 80))[0]).toBe('n     \u2582\u2584\u2585\u2587\u2588');
  expect((await drawn(table, 80, 'heat'))[0]).toBe('n     \u2591\u2592\u2593\u2588\u2588');
});

test('draws groups on one axis, gaps for missing values, and escapes control characters', async () => {
  const lines = await drawn(byHost, 80);
  expect(lines).toHaveLength(3);
  expect(lines.join('\n')).not.toContain('\u001b');
  expect(lines).toMatchInlineSnapshot(`
    [
      "n: 0 to 14",
      "alpha             ▁▂▃▄▅▆▇█",
      "be⟨U+001B⟩[31mta  █▇ ▅▄▃▂▁",
    ]
  `);
});

test('draws bars by name, the longest as wide as the line', async () => {
  const lines = await drawn(byName, 40);
  expect(lines).toMatchInlineSnapshot(`
    [
      "n",
      "/long/path/…  ███████████████████████ 20",
      "/a            █████▊ 5",
      "/c            █▏ 1",
    ]
  `);
  expect(Math.max(...lines.map(({ length }) => length))).toBe(40);
});

test('draws lines and bars on a logarithmic axis', async () => {
  const values = ['n', 'float', '[1,10,100,10000]'] as const;
  const lines = await chartOf(
    { columns: [time(4), values], buckets, range, aggs: { n: { name: 'avg' } } },
    { log: true },
  );
  expect(toTerminal(lines.model, 80).split('\n')).toEqual(['n  \u2581\u2583\u2585\u2588', '1 to 10,000']);
  const bars = await chartOf(
    { columns: [['k', 'string', '["a","b","c","d"]'], values], groups: ['k'], aggs: total },
    { kind: 'bar', log: true },
  );
  const lengths = toTerminal(bars.model, 31)
    .split('\n')
    .slice(1)
    .map(line => line.replace(/[^\u2588]/g, '').length);
  expect(lengths).toEqual([21, 12, 8, 4]);
});

test('says if a measure has no values in the groups drawn', async () => {
  const { model } = await chartOf({
    columns: [
      time(24, 2),
      ['host', 'string', cells(24, row => `h${row % 12}`)],
      ['a', 'float', cells(24, row => 100 - (row % 12))],
      ['b', 'float', cells(24, row => (row === 23 ? 5 : null))],
    ],
    groups: ['_time', 'host'],
    ...{ buckets, aggs: { a: { name: 'avg' }, b: { name: 'avg' } } },
  });
  expect(toTerminal(model, 80).split('\n')).toContain('b: no values');
});

test('draws a pie as bars and a heatmap as shades', async () => {
  expect(await drawn(byName, 40, 'pie')).toMatchInlineSnapshot(`
    [
      "/long/path/…  ███████████████████████ 20",
      "/a            █████▊ 5",
      "/c            █▏ 1",
    ]
  `);
  expect(await drawn(byHost, 40, 'heat')).toMatchInlineSnapshot(`
    [
      "alpha         ░░▒▒▓▓██",
      "be⟨U+001B⟩[…  ██ ▓▒▒░░",
    ]
  `);
});

test('draws a shade for each pair of names, and for several names in one column if there is less room', async () => {
  const pairs = (count: number): SampleTable => ({
    columns: [
      ['host', 'string', cells(count * 2, row => (row % 2 === 0 ? 'alpha' : 'beta'))],
      ['uri', 'string', cells(count * 2, row => `/${String.fromCharCode(97 + Math.floor(row / 2))}`)],
      ['n', 'integer', cells(count * 2, row => (row === 3 ? null : row))],
    ],
    groups: ['host', 'uri'],
    aggs: total,
  });
  expect(await drawn(pairs(4), 40, 'heat')).toEqual(['beta   █▓ ░', 'alpha  █▓▒░']);
  expect(await drawn(pairs(20), 16, 'heat')).toEqual(['beta   ██▓▓▓▒▒░░', 'alpha  ██▓▓▓▒▒░░']);
});

test.each([20, 40, 80])('draws no line wider than a terminal of %i columns', async width => {
  for (const table of [overTime, byHost, byName])
    for (const line of await drawn(table, width)) expect([...line].length).toBeLessThanOrEqual(width);
});

test('is included only in an output for a terminal', async () => {
  const chart = await chartOf(overTime);
  const result = sampleResult([overTime]);
  expect(chartOutput(chart, result).data['text/plain']).toBe(chart.description);
  const drawn = toTerminal(chart.model, 50);
  const text = String(chartOutput(chart, result, { width: 50 }).data['text/plain']);
  expect(text.slice(0, drawn.length + 1)).toBe(`${drawn}\n`);
  const sentence = text.slice(drawn.length + 1).split('\n');
  expect(sentence.join(' ')).toBe(chart.description);
  expect(sentence.length).toBeGreaterThan(1);
  expect(Math.max(...sentence.map(line => line.length))).toBeLessThanOrEqual(50);
});

test('draws shares of the selected and the other rows, with a bar for each', async () => {
  const entry = (field: string, score: number, shares: readonly (readonly [number, number])[]) => ({
    ...{ field, score },
    values: shares.map(([selected, baseline], index) => ({ value: `v${index}`, selected, baseline })),
  });
  const found = [
    entry('a', 0.9, [
      [0.8, 0.1],
      [0.2, 0.4],
    ]),
    entry('b', 0.5, [[0.5, 0]]),
    entry('c', 0, []),
  ];
  const chart = await chartOf({
    columns: [['s', 'dynamic', JSON.stringify([found])]],
    aggs: { s: { name: 'spotlight' } },
  });
  expect(toTerminal(chart.model, 60).split('\n')).toMatchInlineSnapshot(`
    [
      "80% of the selected events have a = v0, 10% of the others.",
      "a · score 0.90",
      "v0        █████████████████████████████████████████████ 80 %",
      "  others  █████▋ 10 %",
      "v1        ███████████▎ 20 %",
      "  others  ██████████████████████▌ 40 %",
      "b · score 0.50",
      "v0        █████████████████████████████████████████████ 50 %",
      "  others   0 %",
    ]
  `);
  const layers = boxesIn(chart.svg).map(boxes => boxes.map(({ width }) => width));
  const unit = (layers[0]?.[0] ?? 0) / 0.8;
  const shares = layers.map(widths => widths.map(width => Number((width / unit).toFixed(2))));
  expect(shares).toEqual([
    [0.8, 0.1, 0.2, 0.4],
    [0.5, 0],
  ]);
  expect(chart.description).toMatch(
    /^Shares of a, b; 80% of the selected events have a = v0, 10% of the others;/,
  );
});
