import { lstat, readdir, rmdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, setAside } from '../store/store-files.js';

/** Options for waiting on a lock. */
export interface LockOptions {
  /** Maximum wait, in milliseconds (default: 20,000); the signal also ends it. With 0, makes one attempt. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called if the lock is lost. Not needed for short work whose result is checked by its readers. */
  readonly onCompromised?: (error: Error) => void;
}

/** Runs `work` while no other process or caller holds the lock of this path; rejects like {@link lockOf}. */
export async function locked<T>(
  lockfilePath: string,
  work: () => Promise<T>,
  options?: LockOptions,
): Promise<T> {
  const unlock = await lockOf(lockfilePath, options);
  try {
    return await work();
  } finally {
    await unlock();
  }
}

/**
 * Takes a lock, and returns a function that releases it. Waits only while the lock is held: the library's own retries would also try to
 * lock on a full disk for as long. Locks of killed processes expire after ten seconds. Rejects with the system's error, ELOCKED if another
 * holds it.
 */
export async function lockOf(
  lockfilePath: string,
  { timeoutMs = 2 * staleMs, signal, onCompromised = () => undefined }: LockOptions = {},
): Promise<() => Promise<void>> {
  const { default: lockfile } = await import('proper-lockfile');
  const options = { lockfilePath, realpath: false, stale: staleMs, onCompromised };
  for (const end = performance.now() + timeoutMs; ; await delay(pollMs, undefined, { signal })) {
    await clear(lockfilePath);
    try {
      const unlock = await lockfile.lock(lockfilePath, options);
      // The lock may have been deleted with its directory, or taken away.
      return () => unlock().catch(() => undefined);
    } catch (error) {
      if (!hasCode(error, 'ELOCKED', 'ENOTEMPTY') || performance.now() >= end) throw error;
    }
  }
}

/**
 * Clears the path of a lock. A lock is an empty directory, touched repeatedly while held; anything else is not ours, and would never be
 * removed.
 */
async function clear(lockfilePath: string): Promise<void> {
  const found = await lstat(lockfilePath).catch(() => undefined);
  if (found === undefined) return;
  const aheadMs = found.mtimeMs - Date.now();
  const mayHold = (error: unknown) =>
    hasCode(error, 'ENOENT') || Math.abs(aheadMs) <= staleMs ? [] : ['unknown'];
  const inside = found.isDirectory() ? await readdir(lockfilePath).catch(mayHold) : ['itself'];
  if (inside.length > 0) await setAside(lockfilePath).catch(unlessMissing);
  // Left behind before the clock was set back; the library would wait until that time.
  else if (aheadMs > staleMs) await rmdir(lockfilePath).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}

const staleMs = 10_000;
const pollMs = 20;
