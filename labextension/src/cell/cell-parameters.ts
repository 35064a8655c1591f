/** The parameters that the cells of a notebook set, and the cells with another value for one. Independent of notebooks. */
import { type MagicLine, parseCell } from '../../../kernel/apl/syntax/cell.js';
import {
  declaredParameters,
  readParamLine,
  splitLiterals,
} from '../../../kernel/apl/syntax/syntax-parameters.js';
import { tokenize } from '../../../kernel/apl/syntax/tokens/lexer.js';
import { writtenText } from '../../../kernel/apl/syntax/tokens/quote.js';
import type { CodeCell } from './cell-lines.js';

/** A parameter of a notebook; strings are literals as written. */
export interface WrittenParameter {
  readonly name: string;
  /** Declared type; absent for one that only `%param` names. */
  readonly type?: string;
  /** Its value; absent if it has none yet. */
  readonly literal?: string;
  readonly choices: readonly string[];
  /** Spans of its values, in order; the last one is in effect below. */
  readonly places: readonly Place[];
  /** Index of the cell that declares it, or of the first that names it. */
  readonly cell: number;
}

/** A value in the source of a cell. */
interface Place {
  readonly cell: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the parameters that the code cells of a notebook declare or set, in order. */
export function writtenParameters(cells: readonly string[]): readonly WrittenParameter[] {
  const found = new Map<string, WrittenParameter>();
  for (const [cell, source] of cells.entries()) {
    for (const { name, type, literal } of declaredIn(source)) {
      const before = found.get(name);
      const given = before !== undefined && before.places.length > 0 ? before.literal : literal;
      found.set(name, { ...withLiteral(before ?? empty(name, cell), given), type });
    }
    for (const line of parseCell(source).magics.filter(isParam))
      for (const each of givenBy(source, line)) {
        const before = found.get(each.name) ?? empty(each.name, cell);
        const places =
          each.literal === undefined
            ? before.places
            : [...before.places, { cell, from: each.from, to: each.to }];
        const choices = each.choices ?? before.choices;
        found.set(each.name, { ...withLiteral(before, each.literal ?? before.literal), choices, places });
      }
  }
  return [...found.values()];
}

/** Returns the cell that records a parameter's value, and its new source; undefined if that cell cannot be edited. */
export function recordParameter(
  cells: readonly CodeCell[],
  name: string,
  literal: string,
): { readonly index: number; readonly source: string } | undefined {
  const written = writtenParameters(cells.map(({ source }) => source)).find(each => each.name === name);
  const place = written?.places.at(-1);
  const index = place?.cell ?? written?.cell ?? 0;
  const cell = cells[index];
  if (cell?.isEditable !== true) return undefined;
  const { source } = cell;
  if (place !== undefined)
    return { index, source: `${source.slice(0, place.from)}${literal}${source.slice(place.to)}` };
  return { index, source: `%param ${name} = ${literal}\n${source}` };
}

/** Returns the literal for typed input, or why it is not one: for a string, the input itself, otherwise APL. */
export function literalOf(
  name: string,
  typed: string,
  isText: boolean,
): { readonly literal: string } | { readonly problem: string } {
  const literal = isText ? writtenText(typed) : typed.trim();
  const { assignments, choices, prompts, stray } = readParamLine(`${name} = ${literal}`);
  const isOne = assignments.length === 1 && assignments[0]?.text === literal && stray === '';
  if (isOne && literal !== '' && !/[\r\n]/.test(literal) && choices === undefined && !prompts)
    return { literal };
  return { problem: `${name} needs one value, such as 5, 0.5, true, 5m, "text" or ["a", "b"].` };
}

/** Returns the string that a literal denotes; undefined for a literal that is not a string. */
export function textOf(literal: string): string | undefined {
  const [token, ...more] = tokenize(literal);
  return token?.kind === 'string' && token.problem === undefined && more.length === 0
    ? token.text
    : undefined;
}

function empty(name: string, cell: number): WrittenParameter {
  return { name, cell, choices: [], places: [] };
}

function withLiteral(written: WrittenParameter, literal: string | undefined): WrittenParameter {
  return literal === undefined ? written : { ...written, literal };
}

function declaredIn(source: string) {
  return parseCell(source).shared.flatMap(({ from, to }) => {
    const statement = source.slice(from, to);
    return declaredParameters(statement).map(({ name, type, fallback }) => ({
      ...{ name: name.name, type },
      literal: fallback && statement.slice(fallback.from, fallback.to),
    }));
  });
}

function isParam({ name, cell }: MagicLine): boolean {
  return name.toLowerCase() === 'param' && !cell;
}

/** Returns the assignments of a line, with their spans in the source of the cell. */
function givenBy(source: string, { args, name, from }: MagicLine) {
  const start = source.indexOf(args, from + '%'.length + name.length);
  const { assignments, choices } = readParamLine(args);
  return assignments.map(each => ({
    ...{ name: each.name, literal: each.text, from: start + each.from, to: start + each.to },
    choices: choices === undefined ? undefined : splitLiterals(choices).map(text => text.trim()),
  }));
}
