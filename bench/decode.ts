/**
 * A response of 1 M rows x 10 columns, from a server on this machine to Arrow: the kernel's client and decoder against `fetch`
 * with `JSON.parse`, which leaves JavaScript values, and against Apache Arrow's own builders on top of that. One body is plain,
 * one has escapes, multibyte characters, dynamic cells and integers over 53 bits, one has as many cells in 200 columns,
 * and in one, four of the ten columns have nested objects. All run in fresh processes, alternating; medians count.
 * ROWS, RUNS and KINDS are environment variables; a body longer than the maximum string is read only by ours.
 */

import { constants } from 'node:buffer';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as arrow from 'apache-arrow';
import { createClient } from '../kernel/api/client.js';
import { AccessToken } from '../kernel/api/profile.js';
import type { TabularResult } from '../kernel/api/wire.js';
import { decodeArriving, type TabularArrow } from '../kernel/result/decode/decode-arrow.js';
import { inSlices } from '../kernel/result/decode/decode-slices.js';
import { median, quantile, report } from './tools/row.js';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const RUNS = Number(process.env.RUNS ?? 3);
const KINDS = (process.env.KINDS ?? 'plain,hard,wide,nested').split(',') as readonly Kind[];
const METHODS = ['ours', 'fetch + JSON.parse', 'fetch + JSON.parse + builders'] as const;
type Method = (typeof METHODS)[number];

interface Sample {
  readonly ms: number;
  /** 99th percentile of how long other work in the process had to wait. */
  readonly waitMs: number;
  /** Peak resident memory of the process. */
  readonly peakMiB: number;
  /** Size of the columns of the result. */
  readonly arrowMiB: number;
}

async function main(): Promise<void> {
  for (const kind of KINDS) {
    const { width = FIELDS.length, share = 1 } = KINDS_OF_BODIES[kind];
    const rows = (ROWS * FIELDS.length * share) / width;
    const body = sampleBody(rows, kind);
    const server = createServer((_, response) => {
      // As behind a compressing gateway: without a length.
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(body.subarray(0, 1));
      response.end(body.subarray(1));
    });
    await new Promise<void>(settle => server.listen(0, '127.0.0.1', settle));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const samples = METHODS.map((): Sample[] => []);
    // A longer body does not fit into a string, so only ours can read it.
    const methods = body.length > constants.MAX_STRING_LENGTH ? METHODS.slice(0, 1) : METHODS;
    for (let run = 0; run < RUNS; run++)
      for (const [index, name] of methods.entries()) samples[index]?.push(await runApart(name, url, rows));
    server.close();
    printRows(
      `${rows.toLocaleString('en')} x ${width} ${kind}, ${Math.round(body.length / 2 ** 20)} MiB`,
      samples,
    );
  }
}

function printRows(what: string, samples: readonly (readonly Sample[])[]): void {
  const middle = (index: number, of: keyof Sample) => median((samples[index] ?? []).map(each => each[of]));
  const ours = middle(0, 'ms');
  for (const index of [1, 2].filter(each => samples[each]?.length)) {
    const baseline = { name: METHODS[index] ?? '', value: middle(index, 'ms') };
    report({
      figure: `result to Arrow: ${what}`,
      unit: 'ms',
      ours,
      baseline,
      goal: { ratio: index === 1 ? 0.9 : 0.5 },
    });
  }
  const parse = (of: keyof Sample) =>
    samples[1]?.length ? { baseline: { name: METHODS[1], value: middle(1, of) } } : {};
  if (!samples[1]?.length) report({ figure: `result to Arrow: ${what}`, unit: 'ms', ours });
  report({
    figure: `other work waits meanwhile, p99: ${what}`,
    unit: 'ms',
    ours: middle(0, 'waitMs'),
    ...parse('waitMs'),
    goal: { atMost: 50 },
  });
  report({
    figure: `peak memory: ${what}`,
    unit: 'MiB',
    ours: middle(0, 'peakMiB'),
    ...parse('peakMiB'),
    goal: { ratio: 0.5 },
  });
  report({
    figure: `peak memory over that of the result: ${what}`,
    unit: 'MiB',
    ours: middle(0, 'peakMiB'),
    baseline: { name: 'its columns', value: middle(0, 'arrowMiB') },
    goal: { ratio: 2 },
  });
}

async function runApart(name: Method, url: string, rows: number): Promise<Sample> {
  const self = fileURLToPath(import.meta.url);
  const args = [...process.execArgv, self, name, url, String(rows)];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as Sample;
}

async function measure(name: Method, url: string, expected: number): Promise<Sample> {
  // The client loads this on its first request; `fetch` is built into Node.
  await import('undici');
  const waits: number[] = [];
  let last = performance.now();
  const watch = setInterval(() => {
    waits.push(performance.now() - last);
    last = performance.now();
  }, 1);
  const start = performance.now();
  const { rows, arrowMiB } = await readBy(name, url);
  const ms = performance.now() - start;
  if (rows !== expected) throw new Error(`${name} lost rows`);
  // A wait that ends only now counts too.
  await new Promise(settle => setTimeout(settle, 5));
  clearInterval(watch);
  return { ms, waitMs: quantile(waits, 0.99), peakMiB: ownPeakMiB(), arrowMiB };
}

