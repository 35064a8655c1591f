import { beforeAll, expect, test } from 'vitest';
import type { LegacyResult } from '../../../kernel/api/wire.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const request = { startTime: '2026-06-15T10:00:00Z', endTime: '2026-06-15T12:00:00Z' };

beforeAll(async () => {
  const events = [
    '{"_time":"2026-06-15T10:00:00.000000001Z","host":"a","n":9007199254740993,"at.x":1}',
    '{"_time":"2026-06-15T10:30:00Z","host":"b, \\"}\\\\","n":2,"map":[1,{"a":"],"}]}',
    '{"_time":"2026-06-15T11:00:00Z","host":"a","n":3}',
    '{"_time":"2026-06-15T11:00:00Z","host":"a","n":3}',
  ];
  await service().send('POST', '/v2/datasets', { name: 'logs', description: '' });
  const ndjson = { 'content-type': 'application/x-ndjson' };
  await service().send('POST', '/v1/datasets/logs/ingest', events.join('\n'), ndjson);
});

/** Returns the response also as text, to compare digits. */
async function ask(apl: string): Promise<{ text: string; body: LegacyResult }> {
  const response = await service().send('POST', '/v1/datasets/_apl?format=legacy', { apl, ...request });
  const text = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  return { text, body: JSON.parse(text) };
}

test('the request in an answer names the time range read', async () => {
  const answer = await service().json('POST', '/v1/query/_apl?format=legacy', {
    apl: 'logs | count',
    startTime: '2026-06-15T09:00:00Z',
  });
  expect(answer.body.request).toEqual({
    apl: 'logs | count',
    startTime: '2026-06-15T09:00:00Z',
    endTime: '2026-06-15T12:00:00Z',
  });
});

test('events are returned as matches', async () => {
  const { text, body } = await ask('logs | project _time, _sysTime, n, host, map, ["at.x"]');
  const { request: echoed, status, matches, buckets, datasetNames, ...more } = body;
  expect(more).toEqual({});
  expect(echoed).toEqual({ apl: 'logs | project _time, _sysTime, n, host, map, ["at.x"]', ...request });
  expect([status.rowsExamined, status.rowsMatched, status.numGroups]).toEqual([4, 4, 0]);
  expect([buckets, datasetNames]).toEqual([{ series: [], totals: [] }, ['logs']]);
  expect(matches.map(match => match._time)).toEqual([
    '2026-06-15T11:00:00Z',
    '2026-06-15T11:00:00Z',
    '2026-06-15T10:30:00Z',
    '2026-06-15T10:00:00.000000001Z',
  ]);
  expect(Object.keys(matches[0] ?? {})).toEqual(['_time', '_sysTime', '_rowId', 'data']);
  expect(matches[2]?.data).toEqual({ n: 2, host: 'b, "}\\', map: [1, { a: '],' }], at: { x: null } });
  expect(text).toContain('"data":{"n":9007199254740993,"host":"a","map":null,"at":{"x":1}}');
});

test('fields with dots become nested objects, unless a value is in the way', async () => {
  const apl = `print ['a.b'] = 1, a = '', ['a.c.d'] = 2, ['c.d'] = 3, c = dynamic(null), ['e.f'] = 4, e = dynamic({'f': 5}),
    ['g.h.i'] = 6, ['g.h'] = 7, ['k.'] = 8, ['.l'] = 9, ['m..n'] = 10, ['__proto__.o'] = 11`;
  const { text } = await ask(apl);
  expect(/"data":(.*?)}],"buckets"/.exec(text)?.[1]).toBe(
    '{"a.b":1,"a":"","a.c.d":2,"c":{"d":3},"e.f":4,"e":{"f":5},"g.h.i":6,"g":{"h":7},"k.":8,".l":9,"m..n":10,"__proto__":{"o":11}}',
  );
});

test('a name with more than 63 dots is not nested', async () => {
  const [deep, deeper] = ['a.'.repeat(63), 'b.'.repeat(64)].map(dots => `${dots}x`);
  const { text } = await ask(`print ['${deep}'] = 1, ['${deeper}'] = 2`);
  expect([text.includes(`"${deep}"`), text.includes(`"${deeper}":2`)]).toEqual([false, true]);
  expect(text).toContain(`${'{"a":'.repeat(63)}{"x":1}`);
});

test('row ids are unique and stable', async () => {
  const ids = async (): Promise<string[]> => (await ask('logs')).body.matches.map(match => match._rowId);
  const first = await ids();
  expect([new Set(first).size, await ids()]).toEqual([4, first]);
});

