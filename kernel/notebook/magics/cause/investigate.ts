import { writtenName } from '../../../apl/catalog/written.js';
import { explaining, lineField } from '../../../apl/editor/events.js';
import { quotedName, writtenText } from '../../../apl/syntax/tokens/quote.js';
import { rowTexts } from '../../../result/display/text.js';
import { percent, spotlightEntries, spotlightSentence, strongest } from '../../../result/spotlight.js';
import { cut, escapeMarkdown, formatCount, oneLine, plural, visible } from '../../../text.js';
import { formatTime, MINUTE, parseTime } from '../../../time.js';
import { lastName } from '../../results/kept.js';
import { parseInstant, parseRange, resolveRange, TimeRangeError } from '../../time-range.js';
import { misuse } from '../arguments.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MASK, WILD } from './drain.js';

/** The magic that asks the first questions of an incident. */
export const investigateMagics: readonly Magic[] = [
  {
    name: 'investigate',
    usage: "%investigate TIME|RANGE ['DATASET']",
    options: [],
    summary:
      'ask the first questions about a time: what changed, and what the events that changed have in common',
    help: [
      'Compares a range with the time of the same length before it, always by the same questions: how many events there were, how many failed, how slow they were; what the failed or slow events have in common; which log lines are new; which annotations are near it; which traces were slowest. What stands out is said first; if nothing does, that is said. A cell with the queries and a check of their figures is added below, to go on from.',
      '',
      'A time stands for the quarter of an hour on both sides of it. Without a dataset it is the one that the last result comes from. A difference stands out if it is half as much again, and more than five standard errors.',
      '',
      "    %investigate 2026-01-26T15:09Z..2026-01-26T15:36Z ['sample-http-logs']",
    ].join('\n'),
    arity: [1, 4],
    effects: ['query'],
    run: investigate,
  },
];

/** A dataset with the fields that the questions need, and the two ranges, in nanoseconds. */
interface Case {
  readonly source: string;
  readonly name: string;
  readonly from: bigint;
  readonly to: bigint;
  readonly failed: string | undefined;
  readonly duration: string | undefined;
  readonly line: string | undefined;
  readonly trace: string | undefined;
  /** Fields that tell nothing of why an event failed. */
  readonly symptoms: readonly string[];
}

/** An answer: a sentence, and the query that it comes from. */
interface Finding {
  readonly text: string;
  readonly query?: string;
  readonly standsOut: boolean;
}

async function investigate(call: MagicCall, host: MagicHost): Promise<void> {
  const asked = await caseOf(call, host);
  const changes = await changesOf(asked, host);
  const { findings } = changes;
  const condition = findings.find(
    ({ standsOut, condition }) => standsOut && condition !== undefined,
  )?.condition;
  const answers: Finding[] = [...findings];
  if (condition !== undefined) answers.push(await commonOf(asked, condition, host));
  if (asked.line !== undefined) answers.push(await newLinesOf(asked, asked.line, host));
  answers.push(await annotationsOf(asked, host));
  if (asked.trace !== undefined && asked.duration !== undefined)
    answers.push(await slowestOf(asked, asked.trace, asked.duration, host));
  const [out, rest] = [true, false].map(which => answers.filter(({ standsOut }) => standsOut === which));
  const lines = (each: readonly Finding[] | undefined, written: (text: string) => string) =>
    (each ?? []).map(({ text }) => `- ${written(visible(oneLine(text)))}`).join('\n');
  const report = (written: (text: string) => string) =>
    [
      written(`${asked.name}, ${rangeText(asked)}, against the same time before`),
      out?.length ? `What stands out:\n\n${lines(out, written)}` : 'Nothing stands out.',
      `What does not:\n\n${lines(rest, written)}`,
    ].join('\n\n');
  const data = { 'text/markdown': report(escapeMarkdown), 'text/plain': report(text => text) };
  host.io.display({ data, metadata: {} });
  host.io.nextInput(cellOf(asked, answers, changes.check), false);
}

