/** Text around a table, the same in HTML and in plain text: size and range above, notices, and the footer. */
import { notCountedCode, type QueryStatus } from '../../api/wire.js';
import { cut, formatCount, plural, visible } from '../../text.js';
import { FIELD_KEY } from '../field.js';
import type { ArrowTable, Notice, QueryResult } from '../result.js';
import { shortfallNotices } from '../shortfall.js';

/** Maximum length of names, messages and descriptions, which come from outside. */
const MAX_WORDS = 500;

/** Returns the number of rows and columns: `1,000 rows × 12 columns`. */
export function tableSize({ data }: ArrowTable): string {
  return `${plural(data.numRows, 'row')} \u00d7 ${plural(data.numCols, 'column')}`;
}

/** Returns the name of a table of a result by its index. */
export function tableLabel(table: ArrowTable, index: number): string {
  if (isTotals(table)) return 'Totals';
  return index === 0 ? 'Result' : `Table ${safeWords(table.info.name)}`;
}

/** Returns whether a table has the totals of a time-binned result. */
export function isTotals({ info }: ArrowTable): boolean {
  return info.name === '_totals';
}

/** Returns that only the first rows or columns of a table are shown, without a period. */
export function firstShown(shown: number, all: number, noun: 'row' | 'column'): string {
  return `Showing the first ${formatCount(shown)} of ${plural(all, noun)}`;
}

/** A part of the line above a result, and its tooltip. */
export interface HeadingPart {
  readonly text: string;
  readonly title?: string;
}

/** Returns the line above a result: its profile unless it is the local service, its size, and `last 1h (… to …)`. */
export function heading(table: ArrowTable, result: QueryResult): readonly string[] {
  return headingParts(table, result).map(({ text, title }) =>
    title === undefined ? text : `${text} (${title})`,
  );
}

/** Like `heading`, with the exact window of a range given in words as a separate part. */
export function headingParts(table: ArrowTable, result: QueryResult): readonly HeadingPart[] {
  const { range } = table.info;
  const { rangeLabel, startTime, endTime, frozen, profile, isLocal } = result.provenance;
  const window = `${range?.start ?? startTime} to ${range?.end ?? endTime}`;
  const isWindow = frozen || rangeLabel === '' || rangeLabel === window;
  return [
    ...(isLocal ? [] : [{ text: `profile ${safeWords(profile)}` }]),
    { text: tableSize(table) },
    isWindow ? { text: safeWords(window) } : { text: safeWords(rangeLabel), title: safeWords(window) },
  ];
}

/** Returns all notices: the kernel's own, the service's messages, and columns that are not of their declared type. */
export function allNotices(result: QueryResult): readonly Notice[] {
  return [...resultNotices(result), ...totalsNotices(result)];
}

/** Returns the notices above the result: all but those that only concern its totals. */
export function resultNotices(result: QueryResult): readonly Notice[] {
  return distinctNotices([
    ...result.notices,
    ...shortfallNotices(result),
    ...messageNotices(result, code => code !== TOTALS_CODE),
    ...columnNotices(result),
  ]);
}

/** Returns the notices about the totals of a time-binned result. */
export function totalsNotices(result: QueryResult): readonly Notice[] {
  return distinctNotices(messageNotices(result, code => code === TOTALS_CODE));
}

/** Code of the local service's message about aggregates left out of its totals. */
const TOTALS_CODE = 'totals_left_out';

/** Returns notices without duplicates, cut and with invisible characters shown. */
function distinctNotices(notices: readonly Notice[]): readonly Notice[] {
  const texts = new Set<string>();
  const isNew = ({ text }: Notice) => !texts.has(text) && texts.add(text) !== undefined;
  return notices.filter(isNew).map(({ level, text }) => ({ level, text: safeWords(text) }));
}

/**
 * Returns the elapsed time, rows examined, cache use, and the trace id by which Axiom's support finds a query, as separate parts. For a
 * frozen range, returns only the parts that are the same in every run.
 */
export function footerParts(result: QueryResult): readonly string[] {
  const { status, provenance } = result;
  const examined = isCounted(status) ? `${plural(status.rowsExamined, 'row')} examined` : 'rows not counted';
  if (provenance.frozen) return [examined];
  const parts = [
    `${formatMs(provenance.elapsedMs)} (${formatMs(status.elapsedTime / 1000)} in the service)`,
    examined,
  ];
  if (status.blocksExamined > 0) {
    parts.push(`${formatCount(status.blocksCached)} of ${plural(status.blocksExamined, 'block')} cached`);
  }
  if (provenance.traceId !== undefined && !provenance.isLocal)
    parts.push(`trace ${safeWords(provenance.traceId)}`);
  return parts;
}

/** Returns whether the numbers of rows examined and matched are known. */
export function isCounted({ messages }: QueryStatus): boolean {
  return !messages?.some(({ code }) => code === notCountedCode);
}

/** Makes external text safe in a sentence: cut, with invisible characters shown. */
export function safeWords(text: string): string {
  return cut(visible(text), MAX_WORDS);
}

/** Returns code or a value for a sentence: cut, and marked as code for front ends that render it. */
export function codeWords(text: string): string {
  return `\`${cut(safeWords(text), MAX_CODE).replaceAll('`', "'")}\``;
}

const MAX_CODE = 80;

function messageNotices({ status }: QueryResult, wanted: (code: string) => boolean): readonly Notice[] {
  const notices: Notice[] = [];
  for (const { priority, msg, count, code } of status.messages ?? []) {
    if (priority === 'trace' || priority === 'debug' || !wanted(code)) continue;
    const text = count > 1 ? `${msg} (${formatCount(count)} times)` : msg;
    notices.push({ level: priority === 'info' ? 'info' : 'warn', text });
  }
  return notices;
}

function columnNotices({ tables }: QueryResult): readonly Notice[] {
  const fields = tables.flatMap(table => table.data.schema.fields);
  const notes = fields.map(field => field.metadata.get(FIELD_KEY.note)).filter(note => note !== undefined);
  return notes.map(text => ({ level: 'info', text }));
}

function formatMs(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms >= 1_000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${Number(ms.toFixed(1))} ms`;
}
