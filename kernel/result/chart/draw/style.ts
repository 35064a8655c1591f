/**
 * Sizes and colours that all charts share, and the parts of a Vega-Lite specification that they are made of.
 */
import type { Signal } from 'vega';
import type { Entry } from '../model.js';

/** What one kind of chart gives to the specification. */
export interface Drawing {
  /** Vega-Lite views, one below the other. */
  readonly views: readonly object[];
  /** Texts of the data by the ids that stand for them in scales and rows: no text of the data becomes part of an expression. */
  readonly labels: Readonly<Record<string, string>>;
  /** Titles of axes by their places, `title 0` and so on. */
  readonly titles: readonly string[];
  /** Pixels beside the plots, as an expression of `outer`, the width of the output. */
  readonly beside: string;
  readonly signals?: readonly Signal[];
  /** The height of the single view, as an expression. */
  readonly height?: string;
}

/** Pixels of a picture whose output has no width yet. */
export const PICTURE_WIDTH = 766;
/** Space for the labels of a vertical axis of numbers, the same for all plots, and all space beside a plot. */
export const LABELS_WIDTH = 58;
export const BESIDE_WIDTH = LABELS_WIDTH + 34;
export const TICKS = 5;
/** Pixels of an average character. */
export const CHARACTER_WIDTH = 6.5;

/** The signals that hold the texts of the data. */
export const LABELS_SIGNAL = 'shownLabels';
export const TITLES_SIGNAL = 'shownTitles';

/** Greys with at least 4:1 against white and near-black. */
export const TEXT_COLOR = '#7b818c';
const LINE_COLOR = '#8a909a';

export const CONFIG = {
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
    titleFontSize: 11,
    titleFontWeight: 'normal',
    symbolStrokeWidth: 3,
    aria: false,
  },
};

/** The id of a series in the data. Groups go by ids, as Vega keeps them in plain objects, where `__proto__` would break the chart. */
export function seriesId(index: number): string {
  return `l${index}`;
}

/** Returns labels by the ids that `idOf` gives them. */
export function labelsOf(
  labels: readonly string[],
  idOf: (index: number) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(labels.map((label, index) => [idOf(index), label]));
}

/** Returns the place of a title, which the compiled specification looks up. */
export function titlePlace(index: number): string {
  return `title ${index}`;
}

/** Returns the channels that colour marks by their series and name these in a legend below the plots. */
export function seriesChannels(
  legend: readonly Entry[],
  symbol: 'stroke' | 'square' | 'circle',
): { readonly color: object; readonly strokeDash?: object } {
  const domain = legend.map((_, index) => seriesId(index));
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
    symbolType: symbol,
  };
  const channel = (range: readonly unknown[]) => ({
    field: 's',
    type: 'nominal',
    scale: { domain, range },
    legend: guide,
  });
  const color = channel(legend.map(({ look }) => look.color));
  const isDashed = symbol === 'stroke' && legend.some(({ look }) => look.dash[1] !== 0);
  return isDashed ? { color, strokeDash: channel(legend.map(({ look }) => look.dash)) } : { color };
}

/** Returns the title of a vertical axis above it, as wide as the plot. */
export function titleAbove(index: number): object {
  return {
    title: titlePlace(index),
    titleAngle: 0,
    titleAlign: 'left',
    titleAnchor: 'end',
    titleX: 2,
    titleY: -8,
  };
}
