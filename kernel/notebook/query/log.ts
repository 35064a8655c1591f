import { appendFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AplKernelError } from '../../errors.js';

/** One query that ran: the facts needed to run it again, and its outcome. */
export interface LoggedQuery {
  /** When it began, RFC 3339. */
  readonly at: string;
  readonly profile: string;
  readonly apl: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** As sent. */
  readonly startTime: string;
  readonly endTime: string;
  /** Absent when it failed; then `error` is the code. */
  readonly rows?: number;
  readonly error?: string;
  readonly elapsedMs: number;
  readonly traceId?: string;
}

/** A larger file loses its older half. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The queries of every kernel of a data directory, oldest first, one JSON object a line. */
export class QueryLog {
  readonly #file: string;
  readonly #maxBytes: number;

  constructor(file: string, maxBytes = MAX_BYTES) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  /** Adds a query. A log that cannot be written is no reason for a query to fail: the error is returned. */
  async append(query: LoggedQuery): Promise<unknown> {
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      await appendFile(this.#file, `${JSON.stringify(query)}\n`, { mode: 0o600 });
      if ((await stat(this.#file)).size > this.#maxBytes) await this.#halve();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Every query, except damaged lines; none before the first. Throws AplKernelError `query-log` when the file cannot be read. */
  async entries(): Promise<readonly LoggedQuery[]> {
    return (await this.#lines()).flatMap(line => readEntry(line) ?? []);
  }

  async #lines(): Promise<readonly string[]> {
    try {
      return (await readFile(this.#file, 'utf8')).split('\n').filter(line => line !== '');
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
        return [];
      throw new AplKernelError('query-log', `the query log ${this.#file} cannot be read`, {
        hint: 'Check its permissions.',
        cause,
      });
    }
  }

  async #halve(): Promise<void> {
    const lines = await this.#lines();
    const beside = `${this.#file}.${process.pid}.tmp`;
    await writeFile(beside, `${lines.slice(Math.ceil(lines.length / 2)).join('\n')}\n`, { mode: 0o600 });
    await rename(beside, this.#file);
  }
}

function readEntry(line: string): LoggedQuery | undefined {
  try {
    const entry = JSON.parse(line);
    const texts = [entry.at, entry.profile, entry.apl, entry.startTime, entry.endTime];
    return texts.every(text => typeof text === 'string') ? entry : undefined;
  } catch {
    return undefined;
  }
}
