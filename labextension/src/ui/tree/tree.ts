import { element } from '../dom.js';
import { addStyle } from '../ui-style.js';
import type { TreeRow } from './tree-row.js';
import { RULES } from './tree-style.js';

/** The events of a tree, handled by its owner. */
export interface TreeOwner {
  toggle(row: TreeRow): void;
  /** Called when the row became active. */
  chosen(row: TreeRow | undefined): void;
  /** Called on a double click, Enter or Insert. */
  run(row: TreeRow): void;
  /** Returns the contents in place of label and detail; the label is then the accessible name. */
  contentOf?(row: TreeRow): readonly Node[];
}

/** Height of a row in pixels; each row is a single line. */
export const ROW_HEIGHT = 22;
/** Maximum indented level; deeper rows are aligned with it. */
const DEEPEST = 24;

let trees = 0;

/**
 * A tree whose rows are in the page only while they are in view. The tree has the focus; `aria-activedescendant` names the active
 * row.
 */
export class Tree {
  readonly node: HTMLElement;
  readonly #space = element('div', { class: 'apl-tree-space', role: 'none' });
  readonly #owner: TreeOwner;
  readonly #id = `apl-tree-${++trees}`;
  #rows: readonly TreeRow[] = [];
  /** The index of each row among its siblings, from 1, and their number. */
  #siblings: readonly Siblings[] = [];
  #active = 0;
  /** Key of a row to activate once it exists. */
  #wanted: string | undefined;
  #frame = 0;
  /** The last known height: a notebook removes its outputs from the page and restores them without notification. */
  #height = 0;

