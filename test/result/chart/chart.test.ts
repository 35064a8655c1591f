import * as vega from 'vega';
import { describe, expect, test } from 'vitest';
import type { ChartOptions } from '../../../kernel/apl/operators/drawing.js';
import { type Chart, chartModel } from '../../../kernel/result/chart/chart.js';
import { describe as describeChart } from '../../../kernel/result/chart/chart-describe.js';
import type { ChartModel, XyChart } from '../../../kernel/result/chart/model.js';
import { cells, type SampleColumn, type SampleTable, sampleResult } from '../sample.js';
import { buckets, chartOf, minute, now, time } from './fixtures.js';
import { isOf } from './marks.js';

const count = { name: 'count' };

function outcome(table: SampleTable, options?: ChartOptions) {
  return chartModel(sampleResult([table]), now, options);
}

function modelOf(...args: Parameters<typeof outcome>): ChartModel {
  const model = outcome(...args);
  if (typeof model !== 'object') throw new Error(`no chart: ${model}`);
  return model;
}

const byName: SampleTable = {
  columns: [
    ['uri', 'string', '["/a","/b","/c"]'],
    ['n', 'integer', '[5,20,1]'],
  ],
  groups: ['uri'],
  aggs: { n: count },
};
/** Returns the bar names of a result whose query sorts it, or not. */
function namesOf(table: SampleTable, isSorted: boolean): readonly unknown[] {
  const result = sampleResult([table]);
  const reading = {
    missingBins: 'unknown',
    keyColumns: [],
    ...(isSorted ? { isSorted: true as const } : {}),
  } as const;
  const model = chartModel({ ...result, reading }, now);
  if (typeof model !== 'object' || !('plots' in model)) throw new Error('no bars');
  const [plot] = model.plots as readonly { readonly bars: readonly { readonly label: string }[] }[];
  return [plot?.bars.map(({ label }) => label), model.notes];
}

test("bars are sorted by length, or keep the query's order, cut at the end", () => {
  expect(namesOf(byName, false)).toEqual([['/b', '/a', '/c'], []]);
  expect(namesOf(byName, true)).toEqual([['/a', '/b', '/c'], []]);
  const many: SampleTable = {
    ...byName,
    columns: [
      ['uri', 'string', cells(30, row => `/${row}`)],
      ['n', 'integer', cells(30, row => row)],
    ],
  };
  const [names, notes] = namesOf(many, true);
  expect(names).toEqual(Array.from({ length: 25 }, (_, row) => `/${row}`));
  expect(notes).toEqual(['the first 25 of 30 names, in the order of the query']);
});

test('bars of a measure without a value in the names drawn have an axis, also a logarithmic one', async () => {
  const table: SampleTable = {
    columns: [
      ['uri', 'string', cells(30, row => `/${row}`)],
      ['a', 'integer', cells(30, row => 100 - row)],
      ['b', 'integer', cells(30, row => (row > 26 ? 5 : null))],
    ],
    groups: ['uri'],
    aggs: { a: { name: 'sum' }, b: { name: 'sum' } },
  };
  const ends = async (options: ChartOptions) => {
    const { model } = await chartOf(table, options);
    return isOf(model, 'bars') && model.plots.map(({ low, high, isLog }) => [low, high, isLog]);
  };
  expect(await ends({ kind: 'bar', log: true })).toEqual([
    [10, 100, true],
    [0.1, 1, true],
  ]);
  expect(await ends({ kind: 'bar' })).toEqual([
    [0, 100, false],
    [0, 1, false],
  ]);
});

