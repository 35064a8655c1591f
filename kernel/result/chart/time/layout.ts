/**
 * What is known of a chart over time before anything is drawn.
 */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import type { Reading } from '../../result.js';
import type { Point, Run } from '../thin.js';
import type { ChartColumn } from '../values.js';
import type { TimeAxis } from './bins.js';
import type { Group, Groups } from './groups.js';

/** One line with all its points: a measure of a group, or of the whole result. */
export interface FullSeries {
  readonly measure: ChartColumn;
  readonly group: Group;
  readonly run: Run;
  /** The stand-ins for missing bins: zeros or breaks. */
  readonly added?: 0 | null;
}

/** One line with the points that are drawn, before it gets its color. */
export interface Track extends Pick<FullSeries, 'measure' | 'group'> {
  readonly points: readonly Point[];
}

/** The columns, groups and axis that are known before anything is drawn. */
export interface TimeLayout {
  readonly axis: TimeAxis;
  readonly options: ChartOptions;
  readonly missing: Reading['missingBins'];
  readonly time: ChartColumn;
  /** Rows that have no place along the time. */
  readonly untimed: number;
  readonly keys: readonly ChartColumn[];
  readonly groups: Groups;
  readonly measures: readonly ChartColumn[];
  /** More measures than are drawn; those without a value; columns that are not measures; flags of anomalies. */
  readonly beyond: readonly ChartColumn[];
  readonly empty: readonly ChartColumn[];
  readonly leftOut: readonly ChartColumn[];
  readonly flags: readonly ChartColumn[];
  /** The measures are parts of one list, such as percentiles of a field, of that name. */
  readonly together?: string;
}

/** Properties that all plots of a chart share. */
export interface Facts {
  readonly isThinned: boolean;
  /** All values are far from zero and near each other, so that no axis begins at zero. */
  readonly isNarrow: boolean;
  /** Measures with missing bins that are drawn as zeros, and as breaks. */
  readonly zeros: readonly ChartColumn[];
  readonly breaks: readonly ChartColumn[];
  /** Why the chart is not as it was asked for. */
  readonly refusals: readonly string[];
}
