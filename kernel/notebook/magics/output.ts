import stringWidth from 'string-width';
import type { DisplayData } from '../../jupyter/message.js';
import { escapeHtml, visible, visibleLines } from '../../text.js';

/** Returns a small table for reading, as script-free HTML and as aligned text; every value is escaped for both. */
export function tableOutput(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  caption: string,
): DisplayData {
  const head = headers
    .map(header => `<th style="text-align:left;white-space:pre">${escapeHtml(header)}</th>`)
    .join('');
  const body = rows.map(row => `<tr>${row.map(cellHtml).join('')}</tr>`).join('');
  const table =
    rows.length === 0 ? '' : `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
  const words = visibleLines(caption);
  const text = rows.length === 0 ? words : `${words}\n\n${alignedText([headers, ...rows])}`;
  return {
    data: {
      'text/html': `<div style="overflow-x:auto"><div style="white-space:pre-line">${withCode(caption)}</div>${table}</div>`,
      'text/plain': text,
    },
    metadata: {},
  };
}

/** Returns a line of text, with its control characters made visible. */
export function textOutput(text: string): DisplayData {
  return { data: { 'text/plain': visibleLines(text) }, metadata: {} };
}

/** Returns Markdown of our own making, with itself as plain text. */
export function markdownOutput(markdown: string): DisplayData {
  return { data: { 'text/markdown': markdown, 'text/plain': markdown }, metadata: {} };
}

/** Longer values may be broken into lines, of no less than `longWidth`. */
const longValue = 60;
const longWidth = '24em';

function cellHtml(value: string): string {
  const wrapping = value.length > longValue ? `pre-wrap;min-width:${longWidth}` : 'pre';
  return `<td style="text-align:left;white-space:${wrapping}">${escapeHtml(value)}</td>`;
}

/** HTML of text in which backticks enclose code. */
function withCode(text: string): string {
  const parts = text.split(/`([^`]+)`/).map(escapeHtml);
  return parts.map((part, index) => (index % 2 === 0 ? part : `<code>${part}</code>`)).join('');
}

function alignedText(rows: readonly (readonly string[])[]): string {
  const cells = rows.map(row => row.map(value => visible(value.replace(/\s+/g, ' '))));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map(row => stringWidth(row[column] ?? ''))),
  );
  return cells
    .map(row =>
      row
        .map((value, column) => value + ' '.repeat((widths[column] ?? 0) - stringWidth(value)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
