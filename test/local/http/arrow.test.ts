import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { arrowType } from '../../../kernel/api/wire.js';
import { sqlTypes } from '../../../kernel/local/duckdb/duckdb-types.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { decodeTabular, type TabularArrow } from '../../../kernel/result/decode/decode-arrow.js';
import { tableHash } from '../../../kernel/result/ipc/ipc-stream.js';
import { sharedService, type TestService, testService } from '../service.js';

const bySql = sharedService();
const byApl = sharedService({ compile: compileRequest });

const asKernels = { accept: `${arrowType}, application/json` };

interface Received {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
}

async function receive(
  service: TestService,
  request: object,
  headers: Record<string, string> = {},
  format = 'tabular',
): Promise<Received> {
  const response = await service.send('POST', `/v1/datasets/_apl?format=${format}`, request, headers);
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** Returns everything in a response except its duration; the data of each table as a hash of its columns' bytes. */
function facts({ envelope, tables }: TabularArrow) {
  return {
    envelope: { ...envelope, status: { ...envelope.status, elapsedTime: 0 } },
    tables: tables.map(({ info, data }) => ({
      info,
      rows: data.numRows,
      batches: data.batches.length,
      metadata: data.schema.metadata,
      fields: data.schema.fields.map(({ name, type, metadata }) => [name, String(type), metadata]),
      nulls: data.schema.fields.map((_, index) => data.getChildAt(index)?.nullCount),
      hash: tableHash(data),
    })),
  };
}

async function bothAnswers(service: TestService, request: object) {
  const [json, arrow] = [await receive(service, request), await receive(service, request, asKernels)];
  expect([json.status, json.type, arrow.status, arrow.type]).toEqual([
    200,
    'application/json',
    200,
    arrowType,
  ]);
  return [decodeTabular(json.bytes), decodeTabular(arrow.bytes)] as const;
}

/** SQL expressions of the row number `i` for each type: few and many distinct values, and unusual ones. */
const cells = {
  bool: ['i % 3 = 0', 'true'],
  long: ['i', 'i % 7 - 3', '9223372036854775807 - i', '-9223372036854775807 - 1 + i'],
  real: [
    'i / 7.0',
    "['nan'::DOUBLE, 'inf'::DOUBLE, '-inf'::DOUBLE, -0.0::DOUBLE, 1e308, 5e-324, 1e21, 0.1][1 + i % 8]",
  ],
  datetime: [
    'make_timestamp_ns(1767225600123456789 + i)',
    'make_timestamp_ns(-1 - i * 86400000000001)',
    'make_timestamp_ns(9223372036854775806 - i % 2)',
  ],
  timespan: ['i * 1000000007', '-i'],
  string: [
    "'v' || i % 5",
    "'a longer text of its own number ' || i",
    "['', 'null', 'ü€😀', 'line' || chr(10) || chr(9) || chr(1) || '\"\\', 'x' || chr(0)][1 + i % 5]",
    "CASE WHEN i < 1500 THEN 'same' ELSE 'other ' || i END",
    "repeat('long ', 40) || i % 3",
    "'the same long text in every row'",
    "list_transform(range(40), n -> repeat('one of forty ', 1 + n) || n)[1 + i * 7919 % 40]",
    "substring('one long text that the others are cut out of, here or there', 1 + i % 20, 10 + i % 30)",
  ],
  dynamic: [
    `'{"a":[1,' || i || ',{"b":null}]}'`,
    `[' [1, 2] ', 'null', '"Not a Number"', '"InfinityWar"', '{"n":NaN,"i":[-Infinity,"NaN"]}', '12345678901234567890', chr(10) || '{}', '"ü"', 'Infinity'][1 + i % 9]`,
  ],
} as const;

type Type = keyof typeof cells;

const column = fc.constantFrom(...(Object.keys(cells) as Type[])).chain(type =>
  fc.record({
    type: fc.constant(type),
    sql: fc.constantFrom(...cells[type]),
    nulls: fc.constantFrom(0, 0, 1, 2, 9),
  }),
);

/** Row counts around the engine's chunk size of 2,048. */
const tables = fc.record({
  rows: fc.constantFrom(0, 1, 2, 7, 8, 9, 63, 64, 65, 1023, 1025, 2048, 2049, 5000),
  columns: fc.array(column, { minLength: 1, maxLength: 7 }),
});

test('Arrow and JSON answers hold identical tables, byte for byte', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(tables, async ({ rows, columns }) => {
      const fields = columns.map(({ type }, index) => `f${index}:${type}`).join(' ');
      const values = columns.map(({ type, sql, nulls }) => {
        const value = `(${sql})::${sqlTypes[type]}`;
        return nulls === 0 ? value : `CASE WHEN i % ${nulls} = 0 THEN NULL ELSE ${value} END`;
      });
      const apl = `${fields}\nSELECT ${values.join(', ')} FROM range(${rows}) r(i) ORDER BY i`;
      const [json, arrow] = await bothAnswers(bySql(), { apl });
      expect(facts(arrow)).toEqual(facts(json));
    }),
    { numRuns: 60 },
  );
});

