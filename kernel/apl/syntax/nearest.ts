/** The candidate that `name` most likely stands for: the same but for case, or within a third of its letters; undefined when none is near. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase();
    if (lower === wanted) return candidate;
    const distance =
      lower.length - wanted.length > 3 && lower.startsWith(wanted) && wanted.length >= 3
        ? 1
        : editDistance(wanted, lower, bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours between two texts; `limit` when there are at least that many. */
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
