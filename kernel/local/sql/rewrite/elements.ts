import type { Column, Columns, Computed, Relation, Scalar } from '../../../apl/plan/plan.js';
import { mapExpressions, mapInputs, mapParts, type RelationOf } from '../../../apl/plan/plan-walk.js';
import { reference } from '../../../apl/plan/scalars.js';
import { mapArguments, ordering } from './rewrite-members.js';

type Expand = RelationOf<'expand'>;
type Call = Extract<Scalar, { kind: 'call' }>;

/** Whether a call returns an array of only strings, which the engine has as a list. */
export type IsTextList = (call: Call) => boolean;

/**
 * Returns the relation with the elements of each `mv-expand` also as strings, next to the dynamic values. Expressions that read an element
 * as a string use the one that was never JSON, as do those that read one element or the length of such a list. Members of a string parsed
 * as JSON are read from the string. `prune` removes anything unused.
 */
export function withTextElements(relation: Relation, functions: KnownFunctions, made: Columns): Relation {
  return only(relation.columns, rewritten(relation, { ...functions, made }).relation);
}

/** Returns the field that scans a field of string lists as such. No data field has this name, since it contains a NUL. */
export function textListField(name: string): string {
  return listPrefix + name;
}

/** Returns the original field of a name from {@link textListField}; undefined for any other name. */
export function listedField(name: string): string | undefined {
  return name.startsWith(listPrefix) ? name.slice(listPrefix.length) : undefined;
}

const listPrefix = '\u0000list ';

/** Returns the field that scans the JSON of a dynamic field as a string: the engine parses a string to cast it to JSON. */
export function storedField(name: string): string {
  return storedPrefix + name;
}

/** Returns the original field of a name from {@link storedField}; undefined for any other name. */
export function fieldStored(name: string): string | undefined {
  return name.startsWith(storedPrefix) ? name.slice(storedPrefix.length) : undefined;
}

const storedPrefix = '\u0000json ';

/** Returns the string whose members are those of a value, if a function parses it as JSON. */
export function documentOf(value: Scalar, documents: ReadonlySet<string>): Scalar | undefined {
  const [text] = value.kind === 'call' && documents.has(value.name) ? value.args : [];
  return text?.type === 'string'
    ? { kind: 'call', name: '$document', args: [text], type: 'string' }
    : undefined;
}

/** Returns the names of the fields of a dataset that can be scanned as string lists. */
export type TextListsOf = (dataset: string) => ReadonlySet<string>;

/** Facts about the engine's functions and the datasets. */
export interface KnownFunctions {
  readonly isTextList: IsTextList;
  /** Functions that parse a string as JSON. */
  readonly documents: ReadonlySet<string>;
  readonly textLists: TextListsOf;
  /** Names of the fields of a dataset whose JSON can be scanned as a string. */
  readonly stored: (dataset: string) => ReadonlySet<string>;
}

interface Context extends KnownFunctions {
  readonly made: Columns;
}

/** Facts about a dynamic column of a relation: its value as a string, or the call that made it. */
type Known =
  /** `whole`: the value is a string or null. */
  | { readonly kind: 'text'; readonly text: Column; readonly whole: boolean }
  /** `stored`: it is read directly, instead of being computed for each reader. */
  | {
      readonly kind: 'list';
      readonly call: Call;
      readonly reads: readonly Column[];
      readonly stored: boolean;
    }
  /** The parsed string, in which members are read. */
  | { readonly kind: 'document'; readonly text: Column }
  /** The same value, as a string in the engine. */
  | { readonly kind: 'stored'; readonly text: Column };

type KnownColumns = ReadonlyMap<number, Known>;

/** A relation with its own columns plus those named by `known`. */
interface Rewritten {
  readonly relation: Relation;
  readonly known: KnownColumns;
}

const nothing: KnownColumns = new Map();

type PassingOn = RelationOf<'filter' | 'sort' | 'limit' | 'sample'>;

