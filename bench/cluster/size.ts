/**
 * The same queries of the same objects in a bucket, on one machine and on clusters of Trino with one worker and with two:
 * `NODE_OPTIONS=--openssl-legacy-provider npx tsx bench/cluster/size.ts`, as the S3 server of this machine continues a list by DES.
 * EVENTS (100000000), STORE (a directory that keeps the objects for the next run), SHARE (the share of a core for each worker),
 * LIMIT (timeout of a query in seconds), ON (`bucket,1,2`) and ONLY (a pattern of query names) are environment variables.
 * Needs Linux with control groups of version 1, permission to create one, a JDK 17 or newer, and Maven.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableSql } from '../../kernel/local/store/dataset/bucket/bucket-table.js';
import { formatBytes } from '../../kernel/text.js';
import { type Cluster, hiveOver, ownCatalogs, startCluster, statement } from '../../test/cluster/node.js';
import { days, fillStore, firstDay, needle, objects } from '../tools/events.js';
import { startStore } from '../tools/objects.js';
import { ask, endProcess, peakMiB, processorMs, type Running, startProcess } from '../tools/service.js';

const events = Number(process.env.EVENTS ?? 100_000_000);
const share = Number(process.env.SHARE ?? 0.4);
const limitMs = Number(process.env.LIMIT ?? 300) * 1000;
const places = (process.env.ON ?? 'bucket,1,2').split(',');
const only = new RegExp(process.env.ONLY ?? '');

/** A query, and its range as hours since the first day. */
interface Question {
  readonly name: string;
  readonly apl: string;
  readonly hours: readonly [from: number, to: number];
  /** Whether a cluster may estimate. */
  readonly estimates?: true;
}

const all = [0, days * 24] as const;
const middle = (days * 24) / 2;
const day = [middle - 12, middle + 12] as const;
const questions: readonly Question[] = [
  { name: 'newest 100', apl: 'sort by _time desc | limit 100', hours: all },
  {
    name: 'five minutes, errors',
    apl: "where level == 'error' | project _time, service, message",
    hours: [middle, middle + 1 / 12],
  },
  {
    name: 'a trace id, an hour',
    apl: `where trace_id == '${needle(events)}'`,
    hours: [middle - 0.5, middle + 0.5],
  },
  { name: 'a trace id, a day', apl: `where trace_id == '${needle(events)}'`, hours: day },
  { name: 'a trace id, all', apl: `where trace_id == '${needle(events)}'`, hours: all },
  { name: 'count, all', apl: 'count', hours: all },
  {
    name: 'errors of a day by service',
    apl: "where level == 'error' | summarize count() by service",
    hours: day,
  },
  {
    name: 'errors of all by day',
    apl: "where level == 'error' | summarize count() by bin(_time, 1d)",
    hours: all,
  },
  {
    name: 'distinct users of a week',
    apl: 'summarize dcount(user_id)',
    hours: [middle - 84, middle + 84],
  },
  {
    name: 'p99 of all by service',
    apl: 'summarize percentile(duration_ms, 99) by service',
    hours: all,
    estimates: true,
  },
];

/** Cost of a query; `cpu` in seconds and `memory` in MiB are those of the engine. */
interface Spent {
  readonly said: string;
  readonly cpu: number;
  readonly memory: number;
}

/** Runs a query and prints its cost. */
async function measure(
  place: string,
  question: Question,
  service: Running,
  path: string,
  spent: () => Promise<Omit<Spent, 'said'>>,
): Promise<void> {
  store.taken();
  const begun = performance.now();
  const [from = 0, to = 0] = question.hours.map(hour => firstDay + hour * 3_600_000);
  const body = JSON.stringify({
    apl: `app | ${question.apl}`,
    startTime: new Date(from).toISOString(),
    endTime: new Date(to).toISOString(),
    queryOptions: { timeLimitMs: limitMs },
  });
  const said = await ask(service, `${path}/v1/datasets/_apl?format=tabular`, body).then(rowsOf, refusalOf);
  const seconds = (performance.now() - begun) / 1000;
  const { requests, bytes } = store.taken();
  const { cpu, memory } = await spent();
  const figures = [
    `${seconds.toFixed(1)} s`,
    `${requests} requests`,
    formatBytes(bytes),
    `${cpu.toFixed(1)} s of processor`,
    `${memory.toFixed(0)} MiB`,
    said,
    `load ${loadavg()[0]?.toFixed(0)}`,
  ];
  console.log(['', place, question.name, ...figures, ''].join(' | ').trim());
}

function rowsOf(text: string): string {
  const { tables } = JSON.parse(text) as {
    readonly tables: readonly { readonly columns: readonly unknown[][] }[];
  };
  return `${tables[0]?.columns[0]?.length ?? 0} rows`;
}

function refusalOf(error: Error): string {
  return error.message.replaceAll(/\s+/g, ' ').slice(0, 200);
}

/** Runs each query on a service that has read nothing yet, and again. */
async function askBucket(): Promise<void> {
  for (const question of asked) {
    const service = await startProcess(await mkdtemp(join(home, 'bucket-')));
    await ask(service, '/v1/local/import', JSON.stringify({ path: 's3://logs/app', dataset: 'app' }));
    for (const place of ['one machine', 'one machine, again']) {
      const before = processorMs(service);
      // Resets the peak memory.
      writeFileSync(`/proc/${service.child.pid}/clear_refs`, '5');
      await measure(place, question, service, '', async () => ({
        cpu: (processorMs(service) - before) / 1000,
        memory: peakMiB(service),
      }));
    }
    await endProcess(service);
    await rm(service.dataDir, { recursive: true });
  }
}

