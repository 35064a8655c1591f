import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from '../kernel/local/engine/duckdb.js';
import { startService } from '../kernel/local/http/http-server.js';
import { formatBytes } from '../kernel/text.js';
import { startStore } from './tools/objects.js';

/**
 * What queries of a bucket read and how long they take: `npx tsx bench/buckets.ts [OBJECTS]` creates one of 30 days on this machine, and
 * runs each query with empty caches, then again.
 */
const objects = Number(process.argv[2] ?? 2_000);
const rowsOfObject = 5_000;
const days = 30;
const firstDay = Date.UTC(2026, 5, 1);

const questions = [
  ['newest 100', 'app | sort by _time desc | limit 100', '01T00:00', '31T00:00'],
  ['five minutes', "app | where level == 'error' | project _time, message", '15T12:00', '15T12:05'],
  ['a trace id, an hour', "app | where trace_id == 'TRACE'", '16T00:00', '16T01:00'],
  ['a trace id, a day', "app | where trace_id == 'TRACE'", '16T00:00', '17T00:00'],
  ['a trace id, 30 days', "app | where trace_id == 'TRACE'", '01T00:00', '31T00:00'],
  ['count, 30 days', 'app | count', '01T00:00', '31T00:00'],
  [
    'errors of a day by service',
    "app | where level == 'error' | summarize count() by service",
    '15T00:00',
    '16T00:00',
  ],
  [
    'errors of 30 days by day',
    "app | where level == 'error' | summarize count() by bin(_time, 1d)",
    '01T00:00',
    '31T00:00',
  ],
] as const;

const directory = await mkdtemp(join(tmpdir(), 'apl-bucket-'));
const store = await startStore(directory);
Object.assign(process.env, store.environment);

/** Fills the bucket. The server stores each object as a file of its own, and computes its ETag if it has none. */
async function fill(): Promise<number> {
  const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { readFile } = await import('node:fs/promises');
  const client = new S3Client({ forcePathStyle: true });
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-bucket-'));
  const engine = await Engine.open({ dataDir, families: [] });
  const stepUs = Math.floor((days * 86_400_000_000) / (objects * rowsOfObject));
  let bytes = 0;
  for (let index = 0; index < objects; index++) {
    const file = join(engine.workDir, 'part.parquet');
    const startUs = firstDay * 1000 + index * rowsOfObject * stepUs;
    await engine.run(
      `COPY (SELECT make_timestamp(${startUs} + i * ${stepUs}) AS _time, md5((i // 4 + ${index * rowsOfObject})::VARCHAR) AS trace_id,
         ['api', 'web', 'db', 'auth'][i % 4 + 1] AS service, CASE WHEN hash(i) % 50 = 0 THEN 'error' ELSE 'info' END AS level,
         (hash(i) % 90000)::DOUBLE / 100 AS ms, 'request ' || hash(i + ${index}) || ' of ' || i % 977 AS message
       FROM range(${rowsOfObject}) AS t(i)) TO '${file}' (FORMAT parquet)`,
    );
    const body = await readFile(file);
    bytes += body.length;
    const day = new Date(startUs / 1000).toISOString().slice(0, 10);
    await client.send(
      new PutObjectCommand({ Bucket: 'logs', Key: `app/day=${day}/part-${index}.parquet`, Body: body }),
    );
  }
  await engine.close();
  await rm(dataDir, { recursive: true });
  client.destroy();
  return bytes;
}

interface Answer {
  readonly status: { readonly messages?: readonly { readonly msg: string }[] };
  readonly tables: readonly { readonly columns: readonly (readonly unknown[])[] }[];
}

async function opened() {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-bucket-'));
  await mkdir(dataDir, { recursive: true });
  const { fork } = await import('node:child_process');
  const service = await startService({
    dataDir,
    port: 0,
    version: '0.0.0',
    spawnEngine: () => fork(join('dist', 'engine.cjs'), { serialization: 'advanced' }),
    log: () => undefined,
  });
  const post = async (path: string, body: object) => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  await post('/v1/local/import', { path: 's3://logs/app', dataset: 'app' });
  const close = async () => {
    await service.close();
    await rm(dataDir, { recursive: true });
  };
  return { post, close };
}

console.log(`${objects} objects, ${objects * rowsOfObject} events, ${formatBytes(await fill())}`);
const trace = `SELECT md5('${Math.floor(objects / 2) * rowsOfObject + 100}') AS t`;
const engineDir = await mkdtemp(join(tmpdir(), 'apl-bucket-'));
const helper = await Engine.open({ dataDir: engineDir, families: [] });
const [[id]] = (await helper.run(trace)) as [[unknown]];
await helper.close();
for (const [name, apl, start, end] of questions) {
  const { post, close } = await opened();
  for (const round of ['nothing kept', 'again']) {
    const began = performance.now();
    const answer = (await post('/v1/datasets/_apl?format=tabular', {
      apl: apl.replace('TRACE', String(id)),
      startTime: `2026-06-${start}:00Z`,
      endTime: end === '31T00:00' ? '2026-07-01T00:00:00Z' : `2026-06-${end}:00Z`,
    })) as Answer;
    const ms = Math.round(performance.now() - began);
    const rows = answer.tables[0]?.columns[0]?.length ?? 0;
    console.log([name, round, `${ms} ms`, `${rows} rows`, answer.status.messages?.at(-1)?.msg].join(' | '));
  }
  await close();
}
store.close();
for (const each of [directory, engineDir]) await rm(each, { recursive: true });