  constructor(label: string, owner: TreeOwner) {
    this.#owner = owner;
    addStyle('apl-tree-style', RULES);
    this.node = element(
      'div',
      { class: 'apl-tree', role: 'tree', tabindex: 0, 'aria-label': label },
      this.#space,
    );
    this.node.addEventListener('scroll', () => this.#drawSoon(), { passive: true });
    this.node.addEventListener('keydown', event => this.#onKey(event));
    this.node.addEventListener('click', event => this.#onClick(event));
    this.node.addEventListener('dblclick', event => this.#onDoubleClick(event));
    new ResizeObserver(() => this.#drawSoon()).observe(this.node);
  }

  get active(): TreeRow | undefined {
    return this.#rows[this.#active];
  }

  /** Key of the active row, or of the one to activate once it exists. */
  get activeKey(): string | undefined {
    return this.#wanted ?? this.active?.key;
  }

  /** Activates a row as soon as it exists, unless another is activated first. */
  chooseLater(key: string): void {
    this.#wanted = key;
  }

  /** Shows other rows; the active one stays active. */
  show(rows: readonly TreeRow[]): void {
    const key = this.active?.key;
    this.#rows = rows;
    this.#siblings = siblingsOf(rows);
    const wanted = rows.findIndex(row => row.key === this.#wanted);
    const kept = wanted >= 0 ? wanted : rows.findIndex(row => row.key === key);
    this.#active = kept >= 0 ? kept : Math.min(this.#active, Math.max(rows.length - 1, 0));
    if (wanted >= 0) this.#reveal();
    this.#draw();
  }

  /** Activates an existing row, as its keys do. */
  choose(key: string): void {
    const index = this.#rows.findIndex(row => row.key === key);
    if (index >= 0) this.#activate(index);
  }

  #drawSoon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    const { scrollTop } = this.node;
    this.#height = this.node.clientHeight || this.#height || Number.parseFloat(this.node.style.height) || 0;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - 2);
    const last = Math.min(this.#rows.length, Math.ceil((scrollTop + this.#height) / ROW_HEIGHT) + 2);
    this.#space.style.height = `${this.#rows.length * ROW_HEIGHT}px`;
    const shown = new Set(Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index));
    if (this.active !== undefined) shown.add(this.#active);
    const nodes = [...shown].sort((a, b) => a - b).map(index => this.#rowNode(index));
    // A press and its release only make a click on the same node, so nodes already drawn are kept.
    const drawn = [...this.#space.children];
    if (
      nodes.length !== drawn.length ||
      nodes.some((node, index) => drawn[index]?.isEqualNode(node) !== true)
    )
      this.#space.replaceChildren(...nodes);
    if (this.active === undefined) this.node.removeAttribute('aria-activedescendant');
    else this.node.setAttribute('aria-activedescendant', `${this.#id}-${this.#active}`);
  }

  #rowNode(index: number): HTMLElement {
    const row = this.#rows[index] as TreeRow;
    const { level, kind, label, detail, isOpen, isCurrent, title } = row;
    const content = this.#owner.contentOf?.(row);
    const siblings = this.#siblings[index];
    const node = element(
      'div',
      {
        ...{ id: `${this.#id}-${index}`, class: `apl-tree-row apl-tree-${kind}`, role: 'treeitem' },
        ...{ 'aria-level': level, 'aria-selected': String(index === this.#active), 'data-index': index },
        ...{ 'aria-current': isCurrent === true ? 'true' : undefined, title },
        'aria-expanded': isOpen === undefined ? undefined : String(isOpen),
        ...{ 'aria-posinset': siblings?.place, 'aria-setsize': siblings?.count },
        'aria-label': content === undefined ? undefined : label,
      },
      element('span', { class: 'apl-tree-twisty', 'aria-hidden': 'true' }),
      ...(content ?? [
        element('span', { class: 'apl-tree-label' }, label),
        ...(detail === undefined ? [] : [element('span', { class: 'apl-tree-detail' }, detail)]),
      ]),
    );
    node.style.top = `${index * ROW_HEIGHT}px`;
    node.style.setProperty('--apl-tree-level', String(Math.min(level - 1, DEEPEST)));
    return node;
  }

  #onClick(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const index = Number(target.closest<HTMLElement>('.apl-tree-row')?.dataset.index);
    const row = this.#rows[index];
    if (row === undefined) return;
    this.#activate(index);
    const isOpener = row.kind === 'section' || target.closest('.apl-tree-twisty') !== null;
    if (row.isOpen !== undefined && isOpener) this.#owner.toggle(row);
  }

  #onDoubleClick(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const row = this.#rows[Number(target.closest<HTMLElement>('.apl-tree-row')?.dataset.index)];
    if (row === undefined || row.kind === 'section' || target.closest('.apl-tree-twisty') !== null) return;
    this.#owner.run(row);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.#keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  readonly #keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => this.#activate(this.#active + 1),
    ArrowUp: () => this.#activate(this.#active - 1),
    PageDown: () => this.#activate(this.#active + this.#pageRows()),
    PageUp: () => this.#activate(this.#active - this.#pageRows()),
    Home: () => this.#activate(0),
    End: () => this.#activate(this.#rows.length - 1),
    ArrowRight: () => this.#enter(),
    ArrowLeft: () => this.#leave(),
    Enter: () => this.active && this.#owner.run(this.active),
    Insert: () => this.active && this.#owner.run(this.active),
    ' ': () => this.active && this.active.isOpen !== undefined && this.#owner.toggle(this.active),
  };

  #pageRows(): number {
    return Math.max(1, Math.floor(this.node.clientHeight / ROW_HEIGHT) - 1);
  }

  #enter(): void {
    const row = this.active;
    if (row?.isOpen === false) this.#owner.toggle(row);
    else if (row?.isOpen === true) this.#activate(this.#active + 1);
  }

  #leave(): void {
    const row = this.active;
    if (row === undefined) return;
    if (row.isOpen === true) {
      this.#owner.toggle(row);
      return;
    }
    const parent = this.#rows.slice(0, this.#active).findLastIndex(each => each.level < row.level);
    if (parent >= 0) this.#activate(parent);
  }

  #activate(index: number): void {
    this.#active = Math.max(0, Math.min(index, this.#rows.length - 1));
    this.#reveal();
    this.#draw();
    this.#owner.chosen(this.active);
  }

  /** Scrolls just far enough to bring the active row into view; it is then not awaited any more. */
  #reveal(): void {
    this.#wanted = undefined;
    // The space needs its full height before it can be scrolled.
    this.#space.style.height = `${this.#rows.length * ROW_HEIGHT}px`;
    const top = this.#active * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.node;
    if (top < scrollTop) this.node.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight)
      this.node.scrollTop = top + ROW_HEIGHT - clientHeight;
  }
}

interface Siblings {
  readonly place: number;
  readonly count: number;
}

/** Returns the position of each row among its siblings: the rows of its level below the same parent. */
function siblingsOf(rows: readonly TreeRow[]): readonly Siblings[] {
  const found: { readonly place: number; count: number }[] = [];
  /** Rows of each level still being counted. */
  const open: number[][] = [];
  const close = (level: number): void => {
    for (const group of open.splice(level))
      for (const row of group) if (found[row] !== undefined) found[row].count = group.length;
  };
  for (const [index, { level }] of rows.entries()) {
    close(level);
    open[level - 1] ??= [];
    open[level - 1]?.push(index);
    found.push({ place: open[level - 1]?.length ?? 1, count: 1 });
  }
  close(0);
  return found;
}
