import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBResult,
  type DuckDBType,
  type DuckDBValue,
  VARCHAR,
} from '@duckdb/node-api';
import { memoryAtMost } from '../../machine.js';
import { present } from '../../present.js';
import { underEither } from '../../signals.js';
import { sqlName, sqlText } from '../duckdb/duckdb-literal.js';
import type { FunctionFamily } from '../duckdb/duckdb-template.js';
import { FunctionRegistry } from '../duckdb/register.js';
import { makeProfileDir, makeWorkDir } from '../lease/scratch.js';
import { Admission, type Lease } from './admission.js';
import { canceledError, EngineError, engineFailure, memoryFailure } from './engine-failure.js';
import type { Delivery } from './engine-reader.js';
import { type RequestContext, watchUnseen } from './engine-request.js';
import { pressure } from './workers/pressure.js';
import { purging, rest } from './workers/rest.js';
import {
  type Consume,
  type Contention,
  type Counted,
  chunksOf,
  retryWhileShort,
  Worker,
} from './workers/worker.js';

/** Options for opening an engine. Its SQL can read and write only `dataDir` and `allow`. */
export interface EngineOptions {
  readonly dataDir: string;
  /** Single files outside the data directory that may be read. */
  readonly allow?: readonly string[];
  /** JavaScript functions and macros (default: all of the language's). */
  readonly families?: readonly FunctionFamily[];
  /** Maximum concurrent queries; further ones wait (default: 12). */
  readonly connections?: number;
  /** Maximum concurrent long queries among them (default: 4). */
  readonly long?: number;
  /** Maximum waiting queries; further ones are refused. */
  readonly queue?: number;
  readonly memoryBytes?: number;
  /** Default: the number of processors. */
  readonly threads?: number;
  /** Encrypts data spilled to disk, which triples the processor time of spilling. */
  readonly secret?: boolean;
  /** Called for each row of a JavaScript function. */
  readonly pulse?: () => void;
  /** Receives details about failures that the engine does not explain. */
  readonly log?: (text: string) => void;
}

/**
 * An in-memory DuckDB, isolated from the rest of the machine, with a fixed set of connections. The addon runs on libuv's thread pool: the
 * process has to start with UV_THREADPOOL_SIZE at 16 or more, or heavy queries hold up light ones.
 */
export class Engine {
  readonly #instance: DuckDBInstance;
  readonly #scratch: Scratch;
  readonly #workDir: string;
  readonly #workers: readonly Worker[];
  readonly #admission: Admission<Worker>;
  readonly #closing = new AbortController();
  readonly #memoryBytes: number;

  private constructor(
    instance: DuckDBInstance,
    { scratch, workDir }: Directories,
    workers: readonly Worker[],
    options: EngineOptions,
  ) {
    const { queue = 64, long = 4 } = options;
    this.#memoryBytes = memoryOf(options);
    this.#instance = instance;
    this.#scratch = scratch;
    this.#workDir = workDir;
    this.#workers = workers;
    this.#admission = new Admission(workers, { queue, long: Math.min(long, workers.length), shortRows });
  }

  /** Opens the engine and locks its configuration. Its scratch directory is under `<dataDir>/.tmp`. */
  static async open(options: EngineOptions): Promise<Engine> {
    const { log = ignore } = options;
    const [draftDir, profileDir, instance] = await Promise.all([
      makeWorkDir(options.dataDir),
      makeProfileDir(),
      DuckDBInstance.create(':memory:'),
    ]);
    const first = await instance.connect();
    const workDir = (await canLock(first, draftDir)) ? draftDir : profileDir;
    const functions = new FunctionRegistry(first, options.families, options.pulse);
    const openWorker = async (index: number): Promise<Worker> => {
      const profile = path.join(profileDir, `${index}.json`);
      return new Worker({ connection: await instance.connect(), functions, profile, log });
    };
    const workers = await Promise.all(
      Array.from({ length: options.connections ?? 12 }, (_, at) => openWorker(at)),
    );
    const directories: Directories = { scratch: [draftDir, profileDir], workDir };
    await configure(workers, options, directories);
    return new Engine(instance, directories, workers, options);
  }

  /** Directory that this engine's SQL may write to; removed with the engine. */
  get workDir(): string {
    return this.#workDir;
  }

  /**
   * The same on the disk of the data directory, from which files can be renamed into it; the engine's SQL may not be able to write there.
   */
  get draftDir(): string {
    return this.#scratch[0];
  }

  /** Directories left behind if the process is killed. */
  get scratch(): readonly string[] {
    return this.#scratch;
  }