function rewritten(relation: Relation, context: Context): Rewritten {
  const below = (input: Relation): Rewritten => rewritten(input, context);
  switch (relation.kind) {
    case 'filter':
    case 'sort':
    case 'limit':
    case 'sample': {
      const { relation: input, known } = below(relation.input);
      const isSort = relation.kind === 'sort';
      const read = (value: Scalar) =>
        (isSort ? storedIn(value, known) : undefined) ?? readingTexts(value, known);
      const reading = mapExpressions<PassingOn>(relation, read);
      return { relation: { ...reading, input, columns: input.columns }, known };
    }
    case 'project':
      return projected(relation, below(relation.input), context);
    case 'aggregate': {
      const { relation: input, known } = below(relation.input);
      const { keys, texts } = storedKeys(relation.keys, known, context.made);
      const compared = mapArguments({ ...relation, keys }, comparing, arg => storedIn(arg, known) ?? arg);
      const reading = mapExpressions(compared, value => readingTexts(value, known));
      const columns = [...keys, ...relation.aggregates].map(({ column }) => column);
      return withValues({ ...reading, input, columns }, relation.columns, texts);
    }
    case 'expand':
      return expanded(relation, below(relation.input), context);
    case 'scan':
      return scanned(relation, context);
    case 'distinct': {
      const { relation: input, known } = below(relation.input);
      const { keys, texts } = storedKeys(relation.columns.map(passing), known, context.made);
      const columns = keys.map(({ column }) => column);
      const project: Relation = { kind: 'project', input, items: keys, columns };
      const rows = texts.size === 0 ? only(relation.columns, input) : project;
      return withValues({ ...relation, input: rows, columns: rows.columns }, relation.columns, texts);
    }
    case 'values':
    case 'external':
    case 'sequence':
    case 'topk':
    case 'top-groups':
    case 'join':
    case 'union':
    case 'neighbors':
    case 'series': {
      const alone = (input: Relation): Relation => only(input.columns, below(input).relation);
      return { relation: mapInputs(relation, alone), known: nothing };
    }
  }
}

/** Returns keys with stored JSON in place of dynamic values, which are only compared, and its columns by those of the values. */
function storedKeys(
  keys: readonly Computed[],
  known: KnownColumns,
  made: Columns,
): { readonly keys: readonly Computed[]; readonly texts: ReadonlyMap<number, Column> } {
  const texts = new Map<number, Column>();
  const read = keys.map(key => {
    const stored = storedIn(key.value, known);
    if (stored === undefined) return key;
    const text = made.hidden('dynamic');
    texts.set(key.column.id, text);
    return { column: text, value: stored };
  });
  return { keys: read, texts };
}

/** Returns the columns of a relation in which some values are stored JSON. */
function withValues(
  relation: Relation,
  columns: readonly Column[],
  texts: ReadonlyMap<number, Column>,
): Rewritten {
  if (texts.size === 0) return { relation, known: nothing };
  const values = columns.map((column): Computed => {
    const text = texts.get(column.id);
    if (text === undefined) return passing(column);
    const value: Scalar = { kind: 'call', name: '$json', args: [reference(text)], type: 'dynamic' };
    return { column, value };
  });
  const items = [...values, ...[...texts.values()].map(passing)];
  return {
    relation: { kind: 'project', input: relation, items, columns: items.map(({ column }) => column) },
    known: new Map([...texts].map(([id, text]) => [id, { kind: 'stored', text }])),
  };
}

/** Aggregates whose arguments at these positions are only compared, for which stored JSON need not be parsed. */
const comparing: ReadonlyMap<string, number> = new Map([...ordering, ['dcount', 0], ['$values', 0]]);

/** Scans string lists also as lists, and stored JSON also as strings. */
function scanned(relation: RelationOf<'scan'>, context: Context): Rewritten {
  const known = new Map<number, Known>();
  const [fields, columns] = [[...relation.fields], [...relation.columns]];
  const [lists, stored] = [context.textLists(relation.dataset), context.stored(relation.dataset)];
  for (const [index, column] of relation.columns.entries()) {
    const name = relation.fields[index] ?? '';
    if (!lists.has(name) && !stored.has(name)) continue;
    const hidden = context.made.hidden('dynamic');
    const call: Call = { kind: 'call', name: '$texts', args: [reference(hidden)], type: 'dynamic' };
    if (lists.has(name) && !context.isTextList(call)) continue;
    fields.push(lists.has(name) ? textListField(name) : storedField(name));
    columns.push(hidden);
    const list: Known = { kind: 'list', call, reads: [hidden], stored: true };
    known.set(column.id, lists.has(name) ? list : { kind: 'stored', text: hidden });
  }
  return known.size === 0
    ? { relation, known: nothing }
    : { relation: { ...relation, fields, columns }, known };
}

