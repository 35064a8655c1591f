import { expect } from 'vitest';
import type { ChartOptions } from '../../../kernel/apl/operators/drawing.js';
import { type Chart, toChart } from '../../../kernel/result/chart/chart.js';
import type { HeatChart } from '../../../kernel/result/chart/kinds/heat.js';
import type { PieChart } from '../../../kernel/result/chart/kinds/pie.js';
import type { BarChart } from '../../../kernel/result/chart/kinds/shared/bars.js';
import type { StatChart } from '../../../kernel/result/chart/kinds/stat.js';
import type { ChartModel, XyChart } from '../../../kernel/result/chart/model.js';
import { scaleFor } from '../../../kernel/result/chart/units.js';
import type { QueryResult } from '../../../kernel/result/result.js';

const now = Date.UTC(2027, 0);

/** Chart models by type. */
export interface Models {
  readonly xy: XyChart;
  readonly bars: BarChart;
  readonly heat: HeatChart;
  readonly pie: PieChart;
  readonly stat: StatChart;
}

/** Whether a model is of this type. */
export function isOf<K extends keyof Models>(model: ChartModel, kind: K): model is Models[K] {
  return model.kind === kind;
}

/** Returns a chart of one kind with its image, or the reason why nothing is drawn. */
export async function drawnChart<K extends keyof Models>(
  result: QueryResult,
  options: ChartOptions,
  kind: K,
): Promise<(Chart & { readonly model: Models[K] }) | string> {
  const chart = await toChart(result, now, options);
  if (chart?.kind !== 'chart') return chart?.reason ?? 'nothing';
  expect(chart.model.kind).toBe(kind);
  return chart as Chart & { readonly model: Models[K] };
}

/** A rectangle of an image, in pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the visible rectangles of each data layer of an image. */
export function boxesIn(svg: string): readonly (readonly Box[])[] {
  return groupsIn(svg, 'rect').map(paths =>
    [...paths.matchAll(/ d="M([-\d.e]+),([-\d.e]+)h([-\d.e]+)v([-\d.e]+)h[-\d.e]+Z"/g)].map(found => {
      const [x = 0, y = 0, width = 0, height = 0] = found.slice(1).map(Number);
      return { x, y, width, height };
    }),
  );
}

/** Returns how many data marks of a type an image draws. */
export function marksIn(svg: string, type: 'symbol' | 'arc' | 'rect'): number {
  return groupsIn(svg, type).reduce((sum, paths) => sum + paths.split('<path ').length - 1, 0);
}

/** Returns every text of an image except its name and description. */
export function textsIn(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) =>
    text.replace(/&(\w+|#\d+);/g, (_, name: string) => ENTITIES[name] ?? `?${name}?`),
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: '\u00a0' };

function groupsIn(svg: string, type: string): readonly string[] {
  const groups = svg.matchAll(new RegExp(`<g class="mark-${type} role-mark[^>]*>(.*?)</g>`, 'g'));
  return [...groups].map(([, marks = '']) => marks);
}

/** Returns the unit that suits the greatest of `all`, and a function that scales a value to it as an axis does. */
export function onAxis(
  unit: string,
  all: readonly number[],
): { readonly unit: string; of(v: number): number } {
  const { factor, unit: shown } = scaleFor(unit, Math.max(0, ...all.map(Math.abs)));
  return { unit: shown, of: v => (factor === 1 ? v : Number((v * factor).toPrecision(15))) };
}
