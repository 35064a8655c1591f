/**
 * A result without data, or with less than requested, must not read like "nothing else happened": these notices report what the
 * datasets have outside the time range, and which condition of the query no row meets.
 */

import type { RawResult } from '../../api/client.js';
import { localProfile } from '../../api/profile.js';
import type { DatasetInfo, QueryRequest } from '../../api/wire.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { quotedName, writtenText } from '../../apl/syntax/tokens/quote.js';
import { own, present } from '../../present.js';
import { decodeTabular } from '../../result/decode/decode-arrow.js';
import { cellText } from '../../result/display/display-text.js';
import { codeWords, isCounted, safeWords } from '../../result/display/summary.js';
import type { ArrowTable, Notice, QueryAnswer } from '../../result/result.js';
import { underLimit } from '../../signals.js';
import { formatCount, plural } from '../../text.js';
import { parseTime } from '../../time.js';
import { everything, resolveRange, storedEverything } from '../time-range.js';
import { extentText, spanText } from './extent.js';
import { type Comparison, type Condition, type QueryReading, readConditions } from './query-reading.js';

/** The service that returned a result. */
interface Service {
  query(request: QueryRequest, signal: AbortSignal): Promise<RawResult>;
  measuredDatasets(names: Iterable<string>, signal: AbortSignal): Promise<readonly DatasetInfo[]>;
}

/** The result to explain, and the means to query the service about it. */
interface EmptyContext {
  readonly service: Service;
  readonly result: QueryAnswer;
  readonly reading: QueryReading;
  readonly signal: AbortSignal;
  /** Datasets by name, as listed by the service; empty if it cannot list them. */
  readonly listing: ReadonlyMap<string, DatasetInfo>;
}

/** Maximum datasets and conditions to examine. */
const maxDatasets = 5;
const maxConditions = 8;
/** Timeout of one query, in milliseconds; on a timeout its part of the notice is omitted. */
const timeLimitMs = 5_000;

/**
 * Returns the notices for a result that found nothing, for one that joined a dataset without a row in the time range, and for fewer
 * events than `events`, the number requested from one dataset without conditions. Sends the service a few short queries; omits what
 * they do not answer.
 */
export async function emptyAnswerNotices(
  service: Service,
  query: QueryText,
  result: QueryAnswer,
  events: number | undefined,
  signal: AbortSignal,
): Promise<readonly Notice[]> {
  const reading = readConditions(query);
  const empty = foundNothing(result, reading);
  const few = (result.tables[0]?.data.numRows ?? 0) < (events ?? 0);
  const joined = reading.sources > 1 && result.provenance.profile === localProfile;
  if (result.datasetNames.length === 0 || !(empty || few || joined)) return [];
  const listing = await measured(service, result.datasetNames, signal);
  const context = { service, result, reading, signal, listing };
  const outside = await (empty || joined ? outsideNotices(context, empty) : moreOutside(context));
  const all = result.datasetNames.length === outside.length;
  const texts = empty && !all ? [...outside, ...(await unmatched(context))] : outside;
  return texts.map(text => ({ level: 'warn', text }));
}

/** Returns whether the query had no rows as input, so that a count of 0 or a null says nothing about the data. */
function foundNothing({ status, tables }: QueryAnswer, { isSeries, isSchema }: QueryReading): boolean {
  if (isSchema) return false;
  const [table] = tables;
  const counted = isCounted(status) ? [status.rowsExamined, status.rowsMatched] : [];
  if ([...counted, table?.data.numRows].includes(0)) return true;
  return isSeries && table !== undefined && isAllZeros(table);
}

/** The engine returns the steps of a series as rows: only their values show whether there was an event. */
function isAllZeros(table: ArrowTable): boolean {
  const cells = table.data.schema.fields.flatMap((_, column) =>
    Array.from({ length: table.data.numRows }, (_, row) => textAt(table, column, row) ?? 'null'),
  );
  return cells.every(cell => cell.includes('"') || /^[[\]0., null]*$/.test(cell));
}

