import { describe, expect, test } from 'vitest';
import { realBench } from '../../real-bench.js';
import { printed, shown, traceback } from '../../session.js';

/** One event per second for twenty minutes, and 700 within a minute of 11:00. */
const events = [
  ...Array.from({ length: 1200 }, (_, index) => ({
    _time: new Date(Date.UTC(2026, 0, 1, 10, 0, index)).toISOString(),
    host: index % 2 === 0 ? 'a' : 'b',
    n: index,
  })),
  ...Array.from({ length: 700 }, (_, index) => ({
    _time: new Date(Date.UTC(2026, 0, 1, 11, 0, 0, (index - 350) * 50)).toISOString(),
    host: 'busy',
    n: index,
  })),
];

const bench = realBench({ web: events });

const numbers = async (): Promise<string> =>
  shown(await bench().run('_ | summarize rows = count(), low = min(n), high = max(n)'))
    .at(-1)
    ?.match(/^\s*(\d+\s+\d+\s+\d+)\s*$/m)?.[1]
    ?.replace(/\s+/g, ' ') ?? '';

describe('%around', () => {
  test.each<[string, string, string]>([
    ['includes events at both ends', '%%around 2026-01-01T10:05:00Z\nweb', '61 270 330'],
    ['takes a duration with --within', '%%around 2026-01-01T10:05:00Z --within 5s\nweb', '11 295 305'],
    ['takes a time with a space', '%%around 2026-01-01 10:05:00 --within 1s\nweb', '3 299 301'],
    ['takes a time between events', '%%around 2026-01-01T10:05:00.5Z --within 500ms\nweb', '2 300 301'],
    [
      'keeps the filters of the query',
      '%%around 2026-01-01T10:05:00Z\nweb | where host == "b"',
      '30 271 329',
    ],
    [
      'finds the events behind a summarize',
      '%%around 2026-01-01T10:05:00Z\nweb | where host == "b" | count',
      '30 271 329',
    ],
  ])('%s', async (_, cell, found) => {
    const run = await bench().run(`%%time 2026-01-01\n${cell}`);
    expect(traceback(run)).toEqual([]);
    expect(printed(run)).not.toContain('nearest');
    expect(await numbers()).toBe(found);
  });

  test('finds the events behind the last result, in time order', async () => {
    await bench().run('%%time 2026-01-01\nweb | where host == "a" | summarize count() by host');
    const run = await bench().run('%around 2026-01-01T10:05:00Z --within 3s');
    expect(traceback(run)).toEqual([]);
    const times = shown(await bench().run('_ | project _time'))
      .at(-1)
      ?.match(/^2026\S+/gm);
    expect(times).toEqual(['2026-01-01T10:04:58Z', '2026-01-01T10:05:00Z', '2026-01-01T10:05:02Z']);
  });

  test('keeps the nearest 500 events, and says so', async () => {
    const run = await bench().run('%%time 2026-01-01\n%%around 2026-01-01T11:00:00Z\nweb');
    expect(traceback(run)).toEqual([]);
    expect(printed(run)).toContain(
      'The 500 events nearest to 2026-01-01T11:00:00Z; there may be more within 30s of it.',
    );
    expect(await numbers()).toMatch(/^500 (?:100 599|101 600)$/);
  });

  test.each<[string, string]>([
    ['%around', 'an argument is missing'],
    ['%around soon', 'soon'],
    ['%around now --within never', '--within is a duration such as 30s or 5m, not never'],
    ['%around now --within 0s', '--within is a duration such as 30s or 5m, not 0s'],
    ['%around now --within -5m', '--within is a duration such as 30s or 5m, not -5m'],
    ['%%around now\nweb | count\n\nweb | count', 'write one query below it'],
    ['%%around now\nprint x = 1', 'unknown field `_time`'],
  ])('refuses %s', async (cell, words) => {
    expect(traceback(await bench().run(cell)).join('\n')).toContain(words);
  });
});
