import { rename, stat } from 'node:fs/promises';
import { AplKernelError } from '../../errors.js';
import { bytesOf, decodedLines } from '../../files.js';
import { locked } from '../../local/lease/lock.js';
import { appendLine, unsealed } from '../../local/sealed.js';
import { systemRefusal } from '../../machine.js';
import { plural } from '../../text.js';

/** One query that ran: the facts needed to run it again, and its outcome. */
export interface LoggedQuery {
  /** When it began, RFC 3339. */
  readonly at: string;
  readonly profile: string;
  readonly apl: string;
  /** The name that its result was given. */
  readonly name?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** As sent. */
  readonly startTime: string;
  readonly endTime: string;
  /** Absent when it failed; then `error` is the code. */
  readonly rows?: number;
  readonly error?: string;
  readonly elapsedMs: number;
  readonly traceId?: string;
  /** The text or a parameter held an access token: the query cannot be run again from here. */
  readonly redacted?: boolean;
}

/** Of more than this the older half goes. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The queries of every kernel of a data directory, oldest first, one JSON object a line. A file that holds half of what is kept
 * becomes the older one: it is renamed, so that a line that another kernel adds meanwhile is in one of both.
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

  /** Adds a query. A log that cannot be written is no reason for a query to fail: the error is returned. */
  async append(query: LoggedQuery): Promise<unknown> {
    try {
      appendLine(this.#file, query);
      if (await this.#isFull()) await this.#renew();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Every query, except damaged lines; none before the first. Throws AplKernelError `query-log` when the file cannot be read. */
  async entries(): Promise<readonly LoggedQuery[]> {
    return (await this.read()).entries;
  }

  /** Those, and a sentence about the damaged lines, if there are any. Throws the same. */
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
      // The file became the older one meanwhile: both were the same, or it was missed.
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

  /** One kernel at a time: a second one would put the new file in place of the older half. Who comes late leaves it to the next query. */
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
