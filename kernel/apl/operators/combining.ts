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
    doc: 'Combines rows of two tables whose keys are equal. KIND is inner (default), innerunique, leftouter, rightouter, fullouter, leftsemi, leftanti, rightsemi or rightanti.',
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
            doc: 'Which rows are kept; by default those with a match on both sides.',
          },
        },
      },
      { name: 'right', takes: 'source' },
      conditions,
    ],
  },
  lookup: {
    usage: ['T | lookup [kind=leftouter|inner] (T2) on field, …'],
    doc: 'Adds the fields of a table of facts to each row with an equal key. By default rows without one are kept, with nulls.',
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
            doc: 'Whether rows without a match are kept; by default they are.',
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
    doc: 'Returns the rows of several tables. Fields of the same name become one; if a table lacks a field it is null.',
    example: { apl: `${numbers} | union (print x = 10) | summarize total = sum(x)`, result: '[19]' },
    clauses: [
      {
        name: 'options',
        takes: 'options',
        options: {
          withsource: { takes: 'name', doc: 'A new field that holds the name of each row’s table.' },
          isfuzzy: {
            takes: 'word',
            values: ['true', 'false'],
            doc: 'Whether datasets that do not exist are left out, with a warning.',
          },
        },
      },
      { name: 'tables', takes: 'sources' },
    ],
  },
  as: {
    usage: ['T | as name'],
    doc: 'Names the rows up to here, for a union, a join or `in` further down in the query.',
    example: { apl: 'datatable(x:long)[1, 2] | as All | where x > 1 | union All | count', result: '[3]' },
    clauses: [{ name: 'name', takes: 'name', offers: 'new names' }],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
