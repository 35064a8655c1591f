import { randomUUID } from 'node:crypto';
import { localProfile } from '../../api/profile.js';
import type { CellIo, DisplayData } from '../../jupyter/message.js';
import { alignedLines } from '../../result/display/aligned.js';
import {
  cut,
  cutWords,
  escapeHtml,
  NO_LATEX,
  plural,
  visible,
  visibleLines,
  withCode,
  withoutTokens,
} from '../../text.js';
import type { Session } from '../session.js';

/**
 * Returns a small table as script-free HTML and as aligned text; every value is escaped for both and truncated if long, with more of
 * it in an HTML tooltip.
 */
export function tableOutput(
  headers: readonly string[],
  written: readonly (readonly string[])[],
  words: string,
): DisplayData {
  const caption = withoutTokens(cutWords(words));
  const rows = written.map(row => row.map(value => withoutTokens(value)));
  const head = headers
    .map(header => `<th scope="col" style="${headStyle}">${escapeHtml(header)}</th>`)
    .join('');
  const body = rows.map(row => `<tr>${row.map(cellHtml).join('')}</tr>`).join('');
  const name = escapeHtml(caption.split('\n')[0] ?? '');
  const table = `<div class="apl-list" role="region" aria-label="${name}" tabindex="0" style="max-height:440px;overflow:auto"><table style="margin:0"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>${listStyle}`;
  return {
    data: {
      'text/html': `<div class="${NO_LATEX}"><div style="white-space:pre-line">${withCode(caption)}</div>${rows.length === 0 ? '' : table}</div>`,
      'text/plain': [
        plainCaption(caption),
        ...(rows.length === 0 ? [] : ['', ...textLines(headers, rows)]),
      ].join('\n'),
    },
    metadata: {},
  };
}

const headStyle = 'text-align:left;white-space:pre';
/** A page without styles for tables gets space between columns; paper does not scroll, so the whole list is printed. */
const listStyle =
  '<style>:where(.apl-list :is(th,td)){padding:2px 8px}@media print{.apl-list{max-height:none!important;overflow:visible!important}.apl-list :is(th,td){white-space:pre-wrap!important;min-width:0!important;overflow-wrap:anywhere;padding:2px 6px;font-size:10.5px}.apl-list:has(th:nth-child(6)) :is(th,td){font-size:8px;padding:2px 3px}}</style>';

/** Removes backticks, which mark code only if a front end can render it. */
function plainCaption(caption: string): string {
  return visibleLines(caption).replace(/`([^`]+)`/g, '$1');
}

/** Maximum rows of a table in plain text; more would bury the output above it. */
const textRows = 60;

function textLines(headers: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const shown = rows.slice(0, textRows);
  const rest = rows.length - shown.length;
  return [
    ...alignedLines(
      [headers, ...shown].map(row =>
        row.map(value => visible(cut(value.replace(/\s+/g, ' '), longestValue))),
      ),
    ),
    ...(rest > 0 ? [`The first ${textRows} of ${plural(rows.length, 'row')} are shown.`] : []),
  ];
}

/** Returns text as an output, with its control characters made visible. */
export function textOutput(text: string): DisplayData {
  return { data: { 'text/plain': withoutTokens(visibleLines(text)) }, metadata: {} };
}

/** Returns trusted Markdown, also as its own plain text. */
export function markdownOutput(markdown: string): DisplayData {
  return { data: { 'text/markdown': markdown, 'text/plain': markdown }, metadata: {} };
}

/** Values longer than this may wrap, to lines of at least `wrappedWidth`. */
const longValue = 32;
const wrappedWidth = '16em';
/** Maximum length of a value in a cell, and in the tooltip of a truncated one. */
const longestValue = 300;
const longestTitle = 2_000;

function cellHtml(value: string): string {
  const wrapping =
    value.length > longValue ? `pre-wrap;overflow-wrap:anywhere;min-width:${wrappedWidth}` : 'pre';
  const title = value.length > longestValue ? ` title="${escapeHtml(cut(value, longestTitle))}"` : '';
  return `<td style="text-align:left;white-space:${wrapping}"${title}>${escapeHtml(cut(value, longestValue))}</td>`;
}

/** Prints one line. */
export function say(io: CellIo, text: string): void {
  io.stream('stdout', `${withoutTokens(visibleLines(text))}\n`);
}

/** Prefixes the caption with the profile, unless that is the local service. */
export function named(session: Pick<Session, 'profileName'>, caption: string): string {
  return session.profileName === localProfile ? caption : `profile ${session.profileName}: ${caption}`;
}

/** Interval between progress updates, in milliseconds. */
export const progressMs = 1_000;

/** Shows progress with the elapsed time and the text that `work` reports, then replaces it with the output of `work`. */
export async function withProgress(
  io: CellIo,
  words: string,
  work: (say: (done: string) => void) => Promise<ReturnType<typeof tableOutput>>,
): Promise<void> {
  const what = cutWords(words);
  const displayId = randomUUID();
  const started = performance.now();
  const seconds = () => Math.floor((performance.now() - started) / 1_000);
  let done = '';
  io.display({ ...textOutput(`${what} \u2026`), displayId });
  const timer = setInterval(
    () => io.updateDisplay({ ...textOutput(`${what} \u2026 ${done}${seconds()} s`), displayId }),
    progressMs,
  );
  try {
    const output = await work(text => {
      done = `${text}, `;
    });
    clearInterval(timer);
    io.updateDisplay({ ...output, displayId });
  } catch (error) {
    io.updateDisplay({ ...textOutput(`${what}: failed`), displayId });
    throw error;
  } finally {
    clearInterval(timer);
  }
}
