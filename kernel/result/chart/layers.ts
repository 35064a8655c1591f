/**
 * The marks of one plot as Vega-Lite layers. Names and values of the data enter as data only: fields have fixed names, and no
 * expression, field path or URL is ever made from data.
 */
import type { Plot, TimeChart } from './model.js';
import type { Point } from './thin.js';

/** The signal that holds the labels of the lines. */
export const LABELS_SIGNAL = 'lineLabels';

/** Returns the labels of the lines by the id that they have in the data. */
export function lineLabels({ legend }: TimeChart): Readonly<Record<string, string>> {
  return Object.fromEntries(legend.map(({ label }, index) => [lineId(index), label]));
}

/** Returns the layers of a plot from back to front; `interactive` adds the marks that show a value under the pointer. */
export function layersOf(plot: Plot, chart: TimeChart, interactive: boolean): readonly object[] {
  const spots = plot.lines.map(({ points }, line) => points.map(point => spotOf(point, line, chart)));
  const layers =
    plot.mark === 'bars' ? barLayers(plot, spots, interactive) : lineLayers(plot, chart, spots, interactive);
  return layers.filter(layer => layer !== undefined);
}

/** With fewer data points each has a dot: a line alone hides how few there are. */
const DOTTED_BELOW = 40;
/** The share of a bin's width that its bar takes. */
const BAR_WIDTH = 0.86;
/** Pixels of an average character in the legend. */
const CHARACTER_WIDTH = 6.5;
const SOLID = { type: 'line', strokeWidth: 1.8, strokeJoin: 'round' };

/**
 * A row of a layer: time, value, the id of its line, and where its bin ends. Lines go by ids, as Vega keeps groups in
 * plain objects, where a group of the name `__proto__` would break the chart.
 */
interface Datum {
  readonly t: number;
  readonly v: number | null;
  readonly s: string;
  readonly e?: number;
  /** The segment that the row belongs to. */
  readonly d?: number;
}

interface Spot extends Pick<Point, 'partial'> {
  readonly datum: Datum;
  /** Whether the result has a value for it. */
  readonly isDatum: boolean;
}

type Layer = object | undefined;

function lineId(index: number): string {
  return `l${index}`;
}

/** The time of a bin is where its searched part begins. */
function spotOf({ t, v, partial, added }: Point, line: number, { axis }: TimeChart): Spot {
  const from = Math.max(t, axis.start);
  const until = axis.grid === undefined ? undefined : Math.min(t + axis.grid.size, axis.until);
  const end = until === undefined ? {} : { e: from + (until - from) * BAR_WIDTH };
  return { datum: { t: from, v, s: lineId(line), ...end }, partial, isDatum: v !== null && added !== true };
}

/** A bar shows its value anywhere in its column. */
function barLayers(plot: Plot, spots: readonly (readonly Spot[])[], interactive: boolean): readonly Layer[] {
  const bars = spots.flat().filter(spot => spot.isDatum);
  const rows = (partial: boolean) => bars.filter(bar => bar.partial === partial).map(bar => bar.datum);
  const [partial, full] = [rows(true), rows(false)];
  const color = plot.lines[0]?.look.color;
  const mark = { type: 'rect', color, stroke: color, strokeWidth: 0.75 };
  const extent = { x2: { field: 'e' }, y2: { datum: 0 } };
  const column = {
    x2: { field: 'e' },
    y: { value: 0 },
    y2: { value: 'height' },
    tooltip: [TIME_TIP, VALUE_TIP],
  };
  return [
    layer(partial, { ...mark, fillOpacity: 0.25, strokeDash: [3, 2] }, extent),
    layer(full, mark, extent),
    ...(interactive
      ? [partial, full].map(values => layer(values, { type: 'rect', opacity: 0 }, column))
      : []),
  ];
}

