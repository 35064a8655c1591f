import { describe, expect, test } from 'vitest';
import type { ChartOptions } from '../../../../kernel/apl/operators/drawing.js';
import { chartInput } from '../../../../kernel/result/chart/kinds/input.js';
import type { Plot, XyChart } from '../../../../kernel/result/chart/model.js';
import { toSeries } from '../../../../kernel/result/chart/time/time-series.js';
import type { QueryResult, Reading } from '../../../../kernel/result/result.js';
import { cells, type SampleColumn, type SampleExtras, type SampleTable, sampleResult } from '../../sample.js';
import { chartOf as imageOf } from '../fixtures.js';

const nine = Date.UTC(2026, 10, 20, 9);
const later = Date.UTC(2027, 0);
const at = (minutes: number) => nine + minutes * 60_000;
const iso = (minutes: number) => new Date(at(minutes)).toISOString();
const times = (...minutes: readonly number[]): SampleColumn => [
  '_time',
  'datetime',
  JSON.stringify(minutes.map(iso)),
];
const everyMinute = (count: number) => Array.from({ length: count }, (_, index) => index);
const buckets = { field: '_time', size: 60_000_000_000 };
const count = { count_: { name: 'count' } };
const avg = { x: { name: 'avg' } };

function outcome(
  table: SampleTable,
  extras: SampleExtras = {},
  reading?: Reading,
  now = later,
  options: ChartOptions = {},
) {
  const result: QueryResult = sampleResult([table], extras);
  const input = chartInput(reading === undefined ? result : { ...result, reading }, now, options);
  return input && toSeries(input, options);
}

function chartOf(...args: Parameters<typeof outcome>): XyChart {
  const chart = outcome(...args);
  if (chart === undefined || typeof chart === 'string') throw new Error(`no chart: ${chart}`);
  return chart;
}

/** Returns the values of one line by minutes after nine; `null` is a gap. */
function line(chart: XyChart, plot = 0, index = 0): readonly (readonly [number, number | null])[] {
  const points = chart.plots[plot]?.lines[index]?.points ?? [];
  return points.map(({ t, v }) => [(t - nine) / 60_000, v]);
}

const axisOf = ({ axis }: XyChart) => [axis.start, axis.end].map(t => (t - nine) / 60_000);
const titles = ({ plots }: XyChart) => plots.map(plot => plot.title);
const ends = ({ low, high }: Plot) => [low, high];

describe('only an aggregate over time is a chart', () => {
  const counts: SampleColumn = ['count_', 'integer', '[1,2]'];
  const two = times(0, 1);
  test.each<[string, SampleTable, boolean]>([
    ['bins of the time', { columns: [two, counts], buckets }, true],
    ['grouped by the time', { columns: [two, counts], groups: ['_time'] }, true],
    [
      'grouped by a name and the time',
      { columns: [['g', 'string', '["a","a"]'], two, counts], groups: ['g', '_time'] },
      true,
    ],
    ['raw events', { columns: [two, counts] }, false],
    ['one timestamp without a bin', { columns: [times(0, 0), counts], groups: ['_time'] }, false],
    ['one bin of sixty', { columns: [times(7), ['count_', 'integer', '[4]']], buckets, aggs: count }, true],
    [
      'one bin as long as the range',
      { columns: [times(0), ['n', 'integer', '[4]']], buckets: { ...buckets, size: 3.6e12 } },
      false,
    ],
    ['no numbers', { columns: [two, ['s', 'string', '["a","b"]']], buckets }, false],
    [
      'bins of a number',
      { columns: [counts, ['n', 'integer', '[1,2]']], buckets: { field: 'count_', size: 5 } },
      false,
    ],
    ['no rows', { columns: [times(), ['count_', 'integer', '[]']], buckets }, false],
  ])('%s', (_, table, expected) => expect(outcome(table) !== undefined).toBe(expected));
});

