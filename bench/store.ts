/**
 * `apl-kernel import` against one handwritten statement for the same engine, with the same output: Parquet with snappy in the
 * order of the file. Each import is a process of its own, measured from start to end, and the two alternate. MEGABYTES, FORMATS and
 * RUNS are environment variables.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { usage } from './tools/costs.js';
import { median, report } from './tools/row.js';

const megabytes = Number(process.env.MEGABYTES ?? 276);
const runs = Number(process.env.RUNS ?? 3);
const only = process.env.FORMATS?.split(',').filter(each => each !== '');

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist/main.js');

type Format = keyof typeof inputs;

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

/** Events of a thousand fields: integers, floating-point numbers and strings in turn. */
const wide = (rows: number) => {
  const values = Array.from({ length: 999 }, (_, index) => {
    const value = `hash(i, ${index}) % 1000`;
    return `${[`(${value})::BIGINT`, `(${value}) / 8`, `'value ' || (${value})`][index % 3]} AS field${index}`;
  });
  return `SELECT make_timestamp(1767225600000000 + i * 250000) AS _time, ${values.join(', ')} FROM range(${rows}) r(i)`;
};

/** Orders whose notes contain commas, quotes and line breaks. */
const quoted = (rows: number) => `SELECT
  strftime(make_timestamp(1767225600000000 + i * 250000), '%Y-%m-%dT%H:%M:%S.%fZ') AS _time, hash(i, 7) % 10000 AS id,
  ${pick(['open', 'paid', 'sent'], 1)} AS state, round(exp(3 + (hash(i, 6) % 1000) / 250.0), 2) AS amount,
  'first line of ' || (hash(i, 3) % 5000) || chr(10) || 'second, with a "quote"' || chr(10) || 'third line' AS note FROM range(${rows}) r(i)`;

/** Events with nested objects, and lists. */
const nested = (rows: number) => `SELECT
  strftime(make_timestamp(1767225600000000 + i * 250000), '%Y-%m-%dT%H:%M:%S.%fZ') AS _time, ${pick(['info', 'warn', 'error'], 1)} AS level,
  {'request': {'method': ${pick(['GET', 'POST'], 2)}, 'path': '/api/v1/users/' || (hash(i, 3) % 5000), 'headers': {'host': 'shop.example', 'agent': ${pick(['curl/8.14.1', 'okhttp/5.1.0'], 4)}}}, 'status': (hash(i, 5) % 400 + 100)::BIGINT} AS http,
  {'namespace': 'shop', 'pod': 'pod-' || (hash(i, 8) % 100), 'labels': {'app': 'cart', 'tier': ${pick(['web', 'db'], 9)}}} AS k8s,
  ['a' || (hash(i, 10) % 10), 'b' || (hash(i, 11) % 10)] AS tags, hash(i, 16)::VARCHAR AS trace_id FROM range(${rows}) r(i)`;

/** Log lines of a container. */
const containerLines = (rows: number) =>
  `SELECT strftime(make_timestamp(1767225600000000 + i * 250000), '%Y-%m-%dT%H:%M:%S.%f000Z') || ' ' || ${pick(['stdout', 'stderr'], 1)} || ' F user-' || (hash(i, 9) % 100000) || ' has put item ' || (hash(i, 3) % 5000) || ' into cart ' || hash(i, 16) AS line FROM range(${rows}) r(i)`;

/** Log lines of a web server in the combined format. */
const accessLines = (rows: number) =>
  `SELECT '10.' || (hash(i, 2) % 256) || '.' || (hash(i, 3) % 256) || '.7 - - [' || strftime(make_timestamp(1767225600000000 + i * 250000), '%d/%b/%Y:%H:%M:%S') || ' +0000] "' || ${pick(['GET', 'POST'], 4)} || ' /api/v1/users/' || (hash(i, 5) % 5000) || ' HTTP/1.1" ' || ${pick(['200', '404', '500'], 6)} || ' ' || (hash(i, 7) % 10000) || ' "-" "' || ${pick(['curl/8.14.1', 'Mozilla/5.0 (X11; Linux x86_64)', 'okhttp/5.1.0'], 8)} || '"' AS line FROM range(${rows}) r(i)`;

/** Reads the lines of a file, each as a string. */
const linesOf = (file: string) =>
  `read_csv('${file}', columns = {'line': 'VARCHAR'}, header = false, delim = '\\x00', quote = '', escape = '', auto_detect = false)`;

/** Extracts the fields of lines by one pattern. */
function fieldsOf(file: string, pattern: string, names: readonly string[], select: string): string {
  const named = names.map(name => `'${name}'`).join(', ');
  return `SELECT ${select} FROM (SELECT regexp_extract(line, '${pattern}', [${named}]) AS f FROM ${linesOf(file)})`;
}

interface Input {
  readonly ending: string;
  readonly select: (rows: number) => string;
  readonly written: string;
  /** The handwritten SELECT. */
  readonly read: (file: string) => string;
  readonly rowsPerMegabyte: number;
  /** Maximum time and memory of an import, relative to the handwritten statement. */
  readonly goals: { readonly time: number; readonly memory: number };
}

const file = (reader: string) => (name: string) => `SELECT * FROM ${reader}('${name}')`;
const usual = { time: 1.5, memory: 1.5 };
const close = { time: 1.25, memory: 1.2 };
const asLines = `(FORMAT csv, HEADER false, DELIMITER '\\x00', QUOTE '', ESCAPE '')`;