  /** Runs `sql`, passes its result to `consume`, and returns that value with the engine's counts. */
  async query<T>(sql: string, consume: Consume<T>, signal?: AbortSignal): Promise<Counted<T>> {
    return this.#withWorker(present({ signal }), (worker, within) =>
      worker.count(sql, consume, 'streamed', within),
    );
  }

  /** Leases one connection to `work` for several statements; drops the temporary table of this name at the end. */
  async statements<T>(
    work: (run: RunStatement, connection: Connection) => Promise<T>,
    temporary: string | undefined,
    context: RequestContext = {},
  ): Promise<T> {
    const cleanUp = temporary === undefined ? undefined : `DROP TABLE IF EXISTS temp.${sqlName(temporary)}`;
    return this.#withWorker(
      context,
      (worker, signal) => {
        const contention = this.#contentionOf(worker, signal);
        const run: RunStatement = (...statement) =>
          retryWhileShort(() => worker.count(...statement, signal), contention);
        return work(run, connectionOn(worker, contention));
      },
      cleanUp,
    );
  }

  /** Runs `sql` and returns its rows; for small results. */
  async run(sql: string, signal?: AbortSignal): Promise<DuckDBValue[][]> {
    return this.withConnection(connection => connection.run(sql), present({ signal }));
  }

  /** Runs several statements on one connection, which share temporary tables. Drops these at the end. */
  async withConnection<T>(
    work: (connection: Connection) => Promise<T>,
    context: RequestContext = {},
  ): Promise<T> {
    return this.#withWorker(context, async (worker, signal) => {
      const connection = connectionOn(worker, this.#contentionOf(worker, signal));
      try {
        return await work(connection);
      } finally {
        await dropTemporaryTables(connection);
      }
    });
  }

  /** Refuses waiting queries, interrupts running ones, and removes the scratch files. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#admission.close();
    await Promise.all(this.#workers.map(worker => worker.running));
    for (const worker of this.#workers) worker.connection.closeSync();
    this.#workers[0]?.functions.close();
    rest.close(() => this.#instance.closeSync());
    for (const directory of this.#scratch) await rm(directory, { recursive: true, force: true });
  }

  #contentionOf(worker: Worker, signal: AbortSignal): Contention {
    const others = () => this.#workers.some(each => each !== worker && each.running !== undefined);
    return { signal, others };
  }

  async #withWorker<T>(context: RequestContext, work: OnWorker<T>, cleanUp?: string): Promise<T> {
    const lease = await this.#admission.acquire(context);
    try {
      return await this.#onWorker(lease, context, work, cleanUp);
    } finally {
      lease.release();
    }
  }

  async #onWorker<T>(
    { worker }: Lease<Worker>,
    { signal, rows = 0, watch = watchUnseen }: RequestContext,
    work: OnWorker<T>,
    cleanUp: string | undefined,
  ): Promise<T> {
    watch.runs(
      () => shareDone(worker.connection),
      () => rows,
    );
    const { signal: closing } = this.#closing;
    const inScratch: OnWorker<T> = async (...given) => {
      // The directory may have been deleted while the service was running.
      mkdirSync(this.workDir, { recursive: true, mode: 0o700 });
      return work(...given);
    };
    const scarcity = new AbortController();
    const signals = [scarcity.signal, closing, ...(signal ? [signal] : [])];
    const running = underEither(signals, within => guarded(worker, within, inScratch, this.#scratch));
    worker.running = running.then(ignore, ignore);
    rest.begin();
    const watched = pressure.watch(reason => scarcity.abort(reason));
    try {
      return await running;
    } catch (error) {
      // Other queries may hold the memory that this one lacks.
      const isAlone = this.#workers.every(each => each === worker || each.running === undefined);
      throw isAlone ? memoryFailure(error, watched.taken(), this.#memoryBytes) : error;
    } finally {
      // Runs after the interrupts of a canceled query, which would hit this statement too.
      if (cleanUp !== undefined) await worker.connection.run(cleanUp).catch(ignore);
      delete worker.running;
      watched.end();
      rest.end();
    }
  }
}

/** A query that reads more rows than this may occupy the processors for longer than others can wait. */
const shortRows = 500_000;

/** The engine reports percent, out of range at the start and if it cannot estimate. */
function shareDone(connection: DuckDBConnection): number | undefined {
  const { percentage } = connection.progress;
  return percentage > 0 && percentage <= 100 ? percentage / 100 : undefined;
}

/** Work on a worker, until the signal aborts. */
type OnWorker<T> = (worker: Worker, signal: AbortSignal) => Promise<T>;

/** Runs one statement on a leased connection. */
export type RunStatement = <T>(sql: string, consume: Consume<T>, delivery: Delivery) => Promise<Counted<T>>;

/** A connection leased for several statements, which share its temporary tables. */
export interface Connection {
  run(sql: string): Promise<DuckDBValue[][]>;
  /** Runs a long statement, during which no thread of the process waits. */
  runApart(sql: string): Promise<DuckDBValue[][]>;
  /** Appends chunks to a table in order, yielding to other work of this process in between. */
  append(
    schema: string,
    table: string,
    chunks: (types: readonly DuckDBType[]) => Iterable<DuckDBDataChunk>,
  ): Promise<void>;
  /** The columns that a SELECT would have. */
  columns(select: string): Promise<{ readonly name: string; readonly type: DuckDBType }[]>;
}

/** Directories for drafts and for the engine's query profiles. */
type Scratch = readonly [draftDir: string, profileDir: string];

