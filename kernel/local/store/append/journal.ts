import { rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { anySize, bytesOf, removeFile } from '../../../files.js';
import { present } from '../../../present.js';
import { formatCount, plural, visible } from '../../../text.js';
import type { Engine } from '../../engine/duckdb.js';
import { ownerOf, ownName } from '../../lease/processes.js';
import { LocalError } from '../../local-errors.js';
import { givenId } from '../dataset/dataset-copies.js';
import {
  type Confirm,
  damagedSuffix,
  hasCode,
  logSuffix,
  syncDirectory,
  systemFault,
} from '../store-files.js';
import type { Batch } from './append-batch.js';
import { BatchLog } from './append-log.js';
import { FieldUnion, writeBatches } from './append-rows.js';
import { type Damage, decodeLog, type LogContent } from './records.js';

/** Interface of the store to its journal. */
export interface JournalHost {
  readonly engine: Engine;
  readonly confirm: Confirm;
  /** The directory of a dataset. */
  directoryOf(dataset: string): string;
  /** Moves a finished Parquet file with this id into a dataset; rejects with ENOENT if the dataset is gone. */
  add(dataset: string, file: string, id: string): Promise<void>;
  /** Whether a dataset has the file with this id, or had it until recently. */
  has(dataset: string, id: string): Promise<boolean>;
  /** Writes a line to the service's log. */
  log(text: string): void;
}

/** Datasets whose acknowledged events could not be stored, for example because the disk is full, each with the reason. */
export type Unstored = ReadonlyMap<string, unknown>;

/**
 * Acknowledged batches that are not in a Parquet file yet: in memory, and in a log in the directory of their dataset. A flush turns each
 * log into one file with the same id, so a log whose file exists is never stored twice. The next holder of the data directory adopts logs
 * by renaming them, which shows the previous holder that they are gone.
 */
export class Journal {
  readonly #host: JournalHost;
  /** Logs by dataset, for datasets with something to store. */
  readonly #datasets = new Map<string, DatasetLogs>();
  #timer: NodeJS.Timeout | undefined;

  constructor(host: JournalHost) {
    this.#host = host;
  }

  /**
   * Adds a batch to a dataset. Once this resolves, the batch is durable and part of the next flush. Rejects with ENOENT if the dataset is
   * gone.
   */
  async append(dataset: string, batch: Batch): Promise<void> {
    const owner = await ownName();
    const tail = this.#tailFor(dataset, batch, owner);
    try {
      await tail.log.append(batch);
    } catch (error) {
      this.#seal(tail);
      this.#host.confirm();
      throw error;
    }
    const isLogThere = await isThere(tail.log.file);
    // If another service has adopted the log, it may or may not have this batch.
    this.#host.confirm();
    // The dataset may have been deleted and recreated in the meantime.
    if (!isLogThere && !tail.stored) {
      this.#seal(tail);
      return this.append(dataset, batch);
    }
    tail.events += batch.events.length;
    if (tail.events >= mostEvents) this.#seal(tail);
    this.#timer ??= setTimeout(() => this.flush(), flushMs).unref();
  }

  /**
   * Writes all batches acknowledged so far to Parquet files, for one dataset or all of them, and returns what could not be stored: it stays
   * in its log, and the next flush retries. Datasets do not wait for each other, except when all are flushed. Calls made while a dataset is
   * being stored share its next run.
   */
  async flush(dataset?: string): Promise<Unstored> {
    if (dataset !== undefined) return this.#flushDataset(dataset);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unstored = new Map<string, unknown>();
    // One after another: a thousand at once would block queries.
    for (const each of [...this.#datasets.keys()]) {
      for (const [name, reason] of await this.#flushDataset(each)) unstored.set(name, reason);
    }
    return unstored;
  }

  /** Whether a dataset has no batches waiting to be stored. */
  isSettled(dataset: string): boolean {
    return !this.#datasets.has(dataset);
  }

  /**
   * Adopts the logs of a dataset that previous services left behind; returns whether there were any. Only a service of an older version,
   * which has no lease, can run beside this one. Rejects with LocalError if one of them cannot be read, after adopting the others.
   */
  async adopt(dataset: string, logs: readonly string[]): Promise<boolean> {
    const owner = await ownName();
    const failures: unknown[] = [];
    let adopted = false;
    for (const name of logs) {
      if ((await ownerOf(name)) === 'running') continue;
      try {
        if (await this.#take(dataset, name, owner)) adopted = true;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return adopted;
  }

  async #take(dataset: string, name: string, owner: string): Promise<boolean> {
    const directory = this.#host.directoryOf(dataset);
    const orphan = path.join(directory, name);
    const file = path.join(directory, `${owner}-${idOf(name)}${logSuffix}`);
    this.#host.confirm();
    // Renamed before reading: a writer that still finds the log under its name afterwards had written to it before.
    if (!(await claim(orphan, file))) return false;
    const content = await readLog(file, orphan).catch(async error => {
      // An unreadable log stays an orphan.
      await rename(file, orphan);
      throw error;
    });
    if (content === undefined) return false;
    this.#logsOf(dataset).sealed.push({ ...this.#newTail(dataset, file, content), doubtful: true });
    return true;
  }

  #logsOf(dataset: string): DatasetLogs {
    const known = this.#datasets.get(dataset);
    if (known) return known;
    const logs = { open: [], sealed: [], running: Promise.resolve(new Map()), queued: undefined };
    this.#datasets.set(dataset, logs);
    return logs;
  }

  #tailFor(dataset: string, batch: Batch, owner: string): Tail {
    const logs = this.#logsOf(dataset);
    const fitting = logs.open.find(tail => tail.union.add(batch));
    if (fitting) return fitting;
    const name = `${owner}-${crypto.randomUUID()}${logSuffix}`;
    const tail = this.#newTail(dataset, path.join(this.#host.directoryOf(dataset), name));
    tail.union.add(batch);
    logs.open.push(tail);
    return tail;
  }

  #newTail(dataset: string, file: string, { batches, damage }: LogContent = { batches: [] }): Tail {
    const draft = path.join(this.#host.engine.draftDir, path.basename(file));
    return {
      dataset,
      log: new BatchLog(file, draft, batches),
      union: new FieldUnion(),
      events: 0,
      doubtful: false,
      stored: false,
      ...present({ damage }),
    };
  }

  #seal(tail: Tail): void {
    const logs = this.#datasets.get(tail.dataset);
    if (!logs?.open.includes(tail)) return;
    logs.open = logs.open.filter(each => each !== tail);
    logs.sealed.push(tail);
  }

  #flushDataset(dataset: string): Promise<Unstored> {
    const logs = this.#datasets.get(dataset);
    if (logs === undefined) return Promise.resolve(new Map());
    logs.queued ??= logs.running.then(() => {
      logs.queued = undefined;
      logs.running = this.#storeLogs(dataset, logs);
      return logs.running;
    });
    return logs.queued;
  }

  async #storeLogs(dataset: string, logs: DatasetLogs): Promise<Unstored> {
    const unstored = new Map<string, unknown>();
    for (const tail of logs.open) this.#seal(tail);
    for (const tail of [...logs.sealed]) {
      try {
        await this.#store(tail);
        logs.sealed = logs.sealed.filter(each => each !== tail);
      } catch (error) {
        unstored.set(dataset, error);
      }
    }
    const isEmpty = logs.open.length === 0 && logs.sealed.length === 0;
    if (isEmpty && logs.queued === undefined) this.#datasets.delete(dataset);
    return unstored;
  }

  async #store(tail: Tail): Promise<void> {
    const { dataset, log } = tail;
    await log.close();
    const { batches } = log;
    const id = idOf(path.basename(log.file));
    if (batches.length > 0 && !(await this.#isDone(tail, id))) {
      // If this fails halfway, the next attempt checks whether the file exists.
      tail.doubtful = true;
      const draft = path.join(this.#host.engine.workDir, id);
      try {
        const files = { scratch: `${draft}.ndjson`, target: `${draft}.parquet` };
        await writeBatches(this.#host.engine, batches, files);
        if (await isThere(log.file)) {
          await this.#host.add(dataset, files.target, id);
          tail.stored = true;
        }
      } catch (error) {
        if (!hasCode(error, 'ENOENT') || (await isThere(log.file))) throw error;
      } finally {
        for (const suffix of ['ndjson', 'parquet']) await rm(`${draft}.${suffix}`, { force: true });
      }
    }
    await this.#discard(tail);
  }

  /** Removes a stored log; one with unreadable bytes is renamed instead, to a name that nothing removes. */
  async #discard({ log, damage }: Tail): Promise<void> {
    const { file, batches } = log;
    if (damage === undefined || !(await isThere(file))) return removeFile(file);
    await rename(file, file + damagedSuffix);
    await syncDirectory(path.dirname(file));
    this.#host.log(damageText(file, batches.length, damage));
  }

  /** Whether the rows are already stored, or were deleted with their dataset. */
  async #isDone(tail: Tail, id: string): Promise<boolean> {
    const { dataset, log, doubtful } = tail;
    if (!(await isThere(log.file))) return true;
    tail.stored = doubtful && (await this.#host.has(dataset, id));
    return tail.stored;
  }
}

/** The logs of one dataset and the state of its flushes. */
interface DatasetLogs {
  open: Tail[];
  sealed: Tail[];
  running: Promise<Unstored>;
  queued: Promise<Unstored> | undefined;
}

/** An open log, or one waiting to be stored. */
interface Tail {
  readonly dataset: string;
  readonly log: BatchLog;
  readonly union: FieldUnion;
  /** The unreadable part of its file. */
  readonly damage?: Damage;
  events: number;
  /** Whether its rows may already be in a Parquet file. */
  doubtful: boolean;
  /** Whether its rows are in a Parquet file. */
  stored: boolean;
}

/** Maximum number of events in memory, and how long they stay there without a query, in milliseconds. */
const mostEvents = 50_000;
const flushMs = 1_000;

/** Returns the contents of a log, undefined if it is gone. Messages refer to it by `name`, which users find it under. */
async function readLog(file: string, name: string): Promise<LogContent | undefined> {
  try {
    return decodeLog(await bytesOf(file, anySize));
  } catch (error) {
    const reason =
      error instanceof LocalError ? `cannot be read: ${error.message}` : systemFault(file, error);
    if (reason === undefined) return undefined;
    throw new LocalError('invalid', 'log-unreadable', `The event log ${name} ${reason}.`, {
      hint: 'Make it readable, or move it to another directory to query the dataset without its events.',
      cause: error,
    });
  }
}

function damageText(file: string, batches: number, { unread, missing }: Damage): string {
  const lost = missing === 0 ? '' : `, and ${plural(missing, 'byte is', 'bytes are')} missing`;
  const kept = `${formatCount(batches)} of its batches ${batches === 1 ? 'is' : 'are'} kept`;
  return `${visible(file)} is damaged: ${plural(unread, 'byte')} could not be read${lost}. ${kept}, and the file is set aside as ${visible(path.basename(file) + damagedSuffix)}.`;
}

/** Returns the id of a log, whether renamed or not. */
function idOf(name: string): string {
  return givenId(name) ?? name.slice(0, -logSuffix.length);
}

/** Renames a file; returns whether it still existed. */
async function claim(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
