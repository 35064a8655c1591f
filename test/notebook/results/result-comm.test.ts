import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Reply, Request, ResultReference } from '../../../kernel/notebook/results/result-protocol.js';
import { realBench } from '../real-bench.js';
import { everyday, startBench } from '../session.js';
import { metadata, tableRows } from './rows.js';

/** A name too long for a query. */
const longName = 'a name '.repeat(600);
const bench = realBench({
  long: [
    { n: 1, [longName]: 'seven' },
    { n: 2, [longName]: 'five' },
    { n: 3, [longName]: 'seven' },
  ],
});

/** An open comm: `ask` sends a request and waits for its reply. */
interface Grid {
  readonly first: Reply;
  readonly closed: boolean;
  ask(request: Record<string, unknown>): Promise<Reply & { readonly cells?: unknown }>;
  tell(request: Request): void;
}

async function open(result: unknown, handler = bench().handler): Promise<Grid> {
  const waiting = new Map<number | undefined, (reply: Reply) => void>();
  const firsts: Reply[] = [];
  let next = 0;
  let closed = false;
  const first = new Promise<Reply>(resolve => waiting.set(undefined, resolve));
  const reader = handler.commOpen(
    {
      id: 'c',
      target: 'apl.results',
      send: (data, _, buffers = []) => {
        const reply = data as Reply;
        const [arrow] = buffers;
        const whole = arrow === undefined ? reply : { ...reply, cells: tableRows(tableFromIPC(arrow)) };
        const id = 'id' in reply ? reply.id : undefined;
        if (id === undefined) firsts.push(reply);
        waiting.get(id)?.(whole);
      },
      close: () => {
        closed = true;
      },
    },
    { result },
    [],
  );
  return {
    first: await first,
    get closed() {
      return closed;
    },
    ask: request => {
      const id = next++;
      const reply = new Promise<Reply>(resolve => waiting.set(id, resolve));
      void reader?.message({ id, ...request }, []);
      return reply;
    },
    tell: request => void reader?.message(request, []),
  };
}

async function gridOf(code: string): Promise<Grid> {
  const run = await bench().run(code);
  const { result } = metadata(run) as { result: ResultReference };
  return open(result.id);
}

const sample = `datatable(n: long, s: string, t: datetime, d: timespan, r: real, b: bool, x: dynamic)[
  1, 'one', datetime(2026-03-04T05:06:07.000000001Z), 1tick, 0.5, true, dynamic({'a': 1}),
  9007199254740993, 'Two', datetime(2026-03-04T05:06:07.000000002Z), 1d, 1.5, false, dynamic([1, 2]),
  int(null), '', datetime(null), timespan(null), real(null), bool(null), dynamic(null),
  -9223372036854775807, "it's", datetime(1999-01-01), -1h, -2.5, true, dynamic('text')
]`;

let grid: Grid;
beforeAll(async () => {
  grid = await gridOf(sample);
});

async function page(view: Record<string, unknown>): Promise<unknown> {
  const reply = await grid.ask({ op: 'page', offset: 0, limit: 10, columns: ['n'], ...view });
  return reply.kind === 'page' ? [reply.rows, (reply.cells as { n: unknown }[]).map(({ n }) => n)] : reply;
}

