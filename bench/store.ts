/**
 * `apl-kernel import` against one statement written by hand for the same engine, with the same output: Parquet with snappy in the
 * order of the file. Each import is a process of its own, from its start to its end, and the two take turns. MEGABYTES, FORMATS and
 * RUNS are environment variables.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, report } from './tools/row.js';

const megabytes = Number(process.env.MEGABYTES ?? 276);
const runs = Number(process.env.RUNS ?? 3);
const formats = (process.env.FORMATS ?? 'ndjson,csv,parquet,wide-ndjson,wide-csv')
  .split(',')
  .filter(each => each !== '');

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist/main.js');

type Format = 'ndjson' | 'csv' | 'parquet' | 'wide-ndjson' | 'wide-csv';

interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly peakMiB: number;
}

const pick = (items: readonly string[], salt: number): string =>
  `[${items.map(item => `'${item}'`).join(', ')}][1 + (hash(i, ${salt}) % ${items.length})::BIGINT]`;

/** Events of a web server, about 260 bytes each as JSON. */
const generated = (rows: number) => `SELECT
  strftime(make_timestamp(1767225600000000 + i * 250000), '%Y-%m-%dT%H:%M:%S.%fZ') AS _time,
  ${pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'], 1)} AS method, ${pick(['200', '200', '201', '404', '500'], 2)}::BIGINT AS status,
  '/api/v1/users/' || (hash(i, 3) % 5000) AS uri, round(exp(3 + (hash(i, 6) % 1000) / 250.0), 3) AS duration_ms,
  (hash(i, 7) % 10000)::BIGINT AS bytes, 'user-' || (hash(i, 9) % 100000) AS id, ${pick(['Germany', 'France', 'Japan', 'Brazil'], 10)} AS country,
  hash(i, 13) % 3 > 0 AS is_tls, ${pick(['curl/8.14.1', 'Mozilla/5.0', 'okhttp/5.1.0'], 15)} AS user_agent, hash(i, 16)::VARCHAR AS request_id FROM range(${rows}) r(i)`;

/** Events of a thousand fields, integers, reals and texts in turn. */
const wide = (rows: number) => {
  const values = Array.from({ length: 999 }, (_, index) => {
    const value = `hash(i, ${index}) % 1000`;
    return `${[`(${value})::BIGINT`, `(${value}) / 8`, `'value ' || (${value})`][index % 3]} AS field${index}`;
  });
  return `SELECT make_timestamp(1767225600000000 + i * 250000) AS _time, ${values.join(', ')} FROM range(${rows}) r(i)`;
};

const outputs: Readonly<Record<Format, string>> = {
  ndjson: '(FORMAT json)',
  csv: '(FORMAT csv, HEADER)',
  parquet: '(FORMAT parquet, COMPRESSION snappy)',
  'wide-ndjson': '(FORMAT json)',
  'wide-csv': '(FORMAT csv, HEADER)',
};

const readers: Readonly<Record<Format, string>> = {
  ndjson: 'read_ndjson',
  csv: 'read_csv',
  parquet: 'read_parquet',
  'wide-ndjson': 'read_ndjson',
  'wide-csv': 'read_csv',
};

/** A JSON event has about 270 bytes, a line of CSV about 130, wide ones 17 and 6.5 KB; Parquet is measured by its rows. */
const rowsOf: Readonly<Record<Format, number>> = {
  ndjson: megabytes * 3_700,
  csv: megabytes * 7_700,
  parquet: megabytes * 20_000,
  'wide-ndjson': megabytes * 50,
  'wide-csv': megabytes * 150,
};

/** A program that has the engine run the statement that it is given. */
const byHand = `
  import { DuckDBInstance } from '@duckdb/node-api';
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(process.argv[1]);
  connection.closeSync();
  instance.closeSync();`;

/** Makes a process say on its third pipe what it has used, once it ends. */
const usage = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMiB: maxRSS / 1024 }));
  });`)}`;

type Side = 'ours' | 'by hand';

function argumentsOf(side: Side, format: Format, file: string, target: string): readonly string[] {
  if (side === 'ours') return [program, 'import', file, '--dataset', 'bench', '--data', target];
  const select = `SELECT * FROM ${readers[format]}('${file}')`;
  return engineArguments(`COPY (${select}) TO '${target}.parquet' (FORMAT parquet, COMPRESSION snappy)`);
}

function engineArguments(sql: string): readonly string[] {
  return ['--input-type=module', '--eval', byHand, sql];
}

async function costOf(side: Side, format: Format, file: string, target: string): Promise<Cost> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['--import', usage, ...argumentsOf(side, format, file, target)], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let text = '';
  child.stdio[3]?.on('data', part => {
    text += part;
  });
  const [code] = await once(child, 'close');
  const wallMs = performance.now() - begun;
  if (code !== 0) throw new Error(`${side} failed`);
  await rm(target, { recursive: true, force: true });
  await rm(`${target}.parquet`, { force: true });
  return { ...(JSON.parse(text) as Omit<Cost, 'wallMs'>), wallMs };
}

/** Returns the bytes of a file once they are on the disk: what writes them later would be counted with the first import. */
async function settled(file: string): Promise<number> {
  const handle = await open(file, 'r+');
  await handle.sync();
  const { size } = await handle.stat();
  await handle.close();
  return size;
}

async function benchImport(format: Format, directory: string): Promise<void> {
  const file = join(directory, `in.${format.replace('wide-', '')}`);
  const select = format.startsWith('wide-') ? wide : generated;
  const made = engineArguments(`COPY (${select(rowsOf[format])}) TO '${file}' ${outputs[format]}`);
  execFileSync(process.execPath, made, { cwd: root, stdio: 'inherit' });
  const size = await settled(file);
  const costs: Record<Side, Cost[]> = { ours: [], 'by hand': [] };
  for (let run = 0; run < runs; run++) {
    for (const side of ['ours', 'by hand'] as const)
      costs[side].push(await costOf(side, format, file, join(directory, `${side}-${run}`)));
  }
  await rm(file);
  const figure = `import ${format} ${Math.round(size / 2 ** 20)} MiB`;
  const ratio = format === 'parquet' ? 1.2 : 1.5;
  const row = (what: string, unit: string, key: keyof Cost, goal: number) => {
    const of = (side: Side) => median(costs[side].map(cost => cost[key]));
    const baseline = { name: 'by hand', value: of('by hand') };
    report({ figure: `${figure}, ${what}`, unit, ours: of('ours'), baseline, goal: { ratio: goal } });
  };
  row('time', 'ms', 'wallMs', ratio);
  row('processor', 'ms', 'cpuMs', ratio);
  row('peak memory', 'MiB', 'peakMiB', 1.5);
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-bench-'));
  try {
    for (const format of formats) await benchImport(format as Format, directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