describe('empty bins', () => {
  const gap = times(0, 1, 4, 5);
  const range = { start: iso(0), end: iso(6) };
  const table: SampleTable = {
    columns: [gap, ['count_', 'integer', '[5,5,5,5]'], ['x', 'float', '[7,7,7,7]']],
    buckets,
    range,
    aggs: { ...count, ...avg },
  };

  test('are zero for counts and sums and gaps for other measures, with a note', () => {
    const chart = chartOf({
      ...table,
      columns: [gap, ['count_', 'integer', '[500,5,5,5]'], ['x', 'float', '[7,7,7,7]']],
    });
    expect(line(chart)).toEqual([
      [0, 500],
      [1, 5],
      [2, 0],
      [3, 0],
      [4, 5],
      [5, 5],
    ]);
    expect(line(chart, 1)).toEqual([
      [0, 7],
      [1, 7],
      [2, null],
      [4, 7],
      [5, 7],
    ]);
    expect(chart.notes).toEqual(['bins without rows are 0 in count_', 'bins without rows are gaps in x']);
  });

  test('are zero before and after the rows, to the ends of the searched range', () => {
    const chart = chartOf({
      columns: [times(2, 3), ['count_', 'integer', '[5,6]']],
      buckets,
      range,
      aggs: count,
    });
    expect(line(chart)).toEqual([
      [0, 0],
      [1, 0],
      [2, 5],
      [3, 6],
      [4, 0],
      [5, 0],
    ]);
  });

  test('are zero for each group separately', () => {
    const columns = [
      times(0, 1, 2),
      ['g', 'string', '["a","a","b"]'],
      ['count_', 'integer', '[5,6,1]'],
    ] as const;
    const chart = chartOf({ columns, groups: ['g'], buckets, range: { ...range, end: iso(3) }, aggs: count });
    expect(line(chart, 0, 0)).toEqual([
      [0, 5],
      [1, 6],
      [2, 0],
    ]);
    expect(line(chart, 0, 1)).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
    ]);
  });

  test.each<[string, Reading | undefined, SampleExtras, readonly (number | null)[]]>([
    ['a filter after the aggregation', { missingBins: 'unknown', keyColumns: [] }, {}, [5, null, 5]],
    ['a condition on the time', { missingBins: 'empty-between', keyColumns: [] }, {}, [5, 0, 5]],
    ['a partial result', undefined, { status: { isPartial: true } }, [5, null, 5]],
    [
      'a row limit',
      undefined,
      { status: { messages: [{ priority: 'warn', count: 1, code: 'row_limit_server', msg: '' }] } },
      [5, null, 5],
    ],
    ['none of these', undefined, {}, [0, 5, 0, 5, 0]],
  ])('are not zero if they may have had rows: %s', (_, reading, extras, expected) => {
    const columns = [times(1, 3), ['count_', 'integer', '[5,5]']] as const;
    const chart = chartOf(
      { columns, buckets, range: { ...range, end: iso(5) }, aggs: count },
      extras,
      reading,
    );
    expect(line(chart).map(([, v]) => v)).toEqual(expected);
  });

  test('are found without a bin size if the times are evenly spaced', () => {
    const columns = [times(0, 1, 2, 5, 6), ['x', 'float', '[1,2,3,4,5]']] as const;
    const chart = chartOf({ columns, groups: ['_time'], aggs: avg });
    expect(line(chart).map(([, v]) => v)).toEqual([1, 2, 3, null, 4, 5]);
  });

  test('are not filled for months, which differ in length', () => {
    const months = JSON.stringify(['2026-07-01T00:00:00Z', '2026-08-01T00:00:00Z', '2026-10-01T00:00:00Z']);
    const columns = [
      ['_time', 'datetime', months],
      ['count_', 'integer', '[1,2,3]'],
    ] as const;
    const range = { start: '2026-07-01T00:00:00Z', end: '2026-11-01T00:00:00Z' };
    expect(line(chartOf({ columns, groups: ['_time'], range, aggs: count })).length).toBe(3);
  });
});

describe('the time axis', () => {
  const columns = [times(145, 146), ['count_', 'integer', '[5,6]']] as const;

  test('covers the searched range, not the data', () => {
    const range = { start: iso(0), end: iso(180) };
    expect(axisOf(chartOf({ columns, buckets, range, aggs: count }))).toEqual([0, 180]);
  });

  test('covers the data if it is outside the searched range, and says so', () => {
    const chart = chartOf({ columns, buckets, range: { start: iso(0), end: iso(60) }, aggs: count });
    expect(axisOf(chart)).toEqual([145, 147]);
    expect(chart.notes).toEqual(['the axis covers the times of the result, not the searched range']);
  });

  test('marks the first and the last bin as partial if the range cuts them', () => {
    const five = { field: '_time', size: 300_000_000_000 };
    const table = {
      columns: [times(0, 5, 10), ['count_', 'integer', '[1,9,2]']],
      buckets: five,
      aggs: count,
    } as const;
    const partial = (start: number, end: number, now = later) => {
      const chart = chartOf({ ...table, range: { start: iso(start), end: iso(end) } }, {}, undefined, now);
      return [chart.plots[0]?.lines[0]?.points.map(point => point.partial), chart.notes];
    };
    expect(partial(0, 15)).toEqual([[false, false, false], []]);
    expect(partial(3, 13)).toEqual([[true, false, true], ['the first and the last bin are partial']]);
    expect(partial(0, 12)).toEqual([[false, false, true], ['the last bin is partial']]);
    expect(partial(0, 15, at(11))).toEqual([
      [false, false, true],
      ['the last bin is partial', 'the range ends in the future'],
    ]);
  });

  test('has no zeros in the future', () => {
    const range = { start: iso(0), end: iso(60) };
    const chart = chartOf(
      { columns: [times(0, 1), columns[1]], buckets, range, aggs: count },
      {},
      undefined,
      at(4),
    );
    expect(line(chart).map(([minutes]) => minutes)).toEqual([0, 1, 2, 3]);
    expect(axisOf(chart)).toEqual([0, 60]);
  });
});

