/**
 * What is said around a table, the same words in HTML and in plain text: size and range above, notices, and the footer.
 */
import { cut, formatCount, plural, visible } from '../text.js';
import { FIELD_KEY } from './arrow.js';
import type { ArrowTable, Notice, QueryResult } from './result.js';

/** Longer names, messages and descriptions are cut: they come from outside. */
const MAX_WORDS = 500;

/** Rows, columns and the time range: `1,000 rows x 12 columns`, `last 1h (... to ...)`. */
export function sizeAndRange(table: ArrowTable, result: QueryResult): readonly string[] {
  const { numRows, numCols } = table.data;
  const size = `${plural(numRows, 'row')} \u00d7 ${plural(numCols, 'column')}`;
  const { range } = table.info;
  const { rangeLabel, startTime, endTime, frozen } = result.provenance;
  const window = `${range?.start ?? startTime} to ${range?.end ?? endTime}`;
  const label = frozen || rangeLabel === '' || rangeLabel === window ? window : `${rangeLabel} (${window})`;
  return [size, said(label)];
}

/** Every limit and doubt: what the kernel noticed, what the service reported, and columns that are not of their type. */
export function allNotices(result: QueryResult): readonly Notice[] {
  const notices = [...result.notices, ...statusNotices(result), ...columnNotices(result)];
  const texts = new Set<string>();
  const isNew = ({ text }: Notice) => !texts.has(text) && texts.add(text) !== undefined;
  return notices.filter(isNew).map(({ level, text }) => ({ level, text: said(text) }));
}

/** Rows, elapsed time, rows examined, cache, trace id; each part stands alone. */
export function footerParts(result: QueryResult): readonly string[] {
  const { status, provenance } = result;
  const rows = result.tables[0]?.data.numRows ?? 0;
  const parts = [
    plural(rows, 'row'),
    `${formatMs(provenance.elapsedMs)} (${formatMs(status.elapsedTime / 1000)} in the service)`,
  ];
  parts.push(`${plural(status.rowsExamined, 'row')} examined`);
  if (status.blocksExamined > 0) {
    parts.push(`${formatCount(status.blocksCached)} of ${plural(status.blocksExamined, 'block')} cached`);
  }
  if (provenance.traceId !== undefined) parts.push(`trace ${said(provenance.traceId)}`);
  return parts;
}

/** Outside text, safe in a sentence: bounded, without invisible characters. */
export function said(text: string): string {
  return cut(visible(text), MAX_WORDS);
}

function statusNotices({ status }: QueryResult): readonly Notice[] {
  const notices: Notice[] = [];
  if (status.isPartial)
    notices.push({
      level: 'warn',
      text: 'The result is partial: the service did not read all of the data in the range.',
    });
  if (status.isEstimate)
    notices.push({ level: 'warn', text: 'The result is an estimate: the service did not count every row.' });
  for (const { priority, msg, count } of status.messages ?? []) {
    if (priority === 'trace' || priority === 'debug') continue;
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