const byTwo: SampleTable = {
  columns: [
    ['uri', 'string', '["/a","/a","/b"]'],
    ['status', 'integer', '[200,500,200]'],
    ['n', 'integer', '[5,20,1]'],
  ],
  groups: ['uri', 'status'],
  aggs: { n: count },
};
const overTime: SampleTable = {
  columns: [time(4, 2), ['g', 'string', '["a","b","a","b"]'], ['n', 'integer', '[1,2,3,4]']],
  groups: ['g'],
  buckets,
  aggs: { n: count },
};
const oneRow: SampleTable = {
  columns: [
    ['n', 'integer', '[1234567]'],
    ['x', 'float', '[0.5]'],
  ],
  aggs: { n: count, x: { name: 'avg' } },
};
const percentiles: SampleTable = {
  columns: [time(3), ['p', 'dynamic', '[[1,2,9],[2,3,8],null]']],
  buckets,
  aggs: { p: { name: 'percentiles_array', args: [50, 90, 99] } },
};
const histogram: SampleTable = {
  columns: [['h', 'dynamic', '[[{"from":0,"to":5,"count":3},{"from":5,"to":10,"count":1}]]']],
  aggs: { h: { name: 'histogram' } },
};
const histograms: SampleTable = {
  columns: [
    time(2),
    [
      'h',
      'dynamic',
      '[[{"from":0,"to":5,"count":3}],[{"from":1,"to":9,"count":1},{"from":9,"to":17,"count":2}]]',
    ],
  ],
  buckets,
  aggs: { h: { name: 'histogram' } },
};
const series: SampleTable = {
  columns: [
    ['g', 'string', '["a","b"]'],
    ['n', 'dynamic', '[[1,2,50],[4,5,6]]'],
    ['anomalies', 'dynamic', '[[0,0,1],[0,0,0]]'],
    ['time', 'dynamic', cells(2, () => [minute(0), minute(1), minute(2)])],
  ],
  groups: ['g'],
  aggs: { n: count },
};
const numberBins: SampleTable = {
  columns: [
    ['x', 'float', '[0,5,15]'],
    ['n', 'integer', '[3,2,1]'],
  ],
  groups: ['x'],
  buckets: { field: 'x', size: 5 },
  aggs: { n: count },
};
const events: SampleTable = {
  columns: [time(4), ['a', 'integer', '[1,2,3,4]'], ['b', 'float', '[4,3,2,null]']],
};
const numbers: SampleTable = {
  columns: [
    ['a', 'integer', '[1,2,3,4]'],
    ['b', 'float', '[4,3,2,null]'],
  ],
};

describe('every chart over time counts rows without a time', () => {
  const someTimes = (...minutes: readonly (number | null)[]): SampleColumn => [
    '_time',
    'datetime',
    JSON.stringify(minutes.map(each => (each === null ? null : minute(each)))),
  ];
  const threeHistograms =
    '[[{"from":0,"to":5,"count":3}],[{"from":0,"to":5,"count":1}],[{"from":0,"to":5,"count":9}]]';
  const one = 'not drawn: 1 row without a time';
  test.each<[string, SampleTable, ChartOptions | undefined, string | undefined]>([
    [
      'one measure',
      { columns: [someTimes(0, 1, null), ['n', 'integer', '[1,2,3]']], aggs: { n: count } },
      undefined,
      one,
    ],
    [
      'several rows',
      { columns: [someTimes(null, 0, 1, null), ['n', 'integer', '[1,2,3,4]']], aggs: { n: count } },
      undefined,
      'not drawn: 2 rows without a time',
    ],
    [
      'a heatmap',
      { columns: [someTimes(0, 1, null), ['n', 'integer', '[1,2,3]']], aggs: { n: count } },
      { kind: 'heat' },
      one,
    ],
    [
      'dots',
      { columns: [someTimes(0, 1, null), ['n', 'integer', '[1,2,3]']], aggs: { n: count } },
      { kind: 'scatter' },
      one,
    ],
    [
      'groups',
      {
        columns: [someTimes(0, 1, null), ['g', 'string', '["a","a","b"]'], ['n', 'integer', '[1,2,3]']],
        groups: ['g'],
        aggs: { n: count },
      },
      undefined,
      one,
    ],
    [
      'percentiles',
      {
        columns: [someTimes(0, 1, null), ['p', 'dynamic', '[[1,2],[3,4],[5,6]]']],
        aggs: { p: { name: 'percentiles_array', args: [50, 90] } },
      },
      undefined,
      one,
    ],
    [
      'histograms',
      {
        columns: [someTimes(0, 1, null), ['h', 'dynamic', threeHistograms]],
        aggs: { h: { name: 'histogram' } },
      },
      undefined,
      one,
    ],
    [
      'none',
      { columns: [someTimes(0, 1, 2), ['n', 'integer', '[1,2,3]']], aggs: { n: count } },
      undefined,
      undefined,
    ],
  ])('%s', async (_, table, options, note) => {
    const { model } = await chartOf({ ...table, buckets }, options);
    expect(model.notes.find(each => each.startsWith('not drawn'))).toBe(note);
  });
});

