import type { Spec, View } from 'vega';
import type { Explainer } from '../cell/cell-explain.js';
import type { Zone } from '../link/link-zone.js';
import type { ChartFacts } from './charts-facts.js';
import type { Tip } from './tip.js';

/**
 * Sets the time range of the notebook to an argument of `%time`, and runs the cells below if `runs` is true; returns the outcome in a
 * sentence.
 */
export type SetRange = (range: string, runs: boolean) => Promise<string>;

/** Actions on a chart at its current location. */
export interface ChartPlace {
  readonly setter: () => SetRange | undefined;
  readonly explainer: () => Pick<Explainer, 'part' | 'mark'> | undefined;
}

/** A chart on the page. */
export interface Stage extends ChartPlace {
  readonly view: View;
  readonly spec: Spec;
  readonly facts: ChartFacts;
  readonly node: HTMLElement;
  readonly svg: HTMLElement;
  readonly tip: Tip;
  readonly zone: Zone;
}
