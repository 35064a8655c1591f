import { oneLine } from '../../../text.js';
import { parseTimespan, UNITS } from '../../../time.js';
import { likeness } from '../../hints/languages/language-expression.js';
import type { Expr, Identifier, Span } from '../ast.js';
import { nearest } from '../nearest.js';
import { identifier } from '../nodes.js';
import type { Token } from '../tokens/lexer.js';
import { quotedName, writtenText } from '../tokens/quote.js';
import type { Advice, TokenStream } from '../tokens/token-stream.js';

/** Consumes `and` or `or`; also `AND`, `&&`, `||` and similar forms of other languages, which are reported. */
export function takeLogic(stream: TokenStream, word: 'and' | 'or'): Token | undefined {
  const token = stream.peek();
  if (stream.isKeyword(word)) return stream.takeKeyword(word);
  if (word === 'and') return stream.isSymbol('&&') ? takeMisspelled(stream, 1, word) : undefined;
  const isDouble = stream.isSymbol('|') && stream.isSymbol('|', 1) && stream.peek(1).from === token.to;
  return stream.comparing && isDouble ? takeMisspelled(stream, 2, word) : undefined;
}

/** Consumes and reports `!` before a condition, and returns it as `not`. */
export function takeExclamation(stream: TokenStream): Token | undefined {
  if (!stream.isSymbol('!')) return undefined;
  const next = stream.peek(1);
  if (next.text !== '(' && next.kind !== 'word' && !stream.isQuotedName(1)) return undefined;
  return { ...takeMisspelled(stream, 1, 'not'), text: 'not' };
}

const negatable =
  /^(?:contains|startswith|endswith|has|hasprefix|hassuffix)(?:_cs)?$|^in~?$|^matches$|^between$/;

/** Consumes and reports the `not` of `x not in (…)`, which is written `!in`. */
export function takeNegation(stream: TokenStream): Token | undefined {
  const operator = stream.peek(1);
  const token = stream.peek();
  if (token.kind !== 'word' || token.text.toLowerCase() !== 'not') return undefined;
  if (operator.kind !== 'word' || !negatable.test(operator.text.toLowerCase())) return undefined;
  stream.reportSpelling({ from: token.from, to: operator.to }, `!${operator.text.toLowerCase()}`);
  return stream.next();
}

/** Consumes and reports `is null` or `is not null`; returns whether it is negated. */
export function takeIsNull(stream: TokenStream): (Token & { readonly negated: boolean }) | undefined {
  const words = [0, 1, 2].map(ahead => stream.peek(ahead).text.toLowerCase());
  if (words[0] !== 'is' || stream.peek().kind !== 'word') return undefined;
  const negated = words[1] === 'not' && words[2] === 'null';
  if (!negated && words[1] !== 'null') return undefined;
  const token = takeMisspelled(stream, negated ? 3 : 2, negated ? '!= null' : '== null');
  return { ...token, negated };
}

/** Consumes and reports `like`, `ilike` or `rlike`. */
export function takeLike(stream: TokenStream): Token | undefined {
  const no = stream.isWord('not') ? 1 : 0;
  const word = stream.peek(no);
  if (!/^(?:i|r)?like$/i.test(word.text) || word.kind !== 'word') return undefined;
  const { from } = stream.peek();
  stream.skip(no);
  const token = stream.next();
  const pattern = stream.peek();
  const message = `APL has no \`${token.text}\``;
  if (pattern.kind === 'string' && /^i?like$/i.test(token.text)) {
    const instead = likeness(pattern.text, '!'.repeat(no), /^like$/i.test(token.text));
    const span = { from, to: pattern.to };
    stream.report('error', 'foreign-operator', span, message, `Write \`${oneLine(instead, 60)}\`.`, instead);
  } else {
    const hint = 'Write `contains`, `startswith`, `endswith` or `matches regex`.';
    stream.report('error', 'foreign-operator', token, message, hint);
  }
  return token;
}

/** Comparisons of several words, with their operators in APL; the first match is used. */
const phrases: readonly (readonly [words: string, operator: string])[] = [
  ['contains_any', 'has_any'],
  ['starts with', 'startswith'],
  ['begins with', 'startswith'],
  ['ends with', 'endswith'],
  ['not starts with', '!startswith'],
  ['not ends with', '!endswith'],
  ['does not start with', '!startswith'],
  ['does not end with', '!endswith'],
  ['does not contain', '!contains'],
  ['does not match', '!matches regex'],
  ['includes', 'contains'],
  ['has any (', 'has_any'],
  ['has all (', 'has_all'],
  ['is not in', '!in'],
  ['is in', 'in'],
  ['is not true', '!= true'],
  ['is true', '== true'],
  ['is not false', '!= false'],
  ['is false', '== false'],
  ['regexp', 'matches regex'],
  ['regex', 'matches regex'],
  ['equals', '=='],
];

