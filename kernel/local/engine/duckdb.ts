import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
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
import { cancelledError, EngineError, engineFailure, memoryFailure } from './engine-failure.js';
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

/** How to open an engine. `dataDir` and `allow` are the only places that its SQL can read or write. */
export interface EngineOptions {
  readonly dataDir: string;
  /** Single files outside the data directory that may be read. */
  readonly allow?: readonly string[];
  /** JavaScript functions and macros (default: all those of the language). */
  readonly families?: readonly FunctionFamily[];
  /** Queries that run at the same time; more wait (default: 12). */
  readonly connections?: number;
  /** Of these, the most that run long queries (default: 4). */
  readonly long?: number;
  /** Queries that may wait; beyond that they are refused. */
  readonly queue?: number;
  readonly memoryBytes?: number;
  /** Default: as many as the machine has processors. */
  readonly threads?: number;
  /** Encrypts what is spilled to the disk, which triples the processor time of spilling. */
  readonly secret?: boolean;
  /** Called for each row of a JavaScript function. */
  readonly pulse?: () => void;
  /** Receives what is known of failures that the engine gives no reason for. */
  readonly log?: (text: string) => void;
}

/**
 * One DuckDB in memory, cut off from the rest of the machine, with a fixed set of connections. The addon works on libuv's
 * pool: whoever starts the process sets UV_THREADPOOL_SIZE to 16 or more, or heavy queries hold up light ones.
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

  /** Opens the engine and locks its configuration. Its scratch files live in a directory of its own under `<dataDir>/.tmp`. */
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

  /** A directory that this engine's SQL may write to and that is removed with it. */
  get workDir(): string {
    return this.#workDir;
  }

  /** The same, but on the disk of the data directory, into which files are renamed out of it; its SQL may not be able to write there. */
  get draftDir(): string {
    return this.#scratch[0];
  }

  /** The directories left behind when the process is killed. */
  get scratch(): readonly string[] {
    return this.#scratch;
  }

  /** Runs `sql`, hands its result to `consume`, and returns its value with the engine's own counts. */
  async query<T>(sql: string, consume: Consume<T>, signal?: AbortSignal): Promise<Counted<T>> {
    return this.#withWorker(present({ signal }), (worker, within) =>
      worker.count(sql, consume, 'streamed', within),
    );
  }

  /** Leases one connection to `work` for several statements; the temporary table of this name is dropped at the end. */
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

  /** Runs `sql` and returns its rows; for results that are small. */
  async run(sql: string, signal?: AbortSignal): Promise<DuckDBValue[][]> {
    return this.withConnection(connection => connection.run(sql), present({ signal }));
  }

  /** Runs several statements on one connection, so that temporary tables live from one to the next and are dropped at the end. */
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
      // The directory may have been deleted while the service runs.
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
      // Others may have what this one lacks.
      const isAlone = this.#workers.every(each => each === worker || each.running === undefined);
      throw isAlone ? memoryFailure(error, watched.taken(), this.#memoryBytes) : error;
    } finally {
      // After the interrupts of a cancelled query, which would hit this statement too.
      if (cleanUp !== undefined) await worker.connection.run(cleanUp).catch(ignore);
      delete worker.running;
      watched.end();
      rest.end();
    }
  }
}

/** A query that reads more rows than this may take the processors for longer than others can wait. */
const shortRows = 500_000;

/** The engine counts in percent; the figure is out of range at the beginning and if the engine cannot estimate. */
function shareDone(connection: DuckDBConnection): number | undefined {
  const { percentage } = connection.progress;
  return percentage > 0 && percentage <= 100 ? percentage / 100 : undefined;
}

/** Work with a worker, until the signal. */
type OnWorker<T> = (worker: Worker, signal: AbortSignal) => Promise<T>;

/** Runs one statement on a connection that is held for several. */
export type RunStatement = <T>(sql: string, consume: Consume<T>, delivery: Delivery) => Promise<Counted<T>>;

/** One connection, held for several statements: they share its temporary tables. */
export interface Connection {
  run(sql: string): Promise<DuckDBValue[][]>;
  /** Appends chunks to a table, in order; other work of this process goes on in between. */
  append(
    schema: string,
    table: string,
    chunks: (types: readonly DuckDBType[]) => Iterable<DuckDBDataChunk>,
  ): Promise<void>;
  /** The columns that a SELECT would have. */
  columns(select: string): Promise<{ readonly name: string; readonly type: DuckDBType }[]>;
}

/** The directories for drafts, and for the engine's profiles of queries. */
type Scratch = readonly [draftDir: string, profileDir: string];

/** Those, and which of them is for what the engine writes and spills. */
interface Directories {
  readonly scratch: Scratch;
  readonly workDir: string;
}

/** Whether the engine can write into a directory: it locks what it writes, which some file systems refuse. */
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

/** How long rows are appended in one go, in milliseconds. */
const breathMs = 20;

/** An interrupt is lost when it arrives before the engine has begun, so it is repeated. */
const interruptEveryMs = 20;

/** Settings of a connection come before those of the instance: once external access is off, no path can be set. */
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
    // Else the memory of a large query stays with the process for as long as it rests.
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
 * A killed process leaves its spilled rows behind until the next one starts. The engine calls its own cipher unsafe because of
 * its random numbers; any other needs an extension.
 */
const encryption = ["SET force_mbedtls_unsafe='true'", 'SET temp_file_encryption=true'];

async function guarded<T>(
  worker: Worker,
  signal: AbortSignal,
  work: OnWorker<T>,
  scratch: Scratch,
): Promise<T> {
  if (signal.aborted) throw cancelledError();
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    worker.connection.interrupt();
    timer = setInterval(() => worker.connection.interrupt(), interruptEveryMs);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    const value = await work(worker, signal);
    // A result whose stream is interrupted ends early and without an error: it must not pass for a complete one.
    signal.throwIfAborted();
    return value;
  } catch (error) {
    throw signal.aborted ? stoppedError(signal, error) : engineFailure(error, scratch);
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', interrupt);
  }
}

/** Why a statement did not run to its end: for want of memory, or because nobody waits for it any more. */
function stoppedError({ reason }: AbortSignal, error: unknown): EngineError {
  return reason instanceof EngineError ? reason : cancelledError(error);
}

function connectionOn(worker: Worker, contention: Contention): Connection {
  return {
    run: async sql => {
      const rows: DuckDBValue[][] = [];
      const result = await retryWhileShort(() => worker.run(sql), contention);
      for await (const chunk of chunksOf(result)) rows.push(...chunk.getRows());
      return rows;
    },
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
