import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { cut, visible, visibleLines } from '../../../kernel/text.js';
import { commandCell } from '../cell/cell-run.js';
import { aplIcon } from '../icon.js';
import { type Around, around } from '../link/link-around.js';
import type { Workbench } from '../link/workbench.js';
import { button, element } from '../ui/dom.js';
import { Tree } from '../ui/tree/tree.js';
import type { TreeRow } from '../ui/tree/tree-row.js';
import { type Action, actionsOf } from './actions.js';
import type { PanelPlace } from './memory.js';
import { factsOf, type Item, insertOf, itemsOf, textOf } from './panel-items.js';
import { addPanelStyle } from './panel-style.js';

/** Delay of filtering after the last key, in milliseconds. */
const filterDelayMs = 150;

/** The side panel: datasets, results, starred queries, history and profiles that the kernel of the current notebook knows. */
export class AplPanel extends Widget {
  readonly #workbench: Workbench;
  readonly #notebooks: INotebookTracker;
  readonly #open = new Set(['datasets', 'results']);
  readonly #moved = new Signal<this, void>(this);
  readonly #tree: Tree;
  readonly #filter = filterBox();
  readonly #heading = element('span', { class: 'apl-panel-name' });
  readonly #import: HTMLButtonElement;
  readonly #refresh: HTMLButtonElement;
  readonly #status = element('p', { class: 'apl-panel-status', role: 'status' });
  readonly #details = element('section', { class: 'apl-panel-details', 'aria-label': 'Details' });
  #around: Around | undefined;
  #items: readonly Item[] = [];
  #message = '';
  /** The row shown in the details, as JSON. */
  #shown = '';

