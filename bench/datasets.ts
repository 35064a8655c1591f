/**
 * The cost of many datasets, and of one with many files: start of the service, `print`, a query of one dataset, its fields and the
 * listing, with nothing known of their files, after a start with known files, and with everything queried before. The files are links to
 * one.
 */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report } from './tools/row.js';
import { ask, endProcess, peakMiB, type Running, startProcess } from './tools/service.js';

const COUNTS = (process.env.DATASETS ?? '1,100,1000,10000').split(',').map(Number);
const FILES = Number(process.env.FILES ?? 10_000);

const query = (apl: string) => (service: Running) =>
  ask(service, '/v1/query/_apl?format=tabular', JSON.stringify({ apl, startTime: '2000-01-01T00:00:00Z' }));

const questions: readonly (readonly [name: string, run: (service: Running) => Promise<unknown>])[] = [
  ['`print x = 1`', query('print x = 1')],
  ['count of one dataset', query('d0 | count')],
  ['fields of one dataset', service => ask(service, '/v2/datasets/d0/fields')],
  ['names of all datasets', service => ask(service, '/v2/datasets')],
  ['`%datasets`', service => ask(service, '/v1/local/datasets')],
  ['one event more, and a count of its dataset', countOneMore],
];

async function countOneMore(service: Running): Promise<void> {
  await ask(service, '/v1/datasets/d0/ingest', JSON.stringify([{ n: 1 }]));
  await query('d0 | count')(service);
}

/** Milliseconds of the start and of each query for the single dataset of the first line, as a baseline. */
const ofOne = new Map<string, number>();

/** Creates a directory with one dataset of one file, and returns it with that file. */
async function makeOne(): Promise<{
  readonly dataDir: string;
  readonly directory: string;
  readonly file: string;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-datasets-'));
  const service = await startProcess(dataDir);
  await ask(service, '/v2/datasets', JSON.stringify({ name: 'd0' }));
  const events = Array.from({ length: 10 }, (_, n) => ({ n, level: 'info', message: `event ${n}` }));
  await ask(service, '/v1/datasets/d0/ingest', JSON.stringify(events));
  await endProcess(service);
  const directory = join(dataDir, 'datasets', 'd0');
  const file = readdirSync(directory).find(name => name.endsWith('.parquet')) ?? '';
  rmSync(join(dataDir, '.cache'), { recursive: true, force: true });
  return { dataDir, directory, file };
}

async function manyDatasets(count: number): Promise<void> {
  const { dataDir, directory, file } = await makeOne();
  for (let n = 1; n < count; n++) {
    const other = join(dataDir, 'datasets', `d${n}`);
    mkdirSync(other);
    for (const name of [file, 'dataset.json']) linkSync(join(directory, name), join(other, name));
  }
  await measure(dataDir, `${count} datasets`);
}

async function manyFiles(count: number): Promise<void> {
  const { dataDir, directory, file } = await makeOne();
  const [, time = '', end = ''] = /^(\d+)-[^.]+(\..*)$/.exec(file) ?? [];
  for (let n = 1; n < count; n++)
    linkSync(join(directory, file), join(directory, `${Number(time) + n}-${crypto.randomUUID()}${end}`));
  await measure(dataDir, `one dataset of ${count} files`);
}

async function measure(dataDir: string, what: string): Promise<void> {
  for (const state of ['nothing known', 'started again']) {
    const from = performance.now();
    const service = await startProcess(dataDir);
    tell(`${what}, ${state}: start`, performance.now() - from);
    await askAll(service, `${what}, ${state}`);
    if (state === 'started again') await askAll(service, `${what}, asked before`);
    report({ figure: `${what}, ${state}: peak memory`, unit: 'MiB', ours: peakMiB(service) });
    await endProcess(service);
  }
  rmSync(dataDir, { recursive: true, force: true });
}

async function askAll(service: Running, what: string): Promise<void> {
  for (const [name, run] of questions) {
    const from = performance.now();
    await run(service);
    tell(`${what}: ${name}`, performance.now() - from);
  }
}

function tell(figure: string, ours: number): void {
  const key = figure.slice(figure.indexOf(','));
  const one = ofOne.get(key);
  if (one === undefined) ofOne.set(key, ours);
  report({
    figure,
    unit: 'ms',
    ours,
    ...(one !== undefined && { baseline: { name: 'one dataset', value: one } }),
  });
}

for (const count of COUNTS) await manyDatasets(count);
await manyFiles(FILES);
