import type { BindEnvironment } from '../plan/plan.js';
import type { Span } from '../syntax/ast.js';
import { splitCell, withoutPrefix } from '../syntax/cell.js';
import { directives, directivesIn } from '../syntax/readers/charting.js';
import { splitFile } from '../syntax/syntax-file.js';
import { type Completions, complete, type EditorEnvironment } from './completion/complete.js';
import { definition, type Renaming, references, rename } from './editor-definition.js';
import { type Hover, hover, type SignatureHelp, signatureHelp } from './help/hover.js';
import { withResults } from './known.js';
import { format } from './layout/layout-format.js';

/** Returns the completions at `offset` in a cell; none in its magic lines. */
export function completeCell(cell: string, offset: number, environment: EditorEnvironment): Completions {
  const directive = completeDirective(cell, offset);
  if (directive !== undefined) return directive;
  const lineEnd = cell.indexOf('\n', offset);
  const rest = cell.slice(offset, lineEnd < 0 ? cell.length : lineEnd);
  // A letter at the cursor starts a statement there, even if there is none yet.
  const before = queryOf(`${cell.slice(0, offset)}x`).slice(0, offset);
  return complete(before + rest, offset, withResults(cell, environment));
}

/** Completes names after `// @` and values after `// @viz` and the like; returns undefined anywhere else. */
function completeDirective(cell: string, offset: number): Completions | undefined {
  const line = cell.slice(cell.lastIndexOf('\n', offset - 1) + 1, offset);
  const [, name = '', space, value = ''] = /^\s*\/\/\s*@(\w*)(?:(\s+)(\w*))?$/.exec(line) ?? [];
  const all = Object.entries(directives);
  const known = all.find(([each]) => each === name)?.[1];
  if (!/^\s*\/\/\s*@/.test(line) || (space !== undefined && !known?.values?.length)) return undefined;
  const typed = space === undefined ? name : value;
  const items: readonly (readonly [string, string])[] =
    space === undefined
      ? all.map(([label, { doc }]) => [label, doc])
      : (known?.values ?? []).map(label => [label, known?.doc ?? '']);
  return {
    from: offset - typed.length,
    to: offset,
    items: items
      .filter(([label]) => label.startsWith(typed))
      .map(([label, doc], rank) => ({ label, insert: label, kind: 'option', doc, rank })),
  };
}

/** Explains the element, or the directive, at `offset` in a cell. */
export function hoverCell(cell: string, offset: number, environment: BindEnvironment): Hover | undefined {
  const directive = hoverDirective(cell, offset);
  if (directive !== undefined) return directive;
  return hover(queryOf(cell), offset, withResults(cell, environment));
}

/** Explains a directive, anywhere between its `@` and the end of its value. */
function hoverDirective(cell: string, offset: number): Hover | undefined {
  const start = cell.lastIndexOf('\n', offset - 1) + 1;
  const [line = ''] = cell.slice(start).split('\n', 1);
  const [found] = directivesIn(line);
  if (found === undefined) return undefined;
  const [from, to] = [start + found.name.from - 1, start + found.to];
  const name = line.slice(found.name.from, found.name.to);
  const known = Object.entries(directives).find(([each]) => each === name)?.[1];
  if (known === undefined || offset < from || offset > to) return undefined;
  const { values = [], argument } = known;
  const word = argument === undefined ? '' : ` ${argument}`;
  const kinds = argument === 'KIND' ? ` KIND is ${values.join(', ')}.` : '';
  const [usage, doc] = [`// @${name}${word}`, `${known.doc}${kinds}`];
  return { from, to, markdown: `\`${usage}\`\n\n${doc}`, plain: `${usage}\n\n${doc}` };
}

/** Returns the signature of the innermost open call at `offset` in a cell. */
export function signatureInCell(cell: string, offset: number): SignatureHelp | undefined {
  return signatureHelp(queryOf(cell), offset);
}

/** Returns the definition of the `let` name at `offset` in a cell; undefined for anything else. */
export function definitionInCell(
  cell: string,
  offset: number,
  environment: BindEnvironment,
): Span | undefined {
  return definition(queryOf(cell), offset, environment);
}

/** Returns the definition of the `let` name at `offset` in a cell, then its uses. */
export function referencesInCell(
  cell: string,
  offset: number,
  environment: BindEnvironment,
): readonly Span[] {
  return references(queryOf(cell), offset, environment);
}

/** Returns the edits that rename the `let` name at `offset` in a cell. */
export function renameInCell(
  cell: string,
  offset: number,
  newName: string,
  environment: BindEnvironment,
): Renaming {
  return rename(queryOf(cell), offset, newName, environment);
}

/** Formats a cell, or each cell of a file; the text between cells is unchanged. */
export function formatCells(source: string): string {
  return splitFile(source)
    .map(({ from, body, to, prose }) => {
      const text = source.slice(body, to);
      const end = text.trimEnd().length;
      return source.slice(from, body) + (prose ? text : format(text.slice(0, end)) + text.slice(end));
    })
    .join('');
}

/**
 * Returns a cell as one sequence of statements of the same length, which keeps offsets valid: magic lines and result names are blanked out,
 * and every statement except the last ends in a semicolon.
 */
export function queryOf(cell: string): string {
  const source = withoutPrefix(cell);
  const { magics, statements } = splitCell(source);
  let text = '';
  const copy = (to: number): void => {
    text += source.slice(text.length, to);
  };
  const blank = (to: number): void => {
    text += source.slice(text.length, to).replace(/[^\n]/g, ' ');
  };
  for (const magic of magics) {
    copy(magic.from);
    blank(magic.to);
  }
  for (const [index, { from, to, result }] of statements.entries()) {
    if (result !== undefined) {
      copy(result.from);
      blank(from);
    }
    copy(to);
    const next = statements[index + 1];
    if (next === undefined) continue;
    const gap = source.slice(to, next.result?.from ?? next.from);
    if (gap.includes(';')) continue;
    copy(to + Math.max(0, gap.lastIndexOf('\n')));
    text += ';';
  }
  return text + source.slice(text.length);
}
