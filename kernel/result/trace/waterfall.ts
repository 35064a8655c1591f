/** A trace as a waterfall: HTML without scripts, with collapsible spans, and text for terminals. */
import { cut, escapeHtml, NO_LATEX, plural, visible, visibleAgain, withoutTokens } from '../../text.js';
import { formatDuration, formatTime } from '../../time.js';
import { BESIDE_STYLE, besideClass, type Column } from '../beside.js';
import { looksFor } from '../chart/palette.js';
import { alignedLines, cutToWidth } from '../display/aligned.js';
import type { ShownSpan } from './trace-spans.js';
import type { Issue, Trace, TraceNode } from './trace-tree.js';

type Node = TraceNode<ShownSpan>;

/** Maximum number of spans drawn; the table below has all. */
const DRAWN_HTML = 500;
const DRAWN_TEXT = 60;
/** Width of the bars, in terminal columns. */
const BAR = 32;
const LONGEST_NAME = 48;

/** Returns the sentences above a trace. */
export function traceSentences({ nodes, start, duration, gaps }: Trace<ShownSpan>): readonly string[] {
  const services = new Set(nodes.map(({ span }) => span.service));
  const failed = nodes.filter(({ span }) => span.isFailed).length;
  const first = `${plural(nodes.length, 'span')} of ${plural(services.size, 'service')}, ${formatDuration(duration)} from ${formatTime(start)}${failed === 0 ? '' : `; ${plural(failed, 'span')} failed`}.`;
  const figures: Readonly<Record<Issue, (count: number) => string>> = {
    'missing parent': count =>
      `${plural(count, 'span')} whose parent is missing: it was not sent or is outside the range.`,
    cycle: count => `${plural(count, 'cycle')}: spans that are their own callers, cut before the earliest.`,
    'repeated id': count => `${plural(count, 'span')} with the id of an earlier one.`,
    'before its parent': count =>
      `${plural(count, 'span')} that started before the caller: host clocks differ.`,
    'after its parent': count =>
      `${plural(count, 'span')} that ended after the caller, which did not wait, or clocks differ.`,
  };
  const issues = Object.entries(figures).flatMap(([issue, sentence]) => {
    const count = nodes.filter(node => node.issues.includes(issue as Issue)).length;
    return count === 0 ? [] : [sentence(count)];
  });
  const longest = gaps.reduce((most, gap) => (gap.duration > most ? gap.duration : most), 0n);
  const pauses =
    gaps.length === 0
      ? []
      : [`${plural(gaps.length, 'gap')} in which no span ran, ${formatDuration(longest)} at most.`];
  return [first, ...issues, ...pauses];
}

/**
 * Returns the waterfall as HTML, in a column if two are side by side: `details` makes spans collapsible, and no value of the data is
 * markup.
 */
export function waterfallHtml(title: string, trace: Trace<ShownSpan>, column?: Column): string {
  const colors = serviceColors(trace);
  const shown = trace.nodes.slice(0, DRAWN_HTML);
  const legend = [...colors]
    .slice(0, MOST_NAMED)
    .map(([name, color]) => `<span style="white-space:nowrap">${swatch(color)}${words(name, 60)}</span>`)
    .join(' &#160; ');
  const lineOf = (node: Node) => lineHtml(node, trace, colors.get(node.span.service) ?? '');
  const body = shown.map((node, place) => rowHtml(node, shown[place + 1], lineOf(node))).join('\n');
  const sentences = [...traceSentences(trace), ...cutSentence(trace, shown.length)];
  const notes = sentences.map(each => `<div>${escapeHtml(each)}</div>`).join('');
  const label = visibleAgain(title, undefined, escapeHtml);
  const beside = column === undefined ? '' : ` ${besideClass(column)}`;
  const style = column === undefined ? STYLE : `${STYLE}\n${BESIDE_STYLE}`;
  return `<div class="apl-trace ${NO_LATEX}${beside}"><style>${style}</style><div><b>${label}</b></div>${notes}<div style="margin:4px 0">${legend}</div><div role="region" aria-label="${label}" tabindex="0" style="max-height:640px;overflow:auto">\n${axisHtml(trace)}\n${body}\n</div><div style="margin:4px 0">Outlined bars are on the critical path; a line in them says when. ${escapeHtml(FAILED)} marks what failed.</div></div>`;
}

/** Maximum number of services in the legend. */
export const MOST_NAMED = 24;

