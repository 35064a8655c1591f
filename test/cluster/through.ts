import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll } from 'vitest';
import { asJson } from '../../kernel/local/engine/engine-columns.js';
import { openEngines } from '../../kernel/local/http/engines.js';
import { QueriesUnderWay } from '../../kernel/local/http/http-progress.js';
import { answeringThrough, type QueryParts } from '../../kernel/local/http/query-route.js';
import { ReadOnlyAccess } from '../../kernel/local/lease/access.js';
import type { SentTable } from '../../kernel/local/results/sent-arrow.js';
import type { DatasetCatalog } from '../../kernel/local/sql/compiled-query.js';
import { Statements } from '../../kernel/local/trino/protocol/statement.js';
import { trino } from '../../kernel/local/trino/trino-dialect.js';
import { readRows } from '../../kernel/local/trino/trino-reader.js';
import { rowsSql } from '../../kernel/local/trino/trino-relations.js';
import { formatTime } from '../../kernel/time.js';
import { spawnEngine } from '../local/engine/spawned.js';
import { now, start } from '../local/queries.js';
import { deploymentAt } from './cases.js';

/** Result of a query: its fields and the cells of its rows. */
export interface Through {
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly string[])[];
  /** Number of statements sent to the cluster. */
  readonly statements: number;
}

/** Runs a query over the tables of a catalog and over results, by name. */
type AskThrough = (
  apl: string,
  catalog: DatasetCatalog,
  results?: Readonly<Record<string, SentTable>>,
) => Promise<Through>;

/** Returns a function for queries that the cluster and this machine answer together, shared by all tests of a file. */
export function sharedThrough(url: string): AskThrough {
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
  return async (apl, catalog, results = {}) => {
    let given = 0;
    const answering = answeringThrough({
      name: 'lake',
      dialect: trino({ approximate: false }),
      catalog: async () => ({
        ...catalog,
        examined: () => ({ blocks: 0, rows: 0 }),
        rowGroups: () => [],
        rowCount: () => undefined,
      }),
      read: (order, { signal }) => {
        given += 1;
        return readRows(statements, order, { limitMs: 60_000, ...(signal === undefined ? {} : { signal }) });
      },
      rowsSql,
      noticesOf: () => [],
    });
    const query = { apl, startTime: formatTime(start), endTime: formatTime(now) };
    const lease = parts.results.lease();
    for (const [name, sent] of Object.entries(results))
      await parts.results.put(lease, name, tableToIPC(sent.table, 'stream'), sent);
    const read = Object.fromEntries(Object.keys(results).map(name => [name, { id: name }]));
    const { tables } = await parts.results
      .reading({ lease, tables: read }, held => answering(parts, { query, form: 'json' }, held, {}))
      .finally(() => parts.results.end(lease));
    const [first] = tables;
    const fields = first?.table.fields ?? [];
    const cells = fields.map((_, index) => (first === undefined ? [] : asJson(first.columns).cells(index)));
    const rows = Array.from({ length: first?.columns.rows ?? 0 }, (_, row) =>
      cells.map(each => each[row] ?? ''),
    );
    return { fields, rows, statements: given };
  };
}