async function measured(
  service: Service,
  names: readonly string[],
  signal: AbortSignal,
): Promise<EmptyContext['listing']> {
  const datasets = await service.measuredDatasets(names, signal).catch(() => []);
  return new Map(datasets.map(dataset => [dataset.name, dataset]));
}

/** Returns one sentence for each dataset without a row in the time range. */
async function outsideNotices(context: EmptyContext, empty: boolean): Promise<readonly string[]> {
  const names = context.result.datasetNames.slice(0, maxDatasets);
  const texts = await Promise.all(names.map(name => outsideNotice(context, name, empty)));
  return texts.filter(text => text !== undefined);
}

async function outsideNotice(
  context: EmptyContext,
  name: string,
  empty: boolean,
): Promise<string | undefined> {
  const { status, provenance } = context.result;
  const info = context.listing.get(name);
  const dataset = codeWords(name);
  if (info?.rows === 0) return `${dataset} has no events.`;
  if (info?.rows !== undefined) {
    if (await hasRows(context, info, empty)) return undefined;
    return `${dataset} has no events ${inRange(provenance.rangeLabel)}. It has ${extentText(info)}`;
  }
  if (status.rowsExamined > 0) return undefined;
  const newest = await newestTime(context, name);
  // Or a condition of the query kept the service from reading existing events, or it does not report what it read.
  const start = parseTime(provenance.startTime);
  const isUnread = context.reading.conditions.length > 0 || !isCounted(status);
  const isUnknown = newest === undefined && isUnread;
  if (isUnknown || (newest !== undefined && start !== undefined && newest >= start)) return undefined;
  const where = newest === undefined ? '' : ` Its newest event is from ${spanText(newest, newest)}`;
  return `${dataset} has no events ${inRange(provenance.rangeLabel)}.${where}`;
}

/**
 * Returns whether the dataset has a row in the time range; for a range within its span, queries the service only if the result was
 * empty.
 */
async function hasRows(context: EmptyContext, info: DatasetInfo, empty: boolean): Promise<boolean> {
  const times = timesOf(context, info);
  if (times === undefined) return true;
  if (times.last < times.start || times.first >= times.end) return false;
  if (!empty || isWithin(times)) return true;
  const table = await ask(context, `${quotedName(info.name)} | count`);
  return table === undefined || numberAt(table, 0) > 0;
}

/** Nanoseconds since 1970. */
interface Times {
  /** The time range, with an exclusive end. */
  readonly start: bigint;
  readonly end: bigint;
  /** Times of the first and last event of the dataset. */
  readonly first: bigint;
  readonly last: bigint;
}

function timesOf({ result }: EmptyContext, info: DatasetInfo): Times | undefined {
  const { startTime, endTime } = result.provenance;
  const [start, end] = [parseTime(startTime), parseTime(endTime)];
  const [first, last] = [parseTime(info.firstTime ?? ''), parseTime(info.lastTime ?? '')];
  if (start === undefined || end === undefined || first === undefined || last === undefined) return undefined;
  return { start, end, first, last };
}

/** Returns whether the time range includes all events. */
function isWithin({ start, end, first, last }: Times): boolean {
  return start <= first && last < end;
}

/** Returns one sentence for each dataset of a short result that has more events before or after the time range. */
async function moreOutside(context: EmptyContext): Promise<readonly string[]> {
  const texts = context.result.datasetNames.map(name => moreNotice(context, name));
  return (await Promise.all(texts)).filter(text => text !== undefined);
}

async function moreNotice(context: EmptyContext, name: string): Promise<string | undefined> {
  const { profile, startTime, endTime, rangeLabel } = context.result.provenance;
  const dataset = codeWords(name);
  if (profile !== localProfile) {
    const newest = await newestTime(context, name, startTime);
    return newest === undefined
      ? undefined
      : `${dataset} also has older events, the newest from ${spanText(newest, newest)}`;
  }
  const info = context.listing.get(name);
  const times = info === undefined ? undefined : timesOf(context, info);
  if (times === undefined || isWithin(times)) return undefined;
  const apart = `where _time < datetime(${startTime}) or _time >= datetime(${endTime})`;
  const query = `${quotedName(name)} | ${apart} | summarize count(), min(_time), max(_time)`;
  const table = await ask(context, query, resolveRange(everything, 0n));
  if (table === undefined || numberAt(table, 0) === 0) return undefined;
  const [firstTime, lastTime] = [textAt(table, 1, 0), textAt(table, 2, 0)];
  const extent = extentText({ rows: numberAt(table, 0), ...present({ firstTime, lastTime }) });
  return `${dataset} has more outside ${safeWords(rangeLabel)}: ${extent}`;
}

