/**
 * A chart over time as plain data, from the result's columns to what is drawn.
 */
import type { Reading } from '../result.js';
import type { TimeAxis } from './bins.js';
import type { ChartColumn } from './columns.js';
import type { Group, Groups } from './groups.js';
import type { Look } from './palette.js';
import type { Point } from './thin.js';

/** One line of a plot; its values are in the plot's unit. */
export interface Line {
  readonly label: string;
  readonly look: Look;
  readonly points: readonly Point[];
}

/** Lines that share a vertical axis. */
export interface Plot {
  /** The measure, with the unit of the axis in parentheses. */
  readonly title: string;
  /** `bars`: one for each bin; `area`: a filled line; `dots`: rows of the same moment, which no line can join. */
  readonly mark: 'bars' | 'area' | 'lines' | 'dots';
  readonly lines: readonly Line[];
  /** The ends of the vertical axis. */
  readonly low: number;
  readonly high: number;
  readonly isIntegral: boolean;
}

/** A chart, ready to be drawn. */
export interface TimeChart {
  readonly axis: TimeAxis;
  readonly plots: readonly Plot[];
  /** The lines that the legend names; empty when there is one line. */
  readonly legend: readonly Pick<Line, 'label' | 'look'>[];
  /** The measures that are drawn. */
  readonly names: readonly string[];
  /** Sentences about values that are drawn differently from the table, or not at all. */
  readonly remarks: readonly string[];
}

/** One line before it gets its colour: a measure of a group, or of the whole result. */
export interface Track {
  readonly measure: ChartColumn;
  readonly group: Group;
  readonly points: readonly Point[];
  /** The stand-ins for missing bins: zeros or breaks. */
  readonly added?: 0 | null;
}

/** The columns, groups and axis that are known before anything is drawn. */
export interface Outline {
  readonly axis: TimeAxis;
  readonly missing: Reading['missingBins'];
  readonly keys: readonly ChartColumn[];
  readonly groups: Groups;
  readonly measures: readonly ChartColumn[];
  /** More measures than are drawn; those without a value; columns that are no measure. */
  readonly beyond: readonly ChartColumn[];
  readonly empty: readonly ChartColumn[];
  readonly leftOut: readonly ChartColumn[];
}

/** Properties that all plots of a chart share. */
export interface Facts {
  readonly isThinned: boolean;
  /** All values are far from zero and near each other, so that no axis begins at zero. */
  readonly isNarrow: boolean;
  /** Measures with missing bins that are drawn as zeros, and as breaks. */
  readonly zeros: readonly ChartColumn[];
  readonly breaks: readonly ChartColumn[];
}
