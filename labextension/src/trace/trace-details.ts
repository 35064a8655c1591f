/** The selected span: its metrics, why it failed, its events and links, and every field. */
import { SPAN_FIELDS } from '../../../kernel/result/trace/trace-spans.js';
import { cut, visible, visibleLines } from '../../../kernel/text.js';
import { formatDuration, formatTime, parseTime } from '../../../kernel/time.js';
import { fieldList } from '../grid/controls/grid-details.js';
import type { GridColumn } from '../grid/grid-cells.js';
import { timeIn, type Zone } from '../link/link-zone.js';
import { button, element } from '../ui/dom.js';
import type { FieldValue } from './trace-data.js';
import { issuesOf, type TraceNodeShown } from './trace-row.js';

/** Actions in the details of a span; absent if unavailable. */
export interface DetailActions {
  readonly zone: Zone;
  readonly logs: (() => void) | undefined;
  readonly focus: (() => void) | undefined;
  readonly zoom: () => void;
  /** Adds the cell of another trace. */
  linked(trace: string): (() => void) | undefined;
  close(): void;
}

const NAME_LENGTH = 400;
/** Maximum number of events and links listed individually; the fields have all. */
const MOST_LISTED = 100;
/** Fields already shown as metrics, events or links. */
const SHOWN: ReadonlySet<string> = new Set(SPAN_FIELDS);

/** Returns the details of a span; `start` is the start of the trace, in nanoseconds since 1970. */
export function detailsOf(
  node: TraceNodeShown,
  start: bigint,
  fields: readonly FieldValue[],
  actions: DetailActions,
): readonly Node[] {
  const { span } = node;
  const jsonOf = (name: string) => listIn(fields.find(([column]) => column.name === name)?.[1]);
  return [
    element(
      'header',
      {},
      element('strong', {}, visible(cut(`${span.service} ${span.name}`, NAME_LENGTH))),
      button('\u2715', 'Close the details', actions.close),
    ),
    element(
      'div',
      { class: 'apl-row' },
      ...buttonIf('Log lines', 'Add and run a cell below with the log lines of this span (L)', actions.logs),
      button('Zoom', 'Zoom to the time of this span (Z)', actions.zoom),
      ...buttonIf('Focus', 'Show only this span and its descendants (F)', actions.focus),
    ),
    facts(figuresOf(node, start, actions.zone)),
    ...section(
      'Events',
      jsonOf('events').map(event => eventOf(event, start)),
    ),
    ...section(
      'Links',
      jsonOf('links').map(link => linkOf(link, actions)),
    ),
    ...attributes(fields),
  ];
}

type Fact = readonly [name: string, value: string];

function figuresOf(node: TraceNodeShown, start: bigint, zone: Zone): readonly Fact[] {
  const { span, offset, self, critical } = node;
  return [
    ['duration', formatDuration(span.duration)],
    ['start', `${signed(offset)}, ${timeIn(formatTime(start + offset), zone)}`],
    ['self time', `${formatDuration(self)} with no called span running`],
    ...(critical > 0n ? [['critical path', formatDuration(critical)] as const] : []),
    ...(span.isFailed ? [['failed', span.message === '' ? 'yes' : span.message] as const] : []),
    ...(!span.isFailed && span.message !== '' ? [['message', span.message] as const] : []),
    ...issuesOf(node).map(text => ['note', text] as const),
    ...(span.kind === '' ? [] : [['kind', span.kind] as const]),
    ['span id', span.id],
    ...(span.parent === undefined ? [] : [['parent', span.parent] as const]),
  ];
}

function signed(offset: bigint): string {
  return `${offset < 0n ? '' : '+'}${formatDuration(offset)}`;
}

function facts(list: readonly Fact[]): HTMLElement {
  return element(
    'dl',
    {},
    ...list.flatMap(([name, value]) => [
      element('dt', {}, visible(cut(name, NAME_LENGTH))),
      element('dd', {}, visibleLines(value)),
    ]),
  );
}

function section(title: string, items: readonly HTMLElement[]): readonly HTMLElement[] {
  if (items.length === 0) return [];
  const count = items.length > MOST_LISTED ? `the first ${MOST_LISTED} of ${items.length}` : items.length;
  return [element('strong', {}, `${title} (${count})`), element('ul', {}, ...items.slice(0, MOST_LISTED))];
}

/** Returns an OpenTelemetry event: its time from the start of the trace, its name, and its attributes. */
function eventOf(event: unknown, start: bigint): HTMLElement {
  const { name, timestamp, attributes, ...others } = members(event);
  const at = timeOf(timestamp);
  const given = { ...others, ...members(attributes) };
  return element(
    'li',
    {},
    ...(at === undefined ? [] : [element('span', { class: 'apl-trace-at' }, `${signed(at - start)} `)]),
    visible(cut(text(name), NAME_LENGTH)),
    facts(Object.entries(given).map(([key, value]) => [key, text(value)])),
  );
}

function linkOf(link: unknown, { linked }: DetailActions): HTMLElement {
  const { trace_id: trace, span_id: span, ...others } = members(link);
  const id = text(trace);
  return element(
    'li',
    {},
    visible(cut(`trace ${id}${span === undefined ? '' : `, span ${text(span)}`} `, NAME_LENGTH)),
    ...buttonIf('Trace', 'Add and run a cell below that draws this trace', linked(id)),
    facts(Object.entries(others).map(([key, value]) => [key, text(value)])),
  );
}

function attributes(fields: readonly FieldValue[]): readonly HTMLElement[] {
  const others = fields.filter(([{ name }]) => !SHOWN.has(name));
  const lists = fields.filter(([{ name }, value]) => isLongList(name, value));
  if (others.length + lists.length === 0) return [];
  return [element('strong', {}, 'Attributes'), fieldList([...others, ...lists])];
}

function isLongList(name: GridColumn['name'], value: string): boolean {
  return (name === 'events' || name === 'links') && listIn(value).length > MOST_LISTED;
}

function buttonIf(word: string, label: string, act: (() => void) | undefined): readonly HTMLElement[] {
  return act === undefined ? [] : [button(word, label, act)];
}

function listIn(json: string | undefined): readonly unknown[] {
  if (json?.startsWith('[') !== true) return [];
  try {
    const list: unknown = JSON.parse(json, exactNumber);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** Returns the digits of an integer that a double would round. */
function exactNumber(
  this: unknown,
  _key: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}

/** Returns nanoseconds since 1970, from a number of nanoseconds or a string. */
function timeOf(value: unknown): bigint | undefined {
  const written = text(value);
  if (/^\d{1,19}$/.test(written)) return BigInt(written);
  return typeof value === 'string' ? parseTime(written) : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
