/** The questions of `%investigate` about the events of one dataset, and their answers. */
import { writtenName } from '../../../apl/catalog/catalog-written.js';
import { explaining } from '../../../apl/editor/editor-events.js';
import { WILD } from '../../../apl/editor/editor-template.js';
import { writtenText } from '../../../apl/syntax/tokens/quote.js';
import { rowTexts } from '../../../result/display/display-text.js';
import {
  percent,
  type SpotlightValue,
  spotlightEntries,
  spotlightSentence,
  strongest,
} from '../../../result/spotlight.js';
import { cut, formatCount, plural } from '../../../text.js';
import { formatTime } from '../../../time.js';
import type { MagicHost, QuerySettings } from '../magic.js';
import { type Case, type Duration, rangeText, settingsOf } from './case.js';
import { MASK } from './drain.js';
import { conditionOf } from './explain.js';

/** A finding: a heading, sentences, and cells for further analysis, if any. */
export interface Finding {
  readonly title: string;
  readonly text: string;
  readonly standsOut: boolean;
  readonly cells: readonly string[];
}

/** Returns a cell with a query over the range of a case, or over both ranges, and an assertion on its result. */
function checkedCell(asked: Case, which: 'both' | 'own', check: string, query: string): string {
  return `%%time ${rangeText(asked, which)}\n%assert ${check}\n${query}`;
}

/** Rate, failures and latency of both ranges, the cell that compares them, and the condition of the events that changed the most. */
export interface Changes {
  readonly findings: readonly Finding[];
  readonly cell: string;
  readonly condition: string | undefined;
}

/** An increase stands out if it is by half or more, unless the numbers are so small that it may be chance. */
const MUCH = 1.5;
const SIGMAS = 5;
/** Minimum events of a range for a meaningful percentile. */
const ENOUGH = 100;
/** Maximum fields to name that distinguish events. */
const MOST_FIELDS = 3;

/** Compares the range with the time before it. */
export async function changesOf(asked: Case, host: MagicHost): Promise<Changes> {
  const { source, from, failed, duration } = asked;
  const figures = [
    'events = count()',
    ...(failed === undefined ? [] : [`failed = countif(${failed})`]),
    ...(duration === undefined ? [] : [`p99 = percentile(${duration.number}, 99)`]),
  ];
  const query = `${source}\n| summarize ${figures.join(', ')} by is_later = _time >= datetime(${formatTime(from)})\n| sort by is_later asc`;
  const { tables } = await host.run(query, settingsOf(asked, 'both'));
  const names = tables[0]?.data.schema.fields.map(({ name }) => name) ?? [];
  const rows = rowTexts(tables[0]);
  const of = (later: string, name: string) =>
    Number(rows.find(row => row[names.indexOf('is_later')] === later)?.[names.indexOf(name)] ?? 0);
  const [was, is] = ['false', 'true'].map(later => ({
    ...{ events: of(later, 'events'), failed: of(later, 'failed'), p99: of(later, 'p99') },
  })) as [Figures, Figures];
  const rate = rateOf(asked, was, is);
  const failures = failed === undefined ? undefined : failuresOf(asked, failed, was, is);
  const latency = duration === undefined ? undefined : latencyOf(asked, duration, was, is);
  const most = Math.max(was.events, is.events);
  return {
    findings: [rate, ...(failures ? [failures] : []), ...(latency ? [latency] : [])],
    cell: checkedCell(asked, 'both', most === 0 ? 'rows == 0' : `max(events) == ${most}`, query),
    condition: failures?.standsOut
      ? failed
      : latency?.standsOut
        ? `${duration?.number} > ${was.p99}`
        : undefined,
  };
}

interface Figures {
  readonly events: number;
  readonly failed: number;
  readonly p99: number;
}

/** Returns a cell that shows a figure over time in both ranges. */
function overTime(asked: Case, figure: string, check: string): string {
  return checkedCell(asked, 'both', check, `${asked.source}\n| summarize ${figure} by bin_auto(_time)`);
}

function rateOf(asked: Case, was: Figures, is: Figures): Finding {
  const [low, high] = [Math.min(was.events, is.events), Math.max(was.events, is.events)];
  const standsOut = high >= MUCH * low && high - low > SIGMAS * Math.sqrt(high + low);
  return {
    title: 'Events',
    text: `Events: ${formatCount(is.events)}; before: ${formatCount(was.events)}.`,
    standsOut,
    cells: standsOut ? [overTime(asked, 'events = count()', `sum(events) == ${low + high}`)] : [],
  };
}

