import type { Home } from '../../link/home.js';
import { arrowBytes } from '../controls/grid-notes.js';

/** Returns the bytes of the rows of a result that its cell holds; undefined unless it holds all of them. */
export function savedRows({ cell }: Home, result: string): Uint8Array | undefined {
  const held = cell.model.outputs.toJSON().find(({ data, metadata }) => {
    const { apl } = (metadata ?? {}) as { readonly apl?: { readonly result?: ResultFacts } };
    return data !== undefined && apl?.result?.id === result && apl.result.rowsInNotebook === apl.result.rows;
  });
  return held === undefined ? undefined : arrowBytes(held.data as Readonly<Record<string, unknown>>);
}

/** What the metadata of an output, which a stranger may have written, say of its result. */
interface ResultFacts {
  readonly id?: unknown;
  readonly rows?: unknown;
  readonly rowsInNotebook?: unknown;
}
