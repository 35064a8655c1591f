/**
 * A result as a chart: chosen from its shape or as it was asked for, as a Vega specification for front ends that draw it, and as a static picture.
 */

import type { Spec } from 'vega';
import type { ChartKind, ChartWish } from '../../apl/operators/drawing.js';
import { present } from '../../present.js';
import { cut } from '../../text.js';
import { safeWords } from '../display/summary.js';
import type { ArrowTable, QueryResult } from '../result.js';
import { shortfallRemarks } from '../shortfall.js';
import { columnsOf, groupNames, isNumber, isTime, rolesOf } from './columns.js';
import { describe, titleOfChart } from './describe.js';
import { toSvg } from './draw/picture.js';
import { interactiveSpec } from './draw/spec.js';
import { toHistogramHeat, toHistograms, toNumberBins } from './kinds/buckets.js';
import { toTimeHeat } from './kinds/heat.js';
import { type NameRoles, toBars, toGrid, toPie } from './kinds/names.js';
import { toScatter } from './kinds/scatter.js';
import { toStat } from './kinds/stat.js';
import type { ChartModel } from './model.js';
import { type Facts, refusalOf, shapeOf } from './shapes.js';
import { binCount } from './time/bins.js';
import { type ChartAnnotations, rulesOf, timeAxisOf } from './time/rules.js';
import { axisOf, toSeries } from './time/series.js';
import { type Histograms, histograms, type Unfolded, unfolded } from './unfold.js';
import { type ChartColumn, numbersOf, timeAt } from './values.js';

/** One chart in its forms. `description` says in a sentence what it shows, and which parts of the result it does not. */
export interface Chart {
  readonly kind: 'chart';
  readonly model: ChartModel;
  readonly spec: Spec;
  readonly svg: string;
  readonly description: string;
}

/** A sentence in the place of a chart that would be empty or false. */
export interface NoChart {
  readonly kind: 'none';
  readonly reason: string;
  /** The chart was asked for. */
  readonly isRefusal: boolean;
}

/** Asks for the annotations of a chart that runs along time. */
export type AskAnnotations = () => Promise<ChartAnnotations>;

/**
 * Returns the chart of a result; undefined where its shape has none and none is asked for. `now`, in milliseconds since 1970, is the
 * moment of the query: later bins are not missing. `ask` is only called for a chart along time that is to have annotations.
 */
export async function toChart(
  result: QueryResult,
  now: number,
  wish: ChartWish = {},
  ask?: AskAnnotations,
): Promise<Chart | NoChart | undefined> {
  const plain = chartModel(result, now, wish);
  if (plain === undefined) return undefined;
  if (typeof plain === 'string') return { kind: 'none', reason: plain, isRefusal: wish.kind !== undefined };
  const model = wish.annotations === false || ask === undefined ? plain : await annotated(plain, wish, ask);
  const description = `${[describe(model), ...model.remarks].join('; ')}.`;
  const [spec, svg] = await Promise.all([
    interactiveSpec(model, description),
    toSvg(model, titleOfChart(model), description),
  ]);
  return { kind: 'chart', model, spec, svg, description };
}

/** Why there are no annotations is said where they were asked for. */
async function annotated(chart: ChartModel, wish: ChartWish, ask: AskAnnotations): Promise<ChartModel> {
  const axis = timeAxisOf(chart);
  if (axis === undefined) return chart;
  const { annotations, isPart, problem } = await ask();
  const { rules, remarks } = rulesOf(annotations, axis);
  const excuse =
    problem !== undefined && wish.annotations === true ? [`no annotations: ${safeWords(problem)}`] : [];
  // Whether they belong here is not known.
  const damaged = isPart ? ['there are annotations that cannot be read: %annotate --list names them'] : [];
  return {
    ...chart,
    remarks: [...chart.remarks, ...remarks, ...damaged, ...excuse],
    ...present({ rules: rules.length === 0 ? undefined : rules }),
  };
}

/** Returns the kinds that a result can be drawn as when one is asked for, its own first; `now` is in milliseconds since 1970. */
export function chartKindsOf(result: QueryResult, now: number): readonly ChartKind[] {
  const sight = sightOf(result, now, { kind: 'line' });
  const row = sight && shapeOf(sight.facts);
  return row === undefined ? [] : [row.kind, ...row.also].filter(kind => kind !== 'none');
}

/** Returns what is drawn of a result, or a sentence that says why nothing is; undefined where its shape has no chart and none is asked for. */
export function chartModel(
  result: QueryResult,
  now: number,
  wish: ChartWish = {},
): ChartModel | string | undefined {
  if (wish.kind === 'none') return undefined;
  const model = toModel(result, now, wish);
  if (typeof model !== 'object') return model;
  const asked = present({
    title: wish.title === undefined ? undefined : cut(safeWords(wish.title), TITLE_LENGTH),
    isLegendHidden: wish.legend === false ? (true as const) : undefined,
  });
  return { ...model, ...asked, remarks: [...shortfallRemarks(result), ...model.remarks] };
}

/** Characters of a title that was asked for. */
const TITLE_LENGTH = 200;

