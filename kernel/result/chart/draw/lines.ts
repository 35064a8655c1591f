/**
 * The marks of one plot. Names and values of the data enter as data only: fields have fixed names, and no expression, field path or
 * URL is ever made from data.
 */
import { present } from '../../../present.js';
import type { Plot, XyChart } from '../model.js';
import { exactly, tip, utcTime } from './axes.js';
import { type Datum, type PlacedPoint, placedPoints } from './placed-points.js';
import { at, BESIDE_WIDTH, faded, LABELS_SIGNAL, mark, SHOWN, SVG_WIDTH } from './style.js';

/** Marks with the data that they draw. */
export interface Layers {
  readonly marks: readonly object[];
  readonly data: readonly object[];
}

/** Returns the marks of a plot from back to front; `interactive` adds those that show a value under the pointer. */
export function layersOf(
  plot: Plot,
  number: number,
  chart: XyChart,
  { interactive, height }: { readonly interactive: boolean; readonly height: number },
): Layers {
  const placed = placedPoints(plot, chart);
  const draft = { plot, chart, placed, number, height };
  const layers = [
    ...(interactive && plot.mark === 'bars' ? columns(draft) : []),
    ...band(draft),
    ...(plot.mark === 'bars' ? bars(draft) : lines(draft)),
    ...anomalies(draft),
    ...(interactive && plot.mark !== 'bars' ? points(draft) : []),
  ];
  return {
    marks: layers.map(each => each.mark),
    data: layers.flatMap(({ name, values }) => (values.length === 0 ? [] : [{ name, values }])),
  };
}

/** A plot while its layers are made. */
interface Draft {
  readonly plot: Plot;
  readonly chart: XyChart;
  readonly placed: readonly (readonly PlacedPoint[])[];
  readonly number: number;
  readonly height: number;
}

interface Layer {
  readonly name: string;
  /** None for a layer that draws the rows of another. */
  readonly values: readonly object[];
  readonly mark: object;
}

/** With fewer data points each has a dot: a line alone hides how few there are. */
const DOTTED_BELOW = 40;
const PLACE = { x: at('x', 't'), y: at('y', 'v') };
const SOLID = { strokeWidth: { value: 1.8 }, strokeJoin: { value: 'round' } };
/** A layer of some rows, which no part of the axis that is not shown sticks out of; none without rows. */
function layer(
  { number }: Draft,
  name: string,
  values: readonly object[],
  draw: (data: string) => object,
  isInteractive = false,
): readonly Layer[] {
  const data = `${name}_${number}`;
  const own = { clip: { signal: `${SHOWN} !== null` }, interactive: isInteractive };
  return values.length === 0 ? [] : [{ name: data, values, mark: { ...draw(data), ...own } }];
}

/** The color of a series, or that of a plot that no legend explains. */
function colorOf({ plot, chart }: Draft): object {
  return chart.legend.length > 0 ? at('color', 's') : { value: plot.lines[0]?.look.color };
}

/** The opacity of a mark that fades while other series are picked. */
function opacityOf({ chart }: Draft, own = 1): object {
  return chart.legend.length > 0 ? faded(own) : { value: own };
}

/** Around a point that the query itself calls an anomaly, and around one of many. */
const RING = { size: { value: 130 }, strokeWidth: { value: 1.8 } };
const SMALL_RING = { size: { value: 24 }, strokeWidth: { value: 1.2 } };
const RED = { fill: { value: 'transparent' }, stroke: { value: '#d5443a' } };
const RING_WIDTH = 13;
/** More rings than these that share their place with another would run together. */
const MOST_NEAR = 20;

/** Rings around the points as they are drawn: at the middle of a bar, and on what is below a part of a stack. */
function anomalies(draft: Draft): readonly Layer[] {
  const { plot, placed, chart, height } = draft;
  const { start, end } = chart.axis;
  const drawn = placed.map((line, index) => {
    const points = plot.lines[index]?.points ?? [];
    return new Map(line.map(({ datum }, at) => [points[at]?.t, datum]));
  });
  const rings = plot.flagged.flatMap(({ line, t, v }) => {
    const datum = plot.mark === 'dots' ? undefined : drawn[line]?.get(t);
    if (datum === undefined) return plot.arrangement === 'stacked' ? [] : [{ t: Math.max(t, start), v }];
    const middle = plot.mark === 'bars' ? (datum.t + (datum.e ?? datum.t)) / 2 : datum.t;
    return [{ t: middle, v: datum.v ?? v }];
  });
  const across = (SVG_WIDTH - BESIDE_WIDTH) / (end - start) / RING_WIDTH;
  const up = height / (plot.high - plot.low) / RING_WIDTH;
  const places = new Set(
    rings.map(({ t, v }) => `${Math.round((t - start) * across)} ${Math.round(v * up)}`),
  );
  const ring = rings.length - places.size > MOST_NEAR ? SMALL_RING : RING;
  return layer(draft, 'flagged', rings, data => mark('symbol', data, { ...PLACE, ...RED, ...ring }));
}

