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
 * The engines of the imports of a service: each sees the files of one import, as the one that serves queries sees the data directory only. To
 * open one takes longer than to read a small file, so that one that has read such a file is kept for the next.
 */
export class ImportEngines {
  readonly #dataDir: string;
  /** Those that see copies in their directory alone, and how many files each has read. */
  readonly #shared = new Map<Engine, number>();
  #spare: Engine | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Returns an engine for these files; {@link release} takes it back. */
  async open(files: readonly string[]): Promise<Engine> {
    if (!(await isSmallText(files))) return openEngine(this.#dataDir, files);
    const engine = this.#take() ?? (await openSmall(this.#dataDir));
    this.#shared.set(engine, (this.#shared.get(engine) ?? 0) + 1);
    return engine;
  }

  /** Returns a file where the engine can read it. */
  async near(engine: Engine, file: string): Promise<string> {
    if (!this.#shared.has(engine) || file.startsWith(engine.workDir + path.sep)) return file;
    const directory = path.join(engine.workDir, crypto.randomUUID());
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Messages have its name.
    const copy = path.join(directory, path.basename(file));
    await writeNew(copy, await bytesOf(file));
    return copy;
  }

  /** Ends the work with an engine. One that has failed is closed: after some failures an engine refuses whatever follows. */
  async release(engine: Engine, failure?: unknown): Promise<void> {
    const uses = this.#shared.get(engine) ?? mostUses;
    const isSound = failure === undefined || isOfFile(failure);
    const isReused = isSound && uses < mostUses && this.#hasRoom && (await isEmptied(engine));
    if (!isReused || !this.#hasRoom) return this.#end(engine);
    this.#spare = engine;
    // What is left of its directory is removed by the next service.
    this.#timer = setTimeout(() => void this.#endSpare().catch(ignore), spareMs).unref();
  }

  /** Closes the engine that is kept, and from now on each that is given back. */
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

/** How long an engine waits for the next small file, in milliseconds. */
const spareMs = 10_000;

/** Small files that an engine reads: it remembers something of each. */
const mostUses = 200;

/** Opens an engine that sees these files. */
export async function openEngine(dataDir: string, files: readonly string[]): Promise<Engine> {
  return Engine.open({ ...optionsIn(dataDir), allow: files, threads: await threadsFor(files) });
}

async function threadsFor(files: readonly string[]): Promise<number> {
  const [file = ''] = files;
  const size = await sizeOf(files);
  if (size < leastToShare || (await isReadInTurn(file))) return 1;
  // Of many fields several threads hold several times the memory, and take longer; who reads the file says why it cannot be.
  if (await isWide(file).catch(() => false)) return 1;
  const start = await firstBytes(file, 8).catch(() => nothing);
  if (size / files.length < leastOfParquet && isParquet(start)) return 1;
  return Math.max(availableParallelism(), fewestForJson);
}

/** Whether a file is a CSV with line breaks in values, of which one thread reads all: while it does, another would try in vain at full load. */
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

/** Bytes below which one thread reads: to wake others takes longer. */
const leastToShare = 256 * 1024;

/** Bytes of a Parquet file on average below which one thread reads many: of each, several hold as much memory as 2,048 rows take. */
const leastOfParquet = 64 * 1024;

const nothing = Buffer.alloc(0);

/** The engine shares one file of JSON lines among threads only if it reads fewer files than it has threads, and it reads two. */
const fewestForJson = 3;

/** Enough to sort files that are larger than memory, on disk. */
const mostMemoryBytes = 2 * 2 ** 30;

/** How many bytes files have; whoever reads one says why it cannot be. */
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

/** Whether this is one small file that may be read elsewhere: the directories of Parquet say more of it. */
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

/** Whether an import failed for what is in its file, and the engine has no part in it. */
function isOfFile(failure: unknown): boolean {
  return failure instanceof LocalError && failure.cause === undefined;
}

/** Removes what an import has left in the directory of an engine; returns whether it is empty. */
async function isEmptied({ workDir }: Engine): Promise<boolean> {
  try {
    for (const name of await readdir(workDir)) await rm(path.join(workDir, name), { recursive: true });
    return true;
  } catch {
    return false;
  }
}

function ignore(): void {}
