import { describe, expect, test } from 'vitest';
import { notices, realBench } from '../real-bench.js';
import { metadata, rows } from './rows.js';

const time = (second: number) => `2026-03-04T05:00:${String(second).padStart(2, '0')}Z`;

const bench = realBench({
  web: [
    { _time: time(1), uri: '/a', status: 200, bytes: 9_007_199_254_740_993n.toString() },
    { _time: time(2), uri: '/b', status: 500, bytes: '-9223372036854775808' },
    { _time: time(3), uri: '/b', status: 503, bytes: '9223372036854775807' },
    { _time: time(4), uri: null, status: 404, bytes: null },
  ],
  hosts: [
    { _time: time(1), uri: '/a', host: 'alpha' },
    { _time: time(1), uri: '/b', host: 'beta' },
  ],
});

async function check(code: string, expected: unknown): Promise<void> {
  expect(rows(await bench().run(code))).toEqual(expected);
}

const range = '%%time 2026-03-04\n';

describe('a query over a result', () => {
  test('reads all of its rows, whatever the current time range', async () => {
    await bench().run(`${range}errs << web | where status >= 500`);
    await check('errs | summarize n = count() by uri', [{ uri: '/b', n: '2' }]);
    await check('errs | count', [{ count: '2' }]);
  });

  test('reads the last result as `_`', async () => {
    await bench().run(`${range}web | where status >= 400 | project uri, status | sort by status asc`);
    await check('_ | where isnull(uri) | project status', [{ status: '404' }]);
    await check('_ | extend twice = status * 2', [{ status: '404', twice: '808' }]);
  });

  test('keeps the order of its rows and applies no limit', async () => {
    await bench().run('%limit 5000\nmany << range n from 1 to 3000 step 1 | sort by n desc');
    await bench().run('%limit --clear');
    await check('many | limit 2', [{ n: '3000' }, { n: '2999' }]);
    await check('many | where n > 0 | extend m = n | count', [{ count: '3000' }]);
    const run = await bench().run('many | where n > 10');
    expect(metadata(run)).toMatchObject({
      tables: [{ rows: 2990 }],
    });
  });

  test('keeps the order of rows of equal times', async () => {
    const made = 'range n from 1 to 4000 step 1 | extend _time = datetime(2026-03-04) + (n % 3) * 1s';
    await bench().run(`%limit 4000\nties << ${made} | sort by n desc`);
    await bench().run('%limit --clear');
    const found = (second: number) =>
      Array.from({ length: 4000 }, (_, index) => ({ n: String(4000 - index) })).filter(
        ({ n }) => Number(n) % 3 === second,
      );
    const [zero, one, two] = [found(0), found(1), found(2)];
    const query = (order: string) => `ties | where n > 0 ${order} | limit 3000 | project n`;
    await check(query('| sort by _time asc'), [...zero, ...one, ...two].slice(0, 3000));
    await check(query('| sort by _time desc'), [...two, ...one, ...zero].slice(0, 3000));
  });

  test('preserves 64-bit integers, nanoseconds, durations, nulls and JSON', async () => {
    await bench().run(
      "exact << print i = 9223372036854775807, j = -9223372036854775807 - 1, t = datetime(2026-03-04T05:06:07.123456789Z), d = 1d + 1tick, n = int(null), s = '', x = dynamic({'a': [1, null]}), b = true, r = 0.1, z = dynamic(null)",
    );
    await check(
      'exact | project i, j, ti = tostring(t), ns = t - datetime(2026-03-04T05:06:07Z), d = d - 1d, n, e = isempty(s), s0 = strlen(s), a = array_length(x.a), b, r, z',
      [
        {
          i: '9223372036854775807',
          j: '-9223372036854775808',
          ti: '2026-03-04T05:06:07.123456789Z',
          ns: '123.456789ms',
          d: '100ns',
          n: null,
          e: 'true',
          s0: '0',
          a: '2',
          b: 'true',
          r: '0.1',
          z: null,
        },
      ],
    );
  });

  test('joins results with results, datasets and files', async () => {
    await bench().run(`${range}errs << web | where status >= 500`);
    await bench().run(`${range}names << hosts | project uri, host`);
    await check('errs | join kind=inner (names) on uri | summarize n = count() by host', [
      { host: 'beta', n: '2' },
    ]);
    await check(`${range}errs | lookup hosts on uri | project host, status | sort by status asc`, [
      { host: 'beta', status: '500' },
      { host: 'beta', status: '503' },
    ]);
    await check(`${range}hosts | join kind=leftanti errs on uri | project host`, [{ host: 'alpha' }]);
    await check(
      `${range}union withsource=from errs, web | summarize n = count() by from | sort by from asc`,
      [
        { from: 'errs', n: '2' },
        { from: 'web', n: '4' },
      ],
    );
    await check(`${range}web | where uri in (errs | project uri) | count`, [{ count: '2' }]);
    await check(
      "errs | lookup (datatable(uri: string, owner: string)['/b', 'ops']) on uri | take 1 | project owner",
      [{ owner: 'ops' }],
    );
    await check('let e = errs;\ne | count', [{ count: '2' }]);
  });

  test('supports functions that run outside the engine', async () => {
    await bench().run("agents << print ua = 'a%20b', n = 9223372036854775807");
    await check('agents | project u = url_decode(ua), n', [{ u: 'a b', n: '9223372036854775807' }]);
    await check('agents | join (agents | project n, v = url_decode(ua)) on n | project v', [{ v: 'a b' }]);
  });

  test('reads results with no rows, unusual names or duplicate names', async () => {
    await bench().run(`${range}none << web | where status == 1`);
    await check('none | count', [{ count: '0' }]);
    await check('none | project uri', []);
    await bench().run("odd << print ['a b'] = 1, ['A b'] = 2, ['select'] = 3, ['\"x'] = 4, [\"it's\"] = 5");
    await check("odd | project s = ['a b'] + ['A b'] + ['select'] + ['\"x'] + [\"it's\"]", [{ s: '15' }]);
    await bench().run('twice << print a = 1, a = 2');
    await check('twice | getschema | project ColumnName', [{ ColumnName: 'a' }, { ColumnName: 'a1' }]);
  });

  test('preserves repeated, distinct and hostile strings', async () => {
    await bench().run(
      `texts << range n from 1 to 3000 step 1 | extend few = case(n % 4 == 0, 'a', n % 4 == 1, '', n % 4 == 2, '\u{1F600}\u202E', strcat('x', tostring(dynamic("\\u0000")), 'y')), many = strcat('v', n)`,
    );
    await check('texts | summarize n = count() by few, l = strlen(few) | sort by l asc, few asc', [
      { few: '', l: '0', n: '750' },
      { few: 'a', l: '1', n: '750' },
      { few: '\u{1F600}\u202E', l: '2', n: '750' },
      { few: 'x\u0000y', l: '3', n: '750' },
    ]);
    await check('texts | summarize n = dcount(many)', [{ n: '3000' }]);
    await check("texts | where few == 'a' and many has 'v4' | count", [{ count: '1' }]);
  });
});