describe('the shape of a result decides the chart, unless the cell requests one', () => {
  test.each<[string, SampleTable, ChartOptions | undefined, string]>([
    [
      'counts by name',
      byName,
      undefined,
      'Bar chart of n by uri for /b, /a, /c; n: highest 20 (/b), lowest 1 (/c)',
    ],
    ['shares of a whole', byName, { kind: 'pie' }, 'Pie chart of n for /b, /a, /c; /b: 20; /a: 5; /c: 1'],
    ['a grid of two keys', byTwo, { kind: 'heat' }, 'Heatmap of n, status; values from 1 to 20'],
    ['one row', oneRow, undefined, 'Big numbers of n, x; n: 1,234,567; x: 0.5'],
    [
      'one row with a unit and an exponent',
      { columns: [...oneRow.columns, ['y', 'float', '[1e300]'], ['z', 'float', '[-2.5e-7]']] },
      { kind: 'stat', unit: 'requests' },
      'Big numbers of n, x, y, z; n: 1,234,567 requests; x: 0.5 requests; y: 1e300 requests; z: -2.5e-7 requests',
    ],
    [
      'percentiles',
      percentiles,
      undefined,
      'Line chart of p for p50, p90, p99; over time from 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC; p: lowest 1 at 2026-11-20 09:00:00, highest 9 at 2026-11-20 09:00:00',
    ],
    [
      'a histogram',
      histogram,
      undefined,
      'Bar chart of h; over h from 0 to 10; count: lowest 1 at 5, highest 3 at 0',
    ],
    [
      'histograms over time',
      histograms,
      undefined,
      'Heatmap of h; over time from 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC; values from 1 to 3',
    ],
    [
      'series',
      series,
      undefined,
      'Line chart of n for a, b; over time from 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC; n: lowest 1 at 2026-11-20 09:00:00, highest 50 at 2026-11-20 09:02:00',
    ],
    [
      'bins of a number',
      numberBins,
      undefined,
      'Bar chart of n; over x from 0 to 20; n: lowest 1 at 15, highest 3 at 0',
    ],
    [
      'bars over time',
      overTime,
      { kind: 'bar' },
      'Bar chart of n for b, a; over time from 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC; n: lowest 1 at 2026-11-20 09:00:00, highest 4 at 2026-11-20 09:01:00',
    ],
    [
      'events as dots',
      events,
      { kind: 'scatter' },
      'Scatter plot of a, b for a, b; over time from 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC; lowest 1 at 2026-11-20 09:00:00, highest 4 at 2026-11-20 09:03:00',
    ],
    [
      'one number over another',
      numbers,
      { kind: 'scatter' },
      'Scatter plot of b, a; over a from 1 to 3; b: lowest 2 at 3, highest 4 at 1',
    ],
  ])('%s', (_, table, options, expected) => {
    const model = modelOf(table, options);
    expect(describeChart(model).split('; ').slice(0, expected.split('; ').length).join('; ')).toBe(expected);
    expect(model.notes.join()).not.toMatch(/undefined|NaN/);
  });

  test.each<[string, SampleTable]>([
    ['events', events],
    [
      'one name',
      {
        ...byName,
        columns: [
          ['uri', 'string', '["/a"]'],
          ['n', 'integer', '[5]'],
        ],
      },
    ],
    ['one row without aggregates', { columns: [['x', 'integer', '[1]']] }],
    ['names alone', { columns: [['uri', 'string', '["/a","/b"]']], groups: ['uri'] }],
    [
      'no rows',
      {
        columns: [
          ['uri', 'string', '[]'],
          ['n', 'integer', '[]'],
        ],
        groups: ['uri'],
        aggs: { n: count },
      },
    ],
  ])('nothing for %s', (_, table) => expect(outcome(table)).toBe(undefined));

  test('nothing if the cell requests none', () =>
    expect(outcome(overTime, { kind: 'none' })).toBe(undefined));
});

