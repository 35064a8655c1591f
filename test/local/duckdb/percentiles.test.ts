import { expect, test } from 'vitest';
import { openQueries } from '../queries.js';

const { run, rows } = openQueries();

const source = 'range x from 1 to 9 step 1 | extend k = x % 2, y = x / 2.0';

test('percentiles of the same values are found together, and each is its own', async () => {
  const apl = `${source} | summarize a = percentile(x, 50), b = percentile(x, 90), c = percentileif(x, 50, x > 5), d = percentile(y, 25), e = percentile(x, 50) by k | sort by k asc`;
  expect(await rows(apl)).toEqual([
    ['0', '5', '7.4', '7', '1.75', '5'],
    ['1', '5', '8.2', '8', '1.5', '5'],
  ]);
  const outcome = await run(apl);
  const sql = outcome.ok ? outcome.ran.table.sql : '';
  expect(sql.match(/\[[0-9., ]+\]\)\[\d\]|, 0\.\d+\)/g)).toEqual([
    ...['[0.5, 0.9])[1]', '[0.5, 0.9])[2]', ', 0.5)'],
    ...[', 0.25)', '[0.5, 0.9])[1]'],
  ]);
});

test('percentiles of integers beyond 2^53 are those of the nearest reals', async () => {
  const wide = 'range x from 9007199254740993 to 9007199254740997 step 1';
  const [both] = await rows(
    `${wide} | summarize percentile(x, 10), percentile(x, 90), percentile(x * 1.0, 10), percentile(x * 1.0, 90)`,
  );
  expect(both?.slice(0, 2)).toEqual(both?.slice(2));
});

test('an invalid percentage beside valid ones is refused where it is', async () => {
  const apl = 'range x from 1 to 3 step 1 | summarize percentile(x, 50), percentile(x, 101)';
  const outcome = await run(apl);
  expect(
    outcome.ok ? [] : outcome.diagnostics.map(({ message, from }) => [message, apl.slice(from)]),
  ).toEqual([['a percentile must be between 0 and 100, not 101', '101)']]);
});
