import { canonicalJson } from './json-text.js';

/** Returns the elements of a JSON array as written; undefined for anything but an array. */
export function jsonItems(text: string): string[] | undefined {
  const body = text.trim();
  if (!body.startsWith('[')) return undefined;
  const items: string[] = [];
  let depth = 0;
  let from = 1;
  for (const token of body.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},]/gs)) {
    const mark = token[0];
    if (mark === '[' || mark === '{') depth++;
    else if (mark === ']' || mark === '}') depth--;
    const ends = depth === 0 ? mark === ']' : depth === 1 && mark === ',';
    if (!ends) continue;
    const item = body.slice(from, token.index).trim();
    if (item !== '') items.push(item);
    from = token.index + 1;
  }
  return items;
}

/** Returns the distinct elements of both arrays, in order of first appearance; null unless both are arrays. */
export function setUnion(left: string, right: string): string | null {
  return combine(left, right, (a, b) => [...a, ...b]);
}

/** Returns the distinct elements of the left array that are also in the right one, in order. */
export function setIntersect(left: string, right: string): string | null {
  return combine(left, right, (a, b) => {
    const keys = new Set(b.map(itemKey));
    return a.filter(item => keys.has(itemKey(item)));
  });
}

/** Returns the distinct elements of the left array that are not in the right one, in order. */
export function setDifference(left: string, right: string): string | null {
  return combine(left, right, (a, b) => {
    const keys = new Set(b.map(itemKey));
    return a.filter(item => !keys.has(itemKey(item)));
  });
}

function combine(left: string, right: string, choose: (a: string[], b: string[]) => string[]): string | null {
  const a = jsonItems(left);
  const b = jsonItems(right);
  if (a === undefined || b === undefined) return null;
  const kept = new Map<string, string>();
  for (const item of choose(a, b)) {
    const key = itemKey(item);
    if (!kept.has(key)) kept.set(key, item);
  }
  return `[${[...kept.values()].join(',')}]`;
}

/**
 * Returns a key that is the same for equal values: 1, 1.0 and 1e0 are one number, and the order of object keys is ignored. Integers stay
 * exact.
 */
function itemKey(item: string): string {
  if (/^-?\d+$/.test(item)) return item;
  return /^[-\d]/.test(item) ? String(Number(item)) : canonicalJson(item);
}
