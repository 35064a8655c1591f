import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import {
  TRACE_MIME,
  type TraceReference,
  traceReference,
} from '../../../kernel/result/trace/trace-reference.js';
import { belowOutput } from '../cell/below.js';
import { queryShown } from '../cell/query-shown.js';
import { savedRows } from '../grid/data/saved.js';
import type { Place } from '../grid/surface/surface-place.js';
import { type Home, homeOf } from '../link/home.js';
import type { Workbench } from '../link/workbench.js';
import { element } from '../ui/dom.js';
import { Turns } from '../ui/turns.js';
import { standBeside } from '../ui/ui-beside.js';
import type { TracePlace } from './trace-open.js';
import type { TraceView } from './trace-view.js';

/** Before the static drawing, which is text/html. */
const RANK = 40;
const DRAWING = 'text/html';

/** The services of the page that a trace needs. */
export interface TraceHost {
  readonly place: Place;
  readonly workbench: Workbench;
  readonly notebooks: INotebookTracker | null;
}

/** Shows interactive traces; the static drawing saved with them replaces them if the spans are gone. */
export function addTraces(rendermime: IRenderMimeRegistry, host: TraceHost): void {
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [TRACE_MIME],
      createRenderer: options =>
        new TraceOutput(host, () =>
          rendermime.getFactory(DRAWING)?.createRenderer({ ...options, mimeType: DRAWING }),
        ),
    },
    RANK,
  );
}

/** The trace of one output. It persists while its notebook scrolls it out of the page and back. */
class TraceOutput extends Widget implements IRenderMime.IRenderer {
  readonly #host: TraceHost;
  readonly #drawing: () => IRenderMime.IRenderer | undefined;
  readonly #turns = new Turns();
  #view: TraceView | undefined;
  #saved: IRenderMime.IRenderer | undefined;
  #model: IRenderMime.IMimeModel | undefined;
  /** The model that is shown or being opened. */
  #opened: IRenderMime.IMimeModel | undefined;

  constructor(host: TraceHost, drawing: () => IRenderMime.IRenderer | undefined) {
    super();
    this.#host = host;
    this.#drawing = drawing;
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#model = model;
    standBeside(this, model.metadata.apl);
    if (this.isAttached) await this.#open(model);
  }

  /** An output is rendered before it is in its notebook, through which the kernel and the rows are found. */
  override onAfterAttach(): void {
    if (this.#model !== undefined && this.#opened !== this.#model) void this.#open(this.#model);
  }

  async #open(model: IRenderMime.IMimeModel): Promise<void> {
    this.#opened = model;
    const isLatest = this.#turns.begin();
    const reference = traceReference(model.data[TRACE_MIME]);
    const home = homeOf({ model }, this.#host.notebooks);
    const rows = home && reference && savedRows(home, reference.result.id);
    // After a page reload, the kernel connects later.
    const isLater = rows === undefined && home?.panel.sessionContext.isReady === false;
    if (isLater) await this.#showDrawing(model);
    const { openTrace } = await import('./trace-open.js');
    const view = reference && (await openTrace(reference, this.#placeOf(model, reference, { home, rows })));
    if (this.isDisposed || !isLatest()) return view?.dispose();
    this.#view?.dispose();
    this.#view = view;
    if (view === undefined) {
      await this.#showDrawing(model);
      if (!isLatest()) return;
      const words = 'The kernel no longer has the spans. Run the cell again to fold, search and select them.';
      this.node.prepend(element('p', {}, words));
      return;
    }
    this.node.replaceChildren(view.node);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.#view?.dispose();
    this.#saved?.dispose();
    super.dispose();
  }

  async #showDrawing(model: IRenderMime.IMimeModel): Promise<void> {
    this.#saved ??= this.#drawing();
    if (this.#saved === undefined) return;
    this.node.replaceChildren(this.#saved.node);
    await this.#saved.renderModel(model);
  }

  #placeOf(
    model: IRenderMime.IMimeModel,
    reference: TraceReference,
    { home, rows }: { readonly home: Home | undefined; readonly rows: Uint8Array | undefined },
  ): TracePlace {
    const { place, workbench } = this.#host;
    const output = { model, node: this.node };
    const shown = queryShown(reference);
    return {
      kernel: async () => {
        await home?.panel.sessionContext.ready;
        return place.kernel(output);
      },
      saved: rows,
      add: home && shown && belowOutput(home, shown, workbench),
      shown,
      zone: place.zone(output),
      leave: () => place.leave(output),
    };
  }
}
