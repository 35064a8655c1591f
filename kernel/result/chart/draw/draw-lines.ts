/**
 * The marks of one plot. All marks share one data set and select its rows by flags. Names and values of the data enter only as data:
 * fields have fixed names, and no expression, field path or URL is built from data.
 */
import { present } from '../../../present.js';
import type { Line, Plot, XyChart } from '../model.js';
import { exactly, tip, utcTime } from './axes.js';
import { at, BESIDE_WIDTH, CLIPPED, faded, LABELS_SIGNAL, mark, SVG_WIDTH, seriesId } from './draw-style.js';

/** A point as Vega reads it. Lines are referenced by id. */
interface Row {
  /** The start of its bin, or of the searched part of it. */
  readonly t: number;
  readonly v: number | null;
  readonly s: string;
  /** The end of its bar. */
  readonly e?: number;
  /** The other end of a band. */
  readonly u?: number;
  /** Its bin was only partly searched. */
  readonly p?: 1;
  /** The line is dashed here: its bin, or an adjacent one, was only partly searched. */
  readonly q?: 1;
  /** It has a dot, since a line alone would not show it. */
  readonly o?: 1;
  /** The query marks it as an anomaly. */
  readonly f?: 1;
}

/** Marks and the data they draw. */
export interface Layers {
  readonly marks: readonly object[];
  readonly data: readonly object[];
}

/** A plot under construction. */
interface Draft {
  readonly plot: Plot;
  readonly chart: XyChart;
  readonly rows: readonly Row[];
  readonly number: number;
  readonly height: number;
}

/** Returns the marks of a plot from back to front; `interactive` adds those that show a tooltip. */
export function layersOf(
  plot: Plot,
  number: number,
  chart: XyChart,
  { interactive, height }: { readonly interactive: boolean; readonly height: number },
): Layers {
  const rows = plot.lines.flatMap((line, index) => rowsOf(line, index, plot, chart));
  const draft = { plot, chart, rows, number, height };
  const layers =
    plot.mark === 'bars'
      ? [...(interactive ? columns(draft) : []), ...bars(draft), ...rings(draft)]
      : [...lines(draft), ...rings(draft), ...(interactive ? points(draft) : [])];
  const stack = { type: 'stack', groupby: ['t'], field: 'v', as: ['b', 'y'] };
  const transform = plot.arrangement === 'stacked' ? [stack] : [];
  const all = { name: `rows_${number}`, values: rows, transform };
  return {
    marks: layers.map(each => each.mark),
    data: [all, ...layers.flatMap(each => each.data ?? [])],
  };
}

/** With fewer points, each has a dot: a line alone would hide how few there are. */
const DOTTED_BELOW = 40;

/** Returns the points of a line as rows. Only values of the result have bars, never stand-ins. */
function rowsOf({ points }: Line, index: number, plot: Plot, chart: XyChart): readonly Row[] {
  const isDatum = (at: number) => points[at]?.added !== true && hasValue(at);
  const hasValue = (at: number) => (points[at]?.v ?? null) !== null;
  const isPartial = (at: number) => points[at]?.partial === true;
  const isBreak = (at: number) => !hasValue(at) || isPartial(at);
  const isDotted = points.filter((_, at) => isDatum(at) && !isPartial(at)).length < DOTTED_BELOW;
  const { from = 0 } = plot;
  const isBars = plot.mark === 'bars';
  const above = plot.arrangement === 'band' && index === 0 ? plot.lines.at(-1)?.points : undefined;
  const flag = (holds: boolean) => (holds ? (1 as const) : undefined);
  return points.flatMap((point, at): readonly Row[] => {
    if (isBars && !isDatum(at)) return [];
    const isAlone = plot.mark === 'dots' || isDotted || (isBreak(at - 1) && isBreak(at + 1));
    const flags = {
      u: above?.[at]?.v ?? undefined,
      p: flag(isPartial(at)),
      q: flag(!isBars && [at - 1, at, at + 1].some(isPartial)),
      o: flag(!isBars && isDatum(at) && (isPartial(at) || isAlone)),
      f: flag(point.flagged === true && hasValue(at)),
    };
    return [
      { ...placeOf(point, index, plot, chart), v: point.v, s: seriesId(from + index), ...present(flags) },
    ];
  });
}

/** The share of a bin's width that its bars fill. */
const BAR_WIDTH = 0.86;