function failuresOf(asked: Case, failed: string, was: Figures, is: Figures): Finding {
  const [a, b] = [is, was].map(each => each.failed / Math.max(each.events, 1)) as [number, number];
  const all = (is.failed + was.failed) / Math.max(is.events + was.events, 1);
  const error = Math.sqrt(all * (1 - all) * (1 / Math.max(is.events, 1) + 1 / Math.max(was.events, 1)));
  const standsOut = a >= MUCH * b && a - b > SIGMAS * error;
  const check = `sum(failed) == ${is.failed + was.failed}`;
  return {
    title: 'Failures',
    text: `Failed: ${formatCount(is.failed)} (${percent(a)}); before: ${formatCount(was.failed)} (${percent(b)}).`,
    standsOut,
    cells: standsOut ? [overTime(asked, `failed = countif(${failed})`, check)] : [],
  };
}

function latencyOf(asked: Case, { field, number, unit }: Duration, was: Figures, is: Figures): Finding {
  const isEnough = is.events >= ENOUGH && was.events >= ENOUGH;
  const standsOut = isEnough && is.p99 >= MUCH * was.p99 && was.p99 > 0;
  const [now, before] = [is, was].map(({ p99 }) => `${roundedNumber(p99)}${unit}`);
  // The percentile of all events is at most the highest of the intervals.
  const check = `max(p99) > ${roundedNumber(was.p99)}`;
  return {
    title: 'Latency',
    text: `99th percentile of ${writtenName(field)}: ${now}; before: ${before}.`,
    standsOut,
    cells: standsOut ? [overTime(asked, `p99 = percentile(${number}, 99)`, check)] : [],
  };
}

/** Rounds a number to four digits. */
function roundedNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** Describes and shows what the events that match a condition have in common. */
export async function commonOf(asked: Case, condition: string, host: MagicHost): Promise<Finding> {
  const { source, symptoms, types } = asked;
  const events = without(
    asked,
    symptoms.filter(field => !condition.includes(writtenName(field))),
  );
  const found = (await tellingOf(events, condition, settingsOf(asked, 'own'), host)).slice(0, MOST_FIELDS);
  const title = 'What they have in common';
  const [first] = found;
  if (first === undefined)
    return {
      ...{ title, standsOut: false, cells: [] },
      text: `No field distinguishes the events with ${condition} from the others.`,
    };
  const cause = first.parts.map(part => conditionOf(part, types.get(part.field))).join(' and ');
  const those = `${source}\n| where ${condition}\n| where ${cause}\n| summarize events = count()`;
  const counted = await host.run(those, settingsOf(asked, 'own'));
  const check = `max(events) == ${rowTexts(counted.tables[0])[0]?.[0] ?? 0}`;
  return {
    title,
    text: `Events with ${condition}: ${found.map(each => spotlightSentence(each)).join('; ')}.`,
    standsOut: true,
    cells: [
      `%%time ${rangeText(asked, 'own')}\n%%explain ${condition}\n${events}`,
      checkedCell(asked, 'own', check, those),
    ],
  };
}

function without({ source }: Case, fields: readonly string[]): string {
  return fields.length === 0 ? source : `${source}\n| project-away ${fields.map(writtenName).join(', ')}`;
}

/** Shows what distinguishes the events that match a condition, and returns the strongest value of each field that does. */
async function tellingOf(
  events: string,
  condition: string,
  settings: QuerySettings,
  host: MagicHost,
): Promise<readonly SpotlightValue[]> {
  const result = await host.run(explaining(events, condition), settings);
  await host.showResult(result, result);
  const text = rowTexts(result.tables[0])[0]?.[0] ?? '[]';
  return spotlightEntries(JSON.parse(text) as readonly unknown[]).flatMap(entry =>
    entry.score > 0 ? (strongest(entry) ?? []) : [],
  );
}

/** Minimum increase of a value's share of all events, to stand out: a tenth. */
const MUCH_OF_ALL = 0.1;

/** Describes which values are more frequent than before, if neither failures nor latency stand out. */
export async function mixOf(asked: Case, host: MagicHost): Promise<Finding> {
  const { from, ids, line, types } = asked;
  const later = `_time >= datetime(${formatTime(from)})`;
  const events = without(asked, [...new Set([...ids, ...(line === undefined ? [] : [line])])]);
  const found = (await tellingOf(events, later, settingsOf(asked, 'both'), host))
    .filter(({ selected, others }) => selected >= MUCH * others && selected - others >= MUCH_OF_ALL)
    .slice(0, MOST_FIELDS);
  const title = 'What changed';
  const [first] = found;
  if (first === undefined)
    return { ...{ title, standsOut: false, cells: [] }, text: 'No value is much more frequent than before.' };
  const cause = first.parts.map(part => conditionOf(part, types.get(part.field))).join(' and ');
  const those = `${asked.source}\n| where ${cause}\n| summarize events = count()`;
  const counted = await host.run(those, settingsOf(asked, 'both'));
  const check = `sum(events) == ${rowTexts(counted.tables[0])[0]?.[0] ?? 0}`;
  const words = ['of the events', 'before'] as const;
  return {
    title,
    text: `${found.map(each => spotlightSentence(each, words)).join('; ')}.`,
    standsOut: true,
    cells: [
      `%%time ${rangeText(asked, 'both')}\n%%explain ${later}\n${events}`,
      checkedCell(asked, 'both', check, `${those} by bin_auto(_time)`),
    ],
  };
}