describe('names', () => {
  test('a result shadows a dataset of its name, with a notice; brackets mean the dataset', async () => {
    await bench().run(`${range}web << web | where status == 200`);
    const run = await bench().run('web | count');
    expect(rows(run)).toEqual([{ count: '1' }]);
    expect(notices(run)).toEqual(["`web` is the named result; the dataset is `['web']`."]);
    await check(`${range}['web'] | count`, [{ count: '4' }]);
    await bench().run('%results web --drop');
    await check(`${range}web | count`, [{ count: '4' }]);
  });

  test('a `let` table shadows a result', async () => {
    await bench().run('own << print a = 1');
    await check('let own = datatable(a: long)[7];\nown | project a', [{ a: '7' }]);
  });

  test('an unknown name is refused', async () => {
    await bench().run('failures << print a = 1');
    await check('failurs | count', 'unknown dataset `failurs`');
  });
});

test('a query over results and datasets reports what the time range applies to', async () => {
  await bench().run(`${range}errs << web | where status >= 500`);
  const run = await bench().run(`${range}union errs, web | count`);
  expect(notices(run)).toEqual(['The time range applies only to the datasets; all rows of `errs` are read.']);
});

test('a query over results alone has their range', async () => {
  await bench().run(`${range}errs << web`);
  const run = await bench().run('errs | summarize n = count() by bin_auto(_time)');
  expect(metadata(run)).toMatchObject({
    startTime: '2026-03-04T00:00:00Z',
    endTime: '2026-03-05T00:00:00Z',
  });
});
