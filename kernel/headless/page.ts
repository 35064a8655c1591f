import { stripVTControlCharacters } from 'node:util';
import MarkdownIt from 'markdown-it';
import { escapeHtml } from '../text.js';
import {
  type CodeCell,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
  sourceOf,
  textOf,
} from './notebook.js';

/** One self-contained HTML page of an executed notebook; its policy lets no script run and loads nothing from elsewhere. */
export function notebookPage(notebook: Notebook, title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${notebook.cells.map(cellHtml).join('\n')}
</main>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; --line: #d8dee8; --code: #f5f7fa; --dim: #667085; --error: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --line: #343b48; --code: #1d222b; --dim: #98a2b3; --error: #ff8a80; }
  body { background: #14181f; color: #e6e9ee; }
}
body { margin: 0; font: 15px/1.6 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; margin: 0; overflow-x: auto; }
section { margin: 18px 0; }
.source { display: flex; gap: 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--code); padding: 10px 12px; }
.count { color: var(--dim); user-select: none; }
.output { margin: 10px 0 0; overflow-x: auto; }
.output img { max-width: 100%; }
.stderr { color: var(--dim); }
.error { color: var(--error); white-space: pre-wrap; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: 3px 9px; }
@media print {
  main { max-width: none; padding: 0; }
  .output, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
}
`;

const markdown = new MarkdownIt({ html: false, linkify: false });

function cellHtml(cell: NotebookCell): string {
  switch (cell.cell_type) {
    case 'markdown':
      return `<section>${markdown.render(sourceOf(cell))}</section>`;
    case 'raw':
      return `<section><pre>${escapeHtml(sourceOf(cell))}</pre></section>`;
    case 'code':
      return codeCellHtml(cell);
  }
}

function codeCellHtml(cell: CodeCell): string {
  const count = cell.execution_count === null ? ' ' : String(cell.execution_count);
  return `<section>
<div class="source"><pre class="count">[${count}]</pre><pre>${escapeHtml(sourceOf(cell))}</pre></div>
${cell.outputs.map(outputHtml).join('\n')}
</section>`;
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
  return escapeHtml(stripVTControlCharacters(text));
}
