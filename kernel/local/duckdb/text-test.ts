import type { BinaryOperator } from '../../apl/syntax/ast.js';
import { limits } from '../../apl/syntax/syntax-limits.js';
import { foldCase } from '../sql/fold-case.js';
import type { SqlArg } from '../sql/sql-template.js';
import { computeHeavyFirst } from './duckdb-arguments.js';
import { sqlText } from './duckdb-literal.js';
import { regexArgument } from './regex.js';

/** Returns a text operator as SQL. Null contains nothing: false, or true if the operator is negated. */
export function textTest(operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean): string {
  const negated = operator.startsWith('!');
  const positive = negated ? positiveOf(operator) : operator;
  const test = positiveTest(positive, left, right);
  if (negated) return `(NOT coalesce(${test}, false))`;
  return predicate ? test : `coalesce(${test}, false)`;
}

function positiveOf(operator: BinaryOperator): string {
  return operator === '!~' ? '=~' : operator.slice(1);
}

function positiveTest(operator: string, left: SqlArg, right: SqlArg): string {
  const sensitive = operator.endsWith('_cs');
  const plain = sensitive || isCaseless(right);
  const searched = searchedJson(operator, left, right, !plain);
  if (searched !== undefined) return searched;
  const text = operator === 'matches regex' ? left : asWritten(left, [right]);
  const [a, b] = plain ? [text.sql, right.sql] : [`lower(${text.sql})`, lower(right)];
  const held = mayHold(left, right, !plain);
  const first = held ?? (plain ? undefined : holdsCaseless(text.sql, right.constant));
  // Several times faster than the term pattern, and rules out most rows.
  const holdsTerm = held ?? after(first, `contains(${a}, ${b})`);
  switch (sensitive ? operator.slice(0, -3) : operator) {
    case '=~':
      return `(${a} = ${b})`;
    case 'contains':
      return after(first, `contains(${a}, ${b})`);
    case 'startswith':
      return after(first, `starts_with(${a}, ${b})`);
    case 'endswith':
      return after(first, `ends_with(${a}, ${b})`);
    case 'matches regex':
      return regexTest(left, right);
    case 'has':
    case 'hasprefix':
    case 'hassuffix':
      return termTest(a, right, b, boundariesOf(operator), holdsTerm);
    default:
      throw new RangeError(`no SQL for the operator ${operator}`);
  }
}

/**
 * Returns a test for the rows that pass a cheaper one, which rules out most; null for the rest. It is a CASE because both sides of an AND
 * are computed for every row, whereas the engine computes a function of a column once per dictionary value.
 */
function after(first: string | undefined, test: string): string {
  return first === undefined ? test : `CASE WHEN ${first} THEN ${test} END`;
}

/**
 * Returns a test that passes whenever the text of a dynamic value or of one of its parts contains a constant, by searching the raw JSON.
 * Undefined for a constant that may be written differently there, as numbers are, or may span several parts.
 */
function mayHold({ json, list }: SqlArg, { constant }: SqlArg, folded: boolean): string | undefined {
  if (json === undefined || typeof constant !== 'string') return undefined;
  if (list !== undefined) return mayBeWithin(list, constant, folded);
  if (!staysInJson(constant)) return undefined;
  const [text, needle] = folded
    ? [`lower(${json}::VARCHAR)`, foldCase(constant)]
    : [`${json}::VARCHAR`, constant];
  return `(contains(${text}, ${sqlText(needle)}) OR contains(${json}::VARCHAR, '\\'))`;
}

/** Operators whose result for a dynamic value can be found in its JSON. */
const inJson: ReadonlySet<string> = new Set(['contains', 'has', 'hasprefix', 'hassuffix']);

/**
 * Returns a test of the text of a dynamic value by its JSON, which is the same text but for quotes, spaces, numbers and escapes: the text
 * is written only for values with an escape that may matter. Undefined for other tests and for constants that may be elsewhere than
 * within one string.
 */
