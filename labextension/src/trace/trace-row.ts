import type { ShownSpan } from '../../../kernel/result/trace/trace-spans.js';
import type { Issue, TraceNode } from '../../../kernel/result/trace/trace-tree.js';
import { FAILED, reasons, shortDuration } from '../../../kernel/result/trace/waterfall.js';
import { cut, oneLine, visible } from '../../../kernel/text.js';
import { element } from '../ui/dom.js';
import type { TreeRow } from '../ui/tree/tree-row.js';
import { type Interval, shareOf } from './trace-model.js';

/** A span in its tree. */
export type TraceNodeShown = TraceNode<ShownSpan>;

/** Display options shared by the rows of a trace. */
export interface RowLooks {
  /** The interval covered by the bars. */
  readonly interval: Interval;
  readonly colors: ReadonlyMap<string, string>;
  /** Whether the critical path is marked. */
  readonly isCritical: boolean;
  readonly hits: ReadonlySet<number>;
  /** Depth of the spans at the first level. */
  readonly depth: number;
}

const NAME_LENGTH = 240;

/** Returns the issues of a span in words. */
export function issuesOf({ issues }: Pick<TraceNodeShown, 'issues'>): readonly string[] {
  return issues.map(issue => ISSUES[issue]);
}

const ISSUES: Readonly<Record<Issue, string>> = {
  'missing parent': 'its parent is missing: it was not sent or is outside the range',
  cycle: 'it is its own caller; the cycle is cut before it',
  'repeated id': 'an earlier span has the same id',
  'before its parent': 'it started before its caller: host clocks differ',
  'after its parent': 'it ended after its caller, which did not wait for it, or clocks differ',
};

/** Returns the row of a span: its name, its bar and its duration; `isOpen` is absent for one without children. */
export function rowOf(
  node: TraceNodeShown,
  place: number,
  isOpen: boolean | undefined,
  looks: RowLooks,
): TreeRow {
  const { span } = node;
  const took = shortDuration(span.duration);
  const isMarked = looks.isCritical && node.critical > 0n;
  const name = nameOf(node);
  const heard = [name, took, span.isFailed ? 'failed' : '', isMarked ? 'on the critical path' : ''];
  return {
    ...{
      key: String(place),
      level: node.depth - looks.depth + 1,
      kind: looks.hits.has(place) ? 'hit' : 'span',
    },
    ...(isOpen === undefined ? {} : { isOpen }),
    label: oneLine(heard.filter(Boolean).join(', '), NAME_LENGTH),
    title: visible(cut(name, 600)),
  };
}

/** Returns the contents of the row of a span. */
export function contentOf(node: TraceNodeShown, looks: RowLooks): readonly Node[] {
  const { span } = node;
  return [
    element(
      'span',
      { class: 'apl-trace-name' },
      swatch(looks.colors.get(span.service)),
      ...(span.isFailed ? [element('span', { class: 'apl-trace-failed' }, `${FAILED} `)] : []),
      oneLine(nameOf(node), NAME_LENGTH),
    ),
    element(
      'span',
      { class: 'apl-trace-bars' },
      ...barOf(node, looks.isCritical && node.critical > 0n, looks),
    ),
    element('span', { class: 'apl-trace-took' }, shortDuration(span.duration)),
  ];
}

function nameOf(node: TraceNodeShown): string {
  return `${node.span.service} ${node.span.name}${reasons(node)}`;
}

/** Returns a square in the color of a service. */
export function swatch(color = ''): HTMLElement {
  const node = element('span', { class: 'apl-trace-swatch' });
  node.style.backgroundColor = color;
  return node;
}

/** Returns the bar of a span, with a line in it for each interval on the critical path. */
function barOf(
  { span, offset, segments }: TraceNodeShown,
  isMarked: boolean,
  { interval, colors }: RowLooks,
): readonly Node[] {
  const name = `apl-trace-bar${isMarked ? ' apl-trace-critical' : ''}`;
  const bar = markOf(name, { offset, duration: span.duration }, interval);
  for (const each of bar) each.style.backgroundColor = colors.get(span.service) ?? '';
  const lines = isMarked ? segments : [];
  return [...bar, ...lines.flatMap(each => markOf('apl-trace-segment', each, interval))];
}

/** Returns the mark of an interval; nothing if that is out of view. */
function markOf(
  name: string,
  { offset, duration }: { readonly offset: bigint; readonly duration: bigint },
  interval: Interval,
): readonly HTMLElement[] {
  const [from, to] = [shareOf(interval, offset), shareOf(interval, offset + duration)];
  if (to < 0 || from > 1) return [];
  const [left, right] = [Math.max(from, 0), Math.min(to, 1)];
  const mark = element('span', { class: name });
  mark.style.left = `${(left * 100).toFixed(3)}%`;
  mark.style.width = `${((right - left) * 100).toFixed(3)}%`;
  return [mark];
}