describe('a page', () => {
  test('the first message describes the result', () => {
    expect(grid.first).toEqual({
      kind: 'ready',
      rows: 4,
      columns: [
        { name: 'n', type: 'long' },
        { name: 's', type: 'string' },
        { name: 't', type: 'datetime' },
        { name: 'd', type: 'timespan' },
        { name: 'r', type: 'real' },
        { name: 'b', type: 'bool' },
        { name: 'x', type: 'dynamic' },
      ],
      notes: [],
    });
  });

  test('has exactly the requested rows, with exact values', async () => {
    expect(await grid.ask({ op: 'page', offset: 1, limit: 2 })).toMatchObject({
      kind: 'page',
      offset: 1,
      count: 2,
      rows: 4,
      totalRows: 4,
      cells: [
        {
          n: '9007199254740993',
          s: 'Two',
          t: '2026-03-04T05:06:07.000000002Z',
          d: '24h0m0s',
          r: '1.5',
          b: 'false',
          x: '[1,2]',
        },
        { n: null, s: '', t: null, d: null, r: null, b: null, x: null },
      ],
    });
    expect(await grid.ask({ op: 'page', offset: 4, limit: 2, columns: ['n'] })).toMatchObject({ count: 0 });
  });

  const all = [null, '-9223372036854775807', '1', '9007199254740993'];
  test.each([
    [[{ column: 'n', descending: false }], all],
    [[{ column: 'n', descending: true }], all.toReversed()],
    [[{ column: 't', descending: true }], ['9007199254740993', '1', '-9223372036854775807', null]],
    [[{ column: 'd', descending: false }], [null, '-9223372036854775807', '1', '9007199254740993']],
    [
      [
        { column: 'b', descending: true },
        { column: 'n', descending: true },
      ],
      ['1', '-9223372036854775807', '9007199254740993', null],
    ],
  ])('sorts over all rows: %j', async (sort, expected) => {
    expect(await page({ sort })).toEqual([4, expected]);
  });

  test.each([
    [{ column: 'n', op: '==', value: '9007199254740993' }, ['9007199254740993']],
    [{ column: 'n', op: '!=', value: 1 }, ['9007199254740993', null, '-9223372036854775807']],
    [{ column: 'n', op: '>=', value: 0.5 }, ['1', '9007199254740993']],
    [{ column: 'n', op: '==', value: null }, [null]],
    [{ column: 'n', op: '!=', value: null }, ['1', '9007199254740993', '-9223372036854775807']],
    [{ column: 's', op: '==', value: "it's" }, ['-9223372036854775807']],
    [{ column: 's', op: 'contains', value: 'tWO' }, ['9007199254740993']],
    [{ column: 's', op: '!contains', value: 'o' }, [null, '-9223372036854775807']],
    [{ column: 't', op: '==', value: '2026-03-04T05:06:07.000000002Z' }, ['9007199254740993']],
    [{ column: 't', op: '<', value: '2026-01-01T00:00:00Z' }, ['-9223372036854775807']],
    [{ column: 'd', op: '==', value: '24h0m0s' }, ['9007199254740993']],
    [{ column: 'd', op: '<=', value: '100ns' }, ['1', '-9223372036854775807']],
    [{ column: 'd', op: '<', value: '-00:59:59' }, ['-9223372036854775807']],
    [{ column: 'r', op: '<', value: 1 }, ['1', '-9223372036854775807']],
    [{ column: 'b', op: '==', value: true }, ['1', '-9223372036854775807']],
    [{ column: 'x', op: '==', value: '[1,2]' }, ['9007199254740993']],
    [{ expression: 'n > 0 and s startswith "o" // a comment' }, ['1']],
    [{ expression: 'x.a == 1' }, ['1']],
  ])('has the rows that pass %j', async (filter, expected) => {
    expect(await page({ filters: [filter] })).toEqual([expected.length, expected]);
  });

  test.each([
    ['TWO', ['9007199254740993']],
    ['2026-03-04', ['1', '9007199254740993']],
    ['"a"', ['1']],
    ["'; drop", []],
    ['', ['1', '9007199254740993', null, '-9223372036854775807']],
  ])('has the rows that contain %j', async (search, expected) => {
    expect(await page({ search })).toEqual([expected.length, expected]);
  });

  test.each([
    ['real', '-1e300', ['-1', '000']],
    ['real', '-0.25', ['-0.2', '.']],
    ['long', '-9223372036854775807', ['-92', '7']],
    ['bool', 'true', ['RU', 'e']],
    ['bool', 'false', ['als', 'F']],
    ['datetime', 'datetime(2026-03-04T05:06:07.000000001Z)', ['04t05', '-', ':06:', '.0', '1z']],
    ['timespan', '1h + 2ms', ['h', '2']],
  ])('finds every substring of the %s %s', async (_, value, parts) => {
    const { ask } = await gridOf(`print value = ${value}`);
    for (const search of [...parts, 'no such part']) {
      const reply = await ask({ op: 'page', offset: 0, limit: 1, search });
      expect([search, reply.kind === 'page' && reply.rows]).toEqual([search, parts.includes(search) ? 1 : 0]);
    }
  });

  test('reports what is wrong with a request, and where', async () => {
    const problem = async (view: Record<string, unknown>) => {
      const reply = await grid.ask({ op: 'page', offset: 0, limit: 1, ...view });
      return reply.kind === 'error' ? [reply.code, reply.message, reply.at] : reply;
    };
    expect(await problem({ filters: [{ expression: 'n > 1' }, { expression: 'nn > 1' }] })).toEqual([
      'invalid',
      'unknown field `nn`',
      { filter: 1, from: 0 },
    ]);
    expect(await problem({ sort: [{ column: 'nope', descending: true }] })).toEqual([
      'invalid',
      'the result has no column nope',
      undefined,
    ]);
    expect(await problem({ filters: [{ column: 'n', op: '==', value: 'x' }] })).toEqual([
      'invalid',
      'x is not a value that a column of type long holds',
      undefined,
    ]);
  });
});

