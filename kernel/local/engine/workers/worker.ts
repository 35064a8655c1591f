import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBMaterializedResult,
  type DuckDBPendingResult,
  type DuckDBResult,
  ResultReturnType,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { describeResources, makeDirectory } from '../../../machine.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { FunctionRegistry } from '../../duckdb/register.js';
import { EngineError, engineFailure, fetchFailed, isUnexplained } from '../engine-failure.js';
import { noCounts, notCounted, type OperatorCounts, operatorCounts } from '../engine-profile.js';
import type { Delivery } from '../engine-reader.js';
import { collectRecent } from './rest.js';

/** Reads a result to its end. Called again with another result if the engine fails without a reason. */
export type Consume<T> = (result: DuckDBResult) => Promise<T>;

/** A value made from a result, with the engine's counts for its run. */
export interface Counted<T> {
  readonly value: T;
  readonly counts: OperatorCounts;
}

/**
 * Yields the chunks of a result, each valid until the next is requested. If the engine has only a few, they are taken at once: waiting for
 * a thread to deliver each takes longer.
 */
export async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  if (result instanceof DuckDBMaterializedResult && result.chunkCount <= fewChunks) {
    for (let index = 0; index < result.chunkCount; index++) yield result.getChunk(index);
    return;
  }
  let vectors = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null; chunk = await result.fetchChunk()) {
    if (chunk.rowCount === 0) return;
    yield chunk;
    // Its strings live outside the JS heap and would otherwise stay until the next garbage collection.
    chunk.reset();
    vectors += chunk.columnCount;
    if (vectors < mostVectors) continue;
    vectors = 0;
    collectRecent();
  }
}

/** Vectors of chunks already read that may accumulate before a collection; each takes 16 to 32 KiB. */
const mostVectors = 512;

/** Chunks of 2,048 rows each. */
const fewChunks = 4;

/** The parts of a worker. */
export interface WorkerParts {
  readonly connection: DuckDBConnection;
  readonly functions: FunctionRegistry;
  /** File for the engine's profile of the last statement; its directory is created on demand. */
  readonly profile: string;
  readonly log: (text: string) => void;
}

/**
 * A connection of an engine. The engine fails a statement whose profile it cannot write, after running it and without a reason: profiles
 * are on only for counted statements, and off for a retry.
 */
export class Worker {
  readonly connection: DuckDBConnection;
  readonly functions: FunctionRegistry;
  /** Work in progress on this worker. */
  running?: Promise<unknown>;
  readonly #profile: string;
  readonly #log: (text: string) => void;
  /** Whether the engine writes profiles; undefined while unknown. */
  #profiled: boolean | undefined;
  /** Why the last profile could not be written. */
  #unwritable: string | undefined;

  constructor({ connection, functions, profile, log }: WorkerParts) {
    this.connection = connection;
    this.functions = functions;
    this.#profile = profile;
    this.#log = log;
  }