/** Returns the color of each service, in the order of their first spans. */
export function serviceColors({ nodes }: Trace<ShownSpan>): ReadonlyMap<string, string> {
  const names = [...new Set(nodes.map(({ span }) => span.service))];
  const looks = looksFor(
    names.map(name => [name]),
    { areSurfaces: true },
  );
  return new Map(names.map((name, index) => [name, looks[index]?.color ?? '']));
}

/** Mark of a failed span. */
export const FAILED = '\u2716';
/** Long lines stay on one; what the page itself styles is taken from it. */
const STYLE =
  '.apl-trace{container-type:inline-size;font-size:12px;line-height:1.5;color:var(--jp-content-font-color1,inherit)}.apl-trace details{margin:0}.apl-trace summary{cursor:pointer}.apl-trace :is(summary,.apl-span):hover{background:rgba(128,128,128,.15)}.apl-trace summary:focus-visible{outline:2px solid #2a85c7;outline-offset:-2px}.apl-trace-mid+.apl-trace-end{margin-left:auto}@container (max-width:960px){.apl-trace-mid{display:none}}@media print{.apl-trace{print-color-adjust:exact}.apl-trace [role=region]{max-height:none!important;overflow:visible!important}}';

/** Returns the row of a span, which opens its subtree; the last one of a subtree closes it. */
function rowHtml(node: Node, next: Node | undefined, line: string): string {
  const opens = next !== undefined && next.depth > node.depth;
  const closed = '</details>'.repeat(Math.max(0, node.depth - (next?.depth ?? 0)));
  return opens
    ? `<details open><summary style="${ROW}">${line}</summary>`
    : `<div class="apl-span" style="${ROW}">${line}</div>${closed}`;
}

/** Returns the times at each quarter of the trace; the last two share the last quarter. */
function axisHtml({ duration }: Trace<ShownSpan>): string {
  const at = (quarter: bigint) =>
    `<span class="${quarter % 4n === 0n ? 'apl-trace-end' : 'apl-trace-mid'}">+${escapeHtml(shortDuration((duration * quarter) / 4n))}</span>`;
  const quarters = [at(0n), at(1n), at(2n), `${at(3n)}${at(4n)}`].map(
    each =>
      `<span style="flex:1 1 0;min-width:0;display:flex;justify-content:space-between;border-left:1px solid rgba(128,128,128,.5);padding-left:3px">${each}</span>`,
  );
  return `<div aria-hidden="true" style="${ROW};font-variant-numeric:tabular-nums"><span style="flex:0 0 38%"></span><span style="flex:1 1 auto;min-width:80px;display:flex">${quarters.join('')}</span><span style="flex:0 0 9em"></span></div>`;
}

const ROW = 'display:flex;align-items:center;white-space:nowrap';
const DEEPEST = 24;

function lineHtml(node: Node, { duration }: Trace<ShownSpan>, color: string): string {
  const { span, depth, offset, self, critical } = node;
  const share = (part: bigint) => (duration === 0n ? 0 : Number((part * 10_000n) / duration) / 100);
  const from = share(offset);
  const width = Math.min(100 - from, share(largest(span.duration, 0n)));
  const title = [
    `${span.service}: ${span.name}`,
    `span ${span.id}${span.kind === '' ? '' : `, ${span.kind}`}`,
    `${formatDuration(span.duration)} from +${formatDuration(offset)}; ${formatDuration(self)} self time${critical > 0n ? `, ${formatDuration(critical)} of the critical path` : ''}`,
    ...(span.events > 0 ? [plural(span.events, 'event')] : []),
    ...(span.links > 0 ? [plural(span.links, 'link')] : []),
    ...(span.message === '' ? [] : [span.message]),
    ...node.issues,
  ];
  const edge = critical > 0n ? 'outline:1.5px solid currentColor;outline-offset:-1px;' : '';
  // Before the name, which may be truncated.
  const failed = span.isFailed ? `${escapeHtml(FAILED)} ` : '';
  const mark = node.children.length > 0 ? '\u25be ' : '\u00a0\u00a0';
  const bar = `<span style="display:inline-block;margin-left:${from}%;width:${width}%;min-width:2px;height:11px;background-color:${color};${edge}vertical-align:middle;line-height:11px;font-size:0;white-space:nowrap;overflow:hidden">${segmentsHtml(node)}</span>`;
  const name = `<span style="flex:0 0 38%;overflow:hidden;text-overflow:ellipsis;padding-left:${Math.min(depth, DEEPEST) * 10}px;box-sizing:border-box">${mark}${swatch(color)}${failed}${words(`${span.service} ${span.name}${reasons(node)}`, 240)}</span>`;
  return `<span title="${words(title.join(' \u00b7 '), 600)}" style="display:contents">${name}<span style="flex:1 1 auto;min-width:80px">${bar}</span><span style="flex:0 0 9em;text-align:right;font-variant-numeric:tabular-nums">${escapeHtml(shortDuration(span.duration))}</span></span>`;
}

