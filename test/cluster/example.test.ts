import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { sharedBucket } from '../local/store/dataset/bucket/server.js';
import { type ClusterBench, clusterBench, deployment } from './bench.js';
import { statement } from './node.js';

const url = inject('trino');
const bucket = sharedBucket();
const examples = join(import.meta.dirname, '..', '..', 'examples');

let opened: ClusterBench;

beforeAll(async () => {
  const lake = url === '' ? '' : deployment('lake', url, 'memory', 'default');
  opened = await clusterBench(lake, { workDir: examples });
});
afterAll(() => opened.close());

async function textOf(code: string): Promise<string> {
  const { outcome, outputs } = await opened.bench.run(code);
  if (outcome.status === 'error') throw new Error([outcome.evalue, ...outcome.traceback].join('\n'));
  return outputs.map(each => ('data' in each ? String(each.data['text/plain'] ?? '') : '')).join('\n');
}

/** Returns the tables that the example prints with another first line. */
async function answers(first: string): Promise<readonly string[]> {
  const { cells } = JSON.parse(await readFile(join(examples, '07-three-places.ipynb'), 'utf8')) as {
    readonly cells: readonly { readonly cell_type: string; readonly source: readonly string[] }[];
  };
  const codes = cells.flatMap(cell => (cell.cell_type === 'code' ? cell.source.join('') : []));
  await textOf(first);
  const shown: string[] = [];
  for (const code of codes.slice(1)) shown.push(tablesIn(await textOf(code)));
  return shown;
}

/** Strips the rest of the output: the profile, the number of rows examined, and notes about the bucket. */
function tablesIn(text: string): string {
  return text
    .split('\n')
    .filter(line => !line.startsWith('Note: ') && !/^[\d,]+ rows examined$/.test(line))
    .map(line => line.replace(/^profile lake · /, ''))
    .join('\n');
}

/** Creates the orders as a table of the cluster; Parquet files in a bucket would also do. */
async function makeTable(): Promise<void> {
  const { service } = opened;
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
  const apl = 'orders | project-away _sysTime';
  const range = { startTime: '2026-01-01T00:00:00Z', endTime: '2026-02-01T00:00:00Z' };
  const response = await fetch(`${service.url}/v1/datasets/_apl?format=tabular`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ apl, ...range }),
  });
  const { tables } = (await response.json()) as {
    readonly tables: readonly {
      readonly fields: readonly { readonly name: string; readonly type: string }[];
      readonly columns: readonly (readonly unknown[])[];
    }[];
  };
  const { fields = [], columns = [] } = tables[0] ?? {};
  const types: Readonly<Record<string, string>> = {
    datetime: 'timestamp(9)',
    integer: 'bigint',
    float: 'double',
    boolean: 'boolean',
  };
  const literal = (value: unknown, type: string) =>
    value === null || value === undefined
      ? 'NULL'
      : type === 'datetime'
        ? `TIMESTAMP '${String(value).replace('T', ' ').replace('Z', '')}'`
        : type === 'string'
          ? `'${String(value)}'`
          : type === 'float'
            ? `DOUBLE '${String(value)}'`
            : String(value);
  const rows = (columns[0] ?? []).map(
    (_, row) => `(${fields.map(({ type }, index) => literal(columns[index]?.[row], type)).join(', ')})`,
  );
  const declared = fields.map(({ name, type }) => `"${name}" ${types[type] ?? 'varchar'}`).join(', ');
  await statement(url, 'DROP TABLE IF EXISTS memory.default.orders');
  await statement(url, `CREATE TABLE memory.default.orders (${declared})`);
  await statement(url, `INSERT INTO memory.default.orders VALUES ${rows.join(', ')}`);
}

test.skipIf(url === '')('the example gives the same tables over a file, a bucket and a cluster', async () => {
  const here = await answers('%import data/orders.ndjson --dataset orders --replace');
  expect(here.join('\n')).toMatch(/gateway_timeout +BR +42/);
  expect(await textOf('%publish orders s3://logs/orders')).toContain('1 day with 317 rows');
  await makeTable();
  await textOf('%drop orders --yes');
  bucket.taken();
  expect(await answers('%import s3://logs/orders --dataset orders')).toEqual(here);
  expect(bucket.taken().length).toBeGreaterThan(3);
  expect(await answers('%use lake')).toEqual(here);
});