describe('groups', () => {
  test('with a common prefix have separate lines and labels', () => {
    const name = (end: string) => `/api/v1/organizations/0123456789/projects/0123456789/${end}`;
    const columns = [
      times(0, 0, 0, 1, 1, 1),
      [
        'uri',
        'string',
        JSON.stringify(
          ['staging', 'production', 'x']
            .map(name)
            .flatMap(uri => [uri, uri])
            .sort(),
        ),
      ],
      ['count_', 'integer', '[1,2,3,4,5,6]'],
    ] as const;
    const rotated = [times(0, 1, 0, 1, 0, 1), columns[1], columns[2]] as const;
    const chart = chartOf({
      columns: rotated,
      groups: ['uri'],
      buckets,
      range: { start: iso(0), end: iso(2) },
      aggs: count,
    });
    expect(chart.plots[0]?.lines.map(each => each.points.length)).toEqual([2, 2, 2]);
    expect(new Set(chart.legend.map(each => each.label)).size).toBe(3);
  });

  test('are never lists, maps, times or aggregated strings, which a note names', () => {
    const minutes = everyMinute(60);
    const columns: readonly SampleColumn[] = [
      times(...minutes),
      ['count_', 'integer', cells(60, row => row + 1)],
      ['make_list_uri', 'array', cells(60, row => [`/${row}`])],
      ['take_any_uri', 'string', cells(60, row => `/${row}`)],
      ['d', 'dynamic', cells(60, row => ({ row }))],
      ['max__time', 'datetime', cells(60, row => iso(row))],
    ];
    const aggs = { ...count, take_any_uri: { name: 'take_any' }, max__time: { name: 'max' } };
    const chart = chartOf({ columns, buckets, aggs });
    expect(chart.legend).toEqual([]);
    expect(line(chart).length).toBe(60);
    expect(chart.notes).toEqual(['not drawn: make_list_uri, take_any_uri, d, max__time']);
  });

  const spiky = (aggregate: string): SampleTable => ({
    columns: [
      times(...Array.from({ length: 36 }, (_, row) => Math.floor(row / 12))),
      ['g', 'string', cells(36, row => `g${row % 12}`)],
      ['x', 'float', cells(36, row => (row % 12 === 0 ? (row === 12 ? 100 : 0) : 40 + (row % 12)))],
    ],
    groups: ['g'],
    buckets,
    range: { start: iso(0), end: iso(3) },
    aggs: { x: { name: aggregate } },
  });

  test('are ranked by their peak if values do not add up', () => {
    const chart = chartOf(spiky('percentile'));
    expect(chart.legend[0]?.label).toBe('g0');
    expect(chart.notes).toEqual(['the 10 of 12 groups by g with the highest x']);
  });

  test('are ranked by their sum if values add up', () => {
    const chart = chartOf(spiky('sum'));
    expect(chart.legend.map(each => each.label)).not.toContain('g0');
    expect(chart.legend[0]?.label).toBe('g11');
    expect(chart.notes).toEqual(['the 10 of 12 groups by g with the highest total of x']);
  });

  test('without their keys in the result are dots, not lines', () => {
    const chart = chartOf({
      columns: [times(0, 0, 1, 1), ['count_', 'integer', '[1,9,2,8]']],
      buckets,
      aggs: count,
    });
    expect(chart.plots[0]?.mark).toBe('dots');
    expect(line(chart).map(([, v]) => v)).toEqual([1, 9, 2, 8]);
  });
});

