import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Annotation } from '../../../kernel/api/wire.js';
import type { ChartOptions } from '../../../kernel/apl/operators/drawing.js';
import { toChart } from '../../../kernel/result/chart/chart.js';
import { kindRows } from '../../../kernel/result/chart/kinds/kind-table.js';
import { cells, type SampleColumn, type SampleExtras, type SampleTable, sampleResult } from '../sample.js';
import { buckets, minute, now, time } from './fixtures.js';

/**
 * Descriptions and complete specifications of charts of every kind, in `drawn/`. Review the diff after changing the look:
 * `UPDATE_GOLDEN=1 npx vitest run --project fast test/result/chart/drawn.golden.test.ts` rewrites them from the current code.
 */
const update = process.env.UPDATE_GOLDEN === '1';
const folder = new URL('drawn/', import.meta.url);

interface Case {
  readonly table: SampleTable;
  readonly options?: ChartOptions;
  readonly annotations?: readonly Annotation[];
  readonly extras?: SampleExtras;
}

const count = { name: 'count' };
const average = { name: 'avg' };
const groupOf = (each: number, rows: number): SampleColumn => [
  'g',
  'string',
  cells(rows, row => 'abcdefgh'.charAt(row % each)),
];
const name = (...names: readonly string[]): SampleColumn => ['uri', 'string', JSON.stringify(names)];
const release: Annotation = {
  ...{ id: 'ann_1', datasets: ['logs'], time: minute(1), title: 'Release 1.2', type: 'deploy' },
  description: 'by CI',
};
/** A field that distinguishes the selected events from the others, and one that does not. */
const found = [
  {
    field: 'region',
    score: 0.9,
    values: [
      { value: 'GRU', selected: 0.8, baseline: 0.1 },
      { value: 'FRA', selected: 0.2, baseline: 0.4 },
    ],
  },
  { field: 'method', score: 0, values: [] },
];
const incident: Annotation = { ...release, id: 'ann_2', title: 'Incident', endTime: minute(3) };
const fiveMinutes = { start: minute(0), end: minute(5) };

