import { RE2JS } from 're2js';
import { partsOfPattern } from '../../apl/plan/pattern-parts.js';
import { limits } from '../../apl/syntax/syntax-limits.js';
import { deadline } from '../functions/deadline.js';
import { constantText, type SqlArg, TemplateError } from '../sql/sql-template.js';
import { isLargePattern } from './bounds/costs.js';
import { sqlText } from './duckdb-literal.js';
import type { JsFunction } from './duckdb-template.js';

/** A regular expression (RE2) as SQL text. */
export interface Regex {
  readonly sql: string;
  /** Number of capturing groups; undefined if the expression is not a constant. */
  readonly groups: number | undefined;
  /** The number of each named group. */
  readonly names: Readonly<Record<string, number>>;
  /** Wraps a call that uses the expression, so an invalid pattern from data gives null instead of an error. */
  readonly guard: (call: string) => string;
}

/** Returns a regular expression argument. Throws a {@link TemplateError} for a constant that is not valid RE2. */
export function regexArgument(arg: SqlArg, argIndex: number): Regex {
  return wrappedRegex(arg, argIndex, '', '');
}

/** Like {@link regexArgument}, with text around the expression: `wrappedRegex(arg, 0, '(?:', ')+')`. */
export function wrappedRegex(arg: SqlArg, argIndex: number, before: string, after: string): Regex {
  const source = constantText(arg);
  if (source !== undefined) {
    const alone = compiled(source, argIndex);
    const whole = `${before}${source}${after}`;
    const regex = whole === source ? alone : compiled(whole, argIndex);
    return {
      sql: sqlText(engineSyntax(whole)),
      groups: regex.groupCount(),
      names: regex.namedGroups(),
      guard: call => call,
    };
  }
  const sql = `apl_regex(${arg.sql}, ${sqlText(before)}, ${sqlText(after)})`;
  return { sql, groups: undefined, names: {}, guard: call => `TRY(${call})` };
}

/** Throws a {@link TemplateError} for a pattern that is too large or not valid RE2. */
export function checkPattern(source: string): void {
  compiled(source, 0);
}

/** Returns whether a valid pattern may match the empty string. */
export function canMatchNothing(source: string): boolean {
  // With word boundaries, a pattern that does not match the empty string may still have an empty match within another string.
  return /\\[bB]/.test(source) || validPattern(source)?.matcher('').find() === true;
}

/** Patterns from data are checked at run time: an invalid one becomes null before it gets to the engine. */
export const udfs: readonly JsFunction[] = [
  {
    name: 'apl_regex',
    params: ['VARCHAR', 'VARCHAR', 'VARCHAR'],
    returns: 'VARCHAR',
    run: (source: string, before: string, after: string) => {
      const whole = `${before}${source}${after}`;
      return validPattern(source) === undefined || validPattern(whole) === undefined
        ? null
        : engineSyntax(whole);
    },
  },
];

/** Returns the character offset of one match of a regular expression, counted from 0, or -1; null for impossible arguments. */
export function indexOfRegex(
  text: string,
  source: string,
  start: bigint,
  occurrence: bigint,
  length: bigint,
): bigint | null {
  if (start < 0n || occurrence < 1n || length < -1n) return null;
  const matcher = validPattern(source)?.matcher(window(text, start, length));
  if (matcher === undefined) return null;
  const check = deadline();
  for (let left = occurrence; matcher.find(); left--) {
    check();
    if (left === 1n) return start + BigInt([...window(text, start, length).slice(0, matcher.start())].length);
  }
  return -1n;
}

/** Returns the characters from `start`, at most `length` of them unless it is -1. */
function window(text: string, start: bigint, length: bigint): string {
  const characters = [...text];
  const end = length === -1n ? characters.length : Number(start + length);
  return characters.slice(Number(start), end).join('');
}

function compiled(source: string, argIndex: number): RE2JS {
  if (isLargePattern(source)) {
    const { message, hint } = limits.pattern;
    throw new TemplateError(message, argIndex, hint);
  }
  const unknown = unknownClass(source);
  if (unknown !== undefined) throw invalid(`invalid character class range: \`${unknown}\``, argIndex);
  try {
    // An invalid pattern is compiled again for the reason.
    return validPattern(source) ?? RE2JS.compile(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(reason.replace(/^error parsing regexp: /, ''), argIndex);
  }
}

function invalid(reason: string, argIndex: number): TemplateError {
  const hint = 'Regular expressions use RE2 syntax, without lookaround or backreferences.';
  return new TemplateError(`invalid regular expression: ${reason}`, argIndex, hint);
}

/** Most columns have few patterns for many rows, and queries are often rerun. */
const patterns = new Map<string, RE2JS | undefined>();
const mostPatterns = 64;

function validPattern(source: string): RE2JS | undefined {
  if (!patterns.has(source)) {
    if (patterns.size >= mostPatterns) patterns.clear();
    patterns.set(source, compiledOrNone(source));
  }
  return patterns.get(source);
}

function compiledOrNone(source: string): RE2JS | undefined {
  if (unknownClass(source) !== undefined) return undefined;
  try {
    return RE2JS.compile(source);
  } catch {
    return undefined;
  }
}

/** Returns the first named class in a pattern that only the parser supports, such as `\p{Emoji}`. */
function unknownClass(source: string): string | undefined {
  const classes = source.matchAll(/\\Q.*?(?:\\E|$)|\\[pP]\{\^?(\w+)\}|\\./gs);
  return [...classes].find(([, name = '']) => unknownToEngine.has(name))?.[0];
}

const unknownToEngine = new Set(
  `Alphabetic ASCII_Hex_Digit Ascii Assigned Beria_Erfe Cn Dash Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base
  Emoji_Presentation Extended_Pictographic Garay Gurung_Khema Hex_Digit Kirat_Rai LC Lc Lowercase Math Ol_Onal Quotation_Mark
  Sidetic Sunuwar Tai_Yo Terminal_Punctuation Todhri Tolong_Siki Tulu_Tigalari Unknown Uppercase White_Space`.split(
    /\s+/,
  ),
);

/** Converts a valid pattern to the engine's syntax, which has `(?P<name>` instead of `(?<name>`. */
function engineSyntax(source: string): string {
  return source.replace(partsOfPattern, (part, _group, name?: string) =>
    name === undefined ? part : `(?P<${name}>`,
  );
}