/** What bars and surfaces stand on: the values below them, zero, or the end of a logarithmic axis. */
function footOf({ plot: { arrangement, isLog }, height }: Draft): object {
  if (isLog) return { value: height };
  return arrangement === 'stacked' ? at('y', 'b') : { scale: 'y', value: 0 };
}

function bars(draft: Draft): readonly Layer[] {
  const { plot, placed, chart } = draft;
  const drawn = placed.flat().filter(point => point.isDatum);
  const rows = (partial: boolean) => drawn.filter(bar => bar.partial === partial).map(bar => bar.datum);
  const isThin = plot.lines.length === 1 && chart.across === undefined;
  const color = colorOf(draft);
  const box = {
    ...PLACE,
    ...{ x2: at('x', 'e'), y2: footOf(draft), fill: color, stroke: color, opacity: opacityOf(draft) },
  };
  const partial = {
    fillOpacity: { value: 0.25 },
    strokeDash: { value: [3, 2] },
    strokeWidth: { value: 0.75 },
  };
  const full = { strokeWidth: { value: isThin ? 0.75 : 0 } };
  return [
    ...layer(draft, 'partial', rows(true), data => mark('rect', data, { ...box, ...partial })),
    ...layer(draft, 'bars', rows(false), data => mark('rect', data, { ...box, ...full })),
  ];
}

function lines(draft: Draft): readonly Layer[] {
  const { plot, placed, chart } = draft;
  const color = colorOf(draft);
  const isDots = plot.mark === 'dots';
  const rows = (of: (line: readonly PlacedPoint[]) => readonly PlacedPoint[]) =>
    placed.flatMap(of).map(point => withoutEnd(point.datum));
  const dot = { ...PLACE, size: { value: 24 } };
  const filled = {
    fill: color,
    opacity: opacityOf(draft, isDots && placed.flat().length > 400 ? 0.6 : 1),
  };
  const hollow = {
    ...{ fill: { value: 'transparent' }, stroke: color, strokeWidth: { value: 1.2 } },
    opacity: opacityOf(draft, 0.75),
  };
  const marks = [
    ...layer(
      draft,
      'dots',
      rows(line => dots(line, isDots)),
      data => mark('symbol', data, { ...dot, ...filled }),
    ),
    ...layer(draft, 'partial', rows(partialData), data => mark('symbol', data, { ...dot, ...hollow })),
  ];
  if (isDots) return marks;
  const stroke = { ...PLACE, ...SOLID, ...DEFINED, stroke: color };
  const isDashed = chart.legend.some(({ look }) => look.dash[1] !== 0) && chart.plots[0]?.mark !== 'bars';
  const solid = {
    ...stroke,
    ...present({ strokeDash: isDashed ? at('dash', 's') : undefined }),
    opacity: opacityOf(draft),
  };
  const dashed = { ...stroke, strokeDash: { value: [2, 3] }, opacity: opacityOf(draft, 0.75) };
  const surface = {
    ...PLACE,
    ...DEFINED,
    ...{ y2: footOf(draft), fill: color, opacity: opacityOf(draft) },
    fillOpacity: { value: plot.arrangement === 'stacked' ? 0.55 : 0.16 },
  };
  return [
    ...(plot.mark === 'area'
      ? layer(
          draft,
          'area',
          rows(line => line),
          data => bySeries('area', data, surface),
        )
      : []),
    ...layer(draft, 'whole', rows(whole), data => bySeries('line', data, solid)),
    ...layer(draft, 'edges', rows(edges), data => bySeries('line', data, dashed, ['s', 'd'])),
    ...marks,
  ];
}

const DEFINED = { defined: { signal: 'isValid(datum.v)' } };

/** A mark for each series, or each of its segments, which joins its rows. */
function bySeries(type: string, data: string, update: object, groupby: readonly string[] = ['s']): object {
  const name = `${data}_${type}`;
  return {
    type: 'group',
    from: { facet: { name, data, groupby } },
    marks: [{ ...mark(type, name, update), interactive: false }],
  };
}

