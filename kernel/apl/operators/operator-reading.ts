import type { OperatorRow } from './grammar.js';

const parseClauses = [
  {
    name: 'options',
    takes: 'options',
    options: {
      kind: {
        takes: 'word',
        values: ['simple', 'regex', 'relaxed'],
        doc: 'How the literals are read, and whether one value that does not convert makes all null.',
      },
      flags: { takes: 'text', doc: 'Flags of the regular expression, such as i or U.' },
    },
  },
  { name: 'subject', takes: 'expression' },
  {
    name: 'pieces',
    takes: 'pieces',
    word: 'with',
    expected: [
      '`with` and a pattern',
      'after the text of `$`',
      'Write $ field with "before " name " after"; a regular expression is read by extract("(…)", 1, field).',
    ],
    startsLine: true,
  },
] as const;

const itemIndex = { takes: 'name', doc: 'A new field that counts the elements from 0.' } as const;

/** Operators that take values apart or mask them. */
export const reading = {
  'mv-apply': {
    usage: ['T | mv-apply [with_itemindex=name] field [to typeof(type)], … [limit number] on (operator | …)'],
    doc: 'Expands the arrays of each row like mv-expand, and applies the operators to the elements of one row at a time. The result has the other fields of the row beside what they return.',
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
    doc: 'Returns one row for each element of an array or property of a map. Several fields are expanded side by side.',
    example: { apl: 'print a = dynamic([10]) | mv-expand a to typeof(long)', result: '[10]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: ['bag', 'array'],
            doc: 'What a property of a map becomes: a map of one property, or an array of its key and value.',
          },
          with_itemindex: itemIndex,
          bagexpansion: { takes: 'word', values: ['bag', 'array'], doc: 'The same as kind.' },
        },
      },
      { name: 'items', takes: 'typed assignments' },
      { name: 'limit', takes: 'expression', word: 'limit', optional: true },
    ],
  },
  parse: {
    usage: ['T | parse [kind=simple|regex|relaxed] text with [*] "literal" field[:type] …'],
    doc: 'Reads fields out of a text by the literals between them; `*` skips. If the text does not fit the fields are null; with relaxed, only those that do not convert.',
    example: {
      apl: 'print s = "GET /a 200" | parse s with method " " path " " status:long | project method, status',
      result: '["GET", 200]',
    },
    clauses: parseClauses,
  },
  'parse-where': {
    usage: ['T | parse-where [kind=simple|regex|relaxed] text with [*] "literal" field[:type] …'],
    doc: 'Like parse, but leaves out the rows whose text does not fit.',
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
    doc: 'Reads the values of the named keys out of text such as `a=1 b=2`.',
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
        expected: ['`as` and the keys', 'after the text of `$`'],
      },
      {
        name: 'options',
        takes: 'options in parentheses',
        word: 'with',
        optional: true,
        options: {
          pair_delimiter: { takes: 'text', doc: 'The text between two pairs; by default a space.' },
          kv_delimiter: { takes: 'text', doc: 'The text between a key and its value; by default `=`.' },
          quote: {
            takes: 'text',
            doc: 'What may surround a key or a value: one character, or an opening and a closing one; by default `"`.',
          },
        },
        startsLine: true,
      },
    ],
  },
  redact: {
    usage: ['T | redact [replaceToken=text] [replaceHash=true] [redactGroups=true] regex, … [on field, …]'],
    doc: 'Masks what the regular expressions match in text fields, with stars by default.',
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
            doc: 'The replacement of a match; by default `*` for each character.',
          },
          replaceHash: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'Whether a match is replaced by its hash.',
          },
          redactGroups: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'Whether only the matches of the groups in the expression are masked.',
          },
        },
      },
      { name: 'patterns', takes: 'expressions' },
      { name: 'on', takes: 'field patterns', word: 'on', optional: true, startsLine: true },
    ],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
