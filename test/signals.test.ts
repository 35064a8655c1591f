import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isLate, underEither, underLimit } from '../kernel/signals.js';
import { collectGarbage } from './setup/garbage.js';

/** Starts work that only its signal ends. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<boolean>(resolve => {
    signal.addEventListener('abort', () => resolve(isLate(signal)), { once: true });
  });

test('a timeout fires after a garbage collection and is recognized as one', async () => {
  const ended = underLimit(new AbortController().signal, 100, untilAborted);
  await delay(20);
  collectGarbage();
  expect(await Promise.race([ended, delay(10_000, 'never')])).toBe(true);
});

test('an abort before the timeout keeps its reason and is not a timeout', async () => {
  const user = new AbortController();
  const ended = underLimit(user.signal, 60_000, async signal => [await untilAborted(signal), signal.reason]);
  user.abort('stopped');
  expect(await ended).toEqual([false, 'stopped']);
});

test('a signal that is already aborted aborts the work from the start', async () => {
  const work = async (signal: AbortSignal) => signal.aborted;
  expect(await underLimit(AbortSignal.abort(), undefined, work)).toBe(true);
  expect(await underEither([new AbortController().signal, AbortSignal.abort()], work)).toBe(true);
});

test('nothing aborts the signal of work that has ended', async () => {
  const user = new AbortController();
  const signal = await underLimit(user.signal, 20, async signal => signal);
  await delay(40);
  user.abort();
  expect(signal.aborted).toBe(false);
});

test('an error of work without a timeout or signal is passed on', async () => {
  await expect(underLimit(undefined, undefined, () => Promise.reject(new Error('work')))).rejects.toThrow(
    'work',
  );
});
