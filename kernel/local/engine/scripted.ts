import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { present } from '../../present.js';
import { underEither } from '../../signals.js';
import { Admission } from './admission.js';
import { JsonColumns } from './engine-columns.js';
import { canceledError, EngineError, engineFailure, memoryFailure } from './engine-failure.js';
import type { Reader, ReaderSource } from './engine-reader.js';
import { type RequestContext, watchUnseen } from './engine-request.js';
import type { EngineAnswer, FromEngine, ToEngine } from './messages.js';
import { pressure } from './workers/pressure.js';

/** How to start engine processes, and how many. */
export interface ScriptedOptions {
  readonly dataDir: string;
  /** Starts the program of `engine-process.ts`, with an IPC channel that preserves bytes and bigints (`serialization: 'advanced'`). */
  readonly spawn: () => ChildProcess;
  readonly processes: number;
  /** Maximum concurrent long queries among them. */
  readonly long: number;
  /** Maximum waiting queries; further ones are refused. */
  readonly queue: number;
  /** Memory limit of each process. */
  readonly memoryBytes: number;
}

/** A query with JavaScript functions over more rows than this is long. */
const shortRows = 20_000;

/** Time for a process to react to an interrupt before it is killed, in milliseconds. */
const graceMs = 1_000;

/**
 * Runs queries that need JavaScript functions in separate processes, one query at a time each. Such a function cannot be interrupted from
 * outside, so a process that ignores an interrupt is killed, without affecting other queries.
 */
export class ScriptedEngine implements ReaderSource {
  readonly #options: ScriptedOptions;
  readonly #workers: readonly Worker[];
  readonly #admission: Admission<Worker>;
  readonly #closing = new AbortController();

