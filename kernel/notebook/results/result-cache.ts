import type { Table } from 'apache-arrow';
import { QueryText } from '../../apl/syntax/parse.js';
import type { QueryResult } from '../../result/result.js';
import { formatBytes, formatCount, plural, visible } from '../../text.js';

/** A result in the kernel's memory: it can be queried, exported, and read by the grid of its output. */
export interface CachedResult {
  /** Shared by equal results. */
  readonly id: string;
  readonly result: QueryResult;
  /** The query that produced it. */
  readonly query: QueryText;
  /** Memory used by its tables, in bytes. */
  readonly bytes: number;
}

/** How to cache a result: its name, if any, and its query, if already parsed. */
export interface CacheOptions {
  readonly name?: string;
  readonly query?: QueryText;
}

/** Maximum unnamed results besides the last: each takes some kilobytes of objects, however few rows it has. */
export const mostUnnamed = 500;

/** The name of the last result. */
export const lastName = '_';

/**
 * The results of a session: named ones, the last, and those of earlier outputs, within a memory budget. Beyond it, unnamed results
 * are evicted before named ones, least recently used first. The number of unnamed results is also limited. The last result always
 * stays.
 */
export class ResultCache {
  #budgetBytes: number;
  /** Ordered from least to most recently used. */
  readonly #results = new Map<string, CachedResult>();
  readonly #names = new Map<string, CachedResult>();
  /** Names of results that were evicted to free memory. */
  readonly #evicted = new Set<string>();
  #notices: string[] = [];
  #saidHowMany = false;
  readonly #onDrop: (id: string) => void;

  constructor(budgetBytes: number, onDrop: (id: string) => void = () => undefined) {
    this.#budgetBytes = budgetBytes;
    this.#onDrop = onDrop;
  }

  get budgetBytes(): number {
    return this.#budgetBytes;
  }

  set budgetBytes(bytes: number) {
    this.#budgetBytes = bytes;
    this.#shrink();
  }

