import MarkdownIt from 'markdown-it';
import { parseCell } from '../../apl/syntax/cell.js';
import { besideClass, columnIn } from '../../result/beside.js';
import { escapeHtml, isolated, visible, visibleAgain, withoutTokens } from '../../text.js';
import {
  type CodeCell,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
  sourceOf,
  textOf,
} from '../notebook.js';
import { codeHtml } from './code.js';
import { base64Of, dataLink, memberOf } from './data.js';
import { type ReportFacts, reportFacts } from './report-facts.js';
import { REPORT_STYLE, SETUP_STYLE } from './report-style.js';

/** How a report shows the cells themselves: in full, behind a click, or not at all. */
export type CodeView = 'show' | 'fold' | 'hide';

/** Options of a report. */
export interface ReportOptions {
  /** Title of a notebook without a heading. */
  readonly title: string;
  /** Default: `show`. */
  readonly code?: CodeView;
  /**
   * Whether to show what setup lines print, such as `Using local`, and the types of fields. Default: only for a notebook in another
   * language.
   */
  readonly setup?: boolean;
}

/** Returns a self-contained HTML page of an executed notebook; its content security policy blocks scripts and external loads. */
export function notebookPage(notebook: Notebook, options: ReportOptions): string {
  const { title, setup = isOtherLanguage(notebook) } = options;
  const heading = headingOf(notebook);
  const view = { code: options.code ?? 'show', setup, title: heading ?? title };
  const body = partsOf(withoutHeading(notebook)).map(cells => partHtml(cells, view));
  const facts = factsHtml(reportFacts(notebook));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${escapeHtml(heading ?? title)}</title>
<style>${REPORT_STYLE}${setup ? '' : SETUP_STYLE}</style>
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

/** In another language, printed text is the result. */
function isOtherLanguage({ metadata: { kernelspec, language_info } }: Notebook): boolean {
  const names = [memberOf(kernelspec, 'language'), memberOf(language_info, 'name')];
  return names.some(name => typeof name === 'string' && name !== 'axiom-apl');
}

const TOP_HEADING = /^\s*# +(\S[^\n]*)(?:\n|$)/;

/** Returns the text of a heading at the very beginning. */
function headingOf({ cells }: Notebook): string | undefined {
  const [first] = cells;
  return first?.cell_type === 'markdown'
    ? TOP_HEADING.exec(withoutTokens(sourceOf(first)))?.[1]?.trim()
    : undefined;
}

/** Removes the first heading, which is already shown above the facts. */
function withoutHeading({ cells }: Notebook): readonly NotebookCell[] {
  return cells.map((cell, index) =>
    index === 0 && cell.cell_type === 'markdown'
      ? { ...cell, source: sourceOf(cell).replace(TOP_HEADING, '') }
      : cell,
  );
}

function factsHtml(facts: ReportFacts): string {
  if (facts.length === 0) return '';
  const pairs = facts.map(([name, value, written = escapeHtml]) => {
    return `<dt>${name}</dt><dd>${written(withoutTokens(visible(value)))}</dd>`;
  });
  return `<dl class="facts">${pairs.join('')}</dl>`;
}

/** Groups the cells from one heading to the next; printed pages break between groups if possible. */
function partsOf(cells: readonly NotebookCell[]): readonly (readonly NotebookCell[])[] {
  const starts = cells.flatMap((cell, index) => (index === 0 || beginsPart(cell) ? [index] : []));
  return starts.map((start, index) => cells.slice(start, starts[index + 1]));
}

function beginsPart(cell: NotebookCell): boolean {
  return cell.cell_type === 'markdown' && /^\s*##? /.test(sourceOf(cell));
}

type PageView = Required<ReportOptions>;

function partHtml(cells: readonly NotebookCell[], view: PageView): string {
  const sections = cells.map(cell => cellHtml(cell, view)).filter(html => html !== '');
  return sections.length === 0 ? '' : `<div class="part">\n${sections.join('\n')}\n</div>`;
}

const markdown = new MarkdownIt({ html: false, linkify: false });

function cellHtml(cell: NotebookCell, view: PageView): string {
  switch (cell.cell_type) {
    case 'markdown':
      return sectionHtml(markdown.render(withoutTokens(sourceOf(cell))));
    case 'raw':
      return sectionHtml(`<pre>${escapeHtml(withoutTokens(sourceOf(cell)))}</pre>`);
    case 'code': {
      const outputs = view.setup ? cell.outputs : cell.outputs.filter(output => !isSetup(output));
      return sectionHtml([sourceHtml(cell, view), outputsHtml(outputs, view)].join('\n'));
    }
  }
}

/** Returns whether an output is setup: text that magics print, or an output marked as setup, such as the fields of an import. */
function isSetup(output: NotebookOutput): boolean {
  if (output.output_type === 'stream') return output.name === 'stdout';
  if (output.output_type === 'error') return false;
  return memberOf(output.metadata.apl, 'setup') === true;
}

function sectionHtml(content: string): string {
  return content.trim() === '' ? '' : `<section>${content}</section>`;
}

/** Folds only cells with queries: a cell of magics alone has nothing to open. */
function sourceHtml(cell: CodeCell, { code, setup }: PageView): string {
  const source = sourceOf(cell);
  if (code === 'hide' || source.trim() === '') return '';
  const box = `<div class="source"><pre>${codeHtml(withoutTokens(source))}</pre></div>`;
  if (code === 'show') return box;
  if (!setup && parseCell(source).queries.length === 0) return '';
  return `<details class="code"><summary>Query</summary>${box}</details>`;
}

/** Renders the outputs of a cell, side by side if laid out so. */
function outputsHtml(outputs: readonly NotebookOutput[], view: PageView): string {
  const placed = outputs.map(output => {
    const column = 'metadata' in output ? columnIn(output.metadata.apl) : undefined;
    const html = outputHtml(output, view);
    return {
      column,
      html: column === undefined ? html : `<div class="${besideClass(column)}">${html}</div>`,
    };
  });
  const html = placed.map(each => each.html).join('\n');
  return placed.some(({ column }) => column !== undefined) ? `<div class="columns">${html}</div>` : html;
}

function outputHtml(output: NotebookOutput, { title }: PageView): string {
  switch (output.output_type) {
    case 'stream':
      return `<pre class="output ${output.name}">${plainText(textOf(output.text))}</pre>`;
    case 'error':
      return `<pre class="output error">${plainText(output.traceback.join('\n'))}</pre>`;
    case 'display_data':
    case 'execute_result':
      return `<div class="output">${bundleHtml(output.data)}</div>${dataLink(output, title)}`;
  }
}

/** Renders the richest form that needs no script: HTML, then Markdown, an image, plain text. */
function bundleHtml(data: Readonly<Record<string, unknown>>): string {
  const html = partOf(data['text/html']);
  if (html !== undefined) return html;
  const prose = partOf(data['text/markdown']);
  if (prose !== undefined) return markdown.render(prose);
  const plain = partOf(data['text/plain']) ?? '';
  const alt = plainText(plain, isolated);
  const svg = partOf(data['image/svg+xml']);
  if (svg !== undefined) return `<img alt="${alt}" src="data:image/svg+xml;base64,${base64Of(svg)}">`;
  const png = partOf(data['image/png']);
  if (png !== undefined) return `<img alt="${alt}" src="data:image/png;base64,${escapeHtml(png)}">`;
  return `<pre>${plainText(plain)}</pre>`;
}

function partOf(value: unknown): string | undefined {
  return Array.isArray(value) || typeof value === 'string' ? textOf(value) : undefined;
}

/** Returns text without terminal colors; other control characters become visible marks. */
function plainText(text: string, around = (name: string) => `<bdi>${name}</bdi>`): string {
  return visibleAgain(withoutTokens(text.replace(COLORS, '')), around, escapeHtml);
}

const ESCAPE = String.fromCharCode(27);
const COLORS = new RegExp(`${ESCAPE}\\[[\\d;:]*m`, 'g');
