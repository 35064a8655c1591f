import { lstat, readdir, rmdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, setAside } from '../store/store-files.js';

/** How a lock is waited for. */
export interface LockOptions {
  /** For how long, in milliseconds, or until the signal (default: 20,000). With 0, one attempt is made. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called if another takes it away. Work that is short, and whose result is checked by those who read it, need not know. */
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
 * Takes a lock, and returns what gives it back. Waits for one that is held, and for nothing else: the library's own way of waiting would
 * try for as long to lock on a full disk. What a killed process left expires after ten seconds. Rejects with the system's error, ELOCKED
 * while another holds it.
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
      // It is gone with its directory when that was deleted, or was taken away.
      return () => unlock().catch(() => undefined);
    } catch (error) {
      if (!hasCode(error, 'ELOCKED', 'ENOTEMPTY') || performance.now() >= end) throw error;
    }
  }
}

/**
 * A lock is an empty directory, touched again and again while it is held. Anything else was put there by no program of ours, and nobody
 * would remove it.
 */
async function clear(lockfilePath: string): Promise<void> {
  const found = await lstat(lockfilePath).catch(() => undefined);
  if (found === undefined) return;
  const aheadMs = found.mtimeMs - Date.now();
  const mayHold = (error: unknown) =>
    hasCode(error, 'ENOENT') || Math.abs(aheadMs) <= staleMs ? [] : ['unknown'];
  const inside = found.isDirectory() ? await readdir(lockfilePath).catch(mayHold) : ['itself'];
  if (inside.length > 0) await setAside(lockfilePath).catch(unlessMissing);
  // Left behind before the clock was set back; the library would wait until then.
  else if (aheadMs > staleMs) await rmdir(lockfilePath).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}

const staleMs = 10_000;
const pollMs = 20;