function rangeText({ from, to }: Case): string {
  return `${formatTime(from)}..${formatTime(to)}`;
}

/** The cell to go on from: its last query is the one that is checked. A value of the data must not end a comment. */
function cellOf(asked: Case, answers: readonly Finding[], check: string): string {
  const steps = answers.flatMap(({ text, query }) =>
    query === undefined ? [] : [`// ${visible(oneLine(text))}\n${query}`],
  );
  const [compared, ...others] = [...new Set(steps)];
  const before = asked.from - (asked.to - asked.from);
  return [
    `%%time ${formatTime(before)}..${formatTime(asked.to)}`,
    `%assert ${check}`,
    [...others, compared].join('\n\n'),
  ].join('\n');
}

async function caseOf({ words, magic }: MagicCall, host: MagicHost): Promise<Case> {
  const { session } = host;
  const last = words.at(-1) ?? '';
  const bare = /^\[(.*)\]$/.exec(last)?.[1];
  const when = bare === undefined ? words : words.slice(0, -1);
  const name = bare ?? session.results.named(lastName)?.result.datasetNames[0];
  if (when.length === 0) throw misuse(magic, 'give a time or a range');
  if (name === undefined) throw misuse(magic, "no query has run yet: name a dataset, such as `['logs']`");
  const { from, to } = windowOf(when.join(' '), session.now());
  const source = quotedName(name);
  const { tables } = await host.run(`${source}\n| getschema\n| project ColumnName, ColumnType`);
  const types = new Map(rowTexts(tables[0]).map(([column = '', type = '']) => [column ?? '', type ?? '']));
  const texts = [...types.keys()].filter(each => types.get(each) === 'string');
  const first = (names: readonly string[]) => names.find(each => types.has(each));
  return {
    ...{ source, name, from, to, failed: failedOf(types), line: lineField(texts) },
    duration: durationOf(types),
    trace: first(TRACES),
    symptoms: [...types].flatMap(([field, type]) => (isSymptom(field, type) ? [field] : [])),
  };
}

const DURATIONS = [
  'duration',
  'req_duration_ms',
  'duration_ms',
  'latency_ms',
  'latency',
  'elapsed_ms',
  'response_time',
];
/** How long an event took, in milliseconds if its type says so. */
function durationOf(types: ReadonlyMap<string, string>): string | undefined {
  const name = DURATIONS.find(each => types.has(each));
  if (name === undefined) return undefined;
  return types.get(name) === 'timespan' ? writtenName(name) + IN_MS : writtenName(name);
}

/** What failed events share because they failed, and what names one event or one trace. */
function isSymptom(field: string, type: string): boolean {
  return (
    type === 'dynamic' ||
    DURATIONS.includes(field) ||
    /(?:^|\.)(?:status|error)(?:[._]|$)|(?:_|\.|[a-z](?=I))[iI]d$/.test(field)
  );
}

const TRACES = ['trace_id', 'traceId', 'trace.id'];

/** The condition that holds for failed events. */
function failedOf(types: ReadonlyMap<string, string>): string | undefined {
  if (types.get('error') === 'bool') return 'error == true';
  const status = ['status', 'status_code', 'http.status_code'].find(each => types.has(each));
  if (status !== undefined) return `toint(${writtenName(status)}) >= 500`;
  const level = ['level', 'severity', 'severity_text', 'log.level'].find(
    each => types.get(each) === 'string',
  );
  return level === undefined ? undefined : `tolower(${writtenName(level)}) in ("error", "fatal", "critical")`;
}

function windowOf(text: string, now: bigint): { readonly from: bigint; readonly to: bigint } {
  let at: bigint | undefined;
  try {
    at = parseInstant(text, now);
  } catch (error) {
    if (!(error instanceof TimeRangeError)) throw error;
  }
  if (at !== undefined) return { from: at - 15n * MINUTE, to: at + 15n * MINUTE };
  const { startTime, endTime } = resolveRange(parseRange(text), now);
  return { from: parseTime(startTime) ?? now, to: parseTime(endTime) ?? now };
}

