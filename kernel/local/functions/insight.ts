import { deadline } from './deadline.js';

const maxWords = 4;

/**
 * Returns the sequences of up to four words that occur in most strings, as JSON [{phrase, count}]: most frequent first, longer before
 * shorter, without sequences inside a longer one of the same count. `counts` maps strings to occurrences, as JSON.
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