function searchedJson(
  written: string,
  { json, list, sql }: SqlArg,
  { constant }: SqlArg,
  folded: boolean,
): string | undefined {
  const operator = written.replace(/_cs$/, '');
  if (json === undefined || list !== undefined || typeof constant !== 'string') return undefined;
  const isWithin = staysInJson(constant) && constant.trim() === constant;
  // Of a JSON null there is no text.
  if (!inJson.has(operator) || !isWithin || 'null'.includes(foldCase(constant))) return undefined;
  const needle = folded ? foldCase(constant) : constant;
  const [subject, text] = [`${json}::VARCHAR`, sql].map(each => (folded ? `lower(${each})` : each)) as [
    string,
    string,
  ];
  const has = (part: string): string => `contains(${json}::VARCHAR, ${sqlText(part)})`;
  const run = folded ? holdsCaseless(`${json}::VARCHAR`, constant) : undefined;
  const holds = after(run, `contains(${subject}, ${sqlText(needle)})`);
  // A search for one character takes the least time.
  const another = needle.includes('/') ? `(${has('\\u')} OR ${has('\\/')})` : has('\\u');
  const escapes = `CASE WHEN ${has('\\')} THEN ${another} END`;
  if (operator === 'contains') {
    const test = `contains(${text}, ${sqlText(needle)})`;
    return `CASE WHEN ${holds} THEN ${whenFound(needle, has, test)} WHEN ${escapes} THEN ${test} END`;
  }
  const { before, after: behind } = boundariesOf(operator);
  // Once: preparing a pattern takes as long as applying it to many rows.
  const test = `regexp_matches(CASE WHEN ${has('\\')} THEN ${text} ELSE ${subject} END, ${sqlText(before + escaped(needle) + behind)})`;
  const sure = stringStart(operator, constant);
  const found = sure === undefined ? test : `CASE WHEN ${has(sure)} THEN true ELSE ${test} END`;
  return `CASE WHEN CASE WHEN ${holds} THEN true ELSE ${escapes} END THEN ${found} END`;
}

/** Returns whether the text of a value has a constant that its JSON has: there, the constant may begin within an escape. */
function whenFound(needle: string, has: (part: string) => string, test: string): string {
  const [first = ''] = needle.toLowerCase();
  if (!/[0-9a-fnrtu]/.test(first)) return 'true';
  return `CASE WHEN ${has(/[bfnrt]/.test(first) ? '\\' : '\\u')} THEN ${test} ELSE true END`;
}

/**
 * Returns the JSON of a string that is a term, or of its beginning, a search for which takes less time than the pattern. Without its quote,
 * a term could start within an escape.
 */
function stringStart(operator: string, constant: string): string | undefined {
  if (operator === 'hassuffix') return undefined;
  const whole = JSON.stringify(constant);
  return operator === 'has' ? whole : whole.slice(0, -1);
}

/**
 * Returns the same for a list of strings: an element contains the constant without what may be the end of a JSON escape, such as the `n` of
 * a line break. Undefined for a constant that may be in no element: part of an escape, a separator or a null.
 */