  /** Configures the connection, before the configuration is locked. */
  async configure(): Promise<void> {
    await this.connection.run(connectionSettings(this.#profile).join(';\n'));
    this.#profiled = false;
  }

  /** Runs a statement, and retries it once, without a profile, if the engine fails without a reason. */
  async count<T>(
    sql: string,
    consume: Consume<T>,
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<Counted<T>> {
    await this.functions.provide(sql);
    try {
      return await this.#count(sql, consume, delivery, this.#canProfile());
    } catch (error) {
      if (signal.aborted || !isUnexplained(error)) throw error;
      this.#examine(error);
      if (delivery === 'streamed' && this.#unwritable === undefined) await this.#explain(sql);
      return await this.#count(sql, consume, delivery, false);
    }
  }

  /** Runs a statement without counting or retrying it, as it may have taken effect. */
  async run(sql: string): Promise<DuckDBMaterializedResult> {
    await this.functions.provide(sql);
    await this.#setProfiled(false);
    return this.connection.run(sql);
  }

  /**
   * Runs a long statement on the engine's own threads, if it has any: a thread that waits in the engine polls for work and progress without
   * a pause.
   */
  async runApart(sql: string): Promise<DuckDBResult> {
    await this.functions.provide(sql);
    await this.#setProfiled(false);
    const [[hasThreads] = []] = (
      await this.connection.runAndReadAll("SELECT current_setting('threads') > 1")
    ).getRows();
    if (hasThreads !== true) return this.connection.run(sql);
    const prepared = await this.connection.prepare(sql);
    try {
      const pending = prepared.start();
      while (isRunning(pending)) await delay(lookEveryMs);
      // The result of a failed statement would report that it cannot be fetched instead.
      const failure = duckdb.pending_error(pending[handle]);
      if (failure) throw engineFailure(new Error(failure));
      return await pending.getResult();
    } finally {
      prepared.destroySync();
    }
  }

  async #count<T>(
    sql: string,
    consume: Consume<T>,
    delivery: Delivery,
    profiled: boolean,
  ): Promise<Counted<T>> {
    await this.#setProfiled(profiled);
    const result = await (delivery === 'whole' ? this.connection.run(sql) : this.connection.stream(sql));
    const value = await consume(result);
    // A failed stream ends as if there were no more rows. Only the type of its result reveals it, and nothing gives the reason.
    if (result.returnType === ResultReturnType.INVALID) throw fetchFailed();
    return { value, counts: profiled ? readCounts(this.#profile) : notCounted };
  }

  async #setProfiled(profiled: boolean): Promise<void> {
    if (this.#profiled === profiled) return;
    // An interrupt may come before or after the change.
    this.#profiled = undefined;
    await this.connection.run(profiled ? 'PRAGMA enable_profiling' : profilingOff);
    this.#profiled = profiled;
  }

  /**
   * Removes the last profile, and returns whether the next one can be written: a statement that scans nothing writes none, and must not be
   * credited with the previous one. These small files are written and read synchronously: waiting for a pool thread, which long queries
   * keep busy, would take longer.
   */
  #canProfile(): boolean {
    try {
      makeDirectory(path.dirname(this.#profile));
      if (this.#unwritable !== undefined) writeFileSync(this.#profile, largestProfile);
      rmSync(this.#profile, { force: true });
      this.#unwritable = undefined;
    } catch (error) {
      this.#unwritable = String(error);
    }
    return this.#unwritable === undefined;
  }

  /** Checks whether a profile can be written, and logs the facts about a failure without a reason. */
  #examine(error: Error): void {
    this.#unwritable = 'not tried yet';
    const profile = this.#canProfile() ? 'can be written' : `cannot be written (${this.#unwritable})`;
    const resources = describeResources([path.dirname(this.#profile)]);
    this.#log(
      `The engine failed without a reason (${error.message}); retrying the statement. Its profile ${profile}; ${resources}.`,
    );
  }

  /** Throws the reason why a statement's stream fails, if it still does, without holding any rows. */
  async #explain(sql: string): Promise<void> {
    await this.#setProfiled(false);
    await this.connection.run(`SELECT max(hash(COLUMNS(*))) FROM (${sql})`);
  }
}

/** Whether the engine's threads have work left, which also updates its progress. */
function isRunning(pending: DuckDBPendingResult): boolean {
  const { NO_TASKS_AVAILABLE, RESULT_NOT_READY } = duckdb.PendingState;
  const state = duckdb.pending_execute_check_state(pending[handle]);
  return state === NO_TASKS_AVAILABLE || state === RESULT_NOT_READY;
}

/** The member with the native handle. */
const handle = 'pending_result';

/** How long a thread of the process rests between looks at a long statement, in milliseconds. */
const lookEveryMs = 10;

/** Context of a statement that shares an engine. */
export interface Contention {
  readonly signal: AbortSignal;
  /** Whether other work that shares the engine's memory is running. */
  readonly others: () => boolean;
}

/**
 * Runs a statement, and retries it for some seconds if memory is short while others run: large ones fail too, and return their memory. A
 * statement that fails alone, or only after a while, is the one that takes the memory.
 */
export async function retryWhileShort<T>(run: () => Promise<T>, { signal, others }: Contention): Promise<T> {
  for (let waitMs = firstWaitMs; ; waitMs *= 2) {
    const startedMs = performance.now();
    try {
      return await run();
    } catch (error) {
      const failure = engineFailure(error);
      if (signal.aborted || failure.code !== 'engine-memory' || !others()) throw error;
      if (waitMs > longestWaitMs || performance.now() - startedMs > briefMs) throw crowdedError(error);
    }
    await delay(waitMs, undefined, { signal });
  }
}

const firstWaitMs = 50;
const longestWaitMs = 1600;
const briefMs = 2000;

function crowdedError(cause: unknown): EngineError {
  return new EngineError('engine-memory', 'The running queries together exceed the memory limit.', {
    hint: 'Run this query again when the others have finished. If it still fails, narrow the time range or keep fewer fields.',
    cause,
  });
}

const profilingOff = 'PRAGMA disable_profiling';

/** Larger than any profile, to test whether there is room for one. */
const largestProfile = Buffer.alloc(2 ** 16);

/** Profiling is turned off twice: while it is on, each of these settings would write a profile, and the last one turns it on again. */
function connectionSettings(profile: string): string[] {
  return [
    "SET TimeZone='UTC'",
    // Rows computed ahead of the reader: the engine does not count strings, and would buffer gigabytes of them.
    "SET streaming_buffer_size='1KiB'",
    'SET enable_progress_bar=true',
    'SET enable_progress_bar_print=false',
    // A dataset file never changes under its name, so its footer is read once instead of by every query.
    'SET parquet_metadata_cache=true',
    // The first rows of a sort are found by its keys before their other columns are read, up to this many rows: a page of results.
    'SET late_materialization_max_rows=2000',
    "SET enable_profiling='json'",
    profilingOff,
    `SET profiling_output=${sqlText(profile)}`,
    `SET custom_profiling_settings='{"OPERATOR_CARDINALITY":"true","OPERATOR_TYPE":"true","OPERATOR_NAME":"true","EXTRA_INFO":"true"}'`,
    profilingOff,
  ];
}

function readCounts(profile: string): OperatorCounts {
  try {
    return operatorCounts(JSON.parse(readFileSync(profile, 'utf8')));
  } catch (error) {
    // Without a profile, the query succeeds without counts.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? noCounts : notCounted;
  }
}
