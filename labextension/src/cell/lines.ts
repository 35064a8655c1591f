/**
 * Texts of cells as commands, toolbar and panel change them. Each takes a source and returns another; nothing here knows a notebook.
 */
import type { Span } from '../../../kernel/apl/syntax/ast.js';
import { type MagicLine, parseCell, splitCell } from '../../../kernel/apl/syntax/cell.js';

/** A magic that a toolbar sets for the session. */
export type Setting = 'time' | 'use';

/** A cell of a notebook that runs. */
export interface CodeCell {
  readonly source: string;
  readonly isEditable: boolean;
}

/** The magics that hold for one cell when they are written with `%%`. */
const perCell: ReadonlySet<string> = new Set(['time', 'limit', 'rows', 'retain']);

/**
 * Returns which cell records a setting, and its new text: the line that holds at `active` is replaced, or one goes to the top of the
 * first cell. Undefined where that cell cannot be edited.
 */
export function recordSetting(
  cells: readonly CodeCell[],
  active: number,
  name: Setting,
  line: string,
): { readonly index: number; readonly source: string } | undefined {
  for (let index = Math.min(active, cells.length - 1); index >= 0; index -= 1) {
    const cell = cells[index];
    const held = cell && settingLine(cell.source, name);
    if (cell === undefined || held === undefined) continue;
    return cell.isEditable ? { index, source: replaced(cell.source, [held], () => line) } : undefined;
  }
  const [first] = cells;
  if (first?.isEditable !== true) return undefined;
  return { index: 0, source: first.source === '' ? line : `${line}\n${first.source}` };
}

/** The last line of a cell that sets it for the cells below. */
function settingLine(source: string, name: Setting): MagicLine | undefined {
  const names = name === 'use' ? ['use', 'connect'] : [name];
  return parseCell(source).magics.findLast(
    magic => !magic.cell && names.includes(magic.name.toLowerCase()) && magic.args !== '',
  );
}

/** Returns the cell as it runs over another range: nothing of it holds for the notebook, and nothing is saved as a starred query. */
export function overRange(source: string, range: string): string {
  const line = `%%time ${range}`;
  const own = parseCell(source).magics.filter(({ name }) => ['time', 'star'].includes(name.toLowerCase()));
  const times = own.filter(({ name }) => name.toLowerCase() === 'time');
  if (times.length === 0) return `${line}\n${replaced(source, own, () => '')}`;
  return replaced(source, own, magic => (magic === times[0] ? line : ''));
}

/** Returns the lines that save the query at `offset` as a starred query without running it; undefined where there is no query. */
export function starCode(source: string, offset: number, star: string): string | undefined {
  const query = queryAt(source, offset);
  return query === undefined ? undefined : [star, ...settingsOf(source), query.text].join('\n');
}

/** Returns the line that creates a starred query, or changes the one of an id. */
export function starLine(star: { readonly id: string } | { readonly name: string }): string {
  return 'id' in star ? `%star ${quoted(star.id)} --no-run` : `%star --new ${quoted(star.name)} --no-run`;
}

/** Returns a word of a magic line, whatever it holds. */
export function quoted(word: string): string {
  return /^[\w-]+$/.test(word) && !word.startsWith('-')
    ? word
    : `"${word.replace(/\s+/g, ' ').replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a name for the query at `offset`: its first comment, else its first line. */
export function suggestedName(source: string, offset: number): string {
  const query = queryAt(source, offset);
  const text = query === undefined ? '' : source.slice(query.from, query.to);
  const comment = /^[ \t]*\/\/[ \t]*([^\s@].*)$/m.exec(text)?.[1];
  const line = text.split('\n').find(each => each.trim() !== '' && !each.trimStart().startsWith('//'));
  return (comment ?? line ?? '').trim().slice(0, 80);
}

/**
 * Returns a cell that runs what is selected, or the query at the cursor where nothing is: with the cell's magics, which hold for this run
 * alone, its directives, and the `let`, `set` and `declare` statements before it. Undefined where there is nothing to run.
 */
export function selectedCode(source: string, from: number, to: number): string | undefined {
  const selected = source.slice(from, to).trim();
  const statement = selected === '' ? statementAt(source, from) : undefined;
  if (selected === '' && statement === undefined) return undefined;
  const run = statement ?? { from, to };
  const isBefore = (span: Span): boolean => span.to <= run.from;
  const shared = parseCell(source).shared.filter(isBefore);
  return [
    ...settingsOf(source.slice(0, Math.max(run.from, 0))),
    ...directivesBefore(source, run.from),
    ...shared.map(span => `${source.slice(span.from, span.to)};`),
    source.slice(run.from, run.to).trim(),
  ].join('\n');
}

/** Returns the cell with the line that says how the query at `offset` is drawn; without one for undefined. */
export function withChartKind(source: string, offset: number, kind: string | undefined): string {
  const statement = statementAt(source, offset);
  if (statement === undefined) return source;
  const before = vizLines(source, statement);
  const [first] = before;
  const line = kind === undefined ? '' : `// @viz ${kind}`;
  if (first !== undefined) return without(source, kind === undefined ? before : before.slice(1), first, line);
  if (kind === undefined) return source;
  const at = source.lastIndexOf('\n', codeStart(source, statement) - 1) + 1;
  return `${source.slice(0, at)}${line}\n${source.slice(at)}`;
}

