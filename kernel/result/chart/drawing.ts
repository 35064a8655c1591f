/**
 * A result over time as a picture: a Vega specification for front ends that draw it, and the same as a static SVG.
 */
import { createHash } from 'node:crypto';
import type { Spec } from 'vega';
import { escapeHtml } from '../../text.js';
import type { QueryResult } from '../result.js';
import type { TimeChart } from './model.js';
import { toSeries } from './series.js';
import { interactiveSpec, staticSpec } from './spec.js';
import { loadVega } from './vega.js';

/** One chart in its forms. `description` says in sentences which parts of the result are drawn and which are not. */
export interface Chart {
  readonly kind: 'chart';
  readonly spec: Spec;
  readonly svg: string;
  readonly description: string;
}

/** A sentence in the place of a chart that would be empty. */
export interface NoChart {
  readonly kind: 'none';
  readonly reason: string;
}

/**
 * Returns the chart of an aggregate over time; undefined for any other result and for a single moment. `now`, in milliseconds
 * since 1970, is the moment of the query: later bins are not missing.
 */
export async function toChart(result: QueryResult, now: number): Promise<Chart | NoChart | undefined> {
  const chart = toSeries(result, now);
  if (chart === undefined) return undefined;
  if (typeof chart === 'string') return { kind: 'none', reason: chart };
  const title = `Chart of ${chart.names.join(', ')} over time`;
  const description = [title, ...chart.remarks].join('; ');
  const [spec, svg] = await Promise.all([
    interactiveSpec(chart, `${description}.`),
    toSvg(chart, title, `${description}.`),
  ]);
  return { kind: 'chart', spec, svg, description: `${description}.` };
}

async function toSvg(chart: TimeChart, title: string, description: string): Promise<string> {
  const vega = await loadVega();
  const view = new vega.View(vega.parse(await staticSpec(chart)), { renderer: 'none' });
  try {
    return accessible(await view.toSVG(), title, description);
  } finally {
    view.finalize();
  }
}

/** An image with a name and a description, which shrinks with its container; no other picture of a page has the names of its parts. */
function accessible(drawn: string, title: string, description: string): string {
  const hash = createHash('sha256').update(renamed(drawn, '')).update(description).digest('hex');
  const id = `apl-${hash.slice(0, 10)}`;
  const attributes = `role="img" aria-labelledby="${id}-t ${id}-d" style="max-width:100%;height:auto"`;
  const words = `<title id="${id}-t">${escapeHtml(title)}</title><desc id="${id}-d">${escapeHtml(description)}</desc>`;
  return renamed(drawn, `${id}-`).replace(
    /^<svg([^>]*)>/,
    (_, rest: string) => `<svg ${attributes}${rest}>${words}`,
  );
}

/** Vega numbers clips and gradients through all pictures of a process: here they are counted from 0 in each. */
function renamed(svg: string, prefix: string): string {
  const names = new Map([...svg.matchAll(/ id="(\w+)"/g)].map(([, name = ''], index) => [name, index]));
  return svg.replace(/( id="|url\(#|href="#)(\w+)(?=["')])/g, (whole, before: string, name: string) => {
    const number = names.get(name);
    return number === undefined ? whole : `${before}${prefix}${number}`;
  });
}
