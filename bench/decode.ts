/**
 * A response of 1 M rows x 10 columns to Arrow: the byte decoder against `JSON.parse` and Apache Arrow's own builders.
 * Both run in fresh processes, alternating; the best of the runs counts. Prints a table, then the figures as JSON.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as arrow from 'apache-arrow';
import type { TabularResult } from '../kernel/api/wire.js';
import { decodeTabular } from '../kernel/result/arrow.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const RUNS = Number(process.env.RUNS ?? 5);
const METHODS = ['decodeTabular', 'JSON.parse + builders'] as const;
type Method = (typeof METHODS)[number];

interface Sample {
  readonly ms: number;
  /** The process's peak resident memory, with the body in it. */
  readonly peakMiB: number;
}

function report(): void {
  const folder = mkdtempSync(join(tmpdir(), 'bench-decode-'));
  try {
    const path = join(folder, 'response.json');
    const body = sampleBody(ROWS);
    writeFileSync(path, body);
    print(bestRuns(path), body.length / 2 ** 20);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The methods take turns, so that a slow minute of the machine hits both. */
function bestRuns(path: string): readonly Sample[] {
  const samples = METHODS.map((): Sample[] => []);
  for (let run = 0; run < RUNS; run++)
    for (const [index, name] of METHODS.entries()) samples[index]?.push(runApart(name, path));
  return samples.map(list => list.reduce((a, b) => (b.ms < a.ms ? b : a)));
}

function print(best: readonly Sample[], bodyMiB: number): void {
  const results = best.map(({ ms, peakMiB }, index) => ({
    method: METHODS[index],
    ms: Math.round(ms),
    'MiB/s': Math.round(bodyMiB / (ms / 1000)),
    peakMiB: Math.round(peakMiB),
  }));
  console.table(results);
  const [ours, baseline] = best as [Sample, Sample];
  const ratio = {
    ratio: round(ours.ms / baseline.ms),
    goal: 0.5,
    peakRatio: round(ours.peakMiB / baseline.peakMiB),
  };
  const scale = { rows: ROWS, columns: FIELDS.length, bodyMiB: Math.round(bodyMiB) };
  console.log(JSON.stringify({ bench: 'decode', ...scale, results, ...ratio }));
}

function runApart(name: Method, path: string): Sample {
  const self = fileURLToPath(import.meta.url);
  return JSON.parse(
    execFileSync(process.execPath, [...process.execArgv, self, name, path], { encoding: 'utf8' }),
  ) as Sample;
}

function measure(name: Method, path: string): Sample {
  const body = readFileSync(path);
  const start = performance.now();
  const tables =
    name === 'decodeTabular' ? decodeTabular(body).tables.map(table => table.data) : parseAndBuild(body);
  const ms = performance.now() - start;
  if (tables[0]?.numRows !== ROWS) throw new Error(`${name} lost rows`);
  return { ms, peakMiB: process.resourceUsage().maxRSS / 1024 };
}

/** The decoder that one would write with the usual libraries; times stay exact through BigInt, strings in low-cardinality columns get a dictionary. */
function parseAndBuild(body: Buffer): arrow.Table[] {
  const result = JSON.parse(body.toString('utf8')) as TabularResult;
  return result.tables.map(table => {
    const columns = table.columns.map((cells, index) => {
      const type = BUILDER_TYPES[index] as arrow.DataType;
      const isTime = arrow.DataType.isTimestamp(type);
      const builder = arrow.makeBuilder({ type, nullValues: [null] });
      for (const cell of cells) builder.append(convert(cell, isTime, arrow.DataType.isInt(type)));
      return builder.finish().toVector();
    });
    return new arrow.Table(Object.fromEntries(columns.map((column, index) => [`c${index}`, column])));
  });
}

function convert(cell: unknown, isTime: boolean, isInt: boolean): unknown {
  if (cell === null) return null;
  // The builder takes milliseconds for a timestamp: finer nanoseconds are lost, as in most code of this kind.
  if (isTime) return Date.parse(cell as string);
  return isInt ? BigInt(cell as number) : cell;
}

const dictionary = () => new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32());
const BUILDER_TYPES: readonly arrow.DataType[] = [
  new arrow.TimestampNanosecond('UTC'),
  dictionary(),
  dictionary(),
  new arrow.Utf8(),
  new arrow.Int64(),
  new arrow.Int64(),
  new arrow.Float64(),
  new arrow.Float64(),
  new arrow.Bool(),
  new arrow.Utf8(),
];

const FIELDS = [
  ['_time', 'datetime'],
  ['service', 'string'],
  ['method', 'string'],
  ['uri', 'string'],
  ['status', 'integer'],
  ['bytes', 'integer'],
  ['duration_ms', 'float'],
  ['ratio', 'float'],
  ['is_tls', 'boolean'],
  ['trace_id', 'string'],
] as const;

/** A log-like response: times, words, paths, identifiers, codes, sizes, short and long decimals, flags, one null in twenty. */
function sampleBody(rows: number): Buffer {
  const random = randomNumbers(42);
  const makers = FIELDS.map(([name]) => CELLS[name]);
  const columns = makers.map((make, index) => {
    const cells: string[] = [];
    for (let row = 0; row < rows; row++)
      cells.push(index > 3 && random() < 0.05 ? 'null' : make(row, random));
    return `[${cells.join(',')}]`;
  });
  const fields = FIELDS.map(([name, type]) => ({ name, type }));
  const head = `{"format":"tabular","status":{"elapsedTime":1},"datasetNames":["logs"],"fieldsMetaMap":{},"tables":[{"name":"0","sources":[{"name":"logs"}],"fields":${JSON.stringify(fields)},"order":[],"groups":[],"columns":[`;
  return Buffer.from(`${head}${columns.join(',')}]}]}`);
}

type CellMaker = (row: number, random: () => number) => string;
const SERVICES = ['api', 'checkout', 'frontend', 'payment', 'search', 'worker'];
const VERBS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const STATUSES = [200, 200, 200, 204, 301, 404, 500];
const FIRST_MOMENT = Date.UTC(2026, 0, 1);

const CELLS: Readonly<Record<(typeof FIELDS)[number][0], CellMaker>> = {
  _time: (row, random) =>
    `"${new Date(FIRST_MOMENT + row * 37).toISOString().slice(0, -1)}${pad(random, 6)}Z"`,
  service: (_row, random) => `"${pick(SERVICES, random)}"`,
  method: (_row, random) => `"${pick(VERBS, random)}"`,
  uri: (_row, random) =>
    `"/api/v1/orders/${Math.floor(random() * 1e7)}/items?page=${Math.floor(random() * 50)}"`,
  status: (_row, random) => String(pick(STATUSES, random)),
  bytes: (_row, random) => String(Math.floor(random() * 1e6)),
  duration_ms: (_row, random) => (random() * 1000).toFixed(3),
  ratio: (_row, random) => String(random()),
  is_tls: (_row, random) => String(random() < 0.8),
  trace_id: (_row, random) => `"${hex(random)}${hex(random)}${hex(random)}${hex(random)}"`,
};

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

function pad(random: () => number, digits: number): string {
  return String(Math.floor(random() * 10 ** digits)).padStart(digits, '0');
}

function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}

/** mulberry32: the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

const [method, file] = process.argv.slice(2) as [Method?, string?];
if (method === undefined || file === undefined) report();
else process.stdout.write(JSON.stringify(measure(method, file)));