/** Consumes and reports a comparison in the words of other languages, up to its value; returns its operator in APL. */
export function takePhrase(
  stream: TokenStream,
): { readonly token: Token; readonly operator: string } | undefined {
  if (!stream.comparing) return undefined;
  for (const [phrase, operator] of phrases) {
    const words = phrase.split(' ');
    if (!words.every((word, ahead) => stream.peek(ahead).text.toLowerCase() === word)) continue;
    // The bracket, or the boolean, is left for the reader of the value.
    const count = words.length - (/^(?:\(|true|false)$/.test(words.at(-1) ?? '') ? 1 : 0);
    const shown = operator.replace(/ (?:true|false)$/, '');
    return { token: takeMisspelled(stream, count, shown), operator: shown };
  }
  return undefined;
}

/** Comparison signs of other languages, written without spaces, with their operators in APL. */
const oddComparisons: Readonly<Record<string, '==' | '!=' | '>=' | '<='>> = {
  '===': '==',
  '!==': '!=',
  '=!': '!=',
  '=>': '>=',
  '=<': '<=',
};

/** Consumes and reports `===`, `=>`, `=<` and the like; returns the intended operator. */
export function takeOddComparison(
  stream: TokenStream,
): { readonly token: Token; readonly operator: '==' | '!=' | '>=' | '<=' } | undefined {
  const [first, second] = [stream.peek(), stream.peek(1)];
  const isPair = second.kind === 'symbol' && second.from === first.to;
  const text = isPair ? first.text + second.text : '';
  for (const [signs, count] of [
    [text, 2],
    [first.text, 1],
  ] as const) {
    const operator = Object.hasOwn(oddComparisons, signs) ? oddComparisons[signs] : undefined;
    if (operator !== undefined) return { token: takeMisspelled(stream, count, operator), operator };
  }
  return undefined;
}

/** Consumes and reports `**`. */
export function takePower(stream: TokenStream): Token | undefined {
  const [first, second] = [stream.peek(), stream.peek(1)];
  if (!stream.isSymbol('*') || !stream.isSymbol('*', 1) || second.from !== first.to) return undefined;
  stream.skip(2);
  const token = { ...first, to: second.to };
  stream.report('error', 'foreign-operator', token, 'APL has no `**`', 'Write `pow(x, y)`.');
  return token;
}

/** Consumes and reports the rest of a string with a doubled quote, as in `'it''s'`; returns the whole string. */
export function takeDoubledQuote(stream: TokenStream, text: Token): Token {
  let whole = text;
  for (let next = stream.peek(); isGlued(stream, whole, next); next = stream.peek()) {
    const sign = stream.source.charAt(next.from);
    stream.next();
    whole = { ...whole, to: next.to, text: `${whole.text}${sign}${next.text}` };
  }
  if (whole !== text) {
    const sign = stream.source.charAt(text.from);
    const message = `APL escapes a quote inside a string as \`\\${sign}\``;
    const hint = `Write ${textLiteral(whole.text, sign)}.`;
    stream.report('error', 'foreign-operator', whole, message, hint, writtenText(whole.text));
  }
  return whole;
}

function isGlued(stream: TokenStream, before: Token, next: Token): boolean {
  if (next.kind !== 'string' || next.from !== before.to) return false;
  const [sign, close] = [stream.source.charAt(next.from), stream.source.charAt(before.to - 1)];
  return sign === close && (sign === "'" || sign === '"');
}

function textLiteral(text: string, sign: string): string {
  return `${sign}${oneLine(text, 40).replaceAll(sign, `\\${sign}`)}${sign}`;
}

/** Consumes and reports `hint.strategy=broadcast` and the like. */
export function takeHints(stream: TokenStream): void {
  while (stream.isWord('hint') && stream.isSymbol('.', 1) && stream.isSymbol('=', 3)) {
    const span = { from: stream.peek().from, to: stream.peek(4).to };
    const written = oneLine(stream.source.slice(span.from, span.to), 60);
    stream.report(
      'error',
      'foreign-operator',
      span,
      `APL does not support hints: \`${written}\``,
      'Remove it.',
      '',
    );
    stream.skip(5);
  }
}

/** Consumes and reports `using` or `where` in place of the `on` of a join. */
export function takeUsing(stream: TokenStream): boolean {
  const token = stream.peek();
  const isHabit = token.kind === 'word' && /^(?:using|where)$/i.test(token.text);
  if (isHabit) takeMisspelled(stream, 1, 'on');
  return isHabit;
}

/** Consumes and reports anything after `count`, which has no operands: `count()`, `count by x`. */
export function takeCounted(stream: TokenStream, word: Span): void {
  if (stream.source.slice(word.from, word.to) !== 'count') return;
  if (stream.isSymbol('(') && stream.isSymbol(')', 1) && !/^by$/i.test(stream.peek(2).text)) {
    stream.reportSpelling({ from: word.from, to: stream.peek(1).to }, 'count');
    stream.skip(2);
  } else if (/^by$/i.test(stream.peek().text) || (stream.isSymbol('(') && stream.isSymbol(')', 1))) {
    if (stream.isSymbol('(')) stream.skip(2);
    const { from } = stream.peek();
    stream.skipTo('|', ';');
    const by = stream.source.slice(from, stream.lastEnd);
    const span = { from: word.from, to: stream.lastEnd };
    const instead = `summarize count() ${by}`;
    stream.report(
      'error',
      'foreign-operator',
      span,
      '`count` counts all rows',
      `Write \`${instead}\`.`,
      instead,
    );
  }
}

/** Consumes the `and` or the comma between the ends of a range; the caller reports the whole range. */
export function takeRangeSign(stream: TokenStream): boolean {
  if (stream.takeSymbol(',') !== undefined) return true;
  const token = stream.peek();
  const isAnd = token.kind === 'word' && token.text.toLowerCase() === 'and';
  if (isAnd) stream.next();
  return isAnd;
}

/** Reports an operator that is not in lower case. */
export function reportCase(stream: TokenStream, token: Token): void {
  stream.reportSpelling(token, token.text.toLowerCase());
}

/** Consumes and reports `expr as name`: the name comes first. */
export function takeAlias(stream: TokenStream, value: Expr): Identifier | undefined {
  if (!/^as$/i.test(stream.peek().text) || stream.peek(1).kind !== 'word') return undefined;
  stream.next();
  const name = stream.takeName();
  if (name === undefined) return undefined;
  const text = stream.source.slice(value.from, value.to);
  const instead = `${stream.source.slice(name.from, name.to)} = ${text}`;
  const shown = text.length > 30 ? `${name.name} = …` : instead;
  const span = { from: value.from, to: name.to };
  stream.report(
    'error',
    'name-after',
    span,
    'the name of a result must come before it',
    `Write \`${shown}\`.`,
    instead,
  );
  return name;
}

/** Consumes and reports `group` before `by`. */
export function takeGroup(stream: TokenStream): void {
  if (!/^group$/i.test(stream.peek().text) || !/^by$/i.test(stream.peek(1).text)) return;
  const word = stream.peek();
  stream.reportSpelling({ from: word.from, to: stream.peek(1).to }, 'by');
  stream.next();
}

/** Consumes and reports `ascending`, `DESC` or `dsc`; returns the direction. */
export function takeDirection(stream: TokenStream): 'asc' | 'desc' | undefined {
  const { kind, text } = stream.peek();
  const guess = kind === 'word' ? nearest(text, ['ascending', 'descending', 'asc', 'desc']) : undefined;
  if (guess === undefined) return undefined;
  const direction = guess.startsWith('asc') ? 'asc' : 'desc';
  takeMisspelled(stream, 1, direction);
  return direction;
}

/** Consumes and reports `[name]`, whose quotes are missing. */
export function takeUnquotedName(stream: TokenStream): Identifier | undefined {
  if (!stream.isSymbol('[') || stream.peek(1).kind !== 'word') return undefined;
  let close = 2;
  while (/^[-.]$/.test(stream.peek(close).text) && stream.peek(close + 1).kind === 'word') close += 2;
  if (!stream.isSymbol(']', close)) return undefined;
  const span = { from: stream.peek().from, to: stream.peek(close).to };
  const text = stream.source.slice(span.from + 1, span.to - 1).trim();
  const message = 'a name in brackets needs quotes';
  stream.report('error', 'unquoted-name', span, message, `Write ${quotedName(text)}.`, quotedName(text));
  stream.skip(close + 1);
  return identifier(text, true, span);
}

/** Skips and reports a SQL-style comment; `only` restricts its first token. */
export function takeSqlComment(stream: TokenStream, only: 'any' | 'word' = 'any'): boolean {
  if (!stream.isSymbol('-') || !stream.isSymbol('-', 1)) return false;
  const [first, second, after] = [stream.peek(), stream.peek(1), stream.peek(2)];
  // `a - -b` is arithmetic, and so is `1 --2`.
  if (second.from !== first.to || (only === 'word' && (after.kind !== 'word' || after.from === second.to)))
    return false;
  const dashes = { from: first.from, to: second.to };
  stream.report('error', 'expected', dashes, '`--` does not start a comment in APL', 'Write `// …`.', '//');
  stream.skipLine();
  return true;
}

/** Consumes and reports the unit after a number, as in `1 hour`; returns both as a timespan token. */
export function takeUnit(stream: TokenStream, number: Token): Token | undefined {
  const word = stream.peek();
  const size = word.kind === 'word' ? UNITS.get(word.text.toLowerCase()) : undefined;
  if (size === undefined || stream.source.slice(number.to, word.from).includes('\n')) return undefined;
  const [unit] = [...UNITS].find(([, nanos]) => nanos === size) ?? [word.text];
  const span = { from: number.from, to: word.to };
  const text = `${number.text}${unit}`;
  stream.reportSpelling(span, text);
  stream.next();
  return { ...number, ...span, kind: 'timespan', text };
}

/** Consumes and reports the text after the word `interval`, as in `INTERVAL 1 HOUR`; returns all of it as a timespan token. */
export function takeInterval(stream: TokenStream, word: Token): Token | undefined {
  const [value, unit] = [stream.peek(), stream.peek(1)];
  if (!/^interval$/i.test(word.text)) return undefined;
  const isQuoted = value.kind === 'string';
  if (!isQuoted && (value.kind !== 'number' || unit.kind !== 'word')) return undefined;
  const [, count = '', name = ''] =
    /^(\d+)\s*([a-z]+)$/i.exec(isQuoted ? value.text : `${value.text} ${unit.text}`) ?? [];
  const size = UNITS.get(name.toLowerCase());
  const [short] = [...UNITS].find(([, nanos]) => nanos === size) ?? [name];
  const text = `${count}${short}`;
  if (size === undefined || parseTimespan(text) === undefined) return undefined;
  stream.skip(isQuoted ? 1 : 2);
  const span = { from: word.from, to: stream.lastEnd };
  stream.reportSpelling(span, text);
  return { ...word, ...span, kind: 'timespan', text };
}

/** Returns the fix for a key without its `by`: `sort -x`, `top 5 x`. */
export function orderAdvice(stream: TokenStream): Pick<Advice, 'instead' | 'to'> | undefined {
  const [first, second] = [stream.peek(), stream.peek(1)];
  if (stream.isSymbol('-') && second.kind === 'word')
    return { instead: `by ${second.text} desc`, to: second.to };
  return first.kind === 'word' || stream.isQuotedName()
    ? { instead: `by ${stream.source.slice(first.from, first.to)}` }
    : undefined;
}

/** Conversion functions by the types of other languages. */
const conversions: Readonly<Record<string, string>> = {
  ...{ int: 'toint', integer: 'toint', bigint: 'tolong', long: 'tolong' },
  ...{ string: 'tostring', text: 'tostring', varchar: 'tostring', char: 'tostring' },
  ...{ float: 'todouble', double: 'todouble', real: 'todouble', numeric: 'todouble', decimal: 'todouble' },
  ...{
    datetime: 'todatetime',
    timestamp: 'todatetime',
    date: 'todatetime',
    bool: 'tobool',
    boolean: 'tobool',
  },
};

/** Functions for the time parts in `EXTRACT(HOUR FROM x)`; `$` is the time. */
const partsOfTime: Readonly<Record<string, string>> = {
  ...{ year: 'getyear($)', month: 'getmonth($)', day: 'dayofmonth($)', hour: 'hourofday($)' },
  ...{ minute: "datetime_part('minute', $)", second: "datetime_part('second', $)" },
};

/** Returns the fix for call arguments that other languages separate by words: `CAST(x AS int)`, `count(DISTINCT x)`. */
export function argumentAdvice(
  stream: TokenStream,
  call: Span & { readonly name: string },
  first: string,
): Advice | undefined {
  if (stream.isSymbol(';')) return { hint: 'Separate arguments with commas.', instead: ',' };
  const word = stream.peek();
  const rest = restOfCall(stream);
  if (rest === undefined || word.kind !== 'word') return undefined;
  const callee = call.name.toLowerCase();
  const after = rest.text.slice(word.text.length).trim();
  const instead =
    callee === 'count' && /^distinct$/i.test(first) && !rest.text.includes(',')
      ? `dcount(${rest.text})`
      : /^(?:try_)?cast$/.test(callee) && /^as$/i.test(word.text)
        ? own(conversions, after.toLowerCase().replace(/\W.*$/, ''), to => `${to}(${first})`)
        : callee === 'extract' && /^from$/i.test(word.text)
          ? own(partsOfTime, first.toLowerCase(), part => part.replace('$', after))
          : undefined;
  return instead === undefined
    ? undefined
    : { hint: `Write \`${instead}\`.`, instead, from: call.from, to: rest.to };
}

function own(table: Readonly<Record<string, string>>, key: string, use: (value: string) => string) {
  const value = Object.hasOwn(table, key) ? table[key] : undefined;
  return value === undefined ? undefined : use(value);
}

/** Returns the text up to the bracket that closes the call, with its end; undefined if none does. */
function restOfCall(stream: TokenStream): { readonly text: string; readonly to: number } | undefined {
  const { mark } = stream;
  const { from } = stream.peek();
  stream.skipTo(')', '|', ';');
  const close = stream.isSymbol(')') ? stream.peek() : undefined;
  stream.rewind(mark);
  return close === undefined
    ? undefined
    : { text: stream.source.slice(from, close.from).trim(), to: close.to };
}

/** Returns the fix for a list after `==`, or for `->` before a key. */
export function literalAdvice(stream: TokenStream): Advice | undefined {
  const [before, token] = [stream.peek(-1), stream.peek()];
  const key = stream.peek(1);
  if (token.text === '>' && before.text === '-' && before.to === token.from)
    return {
      hint: 'Write a map key as field.key, or in brackets.',
      ...(key.kind === 'string'
        ? { instead: `[${writtenText(key.text)}]`, from: before.from, to: key.to }
        : {}),
    };
  if (token.text !== '[' || !/^[!=]=$/.test(before.text)) return undefined;
  const { mark } = stream;
  stream.next();
  stream.skipTo(']', '|', ';');
  const close = stream.isSymbol(']') ? stream.peek() : undefined;
  stream.rewind(mark);
  if (close === undefined) return undefined;
  const list = `${before.text === '==' ? '' : '!'}in (${stream.source.slice(token.to, close.from)})`;
  return { hint: `Write \`${oneLine(list, 60)}\`.`, instead: list, from: before.from, to: close.to };
}

/** Returns the fix for `in (500 .. 599)` and `in range(500, 599)`; `token` is the operator. */
export function rangeAdvice(stream: TokenStream, operator: string, token: Token): Advice | undefined {
  if (!stream.isSymbol('..') && !stream.isWord('range')) return undefined;
  const { mark } = stream;
  if (stream.isWord('range')) stream.skip(2);
  stream.skipTo(')', ']', '|', ';');
  const close = stream.isSymbol(')') || stream.isSymbol(']') ? stream.peek() : undefined;
  stream.rewind(mark);
  const hint = 'Test a range with `between (500 .. 599)`.';
  const text = stream.source.slice(token.to, close?.from);
  const [, bounds = ''] = /^\s*(?:range\s*)?[([]([^(),]+(?:\.\.|,)[^(),]+)$/.exec(text) ?? [];
  const [first, last, more] = bounds.split(/\.\.|,/).map(bound => bound.trim());
  if (close === undefined || !first || !last || more !== undefined) return { hint };
  const instead = `${operator.startsWith('!') ? '!' : ''}between (${first} .. ${last})`;
  return { hint: `Write \`${oneLine(instead, 60)}\`.`, instead, from: token.from, to: close.to };
}

/** Returns the fix if no list follows `in`: a search for the string in a field. */
export function listAdvice(stream: TokenStream, left: Expr): Advice | undefined {
  if (left.kind !== 'literal' || stream.peek().kind !== 'word') return undefined;
  const field = stream.peek();
  const instead = `${field.text} contains ${stream.source.slice(left.from, left.to)}`;
  return { hint: `Write \`${oneLine(instead, 60)}\`.`, instead, from: left.from, to: field.to };
}

/** Consumes and reports a stray closing bracket. */
export function takeStrayBracket(stream: TokenStream): Token | undefined {
  const token = stream.peek();
  if (token.kind !== 'symbol' || ![')', ']', '}'].includes(token.text)) return undefined;
  stream.report('error', 'stray-bracket', token, `unmatched \`${token.text}\``, 'Remove it.', '');
  return stream.next();
}

function takeMisspelled(stream: TokenStream, count: number, instead: string): Token {
  const token = stream.peek();
  const span = { from: token.from, to: stream.peek(count - 1).to };
  stream.reportSpelling(span, instead);
  stream.skip(count);
  return { ...token, ...span };
}