describe('a chart that cannot be drawn as requested', () => {
  test.each<[string, SampleTable, ChartOptions, string]>([
    [
      'a pie over time',
      overTime,
      { kind: 'pie' },
      'No pie chart: it needs numbers by name. The result is measures over time, which can be drawn as `line`, `area`, `bar`, `heat`, `scatter`.',
    ],
    [
      'a line chart of names',
      byName,
      { kind: 'line' },
      'No line chart: it needs numbers over time. The result is numbers by name, which can be drawn as `bar`, `heat`, `pie`, `scatter`.',
    ],
    [
      'bars of strings',
      { columns: [['s', 'string', '["a","b"]']] },
      { kind: 'bar' },
      'No bar chart: it needs numbers by name or over time, and the result has none.',
    ],
    [
      'averages as shares',
      { ...byName, aggs: { n: { name: 'avg' } } },
      { kind: 'pie' },
      'No pie chart: values of n do not add up.',
    ],
    [
      'shares below zero',
      {
        ...byName,
        columns: [
          ['uri', 'string', '["/a","/b"]'],
          ['n', 'integer', '[5,-1]'],
        ],
      },
      { kind: 'pie' },
      'No pie chart: n has values below 0.',
    ],
    ['a heatmap of one key', byName, { kind: 'heat' }, 'No heatmap: it needs two keys, or one over time.'],
    [
      'nothing but nulls',
      {
        ...byName,
        columns: [
          ['uri', 'string', '["/a","/b"]'],
          ['n', 'integer', '[null,null]'],
        ],
      },
      { kind: 'bar' },
      'No chart: n has no value in any row.',
    ],
  ])('is refused with the reason: %s', (_, table, options, reason) =>
    expect(outcome(table, options)).toBe(reason),
  );

  test.each<[string, SampleTable, ChartOptions, string]>([
    [
      'a logarithmic axis with zero',
      {
        ...overTime,
        columns: [time(4, 2), ['g', 'string', '["a","b","a","b"]'], ['n', 'integer', '[0,2,3,4]']],
      },
      { log: true },
      'no log axis: n has values of 0 or less',
    ],
    [
      'a stack of averages',
      { ...overTime, aggs: { n: { name: 'avg' } } },
      { stack: true },
      'not stacked: values of n do not add up',
    ],
    [
      'a stack without groups',
      { ...overTime, columns: [time(2), ['n', 'integer', '[1,2]']], groups: [] },
      { stack: true },
      'nothing to stack: there are no groups',
    ],
    [
      'a logarithmic axis with negative bars',
      {
        ...byName,
        columns: [
          ['uri', 'string', '["/a","/b"]'],
          ['n', 'integer', '[5,-1]'],
        ],
      },
      { log: true },
      'no log axis: some values are 0 or less',
    ],
  ])('is drawn without the option, with a note: %s', (_, table, options, note) => {
    const model = modelOf(table, options);
    expect(model.notes).toContain(note);
    if (isOf(model, 'xy')) expect(model.plots[0]?.isLog).toBe(false);
  });
});

test('anomalies found by the query are flagged, and their column is not a measure', () => {
  const model = modelOf(series);
  if (!isOf(model, 'xy')) throw new Error(model.kind);
  expect(model.plots.map(({ title }) => title)).toEqual(['n']);
  const flagged = model.plots[0]?.lines.map(({ points }) => points.filter(point => point.flagged));
  expect(flagged?.[0]).toEqual([{ t: Date.UTC(2026, 10, 20, 9, 2), v: 50, partial: false, flagged: true }]);
  expect(flagged?.slice(1).flat()).toEqual([]);
  expect(model.notes).toContain('anomalies by anomalies are red');
});

test('keeps the 25 names with the greatest values, and says so', () => {
  const rows = 60;
  const table = {
    ...byName,
    columns: [
      ['uri', 'string', cells(rows, row => `/${row}`)],
      ['n', 'integer', cells(rows, row => (row * 7) % 60)],
    ] as const,
  };
  const model = modelOf(table);
  if (!isOf(model, 'bars')) throw new Error(model.kind);
  expect(model.notes).toEqual(['the 25 of 60 names with the highest n']);
  expect(model.plots[0]?.bars.map(bar => bar.parts[0])).toEqual(
    Array.from({ length: 25 }, (_, index) => 59 - index),
  );
});

test('a stacked bar has a part for each value of the second key', () => {
  const model = modelOf(byTwo, { kind: 'bar', stack: true });
  if (!isOf(model, 'bars')) throw new Error(model.kind);
  expect([model.keys, model.legend.map(({ label }) => label)]).toEqual(['uri', ['500', '200']]);
  expect(model.plots[0]?.bars).toEqual([
    { label: '/a', parts: [20, 5], of: [{ column: 'uri', type: 'string', value: '/a' }] },
    { label: '/b', parts: [null, 1], of: [{ column: 'uri', type: 'string', value: '/b' }] },
  ]);
});

