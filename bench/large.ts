/**
 * What grows with the data and what does not: logs of services, both imported into one file and in many files of another program,
 * queried through a service configured for a machine of MEMORY GiB. EVENTS (`2000000,40000000` shows the growth), FILES, RUNS (the
 * median counts), ONLY (a pattern of query names) and PLOT (a file for the chart) are environment variables; TMPDIR has twice
 * the Parquet.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { usage } from './tools/costs.js';
import { generate, jsonBytesOfEvent, needle, windowEnd, windowStart } from './tools/logs.js';
import { growthPlot, type Point } from './tools/plot.js';
import { median, report } from './tools/row.js';
import { ask, endProcess, main, peakMiB, processorMs, type Running, startProcess } from './tools/service.js';

const sizes = (process.env.EVENTS ?? '1000000').split(',').map(Number);
const fileCount = Number(process.env.FILES ?? 100);
const runs = Number(process.env.RUNS ?? 3);
const only = new RegExp(process.env.ONLY ?? '');
const memoryBytes = Number(process.env.MEMORY ?? 2) * 2 ** 30;

process.env.NODE_OPTIONS = `--import=data:text/javascript,process.constrainedMemory=()=>${memoryBytes}`;

/** A query, and its window as shares of the time of all events. */
interface Question {
  readonly name: string;
  readonly apl: (events: number) => string;
  readonly window?: 'five minutes';
  /** A query that examines few rows once its field has filters: it is repeated before this one until it does. */
  readonly filters?: string;
}

const questions: readonly Question[] = [
  { name: 'newest 100', apl: () => 'sort by _time desc | limit 100' },
  { name: 'five minutes', apl: () => 'summarize count() by service, level', window: 'five minutes' },
  { name: 'count by time', apl: () => 'summarize count() by bin(_time, 1d), level' },
  { name: 'group by', apl: () => 'summarize count(), avg(duration_ms) by service, status' },
  { name: 'top 10 of 24,000', apl: () => "summarize count() by ['kubernetes.pod_name'] | top 10 by count_" },
  { name: 'array has', apl: () => "where tags has 'build-7' | count" },
  { name: 'distinct users', apl: () => 'summarize dcount(user_id)' },
  { name: 'distinct traces', apl: () => 'summarize dcount(trace_id)' },
  // From here on, filters are created in the background.
  { name: 'newest 100 errors', apl: () => "where level == 'error' | sort by _time desc | limit 100" },
  {
    name: 'needle',
    apl: events => `where trace_id == '${needle(events)}'`,
    filters: "where level == 'none' | count",
  },
  {
    name: 'needle, later',
    apl: events => `where trace_id == '${needle(events)}'`,
    filters: "where trace_id == 'none' | count",
  },
  { name: 'rare term', apl: events => `where message has '${Math.floor(events / 2)}' | count` },
  {
    name: 'rare term, later',
    apl: events => `where message has '${Math.floor(events / 2)}' | count`,
    filters: "where message has 'none' | count",
  },
];

const points: Point[] = [];

/** Reports a figure, and records it for the chart, whose lines are CPU time. */
function tell(layout: string, series: string, gb: number, wallMs: number, cpuMs: number): void {
  const figure = `${series}, ${layout}, ${gb.toPrecision(3)} GB as JSON`;
  report({ figure, unit: 'ms', ours: wallMs });
  report({ figure: `${figure}, processor`, unit: 'ms', ours: cpuMs });
  points.push({ panel: layout, series, x: gb, y: cpuMs });
}

interface Asked {
  readonly service: Running;
  readonly layout: string;
  readonly events: number;
  readonly gb: number;
}

/** Runs a query, and returns how many rows were examined. */
async function query({ service, events }: Asked, { apl, window }: Question): Promise<number> {
  const span = windowEnd - windowStart;
  const from = window === undefined ? windowStart : windowStart + span / 2;
  const to = window === undefined ? windowEnd : from + 300_000;
  const body = {
    apl: `logs | ${apl(events)}`,
    startTime: new Date(from).toISOString(),
    endTime: new Date(to).toISOString(),
  };
  const text = await ask(service, '/v1/datasets/_apl?format=tabular', JSON.stringify(body));
  return (JSON.parse(text) as { readonly status: { readonly rowsExamined: number } }).status.rowsExamined;
}

/** Resolves once a query examines few rows, and no fewer when repeated: until then its CPU time includes creating the filters. */
async function untilFilters(asked: Asked, apl: string): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const begun = performance.now();
    const examined = await query(asked, { name: '', apl: () => apl });
    if (examined === before && examined <= asked.events / 10) return;
    before = examined;
    // Filters are created in the background; these pauses leave them two thirds of the time.
    await delay(Math.max(5_000, 2 * (performance.now() - begun)));
  }
}

