/**
 * APL through the local service, in its own process as users run it, against the same query handwritten in SQL
 * for the same engine over the same Parquet files, by the median of several runs. ROWS (`1000000,10000000,50000000` shows the
 * growth), FILES (the number of files for the rows), RUNS and ONLY (a part of query names) are environment variables.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { compare, type Question } from './tools/compared.js';
import { report } from './tools/row.js';
import { peakMiB, startProcess, stopProcess } from './tools/service.js';

const sizes = (process.env.ROWS ?? '1000000').split(',').map(Number);
const fileCounts = (process.env.FILES ?? '1,20').split(',').map(Number);
const runs = Number(process.env.RUNS ?? 5);
const only = process.env.ONLY;
const hour = 'make_timestamp_ns(epoch_ns(_time) // 3600000000000 * 3600000000000)';

const short = "_time >= TIMESTAMP '2026-01-15' AND _time < TIMESTAMP '2026-01-15 00:05:00'";

function bucket(count: string): string {
  return `CASE WHEN hi > lo THEN least(floor((x - lo) / ((hi - lo) / ${count})), ${count} - 1)::BIGINT ELSE 0 END`;
}

/** Reads the rows twice: for the bounds, and for the rows of each bucket. */
function histogram(rows: string, count: string): string {
  return `WITH b AS (SELECT min(req_duration_ms) lo, max(req_duration_ms) hi FROM ${rows}) SELECT ${bucket(count)}, any_value(lo), any_value(hi), count(*) FROM (SELECT req_duration_ms x FROM ${rows}), b GROUP BY 1`;
}

