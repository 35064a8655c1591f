import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { randomOf, rounds } from '../faults/bench.js';
import { sharedBucket } from '../local/store/dataset/bucket/server.js';
import { type ClusterBench, clusterBench, deployment } from './bench.js';
import { type Cluster, hiveOver, ownCatalogs, startCluster, statement } from './node.js';

const isThere = inject('trino') !== '';
const bucket = sharedBucket();

let cluster: Cluster;
let notebook: ClusterBench;

/** A cluster of two workers over a bucket. */
beforeAll(async () => {
  if (!isThere) return;
  const environment = Object.fromEntries(
    Object.entries(process.env).map(([name, value]) => [name, value ?? '']),
  );
  cluster = await startCluster({ workers: 2, catalogs: { ...ownCatalogs, hive: hiveOver(environment) } });
  const { url } = cluster;
  notebook = await clusterBench(
    [deployment('lake', url, 'hive', 'logs'), deployment('tpch', url, 'tpch', 'sf0.1')].join('\n'),
  );
}, 900_000);
afterAll(async () => {
  await notebook?.close();
  await cluster?.stop();
});

const odd = [
  {
    _time: '2026-01-01T10:00:00.123456789Z',
    n: '9223372036854775807',
    StatusCode: 500,
    statuscode: 'five',
    day: "it's",
  },
  {
    _time: '2026-01-01T23:59:59.999999999Z',
    n: '-1',
    StatusCode: 200,
    'service.name': 'web "1"',
    deep: { k: '9007199254740993', 'a.b': [1, null, { x: 'y' }] },
  },
  { _time: '2026-01-02T00:00:00Z', n: '7', 'service.name': 'db', real: 0.1, yes: true, deep: [1, 2] },
  {
    _time: '2026-01-03T12:00:00.000000001Z',
    StatusCode: -7,
    real: -1e300,
    yes: false,
    text: '\u00e4 \ud83d\ude00 \\ \' "',
  },
];

const questions = [
  "odd | sort by _time asc | project _time, n, StatusCode, statuscode, ['service.name'], real, yes, text, day, deep",
  "odd | where StatusCode >= 500 or real < 1 | summarize count(), max(n), sum(real) by ['service.name'] | sort by ['service.name'] asc",
  'odd | where deep.k == 9007199254740993 or deep[1] == 2 | summarize n = count(), first = min(_time)',
  'odd | summarize count() by bin(_time, 1d) | sort by _time asc',
  'odd | where day == "it\'s" and statuscode has "five" | project text, StatusCode',
  'odd | getschema | project ColumnName, ColumnType | sort by ColumnName asc',
];

/** Returns the output of all questions, without the parts that depend on where they run. */
async function answers(first: string): Promise<readonly string[]> {
  await notebook.run(first);
  const texts: string[] = [];
  for (const apl of questions) texts.push(plain(await notebook.run(`%%time 2025-12-01..2026-02-01\n${apl}`)));
  return texts;
}

function plain(text: string): string {
  return text
    .split('\n')
    .filter(line => !line.startsWith('Note: ') && !/^[\d,]+ rows? examined$/.test(line))
    .map(line => line.replace(/^profile lake · /, ''))
    .join('\n');
}

describe.skipIf(!isThere)('a cluster of two workers', () => {
  test('gives the same over published data as this machine, and reads only the days of the range', async () => {
    const file = join(notebook.bench.homeDir, 'odd.ndjson');
    // Integers with more digits than a double stay as written.
    const lines = odd.map(each => JSON.stringify(each).replace(/"(n|k)":"(-?\d+)"/g, '"$1":$2'));
    await writeFile(file, lines.join('\n'));
    const here = await answers(`%import ${file} --dataset odd`);
    expect(here.join('\n')).toContain('9,223,372,036,854,775,807');
    expect(await notebook.run('%publish odd s3://logs/odd')).toContain('3 days with 4 rows');
    await notebook.run('%drop odd --yes');
    expect(await answers('%import s3://logs/odd --dataset odd')).toEqual(here);
    await statement(cluster.url, 'CREATE SCHEMA hive.logs');
    const sql = await bucket.text('odd/_apl/table.sql');
    for (const each of sql.split(/;\n/).filter(part => part.trim() !== ''))
      await statement(cluster.url, each, 'logs');
    expect(await answers('%use lake')).toEqual(here);
    bucket.taken();
    const text = await notebook.run('%%on lake\n%%time 2026-01-02..2026-01-03\nodd | summarize max(n)');
    expect(text).toMatch(/\b7\b/);
    const read = bucket.taken().filter(each => each.includes('.parquet'));
    expect([...new Set(read.map(each => /day=[-\d]+/.exec(each)?.[0]))]).toEqual(['day=2026-01-02']);
  });
});

