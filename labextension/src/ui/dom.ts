import { visibleLines } from '../../../kernel/text.js';

/** Attributes by name; undefined and false omit one. Strings are only ever set as text. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns a new element with attributes and children; strings become text. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

/**
 * Returns a button; `label` is its tooltip, and its accessible name if the text is only a symbol. Otherwise the name begins with the text,
 * so that speaking the visible text presses the button.
 */
export function button(text: string, label: string, act: (event: MouseEvent) => void): HTMLButtonElement {
  const title = visibleLines(label);
  const made = element('button', { type: 'button', class: 'apl-button', title }, text);
  if (text !== label) made.setAttribute('aria-label', isNamed(text, title) ? title : `${text}: ${title}`);
  made.addEventListener('click', act);
  return made;
}

function isNamed(text: string, name: string): boolean {
  return !/\p{L}/u.test(text) || wordsOf(name).includes(wordsOf(text));
}

function wordsOf(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `;
}