describe('measures', () => {
  const keyed: SampleTable = {
    columns: [
      times(0, 0, 1, 1),
      ['status', 'integer', '[200,500,200,500]'],
      ['count_', 'integer', '[9,1,8,2]'],
      ['z', 'integer', '[200,500,200,500]'],
    ],
    groups: ['status'],
    buckets,
    range: { start: iso(0), end: iso(2) },
    aggs: count,
  };

  test('are neither keys nor columns computed from keys alone', () => {
    const chart = chartOf(keyed, {}, { missingBins: 'empty', keyColumns: ['z'] });
    expect(chart.names).toEqual(['count_']);
    expect(chart.legend.map(each => each.label)).toEqual(['200', '500']);
  });

  test('are grouped by columns computed from keys if the keys were projected away', () => {
    const columns = keyed.columns.filter(([name]) => name !== 'status');
    const chart = chartOf({ ...keyed, columns }, {}, { missingBins: 'empty', keyColumns: ['z'] });
    expect(chart.legend.map(each => each.label)).toEqual(['200', '500']);
    expect(chart.plots[0]?.mark).toBe('lines');
  });

  test('have axes in a unit that fits their values', () => {
    const columns = [
      times(0, 1),
      ['took', 'timespan', '[150000000,50000000]'],
      ['avg_ms', 'float', '[0.05,0.15]'],
      ['bytes', 'integer', '[3221225472,0]'],
      ['n', 'integer', '[90000000000,1]'],
      ['ratio', 'float', '[0.05,0.01]'],
    ] as const;
    const range = { start: iso(0), end: iso(2) };
    const meta = [
      { name: 'avg_ms', unit: 'ms' },
      { name: 'bytes', unit: 'bytes' },
    ];
    const chart = chartOf({ columns, buckets, range }, { meta });
    expect(titles(chart)).toEqual(['took (ms)', 'avg_ms (\u00b5s)', 'bytes (GiB)', 'n', 'ratio']);
    expect(chart.plots.map((_, plot) => line(chart, plot)[0]?.[1])).toEqual([150, 50, 3, 90e9, 0.05]);
  });

  test('without values are named instead of drawn, and a sentence replaces an empty chart', () => {
    const columns = [times(0, 1), ['x', 'float', '[1,2]'], ['p95', 'float', '[null,null]']] as const;
    const range = { start: iso(0), end: iso(2) };
    const chart = chartOf({ columns, buckets, range });
    expect([chart.names, chart.notes]).toEqual([['x'], ['no value in any row: p95']]);
    expect(outcome({ columns: [columns[0], columns[2]], buckets })).toBe(
      'No chart: p95 has no value in any row.',
    );
  });

  test('have axes from zero, unless values are far from it and vary little', () => {
    const range = { start: iso(0), end: iso(3) };
    const of = (values: string, aggregate: string) =>
      chartOf({
        columns: [times(0, 1, 2), ['x', 'float', values]],
        buckets,
        range,
        aggs: { x: { name: aggregate } },
      });
    expect(of('[60,80,100]', 'avg').plots.map(ends)).toEqual([[0, 100]]);
    expect(of('[-5,80,100]', 'avg').plots.map(ends)).toEqual([[-5, 100]]);
    expect(of('[0,0,0]', 'avg').plots.map(ends)).toEqual([[0, 1]]);
    expect(of('[98,99,98]', 'sum').plots.map(ends)).toEqual([[0, 99]]);
    const narrow = of('[98,99,98]', 'avg');
    expect([narrow.plots.map(ends), narrow.notes]).toEqual([[[98, 99]], ['the axis does not start at 0']]);
  });

  test('of similar unit and size share a plot', () => {
    const plots = (a: string, b: string) =>
      chartOf({
        columns: [times(0, 1), ['a', 'float', a], ['b', 'float', b]],
        buckets,
        range: { start: iso(0), end: iso(2) },
      }).plots.length;
    expect(plots('[1,2]', '[30,40]')).toBe(1);
    expect(plots('[1,2]', '[30,41]')).toBe(2);
  });

  test('are limited to six, with a note', () => {
    const measures = everyMinute(8).map((index): SampleColumn => [`m${index}`, 'integer', '[1,2]']);
    const chart = chartOf({
      columns: [times(0, 1), ...measures],
      buckets,
      range: { start: iso(0), end: iso(2) },
    });
    expect([chart.names.length, chart.notes]).toEqual([6, ['the first 6 of 8 measures']]);
  });
});

