import { deadline } from './deadline.js';

const maxWords = 4;
const maxValues = 10;

/**
 * The word sequences of up to four words that occur in most texts, as JSON [{phrase, count}]: most frequent first, longer
 * before shorter, a sequence inside a longer one with the same count left out. `counts` is JSON text -> occurrences.
 */
export function phrases(counts: string, limit: bigint): string {
  const found = new Map<string, number>();
  for (const [text, count] of Object.entries(JSON.parse(counts) as Record<string, number>)) {
    for (const phrase of phrasesOf(text)) found.set(phrase, (found.get(phrase) ?? 0) + count);
  }
  const ranked = [...found].sort(([a, n], [b, m]) => m - n || words(b) - words(a) || (a < b ? -1 : 1));
  const kept: [string, number][] = [];
  const check = deadline();
  for (const [phrase, count] of ranked) {
    check();
    if (kept.length >= Number(limit)) break;
    const inside = kept.some(([longer, times]) => times === count && ` ${longer} `.includes(` ${phrase} `));
    if (!inside) kept.push([phrase, count]);
  }
  return JSON.stringify(kept.map(([phrase, count]) => ({ phrase, count })));
}

interface Counted {
  readonly field: string;
  readonly counts: {
    readonly selected: Record<string, number> | null;
    readonly baseline: Record<string, number> | null;
  };
}

/**
 * For each field how much its values differ between the selected rows and the rest, as JSON [{field, score, values}],
 * largest first. The score is the total variation distance, 0 (alike) to 1 (no value in common); a value's `selected` and
 * `baseline` are its shares.
 */
export function spotlight(fields: string): string {
  const ranked = (JSON.parse(fields) as Counted[]).map(({ field, counts }) => {
    const values = shares(counts.selected ?? {}, counts.baseline ?? {});
    const score = values.reduce((sum, value) => sum + Math.abs(value.selected - value.baseline), 0) / 2;
    return { field, score, values: values.slice(0, maxValues) };
  });
  return JSON.stringify(ranked.sort((a, b) => b.score - a.score));
}

function phrasesOf(text: string): Set<string> {
  const tokens = text.toLowerCase().match(/[\p{L}\p{N}_'-]+/gu) ?? [];
  const found = new Set<string>();
  for (let from = 0; from < tokens.length; from += 1) {
    for (let length = 1; length <= maxWords && from + length <= tokens.length; length += 1)
      found.add(tokens.slice(from, from + length).join(' '));
  }
  return found;
}

function words(phrase: string): number {
  return phrase.split(' ').length;
}

function shares(
  selected: Record<string, number>,
  baseline: Record<string, number>,
): { value: string; selected: number; baseline: number }[] {
  const [all, others] = [total(selected), total(baseline)];
  const values = [...new Set([...Object.keys(selected), ...Object.keys(baseline)])];
  const listed = values.map(value => ({
    value,
    selected: countOf(selected, value) / all,
    baseline: countOf(baseline, value) / others,
  }));
  return listed.sort(
    (a, b) =>
      Math.abs(b.selected - b.baseline) - Math.abs(a.selected - a.baseline) || b.selected - a.selected,
  );
}

/** A value may have the name of a member that every object has. */
function countOf(counts: Record<string, number>, value: string): number {
  return Object.hasOwn(counts, value) ? (counts[value] ?? 0) : 0;
}

/** Never zero, as it divides. */
function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0) || 1;
}
