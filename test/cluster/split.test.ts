import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { asJson } from '../../kernel/local/engine/columns.js';
import { openEngines } from '../../kernel/local/http/engines.js';
import { QueriesUnderWay } from '../../kernel/local/http/progress.js';
import { answeringThrough, type QueryParts } from '../../kernel/local/http/query-route.js';
import { ReadOnlyAccess } from '../../kernel/local/lease/access.js';
import type { FarEngine } from '../../kernel/local/results/far.js';
import { trino } from '../../kernel/local/trino/dialect.js';
import { Statements } from '../../kernel/local/trino/protocol/statement.js';
import { readRows } from '../../kernel/local/trino/reader.js';
import { formatTime } from '../../kernel/time.js';
import { fixtures } from '../golden/fixtures.js';
import { spawnEngine } from '../local/engine/spawned.js';
import { now, openQueries, start } from '../local/queries.js';
import { goldenCatalog, goldenQueries, plainCell } from './cases.js';
import { deploymentAt } from './deployment.js';

const here = openQueries(fixtures);
const url = inject('trino');

let parts: QueryParts & { readonly close: () => Promise<void> };
let dataDir = '';
const statements = new Statements(deploymentAt(url === '' ? 'http://127.0.0.1' : url));

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
  const options = { dataDir, port: 0, version: '1.2.3', samples: [], spawnEngine, log: () => undefined };
  const opened = await openEngines(options, new ReadOnlyAccess('only queries run'));
  const limits = { queryMs: 60_000, answerBytes: 2 ** 26, farRows: 1_000_000 };
  parts = { ...opened, ...limits, dataDir, nowNs: () => now, queries: new QueriesUnderWay() };
});
afterAll(async () => {
  await statements.close();
  await parts.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** The tables of the golden files, on the cluster. */
const engine: FarEngine = {
  name: 'lake',
  dialect: trino({ approximate: false }),
  catalog: async () => ({
    ...goldenCatalog,
    examined: () => ({ blocks: 0, rows: 0 }),
    rowGroups: () => [],
    rowCount: () => undefined,
  }),
  read: (order, { signal }) =>
    readRows(statements, order, { limitMs: 60_000, ...(signal === undefined ? {} : { signal }) }),
  noticesOf: () => [],
};

/** What has no order, or no one answer. */
const unlike = /\brand\(|\bsample\b|\btake_any|\btake 0|externaldata|\bnow\(\)/;

test.skipIf(url === '')(
  'goldens that read datasets are the same through a cluster and this machine',
  async () => {
    const different: string[] = [];
    let same = 0;
    const queries = goldenQueries.filter(apl => /http-logs|\btraces\b/.test(apl) && !unlike.test(apl));
    for (const apl of queries) {
      const ours = await here.run(apl);
      if (!ours.ok) continue;
      const query = { apl, startTime: formatTime(start), endTime: formatTime(now) };
      const theirs = await answeringThrough(engine)(parts, { query, form: 'json' }, new Map(), {}).then(
        ({ tables: [first] }) => {
          const cells = first?.table.fields.map((_, index) => asJson(first.columns).cells(index)) ?? [];
          return Array.from({ length: first?.columns.rows ?? 0 }, (_, row) =>
            cells.map(each => each[row] ?? ''),
          );
        },
        (error: unknown) => [[String(error)]],
      );
      const [a, b] = [ours.ran.rows, theirs].map(rows => rows.map(cells => cells.map(plainCell).join(', ')));
      const isOrdered = ours.ran.table.order.length > 0;
      const [x, y] = [a ?? [], b ?? []].map(rows => (isOrdered ? rows : [...rows].sort()).join('; '));
      if (x === y) same += 1;
      else different.push(`${apl}\nhere ${x}\nthere ${y}`);
    }
    expect(different.join('\n\n')).toBe('');
    expect(same).toBeGreaterThan(80);
  },
);
