import type { Engine } from '../../engine/duckdb.js';
import { type Footer, isReadable, readFooters, type UnreadableFile } from '../../engine/engine-parquet.js';
import { whileFiles } from '../bounds/bounded-names.js';

/**
 * Reads the footers of files of any dataset, batching concurrent requests: a statement for each of a thousand small datasets would take a
 * hundred times as long.
 */
export class FooterReader {
  readonly #engine: Engine;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns the footers of files, in order. Rejects with the engine's error, or if interrupted. */
  read(paths: readonly string[]): Promise<readonly (Footer | UnreadableFile)[]> {
    const asked = paths.map(
      path =>
        new Promise<Footer | UnreadableFile>((resolve, reject) =>
          this.#waiting.push({ path, resolve, reject }),
        ),
    );
    // Deferred, so that other calls in the same turn join the batch.
    setImmediate(() => this.#serve());
    return Promise.all(asked);
  }

  /** Whether every value of a file can be read. */
  isReadable(path: string, signal: AbortSignal): Promise<boolean> {
    return whileFiles(
      () => [path],
      signal,
      () => isReadable(this.#engine, path, signal),
    );
  }

  #serve(): void {
    while (this.#running < groupsAtOnce && this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, groupSize);
      this.#running++;
      void this.#readGroup(group).then(() => {
        this.#running--;
        this.#serve();
      });
    }
  }

  /** Never rejects. */
  async #readGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const paths = group.map(each => each.path);
      // A file replaced by a pipe counts as unreadable instead of failing the batch.
      const read = await whileFiles(
        () => paths,
        undefined,
        () => readFooters(this.#engine, paths),
      );
      for (const [index, found] of read.entries()) group[index]?.resolve(found);
    } catch (error) {
      for (const each of group) each.reject(error);
    }
  }
}

/** Number of footers per statement: more would occupy a worker for seconds. */
const groupSize = 250;
const groupsAtOnce = 2;

interface Waiting {
  readonly path: string;
  readonly resolve: (found: Footer | UnreadableFile) => void;
  readonly reject: (error: unknown) => void;
}
