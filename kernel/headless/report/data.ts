import type { Table } from 'apache-arrow';
import { delimited } from '../../result/export/export-lines.js';
import { tableOf } from '../../result/ipc/codec.js';
import { escapeHtml, formatCount, plural } from '../../text.js';
import { type NotebookOutput, textOf } from '../notebook.js';

/** The registered type of an Arrow IPC stream. */
const ARROW = 'application/vnd.apache.arrow.stream';

type ShownOutput = Extract<NotebookOutput, { readonly data: unknown }>;

/**
 * Returns a link that saves a table's rows in the notebook as CSV, without a script; empty for an output without rows. `title`
 * begins the file name.
 */
export function dataLink({ data, metadata }: ShownOutput, title: string): string {
  const stream = data[ARROW];
  const text = typeof stream === 'string' || Array.isArray(stream) ? textOf(stream) : '';
  if (text === '') return '';
  const table = tableIn(text);
  if (table === undefined || table.numRows === 0) return '';
  const csv = [...delimited(table, ',')].map(({ part }) => part).join('');
  const href = `data:text/csv;charset=utf-8;base64,${base64Of(csv)}`;
  return `<p class="data"><a download="${fileName(title)}.csv" href="${href}">Data as CSV</a>${partText(table, metadata)}</p>`;
}

/** Returns the table in an Arrow stream; undefined if it is damaged. */
function tableIn(base64: string): Table | undefined {
  try {
    return tableOf(Uint8Array.from(atob(base64), character => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** Describes what the link lacks: a notebook stores only as much of a large result as it has room for. */
function partText({ numRows, numCols }: Table, { apl }: ShownOutput['metadata']): string {
  const result = memberOf(apl, 'tables');
  const whole = Array.isArray(result) ? result[0] : undefined;
  const [rows, columns] = [memberOf(whole, 'rows'), memberOf(whole, 'columns')];
  const parts = [
    ...(typeof rows === 'number' && rows > numRows
      ? [`the first ${formatCount(numRows)} of ${plural(rows, 'row')}`]
      : []),
    ...(typeof columns === 'number' && columns > numCols
      ? [`the first ${formatCount(numCols)} of ${plural(columns, 'column')}`]
      : []),
  ];
  return parts.length === 0 ? '' : escapeHtml(` (${parts.join(', ')})`);
}

/** Returns a member of a value that may not be an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Returns a file name of letters, digits and hyphens. */
function fileName(title: string): string {
  const words = title
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return [...words].slice(0, 60).join('') || 'data';
}

/** Encodes a string as UTF-8, then base64. */
export function base64Of(text: string): string {
  const parts: string[] = [];
  const bytes = new TextEncoder().encode(text);
  for (let from = 0; from < bytes.length; from += PART)
    parts.push(String.fromCharCode(...bytes.subarray(from, from + PART)));
  return btoa(parts.join(''));
}

/** Maximum arguments of one call. */
const PART = 8_192;
