import type { ParameterDecl, Span } from './ast.js';
import { parseQuery } from './parse.js';
import { type Token, tokenize } from './tokens/lexer.js';

/** `NAME = LITERAL` in a `%param` line; the span is that of the literal. */
export interface Assignment extends Span {
  readonly name: string;
  /** Undefined for a bare name, for which the user is prompted. */
  readonly text: string | undefined;
}

/** Content of a `%param` line, with its literals unparsed. */
export interface ParamLine {
  readonly assignments: readonly Assignment[];
  /** Text after `--choices`. */
  readonly choices: string | undefined;
  /** True with `--prompt`. */
  readonly prompts: boolean;
  /** Text before the first assignment; empty in a valid line. */
  readonly stray: string;
}

/** Parses the arguments of a `%param` line: a value extends to the next `name =` or option. Offsets are relative to `args`. */
export function readParamLine(args: string): ParamLine {
  const tokens = tokenize(args).filter(({ kind }) => kind !== 'comment');
  const options = tokens.filter((_, index) => isOption(tokens, index));
  const ends = [...options.slice(1).map(({ from }) => from - '--'.length), args.length];
  const choices = options.findLastIndex(({ text }) => text === 'choices');
  const option = options[0];
  const end = option === undefined ? args.length : option.from - '--'.length;
  return {
    ...readAssignments(
      args.slice(0, end),
      tokens.filter(({ to }) => to <= end),
    ),
    choices: choices < 0 ? undefined : args.slice(options[choices]?.to, ends[choices]).trim(),
    prompts: options.some(({ text }) => text === 'prompt'),
  };
}

/** Returns the parameters declared by `declare query_parameters` statements in a source. */
export function declaredParameters(text: string): readonly ParameterDecl[] {
  if (!text.includes('query_parameters')) return [];
  return parseQuery(text).query.statements.flatMap(each => (each.kind === 'parameters' ? each.params : []));
}

/** Splits a list of literals at the commas outside of brackets and strings. */
export function splitLiterals(text: string): readonly string[] {
  const commas: number[] = [];
  let depth = 0;
  for (const token of tokenize(text)) {
    if (token.kind !== 'symbol') continue;
    if ('([{'.includes(token.text)) depth += 1;
    if (')]}'.includes(token.text)) depth -= 1;
    if (token.text === ',' && depth === 0) commas.push(token.from);
  }
  const starts = [0, ...commas.map(at => at + 1)];
  return starts.map((start, index) => text.slice(start, commas[index]));
}

/** True for `--choices` or `--prompt`, separated from the text before it. */
function isOption(tokens: readonly Token[], index: number): boolean {
  const [before, first, second, word] = [-3, -2, -1, 0].map(offset => tokens[index + offset]);
  if (word?.kind !== 'word' || !/^(?:choices|prompt)$/.test(word.text)) return false;
  const isDashed = first?.text === '-' && second?.text === '-';
  const isOneWord = first?.to === second?.from && second?.to === word.from;
  return isDashed && isOneWord && before?.to !== first.from;
}

function readAssignments(line: string, tokens: readonly Token[]): Pick<ParamLine, 'assignments' | 'stray'> {
  let depth = 0;
  const starts = tokens.flatMap((token, index) => {
    if (token.kind === 'symbol' && '([{'.includes(token.text)) depth += 1;
    if (token.kind === 'symbol' && ')]}'.includes(token.text)) depth -= 1;
    const equals = tokens[index + 1];
    const isStart = depth === 0 && token.kind === 'word' && equals?.text === '=';
    return isStart ? [{ name: token.text, from: token.from, value: equals.to }] : [];
  });
  const [only] = tokens;
  if (starts.length === 0 && only?.kind === 'word' && tokens.length === 1)
    return { assignments: [{ name: only.text, text: undefined, from: only.to, to: only.to }], stray: '' };
  return {
    assignments: starts.map(({ name, value }, index) => {
      const written = line.slice(value, starts[index + 1]?.from);
      const text = written.trim().replace(/,$/, '').trimEnd();
      const from = value + (written.length - written.trimStart().length);
      return { name, text, from, to: from + text.length };
    }),
    stray: line.slice(0, starts[0]?.from).trim(),
  };
}
