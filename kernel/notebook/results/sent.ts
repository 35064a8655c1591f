import { InterruptedError } from '../../api/api-errors.js';
import type { Client, ResultLease } from '../../api/client.js';
import type { WantedResults } from '../../api/wire.js';
import { present } from '../../present.js';
import type { CachedResult } from './result-cache.js';

/**
 * A result that a query reads: all of its columns, or those at `places`, under names that a query can write where `isWritable`.
 * `rowField` adds a field with the number of each row.
 */
export interface ReadResult {
  readonly cached: CachedResult;
  readonly places?: readonly number[];
  readonly isWritable?: true;
  readonly rowField?: string;
}

/** The results that a query reads, by name, and whether there are some and no dataset beside them. */
export interface ReadTables {
  readonly results: ReadonlyMap<string, ReadResult>;
  readonly areAlone: boolean;
}

/** Results that the local service holds for this kernel. They end with the connection, and are sent again when needed. */
export class SentResults {
  #active: ResultsLease | undefined;
  /** The lease that is being asked for: questions at once share one. */
  #opening: { readonly client: Client; readonly active: Promise<ResultsLease> } | undefined;

  /**
   * Sends the results that the service does not hold yet; returns the names by which a query reads them. Throws the errors of the
   * client.
   */
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

  /** Forgets what was sent, as the service has dropped some of it: results are sent again when needed. */
  forget(): void {
    this.#active?.sent.clear();
  }

  /** Lets the service forget a result that the kernel has dropped. */
  drop(id: string): void {
    const active = this.#active;
    if (active !== undefined && !active.lease.ended) active.drop(id);
  }

  async #lease(client: Client, signal: AbortSignal): Promise<ResultsLease> {
    const active = this.#active;
    if (active !== undefined && active.client === client && !active.lease.ended) return active;
    if (this.#opening?.client === client) {
      await unlessAborted(this.#opening.active, signal).catch(error => {
        // Whoever asked first may have given up; this caller has not.
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

/** What was sent under one lease. */
class ResultsLease {
  readonly client: Client;
  readonly lease: ResultLease;
  /** By the id under which the service holds it: the result's own, or that with the places of its columns. */
  readonly sent = new Map<string, Promise<void>>();

  constructor(client: Client, lease: ResultLease) {
    this.client = client;
    this.lease = lease;
  }

  /** Returns the id of a table that holds the columns; one that holds all of them will do, if it has the names. */
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

  /** Goes on when the first caller stops waiting, as others may wait too. */
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

/** Waits for background work until the signal aborts; throws InterruptedError then. */
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
