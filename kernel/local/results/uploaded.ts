import { randomUUID } from 'node:crypto';
import type { WantedResults } from '../../api/wire.js';
import { present } from '../../present.js';
import { LocalError } from '../local-errors.js';
import type { SentTable } from './sent-arrow.js';
import type { ResultTable, ResultTables } from './tables.js';

/** A table of rows from elsewhere, such as a result sent by a kernel. */
export interface UploadedResult extends ResultTable {
  /** The rows as an Arrow stream, to load into an engine in another process. */
  readonly body: Uint8Array;
}

/** The results that a query may read, by the names it uses; `rowField` is a field with the row numbers. */
export type ReadableResults = ReadonlyMap<
  string,
  { readonly uploaded: UploadedResult; readonly rowField?: string }
>;

/**
 * The results of kernels, in memory only. A kernel has a lease while connected; its results are dropped with it. If space runs out, the
 * least recently read results are dropped: a kernel sends them again when needed.
 */
export class UploadedResults {
  readonly #tables: ResultTables;
  readonly #budgetBytes: number;
  readonly #leases = new Map<string, Map<string, UploadedResult>>();
  /** All results, least recently read first. */
  readonly #used = new Set<UploadedResult>();
  /** Number of queries currently reading each result. */
  readonly #readers = new Map<UploadedResult, number>();

  constructor(tables: ResultTables, budgetBytes: number) {
    this.#tables = tables;
    this.#budgetBytes = budgetBytes;
  }

  /** Returns a new lease; its name is the permission to send and read results under it. */
  lease(): string {
    const lease = randomUUID();
    this.#leases.set(lease, new Map());
    return lease;
  }

  /** Ends a lease and drops its results. */
  async end(lease: string): Promise<void> {
    const results = [...(this.#leases.get(lease)?.values() ?? [])];
    this.#leases.delete(lease);
    await Promise.all(results.map(each => this.#forget(each)));
  }

  /** Stores a result, replacing one with the same id. */
  async put(lease: string, id: string, body: Uint8Array, sent: SentTable): Promise<void> {
    const results = this.#of(lease);
    const uploaded = { ...(await this.#tables.make(sent)), body };
    // The kernel may have left in the meantime.
    if (this.#leases.get(lease) !== results) return this.#forget(uploaded);
    await this.drop(lease, id);
    results.set(id, uploaded);
    this.#used.add(uploaded);
    await this.#shrink(uploaded);
  }

  /** Drops a result if present. */
  async drop(lease: string, id: string): Promise<void> {
    const results = this.#of(lease);
    const uploaded = results.get(id);
    results.delete(id);
    if (uploaded !== undefined) await this.#forget(uploaded);
  }

  /**
   * Runs `work` with the results named in a request, which stay for the duration. Throws LocalError (`gone`) for a missing one, which the
   * kernel then sends again.
   */
  async reading<T>(wanted: WantedResults, work: (results: ReadableResults) => Promise<T>): Promise<T> {
    const found = this.#find(wanted);
    const all = new Set([...found.values()].map(({ uploaded }) => uploaded));
    for (const uploaded of all) this.#readers.set(uploaded, (this.#readers.get(uploaded) ?? 0) + 1);
    try {
      return await work(found);
    } finally {
      for (const uploaded of all) this.#leave(uploaded);
    }
  }

  #find({ lease, tables }: WantedResults): ReadableResults {
    if (Object.keys(tables).length === 0) return new Map();
    const results = this.#of(lease);
    const found: [string, { readonly uploaded: UploadedResult; readonly rowField?: string }][] = [];
    for (const [name, { id, rowField }] of Object.entries(tables)) {
      const uploaded = results.get(id);
      if (uploaded === undefined) throw unknownResult();
      this.#used.delete(uploaded);
      this.#used.add(uploaded);
      found.push([name, { uploaded, ...present({ rowField }) }]);
    }
    return new Map(found);
  }

  #leave(uploaded: UploadedResult): void {
    const readers = (this.#readers.get(uploaded) ?? 1) - 1;
    if (readers > 0) this.#readers.set(uploaded, readers);
    else {
      this.#readers.delete(uploaded);
      if (!this.#used.has(uploaded)) void this.#tables.drop(uploaded);
    }
  }

  #of(lease: string): Map<string, UploadedResult> {
    const results = this.#leases.get(lease);
    if (results === undefined) throw unknownResult();
    return results;
  }

  async #shrink(newest: UploadedResult): Promise<void> {
    let bytes = [...this.#used].reduce((total, { body }) => total + body.length, 0);
    for (const uploaded of this.#used) {
      if (bytes <= this.#budgetBytes || uploaded === newest) return;
      bytes -= uploaded.body.length;
      await this.#forget(uploaded);
    }
  }

  async #forget(uploaded: UploadedResult): Promise<void> {
    this.#used.delete(uploaded);
    for (const results of this.#leases.values())
      for (const [id, each] of results) if (each === uploaded) results.delete(id);
    if (!this.#readers.has(uploaded)) await this.#tables.drop(uploaded);
  }
}

function unknownResult(): LocalError {
  return new LocalError('gone', 'result-unknown', 'The local service does not have this result.', {
    hint: 'Send it again.',
  });
}
