/**
 * A chart as a Vega specification that fits the width of its container. It is written as Vega-Lite and compiled here, so
 * that every front end draws the same.
 */

import type { Spec, Scale as VegaScale } from 'vega';
import type { TopLevelSpec } from 'vega-lite';
import { present } from '../../present.js';
import { LABELS_SIGNAL, layersOf, lineLabels } from './layers.js';
import type { Plot, TimeChart } from './model.js';
import { loadVegaLite } from './vega.js';

/** Returns the specification for front ends: as wide as their output, with values under the pointer. */
export async function interactiveSpec(chart: TimeChart, description: string): Promise<Spec> {
  const { width: _, signals = [], ...spec } = await compiled(chart, true);
  return { ...spec, description, signals: [...signals, FITTED], usermeta: { embedOptions: EMBED_OPTIONS } };
}

/** Returns the specification of a picture of fixed width. */
export function staticSpec(chart: TimeChart): Promise<Spec> {
  return compiled(chart, false);
}

const WIDTH = 680;
const HEIGHT = 200;
const SMALL_HEIGHT = 120;
const TICKS = 5;
/** Space for the labels of the vertical axis, the same for all plots, and all space beside a plot. */
const LABELS_WIDTH = 52;
const BESIDE_WIDTH = LABELS_WIDTH + 34;

const fittedWidth = `max(200, (containerSize()[0] > 200 ? containerSize()[0] : ${WIDTH + BESIDE_WIDTH}) - ${BESIDE_WIDTH})`;
const FITTED = {
  name: 'width',
  init: fittedWidth,
  on: [{ events: { source: 'window' as const, type: 'resize' as const }, update: fittedWidth }],
};

/** The menu saves pictures; its other entries would send the data to another site or show internals. */
const EMBED_OPTIONS = {
  renderer: 'svg',
  actions: { export: true, source: false, compiled: false, editor: false },
};

/** Greys with at least 4:1 against white and near-black. */
const TEXT_COLOR = '#7b818c';
const LINE_COLOR = '#8a909a';

const CONFIG = {
  mark: { aria: false },
  font: 'system-ui, -apple-system, "Segoe UI", sans-serif',
  view: { stroke: null },
  axis: {
    labelColor: TEXT_COLOR,
    titleColor: TEXT_COLOR,
    domainColor: LINE_COLOR,
    tickColor: LINE_COLOR,
    gridColor: LINE_COLOR,
    gridOpacity: 0.25,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal',
    aria: false,
  },
  legend: {
    labelColor: TEXT_COLOR,
    titleColor: TEXT_COLOR,
    labelFontSize: 11,
    symbolType: 'stroke',
    symbolStrokeWidth: 3,
    aria: false,
  },
};

/** Vega marks the rows it is given, so they are copies. */
async function compiled(chart: TimeChart, interactive: boolean): Promise<Spec> {
  const { compile } = await loadVegaLite();
  const views = chart.plots.map((plot, index) => view(plot, index, chart, interactive));
  const source = {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    background: 'transparent',
    config: CONFIG,
    vconcat: views,
    spacing: 14,
    resolve: { legend: { color: 'shared', strokeDash: 'shared' } },
  } as unknown as TopLevelSpec;
  const { spec } = compile(source);
  const scales = (spec.scales ?? []).map(scale => onRange(scale, chart));
  const marks = (spec.marks ?? []).map(mark => (mark.type === 'group' ? withTitle(mark) : mark));
  return {
    ...spec,
    autosize: { type: 'pad', resize: true },
    scales,
    marks,
    signals: [
      ...(spec.signals ?? []),
      { name: TITLES_SIGNAL, value: chart.plots.map(plot => plot.title) },
      { name: LABELS_SIGNAL, value: lineLabels(chart) },
      { name: 'wideRemarks', value: lines(chart.remarks, WIDE_LINE) },
      { name: 'narrowRemarks', value: lines(chart.remarks, NARROW_LINE) },
    ],
    ...present({ title: chart.remarks.length === 0 ? undefined : REMARKS }),
  };
}

