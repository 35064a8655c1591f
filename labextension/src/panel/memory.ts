import type { IStateDB } from '@jupyterlab/statedb';
import type { ISignal } from '@lumino/signaling';

const id = 'apl-panel:place';

/** The reader's place in the panel. */
export interface PanelPlace {
  /** Keys of the open rows. */
  readonly open: readonly string[];
  /** Key of the active row. */
  readonly active?: string;
}

/** A view with such a place and a signal for its changes. */
interface Placed {
  readonly place: PanelPlace;
  readonly moved: ISignal<unknown, void>;
  restore(place: PanelPlace): void;
}

/** Restores the panel's place from before the page was reloaded, and saves it from then on. */
export async function remember(panel: Placed, state: IStateDB): Promise<void> {
  const place = placeOf(await state.fetch(id));
  if (place !== undefined) panel.restore(place);
  panel.moved.connect(() => void state.save(id, { ...panel.place, open: [...panel.place.open] }));
}

function placeOf(saved: unknown): PanelPlace | undefined {
  if (typeof saved !== 'object' || saved === null || !('open' in saved)) return undefined;
  const { open, active } = saved as { open: unknown; active?: unknown };
  if (!Array.isArray(open) || !open.every(key => typeof key === 'string')) return undefined;
  return { open, ...(typeof active === 'string' ? { active } : {}) };
}