/** Returns the position of a point. A bin begins at its searched part; bars that are not stacked share the width of their bin. */
function placeOf(
  { t, end }: Line['points'][number],
  index: number,
  { mark, arrangement, lines }: Plot,
  { axis, across }: XyChart,
): Pick<Row, 't' | 'e'> {
  const from = Math.max(t, axis.start);
  const until = end ?? (axis.grid === undefined ? undefined : Math.min(t + axis.grid.size, axis.until));
  if (mark !== 'bars' || until === undefined) return { t: from };
  const slots = arrangement === 'stacked' ? 1 : lines.length;
  // Buckets of a number touch each other; bins of time have gaps.
  const width = ((until - from) * (across === undefined ? BAR_WIDTH : 0.97)) / slots;
  const start = from + width * (index % slots);
  return { t: start, e: start + width };
}

/** A mark, and the subset of rows that it draws, if not all. */
interface Layer {
  readonly mark: object;
  readonly data?: object;
}

/** Returns a mark for each row, or for each that `only` selects, clipped if the axis is zoomed. */
function layer(
  { number }: Draft,
  type: string,
  update: object,
  { name, only, more = {} }: { readonly name?: string; readonly only?: string; readonly more?: object } = {},
): Layer {
  const own = { ...CLIPPED, ...more };
  const source = `rows_${number}`;
  if (name === undefined) return { mark: mark(type, source, update, own) };
  const data = `${name}_${number}`;
  return {
    mark: mark(type, data, update, own),
    data: { name: data, source, transform: [{ type: 'filter', expr: only }] },
  };
}

/** Returns a mark that joins the rows of each series; a row for which `holds` is false breaks it. */
function bySeries({ number }: Draft, type: string, update: object, holds = 'true'): Layer {
  const name = `${type}_${number}`;
  const defined = { signal: `isValid(datum.v) && ${holds}` };
  const joined = { ...mark(type, name, { defined, ...update }), interactive: false };
  const facet = { name, data: `rows_${number}`, groupby: ['s'] };
  return { mark: { type: 'group', from: { facet }, marks: [joined], ...CLIPPED } };
}

/** Returns the position of a row: on top of the rows below it, if they are stacked. */
function placed({ plot: { arrangement } }: Draft): { readonly x: object; readonly y: object } {
  return { x: at('x', 't'), y: at('y', arrangement === 'stacked' ? 'y' : 'v') };
}

/** Returns the base of bars and surfaces: the values below them, zero, or the end of a logarithmic axis, which has no zero. */
function footOf({ plot: { arrangement, isLog }, height }: Draft): object {
  const isStacked = arrangement === 'stacked';
  if (!isLog) return isStacked ? at('y', 'b') : { scale: 'y', value: 0 };
  return isStacked ? { signal: `datum.b > 0 ? scale('y', datum.b) : ${height}` } : { value: height };
}

/** Returns the color of a series, or of a plot without a legend. */
function colorOf({ plot, chart }: Draft): object {
  return chart.legend.length > 0 ? at('color', 's') : { value: plot.lines[0]?.look.color };
}

/** Returns the opacity of a mark that fades while other series are picked. */
function opacityOf({ chart }: Draft, own: number | string = 1): object {
  return chart.legend.length > 0 ? faded(own) : { signal: String(own) };
}

/** Returns bars, with those of partial bins hollow. */
function bars(draft: Draft): readonly Layer[] {
  const { plot, chart } = draft;
  const color = colorOf(draft);
  const isThin = plot.lines.length === 1 && chart.across === undefined;
  const box = {
    ...{ ...placed(draft), x2: at('x', 'e'), y2: footOf(draft), fill: color, stroke: color },
    ...{ opacity: opacityOf(draft), fillOpacity: { signal: 'datum.p ? 0.25 : 1' } },
    strokeDash: { signal: 'datum.p ? [3, 2] : null' },
    strokeWidth: { signal: `datum.p ? 0.75 : ${isThin ? 0.75 : 0}` },
  };
  return [layer(draft, 'rect', box)];
}

