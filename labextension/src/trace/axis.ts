import { shortDuration } from '../../../kernel/result/trace/waterfall.js';
import { element } from '../ui/dom.js';
import { type Interval, shareOf, timeAt } from './trace-model.js';
import type { TraceNodeShown } from './trace-row.js';

/** The data that the axis draws. */
export interface AxisModel {
  readonly nodes: readonly TraceNodeShown[];
  readonly duration: bigint;
  /** The time in view; undefined for the whole. */
  readonly interval: Interval | undefined;
  readonly colors: ReadonlyMap<string, string>;
}

const OVERVIEW_HEIGHT = 36;
/** Minimum movement of a drag, in pixels; anything less is ignored. */
const LEAST_DRAG = 4;
const TICKS = [0, 25, 50, 75, 100];

/** An overview of the whole trace, in which to select an interval, and the times of the interval in view. */
export class Axis {
  readonly node: HTMLElement;
  readonly #canvas = element('canvas');
  readonly #selection = element('span', { class: 'apl-trace-selection', hidden: true });
  readonly #overview: HTMLElement;
  readonly #ticks = element('div', { class: 'apl-trace-ticks', 'aria-hidden': 'true' });
  #model: AxisModel | undefined;

  /** Calls `zoom` with the interval that the reader selects by dragging. */
  constructor(zoom: (interval: Interval) => void) {
    const label = 'The whole trace: drag over an interval to zoom in';
    this.#overview = element(
      'div',
      { class: 'apl-trace-overview', role: 'img', title: label, 'aria-label': label },
      this.#canvas,
      this.#selection,
    );
    this.node = element('div', { class: 'apl-trace-axis' }, this.#overview, this.#ticks);
    this.#overview.addEventListener('pointerdown', event => this.#drag(event, zoom));
  }

  show(model: AxisModel): void {
    this.#model = model;
    this.draw();
  }

  /** Redraws after the available space has changed. */
  draw(): void {
    if (this.#model === undefined) return;
    const { duration, interval = { from: 0n, to: duration } } = this.#model;
    this.#drawSpans(this.#model);
    this.#select(this.#model.interval);
    this.#ticks.replaceChildren(
      ...TICKS.map(percent => {
        const tick = element('span', {}, `+${shortDuration(timeAt(interval, percent / 100))}`);
        tick.style.left = `${percent}%`;
        return tick;
      }),
    );
  }

  /** Draws a line for each span, as far as there are pixels. */
  #drawSpans({ nodes, duration, colors }: AxisModel): void {
    const width = this.#overview.clientWidth;
    const context = this.#canvas.getContext('2d');
    if (context === null || width === 0) return;
    const scale = window.devicePixelRatio;
    this.#canvas.width = width * scale;
    this.#canvas.height = OVERVIEW_HEIGHT * scale;
    context.scale(scale, scale);
    const whole = { from: 0n, to: duration };
    const height = Math.max(1, Math.min(4, OVERVIEW_HEIGHT / nodes.length));
    for (const [place, { offset, span }] of nodes.entries()) {
      const from = shareOf(whole, offset) * width;
      const to = shareOf(whole, offset + span.duration) * width;
      context.fillStyle = colors.get(span.service) ?? '';
      context.fillRect(from, (place / nodes.length) * OVERVIEW_HEIGHT, Math.max(to - from, 1), height);
    }
  }

  #select(interval: Interval | undefined): void {
    const { duration = 0n } = this.#model ?? {};
    this.#selection.hidden = interval === undefined;
    if (interval === undefined) return;
    const whole = { from: 0n, to: duration };
    const [left, right] = [shareOf(whole, interval.from), shareOf(whole, interval.to)];
    this.#selection.style.left = `${left * 100}%`;
    this.#selection.style.width = `${(right - left) * 100}%`;
  }

  #drag(down: PointerEvent, zoom: (interval: Interval) => void): void {
    const model = this.#model;
    if (model === undefined || down.button !== 0) return;
    down.preventDefault();
    const { left, width } = this.#overview.getBoundingClientRect();
    const whole = { from: 0n, to: model.duration };
    const between = (x: number): Interval => {
      const [from, to] = [down.clientX, x].sort((a, b) => a - b) as [number, number];
      return { from: timeAt(whole, (from - left) / width), to: timeAt(whole, (to - left) / width) };
    };
    this.#overview.setPointerCapture(down.pointerId);
    const gesture = new AbortController();
    const { signal } = gesture;
    this.#overview.addEventListener('pointermove', ({ clientX }) => this.#select(between(clientX)), {
      signal,
    });
    const end = ({ type, clientX }: PointerEvent): void => {
      gesture.abort();
      if (type === 'pointerup' && Math.abs(clientX - down.clientX) >= LEAST_DRAG) zoom(between(clientX));
      else this.#select(this.#model?.interval);
    };
    this.#overview.addEventListener('pointerup', end, { signal });
    this.#overview.addEventListener('pointercancel', end, { signal });
  }
}
