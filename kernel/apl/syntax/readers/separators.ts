import { oneLine } from '../../../text.js';
import { operatorWords } from '../../operators/operator-rows.js';
import type { Operator } from '../ast.js';
import { nearest } from '../nearest.js';
import { quotedName, writtenText } from '../tokens/quote.js';
import type { Advice, TokenStream } from '../tokens/token-stream.js';

/** A position at which a query cannot continue, with what was read before it. */
interface Place {
  readonly stream: TokenStream;
  /** The operator before it; undefined after a source, or after another statement. */
  readonly last: Operator | undefined;
  /** True in the value of a `let` whose semicolon may be missing. */
  readonly isLet: boolean;
}

type Row = (place: Place) => Advice | string | undefined;

/** Common habits at such a position; the first match gives the advice. */
const rows: readonly Row[] = [
  skipped,
  conditional,
  formatted,
  gluedToText,
  cast,
  excepted,
  ({ stream, last }) => (isColon(stream) && last !== undefined ? named(stream) : undefined),
  ({ stream }) =>
    stream.peek().text === '~'
      ? 'Use `=~` to ignore case, `contains` for a substring, or `matches regex` for a pattern.'
      : undefined,
  method,
  ({ stream }) =>
    stream.isWord('over')
      ? 'Window functions are not supported: summarize `by` the field, and join the result to the rows.'
      : undefined,
  ({ stream, last }) =>
    stream.isWord('per') && last?.kind === 'summarize'
      ? { hint: 'Write groups after `by`.', instead: 'by' }
      : undefined,
  ({ stream }) =>
    stream.isWord('having')
      ? { hint: 'Write `| where …` after the summarize.', instead: '| where' }
      : undefined,
  ({ stream, last }) =>
    stream.peek(-1).text === 'all' && stream.peek(-2).text === 'union' && last?.kind === 'union'
      ? {
          hint: 'Remove `all`: `union` keeps every row.',
          instead: '',
          from: stream.peek(-1).from,
          to: stream.peek().from,
        }
      : undefined,
  afterSource,
  ({ isLet }) => (isLet ? 'A `;` ends a `let`; a blank line does not.' : undefined),
  nextLine,
  joinedByComma,
  uncalled,
  misspelled,
  missingComparison,
  missingComma,
];

/** Returns advice if a query cannot continue: a sign of another language, or perhaps the next query. */
export function separatorAdvice(
  stream: TokenStream,
  last?: Operator,
  isLet = false,
): Advice | string | undefined {
  for (const row of rows) {
    const advice = row({ stream, last, isLet });
    if (advice !== undefined) return advice;
  }
  return undefined;
}

function skipped({ stream, last }: Place): string | undefined {
  if (last?.kind === 'limit' && (stream.isSymbol(',') || stream.isWord('offset')))
    return 'It takes one number and cannot skip rows: to continue after a row, add `| where …` before it.';
  return last?.kind === 'top' && stream.isSymbol(',')
    ? 'It sorts by one expression: write `| sort by a desc, b asc | limit n`.'
    : undefined;
}

function conditional({ stream }: Place): string | undefined {
  const before = stream.peek(-1);
  const follows = before.kind === 'word' && /^(?:if|case)$/i.test(before.text);
  if ((follows && stream.peek().kind !== 'symbol') || /^(?:when|then|else)$/i.test(stream.peek().text))
    return 'Write iff(condition, a, b), or case(condition, a, …, otherwise).';
  return stream.isSymbol('?')
    ? 'Write iff(condition, a, b), or coalesce(a, b) for the first non-null value.'
    : undefined;
}

/** Matches `'it's'`: a quote inside a string ends it. */
function gluedToText({ stream }: Place): string | undefined {
  const before = stream.peek(-1);
  if (before.kind !== 'string' || before.to !== stream.peek().from || stream.done) return undefined;
  if (stream.peek(-2).text === '[') return undefined;
  const sign = stream.source.charAt(before.to - 1);
  if ((sign !== "'" && sign !== '"') || stream.peek().kind !== 'word') return undefined;
  return `The string ends here: escape a quote inside it as \`\\${sign}\`, or enclose it in ${sign === "'" ? '"…"' : "'…'"}.`;
}

