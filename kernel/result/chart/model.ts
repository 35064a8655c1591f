/** A chart as plain data, between the columns of the result and the drawing. */

import type { Entry } from './palette.js';
import type { Point } from './thin.js';
import type { TimeAxis } from './time/bins.js';

/** One line of a plot; its values are in the unit of the plot. */
export interface Line extends Entry {
  readonly points: readonly Point[];
}

/** How the marks of a plot are arranged: `apart` is side by side for bars and overlaid for lines. */
export type Arrangement = 'apart' | 'stacked' | 'band';

/** Lines that share a vertical axis. */
export interface Plot {
  /** The measure, with the unit of the axis in parentheses. */
  readonly title: string;
  /** The unit of the values, empty for bare numbers. */
  readonly unit: string;
  /** `bars`: one for each bin; `area`: a filled line; `dots`: rows with the same timestamp, which no line can join. */
  readonly mark: 'bars' | 'area' | 'lines' | 'dots';
  readonly arrangement: Arrangement;
  readonly lines: readonly Line[];
  /** Index of its first line in the legend (default: 0). */
  readonly from?: number;
  /** The ends of the vertical axis. */
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  readonly isIntegral: boolean;
}

/** An annotation over a chart along time; times are in milliseconds since 1970. */
export interface Rule {
  readonly t: number;
  /** Absent for a point in time. */
  readonly end?: number;
  readonly label: string;
  /** The kind of event, such as `deploy`. */
  readonly type: string;
  /** Text of the annotation beside its label; may be empty. */
  readonly text: string;
}

/** Members of every chart, ready to be drawn. */
export interface ChartModel {
  /** The form that draws it. */
  readonly kind: string;
  /** The series that the legend names; empty if there is only one. */
  readonly legend: readonly Entry[];
  /** The measures that are drawn. */
  readonly names: readonly string[];
  /** Notes on values that are drawn differently from the table, or not at all. */
  readonly notes: readonly string[];
  readonly title?: string;
  readonly isLegendHidden?: true;
  /** It is as high as a page, so the table, which has the same data, comes first. */
  readonly followsTable?: true;
  /** In order of time; absent if there are none. */
  readonly rules?: readonly Rule[];
}

/** Marks along a horizontal axis of time, or of numbers if `across` says what they measure. */
export interface XyChart extends ChartModel {
  readonly kind: 'xy';
  readonly axis: TimeAxis;
  readonly across?: string;
  readonly plots: readonly Plot[];
}