/** Both ranges, or the one that is asked about. */
function settingsOf({ from, to }: Case, which: 'both' | 'own') {
  const start = which === 'both' ? from - (to - from) : from;
  return { range: parseRange(`${formatTime(start)}..${formatTime(to)}`) };
}

/** Half as much again is much, and half as much again of little is chance. */
const MUCH = 1.5;
const SIGMAS = 5;
/** Fields that are named of those that tell events from others. */
const MOST_FIELDS = 3;

/** Rate, errors and latency of the two ranges; of those events that changed the condition. */
async function changesOf(
  asked: Case,
  host: MagicHost,
): Promise<{
  readonly findings: readonly (Finding & { readonly condition?: string })[];
  readonly check: string;
}> {
  const { source, from, failed, duration } = asked;
  const figures = [
    'events = count()',
    `failed = ${failed === undefined ? '0' : `countif(${failed})`}`,
    `p99 = ${duration === undefined ? '0' : `percentile(${duration}, 99)`}`,
  ].map((each, at) =>
    (at === 1 && failed === undefined) || (at === 2 && duration === undefined) ? '' : each,
  );
  const query = `${source}\n| summarize ${figures.filter(Boolean).join(', ')} by is_later = _time >= datetime(${formatTime(from)})\n| sort by is_later asc`;
  const { tables } = await host.run(query, settingsOf(asked, 'both'));
  const names = tables[0]?.data.schema.fields.map(({ name }) => name) ?? [];
  const rows = rowTexts(tables[0]);
  const of = (later: string, name: string) =>
    Number(rows.find(row => row[names.indexOf('is_later')] === later)?.[names.indexOf(name)] ?? 0);
  const [was, is] = ['false', 'true'].map(later => ({
    ...{ events: of(later, 'events'), failed: of(later, 'failed'), p99: of(later, 'p99') },
  })) as [Figures, Figures];
  const findings = [rateOf(was, is, query)];
  if (failed !== undefined) findings.push({ ...errorsOf(was, is), condition: failed });
  if (duration !== undefined)
    findings.push({ ...latencyOf(duration, was, is), condition: `${duration} > ${was.p99}` });
  return { findings, check: `max(events) == ${Math.max(was.events, is.events)}` };
}

interface Figures {
  readonly events: number;
  readonly failed: number;
  readonly p99: number;
}

function rateOf(was: Figures, is: Figures, query: string): Finding & { readonly condition?: string } {
  const [low, high] = [Math.min(was.events, is.events), Math.max(was.events, is.events)];
  const standsOut = high >= MUCH * low && high - low > SIGMAS * Math.sqrt(high + low);
  return { text: `Events: ${formatCount(is.events)}, before ${formatCount(was.events)}.`, query, standsOut };
}

function errorsOf(was: Figures, is: Figures): Finding {
  const [a, b] = [is, was].map(({ failed, events }) => failed / Math.max(events, 1)) as [number, number];
  const all = (is.failed + was.failed) / Math.max(is.events + was.events, 1);
  const error = Math.sqrt(all * (1 - all) * (1 / Math.max(is.events, 1) + 1 / Math.max(was.events, 1)));
  const text = `Failed: ${formatCount(is.failed)} (${percent(a)}), before ${formatCount(was.failed)} (${percent(b)}).`;
  return { text, standsOut: a >= MUCH * b && a - b > SIGMAS * error };
}

function latencyOf(field: string, was: Figures, is: Figures): Finding {
  const standsOut = is.events >= 100 && was.events >= 100 && is.p99 >= MUCH * was.p99 && was.p99 > 0;
  const shown = (value: number) => lengthText(field, value);
  return {
    text: `99 of 100 events have ${bareName(field)} of at most ${shown(is.p99)}, before ${shown(was.p99)}.`,
    standsOut,
  };
}