function lineLayers(
  plot: Plot,
  chart: TimeChart,
  spots: readonly (readonly Spot[])[],
  interactive: boolean,
): readonly Layer[] {
  const series = chart.legend.length === 0 ? {} : seriesChannels(chart);
  const colored = 'color' in series ? { color: series.color } : {};
  const own = 'color' in series ? {} : { color: plot.lines[0]?.look.color };
  const rows = (of: (line: readonly Spot[]) => readonly Spot[]) =>
    spots.flatMap(of).map(spot => withoutEnd(spot.datum));
  const point = { ...own, type: 'point', size: 24 };
  const hollow = { ...point, filled: false, opacity: 0.75, strokeWidth: 1.2 };
  const partial = rows(line => line.filter(spot => spot.partial && spot.isDatum));
  const marks = [
    layer(
      rows(line => dots(line, plot.mark === 'dots')),
      { ...point, filled: true, opacity: 1 },
      colored,
    ),
    layer(partial, hollow, colored),
    ...(interactive ? [rows(whole), partial].map(data => pointerLayer(data, chart)) : []),
  ];
  if (plot.mark === 'dots') return marks;
  const area = { ...own, type: 'area', fillOpacity: 0.16 };
  const dashed = { ...own, ...SOLID, strokeDash: [2, 3], opacity: 0.75 };
  const segments = { ...colored, detail: { field: 'd', type: 'nominal' } };
  return [
    plot.mark === 'area'
      ? layer(
          rows(line => line),
          area,
        )
      : undefined,
    layer(rows(whole), { ...own, ...SOLID }, series),
    layer(rows(edges), dashed, segments),
    ...marks,
  ];
}

/** The row without the members that only bars need. */
function withoutEnd({ e: _, ...datum }: Datum): Datum {
  return datum;
}

/** The bins that were searched whole. */
function whole(line: readonly Spot[]): readonly Spot[] {
  return line.filter(spot => !spot.partial);
}

/** The segments that lead to a partial bin, each by its number. */
function edges(line: readonly Spot[]): readonly Spot[] {
  return line.slice(1).flatMap((spot, d) => {
    const before = line[d];
    if (before === undefined || !(spot.partial || before.partial)) return [];
    return [before, spot].map(end => ({ ...end, datum: { ...end.datum, d } }));
  });
}

/** Points that a line alone would not show, and every datum where there are few. */
function dots(line: readonly Spot[], always: boolean): readonly Spot[] {
  const solid = whole(line);
  const data = solid.filter(spot => spot.isDatum);
  if (always || data.length < DOTTED_BELOW) return data;
  const isBreak = (spot: Spot | undefined) => spot === undefined || spot.datum.v === null;
  return solid.filter(
    (spot, index) => spot.isDatum && isBreak(solid[index - 1]) && isBreak(solid[index + 1]),
  );
}

const TIME_TIP = {
  field: 't',
  type: 'temporal',
  title: 'time (UTC)',
  timeUnit: 'utcyearmonthdatehoursminutesseconds',
  format: '%Y-%m-%d %H:%M:%S',
};
const SERIES_TIP = { field: 'g', type: 'nominal', title: 'series' };
const VALUE_TIP = { field: 'v', type: 'quantitative', title: 'value', format: ',.12~r' };

/** Shows a value near its point. Its rows are those of another layer, which the specification then holds once. */
function pointerLayer(values: readonly Datum[], { legend }: TimeChart): Layer {
  const tooltip = legend.length > 0 ? [TIME_TIP, SERIES_TIP, VALUE_TIP] : [TIME_TIP, VALUE_TIP];
  const points = layer(values, { type: 'point', filled: true, size: 90, opacity: 0 }, { tooltip });
  if (points === undefined || legend.length === 0) return points;
  return { ...points, transform: [{ calculate: `${LABELS_SIGNAL}[datum.s]`, as: SERIES_TIP.field }] };
}

/** Undefined without rows. */
function layer(values: readonly Datum[], mark: object, channels: object = {}): Layer {
  if (values.length === 0) return undefined;
  const encoding = {
    x: { field: 't', type: 'temporal' },
    y: { field: 'v', type: 'quantitative' },
    ...channels,
  };
  return { data: { values }, mark, encoding };
}

function seriesChannels({ legend }: TimeChart): { readonly color: object; readonly strokeDash?: object } {
  const domain = legend.map((_, index) => lineId(index));
  const longest = legend.reduce((most, { label }) => Math.max(most, label.length), 0);
  const guide = {
    title: null,
    orient: 'bottom',
    direction: 'horizontal',
    columns: { expr: `max(1, floor(width / ${Math.ceil(longest * CHARACTER_WIDTH) + 40}))` },
    labelExpr: `${LABELS_SIGNAL}[datum.value]`,
    labelLimit: { expr: 'width - 30' },
    symbolLimit: 0,
    symbolOpacity: 1,
  };
  const channel = (range: readonly unknown[]) => ({
    field: 's',
    type: 'nominal',
    scale: { domain, range },
    legend: guide,
  });
  const color = channel(legend.map(({ look }) => look.color));
  const isDashed = legend.some(({ look }) => look.dash[1] !== 0);
  return isDashed ? { color, strokeDash: channel(legend.map(({ look }) => look.dash)) } : { color };
}
