import { present } from '../../../present.js';
import { aggregates } from '../../catalog/aggregates.js';
import { aggregateNamed, everyFunction, functionNamed } from '../../catalog/all-functions.js';
import { isPlain, scalarWords, writtenName } from '../../catalog/catalog-written.js';
import type { ElementEntry, FunctionEntry, TypeName } from '../../catalog/entry.js';
import { elementNamed, tabularOperators } from '../../catalog/operator-entries.js';
import { sources as wordSources } from '../../operators/operator-rows.js';
import type { BindEnvironment, Column } from '../../plan/plan.js';
import { typeSpellings } from '../../syntax/syntax-types.js';
import type { OpenCall, OperandSlot, Slot } from '../../syntax/tokens/offers.js';
import { quotedName, quoteInner, writtenText } from '../../syntax/tokens/quote.js';
import { signatureOf } from '../help/help-describe.js';
import { type NamesAt, namesAt } from '../scope.js';
import { type Cursor, cursorAt, type ValueSlot } from './completion-cursor.js';
import { matchQuality } from './match.js';

/** Data for completion besides schemas. Both functions are called only for fields of the query being completed and must return at once. */
export interface EditorEnvironment extends BindEnvironment {
  /** Keys seen in a map; `path` is the field and the keys that lead to the map. */
  readonly mapKeys?: (path: readonly string[], datasets: readonly string[]) => readonly string[];
  /** Values seen in a field, most frequent first. */
  readonly values?: (field: string, datasets: readonly string[]) => readonly string[];
}

export type CompletionKind =
  | 'operator'
  | 'function'
  | 'aggregate'
  | 'dataset'
  | 'field'
  | 'keyword'
  | 'value'
  | 'let'
  | 'type'
  | 'snippet'
  | 'option';

export interface CompletionItem {
  /** Text shown, and matched against the typed text. */
  readonly label: string;
  /** Replacement for the text between `from` and `to`; a snippet has placeholders, `#{name}`. */
  readonly insert: string;
  readonly kind: CompletionKind;
  readonly type?: TypeName;
  readonly unit?: string;
  readonly signature?: string;
  readonly doc?: string;
  /**
   * Lower is better: the rank of its kind, plus a penalty for how well the label matches. Below 10, the label starts with the typed text.
   */
  readonly rank: number;
}

export interface Completions {
  readonly from: number;
  readonly to: number;
  /** Best first. */
  readonly items: readonly CompletionItem[];
}

/** Returns the completions at `offset` in one query with its statements; never throws, even on incomplete text. */
export function complete(text: string, offset: number, environment: EditorEnvironment): Completions {
  const cursor = cursorAt(text, offset);
  const range = { from: cursor.from, to: offset + closingLength(text, offset, cursor) };
  const { query } = cursor;
  let names: NamesAt | undefined;
  const context: Context = {
    cursor,
    environment,
    text,
    get names() {
      names ??= namesAt(query, text.slice(0, query.to), environment, query.to);
      return names;
    },
  };
  return {
    ...range,
    items: ranked([...following(cursor), ...candidates(cursor.slot, context)], cursor.typed),
  };
}

interface Context {
  readonly cursor: Cursor;
  readonly environment: EditorEnvironment;
  readonly text: string;
  /** Bound on first use. */
  readonly names: NamesAt;
}

/** An item ranked only by its kind so far. */
type Candidate = CompletionItem;