const window = { startTime: '2026-06-15T10:00:00Z', endTime: '2026-06-15T12:00:00Z' };

describe('an APL query has the same answer in Arrow and JSON', () => {
  beforeAll(async () => {
    await byApl().send('POST', '/v2/datasets', { name: 'logs', description: '' });
    const lines = Array.from({ length: 300 }, (_, index) => {
      const _time = `2026-06-15T10:${String(index % 60).padStart(2, '0')}:00.123456789Z`;
      return JSON.stringify({ _time, host: `h${index % 3}`, ms: index, tags: ['a', index], took: index / 7 });
    });
    const ndjson = { 'content-type': 'application/x-ndjson' };
    await byApl().send('POST', '/v1/datasets/logs/ingest', lines.join('\n'), ndjson);
    await byApl().send('PUT', '/v2/datasets/logs/fields/took', { unit: 'ms', description: 'how long' });
  });

  test.each([
    ['logs', {}],
    ['logs | limit 7', { includeCursor: true }],
    ['logs', { defaultLimit: 50, includeCursor: true }],
    ['logs | where ms > 1000', {}],
    ['logs | summarize count(), avg(took) by bin(_time, 10m), host', {}],
    ['logs | summarize count() by host, kind = tostring(tags[0])', {}],
    ['logs | summarize make_list(ms), percentiles_array(took, 50, 99) by bin_auto(_time)', {}],
    ['logs | extend n = 0.0 / 0 | project n, d = dynamic({"a": null}), s = 5m', {}],
    ['print 1', {}],
    ['logs | getschema', {}],
  ])('%s %j', async (apl, more) => {
    const [json, arrow] = await bothAnswers(byApl(), { apl, ...window, ...more });
    expect(facts(arrow)).toEqual(facts(json));
  });
});

describe('the answer is JSON', () => {
  const jsonOnly = { type: 'application/json' };

  test.each([
    undefined,
    '*/*',
    'application/json',
    `application/json, ${arrowType}`,
    'application/vnd.apache.arrow.file',
  ])('if the client accepts %s', async accept => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    expect(await receive(byApl(), { apl: 'print 1' }, headers)).toMatchObject(jsonOnly);
  });

  test('in the legacy format, whatever the client accepts', async () => {
    expect(await receive(byApl(), { apl: 'print 1' }, asKernels, 'legacy')).toMatchObject(jsonOnly);
  });

  test('if the query calls JavaScript functions, which run in another process', async () => {
    const apl = 'range i from 1 to 3 step 1 | extend h = hash_sha512(tostring(i))';
    const [plain, kernel] = [await receive(byApl(), { apl }), await receive(byApl(), { apl }, asKernels)];
    expect(kernel).toMatchObject(jsonOnly);
    expect(facts(decodeTabular(kernel.bytes))).toEqual(facts(decodeTabular(plain.bytes)));
  });
});

describe('an error is the same in both formats', () => {
  const refusal = async (service: TestService, apl: string) => {
    const [json, arrow] = [await receive(service, { apl }), await receive(service, { apl }, asKernels)];
    const [one, other] = [json, arrow].map(({ status, type, bytes }) => {
      const { message, detail } = JSON.parse(new TextDecoder().decode(bytes));
      return { status, type, message, detail };
    });
    expect(other).toEqual(one);
    return one;
  };

  test('for a query that does not compile', async () => {
    expect(await refusal(bySql(), 'a:long\nSELECT ?')).toMatchObject({
      status: 400,
      message: 'no such field. write another',
    });
  });

  test('for a query that fails after many rows', async () => {
    const late = "CASE WHEN i = 1500000 THEN error('at last') ELSE i::VARCHAR END";
    const found = await refusal(bySql(), `a:string\nSELECT ${late} FROM range(2000000) r(i)`);
    expect(found?.status).not.toBe(200);
  });

  test('for an answer that is too large', async () => {
    const own = await testService({ compile: compileRequest, limits: { answerBytes: 2 ** 20 } });
    const apl =
      "range x from 1 to 20000 step 1 | extend text = strcat('123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 ', tostring(x))";
    expect(await refusal(own, apl)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^The result would be larger than 1 MiB, the maximum size\./),
    });
  });
});

test('a stream cut at any byte is reported as truncated', async () => {
  const apl = 'range i from 1 to 3 step 1 | extend s = tostring(i), d = dynamic([1])';
  const { bytes } = await receive(byApl(), { apl }, asKernels);
  expect(decodeTabular(bytes).tables[0]?.data.numRows).toBe(3);
  for (let length = 4; length < bytes.length; length++)
    expect(() => decodeTabular(bytes.slice(0, length))).toThrow(
      'The response ends before its Arrow stream does',
    );
});
