import { describe, expect, test } from 'vitest';
import { type Span, type TraceNode, traceOf } from '../../../kernel/result/trace/trace-tree.js';

const span = (id: string, parent: string | undefined, start: number, duration: number): Span => ({
  id,
  ...(parent === undefined ? {} : { parent }),
  start: 1_767_225_600_000_000_001n + BigInt(start),
  duration: BigInt(duration),
});

const row = ({ span, depth, offset, self, critical, issues }: TraceNode<Span>) =>
  [span.id, depth, Number(offset), Number(self), Number(critical), ...issues].join(' ');

describe('the tree of a trace', () => {
  test('has depths, offsets, self times and the critical path', () => {
    const { nodes, duration } = traceOf([
      span('late', 'root', 60, 30),
      span('root', undefined, 0, 100),
      span('early', 'root', 10, 40),
      span('below', 'early', 20, 10),
      span('beside', 'root', 12, 20),
    ]);
    expect(nodes.map(row)).toEqual([
      'root 0 0 30 30',
      'early 1 10 30 30',
      'below 2 20 10 10',
      'beside 1 12 20 0',
      'late 1 60 30 30',
    ]);
    expect(duration).toBe(100n);
    const segments = nodes.map(node => node.segments.map(each => [each.offset, each.duration].map(Number)));
    expect(segments).toEqual([
      [
        [0, 10],
        [50, 10],
        [90, 10],
      ],
      [
        [10, 10],
        [30, 20],
      ],
      [[20, 10]],
      [],
      [[60, 30]],
    ]);
  });

  test('counts time shared by several children once, up to the end of the parent', () => {
    const { nodes } = traceOf([
      span('root', undefined, 0, 100),
      span('a', 'root', 10, 40),
      span('within', 'root', 20, 10),
      span('across', 'root', 40, 20),
      span('last', 'root', 60, 40),
    ]);
    expect(nodes.map(row)).toEqual([
      'root 0 0 10 30',
      'a 1 10 40 0',
      'within 1 20 10 10',
      'across 1 40 20 20',
      'last 1 60 40 40',
    ]);
  });

  test('keeps spans with problems and names the problems', () => {
    const { nodes, gaps } = traceOf([
      span('a', undefined, 0, 10),
      span('orphan', 'nowhere', 1, 2),
      span('x', 'y', 20, 5),
      span('y', 'x', 21, 5),
      span('self', 'self', 3, 1),
      span('a', undefined, 5, 1),
      span('ahead', 'orphan', 0, 2),
      span('over', 'a', 5, 9),
    ]);
    expect(nodes.map(row)).toEqual([
      'a 0 0 5 5',
      'over 1 5 9 5 after its parent',
      'orphan 0 1 1 0 missing parent',
      'ahead 1 0 2 0 before its parent',
      'self 0 3 1 0 cycle',
      'a 0 5 1 0 repeated id',
      'x 0 20 1 0 cycle',
      'y 1 21 5 0 after its parent',
    ]);
    expect(gaps).toEqual([{ offset: 14n, duration: 6n }]);
  });
});

test('300 random traces have each span once and the critical path that a search finds', () => {
  let seed = Number(process.env.RANDOM_SEED ?? 33);
  // Park-Miller generator.
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const below = (limit: number) => Math.floor(random() * limit);
  for (let run = 0; run < 300; run += 1) {
    const size = 1 + below(30);
    const ids = Array.from({ length: size }, (_, index) => `s${random() < 0.05 ? below(size) : index}`);
    const spans = ids.map((id, index) =>
      span(
        id,
        index === 0 || random() < 0.05 ? undefined : `s${random() < 0.1 ? below(size + 2) : below(index)}`,
        below(60),
        below(40),
      ),
    );
    const { nodes } = traceOf(spans);
    expect(new Set(nodes.map(node => node.span))).toEqual(new Set(spans));
    expect(nodes.length).toBe(spans.length);
    const expected = searched(nodes);
    expect(nodes.map(({ critical }) => critical)).toEqual(nodes.map((_, place) => expected.get(place) ?? 0n));
    // Each part of the first root's duration belongs to a single span.
    const parts = nodes.flatMap(({ segments }) => segments).toSorted((a, b) => Number(a.offset - b.offset));
    for (const [at, { offset, duration }] of parts.entries())
      if (at > 0) expect(offset).toBe((parts[at - 1]?.offset ?? 0n) + (parts[at - 1]?.duration ?? 0n));
      else expect(duration).toBeGreaterThan(0n);
    for (const [place, node] of nodes.entries()) {
      if (node.parent === undefined) continue;
      expect(node.parent).toBeLessThan(place);
      expect(nodes[node.parent]?.depth).toBe(node.depth - 1);
      expect(nodes[node.parent]?.children).toContain(place);
    }
  }
});

/** Finds the critical path by walking back through the first root nanosecond by nanosecond. */
function searched(nodes: readonly TraceNode<Span>[]): ReadonlyMap<number, bigint> {
  const found = new Map<number, bigint>();
  const end = ({ span }: TraceNode<Span>) => span.start + span.duration;
  const walk = (place: number, from: bigint, to: bigint): void => {
    const node = nodes[place] as TraceNode<Span>;
    let at = to;
    const left = new Set(node.children);
    while (at > from) {
      const ending = [...left]
        .map(child => {
          const each = nodes[child] as TraceNode<Span>;
          const [start, stop] = [each.span.start, end(each)];
          return { child, start: start > from ? start : from, stop: stop < to ? stop : to };
        })
        .filter(({ start, stop }) => start < stop && stop === at)
        .sort((a, b) => Number(a.start - b.start) || a.child - b.child);
      const [next] = ending;
      if (next === undefined) {
        found.set(place, (found.get(place) ?? 0n) + 1n);
        at -= 1n;
        continue;
      }
      left.delete(next.child);
      walk(next.child, next.start, next.stop);
      at = next.start;
    }
  };
  const roots = nodes.flatMap((node, place) => (node.parent === undefined ? [place] : []));
  const root = roots.find(place => nodes[place]?.span.parent === undefined) ?? roots[0];
  const first = root === undefined ? undefined : nodes[root];
  if (root !== undefined && first !== undefined) walk(root, first.span.start, end(first));
  return found;
}

test('handles 10,000 spans in one chain or under one parent', () => {
  for (const parent of [(index: number) => index - 1, () => 0]) {
    const spans = Array.from({ length: 10_000 }, (_, index) =>
      span(`s${index}`, index === 0 ? undefined : `s${parent(index)}`, index, 20_000 - 2 * index),
    );
    const { nodes } = traceOf(spans);
    expect(nodes.length).toBe(10_000);
    expect(nodes.reduce((sum, { critical }) => sum + critical, 0n)).toBe(20_000n);
  }
});