test('a row id is a cursor to the next row', async () => {
  const all = (await ask('logs')).body.matches;
  for (const [at, { _rowId: cursor }] of all.entries()) {
    const { status, body } = await service().json('POST', '/v1/datasets/_apl?format=legacy', {
      apl: 'logs',
      ...request,
      cursor,
    });
    expect([status, body.matches]).toEqual([200, all.slice(at + 1)]);
  }
});

test('an event without its times gets zero times, as clients cannot read null', async () => {
  const { body } = await ask('logs | project n');
  const times = body.matches.map(({ _time, _sysTime }) => [_time, _sysTime]);
  expect(times).toEqual(Array(4).fill(['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z']));
});

test('rows in another order get unique ids that are not cursors, and requested cursors are shown', async () => {
  const { body } = await ask('logs | sort by n asc');
  const ids = body.matches.map(match => match._rowId);
  expect([new Set(ids).size, body.status.messages]).toEqual([4, undefined]);
  expect(ids[2]).toBe(`${ids[1]}-1`);
  const shown = await service().json('POST', '/v1/datasets/_apl?format=legacy', {
    apl: 'logs | project _time, n',
    ...request,
    includeCursorField: true,
  });
  const cells = shown.body.matches.map(({ data }: { data: object }) => Object.keys(data));
  expect(cells).toEqual(Array(4).fill(['n', '_cursor']));
});

const value = (op: string, value: unknown) => [{ op, value }];

test('time bins become series, and their groups totals', async () => {
  const { body } = await ask('logs | summarize n = count() by bin(_time, 1h), host');
  const [a, b] = [{ host: 'a' }, { host: 'b, "}\\' }];
  expect(body.matches).toEqual([]);
  expect(body.buckets).toEqual({
    series: [
      {
        startTime: '2026-06-15T10:00:00Z',
        endTime: '2026-06-15T11:00:00Z',
        groups: [
          { id: 1, group: a, aggregations: value('n', 1) },
          { id: 2, group: b, aggregations: value('n', 1) },
        ],
      },
      {
        startTime: '2026-06-15T11:00:00Z',
        endTime: '2026-06-15T12:00:00Z',
        groups: [{ id: 1, group: a, aggregations: value('n', 2) }],
      },
    ],
    totals: [
      { id: 1, group: a, aggregations: value('n', 3) },
      { id: 2, group: b, aggregations: value('n', 1) },
    ],
  });
});

const grouped: readonly (readonly [apl: string, buckets: object])[] = [
  [
    'logs | summarize max(n) by host | where host == "a"',
    {
      series: [],
      totals: [{ id: 1, group: { host: 'a' }, aggregations: value('max_n', Number('9007199254740993')) }],
    },
  ],
  ['logs | count', { series: [], totals: [{ id: 1, group: {}, aggregations: value('count', 4) }] }],
  [
    'logs | summarize dcount(host) by bin(_time, 2h)',
    {
      series: [
        {
          startTime: '2026-06-15T10:00:00Z',
          endTime: '2026-06-15T12:00:00Z',
          groups: [{ id: 1, group: {}, aggregations: value('dcount_host', 2) }],
        },
      ],
      totals: [],
    },
  ],
];

test.each(grouped)('the buckets of %s', async (apl, buckets) => {
  expect((await ask(apl)).body.buckets).toEqual(buckets);
});

test.each([
  'logs | project n',
  'logs | project _time = iff(n == 2, datetime(null), _time), n',
  'logs | project _time, n, host, map',
  'logs | summarize n = count(), max(n) by bin(_time, 1h), host',
  'logs | summarize n = count() by host',
  'logs | summarize n = count() by bin(_time, 30m)',
])('a kernel reads the same result from both formats: %s', async apl => {
  const [tabular, legacy] = await Promise.all(
    ['tabular', 'legacy'].map(async format => {
      const answer = await service().send('POST', `/v1/datasets/_apl?format=${format}`, { apl, ...request });
      const { tables } = decodeTabular(new Uint8Array(await answer.arrayBuffer()));
      return tables.map(({ info, data }) => ({
        name: info.name,
        groups: info.groups,
        buckets: info.buckets,
        range: info.range,
        columns: Object.fromEntries(
          data.schema.fields.map((field, index) => [
            field.name,
            [String(field.type), ...Array.from(data.getChildAt(index) ?? [], String)],
          ]),
        ),
      }));
    }),
  );
  expect(legacy).toEqual(tabular);
});

test('errors are the same in both formats', async () => {
  const answers = await Promise.all(
    ['tabular', 'legacy'].map(format =>
      service().json('POST', `/v1/datasets/_apl?format=${format}`, { apl: 'nope' }),
    ),
  );
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[1]?.status).toBe(400);
});
