import { InterruptedError } from '../../api/api-errors.js';
import type { Client, ResultLease } from '../../api/client.js';
import type { WantedResults } from '../../api/wire.js';
import { present } from '../../present.js';
import type { CachedResult } from './result-cache.js';

/**
 * A result that a query reads: all of its columns, or those at `places`; with `isWritable`, under names that a query can write.
 * `rowField` adds a field with the number of each row.
 */
export interface ReadResult {
  readonly cached: CachedResult;
  readonly places?: readonly number[];
  readonly isWritable?: true;
  readonly rowField?: string;
}

/** The results that a query reads, by name, and whether it reads results and no dataset. */
export interface ReadTables {
  readonly results: ReadonlyMap<string, ReadResult>;
  readonly areAlone: boolean;
}

/** Results that the local service caches for this kernel. They end with the connection, and are sent again when needed. */
export class SentResults {
  #active: ResultsLease | undefined;
  /** The lease being opened, shared by concurrent queries. */
  #opening: { readonly client: Client; readonly active: Promise<ResultsLease> } | undefined;

  /** Sends the results that the service does not have yet; returns the names under which a query reads them. Throws the client's errors. */
  async send(
    client: Client,
    wanted: ReadonlyMap<string, ReadResult>,
    signal: AbortSignal,
  ): Promise<WantedResults> {
    const active = await this.#lease(client, signal);
    const tables: Record<string, { readonly id: string; readonly rowField?: string }> = {};
    for (const [name, read] of wanted) {
      const id = await active.ensure(read, signal);
      tables[name] = { id, ...present({ rowField: read.rowField }) };
    }
    return { lease: active.lease.name, tables };
  }

  /** Discards the record of sent results, as the service has dropped some: they are sent again when needed. */
  forget(): void {
    this.#active?.sent.clear();
  }

  /** Has the service drop a result that the kernel has dropped. */
  drop(id: string): void {
    const active = this.#active;
    if (active !== undefined && !active.lease.ended) active.drop(id);
  }

  async #lease(client: Client, signal: AbortSignal): Promise<ResultsLease> {
    const active = this.#active;
    if (active !== undefined && active.client === client && !active.lease.ended) return active;
    if (this.#opening?.client === client) {
      await unlessAborted(this.#opening.active, signal).catch(error => {
        // The first caller may have given up, but this one has not.
        if (signal.aborted) throw error;
      });
      return this.#lease(client, signal);
    }
    const opening = {
      client,
      active: client.leaseResults(signal).then(lease => new ResultsLease(client, lease)),
    };
    this.#opening = opening;
    try {
      this.#active = await opening.active;
      return this.#active;
    } finally {
      if (this.#opening === opening) this.#opening = undefined;
    }
  }
}

/** The results sent under one lease. */
class ResultsLease {
  readonly client: Client;
  readonly lease: ResultLease;
  /** Keyed by the id in the service: the result's own, or one with the indices of its columns. */
  readonly sent = new Map<string, Promise<void>>();

  constructor(client: Client, lease: ResultLease) {
    this.client = client;
    this.lease = lease;
  }

  /** Returns the id of a table with the columns; one with all columns will do, unless names must be rewritten. */
  async ensure({ cached, places, isWritable }: ReadResult, signal: AbortSignal): Promise<string> {
    const isWhole = isWritable !== true && (places === undefined || this.sent.has(cached.id));
    const part = `${cached.id}:${places?.join('-') ?? ''}`;
    const id = isWhole ? cached.id : isWritable === true ? `${part}:writable` : part;
    const known = this.sent.get(id) ?? this.#send(id, cached, isWhole ? undefined : places, isWritable);
    this.sent.set(id, known);
    try {
      await unlessAborted(known, signal);
      return id;
    } catch (error) {
      if (!signal.aborted) this.sent.delete(id);
      throw error;
    }
  }

  drop(resultId: string): void {
    for (const id of [...this.sent.keys()].filter(each => each.split(':')[0] === resultId)) {
      this.sent.delete(id);
      // The service may be gone, and the result with it.
      this.client.dropResult(this.lease, id).catch(() => undefined);
    }
  }

  /** Continues if the first caller stops waiting, as others may be waiting too. */
  async #send(
    id: string,
    { result }: CachedResult,
    places: readonly number[] | undefined,
    isWritable: true | undefined,
  ): Promise<void> {
    const table = result.tables[0]?.data;
    if (table === undefined) throw new RangeError('a result without a table cannot be read');
    const { fieldsOf, sendableStream, writableFieldsOf } = await import('./result-arrow.js');
    const fields = isWritable === true ? writableFieldsOf(table) : fieldsOf(table);
    const arrow = sendableStream(table, fields, places ?? [...fields.keys()]);
    await this.client.sendResult(this.lease, id, arrow);
  }
}

/** Waits for background work; throws InterruptedError if the signal aborts first. */
async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  work.catch(() => undefined);
  if (signal.aborted) throw new InterruptedError(signal.reason);
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new InterruptedError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
