import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { objectFile } from './objects.js';

/** The days of the events, and the number of their objects. */
export const firstDay = Date.UTC(2026, 5, 1);
export const days = 25;
export const objects = 2_000;

/** Of sixteen consecutive events, every fourth belongs to the same trace. */
const traceOf = (event: string) => `md5((${event} // 16 * 4 + ${event} % 4)::VARCHAR)`;

/** Returns the trace of the event in the middle of the time. */
export function needle(events: number): string {
  const event = events / 2;
  return createHash('md5')
    .update(String(Math.floor(event / 16) * 4 + (event % 4)))
    .digest('hex');
}

/** Writes events of 20 services and a million users, sorted by time, unless they exist; returns the size of all objects in bytes. */
export async function fillStore(directory: string, events: number): Promise<number> {
  const keys = Array.from({ length: objects }, (_, index) => {
    const day = new Date(firstDay + Math.floor((index * days) / objects) * 86_400_000);
    return `app/day=${day.toISOString().slice(0, 10)}/part-${String(index).padStart(4, '0')}.parquet`;
  });
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const entries = keys.entries();
  const write = async (connection: DuckDBConnection) => {
    for (const [index, key] of entries) {
      const file = objectFile(directory, key);
      if (existsSync(file)) continue;
      await mkdir(dirname(file), { recursive: true });
      await connection.run(
        `COPY (${select(events, index)}) TO '${file}.new' (FORMAT parquet, COMPRESSION zstd)`,
      );
      await rename(`${file}.new`, file);
    }
  };
  await Promise.all([write(await instance.connect()), write(await instance.connect())]);
  instance.closeSync();
  const sizes = await Promise.all(keys.map(async key => (await stat(objectFile(directory, key))).size));
  return sizes.reduce((total, size) => total + size, 0);
}

function select(events: number, index: number): string {
  const rows = events / objects;
  const stepNs = Math.floor((days * 86_400_000_000_000) / events);
  const startNs = `${firstDay}000000::BIGINT`;
  return `SELECT make_timestamp_ns(${startNs} + i * ${stepNs} + (hash(i, 1) % ${stepNs})::BIGINT) AS _time,
    'svc-' || (hash(i, 2) % 20) AS service,
    CASE WHEN hash(i, 3) % 50 = 0 THEN 'error' WHEN hash(i, 3) % 10 = 1 THEN 'warn' ELSE 'info' END AS level,
    [200, 200, 200, 204, 301, 404, 500, 503][1 + (hash(i, 4) % 8)::BIGINT]::BIGINT AS status,
    'ip-10-' || (hash(i, 5) % 4) || '-' || (hash(i, 5) % 223) AS host,
    'user-' || (hash(i, 6) % 1000000) AS user_id,
    ${traceOf('i')} AS trace_id,
    round(exp((hash(i, 7) % 10000) / 1000.0), 3) AS duration_ms,
    'request ' || hash(i, 8) % 100000000 || ' of /api/v1/items/' || (hash(i, 9) % 977) || ' took a while' AS message
  FROM range(${index * rows}::BIGINT, ${(index + 1) * rows}::BIGINT) t(i)`;
}
