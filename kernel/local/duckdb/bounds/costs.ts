import { limits } from '../../../apl/syntax/syntax-limits.js';
import { OverdueError } from '../../functions/deadline.js';
import type { JsFunction } from '../duckdb-template.js';

/** Maximum estimated duration of a JavaScript function call in nanoseconds, checked before the call. */
const mostNs = 1_000_000_000;

/** Refusal of a call that would take too long; `call` is the name of the function in the language. */
class CostError extends Error {
  constructor(call: string) {
    super(`${costMark}${call}.`);
  }
}

const costMark = 'too costly: ';

/** Returns the name of the refused function if an engine error reports a refusal. */
export function refusedCall(text: string): string | undefined {
  return new RegExp(`${costMark}([\\w ]+)\\.`).exec(text)?.[1];
}

type Value = string | bigint | number | boolean;

interface CostBound {
  /** The function as the user wrote it. */
  readonly call: string;
  /** An upper estimate, in nanoseconds. */
  readonly ns: (...args: readonly Value[]) => number;
  /** Result beyond the bound: null if the value is too long to be valid (an address, say), otherwise a refusal. */
  readonly over: 'null' | 'refusal';
}

/** Cost of each JavaScript function; a test checks that every function has a row. */
const bounds: Readonly<Record<string, CostBound>> = {
  apl_base64_decode: refused('base64_decode_tostring', linear(200)),
  apl_base64_encode: refused('base64_encode_fromarray', linear(200)),
  apl_canonical_json: refused('parse_json', linear(400)),
  apl_event_time: absent('ingest', linear(1_000_000)),
  apl_date_orders: absent('ingest', linear(1_000_000)),
  apl_fft: refused('series_fft', (re, im) => transformNs(Math.max(elements(re), elements(im)))),
  apl_fill_backward: refused('series_fill_backward', linear(600)),
  apl_fill_forward: refused('series_fill_forward', linear(600)),
  apl_fill_linear: refused('series_fill_linear', linear(600)),
  apl_find_pair: refused('find_pair', linear(100)),
  apl_fir: refused('series_fir', (series, kernel) => 5 * elements(series) * elements(kernel)),
  apl_format_bytes: refused('format_bytes', linear(100)),
  apl_format_sql: refused('format_sql', linear(1000)),
  apl_format_url: refused('format_url', linear(200)),
  apl_ifft: refused('series_ifft', (re, im) => transformNs(Math.max(elements(re), elements(im)))),
  apl_iir: refused('series_iir', (series, b, a) => 5 * elements(series) * (elements(b) + elements(a))),
  apl_index_of_regex: refused('indexof_regex', (text, pattern) => matchNs(text, pattern)),
  apl_ipv6_compare: absent('ipv6_compare', linear(10_000_000)),
  apl_ipv6_in: absent('ipv6_is_in_range', linear(10_000_000)),
  apl_ipv6_match: absent('ipv6_is_match', linear(10_000_000)),
  apl_model_price: absent('genai_cost', linear(100_000)),
  apl_model_pricing: absent('genai_get_pricing', linear(100_000)),
  apl_parse_bytes: absent('parse_bytes', linear(100_000)),
  apl_parse_csv: refused('parse_csv', linear(300)),
  apl_parse_path: refused('parse_path', linear(200)),
  apl_parse_span: absent('totimespan', linear(100_000)),
  apl_parse_sql: refused('parse_sql', linear(2000)),
  apl_parse_time: absent('todatetime', linear(1_000_000)),
  apl_parse_url: refused('parse_url', linear(500)),
  apl_parse_urlquery: refused('parse_urlquery', linear(500)),
  apl_phrases: refused(
    'phrases',
    (counts, limit) => length(counts) * (1000 + 20 * Math.min(Number(limit), 10_000)),
  ),
  apl_quote: refused('quote', linear(800)),
  apl_redact: refused('redact', (text, pattern) => matchNs(text, pattern)),
  apl_regex: absent('matches regex', (pattern, before, after) => patternNs(`${before}${pattern}${after}`)),
  apl_set_difference: refused('set_difference', linear(500)),
  apl_set_intersect: refused('set_intersect', linear(500)),
  apl_set_union: refused('set_union', linear(500)),
  apl_sha512: refused('hash_sha512', linear(10)),
  apl_text_index: refused('indexof', linear(100)),
  apl_url_decode: refused('url_decode', linear(300)),
};

/** Returns the function with a bound check; beyond the bound, it returns null or throws a CostError. */
export function bounded({ name, run }: JsFunction): (...args: readonly Value[]) => Value | null {
  const work = run as (...args: readonly Value[]) => Value | null;
  const bound = bounds[name];
  if (bound === undefined) return work;
  return (...args) => {
    if (bound.ns(...args) > mostNs) return beyond(bound);
    try {
      return work(...args);
    } catch (error) {
      if (error instanceof OverdueError) return beyond(bound);
      throw error;
    }
  };
}

/** Returns whether a function has a bound. */
export function hasBound(name: string): boolean {
  return Object.hasOwn(bounds, name);
}

function beyond({ over, call }: CostBound): null {
  if (over === 'null') return null;
  throw new CostError(call);
}

/** Returns whether a regular expression is too large to compile. */
export function isLargePattern(pattern: string): boolean {
  return patternNs(pattern) > mostNs;
}

function refused(call: string, ns: CostBound['ns']): CostBound {
  return { call, ns, over: 'refusal' };
}

function absent(call: string, ns: CostBound['ns']): CostBound {
  return { call, ns, over: 'null' };
}

/** Returns a cost of this many nanoseconds per character of all string arguments. */
function linear(ns: number): CostBound['ns'] {
  return (...args) => ns * args.reduce<number>((total, arg) => total + length(arg), 0);
}

function length(value: Value | undefined): number {
  return typeof value === 'string' ? value.length : 0;
}

/** Returns an upper bound on the number of elements in a JSON array. */
function elements(value: Value | undefined): number {
  if (typeof value !== 'string') return 0;
  let count = 1;
  for (let at = value.indexOf(','); at >= 0; at = value.indexOf(',', at + 1)) count++;
  return count;
}

/** Estimates a Fourier transform. A length that is not a power of two takes three transforms of up to four times its size. */
function transformNs(count: number): number {
  return (Number.isInteger(Math.log2(count)) ? 100 : 600) * count * Math.log2(count + 2);
}

function patternNs(pattern: string): number {
  return pattern.length > limits.pattern.most ? Number.POSITIVE_INFINITY : 10_000 * pattern.length;
}

/** Estimates a search: every position of the text is tried with every state of the pattern, and `{n}` multiplies states. */
function matchNs(text: Value | undefined, pattern: Value | undefined): number {
  if (typeof pattern !== 'string') return 0;
  const repeat = Math.max(1, ...[...pattern.matchAll(/\{\d*,?(\d+)\}/g)].map(([, most]) => Number(most)));
  return patternNs(pattern) + 20 * length(text) * Math.min(pattern.length * repeat, 50);
}