/** Describes the most frequent message among the events that match a condition, ignoring numbers and ids. */
export async function saidOf(
  asked: Case,
  line: string,
  condition: string,
  host: MagicHost,
): Promise<Finding> {
  const name = writtenName(line);
  const those = `${asked.source}\n| where ${condition}`;
  const lines = `${those}\n| where isnotempty(${name})\n| summarize events = count(), example = min(${name}) by shape = ${shapeOf(name)}\n| top ${MOST_LINES} by events`;
  const settings = settingsOf(asked, 'own');
  const [most] = rowTexts((await host.run(lines, settings)).tables[0]);
  const title = 'Most frequent message';
  if (most === undefined)
    return { ...{ title, standsOut: false, cells: [] }, text: `Events with ${condition} have no message.` };
  const [, events = '0', example = ''] = most;
  const [all] = rowTexts((await host.run(`${those}\n| count`, settings)).tables[0]);
  const share = Number(events) / Math.max(Number(all?.[0] ?? 0), 1);
  return {
    title,
    text: `Of the events with ${condition}, ${percent(share)} have the message: ${cut(example ?? '', 300)}`,
    standsOut: share >= 0.5,
    cells: [checkedCell(asked, 'own', `max(events) == ${events}`, lines)],
  };
}

/** Maximum kinds of lines to list. */
const MOST_LINES = 10;
/** Minimum occurrences of a new kind of line, to stand out. */
const OFTEN = 5;

/** Describes the log lines that did not occur before, ignoring numbers and ids. */
export async function newLinesOf(asked: Case, line: string, host: MagicHost): Promise<Finding> {
  const name = writtenName(line);
  const query = [
    asked.source,
    `| where isnotempty(${name})`,
    `| summarize lines = count(), before = countif(_time < datetime(${formatTime(asked.from)})), example = min(${name}) by shape = ${shapeOf(name)}`,
    '| where before == 0',
    `| top ${MOST_LINES} by lines`,
  ].join('\n');
  const rows = rowTexts((await host.run(query, settingsOf(asked, 'both'))).tables[0]);
  const title = 'New log lines';
  const [most] = rows;
  if (most === undefined) return { title, text: 'No new log lines.', standsOut: false, cells: [] };
  const [, lines = '0', , example = ''] = most;
  const count =
    rows.length < MOST_LINES ? plural(rows.length, 'new kind') : `${MOST_LINES} new kinds or more`;
  const standsOut = Number(lines) >= OFTEN;
  return {
    title,
    text: `${count} of log lines; the most frequent, ${formatCount(Number(lines))} times: ${cut(example ?? '', 300)}`,
    standsOut,
    cells: standsOut ? [checkedCell(asked, 'both', `max(lines) == ${lines}`, query)] : [],
  };
}

/** Returns an expression that masks the numbers of a line. */
function shapeOf(name: string): string {
  return `replace_regex(${writtenText(MASK)}, ${writtenText(WILD)}, ${name})`;
}

/** A trace id that is a single word on a magic line. */
const PLAIN_ID = /^[\w-]{8,128}$/;

/** Names the slowest trace. */
export async function slowestOf(
  asked: Case,
  trace: string,
  { number, unit }: Duration,
  host: MagicHost,
): Promise<Finding> {
  const query = `${asked.source}\n| summarize slowest = max(${number}), spans = count() by ${writtenName(trace)}\n| top 5 by slowest`;
  const rows = rowTexts((await host.run(query, settingsOf(asked, 'own'))).tables[0]);
  const title = 'Slowest trace';
  const [id, slowest] = rows[0] ?? [];
  if (typeof id !== 'string') return { title, text: 'No traces.', standsOut: false, cells: [] };
  return {
    title,
    text: `The slowest trace took ${roundedNumber(Number(slowest))}${unit}: ${id}.`,
    standsOut: false,
    cells: [
      checkedCell(asked, 'own', `rows == ${rows.length}`, query),
      ...(PLAIN_ID.test(id) ? [`%%time ${rangeText(asked, 'own')}\n%trace ${id} ${asked.source}`] : []),
    ],
  };
}
