import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bench, everyday, printed, queries, shown, startBench, traceback } from '../../session.js';

let bench: Bench;

beforeAll(async () => {
  bench = await startBench();
});

afterAll(() => bench.close());

/** Returns the last request: its body without query and range, and its parameters. */
async function sent(cell: string): Promise<readonly unknown[]> {
  const run = await bench.run(cell);
  expect(traceback(run)).toEqual([]);
  const {
    apl: _,
    startTime: __,
    endTime: ___,
    queryOptions: own,
    ...body
  } = queries(bench.service).at(-1) ?? {};
  const { now: ____, ...queryOptions } = (own ?? {}) as Record<string, unknown>;
  return [{ ...body, queryOptions }, bench.service.seen.at(-1)?.parameters];
}

const plain = [{ queryOptions: {} }, { format: 'tabular' }];

test.each([
  ['--nocache', plain[0], { format: 'tabular', nocache: 'true' }],
  [
    '--option caseSensitive=true --option resolution=1m --option n=5 --option \'s="5"\'',
    { queryOptions: { caseSensitive: true, resolution: '1m', n: 5, s: '5' } },
    plain[1],
  ],
  [
    '--order status:desc --order a:b --order c:asc',
    {
      queryOptions: {},
      defaultOrder: [
        { field: 'status', desc: true },
        { field: 'a:b', desc: false },
        { field: 'c', desc: false },
      ],
    },
    plain[1],
  ],
  ['--library x --library y', { queryOptions: {}, libraries: ['x', 'y'] }, plain[1]],
  [
    '--cursor 0abc --include-cursor --cursor-field',
    { queryOptions: {}, cursor: '0abc', includeCursor: true, includeCursorField: true },
    plain[1],
  ],
])('options above a cell apply to it only: %s', async (line, body, parameters) => {
  expect(await sent(`%%request ${line}\nweb`)).toEqual([body, parameters]);
  expect(await sent('web')).toEqual(plain);
});

test('%request applies to the notebook until cleared, and is in the provenance', async () => {
  expect(printed(await bench.run('%request --nocache --order status'))).toBe(
    'Options of requests: nocache true, defaultOrder [{"field":"status","desc":false}]\n',
  );
  const expected = { nocache: true, defaultOrder: [{ field: 'status', desc: false }], defaultLimit: 7 };
  const run = await bench.run('%%limit 7\nweb');
  const result = run.outputs.find(each => each.kind === 'result') as unknown;
  expect((result as { metadata: { apl: { options: unknown } } } | undefined)?.metadata.apl.options).toEqual(
    expected,
  );
  expect(shown(await bench.run('%show-query')).join('\n')).toContain(
    `options: ${JSON.stringify(expected)}\n`,
  );
  expect(printed(await bench.run('%request'))).toContain('nocache true');
  await bench.run('%request --clear');
  expect(await sent('web')).toEqual(plain);
  expect(printed(await bench.run('%request'))).toBe('Options of requests: none\n');
});

test.each([
  ['%request --cursor 0abc', 'a cursor is for one cell'],
  ['%request --clear --nocache', '--clear cannot be combined with other options'],
  ['%request --option =5', '=5 is not NAME=VALUE'],
  ['%%request --cursor 0abc\n%%fetch --all\nweb', '%fetch: it pages on its own and takes no cursor'],
])('refuses %s', async (cell, message) => {
  expect(traceback(await bench.run(cell)).join('\n')).toContain(message);
});

test('a starred query saves the options except nocache, and runs with them', async () => {
  const saved: Record<string, unknown>[] = [];
  bench.service.answer(each => {
    if (!each.path.includes('starred')) return everyday(each);
    if (each.method === 'POST') saved.push({ ...JSON.parse(each.body), id: 's1' });
    return { body: each.method === 'GET' && each.path.endsWith('queries') ? saved : saved[0] };
  });
  const run = await bench.run('%%request --nocache --library x --order status\n%star Mine --new\nweb');
  expect(traceback(run)).toEqual([]);
  const options = { defaultOrder: [{ field: 'status', desc: false }], libraries: ['x'] };
  expect(saved[0]?.query).toMatchObject(options);
  expect(saved[0]?.query).not.toHaveProperty('nocache');
  expect((await sent('%run star:s1'))[0]).toMatchObject(options);
});