/** Returns the peak of this process alone: `maxRSS` starts from the value of the parent process. */
function ownPeakMiB(): number {
  if (!existsSync('/proc/self/status')) return process.resourceUsage().maxRSS / 1024;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

interface Read {
  readonly rows: number | undefined;
  readonly arrowMiB: number;
}

async function readBy(name: Method, url: string): Promise<Read> {
  if (name === 'ours') {
    const endpoint = { profileName: 'local', url, token: new AccessToken('bench') };
    const client = createClient(endpoint, { version: 'bench' });
    let tables: TabularArrow['tables'] = [];
    const receive = async (body: AsyncIterable<Uint8Array>) => {
      ({ tables } = await inSlices(decodeArriving(body)));
    };
    await client.query({ apl: 'bench', receive });
    await client.close();
    return { rows: tables[0]?.data.numRows, arrowMiB: mibOf(tables[0]?.data) };
  }
  const result = (await (await fetch(url)).json()) as TabularResult;
  if (name === 'fetch + JSON.parse') return { rows: result.tables[0]?.columns[0]?.length, arrowMiB: 0 };
  const [built] = build(result);
  return { rows: built?.numRows, arrowMiB: mibOf(built) };
}

function mibOf(table: arrow.Table | undefined): number {
  return (table?.batches ?? []).reduce((total, { data }) => total + data.byteLength, 0) / 2 ** 20;
}

/** A decoder written with the usual libraries; times stay exact through BigInt, and strings in low-cardinality columns get a dictionary. */
function build(result: TabularResult): arrow.Table[] {
  return result.tables.map(table => {
    const columns = table.columns.map((cells, index) => {
      const type = BUILDER_TYPES[index % BUILDER_TYPES.length] as arrow.DataType;
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
  // The builder takes a timestamp in milliseconds, so nanoseconds are lost, as in most such code.
  if (isTime) return Date.parse(cell as string);
  if (isInt) return BigInt(cell as number);
  return typeof cell === 'object' ? JSON.stringify(cell) : cell;
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

/** Returns a log-like response: times, words, paths, identifiers, codes, sizes, short and long decimals, flags, one null in twenty. */
function sampleBody(rows: number, kind: Kind): Buffer {
  const random = randomNumbers(42);
  const { width = FIELDS.length, cells: special = {}, dynamic = [] } = KINDS_OF_BODIES[kind];
  const wanted = Array.from({ length: width }, (_, index) => FIELDS[index % FIELDS.length] ?? FIELDS[0]);
  const columns = wanted.map(([name], index) => {
    const make = special[name] ?? CELLS[name];
    const cells: string[] = [];
    for (let row = 0; row < rows; row++)
      cells.push(index > 3 && random() < 0.05 ? 'null' : make(row, random));
    return Buffer.from(`${index === 0 ? '' : ','}[${cells.join(',')}]`);
  });
  const fields = wanted.map(([name, type], index) => ({
    name: index < FIELDS.length ? name : `${name}${index}`,
    type: dynamic.includes(name) ? 'dynamic' : type,
  }));
  const head = `{"format":"tabular","status":{"elapsedTime":1},"datasetNames":["logs"],"fieldsMetaMap":{},"tables":[{"name":"0","sources":[{"name":"logs"}],"fields":${JSON.stringify(fields)},"order":[],"groups":[],"columns":[`;
  return Buffer.concat([Buffer.from(head), ...columns, Buffer.from(']}]}')]);
}

type CellMaker = (row: number, random: () => number) => string;
const SERVICES = ['api', 'checkout', 'frontend', 'payment', 'search', 'worker'];
const VERBS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const STATUSES = [200, 200, 200, 204, 301, 404, 500];
const FIRST_TIME = Date.UTC(2026, 0, 1);

const CELLS: Readonly<Record<(typeof FIELDS)[number][0], CellMaker>> = {
  _time: (row, random) => `"${new Date(FIRST_TIME + row * 37).toISOString().slice(0, -1)}${pad(random, 6)}Z"`,
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

const HARD_CELLS: Readonly<Partial<Record<(typeof FIELDS)[number][0], CellMaker>>> = {
  method: (_row, random) => `"${pick(['Größe', 'naïve', '東京', 'GET'], random)}"`,
  uri: (_row, random) =>
    `"said \\"${Math.floor(random() * 1e6)}\\"\\n\\tat C:\\\\logs\\u00e9\\\\${Math.floor(random() * 50)}"`,
  bytes: (_row, random) => `90071992547${String(Math.floor(random() * 1e8)).padStart(8, '0')}`,
  trace_id: (_row, random) => `{"id":"${hex(random)}","path":["a",${Math.floor(random() * 100)}]}`,
};

const nestedCell: CellMaker = (_row, random) =>
  `{"http":{"method":"${pick(VERBS, random)}","status":${pick(STATUSES, random)},"headers":{"host":"shop.example","id":"${hex(random)}"}},"tags":["a",${Math.floor(random() * 100)},null],"took":${(random() * 1000).toFixed(3)}}`;
const nestedFields = ['service', 'uri', 'duration_ms', 'trace_id'] as const;

type Kind = 'plain' | 'hard' | 'wide' | 'nested';

interface KindOfBody {
  /** Number of columns, with proportionally fewer rows. */
  readonly width?: number;
  /** Share of the rows, because the other methods can only read what fits into a string. */
  readonly share?: number;
  readonly cells?: Readonly<Partial<Record<(typeof FIELDS)[number][0], CellMaker>>>;
  readonly dynamic?: readonly string[];
}

const KINDS_OF_BODIES: Readonly<Record<Kind, KindOfBody>> = {
  plain: {},
  hard: { cells: HARD_CELLS, dynamic: ['trace_id'] },
  wide: { width: 200 },
  nested: {
    share: 0.5,
    cells: Object.fromEntries(nestedFields.map(name => [name, nestedCell])),
    dynamic: nestedFields,
  },
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

/** Returns a mulberry32 generator: the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const [method, url, rows] = process.argv.slice(2) as [Method?, string?, string?];
if (method === undefined || url === undefined) await main();
else process.stdout.write(JSON.stringify(await measure(method, url, Number(rows))));
