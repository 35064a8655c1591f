/**
 * A chart as plain data, from the result's columns to what is drawn.
 */

import type { Look } from './palette.js';
import type { Point } from './thin.js';
import type { TimeAxis } from './time/bins.js';

/** The name and the look of a series in the legend. */
export interface Entry {
  readonly label: string;
  readonly look: Look;
}

/** One line of a plot; its values are in the plot's unit. */
export interface Line extends Entry {
  readonly points: readonly Point[];
}

/** How the marks of a plot stand to each other: `apart` is side by side for bars and one over the other for lines. */
export type Arrangement = 'apart' | 'stacked' | 'band';

/** Lines that share a vertical axis. */
export interface Plot {
  /** The measure, with the unit of the axis in parentheses. */
  readonly title: string;
  /** The unit of the values, empty for bare numbers. */
  readonly unit: string;
  /** `bars`: one for each bin; `area`: a filled line; `dots`: rows of the same moment, which no line can join. */
  readonly mark: 'bars' | 'area' | 'lines' | 'dots';
  readonly arrangement: Arrangement;
  readonly lines: readonly Line[];
  /** Points that the query itself calls anomalies. */
  readonly flagged: readonly Pick<Point, 't' | 'v'>[];
  /** The ends of the vertical axis. */
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  readonly isIntegral: boolean;
}

/** An annotation over a chart along time; times are in milliseconds since 1970. */
export interface Rule {
  readonly t: number;
  /** Absent for a moment. */
  readonly end?: number;
  readonly label: string;
  /** The kind of event, such as `deploy`. */
  readonly type: string;
  /** What is said of it beside its label; may be empty. */
  readonly text: string;
}

interface Common {
  /** The series that the legend names; empty when there is one. */
  readonly legend: readonly Entry[];
  /** The measures that are drawn. */
  readonly names: readonly string[];
  /** Sentences about values that are drawn differently from the table, or not at all. */
  readonly remarks: readonly string[];
  readonly title?: string;
  readonly isLegendHidden?: true;
  /** In order of time; absent where there are none. */
  readonly rules?: readonly Rule[];
}

/** Marks along a horizontal axis of time, or of numbers where `across` says what they measure. */
export interface XyChart extends Common {
  readonly kind: 'xy';
  readonly axis: TimeAxis;
  readonly across?: string;
  readonly plots: readonly Plot[];
}

/** One row of bars: a name, and its parts in the order of the legend; a single part where there is no legend. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly (number | null)[];
}

/** Bars of one measure, longest first, which share an axis. */
export interface BarPlot {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
}

/** Bars by name. */
export interface BarChart extends Common {
  readonly kind: 'bars';
  readonly plots: readonly BarPlot[];
  /** What the names are names of. */
  readonly keys: string;
}

/** One cell of a heatmap; of a band of names `y` is its number and `height` 1. */
export interface Cell {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  readonly v: number;
}

/** Values as colours, over time or names, and over numbers or names. */
export interface HeatChart extends Common {
  readonly kind: 'heat';
  /** The horizontal axis: time, or names from the left. */
  readonly axis: TimeAxis | readonly string[];
  /** The vertical axis: numbers with their unit, or names from the top. */
  readonly rows: readonly string[] | { readonly title: string; readonly low: number; readonly high: number };
  readonly cells: readonly Cell[];
  readonly unit: string;
  /** The ends of the colours. */
  readonly most: number;
  readonly least: number;
  readonly isLog: boolean;
}

/** Shares of a whole. */
export interface PieChart extends Common {
  readonly kind: 'pie';
  readonly unit: string;
  /** In the order of the legend. */
  readonly values: readonly number[];
}

/** Numbers to be read from afar. */
export interface StatChart extends Common {
  readonly kind: 'stat';
  readonly tiles: readonly { readonly name: string; readonly text: string; readonly exact: string }[];
}

/** A chart, ready to be drawn. */
export type ChartModel = XyChart | BarChart | HeatChart | PieChart | StatChart;
