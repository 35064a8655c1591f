import { UNITS } from '../../../time.js';
import { tabularOperators } from '../../catalog/operator-entries.js';
import { scalarOperators } from '../../catalog/scalar-operators.js';
import type { OptionValues } from '../../operators/grammar.js';
import { operators, optionsOf, sources } from '../../operators/operator-rows.js';
import { directives } from '../../syntax/readers/charting.js';
import { typeSpellings } from '../../syntax/syntax-types.js';
import { contextualWords, operatorWords, sortWords } from './words.js';

/** Names of a token class in other tools, and its leaves in the highlighter's tree. */
interface ClassRow {
  readonly leaves: readonly string[];
  /** Scope in a TextMate grammar, without the language suffix. */
  readonly scope: string;
  /** Token type in Pygments. */
  readonly pygments: string;
}

/** Classes that a grammar can distinguish without a parser. */
export const classes = {
  keyword: { leaves: ['Stage', 'Keyword', 'SortOrder'], scope: 'keyword.control', pygments: 'Keyword' },
  wordOperator: { leaves: ['WordOperator'], scope: 'keyword.operator.word', pygments: 'Operator.Word' },
  function: {
    leaves: ['Function', 'Aggregate', 'UnknownFunction'],
    scope: 'support.function',
    pygments: 'Name.Function',
  },
  type: { leaves: ['Type'], scope: 'storage.type', pygments: 'Keyword.Type' },
  definition: { leaves: ['Definition'], scope: 'variable.other.definition', pygments: 'Name.Variable' },
  name: {
    leaves: ['Dataset', 'Field', 'Member', 'LetName', 'Name'],
    scope: 'variable.other',
    pygments: 'Name',
  },
  optionName: { leaves: ['OptionName'], scope: 'variable.parameter', pygments: 'Name.Attribute' },
  optionValue: { leaves: ['OptionValue'], scope: 'support.constant', pygments: 'Name.Constant' },
  constant: { leaves: ['Bool', 'Null'], scope: 'constant.language', pygments: 'Keyword.Constant' },
  number: { leaves: ['Number', 'Timespan'], scope: 'constant.numeric', pygments: 'Number' },
  datetime: { leaves: ['Datetime'], scope: 'constant.other.date', pygments: 'Literal.Date' },
  string: { leaves: ['String'], scope: 'string.quoted', pygments: 'String' },
  comment: { leaves: ['Comment'], scope: 'comment.line.double-slash', pygments: 'Comment.Single' },
  magic: { leaves: ['MagicName'], scope: 'meta.preprocessor', pygments: 'Comment.Preproc' },
  magicArguments: {
    leaves: ['MagicArguments'],
    scope: 'string.unquoted.magic',
    pygments: 'Comment.PreprocFile',
  },
  operator: { leaves: ['Pipe', 'Operator'], scope: 'keyword.operator', pygments: 'Operator' },
  punctuation: {
    leaves: ['(', ')', '[', ']', '{', '}', 'Comma', 'Semicolon', 'Colon', 'Dot'],
    scope: 'punctuation',
    pygments: 'Punctuation',
  },
  invalid: { leaves: ['Invalid'], scope: 'invalid.illegal', pygments: 'Error' },
} as const satisfies Readonly<Record<string, ClassRow>>;

/** Name of a token class. */
export type TokenClass = keyof typeof classes;

/**
 * A regular expression for tokens, in a dialect shared by JavaScript, Oniguruma and Python. `groups` are the classes of the groups, which
 * cover the whole match; without them, all of it has the class `is`. With `end`, the token spans lines up to that pattern, or to the end of
 * the text.
 */
export interface LexicalRule {
  readonly match: string;
  readonly end?: string;
  readonly is?: TokenClass;
  readonly groups?: readonly (TokenClass | undefined)[];
}

const wordEnd = String.raw`(?![\w$])`;
/** A word matches only from its start, and `a.where` is not an operator. */
const wordStart = String.raw`(?<![\w$.])`;
const name = String.raw`(?:[^\W\d]|\$)[\w$]*`;

