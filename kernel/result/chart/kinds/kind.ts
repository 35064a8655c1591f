/** The parts of a kind of chart. Each kind is a row in a file of its own, listed in `kind-list.ts`; everything else reads the rows. */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import type { Shape } from '../chart-shapes.js';
import type { Drawing } from '../draw/draw-style.js';
import type { ChartModel } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import type { ChartInput } from './input.js';

/** Returns the model of a result, a sentence that says why there is none, or undefined if its shape has no chart. */
export type Maker = (input: ChartInput, options: ChartOptions) => ChartModel | string | undefined;

/** One kind of chart, named by its export. */
export interface KindRow {
  /** Label in the browser menu. */
  readonly label: string;
  /** Name in a refusal. */
  readonly title: string;
  /** Required contents of a result, for a refusal. */
  readonly needs: string;
  /** The shapes that it draws. */
  readonly draws: Readonly<Partial<Record<Shape, Maker>>>;
  readonly form: ChartForm;
}

/** How to draw and describe models of one type; kinds may share it. */
export interface ChartForm<M extends ChartModel = ChartModel> {
  readonly type: M['kind'];
  /** Name of a chart, such as `Bar chart`. */
  title(chart: M): string;
  /** Parts of the description after its title: the groups, if any, and then one clause each. */
  groups?(chart: M): string;
  clauses(chart: M): readonly string[];
  /** Absent or undefined for a chart that is not along time. */
  timeAxis?(chart: M): TimeAxis | undefined;
  draw(chart: M, interactive: boolean): Drawing;
  /** Lines for a terminal, none wider than `width` characters. */
  print(chart: M, width: number): readonly string[];
}
