import { closest } from 'fastest-levenshtein';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';

/** An option of a magic, written `--name` or `--name VALUE`. */
export interface MagicOption {
  readonly name: string;
  /** The name of the value in the usage line; absent for a switch. */
  readonly value?: string;
  readonly summary: string;
}

/** The arguments of one magic line: positional words in order, and options by name (`''` for a switch). */
export interface MagicArguments {
  /** The line after the magic's name, as written. */
  readonly raw: string;
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, string>;
}

/** The options and arguments of a magic, as needed to split its line. */
export interface MagicSyntax {
  readonly name: string;
  readonly usage: string;
  readonly options: readonly MagicOption[];
  /** How many positional words: from, to. */
  readonly arity: readonly [number, number];
}

/** A magic line that cannot be run as written; the hint is its usage. */
export class MagicError extends AplKernelError {
  constructor(message: string, hint?: string) {
    super('magic', message, present({ hint }));
  }
}

/** A piece of a line, with its place; `open` when its closing quote is missing. */
export interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly quoted: boolean;
  readonly open: boolean;
}

/** Returns the words of a line. Quotes, single or double, keep spaces together; `\` before a quote or itself is taken off inside them. */
export function splitWords(line: string): readonly Word[] {
  const words: Word[] = [];
  const pattern = /(?:"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s"'])+/g;
  for (const match of line.matchAll(pattern)) {
    const source = match[0];
    words.push({
      text: unquote(source),
      from: match.index,
      to: match.index + source.length,
      quoted: /["']/.test(source),
      open: isOpen(source),
    });
  }
  return words;
}

/** Returns the arguments of a magic line; throws MagicError with the usage when they do not fit. */
export function parseArguments(syntax: MagicSyntax, raw: string): MagicArguments {
  const words: string[] = [];
  const options = new Map<string, string>();
  const rest = splitWords(raw).values();
  for (const word of rest) {
    if (word.open) throw misuse(syntax, 'a quote is not closed');
    if (word.quoted || !word.text.startsWith('--')) {
      words.push(word.text);
      continue;
    }
    const [name = '', inline] = splitOption(word.text);
    const option = syntax.options.find(each => each.name === name);
    if (option === undefined) throw unknownOption(syntax, name);
    if (option.value === undefined && inline !== undefined) throw misuse(syntax, `--${name} takes no value`);
    const value = option.value === undefined ? '' : (inline ?? rest.next().value?.text);
    if (value === undefined || (option.value !== undefined && value === '')) {
      throw misuse(syntax, `--${name} wants a value: ${option.value}`);
    }
    options.set(name, value);
  }
  checkArity(syntax, words);
  return { raw, words, options };
}

/** Returns the error for a misused magic. */
export function misuse(syntax: MagicSyntax, problem: string): MagicError {
  return new MagicError(`%${syntax.name}: ${problem}`, `Usage: ${syntax.usage}`);
}

function splitOption(text: string): readonly [string, string | undefined] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text.slice(2), undefined] : [text.slice(2, equals), text.slice(equals + 1)];
}

function unknownOption(syntax: MagicSyntax, name: string): MagicError {
  const names = syntax.options.map(option => option.name);
  const near = names.length === 0 ? 'it has none' : `did you mean --${closest(name, names)}?`;
  return misuse(syntax, `there is no option --${name}; ${near}`);
}

function checkArity(syntax: MagicSyntax, words: readonly string[]): void {
  const [least, most] = syntax.arity;
  if (words.length < least) throw misuse(syntax, 'an argument is missing');
  if (words.length > most)
    throw misuse(syntax, `${words[most] ?? ''} is one argument too many; put quotes around spaces`);
}

function unquote(source: string): string {
  return source.replace(/"((?:\\.|[^"\\])*)(?:"|$)|'((?:\\.|[^'\\])*)(?:'|$)/g, (_, double, single) =>
    (double ?? single ?? '').replace(/\\(["'\\])/g, '$1'),
  );
}

function isOpen(source: string): boolean {
  return /["']/.test(source.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, ''));
}
