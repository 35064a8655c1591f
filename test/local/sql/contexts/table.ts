import type { TypeName } from '../../../../kernel/apl/catalog/entry.js';

/** Contexts for values of a type; `#` is the value. */
interface Contexts {
  /** Contexts with the tightest-binding operators. */
  readonly closest: readonly string[];
  readonly others: readonly string[];
  readonly aggregates: readonly string[];
  readonly condition: string;
  /** Key of a sort, a group or a join. */
  readonly key: string;
}

const ofAny: readonly string[] = [
  'isnull(#)',
  'coalesce(#, #)',
  'case(isnull(#), 1, b, 2, 3)',
  "strcat('<', #, '>')",
  'pack_array(#)[0]',
];

const aggregatesOfAny: readonly string[] = ['dcount(#)', 'make_list(#)', 'topk(#, 2)'];

/** Returns all comparisons, with the value on either side. */
function comparisons(other: string): readonly string[] {
  return [
    `${other} == #`,
    `# != ${other}`,
    `${other} < #`,
    `# <= ${other}`,
    `not(# > ${other})`,
    `b or # >= ${other}`,
    `# between (${other} .. ${other})`,
    `${other} !between (# .. ${other})`,
    `${other} between (${other} .. #)`,
  ];
}

function lists(other: string): readonly string[] {
  return [`# in (${other})`, `${other} !in (#, ${other})`];
}

const numbers: Contexts = {
  closest: ['-#', '3 * #', '# * 3', '100 - #', '# / 7', 'not(# > 2)', '2 in (#, 2)'],
  others: [
    ...ofAny,
    ...comparisons('2'),
    ...lists('2'),
    '# - 100',
    '1 - (2 - #)',
    '100 / #',
    '100 % toint(#)',
    'todouble(#) / 2',
    'abs(#)',
    '# * 1s',
  ],
  aggregates: [...aggregatesOfAny, 'sum(-#)', 'max(#)', 'stdev(#)', 'countif(# > 2)', 'histogram(#, 3)'],
  condition: '# > 2',
  key: '-#',
};

/** Contexts by type; in each, an expression must give the same result as a field with its value. */
export const contexts: Readonly<Record<TypeName, Contexts>> = {
  long: numbers,
  real: numbers,
  bool: {
    closest: ['not(#)', '# and b', 'b or #', '# == true', '-toint(#)'],
    others: [
      ...ofAny,
      'false == #',
      '# != false',
      'true != #',
      'b and #',
      '# or b',
      'not(b or #)',
      '# and (# or b)',
      'iff(#, 1, 2)',
      'case(#, 1, not(#), 2, 3)',
      'todouble(#) * 2',
      'tostring(#)',
      ...lists('true'),
    ],
    aggregates: [...aggregatesOfAny, 'countif(#)', 'countif(not(#))', 'sumif(id, #)'],
    condition: '#',
    key: 'not(#)',
  },
  string: {
    closest: ["'b' == #", "'b' in (#, 'c')", '-strlen(#)', "strcat('<', #, '>')"],
    others: [
      ...ofAny,
      ...comparisons("'b'").filter(context => !context.includes('between')),
      ...lists("'b'"),
      "# =~ 'B'",
      "# !contains 'b'",
      "'abc' contains_cs #",
      "# startswith 'b'",
      "'abc' endswith #",
      "# has 'b'",
      "'a b' has #",
      "# matches regex 'b+'",
      "# has_any ('b', 'c')",
      "# in~ ('B', 'c')",
      "'b' in~ (#, 'c')",
      'tolower(#)',
      'substring(#, 1)',
      "split(#, 'b')",
      "2 * indexof(#, 'b')",
      'toint(#)',
      'isempty(#)',
    ],
    aggregates: [...aggregatesOfAny, 'max(#)', "countif(# contains 'b')"],
    condition: "# != 'b'",
    key: '#',
  },
  datetime: {
    closest: ['datetime(2024-02-29) - #', '# + 1h', '-toint(#)', "'x' == tostring(#)"],
    others: [
      ...ofAny,
      ...comparisons('datetime(2024-02-29)'),
      ...lists('datetime(2024-02-29)'),
      '# - datetime(2024-02-29)',
      '-(# - datetime(2024-02-29))',
      '# - 1h',
      'bin(#, 1h)',
      'startofweek(#)',
      '-dayofyear(#)',
      "datetime_add('month', 1, #)",
      "-datetime_diff('day', #, datetime(2024-02-29))",
      "3 - datetime_diff('month', datetime(2024-02-29), #)",
    ],
    aggregates: [...aggregatesOfAny, 'min(#)', 'max(#)', 'countif(# > datetime(2024-02-29))'],
    condition: '# > datetime(2024-02-29)',
    key: '#',
  },
  timespan: {
    closest: ['-#', '2 * #', '1h - #', '# / 1s'],
    others: [
      ...ofAny,
      ...comparisons('90s'),
      ...lists('90s'),
      '# * 2',
      '1h / #',
      '# - 1h',
      'datetime(2024-02-29) + #',
      'datetime(2024-02-29) - #',
      'bin(#, 7s)',
      'abs(#)',
      '-toint(#)',
    ],
    aggregates: [...aggregatesOfAny, 'sum(#)', 'avg(-#)', 'max(#)', 'countif(# > 1s)'],
    condition: '# > 90s',
    key: '-#',
  },
  dynamic: {
    closest: ['#[0]', "#['k']", '-toint(#)', "# == 'b'"],
    others: [
      ...ofAny,
      '# != 2',
      '2 == #',
      '# in (2)',
      '#[-1]',
      '#[id]',
      '2 * toint(#[1])',
      '1 - toint(#)',
      'todouble(#) / 2',
      'tobool(#)',
      'not(tobool(#))',
      '-array_length(#)',
      'array_concat(#, j)',
      'isarray(#)',
      'not(isarray(#))',
      "tostring(#) contains 'b'",
      'bag_keys(#)',
    ],
    aggregates: [...aggregatesOfAny, 'max(#)', 'countif(isarray(#))'],
    condition: "tostring(#) != 'b'",
    key: '#',
  },
};