describe('a profile', () => {
  test('of integers', async () => {
    expect(await grid.ask({ op: 'profile', column: 'n' })).toMatchObject({
      rows: 4,
      nulls: 1,
      distinct: 3,
      min: '-9223372036854775807',
      max: '9007199254740993',
      top: [
        { value: '-9223372036854775807', count: 1 },
        { value: '1', count: 1 },
        { value: '9007199254740993', count: 1 },
      ],
    });
  });

  test('of strings, JSON and bools', async () => {
    expect(await grid.ask({ op: 'profile', column: 's' })).toMatchObject({
      nulls: 0,
      distinct: 4,
      min: '',
      max: 'one',
    });
    expect(await grid.ask({ op: 'profile', column: 'b' })).toMatchObject({
      nulls: 1,
      distinct: 2,
      min: null,
      top: [
        { value: 'true', count: 2 },
        { value: 'false', count: 1 },
      ],
    });
    expect(await grid.ask({ op: 'profile', column: 'x' })).toMatchObject({
      nulls: 1,
      distinct: 3,
      min: null,
    });
  });

  test('of a few integers has a bin for each', async () => {
    const { ask } = await gridOf('range n from 1 to 9 step 1 | extend v = iff(n > 6, 2, n % 2)');
    const reply = await ask({ op: 'profile', column: 'v' });
    expect(reply.kind === 'profile' && reply.histogram).toEqual([
      { from: '0', to: '1', count: 3 },
      { from: '1', to: '2', count: 3 },
      { from: '2', to: '2', count: 3 },
    ]);
  });

  test.each([
    ['no rows', 'n == 7', { rows: 0, nulls: 0 }],
    ['only nulls', 'isnull(n)', { rows: 1, nulls: 1 }],
  ])('of %s has neither values nor bins', async (_, expression, counts) => {
    const reply = await grid.ask({ op: 'profile', column: 'n', filters: [{ expression }] });
    expect(reply).toMatchObject({ kind: 'profile', ...counts, distinct: 0, min: null, max: null, top: [] });
    expect(reply).not.toHaveProperty('histogram');
  });

  test('has bins from the lowest to the highest value that count every row', async () => {
    const numbers = await gridOf('range n from 1 to 100 step 1');
    const reply = await numbers.ask({ op: 'profile', column: 'n', filters: [{ expression: 'n <= 40' }] });
    if (reply.kind !== 'profile') throw new Error(JSON.stringify(reply));
    expect(reply.histogram).toHaveLength(20);
    expect(reply.histogram?.[0]).toEqual({ from: '1', to: '3', count: 2 });
    expect(reply.histogram?.at(-1)).toEqual({ from: '39', to: '40', count: 2 });
    expect(reply.histogram?.reduce((total, { count }) => total + count, 0)).toBe(40);
    const times = await grid.ask({ op: 'profile', column: 't' });
    const spans = await grid.ask({ op: 'profile', column: 'd' });
    const reals = await grid.ask({ op: 'profile', column: 'r' });
    for (const each of [times, spans, reals])
      expect(each.kind === 'profile' && each.histogram?.reduce((total, { count }) => total + count, 0)).toBe(
        3,
      );
    expect(times.kind === 'profile' && times.histogram?.at(-1)).toMatchObject({
      to: '2026-03-04T05:06:07.000000002Z',
    });
  });
});