const cases: Readonly<Record<string, Case>> = {
  'area, stacked, with anomalies': {
    table: {
      columns: [
        time(8, 2),
        groupOf(2, 8),
        ['n', 'integer', '[1,2,3,4,5,6,7,8]'],
        ['anomaly', 'integer', '[0,0,0,1,0,0,0,0]'],
      ],
      ...{ groups: ['g'], buckets, aggs: { n: count }, range: fiveMinutes },
    },
    options: { kind: 'area', stack: true },
  },
  'bar by name, two measures, one below zero': {
    table: {
      columns: [name('/a', '/b', '/c'), ['n', 'integer', '[5,20,1]'], ['x', 'float', '[0.5,-2.25,null]']],
      ...{ groups: ['uri'], aggs: { n: count, x: average } },
    },
  },
  'bar of a histogram': {
    table: {
      columns: [['h', 'dynamic', '[[{"from":0,"to":5,"count":3},{"from":5,"to":10,"count":1}]]']],
      aggs: { h: { name: 'histogram' } },
    },
  },
  'bar over numbers': {
    table: {
      columns: [
        ['x', 'float', '[0,5,15]'],
        ['n', 'integer', '[3,2,1]'],
      ],
      ...{ groups: ['x'], buckets: { field: 'x', size: 5 }, aggs: { n: count } },
    },
  },
  'bar over time, partial at both ends': {
    table: {
      columns: [time(4), ['n', 'integer', '[1,2,0,4]']],
      ...{ buckets, aggs: { n: count } },
      range: { start: '2026-11-20T09:00:20Z', end: '2026-11-20T09:03:30Z' },
    },
  },
  'bar over time, stacked, logarithmic': {
    table: {
      columns: [time(6, 3), groupOf(3, 6), ['n', 'integer', '[20,300,4000,30,100,5]']],
      ...{ groups: ['g'], buckets, aggs: { n: count }, range: fiveMinutes },
    },
    options: { kind: 'bar', stack: true, log: true, title: 'Requests' },
  },
  'scatter over time': {
    table: { columns: [time(4), ['a', 'integer', '[1,2,3,4]'], ['b', 'float', '[4,3,2,null]']] },
    options: { kind: 'scatter' },
  },
  'scatter of one number over another, by name': {
    table: {
      columns: [
        name('/a', '/b', '/a', '/b', '/c'),
        ['a', 'integer', '[1,2,3,4,5]'],
        ['b', 'float', '[4,3,2.5,null,1]'],
      ],
      groups: ['uri'],
    },
    options: { kind: 'scatter' },
  },
  'heat of histograms over time': {
    table: {
      columns: [
        time(2),
        [
          ...(['h', 'dynamic'] as const),
          '[[{"from":0,"to":5,"count":3}],[{"from":1,"to":9,"count":1},{"from":9,"to":17,"count":2}]]',
        ],
      ],
      ...{ buckets, aggs: { h: { name: 'histogram' } }, range: fiveMinutes },
    },
  },
  'heat of two keys, one pair missing': {
    table: {
      columns: [
        name('/a', '/a', '/b'),
        ['status', 'integer', '[200,500,200]'],
        ['took', 'float', '[0.0005,0.0002,0.0001]'],
      ],
      ...{ groups: ['uri', 'status'], aggs: { took: { name: 'sum' } } },
    },
    options: { kind: 'heat' },
    extras: { meta: [{ name: 'took', unit: 's' }] },
  },
  'heat over time, logarithmic': {
    table: {
      columns: [time(4, 2), groupOf(2, 4), ['n', 'integer', '[1,20000,300,4]']],
      ...{ groups: ['g'], buckets, aggs: { n: count }, range: fiveMinutes },
    },
    options: { kind: 'heat', log: true },
  },
  'line of two measures by group, with annotations': {
    table: {
      columns: [
        time(9, 3),
        groupOf(3, 9),
        ['n', 'integer', '[1,2,3,4,5,6,7,8,9]'],
        ['took', 'float', '[0.1,0.2,0.3,0.4,null,0.6,0.7,0.8,0.9]'],
      ],
      ...{ groups: ['g'], buckets, aggs: { n: count, took: average }, range: fiveMinutes },
    },
    options: { kind: 'line' },
    annotations: [release, incident],
    extras: { meta: [{ name: 'took', unit: 's' }] },
  },
  'line of percentiles': {
    table: {
      columns: [time(3), ['p', 'dynamic', '[[1,2,9],[2,3,8],null]']],
      ...{ buckets, aggs: { p: { name: 'percentiles_array', args: [50, 90, 99] } }, range: fiveMinutes },
    },
  },
  'shares of a spotlight': {
    table: {
      columns: [['s', 'dynamic', JSON.stringify([found])]],
      aggs: { s: { name: 'spotlight' } },
    },
  },
  'stat of two numbers, no legend': {
    table: {
      columns: [
        ['n', 'integer', '[1234567]'],
        ['x', 'float', '[0.5]'],
      ],
      aggs: { n: count, x: average },
    },
    options: { legend: false },
  },
  'pie of seven': {
    table: {
      columns: [name('/a', '/b', '/c', '/d', '/e', '/f', '/g'), ['n', 'integer', '[5,20,1,0,7,7,1]']],
      ...{ groups: ['uri'], aggs: { n: count } },
    },
    options: { kind: 'pie' },
  },
};

test.each(Object.entries(cases))('%s', async (title, { table, options, annotations, extras }) => {
  const ask = annotations && (async () => ({ annotations }));
  const chart = await toChart(sampleResult([table], extras), now, options, ask);
  if (chart?.kind !== 'chart') throw new Error(`no chart: ${chart?.reason}`);
  const { description, spec, model } = chart;
  const drawn = `${text({ description, names: model.names, notes: model.notes, spec })}\n`;
  const file = new URL(`${fileName(title)}.txt`, folder);
  if (update) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, drawn);
  }
  expect(drawn).toBe(readFileSync(file, 'utf8'));
});

test('every kind of chart has a case, and every case a file', () => {
  const titles = Object.keys(cases);
  expect(new Set(titles.map(title => title.split(/[ ,]/)[0]))).toEqual(new Set(Object.keys(kindRows)));
  expect(readdirSync(folder)).toEqual(titles.map(title => `${fileName(title)}.txt`).sort());
});

function fileName(title: string): string {
  return title.replace(/[^a-z]+/g, '-');
}

/** Prints JSON, keeping whatever fits on one line. */
function text(value: unknown, indent = ''): string {
  const short = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || short.length + indent.length <= 110) return short;
  const deeper = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map(part => text(part, deeper))
    : Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .map(([key, part]) => `${JSON.stringify(key)}:${text(part, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map(part => `${deeper}${part}`).join(',\n')}\n${indent}${close}`;
}
