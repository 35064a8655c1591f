import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import type { Reader, ReaderSource } from '../../../kernel/local/engine/engine-reader.js';
import { runQuery } from '../../../kernel/local/engine/engine-run.js';
import { readersOf } from '../../../kernel/local/engine/reading/duckdb-reader.js';
import { RecordingCatalog } from '../../../kernel/local/engine/scans.js';
import { tabularBody } from '../../../kernel/local/http/answers/tabular.js';
import type { CompiledTable } from '../../../kernel/local/sql/compiled-query.js';
import { formatTime } from '../../../kernel/time.js';
import { compiledOf, temporaryDirectory } from '../service.js';

const noDatasets = new RecordingCatalog({
  names: () => [],
  schema: () => undefined,
  scan: () => '',
  rowGroups: () => [],
  rowCount: () => undefined,
  examined: () => ({ blocks: 0, rows: 0 }),
});

async function openEngine(): Promise<Engine> {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), families: [] });
  onTestFinished(() => engine.close());
  return engine;
}

async function bodyOf(sql: string, fields: string, table: Partial<CompiledTable> = {}): Promise<string> {
  const answer = await runQuery(readersOf(await openEngine()), compiledOf(sql, fields, table), noDatasets);
  return Buffer.concat(tabularBody(answer)).toString('utf8');
}

test.each<readonly [table: Partial<CompiledTable>, delivery: string]>([
  [{ whole: false }, 'streamed'],
  [{ whole: true }, 'whole'],
])('a table with %j is delivered %s', async (table, delivery) => {
  const seen: string[] = [];
  const own = readersOf(await openEngine());
  const readers: ReaderSource = {
    reading: (work, ...rest) =>
      own.reading(
        reader => {
          const read: Reader['read'] = order => {
            seen.push(order.delivery);
            return reader.read(order);
          };
          return work({ ...reader, read });
        },
        ...rest,
      ),
  };
  await runQuery(readers, compiledOf('SELECT 1::BIGINT', 'x:long', table), noDatasets);
  expect(seen).toEqual([delivery]);
});

/** Compares the columns with those in the response, digit by digit. */
async function check(sql: string, type: string, expected: string): Promise<void> {
  const body = await bodyOf(sql, `x:${type}`);
  JSON.parse(body);
  expect(body.slice(body.indexOf('"columns":'))).toBe(`"columns":[[${expected}]]}]}`);
}

const cells: readonly (readonly [type: string, values: string, expected: string])[] = [
  ['bool', '(true), (false), (NULL)', 'true,false,null'],
  ['long', '(0), (-1), (7), (NULL), (-2147483648), (2147483648)', '0,-1,7,null,-2147483648,2147483648'],
  [
    'long',
    '(9007199254740991), (9007199254740993), (-9007199254740993)',
    '9007199254740991,9007199254740993,-9007199254740993',
  ],
  ['long', '(9223372036854775807), ((-9223372036854775808))', '9223372036854775807,-9223372036854775808'],
  ['timespan', '(1500000000), (-1)', '1500000000,-1'],
  [
    'real',
    "(0.1::DOUBLE), (1e300), ('NaN'), ('Infinity'), ('-Infinity'), (NULL), (-0.5)",
    '0.1,1e+300,null,null,null,null,-0.5',
  ],
  [
    'string',
    `('a'), (''), (NULL), ('"\\'), ('é😀'), ('tab' || chr(9) || chr(0))`,
    String.raw`"a","",null,"\"\\","é😀","tab\t\u0000"`,
  ],
  ['string', "(repeat('x', 300)), ('</script>'), ('null')", `"${'x'.repeat(300)}","</script>","null"`],
  [
    'dynamic',
    `('{"a":[1,9007199254740993]}'), (NULL), ('null'), ('"s"')`,
    '{"a":[1,9007199254740993]},null,null,"s"',
  ],
  [
    'dynamic',
    `('[NaN,-Infinity,"NaN \\" Infinity"]'), ('Infinity')`,
    String.raw`[null,null,"NaN \" Infinity"],null`,
  ],
  [
    'datetime',
    '(make_timestamp_ns(0)), (make_timestamp_ns(1)), (make_timestamp_ns(-1)), (NULL)',
    '"1970-01-01T00:00:00Z","1970-01-01T00:00:00.000000001Z","1969-12-31T23:59:59.999999999Z",null',
  ],
  [
    'datetime',
    '(make_timestamp_ns(1700000000123456789)), (make_timestamp_ns(1700000000100000000))',
    '"2023-11-14T22:13:20.123456789Z","2023-11-14T22:13:20.1Z"',
  ],
  [
    'datetime',
    '(make_timestamp_ns(9223372036854775806)), (make_timestamp_ns(-9223286400000000000))',
    '"2262-04-11T23:47:16.854775806Z","1677-09-22T00:00:00Z"',
  ],
];

const sqlTypes: Readonly<Record<string, string>> = {
  bool: 'BOOLEAN',
  long: 'BIGINT',
  timespan: 'BIGINT',
  real: 'DOUBLE',
  string: 'VARCHAR',
  dynamic: 'JSON',
  datetime: 'TIMESTAMP_NS',
};

test.each(cells)('cells of type %s: %s', async (type, values, expected) => {
  await check(`SELECT v::${sqlTypes[type]} FROM (VALUES ${values}) t(v)`, type, expected);
});

test.each([
  ['long', '1', 'INTEGER'],
  ['long', '1::HUGEINT', 'HUGEINT'],
  ['datetime', "'2026-01-02'::TIMESTAMP", 'TIMESTAMP'],
  ['string', '1::BIGINT', 'BIGINT'],
  ['dynamic', "'{}'::VARCHAR", 'VARCHAR'],
])('a column declared as %s that is `%s` is refused', async (type, sql, found) => {
  await expect(bodyOf(`SELECT ${sql}`, `x:${type}`)).rejects.toMatchObject({
    code: 'internal-column-type',
    message: expect.stringContaining('`x`'),
    found,
  });
});

