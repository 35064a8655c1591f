/**
 * Cells that the kernel writes below one that ran: each is recognized later, so that another run neither duplicates it nor loses a change.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { WrittenCell, WrittenCells } from '../../../kernel/apl/editor/editor-link.js';
import { asStep } from '../link/undo-step.js';

/** Origin of a cell, in its metadata: the cell it was written below, and a fingerprint of its source at the time. */
interface Origin {
  readonly below: string;
  readonly mark: string;
}

/** The relevant members of a cell of a notebook. */
export interface StandingCell {
  readonly kind: string;
  readonly source: string;
  readonly origin: unknown;
  /** Deleting it is not allowed. */
  readonly isLocked: boolean;
}

/** Changes of a list of cells, to be applied in order: `at` is an index into the list at that point. */
export type CellChange =
  | { readonly change: 'insert'; readonly at: number; readonly cell: WrittenCell; readonly origin: Origin }
  | { readonly change: 'delete'; readonly at: number };

const KEY = 'apl_written';

/**
 * Returns the changes that put the cells below the one at `at` with the id `below`. A cell from an earlier run, in the same order,
 * stays with a reader's changes; any other from an earlier run is deleted unless it has been changed.
 */
export function changesOf(
  standing: readonly StandingCell[],
  at: number,
  { below, cells }: Omit<WrittenCells, 'tell'>,
): readonly CellChange[] {
  const marks = cells.map(({ kind, source }) => markOf(kind, source));
  const kept = new Map<number, number>();
  let next = 0;
  for (const [place, { origin }] of standing.entries()) {
    if (place <= at || !isOrigin(origin) || origin.below !== below) continue;
    const found = marks.indexOf(origin.mark, next);
    if (found < 0) continue;
    kept.set(place, found);
    next = found + 1;
  }
  const changes: CellChange[] = [];
  let place = at + 1;
  let written = 0;
  const insertUntil = (end: number) => {
    for (; written < end; written += 1, place += 1) {
      const [cell, mark] = [cells[written], marks[written]];
      if (cell !== undefined && mark !== undefined)
        changes.push({ change: 'insert', at: place, cell, origin: { below, mark } });
    }
  };
  const last = Math.max(at, ...kept.keys());
  for (const [index, cell] of standing.entries()) {
    if (index <= at) continue;
    // Cells after the last kept one are written before anything else below it.
    if (index === last + 1) insertUntil(cells.length);
    const own = kept.get(index);
    if (own !== undefined) {
      insertUntil(own);
      written = own + 1;
      place += 1;
    } else if (isAsWritten(cell, below)) changes.push({ change: 'delete', at: place });
    else place += 1;
  }
  insertUntil(cells.length);
  return changes;
}

/** Writes cells into a notebook; a read-only one, or one without the cell by now, is left unchanged. */
export function writeBelow({ content, model }: NotebookPanel, update: WrittenCells): void {
  if (model === null || model.readOnly) return;
  const { sharedModel } = model;
  const at = sharedModel.cells.findIndex(cell => cell.getId() === update.below);
  if (at < 0) return;
  const ids = new Set(sharedModel.cells.map(cell => cell.getId()));
  const found = sharedModel.cells.map(cell => ({
    kind: cell.cell_type,
    source: cell.getSource(),
    origin: cell.getMetadata(KEY),
    isLocked: cell.getMetadata('deletable') === false,
  }));
  const standing = adopted(found, at, update.below, ids);
  const active = content.activeCell?.model.sharedModel.getId();
  const write = () => {
    for (const [place, { origin }] of standing.entries())
      if (origin !== found[place]?.origin)
        sharedModel.cells[place]?.setMetadata(KEY, { ...(origin as Origin) });
    for (const each of changesOf(standing, at, update)) {
      if (each.change === 'delete') sharedModel.deleteCell(each.at);
      else
        sharedModel.insertCell(each.at, {
          cell_type: each.cell.kind,
          source: each.cell.source,
          metadata: { [KEY]: { ...each.origin } },
        });
    }
  };
  asStep(sharedModel, () => sharedModel.transact(write));
  const again = sharedModel.cells.findIndex(cell => cell.getId() === active);
  if (again >= 0) content.activeCellIndex = again;
}

/**
 * Re-adopts cells by position: a notebook in a format without ids gives its cells new ids when it is opened. Cells written below a cell
 * that no longer has its id, and that begin directly below the one at `at`, then belong to it.
 */
export function adopted(
  standing: readonly StandingCell[],
  at: number,
  below: string,
  ids: ReadonlySet<string>,
): readonly StandingCell[] {
  const next = standing[at + 1]?.origin;
  if (!isOrigin(next) || ids.has(next.below)) return standing;
  return standing.map((cell, place) =>
    place > at && isOrigin(cell.origin) && cell.origin.below === next.below
      ? { ...cell, origin: { ...cell.origin, below } }
      : cell,
  );
}

/** Returns whether a cell is unchanged since it was written below the one with this id. */
function isAsWritten({ kind, source, origin, isLocked }: StandingCell, below: string): boolean {
  return !isLocked && isOrigin(origin) && origin.below === below && origin.mark === markOf(kind, source);
}

/** Narrows the untrusted metadata of a cell. */
function isOrigin(value: unknown): value is Origin {
  if (typeof value !== 'object' || value === null) return false;
  const { below, mark } = value as { readonly below?: unknown; readonly mark?: unknown };
  return typeof below === 'string' && typeof mark === 'string';
}

/** Returns a fingerprint of a source: its length, and its FNV-1a hash. */
function markOf(kind: string, source: string): string {
  let hash = 0x811c9dc5;
  for (const character of `${kind} ${source}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return `${source.length}-${hash.toString(16)}`;
}