test('a field with a name too long for a query can be sorted, filtered, searched and profiled', async () => {
  // A search would also match the text in a time.
  const { ask } = await gridOf('long | project-away _time, _sysTime | sort by n asc');
  const numbers = async (view: Record<string, unknown>) => {
    const reply = await ask({ op: 'page', offset: 0, limit: 10, ...view });
    return reply.kind === 'page' ? (reply.cells as { n: unknown }[]).map(({ n }) => n) : reply;
  };
  // The whole result may already have been sent, with its original names.
  await bench().run('_ | count');
  expect(await numbers({ sort: [{ column: longName, descending: false }] })).toEqual(['2', '1', '3']);
  expect(await numbers({ filters: [{ column: longName, op: '==', value: 'seven' }] })).toEqual(['1', '3']);
  expect(await numbers({ search: 'five' })).toEqual(['2']);
  expect(await ask({ op: 'profile', column: longName })).toMatchObject({
    column: longName,
    rows: 3,
    distinct: 2,
    top: [
      { value: 'seven', count: 2 },
      { value: 'five', count: 1 },
    ],
  });
});

describe('an unknown result', () => {
  test.each(['0000', undefined, 7])('%j closes the comm', async id => {
    const unknown = await open(id);
    expect([unknown.first.kind, 'code' in unknown.first && unknown.first.code, unknown.closed]).toEqual([
      'error',
      'gone',
      true,
    ]);
  });

  test('that was dropped fails the next request', async () => {
    const dropped = await gridOf('gone << print a = 1');
    await bench().run('%results gone --drop');
    expect(await dropped.ask({ op: 'page', offset: 0, limit: 1 })).toMatchObject({
      kind: 'error',
      code: 'gone',
    });
  });
});

test('a canceled request gets a response saying so', async () => {
  const big = await gridOf('%%limit 1000000\nrange n from 1 to 300000 step 1 | extend s = tostring(n)');
  const sorted = { op: 'page', offset: 0, limit: 1, sort: [{ column: 's', descending: true }] };
  const [first, second] = [big.ask(sorted), big.ask(sorted)];
  big.tell({ id: 99, op: 'cancel', of: 0 });
  expect(await first).toMatchObject({ kind: 'error', code: 'canceled', id: 0 });
  expect(await second).toMatchObject({ kind: 'page', rows: 300_000, cells: [{ n: '99999', s: '99999' }] });
});

test('a result is sent once, as a whole, before a search', async () => {
  const { service, handler, run, close } = await startBench();
  service.answer(seen => {
    if (seen.method === 'PUT') return { status: 204 };
    if (seen.path !== '/v1/local/results') return everyday(seen);
    return response => {
      response.writeHead(200);
      response.write('{"lease":"lease-1"}\n');
    };
  });
  try {
    const { result } = metadata(await run('web | count')) as { result: ResultReference };
    const reader = await open(result.id, handler);
    const sent = () => service.seen.filter(({ method }) => method === 'PUT').map(({ path }) => path);
    reader.tell({ id: 0, op: 'prepare' });
    await expect.poll(sent).toEqual([`/v1/local/results/lease-1/${result.id}`]);
    reader.tell({ id: 1, op: 'prepare' });
    await reader.ask({ op: 'page', offset: 0, limit: 1, search: '1' });
    expect(JSON.parse(service.seen.at(-1)?.body ?? '')).toMatchObject({
      results: { lease: 'lease-1', tables: { _: { id: result.id } } },
    });
    expect(sent()).toHaveLength(1);
  } finally {
    await close();
  }
});
