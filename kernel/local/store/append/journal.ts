import { readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { present } from '../../../present.js';
import { formatCount, plural, visible } from '../../../text.js';
import type { Engine } from '../../engine/duckdb.js';
import { ServiceError } from '../../http/service-error.js';
import { isOrphan, ownName } from '../../shared.js';
import { damagedSuffix, hasCode, logSuffix, syncDirectory } from '../files.js';
import type { Batch } from './batch.js';
import { BatchLog } from './log.js';
import { type Damage, decodeLog, type LogContent } from './records.js';
import { FieldUnion, writeBatches } from './rows.js';

/** What a journal needs of the store that it belongs to. */
export interface JournalHost {
  readonly engine: Engine;
  /** The directory of a dataset. */
  directoryOf(dataset: string): string;
  /** Moves a finished Parquet file with this id into a dataset; rejects with ENOENT when the dataset is gone. */
  add(dataset: string, file: string, id: string): Promise<void>;
  /** Whether a dataset has, or had until recently, the file with this id. */
  has(dataset: string, id: string): Promise<boolean>;
  /** Writes a line to the service's log. */
  log(text: string): void;
}

/** The datasets whose acknowledged events could not be stored, on a full disk for example, each with the reason. */
export type Unstored = ReadonlyMap<string, unknown>;

/**
 * The acknowledged batches that are not in a Parquet file yet: in memory, and in a log in the directory of their dataset. A
 * flush turns each log into one file with the same id, so that a log whose file exists is never stored twice. Another service on
 * the same data directory sees these batches after the flush, at most a second later.
 */
export class Journal {
  readonly #host: JournalHost;
  #open: Tail[] = [];
  #sealed: Tail[] = [];
  #running: Promise<Unstored> = Promise.resolve(new Map());
  #queued: Promise<Unstored> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(host: JournalHost) {
    this.#host = host;
  }

  /**
   * Adds a batch to a dataset. Once this resolves, the batch is durable and in the next flush. Rejects with ENOENT when the
   * dataset is gone.
   */
  async append(dataset: string, batch: Batch): Promise<void> {
    const owner = await ownName();
    const tail = this.#tailFor(dataset, batch, owner);
    try {
      await tail.log.append(batch);
    } catch (error) {
      this.#seal(tail);
      throw error;
    }
    // The dataset may have been deleted, and created again, in the meantime.
    if (!(await isThere(tail.log.file)) && !tail.stored) {
      this.#seal(tail);
      return this.append(dataset, batch);
    }
    tail.events += batch.events.length;
    if (tail.events >= mostEvents) this.#seal(tail);
    this.#timer ??= setTimeout(() => this.flush(), flushMs).unref();
  }

  /**
   * Writes every batch acknowledged so far into a Parquet file, and returns what could not be stored: it stays in its log, and
   * the next flush tries again. Calls made while a flush is running share the next one.
   */
  flush(): Promise<Unstored> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queued !== undefined) return this.#queued;
    if (this.#open.length === 0 && this.#sealed.length === 0) return this.#running;
    this.#queued = this.#running.then(() => {
      this.#queued = undefined;
      this.#running = this.#storeAll();
      return this.#running;
    });
    return this.#queued;
  }

  /**
   * Takes over those of a dataset's logs whose processes are gone; returns whether there were any. Rejects with ServiceError when
   * one of them cannot be read, after it has taken over the others.
   */
  async adopt(dataset: string, logs: readonly string[]): Promise<boolean> {
    const owner = await ownName();
    const failures: unknown[] = [];
    let adopted = false;
    for (const name of logs) {
      if (name.startsWith(`${owner}-`) || !(await isOrphan(name))) continue;
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
    // Read first: one that cannot be read stays an orphan.
    const content = await readLog(orphan);
    const file = path.join(directory, `${owner}-${idOf(name)}${logSuffix}`);
    if (content === undefined || !(await claim(orphan, file))) return false;
    this.#sealed.push({ ...newTail(dataset, file, content), doubtful: true });
    return true;
  }

  #tailFor(dataset: string, batch: Batch, owner: string): Tail {
    const fitting = this.#open.find(tail => tail.dataset === dataset && tail.union.add(batch));
    if (fitting) return fitting;
    const name = `${owner}-${crypto.randomUUID()}${logSuffix}`;
    const tail = newTail(dataset, path.join(this.#host.directoryOf(dataset), name));
    tail.union.add(batch);
    this.#open.push(tail);
    return tail;
  }

  #seal(tail: Tail): void {
    if (!this.#open.includes(tail)) return;
    this.#open = this.#open.filter(each => each !== tail);
    this.#sealed.push(tail);
  }

  async #storeAll(): Promise<Unstored> {
    const unstored = new Map<string, unknown>();
    for (const tail of this.#open) this.#seal(tail);
    for (const tail of [...this.#sealed]) {
      try {
        await this.#store(tail);
        this.#sealed = this.#sealed.filter(each => each !== tail);
      } catch (error) {
        unstored.set(tail.dataset, error);
      }
    }
    return unstored;
  }

  async #store(tail: Tail): Promise<void> {
    const { dataset, log } = tail;
    await log.close();
    const { batches } = log;
    const id = idOf(path.basename(log.file));
    if (batches.length > 0 && !(await this.#isSettled(tail, id))) {
      // If this fails halfway, the next attempt checks whether the file is there.
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

  /** Removes a log whose rows are stored; one with bytes that could not be read is set aside, under a name that nothing removes. */
  async #discard({ log, damage }: Tail): Promise<void> {
    const { file, batches } = log;
    if (damage === undefined || !(await isThere(file))) return rm(file, { force: true });
    await rename(file, file + damagedSuffix);
    await syncDirectory(path.dirname(file));
    this.#host.log(damageText(file, batches.length, damage));
  }

  /** Whether its rows are stored already, or were deleted with their dataset. */
  async #isSettled(tail: Tail, id: string): Promise<boolean> {
    const { dataset, log, doubtful } = tail;
    if (!(await isThere(log.file))) return true;
    tail.stored = doubtful && (await this.#host.has(dataset, id));
    return tail.stored;
  }
}

/** A log that takes batches, or waits to be stored. */
interface Tail {
  readonly dataset: string;
  readonly log: BatchLog;
  readonly union: FieldUnion;
  /** What of its file could not be read. */
  readonly damage?: Damage;
  events: number;
  /** Its rows may be in a Parquet file already. */
  doubtful: boolean;
  /** Its rows are in a Parquet file. */
  stored: boolean;
}

function newTail(dataset: string, file: string, { batches, damage }: LogContent = { batches: [] }): Tail {
  return {
    dataset,
    log: new BatchLog(file, batches),
    union: new FieldUnion(),
    events: 0,
    doubtful: false,
    stored: false,
    ...present({ damage }),
  };
}

/** The most events held in memory, and how long they stay there, in milliseconds, when no query asks for them. */
const mostEvents = 50_000;
const flushMs = 1_000;

/** Returns what is in a log; undefined when it is gone. */
async function readLog(file: string): Promise<LogContent | undefined> {
  try {
    return decodeLog(await readFile(file));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError(500, 'log-unreadable', `The log of events ${file} cannot be read: ${reason}.`, {
      hint: 'Make it readable. To query the dataset without its events, move it to another directory.',
      cause: error,
    });
  }
}

function damageText(file: string, batches: number, { unread, missing }: Damage): string {
  const lost = missing === 0 ? '' : `, and ${plural(missing, 'byte is', 'bytes are')} missing`;
  const kept = `${formatCount(batches)} of its batches ${batches === 1 ? 'is' : 'are'} kept`;
  return `${visible(file)} is damaged: ${plural(unread, 'byte')} could not be read${lost}. ${kept}, and the file is set aside as ${visible(path.basename(file) + damagedSuffix)}.`;
}

function idOf(name: string): string {
  return name.slice(0, -logSuffix.length).split('-').slice(2).join('-');
}

/** Of several processes that find the same orphan, one gets it. */
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
