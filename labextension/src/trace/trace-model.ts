/** A reader's state of a trace: folded spans, the visible subtree and interval, and the search. */
import type { ShownSpan } from '../../../kernel/result/trace/trace-spans.js';
import type { Trace, TraceNode } from '../../../kernel/result/trace/trace-tree.js';

type Nodes = readonly TraceNode<ShownSpan>[];

/** An interval of a trace, in nanoseconds from its start. */
export interface Interval {
  readonly from: bigint;
  readonly to: bigint;
}

/** Minimum interval to zoom into, in nanoseconds. */
const LEAST = 10n;

/** Returns the index after the last span below a span: nodes are in drawing order. */
export function endOfSubtree(nodes: Nodes, place: number): number {
  const depth = nodes[place]?.depth ?? 0;
  let end = place + 1;
  while (end < nodes.length && (nodes[end]?.depth ?? 0) > depth) end += 1;
  return end;
}

/** Returns the indexes of the visible spans, of all or of those from `root` down: none below a folded one. */
export function placesShown(nodes: Nodes, folded: ReadonlySet<number>, root?: number): readonly number[] {
  const [from, to] = root === undefined ? [0, nodes.length] : [root, endOfSubtree(nodes, root)];
  const places: number[] = [];
  for (let place = from; place < to; ) {
    places.push(place);
    place = folded.has(place) ? endOfSubtree(nodes, place) : place + 1;
  }
  return places;
}

/** Returns the indexes of the spans above a span, nearest first. */
export function placesAbove(nodes: Nodes, place: number): readonly number[] {
  const places: number[] = [];
  for (let at = nodes[place]?.parent; at !== undefined; at = nodes[at]?.parent) places.push(at);
  return places;
}

/** Returns the next or previous one of some sorted indexes from `from`, wrapping around; undefined if there are none. */
export function nextOf(places: readonly number[], from: number, isBack: boolean): number | undefined {
  return isBack
    ? (places.findLast(place => place < from) ?? places.at(-1))
    : (places.find(place => place > from) ?? places[0]);
}

/** Returns the interval of a span, including all spans below it for a subtree. */
export function timeOf(nodes: Nodes, place: number, isSubtree: boolean): Interval {
  const end = isSubtree ? endOfSubtree(nodes, place) : place + 1;
  const parts = nodes
    .slice(place, end)
    .map(({ offset, span }) => ({ from: offset, to: offset + span.duration }));
  return {
    from: parts.reduce((least, each) => (each.from < least ? each.from : least), parts[0]?.from ?? 0n),
    to: parts.reduce((most, each) => (each.to > most ? each.to : most), parts[0]?.to ?? 0n),
  };
}

/** Returns an interval clipped to a trace, and no shorter than the minimum; undefined for the whole trace. */
export function within(
  { duration }: Pick<Trace<ShownSpan>, 'duration'>,
  { from, to }: Interval,
): Interval | undefined {
  const length = largest(to - from, LEAST);
  if (length >= duration) return undefined;
  const start = largest(0n, from + length > duration ? duration - length : from);
  return { from: start, to: start + length };
}

/** Returns an interval with the same middle, scaled to `percent` of its length. */
export function scaled({ from, to }: Interval, percent: bigint): Interval {
  const middle = (from + to) / 2n;
  const half = largest(((to - from) * percent) / 200n, LEAST / 2n);
  return { from: middle - half, to: middle + half };
}

/** Returns the position of a time, from the start of the trace, as a share of an interval; beyond 0 and 1 outside of it. */
export function shareOf({ from, to }: Interval, offset: bigint): number {
  return to === from ? 0 : Number(((offset - from) * 1_000_000n) / (to - from)) / 1_000_000;
}

/** Returns the time at a share of an interval. */
export function timeAt({ from, to }: Interval, share: number): bigint {
  return from + ((to - from) * BigInt(Math.round(Math.min(Math.max(share, 0), 1) * 1_000_000))) / 1_000_000n;
}

function largest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
