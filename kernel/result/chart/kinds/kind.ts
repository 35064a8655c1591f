/**
 * What a kind of chart is made of. Each kind is a row in a file of its own, listed in `kind-list.ts`; everything else reads the rows.
 */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import type { Shape } from '../chart-shapes.js';
import type { Drawing } from '../draw/draw-style.js';
import type { ChartModel } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import type { ChartInput } from './input.js';

/** Returns the model of a result, a sentence that says why there is none, or undefined if its shape has no chart. */
export type Maker = (input: ChartInput, options: ChartOptions) => ChartModel | string | undefined;

/** One kind of chart. Its name is that of its export. */
export interface KindRow {
  /** In the menu of the browser. */
  readonly label: string;
  /** What it is called in a refusal. */
  readonly title: string;
  /** What a result must hold, for a refusal. */
  readonly needs: string;
  /** The shapes that it draws. */
  readonly draws: Readonly<Partial<Record<Shape, Maker>>>;
  readonly form: ChartForm;
}

/** How models of one type are drawn and described; kinds may share it. */
export interface ChartForm<M extends ChartModel = ChartModel> {
  readonly type: M['kind'];
  /** What a chart is called, such as `Bar chart`. */
  title(chart: M): string;
  /** What its description says after its title: the groups if there are any, and then one clause each. */
  groups?(chart: M): string;
  clauses(chart: M): readonly string[];
  /** Absent or undefined for a chart that does not run along time. */
  timeAxis?(chart: M): TimeAxis | undefined;
  draw(chart: M, interactive: boolean): Drawing;
  /** Lines of a terminal, none wider than `width` characters. */
  print(chart: M, width: number): readonly string[];
}