function cast({ stream }: Place): string | undefined {
  return isColon(stream) && stream.isSymbol(':', 1)
    ? 'Use tostring(…), toint(…) or todouble(…).'
    : stream.isWord('as')
      ? 'Convert a type with tostring(…), toint(…) or todouble(…), and name a result with name = ….'
      : undefined;
}

/** Matches `f"{uri}"` and `${uri}`. */
function formatted({ stream }: Place): string | undefined {
  const before = stream.peek(-1);
  if (stream.isSymbol('{') && before.text === '$')
    return 'Write only the name of a field or of a `%param` parameter.';
  return stream.peek().kind === 'string' && before.to === stream.peek().from && /^[fr]$/.test(before.text)
    ? 'Join strings with strcat("a ", field, " b").'
    : undefined;
}

/** Matches `summarize avg duration`. */
function uncalled({ stream, last }: Place): Advice | undefined {
  const [before, token] = [stream.peek(-1), stream.peek()];
  if (last?.kind !== 'summarize' || token.kind !== 'word' || stream.isWord('by')) return undefined;
  if (!/^(?:sum|avg|min|max|dcount|stdev|variance|make_set|make_list)$/.test(before.text)) return undefined;
  const instead = `${before.text}(${token.text})`;
  return { hint: `Write \`${instead}\`.`, instead, from: before.from, to: token.to };
}

/** Matches `project * except uri`. */
function excepted({ stream, last }: Place): Advice | undefined {
  if (last?.kind !== 'project' || !/^(?:except|exclude|excluding|without)$/i.test(stream.peek().text))
    return undefined;
  const instead = 'project-away';
  return {
    hint: 'Remove fields with `project-away`.',
    instead,
    from: last.from,
    to: stream.peek().to,
  };
}

const comparisonWords = [
  ...['contains', 'startswith', 'endswith', 'has', 'hasprefix', 'hassuffix', 'has_any', 'has_all'],
  ...['in', 'between', 'matches'],
];

/** Matches `where uri contian "x"`. */
function misspelled({ stream, last }: Place): Advice | undefined {
  const { kind, text } = stream.peek();
  if (last?.kind !== 'where' || kind !== 'word' || stream.startsLine) return undefined;
  const instead = nearest(text, comparisonWords);
  return instead === undefined ? undefined : { hint: `Did you mean \`${instead}\`?`, instead };
}

function isColon(stream: TokenStream): boolean {
  return stream.isSymbol(':');
}

/** Matches `x := 1` and `x: 1`. */
function named(stream: TokenStream): Advice | undefined {
  const { kind, text, to: end } = stream.peek(-1);
  if (kind !== 'word') return undefined;
  const to = stream.isSymbol('=', 1) ? stream.peek(1).to : stream.peek().to;
  return {
    hint: `Name a result with \`=\`: ${text} = ….`,
    instead: end === stream.peek().from ? ' =' : '=',
    to,
  };
}

/** Matches `uri.contains("api")`. */
function method({ stream }: Place): string | undefined {
  const [dot, word] = [stream.peek(-2), stream.peek(-1)];
  if (!stream.isSymbol('(') || word.kind !== 'word' || dot.text !== '.') return undefined;
  if (operatorWords.includes(word.text)) return `Write an operator after a pipe: \`| ${word.text} …\`.`;
  return `Values have no methods: write \`x ${word.text} y\` if it is an operator, or \`${word.text}(x, y)\`.`;
}

/** Returns advice for text right after a dataset: its pipe is missing, or is one of LogQL. */
function afterSource({ stream, last, isLet }: Place): Advice | string | undefined {
  if (last !== undefined || isLet || stream.startsLine) return undefined;
  const token = stream.peek();
  if (token.kind === 'string')
    return { hint: 'Search for text with `search`.', instead: searchFor(token.text) };
  if (stream.isSymbol(',')) return 'Combine datasets with `union`: union a, b | ….';
  const text = stream.peek(1);
  return stream.isSymbol('!=') && text.kind === 'string'
    ? {
        hint: 'Exclude events that contain a string with `search not`.',
        instead: `| search not ${writtenText(text.text)}`,
        to: text.to,
      }
    : undefined;
}

