/** If an element has this attribute, JupyterLab runs no command for its keys. */
const SUPPRESS = 'data-lm-suppress-shortcuts';
const KEEPS = 'data-apl-keeps-keys';

/** Keys that move, edit or copy also with Ctrl or Cmd. */
const OWN = new Set([
  ...['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End'],
  ...['Backspace', 'Delete', 'a', 'c', 'v', 'x', 'y', 'z'],
]);

let isListening = false;

/**
 * Keeps the keys of a part of an output from the notebook around it, where D D deletes the cell; commands such as Ctrl S still work.
 * The attribute has to be on the element with the focus: the selectors of the notebook's keys name that element itself. Front ends
 * listen at the document, some of them before the event reaches the element.
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

/** A press elsewhere takes the focus from what text is typed into: on a prompt, notebooks would leave it there, with their keys. */
function leave(pressed: EventTarget | null): void {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLInputElement) || !(pressed instanceof Node)) return;
  const part = activeElement.closest(`[${KEEPS}]`);
  if (part !== null && !part.contains(pressed)) activeElement.blur();
}

function isCommand({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey || altKey) && !OWN.has(key);
}