async function newestTime(
  context: EmptyContext,
  name: string,
  endTime = context.result.provenance.endTime,
): Promise<bigint | undefined> {
  const window = { startTime: storedEverything.startTime, endTime };
  const table = await ask(context, `${quotedName(name)} | project _time | limit 1`, window);
  return parseTime(textAt(table, 0, 0) ?? '');
}

const unexplained = 'No row in this time range matched.';

/** Explains why none of the rows in the range is in the result. */
async function unmatched(context: EmptyContext): Promise<readonly string[]> {
  const { dataset } = context.reading;
  const name = context.result.datasetNames.find(each => each === dataset);
  if (name === undefined) return [unexplained];
  const conditions = context.reading.conditions.slice(0, maxConditions);
  const counts = await conditionCounts(context, name, conditions);
  if (counts === undefined) return [unexplained];
  const { rows, met, matched } = counts;
  const events = `${plural(rows, 'event')} of ${codeWords(name)} ${inRange(context.result.provenance.rangeLabel)}`;
  if (matched > 0) return [`The query returns none of the ${events}.`];
  const never = conditions.filter((_, index) => met[index] === 0);
  const some = conditions.map(
    (each, index) => `${codeWords(each.text)} matches ${formatCount(met[index] ?? 0)}`,
  );
  if (never.length === 0) return [`None of the ${events} meets all conditions: ${some.join(', ')}.`];
  const found = await Promise.all(never.map(each => whatFieldsHold(context, name, each)));
  return [`None of the ${events} matches.`, ...found.flat()];
}

interface Counts {
  readonly rows: number;
  /** Rows that meet each condition, and rows that meet all of them. */
  readonly met: readonly number[];
  readonly matched: number;
}

async function conditionCounts(
  context: EmptyContext,
  name: string,
  conditions: readonly Condition[],
): Promise<Counts | undefined> {
  const each = conditions.map(({ text }, index) => `, c${index} = countif(${text})`).join('');
  const all = conditions.map(({ text }) => `(${text})`).join(' and ') || 'true';
  const query = `${context.reading.prelude}${quotedName(name)} | summarize n = count(), matched = countif(${all})${each}`;
  const table = await ask(context, query);
  if (table === undefined) return undefined;
  const met = conditions.map((_, index) => numberAt(table, index + 2));
  return { rows: numberAt(table, 0), matched: numberAt(table, 1), met };
}

/** Returns a sentence with the actual values of the compared fields, for a condition that no event meets. */
async function whatFieldsHold(
  context: EmptyContext,
  name: string,
  { text, comparisons }: Condition,
): Promise<readonly string[]> {
  if (comparisons.length === 0) return [`${codeWords(text)} matches no event.`];
  const sentences = comparisons
    .slice(0, maxDatasets)
    .map(comparison =>
      orders.has(comparison.operator)
        ? spanSentence(context, name, comparison)
        : valuesSentence(context, name, comparison),
    );
  const findings = (await Promise.all(sentences)).filter(sentence => sentence !== undefined);
  return [`${codeWords(text)} matches no event${findings.length === 0 ? '.' : `: ${findings.join('; ')}.`}`];
}

const orders: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', 'between']);

async function spanSentence(
  context: EmptyContext,
  name: string,
  { field }: Comparison,
): Promise<string | undefined> {
  const table = await ask(
    context,
    `${quotedName(name)} | summarize least = min(${field}), most = max(${field})`,
  );
  const [least, most] = [textAt(table, 0, 0), textAt(table, 1, 0)];
  if (least === undefined || most === undefined) return undefined;
  return `${codeWords(field)} ranges from ${codeWords(least)} to ${codeWords(most)}`;
}

