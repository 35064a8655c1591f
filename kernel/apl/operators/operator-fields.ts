import type { OperatorRow } from './grammar.js';

const numbers = 'datatable(x:long, ok:bool)[1, true, 2, false, 6, true]';

/** Operators that add, select, order and rename fields. */
export const fields = {
  extend: {
    usage: ['T | extend name = expression, …'],
    doc: 'Appends computed fields. An existing field with the same name is replaced.',
    example: { apl: `${numbers} | extend twice = x * 2`, result: '[1, true, 2]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  'extend-valid': {
    usage: ['T | extend-valid name = expression, …'],
    doc: 'Like extend, but replaces empty, zero and false values with null.',
    example: { apl: 'print a = 0, b = 7 | extend-valid c = a, d = b | project c, d', result: '[null, 7]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  project: {
    usage: ['T | project field, name = expression, …'],
    doc: 'Returns only the given fields, in the given order. Fields can be renamed or computed.',
    example: { apl: `${numbers} | project y = x + 1`, result: '[2]' },
    clauses: [{ name: 'items', takes: 'assignments' }],
  },
  'project-away': {
    usage: ['T | project-away field, pattern*, …'],
    doc: 'Removes the given fields. `geo*` matches every field that starts with `geo`.',
    example: { apl: `${numbers} | project-away ok`, result: '[1]' },
    clauses: [{ name: 'patterns', takes: 'field patterns' }],
  },
  'project-keep': {
    usage: ['T | project-keep field, pattern*, …'],
    doc: 'Keeps only the given fields, in their original order.',
    example: { apl: 'print a1 = 1, b = 2, a2 = 3 | project-keep a*', result: '[1, 3]' },
    clauses: [{ name: 'patterns', takes: 'field patterns' }],
  },
  'project-rename': {
    usage: ['T | project-rename new = old, …'],
    doc: 'Renames fields and leaves everything else unchanged.',
    example: { apl: 'print a = 1 | project-rename b = a', result: '[1]' },
    clauses: [{ name: 'items', takes: 'assignments', offers: 'new names' }],
  },
  'project-reorder': {
    usage: ['T | project-reorder field|pattern* [asc|desc|granny-asc|granny-desc], …'],
    doc: 'Moves the given fields to the front. Fields that match a pattern are sorted by name, with a2 before a10 under granny-asc; a lone `*` matches the remaining fields.',
    example: { apl: 'print a = 1, b = 2 | project-reorder b', result: '[2, 1]' },
    clauses: [{ name: 'items', takes: 'ordered patterns' }],
  },
} as const satisfies Readonly<Record<string, OperatorRow>>;