async function measure(asked: Asked, question: Question): Promise<void> {
  if (question.filters !== undefined) await untilFilters(asked, question.filters);
  const { layout, gb, service } = asked;
  const spent: { readonly ms: number; readonly cpuMs: number }[] = [];
  for (let run = 0; run < runs; run += 1) {
    const before = processorMs(service);
    const begun = performance.now();
    try {
      await query(asked, question);
    } catch (error) {
      // It may be refused, for example for lack of memory; the remaining ones still run.
      console.error(`${question.name}, ${layout}, ${gb.toPrecision(3)} GB as JSON: ${String(error)}`);
      return;
    }
    spent.push({ ms: performance.now() - begun, cpuMs: processorMs(service) - before });
  }
  tell(layout, question.name, gb, median(spent.map(({ ms }) => ms)), median(spent.map(({ cpuMs }) => cpuMs)));
  report({
    figure: `memory after ${question.name}, ${layout}, ${gb.toPrecision(3)} GB as JSON`,
    unit: 'MiB',
    ours: peakMiB(service),
    goal: { atMost: 2048 },
  });
}

/** Runs all queries on a service started for them; the first one is timed from the start of the service. */
async function askAll(dataDir: string, layout: string, events: number, gb: number): Promise<void> {
  const wanted = questions.filter(({ name }) => only.test(name));
  for (const [index, state] of ['nothing known', 'started again'].entries()) {
    const begun = performance.now();
    const service = await startProcess(dataDir);
    const asked = { service, layout, events, gb };
    await query(asked, { name: '', apl: () => 'limit 10' });
    tell(layout, `first answer, ${state}`, gb, performance.now() - begun, processorMs(service));
    if (index === 1) for (const question of wanted) await measure(asked, question);
    await endProcess(service);
  }
  if (wanted.some(({ filters }) => filters !== undefined))
    report({
      figure: `filters of ${layout}, ${gb.toPrecision(3)} GB as JSON`,
      unit: 'MB',
      ours: (await bytesIn(join(dataDir, '.cache', 'blooms', 'logs'))) / 1e6,
    });
}

async function importFiles(source: string, dataDir: string, gb: number): Promise<void> {
  const begun = performance.now();
  const args = ['--import', usage, main, 'import', source, '--dataset', 'logs', '--data', dataDir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  let text = '';
  child.stdio[3]?.on('data', part => {
    text += part;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('the import failed');
  const { cpuMs, peakMiB: peak } = JSON.parse(text) as { readonly cpuMs: number; readonly peakMiB: number };
  const layout = `${fileCount.toLocaleString('en')} files into one`;
  const figure = `import of ${layout}, ${gb.toPrecision(3)} GB as JSON`;
  report({ figure, unit: 'ms', ours: performance.now() - begun });
  report({ figure: `${figure}, processor`, unit: 'ms', ours: cpuMs });
  report({ figure: `${figure}, peak memory`, unit: 'MiB', ours: peak, goal: { atMost: 2048 } });
}

async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory);
  const sizesOf = await Promise.all(names.map(async name => (await stat(join(directory, name))).size));
  return sizesOf.reduce((total, size) => total + size, 0);
}

async function measureSize(events: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-bench-'));
  const source = await mkdtemp(join(tmpdir(), 'apl-bench-source-'));
  const instance = await DuckDBInstance.create(':memory:');
  try {
    await generate(instance, { events, files: fileCount, directory: source });
    const gb = (events * (await jsonBytesOfEvent(instance, source))) / 1e9;
    instance.closeSync();
    report({
      figure: `Parquet of ${events / 1e6} M events`,
      unit: 'MB',
      ours: (await bytesIn(source)) / 1e6,
    });
    await importFiles(source, dataDir, gb);
    await askAll(dataDir, 'one file', events, gb);
    const dataset = join(dataDir, 'datasets', 'logs');
    report({
      figure: `the file of ${events / 1e6} M events`,
      unit: 'MB',
      ours: (await bytesIn(dataset)) / 1e6,
    });
    await rm(dataDir, { recursive: true });
    await mkdir(join(dataDir, 'datasets'), { recursive: true });
    await rename(source, dataset);
    await askAll(dataDir, `${fileCount.toLocaleString('en')} files`, events, gb);
  } finally {
    for (const each of [dataDir, source]) await rm(each, { recursive: true, force: true });
  }
}

for (const events of sizes) {
  await measureSize(events);
  const plot = process.env.PLOT;
  if (plot !== undefined)
    await writeFile(plot, await growthPlot(points, 'GB, as JSON lines', 'milliseconds of processor time'));
}
