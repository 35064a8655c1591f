/**
 * Changes that commands, toolbar and panel make to the source of cells: each function turns one source into another, independent of
 * notebooks.
 */
import type { Span } from '../../../kernel/apl/syntax/ast.js';
import { type MagicLine, parseCell, splitCell } from '../../../kernel/apl/syntax/cell.js';
import { directivesIn } from '../../../kernel/apl/syntax/readers/charting.js';
import { splitWords } from '../../../kernel/apl/syntax/syntax-magic.js';
import { tokenize } from '../../../kernel/apl/syntax/tokens/lexer.js';
import { type MagicName, magicLines, magicNamed } from '../../../kernel/notebook/magics/magic-lines.js';

/** A magic that a toolbar sets for the session. */
export type Setting = 'time' | 'use';

/** A code cell of a notebook. */
export interface CodeCell {
  readonly source: string;
  readonly isEditable: boolean;
}

/**
 * Returns the cell that records a setting, and its new source: the line in effect at `active` is replaced, or one is added at the top of
 * the first cell. Undefined if that cell cannot be edited.
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

/** Returns the last line of a cell that sets it for the notebook. */
function settingLine(source: string, name: Setting): MagicLine | undefined {
  return parseCell(source).magics.findLast(
    magic => !magic.cell && magicNamed(magic.name) === name && magic.args !== '',
  );
}

/** Returns the source that runs a cell over another range, without setting anything for the notebook or saving a starred query. */
export function overRange(source: string, range: string): string {
  const line = `%%time ${range}`;
  const own = parseCell(source).magics.filter(({ name }) => ['time', 'star'].includes(name.toLowerCase()));
  const times = own.filter(({ name }) => name.toLowerCase() === 'time');
  if (times.length === 0) return `${line}\n${replaced(source, own, () => '')}`;
  return replaced(source, own, magic => (magic === times[0] ? line : ''));
}

/** Returns whether a cell does the same on each run, prompts for nothing, and leaves nothing behind. */
export function isRepeatable(source: string): boolean {
  return parseCell(source).magics.every(({ name, args }) => {
    const { repeats, prompts } = lineRow(name);
    const asks = prompts !== undefined && splitWords(args).some(({ text }) => text === `--${prompts}`);
    return repeats === true && !asks;
  });
}

/** Returns the lines that save the query at `offset` as a starred query without running it; undefined if there is no query. */
export function starCode(source: string, offset: number, star: string): string | undefined {
  const query = queryAt(source, offset);
  return query === undefined ? undefined : [...settingsOf(source), star, query.text].join('\n');
}

/** Returns the line that creates a starred query, or updates one by its id. */
export function starLine(star: { readonly id: string } | { readonly name: string }): string {
  return 'id' in star ? `%star ${quoted(star.id)} --no-run` : `%star --new ${quoted(star.name)} --no-run`;
}

