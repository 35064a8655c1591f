import { rename, stat } from 'node:fs/promises';
import { AplKernelError } from '../../errors.js';
import { bytesOf, decodedLines } from '../../files.js';
import { locked } from '../../local/lease/lock.js';
import { appendLine, unsealed } from '../../local/sealed.js';
import { systemRefusal } from '../../machine.js';
import { plural } from '../../text.js';

/** One query that ran: what is needed to run it again, and its outcome. */
export interface LoggedQuery {
  /** Start time, RFC 3339. */
  readonly at: string;
  readonly profile: string;
  readonly apl: string;
  /** Name of its result. */
  readonly name?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** As sent. */
  readonly startTime: string;
  readonly endTime: string;
  /** Absent if it failed; then `error` is the code. */
  readonly rows?: number;
  readonly error?: string;
  readonly elapsedMs: number;
  readonly traceId?: string;
  /** Whether the text or a parameter contained an access token: the query cannot be rerun from here. */
  readonly redacted?: boolean;
}

/** Maximum size, beyond which the older half is dropped. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The queries of all kernels of a data directory, oldest first, one JSON object per line. Once a file reaches half the maximum size,
 * it is renamed to replace the older file, so that a line added concurrently by another kernel is in one of the two.
 */
export class QueryLog {
  readonly #file: string;
  readonly #older: string;
  readonly #maxBytes: number;

  constructor(file: string, maxBytes = MAX_BYTES) {
    this.#file = file;
    this.#older = `${file}.old`;
    this.#maxBytes = maxBytes;
  }

  /** Adds a query. Returns errors instead of throwing: a query must not fail because it cannot be logged. */
  async append(query: LoggedQuery): Promise<unknown> {
    try {
      appendLine(this.#file, query);
      if (await this.#isFull()) await this.#renew();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Returns every query, skipping damaged lines; empty before the first. Throws AplKernelError `query-log` if the file cannot be read. */
  async entries(): Promise<readonly LoggedQuery[]> {
    return (await this.read()).entries;
  }

  /** Like `entries`, with a sentence about damaged lines, if any. */
  async read(): Promise<{ readonly entries: readonly LoggedQuery[]; readonly damage?: string }> {
    const lines = await this.#lines();
    const entries = lines.flatMap(line => readEntry(line) ?? []);
    const unread = lines.length - entries.length;
    if (unread === 0) return { entries };
    return { entries, damage: `${plural(unread, 'damaged line')} of ${this.#file} left out.` };
  }

  async #lines(): Promise<readonly string[]> {
    for (;;) {
      const before = await inodeOf(this.#older);
      const texts = [await this.#text(this.#older), await this.#text(this.#file)];
      // The file was renamed in the meantime: it was read twice, or missed.
      if ((await inodeOf(this.#older)) !== before) continue;
      return texts.flatMap(text => text.split('\n')).filter(line => line !== '');
    }
  }

  async #text(file: string): Promise<string> {
    try {
      return decodedLines(await bytesOf(file));
    } catch (cause) {
      if (isMissing(cause)) return '';
      const { reason = '', hint = 'Check its permissions.' } = systemRefusal(cause) ?? {};
      const message = `the query log ${file} cannot be read${reason && `: ${reason}`}`;
      throw new AplKernelError('query-log', message, { hint, cause });
    }
  }

  async #isFull(): Promise<boolean> {
    return (await stat(this.#file)).size > this.#maxBytes / 2;
  }

  /**
   * Renames the file, one kernel at a time: a second one would replace the older half with the new file. On contention, leaves it to
   * the next query.
   */
  async #renew(): Promise<void> {
    const renewed = locked(
      `${this.#file}.lock`,
      async () => {
        if (await this.#isFull()) await rename(this.#file, this.#older);
      },
      { timeoutMs: 0 },
    );
    await renewed.catch(error => {
      if (error.code !== 'ELOCKED') throw error;
    });
  }
}

async function inodeOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.ino;
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR');
}

function readEntry(line: string): LoggedQuery | undefined {
  try {
    const { content, intact } = unsealed(JSON.parse(line));
    if (intact === false) return undefined;
    const entry = content as LoggedQuery;
    const texts = [entry.at, entry.profile, entry.apl, entry.startTime, entry.endTime];
    return texts.every(text => typeof text === 'string') ? entry : undefined;
  } catch {
    return undefined;
  }
}
