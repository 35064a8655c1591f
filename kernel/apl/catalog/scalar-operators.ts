import type { ElementEntry } from './entry.js';

/** Expression operators, each with its negation if it has one. */
export const scalarOperators: readonly ElementEntry[] = [
  entry(
    '==',
    'a == b',
    'True if `a` equals `b` (case-sensitive). Null equals only null.',
    "print 'a' == 'A'",
    false,
  ),
  {
    ...entry(
      '!=',
      'a != b',
      'True if `a` does not equal `b`, or if exactly one of them is null.',
      'print 1 != 2',
      true,
    ),
    aliases: ['<>'],
  },
  entry('and', 'a and b', 'True if both sides are true.', 'print true and 1 > 2', false),
  entry('or', 'a or b', 'True if at least one side is true.', 'print false or 1 < 2', true),
  {
    ...entry('not', 'not(a)', 'True if the value is false.', 'print not(1 > 2)', true),
    aliases: ['not()'],
  },
  entry('+', 'a + b', 'Adds two numbers, two timespans, or a timespan to a timestamp.', 'print 1 + 2', 3),
  entry(
    '-',
    'a - b',
    'Subtracts `b` from `a`. The difference of two timestamps is a timespan; `-a` negates.',
    'print 5 - 7',
    -2,
  ),
  entry('*', 'a * b', 'Multiplies `a` by `b`. A timespan times a number is a timespan.', 'print 6 * 7', 42),
  entry(
    '/',
    'a / b',
    'Divides `a` by `b`. Dividing two integers gives an integer, and dividing two timespans a number.',
    'print 7 / 2.0',
    3.5,
  ),
  entry('%', 'a % b', 'Returns the remainder of a division, with the sign of `a`.', 'print 7 % 4', 3),
  entry(
    '<',
    'a < b',
    'True if `a` is less than `b`. Compares numbers, timestamps, timespans and strings.',
    'print 1 < 2',
    true,
  ),
  entry('<=', 'a <= b', 'True if `a` is less than or equal to `b`.', 'print 2 <= 2', true),
  entry('>', 'a > b', 'True if `a` is greater than `b`.', 'print 1 > 2', false),
  entry('>=', 'a >= b', 'True if `a` is greater than or equal to `b`.', 'print 2 >= 2', true),
  entry('=~', 'a =~ b', 'True if `a` equals `b` (case-insensitive).', "print 'Error' =~ 'ERROR'", true),
  entry(
    '!~',
    'a !~ b',
    'True if `a` does not equal `b` (case-insensitive).',
    "print 'Error' !~ 'ERROR'",
    false,
  ),
  ...family('contains', 'contains `b`', 'does not contain `b`', ["'timeout'", "'MEO'"]),
  ...family('startswith', 'starts with `b`', 'does not start with `b`', ["'timeout'", "'TIME'"]),
  ...family('endswith', 'ends with `b`', 'does not end with `b`', ["'timeout'", "'OUT'"]),
  ...family(
    'has',
    'contains the term `b`, a whole word of letters and digits',
    'does not contain the term `b`, a whole word of letters and digits',
    ["'disk error'", "'ERROR'"],
  ),
  ...family('hasprefix', 'contains a term that starts with `b`', 'contains no term that starts with `b`', [
    "'disk error'",
    "'ERR'",
  ]),
  ...family('hassuffix', 'contains a term that ends with `b`', 'contains no term that ends with `b`', [
    "'disk error'",
    "'ROR'",
  ]),
  entry(
    'matches regex',
    'a matches regex "pattern"',
    'True if the regular expression (RE2) matches any part of `a`.',
    "print 'id=42' matches regex '[0-9]+'",
    true,
  ),
  entry(
    '!matches regex',
    'a !matches regex "pattern"',
    'True if the regular expression (RE2) matches no part of `a`.',
    "print 'id=42' !matches regex '[0-9]+'",
    false,
  ),
  entry('in', 'a in (b, c, …)', list('a value', 'sensitive'), 'print 2 in (1, 2)', true),
  entry('!in', 'a !in (b, c, …)', list('no value', 'sensitive'), 'print 2 !in (1, 2)', false),
  entry('in~', 'a in~ (b, c, …)', list('a string', 'insensitive'), "print 'A' in~ ('a', 'b')", true),
  entry('!in~', 'a !in~ (b, c, …)', list('no string', 'insensitive'), "print 'A' !in~ ('a')", false),
  entry(
    'has_any',
    'a has_any (b, c, …)',
    terms('any', 'insensitive'),
    "print 'disk error' has_any ('ERROR', 'x')",
    true,
  ),
  entry(
    'has_any_cs',
    'a has_any_cs (b, c, …)',
    terms('any', 'sensitive'),
    "print 'disk error' has_any_cs ('ERROR')",
    false,
  ),
  entry(
    'has_all',
    'a has_all (b, c, …)',
    terms('all', 'insensitive'),
    "print 'disk error' has_all ('ERROR', 'x')",
    false,
  ),
  entry(
    'has_all_cs',
    'a has_all_cs (b, c, …)',
    terms('all', 'sensitive'),
    "print 'disk error' has_all_cs ('error', 'disk')",
    true,
  ),
];

function entry(
  name: string,
  usage: string,
  doc: string,
  apl: string,
  result: boolean | number,
): ElementEntry {
  return { kind: 'scalar', name, usage: [usage], doc, example: { apl, result: `[${result}]` } };
}

/**
 * Returns a string operator, its negation, and the case-sensitive form of both; the example's second string differs in case from the first.
 */
function family(
  word: string,
  holds: string,
  fails: string,
  [text, other]: readonly [string, string],
): ElementEntry[] {
  return [
    [word, false, false] as const,
    [`!${word}`, true, false] as const,
    [`${word}_cs`, false, true] as const,
    [`!${word}_cs`, true, true] as const,
  ].map(([name, negated, cased]) =>
    entry(
      name,
      `a ${name} b`,
      `True if \`a\` ${negated ? fails : holds} (case-${cased ? 'sensitive' : 'insensitive'}).${negated ? ' Also true if `a` is null.' : ''}`,
      `print ${text} ${name} ${other}`,
      cased ? negated : !negated,
    ),
  );
}

function list(what: string, cased: string): string {
  return `True if \`a\` equals ${what} in the list (case-${cased}). Arrays in the list are expanded to their elements, and queries to the values of their first column.`;
}

function terms(how: string, cased: string): string {
  return `True if \`a\` contains ${how} of the terms, as matched by has (case-${cased}).`;
}
