import { present } from '../present.js';
import { type CodeCell, type Notebook, type NotebookCell, sourceOf, type TextCell } from './notebook.js';

/**
 * Parses an `.apl` file: `// %%` begins a cell, `// %% [markdown]` and `// %% [raw]` a cell of commented text, optionally followed
 * by `tags=["…"]` and a title. Blank lines around a cell are dropped.
 */
export function parseScript(text: string): Notebook {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const starts = lines.flatMap((line, index) => (MARKER.test(line) ? [index] : []));
  const parts = [0, ...starts].map((start, index) => ({
    start,
    end: starts[index] ?? lines.length,
    hasMarker: index > 0,
  }));
  const cells = parts
    .filter(
      ({ start, end, hasMarker }) => hasMarker || lines.slice(start, end).some(line => line.trim() !== ''),
    )
    .map(({ start, end, hasMarker }, index) =>
      hasMarker
        ? cellOf(lines[start] ?? '', lines.slice(start + 1, end), start + 1, index)
        : cellOf('// %%', lines.slice(start, end), start, index),
    );
  return {
    cells,
    metadata: {
      kernelspec: { name: 'apl', display_name: 'APL (Axiom)', language: 'axiom-apl' },
      language_info: { name: 'axiom-apl', file_extension: '.apl', mimetype: 'text/x-axiom-apl' },
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
}

/** Returns a notebook as an `.apl` file: every cell with its tags and title, without outputs. */
export function scriptOf(notebook: Notebook): string {
  return notebook.cells.map(cell => `${[markerOf(cell), ...bodyOf(cell)].join('\n')}\n`).join('\n');
}

/** Returns the line, from 1, at which a cell's source begins in its `.apl` file; undefined for a notebook cell. */
export function lineOf(cell: NotebookCell): number | undefined {
  return scriptLines.get(cell);
}

const scriptLines = new WeakMap<NotebookCell, number>();

const MARKER = /^\/\/ %%(?: |$)/;
/** A line of a cell that looks like a marker gets a backslash before the percent signs. */
const ESCAPED = /^\/\/ \\(\\*%%(?: |$))/;
const ESCAPABLE = /^\/\/ (\\*%%(?: |$))/;

type Kind = NotebookCell['cell_type'];

function cellOf(marker: string, lines: readonly string[], before: number, index: number): NotebookCell {
  const [, kind = 'code', tags, title = ''] =
    /^\/\/ %%(?: \[(markdown|raw)\])?(?: tags=(\[[^\]]*\]))?(?: (.*))?$/.exec(marker) ?? [];
  const first = Math.max(
    0,
    lines.findIndex(line => line.trim() !== ''),
  );
  const last = lines.findLastIndex(line => line.trim() !== '');
  const body = lines.slice(first, last + 1).map(line => line.replace(ESCAPED, '// $1'));
  const metadata = present({ tags: tagsOf(tags), title: title.trim() || undefined });
  const common = { id: `cell-${index}`, metadata };
  const cell: CodeCell | TextCell =
    kind === 'code'
      ? { cell_type: 'code', ...common, source: body.join('\n'), execution_count: null, outputs: [] }
      : { cell_type: kind as 'markdown' | 'raw', ...common, source: body.map(uncommented).join('\n') };
  scriptLines.set(cell, before + first + 1);
  return cell;
}

function tagsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  try {
    const tags: unknown = JSON.parse(text);
    return Array.isArray(tags) ? tags.map(String) : undefined;
  } catch {
    return undefined;
  }
}

function uncommented(line: string): string {
  return line.replace(/^\/\/ ?/, '');
}

function markerOf({ cell_type, metadata }: NotebookCell): string {
  const kind: Readonly<Record<Kind, string>> = { code: '', markdown: ' [markdown]', raw: ' [raw]' };
  const tags =
    metadata.tags === undefined || metadata.tags.length === 0 ? '' : ` tags=${JSON.stringify(metadata.tags)}`;
  const title = typeof metadata.title === 'string' ? ` ${metadata.title.replace(/\s+/g, ' ').trim()}` : '';
  return `// %%${kind[cell_type]}${tags}${title}`;
}

function bodyOf(cell: NotebookCell): readonly string[] {
  const source = sourceOf(cell).replaceAll('\r\n', '\n');
  const lines =
    source.trim() === ''
      ? []
      : source
          .replace(/^(?:[^\S\n]*\n)+/, '')
          .replace(/\n\s*$/, '')
          .split('\n');
  const isCode = cell.cell_type === 'code';
  return lines
    .map(line => (isCode ? line : line === '' ? '//' : `// ${line}`))
    .map(line => line.replace(ESCAPABLE, '// \\$1'));
}
