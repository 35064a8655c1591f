import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import { type Explainer, explainerOf } from '../cell/cell-explain.js';
import { refresh } from '../cell/refresh.js';
import { homeOf, type ShownOutput } from '../link/home.js';
import { around } from '../link/link-around.js';
import { type Zone, type ZoneSetting, zoneOfNotebook, zoneOfOne } from '../link/link-zone.js';
import type { Workbench } from '../link/workbench.js';
import { Turns } from '../ui/turns.js';
import { standBeside } from '../ui/ui-beside.js';
import { VEGA_MIME } from './charts-mime.js';
import type { SetRange } from './charts-stage.js';
import type { ChartView } from './charts-view.js';

/** Rank of JupyterLab's renderer for charts: before images and text. */
const vegaRank = 57;

/**
 * Draws the charts of the kernel as wide as their output, and follows its width, with interactions: values under the pointer, and a
 * selection to zoom into or to set as the time range. Other charts go to JupyterLab's own renderer.
 */
export function addCharts(
  rendermime: IRenderMimeRegistry,
  workbench: Workbench,
  notebooks: INotebookTracker | null,
): void {
  const theirs = rendermime.getFactory(VEGA_MIME);
  rendermime.addFactory(
    {
      safe: theirs?.safe ?? true,
      mimeTypes: [VEGA_MIME],
      createRenderer: options =>
        new ChartOutput(
          () => theirs?.createRenderer(options),
          (node, model) => rangeSetter({ node, model }, workbench, notebooks),
          model => zoneFor(model, notebooks),
          model => explainerOf({ model }, notebooks, workbench),
        ),
    },
    vegaRank,
  );
}

/** Returns a function that sets the time range of the notebook around an output; undefined if there is none. */
function rangeSetter(
  output: ShownOutput,
  workbench: Workbench,
  notebooks: INotebookTracker | null,
): SetRange | undefined {
  const panel = homeOf(output, notebooks)?.panel;
  if (panel === undefined) return undefined;
  return async (range, runs) => {
    const place = around(panel, workbench);
    if (place.state !== 'ready') return 'The kernel of the notebook does not respond.';
    const change = await place.set('time', range);
    if (!change.isOk) return change.text;
    if (runs) {
      void refresh(place, change.cell);
      return 'Time range set. The cells run again.';
    }
    return change.cell === undefined
      ? 'Set for this session only: the cell is read-only.'
      : 'Time range set. Run the cells again.';
  };
}

/** Returns the zone of the notebook of an output, or of the output alone. */
function zoneFor(model: IRenderMime.IMimeModel, notebooks: INotebookTracker | null): ZoneSetting {
  const notebook = homeOf({ model }, notebooks)?.panel.content.model;
  return notebook === undefined || notebook === null ? zoneOfOne() : zoneOfNotebook(notebook);
}

/** One output. It persists while its notebook scrolls it out of the page and back. */
class ChartOutput extends Widget implements IRenderMime.IRenderer {
  readonly #others: () => IRenderMime.IRenderer | undefined;
  readonly #setterAt: (node: HTMLElement, model: IRenderMime.IMimeModel) => SetRange | undefined;
  readonly #zoneOf: (model: IRenderMime.IMimeModel) => ZoneSetting;
  readonly #explainerAt: (model: IRenderMime.IMimeModel) => Explainer | undefined;
  readonly #turns = new Turns();
  #unfollow = (): void => undefined;
  #other: IRenderMime.IRenderer | undefined;
  #chart: ChartView | undefined;

  constructor(
    others: () => IRenderMime.IRenderer | undefined,
    setterAt: (node: HTMLElement, model: IRenderMime.IMimeModel) => SetRange | undefined,
    zoneOf: (model: IRenderMime.IMimeModel) => ZoneSetting,
    explainerAt: (model: IRenderMime.IMimeModel) => Explainer | undefined,
  ) {
    super();
    this.#explainerAt = explainerAt;
    this.#others = others;
    this.#setterAt = setterAt;
    this.#zoneOf = zoneOf;
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#unfollow();
    if ('apl' in model.metadata) {
      standBeside(this, model.metadata.apl);
      const setting = this.#zoneOf(model);
      this.#unfollow = setting.follow(() => void this.#draw(model, setting.zone));
      return this.#draw(model, setting.zone);
    }
    this.#turns.begin();
    this.#other ??= this.#others();
    if (this.#other === undefined) return;
    this.node.replaceChildren(this.#other.node);
    await this.#other.renderModel(model);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.#unfollow();
    this.#chart?.dispose();
    this.#other?.dispose();
    super.dispose();
  }

  async #draw(model: IRenderMime.IMimeModel, zone: Zone): Promise<void> {
    const isLatest = this.#turns.begin();
    const { openChart } = await import('./charts-view.js');
    if (this.isDisposed || !isLatest()) return;
    const chart = await openChart(model.data[VEGA_MIME], zone, {
      setter: () => this.#setterAt(this.node, model),
      explainer: () => this.#explainerAt(model),
    });
    if (this.isDisposed || !isLatest()) return chart.dispose();
    this.#chart?.dispose();
    this.#chart = chart;
    this.addClass('apl-chart');
    this.node.replaceChildren(chart.node);
  }
}
