/** Running the cells of a notebook again, by hand or from time to time. */
import { NotebookActions } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';
import type { Around } from '../link/link-around.js';
import { isRepeatable } from './cell-lines.js';
import type { CodeCell } from './cell-run.js';

/** Seconds between two runs that may be chosen. */
export const INTERVALS: readonly (readonly [seconds: number, text: string])[] = [
  [10, '10s'],
  [30, '30s'],
  [60, '1m'],
  [300, '5m'],
];

/**
 * Runs again what has run and only asks: cells that import, export or keep something stay as they are. `from` is the number of the
 * first cell, from 1. Resolves with how many cells ran.
 */
export async function refresh({ panel }: Around, from = 1): Promise<number> {
  const { content, sessionContext } = panel;
  const cells = content.widgets.slice(from - 1).filter(cell => {
    if (cell.model.type !== 'code') return false;
    const { executionCount } = (cell as CodeCell).model;
    return executionCount !== null && isRepeatable(cell.model.sharedModel.getSource());
  });
  if (cells.length > 0) await NotebookActions.runCells(content, cells, sessionContext);
  return cells.length;
}

/** What runs again by hand and from time to time: the cells of a notebook, or those of its dashboard. */
export interface Rerun {
  /** What shows the outputs, with the controls in its toolbar. */
  readonly view: Widget & { readonly toolbar: Widget };
  readonly name: 'notebook' | 'dashboard';
  /** Runs the cells from a number on, from 1, and resolves with how many ran. */
  readonly again: (from?: number) => Promise<number>;
  /** Has the session ready for another time range. */
  readonly prepare: () => Promise<void>;
  /** Whether a time range that is chosen runs the cells too. */
  readonly follows: boolean;
}

/** Runs cells again from time to time, while somebody can see them, nobody types in the notebook and no cell runs. */
export class Refresher {
  readonly #around: Around;
  readonly rerun: Rerun;
  #seconds = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isRunning = false;

  constructor(around: Around, rerun: Rerun) {
    this.#around = around;
    this.rerun = rerun;
    rerun.view.disposed.connect(() => this.every(0));
  }

  /** Seconds between two runs; 0 if there are none. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Begins, changes or, with 0, ends the runs. */
  every(seconds: number): void {
    clearInterval(this.#timer);
    this.#seconds = seconds;
    if (seconds > 0) this.#timer = setInterval(() => void this.#tick(), seconds * 1000);
  }

  async #tick(): Promise<void> {
    const { panel, state, link } = this.#around;
    const isSeen = document.visibilityState === 'visible' && this.rerun.view.isVisible;
    // To run cells ends the edit mode.
    const isBusy = this.#isRunning || panel.content.mode === 'edit' || link?.session?.isRunning === true;
    if (isBusy || !isSeen || state !== 'ready') return;
    this.#isRunning = true;
    try {
      await this.rerun.again();
    } finally {
      this.#isRunning = false;
    }
  }
}

const refreshers = new WeakMap<Around, Refresher>();

/** Returns the refresher of a notebook, of which there is one. */
export function refresherOf(around: Around): Refresher {
  const found =
    refreshers.get(around) ??
    new Refresher(around, {
      view: around.panel,
      name: 'notebook',
      again: from => refresh(around, from),
      prepare: async () => undefined,
      follows: false,
    });
  refreshers.set(around, found);
  return found;
}
