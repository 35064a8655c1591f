/**
 * APL through the local service over HTTP, against the same question written by hand in SQL for the same engine over the
 * same Parquet files. ROWS and RUNS are environment variables.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type Service, startService } from '../kernel/local/http/server.js';
import { spawnEngine } from '../test/local/engine/spawned.js';

const rows = Number(process.env.ROWS ?? 10_000_000);
const runs = Number(process.env.RUNS ?? 5);
const start = '2026-01-01T00:00:00Z';
const end = '2026-01-31T00:00:00Z';
const window =
  '_time >= make_timestamp_ns(1767225600000000000) AND _time < make_timestamp_ns(1769817600000000000)';
const hour = 'make_timestamp_ns(epoch_ns(_time) // 3600000000000 * 3600000000000)';

interface Question {
  readonly name: string;
  readonly apl: string;
  /** `FROM t` stands for the files and the window. */
  readonly sql: string;
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
    sql: "SELECT CASE WHEN regexp_matches(uri, 'page=([0-9]+)') THEN regexp_extract(uri, 'page=([0-9]+)', 1) END p, count(*) FROM t GROUP BY 1",
  },
  {
    name: 'sizes by two keys',
    apl: "summarize sum(resp_body_size_bytes), max(req_duration_ms), dcount(uri) by method, ['geo.country']",
    sql: 'SELECT method, "geo.country", sum(resp_body_size_bytes), max(req_duration_ms), count(DISTINCT uri) FROM t GROUP BY 1, 2',
  },
  {
    name: 'case and buckets',
    apl: "extend speed = case(req_duration_ms < 50, 'fast', req_duration_ms < 500, 'fair', 'slow') | summarize count() by speed, bin(_time, 1d)",
    sql: "SELECT CASE WHEN req_duration_ms < 50 THEN 'fast' WHEN req_duration_ms < 500 THEN 'fair' ELSE 'slow' END s, make_timestamp_ns(epoch_ns(_time) // 86400000000000 * 86400000000000) d, count(*) FROM t GROUP BY 1, 2",
  },
];

const pick = (items: readonly string[], salt: number): string =>
  `[${items.map(item => `'${item}'`).join(', ')}][1 + (hash(i, ${salt}) % ${items.length})::BIGINT]`;

/** 16 columns like those of an HTTP log, ordered by time over 30 days. */
const generated = `SELECT make_timestamp_ns(1767225600000000000 + i * (2592000000000000 // ${rows})) AS _time,
  ${pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'], 1)} AS method, ${pick(['200', '200', '200', '200', '201', '301', '404', '500'], 2)} AS status,
  '/api/v1/users/' || (hash(i, 3) % 5000) || CASE WHEN hash(i, 4) % 4 = 0 THEN '?page=' || (hash(i, 5) % 40) ELSE '' END AS uri,
  exp(3 + (hash(i, 6) % 1000) / 250.0) AS req_duration_ms, (hash(i, 7) % 10000)::BIGINT AS resp_body_size_bytes, (hash(i, 8) % 200)::BIGINT AS resp_header_size_bytes,
  'user-' || (hash(i, 9) % 100000) AS id, ${pick(['Germany', 'United States', 'France', 'Japan', 'Brazil', 'India'], 10)} AS "geo.country", ${pick(['Berlin', 'Seattle', 'Paris', 'Tokyo', 'Camaquã', 'Mumbai'], 11)} AS "geo.city",
  ${pick(['request completed', 'request timeout after 30s', 'upstream failed', 'served from cache'], 12)} AS message, hash(i, 13) % 3 > 0 AS is_tls, ${pick(['DCA', 'FRA', 'GRU', 'NRT'], 14)} AS server_datacenter,
  'application/json' AS content_type, ${pick(['curl/8.14.1', 'Mozilla/5.0', 'okhttp/5.1.0'], 15)} AS user_agent, hash(i, 16)::VARCHAR AS request_id FROM range(${rows}) r(i)`;

async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-bench-'));
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: dataDir });
  const connection = await instance.connect();
  const service = await startService({
    dataDir,
    port: 0,
    version: 'bench',
    token: 'bench',
    spawnEngine,
    log: () => undefined,
  });
  try {
    await fill(service, connection, dataDir);
    const folder = join(dataDir, 'datasets', 'bench');
    const files = (await readdir(folder))
      .filter(name => name.endsWith('.parquet'))
      .map(name => join(folder, name));
    console.log(
      `${rows.toLocaleString('en')} rows, best of ${runs}\n${'question'.padEnd(36)}${'APL ms'.padStart(9)}${'SQL ms'.padStart(9)}${'ratio'.padStart(8)}  within 1.1x + 5 ms`,
    );
    for (const question of questions) await compare(question, service, connection, files);
  } finally {
    await service.close();
    connection.closeSync();
    instance.closeSync();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(service: Service, connection: DuckDBConnection, dataDir: string): Promise<void> {
  const path = join(dataDir, 'generated.parquet');
  await connection.run(`COPY (${generated}) TO '${path}' (FORMAT parquet)`);
  await post(service, '/v1/local/import', { path, dataset: 'bench', timeField: '_time' });
  await rm(path);
}

async function compare(
  question: Question,
  service: Service,
  connection: DuckDBConnection,
  files: readonly string[],
): Promise<void> {
  const source = `FROM read_parquet([${files.map(file => `'${file}'`).join(', ')}]) WHERE ${window}`;
  const sql = question.sql.replace(/FROM t\b/, source);
  const apl = `['bench'] | ${question.apl}`;
  const times = { apl: Number.POSITIVE_INFINITY, sql: Number.POSITIVE_INFINITY };
  for (let run = 0; run < runs; run += 1) {
    times.apl = Math.min(
      times.apl,
      await elapsed(() =>
        post(service, '/v1/datasets/_apl?format=tabular', { apl, startTime: start, endTime: end }),
      ),
    );
    times.sql = Math.min(
      times.sql,
      await elapsed(async () => (await connection.runAndReadAll(sql)).getRowsJson()),
    );
  }
  const within = times.apl <= times.sql * 1.1 + 5;
  const ratio = times.apl / times.sql;
  console.log(
    `${question.name.padEnd(36)}${times.apl.toFixed(1).padStart(9)}${times.sql.toFixed(1).padStart(9)}${ratio.toFixed(2).padStart(8)}  ${within ? 'yes' : 'no'}`,
  );
  console.log(
    JSON.stringify({
      bench: 'engine',
      question: question.name,
      rows,
      aplMs: times.apl,
      sqlMs: times.sql,
      ratio,
      within,
    }),
  );
}

async function elapsed(run: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

async function post(service: Service, path: string, body: unknown): Promise<string> {
  const headers = {
    authorization: `Bearer ${service.token}`,
    'content-type': 'application/json',
    'accept-encoding': 'identity',
  };
  const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

await main();