/** Failures of a table's objects, with the resulting status and message. */
const wrongs: readonly (readonly [name: string, status: number, said: string])[] = [
  ['busy', 503, 'The storage of the cluster failed'],
  ['refused', 403, 'The storage of the cluster failed'],
  ['deleted after it was listed', 404, 'The storage of the cluster failed'],
];

describe.skipIf(!isThere)('a table whose bucket fails', () => {
  const count = () =>
    notebook.run('%%on lake\n%%time 2026-01-01..2026-01-04\nodd | summarize count(), sum(real)');

  test.each(wrongs)('gives an error, never fewer rows: an object that is %s', async (_, status, expected) => {
    bucket.fault = ({ url = '' }, response) => {
      if (!decodeURIComponent(url).includes('day=2026-01-02/events.parquet')) return false;
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(
        `<Error><Code>${{ 503: 'SlowDown', 403: 'ExpiredToken' }[status] ?? 'NoSuchKey'}</Code></Error>`,
      );
      return true;
    };
    const text = await count();
    bucket.fault = () => false;
    expect(text).toContain(expected);
    expect(await count()).toMatch(/\b4\b/);
  });

  test('gives an error, never fewer rows: a dropped column and a corrupt object', async () => {
    const ask = () =>
      notebook.run('%%on lake\n%%time 2026-01-01..2026-01-04\nodd | where text != "" | count');
    expect(await ask()).toMatch(/\b1\b/);
    await statement(cluster.url, 'ALTER TABLE hive.logs.odd DROP COLUMN "text"');
    expect(await ask()).toContain('`text`');
    await bucket.put('odd/day=2026-01-02/events.parquet', 'PAR1 no more PAR1');
    expect(await count()).toContain('A file of the table is damaged.');
  });
});

/** Returns the number of rows of a query and an order-independent hash of them, or the error of the service. */
async function asked(
  apl: string,
): Promise<{ readonly rows: number; readonly hash: string } | { readonly error: string }> {
  const { service } = notebook;
  const response = await fetch(`${service.url}/v1/deployments/tpch/v1/datasets/_apl?format=tabular`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ apl, startTime: '1990-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' }),
  });
  const body = (await response.json()) as {
    readonly message?: string;
    readonly tables?: readonly { readonly columns: readonly (readonly unknown[])[] }[];
  };
  if (response.status !== 200) return { error: body.message ?? '' };
  const columns = body.tables?.[0]?.columns ?? [];
  const rows = (columns[0] ?? []).map((_, row) => JSON.stringify(columns.map(column => column[row])));
  const hash = createHash('sha256').update(rows.toSorted().join('\n')).digest('hex');
  return { rows: rows.length, hash };
}

/** Nearly half of the rows of a generated table: many pages in little time. */
const many = 'lineitem | where linenumber <= 2 | project orderkey, partkey, comment | take 1000000';
const manyRows = 278_621;

/** Messages allowed for a query whose cluster was killed. */
const said =
  /^(?:The cluster at \S+ (?:cannot be reached|is not accepting queries)|The cluster no longer knows the query|The query was stopped: nothing of it had moved|The query was stopped after 120 s|The cluster failed to run this query|The query needs more than the cluster|The storage behind the cluster)/;

describe.skipIf(!isThere)('a query of many rows', () => {
  test('gives all rows or an error when workers or the coordinator are killed', async () => {
    const random = randomOf('workers');
    const tally = { whole: 0, errors: new Map<string, number>(), late: 0 };
    await asked(many);
    const begun = performance.now();
    const whole = await asked(many);
    // Spreads the kills over the whole duration of a query on this machine.
    const usualMs = performance.now() - begun;
    expect(whole).toMatchObject({ rows: manyRows });
    const count = rounds('workers', 2, 50);
    for (let round = 0; round < count; round++) {
      const victim = round % 5 === 4 ? cluster.coordinator : cluster.workers[round % cluster.workers.length];
      let isAnswered = false;
      const answer = asked(many).finally(() => {
        isAnswered = true;
      });
      await delay(random() * usualMs);
      tally.late += isAnswered ? 1 : 0;
      await victim?.kill();
      victim?.start().catch(() => undefined);
      const found = await answer;
      if ('rows' in found) {
        expect(found).toEqual(whole);
        tally.whole += 1;
      } else {
        expect(found.error).toMatch(said);
        const words = found.error.replace(/\d+/g, 'N').slice(0, 80);
        tally.errors.set(words, (tally.errors.get(words) ?? 0) + 1);
      }
      console.log(`round ${round}: ${'rows' in found ? 'whole' : found.error.slice(0, 80)}`);
      await cluster.isReady();
    }
    const errors = JSON.stringify(Object.fromEntries(tally.errors));
    console.log(`${tally.whole} of ${count} whole, ${tally.late} of them before the kill; ${errors}`);
    expect(await asked(many)).toEqual(whole);
  });
});
