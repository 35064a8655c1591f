/** Reruns the cells of a notebook, manually or periodically. */
import { NotebookActions } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';
import type { Around } from '../link/link-around.js';
import { isRepeatable } from './cell-lines.js';
import type { CodeCell } from './cell-run.js';

/** Selectable intervals between runs, in seconds. */
export const INTERVALS: readonly (readonly [seconds: number, text: string])[] = [
  [10, '10s'],
  [30, '30s'],
  [60, '1m'],
  [300, '5m'],
];

/**
 * Reruns the executed cells that are read-only: cells that import, export or store something are skipped. `from` is the number of the
 * first cell, from 1. Resolves with the number of cells that ran.
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

/** A target of manual and periodic runs: the cells of a notebook, or of its dashboard. */
export interface Rerun {
  /** The widget with the outputs, and with the controls in its toolbar. */
  readonly view: Widget & { readonly toolbar: Widget };
  readonly name: 'notebook' | 'dashboard';
  /** Runs the cells from the number `from` (from 1), and resolves with the number of cells that ran. */
  readonly again: (from?: number) => Promise<number>;
  /** Prepares the session for another time range. */
  readonly prepare: () => Promise<void>;
  /** Whether choosing a time range also runs the cells. */
  readonly follows: boolean;
}

/** Reruns cells periodically, while the page is visible, nobody is typing in the notebook and no cell is running. */
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

  /** Seconds between two runs; 0 if stopped. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Starts the runs, changes their interval or, with 0, stops them. */
  every(seconds: number): void {
    clearInterval(this.#timer);
    this.#seconds = seconds;
    if (seconds > 0) this.#timer = setInterval(() => void this.#tick(), seconds * 1000);
  }

  async #tick(): Promise<void> {
    const { panel, state, link } = this.#around;
    const isSeen = document.visibilityState === 'visible' && this.rerun.view.isVisible;
    // Running cells ends edit mode.
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

/** Returns the refresher of a notebook; each notebook has one. */
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