/** A JSON event has about 270 bytes, a line of CSV about 130, wide ones 17 and 6.5 KB; Parquet is measured by its rows. */
const inputs = {
  ndjson: {
    ending: 'ndjson',
    select: generated,
    written: '(FORMAT json)',
    read: file('read_ndjson'),
    rowsPerMegabyte: 3_700,
    goals: usual,
  },
  csv: {
    ending: 'csv',
    select: generated,
    written: '(FORMAT csv, HEADER)',
    read: file('read_csv'),
    rowsPerMegabyte: 7_700,
    goals: usual,
  },
  parquet: {
    ending: 'parquet',
    select: generated,
    written: '(FORMAT parquet, COMPRESSION snappy)',
    read: file('read_parquet'),
    rowsPerMegabyte: 20_000,
    goals: { time: 1.2, memory: 1.5 },
  },
  'wide-ndjson': {
    ending: 'ndjson',
    select: wide,
    written: '(FORMAT json)',
    read: file('read_ndjson'),
    rowsPerMegabyte: 50,
    goals: usual,
  },
  'wide-csv': {
    ending: 'csv',
    select: wide,
    written: '(FORMAT csv, HEADER)',
    read: file('read_csv'),
    rowsPerMegabyte: 150,
    goals: usual,
  },
  'quoted-csv': {
    ending: 'csv',
    select: quoted,
    written: '(FORMAT csv, HEADER)',
    read: file('read_csv'),
    rowsPerMegabyte: 9_000,
    goals: close,
  },
  'nested-ndjson': {
    ending: 'ndjson',
    select: nested,
    written: '(FORMAT json)',
    read: file('read_ndjson'),
    rowsPerMegabyte: 2_700,
    goals: close,
  },
  'nested-gzip': {
    ending: 'ndjson.gz',
    select: nested,
    written: '(FORMAT json, COMPRESSION gzip)',
    read: file('read_ndjson'),
    rowsPerMegabyte: 2_700,
    goals: close,
  },
  cri: {
    ending: 'log',
    select: containerLines,
    written: asLines,
    read: name =>
      fieldsOf(
        name,
        '^(\\S+) (stdout|stderr) ([FP]) (.*)$',
        ['time', 'stream', 'tag', 'message'],
        'f.time::TIMESTAMP_NS AS _time, f.*',
      ),
    rowsPerMegabyte: 9_500,
    goals: close,
  },
  access: {
    ending: 'log',
    select: accessLines,
    written: asLines,
    read: name =>
      fieldsOf(
        name,
        '^(\\S+) (\\S+) (\\S+) \\[([^\\]]+)\\] "(\\S+) (\\S+) ([^"]+)" (\\d+) (\\d+) "([^"]*)" "([^"]*)"$',
        [
          'client',
          'ident',
          'user',
          'time',
          'method',
          'uri',
          'protocol',
          'status',
          'bytes',
          'referer',
          'agent',
        ],
        "strptime(f.time, '%d/%b/%Y:%H:%M:%S %z') AS _time, f.* REPLACE (f.status::BIGINT AS status, f.bytes::BIGINT AS bytes)",
      ),
    rowsPerMegabyte: 8_500,
    goals: close,
  },
} as const satisfies Readonly<Record<string, Input>>;

/** A program that makes the engine run the given statement. */
const byHand = `
  import { DuckDBInstance } from '@duckdb/node-api';
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(process.argv[1]);
  connection.closeSync();
  instance.closeSync();`;

type Side = 'ours' | 'by hand';

function argumentsOf(side: Side, format: Format, file: string, target: string): readonly string[] {
  if (side === 'ours') return [program, 'import', file, '--dataset', 'bench', '--data', target];
  return engineArguments(
    `COPY (${inputs[format].read(file)}) TO '${target}.parquet' (FORMAT parquet, COMPRESSION snappy)`,
  );
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

/** Returns the size of a file once it is on disk: writing it later would count toward the first import. */
async function settled(file: string): Promise<number> {
  const handle = await open(file, 'r+');
  await handle.sync();
  const { size } = await handle.stat();
  await handle.close();
  return size;
}

async function benchImport(format: Format, directory: string): Promise<void> {
  const { ending, select, written, rowsPerMegabyte, goals } = inputs[format];
  const file = join(directory, `in.${ending}`);
  const made = engineArguments(`COPY (${select(megabytes * rowsPerMegabyte)}) TO '${file}' ${written}`);
  execFileSync(process.execPath, made, { cwd: root, stdio: 'inherit' });
  const size = await settled(file);
  const costs: Record<Side, Cost[]> = { ours: [], 'by hand': [] };
  for (let run = 0; run < runs; run++) {
    for (const side of ['ours', 'by hand'] as const)
      costs[side].push(await costOf(side, format, file, join(directory, `${side}-${run}`)));
  }
  await rm(file);
  const figure = `import ${format} ${Math.round(size / 2 ** 20)} MiB`;
  const row = (what: string, unit: string, key: keyof Cost, goal: number) => {
    const of = (side: Side) => median(costs[side].map(cost => cost[key]));
    const baseline = { name: 'by hand', value: of('by hand') };
    report({ figure: `${figure}, ${what}`, unit, ours: of('ours'), baseline, goal: { ratio: goal } });
  };
  row('time', 'ms', 'wallMs', goals.time);
  row('processor', 'ms', 'cpuMs', goals.time);
  row('peak memory', 'MiB', 'peakMiB', goals.memory);
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-bench-'));
  try {
    for (const format of only ?? Object.keys(inputs)) await benchImport(format as Format, directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
