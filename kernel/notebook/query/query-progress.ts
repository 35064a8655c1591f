import { randomUUID } from 'node:crypto';
import { MOST_TRIES, type Pause } from '../../api/pacing/retry.js';
import type { QueryProgress } from '../../api/wire.js';
import type { CellIo } from '../../jupyter/message.js';
import { underLimit } from '../../signals.js';
import { formatCount, plural } from '../../text.js';

/** The members of a cell's interface that progress uses. */
export type ProgressIo = Pick<CellIo, 'passing' | 'signal'>;

/** Progress of a fetch. */
export interface FetchProgress {
  readonly state: 'fetching';
  readonly rows: number;
}

/** Progress of a running query, if known. */
type Progress = QueryProgress | Pause | FetchProgress;

/** Interval between updates, and the initial delay, in milliseconds: faster results would only flicker. */
const everyMs = 500;

/** Timeout of a progress request, in milliseconds; without a response only the time is shown. */
const answerMs = 400;

/**
 * Runs a query under an id, and shows its progress in its cell after half a second. `ask` returns the service's report for the id;
 * undefined if there is none.
 */
export async function withProgress<T>(
  io: ProgressIo,
  ask: (id: string, signal: AbortSignal) => Promise<Progress | undefined>,
  run: (id: string) => Promise<T>,
): Promise<T> {
  const id = randomUUID();
  const over = new AbortController();
  const started = performance.now();
  const show = async () => {
    const progress = await underLimit(over.signal, answerMs, soon => ask(id, soon)).catch(() => undefined);
    if (over.signal.aborted || io.signal.aborted) return;
    const text = progressText(performance.now() - started, progress);
    io.passing({ data: { 'text/plain': text }, metadata: {} });
  };
  const timer = setInterval(() => void show(), everyMs);
  try {
    return await run(id);
  } finally {
    clearInterval(timer);
    over.abort();
  }
}

/** Formats the progress of a query as a line; `elapsedMs` counts from its start. */
export function progressText(elapsedMs: number, progress: Progress | undefined): string {
  const time = `${(elapsedMs / 1000).toFixed(1)} s`;
  if (progress?.state === 'held up') return `${progress.reason} (${time})`;
  if (progress?.state === 'pausing') return `waiting: ${pauseText(progress)} (${time})`;
  if (progress?.state === 'waiting') return `waiting: ${beforeText(progress.before)} (${time})`;
  if (progress?.state === 'fetching') return `fetched: ${plural(progress.rows, 'row')} (${time})`;
  if (progress === undefined || progress.rows === 0) return `running: ${time}`;
  const rows = `${formatCount(Math.round(progress.rows))} rows`;
  if (progress.share === undefined) return `running: ${time}, ${rows} to examine`;
  return `running: ${time}, about ${Math.floor(progress.share * 100)} % of ${rows} examined`;
}

function pauseText({ reason, next, ms }: Pause): string {
  return `${reason}; attempt ${next} of ${MOST_TRIES} in ${(ms / 1000).toFixed(1)} s`;
}

function beforeText(before: number): string {
  if (before === 0) return 'this query is next';
  return before === 1 ? '1 query before this one' : `${before} queries before this one`;
}
