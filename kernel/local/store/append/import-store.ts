import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { AplKernelError } from '../../../errors.js';
import { inDataDir } from '../../data-layout.js';
import type { Engine } from '../../engine/duckdb.js';
import { type Lease, takeLease } from '../../lease/lease.js';
import type { BuiltinDataset } from '../../sql/compiled-query.js';
import { DatasetStore } from '../datasets.js';
import { encodeName } from '../names.js';
import { hasCode, logSuffix } from '../store-files.js';

/** Options of an import's store, besides the directory and the engine. */
export interface ImportStoreOptions {
  readonly version: string;
  readonly log: (text: string) => void;
  readonly builtins: readonly BuiltinDataset[];
  /** How long another process may take to store its batches, in milliseconds (default: one minute). */
  readonly timeoutMs?: number;
}

/**
 * Datasets of a process that imports files without being a service; a service may run beside it. Adding a file needs no lease of the data
 * directory. Before rows are replaced, batches that exist only in logs become files; otherwise they would reappear after the replacement.
 * The holder of the directory stores its own within seconds; those of a killed process are stored here, under the lease.
 */
export class ImportStore extends DatasetStore {
  readonly #dataDir: string;
  readonly #options: ImportStoreOptions;
  readonly #held: { lease?: Lease };

  constructor(dataDir: string, engine: Engine, options: ImportStoreOptions) {
    const held: { lease?: Lease } = {};
    super(dataDir, engine, options.builtins, options.log, () => held.lease?.confirm());
    this.#dataDir = dataDir;
    this.#options = options;
    this.#held = held;
  }

  override async publish(name: string, file: string, replace = false): Promise<void> {
    if (replace) await this.#settle(name);
    await super.publish(name, file, replace);
  }

  /** Does nothing: merging is up to the holder of the data directory. */
  override mergeLater(): void {}

  /** Throws AplKernelError if batches of the dataset stay in their logs. */
  async #settle(name: string): Promise<void> {
    const found = await this.#logs(name);
    const end = performance.now() + (this.#options.timeoutMs ?? defaultTimeoutMs);
    while ((await this.#logs(name)).some(each => found.includes(each))) {
      const holder = await this.#storeAsHolder(name);
      if (performance.now() > end) throw holder ?? unsettled(name);
    }
  }

  /** Stores the batches under the lease; returns the error if the lease is taken. */
  async #storeAsHolder(name: string): Promise<AplKernelError | undefined> {
    const { version, log } = this.#options;
    try {
      this.#held.lease = await takeLease(this.#dataDir, { version, log });
      await this.snapshot(name);
      return undefined;
    } catch (error) {
      if (error instanceof AplKernelError && error.code === 'data-directory-held') return error;
      throw error;
    } finally {
      this.#held.lease?.release();
      delete this.#held.lease;
    }
  }

  async #logs(name: string): Promise<readonly string[]> {
    try {
      const entries = await readdir(path.join(inDataDir(this.#dataDir, 'datasets'), encodeName(name)));
      return entries.filter(entry => entry.endsWith(logSuffix));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

const defaultTimeoutMs = 60_000;

function unsettled(name: string): AplKernelError {
  return new AplKernelError(
    'local-service',
    `${name} has events that are not stored yet, so it cannot be replaced`,
    {
      hint: 'Run `npx apl-kernel doctor` to find out why.',
    },
  );
}
