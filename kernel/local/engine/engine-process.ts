import { writeFileSync } from 'node:fs';
import { ownMemory } from '../../machine.js';
import { Engine } from './duckdb.js';
import { asJson } from './engine-columns.js';
import { EngineError, engineFailure } from './engine-failure.js';
import type { Reader, ReaderSource, ResultOrder } from './engine-reader.js';
import type { EngineAnswer, FromEngine, ToEngine } from './messages.js';
import { readersOf } from './reading/duckdb-reader.js';

/**
 * The program of an engine process: an engine with the JavaScript functions, which block nothing else here and can be killed. It takes its
 * orders from the service that started it and ends with it.
 */

interface Query {
  readonly reader: Reader;
  readonly abort: AbortController;
  /** Resolves when the connection is free for the next query. */
  finish(): Promise<void>;
}

let engine: Engine | undefined;
let query: Query | undefined;
/** The query has loaded results of a kernel, which are dropped afterwards. */
let loaded = false;

// Ends by SIGKILL, since an orderly exit waits for the thread of a query, which may wait for a JavaScript function on this one. A log that
// cannot be written, as on a full disk, is not a reason to end.
process.stderr.on('error', () => undefined);
process.on('disconnect', end);
process.on('message', (message: ToEngine) => {
  if (message.kind === 'interrupt') query?.abort.abort();
  else answer(message).then(send, error => send(failureOf(error)));
});

function send(message: FromEngine): void {
  process.send?.(message);
}

async function answer(message: Exclude<ToEngine, { kind: 'interrupt' }>): Promise<EngineAnswer> {
  switch (message.kind) {
    case 'open': {
      const { dataDir, memoryBytes } = message;
      const pulse = together(endOrphan(), reportMemory);
      dieFirst();
      // It reads results of kernels, so spilled data is encrypted. Errors go to the same place as the service's.
      const log = (text: string) => void process.stderr.write(`${text}\n`);
      engine = await Engine.open({ dataDir, memoryBytes, connections: 1, secret: true, pulse, log });
      return { kind: 'opened', scratch: engine.scratch };
    }
    case 'begin':
      query = await begin(readersOf(given(engine)), message.temporary);
      reporting = setInterval(reportMemory, reportMs);
      return { kind: 'begun' };
    case 'execute':
      return { kind: 'executed', counts: await given(query).reader.execute(message.sql) };
    case 'read':
      return resultOf(given(query).reader, message.order);
    case 'load':
      loaded = true;
      await given(query).reader.load(message.table, message.body);
      return { kind: 'loaded' };
    case 'end':
      clearInterval(reporting);
      await given(query).finish();
      query = undefined;
      await forgetLoaded();
      return { kind: 'ended' };
  }
}

async function forgetLoaded(): Promise<void> {
  if (!loaded) return;
  loaded = false;
  const { dropTables } = await import('../results/fill.js');
  await given(engine).withConnection(dropTables);
}

function begin(readers: ReaderSource, temporary: string | undefined): Promise<Query> {
  const abort = new AbortController();
  return new Promise((resolve, reject) => {
    let release = () => {};
    const released = new Promise<void>(done => {
      release = done;
    });
    const work = (reader: Reader) => {
      const finish = async () => {
        release();
        await over.catch(error => {
          // The sender of the interrupt knows about it.
          if (!abort.signal.aborted) throw error;
        });
      };
      resolve({ reader, abort, finish });
      return released;
    };
    const over = readers.reading(work, temporary, { signal: abort.signal });
    over.catch(reject);
  });
}

async function resultOf(reader: Reader, order: ResultOrder): Promise<EngineAnswer> {
  const { columns, ...rest } = await reader.read(order);
  return { kind: 'result', read: asJson(columns).read, ...rest };
}

function failureOf(error: unknown): FromEngine {
  const failure = engineFailure(error);
  const { code, message, hint } = failure;
  const detail = failure instanceof EngineError ? failure.detail : '';
  return { kind: 'failed', code, message, hint, detail };
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError('a message arrived out of order');
  return value;
}

/** Interval of memory reports: the service stops a query whose values are too long, and another process may not inspect this one. */
const reportMs = 25;

let reporting: NodeJS.Timeout | undefined;
let nextReport = 0;

/** Also called from busy functions, when the timer cannot fire. */
function reportMemory(): void {
  const now = performance.now();
  if (now < nextReport) return;
  nextReport = now + reportMs / 2;
  send({ kind: 'memory', bytes: ownMemory() });
}

function together(...all: readonly (() => void)[]): () => void {
  return () => {
    for (const each of all) each();
  };
}

const pulseMs = 200;

/** Returns a check for whether the service is gone, called from busy functions, which receive no messages. */
function endOrphan(): () => void {
  const parent = process.ppid;
  let next = 0;
  return () => {
    if (performance.now() < next) return;
    next = performance.now() + pulseMs;
    if (process.ppid !== parent) end();
  };
}

/** Makes this process, not the service, the first victim of the OOM killer; Linux only. */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // On other systems, the service watches its own memory.
  }
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