type GroupMark = Extract<NonNullable<Spec['marks']>[number], { readonly type: 'group' }>;

const TITLES_SIGNAL = 'plotTitles';
const TITLE_PLACE = /^plot (\d+)$/;

/** Vega looks up titles that are written out in plain objects, where `constructor` would be found: they come from a signal. */
function withTitle(group: GroupMark): GroupMark {
  const axes = (group.axes ?? []).map(axis => {
    const index = typeof axis.title === 'string' ? TITLE_PLACE.exec(axis.title)?.[1] : undefined;
    return index === undefined ? axis : { ...axis, title: { signal: `${TITLES_SIGNAL}[${index}]` } };
  });
  return { ...group, axes };
}

/** The horizontal axis covers the searched range, whatever the data covers. */
function onRange(scale: VegaScale, { axis }: TimeChart): VegaScale {
  return scale.type === 'utc' ? { ...scale, domain: [axis.start, axis.end] } : scale;
}

function view(plot: Plot, index: number, chart: TimeChart, interactive: boolean): object {
  const isLast = index === chart.plots.length - 1;
  return {
    width: WIDTH,
    height: chart.plots.length === 1 ? HEIGHT : SMALL_HEIGHT,
    encoding: {
      x: {
        scale: { type: 'utc', nice: false },
        axis: timeGuide(chart, isLast),
      },
      y: {
        scale: { domain: [plot.low, plot.high], zero: false, nice: TICKS },
        axis: valueGuide(plot, index),
      },
    },
    layer: layersOf(plot, chart, interactive),
  };
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** One format of times along the whole axis, as fine as its span needs; the title names the days. */
function timeGuide({ axis: { start, end } }: TimeChart, isLast: boolean): object {
  const span = end - start;
  const format =
    span <= 1000
      ? '%H:%M:%S.%L'
      : span <= 8 * MINUTE
        ? '%H:%M:%S'
        : span <= 1.5 * DAY
          ? '%H:%M'
          : span <= 10 * DAY
            ? '%b %d, %H:%M'
            : '%Y-%m-%d';
  const title = isLast ? daysTitle(start, end) : null;
  return {
    title,
    grid: false,
    format,
    labelOverlap: true,
    tickCount: { expr: 'max(2, floor(width / 95))' },
  };
}

function daysTitle(start: number, end: number): string {
  const [from, to] = [start, Math.max(start, end - 1)].map(t => new Date(t).toISOString().slice(0, 10));
  return from === to ? `${from}, UTC` : `${from} to ${to}, UTC`;
}

function valueGuide(plot: Plot, index: number): object {
  return {
    title: `plot ${index}`,
    titleAngle: 0,
    titleAlign: 'left',
    titleAnchor: 'end',
    titleX: 2,
    titleY: -8,
    tickCount: TICKS,
    minExtent: LABELS_WIDTH,
    maxExtent: LABELS_WIDTH,
    ...present({ tickMinStep: plot.isIntegral ? 1 : undefined }),
  };
}

/** Characters of a line of remarks that fit a wide and a narrow chart. */
const WIDE_LINE = 110;
const NARROW_LINE = 46;
const NARROW_WIDTH = 560;

/** The remarks above the plots, in lines that fit; the lines are values of signals, never a part of an expression. */
const REMARKS = {
  text: { signal: `width < ${NARROW_WIDTH} ? narrowRemarks : wideRemarks` },
  anchor: 'start' as const,
  color: TEXT_COLOR,
  fontSize: 11,
  fontWeight: 'normal' as const,
  offset: 10,
  aria: false,
};

/** Remarks as sentences in lines of at most `length` characters, broken between words where there are any. */
function lines(remarks: readonly string[], length: number): readonly string[] {
  const text = remarks.map(remark => `${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`).join(' ');
  const pieces = text.split(' ').flatMap(word => word.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? []);
  const found: string[] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    if (last !== undefined && last.length + piece.length < length)
      found[found.length - 1] = `${last} ${piece}`;
    else found.push(piece);
  }
  return found;
}
