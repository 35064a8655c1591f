/** List prices of October 2025 in US dollars per million tokens of text, without discounts for caching or batches. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/**
 * Returns the prices of a model; undefined if unknown. A name may have a vendor prefix before a slash, and a date, a version or `latest` at
 * the end: `anthropic/claude-3-opus-20240229`.
 */
export function modelPrice(model: string): ModelPrice | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const known = prices.find(
    ([start]) => name.startsWith(start) && versionSuffix.test(name.slice(start.length)),
  );
  return known === undefined ? undefined : { input: known[1], output: known[2] };
}

const versionSuffix = /^(?:[-@:](?:v?\d[\d.]*|latest|preview))*$/;

const table: readonly (readonly [name: string, input: number, output: number])[] = [
  ['gpt-3.5-turbo', 0.5, 1.5],
  ['gpt-4', 30, 60],
  ['gpt-4-32k', 60, 120],
  ['gpt-4-turbo', 10, 30],
  ['gpt-4-1106-preview', 10, 30],
  ['gpt-4-0125-preview', 10, 30],
  ['gpt-4o', 2.5, 10],
  ['gpt-4o-mini', 0.15, 0.6],
  ['gpt-4.1', 2, 8],
  ['gpt-4.1-mini', 0.4, 1.6],
  ['gpt-4.1-nano', 0.1, 0.4],
  ['gpt-5', 1.25, 10],
  ['gpt-5-mini', 0.25, 2],
  ['gpt-5-nano', 0.05, 0.4],
  ['o1', 15, 60],
  ['o1-mini', 1.1, 4.4],
  ['o3', 2, 8],
  ['o3-mini', 1.1, 4.4],
  ['o4-mini', 1.1, 4.4],
  ['text-embedding-3-small', 0.02, 0],
  ['text-embedding-3-large', 0.13, 0],
  ['text-embedding-ada-002', 0.1, 0],
  ['claude-3-opus', 15, 75],
  ['claude-3-sonnet', 3, 15],
  ['claude-3-haiku', 0.25, 1.25],
  ['claude-3-5-sonnet', 3, 15],
  ['claude-3-5-haiku', 0.8, 4],
  ['claude-3-7-sonnet', 3, 15],
  ['claude-sonnet-4', 3, 15],
  ['claude-sonnet-4-5', 3, 15],
  ['claude-haiku-4-5', 1, 5],
  ['claude-opus-4', 15, 75],
  ['claude-opus-4-1', 15, 75],
  ['gemini-1.5-pro', 1.25, 5],
  ['gemini-1.5-flash', 0.075, 0.3],
  ['gemini-2.0-flash', 0.1, 0.4],
  ['gemini-2.5-pro', 1.25, 10],
  ['gemini-2.5-flash', 0.3, 2.5],
  ['gemini-2.5-flash-lite', 0.1, 0.4],
];

/** The longest matching name wins. */
const prices = [...table].sort(([a], [b]) => b.length - a.length);
