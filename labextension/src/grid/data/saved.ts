import type { Home } from '../../link/home.js';
import { arrowBytes } from '../controls/grid-notes.js';

/** Returns the bytes of all rows of a result from its cell; undefined unless the cell has all of them. */
export function savedRows({ cell }: Home, result: string): Uint8Array | undefined {
  const held = cell.model.outputs.toJSON().find(({ data, metadata }) => {
    const { apl } = (metadata ?? {}) as { readonly apl?: { readonly result?: ResultFacts } };
    return data !== undefined && apl?.result?.id === result && apl.result.rowsInNotebook === apl.result.rows;
  });
  return held === undefined ? undefined : arrowBytes(held.data as Readonly<Record<string, unknown>>);
}

/** Members of an output's untrusted metadata about its result. */
interface ResultFacts {
  readonly id?: unknown;
  readonly rows?: unknown;
  readonly rowsInNotebook?: unknown;
}