function toModel(result: QueryResult, now: number, wish: ChartWish): ChartModel | string | undefined {
  const sight = sightOf(result, now, wish);
  if (sight === undefined) return wish.kind === undefined ? undefined : refusalOf(wish.kind, undefined);
  const row = shapeOf(sight.facts);
  const kind: ChartKind | undefined = wish.kind ?? row?.kind;
  if (kind === undefined) return undefined;
  if (row === undefined || (kind !== row.kind && !row.also.includes(kind)))
    return wish.kind === undefined ? undefined : refusalOf(wish.kind, row);
  if (kind === 'none') return undefined;
  switch (row.shape) {
    case 'histograms over time':
    case 'a histogram':
      return histogramModel(sight, now, wish);
    case 'percentiles over time':
    case 'series':
    case 'measures over time':
      return seriesModel(sight, now, wish);
    case 'bins of a number':
      return toNumberBins(sight.table, sight.roles, wish);
    case 'numbers by name':
      return namesModel(sight, kind, wish);
    case 'one row of numbers':
    case 'one number':
      return toStat(sight.roles.measures, sight.roles.leftOut, wish);
    case 'two numbers in each row':
      return toScatter(sight.table, sight.roles, wish);
  }
}

/** A result as charts see it. */
interface Sight {
  readonly result: QueryResult;
  readonly table: ArrowTable;
  readonly flat: Unfolded | undefined;
  readonly histograms: Histograms | undefined;
  readonly time: ChartColumn | undefined;
  /** The roles of the columns beside the time. */
  readonly roles: NameRoles;
  readonly facts: Facts;
}

function sightOf(result: QueryResult, now: number, wish: ChartWish): Sight | undefined {
  const flat = unfolded(result);
  const seen = flat?.result ?? result;
  const table = seen.tables[0];
  if (table === undefined || table.data.numRows === 0) return undefined;
  const isAsked = wish.kind !== undefined;
  const found = histograms(table);
  const timed = rolesOf(table, new Set(seen.reading?.keyColumns), isAsked);
  const columns = columnsOf(table);
  const names = groupNames(table, columns);
  const keys = columns.filter(({ field }) => names.has(field.name));
  const time =
    timed?.time ??
    columns.find(
      column =>
        isTime(column) && (names.has(column.field.name) || table.info.buckets?.field === column.field.name),
    );
  const rest = columns.filter(
    column => !keys.includes(column) && column !== time && column.field.name !== found?.column.field.name,
  );
  const measures = rest.filter(isNumber);
  const roles = {
    keys: keys.filter(column => column !== time),
    measures,
    leftOut: rest.filter(column => !measures.includes(column)),
  };
  const facts: Facts = {
    rows: table.data.numRows,
    moments: time === undefined ? 0 : momentsOf(seen, table, time, now),
    measures: measures.length,
    keys: roles.keys.length,
    lists: found !== undefined ? 'histograms' : (flat?.kind ?? 'none'),
    isBinned: isBinned(table, roles.keys),
    isAggregate: isAsked || isGrouped(table) || columns.some(isAggregated),
  };
  return { result: seen, table, flat, histograms: found, time, roles, facts };
}

/** The rows are groups or bins, not events. */
function isGrouped({ info }: ArrowTable): boolean {
  return info.groups.length > 0 || info.buckets !== undefined;
}

function isAggregated({ field }: ChartColumn): boolean {
  return field.metadata.has('apl.agg');
}

/** A key that is a number in bins of one width. */
function isBinned({ info }: ArrowTable, keys: readonly ChartColumn[]): boolean {
  return keys.some(key => key.field.name === info.buckets?.field && isNumber(key));
}

/** How many moments a result is drawn along, 2 for any more: its own, or the bins of the searched range where it has a single one. */
function momentsOf(result: QueryResult, table: ArrowTable, time: ChartColumn, now: number): number {
  const moments = new Set<number>();
  for (let row = 0; row < table.data.numRows && moments.size < 2; row++) {
    const t = timeAt(time, row);
    if (t !== undefined) moments.add(t);
  }
  if (moments.size !== 1) return moments.size;
  const axis = axisOf(result, table, Float64Array.from(moments), now);
  return axis === undefined ? 1 : Math.max(1, binCount(axis));
}

function momentsIn(time: ChartColumn): Float64Array {
  return Float64Array.from(new Set(numbersOf(time).filter(t => !Number.isNaN(t)))).sort();
}

function histogramModel(
  { result, table, histograms: found, time, roles }: Sight,
  now: number,
  wish: ChartWish,
) {
  if (found === undefined) return undefined;
  if (time === undefined) return toHistograms(found, roles, wish);
  const axis = axisOf(result, table, momentsIn(time), now);
  return axis === undefined ? undefined : toHistogramHeat(found, { ...roles, time }, axis, wish);
}

function seriesModel({ result, flat }: Sight, now: number, wish: ChartWish): ChartModel | string | undefined {
  const together = flat?.kind === 'percentiles' ? { together: flat.list } : {};
  if (wish.kind !== 'heat') return toSeries(result, now, { ...wish, ...together });
  const { log: _, stack: __, kind: ___, ...plain } = wish;
  const chart = toSeries(result, now, { ...plain, ...together, kind: 'line' });
  return typeof chart === 'object' ? toTimeHeat(chart, wish) : chart;
}

function namesModel({ table, roles }: Sight, kind: ChartKind, wish: ChartWish): ChartModel | string {
  if (kind === 'pie') return toPie(table, roles, wish);
  if (kind === 'heat') return toGrid(table, roles, wish);
  return kind === 'scatter' ? toScatter(table, roles, wish) : toBars(table, roles, wish);
}