function mayBeWithin(list: string, constant: string, folded: boolean): string | undefined {
  const lower = foldCase(constant);
  if (/["\\,[\]\p{Cc}]/u.test(constant) || ['null', ...escapes].some(text => text.includes(lower)))
    return undefined;
  const overlap = Math.max(
    0,
    ...escapes.flatMap(endsOf).map(end => (lower.startsWith(end) ? end.length : 0)),
  );
  const sought = (folded ? lower : constant).slice(overlap);
  const test = folded
    ? after(holdsCaseless('x', sought), `contains(lower(x), ${sqlText(sought)})`)
    : `contains(x, ${sqlText(sought)})`;
  return `list_contains(list_transform(${list}, lambda x: ${test}), true)`;
}

/**
 * Returns a test that passes all strings that contain a constant in any case: they contain its longest run without letters verbatim, so
 * only those are folded, which takes longer than the search. Undefined without a selective run.
 */
function holdsCaseless(text: string, constant: unknown): string | undefined {
  if (typeof constant !== 'string') return undefined;
  const runs = constant.match(/[\0-@[-`{-\x7f]{2,}/g) ?? [];
  const [longest] = runs.filter(run => run.trim() !== '').toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : `contains(${text}, ${sqlText(longest)})`;
}

/** Text that follows the backslash in the JSON escape of each control character. */
const escapes = Array.from({ length: 0x20 }, (_, code) =>
  JSON.stringify(String.fromCharCode(code)).slice(2, -1),
);

function endsOf(text: string): readonly string[] {
  return Array.from(text, (_, at) => text.slice(at));
}

/**
 * Returns the text to search for constants: a member of a dynamic value as written in the JSON, if none of the constants can be part of a
 * number in any notation.
 */
export function asWritten(text: SqlArg, constants: readonly SqlArg[]): SqlArg {
  const { written, ...arg } = text;
  const usable = constants.every(({ constant }) => typeof constant === 'string' && isInNoNumber(constant));
  return written !== undefined && usable ? { ...arg, sql: written } : text;
}

function isInNoNumber(text: string): boolean {
  return /[^0-9.eE+-]/.test(text);
}

/**
 * Returns a test that passes if an element of an array, or an entire dynamic value, may be this string: with its quotes it is a whole JSON
 * string. Undefined for text that something other than a string may have.
 */
export function mayBeElement(json: string, { constant }: SqlArg, folded: boolean): string | undefined {
  if (typeof constant !== 'string' || !staysInJson(constant)) return undefined;
  const text = folded ? foldCase(constant) : constant;
  if (['true', 'false'].includes(text)) return undefined;
  const subject = folded ? `lower(${json}::VARCHAR)` : `${json}::VARCHAR`;
  return `(contains(${subject}, ${sqlText(JSON.stringify(text))}) OR contains(${json}::VARCHAR, '\\'))`;
}

/** Returns whether a string appears verbatim in JSON without escapes: it lies within one string and is not part of a number. */
function staysInJson(text: string): boolean {
  if (/["\\,:[\]{}\p{Cc}]/u.test(text) || !isInNoNumber(text)) return false;
  return !['infinity', 'nan'].some(number => number.includes(text.toLowerCase()));
}

/** Invalid patterns from data match nothing. */
function regexTest(left: SqlArg, right: SqlArg): string {
  return computeHeavyFirst([left, right], ([text = left, pattern = right]) => {
    const regex = regexArgument(pattern, 1);
    return regex.guard(`regexp_matches(${text.sql}, ${regex.sql})`);
  });
}

const boundaryBefore = '(?:^|[^\\pL\\pN])';
const boundaryAfter = '(?:$|[^\\pL\\pN])';

/** Patterns around a term; empty if letters and digits may follow it there. */
interface Boundaries {
  readonly before: string;
  readonly after: string;
}

const wholeTerm: Boundaries = { before: boundaryBefore, after: boundaryAfter };
const termStart: Boundaries = { before: boundaryBefore, after: '' };
const termEnd: Boundaries = { before: '', after: boundaryAfter };

function boundariesOf(operator: string): Boundaries {
  if (operator.startsWith('hasprefix')) return termStart;
  return operator.startsWith('hassuffix') ? termEnd : wholeTerm;
}

/** Searches for the pattern only in rows that pass `first`. */
function termTest(
  subject: string,
  term: SqlArg,
  needle: string,
  { before, after: behind }: Boundaries,
  first: string,
): string {
  if (typeof term.constant !== 'string') {
    const pattern = `${sqlText(before)} || regexp_escape(${needle}) || ${sqlText(behind)}`;
    return after(`${first} AND ${needle} <> ''`, `regexp_matches(${subject}, ${pattern})`);
  }
  if (term.constant === '') return 'false';
  const folded = needle === term.sql ? term.constant : foldCase(term.constant);
  return after(first, `regexp_matches(${subject}, ${sqlText(before + escaped(folded) + behind)})`);
}

/** Returns whether a text has one of many constant terms: a few patterns of many terms are far faster than one each. */
export function anyTermTest(text: SqlArg, terms: readonly string[], sensitive: boolean): string {
  const subject = sensitive ? text.sql : `lower(${text.sql})`;
  const patterns = terms.filter(term => term !== '').map(term => escaped(sensitive ? term : foldCase(term)));
  const tests = joinedUpTo(limits.pattern.most, patterns).map(
    alternatives =>
      `regexp_matches(${subject}, ${sqlText(`${boundaryBefore}(?:${alternatives})${boundaryAfter}`)})`,
  );
  return tests.length === 0 ? 'false' : `(${tests.join(' OR ')})`;
}

/** Joins patterns with `|` into as few as possible of at most this many characters; a longer one stays alone. */
function joinedUpTo(most: number, patterns: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const pattern of patterns) {
    const last = joined.at(-1);
    if (last === undefined || last.length + pattern.length >= most) joined.push(pattern);
    else joined[joined.length - 1] = `${last}|${pattern}`;
  }
  return joined;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** Returns whether a constant has no letters: no other character becomes one of its characters in lower case. */
function isCaseless({ constant }: SqlArg): boolean {
  return typeof constant === 'string' && /^[\0-@[-`{-\x7f]*$/.test(constant);
}

/** Folds constants here, anything else in the engine. */
function lower(arg: SqlArg): string {
  return typeof arg.constant === 'string' ? sqlText(foldCase(arg.constant)) : `lower(${arg.sql})`;
}