/** The space between the first line and the last. */
function band(draft: Draft): readonly Layer[] {
  const { plot, placed } = draft;
  const [low, high] = [placed[0], placed.at(-1)];
  if (plot.arrangement !== 'band' || placed.length < 2 || low === undefined || high === undefined) return [];
  const rows = low.flatMap((point, index): readonly Datum[] => {
    const above = high[index];
    if (above === undefined) return [];
    const [b, v] = [point.datum.v, above.datum.v];
    const place = { t: point.datum.t, s: point.datum.s };
    return [b === null || v === null ? { ...place, v: null, b: 0 } : { ...place, v, b }];
  });
  const fill = { fill: { value: plot.lines[0]?.look.color }, fillOpacity: { value: 0.12 } };
  return layer(draft, 'band', rows, data =>
    mark('area', data, { ...PLACE, ...DEFINED, y2: at('y', 'b'), ...fill }),
  );
}

/** The row without the members that only bars need. */
function withoutEnd({ e: _, ...datum }: Datum): Datum {
  return datum;
}

/** The bins that were searched whole. */
function whole(line: readonly PlacedPoint[]): readonly PlacedPoint[] {
  return line.filter(point => !point.partial);
}

/** The segments that lead to a partial bin, each by its number. */
function edges(line: readonly PlacedPoint[]): readonly PlacedPoint[] {
  return line.slice(1).flatMap((point, d) => {
    const before = line[d];
    if (before === undefined || !(point.partial || before.partial)) return [];
    return [before, point].map(end => ({ ...end, datum: { ...end.datum, d } }));
  });
}

/** The data of bins that were searched in part. */
function partialData(line: readonly PlacedPoint[]): readonly PlacedPoint[] {
  return line.filter(point => point.partial && point.isDatum);
}

/** Points that a line alone would not show, and every datum if there are few. */
function dots(line: readonly PlacedPoint[], always: boolean): readonly PlacedPoint[] {
  const solid = whole(line);
  const data = solid.filter(point => point.isDatum);
  if (always || data.length < DOTTED_BELOW) return data;
  const isBreak = (point: PlacedPoint | undefined) => point === undefined || point.datum.v === null;
  return solid.filter(
    (point, index) => point.isDatum && isBreak(solid[index - 1]) && isBreak(solid[index + 1]),
  );
}

const UNSEEN = { fill: { value: '#000' }, opacity: { value: 0 } };

/** What a mark shows under the pointer: where it is, its series, and its value, of a part of a stack its own. */
function tipOf({ chart, plot }: Draft): object {
  const place = chart.across === undefined ? { 'time (UTC)': utcTime('t') } : { from: exactly('t') };
  const series = chart.legend.length > 0 ? { series: `${LABELS_SIGNAL}[datum.s]` } : {};
  return tip({ ...place, ...series, value: exactly(plot.arrangement === 'stacked' ? 'w' : 'v') });
}

/** Shows the value of a bar: anywhere in its column where it is the only one there. */
function columns(draft: Draft): readonly Layer[] {
  const { placed, number, height } = draft;
  const rows = placed.flat().flatMap(point => (point.isDatum ? [{ ...point.datum }] : []));
  const isOnly = placed.length === 1;
  const extent = isOnly ? { y: { value: 0 }, y2: { value: height } } : { y2: footOf(draft) };
  const name = isOnly ? 'columns' : 'points';
  return layer(
    draft,
    name,
    rows,
    data =>
      mark(
        'rect',
        data,
        { ...PLACE, x2: at('x', 'e'), ...extent, ...UNSEEN, tooltip: tipOf(draft) },
        { name: `${name}_${number}_marks` },
      ),
    true,
  );
}

/** Shows a value near its point. The rows are those of other layers. */
function points(draft: Draft): readonly Layer[] {
  const { placed, plot, number } = draft;
  const update = { ...PLACE, size: { value: 90 }, ...UNSEEN, tooltip: tipOf(draft) };
  const near = (own: string, suffix: string, rows: readonly PlacedPoint[]) =>
    layer(
      draft,
      own,
      rows,
      data => mark('symbol', data, update, { name: `points_${number}${suffix}_marks` }),
      true,
    ).map(each => ({ ...each, values: [] }));
  return [
    ...(plot.mark === 'dots'
      ? near(
          'dots',
          '',
          placed.flatMap(line => dots(line, true)),
        )
      : near('whole', '', placed.flatMap(whole))),
    ...near('partial', '_partial', placed.flatMap(partialData)),
  ];
}
