/** The spans of a trace as a tree with their metrics. Free of Node.js. */

import { present } from '../../present.js';

/** A span; times in nanoseconds. */
export interface Span {
  readonly id: string;
  /** Absent for a root. */
  readonly parent?: string;
  /** Since 1970. */
  readonly start: bigint;
  readonly duration: bigint;
}

/** Problem with the position of a span in its trace. */
export type Issue = 'missing parent' | 'cycle' | 'repeated id' | 'before its parent' | 'after its parent';

/** A span in its tree; nodes are in drawing order, callers before the spans they call. */
export interface TraceNode<S extends Span> {
  readonly span: S;
  readonly depth: number;
  /** Index of its parent among the nodes; absent for roots. */
  readonly parent?: number;
  /** Indexes of the spans directly below it. */
  readonly children: readonly number[];
  /** From the start of the trace. */
  readonly offset: bigint;
  /** The part of its duration in which none of its children ran. */
  readonly self: bigint;
  /** Time it is on the critical path itself: time that, if saved, would shorten the first root. */
  readonly critical: bigint;
  /** Intervals in which it was on the critical path itself, in order. */
  readonly segments: readonly Gap[];
  readonly issues: readonly Issue[];
}

/** An interval of a trace, relative to its start, such as one in which no span ran. */
export interface Gap {
  readonly offset: bigint;
  readonly duration: bigint;
}

/** A trace, with every span once. */
export interface Trace<S extends Span> {
  readonly nodes: readonly TraceNode<S>[];
  /** Nanoseconds since 1970; 0 without spans. */
  readonly start: bigint;
  readonly duration: bigint;
  readonly gaps: readonly Gap[];
}

interface Draft<S extends Span> {
  readonly span: S;
  readonly end: bigint;
  parent: Draft<S> | undefined;
  readonly children: Draft<S>[];
  readonly issues: Issue[];
  place: number;
  depth: number;
  critical: bigint;
  readonly segments: { readonly from: bigint; readonly to: bigint }[];
}

/**
 * Builds the tree of the spans of one trace in O(n log n). A span whose parent is missing is a root; a cycle is cut before its earliest
 * span.
 */
export function traceOf<S extends Span>(spans: readonly S[]): Trace<S> {
  const drafts = spans.map(span => ({
    span,
    end: span.start + largest(span.duration, 0n),
    ...{ parent: undefined, children: [], issues: [], place: 0, depth: 0, critical: 0n, segments: [] },
  })) as Draft<S>[];
  drafts.sort(byStart);
  linkParents(drafts);
  cutCycles(drafts);
  const order = drawn(drafts.filter(({ parent }) => parent === undefined));
  const [first] = order.toSorted(byRoot);
  if (first !== undefined) markCritical(first);
  const start = drafts[0]?.span.start ?? 0n;
  const end = drafts.reduce((last, draft) => largest(last, draft.end), start);
  return {
    nodes: order.map(draft => nodeOf(draft, start)),
    start,
    duration: end - start,
    gaps: gapsIn(drafts, start),
  };
}

function linkParents<S extends Span>(drafts: readonly Draft<S>[]): void {
  const byId = new Map<string, Draft<S>>();
  for (const draft of drafts) {
    if (byId.has(draft.span.id)) draft.issues.push('repeated id');
    else byId.set(draft.span.id, draft);
  }
  for (const draft of drafts) {
    const { parent } = draft.span;
    if (parent === undefined) continue;
    draft.parent = byId.get(parent);
    if (draft.parent === undefined) draft.issues.push('missing parent');
  }
}

