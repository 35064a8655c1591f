/**
 * Runs work under a signal that aborts when any of these does. None of them retains it afterwards: `AbortSignal.any` leaves a trace in
 * each, even in one that lives as long as the service, and loses a timeout that nothing else references after a garbage collection.
 */
export async function underEither<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const both = new AbortController();
  const heed = signals.map(signal => [signal, () => both.abort(signal.reason)] as const);
  for (const [signal, abort] of heed) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  }
  try {
    return await work(both.signal);
  } finally {
    for (const [signal, abort] of heed) signal.removeEventListener('abort', abort);
  }
}

/** Runs work under a signal that aborts with another, or after `limitMs` milliseconds with the reason of `AbortSignal.timeout`. */
export async function underLimit<T>(
  signal: AbortSignal | undefined,
  limitMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException(`not ended within ${limitMs} ms`, 'TimeoutError'));
  const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs);
  try {
    return await underEither(signal === undefined ? [limit.signal] : [signal, limit.signal], work);
  } finally {
    clearTimeout(timer);
  }
}

/** True if a signal was aborted by a timeout, not by a user. */
export function isLate(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && signal.reason?.name === 'TimeoutError';
}
