import { classHighlighter, highlightCode } from '@lezer/highlight';
import { aplParser } from '../../apl/editor/colors/highlight.js';
import { escapeHtml } from '../../text.js';

/** Returns a cell's source as HTML, with the classes of the editor's colors. */
export function codeHtml(source: string): string {
  let html = '';
  const put = (text: string, classes: string) => {
    html += classes === '' ? escapeHtml(text) : `<span class="${classes}">${escapeHtml(text)}</span>`;
  };
  highlightCode(source, aplParser().parse(source), classHighlighter, put, () => {
    html += '\n';
  });
  return html;
}
