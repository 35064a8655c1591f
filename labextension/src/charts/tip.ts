import { element } from '../ui/dom.js';

/** A row of a tooltip: a name with its value, and the color of its series. */
export type TipRow = readonly [name: string, value: string, color?: string];

/** The tooltip with values. Its contents are always text, never markup. */
export class Tip {
  readonly #frame: HTMLElement;
  readonly #box = element('div', { class: 'apl-chart-tip', hidden: true });

  constructor(frame: HTMLElement) {
    this.#frame = frame;
    frame.append(this.#box);
  }

  /** Shows rows beside the pointer, inside the frame; without rows, hides the tooltip. */
  show(event: MouseEvent, rows: readonly TipRow[]): void {
    this.#box.hidden = rows.length === 0;
    if (rows.length === 0) return;
    this.#box.replaceChildren(...rows.map(line));
    const { left, top, width } = this.#frame.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const isRight = x + 16 + this.#box.offsetWidth > width;
    this.#box.style.left = `${Math.max(0, isRight ? x - 12 - this.#box.offsetWidth : x + 12)}px`;
    this.#box.style.top = `${y + 12}px`;
  }

  hide(): void {
    this.#box.hidden = true;
  }

  dispose(): void {
    this.#box.remove();
  }
}

function line([name, value, color]: TipRow): HTMLElement {
  const swatch = element('span', { class: 'apl-chart-swatch' });
  if (color !== undefined) swatch.style.background = color;
  return element(
    'div',
    { class: 'apl-chart-tip-row' },
    ...(color === undefined ? [] : [swatch]),
    element('span', { class: 'apl-chart-tip-name' }, name),
    element('span', { class: 'apl-chart-tip-value' }, value),
  );
}
