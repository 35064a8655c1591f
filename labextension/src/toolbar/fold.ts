import type { Widget } from '@lumino/widgets';

/** An item of a toolbar, and what brings the focus back to its toolbar. */
export interface Foldable extends Widget {
  focusToolbar(): void;
}

/** The items that are folded away, each in the menu of what its toolbar has no room for. */
const folded = new Set<Foldable>();

function menuOf({ parent }: Widget): Widget | undefined {
  return parent?.hasClass('jp-Toolbar-responsive-popup') === true ? parent : undefined;
}

/** Remembers an item if it has come into that menu. */
export function noteFold(item: Foldable): void {
  if (menuOf(item) !== undefined) folded.add(item);
}

/** Forgets an item that leaves its place. */
export function forgetFold(item: Foldable): void {
  folded.delete(item);
}

/** Closes the menu that the item is in, if it is in one: its press was the choice. */
export function closeFold(item: Widget): void {
  menuOf(item)?.hide();
}

/** Makes those menus close on a press beside them and on Escape; JupyterLab closes them by their own button alone. */
export function closeFolds(): void {
  document.addEventListener('pointerdown', ({ target }) => {
    if (!(target instanceof Element) || target.closest('.jp-Toolbar-responsive-opener') !== null) return;
    for (const item of openFolds()) if (!menuOf(item)?.node.contains(target)) closeFold(item);
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    for (const item of openFolds()) {
      closeFold(item);
      item.focusToolbar();
    }
  });
}

/** One item of each of those menus that is open. */
function openFolds(): Iterable<Foldable> {
  const byMenu = new Map([...folded].map(item => [menuOf(item), item]));
  return [...byMenu].flatMap(([menu, item]) => (menu?.isVisible === true ? [item] : []));
}