test('an empty result has empty columns', async () => {
  expect(
    JSON.parse(await bodyOf('SELECT 1::BIGINT, NULL::VARCHAR WHERE false', 'a:long b:string')).tables[0]
      .columns,
  ).toEqual([[], []]);
});

test('columns keep their positions and row order over many chunks', async () => {
  const sql = `SELECT 'r' || i, i, CASE WHEN i % 3 = 0 THEN NULL ELSE repeat('long text ', 3) || i END, i / 2 FROM range(10000) t(i) ORDER BY i DESC`;
  const [table] = JSON.parse(await bodyOf(sql, 'a:string b:long c:string d:real')).tables;
  const rows = Array.from({ length: 10_000 }, (_, index) => 9_999 - index);
  expect(table.columns[0]).toEqual(rows.map(i => `r${i}`));
  expect(table.columns[1]).toEqual(rows);
  expect(table.columns[2]).toEqual(rows.map(i => (i % 3 === 0 ? null : `${'long text '.repeat(3)}${i}`)));
  expect(table.columns[3]).toEqual(rows.map(i => i / 2));
});

test('a table is described in API terms', async () => {
  const { tables, status } = JSON.parse(
    await bodyOf('SELECT make_timestamp_ns(0), 5::BIGINT', '_time:datetime n:long', {
      order: [{ field: '_time', desc: true }],
      groups: ['_time'],
      buckets: { field: '_time', size: 60_000_000_000n },
      sources: ['logs'],
      range: { field: '_time', start: 0n, end: 1_500_000_000n },
    }),
  );
  expect(tables).toEqual([
    {
      name: '0',
      sources: [{ name: 'logs' }],
      fields: [
        { name: '_time', type: 'datetime' },
        { name: 'n', type: 'integer' },
      ],
      order: [{ field: '_time', desc: true }],
      groups: [{ name: '_time' }],
      range: { field: '_time', start: '1970-01-01T00:00:00Z', end: '1970-01-01T00:00:01.5Z' },
      buckets: { field: '_time', size: 60_000_000_000 },
      columns: [['1970-01-01T00:00:00Z'], [5]],
    },
  ]);
  expect(status.numGroups).toBe(1);
  expect([status.minCursor, status.maxCursor]).toEqual(['', '']);
});

test('the elapsed time is in microseconds', async () => {
  const readings = [1_000, 1_042.5];
  const clock = () => readings.shift() ?? Number.NaN;
  const readers = readersOf(await openEngine());
  const { status } = await runQuery(
    readers,
    compiledOf('SELECT 1::BIGINT', 'x:long'),
    noDatasets,
    undefined,
    { clock },
  );
  expect(status.elapsedTime).toBe(42_500);
});

test('a row limit that cuts rows is reported', async () => {
  const table = { rowLimit: { rows: 3, reason: 'default' } } as const;
  const cut = JSON.parse(await bodyOf('SELECT i FROM range(4) t(i)', 'i:long', table));
  expect(cut.tables[0].columns).toEqual([[0, 1, 2]]);
  expect(cut.status.messages).toEqual([
    {
      priority: 'warn',
      count: 1,
      code: 'row_limit_default',
      msg: 'Only the first 3 rows were returned; there are more. The query has no limit: add `| limit N` for more.',
    },
  ]);
  const whole = JSON.parse(await bodyOf('SELECT i FROM range(3) t(i)', 'i:long', table));
  expect(whole.tables[0].columns).toEqual([[0, 1, 2]]);
  expect(whole.status.messages).toBeUndefined();
});

const counted: readonly (readonly [what: string, sql: string, examined: number, matched: number])[] = [
  ['a filter', 'SELECT i FROM range(1000) t(i) WHERE i % 7 = 0', 1000, 143],
  ['an aggregate over a filter', 'SELECT count(*) FROM range(1000) t(i) WHERE i % 7 = 0', 1000, 143],
  [
    'a filter over rows expanded after another filter',
    'SELECT i FROM (SELECT i, unnest(range(3)) AS j FROM range(1000) t(i) WHERE i % 2 = 0) WHERE j > 0',
    1500,
    1000,
  ],
  [
    'rows expanded after all filters',
    'SELECT unnest(range(3))::BIGINT FROM range(1000) t(i) WHERE i % 2 = 0',
    1000,
    1500,
  ],
  ['a sort and a limit', 'SELECT i FROM range(1000) t(i) ORDER BY hash(i) LIMIT 5', 1000, 1000],
  ['no scan', 'SELECT 1::BIGINT', 0, 0],
];

test.each(counted)('rows examined and matched: %s', async (_, sql, examined, matched) => {
  const { status } = JSON.parse(await bodyOf(sql, 'x:long'));
  expect([status.rowsExamined, status.rowsMatched]).toEqual([examined, matched]);
});

test('times in cells equal those printed elsewhere, to the nanosecond', async () => {
  const seconds = [0n, 1n, -1n, 86_399n, 1_700_000_000n, -1_700_000_000n, 4_294_967_296n, 9_223_372_035n];
  const times = [...seconds, -9_223_372_035n].flatMap(second =>
    [0n, 1n, 120_000_000n, 499_999_999n, 999_999_999n].map(ns => second * 1_000_000_000n + ns),
  );
  const values = times.map(time => `(make_timestamp_ns(${time}))`).join(', ');
  const expected = times.map(time => JSON.stringify(formatTime(time, 'fewest'))).join(',');
  await check(`SELECT x FROM (VALUES ${values}) AS t(x)`, 'datetime', expected);
});