/** Keeps facts about columns that are passed on, and records string lists that are created here. */
function projected(
  relation: RelationOf<'project'>,
  { relation: input, known }: Rewritten,
  context: Context,
): Rewritten {
  const items =
    known.size === 0
      ? relation.items
      : relation.items.map(item => ({ ...item, value: readingTexts(item.value, known) }));
  const here = new Map<number, Known>();
  const parsed: Computed[] = [];
  for (const { column, value } of items) {
    const passed = value.kind === 'column' ? known.get(value.id) : undefined;
    const found = passed ?? listOf(value, input.columns, context.isTextList);
    if (found !== undefined) here.set(column.id, found);
    const document = found === undefined ? documentOf(value, context.documents) : undefined;
    if (document === undefined) continue;
    const text = context.made.hidden('string');
    parsed.push({ column: text, value: document });
    here.set(column.id, { kind: 'document', text });
  }
  if (here.size === 0) return { relation: { ...relation, input, items }, known: nothing };
  const own = new Set([...items, ...parsed].map(item => item.column.id));
  const needed = new Map([...here.values()].flatMap(columnsOf).map(column => [column.id, column]));
  const added = [...needed.values()].filter(column => !own.has(column.id)).map(passing);
  const all = [...items, ...parsed, ...added];
  return {
    relation: { ...relation, input, items: all, columns: all.map(item => item.column) },
    known: here,
  };
}

/**
 * Returns every element twice, as a dynamic value and as a string; for a string list only as a string, from which the dynamic value is
 * derived.
 */
function expanded(
  relation: Expand,
  { relation: input, known }: Rewritten,
  { isTextList, made }: Context,
): Rewritten {
  const here = new Map<number, Known>();
  const elements = relation.items.map(({ column, value: written }) => {
    const source = written.kind === 'column' ? known.get(written.id) : undefined;
    const value =
      source?.kind === 'list' ? source.call : (storedIn(written, known) ?? readingTexts(written, known));
    const text = made.hidden('string');
    const whole = value.kind === 'call' && isTextList(value);
    here.set(column.id, { kind: 'text', text, whole });
    return { column, text, value, whole };
  });
  const items = elements.flatMap(({ column, text, value, whole }) =>
    whole
      ? [{ column: text, value }]
      : [
          { column, value },
          { column: text, value },
        ],
  );
  const whole = new Map(elements.filter(each => each.whole).map(each => [each.column.id, each.text]));
  const texts = elements.map(each => each.text);
  const columns = [...relation.columns.filter(column => !whole.has(column.id)), ...texts];
  const expand: Relation = { ...relation, input, items, columns };
  if (whole.size === 0) return { relation: expand, known: here };
  const values = relation.columns.map((column): Computed => {
    const text = whole.get(column.id);
    return text === undefined
      ? passing(column)
      : { column, value: { kind: 'convert', type: 'dynamic', value: reference(text) } };
  });
  const all = [...values, ...texts.map(passing)];
  return {
    relation: { kind: 'project', input: expand, items: all, columns: all.map(item => item.column) },
    known: here,
  };
}

/** Returns a string list computed from columns and constants only: it can be computed elsewhere with the same result. */
function listOf(value: Scalar, columns: readonly Column[], isTextList: IsTextList): Known | undefined {
  if (value.kind !== 'call' || !isTextList(value)) return undefined;
  const ids = new Set<number>();
  for (const arg of value.args) {
    if (arg.kind === 'column') ids.add(arg.id);
    else if (arg.kind !== 'constant') return undefined;
  }
  return { kind: 'list', call: value, reads: columns.filter(column => ids.has(column.id)), stored: false };
}

function columnsOf(known: Known): readonly Column[] {
  return known.kind === 'list' ? known.reads : [known.text];
}

/** Returns the expression with strings in place of dynamic values wherever it converts these. */
function readingTexts(value: Scalar, known: KnownColumns): Scalar {
  if (known.size === 0) return value;
  if (value.kind === 'convert') {
    const found = textOf(value.value, known);
    if (found !== undefined && value.type === 'string') return reference(found.text);
    if (found?.whole && value.type !== 'dynamic') return { ...value, value: reference(found.text) };
    const stored = value.type === 'dynamic' ? undefined : storedIn(value.value, known);
    if (stored !== undefined) return { ...value, value: stored };
  }
  if (value.kind === 'path') {
    const made =
      documentText(value.object, known) ?? callOf(value.object, known) ?? storedIn(value.object, known);
    if (made !== undefined && value.key.kind === 'constant') return { ...value, object: made };
  }
  const stored = readingLists(value, known);
  if (stored !== undefined) return stored;
  if (value.kind === 'call') {
    const [arg] = value.args;
    const made = value.name === 'array_length' && arg !== undefined ? callOf(arg, known) : undefined;
    if (made !== undefined) return { ...value, args: [made] };
    const found = arg === undefined ? undefined : textOf(arg, known);
    const reads = value.name === 'tostring' || (found?.whole && conversions.has(value.name));
    if (found !== undefined && reads) return { ...value, args: [reference(found.text)] };
    if (readJson.has(value.name))
      return mapParts(value, part => storedIn(part, known) ?? readingTexts(part, known));
  }
  return mapParts(value, part => readingTexts(part, known));
}

