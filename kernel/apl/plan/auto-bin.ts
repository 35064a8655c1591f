import { DAY, HOUR, MINUTE, SECOND } from '../../time.js';

const ladder = [1n, 5n, 10n, 15n, 30n]
  .flatMap(n => n * SECOND)
  .concat(
    [1n, 5n, 10n, 15n, 30n].map(n => n * MINUTE),
    [1n, 3n, 6n, 12n].map(n => n * HOUR),
    [1n, 7n, 30n].map(n => n * DAY),
  );
const mostBuckets = 120n;

/** Returns the width of bin_auto's buckets, in nanoseconds: the first step of the ladder that gives at most 120 of them. */
export function autoBinWidth(start: bigint, end: bigint): bigint {
  const range = end - start;
  const step = ladder.find(width => width * mostBuckets >= range);
  if (step !== undefined) return step;
  const longest = 30n * DAY;
  return longest * ((range + longest * mostBuckets - 1n) / (longest * mostBuckets));
}
