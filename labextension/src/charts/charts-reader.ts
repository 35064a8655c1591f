/**
 * Reads a chart along its horizontal axis: a line through all plots with the values there, and a selection, by dragging or by pressing
 * a bin, to zoom into, to set as the time range of the notebook, or to explain.
 */
import type { ChosenValue } from '../../../kernel/apl/editor/chosen.js';
import { button, element } from '../ui/dom.js';
import type { ChartFacts, RuleFacts } from './charts-facts.js';
import type { Stage } from './charts-stage.js';
import { fullTimestamp, numberText, timeRange, timestampText } from './charts-texts.js';
import { EXPLAIN, offerMark, shortName } from './marks.js';
import type { TipRow } from './tip.js';

/** A drawn row: a position on the axis, a value, and its series. */
interface Row {
  readonly t: number;
  readonly v: number;
  readonly s: string;
  /** Its own value, if it is stacked on others. */
  readonly w?: number;
}

/** Tracks the pointer over a chart; `clear` removes marks whose positions have changed. */
export function readAlong(stage: Stage): { clear(): void } {
  const { svg, node, tip, facts } = stage;
  const hair = element('div', { class: 'apl-chart-hair', hidden: true });
  const selection = element('div', { class: 'apl-chart-selection', hidden: true });
  const bar = element('div', { class: 'apl-chart-bar', hidden: true });
  svg.append(hair, selection);
  node.append(bar);
  const rows = rowsOf(stage);
  let anchor: number | undefined;
  const clear = (): void => {
    for (const each of [hair, selection]) each.hidden = true;
    if (stage.view.signal('shownWindow') === null) bar.hidden = true;
  };
  const mark = (from: number, to: number): void => {
    const [left, right] = snapped(stage.facts, from, to).map(value => pixelOf(stage, value));
    selection.hidden = false;
    selection.style.left = `${left ?? 0}px`;
    selection.style.width = `${(right ?? 0) - (left ?? 0)}px`;
  };
  svg.addEventListener('pointerdown', event => {
    if (event.button !== 0 || !isOverPlot(stage, event)) return;
    anchor = valueAt(stage, event);
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener('pointermove', event => {
    if (anchor !== undefined) return mark(anchor, valueAt(stage, event));
    const isOver = isOverPlot(stage, event);
    const found = isOver ? nearest(rows, valueAt(stage, event), stage) : undefined;
    hair.hidden = found === undefined;
    if (found !== undefined) hair.style.left = `${pixelOf(stage, found.t)}px`;
    const annotations = isOver ? annotationRows(stage, offsetOf(stage, event)) : [];
    tip.show(event, [...annotations, ...(found?.rows ?? [])]);
  });
  svg.addEventListener('pointerleave', () => {
    hair.hidden = true;
    tip.hide();
  });
  svg.addEventListener('pointercancel', () => {
    anchor = undefined;
    clear();
  });
  svg.addEventListener('pointerup', event => {
    if (anchor === undefined) return;
    const [from, to] = [anchor, valueAt(stage, event)];
    anchor = undefined;
    const isPress = Math.abs(pixelOf(stage, to) - pixelOf(stage, from)) < 4;
    if (isPress && stage.facts.bin === 0) return clear();
    const chosen = isPress ? binAt(stage.facts, to) : snapped(stage.facts, from, to);
    mark(...chosen);
    offer(stage, bar, chosen, clear);
  });
  stage.view.addSignalListener('picked', () => {
    // A zoomed chart keeps its button to zoom out.
    if (stage.view.signal('shownWindow') !== null) return;
    const series = facts.across === 'time' ? pickedSeries(stage) : undefined;
    clear();
    if (series !== undefined)
      offerMark(stage, bar, { names: [series.label], value: '' }, each => each.mark(series.values, 'all'));
    else bar.hidden = true;
  });
  return { clear };
}

/** Returns the selection between two values in ascending order, extended to whole bins of time. */
function snapped({ across, bin, origin }: ChartFacts, a: number, b: number): readonly [number, number] {
  const [from, to] = a < b ? [a, b] : [b, a];
  if (across !== 'time' || bin === 0) return [from, to];
  return [origin + Math.floor((from - origin) / bin) * bin, origin + Math.ceil((to - origin) / bin) * bin];
}

/** Returns the bin of a pressed bar, point or heatmap cell. */
function binAt({ bin, origin }: ChartFacts, value: number): readonly [number, number] {
  const from = origin + Math.floor((value - origin) / bin) * bin;
  return [from, from + bin];
}

/** Offers the actions on a selection. */
function offer(
  stage: Stage,
  bar: HTMLElement,
  [from, to]: readonly [number, number],
  clear: () => void,
): void {
  const { facts, view, setter } = stage;
  const set = facts.across === 'time' ? setter() : undefined;
  const outcome = element('span', { role: 'status' });
  const show = (window: readonly number[] | null): void => {
    void view.signal('shownWindow', window).runAsync();
    clear();
    bar.hidden = window === null;
    zoom.hidden = true;
  };
  const zoom = button('Zoom in', 'Show only this selection', () => show([from, to]));
  bar.replaceChildren(
    element(
      'span',
      {},
      facts.across === 'time'
        ? `${timestampText(from, stage.zone)} to ${fullTimestamp(to, stage.zone)}`
        : `${numberText(from)} to ${numberText(to)}`,
    ),
    zoom,
    ...(set === undefined
      ? []
      : [
          ...[true, false].map(runs =>
            button(
              runs ? 'Set range and run' : "Set the notebook's range",
              `Write this selection as the notebook's %time line${runs ? ' and run the cells below it' : ''}`,
              () => {
                void set(timeRange(from, to), runs).then(text => {
                  outcome.textContent = text;
                });
              },
            ),
          ),
        ]),
    ...explainButton(stage, [from, to], outcome),
    button('Reset zoom', 'Show the full axis', () => {
      show(null);
      bar.hidden = true;
    }),
    outcome,
  );
  bar.hidden = false;
}

/** Returns the button that explains a selection; none outside notebooks. */
function explainButton(
  stage: Stage,
  [from, to]: readonly [number, number],
  outcome: HTMLElement,
): readonly HTMLElement[] {
  const { facts, explainer } = stage;
  const explain = explainer();
  if (explain === undefined) return [];
  const isTime = facts.across === 'time';
  const series = isTime ? pickedSeries(stage) : undefined;
  const press = () => {
    outcome.textContent =
      series === undefined ? explain.part(from, to, isTime) : explain.mark(series.values, [from, to]);
  };
  return [button(series === undefined ? 'Explain' : `Explain ${series.label}`, EXPLAIN, press)];
}

/** Returns the only series picked in the legend; undefined if there are none or several. */
function pickedSeries({
  facts,
  view,
}: Stage): { readonly label: string; readonly values: readonly ChosenValue[] } | undefined {
  const ids = String(view.signal('picked')).split(' ').filter(Boolean);
  const [id = ''] = ids;
  const values = facts.parts?.get(id);
  if (ids.length !== 1 || values === undefined) return undefined;
  return { label: shortName(facts.series.get(id)?.label ?? ''), values };
}

function windowOf({ view, facts }: Stage): readonly [number, number] {
  const shown: unknown = view.signal('shownWindow');
  return Array.isArray(shown) ? [Number(shown[0]), Number(shown[1])] : [facts.start, facts.end];
}

/** Returns the pixels from the left edge of the image to the left end of the axis. */
function leftOf({ view }: Stage): number {
  const padding: unknown = view.padding();
  const left =
    typeof padding === 'number' ? padding : Number((padding as { readonly left?: number }).left ?? 0);
  return left + (view.origin()[0] ?? 0);
}

function pixelOf(stage: Stage, value: number): number {
  const [start, end] = windowOf(stage);
  return leftOf(stage) + ((value - start) / (end - start)) * Number(stage.view.signal('width'));
}

function offsetOf({ svg }: Stage, event: PointerEvent): number {
  return event.clientX - svg.getBoundingClientRect().left;
}

function valueAt(stage: Stage, event: PointerEvent): number {
  const [start, end] = windowOf(stage);
  const share = (offsetOf(stage, event) - leftOf(stage)) / Number(stage.view.signal('width'));
  return start + Math.min(1, Math.max(0, share)) * (end - start);
}

/** Returns whether the pointer is over a plot; the legend below keeps its own clicks. */
function isOverPlot(stage: Stage, event: PointerEvent): boolean {
  const x = offsetOf(stage, event) - leftOf(stage);
  const isBeside = x < 0 || x > Number(stage.view.signal('width'));
  return !isBeside && !(event.target instanceof Element && event.target.closest('.role-legend') !== null);
}

/** Returns the rows of each plot that respond to the pointer. */
function rowsOf({ spec, view }: Stage): readonly (readonly Row[])[] {
  return (spec.marks ?? []).flatMap(mark => {
    const layers = mark.type === 'group' ? (mark.marks ?? []) : [];
    const hit = layers.filter(({ name = '' }) => /^(?:points|columns)_\d+_marks$/.test(name));
    const rows = hit.flatMap(({ from }): readonly Row[] =>
      from !== undefined && 'data' in from && from.data !== undefined ? view.data(from.data) : [],
    );
    return hit.length === 0 ? [] : [rows.filter(row => typeof row.v === 'number')];
  });
}

/** Maximum number of series listed; the remaining ones are counted. */
const MOST = 12;

/** Returns the values of every series at the position nearest to `value`, greatest first; undefined if there are none. */
function nearest(
  plots: readonly (readonly Row[])[],
  value: number,
  { facts, view, zone }: Stage,
): { readonly t: number; readonly rows: readonly TipRow[] } | undefined {
  const picked = String(view.signal('picked'));
  const shown = plots.map(rows => rows.filter(({ s }) => picked === '' || picked.includes(` ${s} `)));
  const place = placeOf(facts);
  const at = shown
    .flat()
    .map(row => place(row.t))
    .reduce<number | undefined>(
      (best, t) => (best === undefined || Math.abs(t - value) < Math.abs(best - value) ? t : best),
      undefined,
    );
  if (at === undefined) return undefined;
  const rows = shown.flatMap((all, plot) => {
    const there = all.filter(row => place(row.t) === at).sort((a, b) => (b.w ?? b.v) - (a.w ?? a.v));
    const listed = there.slice(0, MOST).map(row => rowText(row, plot, facts, plots.length));
    const rest = there.length - listed.length;
    return rest === 0 ? listed : [...listed, [`and ${rest} more`, ''] as const];
  });
  const head = facts.across === 'time' ? fullTimestamp(at, zone) : numberText(at);
  return { t: at, rows: [[head, ''], ...rows] };
}

/** Maximum distance in pixels between the pointer and an annotation mark it is on; it may be on several. */
const NEAR = 8;

/** Returns the annotations under the pointer, `x` pixels from the left edge of the image: their labels, times and text. */
function annotationRows(stage: Stage, x: number): readonly TipRow[] {
  const isUnder = ({ t, end }: RuleFacts) => x >= pixelOf(stage, t) - NEAR && x <= pixelOf(stage, end) + NEAR;
  const under = stage.facts.rules.filter(isUnder);
  const rows = under
    .slice(0, MOST)
    .flatMap(({ t, end, label, type, text }): readonly TipRow[] => [
      [
        label === type ? label : `${label} (${type})`,
        end === t
          ? timestampText(t, stage.zone)
          : `${timestampText(t, stage.zone)} to ${timestampText(end, stage.zone)}`,
      ],
      ...(text === '' ? [] : [[text, ''] as const]),
    ]);
  const rest = under.length - MOST;
  return rest > 0 ? [...rows, [`and ${rest} more`, '']] : rows;
}

/** Returns a function that gives the bin of a mark, since bars of groups share one side by side; clipped to the start of the axis. */
function placeOf({ bin, origin, start }: ChartFacts): (t: number) => number {
  if (bin === 0) return t => t;
  return t => Math.max(start, origin + Math.floor((t - origin) / bin + 1e-6) * bin);
}

function rowText(row: Row, plot: number, facts: ChartFacts, plots: number): TipRow {
  const { label, color } = facts.series.get(row.s) ?? { label: '', color: undefined };
  const title = facts.titles[plot] ?? '';
  const name = label === '' ? title : plots > 1 ? `${title}: ${label}` : label;
  const unit = facts.units[plot] ?? '';
  const value = `${numberText(row.w ?? row.v)}${unit === '' ? '' : ` ${unit}`}`;
  return color === undefined ? [name, value] : [name, value, color];
}