const IN_MS = ' / 1ms';

/** The field of a duration, which may stand before a unit. */
function bareName(duration: string): string {
  return duration.endsWith(IN_MS) ? duration.slice(0, -IN_MS.length) : duration;
}

/** A duration in four digits, with its unit if that is known. */
function lengthText(duration: string, value: number): string {
  return `${Number(value.toPrecision(4))}${duration.endsWith(IN_MS) ? ' ms' : ''}`;
}

async function commonOf(asked: Case, condition: string, host: MagicHost): Promise<Finding> {
  const { source, from, symptoms } = asked;
  const apart = symptoms.filter(name => !condition.includes(writtenName(name))).map(writtenName);
  const query = explaining(
    `${source}\n| where _time >= datetime(${formatTime(from)})${apart.length === 0 ? '' : `\n| project-away ${apart.join(', ')}`}`,
    condition,
  );
  const result = await host.run(query, settingsOf(asked, 'own'));
  await host.showResult(result, result);
  const entries = spotlightEntries(
    JSON.parse(rowTexts(result.tables[0])[0]?.[0] ?? '[]') as readonly unknown[],
  );
  const found = entries
    .flatMap(entry => (entry.score > 0 ? (strongest(entry) ?? []) : []))
    .slice(0, MOST_FIELDS);
  const words = found.map(spotlightSentence).join('; ');
  return found.length === 0
    ? { text: `No field tells the events with ${condition} from the others.`, query, standsOut: false }
    : { text: `Of those with ${condition}: ${words}.`, query, standsOut: true };
}

async function newLinesOf(asked: Case, line: string, host: MagicHost): Promise<Finding> {
  const name = writtenName(line);
  const query = [
    asked.source,
    `| where isnotempty(${name})`,
    `| summarize lines = count(), before = countif(_time < datetime(${formatTime(asked.from)})), example = min(${name}) by shape = replace_regex(${writtenText(MASK)}, ${writtenText(WILD)}, ${name})`,
    '| where before == 0',
    '| top 10 by lines',
  ].join('\n');
  const rows = rowTexts((await host.run(query, settingsOf(asked, 'both'))).tables[0]);
  const [most] = rows;
  if (most === undefined) return { text: 'No new log lines.', query, standsOut: false };
  const [, lines = '0', , example = ''] = most;
  const text = `${rows.length < 10 ? plural(rows.length, 'new kind') : '10 new kinds or more'} of log lines; the most frequent, ${formatCount(Number(lines))} times: ${cut(example ?? '', 300)}`;
  return { text, query, standsOut: Number(lines) >= 5 };
}

async function annotationsOf({ name, from, to }: Case, { session, io }: MagicHost): Promise<Finding> {
  const question = {
    profile: session.profileName,
    datasets: [name],
    start: formatTime(from - (to - from)),
    end: formatTime(to),
  };
  const { annotations } = await session.annotations.read(question, io.signal);
  if (annotations.length === 0) return { text: 'No annotation is near it.', standsOut: false };
  const words = annotations.slice(0, 5).map(({ time, title, type }) => `${time} ${title ?? type}`);
  return {
    text: `${plural(annotations.length, 'annotation')} near it: ${words.join('; ')}`,
    standsOut: true,
  };
}

async function slowestOf(asked: Case, trace: string, duration: string, host: MagicHost): Promise<Finding> {
  const query = `${asked.source}\n| summarize slowest = max(${duration}), spans = count() by ${writtenName(trace)}\n| top 5 by slowest`;
  const rows = rowTexts((await host.run(query, settingsOf(asked, 'own'))).tables[0]);
  const [id, slowest] = rows[0] ?? [];
  return {
    text:
      rows.length === 0
        ? 'There are no traces.'
        : `The slowest trace, of ${lengthText(duration, Number(slowest))}, is ${id}.`,
    query,
    standsOut: false,
  };
}
