/** An interactive trace: collapsible spans, a search, zooming, and the details of the selected span. */
import { MOST_NAMED, serviceColors, traceSentences } from '../../../kernel/result/trace/waterfall.js';
import { cut, formatCount, plural, visible } from '../../../kernel/text.js';
import { noticeList } from '../grid/controls/grid-notes.js';
import type { ZoneSetting } from '../link/link-zone.js';
import { button, element } from '../ui/dom.js';
import { popover } from '../ui/popover.js';
import { ROW_HEIGHT, Tree } from '../ui/tree/tree.js';
import type { TreeRow } from '../ui/tree/tree-row.js';
import { keepKeys } from '../ui/ui-keys.js';
import { Axis } from './axis.js';
import type { TraceData } from './trace-data.js';
import { detailsOf } from './trace-details.js';
import { type Interval, nextOf, placesAbove, placesShown, scaled, timeOf, within } from './trace-model.js';
import { contentOf, type RowLooks, rowOf, swatch, type TraceNodeShown } from './trace-row.js';
import { finderOf } from './trace-search.js';
import { addTraceStyle } from './trace-style.js';
import { type TraceTools, toolsOf } from './trace-tools.js';

/** The connections of a trace to its notebook. */
export interface TraceConnections {
  /** Ready for display. */
  readonly title: string;
  readonly zone: ZoneSetting;
  /** Returns functions that add a cell with the log lines of a span, or of the trace without one, for each dataset of logs. */
  logs(span?: string): readonly LogChoice[];
  /** Returns a function that adds the cell of another trace; undefined if that is impossible. */
  linked(trace: string): (() => string) | undefined;
  /** Returns the focus to the cell. */
  leave(): void;
}

/** A dataset of logs; `add` returns the outcome in a sentence. */
export interface LogChoice {
  readonly dataset: string;
  add(): string;
}

/** Rows in view before the tree scrolls. */
const ROWS_IN_SIGHT = 20;
const NAME_LENGTH = 60;
/** Delay of a search after the last key, in milliseconds. */
const SEARCH_DELAY = 150;

export class TraceView {
  readonly node: HTMLElement;
  readonly #data: TraceData;
  readonly #connections: TraceConnections;
  readonly #nodes: readonly TraceNodeShown[];
  readonly #colors: ReadonlyMap<string, string>;
  readonly #find: (text: string) => readonly number[];
  readonly #failed: readonly number[];
  readonly #tools: TraceTools;
  readonly #axis: Axis;
  readonly #tree: Tree;
  readonly #details = element('section', { class: 'apl-trace-details', 'aria-label': 'Span' });
  readonly #folded = new Set<number>();
  readonly #unfollow: () => void;
  readonly #observer = new ResizeObserver(() => this.#axis.draw());
  /** The span to whose subtree the view is limited. */
  #root: number | undefined;
  /** The interval covered by the bars; undefined for the whole trace. */
  #interval: Interval | undefined;
  #isCritical = true;
  #hits: readonly number[] = [];
  #hitsNow: ReadonlySet<number> = new Set();
  /** The span whose details are shown. */
  #chosen: number | undefined;

