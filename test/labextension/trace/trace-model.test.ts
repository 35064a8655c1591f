import { expect, test } from 'vitest';
import type { ShownSpan } from '../../../kernel/result/trace/trace-spans.js';
import { traceOf } from '../../../kernel/result/trace/trace-tree.js';
import {
  endOfSubtree,
  nextOf,
  placesAbove,
  placesShown,
  scaled,
  shareOf,
  timeAt,
  timeOf,
  within,
} from '../../../labextension/src/trace/trace-model.js';

const span = (id: string, start: number, duration: number, parent?: string): ShownSpan => ({
  ...{ id, start: BigInt(start), duration: BigInt(duration), ...(parent === undefined ? {} : { parent }) },
  ...{ service: 's', name: id, kind: '', isFailed: false, message: '', row: 0, events: 0, links: 0 },
});
/** Drawn as a ( b ( c d ) e ) f. */
const { nodes, duration } = traceOf([
  span('a', 0, 1_000),
  span('b', 100, 300, 'a'),
  span('c', 150, 50, 'b'),
  span('d', 200, 900, 'b'),
  span('e', 500, 100, 'a'),
  span('f', 1_500, 100),
]);
const names = (places: readonly number[]) => places.map(place => nodes[place]?.span.id).join(' ');

test('folding hides descendants, and a subtree can be shown alone', () => {
  expect(names(placesShown(nodes, new Set()))).toBe('a b c d e f');
  expect(names(placesShown(nodes, new Set([1])))).toBe('a b e f');
  expect(names(placesShown(nodes, new Set([0, 1])))).toBe('a f');
  expect(names(placesShown(nodes, new Set(), 1))).toBe('b c d');
  expect(names(placesShown(nodes, new Set([1]), 1))).toBe('b');
  expect([0, 1, 2, 5].map(place => endOfSubtree(nodes, place))).toEqual([5, 4, 3, 6]);
  expect(names(placesAbove(nodes, 3))).toBe('b a');
});

test('finding the next of some spans wraps around', () => {
  expect([-1, 1, 3, 5].map(from => nextOf([1, 3], from, false))).toEqual([1, 3, 1, 1]);
  expect([6, 3, 1, 0].map(from => nextOf([1, 3], from, true))).toEqual([3, 1, 3, 3]);
  expect(nextOf([], 0, false)).toBeUndefined();
});

test('times of spans and of subtrees have nanoseconds', () => {
  expect(timeOf(nodes, 1, false)).toEqual({ from: 100n, to: 400n });
  expect(timeOf(nodes, 1, true)).toEqual({ from: 100n, to: 1_100n });
});

test('a zoom stays within the trace, and has a minimum width', () => {
  expect(within({ duration }, { from: 200n, to: 600n })).toEqual({ from: 200n, to: 600n });
  expect(within({ duration }, { from: -300n, to: 100n })).toEqual({ from: 0n, to: 400n });
  expect(within({ duration }, { from: 1_400n, to: 1_800n })).toEqual({ from: 1_200n, to: 1_600n });
  expect(within({ duration }, { from: 0n, to: 1_600n })).toBeUndefined();
  expect(within({ duration }, { from: 5n, to: 5n })).toEqual({ from: 5n, to: 15n });
  expect(scaled({ from: 200n, to: 600n }, 50n)).toEqual({ from: 300n, to: 500n });
  expect(scaled({ from: 200n, to: 600n }, 200n)).toEqual({ from: 0n, to: 800n });
  const late = 1_700_000_000_000_000_000n;
  expect(timeAt({ from: late, to: late + 4n }, 0.5)).toBe(late + 2n);
  expect([0n, 100n, 250n].map(time => shareOf({ from: 0n, to: 200n }, time))).toEqual([0, 0.5, 1.25]);
});
