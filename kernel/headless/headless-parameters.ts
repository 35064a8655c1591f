import { parseCell } from '../apl/syntax/cell.js';
import { declaredParameters, readParamLine } from '../apl/syntax/syntax-parameters.js';
import { type CodeCell, sourceOf } from './notebook.js';

/** A parameter as the cells write it: its last literal or declared default, and whether `%param` requests it. */
export interface WrittenParameter {
  readonly text: string | undefined;
  readonly isAsked: boolean;
}

/** Returns the parameters that cells declare or set, by name; the last line for a name wins. */
export function writtenParameters(code: readonly CodeCell[]): ReadonlyMap<string, WrittenParameter> {
  return new Map([...code.flatMap(defaultsOf), ...code.flatMap(givenIn)]);
}

type Named = readonly (readonly [name: string, written: WrittenParameter])[];

function defaultsOf(cell: CodeCell): Named {
  const source = sourceOf(cell);
  return parseCell(source).shared.flatMap(({ from, to }) => {
    const statement = source.slice(from, to);
    return declaredParameters(statement).map(({ name, fallback }) => {
      const text = fallback && statement.slice(fallback.from, fallback.to);
      return [name.name, { text, isAsked: false }] as const;
    });
  });
}

function givenIn(cell: CodeCell): Named {
  const lines = parseCell(sourceOf(cell)).magics.filter(({ name }) => name.toLowerCase() === 'param');
  return lines.flatMap(({ args }) => {
    const { assignments, prompts } = readParamLine(args);
    return assignments.map(({ name, text }) => [name, { text, isAsked: prompts }] as const);
  });
}