  constructor(data: TraceData, connections: TraceConnections) {
    addTraceStyle();
    this.#data = data;
    this.#connections = connections;
    this.#nodes = data.trace.nodes;
    this.#colors = serviceColors(data.trace);
    this.#find = finderOf(data);
    this.#failed = this.#nodes.flatMap(({ span }, place) => (span.isFailed ? [place] : []));
    this.#tools = this.#makeTools();
    this.#axis = new Axis(interval => this.#zoom(interval));
    this.#tree = new Tree('Spans of the trace', {
      toggle: row => this.#toggle(placeOf(row)),
      chosen: row => row && this.#choose(placeOf(row)),
      run: row => this.#enterDetails(placeOf(row)),
      contentOf: row => {
        const node = this.#nodes[placeOf(row)];
        return node === undefined ? [] : contentOf(node, this.#looks);
      },
    });
    this.node = this.#build();
    this.#unfollow = connections.zone.follow(() => this.#drawDetails());
    this.#draw();
  }

  dispose(): void {
    this.#unfollow();
    this.#observer.disconnect();
    popover().closeWithin(this.node);
  }

  #build(): HTMLElement {
    const [first = '', ...notes] = traceSentences(this.#data.trace);
    const named = [...this.#colors].slice(0, MOST_NAMED);
    const rest = this.#colors.size - named.length;
    const legend = named.map(([name, color]) =>
      element('span', {}, swatch(color), visible(cut(name, NAME_LENGTH))),
    );
    const main = element('div', { class: 'apl-trace-main' }, this.#axis.node, this.#tree.node);
    const rows = Math.max(Math.min(this.#nodes.length, ROWS_IN_SIGHT), 3);
    this.#tree.node.style.height = `${rows * ROW_HEIGHT}px`;
    const node = element(
      'div',
      { class: 'apl-trace-view', role: 'group', 'aria-label': this.#connections.title },
      element('div', { class: 'apl-trace-title' }, this.#connections.title),
      element('div', {}, first),
      ...noticeList(notes.map(text => ({ level: 'info' as const, text }))),
      element(
        'div',
        { class: 'apl-trace-legend' },
        ...legend,
        ...(rest > 0 ? [element('span', {}, `and ${plural(rest, 'more service')}`)] : []),
      ),
      this.#tools.node,
      element(
        'div',
        { class: 'apl-trace-frame' },
        element('div', { class: 'apl-trace-body' }, main, this.#details),
      ),
    );
    keepKeys(node);
    node.addEventListener('keydown', event => this.#onKey(event));
    this.#observer.observe(this.#axis.node);
    return node;
  }

  #makeTools(): TraceTools {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return toolsOf(
      { failed: this.#failed.length, hasLogs: this.#connections.logs().length > 0 },
      {
        search: text => {
          clearTimeout(timer);
          timer = setTimeout(() => this.#search(text), SEARCH_DELAY);
        },
        nextHit: isBack => this.#goOn(this.#hits, isBack),
        nextFailed: isBack => this.#goOn(this.#failed, isBack),
        toggleCritical: () => this.#toggleCritical(),
        foldAll: () => this.#foldAll(),
        zoomBy: percent => this.#zoomBy(percent),
        whole: () => this.#showWhole(),
        logs: opener => this.#openLogs(opener, undefined),
      },
    );
  }

  get #looks(): RowLooks {
    return {
      ...{ interval: this.#interval ?? this.#whole, colors: this.#colors, isCritical: this.#isCritical },
      ...{ hits: this.#hitsNow, depth: this.#nodes[this.#root ?? 0]?.depth ?? 0 },
    };
  }

  #draw(): void {
    const looks = this.#looks;
    const places = placesShown(this.#nodes, this.#folded, this.#root);
    const rows = places.flatMap(place => {
      const node = this.#nodes[place];
      if (node === undefined) return [];
      const isOpen = node.children.length === 0 ? undefined : !this.#folded.has(place);
      return [rowOf(node, place, isOpen, looks)];
    });
    this.#tree.show(rows);
    this.#axis.show({
      ...{ nodes: this.#nodes, duration: this.#data.trace.duration, colors: this.#colors },
      interval: this.#interval,
    });
    this.#tools.show({
      isCritical: this.#isCritical,
      isPart: this.#interval !== undefined || this.#root !== undefined,
      isFolded: this.#folded.size > 0,
      hits: this.#hits.length,
    });
  }

  get #whole(): Interval {
    return { from: 0n, to: this.#data.trace.duration };
  }

  get #active(): number | undefined {
    const { active } = this.#tree;
    return active === undefined ? undefined : placeOf(active);
  }

  #toggle(place: number): void {
    if (!this.#folded.delete(place)) this.#folded.add(place);
    this.#draw();
  }

  /** Folds every span below the first, or unfolds all. */
  #foldAll(): void {
    const isFolded = this.#folded.size > 0;
    this.#folded.clear();
    if (!isFolded)
      for (const [place, { children, depth }] of this.#nodes.entries())
        if (children.length > 0 && depth > 0) this.#folded.add(place);
    this.#draw();
  }

  #toggleCritical(): void {
    this.#isCritical = !this.#isCritical;
    this.#draw();
  }

  #search(text: string): void {
    this.#hits = this.#find(text);
    this.#hitsNow = new Set(this.#hits);
    this.#draw();
    this.#say(text.trim() === '' ? '' : `${plural(this.#hits.length, 'span')} found.`);
  }

  /** Goes to the next of some spans and reveals it, even if it is folded or outside of the subtree. */
  #goOn(places: readonly number[], isBack: boolean): void {
    const from = this.#chosen ?? (isBack ? this.#nodes.length : -1);
    const place = nextOf(places, from, isBack);
    if (place !== undefined) this.#reveal(place);
    const words =
      place === undefined
        ? 'No spans found.'
        : `${formatCount(places.indexOf(place) + 1)} of ${formatCount(places.length)}.`;
    this.#say(words);
  }

  #reveal(place: number): void {
    const above = placesAbove(this.#nodes, place);
    for (const each of above) this.#folded.delete(each);
    if (this.#root !== undefined && place !== this.#root && !above.includes(this.#root))
      this.#root = undefined;
    const { from, to } = timeOf(this.#nodes, place, false);
    if (this.#interval !== undefined && (to < this.#interval.from || from > this.#interval.to))
      this.#interval = undefined;
    this.#draw();
    this.#tree.choose(String(place));
  }

  #zoom(interval: Interval): void {
    this.#interval = within(this.#data.trace, interval);
    this.#draw();
  }

  #zoomBy(percent: bigint): void {
    const shown = this.#interval ?? this.#whole;
    const around = this.#chosen === undefined ? shown : timeOf(this.#nodes, this.#chosen, false);
    const length = shown.to - shown.from;
    const middle = (around.from + around.to) / 2n;
    this.#zoom(scaled({ from: middle - length / 2n, to: middle + length / 2n }, percent));
  }

  /** Moves the interval in view back or forward by a quarter of its length. */
  #move(isBack: boolean): void {
    if (this.#interval === undefined) return;
    const { from, to } = this.#interval;
    const step = ((to - from) / 4n) * (isBack ? -1n : 1n);
    this.#zoom({ from: from + step, to: to + step });
  }

  #zoomTo(place: number | undefined, isSubtree: boolean): void {
    if (place === undefined) return;
    if (isSubtree) this.#root = place;
    this.#zoom(timeOf(this.#nodes, place, isSubtree));
  }

  #showWhole(): void {
    this.#root = undefined;
    this.#interval = undefined;
    this.#draw();
  }

  #choose(place: number): void {
    this.#chosen = place;
    this.#drawDetails();
  }

  #drawDetails(): void {
    const node = this.#chosen === undefined ? undefined : this.#nodes[this.#chosen];
    const place = this.#chosen;
    const parts = node === undefined ? [] : this.#partsOf(node, place);
    this.#details.replaceChildren(...parts);
    this.#details.scrollTop = 0;
  }

  #partsOf(node: TraceNodeShown, place: number | undefined): readonly Node[] {
    const { span } = node;
    return detailsOf(node, this.#data.trace.start, this.#data.fieldsOf(span), {
      zone: this.#connections.zone.zone,
      logs:
        this.#connections.logs(span.id).length === 0
          ? undefined
          : () => this.#openLogs(this.#details, span.id),
      zoom: () => this.#zoomTo(place, false),
      focus: node.children.length === 0 ? undefined : () => this.#zoomTo(place, true),
      linked: trace => {
        const add = this.#connections.linked(trace);
        return add === undefined ? undefined : () => this.#say(add());
      },
      close: () => this.#closeDetails(),
    });
  }

  #enterDetails(place: number): void {
    if (this.#chosen !== place) this.#choose(place);
    this.#details.scrollIntoView({ block: 'nearest' });
    this.#details.querySelector('button')?.focus({ preventScroll: true });
  }

  #closeDetails(): void {
    this.#chosen = undefined;
    this.#drawDetails();
    this.#tree.node.focus({ preventScroll: true });
  }

  /** Opens the logs; with several datasets, the reader selects one. */
  #openLogs(opener: HTMLElement, span: string | undefined): void {
    const choices = this.#connections.logs(span);
    const [only, another] = choices;
    if (another === undefined) {
      this.#say(only?.add() ?? 'No known dataset has log lines for this.');
      return;
    }
    popover().show([opener], 'Log lines', ({ close }) => [
      element('header', {}, element('strong', {}, 'Log lines of')),
      ...choices.map(choice => {
        const name = visible(cut(choice.dataset, NAME_LENGTH));
        return element(
          'div',
          { class: 'apl-row' },
          button(name, `Add and run a cell below with the log lines of ${name}`, () => {
            close();
            this.#say(choice.add());
          }),
        );
      }),
    ]);
  }

  #say(text: string): void {
    this.#tools.say(text);
  }

  #onKey(event: KeyboardEvent): void {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey || (target instanceof HTMLInputElement && key !== 'Escape')) return;
    const act = key === 'Escape' ? () => this.#back(target) : this.#keys[key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** Handles Escape step by step: from the search, from the details, to the whole trace, and then out of it. */
  #back(target: EventTarget | null): void {
    if (target instanceof HTMLInputElement && target.value !== '') {
      target.value = '';
      this.#search('');
    } else if (target instanceof HTMLInputElement) this.#tree.node.focus({ preventScroll: true });
    else if (this.#details.hasChildNodes()) this.#closeDetails();
    else if (this.#interval !== undefined || this.#root !== undefined) this.#showWhole();
    else this.#connections.leave();
  }

  readonly #keys: Readonly<Record<string, () => void>> = {
    '/': () => this.#tools.search.focus(),
    n: () => this.#goOn(this.#hits, false),
    N: () => this.#goOn(this.#hits, true),
    e: () => this.#goOn(this.#failed, false),
    E: () => this.#goOn(this.#failed, true),
    c: () => this.#toggleCritical(),
    z: () => this.#zoomTo(this.#active, false),
    f: () => this.#zoomTo(this.#active, true),
    l: () => this.#openLogs(this.#tree.node, this.#nodes[this.#active ?? -1]?.span.id),
    L: () => this.#openLogs(this.#tree.node, undefined),
    '+': () => this.#zoomBy(50n),
    '-': () => this.#zoomBy(200n),
    '0': () => this.#showWhole(),
    ',': () => this.#move(true),
    '.': () => this.#move(false),
  };
}

function placeOf({ key }: TreeRow): number {
  return Number(key);
}
