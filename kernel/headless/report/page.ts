import { stripVTControlCharacters } from 'node:util';
import MarkdownIt from 'markdown-it';
import { escapeHtml, visible, withoutTokens } from '../../text.js';
import {
  type CodeCell,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
  sourceOf,
  textOf,
} from '../notebook.js';
import { codeHtml } from './code.js';
import { type ReportFacts, reportFacts } from './facts.js';
import { REPORT_STYLE } from './style.js';

/** How a report shows the cells themselves: in full, behind a click, or not at all. */
export type CodeView = 'show' | 'fold' | 'hide';

/** What a report is made with, besides the notebook. */
export interface ReportOptions {
  /** Its title where the notebook has no heading. */
  readonly title: string;
  /** Default: `show`. */
  readonly code?: CodeView;
}

/** One self-contained HTML page of an executed notebook; its policy lets no script run and loads nothing from elsewhere. */
export function notebookPage(notebook: Notebook, { title, code = 'show' }: ReportOptions): string {
  const heading = headingOf(notebook);
  const body = partsOf(withoutHeading(notebook)).map(cells => partHtml(cells, code));
  const facts = factsHtml(reportFacts(notebook));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${escapeHtml(heading ?? title)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<main>
<h1>${heading === undefined ? escapeHtml(title) : markdown.renderInline(heading)}</h1>
${facts}
${body.join('\n')}
</main>
</body>
</html>
`;
}

const TOP_HEADING = /^\s*# +(.+?)\s*(?:\n|$)/;

/** The words of a heading at the very beginning. */
function headingOf({ cells }: Notebook): string | undefined {
  const [first] = cells;
  return first?.cell_type === 'markdown' ? TOP_HEADING.exec(withoutTokens(sourceOf(first)))?.[1] : undefined;
}

/** The heading stands above the facts already. */
function withoutHeading({ cells }: Notebook): readonly NotebookCell[] {
  return cells.map((cell, index) =>
    index === 0 && cell.cell_type === 'markdown'
      ? { ...cell, source: sourceOf(cell).replace(TOP_HEADING, '') }
      : cell,
  );
}

function factsHtml(facts: ReportFacts): string {
  if (facts.length === 0) return '';
  const pairs = facts.map(
    ([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(withoutTokens(visible(value)))}</dd>`,
  );
  return `<dl class="facts">${pairs.join('')}</dl>`;
}

/** The cells from one heading to the next; a page of paper ends between them where it can. */
function partsOf(cells: readonly NotebookCell[]): readonly (readonly NotebookCell[])[] {
  const starts = cells.flatMap((cell, index) => (index === 0 || beginsPart(cell) ? [index] : []));
  return starts.map((start, index) => cells.slice(start, starts[index + 1]));
}

function beginsPart(cell: NotebookCell): boolean {
  return cell.cell_type === 'markdown' && /^\s*##? /.test(sourceOf(cell));
}

function partHtml(cells: readonly NotebookCell[], code: CodeView): string {
  const sections = cells.map(cell => cellHtml(cell, code)).filter(html => html !== '');
  return sections.length === 0 ? '' : `<div class="part">\n${sections.join('\n')}\n</div>`;
}

const markdown = new MarkdownIt({ html: false, linkify: false });

function cellHtml(cell: NotebookCell, code: CodeView): string {
  switch (cell.cell_type) {
    case 'markdown':
      return sectionHtml(markdown.render(withoutTokens(sourceOf(cell))));
    case 'raw':
      return sectionHtml(`<pre>${escapeHtml(withoutTokens(sourceOf(cell)))}</pre>`);
    case 'code':
      return sectionHtml([sourceHtml(cell, code), ...cell.outputs.map(outputHtml)].join('\n'));
  }
}

function sectionHtml(content: string): string {
  return content.trim() === '' ? '' : `<section>${content}</section>`;
}

function sourceHtml(cell: CodeCell, code: CodeView): string {
  const source = sourceOf(cell);
  if (code === 'hide' || source.trim() === '') return '';
  const box = `<div class="source"><pre>${codeHtml(withoutTokens(source))}</pre></div>`;
  return code === 'show' ? box : `<details class="code"><summary>Query</summary>${box}</details>`;
}

function outputHtml(output: NotebookOutput): string {
  switch (output.output_type) {
    case 'stream':
      return `<pre class="output ${output.name}">${plainText(textOf(output.text))}</pre>`;
    case 'error':
      return `<pre class="output error">${plainText(output.traceback.join('\n'))}</pre>`;
    case 'display_data':
    case 'execute_result':
      return `<div class="output">${bundleHtml(output.data)}</div>`;
  }
}

/** The richest form that needs no script: HTML, then Markdown, an image, plain text. */
function bundleHtml(data: Readonly<Record<string, unknown>>): string {
  const html = partOf(data['text/html']);
  if (html !== undefined) return html;
  const prose = partOf(data['text/markdown']);
  if (prose !== undefined) return markdown.render(prose);
  const alt = plainText(partOf(data['text/plain']) ?? '');
  const svg = partOf(data['image/svg+xml']);
  if (svg !== undefined)
    return `<img alt="${alt}" src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">`;
  const png = partOf(data['image/png']);
  if (png !== undefined) return `<img alt="${alt}" src="data:image/png;base64,${escapeHtml(png)}">`;
  return `<pre>${alt}</pre>`;
}

function partOf(value: unknown): string | undefined {
  return Array.isArray(value) || typeof value === 'string' ? textOf(value) : undefined;
}

function plainText(text: string): string {
  return escapeHtml(withoutTokens(stripVTControlCharacters(text)));
}