/** A quoted string, also used for names in brackets. */
const quoted = String.raw`"(?:\\.|[^"\\\r\n])*"|'(?:\\.|[^'\\\r\n])*'`;

const optionNames = rowsOfOptions(([option]) => [option]);
const freeOptions = rowsOfOptions(([option, { takes }]) => (takes === 'word' ? [] : [option]));
const optionValues = rowsOfOptions(([, { values }]) => values ?? []).filter(
  value => value !== 'true' && value !== 'false',
);
/** `first` and `last` may also be names. */
const looseSortWords = [...sortWords].filter(word => word !== 'first' && word !== 'last');
const infixWords = scalarOperators
  .flatMap(entry => entry.name.split(' '))
  .filter(word => /^!?[a-z]/.test(word) && word !== 'not');

/** Rules; the first to match at a position applies. */
export const lexicalRules: readonly LexicalRule[] = [
  {
    match: String.raw`^([ \t]*//[ \t]*)(@(?:${oneOf(Object.keys(directives))})\b)([^\r\n]*)`,
    groups: ['comment', 'magic', 'magicArguments'],
  },
  { match: String.raw`//[^\r\n]*`, is: 'comment' },
  { match: String.raw`/\*`, end: String.raw`\*/`, is: 'invalid' },
  {
    match: String.raw`^([ \t]*)(%%?[A-Za-z_][\w-]*)([^\r\n]*)`,
    groups: [undefined, 'magic', 'magicArguments'],
  },
  { match: '```', end: '```', is: 'string' },
  {
    match: String.raw`(\[)([ \t]*)(${quoted})([ \t]*)(\])(\s*)(=)(?![=~>])`,
    groups: ['punctuation', undefined, 'definition', undefined, 'punctuation', undefined, 'operator'],
  },
  // A name in brackets, unless they follow a value, which makes it a member, or start a list.
  {
    match: String.raw`(?<![\w$\])])(?<!\) )(?<!dynamic\()(\[)([ \t]*)(${quoted})([ \t]*)(\])`,
    groups: ['punctuation', undefined, 'name', undefined, 'punctuation'],
  },
  { match: String.raw`[hH]?@(?:"(?:[^"\r\n]|"")*"?|'(?:[^'\r\n]|'')*'?)`, is: 'string' },
  { match: String.raw`[hH]?"(?:\\.|[^"\\\r\n])*"?|[hH]?'(?:\\.|[^'\\\r\n])*'?`, is: 'string' },
  { match: String.raw`[‘’][^‘’\r\n]*[‘’]?|[“”][^“”\r\n]*[“”]?`, is: 'string' },
  ...(['date', 'time'] as const).map(
    (kind): LexicalRule => ({
      match: String.raw`${wordStart}(${kind === 'date' ? 'datetime|date' : 'timespan|time'})(\s*)(\()(\s*)([-+]?\d[-+\dTZ:. /a-zµμ]*)(?=\))`,
      groups: ['function', undefined, 'punctuation', undefined, kind === 'date' ? 'datetime' : 'number'],
    }),
  ),
  ...(['as', 'render'] as const).map(
    (word): LexicalRule => ({
      match: String.raw`(\|)(\s*)(${word})(\s+)(${name})`,
      groups: ['operator', undefined, 'keyword', undefined, word === 'as' ? 'definition' : 'optionValue'],
    }),
  ),
  {
    match: String.raw`${wordStart}(range)(\s+)(${name})(\s+)(from)${wordEnd}`,
    groups: ['keyword', undefined, 'definition', undefined, 'keyword'],
  },
  {
    match: String.raw`(\|)(\s*)(${oneOf(tabularOperators.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]))})(?![\w$-])`,
    groups: ['operator', undefined, 'keyword'],
  },
  {
    match: String.raw`${wordStart}(${oneOf(optionNames)})(\s*)(=)(\s*)(${oneOf(optionValues)})${wordEnd}`,
    groups: ['optionName', undefined, 'operator', undefined, 'optionValue'],
  },
  {
    match: String.raw`${wordStart}(${oneOf(freeOptions)})(\s*)(=)(?![=~>])`,
    groups: ['optionName', undefined, 'operator'],
  },
  {
    match: String.raw`${wordStart}(let)(\s+)(${name})`,
    groups: ['keyword', undefined, 'definition'],
  },
  {
    match: String.raw`${wordStart}(set)(\s+)(${name})`,
    groups: ['keyword', undefined, 'optionName'],
  },
  { match: String.raw`${wordStart}(default)(\s*)(=)(?![=~>])`, groups: ['keyword', undefined, 'operator'] },
  {
    match: String.raw`${wordStart}(${name})(\s*)(:)(\s*)(${oneOf(typeSpellings)})${wordEnd}`,
    groups: ['definition', undefined, 'punctuation', undefined, 'type'],
  },
  {
    match: String.raw`${wordStart}(${name})(\s*)(=(?![=~>])|<<)`,
    groups: ['definition', undefined, 'operator'],
  },
  { match: String.raw`(?<=typeof\()(?:${oneOf(typeSpellings)})${wordEnd}`, is: 'type' },
  { match: String.raw`not(?=\s*\()`, is: 'function' },
  {
    match: String.raw`(?<![\w$.])(?:${oneOf([...infixWords, ...operatorWords])})${wordEnd}`,
    is: 'wordOperator',
  },
  { match: `${wordStart}(?:true|false|null)${wordEnd}`, is: 'constant' },
  {
    match: String.raw`${wordStart}(nulls)(\s+)(first|last)${wordEnd}`,
    groups: ['keyword', undefined, 'keyword'],
  },
  { match: String.raw`${wordStart}(?:${oneOf(looseSortWords)})${wordEnd}(?!\s*[(.])`, is: 'keyword' },
  { match: String.raw`(?<!\bin )range(?=\()`, is: 'function' },
  { match: String.raw`${wordStart}(?:${oneOf(contextualWords)})${wordEnd}(?!\.)`, is: 'keyword' },
  // A name between the strings of a `parse` pattern.
  {
    match: String.raw`(?:(?<=["'] )|(?<=\* )|(?<=with ))${name}(?=\s+["'*|]|\s*$)`,
    is: 'definition',
  },
  { match: String.raw`${name}(?=\s*\()`, is: 'function' },
  { match: name, is: 'name' },
  { match: '`[^`\\r\\n]+`', is: 'name' },
  {
    match: String.raw`0[xX][0-9a-fA-F]+${wordEnd}|(?:\d+(?:\.(?![.A-Za-z_$])\d*)?|(?<![\w$)\].])\.\d+)(?:[eE][+-]?\d+|(?:${oneOf(UNITS.keys())}))?${wordEnd}`,
    is: 'number',
  },
  { match: String.raw`\d[\w$]*`, is: 'invalid' },
  { match: String.raw`==|!=|<>|<=|>=|=~|!~|\.\.|<<|=>|&&|[|<>=+\-*/%?!~]`, is: 'operator' },
  { match: String.raw`[(),;:.\[\]{}]`, is: 'punctuation' },
];

/** Returns the classes and rules as JSON, for highlighters in other languages. */
export function lexicalGrammar(): Readonly<Record<string, unknown>> {
  return { classes, rules: lexicalRules };
}

function rowsOfOptions(
  each: (option: [name: string, values: OptionValues]) => readonly string[],
): readonly string[] {
  return [...Object.keys(operators), ...Object.keys(sources)].flatMap(kind =>
    Object.entries(optionsOf(kind)).flatMap(each),
  );
}

/** Returns an alternation of words, longest first: `in~` before `in`. */
function oneOf(words: Iterable<string>): string {
  return [...new Set(words)]
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|');
}
