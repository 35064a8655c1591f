import type { Widget } from '@lumino/widgets';

/** A toolbar item, with a function that returns the focus to its toolbar. */
export interface Foldable extends Widget {
  focusToolbar(): void;
}

/** Items in the overflow menu of their toolbar. */
const folded = new Set<Foldable>();

function menuOf({ parent }: Widget): Widget | undefined {
  return parent?.hasClass('jp-Toolbar-responsive-popup') === true ? parent : undefined;
}

/** Records an item if it has moved into the overflow menu. */
export function noteFold(item: Foldable): void {
  if (menuOf(item) !== undefined) folded.add(item);
}

/** Removes the record of an item that leaves its position. */
export function forgetFold(item: Foldable): void {
  folded.delete(item);
}

/** Closes the overflow menu of the item, if it is in one, after the item was pressed. */
export function closeFold(item: Widget): void {
  menuOf(item)?.hide();
}

/** Closes overflow menus on a press outside and on Escape; JupyterLab only closes them by their own button. */
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

/** Returns one item of each open overflow menu. */
function openFolds(): Iterable<Foldable> {
  const byMenu = new Map([...folded].map(item => [menuOf(item), item]));
  return [...byMenu].flatMap(([menu, item]) => (menu?.isVisible === true ? [item] : []));
}