/** Runs each query on a cluster whose workers have a share of a core each. */
async function askCluster(workers: number): Promise<void> {
  const cluster = await startCluster({
    workers,
    catalogs: { ...ownCatalogs, hive: hiveOver(store.environment) },
    config: { 'query.max-memory': '2GB', 'query.max-memory-per-node': '1200MB' },
  });
  let slow = () => {};
  try {
    await makeTable(cluster);
    slow = workerGroups(cluster);
    await writeFile(join(home, '.axiom.toml'), deployments(cluster.url), { mode: 0o600 });
    const service = await startProcess(await mkdtemp(join(home, 'cluster-')));
    await askWorkers(cluster, service, workers);
    await endProcess(service);
  } finally {
    await cluster.stop();
    slow();
  }
}

async function askWorkers(cluster: Cluster, service: Running, workers: number): Promise<void> {
  for (const question of asked) {
    const path = `/v1/deployments/${question.estimates ? 'estimates' : 'exact'}`;
    const known = new Set((await queriesOf(cluster)).map(({ queryId }) => queryId));
    await measure(`${workers} x ${share} core`, question, service, path, async () => {
      const own = (await queriesOf(cluster)).filter(({ queryId }) => !known.has(queryId));
      return {
        cpu: own.reduce((total, { queryStats }) => total + secondsOf(queryStats.totalCpuTime), 0),
        memory: Math.max(...own.map(({ queryStats }) => mibOf(queryStats.peakUserMemoryReservation))),
      };
    });
  }
}

async function makeTable(cluster: Cluster): Promise<void> {
  await statement(cluster.url, "CREATE SCHEMA IF NOT EXISTS hive.logs WITH (location = 's3://logs/_schema')");
  await statement(cluster.url, 'DROP TABLE IF EXISTS hive.logs.app');
  for (const each of tableSql({ dataset: 'app', fields }, 's3://logs/app').split(/;\n/))
    if (each.trim() !== '') await statement(cluster.url, each, 'logs');
}

const strings = ['service', 'level', 'host', 'user_id', 'trace_id', 'message'] as const;
const fields = [
  { name: '_time', type: 'datetime', column: '_time' },
  ...strings.map(name => ({ name, type: 'string', column: name }) as const),
  { name: 'status', type: 'long', column: 'status' },
  { name: 'duration_ms', type: 'real', column: 'duration_ms' },
] as const;

function deployments(url: string): string {
  return ['exact', 'estimates']
    .map(
      name =>
        `[deployments.${name}]\nengine = "trino"\nurl = "${url}"\nuser = "me"\ncatalog = "hive"\nschema = "logs"\napproximate = ${name === 'estimates'}\n`,
    )
    .join('\n');
}

/** Limits the CPU of the workers, and gives them priority over other work; returns a function that removes the limits. */
function workerGroups(cluster: Cluster): () => void {
  const groups = cluster.workers.map(({ pid }) => {
    const group = `/sys/fs/cgroup/cpu/apl-bench-${pid}`;
    mkdirSync(group);
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(share * 100_000)));
    writeFileSync(join(group, 'cpu.shares'), '8192');
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
    return group;
  });
  return () => groups.map(group => rmdirSync(group));
}

interface QueryOfCluster {
  readonly queryId: string;
  readonly queryStats: { readonly totalCpuTime: string; readonly peakUserMemoryReservation: string };
}

async function queriesOf(cluster: Cluster): Promise<readonly QueryOfCluster[]> {
  const answer = await fetch(`${cluster.url}/v1/query`, { headers: { 'x-trino-user': 'me' } });
  return (await answer.json()) as readonly QueryOfCluster[];
}

const secondsPer: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };
const mibPer: Readonly<Record<string, number>> = {
  B: 2 ** -20,
  kB: 2 ** -10,
  MB: 1,
  GB: 2 ** 10,
};
const secondsOf = (text: string) => amountOf(text, secondsPer);
const mibOf = (text: string) => amountOf(text, mibPer);

/** Parses an amount in Trino's notation, such as `1.50m` or `12MB`. */
function amountOf(text: string, units: Readonly<Record<string, number>>): number {
  const [, amount, unit = ''] = /^([\d.]+)([A-Za-z]+)$/.exec(text) ?? [];
  return Number(amount) * (units[unit] ?? Number.NaN);
}

const asked = questions.filter(({ name }) => only.test(name));
const home = await mkdtemp(join(tmpdir(), 'apl-bench-'));
const directory = process.env.STORE ?? join(home, 'store');
console.log(
  `${objects} objects, ${events} events, ${formatBytes(await fillStore(directory, events))}; ${readFileSync('/proc/loadavg', 'utf8').trim()}`,
);
const store = await startStore(directory);
// The workers compile as in a deployment.
Object.assign(process.env, store.environment, {
  HOME: home,
  _JAVA_OPTIONS: '-Xmx2g -XX:TieredStopAtLevel=4',
});
try {
  for (const place of places) await (place === 'bucket' ? askBucket() : askCluster(Number(place)));
} finally {
  store.close();
  await rm(home, { recursive: true, force: true });
}