/** Returns a string as one word of a magic line, quoted if necessary. */
export function quoted(word: string): string {
  return /^[\w-]+$/.test(word) && !word.startsWith('-')
    ? word
    : `"${word.replace(/\s+/g, ' ').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Returns the line that imports a file, with a path relative to the notebook and the options that have a value; undefined
 * for a path that no line can express.
 */
export function importLine(
  notebook: string,
  file: string,
  options: readonly (readonly [name: string, value: string])[] = [],
): string | undefined {
  const [from, to] = [notebook.split('/').slice(0, -1), file.split('/')];
  let shared = 0;
  while (shared < Math.min(from.length, to.length - 1) && from[shared] === to[shared]) shared += 1;
  const path = [...from.slice(shared).map(() => '..'), ...to.slice(shared)].join('/');
  if (/[\r\n\t]| {2}/.test(path)) return undefined;
  const given = options.flatMap(([name, value]) => (value === '' ? [] : [`--${name} ${inQuotes(value)}`]));
  return ['%import', /^[\w.][\w./-]*$/.test(path) ? path : quoted(path), ...given].join(' ');
}

/** Like `quoted`, with every space unchanged. */
function inQuotes(word: string): string {
  return /^[\w@][\w@./:-]*$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a name for the query at `offset`: its first comment, otherwise its first line. */
export function suggestedName(source: string, offset: number): string {
  const query = queryAt(source, offset);
  const text = query === undefined ? '' : source.slice(query.from, query.to);
  const line = text.split('\n').find(each => each.trim() !== '' && !each.trimStart().startsWith('//'));
  return (commentAt(source, offset) ?? line ?? '').trim().slice(0, 80);
}

/** Returns the first comment of the query at `offset` that is not a directive. */
export function commentAt(source: string, offset: number): string | undefined {
  const query = queryAt(source, offset);
  const text = query === undefined ? '' : source.slice(query.from, query.to);
  return /^[ \t]*\/\/[ \t]*([^\s@].*)$/m.exec(text)?.[1]?.trim().slice(0, 80);
}

/** Returns the first line of a cell that does not only set its time, otherwise its first; undefined for an empty cell. */
export function tellingLine(source: string): string | undefined {
  const lines = source.split('\n').filter(line => line.trim() !== '');
  return lines.find(line => !/^%%?time\b/.test(line)) ?? lines[0];
}

/**
 * Returns a cell that runs the selection, or the query at the cursor if there is none, with the cell's magics, limited to this run,
 * and the preceding `let`, `set` and `declare` statements. Undefined if there is nothing to run.
 */
export function selectedCode(source: string, from: number, to: number): string | undefined {
  const selected = source.slice(from, to).trim();
  const statement = selected === '' ? statementAt(source, from) : undefined;
  if (selected === '' && statement === undefined) return undefined;
  const run = statement ?? { from, to };
  const isBefore = (span: Span): boolean => span.to <= run.from;
  const shared = parseCell(source).shared.filter(isBefore);
  return [
    ...settingsOf(source.slice(0, Math.max(run.from, 0)), ({ sets, ofCell }) => sets ?? ofCell),
    ...shared.map(span => `${source.slice(span.from, span.to)};`),
    source.slice(run.from, run.to).trim(),
  ].join('\n');
}

/** A span of text with its replacement. */
export interface Edit extends Span {
  readonly text: string;
}

/**
 * Returns the edit that changes the chart kind of the last query in a cell: in its `render`, in its `// @viz`, or as a new line above it.
 * Undefined if there is no query.
 */
export function chartKindEdit(source: string, kind: string): Edit | undefined {
  const { queries } = parseCell(source);
  const query = queries.at(-1);
  if (query === undefined) return undefined;
  const text = source.slice(query.from, query.to);
  const tokens = tokenize(text);
  const render = tokens.findLastIndex(
    (token, index) => token.text === 'render' && tokens[index - 1]?.text === '|',
  );
  const word = render < 0 ? undefined : tokens[render + 1];
  if (word?.kind === 'word') return moved({ from: word.from, to: word.to, text: kind }, query.from);
  const own = vizEdit(text, kind);
  if (own !== undefined) return moved(own, query.from);
  const above = queries.length === 1 ? vizEdit(source, kind) : undefined;
  return above ?? { from: query.from, to: query.from, text: `// @viz ${kind}\n` };
}

function vizEdit(text: string, kind: string): Edit | undefined {
  const viz = directivesIn(text).findLast(({ name }) => text.slice(name.from, name.to) === 'viz');
  return viz && { from: viz.name.to, to: viz.value.to, text: ` ${kind}` };
}

function moved({ from, to, text }: Edit, by: number): Edit {
  return { from: from + by, to: to + by, text };
}

/** Returns the query that contains `offset`, otherwise the last one before it, otherwise the first. */
function queryAt(source: string, offset: number) {
  const { queries } = parseCell(source);
  return (
    queries.find(({ from, to }) => from <= offset && offset <= to) ??
    queries.findLast(({ to }) => to <= offset) ??
    queries[0]
  );
}

/** Like `queryAt`, including the name assigned to its result. */
function statementAt(source: string, offset: number): Span | undefined {
  const query = queryAt(source, offset);
  if (query === undefined) return undefined;
  const own = splitCell(source).statements.find(each => each.from === query.from);
  return { from: own?.result?.from ?? query.from, to: query.to };
}

type Row = Partial<(typeof magicLines)[MagicName]>;

/** Returns the magics of a cell that affect how its queries run, each as a line for one cell. */
function settingsOf(source: string, affects = ({ sets }: Row) => sets): readonly string[] {
  return parseCell(source)
    .magics.filter(({ name, args }) => args !== '' && affects(lineRow(name)) && lineRow(name).perCell)
    .map(({ name, args }) => `%%${name} ${args}`);
}

/** Returns whether the line sets something for the queries of the cells below. */
export function setsBelow({ cell, name, args }: MagicLine): boolean {
  return !cell && args !== '' && lineRow(name).sets === true;
}

/** Returns the effects of a line with this name on its cell; empty if there is no such magic. */
function lineRow(word: string): Row {
  const name = magicNamed(word);
  return name === undefined ? {} : magicLines[name];
}

/** Returns the source with each of the lines replaced. */
function replaced(source: string, lines: readonly MagicLine[], by: (line: MagicLine) => string): string {
  return lines
    .toSorted((a, b) => b.from - a.from)
    .reduce((text, line) => text.slice(0, line.from) + by(line) + text.slice(line.to), source);
}
