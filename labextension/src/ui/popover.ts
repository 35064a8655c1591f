import { Notification } from '@jupyterlab/apputils';
import { visible } from '../../../kernel/text.js';
import { element } from './dom.js';

let shared: Popover | undefined;

/** Returns the popover of the page, of toolbars, cells and grids alike: one is open at a time. */
export function popover(): Popover {
  shared ??= new Popover();
  return shared;
}

/** What a popover was opened for. Once it is closed it stays closed: a slow action never closes what was opened since. */
export interface Opened {
  /** Closes it as a press elsewhere does; false if it was closed before. */
  close(): boolean;
  /** Closes it as Escape does. */
  leave(): void;
  /** Says something below the content, or in a notification where that is gone. */
  say(text: string): void;
}

/**
 * A popover beside its opener, closed by Escape, by a click elsewhere, or once the document of the opener is out of sight. It is in no
 * output, which would cut it off.
 */
class Popover {
  #open: HTMLElement | undefined;
  #opener: HTMLElement | undefined;
  /** Where the opener was when it was last in the page. */
  #at = new DOMRect();
  /** What had the focus before. */
  #before: HTMLElement | undefined;
  /** Content may come after the popover was opened. */
  readonly #observer = new ResizeObserver(() => this.#place());
  /** The document of the opener may be closed, or be behind another one that a key has shown. */
  readonly #sight = new IntersectionObserver(entries => {
    if (entries.at(-1)?.isIntersecting === false) this.#close();
  });

  constructor() {
    document.body.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || this.#open === undefined) return;
      event.stopPropagation();
      this.#leave();
    });
    document.addEventListener(
      'pointerdown',
      event => {
        if (this.#open !== undefined && !event.composedPath().includes(this.#open)) this.#close();
      },
      true,
    );
    document.addEventListener(
      'scroll',
      ({ target }) => {
        if (target instanceof Element && target.contains(this.#opener ?? null)) this.#place();
      },
      true,
    );
  }

  /**
   * Shows the content beside the first of some elements that is in view; a popover that was open is closed. What had the focus before
   * has it afterwards, such as the cell of a notebook from which a key opened it; else that element.
   */
  show(
    openers: readonly [HTMLElement, ...HTMLElement[]],
    label: string,
    content: (opened: Opened) => readonly Node[],
  ): Opened {
    this.#close();
    const open = element('div', { class: 'apl-popover', role: 'dialog', 'aria-label': label });
    const said = element('p', { class: 'apl-said', role: 'alert' });
    const opened: Opened = {
      close: () => {
        const isOpen = this.#open === open;
        if (isOpen) this.#close();
        return isOpen;
      },
      leave: () => {
        if (this.#open === open) this.#leave();
      },
      say: text => {
        if (open.isConnected) said.textContent = visible(text);
        else if (text !== '') Notification.warning(visible(text), { autoClose: 8000 });
      },
    };
    open.append(...content(opened), said);
    open.addEventListener('keydown', event => goAround(open, event));
    const { activeElement } = document;
    this.#before =
      activeElement instanceof HTMLElement && activeElement !== document.body ? activeElement : undefined;
    this.#opener = openers.find(isVisible) ?? openers[0];
    document.body.append(open);
    this.#open = open;
    this.#observer.observe(open);
    const main = this.#opener.closest('.jp-MainAreaWidget');
    if (main !== null) this.#sight.observe(main);
    this.#place();
    open.querySelector<HTMLElement>('button, input, select')?.focus({ preventScroll: true });
    return opened;
  }

  /** The focus does not go away with what had it. */
  #close(): void {
    const isFocused = this.#open?.contains(document.activeElement) === true;
    this.#observer.disconnect();
    this.#sight.disconnect();
    this.#open?.remove();
    this.#open = undefined;
    if (isFocused) this.#focusAgain();
  }

  #leave(): void {
    this.#close();
    this.#focusAgain();
  }

  #focusAgain(): void {
    this.#before?.focus({ preventScroll: true });
    if (document.activeElement !== this.#before) this.#opener?.focus({ preventScroll: true });
  }

  /** Closes what was opened within a part of the page, which goes away. */
  closeWithin(part: HTMLElement): void {
    if (part.contains(this.#opener ?? null)) this.#close();
  }

  /** Below the opener, or above it where the window ends; never beyond the window. */
  #place(): void {
    const [open, opener] = [this.#open, this.#opener];
    if (open === undefined || opener === undefined) return;
    // A grid that is drawn again takes the head away that the popover was opened from.
    if (opener.isConnected) this.#at = opener.getBoundingClientRect();
    const at = this.#at;
    const { offsetWidth: width, offsetHeight: height } = open;
    const isBelow = at.bottom + height + 2 <= window.innerHeight;
    const top = isBelow ? at.bottom + 2 : Math.min(at.top, window.innerHeight) - height - 2;
    open.style.left = `${Math.max(Math.min(at.left, window.innerWidth - width - 4), 0)}px`;
    open.style.top = `${Math.max(top, 0)}px`;
  }
}

/** Tab goes from the last control to the first, and back: what is behind the popover is out of reach until it is closed. */
function goAround(open: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const controls = [...open.querySelectorAll<HTMLElement>(CONTROLS)].filter(isVisible);
  const [end, start] = event.shiftKey ? [controls[0], controls.at(-1)] : [controls.at(-1), controls[0]];
  if (document.activeElement !== end || start === undefined) return;
  event.preventDefault();
  start.focus();
}

const CONTROLS = ':is(button, input, select, textarea, summary, a[href]):not(:disabled, [tabindex="-1"])';

/** False for what a narrow toolbar or cell leaves out. */
function isVisible(node: HTMLElement): boolean {
  return node.getClientRects().length > 0;
}