/** The scratch directories, and the one the engine writes and spills to. */
interface Directories {
  readonly scratch: Scratch;
  readonly workDir: string;
}

/** Returns whether the engine can write to a directory: it locks the files it writes, which some file systems refuse. */
async function canLock(connection: DuckDBConnection, directory: string): Promise<boolean> {
  const probe = path.join(directory, 'locked');
  try {
    await connection.run(`COPY (SELECT 1) TO ${sqlText(probe)}`);
  } catch (error) {
    return !/could not set lock|file locks are not supported/i.test(String(error));
  } finally {
    await rm(probe).catch(ignore);
  }
  return true;
}

/** Maximum time spent appending rows without a break, in milliseconds. */
const breathMs = 20;

/** Interval of repeated interrupts: one that arrives before the engine has started is lost. */
const interruptEveryMs = 20;

/** Connection settings come before instance settings: once external access is off, no path can be set. */
async function configure(
  workers: readonly Worker[],
  options: EngineOptions,
  directories: Directories,
): Promise<void> {
  const [first] = workers;
  if (!first) throw new EngineError('engine-failed', 'An engine needs at least one connection.');
  await Promise.all(workers.map(worker => worker.configure()));
  await first.connection.run(instanceSettings(options, directories).join(';\n'));
}

function memoryOf({ memoryBytes }: EngineOptions): number {
  return memoryBytes ?? memoryAtMost() * 0.6;
}

function instanceSettings(options: EngineOptions, { scratch, workDir }: Directories): string[] {
  const memoryMb = Math.floor(memoryOf(options) / 2 ** 20);
  const files = (options.allow ?? []).map(file => sqlText(file)).join(', ');
  return [
    `SET memory_limit='${memoryMb}MiB'`,
    // Otherwise the process retains the memory of a large query while idle.
    purging,
    `SET temp_directory=${sqlText(path.join(workDir, 'spill'))}`,
    `SET allowed_directories=[${[options.dataDir, ...scratch].map(each => sqlText(`${each}/`)).join(', ')}]`,
    `SET allowed_paths=[${files}]`,
    'SET autoinstall_known_extensions=false',
    'SET autoload_known_extensions=false',
    ...(options.threads === undefined ? [] : [`SET threads=${options.threads}`]),
    ...(options.secret ? encryption : []),
    'SET enable_external_access=false',
    'SET lock_configuration=true',
  ];
}

/**
 * A killed process leaves its spilled rows on disk until the next one starts. The engine calls its built-in cipher unsafe because of its
 * random numbers; any other needs an extension.
 */
const encryption = ["SET force_mbedtls_unsafe='true'", 'SET temp_file_encryption=true'];

async function guarded<T>(
  worker: Worker,
  signal: AbortSignal,
  work: OnWorker<T>,
  scratch: Scratch,
): Promise<T> {
  if (signal.aborted) throw canceledError();
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    worker.connection.interrupt();
    timer = setInterval(() => worker.connection.interrupt(), interruptEveryMs);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    const value = await work(worker, signal);
    // An interrupted result stream ends early without an error, and must not pass for a complete result.
    signal.throwIfAborted();
    return value;
  } catch (error) {
    throw signal.aborted ? stoppedError(signal, error) : engineFailure(error, scratch);
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', interrupt);
  }
}

/** Returns the reason why a statement was stopped: lack of memory, or a cancellation. */
function stoppedError({ reason }: AbortSignal, error: unknown): EngineError {
  return reason instanceof EngineError ? reason : canceledError(error);
}

function connectionOn(worker: Worker, contention: Contention): Connection {
  const rowsOf = async (run: () => Promise<DuckDBResult>) => {
    const rows: DuckDBValue[][] = [];
    const result = await retryWhileShort(run, contention);
    for await (const chunk of chunksOf(result)) rows.push(...chunk.getRows());
    return rows;
  };
  return {
    run: sql => rowsOf(() => worker.run(sql)),
    runApart: sql => rowsOf(() => worker.runApart(sql)),
    append: async (schema, table, chunks) => {
      const appender = await worker.connection.createAppender(table, schema);
      const types = Array.from({ length: appender.columnCount }, (_, index) => appender.columnType(index));
      try {
        let breathed = performance.now();
        for (const chunk of chunks(types)) {
          appender.appendDataChunk(chunk);
          if (performance.now() - breathed < breathMs) continue;
          await setImmediate();
          breathed = performance.now();
        }
      } finally {
        appender.closeSync();
      }
    },
    columns: async select => {
      const result = await worker.run(`SELECT * FROM (${select}) LIMIT 0`);
      const types = result.columnTypes();
      return result.columnNames().map((name, index) => ({ name, type: types[index] ?? VARCHAR }));
    },
  };
}

async function dropTemporaryTables(connection: Connection): Promise<void> {
  for (const [name] of await connection.run('SELECT table_name FROM duckdb_tables() WHERE temporary')) {
    await connection.run(`DROP TABLE IF EXISTS temp.${sqlName(String(name))}`);
  }
}

function ignore(): void {}
