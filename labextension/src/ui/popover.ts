import { element } from './dom.js';

let shared: Popover | undefined;

/** Returns the popover of all toolbars: one is open at a time. */
export function popover(): Popover {
  shared ??= new Popover(document.body);
  return shared;
}

/** The one popover of a host, such as a grid or the page: beside its opener, closed by Escape or a click elsewhere. */
export class Popover {
  readonly #host: HTMLElement;
  #open: HTMLElement | undefined;
  #opener: HTMLElement | undefined;
  /** What had the focus before. */
  #before: HTMLElement | undefined;

  constructor(host: HTMLElement) {
    this.#host = host;
    host.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || this.#open === undefined) return;
      event.stopPropagation();
      this.leave();
    });
    document.addEventListener('pointerdown', this.#onPointerDown, true);
  }

  /**
   * Shows the content beside the first of some elements that is in sight; a popover that was open is closed. That element has the
   * focus afterwards, or where it cannot have it, such as the cell of a table, what had it before.
   */
  show(
    openers: readonly [HTMLElement, ...HTMLElement[]],
    label: string,
    content: readonly Node[],
  ): HTMLElement {
    this.close();
    const open = element('div', { class: 'apl-popover', role: 'dialog', 'aria-label': label }, ...content);
    const { activeElement } = document;
    this.#before = activeElement instanceof HTMLElement ? activeElement : undefined;
    this.#opener = openers.find(isInSight) ?? openers[0];
    this.#host.append(open);
    this.#open = open;
    this.#place(this.#opener, open);
    open.querySelector<HTMLElement>('button, input, select')?.focus({ preventScroll: true });
    return open;
  }

  close(): void {
    this.#open?.remove();
    this.#open = undefined;
  }

  /** Closes as Escape does. */
  leave(): void {
    this.close();
    this.#opener?.focus({ preventScroll: true });
    if (document.activeElement !== this.#opener) this.#before?.focus({ preventScroll: true });
  }

  dispose(): void {
    this.close();
    document.removeEventListener('pointerdown', this.#onPointerDown, true);
  }

  readonly #onPointerDown = (event: PointerEvent) => {
    if (this.#open !== undefined && !event.composedPath().includes(this.#open)) this.close();
  };

  /** Below the opener, or above it where the window ends; never beyond the sides of its host. */
  #place(opener: HTMLElement, open: HTMLElement): void {
    const host = this.#host.getBoundingClientRect();
    const at = opener.getBoundingClientRect();
    const left = Math.min(at.left - host.left, host.width - open.offsetWidth - 4);
    open.style.left = `${Math.max(left, 0)}px`;
    const below = at.bottom + open.offsetHeight <= window.innerHeight;
    const top = below ? at.bottom - host.top + 2 : at.top - host.top - open.offsetHeight - 2;
    open.style.top = `${Math.max(top, 0)}px`;
  }
}

/** False for what a narrow toolbar or cell leaves out. */
function isInSight(node: HTMLElement): boolean {
  return node.getClientRects().length > 0;
}
