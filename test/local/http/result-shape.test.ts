import { beforeAll, describe, expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { type Answer, sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const window = { startTime: '2026-06-15T10:00:00Z', endTime: '2026-06-15T12:00:00Z' };

/** Four rows in the window, one before it: two hours, two hosts. */
const events = [
  { _time: '2026-06-15T09:59:59.999999999Z', host: 'a', ms: 100, took: 7, ok: true },
  { _time: '2026-06-15T10:00:00Z', host: 'a', ms: 1, took: 1.5, ok: true },
  { _time: '2026-06-15T10:30:00Z', host: 'b', ms: 2, took: 2.5, ok: false },
  { _time: '2026-06-15T11:00:00Z', host: 'a', ms: 4, took: 4.5, ok: true },
  { _time: '2026-06-15T11:59:59.999999999Z', host: 'a', ms: 9, took: 0.25, ok: false },
];

beforeAll(async () => {
  await service().send('POST', '/v2/datasets', { name: 'logs', description: '' });
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const lines = events.map(event => JSON.stringify(event)).join('\n');
  await service().send('POST', '/v1/datasets/logs/ingest', lines, ndjson);
  await service().send('PUT', '/v2/datasets/logs/fields/took', { unit: 'ms', description: 'how long' });
});

async function ask(apl: string, more: object = {}): Promise<Answer['body']> {
  const { status, body } = await service().query(apl, { ...window, ...more });
  expect([status, body.message]).toEqual([200, undefined]);
  return body;
}

const h10 = '2026-06-15T10:00:00Z';
const h11 = '2026-06-15T11:00:00Z';

describe('totals', () => {
  const both = 'by bin(_time, 1h), host';
  /** Contents of the table `_totals`: its fields, and an array for each. */
  const cases: readonly (readonly [apl: string, fields: string, columns: readonly (readonly unknown[])[]])[] =
    [
      [
        `summarize count() ${both}`,
        'host count_',
        [
          ['a', 'b'],
          [3, 1],
        ],
      ],
      ['summarize count() by bin(_time, 1h)', 'count_', [[4]]],
      [
        `summarize countif(ok) ${both}`,
        'host countif_',
        [
          ['a', 'b'],
          [2, 0],
        ],
      ],
      [
        `summarize sum(ms), s = sum(took) ${both}`,
        'host sum_ms s',
        [
          ['a', 'b'],
          [14, 2],
          [6.25, 2.5],
        ],
      ],
      [
        `summarize sumif(ms, ok) ${both}`,
        'host sumif_ms',
        [
          ['a', 'b'],
          [5, 0],
        ],
      ],
      [
        `summarize min(ms), max(took) ${both}`,
        'host min_ms max_took',
        [
          ['a', 'b'],
          [1, 2],
          [4.5, 2.5],
        ],
      ],
      [
        `summarize min(_time) ${both}`,
        'host min__time',
        [
          ['a', 'b'],
          [h10, '2026-06-15T10:30:00Z'],
        ],
      ],
      [
        `summarize avg(ms) ${both}`,
        'host avg_ms',
        [
          ['a', 'b'],
          [14 / 3, 2],
        ],
      ],
      [
        `summarize avgif(took, ok) ${both}`,
        'host avgif_took',
        [
          ['a', 'b'],
          [3, null],
        ],
      ],
      [
        `summarize m = avg(ms * 1m) ${both}`,
        'host m',
        [
          ['a', 'b'],
          [280_000_000_000, 120_000_000_000],
        ],
      ],
      [
        `summarize rate(ms) ${both}`,
        'host rate_ms',
        [
          ['a', 'b'],
          [14 / 7200, 2 / 7200],
        ],
      ],
      [
        `summarize arg_max(ms, took, ok) ${both}`,
        'host ms took ok',
        [
          ['a', 'b'],
          [9, 2],
          [0.25, 2.5],
          [false, false],
        ],
      ],
      [
        `summarize arg_min(took, ms) ${both}`,
        'host took ms',
        [
          ['a', 'b'],
          [0.25, 2.5],
          [9, 2],
        ],
      ],
      [
        `summarize share = 100.0 * countif(ok) / count() ${both}`,
        'host share',
        [
          ['a', 'b'],
          [200 / 3, 0],
        ],
      ],
      [
        `summarize count() by host, bin(_time, 1h), ok`,
        'host ok count_',
        [
          ['a', 'a', 'b'],
          [false, true, false],
          [1, 2, 1],
        ],
      ],
      [
        `summarize n = count() ${both} | sort by n desc`,
        'host n',
        [
          ['a', 'b'],
          [3, 1],
        ],
      ],
      [`summarize n = count() ${both} | limit 1`, 'host n', [['a'], [3]]],
      ['summarize n = count() by bin(_time, 1h) | limit 1', 'n', [[4]]],
      // Any value of a field outside the grouping; each has one character.
      ['summarize n = strlen(host) + count() by bin(_time, 1h)', 'n', [[5]]],
      [
        `summarize count() by bin(_time, 1h), none = iff(ms > 1, host, '')`,
        'none count_',
        [
          ['', 'a', 'b'],
          [1, 2, 1],
        ],
      ],
      [`where ms > 1000 | summarize count() ${both}`, 'host count_', [[], []]],
      ['where ms > 1000 | summarize count() by bin(_time, 1h)', 'count_', [[]]],
      [
        `summarize count(), dcount(ms), percentile(took, 95) ${both}`,
        'host count_',
        [
          ['a', 'b'],
          [3, 1],
        ],
      ],
    ];
  test.each(cases)('%s', async (apl, fields, columns) => {
    const { tables } = await ask(`logs | ${apl}`);
    expect(tables.map((table: { name: string }) => table.name)).toEqual(['0', '_totals']);
    expect(namesOf(tables[1])).toBe(fields);
    expect(tables[1].columns).toEqual(columns);
  });

  test('equal the same summarize without the bin', async () => {
    const rows = `range _time from datetime(${h10}) to datetime(2026-06-15T11:59:59Z) step 1s
      | extend s = toint((_time - datetime(${h10})) / 1s)
      | extend g = strcat('g', s % 7), v = iff(s % 5 == 0, real(null), s * 0.37), n = s % 97 - 40`;
    const aggregates =
      'count(), countif(n > 3), sum(v), sum(n), sumif(n, v > 9), a = avg(v), b = avg(n), c = avg(s * 1s), min(v), max(n), rate(n), arg_max(s, v), arg_min(v, n)';
    const binned = await ask(`${rows} | summarize ${aggregates} by bin(_time, 7m), g`);
    const whole = await ask(`${rows} | summarize ${aggregates} by g`);
    expect(namesOf(binned.tables[1])).toBe(namesOf(whole.tables[0]));
    expect(binned.tables[1].columns.map(rounded)).toEqual(whole.tables[0].columns.map(rounded));
  });

  const without = [
    'logs | summarize count() by host',
    'logs | summarize count() by bin(ms, 5)',
    'logs | summarize count()',
    'logs | summarize n = count() by bin(_time, 1h) | extend m = n * 2',
    'logs | summarize n = count() by bin(_time, 1h) | where n > 1',
    'logs | summarize dcount(ms) by bin(_time, 1h), host',
    'logs | summarize n = count() by bin(_time, 1h), host | top 1 by n asc',
    'logs | limit 3',
  ];
  test.each(without)('are absent for %s', async apl => {
    const { tables } = await ask(apl);
    expect(tables).toHaveLength(1);
  });

  test('are not mentioned if they would be empty', async () => {
    const { tables, status } = await ask('logs | summarize dcount(ms), stdev(ms) by bin(_time, 1h)');
    expect([tables.length, status.messages]).toEqual([1, undefined]);
  });

  test('of reals are the same in every run, to the last digit', async () => {
    const apl =
      'range n from 1 to 20000 step 1 | extend _time = datetime(2026-06-15T10:00:00Z) + n * 300ms, x = sqrt(n) | summarize sum(x), avg(x), rate(x) by bin(_time, 5m)';
    const found = new Set<string>();
    for (let run = 0; run < 60; run += 1) {
      const { tables } = await ask(apl);
      expect(tables).toHaveLength(2);
      found.add(JSON.stringify(tables[1].columns));
    }
    expect([...found]).toHaveLength(1);
  });

  test('report the aggregates they leave out', async () => {
    const { status } = await ask('logs | summarize count(), d = dcount(ms), stdev(ms) by bin(_time, 1h)');
    expect(status.messages).toEqual([
      {
        priority: 'info',
        count: 1,
        code: 'totals_left_out',
        msg: 'The totals omit `d`, `stdev_ms`, which cannot be derived from the time bins. Summarize without the bin to get them.',
      },
    ]);
  });
});

test('aggregations have the names that the hosted service uses', async () => {
  const { tables } = await ask(
    'logs | summarize dcount(ms), percentile(took, 95), percentiles_array(took, 50), make_set(ms), presence(ms)',
  );
  expect(tables[0].fields.map(({ agg }: { readonly agg: unknown }) => agg)).toEqual([
    { name: 'distinct', args: [], fields: ['ms'] },
    { name: 'percentiles', args: [95], fields: ['took'] },
    { name: 'percentiles', args: [50], fields: ['took'] },
    { name: 'makeset', args: [], fields: ['ms'] },
    { name: 'computed', args: ['presence'], fields: ['ms'] },
  ]);
});

test('a time-binned query answers with a table and its totals', async () => {
  const body = await ask('logs | summarize n = count(), avg(took), topk(ms, 2) by bin(_time, 1h), host');
  const fields = [
    { name: '_time', type: 'datetime' },
    { name: 'host', type: 'string' },
    { name: 'n', type: 'integer', agg: { name: 'count', args: [], fields: [] } },
    { name: 'avg_took', type: 'float', agg: { name: 'avg', args: [], fields: ['took'] } },
  ];
  const shared = {
    sources: [{ name: 'logs' }],
    groups: [{ name: 'host' }],
    range: { field: '_time', start: h10, end: '2026-06-15T12:00:00Z' },
  };
  expect(body.tables).toEqual([
    {
      name: '0',
      ...shared,
      fields: [
        ...fields,
        { name: 'topk_ms', type: 'dynamic', agg: { name: 'topk', args: [2], fields: ['ms'] } },
      ],
      order: [
        { field: '_time', desc: false },
        { field: 'host', desc: false },
      ],
      buckets: { field: '_time', size: 3_600_000_000_000 },
      columns: [
        [h10, h10, h11],
        ['a', 'b', 'a'],
        [1, 1, 2],
        [1.5, 2.5, 2.375],
        [[{ value: 1, count: 1 }], [{ value: 2, count: 1 }], expect.any(Array)],
      ],
    },
    {
      name: '_totals',
      ...shared,
      fields: fields.slice(1),
      order: [{ field: 'host', desc: false }],
      columns: [
        ['a', 'b'],
        [3, 1],
        [6.25 / 3, 2.5],
      ],
    },
  ]);
});

test('the status counts blocks, rows and groups', async () => {
  const { status } = await ask('logs | where ms > 1 | summarize count() by bin(_time, 1h), host');
  const { elapsedTime, ...rest } = status;
  expect(Number.isSafeInteger(elapsedTime)).toBe(true);
  expect(rest).toEqual({
    minCursor: '',
    maxCursor: '',
    blocksExamined: 1,
    blocksCached: 0,
    blocksMatched: 1,
    rowsExamined: 5,
    rowsMatched: 3,
    numGroups: 2,
    isPartial: false,
    cacheStatus: 0,
    minBlockTime: '2026-06-15T09:59:59.999999999Z',
    maxBlockTime: '2026-06-15T11:59:59.999999999Z',
  });
});

const groups: readonly (readonly [apl: string, count: number])[] = [
  ['logs | summarize count() by host', 2],
  ['logs | summarize count() by host, ok', 3],
  ['logs | summarize count()', 0],
  ['logs | summarize count() by bin(_time, 1h), host', 2],
  ['logs | summarize n = count() by bin(_time, 1h), host | extend m = n', 2],
  ['logs | summarize dcount(ms) by bin(_time, 1h), host', 2],
  ['logs', 0],
];

test.each(groups)('numGroups counts the groups of %s', async (apl, count) => {
  expect((await ask(apl)).status.numGroups).toBe(count);
});

test('rows examined and matched count one scan', async () => {
  const { status } = await ask('logs | where host == "a"');
  expect([status.rowsExamined, status.rowsMatched]).toEqual([5, 3]);
});

test('fieldsMetaMap holds units and descriptions', async () => {
  const { fieldsMetaMap } = await ask('logs | summarize max(took)');
  const plain = (name: string, type: string) => ({ name, type, unit: '', hidden: false, description: '' });
  expect(fieldsMetaMap).toEqual({
    logs: [
      plain('_time', 'datetime'),
      plain('_sysTime', 'datetime'),
      plain('host', 'string'),
      plain('ms', 'integer'),
      { name: 'took', type: 'float', unit: 'ms', hidden: false, description: 'how long' },
      plain('ok', 'boolean'),
    ],
  });
});

describe('order', () => {
  const cases: readonly (readonly [apl: string, more: object, order: string, first: readonly unknown[]])[] = [
    ['logs | project ms, _time', {}, '_time desc', [9, 4, 2, 1]],
    ['logs | sort by ms asc | project ms', {}, 'ms asc', [1, 2, 4, 9]],
    ['logs | sort by ms % 4 asc, ms asc | project ms', {}, 'ms asc', [4, 1, 9, 2]],
    ['logs | project ms', { defaultOrder: [{ field: 'ms', desc: false }] }, 'ms asc', [1, 2, 4, 9]],
    ['logs | project ms | limit 2', { defaultOrder: [{ field: 'ms', desc: true }] }, 'ms desc', [9, 4]],
    ['logs | project ms | limit 2', { defaultOrder: [{ field: 'ms', desc: false }] }, 'ms asc', [1, 2]],
    [
      'logs | project ms, _time | limit 2',
      { defaultOrder: [{ field: 'ms', desc: false }] },
      'ms asc',
      [1, 2],
    ],
    ['logs | project ms | limit 2', {}, '', [9, 4]],
    [
      'logs | sort by ms desc | project ms',
      { defaultOrder: [{ field: 'ms', desc: false }] },
      'ms desc',
      [9, 4, 2, 1],
    ],
    ['logs | summarize max(ms) by host | project max_ms, host', {}, 'host asc', [9, 2]],
    ['logs | summarize m = max(ms) by host | limit 1 | project m', {}, '', [9]],
    [
      'logs | summarize n = count() by ms % 4, bin(_time, 1h) | project _time',
      {},
      '_time asc',
      [h10, h10, h11, h11],
    ],
    ['logs | summarize count() by k = iff(ms > 1, host, string(null))', {}, 'k asc', [null, 'a', 'b']],
    ['logs | distinct host', {}, 'host asc', ['a', 'b']],
    ['logs | summarize n = count() by ms | sort by n desc | project ms, n', {}, 'n desc', [1, 2, 4, 9]],
    ['logs | summarize n = count() by ms | sort by n desc | take 2 | project ms', {}, '', [1, 2]],
    ['logs | summarize n = count() by ms, host | project ms, n | sort by n', {}, 'n desc', [1, 2, 4, 9]],
    ['logs | summarize n = count() by bin(_time, 1d), ms | sort by n | project ms', {}, '', [1, 2, 4, 9]],
    ['logs | distinct ms, host | extend n = 1 | sort by n | project ms', {}, '', [1, 2, 4, 9]],
    [
      'logs | summarize n = count() by ms | sort by n | summarize l = tostring(make_list(ms))',
      {},
      '',
      ['[1,2,4,9]'],
    ],
    ['logs | summarize topk(host, 5)', {}, 'count_ desc host asc', ['a', 'b']],
    ['logs | summarize topk(host, 1)', {}, 'count_ desc host asc', ['a']],
    ['logs | summarize topk(host, 0)', {}, 'count_ desc host asc', []],
    ['logs | summarize topk(host, -1)', {}, 'count_ desc host asc', []],
    ['logs | summarize n = count() by ms, bin(_time, 1d)', {}, '_time asc ms asc', [1, 2, 4, 9]],
    ['logs | summarize n = count() by host, bin(_time, 1h)', {}, '_time asc host asc', ['a', 'b', 'a']],
    [
      'logs | summarize n = count() by host, bin(_time, 1h) | sort by host desc, _time desc',
      {},
      'host desc _time desc',
      ['b', 'a', 'a'],
    ],
    ['logs | summarize n = count() by ms, bin(_time, 1d) | limit 2', {}, '_time asc ms asc', [1, 2]],
    ['logs | summarize n = count() by ms, bin(_time, 1d) | sort by ms desc', {}, 'ms desc', [9, 4, 2, 1]],
  ];
  test.each(cases)('%s %o', async (apl, more, order, first) => {
    const [table] = (await ask(apl, more)).tables;
    const written = table.order.map(
      (key: { field: string; desc: boolean }) => `${key.field} ${key.desc ? 'desc' : 'asc'}`,
    );
    expect([written.join(' '), table.columns[0]]).toEqual([order, first]);
  });

  test('a series counts only rows in its range, and omits empty groups', async () => {
    const series = 'make-series c = count() on _time';
    const { tables } = await ask(
      `logs | ${series} from datetime(2026-06-15T10:15:00Z) to datetime(2026-06-15T10:45:00Z) step 30m by host`,
    );
    expect(tables[0].columns.slice(0, 2)).toEqual([['b'], [[1]]]);
  });

  test('NaN and null groups tie in an order, and the other fields decide', async () => {
    const rows =
      'range n from 0 to 29 step 1 | extend _time = datetime(2026-06-15T10:00:00Z) + (n / 3) * 1m, r = iff(n % 3 == 0, 0.0 / 0.0, real(null))';
    const { tables } = await ask(`${rows} | summarize c = count() by bin(_time, 1m), r`);
    expect(tables[0].columns[2]).toEqual(Array.from({ length: 20 }, (_, row) => 1 + (row % 2)));
  });

  test('an order by a missing field is reported', async () => {
    const { status } = await ask('logs | project ms', { defaultOrder: [{ field: 'nope', desc: true }] });
    expect(status.messages).toEqual([
      {
        priority: 'warn',
        count: 1,
        code: 'unknown_order',
        msg: 'The order in the request uses `nope`, which is not in the result.',
      },
    ]);
  });
});

describe('limits', () => {
  const range = 'range n from 1 to 3000 step 1';
  const cut = (rows: string, reason: string, why: string, what = 'rows') => [
    {
      priority: 'warn',
      count: 1,
      code: `row_limit_${reason}`,
      msg: `Only the first ${rows} ${what} were returned; there are more. ${why}`,
    },
  ];
  const byRequest = 'The limit was set by the request.';
  const byDefault = 'The query has no limit: add `| limit N` for more.';
  const cases: readonly (readonly [apl: string, more: object, rows: number, messages: unknown])[] = [
    ['logs | mv-expand n = range(1, 1000, 1)', {}, 1000, cut('1,000', 'default', byDefault)],
    [
      'logs | mv-expand n = range(1, 1000, 1)',
      { defaultLimit: 3999 },
      3999,
      cut('3,999', 'request', byRequest),
    ],
    ['logs | mv-expand n = range(1, 1000, 1)', { defaultLimit: 4000 }, 4000, undefined],
    ['logs | mv-expand n = range(1, 1000, 1) | limit 1500', {}, 1500, undefined],
    [
      'logs | mv-expand n = range(1, 1000, 1) | limit 1500',
      { defaultLimit: 7 },
      7,
      cut('7', 'request', byRequest),
    ],
    ['logs | limit 2', { defaultLimit: 7 }, 2, undefined],
    ['logs | sort by _time | limit 2', { defaultLimit: 7 }, 2, undefined],
    ['logs | sort by _time | limit 2', { defaultLimit: 1 }, 1, cut('1', 'request', byRequest)],
    ['logs', { defaultLimit: 0 }, 0, cut('0', 'request', byRequest)],
    [range, {}, 3000, undefined],
    ['logs | summarize count() by ms', { defaultLimit: 3 }, 3, cut('3', 'request', byRequest)],
    ['logs | summarize count() by bin(_time, 1m), ms', { defaultLimit: 3 }, 4, undefined],
  ];
  test.each(cases)('%s %o', async (apl, more, rows, messages) => {
    const { tables, status } = await ask(apl, more);
    expect([tables[0].columns[0].length, status.messages]).toEqual([rows, messages]);
  });

  test('of the service cut a query that sets none', async () => {
    const { tables, status } = await ask('range n from 1 to 1000001 step 1');
    expect(tables[0].columns[0].length).toBe(1_000_000);
    const more = 'Add `| limit N` for more, up to 10,000,000.';
    expect(status.messages).toEqual(cut('1,000,000', 'server', more));
  });

  test('of groups do not raise the row limit', async () => {
    const binned = 'extend _time = now() | summarize count() by bin(_time, 1m), n | limit 1000001';
    const { tables, status } = await ask(`range n from 1 to 1000001 step 1 | ${binned}`);
    expect(tables[0].columns[0].length).toBe(1_000_000);
    const all = 'This is the maximum that the service returns.';
    expect(status.messages).toEqual([
      ...cut('1,000,000', 'server', all),
      ...cut('1,000,000', 'server', all, 'totals'),
    ]);
  });

  test('set by the query override the default', async () => {
    const { tables, status } = await ask('range n from 1 to 1000001 step 1 | limit 1000001');
    expect([tables[0].columns[0].length, status.messages]).toEqual([1_000_001, undefined]);
  });
});

describe('variables', () => {
  const declared =
    'declare query_parameters(n:long = 3, s:string = "x", t:datetime = datetime(2026-01-01), d:timespan = 1h, r:real = 1.5, b:bool = true, j:dynamic = dynamic({})); print n, s, t, d, r, b, j';
  const cases: readonly (readonly [variables: object, row: readonly unknown[]])[] = [
    [{}, [3, 'x', '2026-01-01T00:00:00Z', 3_600_000_000_000, 1.5, true, {}]],
    [
      { n: 7, s: "it's", t: '2026-06-15T12:00:00Z', d: '2d', r: 2, b: false, j: { a: [1] } },
      [7, "it's", '2026-06-15T12:00:00Z', 172_800_000_000_000, 2, false, { a: [1] }],
    ],
    [{ n: '12', d: 5 }, [12, 'x', '2026-01-01T00:00:00Z', 5, 1.5, true, {}]],
  ];
  test.each(cases)('%o', async (variables, row) => {
    const [table] = (await ask(declared, { variables })).tables;
    expect(table.columns.map((column: unknown[]) => column[0])).toEqual(row);
  });

  test('need no declaration, and a let overrides them', async () => {
    const { tables } = await ask('let b = 5; print a, b', { variables: { a: 1, b: 2 } });
    expect(tables[0].columns).toEqual([[1], [5]]);
  });

  test('of the wrong type are refused', async () => {
    const { status, body } = await service().query('declare query_parameters(n:long); print n', {
      variables: { n: 'x' },
    });
    expect([status, body.detail]).toEqual([
      400,
      {
        errorType: 'compile',
        compileErrorCode: 'parameter',
        line: 1,
        column: 26,
        message: 'the parameter `n` cannot be "x": its type is long',
        hint: expect.any(String),
      },
    ]);
  });
});

describe('a request is refused for', () => {
  const cases: readonly (readonly [
    what: string,
    body: unknown,
    status: number,
    message: string,
    detail: object,
  ])[] = [
    [
      'an unknown dataset',
      { apl: 'lgos\n| count' },
      400,
      'unknown dataset `lgos`. Did you mean `logs`?',
      { errorType: 'compile', compileErrorCode: 'unknown-dataset', line: 1, column: 1 },
    ],
    [
      'a bad time',
      { apl: 'logs', startTime: 'yesterday' },
      400,
      'startTime "yesterday" cannot be used: it is neither RFC 3339 nor relative. For example: 2026-01-02T03:04:05Z, now-1h.',
      { compileErrorCode: 'bad-time' },
    ],
    [
      'a start after the end',
      { apl: 'logs', startTime: 'now', endTime: 'now-1h' },
      400,
      'startTime "now" cannot be used: it is after endTime. For example: 2026-01-02T03:04:05Z, now-1h.',
      { compileErrorCode: 'bad-time' },
    ],
    ['a body that is not JSON', '{"apl": ', 400, 'The body is not JSON.', { errorType: 'invalid-json' }],
    [
      'a negative limit',
      { apl: 'logs', defaultLimit: -1 },
      400,
      '`defaultLimit` should be a non-negative integer.',
      { errorType: 'invalid-request' },
    ],
    [
      'an order of another shape',
      { apl: 'logs', defaultOrder: ['_time'] },
      400,
      '`defaultOrder` should be a list of {"field": string, "desc": boolean}.',
      { errorType: 'invalid-request' },
    ],
    [
      'variables of another shape',
      { apl: 'logs', variables: [1] },
      400,
      '`variables` should be an object.',
      { errorType: 'invalid-request' },
    ],
    [
      'a library',
      { apl: 'logs', libraries: ['l'] },
      422,
      'The local service does not support libraries. Remove `libraries`.',
      { errorType: 'not-supported' },
    ],
    [
      'a bad time limit',
      { apl: 'logs', queryOptions: { timeLimitMs: '5' } },
      400,
      '`queryOptions.timeLimitMs` should be a whole number of milliseconds, from 1 to 86400000.',
      { errorType: 'invalid-request' },
    ],
  ];
  test.each(cases)('%s', async (_, sent, status, message, detail) => {
    const answer = await service().json('POST', '/v1/query/_apl', sent);
    expect(answer).toEqual({
      status,
      body: { code: status, message, detail: expect.objectContaining(detail) },
    });
  });
});

test('null or empty members count as absent', async () => {
  const { tables } = await ask('logs | project ms', {
    cursor: '',
    defaultLimit: null,
    defaultOrder: null,
    libraries: null,
  });
  expect(tables[0].columns).toEqual([[9, 4, 2, 1]]);
});

test('query string options without effect here are accepted', async () => {
  const route =
    '/v1/datasets/_apl?format=tabular&nocache=true&saveAsKind=analytics&dataset_name=logs&streaming-duration=1m';
  const { status, body } = await service().json('POST', route, { apl: 'logs | count', ...window });
  expect([status, body.tables[0].columns]).toEqual([200, [[4]]]);
});

/** Rounds reals, as the last digits of a sum depend on the order. */
function rounded(column: readonly unknown[]): unknown[] {
  return column.map(cell => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell));
}

function namesOf(table: { fields: readonly { name: string }[] }): string {
  return table.fields.map(field => field.name).join(' ');
}

test('stored JSON stays JSON inside arrays and maps', async () => {
  await service().send('POST', '/v2/datasets', { name: 'tagged', description: '' });
  await service().send('POST', '/v1/datasets/tagged/ingest', [
    { _time: '2026-06-15T10:00:00Z', tags: [1, { a: 'b' }] },
  ]);
  const body = await ask('tagged | project pack_array(tags), bag_pack("t", tags), dynamic([tags])');
  const tags = [1, { a: 'b' }];
  expect(body.tables[0].columns).toEqual([[[tags]], [{ t: tags }], [[tags]]]);
});

test('values that JSON cannot express are counted', async () => {
  const { tables, status } = await ask(
    'logs | extend r = todouble(ms) / (ms - 1), z = took | project r, z, m = -0.0',
  );
  expect([
    tables[0].columns[0].filter((r: number | null) => r === null).length,
    tables[0].columns[2][0],
  ]).toEqual([1, 0]);
  expect(status.messages).toEqual([
    {
      priority: 'info',
      count: 1,
      code: 'not_finite',
      msg: '`r` holds 1 value that is NaN (0.0 / 0) or infinite; it is shown as null.',
    },
  ]);
});