/** The kind of chart that the query at `offset` asks for; undefined where it leaves that to its result. */
export function chartKind(source: string, offset: number): string | undefined {
  const statement = statementAt(source, offset);
  const [line] = statement === undefined ? [] : vizLines(source, statement);
  return line && /@viz\s+(\w+)/.exec(source.slice(line.from, line.to))?.[1]?.toLowerCase();
}

/** The comments that say how a statement is drawn: those in it, and those above it after the statement before. */
function vizLines(source: string, statement: Span): readonly Span[] {
  const { statements, magics } = splitCell(source);
  const ends = [...statements.map(({ to }) => to), ...magics.map(({ to }) => to)];
  const from = Math.max(0, ...ends.filter(to => to <= statement.from));
  const pattern = /^[ \t]*\/\/[ \t]*@viz\b.*$/gm;
  const region = source.slice(from, statement.to);
  return [...region.matchAll(pattern)].map(match => ({
    from: from + match.index,
    to: from + match.index + match[0].length,
  }));
}

/** The text with one line replaced, or taken out where it is empty, and others taken out. */
function without(source: string, out: readonly Span[], line: Span, by: string): string {
  const edits = [
    ...out.filter(each => each !== line).map(span => ({ span, text: '' })),
    { span: line, text: by },
  ];
  return edits
    .toSorted((a, b) => b.span.from - a.span.from)
    .reduce((text, { span, text: insert }) => {
      const to = insert === '' && text[span.to] === '\n' ? span.to + 1 : span.to;
      return text.slice(0, span.from) + insert + text.slice(to);
    }, source);
}

/** Where the code of a statement starts, after the comments that belong to it. */
function codeStart(source: string, { from, to }: Span): number {
  let at = from;
  for (const line of source.slice(from, to).split('\n')) {
    if (line.trim() !== '' && !line.trimStart().startsWith('//')) break;
    at += line.length + 1;
  }
  return Math.min(at, to);
}

/** The query that `offset` is in, else the last one before it, else the first. */
function queryAt(source: string, offset: number) {
  const { queries } = parseCell(source);
  return (
    queries.find(({ from, to }) => from <= offset && offset <= to) ??
    queries.findLast(({ to }) => to <= offset) ??
    queries[0]
  );
}

/** As `queryAt`, with the name that its result is given. */
function statementAt(source: string, offset: number): Span | undefined {
  const query = queryAt(source, offset);
  if (query === undefined) return undefined;
  const own = splitCell(source).statements.find(each => each.from === query.from);
  return { from: own?.result?.from ?? query.from, to: query.to };
}

/** The magics of a cell that say how its queries run, each for one cell. */
function settingsOf(source: string): readonly string[] {
  return parseCell(source)
    .magics.filter(({ name, args }) => perCell.has(name.toLowerCase()) && args !== '')
    .map(({ name, args }) => `%%${name} ${args}`);
}

/** The comments above a place that say how results are shown, such as `// @viz bar`; a later one of a kind takes precedence. */
function directivesBefore(source: string, offset: number): readonly string[] {
  return source.slice(0, offset).match(/^[ \t]*\/\/[ \t]*@\w.*$/gm) ?? [];
}

/** The text with each line replaced by another. */
function replaced(source: string, lines: readonly MagicLine[], by: (line: MagicLine) => string): string {
  return lines
    .toSorted((a, b) => b.from - a.from)
    .reduce((text, line) => text.slice(0, line.from) + by(line) + text.slice(line.to), source);
}
