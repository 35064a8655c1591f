import type { OperatorRow } from './grammar.js';

const parseClauses = [
  {
    name: 'options',
    takes: 'options',
    options: {
      kind: {
        takes: 'word',
        values: ['simple', 'regex', 'relaxed'],
        doc: 'Matching mode: `simple` (default) matches the literals exactly, `regex` as regular expressions, and `relaxed` keeps the other fields if a value does not convert.',
      },
      flags: { takes: 'text', doc: 'Regular expression flags, such as i or U.' },
    },
  },
  { name: 'subject', takes: 'expression' },
  {
    name: 'pieces',
    takes: 'pieces',
    word: 'with',
    expected: [
      '`with` and a pattern',
      'after the string of `$`',
      'Write $ field with "before " name " after"; for a regular expression, use extract("(…)", 1, field).',
    ],
    startsLine: true,
  },
] as const;

const itemIndex = {
  takes: 'name',
  doc: 'Name of a new field that contains the zero-based index of each element.',
} as const;

/** Operators that take values apart or mask them. */
export const reading = {
  'mv-apply': {
    usage: ['T | mv-apply [with_itemindex=name] field [to typeof(type)], … [limit number] on (operator | …)'],
    doc: 'Expands arrays like mv-expand and applies the operators to the elements of each row separately. Their results are combined with the other fields of the row.',
    example: {
      apl: 'datatable(a:dynamic)[dynamic([1, 5, 3]), dynamic([2])] | mv-apply x = a to typeof(long) on (top 1 by x) | summarize sum(x)',
      result: '[7]',
    },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: { with_itemindex: itemIndex },
      },
      { name: 'items', takes: 'typed assignments' },
      { name: 'limit', takes: 'expression', word: 'limit', optional: true },
      {
        name: 'stages',
        takes: 'stages',
        word: 'on',
        expected: [
          '`on` and the operators for each row',
          'after the arrays of `$`',
          'For example: $ x = a on (top 1 by x).',
        ],
        startsLine: true,
      },
    ],
  },
  'mv-expand': {
    old: ['mvexpand'],
    usage: ['T | mv-expand [kind=bag|array] [with_itemindex=name] field [to typeof(type)], … [limit number]'],
    doc: 'Expands an array or a map into one row per element or property. Several fields are expanded in parallel.',
    example: { apl: 'print a = dynamic([10]) | mv-expand a to typeof(long)', result: '[10]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: ['bag', 'array'],
            doc: 'Form of an expanded map property: a map with one property (`bag`), or an array of its key and value (`array`).',
          },
          with_itemindex: itemIndex,
          bagexpansion: { takes: 'word', values: ['bag', 'array'], doc: 'Equivalent to kind.' },
        },
      },
      { name: 'items', takes: 'typed assignments' },
      { name: 'limit', takes: 'expression', word: 'limit', optional: true },
    ],
  },
  parse: {
    usage: ['T | parse [kind=simple|regex|relaxed] text with [*] "literal" field[:type] …'],
    doc: 'Extracts fields from a string by matching the literals between them; `*` skips any characters. If the string does not match or a value does not convert, all fields are null; with `kind=relaxed`, a failed conversion affects only its own field.',
    example: {
      apl: 'print s = "GET /a 200" | parse s with method " " path " " status:long | project method, status',
      result: '["GET", 200]',
    },
    clauses: parseClauses,
  },
  'parse-where': {
    usage: ['T | parse-where [kind=simple|regex|relaxed] text with [*] "literal" field[:type] …'],
    doc: 'Like parse, but drops the rows whose string does not match.',
    example: {
      apl: "datatable(s:string)['none', 'id=7'] | parse-where s with 'id=' id:long | project id",
      result: '[7]',
    },
    clauses: parseClauses,
  },
  'parse-kv': {
    usage: [
      'T | parse-kv text as (key[:type], …) [with (pair_delimiter=" ", kv_delimiter="=", quote="\\"")]',
    ],
    doc: 'Extracts the values of the given keys from a string such as `a=1 b=2`.',
    example: {
      apl: 'print s = "code=404 user=ann" | parse-kv s as (code:long, user:string) with (pair_delimiter=" ", kv_delimiter="=") | project code, user',
      result: '[404, "ann"]',
    },
    clauses: [
      { name: 'subject', takes: 'expression' },
      {
        name: 'columns',
        takes: 'columns',
        word: 'as',
        expected: ['`as` and the keys', 'after the string of `$`'],
      },
      {
        name: 'options',
        takes: 'options in parentheses',
        word: 'with',
        optional: true,
        options: {
          pair_delimiter: { takes: 'text', doc: 'Separator between pairs; a space by default.' },
          kv_delimiter: { takes: 'text', doc: 'Separator between a key and its value; `=` by default.' },
          quote: {
            takes: 'text',
            doc: 'Quote characters allowed around a key or value: one for both ends, or an opening and a closing one; `"` by default.',
          },
        },
        startsLine: true,
      },
    ],
  },
  redact: {
    usage: ['T | redact [replaceToken=text] [replaceHash=true] [redactGroups=true] regex, … [on field, …]'],
    doc: 'Masks the matches of regular expressions in string fields, by default with asterisks.',
    example: {
      apl: "print s = 'key 1234' | redact replaceToken='#' @'[0-9]+' on s",
      result: '["key ####"]',
    },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          replaceToken: {
            takes: 'text',
            doc: 'Replacement for a match, or for each of its characters if it is a single character; `*` by default.',
          },
          replaceHash: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'Whether to replace a match with its hash.',
          },
          redactGroups: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'Whether to mask only the capture groups of a match.',
          },
        },
      },
      { name: 'patterns', takes: 'expressions' },
      { name: 'on', takes: 'field patterns', word: 'on', optional: true, startsLine: true },
    ],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
