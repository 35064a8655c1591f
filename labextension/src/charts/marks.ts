/** Selects a bar, a cell or a slice of a chart, by pointer or keyboard, to explain the events behind it. */
import type { ChosenBucket, ChosenValue } from '../../../kernel/apl/editor/chosen.js';
import { present } from '../../../kernel/present.js';
import { cut, visible } from '../../../kernel/text.js';
import type { Explainer } from '../cell/cell-explain.js';
import { button, element } from '../ui/dom.js';
import type { ChartFacts } from './charts-facts.js';
import type { Stage } from './charts-stage.js';
import { fullTimestamp, timestampText } from './charts-texts.js';

/** A selectable mark: its names, groups, bin and bucket. */
interface Mark {
  readonly node: Element;
  /** Its names, with its bin and value. */
  readonly names: readonly string[];
  readonly value: string;
  readonly values: readonly ChosenValue[];
  readonly span?: readonly [from: number, to: number];
  readonly bucket?: ChosenBucket;
  /** The position along one axis decides which bar is pressed. */
  readonly isBar: boolean;
}

/** Tooltip of the button of an explanation. */
export const EXPLAIN =
  'Add and run a cell below that shows what distinguishes the selected events from the others';

/** Handles presses and keys on the marks of a chart; `clear` removes the frame around the selected one. */
export function readMarks(stage: Stage): { clear(): void } {
  const { svg, node, facts } = stage;
  if (facts.parts === undefined) return { clear: () => undefined };
  const frame = element('div', { class: 'apl-chart-chosen', hidden: true });
  const bar = element('div', { class: 'apl-chart-bar', hidden: true });
  svg.append(frame);
  node.append(bar);
  svg.classList.add('apl-chart-marks');
  svg.tabIndex = 0;
  svg.setAttribute('role', 'group');
  svg.setAttribute('aria-label', 'Chart. Use the arrow keys to select a mark and Enter to explain it.');
  let chosen: Element | undefined;
  const clear = (): void => {
    chosen = undefined;
    for (const each of [frame, bar]) each.hidden = true;
    // Enter would press its button.
    bar.replaceChildren();
  };
  const choose = (mark: Mark | undefined): void => {
    if (mark === undefined) return;
    chosen = mark.node;
    frameAround(frame, mark.node, svg);
    offerMark(stage, bar, mark, explainer => explainer.mark(mark.values, mark.span, mark.bucket));
  };
  svg.addEventListener('click', event => {
    const mark = markAt(marksOf(stage), event);
    if (mark === undefined || mark.node === chosen) clear();
    else choose(mark);
  });
  svg.addEventListener('keydown', event => {
    const { key } = event;
    const marks = marksOf(stage);
    const at = marks.find(mark => mark.node === chosen);
    if (key === 'Escape') clear();
    else if (key === 'Enter' || key === ' ') bar.querySelector('button')?.click();
    else if (key in directions)
      choose(at === undefined ? marks[0] : (next(marks, at, key as Direction) ?? at));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { clear };
}

/** Shows the selected mark, with a button that explains it; without the button outside notebooks. */
export function offerMark(
  { explainer }: Pick<Stage, 'explainer'>,
  bar: HTMLElement,
  { names, value }: Pick<Mark, 'names' | 'value'>,
  explain: (explainer: Pick<Explainer, 'part' | 'mark'>) => string,
): void {
  const outcome = element('span', { role: 'status' });
  const found = explainer();
  const press = () => {
    if (found !== undefined) outcome.textContent = explain(found);
  };
  const parts = names.flatMap((name, index) => [
    ...(index === 0 ? [] : [' \u00b7 ']),
    element('bdi', {}, name),
  ]);
  bar.replaceChildren(
    element('span', { role: 'status' }, ...parts, value),
    ...(found === undefined ? [] : [button('Explain', EXPLAIN, press)]),
    outcome,
  );
  bar.hidden = false;
  bar.scrollIntoView({ block: 'nearest' });
}

/** Returns a name shortened for a bar or a button. */
export function shortName(name: string): string {
  return cut(visible(name), 60);
}

/** Data that Vega attaches to an element of its drawing. */
interface Drawn {
  readonly datum?: Readonly<Record<string, unknown>>;
  readonly tooltip?: Readonly<Record<string, unknown>>;
}

/** Returns the marks of a chart, in drawing order. */
function marksOf(stage: Stage): readonly Mark[] {
  const nodes = stage.svg.querySelectorAll(':is(.mark-rect, .mark-arc).role-mark > path');
  return [...nodes].flatMap(node => {
    const { datum, tooltip } = (Reflect.get(node, '__data__') ?? {}) as Drawn;
    const found = datum === undefined ? undefined : partsOf(datum, stage.facts);
    if (datum === undefined || found === undefined) return [];
    const names = Object(stage.view.signal('shownLabels')) as Readonly<Record<string, unknown>>;
    const texts = ['r', 'c', 's'].flatMap(each => names[String(datum[each])] ?? []).map(String);
    const span = spanOf(datum);
    const value = tooltip?.value === undefined ? '' : `: ${String(tooltip.value)}`;
    const times =
      span === undefined
        ? []
        : [`${timestampText(span[0], stage.zone)} to ${fullTimestamp(span[1], stage.zone)}`];
    const bucket = bucketOf(datum, stage.facts);
    const ends = bucket === undefined ? [] : [endsText(stage, tooltip)];
    return [
      {
        ...{ node, values: found, names: [...texts.map(shortName), ...times, ...ends], value },
        ...present({ span, bucket }),
        isBar: !('c' in datum || 't' in datum) && node.closest('.mark-arc') === null,
      },
    ];
  });
}

/** Returns the groups of a row of the drawing; undefined if one of its names covers several groups. */
function partsOf(
  datum: Readonly<Record<string, unknown>>,
  { parts = new Map(), buckets }: ChartFacts,
): readonly ChosenValue[] | undefined {
  if (buckets !== undefined) return buckets.of;
  const values: ChosenValue[] = [];
  for (const each of ['r', 'c', 's']) {
    const id = datum[each];
    if (typeof id !== 'string') continue;
    const found = parts.get(id);
    if (found !== undefined) values.push(...found);
    else if ([...parts.keys()].some(other => other[0] === id[0])) return undefined;
  }
  return values.length === 0 && spanOf(datum) === undefined ? undefined : values;
}

function spanOf({ t, e }: Readonly<Record<string, unknown>>): Mark['span'] {
  return typeof t === 'number' && typeof e === 'number' ? [t, e] : undefined;
}

function bucketOf({ b }: Readonly<Record<string, unknown>>, { buckets }: ChartFacts): Mark['bucket'] {
  if (buckets === undefined || !Array.isArray(b)) return undefined;
  const [from, to, isLast] = b;
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  return { column: buckets.column, from, to, isLast: isLast === true };
}

/** Returns the bounds of a bucket as shown on the axis, after its title. */
function endsText({ view }: Stage, { from, to }: NonNullable<Drawn['tooltip']> = {}): string {
  const [title] = Object(view.signal('shownTitles')) as readonly unknown[];
  return `${shortName(String(title))} from ${String(from)} to ${String(to)}`;
}

/** Returns the mark under the pointer; for bars, also the nearest one in the same row. */
function markAt(marks: readonly Mark[], { target, clientX: x, clientY: y }: MouseEvent): Mark | undefined {
  if (!(target instanceof Element) || target.closest('.role-legend') !== null) return undefined;
  const pressed = marks.find(({ node }) => node === target);
  if (pressed !== undefined) return pressed;
  const beside = ({ node }: Mark) => {
    const { left, right } = node.getBoundingClientRect();
    return Math.max(left - x, x - right, 0);
  };
  return marks
    .filter(({ node, isBar }) => {
      const { top, bottom } = node.getBoundingClientRect();
      return isBar && top <= y && y <= bottom;
    })
    .sort((a, b) => beside(a) - beside(b))[0];
}

const directions = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
} as const;
type Direction = keyof typeof directions;

/** Returns the nearest mark in a direction; slices follow each other. */
function next(marks: readonly Mark[], from: Mark, key: Direction): Mark | undefined {
  const [right, down] = directions[key];
  if (from.node.closest('.mark-arc') !== null)
    return marks[(marks.indexOf(from) + right + down + marks.length) % marks.length];
  const at = middleOf(from.node);
  const found = marks.flatMap(mark => {
    const { x, y } = middleOf(mark.node);
    const along = (x - at.x) * right + (y - at.y) * down;
    const aside = Math.abs((x - at.x) * down) + Math.abs((y - at.y) * right);
    // The middle of a bar depends on its value, and that of a bucket on its histogram, so any mark of another row or column qualifies.
    const isNext = from.isBar
      ? right === 0 || aside < 1
      : from.bucket !== undefined
        ? down === 0 || aside < 1
        : aside <= along;
    return along > 1 && isNext ? [{ mark, along, aside }] : [];
  });
  return found.sort((a, b) => Math.round(a.along - b.along) || a.aside - b.aside)[0]?.mark;
}

function middleOf(node: Element): { readonly x: number; readonly y: number } {
  const { left, top, width, height } = node.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

/** Minimum size of the frame around a mark, which may be a line without width. */
const LEAST_FRAME = 8;

function frameAround(frame: HTMLElement, node: Element, svg: HTMLElement): void {
  const [own, base] = [node.getBoundingClientRect(), svg.getBoundingClientRect()];
  const [width, height] = [own.width, own.height].map(size => Math.max(size + 4, LEAST_FRAME));
  frame.hidden = false;
  frame.style.left = `${own.left - base.left - 2}px`;
  frame.style.top = `${own.top - base.top - 2}px`;
  frame.style.width = `${width}px`;
  frame.style.height = `${height}px`;
}
