import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import { writtenName } from '../../../kernel/apl/catalog/catalog-written.js';
import {
  PATTERNS_MIME,
  type PatternsReference,
  patternsReference,
} from '../../../kernel/apl/editor/editor-patterns.js';
import { parseLine, templateCondition } from '../../../kernel/apl/editor/editor-template.js';
import { quotedName } from '../../../kernel/apl/syntax/tokens/quote.js';
import { homeOf } from '../link/home.js';
import type { Workbench } from '../link/workbench.js';
import { button, element } from '../ui/dom.js';
import { addStyle, QUIET } from '../ui/ui-style.js';
import { type AddBelow, belowOutput } from './below.js';
import { queryShown } from './query-shown.js';

/** Before the list without buttons, which is text/html. */
const RANK = 40;
const LIST = 'text/html';

/** Shows lists of templates, each with buttons for follow-up cells. */
export function addPatterns(
  rendermime: IRenderMimeRegistry,
  notebooks: INotebookTracker | null,
  workbench: Workbench,
): void {
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [PATTERNS_MIME],
      createRenderer: options =>
        new PatternsOutput(
          model => addTo(model, notebooks, workbench),
          rendermime.getFactory(LIST)?.createRenderer({ ...options, mimeType: LIST }),
        ),
    },
    RANK,
  );
}

/** Adds cells for the templates of an output. */
interface Adder {
  readonly reference: PatternsReference;
  readonly add: AddBelow;
}

class PatternsOutput extends Widget implements IRenderMime.IRenderer {
  readonly #adderOf: (model: IRenderMime.IMimeModel) => Adder | undefined;
  readonly #list: IRenderMime.IRenderer | undefined;
  #model: IRenderMime.IMimeModel | undefined;

  constructor(
    adderOf: (model: IRenderMime.IMimeModel) => Adder | undefined,
    list: IRenderMime.IRenderer | undefined,
  ) {
    super();
    this.#adderOf = adderOf;
    this.#list = list;
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    if (this.#list === undefined) return;
    this.node.replaceChildren(this.#list.node);
    await this.#list.renderModel(model);
    this.#model = model;
    if (this.isAttached) this.#addButtons();
  }

  /** An output is rendered before it is in its notebook. */
  override onAfterAttach(): void {
    this.#addButtons();
  }

  override dispose(): void {
    this.#list?.dispose();
    super.dispose();
  }

  #addButtons(): void {
    const adder = this.#model && this.#adderOf(this.#model);
    if (adder === undefined || this.node.querySelector('.apl-patterns-go') !== null) return;
    addStyle('apl-patterns-style', STYLE);
    const status = element('div', { role: 'status', class: 'apl-patterns-status' });
    const [head, ...rows] = this.node.querySelectorAll('tr');
    const column = [...(head?.cells ?? [])].findIndex(({ textContent }) => textContent === 'template');
    for (const [place, row] of rows.entries()) {
      const buttons = actionsOf(adder, place).map(({ text, label, lines }) =>
        button(text, label, () => {
          status.textContent = adder.add(lines, 'Added a cell below.');
        }),
      );
      row.cells[column]?.append(element('div', { class: 'apl-patterns-go' }, ...buttons));
    }
    this.node.append(status);
  }
}

const STYLE = `
.apl-patterns-go { display: flex; gap: 2px; margin-top: 2px; }
.apl-patterns-go .apl-button { font-size: 11px; padding: 0 4px; }
.apl-patterns-status { min-height: 18px; font-size: 12px; color: ${QUIET}; }
`;

interface Action {
  readonly text: string;
  readonly label: string;
  readonly lines: readonly string[];
}

/** Returns the follow-up cells of a template: its lines split into fields, its lines alone, and all other lines. */
function actionsOf({ reference }: Adder, place: number): readonly Action[] {
  const template = reference.templates[place];
  if (template === undefined) return [];
  const { typed } = reference;
  const name = writtenName(reference.field);
  const condition = templateCondition(name, template);
  const source = reference.isResult ? writtenName(reference.source) : quotedName(reference.source);
  const types = new Map(Object.entries(typed?.place === place ? typed.types : {}));
  const split = parseLine(name, template, types);
  const number = place + 1;
  return [
    ...(split === undefined
      ? []
      : [
          {
            text: 'Split',
            label: `Add and run a cell below that splits the lines of template ${number} into fields`,
            lines: [source, `| where ${condition}`, `| ${split}`],
          },
        ]),
    {
      text: 'Keep',
      label: `Add and run a cell below with only the lines of template ${number}`,
      lines: [source, `| where ${condition}`],
    },
    {
      text: 'Exclude',
      label: `Add and run a cell below without the lines of template ${number}`,
      lines: [source, `| where not(${condition})`],
    },
  ];
}

/** Returns undefined outside notebooks, and for anything not created by this extension. */
function addTo(
  model: IRenderMime.IMimeModel,
  notebooks: INotebookTracker | null,
  workbench: Workbench,
): Adder | undefined {
  const reference = patternsReference(model.data[PATTERNS_MIME]);
  const home = homeOf({ model }, notebooks);
  const shown = reference && queryShown(reference);
  if (reference === undefined || home === undefined || shown === undefined) return undefined;
  const add = belowOutput(home, shown, workbench);
  const range = reference.isResult ? [] : shown.range;
  return { reference, add: (lines, done) => add([...range, ...lines], done) };
}
