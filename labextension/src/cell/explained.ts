import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import { EXPLAINED_MIME, explainedReference } from '../../../kernel/apl/editor/editor-events.js';
import { visibleLines } from '../../../kernel/text.js';
import { homeOf } from '../link/home.js';
import type { Workbench } from '../link/workbench.js';
import { button, element } from '../ui/dom.js';
import { addStyle } from '../ui/ui-style.js';
import { belowOutput } from './below.js';
import { queryShown } from './query-shown.js';

/** Before the text alone. */
const RANK = 40;

/** Shows the findings of `%explain`, with buttons for follow-up cells. */
export function addExplained(
  rendermime: IRenderMimeRegistry,
  notebooks: INotebookTracker | null,
  workbench: Workbench,
): void {
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [EXPLAINED_MIME],
      createRenderer: () => new ExplainedOutput(model => buttonsOf(model, notebooks, workbench)),
    },
    RANK,
  );
}

class ExplainedOutput extends Widget implements IRenderMime.IRenderer {
  readonly #buttonsOf: (model: IRenderMime.IMimeModel) => readonly HTMLElement[];
  #model: IRenderMime.IMimeModel | undefined;

  constructor(buttonsOf: (model: IRenderMime.IMimeModel) => readonly HTMLElement[]) {
    super();
    this.#buttonsOf = buttonsOf;
    this.addClass('apl-explained');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#model = model;
    this.#show(model);
  }

  /** An output is rendered before it is in its notebook. */
  override onAfterAttach(): void {
    if (this.#model !== undefined) this.#show(this.#model);
  }

  #show(model: IRenderMime.IMimeModel): void {
    addStyle('apl-explained-style', STYLE);
    const text = element('pre', {}, visibleLines(String(model.data['text/plain'] ?? '')));
    this.node.replaceChildren(text, element('div', { class: 'apl-row' }, ...this.#buttonsOf(model)));
  }
}

const STYLE = `
.apl-explained > pre { white-space: pre-wrap; overflow-wrap: anywhere; margin-bottom: 6px; }
.apl-explained > .apl-row:empty { display: none; }
`;

/** Returns the buttons; none outside notebooks, and for anything not created by this extension. */
function buttonsOf(
  model: IRenderMime.IMimeModel,
  notebooks: INotebookTracker | null,
  workbench: Workbench,
): readonly HTMLElement[] {
  const reference = explainedReference(model.data[EXPLAINED_MIME]);
  const home = homeOf({ model }, notebooks);
  if (reference === undefined || home === undefined) return [];
  const { events, condition, found } = reference;
  const part = [events, `| where ${condition}`, `| where ${found}`];
  const shown = queryShown({ ...reference, query: part.join('\n') });
  if (shown === undefined) return [];
  const add = belowOutput(home, shown, workbench);
  const status = element('span', { role: 'status' });
  const press = (text: string, label: string, lines: readonly string[]) =>
    button(text, label, () => {
      status.textContent = add([...shown.range, ...lines], 'Added a cell below.');
    });
  return [
    press('Show events', 'Add and run a cell below with the selected events of this part', part),
    press('Explain further', 'Add and run a cell below that explains the selected events within this part', [
      `%%explain ${condition}`,
      events,
      `| where ${found}`,
    ]),
    status,
  ];
}