const questions: readonly Question[] = [
  {
    name: 'errors by hour',
    apl: "where status == '500' | summarize count() by bin(_time, 1h)",
    sql: `SELECT ${hour} t, count(*) FROM t AND status = '500' GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'count and mean by hour and status',
    apl: 'summarize count(), avg(req_duration_ms) by bin(_time, 1h), status',
    sql: `SELECT ${hour} t, status, count(*), avg(req_duration_ms) FROM t GROUP BY 1, 2 ORDER BY 1`,
  },
  {
    name: 'most frequent uri',
    apl: 'summarize topk(uri, 10)',
    sql: 'SELECT uri, count(*) n FROM t GROUP BY 1 ORDER BY n DESC LIMIT 10',
  },
  {
    name: 'percentiles by country',
    apl: "summarize percentiles_array(req_duration_ms, 50, 95, 99) by ['geo.country']",
    sql: 'SELECT "geo.country", quantile_cont(req_duration_ms, [0.5, 0.95, 0.99]) FROM t GROUP BY 1',
  },
  {
    name: 'distinct users by method',
    apl: 'summarize dcount(id) by method',
    sql: 'SELECT method, count(DISTINCT id) FROM t GROUP BY 1',
  },
  {
    name: 'messages that have a term',
    apl: "where message has 'timeout' | count",
    sql: "SELECT count(*) FROM t AND contains(lower(message), 'timeout') AND regexp_matches(message, '(?i)(^|[^\\pL\\pN])timeout($|[^\\pL\\pN])')",
  },
  {
    name: 'share of errors by datacenter',
    apl: "summarize errors = countif(status startswith '5'), total = count() by server_datacenter | extend share = 100.0 * errors / total | sort by share desc",
    sql: "SELECT server_datacenter, count(*) FILTER (WHERE starts_with(lower(status), '5')) e, count(*) n, 100.0 * e / n s FROM t GROUP BY 1 ORDER BY s DESC",
  },
  {
    name: 'slowest requests',
    apl: 'top 100 by req_duration_ms | project _time, uri, req_duration_ms',
    sql: 'SELECT _time, uri, req_duration_ms FROM t ORDER BY req_duration_ms DESC LIMIT 100',
  },
  {
    name: 'regular expression',
    apl: "where uri matches regex '/users/[0-9]+5$' | summarize count() by method",
    sql: "SELECT method, count(*) FROM t AND regexp_matches(uri, '/users/[0-9]+5$') GROUP BY 1",
  },
  {
    name: 'extract and group',
    apl: "extend page = extract('page=([0-9]+)', 1, uri) | summarize count() by page",
    sql: "SELECT nullif(regexp_extract(uri, 'page=([0-9]+)', 1), '') p, count(*) FROM t GROUP BY 1",
  },
  {
    name: 'sizes by two keys',
    apl: "summarize sum(resp_body_size_bytes), max(req_duration_ms), dcount(uri) by method, ['geo.country']",
    sql: 'SELECT method, "geo.country", sum(resp_body_size_bytes), max(req_duration_ms), count(DISTINCT uri) FROM t GROUP BY 1, 2',
  },
  {
    name: 'the newest 100',
    apl: 'limit 100',
    sql: 'SELECT * FROM t AND _time >= $newest ORDER BY _time DESC LIMIT 100',
    goal: { ratio: 2 },
  },
  {
    name: 'the newest 100 of a filter',
    apl: "where status == '500' | limit 100",
    sql: "SELECT * FROM t AND _time >= $newest AND status = '500' ORDER BY _time DESC LIMIT 100",
    goal: { ratio: 2, plus: 20 },
  },
  {
    name: 'the newest of a filter that few pass',
    apl: "where id == 'user-5' | limit 1000",
    sql: "SELECT * FROM t AND id = 'user-5' ORDER BY _time DESC LIMIT 1000",
    goal: { ratio: 2 },
  },
  {
    name: 'five minutes',
    apl: 'where _time >= datetime(2026-01-15) and _time < datetime(2026-01-15T00:05:00Z) | summarize count() by status',
    sql: `SELECT status, count(*) FROM t AND ${short} GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'parse with typed fields',
    apl: "parse uri with '/api/v1/users/' user:long '?page=' page:long | summarize sum(user), sum(page)",
    sql: "SELECT sum(TRY_CAST(m.a AS BIGINT)), sum(TRY_CAST(m.b AS BIGINT)) FROM (SELECT regexp_extract(uri, '^/api/v1/users/(.*?)\\?page=(.*)$', ['a', 'b']) m FROM t)",
    goal: { ratio: 1.2 },
  },
  {
    name: 'mv-expand',
    apl: "extend parts = split(uri, '/') | mv-expand parts | summarize count() by tostring(parts) | top 10 by count_",
    sql: "SELECT part, count(*) n FROM (SELECT unnest(string_split(uri, '/')) part FROM t) GROUP BY 1 ORDER BY n DESC LIMIT 10",
    goal: { ratio: 1.5 },
  },
  {
    name: 'mv-expand of a stored array',
    apl: 'mv-expand tags | summarize count() by tostring(tags) | top 10 by count_',
    sql: 'SELECT tag, count(*) n FROM (SELECT unnest(tags::VARCHAR[]) tag FROM t) GROUP BY 1 ORDER BY n DESC LIMIT 10',
    goal: { ratio: 1.5 },
  },
  {
    name: 'mv-expand of a stored array, as it is',
    apl: 'mv-expand tags | summarize count() by tags | top 10 by count_',
    sql: 'SELECT tag, count(*) n FROM (SELECT unnest(tags::JSON[]) tag FROM t) GROUP BY 1 ORDER BY n DESC LIMIT 10',
    goal: { ratio: 1.5 },
  },
  {
    name: 'join',
    apl: "where status == '500' | join kind=inner (bench | where status == '404' | distinct id) on id | count",
    sql: "SELECT count(*) FROM (SELECT id FROM t AND status = '500') JOIN (SELECT DISTINCT id FROM t AND status = '404') USING (id)",
  },
  {
    name: 'make-series',
    apl: 'make-series count() default = 0 on _time from datetime(2026-01-01) to datetime(2026-01-31) step 1h by method',
    sql: `SELECT method, list(n ORDER BY h) FROM (SELECT method, ${hour} h, count(*) n FROM t GROUP BY 1, 2) GROUP BY 1`,
  },
  {
    name: 'make-series of means',
    apl: "make-series avg(req_duration_ms), count() on _time from datetime(2026-01-01) to datetime(2026-01-31) step 10m by method, ['geo.country']",
    sql: `SELECT method, "geo.country", to_json(list(a ORDER BY m)), to_json(list(n ORDER BY m)), to_json(list(m ORDER BY m)) FROM (SELECT method, "geo.country", make_timestamp_ns(epoch_ns(_time) // 600000000000 * 600000000000) m, avg(req_duration_ms) a, count(*) n FROM t GROUP BY 1, 2, 3) GROUP BY 1, 2`,
    goal: { ratio: 1.3, plus: 5 },
  },
  {
    name: 'histogram',
    apl: 'summarize histogram(req_duration_ms, 20)',
    sql: histogram('t AND true', '20'),
    goal: { ratio: 1.3, plus: 5 },
  },
  {
    name: 'histogram of a filter',
    apl: 'where is_tls | summarize histogram(req_duration_ms, 20)',
    sql: histogram('t AND is_tls', '20'),
    goal: { ratio: 1.3, plus: 5 },
  },
  {
    name: 'histogram by method',
    apl: 'summarize histogram(req_duration_ms, 20) by method',
    sql: `WITH b AS (SELECT method, min(req_duration_ms) lo, max(req_duration_ms) hi FROM t GROUP BY 1) SELECT method, ${bucket('20')}, any_value(lo), any_value(hi), count(*) FROM (SELECT method, req_duration_ms x FROM t) JOIN b USING (method) GROUP BY 1, 2`,
    goal: { ratio: 1.3, plus: 5 },
  },
  {
    name: 'deviation by method',
    apl: 'summarize stdev(req_duration_ms) by method',
    sql: 'SELECT method, stddev_samp(req_duration_ms) FROM t GROUP BY 1',
    goal: { ratio: 1.3, plus: 5 },
  },
  {
    name: 'search in a field',
    apl: "where uri contains 'users/4999' | count",
    sql: "SELECT count(*) FROM t AND contains(lower(uri), 'users/4999')",
  },
  {
    name: 'full rows',
    apl: 'top 1000 by req_duration_ms',
    sql: 'SELECT * FROM t ORDER BY req_duration_ms DESC LIMIT 1000',
  },
  {
    name: 'case and buckets',
    apl: "extend speed = case(req_duration_ms < 50, 'fast', req_duration_ms < 500, 'fair', 'slow') | summarize count() by speed, bin(_time, 1d)",
    sql: "SELECT CASE WHEN req_duration_ms < 50 THEN 'fast' WHEN req_duration_ms < 500 THEN 'fair' ELSE 'slow' END s, make_timestamp_ns(epoch_ns(_time) // 86400000000000 * 86400000000000) d, count(*) FROM t GROUP BY 1, 2",
  },
];