test('percentiles over time keep every row of several batches', () => {
  const whole = sampleResult([
    {
      columns: [
        time(4, 2),
        ['g', 'string', '["a","b","a","b"]'],
        ['p', 'array', '[[1,2],[3,4],[5,6],[7,8]]'],
      ],
      groups: ['_time', 'g'],
      buckets,
      aggs: { p: { name: 'percentiles_array', args: [50, 99] } },
    },
  ]);
  const [table] = whole.tables;
  if (table === undefined) throw new Error('no table');
  const data = table.data.slice(0, 3).concat(table.data.slice(3));
  const inBatches = { ...whole, tables: [{ ...table, data }] };
  expect(data.batches).toHaveLength(2);
  expect(chartModel(inBatches, now)).toEqual(chartModel(whole, now));
  expect(chartModel(whole, now)).toMatchObject({ kind: 'xy', legend: [{ label: 'b' }, { label: 'a' }] });
});

test('two lists of percentiles have no chart, since their lines would share names', () => {
  const list = ['array', '[[1,2],[3,4]]'] as const;
  const percentiles = { name: 'percentiles_array', args: [50, 99] };
  const table: SampleTable = {
    columns: [time(2), ['p', ...list], ['q', ...list]],
    ...{ buckets, aggs: { p: percentiles, q: percentiles } },
  };
  expect(chartModel(sampleResult([table]), now)).toBeUndefined();
});

test('strings of which only some look like lists are not series', () => {
  const times = JSON.stringify([minute(0), minute(1)]);
  const table = (values: readonly string[]): SampleTable => ({
    columns: [
      ['g', 'string', '["a","b"]'],
      ['time', 'dynamic', `[${times},${times}]`],
      ['m', 'string', JSON.stringify(values)],
    ],
    aggs: { m: { name: 'max' } },
  });
  expect(outcome(table(['[1,2]', '[3,4]']))).toMatchObject({ kind: 'xy' });
  expect(outcome(table(['[1,2]', 'down']))).toBeUndefined();
});

/** Any element that our charts never contain. */
const MARKUP =
  /<(?!\/?(?:svg|g|path|rect|circle|line|text|tspan|title|desc|defs|clipPath|linearGradient|stop)[ />])/;