  constructor(workbench: Workbench, notebooks: INotebookTracker, importFile: () => void) {
    super();
    addPanelStyle();
    this.#workbench = workbench;
    this.#notebooks = notebooks;
    this.id = 'apl-panel';
    this.title.icon = aplIcon;
    this.title.caption = 'APL: datasets, results, starred queries';
    this.addClass('apl-panel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'APL');
    this.#refresh = button('\u21bb', 'Refresh the lists', () => this.#around?.link?.refresh());
    this.#tree = new Tree('Datasets, results and queries', {
      toggle: row => this.#toggle(row),
      chosen: row => this.#choose(row),
      run: row => this.#run(row),
    });
    this.#import = button('Import\u2026', 'Import a file', importFile);
    const head = element('header', { class: 'apl-panel-head' }, this.#heading, this.#import, this.#refresh);
    this.node.append(head, this.#filter, this.#status, this.#tree.node, this.#details);
    let timer: ReturnType<typeof setTimeout> | undefined;
    this.#filter.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#draw(), filterDelayMs);
    });
    this.node.addEventListener('keydown', event => this.#onKey(event));
    notebooks.currentChanged.connect(this.#follow, this);
  }

  /** Emitted when the place has changed. */
  get moved(): ISignal<this, void> {
    return this.#moved;
  }

  get place(): PanelPlace {
    const { activeKey } = this.#tree;
    const active = activeKey === undefined ? {} : { active: activeKey };
    return { open: [...this.#open], ...active };
  }

  /** The notebook whose data it lists, if its kernel responds. */
  get panel(): NotebookPanel | undefined {
    return problemOf(this.#around) === undefined ? this.#around?.panel : undefined;
  }

  /** Restores a place; its active row is selected once the kernel has listed it. */
  restore({ open, active }: PanelPlace): void {
    this.#open.clear();
    for (const key of open) this.#open.add(key);
    if (active !== undefined) this.#tree.chooseLater(active);
    this.#draw();
  }

  /** Focuses the filter box. */
  focusFilter(): void {
    this.#filter.focus();
  }

  override onAfterShow(): void {
    this.#follow();
  }

  override onAfterAttach(): void {
    this.#follow();
  }

  override dispose(): void {
    this.#notebooks.currentChanged.disconnect(this.#follow, this);
    this.#around?.changed.disconnect(this.#draw, this);
    Signal.clearData(this);
    super.dispose();
  }

  #follow(): void {
    const panel = this.#notebooks.currentWidget;
    const next = panel === null || panel.isDisposed ? undefined : around(panel, this.#workbench);
    if (next !== this.#around) {
      this.#around?.changed.disconnect(this.#draw, this);
      this.#around = next;
      next?.changed.connect(this.#draw, this);
      this.#message = '';
    }
    this.#draw();
  }

  /** Draws only while the panel is visible, so that a hidden one sends no requests. */
  #draw(): void {
    if (!this.isVisible) return;
    const problem = problemOf(this.#around);
    this.#heading.textContent = visible(this.#around?.panel.title.label ?? 'APL');
    this.#heading.title = this.#heading.textContent;
    this.#status.textContent = problem ?? visible(this.#message);
    this.#refresh.disabled = problem !== undefined;
    this.#import.disabled = problem !== undefined;
    this.#filter.disabled = problem !== undefined;
    const link = problem === undefined ? this.#around?.link : undefined;
    this.#items =
      link?.session === undefined
        ? []
        : itemsOf(
            { profile: link.session.profile, answer: question => link.answer(question) },
            { isOpen: key => this.#open.has(key), filter: this.#filter.value.trim() },
          );
    this.#tree.show(this.#items);
    this.#showDetails(this.#tree.active);
  }

  #toggle({ key }: TreeRow): void {
    if (!this.#open.delete(key)) this.#open.add(key);
    this.#moved.emit();
    this.#draw();
  }

  #run(row: TreeRow): void {
    const { subject } = this.#itemOf(row) ?? {};
    if (subject === undefined || subject.kind === 'note') return;
    if (subject.kind === 'section') {
      this.#toggle(row);
      return;
    }
    const [first] = actionsOf(subject);
    if (first !== undefined && insertOf(subject) !== undefined) void this.#act(first);
  }

  async #act(action: Action): Promise<void> {
    const current = this.#around;
    if (current === undefined) return;
    this.#message = current.link?.session?.isRunning === true ? 'Waiting for the running cell\u2026' : '';
    this.#draw();
    this.#message = (await action.run(current)) ?? '';
    this.#draw();
  }

  /** Drops the last message, which was about the previous row. */
  #choose(row: TreeRow | undefined): void {
    this.#message = '';
    this.#status.textContent = '';
    this.#moved.emit();
    this.#showDetails(row);
  }

  /** Handles Escape: it clears the filter, as browsers do, and then returns to the cell. */
  #onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || (event.target === this.#filter && this.#filter.value !== '')) return;
    const notebook = this.#around?.panel.content;
    if (notebook?.activeCell == null) return;
    event.preventDefault();
    commandCell(notebook, notebook.activeCell);
  }

  #itemOf(row: TreeRow | undefined): Item | undefined {
    return this.#items.find(({ key }) => key === row?.key);
  }

  /** Shows all facts about the active row, and its actions; the focus stays on the same action, or returns to the tree. */
  #showDetails(row: TreeRow | undefined): void {
    const item = this.#itemOf(row);
    const key = item === undefined ? '' : JSON.stringify(item);
    if (this.#shown === key) return;
    this.#shown = key;
    const focused = focusedIn(this.#details);
    this.#details.replaceChildren(...(item === undefined ? [] : this.#detailsOf(item)));
    if (focused === undefined) return;
    const buttons = [...this.#details.querySelectorAll('button')];
    (buttons.find(each => each.textContent === focused) ?? this.#tree.node).focus({ preventScroll: true });
  }

  #detailsOf(item: Item): readonly Node[] {
    if (item.subject.kind === 'section') return [];
    const { subject } = item;
    const facts = factsOf(subject).flatMap(([name, text]) => [
      element('dt', {}, name),
      element('dd', {}, visibleLines(cut(text, 2_000))),
    ]);
    const text = textOf(subject);
    const controls = actionsOf(subject).map(action =>
      button(action.label, action.label, () => void this.#act(action)),
    );
    return [
      element('strong', { class: 'apl-panel-subject' }, item.label),
      ...(controls.length > 0 ? [element('div', { class: 'apl-row' }, ...controls)] : []),
      ...(facts.length > 0 ? [element('dl', {}, ...facts)] : []),
      ...(text === undefined ? [] : [element('pre', { tabindex: 0 }, visibleLines(cut(text, 20_000)))]),
    ];
  }
}

/** Returns the text of the focused element within a part; undefined if there is none. */
function focusedIn(part: HTMLElement): string | undefined {
  const { activeElement } = document;
  return part.contains(activeElement) ? (activeElement?.textContent ?? '') : undefined;
}

function filterBox(): HTMLInputElement {
  return element('input', {
    ...{ type: 'search', class: 'apl-input apl-panel-filter' },
    ...{ placeholder: 'Filter', 'aria-label': 'Filter the lists' },
  });
}

/** Returns a sentence that says why there is nothing to list. */
function problemOf(found: Around | undefined): string | undefined {
  if (found === undefined)
    return 'Open a notebook that runs APL (Axiom) to list its datasets and results here.';
  switch (found.state) {
    case 'ready':
      return undefined;
    case 'other':
      return 'The kernel of this notebook runs another language.';
    case 'none':
      return 'The notebook has no kernel. Choose \u201cAPL (Axiom)\u201d to see its datasets.';
    case 'dead':
      return 'The kernel has stopped. Restart it to see its datasets.';
    case 'unanswering':
      return 'The kernel does not respond to this extension.';
    case 'starting':
      return 'The kernel is starting\u2026';
  }
}
