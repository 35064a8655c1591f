import { Notification } from '@jupyterlab/apputils';
import { visible } from '../../../kernel/text.js';
import { element } from './dom.js';

let shared: Popover | undefined;

/** Returns the popover of the page, shared by toolbars, cells and grids: only one is open at a time. */
export function popover(): Popover {
  shared ??= new Popover();
  return shared;
}

/** One use of a popover. Once closed it stays closed: a slow action never closes a popover opened later. */
export interface Opened {
  /** Closes it like a press elsewhere; returns false if it was already closed. */
  close(): boolean;
  /** Closes it like Escape. */
  leave(): void;
  /** Shows a message below the content, or in a notification if that is gone. */
  say(text: string): void;
}

/**
 * A popover beside its opener, closed by Escape, by a press elsewhere, or once the document of the opener is out of view. It is outside of
 * outputs, which would clip it.
 */
class Popover {
  #open: HTMLElement | undefined;
  #opener: HTMLElement | undefined;
  /** Position of the opener when it was last in the page. */
  #at = new DOMRect();
  /** The previously focused element. */
  #before: HTMLElement | undefined;
  /** Content may be added after the popover has opened. */
  readonly #observer = new ResizeObserver(() => this.#place());
  /** Closes the popover if the document of the opener is closed, or hidden behind another one by a key. */
  readonly #sight = new IntersectionObserver(entries => {
    if (entries.at(-1)?.isIntersecting === false) this.#close();
  });

  constructor() {
    document.body.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || this.#open === undefined) return;
      event.stopPropagation();
      this.#close(true);
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
   * Shows the content beside the first of some elements that is visible, and closes any open popover. On closing, the focus returns to the
   * previously focused element, such as the cell of a notebook from which a key opened it; otherwise to that element.
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
        if (this.#open === open) this.#close(true);
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

  /** Closes the popover, restoring the focus if it was inside or if the reader leaves it. */
  #close(isLeft = false): void {
    const isFocused = this.#open?.contains(document.activeElement) === true;
    this.#observer.disconnect();
    this.#sight.disconnect();
    this.#open?.remove();
    this.#open = undefined;
    if (isFocused || isLeft) this.#focusAgain();
    // A reference would retain a closed document.
    this.#opener = undefined;
    this.#before = undefined;
  }

  #focusAgain(): void {
    this.#before?.focus({ preventScroll: true });
    if (document.activeElement !== this.#before) this.#opener?.focus({ preventScroll: true });
  }

  /** Closes a popover opened from within a part of the page that is being removed. */
  closeWithin(part: HTMLElement): void {
    if (part.contains(this.#opener ?? null)) this.#close();
  }

  /** Positions the popover below the opener, or above it at the bottom of the window; never outside the window. */
  #place(): void {
    const [open, opener] = [this.#open, this.#opener];
    if (open === undefined || opener === undefined) return;
    // A redrawn grid removes the header from which the popover was opened.
    if (opener.isConnected) this.#at = opener.getBoundingClientRect();
    const at = this.#at;
    const { offsetWidth: width, offsetHeight: height } = open;
    const isBelow = at.bottom + height + 2 <= window.innerHeight;
    const top = isBelow ? at.bottom + 2 : Math.min(at.top, window.innerHeight) - height - 2;
    open.style.left = `${Math.max(Math.min(at.left, window.innerWidth - width - 4), 0)}px`;
    open.style.top = `${Math.max(top, 0)}px`;
  }
}

/** Wraps Tab from the last control to the first, and back: the page behind the popover is unreachable until it is closed. */
function goAround(open: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const controls = [...open.querySelectorAll<HTMLElement>(CONTROLS)].filter(isVisible);
  const [end, start] = event.shiftKey ? [controls[0], controls.at(-1)] : [controls.at(-1), controls[0]];
  if (document.activeElement !== end || start === undefined) return;
  event.preventDefault();
  start.focus();
}

const CONTROLS = ':is(button, input, select, textarea, summary, a[href]):not(:disabled, [tabindex="-1"])';

/** Returns false for controls that a narrow toolbar or cell hides. */
function isVisible(node: HTMLElement): boolean {
  return node.getClientRects().length > 0;
}