/** Returns, from back to front, a band or surface, lines (dashed to and from a partial bin) and dots (hollow in one). */
function lines(draft: Draft): readonly Layer[] {
  const { plot, chart, rows } = draft;
  const color = colorOf(draft);
  const isDots = plot.mark === 'dots';
  const place = placed(draft);
  const stroke = { ...place, strokeWidth: { value: 1.8 }, strokeJoin: { value: 'round' }, stroke: color };
  const isDashed = chart.legend.some(({ look }) => look.dash[1] !== 0) && chart.plots[0]?.mark !== 'bars';
  const dash = present({ strokeDash: isDashed ? at('dash', 's') : undefined });
  const dashed = { strokeDash: { value: [2, 3] }, opacity: opacityOf(draft, 0.75) };
  const surface = {
    ...{ ...place, y2: footOf(draft), fill: color, opacity: opacityOf(draft) },
    fillOpacity: { value: plot.arrangement === 'stacked' ? 0.55 : 0.16 },
  };
  const own = isDots && rows.length > 400 ? 0.6 : 1;
  const dots = {
    ...{ ...place, size: { value: 24 }, strokeWidth: { signal: 'datum.p ? 1.2 : 0' } },
    fill: [{ test: 'datum.p', value: 'transparent' }, color],
    stroke: [{ test: 'datum.p', ...color }, { value: null }],
    opacity: opacityOf(draft, `(datum.p ? 0.75 : ${own})`),
  };
  return [
    ...(plot.arrangement === 'band' && plot.lines.length > 1 ? [band(draft)] : []),
    ...(plot.mark === 'area' ? [bySeries(draft, 'area', surface)] : []),
    ...(isDots
      ? []
      : [bySeries(draft, 'line', { ...stroke, ...dash, opacity: opacityOf(draft) }, '!datum.p')]),
    ...(!isDots && rows.some(row => row.q)
      ? [bySeries(draft, 'line', { ...stroke, ...dashed }, 'datum.q === 1')]
      : []),
    ...(rows.some(row => row.o) ? [layer(draft, 'symbol', dots, { name: 'dots', only: 'datum.o' })] : []),
  ];
}

/** Returns the area between the first line and the last. */
function band(draft: Draft): Layer {
  const defined = { signal: 'isValid(datum.v) && isValid(datum.u)' };
  const fill = { fill: { value: draft.plot.lines[0]?.look.color }, fillOpacity: { value: 0.12 } };
  const area = { ...placed(draft), defined, y2: at('y', 'u'), ...fill };
  return layer(draft, 'area', area, {
    name: 'band',
    only: `datum.s === '${seriesId(draft.plot.from ?? 0)}'`,
  });
}

/** Size of the ring around a point that the query marks as an anomaly, and around one of many. */
const RING = { size: { value: 130 }, strokeWidth: { value: 1.8 } };
const SMALL_RING = { size: { value: 24 }, strokeWidth: { value: 1.2 } };
const RED = { fill: { value: 'transparent' }, stroke: { value: '#d5443a' } };
const RING_WIDTH = 13;
/** Maximum number of rings so near to another one; more would run together. */
const MOST_NEAR = 20;

/** Returns rings around anomalies, at the middle of a bar. */
function rings(draft: Draft): readonly Layer[] {
  const { plot, chart, height, rows } = draft;
  const flagged = rows.filter(row => row.f);
  if (flagged.length === 0) return [];
  const across = (SVG_WIDTH - BESIDE_WIDTH) / (chart.axis.end - chart.axis.start) / RING_WIDTH;
  const up = height / (plot.high - plot.low) / RING_WIDTH;
  const places = new Set(flagged.map(({ t, v }) => `${Math.round(t * across)} ${Math.round((v ?? 0) * up)}`));
  const ring = flagged.length - places.size > MOST_NEAR ? SMALL_RING : RING;
  const middle = { signal: "scale('x', (datum.t + datum.e) / 2)" };
  const { x, y } = placed(draft);
  const place = { x: plot.mark === 'bars' ? middle : x, y };
  return [layer(draft, 'symbol', { ...place, ...RED, ...ring }, { name: 'rings', only: 'datum.f' })];
}

/** Returns the tooltip of a mark: its position, its series, and its own value. */
function hit({ chart }: Draft): object {
  const place = chart.across === undefined ? { 'time (UTC)': utcTime('t') } : { from: exactly('t') };
  const series = chart.legend.length > 0 ? { series: `${LABELS_SIGNAL}[datum.s]` } : {};
  const said = tip({ ...place, ...series, value: exactly('v') });
  return { fill: { value: '#000' }, opacity: { value: 0 }, tooltip: said };
}

/** Returns marks that show the value of a bar, anywhere in its column if it is the only one in it. */
function columns(draft: Draft): readonly Layer[] {
  const { number, height, plot } = draft;
  const isOnly = plot.lines.length === 1;
  const extent = isOnly ? { y: { value: 0 }, y2: { value: height } } : { y2: footOf(draft) };
  const more = { interactive: true, name: `${isOnly ? 'columns' : 'points'}_${number}_marks` };
  return [layer(draft, 'rect', { ...placed(draft), x2: at('x', 'e'), ...extent, ...hit(draft) }, { more })];
}

/** Returns marks that show a value near its point. */
function points(draft: Draft): readonly Layer[] {
  const more = { interactive: true, name: `points_${draft.number}_marks` };
  return [layer(draft, 'symbol', { ...placed(draft), size: { value: 90 }, ...hit(draft) }, { more })];
}
