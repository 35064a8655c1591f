import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Pause } from '../../../kernel/api/pacing/retry.js';
import type { QueryProgress } from '../../../kernel/api/wire.js';
import { progressText, withProgress } from '../../../kernel/notebook/query/query-progress.js';

test.each<[string, number, QueryProgress | Pause | undefined]>([
  ['running: 0.5 s', 520, undefined],
  ['running: 1.0 s', 1_000, { state: 'running', rows: 0 }],
  ['running: 12.3 s, 1,000,000 rows to examine', 12_340, { state: 'running', rows: 1_000_000 }],
  ['running: 3.5 s, 151,200 rows to examine', 3_500, { state: 'running', rows: 151_200.000907 }],
  [
    'running: 2.0 s, about 34 % of 10,000,000 rows examined',
    2_000,
    { state: 'running', rows: 10_000_000, share: 0.349 },
  ],
  ['waiting: this query is next (0.5 s)', 500, { state: 'waiting', before: 0 }],
  ['waiting: 1 query before this one (1.5 s)', 1_500, { state: 'waiting', before: 1 }],
  ['waiting: 3 queries before this one (1.5 s)', 1_500, { state: 'waiting', before: 3 }],
  [
    'waiting for the data directory /d (2.5 s)',
    2_500,
    { state: 'held up', reason: 'waiting for the data directory /d' },
  ],
  [
    'waiting: status 503; attempt 2 of 4 in 1.3 s (0.5 s)',
    500,
    { state: 'pausing', reason: 'status 503', next: 2, ms: 1_250 },
  ],
])('%s', (text, elapsedMs, progress) => {
  expect(progressText(elapsedMs, progress)).toBe(text);
});

/** Runs a query that ends once `count` lines are shown; returns everything its cell shows until well after that. */
async function shownUntil(
  count: number,
  ask: (id: string, signal: AbortSignal) => Promise<QueryProgress | undefined>,
) {
  const shown: string[] = [];
  const cell = new EventEmitter();
  const io = {
    signal: new AbortController().signal,
    passing: ({ data }: { readonly data: Readonly<Record<string, unknown>> }) => {
      shown.push(String(data['text/plain']).replace(/[\d.]+ s/, 'T'));
      cell.emit('line');
    },
  };
  const ids = new Set<string>();
  const run = async (id: string) => {
    ids.add(id);
    while (shown.length < count) await once(cell, 'line');
    return 'the result';
  };
  const asked = async (id: string, signal: AbortSignal) => {
    ids.add(id);
    return ask(id, signal);
  };
  expect(await withProgress(io, asked, run)).toBe('the result');
  await delay(600);
  expect(ids.size).toBe(1);
  return shown;
}

test('a quick query shows nothing', async () => {
  expect(await shownUntil(0, async () => ({ state: 'running', rows: 7 }))).toEqual([]);
});

test("a longer query shows the service's progress, and nothing once it ends", async () => {
  let before = 2;
  expect(await shownUntil(2, async () => ({ state: 'waiting', before: before-- }))).toEqual([
    'waiting: 2 queries before this one (T)',
    'waiting: 1 query before this one (T)',
  ]);
});

test('shows only the time if the service reports no progress or does not respond', async () => {
  const refused = async () => {
    throw new Error('not found');
  };
  const mute = (_: string, signal: AbortSignal) => delay(60_000, undefined, { signal });
  expect(await shownUntil(1, refused)).toEqual(['running: T']);
  expect((await shownUntil(1, mute))[0]).toBe('running: T');
});
