import { describe, expect, test } from 'vitest';
import { notices, realBench } from '../real-bench.js';
import { traceback } from '../session.js';

/** More than one page with three distinct times: the second page begins among rows of the same time. */
const rows = Array.from({ length: 50_500 }, (_, n) => ({ _time: `2026-03-04T04:00:0${n % 3}Z`, n }));

const bench = realBench({ web: rows });

describe('fetches every row of the local service once', () => {
  test.each([
    'web',
    'web | sort by _time asc',
    'web | extend m = n + 1 | where m > 0',
    'web | where _time < now()',
  ])('%s', async query => {
    const run = await bench().run(
      `%%time all\n%fetch --all\n%assert rows == 50500 and dcount(n) == 50500 and min(n) == 0 and sum(n) == 1275099750\n${query}`,
    );
    expect([traceback(run), notices(run)]).toEqual([[], []]);
  });

  test('as many rows of a sample as it counts', async () => {
    const range = '%%time 2026-03-04T00:00:00Z..2026-03-04T00:10:00Z';
    const counted = await bench().run(`${range}\nc << ['sample-http-logs'] | count`);
    const run = await bench().run(`${range}\n%fetch --all\ns << ['sample-http-logs']`);
    const same = await bench().run(
      '%assert sum(same) == 1\nunion c, (s | count) | summarize same = dcount(["count"])',
    );
    expect([traceback(counted), traceback(run), notices(run), traceback(same)]).toEqual([[], [], [], []]);
  });
});

describe('a line above the result reports missing rows', () => {
  test.each([
    ['--max 50500', 'web', []],
    [
      '--max 50499',
      'web',
      ['Only 50,499 rows were fetched (--max 50499). `%fetch --all` fetches every row.'],
    ],
    [
      '--all',
      'web | project n',
      [
        'Only 50,000 rows were fetched (the query returns no `_time` to page by). Keep `_time` among its fields.',
      ],
    ],
    ['--all', 'web | where n < 50000 | project n', []],
  ])('%s of %s', async (option, query, expected) => {
    const run = await bench().run(`%%time all\n%fetch ${option}\n${query}`);
    expect(notices(run)).toEqual(expected);
  });
});