/** Returns a test of an array with a stored string list in its place; undefined for anything else. */
function readingLists(value: Scalar, known: KnownColumns): Scalar | undefined {
  if (value.kind === 'binary') {
    const { operator, left, right } = value;
    if (!inLists.has(operator) || left.kind !== 'convert' || right.kind !== 'constant') return undefined;
    const list = storedList(left.value, known);
    return list && { ...value, left: { ...left, value: list } };
  }
  const items = valuesSought(value);
  const inPlace = (part: Scalar): Scalar | undefined => storedList(part, known) ?? storedIn(part, known);
  if (!items.some(item => inPlace(item) !== undefined)) return undefined;
  return mapParts(
    value,
    part => (items.includes(part) ? inPlace(part) : undefined) ?? readingTexts(part, known),
  );
}

/** Returns the operands that may be an array to be searched for a value. */
function valuesSought(value: Scalar): readonly Scalar[] {
  if (value.kind === 'in') return inLists.has(value.operator) ? value.items : [];
  return value.kind === 'call' && inLists.has(value.name) ? value.args : [];
}

/** Tests that search a list of strings. */
const inLists: ReadonlySet<string> = new Set([
  ...[
    'has',
    'has_cs',
    'hasprefix',
    'hasprefix_cs',
    'hassuffix',
    'hassuffix_cs',
    'contains',
    'contains_cs',
  ].flatMap(operator => [operator, `!${operator}`]),
  ...['in', '!in', 'in~', '!in~', 'array_index_of', 'set_has_element'],
]);

function storedList(value: Scalar, known: KnownColumns): Call | undefined {
  const found = value.kind === 'column' ? known.get(value.id) : undefined;
  return found?.kind === 'list' && found.stored ? found.call : undefined;
}

/** Returns the string in which the members of a value are read. */
function documentText(value: Scalar, known: KnownColumns): Scalar | undefined {
  const found = value.kind === 'column' ? known.get(value.id) : undefined;
  return found?.kind === 'document' ? reference(found.text) : undefined;
}

/** Returns the call that made a string list: an element or the length can be computed without the JSON of the array. */
function callOf(value: Scalar, known: KnownColumns): Call | undefined {
  const found = value.kind === 'column' ? known.get(value.id) : undefined;
  return found?.kind === 'list' ? found.call : undefined;
}

/** Returns stored JSON in place of a column, for readers of its text. */
function storedIn(value: Scalar, known: KnownColumns): Scalar | undefined {
  const found = value.kind === 'column' ? known.get(value.id) : undefined;
  return found?.kind === 'stored' ? reference(found.text) : undefined;
}

/** Functions that read JSON the same from a string, and return none of it. */
const readJson: ReadonlySet<string> = new Set([
  ...[
    'tostring',
    'toint',
    'todouble',
    'tobool',
    'todatetime',
    'totimespan',
    'gettype',
    'array_length',
    'strcat_array',
    '$compare',
  ],
  ...['isnull', 'isnotnull', 'isempty', 'isnotempty', 'isbool', 'isstring', 'isreal', 'ismap'],
]);

/** Functions that read a dynamic string like a string. */
const conversions: ReadonlySet<string> = new Set(['toint', 'todouble', 'tobool', 'todatetime', 'totimespan']);

function textOf(value: Scalar, known: KnownColumns): Extract<Known, { kind: 'text' }> | undefined {
  const found = value.kind === 'column' ? known.get(value.id) : undefined;
  return found?.kind === 'text' ? found : undefined;
}

/** Returns the relation with only these columns. */
function only(columns: readonly Column[], relation: Relation): Relation {
  const wanted = new Set(columns.map(column => column.id));
  if (relation.columns.every(column => wanted.has(column.id))) return relation;
  const items = columns.map(passing);
  return { kind: 'project', input: relation, items, columns };
}

function passing(column: Column): Computed {
  return { column, value: reference(column) };
}