  constructor(options: ScriptedOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.processes }, () => ({ engine: undefined }));
    const { queue, long } = options;
    this.#admission = new Admission(this.#workers, { queue, long, shortRows });
  }

  async reading<T>(
    work: (reader: Reader) => Promise<T>,
    temporary: string | undefined,
    context: RequestContext = {},
  ): Promise<T> {
    const lease = await this.#admission.acquire(context);
    const { signal, rows = 0, watch = watchUnseen } = context;
    watch.runs(
      () => undefined,
      () => rows,
    );
    const { signal: closing } = this.#closing;
    try {
      return await underEither(signal ? [signal, closing] : [closing], within =>
        this.#run(lease.worker, work, temporary, within),
      );
    } finally {
      lease.release();
    }
  }

  /** Refuses waiting queries and kills every process. */
  async close(): Promise<void> {
    this.#admission.close();
    this.#closing.abort();
    await Promise.all(this.#workers.map(worker => worker.engine?.kill()));
  }

  async #run<T>(
    worker: Worker,
    work: (reader: Reader) => Promise<T>,
    temporary: string | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    if (worker.engine?.ended !== false) worker.engine = new EngineProcess(this.#options);
    const { engine } = worker;
    // The rows at hand cannot be interrupted, and the system would not kill just this process.
    const watched = pressure.watch(
      reason => void engine.kill(reason),
      () => engine.memory,
    );
    let grace: NodeJS.Timeout | undefined;
    const interrupt = () => {
      engine.tell({ kind: 'interrupt' });
      grace ??= setTimeout(() => void engine.kill(), graceMs);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      await engine.opened;
      await engine.ask({ kind: 'begin', temporary });
      // An interrupt before the query had begun found nothing to interrupt.
      if (signal.aborted) interrupt();
      const value = await work(readerOn(engine)).finally(() => endQuery(engine));
      signal.throwIfAborted();
      return value;
    } catch (error) {
      if (signal.aborted) throw canceledError(error);
      throw memoryFailure(error, watched.taken(), this.#options.memoryBytes);
    } finally {
      watched.end();
      clearTimeout(grace);
      signal.removeEventListener('abort', interrupt);
    }
  }
}

interface Worker {
  engine: EngineProcess | undefined;
}

/** Ends the query, and kills a process that does not become free for the next one. */
async function endQuery(engine: EngineProcess): Promise<void> {
  await engine.ask({ kind: 'end' }).catch(() => engine.kill());
}

function readerOn(engine: EngineProcess): Reader {
  return {
    load: async (table, body) => {
      expected('loaded', await engine.ask({ kind: 'load', table, body }));
    },
    execute: async sql => expected('executed', await engine.ask({ kind: 'execute', sql })).counts,
    read: async order => {
      const answer = await engine.ask({ kind: 'read', order: { ...order, form: 'json' } });
      const { read, counts, cut, cutTime } = expected('result', answer);
      const columns = JsonColumns.together(order.fields, [read]);
      return { columns, counts, cut, ...present({ cutTime }) };
    },
  };
}

/** A child process; it answers one message at a time. */
class EngineProcess {
  /** Resolves when the process accepts orders. */
  readonly opened: Promise<void>;
  readonly #child: ChildProcess;
  #scratch: readonly string[] = [];
  #pending: { resolve(answer: EngineAnswer): void; reject(error: Error): void } | undefined;
  /** The last memory report of the process, in bytes. */
  #memory = 0;
  #ended = false;
  #reason: EngineError | undefined;

  constructor({ spawn, dataDir, memoryBytes }: ScriptedOptions) {
    const child = spawn();
    this.#child = child;
    child.on('message', (message: FromEngine) => this.#settle(message));
    child.on('error', error => this.#end(engineFailure(error)));
    child.on('exit', (_, signal) => this.#end(this.#reason ?? endedError(signal)));
    this.opened = this.ask({ kind: 'open', dataDir, memoryBytes }).then(answer => {
      this.#scratch = expected('opened', answer).scratch;
    });
    // The runner of a query awaits it too, and reports its failure.
    this.opened.catch(() => undefined);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Memory of the process in bytes, as it reports itself: not every system lets others read it. */
  get memory(): number {
    return this.#memory;
  }

  /** Sends a message and returns the answer. Throws EngineError when the process reports a failure or has ended. */
  ask(message: ToEngine): Promise<EngineAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#reason ?? endedError());
        return;
      }
      this.#pending = { resolve, reject };
      this.tell(message);
    });
  }

  tell(message: ToEngine): void {
    // The exit event reports a process that has just ended.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Kills the process whatever it is doing, failing its query with `reason`, and removes the files it leaves behind. */
  async kill(reason?: EngineError): Promise<void> {
    if (!this.#ended) {
      this.#reason ??= reason;
      const exited = new Promise(resolve => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await exited;
    }
  }

  #settle(message: FromEngine): void {
    if (message.kind === 'memory') {
      this.#memory = message.bytes;
      return;
    }
    const pending = this.#pending;
    this.#pending = undefined;
    if (message.kind !== 'failed') pending?.resolve(message);
    else pending?.reject(failureOf(message));
  }

  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#pending?.reject(reason);
    this.#pending = undefined;
    for (const directory of this.#scratch)
      rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
}

function failureOf({ code, message, hint, detail }: Extract<EngineAnswer, { kind: 'failed' }>): EngineError {
  return new EngineError(code, message, { ...present({ hint }), cause: detail });
}

/** Signals that end a process out of memory, sent by the system or itself; other causes are possible. */
const ofMemory: readonly (NodeJS.Signals | null | undefined)[] = ['SIGKILL', 'SIGABRT'];

function endedError(signal?: NodeJS.Signals | null): EngineError {
  const hint = ofMemory.includes(signal)
    ? 'The machine may be out of memory: keep fewer or shorter fields, or read fewer rows.'
    : 'Run the query again; if it fails again, the machine may be low on memory: narrow the time range.';
  return new EngineError('engine-ended', 'The engine exited while running the query.', { hint });
}

function expected<K extends EngineAnswer['kind']>(
  kind: K,
  answer: EngineAnswer,
): Extract<EngineAnswer, { kind: K }> {
  if (answer.kind !== kind) throw new RangeError(`the engine answered ${answer.kind} instead of ${kind}`);
  return answer as Extract<EngineAnswer, { kind: K }>;
}