  get bytes(): number {
    return [...this.#results.values()].reduce((total, each) => total + each.bytes, 0);
  }

  /** Caches a result as the last, and under a name if given; equal results, which share an id, are cached once. */
  keep(id: string, result: QueryResult, { name, query }: CacheOptions = {}): CachedResult {
    const parsed = query ?? new QueryText(result.provenance.query);
    const cached = { id, result, query: parsed, bytes: bytesOf(result) };
    const equal = this.#results.get(id);
    if (equal !== undefined) for (const each of this.#namesOf(equal)) this.#names.set(each, cached);
    this.#results.delete(id);
    this.#results.set(id, cached);
    for (const each of name === undefined ? [lastName] : [lastName, name]) {
      this.#names.set(each, cached);
      this.#evicted.delete(each);
    }
    this.#shrink();
    return cached;
  }

  /** Returns the result with a name; `_` is the last. */
  named(name: string): CachedResult | undefined {
    return this.#touch(this.#names.get(name));
  }

  /** Returns the result with an id, as referenced by outputs. */
  withId(id: string): CachedResult | undefined {
    return this.#touch(this.#results.get(id));
  }

  /** Makes a result the last again, if still cached; otherwise there is no last result. */
  makeLast(cached: CachedResult | undefined): void {
    if (cached !== undefined && this.#results.has(cached.id)) this.#names.set(lastName, cached);
    else this.#names.delete(lastName);
  }

  /** Returns whether the result of a name was evicted to free memory. */
  wasEvicted(name: string): boolean {
    return this.#evicted.has(name);
  }

  /** Returns the names in use, including `_`, in the order in which they were given. */
  names(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** Returns every result with its names, least recently used first. */
  all(): readonly { readonly cached: CachedResult; readonly names: readonly string[] }[] {
    return [...this.#results.values()].map(cached => ({ cached, names: this.#namesOf(cached) }));
  }

  /** Drops the result with a name, including its other names; returns false if there is none. */
  drop(name: string): boolean {
    const cached = this.#names.get(name);
    if (cached === undefined) return false;
    this.#remove(cached);
    return true;
  }

  /** Drops every result; returns their number. */
  clear(): number {
    const count = this.#results.size;
    for (const cached of [...this.#results.values()]) this.#remove(cached);
    return count;
  }

  /** Returns sentences about the results evicted since the last call. */
  takeNotices(): readonly string[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  #touch(cached: CachedResult | undefined): CachedResult | undefined {
    if (cached === undefined || !this.#results.delete(cached.id)) return undefined;
    this.#results.set(cached.id, cached);
    return cached;
  }

  #shrink(): void {
    this.#dropOldest();
    const gone: { readonly cached: CachedResult; readonly names: readonly string[] }[] = [];
    let { bytes } = this;
    for (const each of this.#expendable()) {
      if (bytes <= this.#budgetBytes) break;
      bytes -= each.cached.bytes;
      gone.push(each);
      this.#remove(each.cached);
      for (const name of each.names) this.#evicted.add(name);
    }
    const budget = `the kernel keeps up to ${formatBytes(this.#budgetBytes)} of results; \`%results --budget\` changes that`;
    for (const { cached, names } of gone.filter(({ names }) => names.length > 0))
      this.#notices.push(`${namesText(names)} (${sizeText(cached)}) was dropped: ${budget}.`);
    const unnamed = gone.filter(({ names }) => names.length === 0);
    if (unnamed.length > 0)
      this.#notices.push(
        `${plural(unnamed.length, 'earlier result')} without a name ${unnamed.length === 1 ? 'was' : 'were'} dropped: ${budget}.`,
      );
    if (bytes > this.#budgetBytes && gone.length + this.#results.size > 0)
      this.#notices.push(`This result alone takes ${formatBytes(bytes)}; ${budget}.`);
  }

  /** Reported once, as it recurs with every cell. */
  #dropOldest(): void {
    const unnamed = this.#expendable().filter(({ names }) => names.length === 0);
    const gone = unnamed.slice(0, Math.max(0, unnamed.length - mostUnnamed));
    for (const { cached } of gone) this.#remove(cached);
    if (gone.length === 0 || this.#saidHowMany) return;
    this.#saidHowMany = true;
    this.#notices.push(
      `The kernel keeps the last ${formatCount(mostUnnamed)} results without a name; earlier ones are dropped from now on. \`name << query\` keeps one.`,
    );
  }

  #expendable(): readonly { readonly cached: CachedResult; readonly names: readonly string[] }[] {
    const last = this.#names.get(lastName);
    const others = this.all().filter(({ cached }) => cached !== last);
    return [
      ...others.filter(({ names }) => names.length === 0),
      ...others.filter(({ names }) => names.length > 0),
    ];
  }

  #namesOf(cached: CachedResult): readonly string[] {
    return [...this.#names].flatMap(([name, each]) => (each === cached ? [name] : []));
  }

  #remove(cached: CachedResult): void {
    this.#results.delete(cached.id);
    for (const name of this.#namesOf(cached)) this.#names.delete(name);
    this.#onDrop(cached.id);
  }
}

/** Returns the number of rows of a result's table. */
export function rowsOf({ result }: CachedResult): number {
  return result.tables[0]?.data.numRows ?? 0;
}

function namesText(names: readonly string[]): string {
  return names.map(name => `\`${visible(name)}\``).join(', ');
}

function sizeText(cached: CachedResult): string {
  return `${plural(rowsOf(cached), 'row')}, ${formatBytes(cached.bytes)}`;
}

/** Returns the memory of the tables in bytes; buffers shared by columns count once. */
function bytesOf({ tables }: QueryResult): number {
  const buffers = new Set(tables.flatMap(({ data }) => buffersOf(data)));
  return [...buffers].reduce((total, buffer) => total + buffer.byteLength, 0);
}

function buffersOf(table: Table): readonly ArrayBufferLike[] {
  const columns = table.batches.flatMap(batch => batch.data.children);
  const all = columns.flatMap(column => [column, ...(column.dictionary?.data ?? [])]);
  return all.flatMap(({ values, nullBitmap, valueOffsets }) =>
    [values, nullBitmap, valueOffsets].flatMap(each =>
      each === undefined || each === null ? [] : [each.buffer],
    ),
  );
}
