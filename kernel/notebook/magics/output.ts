import stringWidth from 'string-width';
import type { DisplayData } from '../../jupyter/message.js';

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
  const text = rows.length === 0 ? caption : `${caption}\n\n${alignedText([headers, ...rows])}`;
  return {
    data: {
      'text/html': `<div style="overflow-x:auto"><div style="white-space:pre-line">${withCode(escapeHtml(caption))}</div>${table}</div>`,
      'text/plain': text,
    },
    metadata: {},
  };
}

/** Returns a line of text, with its control characters made visible. */
export function textOutput(text: string): DisplayData {
  return { data: { 'text/plain': visible(text) }, metadata: {} };
}

/** Returns Markdown of our own making, with itself as plain text. */
export function markdownOutput(markdown: string): DisplayData {
  return { data: { 'text/markdown': markdown, 'text/plain': markdown }, metadata: {} };
}

/** Returns the text with control characters, which a terminal would obey, made visible; newlines and tabs stay. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, control =>
    control === '\n' || control === '\t'
      ? control
      : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the text on one line, cut to a length that is said. */
export function oneLine(text: string, limit = 120): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/** Returns the text as HTML content. */
export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return visible(text).replace(/[&<>"']/g, character => names[character] ?? character);
}

/** Longer values may be broken into lines, of no less than `longWidth`. */
const longValue = 60;
const longWidth = '24em';

function cellHtml(value: string): string {
  const wrapping = value.length > longValue ? `pre-wrap;min-width:${longWidth}` : 'pre';
  return `<td style="text-align:left;white-space:${wrapping}">${escapeHtml(value)}</td>`;
}

/** What stands between backticks in escaped text, as code. */
function withCode(html: string): string {
  return html.replace(/`([^`]+)`/g, '<code>$1</code>');
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
