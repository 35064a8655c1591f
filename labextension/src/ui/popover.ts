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

  constructor(host: HTMLElement) {
    this.#host = host;
    host.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || this.#open === undefined) return;
      event.stopPropagation();
      this.close();
      this.#opener?.focus();
    });
    document.addEventListener('pointerdown', this.#onPointerDown, true);
  }

  /** Shows the content beside an element; a popover that was open is closed. */
  show(opener: HTMLElement, label: string, content: readonly Node[]): HTMLElement {
    this.close();
    const open = element('div', { class: 'apl-popover', role: 'dialog', 'aria-label': label }, ...content);
    this.#host.append(open);
    this.#open = open;
    this.#opener = opener;
    this.#place(opener, open);
    open.querySelector<HTMLElement>('button, input, select')?.focus({ preventScroll: true });
    return open;
  }

  close(): void {
    this.#open?.remove();
    this.#open = undefined;
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