/** Returns the length of the closing characters that the editor inserted after the cursor and that the completion repeats. */
function closingLength(text: string, offset: number, { slot, quoted }: Cursor): number {
  if (!quoted || slot.kind === 'value') return 0;
  return /^['"]?\]/.exec(text.slice(offset, offset + 2))?.[0].length ?? 0;
}

function ranked(all: readonly Candidate[], typed: string): CompletionItem[] {
  const items: CompletionItem[] = [];
  for (const item of all) {
    const quality = matchQuality(typed, item.label);
    if (quality === 0) items.push(item);
    else if (quality !== undefined) items.push({ ...item, rank: (penalties[quality] ?? 0) + item.rank });
  }
  return items.sort((a, b) => a.rank - b.rank);
}

/** By `matchQuality`. Labels that differ only in case keep the rank of their kind: a field `Level` comes before the function `len`. */
const penalties = [0, 0.5, 10, 20, 30];

function fits(typed: string, label: string): boolean {
  return matchQuality(typed, label) !== undefined;
}

/** Returns the words and options that may follow; options come after tables, and before everything else. */
function following({ words, options, scalar, slot }: Cursor): readonly Candidate[] {
  const operators = scalar ? ['==', '!=', '>', '>=', '<', '<=', '=~', '!~', ...scalarWords] : [];
  return [
    ...options.map(option => plain(option, 'option', slot.kind === 'source' ? 1.5 : 0)),
    ...words.map(word => plain(word, 'keyword', 0)),
    ...operators.map(word => ({
      ...plain(word, 'keyword', 1),
      ...describedElement(elementNamed(word)),
    })),
  ];
}

function candidates(slot: Slot | ValueSlot, context: Context): readonly Candidate[] {
  const { cursor } = context;
  switch (slot.kind) {
    case 'none':
      return [];
    case 'source':
      return sources(context, slot.statement);
    case 'operator':
      return operators(context, slot.piped);
    case 'operand':
      return operands(slot, context);
    case 'field':
      return fields(context.names.columns, cursor.quoted);
    case 'type':
      return types(type => type);
    case 'option':
      return slot.values.map(value => plain(value, 'option', 0));
    case 'member':
      return members(slot, context);
    case 'value':
      return values(slot.path, context, value => quoteInner(value, slot.quote)).map(item =>
        context.text[cursor.from + cursor.typed.length] === slot.quote
          ? item
          : { ...item, insert: `${item.insert}${slot.quote}` },
      );
  }
}

function plain(label: string, kind: CompletionKind, place: number, insert = label): Candidate {
  return { label, insert, kind, rank: place };
}

function sources({ environment, names, cursor }: Context, statement: boolean): readonly Candidate[] {
  const datasets = environment
    .datasets()
    .map(name => plain(name, 'dataset', 1, cursor.quoted ? quotedName(name) : writtenName(name)));
  if (cursor.quoted) return datasets;
  const tables = [...names.definitions].filter(([, definition]) => definition.kind === 'table');
  const own = new Set(names.definitions.keys());
  const results = [...(environment.results?.keys() ?? [])].filter(name => !own.has(name));
  return [
    ...[...tables.map(([name]) => name), ...results].map(name => plain(name, 'let', 0, writtenName(name))),
    ...datasets,
    ...Object.keys(wordSources).map(word => element(word, 2)),
    ...(statement ? ['let', 'set', 'declare'].map(word => element(word, 3)) : []),
  ];
}

function element(word: string, place: number): Candidate {
  return { ...plain(word, 'keyword', place), ...describedElement(elementNamed(word)) };
}

function describedElement(entry: ElementEntry | undefined): Pick<CompletionItem, 'signature' | 'doc'> {
  return entry === undefined ? {} : { signature: entry.usage[0] ?? entry.name, doc: entry.doc };
}

/** Returns the operators; after a source without a pipe, each includes the pipe. */
function operators({ names }: Context, piped: boolean): readonly Candidate[] {
  const pipe = piped ? '' : '| ';
  const items = tabularOperators.flatMap((entry): Candidate[] =>
    [entry.name, ...(entry.aliases ?? [])].map((name, index) => ({
      ...plain(name, 'operator', index, `${pipe}${name}`),
      ...describedElement(entry),
    })),
  );
  const columns = names.operator === undefined ? names.outputs() : names.columns;
  const timed = columns.some(column => column.name === '_time' && column.type === 'datetime');
  const offered = snippets.filter(({ text }) => timed || !text.includes('_time'));
  return [...items, ...offered.map(({ label, text }) => plain(label, 'snippet', 5, `${pipe}${text}`))];
}

const snippets = [
  { label: 'count over time', text: 'summarize count() by bin_auto(_time)' },
  { label: 'newest first', text: 'sort by _time desc' },
  { label: 'last 15 minutes', text: 'where _time > ago(15m)' },
  { label: 'number of rows', text: 'summarize count()' },
  {
    label: 'percentiles over time',
    text: 'summarize percentiles_array(#{field}, 50, 95, 99) by bin_auto(_time)',
  },
  { label: 'top groups', text: 'summarize n = count() by #{field} | top 10 by n' },
  { label: 'join a table', text: 'join kind=inner (#{table}) on #{key}' },
];

const literals = ['true', 'false', 'null', 'datetime(', 'timespan(', 'dynamic(', 'not('];

function operands(slot: OperandSlot, context: Context): readonly Candidate[] {
  const { cursor, names } = context;
  const tables = slot.tables === true;
  const extra = slot.clause?.offers;
  const mayAggregate = extra === 'aggregates' && !insideAggregate(slot.call);
  const shown = (extra === 'sides' ? joined(names) : names.columns).filter(column =>
    fits(cursor.typed, column.name),
  );
  const columns = fields(shown, cursor.quoted, mayAggregate ? 2 : 0);
  if (cursor.quoted) return tables ? [...columns, ...sources(context, false)] : columns;
  if (slot.call !== undefined && takesType(slot.call)) return types(type => `typeof(${type})`);
  const lets = [...names.definitions].filter(([, { kind }]) => kind === 'scalar' || tables);
  return [
    ...(slot.compared === undefined ? [] : values(slot.compared, context, value => writtenText(value))),
    ...columns,
    ...(extra === 'sides' ? ['$left', '$right'].map(side => plain(side, 'keyword', 0)) : []),
    ...(extra === 'keys' && shown.some(column => column.name === '_time')
      ? [plain('bin_auto(_time)', 'snippet', 1)]
      : []),
    ...lets.map(([name, definition]) => ({
      ...plain(name, 'let', 1, writtenName(name)),
      ...present({ type: definition.kind === 'scalar' ? definition.value.type : undefined }),
    })),
    ...(mayAggregate ? aggregates.flatMap(entry => callables(entry, 'aggregate', 1)) : []),
    ...(context.environment.hasAllFunctions === true ? allFunctions : localFunctions),
    ...literals.map(word => plain(word, 'keyword', 5)),
    ...(tables ? sources(context, false).map(item => ({ ...item, rank: 6 })) : []),
  ];
}

/** True inside an aggregate: aggregates may be nested in functions, but not in each other. */
function insideAggregate(call: OpenCall | undefined): boolean {
  return call !== undefined && (aggregateNamed(call.callee) !== undefined || insideAggregate(call.outer));
}

/** Returns the fields of both sides of a join; those on both sides come first, once each. */
function joined({ columns: left, right }: NamesAt): readonly Column[] {
  const [ours, theirs] = [left, right].map(side => new Set(side.map(column => column.name)));
  const shared = left.filter(column => theirs?.has(column.name));
  const onlyLeft = left.filter(column => !theirs?.has(column.name));
  return [...shared, ...onlyLeft, ...right.filter(column => !ours?.has(column.name))];
}

function callables(entry: FunctionEntry, kind: 'function' | 'aggregate', place: number): Candidate[] {
  const signature = signatureOf(entry);
  return [entry.name, ...(entry.aliases ?? [])].map((name, index) => ({
    ...plain(name, kind, place + (index === 0 ? 0 : 1)),
    signature,
    doc: entry.doc,
  }));
}

const allFunctions = functionItems(everyFunction);
const localFunctions = functionItems(everyFunction.filter(entry => entry.unavailable === undefined));

function functionItems(entries: readonly FunctionEntry[]): readonly Candidate[] {
  return entries
    .flatMap(entry => callables(entry, 'function', 3))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

function takesType({ callee, argument }: OpenCall): boolean {
  return functionNamed(callee)?.params[argument]?.type === 'type';
}

function fields(columns: readonly Column[], quoted = false, place = 0): readonly Candidate[] {
  return columns.map(({ name, type, unit = '', description = '' }) => {
    const insert = quoted ? quotedName(name) : writtenName(name);
    // The time at which the service stored an event is rarely wanted.
    const rank = name === '_sysTime' ? place + 0.2 : place;
    const item: Candidate = { label: name, insert, kind: 'field', type, rank };
    if (unit === '' && description === '') return item;
    return { ...item, ...present({ unit: unit || undefined, doc: description || undefined }) };
  });
}

function types(write: (type: string) => string): readonly Candidate[] {
  const main = ['bool', 'long', 'real', 'string', 'datetime', 'timespan', 'dynamic'];
  return [...main, ...typeSpellings.filter(type => !main.includes(type))].map(type =>
    plain(write(type), 'type', main.includes(type) ? 0 : 1),
  );
}

/** Returns the completions after `path.`: the rest of the flat names that start with it, then the keys of the map. */
function members(
  { path, bracket }: Extract<Slot, { kind: 'member' }>,
  context: Context,
): readonly Candidate[] {
  const { names, environment } = context;
  const [first] = path;
  if (first === '$left' || first === '$right')
    return fields(first === '$left' ? names.columns : names.right, bracket);
  const dotted = `${path.join('.')}.`;
  const flat = bracket ? [] : names.columns.filter(column => column.name.startsWith(dotted));
  const { column, keys } = fieldAt([...names.columns, ...names.right], path);
  const origin = column === undefined ? [] : datasetsOf(names, column);
  const known =
    column?.type === 'dynamic' ? (environment.mapKeys?.([column.name, ...keys], origin) ?? []) : [];
  const write = (name: string, dots: boolean): string =>
    isPlain(dots ? name.replaceAll('.', '_') : name) ? name : quotedName(name);
  return [
    ...flat.map(({ name, type }) => {
      const rest = name.slice(dotted.length);
      return { ...plain(rest, 'field', 0, write(rest, true)), type };
    }),
    ...known.map(key => plain(key, 'field', 1, bracket ? `${quoteInner(key, "'")}']` : write(key, false))),
  ];
}

/** Returns the field at the start of a path, whose name may have dots, and the keys after it. */
function fieldAt(
  columns: readonly Column[],
  path: readonly string[],
): { readonly column?: Column; readonly keys: readonly string[] } {
  for (let length = path.length; length > 0; length -= 1) {
    const name = path.slice(0, length).join('.');
    const column = columns.find(each => each.name === name);
    if (column !== undefined) return { column, keys: path.slice(length) };
  }
  return { keys: [] };
}

function values(path: readonly string[], context: Context, write: (value: string) => string): Candidate[] {
  const { names, environment } = context;
  const name = path.join('.');
  const column = [...names.columns, ...names.right].find(candidate => candidate.name === name);
  if (column?.type !== 'string') return [];
  const known = environment.values?.(name, datasetsOf(names, column)) ?? [];
  return known.map(value => plain(value, 'value', 0, write(value)));
}

function datasetsOf(names: NamesAt, column: Column): readonly string[] {
  const dataset = names.origin(column);
  return dataset === undefined ? [] : [dataset];
}
