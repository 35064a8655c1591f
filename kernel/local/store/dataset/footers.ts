import type { Engine } from '../../engine/duckdb.js';
import { type Footer, isReadable, readFooters, type UnreadableFile } from '../../engine/engine-parquet.js';
import { whileFiles } from '../bounds/bounded-names.js';

/**
 * Reads the footers of files of any datasets, those that are asked for at about the same time together: a statement for each of a
 * thousand small datasets would take a hundred times as long.
 */
export class FooterReader {
  readonly #engine: Engine;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns the footers of files, in order. Rejects with the engine's refusal, or when it is interrupted. */
  read(paths: readonly string[]): Promise<readonly (Footer | UnreadableFile)[]> {
    const asked = paths.map(
      path =>
        new Promise<Footer | UnreadableFile>((resolve, reject) =>
          this.#waiting.push({ path, resolve, reject }),
        ),
    );
    // Not at once: others may ask in the same turn.
    setImmediate(() => this.#serve());
    return Promise.all(asked);
  }

  /** Returns whether every value of a file can be read. */
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
      // One that gives way to a pipe is unreadable, and no reason to end.
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

/** Footers read by one statement: more would hold a worker for seconds. */
const groupSize = 250;
const groupsAtOnce = 2;

interface Waiting {
  readonly path: string;
  readonly resolve: (found: Footer | UnreadableFile) => void;
  readonly reject: (error: unknown) => void;
}
