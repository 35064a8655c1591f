/**
 * Finding causes, over many rows: `spotlight` over 20 fields, and the queries of `%patterns` on log lines beside a count by the same
 * field. ROWS and RUNS are environment variables.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { shapesQuery } from '../kernel/notebook/magics/cause/cause-patterns.js';
import { median, report } from './tools/row.js';
import { ask, peakMiB, processorMs, type Running, startProcess, stopProcess } from './tools/service.js';

const rows = Number(process.env.ROWS ?? 1_000_000);
const runs = Number(process.env.RUNS ?? 3);
const range = { startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-31T00:00:00Z' };

const text = (values: number, salt: number) => `'v' || (hash(i, ${salt}) % ${values})`;
const fields = [
  ...Array.from({ length: 8 }, (_, at) => `${text(2 + at * at * 40, at)} AS text${at}`),
  ...Array.from({ length: 6 }, (_, at) => `exp(3 + (hash(i, ${20 + at}) % 1000) / 250.0) AS real${at}`),
  ...Array.from({ length: 4 }, (_, at) => `(hash(i, ${30 + at}) % ${10 ** (at + 1)})::BIGINT AS int${at}`),
  "CASE WHEN hash(i, 40) % 20 = 0 OR (hash(i, 3) % 362 = 7) THEN '500' ELSE '200' END AS status",
  'hash(i, 41)::VARCHAR AS request_id',
];
const number = (most: number, salt: number) => `(hash(i, ${salt}) % ${most})`;
const lines = `CASE (${number(4, 50)}) WHEN 0 THEN 'user ' || ${number(5000, 51)} || ' signed in from 10.' || ${number(250, 52)} || '.0.' || ${number(250, 53)}
  WHEN 1 THEN 'request ' || hash(i, 54)::VARCHAR || ' took ' || ${number(3000, 55)} || ' ms' WHEN 2 THEN 'cache miss for key item:' || ${number(100000, 56)} ELSE 'heartbeat of worker-' || ${number(40, 57)} END`;

/** Times between twelve parts of the range, as in the query for the trend of a template. */
const edges = Array.from({ length: 11 }, (_, at) =>
  new Date(Date.UTC(2026, 0, 1, 60 * (at + 1))).toISOString(),
);

const dataDir = await mkdtemp(join(tmpdir(), 'apl-bench-'));
const instance = await DuckDBInstance.create(':memory:', { temp_directory: dataDir });
const connection = await instance.connect();
const time = `make_timestamp_ns(1767225600000000000 + i * (2592000000000000 // ${rows})) AS _time`;
for (const [name, columns] of [
  ['events', fields.join(', ')],
  ['lines', `${lines} AS message, 'worker-' || ${number(40, 58)} || ' is idle' AS few`],
] as const) {
  const folder = join(dataDir, 'datasets', name);
  await mkdir(folder, { recursive: true });
  await connection.run(
    `COPY (SELECT ${time}, ${columns} FROM range(${rows}) r(i)) TO '${join(folder, '0.parquet')}' (FORMAT parquet)`,
  );
}
connection.closeSync();
instance.closeSync();
const service = await startProcess(dataDir);
try {
  const scale = `${rows / 1e6} M rows`;
  const spotlight = await spent(service, '[\'events\'] | summarize spotlight(status == "500", *)');
  report({ figure: `spotlight over 20 fields, ${scale}`, unit: 's', ours: spotlight });
  for (const field of ['message', 'few']) {
    const value = await spent(service, `['lines'] | summarize count() by ${field}`);
    const asked = { source: "['lines']", field, level: undefined, hasTime: true };
    report({
      figure: `the question of %patterns, ${scale}, field ${field}`,
      ...{ unit: 's', ours: await spent(service, shapesQuery(asked, edges)) },
      ...{ baseline: { name: 'summarize count() by', value }, goal: { ratio: 2 } },
    });
  }
  report({ figure: `peak memory of the service, ${scale}`, unit: 'MiB', ours: peakMiB(service) });
} finally {
  await stopProcess(service);
}

/** Returns the CPU time of a query in the service, in seconds; other load on the machine affects it less. */
async function spent(to: Running, apl: string): Promise<number> {
  const all: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const before = processorMs(to);
    const from = performance.now();
    await ask(to, '/v1/datasets/_apl?format=tabular', JSON.stringify({ apl, ...range }));
    console.log(`${apl.slice(0, 60)}: ${((performance.now() - from) / 1000).toFixed(1)} s`);
    all.push((processorMs(to) - before) / 1000);
  }
  return median(all);
}
