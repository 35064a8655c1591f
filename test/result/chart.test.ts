import { describe, expect, test } from 'vitest';
import { type Chart, toChart } from '../../kernel/result/chart.js';
import { type ChartData, toChartData } from '../../kernel/result/chart-data.js';
import { cells, type SampleColumn, type SampleExtras, type SampleTable, sampleResult } from './sample.js';

const minute = (index: number) => new Date(Date.UTC(2026, 10, 20, 9, index)).toISOString();
const time = (count: number, each = 1): SampleColumn => [
  '_time',
  'datetime',
  cells(count, row => minute(Math.floor(row / each))),
];
const BUCKETS = { field: '_time', size: 60_000_000_000 };

function chartData(table: SampleTable, extras: SampleExtras = {}): ChartData | undefined {
  const decoded = sampleResult([table], extras).tables[0];
  return decoded && toChartData(decoded);
}

describe('only an aggregate over time is a chart', () => {
  const count: SampleColumn = ['count_', 'integer', '[1,2]'];
  test.each<[string, SampleTable, boolean]>([
    ['buckets on the time', { columns: [time(2), count], buckets: BUCKETS }, true],
    ['grouped by the time', { columns: [time(2), count], groups: ['_time'] }, true],
    ['raw events', { columns: [time(2), count] }, false],
    ['one moment', { columns: [time(2, 2), count], buckets: BUCKETS }, false],
    ['no numbers', { columns: [time(2), ['s', 'string', '["a","b"]']], buckets: BUCKETS }, false],
    [
      'buckets on a number',
      { columns: [count, ['n', 'integer', '[1,2]']], buckets: { field: 'count_', size: 5 } },
      false,
    ],
    ['no rows', { columns: [time(0), ['count_', 'integer', '[]']], buckets: BUCKETS }, false],
  ])('%s', (_, table, expected) => expect(chartData(table) !== undefined).toBe(expected));
});

test('rows carry milliseconds, numbers and nulls; spans are drawn in seconds', () => {
  const data = chartData(
    {
      columns: [
        time(3),
        ['avg_x', 'float', '[1.5,null,"NaN"]'],
        ['took', 'timespan', '[1500000000,0,-1000000]'],
      ],
      buckets: BUCKETS,
    },
    { meta: [{ name: 'avg_x', unit: 'ms' }] },
  );
  expect(data?.rows).toEqual([
    { t: Date.UTC(2026, 10, 20, 9, 0), m0: 1.5, m1: 1.5 },
    { t: Date.UTC(2026, 10, 20, 9, 1), m0: null, m1: 0 },
    { t: Date.UTC(2026, 10, 20, 9, 2), m0: null, m1: -0.001 },
  ]);
  expect(data?.measures.map(measure => measure.label)).toEqual(['avg_x (ms)', 'took (s)']);
  expect(data?.overlaid).toBe(false);
});

test('measures of like unit and size share a plot, others do not', () => {
  const overlaid = (a: string, b: string) =>
    chartData({ columns: [time(2), ['a', 'float', a], ['b', 'float', b]], buckets: BUCKETS })?.overlaid;
  expect(overlaid('[1,2]', '[30,40]')).toBe(true);
  expect(overlaid('[1,2]', '[30,41]')).toBe(false);
});

test('numeric groups are lines, not measures', () => {
  const data = chartData({
    columns: [time(4, 2), ['status', 'integer', '[200,500,200,500]'], ['count_', 'integer', '[9,1,8,2]']],
    groups: ['_time', 'status'],
    buckets: BUCKETS,
  });
  expect(data?.groups).toEqual(['200', '500']);
  expect(data?.measures.map(measure => measure.label)).toEqual(['count_']);
});

test('of many groups the largest ten are drawn, of many moments every n-th, and that is said', () => {
  const moments = 1000;
  const groups = 12;
  const data = chartData({
    columns: [
      time(moments * groups, groups),
      ['service', 'string', cells(moments * groups, row => `s${row % groups}`)],
      ['count_', 'integer', cells(moments * groups, row => row % groups)],
    ],
    groups: ['_time', 'service'],
    buckets: BUCKETS,
  });
  expect(data?.groups).toEqual(['s11', 's10', 's9', 's8', 's7', 's6', 's5', 's4', 's3', 's2']);
  expect(data?.remarks).toEqual([
    'top 10 of 12 groups by service, by total of count_',
    'every 3rd of 1000 moments',
  ]);
  expect(data?.rows.length).toBe(3340);
});

interface SpecParts {
  readonly data?: unknown;
  readonly mark?: { readonly type: string };
  readonly encoding?: Readonly<Record<string, { readonly field?: string }>>;
  readonly vconcat?: readonly unknown[];
}

function specOf(chart: Chart | undefined): SpecParts {
  if (chart === undefined) throw new Error('no chart');
  return chart.spec as unknown as SpecParts;
}

describe('the drawing', () => {
  const HOSTILE = [
    '<script>alert(1)</script>',
    "datum['x']",
    '__proto__',
    'a.b[0]',
    '\u202eevil',
    "'+alert(1)+'",
    'constructor',
  ];
  const hostileTable: SampleTable = {
    columns: [
      time(3 * HOSTILE.length, HOSTILE.length),
      ["'];alert(1);//", 'string', cells(3 * HOSTILE.length, row => HOSTILE[row % HOSTILE.length])],
      ['<img src=x onerror=alert(1)>', 'integer', cells(3 * HOSTILE.length, row => row + 1)],
    ],
    groups: ['_time', "'];alert(1);//"],
    buckets: BUCKETS,
  };

  test('names of the data are escaped data: a line and a legend entry for each', async () => {
    const chart = await toChart(sampleResult([hostileTable]));
    const svg = chart?.svg ?? '';
    expect(svg.startsWith('<svg')).toBe(true);
    expect(svg).not.toMatch(/<(script|img)/);
    for (const name of ['__proto__', 'constructor', '\u27e8U+202E\u27e9evil'])
      expect(svg).toContain(`>${name}<`);
    expect(svg).toContain('>&lt;script&gt;alert(1)');
    const { data, ...rest } = specOf(chart);
    expect(data).toEqual({ values: chartData(hostileTable)?.rows });
    expect(['x', 'y', 'color'].map(channel => rest.encoding?.[channel]?.field)).toEqual(['t', 'm0', 'g']);
    expect(JSON.stringify(rest)).not.toMatch(/"(expr|signal|url|href|calculate|filter)"/);
  });

  test('one series is an area, several measures of unlike size are plots one below the other', async () => {
    const one = await toChart(
      sampleResult([{ columns: [time(3), ['count_', 'integer', '[1,2,3]']], buckets: BUCKETS }]),
    );
    expect(specOf(one).mark?.type).toBe('area');
    expect(one?.description).toBe('Chart of count_ over time.');
    const two = await toChart(
      sampleResult([
        {
          columns: [time(3), ['count_', 'integer', '[1,2,3]'], ['avg_ms', 'float', '[150.5,160,170]']],
          buckets: BUCKETS,
        },
      ]),
    );
    expect(specOf(two).vconcat?.length).toBe(2);
    expect(two?.svg).toContain('>avg_ms<');
  });

  test('a raw table has none', async () => {
    expect(await toChart(sampleResult([{ columns: [time(2), ['n', 'integer', '[1,2]']] }]))).toBe(undefined);
  });
});
