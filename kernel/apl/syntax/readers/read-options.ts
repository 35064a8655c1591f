import type { Clause, Operand, Options, OptionValues } from '../../operators/grammar.js';
import { clauseWords } from '../../operators/operator-rows.js';
import type { Expr, Identifier, Option } from '../ast.js';
import { nearest } from '../nearest.js';
import { identifier, literal, missing, nameExpr } from '../nodes.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { takeHints } from './typos.js';

/** Parses any number of `name=value` words such as `kind=inner`. Rejects an unknown name if it can only be an option. */
export function parseOptions(
  stream: TokenStream,
  clause: Clause,
  owner: string,
  next: Clause | undefined,
): Option[] {
  const known = clause.options ?? {};
  const options: Option[] = [];
  for (;;) {
    offerNames(stream, known, options);
    const name = stream.peek();
    if (name.kind !== 'word' || !stream.isSymbol('=', 1)) return options;
    if (!Object.hasOwn(known, name.text) && !isSlip(stream, next)) return options;
    // `make-series kind = count()` names a series.
    if (next?.takes === 'defaulted assignments' && stream.isSymbol('(', 3)) return options;
    const option = parseOption(stream, known, owner);
    if (option === undefined) return options;
    options.push(option);
    takeHints(stream);
  }
}

/** Parses `(format="csv", ignoreFirstRecord=true)`. */
export function parseEnclosedOptions(stream: TokenStream, clause: Clause, owner: string): Option[] {
  const known = clause.options ?? {};
  const options: Option[] = [];
  if (stream.expectSymbol('(', `after \`${clause.word}\``) === undefined) return [];
  offerNames(stream, known, options);
  for (;;) {
    const option = parseOption(stream, known, owner);
    if (option === undefined) break;
    options.push(option);
    if (stream.takeSymbol(',') === undefined) break;
    offerNames(stream, known, options);
  }
  stream.expectSymbol(')', `to close \`${clause.word} (\``);
  return options;
}

/** Parses one of the words of a clause. */
export function parseWord(
  stream: TokenStream,
  { words = [] }: Clause,
  owner: string,
  context: string,
): Identifier {
  stream.offer({ kind: 'option', values: words });
  const word = stream.hyphenatedWord();
  if (word === undefined) {
    const { from } = stream.peek();
    stream.expected('a kind', context, `Use one of ${words.join(', ')}.`);
    return identifier('', false, { from, to: from });
  }
  stream.skip(word.tokens);
  if (!words.includes(word.text)) {
    const guess = nearest(word.text, words);
    const hint = guess === undefined ? `Use one of ${words.join(', ')}.` : `Did you mean \`${guess}\`?`;
    stream.report('error', 'bad-option', word.span, `\`${owner}\` has no kind \`${word.text}\``, hint, guess);
  }
  return identifier(word.text, false, word.span);
}

/** Returns the value of an option: a word or a string as written, a synonym as its canonical value. */
export function optionText(options: readonly Option[], name: string, known: Options): string | undefined {
  const value = options.find(option => option.name.name === name)?.value;
  const text = value === undefined ? undefined : writtenValue(value);
  return text === undefined ? undefined : (canonical(text, known[name]) ?? text);
}

function offerNames(stream: TokenStream, known: Options, given: readonly Option[]): void {
  stream.offering?.addOptions(
    Object.keys(known)
      .filter(name => !given.some(option => option.name.name === name))
      .map(name => `${name}=`),
  );
}

/** Operands that may start with `name = value` themselves. */
const mayName: ReadonlySet<Operand> = new Set([
  'assignments',
  'typed assignments',
  'defaulted assignments',
  'search',
]);

/** True if `foo=bar` can only be an unknown option. */
function isSlip(stream: TokenStream, next: Clause | undefined): boolean {
  if (next === undefined || !mayName.has(next.takes)) return true;
  const after = stream.peek(3);
  if (stream.peek(2).kind === 'symbol') return false;
  const word = after.text.toLowerCase();
  const isWord = after.kind === 'word' && !clauseWords.has(word) && !['and', 'or'].includes(word);
  return isWord || after.kind === 'string';
}

/** Parses `name=value`; returns undefined, with nothing consumed, if there is no bare name: `!in` is a word and not a name. */
function parseOption(stream: TokenStream, known: Options, owner: string): Option | undefined {
  const name = stream.peek().kind === 'word' ? stream.takeName() : undefined;
  if (name === undefined) return undefined;
  const row = Object.hasOwn(known, name.name) ? known[name.name] : undefined;
  stream.expectSymbol('=', `after \`${name.name}\``);
  if (row === undefined) reportName(stream, name, known, owner);
  if (row?.unused !== undefined)
    stream.report('hint', 'unknown-option', name, `\`${name.name}\` has no effect`, row.unused);
  const value = parseValue(stream, name.name, row);
  if (row !== undefined) checkValue(stream, name.name, row, value, owner);
  return { name, value, from: name.from, to: stream.lastEnd };
}

function reportName(stream: TokenStream, name: Identifier, known: Options, owner: string): void {
  const names = Object.keys(known);
  const guess = nearest(name.name, names);
  stream.report(
    'error',
    'unknown-option',
    name,
    `\`${owner}\` has no option \`${name.name}\``,
    guess === undefined ? `Options: ${names.join(', ')}.` : `Did you mean \`${guess}\`?`,
    guess,
  );
}

function checkValue(stream: TokenStream, name: string, row: OptionValues, value: Expr, owner: string): void {
  const text = writtenValue(value);
  if (text === undefined || row.takes !== 'word' || canonical(text, row) !== undefined) return;
  const guess = nearest(text, row.values);
  stream.report(
    'error',
    'bad-option',
    value,
    `\`${name}\` of \`${owner}\` cannot be \`${text}\``,
    guess === undefined ? `Use one of ${row.values.join(', ')}.` : `Did you mean \`${guess}\`?`,
    guess,
  );
}

function canonical(text: string, row: OptionValues | undefined): string | undefined {
  if (row?.takes !== 'word') return text;
  const lower = text.toLowerCase();
  const synonyms = row.synonyms ?? {};
  return row.values.includes(lower) ? lower : Object.hasOwn(synonyms, lower) ? synonyms[lower] : undefined;
}

function writtenValue(value: Expr): string | undefined {
  if (value.kind === 'name') return value.name;
  return value.kind === 'literal' && value.value !== null ? String(value.value) : undefined;
}

/** Parses a bare word such as `case_sensitive` or `leftouter`, a string, or a number. */
function parseValue(stream: TokenStream, name: string, row: OptionValues | undefined): Expr {
  const word = stream.hyphenatedWord();
  if (word !== undefined && word.text !== 'true' && word.text !== 'false') {
    stream.skip(word.tokens);
    return nameExpr(identifier(word.text, false, word.span));
  }
  const token = stream.peek();
  if (token.kind === 'string' || token.kind === 'number' || token.kind === 'word')
    return parseLiteral(stream);
  const quoted = stream.isQuotedName() ? stream.takeName() : undefined;
  if (quoted !== undefined) return nameExpr(quoted);
  stream.offer({ kind: 'option', values: row?.values ?? [] });
  stream.expected('a value', `for \`${name}\``);
  return missing({ from: token.from, to: token.from });
}

function parseLiteral(stream: TokenStream): Expr {
  const token = stream.next();
  if (token.kind === 'string') return literal('string', token.text, token);
  if (token.kind === 'word') return literal('bool', token.text === 'true', token);
  return literal('real', Number(token.text), token);
}
