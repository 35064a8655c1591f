/**
 * Many columns: queries of all fields, and of a few, on one Parquet file, as the engine writes it, with COLUMNS columns and ROWS rows,
 * against handwritten statements over the same file. RUNS is an environment variable too.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { compare, type Question } from './tools/compared.js';
import { startProcess, stopProcess } from './tools/service.js';

const columns = Number(process.env.COLUMNS ?? 2_000);
const rows = Number(process.env.ROWS ?? 20_000);
const runs = Number(process.env.RUNS ?? 5);
const goal = { ratio: 1.2, plus: 5 };

const questions: readonly Question[] = [
  {
    name: 'newest 100, all fields',
    apl: 'sort by _time desc | limit 100',
    sql: 'SELECT * FROM t ORDER BY _time DESC LIMIT 100',
    goal,
  },
  {
    name: '100 of a filter, all fields',
    apl: 'where field4 == 7 | limit 100',
    sql: 'SELECT * FROM t AND field4 = 7 ORDER BY _time DESC LIMIT 100',
    goal,
  },
  {
    name: 'count by a field',
    apl: 'summarize count() by field6',
    sql: 'SELECT field6, count(*) FROM t GROUP BY 1',
    goal,
  },
];

/** Integers, floating-point numbers, strings, and mostly null strings, in turn. */
const values = Array.from({ length: columns - 1 }, (_, index) => {
  const value = `hash(i, ${index}) % 1000`;
  const kinds = [
    `(${value})::BIGINT`,
    `(${value}) / 8`,
    `'value ' || (${value})`,
    `CASE WHEN ${value} < 20 THEN 'rare ' || (${value}) END`,
  ];
  return `${kinds[index % kinds.length]} AS field${index}`;
});

const dataDir = await mkdtemp(join(tmpdir(), 'apl-bench-'));
const folder = join(dataDir, 'datasets', 'bench');
const file = join(folder, '0.parquet');
await mkdir(folder, { recursive: true });
const instance = await DuckDBInstance.create(':memory:', { temp_directory: dataDir });
const connection = await instance.connect();
await connection.run(
  `COPY (SELECT make_timestamp_ns(1767225600000000000 + i * (2592000000000000 // ${rows})) AS _time, ${values.join(', ')}
   FROM range(${rows}) r(i)) TO '${file}' (FORMAT parquet)`,
);
const service = await startProcess(dataDir);
try {
  const scale = `${rows.toLocaleString('en')} rows of ${columns.toLocaleString('en')} columns`;
  for (const question of questions)
    await compare(question, { service, connection, files: [file], scale, runs });
} finally {
  await stopProcess(service);
  connection.closeSync();
  instance.closeSync();
}