const pick = (items: readonly string[], salt: number): string =>
  `[${items.map(item => `'${item}'`).join(', ')}][1 + (hash(i, ${salt}) % ${items.length})::BIGINT]`;

/** 17 columns like those of an HTTP log, sorted by time over 30 days; the rows of one of several files. */
const generated = (
  rows: number,
  from: number,
  to: number,
) => `SELECT make_timestamp_ns(1767225600000000000 + i * (2592000000000000 // ${rows})) AS _time,
  ${pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'], 1)} AS method, ${pick(['200', '200', '200', '200', '201', '301', '404', '500'], 2)} AS status,
  '/api/v1/users/' || (hash(i, 3) % 5000) || CASE WHEN hash(i, 4) % 4 = 0 THEN '?page=' || (hash(i, 5) % 40) ELSE '' END AS uri,
  exp(3 + (hash(i, 6) % 1000) / 250.0) AS req_duration_ms, (hash(i, 7) % 10000)::BIGINT AS resp_body_size_bytes, (hash(i, 8) % 200)::BIGINT AS resp_header_size_bytes,
  'user-' || (hash(i, 9) % 100000) AS id, ${pick(['Germany', 'United States', 'France', 'Japan', 'Brazil', 'India'], 10)} AS "geo.country", ${pick(['Berlin', 'Seattle', 'Paris', 'Tokyo', 'Camaquã', 'Mumbai'], 11)} AS "geo.city",
  ${pick(['request completed', 'request timeout after 30s', 'upstream failed', 'served from cache'], 12)} AS message, hash(i, 13) % 3 > 0 AS is_tls, ${pick(['DCA', 'FRA', 'GRU', 'NRT'], 14)} AS server_datacenter,
  'application/json' AS content_type, ${pick(['curl/8.14.1', 'Mozilla/5.0', 'okhttp/5.1.0'], 15)} AS user_agent, hash(i, 16)::VARCHAR AS request_id,
  to_json(list_transform(range(1 + (hash(i, 17) % 4)::BIGINT), lambda n: 'tag-' || (hash(i, n) % 50))) AS tags FROM range(${from}, ${to}) r(i)`;

async function main(): Promise<void> {
  for (const rows of sizes) for (const files of fileCounts) await benchOver(rows, files);
}

async function benchOver(rows: number, fileCount: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-bench-'));
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: dataDir });
  const connection = await instance.connect();
  const files = await fill(connection, join(dataDir, 'datasets', 'bench'), rows, fileCount);
  const service = await startProcess(dataDir);
  try {
    const newest = await newestTime(connection, files);
    const scale = `${rows / 1e6} M rows in ${fileCount === 1 ? 'one file' : `${fileCount} files`}`;
    for (const question of questions.filter(({ name }) => name.includes(only ?? '')))
      await compare(question, { service, connection, files, scale, runs, newest });
    report({ figure: `peak memory of the service, ${scale}`, unit: 'MiB', ours: peakMiB(service) });
  } finally {
    await stopProcess(service);
    connection.closeSync();
    instance.closeSync();
  }
}

/** Writes the files of a dataset, one after the other in time; returns their paths. */
async function fill(
  connection: DuckDBConnection,
  folder: string,
  rows: number,
  count: number,
): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const files = Array.from({ length: count }, (_, index) => join(folder, `${index}.parquet`));
  for (const [index, file] of files.entries()) {
    const [from, to] = [index, index + 1].map(at => Math.floor((rows / count) * at));
    await connection.run(`COPY (${generated(rows, from ?? 0, to ?? 0)}) TO '${file}' (FORMAT parquet)`);
  }
  return files;
}

/** Returns what one would look up manually: the start of the second to last row group. */
async function newestTime(connection: DuckDBConnection, files: readonly string[]): Promise<string> {
  const reader = await connection.runAndReadAll(
    `SELECT stats_min_value FROM parquet_metadata([${files.map(file => `'${file}'`).join(', ')}])
     WHERE path_in_schema = '_time' ORDER BY TRY_CAST(stats_min_value AS TIMESTAMP_NS) DESC LIMIT 1 OFFSET 1`,
  );
  return `TIMESTAMP_NS '${reader.getRows()[0]?.[0]}'`;
}

await main();
