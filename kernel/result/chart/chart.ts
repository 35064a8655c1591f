/**
 * A result as a chart: chosen from its shape or as requested, as a Vega specification for front ends that draw it, and as a static image.
 */

import type { Spec } from 'vega';
import type { ChartKind, ChartOptions } from '../../apl/operators/drawing.js';
import { present } from '../../present.js';
import { cut } from '../../text.js';
import { safeWords } from '../display/summary.js';
import type { QueryResult } from '../result.js';
import { shortfallNotes } from '../shortfall.js';
import { describe, titleOfChart } from './chart-describe.js';
import { shapeOf } from './chart-shapes.js';
import { interactiveSpec } from './draw/spec.js';
import { toSvg } from './draw/svg.js';
import { chartInput } from './kinds/input.js';
import { formOf, kindRows, kindsFor, refusalOf } from './kinds/kind-table.js';
import type { ChartModel } from './model.js';
import { type ChartAnnotations, rulesOf } from './time/time-rules.js';

/** One chart in its forms. `description` says in a sentence what it shows, and what it leaves out of the result. */
export interface Chart {
  readonly kind: 'chart';
  readonly model: ChartModel;
  readonly spec: Spec;
  readonly svg: string;
  readonly description: string;
}

/** A sentence in place of a chart that would be empty or misleading. */
export interface NoChart {
  readonly kind: 'none';
  readonly reason: string;
  /** The chart was requested. */
  readonly isRefusal: boolean;
}

/** Requests the annotations of a chart along time. */
export type AskAnnotations = () => Promise<ChartAnnotations>;

/**
 * Returns the chart of a result; undefined if its shape has none and none is requested. `now`, in milliseconds since 1970, is the
 * time of the query: later bins are not missing. `ask` is only called for a chart along time that is to have annotations.
 */
export async function toChart(
  result: QueryResult,
  now: number,
  options: ChartOptions = {},
  ask?: AskAnnotations,
): Promise<Chart | NoChart | undefined> {
  const plain = chartModel(result, now, options);
  if (plain === undefined) return undefined;
  if (typeof plain === 'string')
    return { kind: 'none', reason: plain, isRefusal: options.kind !== undefined };
  const model =
    options.annotations === false || ask === undefined ? plain : await annotated(plain, options, ask);
  const description = `${[describe(model), ...model.notes].join('; ')}.`;
  const spec = interactiveSpec(model, description);
  const svg = await toSvg(model, titleOfChart(model), description);
  return { kind: 'chart', model, spec, svg, description };
}

/** Adds annotations. The request for annotations reports why there are none. */
async function annotated(chart: ChartModel, options: ChartOptions, ask: AskAnnotations): Promise<ChartModel> {
  const axis = formOf(chart).timeAxis?.(chart);
  if (axis === undefined) return chart;
  const { annotations, isPart, problem } = await ask();
  const { rules, notes } = rulesOf(annotations, axis);
  const excuse =
    problem !== undefined && options.annotations === true ? [`no annotations: ${safeWords(problem)}`] : [];
  // Whether they belong to this chart is unknown.
  const damaged = isPart ? ['some annotations are damaged: %annotate --list names them'] : [];
  return {
    ...chart,
    notes: [...chart.notes, ...notes, ...damaged, ...excuse],
    ...present({ rules: rules.length === 0 ? undefined : rules }),
  };
}

/** Returns the kinds of charts that can be requested for a result, its default first; `now` is in milliseconds since 1970. */
export function chartKindsOf(result: QueryResult, now: number): readonly ChartKind[] {
  const input = chartInput(result, now, { kind: 'line' });
  const row = input && shapeOf(input.facts);
  return row === undefined ? [] : kindsFor(row);
}

/** Returns the model of the chart, or a sentence that says why there is none; undefined if its shape has none and none is requested. */
export function chartModel(
  result: QueryResult,
  now: number,
  options: ChartOptions = {},
): ChartModel | string | undefined {
  const model = toModel(result, now, options);
  if (typeof model !== 'object') return model;
  const asked = present({
    title: options.title === undefined ? undefined : cut(safeWords(options.title), TITLE_LENGTH),
    isLegendHidden: options.legend === false ? (true as const) : undefined,
  });
  return { ...model, ...asked, notes: [...shortfallNotes(result), ...model.notes] };
}

/** Maximum length of a requested title. */
const TITLE_LENGTH = 200;

function toModel(result: QueryResult, now: number, options: ChartOptions): ChartModel | string | undefined {
  const { kind } = options;
  if (kind === 'none') return undefined;
  const input = chartInput(result, now, options);
  const row = input && shapeOf(input.facts);
  const chosen = kind ?? row?.kind;
  if (chosen === undefined || chosen === 'none') return undefined;
  const maker = row && kindRows[chosen].draws[row.shape];
  if (input === undefined || maker === undefined) return kind && refusalOf(kind, row);
  return maker(input, options);
}
