import type { OperatorRow } from './grammar.js';

const numbers = 'datatable(x:long, ok:bool)[1, true, 2, false, 6, true]';

/** Operators that add, select, order and rename fields. */
export const fields = {
  extend: {
    usage: ['T | extend name = expression, …'],
    doc: 'Adds computed fields at the end. A field of the same name is replaced.',
    example: { apl: `${numbers} | extend twice = x * 2`, result: '[1, true, 2]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  'extend-valid': {
    usage: ['T | extend-valid name = expression, …'],
    doc: 'Like extend, but keeps a value only if it says something: not empty, not zero, not false; otherwise it is null.',
    example: { apl: 'print a = 0, b = 7 | extend-valid c = a, d = b | project c, d', result: '[null, 7]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  project: {
    usage: ['T | project field, name = expression, …'],
    doc: 'Returns these fields only, in this order; a field may be renamed or computed.',
    example: { apl: `${numbers} | project y = x + 1`, result: '[2]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  'project-away': {
    usage: ['T | project-away field, pattern*, …'],
    doc: 'Leaves out these fields; `geo*` stands for all fields that start so.',
    example: { apl: `${numbers} | project-away ok`, result: '[1]' },
    clauses: [{ name: 'patterns', takes: 'field patterns' }],
  },
  'project-keep': {
    usage: ['T | project-keep field, pattern*, …'],
    doc: 'Keeps these fields only, in the order they had.',
    example: { apl: 'print a1 = 1, b = 2, a2 = 3 | project-keep a*', result: '[1, 3]' },
    clauses: [{ name: 'patterns', takes: 'field patterns' }],
  },
  'project-rename': {
    usage: ['T | project-rename new = old, …'],
    doc: 'Gives fields another name and leaves everything else as it is.',
    example: { apl: 'print a = 1 | project-rename b = a', result: '[1]' },
    clauses: [{ name: 'items', takes: 'assignments', offers: 'new names' }],
  },
  'project-reorder': {
    usage: ['T | project-reorder field|pattern* [asc|desc|granny-asc|granny-desc], …'],
    doc: 'Moves fields to the front. What a pattern names is sorted by name, with granny-asc so that a2 comes before a10; a lone `*` stands for the rest.',
    example: { apl: 'print a = 1, b = 2 | project-reorder b', result: '[2, 1]' },
    clauses: [{ name: 'items', takes: 'ordered patterns' }],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
