import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import type { ResultReference } from '../../../kernel/notebook/results/result-protocol.js';
import { plural } from '../../../kernel/text.js';
import type { Explainer } from '../cell/cell-explain.js';
import type { ShownOutput } from '../link/home.js';
import type { Workbench } from '../link/workbench.js';
import { button, element } from '../ui/dom.js';
import { Turns } from '../ui/turns.js';
import { standBeside } from '../ui/ui-beside.js';
import type { Grid } from './grid.js';
import { ARROW_MIME } from './grid-mime.js';
import type { Place } from './surface/surface-place.js';

type ExplainerAt = (output: ShownOutput) => Explainer | undefined;

/** Before the static table, which is text/html. */
const RANK = 40;

/** Shows Arrow outputs as grids; the code of the grid is loaded when the first one is shown. */
export function addGrid(
  rendermime: IRenderMimeRegistry,
  place: Place,
  workbench: Workbench,
  explainerAt: ExplainerAt,
): void {
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [ARROW_MIME],
      createRenderer: () => new ArrowOutput(place, workbench, explainerAt),
    },
    RANK,
  );
}

/** The grid of one output, retained while its notebook scrolls it out of the page and back. */
class ArrowOutput extends Widget implements IRenderMime.IRenderer {
  readonly #place: Place;
  readonly #workbench: Workbench;
  readonly #explainerOf: ExplainerAt;
  readonly #turns = new Turns();
  #grid: Grid | undefined;
  #observer: ResizeObserver | undefined;
  #isStarted = false;
  /** State of events that are still arriving; undefined for the result of a query that has ended. */
  #live: Live | undefined;
  /** A later state of the same output, which waits until the reader is done. */
  readonly #later = element('div', { class: 'apl-grid-later', role: 'status' });

  constructor(place: Place, workbench: Workbench, explainerAt: ExplainerAt) {
    super();
    this.#explainerOf = explainerAt;
    this.#place = place;
    this.#workbench = workbench;
    this.addClass('apl-grid-output');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const live = liveOf(model.metadata.apl);
    const shown = this.#live;
    if (shown === undefined || this.#grid?.isRead !== true) return this.#show(model, live);
    const words =
      live === undefined
        ? '%tail has ended. Show its result'
        : `Show ${plural(live.events - shown.events, 'new event')}`;
    const show = button(words, words, () => {
      void this.#show(model, live).then(() => this.#grid?.focus());
    });
    this.#later.replaceChildren(show);
  }

  async #show(model: IRenderMime.IMimeModel, live: Live | undefined): Promise<void> {
    const isLatest = this.#turns.begin();
    const { openResult } = await import('./grid-open.js');
    const { metadata } = model;
    standBeside(this, metadata.apl);
    const query = queryOf(metadata.apl);
    const output = { model, node: this.node };
    const shown = await openResult(model, {
      reference: referenceOf(metadata.apl),
      kernel: () => this.#place.kernel(output),
      addCondition: (field, condition) => this.#place.addCondition(output, query, field, condition),
      explainer: () => this.#explainerOf(output),
      consoleLink: (result, hear) =>
        this.#workbench.linkTo(this.#place.kernel(output))?.whenAnswered({ ask: 'link', result }, answer => {
          if (answer.tell === 'link' && answer.url !== undefined) hear(answer.url);
        }),
      leave: () => this.#place.leave(output),
      zone: this.#place.zone(output),
      setups: this.#place.setups(output),
    });
    const grid = shown instanceof HTMLElement ? undefined : shown;
    if (this.isDisposed || !isLatest()) return grid?.dispose();
    // The notebook below stays in place while the next grid is measured.
    this.node.style.minHeight = this.#live === undefined ? '' : `${this.node.clientHeight}px`;
    this.#grid?.dispose();
    this.#grid = grid;
    this.#live = live;
    this.#isStarted = false;
    this.#later.replaceChildren();
    this.node.replaceChildren(this.#later, shown instanceof HTMLElement ? shown : shown.node);
    this.#observer?.disconnect();
    this.#observer = new ResizeObserver(() => this.#onResize());
    this.#observer.observe(this.node);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.#observer?.disconnect();
    this.#grid?.dispose();
    super.dispose();
  }

  /** A grid measures its cells: it starts once it has a size, and is redrawn when that changes. */
  #onResize(): void {
    if (this.#grid === undefined || this.node.clientWidth === 0) return;
    if (this.#isStarted) return void this.#grid.refresh();
    this.#isStarted = true;
    void this.#grid.start().then(() => {
      this.node.style.minHeight = '';
    });
  }
}

function referenceOf(apl: unknown): ResultReference | undefined {
  if (typeof apl !== 'object' || apl === null || !('result' in apl)) return undefined;
  const { result } = apl;
  if (typeof result !== 'object' || result === null || !('id' in result) || !('rows' in result))
    return undefined;
  const { id, rows } = result;
  if (typeof id !== 'string' || typeof rows !== 'number') return undefined;
  return result as ResultReference;
}

/** Events still arriving: the number so far. */
interface Live {
  readonly events: number;
}

function liveOf(apl: unknown): Live | undefined {
  if (typeof apl !== 'object' || apl === null || !('live' in apl)) return undefined;
  const { live } = apl;
  if (typeof live !== 'object' || live === null || !('events' in live)) return undefined;
  return typeof live.events === 'number' ? { events: live.events } : undefined;
}

function queryOf(apl: unknown): string {
  if (typeof apl !== 'object' || apl === null || !('query' in apl)) return '';
  return typeof apl.query === 'string' ? apl.query : '';
}
