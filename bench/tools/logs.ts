import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** Bounds of the events' times, in milliseconds since 1970: sixty days. */
export const windowStart = Date.UTC(2026, 5, 1);
export const windowEnd = windowStart + 60 * 86_400_000;

/** Of sixteen consecutive events, every fourth belongs to the same trace. */
const traceOf = (row: string) => `md5((${row} // 16 * 4 + ${row} % 4)::VARCHAR)`;

/** Returns the id of a trace in the middle. */
export function needle(events: number): string {
  return createHash('md5')
    .update(String(Math.floor(events / 2 / 16) * 4))
    .digest('hex');
}

const syllables = `['ba','con','de','fer','gli','ho','in','ju','kar','lo','mi','nor','op','per','qua','re','st','tri','un','ver','wal','xen','yo','zu','tion','ment','able','er','ing','ed','al','ous']`;

/** Few words are common, and most are rare. */
const word = (salt: number) =>
  `getvariable('words')[1 + (pow((hash(i, ${salt}) % 100003) / 100003.0, 3) * 4095)::BIGINT]`;

const seedRows = 1_000_000;

/** Data that repeats every million events: a service has its own pods, image and some of the words. */
const seed = `SELECT 'svc-' || (hash(i, 1) % 40) AS service,
  ['error', 'error', 'error', 'warn', 'warn', 'warn', 'warn', 'warn', 'warn', 'warn'][1 + (hash(i, 2) % 100)::BIGINT] AS rare,
  hash(i, 2) % 100 < 70 AS is_info,
  'ip-10-' || (hash(i, 3) % 4) || '-' || (hash(i, 3) % 223) || '.eu-west-1.compute.internal' AS host,
  concat_ws(' ', ${[4, 5, 6, 7, 8, 9].map(word).join(', ')}, hash(i, 10) % 100000, ${word(11)}, 'took', hash(i, 12) % 3000, 'ms') AS message,
  round(exp((hash(i, 12) % 10000) / 1000.0), 3) AS duration_ms,
  [200, 200, 200, 204, 301, 404, 500, 503][1 + (hash(i, 13) % 8)::BIGINT] AS status,
  ['zone-' || (hash(i, 15) % 3), 'build-' || (hash(i, 16) % 50), 'team-' || (hash(i, 1) % 9)][:(hash(i, 17) % 4)::BIGINT] AS tags,
  'shop-' || ['prod', 'prod', 'prod', 'staging'][1 + (hash(i, 18) % 4)::BIGINT] AS "kubernetes.namespace",
  'svc-' || (hash(i, 1) % 40) || '-7d9f8b6c5-' || (hash(i, 19) % 600) AS "kubernetes.pod_name",
  'registry.example.org/shop/svc-' || (hash(i, 1) % 40) || ':2026.' || (hash(i, 1) % 7) AS "kubernetes.image",
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/' || (100 + hash(i, 20) % 40) || '.0.0.0 Safari/537.36' AS user_agent
  FROM range(${seedRows}) t(i)`;

/** Log events, and the number of files for them. */
interface Logs {
  readonly events: number;
  readonly files: number;
  readonly directory: string;
}

/** Writes logs of services, sorted by time, into files of about the same size, as another program would. */
export async function generate(instance: DuckDBInstance, { events, files, directory }: Logs): Promise<void> {
  const first = await instance.connect();
  await first.run(
    `SET VARIABLE words = (SELECT list(${syllables}[1 + k % 32] || ${syllables}[1 + (k // 32) % 32]
       || CASE WHEN k % 3 > 0 THEN ${syllables}[1 + (k * 7 + k // 1024) % 32] ELSE '' END ORDER BY hash(k)) FROM range(4096) t(k))`,
  );
  await first.run(`CREATE TABLE seed AS ${seed}`);
  const numbers = Array.from({ length: files }, (_, file) => file).values();
  const write = async (connection: DuckDBConnection) => {
    for (const file of numbers) {
      const [from, to] = [file, file + 1].map(each => Math.floor((events / files) * each));
      const target = join(directory, `part-${String(file).padStart(5, '0')}.parquet`);
      await connection.run(`COPY (${slice(from ?? 0, to ?? 0, events)}) TO '${target}' (FORMAT parquet)`);
    }
    connection.closeSync();
  };
  await Promise.all([write(first), write(await instance.connect())]);
}

/** Returns the events in this range of numbers, which may extend beyond the end of the seed. */
function slice(from: number, to: number, events: number): string {
  const base = Math.floor(from / seedRows) * seedRows;
  const stepNs = Math.floor(((windowEnd - windowStart) * 1e6) / events);
  const part = (offset: number) =>
    `SELECT rowid + ${offset} AS i, * FROM seed WHERE rowid >= ${from - offset} AND rowid < ${to - offset}`;
  const parts = [base];
  for (let next = base + seedRows; next < to; next += seedRows) parts.push(next);
  return `SELECT make_timestamp_ns(${windowStart}000000 + i * ${stepNs}) AS _time, service,
    coalesce(rare, CASE WHEN is_info THEN 'info' ELSE 'debug' END) AS level, host, ${traceOf('i')} AS trace_id,
    concat(message, ' seq=', i) AS message, * EXCLUDE (i, service, rare, is_info, host, message), (hash(i, 14) % 2000000)::BIGINT AS user_id
    FROM (${parts.map(part).join(' UNION ALL ')})`;
}

/** Returns the average size of an event as a line of JSON, in bytes, from the first file. */
export async function jsonBytesOfEvent(instance: DuckDBInstance, directory: string): Promise<number> {
  const [name = ''] = (await readdir(directory)).sort();
  const connection = await instance.connect();
  const rows = await connection.runAndReadAll(
    `SELECT avg(strlen(to_json(t)::VARCHAR) + 1) FROM read_parquet('${join(directory, name)}') t`,
  );
  connection.closeSync();
  return Number(rows.getRowsJson()[0]?.[0]);
}