test('a spike among 20,000 bins is drawn, and a note says that points were dropped', () => {
  const seconds = 20_000;
  const columns = [
    ['_time', 'datetime', cells(seconds, row => new Date(nine + row * 1000).toISOString())],
    ['p99', 'float', cells(seconds, row => (row === 7_777 ? 900 : row === 11_111 ? 1 : 50))],
  ] as const;
  const range = { start: iso(0), end: new Date(nine + seconds * 1000).toISOString() };
  const table = {
    columns,
    buckets: { field: '_time', size: 1_000_000_000 },
    range,
    aggs: { p99: { name: 'percentile' } },
  };
  const chart = chartOf(table);
  const values = line(chart).map(([, v]) => v);
  expect([values.length <= 4_002, values.includes(900), values.includes(1)]).toEqual([true, true, true]);
  expect(chart.notes).toEqual([
    'too many points to draw: only the lowest and highest of neighboring points are shown',
  ]);
});

test('a count over time is bars, or an area with too many bins; other measures are lines', () => {
  const mark = (minutes: number, aggregate: string) =>
    chartOf({
      columns: [times(...everyMinute(minutes)), ['x', 'integer', cells(minutes, row => row + 1)]],
      buckets,
      range: { start: iso(0), end: iso(minutes) },
      aggs: { x: { name: aggregate } },
    }).plots[0]?.mark;
  expect([mark(240, 'count'), mark(241, 'sum'), mark(60, 'avg'), mark(60, 'dcount')]).toEqual([
    'bars',
    'area',
    'lines',
    'bars',
  ]);
});

test('a logarithmic axis of a stack spans its lowest value and its highest sum', () => {
  const table: SampleTable = {
    columns: [
      times(0, 0, 1, 1),
      ['g', 'string', '["a","b","a","b"]'],
      ['count_', 'integer', '[20,300,30,100]'],
    ],
    ...{ groups: ['g'], buckets, aggs: count },
  };
  const chart = chartOf(table, {}, undefined, later, { kind: 'area', stack: true, log: true });
  expect(chart.plots.map(ends)).toEqual([[10, 320]]);
});

test('a stack of a few rows in a day of seconds has points only beside its rows and at the ends', () => {
  const table: SampleTable = {
    columns: [times(0, 0, 2, 1439), ['g', 'string', '["a","b","a","b"]'], ['count_', 'integer', '[1,2,3,4]']],
    ...{ groups: ['g'], aggs: count, buckets: { field: '_time', size: 1_000_000_000 } },
    range: { start: iso(0), end: iso(1440) },
  };
  const [plot] = chartOf(table, {}, undefined, later, { kind: 'bar' }).plots;
  const beside = (minute: number) => [-2, -1, 0, 1, 2].map(seconds => at(minute) + seconds * 1000);
  const expected = [...beside(0).slice(2), ...beside(2), ...beside(1439), ...beside(1440).slice(0, 2)];
  expect(plot?.arrangement).toBe('stacked');
  for (const { points } of plot?.lines ?? []) expect(points.map(({ t }) => t)).toEqual(expected);
});

