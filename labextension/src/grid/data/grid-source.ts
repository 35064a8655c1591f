/** Sources of the rows of a grid: the kernel, which has all of them, or the notebook, which has the first ones. */
import type { Table } from 'apache-arrow';
import type { ProfileReply, View } from '../../../../kernel/notebook/results/result-protocol.js';
import { takeRows } from '../../../../kernel/result/take.js';
import { arrangedRows } from './arrange.js';

/** Rows of a view from `offset` on. */
export interface Page {
  readonly table: Table;
  readonly offset: number;
  /** Number of rows in the whole view. */
  readonly rows: number;
}

export type Profile = Omit<ProfileReply, 'kind' | 'id'>;

/** A failed request; its message is shown to the reader. */
export class SourceError extends Error {
  /** True if the kernel no longer has the result. */
  readonly isGone: boolean;

  constructor(message: string, isGone: boolean) {
    super(message);
    this.isGone = isGone;
  }
}

/** Rows on request; every promise may reject with a SourceError. */
export interface RowSource {
  /** True if it has all rows and can sort, filter, search and profile them. */
  readonly canCompute: boolean;
  /** True if it can sort and search because all rows are here. */
  readonly canArrange: boolean;
  /** Returns a page of a view. An abort tells the kernel that nobody is waiting, and rejects the promise. */
  page(view: View, offset: number, limit: number, signal?: AbortSignal): Promise<Page>;
  /** Prepares for a search that a reader is about to start. */
  prepare(): void;
  profile(view: View, column: string): Promise<Profile>;
  close(): void;
}

/** Returns the rows saved with the notebook; if those are all rows, `isWhole`, they can be sorted and searched. */
export function notebookRows(table: Table, isWhole: boolean): RowSource {
  const canArrange = isWhole && table.batches.length === 1;
  const arranged = new WeakMap<View, Uint32Array>();
  const rowsOf = (view: View): Uint32Array => {
    const known = arranged.get(view) ?? arrangedRows(table, view);
    arranged.set(view, known);
    return known;
  };
  const places = [...table.schema.fields.keys()];
  return {
    canCompute: false,
    canArrange,
    page: (view, offset, limit) => {
      if (!canArrange)
        return Promise.resolve({ table: table.slice(offset, offset + limit), offset, rows: table.numRows });
      const rows = rowsOf(view);
      const page = takeRows(table, places, rows.slice(offset, offset + limit));
      return Promise.resolve({ table: page, offset, rows: rows.length });
    },
    prepare: () => undefined,
    profile: () => Promise.reject(new SourceError('Column statistics need the kernel.', true)),
    close: () => undefined,
  };
}
