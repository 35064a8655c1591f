import type { Listed } from '../api/api-notices.js';
import type { DatasetInfo, FieldMeta } from '../api/wire.js';

/** The source of schemas: two API requests. */
export interface SchemaSource {
  datasets(signal?: AbortSignal): Promise<Listed<DatasetInfo>>;
  fields(dataset: string, signal?: AbortSignal): Promise<Listed<FieldMeta>>;
}

/** Maximum age of a cached response, in milliseconds. */
const timeToLiveMs = 60_000;

/**
 * Datasets and fields as last fetched. `known…` methods return at once and refresh in the background; the other methods wait for a
 * fresh response. Background failures are ignored: the next call tries again.
 */
export class SchemaCache {
  readonly #source: SchemaSource;
  readonly #clock: () => number;
  readonly #entries = new Map<string, Entry<unknown>>();

  constructor(source: SchemaSource, clock: () => number = () => performance.now()) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Returns the cached datasets; waits at most `timeoutMs` if none are cached yet. */
  knownDatasets(timeoutMs = 0): Promise<readonly DatasetInfo[]> {
    return this.#known('datasets', () => this.#source.datasets(), timeoutMs);
  }

  /** Returns the current datasets if the service responds within `timeoutMs`; else the cached ones. */
  async renewedDatasets(timeoutMs: number): Promise<readonly DatasetInfo[]> {
    const entry = this.#entry<DatasetInfo>('datasets');
    entry.loadedAt = Number.NEGATIVE_INFINITY;
    const known = await this.knownDatasets(timeoutMs);
    if (entry.loading !== undefined) await atMost(entry.loading, timeoutMs);
    return entry.value ?? known;
  }

  /** Returns the cached fields; waits at most `timeoutMs` if none are cached yet. */
  knownFields(dataset: string, timeoutMs = 0): Promise<readonly FieldMeta[]> {
    return this.#known(`fields ${dataset}`, () => this.#source.fields(dataset), timeoutMs);
  }

  /** Returns fresh datasets, and what could not be listed; throws the error of the request. */
  datasets(signal?: AbortSignal): Promise<Listed<DatasetInfo>> {
    return this.#fresh('datasets', () => this.#source.datasets(signal));
  }

  /** Returns fresh fields, and what could not be listed; throws the error of the request. */
  fields(dataset: string, signal?: AbortSignal): Promise<Listed<FieldMeta>> {
    return this.#fresh(`fields ${dataset}`, () => this.#source.fields(dataset, signal));
  }

  /** Clears the cache, for another profile or after datasets changed. */
  clear(): void {
    this.#entries.clear();
  }

  async #known<T>(key: string, load: () => Promise<Listed<T>>, timeoutMs: number): Promise<readonly T[]> {
    const entry = this.#entry<T>(key);
    const stale = entry.value === undefined || this.#clock() - entry.loadedAt > timeToLiveMs;
    if (stale) {
      entry.loading ??= load()
        .then(
          ({ items }) => this.#renew(key, entry, items),
          () => undefined,
        )
        .finally(() => {
          entry.loading = undefined;
        });
    }
    if (entry.value === undefined && entry.loading !== undefined && timeoutMs > 0) {
      await atMost(entry.loading, timeoutMs);
    }
    return entry.value ?? [];
  }

  #entry<T>(key: string): Entry<readonly T[]> {
    const entry = this.#entries.get(key) ?? { value: undefined, loadedAt: 0, loading: undefined };
    this.#entries.set(key, entry);
    return entry as Entry<readonly T[]>;
  }

  async #fresh<T>(key: string, load: () => Promise<Listed<T>>): Promise<Listed<T>> {
    const entry = this.#entry<T>(key);
    const listed = await load();
    this.#renew(key, entry, listed.items);
    return listed;
  }

  /** A response that arrives after `clear` is outdated. */
  #renew<T>(key: string, entry: Entry<readonly T[]>, value: readonly T[]): void {
    if (this.#entries.get(key) !== entry) return;
    entry.value = value;
    entry.loadedAt = this.#clock();
  }
}

interface Entry<T> {
  value: T | undefined;
  loadedAt: number;
  loading: Promise<void> | undefined;
}

async function atMost(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>(resolve => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}
