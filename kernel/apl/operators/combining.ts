import type { OperatorRow } from './grammar.js';

const numbers = 'datatable(x:long, ok:bool)[1, true, 2, false, 6, true]';
const names = "datatable(id:long, name:string)[1, 'ann', 2, 'bob']";
const visits = "datatable(id:long, page:string)[1, '/a', 1, '/b', 3, '/c']";

/** Join kinds. */
export const joinKinds = [
  'inner',
  'innerunique',
  'leftouter',
  'rightouter',
  'fullouter',
  'leftsemi',
  'leftanti',
  'rightsemi',
  'rightanti',
] as const;

const conditions = {
  name: 'on',
  takes: 'expressions',
  word: 'on',
  offers: 'sides',
  expected: ['`on` and the fields to join by', 'after the table of `$`', 'For example: $ (T) on trace_id.'],
  startsLine: true,
} as const;

/** Operators that read further tables. */
export const combining = {
  join: {
    usage: [
      'T | join [kind=KIND] (T2) on field, …',
      'T | join [kind=KIND] (T2) on a == b, …',
      'T | join [kind=KIND] (T2) on $left.a == $right.b',
    ],
    doc: 'Joins the rows of two tables on equal keys. KIND is inner (default), innerunique, leftouter, rightouter, fullouter, leftsemi, leftanti, rightsemi or rightanti.',
    example: { apl: `${names} | join kind=leftanti (${visits}) on id`, result: '[2, "bob"]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: joinKinds,
            synonyms: {
              left: 'leftouter',
              right: 'rightouter',
              outer: 'fullouter',
              full: 'fullouter',
              anti: 'leftanti',
              semi: 'leftsemi',
              leftantisemi: 'leftanti',
              rightantisemi: 'rightanti',
            },
            doc: 'Rows to return; by default, those with a match on both sides.',
          },
        },
      },
      { name: 'right', takes: 'source' },
      conditions,
    ],
  },
  lookup: {
    usage: ['T | lookup [kind=leftouter|inner] (T2) on field, …'],
    doc: 'Adds the fields of a lookup table to the rows with an equal key. By default, rows without a match are kept, with nulls in those fields.',
    example: { apl: `print id = 2 | lookup (${names}) on id`, result: '[2, "bob"]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          kind: {
            takes: 'word',
            values: ['leftouter', 'inner'],
            synonyms: { left: 'leftouter' },
            doc: 'Whether to keep rows without a match; `leftouter`, the default, keeps them.',
          },
        },
      },
      { name: 'right', takes: 'source' },
      conditions,
    ],
  },
  union: {
    usage: [
      'T | union [withsource=name] [isfuzzy=true] T2, T3*, …',
      'union [withsource=name] [isfuzzy=true] T, T2, …',
    ],
    doc: 'Returns the rows of several tables. Fields with the same name are merged, and a field that a table lacks is null in its rows.',
    example: { apl: `${numbers} | union (print x = 10) | summarize total = sum(x)`, result: '[19]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          withsource: {
            takes: 'name',
            doc: 'Name of a new field that contains the source table of each row.',
          },
          isfuzzy: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'If true, skips datasets that do not exist, with a warning.',
          },
        },
      },
      { name: 'tables', takes: 'sources' },
    ],
  },
  as: {
    usage: ['T | as name'],
    doc: 'Names the table at this point of the query, for use in a later union, join or `in`.',
    example: { apl: 'datatable(x:long)[1, 2] | as All | where x > 1 | union All | count', result: '[3]' },
    clauses: [{ name: 'name', takes: 'name', offers: 'new names' }],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