/** Maximum values to fetch in search of near misses, and to name. */
const maxValues = 50;
const namedValues = 5;

async function valuesSentence(
  context: EmptyContext,
  name: string,
  comparison: Comparison,
): Promise<string | undefined> {
  const { field } = comparison;
  const table = await ask(
    context,
    `${quotedName(name)} | where isnotnull(${field}) | summarize n = count() by value = ${field} | top ${maxValues} by n`,
  );
  if (table === undefined) return undefined;
  const values = Array.from({ length: table.data.numRows }, (_, row) => ({
    text: textAt(table, 0, row) ?? 'null',
    rows: Number(textAt(table, 1, row)),
  }));
  if (values.length === 0) return `${codeWords(field)} is null in all of them`;
  const named = values
    .slice(0, namedValues)
    .map(({ text, rows }) => `${codeWords(text)} (${formatCount(rows)})`);
  const others = values.length > namedValues ? ', and others' : '';
  const texts = values.map(({ text }) => text);
  const parts = await partsSentence(context, name, comparison);
  return `${codeWords(field)} has the values ${named.join(', ')}${others}${parts ?? advice(comparison, texts)}`;
}

/** Operators that find whole words, with those that find parts of words. */
const wholeWords: Readonly<Record<string, string>> = {
  has: 'contains',
  has_cs: 'contains_cs',
  hasprefix: 'contains',
  hassuffix: 'contains',
};

/** Reports that a text exists as part of words, if only whole words are searched. */
async function partsSentence(
  context: EmptyContext,
  name: string,
  { field, operator, texts: [text] }: Comparison,
): Promise<string | undefined> {
  const wider = own(wholeWords, operator);
  if (wider === undefined || text === undefined) return undefined;
  const condition = `${field} ${wider} ${writtenText(text)}`;
  const table = await ask(context, `${quotedName(name)} | summarize countif(${condition})`);
  const rows = table === undefined ? 0 : numberAt(table, 0);
  if (rows === 0) return undefined;
  return `; \`${operator}\` finds whole words, and ${codeWords(condition)} matches ${formatCount(rows)}`;
}

/** Suggests fixes of the most common errors: different case, and a pattern in a plain comparison. */
function advice({ operator, texts }: Comparison, values: readonly string[]): string {
  if (['==', '=~', 'in', 'in~'].includes(operator) && texts.some(text => /\.[*+]|[*^$|]/.test(text)))
    return `; \`${operator}\` compares whole strings, \`matches regex\` takes a pattern`;
  const lower = new Set(texts.map(text => text.toLowerCase()));
  const near = values.find(value => lower.has(value.toLowerCase()));
  return near === undefined ? '' : `; did you mean ${codeWords(near)}? \`=~\` ignores case`;
}

/** Returns the first table of a query's result; undefined if the query failed or timed out. */
async function ask(
  { service, result, signal }: EmptyContext,
  apl: string,
  window: Pick<QueryRequest, 'startTime' | 'endTime'> = result.provenance,
): Promise<ArrowTable | undefined> {
  const { startTime, endTime } = window;
  const request = { apl, ...present({ startTime, endTime }) };
  try {
    const raw = await underLimit(signal, timeLimitMs, limited => service.query(request, limited));
    return decodeTabular(raw.body).tables[0];
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function numberAt(table: ArrowTable, column: number): number {
  return Number(textAt(table, column, 0) ?? 0);
}

function textAt(table: ArrowTable | undefined, column: number, row: number): string | undefined {
  const vector = table?.data.getChildAt(column);
  const field = table?.data.schema.fields[column];
  if (!vector || field === undefined || row >= vector.length) return undefined;
  return cellText(vector, row, field) ?? undefined;
}

/** Phrases the time range for a sentence. */
function inRange(label: string): string {
  return label === 'all' ? 'at any time' : `in ${safeWords(label)}`;
}