describe('hostile names', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '__proto__',
    'constructor',
    '\u202eevil',
    "'+alert(1)+'",
    '\\',
    '"',
    '\u001b[31mred',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(30),
  ];
  const shapesOf = (name: string): readonly (readonly [SampleTable, ChartOptions?])[] => {
    const keys = ['k', 'string', JSON.stringify([name, 'b', name, 'b'])] as const;
    const named: SampleTable = {
      columns: [keys, [name, 'integer', '[1,2,3,4]']],
      groups: ['k'],
      aggs: { [name]: count },
    };
    const timed: SampleTable = {
      ...overTime,
      columns: [time(4, 2), ['g', 'string', keys[2]], [name, 'integer', '[1,2,3,4]']],
      aggs: { [name]: count },
    };
    const two: SampleTable = {
      columns: [keys, ['j', 'string', keys[2]], [name, 'integer', '[1,2,3,4]']],
      groups: ['k', 'j'],
      aggs: { [name]: count },
    };
    return [
      [timed],
      [timed, { kind: 'bar' }],
      [timed, { kind: 'heat' }],
      [timed, { kind: 'area', stack: true, title: name, unit: name }],
      [named],
      [named, { kind: 'pie' }],
      [two, { kind: 'heat' }],
      [two, { kind: 'bar', stack: true }],
      [
        {
          columns: [
            [name, 'integer', '[1]'],
            [`${name}2`, 'integer', '[1]'],
          ],
          aggs: { [name]: count },
        },
      ],
      [numbers, { kind: 'scatter', unit: name }],
    ];
  };

  test.each(hostile)('%j is plain text in every kind, without markup or control characters', async name => {
    for (const [table, options] of shapesOf(name)) {
      const { svg, spec } = await chartOf(table, options);
      expect(svg).not.toMatch(MARKUP);
      expect(svg.replace(/>[^<]*</g, '><')).not.toMatch(/href|url\((?!#)/);
      expect(svg.replace(/"[^"]*"/g, '""')).not.toMatch(/ on\w+=""/);
      expect(svg).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      const view = new vega.View(vega.parse(spec), { renderer: 'none' });
      expect(await view.toSVG()).not.toMatch(MARKUP);
    }
  });
});

test('the same data gives the same bytes, and other data another id', async () => {
  const twice = await Promise.all([overTime, overTime].map(table => chartOf(table)));
  expect(twice[0]).toEqual(twice[1]);
  const idOf = ({ svg }: Chart) => /aria-labelledby="(apl-\w+)/.exec(svg)?.[1];
  expect(idOf(await chartOf(byName))).not.toBe(idOf(await chartOf(overTime)));
});

test('a logarithmic axis has ends even if no drawn bin has a value', () => {
  const table: SampleTable = {
    columns: [
      ['x', 'integer', cells(450, row => row)],
      ['n', 'integer', cells(450, row => (row < 420 ? null : 5))],
    ],
    groups: ['x'],
    buckets: { field: 'x', size: 1 },
    aggs: { n: { name: 'count' } },
  };
  const chart = chartModel(sampleResult([table]), now, { log: true }) as XyChart;
  expect(chart.plots.map(({ low, high, isLog }) => ({ low, high, isLog }))).toEqual([
    { low: 0.1, high: 1, isLog: true },
  ]);
  expect(chart.notes).toEqual(['the first 400 of 450 bins']);
});

test('a note says how many buckets of a histogram are drawn', () => {
  const buckets = Array.from({ length: 401 }, (_, from) => ({ from, to: from + 1, count: 1 }));
  const { notes } = modelOf({
    columns: [['h', 'dynamic', JSON.stringify([buckets])]],
    aggs: { h: { name: 'histogram' } },
  });
  expect(notes).toEqual(['the first 400 of 401 buckets']);
});

test('a heatmap says that bins without rows are empty only if there are some', () => {
  const notesUntil = (end: string) =>
    modelOf(
      {
        columns: [
          time(10, 2),
          ['status', 'string', cells(10, row => (row % 2 === 0 ? '200' : '500'))],
          ['n', 'integer', cells(10, row => row)],
        ],
        groups: ['_time', 'status'],
        aggs: { n: count },
        buckets,
        range: { start: minute(0), end },
      },
      { kind: 'heat' },
    ).notes;
  expect(notesUntil(minute(5))).toEqual([]);
  expect(notesUntil(minute(6))).toEqual(['bins without rows are empty']);
});

describe('a heatmap with outliers', () => {
  const statuses = (errors: number): SampleTable => ({
    columns: [
      time(20, 2),
      ['status', 'string', cells(20, row => (row % 2 === 0 ? '200' : '500'))],
      ['n', 'integer', cells(20, row => (row % 2 === 0 ? 50_000 : errors))],
    ],
    groups: ['_time', 'status'],
    aggs: { n: count },
    buckets,
  });
  const heat = (table: SampleTable, options: ChartOptions = { kind: 'heat' }) => {
    const model = modelOf(table, options);
    if (!isOf(model, 'heat')) throw new Error(model.kind);
    return model;
  };

  test('has logarithmic colors if a row is far below the others, and says so', () => {
    const said = 'colors are logarithmic: some rows are far below the others';
    expect(heat(statuses(4)).linearBelow).toBe(4);
    expect(heat(statuses(4)).notes).toContain(said);
    expect(heat(statuses(2_000)).linearBelow).toBeUndefined();
    expect(heat(statuses(2_000)).notes).not.toContain(said);
  });

  test('has a logarithmic axis if a bucket is far above the others, and says so', () => {
    const over = (top: number): SampleTable => ({
      columns: [
        time(20),
        [
          'h',
          'string',
          cells(20, row => {
            const size = row === 7 ? top / 5 : 10;
            const list = Array.from({ length: 5 }, (_, i) => ({
              from: i * size,
              to: (i + 1) * size,
              count: 3,
            }));
            return JSON.stringify(list);
          }),
        ],
      ],
      aggs: { h: { name: 'histogram' } },
      groups: ['_time'],
      buckets,
    });
    const said = 'the axis is logarithmic: a few buckets are far above the others';
    expect(heat(over(5_000), {}).rows).toEqual({ title: 'h', low: 0, high: 5_000, linearBelow: 5 });
    expect(heat(over(5_000), {}).notes).toContain(said);
    expect(heat(over(100), {}).rows).toEqual({ title: 'h', low: 0, high: 100 });
    expect(heat(over(100), {}).notes).not.toContain(said);
  });
});