/** Maximum segments of a bar; a bar with more has one that spans them all. */
const MOST_SEGMENTS = 60;

/** Returns a line in the bar of a span for each interval on the critical path: dark between light edges, to be visible on every color. */
function segmentsHtml({ span, offset, segments }: Node): string {
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined || span.duration <= 0n) return '';
  const all = { offset: first.offset, duration: last.offset + last.duration - first.offset };
  const share = (part: bigint) => Number((part * 10_000n) / span.duration) / 100;
  let at = offset;
  return (segments.length > MOST_SEGMENTS ? [all] : segments)
    .map(each => {
      const before = share(each.offset - at);
      at = each.offset + each.duration;
      return `<span style="display:inline-block;margin-left:${before}%;width:${share(each.duration)}%;box-sizing:border-box;height:5px;margin-top:3px;border:solid #fff;border-width:1px 0;background-color:#111;vertical-align:top"></span>`;
    })
    .join('');
}

/** Returns why a span failed, and its issues. */
export function reasons({ span, issues }: Node): string {
  const message = span.isFailed && span.message !== '' ? ` ${cut(span.message, 80)}` : '';
  return `${message}${issues.length === 0 ? '' : ` (${issues.join(', ')})`}`;
}

function swatch(color: string | undefined): string {
  return `<span style="display:inline-block;width:8px;height:8px;margin-right:5px;background-color:${color ?? ''}"></span>`;
}

function words(text: string, limit: number): string {
  return escapeHtml(visible(cut(withoutTokens(text), limit)));
}

/** Returns the waterfall as text: the tree, and bars on a shared axis. */
export function waterfallText(title: string, trace: Trace<ShownSpan>, width = 160): string {
  const shown = trace.nodes.slice(0, DRAWN_TEXT);
  const nameWidth = Math.max(20, Math.min(LONGEST_NAME + 12, width - BAR - 40));
  const rows = shown.map(node => {
    const { span, depth } = node;
    const name = `${'  '.repeat(Math.min(depth, DEEPEST))}${span.service} ${span.name}`;
    const flags = `${node.critical > 0n ? '*' : ''}${span.isFailed ? ` ${FAILED}` : ''}${reasons(node)}`;
    return [name, textBar(node, trace), shortDuration(span.duration), flags].map(each =>
      visible(withoutTokens(each)),
    );
  });
  const end = `+${shortDuration(trace.duration)}`;
  const axis = ['', `+0s${end.padStart(BAR - 3)}`, '', ''];
  const lines = alignedLines(
    [axis, ...rows].map(([name = '', bar = '', length = '', flags = '']) => [
      cutToWidth(name, nameWidth),
      bar,
      length,
      flags,
    ]),
    [false, false, true, false],
  );
  const sentences = [...traceSentences(trace), ...cutSentence(trace, shown.length)].map(visible);
  return [visibleAgain(title), ...sentences, '', ...lines, '', '* on the critical path'].join('\n');
}

function textBar({ offset, span }: Node, { duration }: Trace<ShownSpan>): string {
  const at = (part: bigint) => (duration === 0n ? 0 : Number((part * BigInt(BAR)) / duration));
  const from = Math.min(at(offset), BAR - 1);
  const length = Math.max(1, Math.min(BAR - from, at(largest(span.duration, 0n))));
  return `${'\u00b7'.repeat(from)}${'\u2588'.repeat(length)}${'\u00b7'.repeat(BAR - from - length)}`;
}

function cutSentence({ nodes }: Trace<ShownSpan>, shown: number): readonly string[] {
  if (nodes.length <= shown) return [];
  return [`The first ${shown} of ${plural(nodes.length, 'span')} are drawn; the table below has all.`];
}

/** Returns a duration, rounded to four digits. */
export function shortDuration(nanos: bigint): string {
  const digits = String(nanos < 0n ? -nanos : nanos).length;
  const step = 10n ** BigInt(Math.max(0, digits - 4));
  return formatDuration(((nanos + step / 2n) / step) * step);
}

function largest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