function searchFor(text: string): string {
  return `| search ${writtenText(text)}`;
}

function nextLine({ stream }: Place): string | undefined {
  if (!stream.startsLine) return undefined;
  return stream.isQuotedName() && !startsQuery(stream)
    ? 'Separate fields with a comma, and queries with a blank line or `;`.'
    : 'Separate queries with a blank line or `;`.';
}

/** Matches `where a, b`. */
function joinedByComma({ stream, last }: Place): Advice | undefined {
  return last?.kind === 'where' && stream.isSymbol(',')
    ? { hint: 'Join conditions with `and`.', instead: ' and' }
    : undefined;
}

/** Matches `where status 200`. */
function missingComparison({ stream, last }: Place): Advice | undefined {
  const { kind, from, to } = stream.peek();
  const before = stream.peek(-1);
  const isValue = kind === 'number' || kind === 'string' || kind === 'timespan';
  if (last?.kind !== 'where' || !isValue || (before.kind !== 'word' && before.text !== ']')) return undefined;
  if (comparisonWords.includes(before.text)) return comparedAgain(stream, last);
  const instead = `== ${stream.source.slice(from, to)}`;
  return { hint: `Compare the field with a value: \`${instead}\`.`, instead };
}

/** Returns advice for `where has "x"`, and `uri startswith "a" or startswith "b"`: the field is missing. */
function comparedAgain(stream: TokenStream, last: Operator): Advice {
  const [word, value] = [stream.peek(-1), stream.peek()];
  const condition = stream.source.slice(last.from, word.from);
  const [, field = '*'] = /^where\s+((?:[\w.]|\['[^']*'\])+)\s+!?\w+\s/.exec(condition) ?? [];
  const instead = `${field} ${word.text} ${stream.source.slice(value.from, value.to)}`;
  return { hint: `Name the field: \`${oneLine(instead, 60)}\`.`, instead, from: word.from, to: value.to };
}

const lists: ReadonlySet<Operator['kind']> = new Set([
  'project',
  'project-away',
  'project-keep',
  'project-rename',
  'project-reorder',
  'distinct',
  'extend',
  'sort',
  'summarize',
]);

/** Matches `project uri status`. */
function missingComma({ stream, last }: Place): Advice | undefined {
  if (last === undefined || !lists.has(last.kind)) return undefined;
  const token = stream.peek();
  const name =
    token.kind === 'word' ? token.text : stream.isQuotedName() ? quotedName(stream.peek(1).text) : '';
  // `extend x = strlen y` lacks parentheses.
  const mayGoOn = last.kind === 'extend' || last.kind === 'summarize';
  if (name === '' || (mayGoOn && !stream.isSymbol('=', token.kind === 'word' ? 1 : 3))) return undefined;
  const to = token.kind === 'word' ? token.to : stream.peek(2).to;
  return { hint: 'Separate fields with a comma.', instead: `, ${name}`, to };
}

/** True if a line begins with a dataset and a pipe: another query. */
export function startsQuery(stream: TokenStream): boolean {
  return stream.startsLine && stream.isQuotedName() && stream.isSymbol('|', 3);
}

/** Returns advice if a pipe is not followed by an operator. */
export function operatorAdvice(stream: TokenStream): Advice | string {
  const [first, second] = [stream.peek(), stream.peek(1)];
  if (stream.isSymbol('|'))
    return {
      hint: 'Remove one of the two pipes. Join conditions with `or`, and strings with strcat(a, b).',
      instead: '',
    };
  if (stream.isSymbol('.') && second.kind === 'word')
    return { hint: 'Select fields with `project`.', instead: 'project ' };
  if (first.kind === 'string')
    return { hint: 'Search for text with `search`.', instead: `search ${writtenText(first.text)}` };
  if (stream.isSymbol('=') && second.kind === 'string')
    return {
      hint: 'That is a LogQL filter: search for text with `search`.',
      instead: ` search ${writtenText(second.text)}`,
      to: second.to,
    };
  if (first.text === '~' && second.kind === 'string')
    return {
      hint: 'That is a LogQL filter: match a pattern with `where field matches regex "…"`.',
    };
  return 'Operators include where, extend, project, summarize, sort and limit. `%help operators` lists all.';
}