/** Cuts cycles. Drafts are sorted by start, so following parents from any span finds the earliest of its cycle. */
function cutCycles<S extends Span>(drafts: readonly Draft<S>[]): void {
  const settled = new Set<Draft<S>>();
  const rank = new Map(drafts.map((draft, index) => [draft, index]));
  for (const draft of drafts) {
    const path = new Set<Draft<S>>();
    let at: Draft<S> | undefined = draft;
    while (at !== undefined && !settled.has(at) && !path.has(at)) {
      path.add(at);
      at = at.parent;
    }
    if (at !== undefined && path.has(at)) {
      const round = [...path].slice([...path].indexOf(at));
      const earliest = round.reduce((a, b) => ((rank.get(b) ?? 0) < (rank.get(a) ?? 0) ? b : a), at);
      earliest.parent = undefined;
      earliest.issues.push('cycle');
    }
    for (const each of path) settled.add(each);
  }
  for (const draft of drafts) {
    const { parent } = draft;
    if (parent === undefined) continue;
    parent.children.push(draft);
    if (draft.span.start < parent.span.start) draft.issues.push('before its parent');
    if (draft.end > parent.end) draft.issues.push('after its parent');
  }
}

function drawn<S extends Span>(roots: readonly Draft<S>[]): readonly Draft<S>[] {
  const order: Draft<S>[] = [];
  const waiting = roots.toReversed();
  for (let draft = waiting.pop(); draft !== undefined; draft = waiting.pop()) {
    draft.place = order.length;
    draft.depth = draft.parent === undefined ? 0 : draft.parent.depth + 1;
    order.push(draft);
    for (const child of draft.children.toReversed()) waiting.push(child);
  }
  return order;
}

/** Sorts roots for the critical path: spans without a parent id, then those with a missing parent, then those in a cycle. */
function byRoot<S extends Span>(a: Draft<S>, b: Draft<S>): number {
  const rank = (draft: Draft<S>) =>
    draft.parent !== undefined ? 2 : draft.span.parent === undefined ? 0 : 1;
  return rank(a) - rank(b);
}

/**
 * Marks the critical path. From the end of a span back to its start, time belongs to the child that ended last, before its start to the
 * one that had ended by then, and otherwise to the span itself. Children are clipped to their parent.
 */
function markCritical<S extends Span>(root: Draft<S>): void {
  const waiting = [{ draft: root, from: root.span.start, to: root.end }];
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    const { draft, from, to } = each;
    const within = draft.children
      .map(child => ({ draft: child, from: largest(child.span.start, from), to: smallest(child.end, to) }))
      .filter(child => child.from < child.to)
      .sort((a, b) => compare(b.to, a.to) || compare(a.from, b.from) || a.draft.place - b.draft.place);
    let cursor = to;
    for (const child of within) {
      if (child.to > cursor) continue;
      addSegment(draft, child.to, cursor);
      cursor = child.from;
      waiting.push(child);
    }
    addSegment(draft, from, cursor);
  }
}

function addSegment<S extends Span>(draft: Draft<S>, from: bigint, to: bigint): void {
  if (to <= from) return;
  draft.critical += to - from;
  draft.segments.push({ from, to });
}

function nodeOf<S extends Span>(draft: Draft<S>, start: bigint): TraceNode<S> {
  const { span, depth, parent, children, issues, critical, segments } = draft;
  return {
    span,
    depth,
    ...present({ parent: parent?.place }),
    children: children.map(({ place }) => place),
    offset: span.start - start,
    self: draft.end - span.start - busyWithin(draft),
    critical,
    segments: segments
      .toSorted((a, b) => compare(a.from, b.from))
      .map(({ from, to }) => ({ offset: from - start, duration: to - from })),
    issues,
  };
}

/** Returns the nanoseconds of a span in which at least one of its children ran; children are sorted by start. */
function busyWithin<S extends Span>({ span, end, children }: Draft<S>): bigint {
  let [busy, until] = [0n, span.start];
  for (const child of children) {
    const [from, to] = [largest(child.span.start, until), smallest(child.end, end)];
    if (to > from) busy += to - from;
    until = largest(until, to);
  }
  return busy;
}

function gapsIn<S extends Span>(drafts: readonly Draft<S>[], start: bigint): readonly Gap[] {
  const gaps: Gap[] = [];
  let until = start;
  for (const { span, end } of drafts) {
    if (span.start > until) gaps.push({ offset: until - start, duration: span.start - until });
    until = largest(until, end);
  }
  return gaps;
}

function byStart<S extends Span>(a: Draft<S>, b: Draft<S>): number {
  return compare(a.span.start, b.span.start) || compare(b.end, a.end);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function largest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smallest(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
