import { describe, expect, test } from 'vitest';
import { notices, realBench } from '../real-bench.js';
import { everyday, queries, shown, startBench } from '../session.js';

const bench = realBench({
  web: [
    { _time: '2026-01-02T10:00:00Z', n: 1 },
    { _time: '2026-01-02T10:50:00Z', n: 2 },
  ],
});
const told = '`now()` and `ago()` are relative to 2026-01-02T11:00:00Z, the end of the range.';

describe('the clock under a frozen range', () => {
  test.each([
    ['print x = now()', '2026-01-02T11:00:00Z', [told]],
    ['print x = ago(1h)', '2026-01-02T10:00:00Z', [told]],
    ['web | where _time > ago(30m) | project n', '2', [told]],
    ['web | summarize c = countif(_time > now() - 30m)', '1', [told]],
    ['let since = ago(30m); web | where _time > since | project n', '2', [told]],
    ['web | summarize c = count()', '2', []],
  ])('%s', async (query, value, said) => {
    const run = await bench().run(`%%time 2026-01-02T10:00Z..2026-01-02T11:00Z\n${query}`);
    expect(shown(run).at(-1)).toContain(value);
    expect(notices(run)).toEqual(said);
  });

  test('is not frozen for a relative range or one that ends in the future', async () => {
    const values = await Promise.all(
      ['last 1h', '2026-01-02..2200-01-01'].map(async range => {
        const run = await bench().run(`%%time ${range}\nprint x = now() > datetime(2026-03-01)`);
        return [shown(run).at(-1)?.includes('true'), notices(run)];
      }),
    );
    expect(values).toEqual([
      [true, []],
      [true, []],
    ]);
  });
});

test('warns that a hosted service uses its own clock, and sends it no time', async () => {
  const hosted = await startBench({
    reply: everyday,
    environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-1' }),
  });
  try {
    const run = await hosted.run('%%time 2026-01-02..2026-01-03\nweb | where _time > ago(1h) | count');
    expect(queries(hosted.service)[0]).not.toHaveProperty('queryOptions');
    expect(notices(run).at(-1)).toBe(
      '`now()` and `ago()` are relative to the time of this run, as the service decides, not to 2026-01-03T00:00:00Z, the end of the range. Write absolute times instead to get the same result again.',
    );
  } finally {
    await hosted.close();
  }
});
