import { canceledError, EngineError } from './engine-failure.js';
import { type RequestContext, watchUnseen } from './engine-request.js';

/** Limits on the queries that share an engine's workers. */
export interface AdmissionBounds {
  /** Maximum waiting queries; further ones are refused. */
  readonly queue: number;
  /** Maximum concurrent long queries; the remaining workers are reserved for short ones. */
  readonly long: number;
  /** A query that reads more rows than this is long. */
  readonly shortRows: number;
}

/** Run time after which any query counts as long, in milliseconds. */
const shortMs = 250;

/**
 * Leases a fixed set of workers to one query each. Short queries have reserved workers and never wait for long ones. Next in line is the
 * query whose client has the fewest running queries, then the one whose client was served least recently, then the oldest.
 */
export class Admission<T> {
  readonly #idle: T[];
  readonly #workers: number;
  readonly #bounds: AdmissionBounds;
  readonly #running = new Set<Lease<T>>();
  readonly #waiting: Waiter<T>[] = [];
  /** The turn in which each client's last query began, for clients with a query here. */
  readonly #lastTurns = new Map<string, number>();
  #turn = 0;
  #closed = false;

  constructor(workers: readonly T[], bounds: AdmissionBounds) {
    this.#idle = [...workers];
    this.#workers = workers.length;
    this.#bounds = bounds;
  }

  /** Leases a worker. Throws EngineError when too many queries wait, when the context's signal is aborted, and after `close`. */
  async acquire({ client = '', rows = 0, signal, watch = watchUnseen }: RequestContext): Promise<Lease<T>> {
    if (this.#closed || signal?.aborted) throw canceledError();
    return new Promise<Lease<T>>((resolve, reject) => {
      const waiter: Waiter<T> = { client, long: rows > this.#bounds.shortRows, signal, resolve, reject };
      this.#waiting.push(waiter);
      this.#serve();
      if (!this.#waiting.includes(waiter)) return;
      if (this.#waiting.length > this.#bounds.queue) this.#dismiss(waiter, tooManyError());
      watch.waits(() => this.#before(waiter));
      signal?.addEventListener('abort', () => this.#dismiss(waiter, canceledError()), { once: true });
    });
  }

  /** Refuses all queries that wait or arrive later. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(canceledError());
  }

  #serve(): void {
    for (const waiter of this.#inOrder()) {
      const begins = !waiter.signal?.aborted && this.#isRoomFor(waiter);
      const worker = begins ? this.#idle.pop() : undefined;
      if (worker === undefined) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.resolve(this.#grant(worker, waiter));
    }
  }

  #isRoomFor({ long }: Waiter<T>): boolean {
    const most = long ? this.#bounds.long : Math.max(1, this.#workers - this.#bounds.long);
    const counts = long ? 'long' : 'short';
    return [...this.#running].filter(each => each.counts === counts).length < most;
  }

  #grant(worker: T, { client, long, signal }: Waiter<T>): Lease<T> {
    const lease = new Lease(worker, client, long ? 'long' : 'short');
    this.#running.add(lease);
    this.#lastTurns.set(client, ++this.#turn);
    const recount = (counts: Lease<T>['counts']) => {
      lease.counts = counts;
      this.#serve();
    };
    // After an interrupt, the next query may start on another worker, however long the engine takes to react.
    const concede = () => recount('no longer');
    signal?.addEventListener('abort', concede, { once: true });
    const timer = setTimeout(() => lease.counts === 'short' && recount('long'), shortMs);
    timer.unref();
    lease.onRelease = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', concede);
      this.#running.delete(lease);
      this.#idle.push(worker);
      this.#serve();
      if (![...this.#running, ...this.#waiting].some(each => each.client === client))
        this.#lastTurns.delete(client);
    };
    return lease;
  }

  /** Returns the waiting queries in the order in which they will start; each one counts for its client when the next is chosen. */
  #inOrder(): readonly Waiter<T>[] {
    const turns = new Map<string, Turns>();
    const of = (client: string) =>
      turns.get(client) ?? { running: 0, last: this.#lastTurns.get(client) ?? 0 };
    const take = (client: string, last: number) =>
      turns.set(client, { running: of(client).running + 1, last });
    for (const { client } of this.#running) take(client, of(client).last);
    const rest = [...this.#waiting];
    return this.#waiting.map((_, index) => {
      const next = rest.reduce((best, each) => (isBefore(of(each.client), of(best.client)) ? each : best));
      rest.splice(rest.indexOf(next), 1);
      take(next.client, this.#turn + index + 1);
      return next;
    });
  }

  #before(waiter: Waiter<T>): number {
    return this.#inOrder()
      .filter(each => each.long === waiter.long)
      .indexOf(waiter);
  }

  #dismiss(waiter: Waiter<T>, reason: Error): void {
    const index = this.#waiting.indexOf(waiter);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    waiter.reject(reason);
  }
}

/** A client's number of running queries, and the turn in which the last of them began. */
interface Turns {
  readonly running: number;
  readonly last: number;
}

function isBefore(a: Turns, b: Turns): boolean {
  return a.running === b.running ? a.last < b.last : a.running < b.running;
}

function tooManyError(): EngineError {
  return new EngineError('engine-busy', 'Too many queries are waiting.', {
    hint: 'Try again when other queries have finished.',
  });
}

/** A worker leased to one query. */
export class Lease<T> {
  readonly worker: T;
  readonly client: string;
  /** The kind of query that it counts as. */
  counts: 'short' | 'long' | 'no longer';
  onRelease: (() => void) | undefined;

  constructor(worker: T, client: string, counts: 'short' | 'long') {
    this.worker = worker;
    this.client = client;
    this.counts = counts;
  }

  /** Releases the worker; further calls do nothing. */
  release(): void {
    this.onRelease?.();
    this.onRelease = undefined;
  }
}

interface Waiter<T> {
  readonly client: string;
  readonly long: boolean;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (lease: Lease<T>) => void;
  readonly reject: (error: Error) => void;
}
