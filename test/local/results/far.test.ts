import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import {
  Bool,
  type DataType,
  Dictionary,
  DurationNanosecond,
  Float64,
  Int32,
  Int64,
  Table,
  TimestampNanosecond,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { QueryRequest, StatusMessage } from '../../../kernel/api/wire.js';
import { sqlTypes } from '../../../kernel/local/duckdb/duckdb-types.js';
import { FunctionRegistry } from '../../../kernel/local/duckdb/register.js';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import type { DeclaredColumn } from '../../../kernel/local/engine/engine-columns.js';
import { JsonColumns } from '../../../kernel/local/engine/engine-columns.js';
import { noCounts } from '../../../kernel/local/engine/engine-profile.js';
import { JsonChunks, readableSql } from '../../../kernel/local/engine/reading/read-chunks.js';
import { tabularBody } from '../../../kernel/local/http/answers/tabular.js';
import { openEngines } from '../../../kernel/local/http/engines.js';
import { QueriesUnderWay } from '../../../kernel/local/http/http-progress.js';
import { answeringThrough, type QueryParts } from '../../../kernel/local/http/query-route.js';
import { ReadOnlyAccess } from '../../../kernel/local/lease/access.js';
import { type FarEngine, FarSnapshot } from '../../../kernel/local/results/far.js';
import { readSentTable } from '../../../kernel/local/results/sent-arrow.js';
import { ResultTables } from '../../../kernel/local/results/tables.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import type { BuiltinDataset } from '../../../kernel/local/sql/compiled-query.js';
import type { Dialect } from '../../../kernel/local/sql/dialect.js';
import { fixtures } from '../../golden/fixtures.js';
import { spawnEngine } from '../engine/spawned.js';
import { catalogOf, type Fixture, now, secondsAgo } from '../queries.js';
import { sharedService, temporaryDirectory } from '../service.js';
import { engines } from '../sql/rewrite/split/second-engine.js';

/** Values that do not survive an inexact transfer. */
const exact: Fixture = {
  open: false,
  fields: [
    { name: '_time', type: 'datetime' },
    { name: 'b', type: 'bool' },
    { name: 'n', type: 'long' },
    { name: 'x', type: 'real' },
    { name: 's', type: 'string' },
    { name: 't', type: 'datetime' },
    { name: 'd', type: 'timespan' },
    { name: 'j', type: 'dynamic' },
  ],
  rows: [
    [
      'true',
      '9223372036854775807',
      "'nan'::DOUBLE",
      `'a"\\'`,
      'make_timestamp_ns(1772600767123456789)',
      '1',
      `'{"z":1,"a":[1.0,"é"]}'`,
    ],
    [
      'false',
      '-9223372036854775808',
      "'-inf'",
      "''",
      'make_timestamp_ns(-1)',
      '-9223372036854775807',
      `'[]'`,
    ],
    ['NULL', '0', "'-0.0'", "'😀'", 'NULL', '0', `'"text"'`],
    ['NULL', 'NULL', '1e300', 'NULL', 'NULL', 'NULL', 'NULL'],
    ['true', '7', 'NULL', `E'\\x01'`, 'NULL', 'NULL', `'null'`],
  ].map((row, index) => [secondsAgo(60 - index), ...row]),
};

const datasets = { ...fixtures, exact };
const catalog = catalogOf(datasets);
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await new FunctionRegistry(connection).all();
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

/** Notice of second engines about statements that count. */
const counted: StatusMessage = {
  priority: 'info',
  count: 1,
  code: 'estimated',
  msg: 'Counts are estimated.',
};

/** Statements sent to second engines. */
const asked: string[] = [];

/** Returns another DuckDB as an engine with limited capabilities. */
function secondEngine(dialect: Dialect): FarEngine {
  return {
    name: 'lake',
    dialect,
    catalog: async () => ({
      ...catalog,
      examined: () => ({ blocks: 0, rows: 0 }),
      rowGroups: () => [],
      rowCount: () => undefined,
    }),
    read: async ({ sql, fields, limit }) => {
      asked.push(sql);
      const { columns, more } = await cellsOf(sql, fields, limit);
      return { columns, counts: { ...noCounts, generatedRows: 100 }, cut: more };
    },
    rowsSql: columns => {
      const lists = columns.map(
        ({ type, json }, index) =>
          `${written(`unnest(from_json('${json.replaceAll("'", "''")}', '["VARCHAR"]'))`, type)} AS c${index}`,
      );
      return `(SELECT ${lists.join(', ')})`;
    },
    noticesOf: sql => (sql.includes('count(') ? [counted] : []),
  };
}

/** Returns SQL for a value given as the text of its JSON. */
function written(text: string, type: DeclaredColumn['type']): string {
  return type === 'datetime' ? `make_timestamp_ns(${text}::BIGINT)` : `${text}::${sqlTypes[type]}`;
}

async function cellsOf(sql: string, fields: readonly DeclaredColumn[], limit: number) {
  const list = fields.map(({ name, type }) => (type === 'real' ? `${realText(name)} AS ${name}` : name));
  const read = fields.map(({ name, type }) => ({
    name,
    type: type === 'real' ? ('dynamic' as const) : type,
  }));
  const filled = new JsonChunks(read, new JsonColumns(read));
  const stream = await connection.stream(
    readableSql(`SELECT ${list.join(', ')} FROM (${sql})`, read, 'json'),
  );
  let more = false;
  for (
    let chunk = await stream.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await stream.fetchChunk()
  ) {
    const rows = Math.min(chunk.rowCount, limit - filled.columns.rows);
    more ||= rows < chunk.rowCount;
    if (rows > 0) filled.append(chunk, rows);
  }
  return { columns: filled.columns, more };
}

function realText(name: string): string {
  return `CASE WHEN isnan(${name}) THEN '"NaN"' WHEN isinf(${name}) THEN if(${name} > 0, '"Infinity"', '"-Infinity"') ELSE ${name}::VARCHAR END::JSON`;
}

/** The same datasets on this machine. */
const samples: readonly BuiltinDataset[] = Object.entries(datasets).map(([name, { fields, open }]) => ({
  schema: { name, fields, open },
  description: '',
  scan: (...asked) => catalog.scan(name, ...asked),
}));

const range = { startTime: '2026-03-04T04:06:07Z', endTime: '2026-03-04T05:06:07Z' };

const service = sharedService({ compile: compileRequest, samples });
let parts: QueryParts & { readonly close: () => Promise<void> };
let dataDir = '';

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  const options = { dataDir, port: 0, version: '1.2.3', samples: [], spawnEngine, log: () => undefined };
  const opened = await openEngines(options, new ReadOnlyAccess('only queries run'));
  const limits = { queryMs: 60_000, answerBytes: 2 ** 26, farRows: 6 };
  parts = { ...opened, ...limits, dataDir, nowNs: () => now, queries: new QueriesUnderWay() };
});

afterAll(async () => {
  await parts.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Returns the answer through an engine with limited capabilities, and the statements sent to it. */
async function through(lacks: keyof typeof engines, apl: string, more: Partial<QueryRequest> = {}) {
  asked.length = 0;
  const query = { apl, ...range, ...more };
  const answering = answeringThrough(secondEngine(engines[lacks]));
  const answer = await parts.results.reading(more.results ?? { lease: '', tables: {} }, results =>
    answering(parts, { query, form: 'json' }, results, {}),
  );
  return { ...JSON.parse(Buffer.concat(tabularBody(answer)).toString()), asked: [...asked] };
}

describe('rows of a far engine', () => {
  test.each([
    ['nothing', 1, `exact | sort by n asc`],
    ['nothing', 1, `exact | where isnan(x) or isinf(x) | project x, n, t | sort by n asc`],
    [
      'all but scans, filters and projections',
      1,
      `exact | sort by x desc, n asc | extend r = 1 / x | take 4`,
    ],
    ['functions in JavaScript', 1, `exact | extend h = hash_sha512(s), u = format_url(j) | sort by n asc`],
    [
      'functions in JavaScript',
      1,
      `['http-logs'] | where status == 200 | project u = url_decode(uri), status`,
    ],
    [
      'all but scans, filters and projections',
      1,
      `['http-logs'] | where uri has 'api' | summarize n = count(), make_list(uri) by bin(_time, 20s), method`,
    ],
    [
      'nothing',
      1,
      `['http-logs'] | summarize avg(req_duration_ms), dcount(uri) by bin(_time, 20s), method | sort by method asc`,
    ],
    [
      'functions and aggregates',
      2,
      `['http-logs'] | where status in ((traces | project toint(200))) | summarize count() by method`,
    ],
    [
      'all but scans, filters and projections',
      2,
      `['http-logs'] | join kind=leftouter (traces | project t1 = _time, trace_id, _time) on _time | project uri, trace_id | sort by uri asc`,
    ],
    ['nothing', 1, `['http-logs'] | join kind=inner (traces | where error) on status | count`],
    ['nothing', 0, `print x = 1 | extend y = hash_sha512('a')`],
  ] as const)('match local ones if it lacks %s, with %d statements: %s', async (lacks, statements, apl) => {
    const here = await service().query(apl, range);
    const found = await through(lacks, apl);
    expect(found.tables).toEqual(here.body.tables);
    const messages = found.status.messages?.filter(({ code }: StatusMessage) => code !== counted.code);
    expect(messages ?? []).toEqual(here.body.status.messages ?? []);
    expect(found.asked.length).toBe(statements);
    expect(found.status.rowsExamined).toBe(statements * 100);
  });
});

describe('the fetch limit of a far engine', () => {
  test.each([
    ['nothing', `exact | union (['http-logs']) | take 100`, ''],
    [
      'functions in JavaScript',
      `exact | union (['http-logs']) | summarize count() by hash_sha512(s)`,
      ', because `call` is computed locally',
    ],
    [
      'all but scans, filters and projections',
      `['http-logs'] | count`,
      ', because `aggregate` is computed locally',
    ],
  ] as const)('refuses more rows if it lacks %s: %s', async (lacks, apl, why) => {
    const failed = through(lacks, apl, { startTime: '2026-03-04T01:00:00Z' });
    const message = `The query would fetch more than 6 rows from \`lake\`, the maximum${why}.`;
    const hint = 'Filter or summarize the rows earlier in the query, or choose a shorter range.';
    await expect(failed).rejects.toMatchObject({ kind: 'too-large', code: 'far-rows', message, hint });
  });
  test('allows exactly as many rows', async () => {
    const { tables } = await through('nothing', `exact | union (['http-logs']) | take 6 | count`);
    expect(tables[0].columns).toEqual([[6]]);
  });
});

describe('a kernel result in a query of a far engine', () => {
  const hostile = `'); DROP TABLE x; --"\\`;
  const named = `a"'); DROP TABLE names; --`;
  const types = {
    i: 'long',
    b: 'bool',
    n: 'long',
    x: 'real',
    [named]: 'string',
    t: 'datetime',
    d: 'timespan',
    j: 'dynamic',
  } as const;
  const longs = vectorFromArray([2n ** 63n - 1n, -(2n ** 63n), 0n, null, 1n], new Int64());
  const times = vectorFromArray([1772600767123456789n, -1n, 0n, null, 2n ** 62n], new Int64());
  const as = (type: DataType, { data }: Vector) => new Vector(data.map(each => each.clone(type)));
  const strings = [hostile, 'a\0b\u2028\ufeff\n\u001f', '', '😀 null %s', null];
  const rows = {
    i: vectorFromArray([1n, 2n, 3n, 4n, 5n], new Int64()),
    b: vectorFromArray([true, false, null, true, false], new Bool()),
    n: longs,
    x: vectorFromArray([Number.NaN, -0, 5e-324, Number.NEGATIVE_INFINITY, null], new Float64()),
    [named]: vectorFromArray(strings, new Utf8()),
    t: as(new TimestampNanosecond(), times),
    d: as(new DurationNanosecond(), longs),
    j: vectorFromArray(
      [`{"z":1,"a":[1.0,"'"]}`, '"text"', '123456789012345678901', '[]', null],
      new Dictionary(new Utf8(), new Int32()),
    ),
  };

  async function beside(apl: string, columns: Readonly<Record<string, Vector>> = rows) {
    const table = new Table(columns as Record<string, Vector>);
    const fields = Object.keys(columns).map(name => ({ name, type: Reflect.get(types, name) ?? 'string' }));
    table.schema.metadata.set('apl.fields', JSON.stringify(fields));
    const body = tableToIPC(table, 'stream');
    const lease = parts.results.lease();
    await parts.results.put(lease, '1', body, readSentTable(body));
    const tables = { got: { id: '1', rowField: 'place' } };
    return through('nothing', apl, { results: { lease, tables } });
  }

  test('is sent within the statement, with every value exact', async () => {
    const shown = `sort by i asc | project i, b, n, nan = isnan(x), inf = isinf(x), sign = 1 / x < 0, x,
      s = ['${named.replace("'", "\\'")}'], t = tolong(t), d = tolong(d), j, place`;
    const here = await beside(`got | ${shown}`);
    const there = await beside(
      `got | union (exact | where n == 7 | project i = n) | where i <= 5 | ${shown}`,
    );
    expect([here.asked.length, there.asked.length]).toEqual([0, 1]);
    expect(there.tables[0].columns).toEqual(here.tables[0].columns);
    expect(there.tables[0].columns.at(-1)).toEqual([0, 1, 2, 3, 4]);
    expect(there.asked[0]).not.toContain('names');
    const msg = 'The rows of `got` that the query reads were sent to `lake` with the query.';
    expect(there.status.messages.at(-1)).toEqual({ priority: 'info', count: 1, code: 'result_sent', msg });
  });
  test.each([
    [`got | join kind=inner (exact | project n, uri = s) on n | summarize count(), max(i)`, [[3], [3]]],
    [`exact | lookup kind=leftouter (got | project n, i) on n | summarize sum(i)`, [[6]]],
    [`exact | where n in ((got | project n)) | count`, [[3]]],
    [`exact | union (got) | count`, [[10]]],
  ])('is read by that engine: %s', async (apl, expected) => {
    const { tables, asked } = await beside(apl);
    expect(tables[0].columns).toEqual(expected);
    expect(asked).toHaveLength(1);
  });
  test('is refused if it is too large, unless the fields read are small', async () => {
    const long = { n: longs, s: vectorFromArray(['a'.repeat(249_980), '', '', '', ''], new Utf8()) };
    const found = (value: string) =>
      beside(`exact | union (got) | where s startswith 'aa' | summarize v = max(${value})`, long).then(
        ({ tables }) => tables[0].columns,
      );
    expect(await found('strlen(s)')).toEqual([[249_980]]);
    asked.length = 0;
    await expect(found('n')).rejects.toMatchObject({
      kind: 'too-large',
      code: 'far-result',
      message:
        'The result `got` (5 rows) is too large to be sent to `lake`: the fields that the query reads exceed 250 kB.',
      hint: "Filter or summarize it in a separate cell (`small << got | …`), or fetch the rows of the table as a result (`rows << ['table'] | …`) and read the two results.",
    });
    expect(asked).toEqual([]);
    expect((await beside(`got | project n, s | count`, long)).tables[0].columns).toEqual([[5]]);
  });
});

test('a notice of a far engine is reported once', async () => {
  const { status } = await through('nothing', `['http-logs'] | summarize count() by bin(_time, 1m)`);
  expect(status.messages).toEqual([counted]);
});

test('paging through a far engine matches paging locally', async () => {
  const apl = `['http-logs'] | project _time, uri`;
  const pageOf = async (more: object = {}) => [
    await through('functions in JavaScript', apl, { defaultLimit: 2, ...more }),
    (await service().query(apl, { ...range, defaultLimit: 2, ...more })).body,
  ];
  const [first, firstHere] = await pageOf();
  expect(first.status.minCursor).toBe(firstHere.status.minCursor);
  const [next, nextHere] = await pageOf({ cursor: first.status.minCursor });
  expect(next.tables).toEqual(nextHere.tables);
});

test('rows are freed when the request ends, and an engine failure keeps its message', async () => {
  const engine = await Engine.open({ dataDir: await temporaryDirectory() });
  onTestFinished(() => engine.close());
  const options = {
    tables: new ResultTables(async () => engine),
    mostBytes: 2 ** 20,
    mostRows: 10,
    context: {},
    results: new Map(),
  };
  const far = { ...secondEngine(engines.nothing), name: 'other' };
  const snapshot = await FarSnapshot.open(far, options);
  const tables = () => engine.run('SELECT count(*) FROM duckdb_tables()');
  const part = { fields: [{ name: 'c0', type: 'long' as const }], mostRows: 10 };
  const scan = () => snapshot.far.rows({ sql: 'SELECT 1::BIGINT AS c0', ...part })(['c0']);
  expect(scan()).toBe('');
  expect(await snapshot.load()).toBe(true);
  expect(await engine.run(scan())).toEqual([[1n]]);
  expect(await snapshot.load()).toBe(false);
  snapshot.far.rows({ sql: 'SELECT nothing', ...part });
  await expect(snapshot.load()).rejects.toThrow('nothing');
  expect(await tables()).toEqual([[1n]]);
  await snapshot.close();
  expect(await tables()).toEqual([[0n]]);
});
