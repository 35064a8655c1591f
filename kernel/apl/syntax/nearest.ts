/**
 * Returns the most likely candidate for `name`: the same but for case, a word that it abbreviates (`cnt` for `count`), or one within a
 * third of its letters; the first of equally likely ones. Undefined if none is close.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase();
    if (lower === wanted) return candidate;
    const distance = abbreviates(wanted, lower)
      ? 1 - wanted.length / lower.length
      : lower.length - wanted.length > 3 && lower.startsWith(wanted) && wanted.length >= 3
        ? 1
        : editDistance(wanted, lower, bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** True if `short` has at least three letters and half the length of `word`, and contains its letters in order from the first. */
function abbreviates(short: string, word: string): boolean {
  if (short.length < 3 || short.length >= word.length || 2 * short.length < word.length) return false;
  if (short[0] !== word[0]) return false;
  let at = 0;
  for (const letter of word) if (letter === short[at]) at += 1;
  return at === short.length;
}

/** Returns the number of insertions, deletions, substitutions and swaps of neighbors between two strings, up to `limit`. */
function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min((row[j - 1] ?? 0) + 1, (previous[j] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        value = Math.min(value, (beforePrevious[j - 2] ?? 0) + 1);
      row.push(value);
    }
    [beforePrevious, previous] = [previous, row];
  }
  return Math.min(previous[b.length] ?? limit, limit);
}
