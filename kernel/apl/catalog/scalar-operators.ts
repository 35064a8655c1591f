import type { ElementEntry } from './entry.js';

/** Expression operators, each with its negation if it has one. */
export const scalarOperators: readonly ElementEntry[] = [
  entry('==', 'a == b', 'Equal; case matters. A null equals nothing but a null.', "print 'a' == 'A'", false),
  {
    ...entry('!=', 'a != b', 'Not equal; true if one side alone is null.', 'print 1 != 2', true),
    aliases: ['<>'],
  },
  entry('and', 'a and b', 'True if both sides are true.', 'print true and 1 > 2', false),
  entry('or', 'a or b', 'True if at least one side is true.', 'print false or 1 < 2', true),
  {
    ...entry('not', 'not(a)', 'True if the value is false.', 'print not(1 > 2)', true),
    aliases: ['not()'],
  },
  entry('+', 'a + b', 'The sum of numbers or durations, or a time that much later.', 'print 1 + 2', 3),
  entry('-', 'a - b', 'The difference; of two times a duration. `-a` is the negative.', 'print 5 - 7', -2),
  entry('*', 'a * b', 'The product; a duration times a number is a duration.', 'print 6 * 7', 42),
  entry(
    '/',
    'a / b',
    'The quotient; of two whole numbers a whole number, of two durations a number.',
    'print 7 / 2.0',
    3.5,
  ),
  entry('%', 'a % b', 'The remainder, with the sign of the first number.', 'print 7 % 4', 3),
  entry('<', 'a < b', 'Less, for numbers, times, durations and texts.', 'print 1 < 2', true),
  entry('<=', 'a <= b', 'Less or equal.', 'print 2 <= 2', true),
  entry('>', 'a > b', 'Greater.', 'print 1 > 2', false),
  entry('>=', 'a >= b', 'Greater or equal.', 'print 2 >= 2', true),
  entry('=~', 'a =~ b', 'Equal, whatever the case.', "print 'Error' =~ 'ERROR'", true),
  entry('!~', 'a !~ b', 'Not equal, whatever the case.', "print 'Error' !~ 'ERROR'", false),
  ...family('contains', 'holds the other text', 'does not hold the other text', ["'timeout'", "'MEO'"]),
  ...family('startswith', 'starts with the other text', 'does not start with the other text', [
    "'timeout'",
    "'TIME'",
  ]),
  ...family('endswith', 'ends with the other text', 'does not end with the other text', [
    "'timeout'",
    "'OUT'",
  ]),
  ...family(
    'has',
    'holds the term: a whole word of letters and digits',
    'does not hold the term: a whole word of letters and digits',
    ["'disk error'", "'ERROR'"],
  ),
  ...family(
    'hasprefix',
    'has a term that starts with the other text',
    'has no term that starts with the other text',
    ["'disk error'", "'ERR'"],
  ),
  ...family(
    'hassuffix',
    'has a term that ends with the other text',
    'has no term that ends with the other text',
    ["'disk error'", "'ROR'"],
  ),
  entry(
    'matches regex',
    'a matches regex "pattern"',
    'True if the regular expression (RE2) matches some part of the text.',
    "print 'id=42' matches regex '[0-9]+'",
    true,
  ),
  entry(
    '!matches regex',
    'a !matches regex "pattern"',
    'True if the regular expression (RE2) matches no part of the text.',
    "print 'id=42' !matches regex '[0-9]+'",
    false,
  ),
  entry('in', 'a in (b, c, …)', list('one of the values', 'Case matters.'), 'print 2 in (1, 2)', true),
  entry('!in', 'a !in (b, c, …)', list('none of the values', 'Case matters.'), 'print 2 !in (1, 2)', false),
  entry(
    'in~',
    'a in~ (b, c, …)',
    list('one of the texts', 'Case does not matter.'),
    "print 'A' in~ ('a', 'b')",
    true,
  ),
  entry(
    '!in~',
    'a !in~ (b, c, …)',
    list('none of the texts', 'Case does not matter.'),
    "print 'A' !in~ ('a')",
    false,
  ),
  entry(
    'has_any',
    'a has_any (b, c, …)',
    terms('any', 'does not matter'),
    "print 'disk error' has_any ('ERROR', 'x')",
    true,
  ),
  entry(
    'has_any_cs',
    'a has_any_cs (b, c, …)',
    terms('any', 'matters'),
    "print 'disk error' has_any_cs ('ERROR')",
    false,
  ),
  entry(
    'has_all',
    'a has_all (b, c, …)',
    terms('all', 'does not matter'),
    "print 'disk error' has_all ('ERROR', 'x')",
    false,
  ),
  entry(
    'has_all_cs',
    'a has_all_cs (b, c, …)',
    terms('all', 'matters'),
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
      `True if the text ${negated ? fails : holds}. Case ${cased ? 'matters' : 'does not matter'}.${negated ? ' True if it is null.' : ''}`,
      `print ${text} ${name} ${other}`,
      cased ? negated : !negated,
    ),
  );
}

function list(what: string, cased: string): string {
  return `True if the value is ${what} in the parentheses; an array there stands for its elements, a query for the values of its first column. ${cased}`;
}

function terms(how: string, cased: string): string {
  return `True if the text holds ${how} of the terms, in the sense of has. Case ${cased}.`;
}
