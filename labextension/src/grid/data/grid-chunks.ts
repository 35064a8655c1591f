import type { View } from '../../../../kernel/notebook/results/result-protocol.js';
import type { Page, RowSource } from './grid-source.js';

/** Rows per request, and the number of requests whose rows are cached, unless one load needs more. */
const CHUNK_ROWS = 500;
const CACHED_CHUNKS = 24;

/** The rows of a view, fetched in chunks; the most recently used chunks are cached. */
export class Chunks {
  readonly #source: RowSource;
  readonly #view: View;
  readonly #chunks = new Map<number, Promise<Page>>();
  readonly #arrived = new Map<number, Page>();

  constructor(source: RowSource, view: View) {
    this.#source = source;
    this.#view = view;
  }

  /** Fetches the chunks of the given rows; resolves once they have arrived. All of them stay cached until others are loaded. */
  async load(from: number, to: number, signal?: AbortSignal): Promise<void> {
    const wanted: Promise<Page>[] = [];
    for (let chunk = chunkOf(from); chunk <= chunkOf(Math.max(to - 1, from)); chunk += 1)
      wanted.push(this.#fetch(chunk, signal));
    this.#forget(Math.max(wanted.length, CACHED_CHUNKS));
    await Promise.all(wanted);
  }

  /** Returns true if these rows have arrived. */
  has(from: number, to: number): boolean {
    for (let chunk = chunkOf(from); chunk <= chunkOf(Math.max(to - 1, from)); chunk += 1)
      if (!this.#arrived.has(chunk)) return false;
    return true;
  }

  /** The page of the first rows, which has columns even if there are no rows; undefined while loading. */
  get first(): Page | undefined {
    return this.#arrived.get(0);
  }

  /** Returns the page that contains a row, and the row's index in it; undefined while loading or if there is none. */
  at(row: number): { readonly page: Page; readonly row: number } | undefined {
    const page = this.#arrived.get(chunkOf(row));
    if (page === undefined || row - page.offset >= page.table.numRows) return undefined;
    return { page, row: row - page.offset };
  }

  #fetch(chunk: number, signal?: AbortSignal): Promise<Page> {
    const known = this.#chunks.get(chunk);
    if (known !== undefined) {
      // Reinserted, so that the most recently used ones stay longest.
      this.#chunks.delete(chunk);
      this.#chunks.set(chunk, known);
      return known;
    }
    const page = this.#source.page(this.#view, chunk * CHUNK_ROWS, CHUNK_ROWS, signal);
    this.#chunks.set(chunk, page);
    page.then(
      arrived => {
        this.#arrived.set(chunk, arrived);
        // Dropped while it was on its way, it would never be dropped again.
        if (!this.#chunks.has(chunk)) this.#chunks.set(chunk, page);
      },
      () => {
        if (this.#chunks.get(chunk) === page) this.#chunks.delete(chunk);
      },
    );
    return page;
  }

  /** Drops the least recently used chunks beyond the `most` latest ones. */
  #forget(most: number): void {
    for (const chunk of this.#chunks.keys()) {
      if (this.#chunks.size <= most) return;
      this.#chunks.delete(chunk);
      this.#arrived.delete(chunk);
    }
  }
}

function chunkOf(row: number): number {
  return Math.floor(row / CHUNK_ROWS);
}
