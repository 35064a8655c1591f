/**
 * The marks of one plot as Vega-Lite layers. Names and values of the data enter as data only: fields have fixed names, and no
 * expression, field path or URL is ever made from data.
 */
import type { Plot, XyChart } from '../model.js';
import { type Datum, type Spot, spotsOf } from './spots.js';
import { LABELS_SIGNAL, seriesChannels } from './style.js';

/** Returns the layers of a plot from back to front; `interactive` adds the marks that show a value under the pointer. */
export function layersOf(
  plot: Plot,
  number: number,
  chart: XyChart,
  interactive: boolean,
): readonly object[] {
  const spots = spotsOf(plot, chart);
  const draft = { plot, chart, spots };
  const layers = [
    interactive ? columnLayer(draft, number) : undefined,
    bandLayer(draft),
    ...(plot.mark === 'bars' ? barLayers(draft) : lineLayers(draft)),
    layer(draft, plot.flagged, RING),
    ...(interactive ? pointerLayers(draft, number) : []),
  ];
  return layers.filter(each => each !== undefined);
}

/** A plot while its layers are made. */
interface Draft {
  readonly plot: Plot;
  readonly chart: XyChart;
  readonly spots: readonly (readonly Spot[])[];
}

type Layer = object | undefined;

/** With fewer data points each has a dot: a line alone hides how few there are. */
const DOTTED_BELOW = 40;
const SOLID = { type: 'line', strokeWidth: 1.8, strokeJoin: 'round' };
/** Around a point that the query itself calls an anomaly. */
const RING = { type: 'point', size: 130, filled: false, color: '#d5443a', strokeWidth: 1.8, opacity: 1 };

function barLayers(draft: Draft): readonly Layer[] {
  const { plot, spots } = draft;
  const bars = spots.flat().filter(spot => spot.isDatum);
  const rows = (partial: boolean) => bars.filter(bar => bar.partial === partial).map(bar => bar.datum);
  const [partial, full] = [rows(true), rows(false)];
  const isThin = plot.lines.length === 1 && draft.chart.across === undefined;
  const mark = { ...ownColor(draft, 'color', 'stroke'), type: 'rect', strokeWidth: isThin ? 0.75 : 0 };
  const colors = colored(draft);
  const extent = { x2: { field: 'e' }, y2: footOf(plot), ...colors };
  return [
    layer(draft, partial, { ...mark, fillOpacity: 0.25, strokeDash: [3, 2], strokeWidth: 0.75 }, extent),
    layer(draft, full, mark, extent),
  ];
}

function lineLayers(draft: Draft): readonly Layer[] {
  const { plot, spots, chart } = draft;
  const colors = colored(draft);
  const own = ownColor(draft, 'color');
  const series = chart.legend.length === 0 ? {} : seriesChannels(chart.legend, 'stroke');
  const rows = (of: (line: readonly Spot[]) => readonly Spot[]) =>
    spots.flatMap(of).map(spot => withoutEnd(spot.datum));
  const isStacked = plot.arrangement === 'stacked';
  const point = { ...own, type: 'point', size: 24 };
  const hollow = { ...point, filled: false, opacity: 0.75, strokeWidth: 1.2 };
  const marks = [
    layer(
      draft,
      rows(line => dots(line, plot.mark === 'dots')),
      { ...point, filled: true, opacity: plot.mark === 'dots' && spots.flat().length > 400 ? 0.6 : 1 },
      colors,
    ),
    layer(
      draft,
      rows(line => line.filter(spot => spot.partial && spot.isDatum)),
      hollow,
      colors,
    ),
  ];
  if (plot.mark === 'dots') return marks;
  const area = { ...own, type: 'area', fillOpacity: isStacked ? 0.55 : 0.16 };
  const dashed = { ...own, ...SOLID, strokeDash: [2, 3], opacity: 0.75 };
  const segments = { ...colors, detail: { field: 'd', type: 'nominal' } };
  return [
    plot.mark === 'area'
      ? layer(
          draft,
          rows(line => line),
          area,
          { ...colors, y2: footOf(plot) },
        )
      : undefined,
    layer(draft, rows(whole), { ...own, ...SOLID }, series),
    layer(draft, rows(edges), dashed, segments),
    ...marks,
  ];
}

/** What bars and surfaces stand on: the values below them, zero, or the end of a logarithmic axis. */
function footOf({ arrangement, isLog }: Plot): object {
  if (isLog) return { value: 'height' };
  return arrangement === 'stacked' ? { field: 'b' } : { datum: 0 };
}

