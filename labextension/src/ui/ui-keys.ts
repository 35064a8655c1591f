/** JupyterLab runs no command for the keys of an element with this attribute. */
const SUPPRESS = 'data-lm-suppress-shortcuts';
const KEEPS = 'data-apl-keeps-keys';

/** Keys that move, edit or copy even with Ctrl or Cmd. */
const OWN = new Set([
  ...['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End'],
  ...['Backspace', 'Delete', 'a', 'c', 'v', 'x', 'y', 'z'],
]);

let isListening = false;

/**
 * Keeps the keys of a part of an output from the notebook around it, in which D D deletes the cell; commands such as Ctrl S still work.
 * The attribute must be on the focused element: the selectors of the notebook's key bindings match that element itself. Front ends
 * listen on the document, some of them before the event reaches the element.
 */
export function keepKeys(part: HTMLElement): void {
  part.setAttribute(KEEPS, '');
  if (isListening) return;
  isListening = true;
  window.addEventListener(
    'keydown',
    event => {
      const { target } = event;
      if (target instanceof Element && target.closest(`[${KEEPS}]`) !== null)
        target.toggleAttribute(SUPPRESS, !isCommand(event));
    },
    true,
  );
  window.addEventListener('pointerdown', ({ target }) => leave(target), true);
}

/** Moves the focus out of a text field on a press elsewhere: on a prompt, notebooks would leave it there, with their keys. */
function leave(pressed: EventTarget | null): void {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLInputElement) || !(pressed instanceof Node)) return;
  const part = activeElement.closest(`[${KEEPS}]`);
  if (part !== null && !part.contains(pressed)) activeElement.blur();
}

function isCommand({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey || altKey) && !OWN.has(key);
}
