import type { Example } from './entry.js';
import { scalarOperators } from './scalar-operators.js';
import { syntax } from './syntax.js';

/** An element of the language that is written otherwise than as a call. */
export interface ElementEntry {
  readonly kind: 'operator' | 'source' | 'statement' | 'syntax' | 'scalar';
  readonly name: string;
  readonly aliases?: readonly string[];
  /** How it is written, one form a line; `[…]` may be left out. */
  readonly usage: readonly string[];
  /** One or two sentences. */
  readonly doc: string;
  /** Absent where nothing can be shown without a dataset or with one exact result. */
  readonly example?: Example;
}

const numbers = 'datatable(x:long, ok:bool)[1, true, 2, false, 6, true]';
const names = "datatable(id:long, name:string)[1, 'ann', 2, 'bob']";
const visits = "datatable(id:long, page:string)[1, '/a', 1, '/b', 3, '/c']";

/** The operators that may follow a pipe. */
export const tabularOperators: readonly ElementEntry[] = [
  {
    kind: 'operator',
    name: 'where',
    aliases: ['filter'],
    usage: ['T | where predicate'],
    doc: 'Keeps the rows for which the predicate is true; where it is null, the row is left out. `* has "x"` asks whether any field does.',
    example: { apl: `${numbers} | where ok and x > 1`, result: '[6, true]' },
  },
  {
    kind: 'operator',
    name: 'count',
    usage: ['T | count'],
    doc: 'Returns one row with the number of rows, in the field `count`.',
    example: { apl: `${numbers} | count`, result: '[3]' },
  },
  {
    kind: 'operator',
    name: 'distinct',
    usage: ['T | distinct field, …', 'T | distinct *'],
    doc: 'Returns each combination of the fields once.',
    example: { apl: "datatable(s:string)['a', 'a', 'a'] | distinct s | count", result: '[1]' },
  },
  {
    kind: 'operator',
    name: 'extend',
    usage: ['T | extend name = expression, …'],
    doc: 'Adds computed fields at the end. A field of the same name is replaced.',
    example: { apl: `${numbers} | extend twice = x * 2`, result: '[1, true, 2]' },
  },
  {
    kind: 'operator',
    name: 'extend-valid',
    usage: ['T | extend-valid name = expression, …'],
    doc: 'Like extend, but keeps a value only where it says something: not empty, not zero, not false; otherwise it is null.',
    example: { apl: 'print a = 0, b = 7 | extend-valid c = a, d = b | project c, d', result: '[null, 7]' },
  },
  {
    kind: 'operator',
    name: 'getschema',
    usage: ['T | getschema'],
    doc: 'Returns the fields instead of the rows: name, position, and type.',
    example: { apl: 'print a = 1 | getschema', result: '["a", 0, "long", "long"]' },
  },
  {
    kind: 'operator',
    name: 'join',
    usage: ['T | join [kind=KIND] (T2) on field, …', 'T | join [kind=KIND] (T2) on $left.a == $right.b'],
    doc: 'Combines rows of two tables whose keys are equal. KIND is inner (default), innerunique, leftouter, rightouter, fullouter, leftsemi, leftanti, rightsemi or rightanti.',
    example: { apl: `${names} | join kind=leftanti (${visits}) on id`, result: '[2, "bob"]' },
  },
  {
    kind: 'operator',
    name: 'limit',
    usage: ['T | limit [number]'],
    doc: 'Returns at most that many rows, by default 10; the newest events where nothing sorts them. Right after a summarize by time and other fields it counts groups, and each keeps all its times.',
    example: { apl: `${numbers} | sort by x asc | limit 1`, result: '[1, true]' },
  },
  {
    kind: 'operator',
    name: 'take',
    usage: ['T | take [number]'],
    doc: 'The same as limit.',
    example: { apl: `${numbers} | sort by x desc | take 1`, result: '[6, true]' },
  },
  {
    kind: 'operator',
    name: 'lookup',
    usage: ['T | lookup [kind=leftouter|inner] (T2) on field, …'],
    doc: 'Adds the fields of a table of facts to each row with an equal key. By default rows without one are kept, with nulls.',
    example: { apl: `print id = 2 | lookup (${names}) on id`, result: '[2, "bob"]' },
  },
  {
    kind: 'operator',
    name: 'make-series',
    usage: [
      'T | make-series [name =] aggregate [default=value], … on time [from start to end] step width [by field, …]',
    ],
    doc: 'Returns one row for each group, with an array of the aggregate at equal steps of time. Steps without rows hold the default, 0 unless given.',
    example: {
      apl: 'datatable(t:datetime)[datetime(2026-01-01T00:10:00Z), datetime(2026-01-01T02:10:00Z)] | make-series n = count() on t from datetime(2026-01-01) to datetime(2026-01-01T03:00:00Z) step 1h | project n',
      result: '[[1, 0, 1]]',
    },
  },
  {
    kind: 'operator',
    name: 'mv-expand',
    aliases: ['mvexpand'],
    usage: ['T | mv-expand [kind=bag|array] [with_itemindex=name] field [to typeof(type)], … [limit number]'],
    doc: 'Returns one row for each element of an array or property of a map. Several fields are expanded side by side.',
    example: { apl: 'print a = dynamic([10]) | mv-expand a to typeof(long)', result: '[10]' },
  },
  {
    kind: 'operator',
    name: 'order',
    usage: ['T | order by expression [asc|desc] [nulls first|nulls last], …'],
    doc: 'The same as sort.',
    example: { apl: `${numbers} | order by x`, result: '[6, true]' },
  },
  {
    kind: 'operator',
    name: 'sort',
    usage: ['T | sort by expression [asc|desc] [nulls first|nulls last], …'],
    doc: 'Sorts the rows, largest first unless `asc` is written. Nulls are smallest unless said otherwise.',
    example: { apl: `${numbers} | sort by x asc`, result: '[1, true]' },
  },
  {
    kind: 'operator',
    name: 'parse',
    usage: ['T | parse [kind=simple|regex|relaxed] text with [*] "literal" field[:type] …'],
    doc: 'Reads fields out of a text by the literals between them; `*` skips. Where the text does not fit the fields are null; with relaxed, only those that do not convert.',
    example: {
      apl: 'print s = "GET /a 200" | parse s with method " " path " " status:long | project method, status',
      result: '["GET", 200]',
    },
  },
  {
    kind: 'operator',
    name: 'parse-kv',
    usage: [
      'T | parse-kv text as (key[:type], …) [with (pair_delimiter=" ", kv_delimiter="=", quote="\\"")]',
    ],
    doc: 'Reads the values of the named keys out of text such as `a=1 b=2`.',
    example: {
      apl: 'print s = "code=404 user=ann" | parse-kv s as (code:long, user:string) with (pair_delimiter=" ", kv_delimiter="=") | project code, user',
      result: '[404, "ann"]',
    },
  },
  {
    kind: 'operator',
    name: 'parse-where',
    usage: ['T | parse-where [kind=simple|regex|relaxed] text with [*] "literal" field[:type] …'],
    doc: 'Like parse, but leaves out the rows whose text does not fit.',
    example: {
      apl: "datatable(s:string)['none', 'id=7'] | parse-where s with 'id=' id:long | project id",
      result: '[7]',
    },
  },
  {
    kind: 'operator',
    name: 'project',
    usage: ['T | project field, name = expression, …'],
    doc: 'Returns these fields only, in this order; a field may be renamed or computed.',
    example: { apl: `${numbers} | project y = x + 1`, result: '[2]' },
  },
  {
    kind: 'operator',
    name: 'project-away',
    usage: ['T | project-away field, pattern*, …'],
    doc: 'Leaves out these fields; `geo*` stands for all fields that start so.',
    example: { apl: `${numbers} | project-away ok`, result: '[1]' },
  },
  {
    kind: 'operator',
    name: 'project-keep',
    usage: ['T | project-keep field, pattern*, …'],
    doc: 'Keeps these fields only, in the order they had.',
    example: { apl: 'print a1 = 1, b = 2, a2 = 3 | project-keep a*', result: '[1, 3]' },
  },
  {
    kind: 'operator',
    name: 'project-rename',
    usage: ['T | project-rename new = old, …'],
    doc: 'Gives fields another name and leaves everything else as it is.',
    example: { apl: 'print a = 1 | project-rename b = a | getschema', result: '["b", 0, "long", "long"]' },
  },
  {
    kind: 'operator',
    name: 'project-reorder',
    usage: ['T | project-reorder field|pattern* [asc|desc|granny-asc|granny-desc], …'],
    doc: 'Moves fields to the front. What a pattern names is sorted by name, with granny-asc so that a2 comes before a10; a `*` of its own stands for the rest.',
    example: { apl: 'print a = 1, b = 2 | project-reorder b', result: '[2, 1]' },
  },
  {
    kind: 'operator',
    name: 'redact',
    usage: ['T | redact [replaceToken=text] [replaceHash=true] [redactGroups=true] regex, … [on field, …]'],
    doc: 'Masks what the regular expressions match in text fields, by stars unless told otherwise.',
    example: {
      apl: "print s = 'key 1234' | redact replaceToken='#' @'[0-9]+' on s",
      result: '["key ####"]',
    },
  },
  {
    kind: 'operator',
    name: 'sample',
    usage: ['T | sample proportion'],
    doc: 'Keeps each row with the given probability, above 0 and at most 1; which rows is left to chance.',
    example: { apl: `${numbers} | sample 1.0 | count`, result: '[3]' },
  },
  {
    kind: 'operator',
    name: 'search',
    usage: [
      'T | search [kind=case_sensitive] predicate',
      'search [kind=case_sensitive] [in (T, …)] predicate',
    ],
    doc: 'Looks for text in all fields: "term", "prefix*", "*suffix", field:"term", joined by and, or, not.',
    example: { apl: `${names} | search "bob"`, result: '[2, "bob"]' },
  },
  {
    kind: 'operator',
    name: 'summarize',
    usage: ['T | summarize [name =] aggregate, … [by [name =] expression, …]'],
    doc: 'Groups the rows by the values after `by` and returns one row for each group with its aggregates.',
    example: {
      apl: `${numbers} | summarize n = count(), total = sum(x) by ok | sort by n desc`,
      result: '[true, 2, 7]',
    },
  },
  {
    kind: 'operator',
    name: 'top',
    usage: ['T | top number by expression [asc|desc]'],
    doc: 'Returns the first rows in the order of the expression, largest first unless `asc` is written.',
    example: { apl: `${numbers} | top 1 by x`, result: '[6, true]' },
  },
  {
    kind: 'operator',
    name: 'union',
    usage: ['T | union [withsource=name] T2, T3*, …', 'union [withsource=name] T, T2, …'],
    doc: 'Returns the rows of several tables. Fields of the same name become one; where a table lacks a field it is null.',
    example: { apl: `${numbers} | union (print x = 10) | summarize total = sum(x)`, result: '[19]' },
  },
];

/** Everything of the language that is not a function: tabular operators, sources, statements, syntax, scalar operators. */
export const elements: readonly ElementEntry[] = [...tabularOperators, ...syntax, ...scalarOperators];

const byName = new Map<string, ElementEntry>();
for (const entry of elements) {
  for (const name of [entry.name, ...(entry.aliases ?? [])]) if (!byName.has(name)) byName.set(name, entry);
}

/** The operator, source, statement, syntax or scalar operator of that name or alias. */
export function elementNamed(name: string): ElementEntry | undefined {
  return byName.get(name);
}