describe('percentiles', () => {
  const p = { p: { name: 'percentiles_array', args: [50, 99] } };
  const drawn = (table: SampleTable) =>
    chartOf(table).plots.map(({ title, arrangement, lines, from = 0 }) => [
      title,
      arrangement,
      lines.map(({ label }) => label),
      from,
    ]);

  test('of groups have a plot each, which its title names, and no band between groups', () => {
    const table: SampleTable = {
      columns: [
        times(0, 0, 1, 1),
        ['g', 'string', '["a","b","a","b"]'],
        ['p', 'array', '[[1,5],[3,4],[5,6],[7,8]]'],
      ],
      ...{ groups: ['g'], buckets, aggs: p },
    };
    expect(drawn(table)).toEqual([
      ['p50 of p', 'apart', ['b', 'a'], 0],
      ['p99 of p', 'apart', ['b', 'a'], 0],
    ]);
    expect(chartOf(table).names).toEqual(['p50 of p', 'p99 of p']);
  });

  test('beside a count share a plot without it, and every line is in the legend', () => {
    const table: SampleTable = {
      columns: [
        times(0, 1),
        ['count_', 'integer', '[1000,2000]'],
        ['p', 'array', '[[1,5],[3,4]]'],
        ['x', 'float', '[7,8]'],
      ],
      ...{ buckets, aggs: { ...count, ...p, ...avg } },
    };
    expect(drawn(table)).toEqual([
      ['count_', 'apart', ['count_'], 0],
      ['p', 'band', ['p50', 'p99'], 1],
      ['x', 'apart', ['x'], 3],
    ]);
    expect(chartOf(table)).toMatchObject({
      names: ['count_', 'p', 'x'],
      legend: [{ label: 'count_' }, { label: 'p50' }, { label: 'p99' }, { label: 'x' }],
    });
  });

  test('are drawn in the colors of the legend', async () => {
    const { spec } = await imageOf({
      columns: [times(0, 1), ['count_', 'integer', '[1000,2000]'], ['p', 'array', '[[1,5],[3,4]]']],
      ...{ buckets, aggs: { ...count, ...p } },
    });
    const data = spec.data as readonly {
      readonly name: string;
      readonly values?: readonly { s?: string }[];
    }[];
    const series = (name: string) =>
      new Set(data.find(each => each.name === name)?.values?.map(({ s }) => s));
    expect([series('rows_0'), series('rows_1')]).toEqual([new Set(['l0']), new Set(['l1', 'l2'])]);
    expect(JSON.stringify(data.find(({ name }) => name === 'band_1'))).toContain("datum.s === 'l1'");
  });

  test('have a name that is safe to print', () => {
    const table: SampleTable = {
      columns: [times(0, 1), ['p\u001b[31m', 'array', '[[1,5],[3,4]]']],
      ...{ buckets, aggs: { 'p\u001b[31m': p.p } },
    };
    expect(drawn(table)).toEqual([['p⟨U+001B⟩[31m', 'band', ['p50', 'p99'], 0]]);
  });
});

test('lists of times and numbers are not groups: no line repeats them', () => {
  const count = 2_000;
  const table: SampleTable = {
    columns: [
      ['t', 'array', JSON.stringify([everyMinute(count).map(iso)])],
      ['v', 'array', JSON.stringify([everyMinute(count)])],
      ['host', 'string', '["a"]'],
    ],
  };
  const chart = chartOf(table, {}, undefined, later, { kind: 'line' });
  expect(chart).toMatchObject({ names: ['v'], legend: [{ label: 'a' }] });
  const alone = { columns: table.columns.slice(0, 2) };
  expect(chartOf(alone, {}, undefined, later, { kind: 'line' })).toMatchObject({ names: ['v'], legend: [] });
});

describe('thinned lines keep', () => {
  const rows = everyMinute(1_600);
  const zigzag = (row: number) => (row * 7919) % 1009;
  const stamped = times(...rows);
  const range = { start: iso(0), end: iso(rows.length) };
  const [a, b] = ['integer', 'integer'].map(
    (type, index) =>
      [`n${index}`, type, cells(rows.length, row => (index === 0 ? row % 7 : zigzag(row)))] as const,
  ) as [SampleColumn, SampleColumn];
  const both = {
    columns: [stamped, a, b],
    buckets,
    range,
    aggs: { n0: { name: 'max' }, n1: { name: 'max' } },
  };
  const percentiles: SampleTable = {
    columns: [stamped, ['p', 'dynamic', cells(rows.length, row => [row % 7, zigzag(row)])]],
    ...{ groups: ['_time'], buckets, range, aggs: { p: { name: 'percentiles_array', args: [50, 99] } } },
  };
  const groups: SampleTable = {
    columns: [
      times(...rows.flatMap(row => [row, row])),
      ['g', 'string', cells(rows.length * 2, row => 'ab'.charAt(row % 2))],
      ['count_', 'integer', cells(rows.length * 2, row => (row % 2 === 0 ? row % 7 : zigzag(row)))],
    ],
    ...{ groups: ['g'], buckets, range, aggs: count },
  };
  test.each<[string, SampleTable, ChartOptions, boolean]>([
    ['the same timestamps in a band of percentiles', percentiles, {}, true],
    ['the same timestamps in a stack', groups, { kind: 'area', stack: true }, true],
    ['their own ends as lines of groups', groups, { kind: 'line' }, false],
    ['their own ends as measures without groups', both, { kind: 'line' }, false],
  ])('%s', (_, table, options, areSame) => {
    const chart = chartOf(table, {}, undefined, later, options);
    const lines = chart.plots.flatMap(plot => plot.lines.map(each => each.points.map(({ t }) => t)));
    expect(lines).toHaveLength(2);
    expect(lines.every(each => each.length > 100 && each.length < rows.length)).toBe(true);
    expect(JSON.stringify(lines[0]) === JSON.stringify(lines[1])).toBe(areSame);
  });
});
