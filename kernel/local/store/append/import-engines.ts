import { constants } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { bytesOf, openFile } from '../../../files.js';
import { memoryAtMost } from '../../../machine.js';
import { eventFamily } from '../../duckdb/functions/duckdb-events.js';
import { Engine } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';
import { rowsByLines } from '../readers/sample.js';
import { firstBytes, isParquet } from '../sources/source-formats.js';
import { isWide } from './wide-files.js';

/**
 * The import engines of a service: each has access to the files of one import, while the query engine sees only the data directory. Opening
 * an engine takes longer than reading a small file, so one that has read such a file is reused.
 */
export class ImportEngines {
  readonly #dataDir: string;
  /** Engines that see only copies in their own directory, with the number of files each has read. */
  readonly #shared = new Map<Engine, number>();
  #spare: Engine | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Returns an engine for these files; return it with {@link release}. */
  async open(files: readonly string[]): Promise<Engine> {
    if (!(await isSmallText(files))) return openEngine(this.#dataDir, files);
    const engine = this.#take() ?? (await openSmall(this.#dataDir));
    this.#shared.set(engine, (this.#shared.get(engine) ?? 0) + 1);
    return engine;
  }

  /** Returns a path of the file that the engine can read. */
  async near(engine: Engine, file: string): Promise<string> {
    if (!this.#shared.has(engine) || file.startsWith(engine.workDir + path.sep)) return file;
    const directory = path.join(engine.workDir, crypto.randomUUID());
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Messages contain the file's name.
    const copy = path.join(directory, path.basename(file));
    await writeNew(copy, await bytesOf(file));
    return copy;
  }

  /** Releases an engine. One that has failed is closed: after some failures, an engine rejects every query. */
  async release(engine: Engine, failure?: unknown): Promise<void> {
    const uses = this.#shared.get(engine) ?? mostUses;
    const isSound = failure === undefined || isOfFile(failure);
    const isReused = isSound && uses < mostUses && this.#hasRoom && (await isEmptied(engine));
    if (!isReused || !this.#hasRoom) return this.#end(engine);
    this.#spare = engine;
    // The next service removes whatever is left in its directory.
    this.#timer = setTimeout(() => void this.#endSpare().catch(ignore), spareMs).unref();
  }

  /** Closes the spare engine now, and any other when it is released. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endSpare();
  }

  get #hasRoom(): boolean {
    return this.#spare === undefined && !this.#isClosed;
  }

  async #endSpare(): Promise<void> {
    const engine = this.#take();
    if (engine !== undefined) await this.#end(engine);
  }

  #take(): Engine | undefined {
    clearTimeout(this.#timer);
    const engine = this.#spare;
    this.#spare = undefined;
    return engine;
  }

  async #end(engine: Engine): Promise<void> {
    this.#shared.delete(engine);
    await engine.close();
  }
}

/** How long a spare engine waits for the next small file, in milliseconds. */
const spareMs = 10_000;

/** Maximum number of small files per engine, which retains some memory for each. */
const mostUses = 200;

/** Opens an engine with access to these files. */
export async function openEngine(dataDir: string, files: readonly string[]): Promise<Engine> {
  return Engine.open({ ...optionsIn(dataDir), allow: files, threads: await threadsFor(files) });
}

async function threadsFor(files: readonly string[]): Promise<number> {
  const [file = ''] = files;
  const size = await sizeOf(files);
  if (size < leastToShare || (await isReadInTurn(file))) return 1;
  // For many fields, several threads use several times the memory and take longer; the reader reports errors.
  if (await isWide(file).catch(() => false)) return 1;
  const start = await firstBytes(file, 8).catch(() => nothing);
  if (size / files.length < leastOfParquet && isParquet(start)) return 1;
  return Math.max(availableParallelism() + 1, fewestForJson);
}

/** Whether a file is a CSV with line breaks in values, which only one thread can read: a second one would only burn CPU meanwhile. */
async function isReadInTurn(file: string): Promise<boolean> {
  if (!/\.[ct]sv$/i.test(file)) return false;
  const countRows = (quoted: boolean) => rowsByLines(file, quoted).catch(() => 0);
  return (await countRows(true)) < (await countRows(false));
}

async function openSmall(dataDir: string): Promise<Engine> {
  return Engine.open({ ...optionsIn(dataDir), threads: 1 });
}

function optionsIn(dataDir: string) {
  const memoryBytes = Math.min(memoryAtMost() / 4, mostMemoryBytes);
  return { dataDir, families: [eventFamily], connections: 1, memoryBytes };
}

/** Size in bytes below which one thread reads: starting more takes longer. */
const leastToShare = 256 * 1024;

/**
 * Average size in bytes of a Parquet file below which one thread reads them: each thread holds as much memory per file as 2,048 rows take.
 */
const leastOfParquet = 64 * 1024;

const nothing = Buffer.alloc(0);

/** The engine splits a JSON Lines file among threads only if it reads fewer files than it has threads, and it reads two. */
const fewestForJson = 3;

/** Enough to sort files larger than memory, on disk. */
const mostMemoryBytes = 2 * 2 ** 30;

/** Returns the total size of the files in bytes; the reader reports those that it cannot read. */
async function sizeOf(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    files.map(file =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Whether this is one small file that can be copied; Parquet is excluded, as its directory names hold data. */
async function isSmallText(files: readonly string[]): Promise<boolean> {
  const [file = ''] = files;
  if (files.length !== 1 || (await sizeOf(files)) >= leastToShare) return false;
  return firstBytes(file, 8).then(
    start => !isParquet(start),
    () => false,
  );
}

async function writeNew(file: string, bytes: Buffer): Promise<void> {
  const handle = await openFile(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

/** Whether an import failed because of its file rather than the engine. */
function isOfFile(failure: unknown): boolean {
  return failure instanceof LocalError && failure.cause === undefined;
}

/** Removes leftovers of an import from an engine's directory; returns whether it is empty. */
async function isEmptied({ workDir }: Engine): Promise<boolean> {
  try {
    for (const name of await readdir(workDir)) await rm(path.join(workDir, name), { recursive: true });
    return true;
  } catch {
    return false;
  }
}

function ignore(): void {}
