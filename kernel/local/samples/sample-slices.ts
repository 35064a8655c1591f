import type { RowGroup } from '../sql/compiled-query.js';

/** Length of the slices at both ends of a window; the others double in length toward the middle. */
const shortestNs = 60_000_000_000n;

/**
 * Splits a window into slices for a reader that stops once it has enough rows: short at both ends, and few in number however long the
 * window is. There is about one row per `spacingNs`.
 */
export function slices(startNs: bigint, endNs: bigint, spacingNs: bigint): RowGroup[] {
  const half = (endNs - startNs) / 2n;
  const lengths: bigint[] = [];
  for (let [length, left] = [shortestNs, half]; left > 0n; left -= length, length *= 2n)
    lengths.push(length < left ? length : left);
  const middle = endNs - startNs - 2n * half;
  const all = [...lengths, ...(middle > 0n ? [middle] : []), ...lengths.toReversed()];
  let from = startNs;
  return all.map(length => {
    const minNs = from;
    from += length;
    return { rows: Number(length) / Number(spacingNs), minNs, maxNs: from - 1n, timed: true, computed: true };
  });
}
