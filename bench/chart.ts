/**
 * A result of 1 M rows as a chart: the kernel's model, specification and image, from the decoded result, against Vega given
 * every row. Each runs in a fresh process with the library loaded; medians count. `ROWS` and `RUNS` can be set.
 */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Spec } from 'vega';
import type { ChartOptions } from '../kernel/apl/operators/drawing.js';
import { toChart } from '../kernel/result/chart/chart.js';
import { loadVega } from '../kernel/result/chart/draw/svg.js';
import type { QueryResult } from '../kernel/result/result.js';
import { cells, type SampleTable, sampleResult } from '../test/result/sample.js';
import { median, report } from './tools/row.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const RUNS = Number(process.env.RUNS ?? 3);
type Method = 'ours' | 'every row';

const START = Date.UTC(2026, 10, 1);
const WEEKS = { start: '2026-11-01T00:00:00Z', end: '2026-11-14T00:00:00Z' };

/** The mark of a plain drawing, and its axis and group fields. */
interface Plain {
  readonly mark: 'line' | 'symbol';
  readonly x: string;
  readonly y: string;
  readonly group?: string;
}

/** A table to draw, and the fields of the same drawing of every row, if that makes sense. */
interface Shape {
  readonly table: () => SampleTable;
  readonly options?: ChartOptions;
  readonly plain?: Plain;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  'one line': {
    table: () => timed(1),
    plain: { mark: 'line', x: '_time', y: 'value' },
  },
  'ten groups': {
    table: () => timed(10),
    plain: { mark: 'line', x: '_time', y: 'value', group: 'host' },
  },
  names: {
    table: () => ({
      columns: [
        ['uri', 'string', cells(ROWS, row => `/api/orders/${row}`)],
        ['requests', 'integer', cells(ROWS, row => Math.floor(noise(row) * 1e6))],
      ],
      groups: ['uri'],
      aggs: { requests: { name: 'count' } },
    }),
  },
  dots: {
    table: () => ({
      columns: [
        ['across', 'float', cells(ROWS, row => noise(row) * 1000)],
        ['up', 'float', cells(ROWS, row => noise(row + ROWS) * noise(row))],
      ],
    }),
    options: { kind: 'scatter' },
    plain: { mark: 'symbol', x: 'across', y: 'up' },
  },
};

interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
}

async function main(): Promise<void> {
  for (const [name, { plain }] of Object.entries(SHAPES)) {
    const samples: Sample[] = [];
    for (let run = 0; run < RUNS; run++) samples.push(await runApart('ours', name));
    // Every row takes many times as long, so one run is enough.
    const all = plain === undefined ? undefined : await runApart('every row', name);
    const ours = median(samples.map(({ ms }) => ms));
    const cpuMs = median(samples.map(each => each.cpuMs));
    report({
      ...{
        figure: `chart of ${ROWS.toLocaleString('en')} rows: ${name}`,
        unit: 'ms',
        ours,
        goal: { atMost: 1000 },
      },
      ...(all && {
        baseline: { name: 'Vega, every row', value: all.ms },
        cpu: { ours: cpuMs, baseline: all.cpuMs },
      }),
    });
  }
}

async function runApart(method: Method, shape: string): Promise<Sample> {
  const args = [
    '--max-old-space-size=6000',
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    method,
    shape,
  ];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as Sample;
}

async function measure(method: Method, name: string): Promise<Sample> {
  const shape = SHAPES[name];
  if (shape === undefined) throw new Error(`no shape ${name}`);
  const result = sampleResult([shape.table()]);
  await loadVega();
  const before = process.cpuUsage();
  const start = performance.now();
  const bytes = method === 'ours' ? await ours(result, shape) : await everyRow(result, shape);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  if (bytes === 0) throw new Error('nothing was drawn');
  return { ms, cpuMs: (user + system) / 1000 };
}

async function ours(result: QueryResult, { options }: Shape): Promise<number> {
  const chart = await toChart(result, Date.UTC(2027, 0), options);
  if (chart?.kind !== 'chart') throw new Error(`no chart: ${chart?.reason}`);
  return chart.svg.length;
}

async function everyRow({ tables }: QueryResult, { plain }: Shape): Promise<number> {
  if (plain === undefined) throw new Error('nothing to compare with');
  const vega = await loadVega();
  const values = tables[0]?.data.toArray().map(row => ({ ...row.toJSON() })) ?? [];
  const view = new vega.View(vega.parse(plainSpec(plain, values)), { renderer: 'none' });
  try {
    return (await view.toSVG()).length;
  } finally {
    view.finalize();
  }
}

function timed(groups: number): SampleTable {
  const second = (row: number) => new Date(START + Math.floor(row / groups) * 1000).toISOString();
  return {
    columns: [
      ['_time', 'datetime', cells(ROWS, second)],
      ...(groups === 1 ? [] : ([['host', 'string', cells(ROWS, row => `host-${row % groups}`)]] as const)),
      ['value', 'float', cells(ROWS, row => noise(row) * 1000)],
    ],
    groups: groups === 1 ? ['_time'] : ['_time', 'host'],
    buckets: { field: '_time', size: 1_000_000_000 },
    aggs: { value: { name: 'avg' } },
    range: WEEKS,
  };
}

/** Returns a pseudorandom number in [0, 1), the same for the same row. */
function noise(row: number): number {
  return ((Math.imul(row + 1, 0x9e3779b1) ^ (row >>> 3)) >>> 0) / 2 ** 32;
}

function plainSpec({ mark, x, y, group }: Plain, values: object[]): Spec {
  const name = group === undefined ? 'rows' : 'grouped';
  const marks = [
    {
      type: mark,
      from: { data: name },
      encode: {
        update: {
          ...{ x: { scale: 'x', field: x }, y: { scale: 'y', field: y } },
          stroke: group === undefined ? { value: 'blue' } : { scale: 'color', field: group },
        },
      },
    },
  ] as const;
  const domain = (field: string) => ({ data: 'rows', field });
  return {
    width: 800,
    height: 200,
    data: [{ name: 'rows', values }],
    scales: [
      { name: 'x', type: x === '_time' ? 'utc' : 'linear', domain: domain(x), range: 'width' },
      { name: 'y', type: 'linear', domain: domain(y), range: 'height' },
      ...(group === undefined
        ? []
        : [{ name: 'color', type: 'ordinal', domain: domain(group), range: 'category' } as const]),
    ],
    axes: [
      { orient: 'bottom', scale: 'x' },
      { orient: 'left', scale: 'y' },
    ],
    marks:
      group === undefined
        ? [...marks]
        : [{ type: 'group', from: { facet: { name, data: 'rows', groupby: group } }, marks: [...marks] }],
  };
}

const [method, shape] = process.argv.slice(2) as [Method?, string?];
if (method === undefined || shape === undefined) await main();
else process.stdout.write(JSON.stringify(await measure(method, shape)));
