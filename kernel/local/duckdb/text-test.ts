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
  const text = operator === 'matches regex' ? left : asWritten(left, [right]);
  const [a, b] = plain ? [text.sql, right.sql] : [`lower(${text.sql})`, lower(right)];
  const held = mayHold(left, right, !plain);
  const first = held ?? (plain ? undefined : holdsCaseless(text.sql, right.constant));
  // Several times faster than the pattern of a term, and rules most rows out.
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
      return termTest(a, right, b, boundaryBefore, boundaryAfter, holdsTerm);
    case 'hasprefix':
      return termTest(a, right, b, boundaryBefore, '', holdsTerm);
    case 'hassuffix':
      return termTest(a, right, b, '', boundaryAfter, holdsTerm);
    default:
      throw new RangeError(`no SQL for the operator ${operator}`);
  }
}

/**
 * A test for the rows that pass another, which costs less and rules out most; null for the others. As one CASE: the sides of an AND
 * are computed for each row, while the engine computes a function of a column once for each value of its dictionary.
 */
function after(first: string | undefined, test: string): string {
  return first === undefined ? test : `CASE WHEN ${first} THEN ${test} END`;
}

/**
 * Returns a test that passes wherever the text of a dynamic value, or of one of its parts, contains a constant: it reads the JSON as
 * it stands. Undefined for a constant that may be written in another way there, as numbers are, or reach over several parts.
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

/**
 * The same of a list of texts: an element contains the constant without what may be the end of an escape in JSON, such as the `n` of a line
 * break. Undefined for a constant that may be in no element: it is a part of an escape, of what separates elements, or of a null.
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
 * Returns a test that all strings pass which contain a constant in any case: they contain the longest run of it that has no letters as it
 * stands, so that only those that do are folded, which takes longer than the search. Undefined without a run that rules much out.
 */
function holdsCaseless(text: string, constant: unknown): string | undefined {
  if (typeof constant !== 'string') return undefined;
  const runs = constant.match(/[\0-@[-`{-\x7f]{2,}/g) ?? [];
  const [longest] = runs.filter(run => run.trim() !== '').toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : `contains(${text}, ${sqlText(longest)})`;
}

/** What JSON writes behind a backslash for each control character. */
const escapes = Array.from({ length: 0x20 }, (_, code) =>
  JSON.stringify(String.fromCharCode(code)).slice(2, -1),
);

function endsOf(text: string): readonly string[] {
  return Array.from(text, (_, at) => text.slice(at));
}

/**
 * Returns a text to look for constants in: a member of a dynamic value as JSON writes it, if none of the constants is in a number
 * however that is written.
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
 * Returns a test that fails unless an element of an array, or the whole of a dynamic value, may be this text: between its quotation
 * marks it is a whole string of the JSON. Undefined for a text that something else than a string may have.
 */
export function mayBeElement(json: string, { constant }: SqlArg, folded: boolean): string | undefined {
  if (typeof constant !== 'string' || !staysInJson(constant)) return undefined;
  const text = folded ? foldCase(constant) : constant;
  if (['true', 'false'].includes(text)) return undefined;
  const subject = folded ? `lower(${json}::VARCHAR)` : `${json}::VARCHAR`;
  return `(contains(${subject}, ${sqlText(JSON.stringify(text))}) OR contains(${json}::VARCHAR, '\\'))`;
}

/** Whether a text is in JSON as it stands, unless an escape is there: it lies within one string, and is not a part of a number. */
function staysInJson(text: string): boolean {
  if (/["\\,:[\]{}\p{Cc}]/u.test(text) || !isInNoNumber(text)) return false;
  return !['infinity', 'nan'].some(number => number.includes(text.toLowerCase()));
}

/** An invalid pattern from data matches nothing. */
function regexTest(left: SqlArg, right: SqlArg): string {
  return computeHeavyFirst([left, right], ([text = left, pattern = right]) => {
    const regex = regexArgument(pattern, 1);
    return regex.guard(`regexp_matches(${text.sql}, ${regex.sql})`);
  });
}

const boundaryBefore = '(?:^|[^\\pL\\pN])';
const boundaryAfter = '(?:$|[^\\pL\\pN])';

/** Only rows that pass `first` are searched for the pattern. */
function termTest(
  subject: string,
  term: SqlArg,
  needle: string,
  before: string,
  behind: string,
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

/** Returns whether a text has one of many constant terms: few patterns of many terms are far faster than one of each. */
export function anyTermTest(text: SqlArg, terms: readonly string[], sensitive: boolean): string {
  const subject = sensitive ? text.sql : `lower(${text.sql})`;
  const patterns = terms.filter(term => term !== '').map(term => escaped(sensitive ? term : foldCase(term)));
  const tests = joinedUpTo(limits.pattern.most, patterns).map(
    alternatives =>
      `regexp_matches(${subject}, ${sqlText(`${boundaryBefore}(?:${alternatives})${boundaryAfter}`)})`,
  );
  return tests.length === 0 ? 'false' : `(${tests.join(' OR ')})`;
}

/** Joins patterns by `|` to as few as have no more than so many characters, or are a single one. */
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

/** True for a constant without a letter: no character but itself becomes one of its own in lower case. */
function isCaseless({ constant }: SqlArg): boolean {
  return typeof constant === 'string' && /^[\0-@[-`{-\x7f]*$/.test(constant);
}

/** Folds a constant here, anything else in the engine. */
function lower(arg: SqlArg): string {
  return typeof arg.constant === 'string' ? sqlText(foldCase(arg.constant)) : `lower(${arg.sql})`;
}