/** The space between the first line and the last. */
function bandLayer(draft: Draft): Layer {
  const { plot, spots } = draft;
  const [low, high] = [spots[0], spots.at(-1)];
  if (plot.arrangement !== 'band' || spots.length < 2 || low === undefined || high === undefined)
    return undefined;
  const rows = low.flatMap((spot, index): readonly Datum[] => {
    const above = high[index];
    if (above === undefined) return [];
    const [b, v] = [spot.datum.v, above.datum.v];
    const place = { t: spot.datum.t, s: spot.datum.s };
    return [b === null || v === null ? { ...place, v: null, b: 0 } : { ...place, v, b }];
  });
  const mark = { type: 'area', color: plot.lines[0]?.look.color, fillOpacity: 0.12 };
  return layer(draft, rows, mark, { y2: { field: 'b' } });
}

/** The colour of a plot that no legend explains. */
function ownColor({ plot, chart }: Draft, ...names: readonly string[]): object {
  if (chart.legend.length > 0) return {};
  return Object.fromEntries(names.map(name => [name, plot.lines[0]?.look.color]));
}

/** What stands for a series in the legend. */
const SYMBOLS = { bars: 'square', area: 'stroke', lines: 'stroke', dots: 'circle' } as const;

function colored({ chart, plot }: Draft): object {
  if (chart.legend.length === 0) return {};
  return { color: seriesChannels(chart.legend, SYMBOLS[plot.mark]).color };
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
const ACROSS_TIP = { field: 't', type: 'quantitative', title: 'from', format: ',.12~r' };
const SERIES_TIP = { field: 'g', type: 'nominal', title: 'series' };
const VALUE_TIP = { field: 'v', type: 'quantitative', title: 'value', format: ',.12~r' };

function placeTip(chart: XyChart): object {
  return chart.across === undefined ? TIME_TIP : ACROSS_TIP;
}

/** The names of the layers under the pointer. */
const COLUMNS = 'columns';
const POINTS = 'points';

/** Shows the value of a bar anywhere in its column. */
function columnLayer(draft: Draft, number: number): Layer {
  const { plot, spots, chart } = draft;
  if (plot.mark !== 'bars' || spots.length > 1) return undefined;
  const rows = spots.flat().flatMap(spot => (spot.isDatum ? [spot.datum] : []));
  const channels = {
    x2: { field: 'e' },
    y: { value: 0 },
    y2: { value: 'height' },
    tooltip: [placeTip(chart), VALUE_TIP],
  };
  const columns = layer(draft, rows, { type: 'rect', opacity: 0 }, channels);
  return columns && { ...columns, name: `${COLUMNS}_${number}` };
}

/** Shows a value near its point, or on its bar. Rows are those of another layer, which the specification then holds once. */
function pointerLayers(draft: Draft, number: number): readonly Layer[] {
  const { spots, plot } = draft;
  const name = `${POINTS}_${number}`;
  if (plot.mark === 'bars' && spots.length === 1) return [];
  if (plot.mark === 'bars') {
    const bars = spots.flat().flatMap(spot => (spot.isDatum ? [spot.datum] : []));
    const extent = { x2: { field: 'e' }, y2: footOf(plot) };
    return [pointerLayer(draft, name, bars, { type: 'rect', opacity: 0 }, extent)];
  }
  const rows = (of: (line: readonly Spot[]) => readonly Spot[]) =>
    spots.flatMap(of).map(spot => withoutEnd(spot.datum));
  const mark = { type: 'point', filled: true, size: 90, opacity: 0 };
  const partial = rows(line => line.filter(spot => spot.partial && spot.isDatum));
  return [
    pointerLayer(draft, name, rows(whole), mark),
    pointerLayer(draft, `${name}_partial`, partial, mark),
  ];
}

function pointerLayer(
  draft: Draft,
  name: string,
  rows: readonly Datum[],
  mark: object,
  extent: object = {},
): Layer {
  const { chart, plot } = draft;
  const isGrouped = chart.legend.length > 0;
  const value = plot.arrangement === 'stacked' ? { ...VALUE_TIP, field: 'w' } : VALUE_TIP;
  const tooltip = isGrouped ? [placeTip(chart), SERIES_TIP, value] : [placeTip(chart), value];
  const found = layer(draft, rows, mark, { ...extent, tooltip });
  if (found === undefined || !isGrouped) return found && { ...found, name };
  return { ...found, name, transform: [{ calculate: `${LABELS_SIGNAL}[datum.s]`, as: SERIES_TIP.field }] };
}

function place({ chart }: Draft): object {
  return { field: 't', type: chart.across === undefined ? 'temporal' : 'quantitative' };
}

/** Undefined without rows. */
function layer(draft: Draft, values: readonly object[], mark: object, channels: object = {}): Layer {
  if (values.length === 0) return undefined;
  const encoding = {
    x: place(draft),
    y: { field: 'v', type: 'quantitative', stack: null },
    ...channels,
  };
  return { data: { values }, mark, encoding };
}
