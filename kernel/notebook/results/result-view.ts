import type { Table } from 'apache-arrow';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { parseQuery } from '../../apl/syntax/parse.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';
import { quotedName, writtenText } from '../../apl/syntax/tokens/quote.js';
import { present } from '../../present.js';
import { decodeTabular } from '../../result/decode/decode-arrow.js';
import { parseGoDuration, parseTime, parseTimespan } from '../../time.js';
import type { Session } from '../session.js';
import { fieldsOf, isUnwritable, writableFieldsOf } from './result-arrow.js';
import type { CachedResult } from './result-cache.js';
import type { Filter, FilterValue, View } from './result-protocol.js';

/** A front end's request that cannot be carried out as written. */
export class ViewError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The APL that selects the rows of a view. `expressions` has the positions in `text` of the request's conditions. */
export interface ViewQuery {
  /** Operators, each after a pipe; empty if the view is all rows in their own order. */
  readonly text: string;
  readonly expressions: readonly { readonly filter: number; readonly from: number; readonly to: number }[];
  /** Name of the field with the number of each row. */
  readonly rowField: string;
  /** Indices of the columns that it reads. */
  readonly places: readonly number[];
}

/** Name of the result in a query over a view. */
const viewTable = '_';

/** Returns a name for the row number that no field of the result has. */
function rowFieldOf(fields: readonly FieldSchema[]): string {
  let name = '_row';
  while (fields.some(field => field.name === name)) name += '_';
  return name;
}

/** Returns the operators of a view; throws ViewError for an unknown column. */
export function viewQuery(table: Table, view: View): ViewQuery {
  const writer = new ViewWriter(fieldsOf(table), writableFieldsOf(table));
  for (const [index, filter] of (view.filters ?? []).entries()) writer.filter(filter, index);
  if (view.search) writer.search(view.search);
  if (view.sort !== undefined && view.sort.length > 0) writer.sort(view.sort);
  return writer;
}

/** Characters in values of a type, in any case: a search for any other text can skip such columns. */
const ALPHABETS: Partial<Record<FieldSchema['type'], RegExp>> = {
  long: /^[-0-9]*$/,
  real: /^[-+.0-9enaif]*$/i,
  bool: /^[truefals]*$/i,
  datetime: /^[-:.0-9tz]*$/i,
};

class ViewWriter implements ViewQuery {
  text = '';
  readonly expressions: { filter: number; from: number; to: number }[] = [];
  readonly #places = new Set<number>();
  readonly #fields: readonly FieldSchema[];
  /** The same fields, with names that can be written. */
  readonly #writable: readonly FieldSchema[];

  readonly rowField: string;

  constructor(fields: readonly FieldSchema[], writable: readonly FieldSchema[]) {
    this.#fields = fields;
    this.#writable = writable;
    this.rowField = rowFieldOf(fields);
  }

  get places(): readonly number[] {
    return [...this.#places].sort((a, b) => a - b);
  }

  filter(filter: Filter, index: number): void {
    if ('expression' in filter) this.#expression(filter.expression, index);
    else this.#where(comparison(this.#field(filter.column), filter.op, filter.value));
  }

  search(text: string): void {
    const able = this.#fields.filter(({ type }) => ALPHABETS[type]?.test(text) ?? true);
    const each = able.map(field => {
      const { name, type } = this.#field(field.name);
      return `${textOf(quotedName(name), type)} contains ${writtenText(text)}`;
    });
    this.#where(each.length === 0 ? 'false' : each.join(' or '));
  }

  sort(keys: NonNullable<View['sort']>): void {
    const written = keys.map(({ column, descending }) => {
      const { name } = this.#field(column);
      return `${quotedName(name)} ${descending ? 'desc nulls last' : 'asc nulls first'}`;
    });
    this.text += `\n| sort by ${[...written, `${quotedName(this.rowField)} asc`].join(', ')}`;
  }

  /** The line break ends a comment at the end of the condition. */
  #expression(expression: string, filter: number): void {
    const from = this.text.length + '\n| where ('.length;
    this.expressions.push({ filter, from, to: from + expression.length });
    const known = this.#fields.map(({ name }) => name);
    for (const name of namesIn(expression, known)) this.#field(name);
    this.#where(`${expression}\n`);
  }

  #where(condition: string): void {
    this.text += `\n| where (${condition})`;
  }

  /** Returns a field by name, as it must be written. */
  #field(name: string): FieldSchema {
    const place = this.#fields.findIndex(field => field.name === name);
    const field = this.#writable[place];
    if (field === undefined) throw new ViewError(`the result has no column ${name}`);
    this.#places.add(place);
    return field;
  }
}

/** Returns the fields that a condition may read: those it names, or all if it may read any. */
function namesIn(expression: string, fields: readonly string[]): readonly string[] {
  const words = new Set<string>();
  visitQuery(parseQuery(`print (${expression}\n)`).query, {
    expr: expr => {
      if (expr.kind === 'name') words.add(expr.name);
      if (expr.kind === 'member') words.add(expr.member.name);
    },
  });
  const starred = /\*|search/.test(expression);
  return fields.filter(
    name =>
      starred ||
      [...words].some(word => name === word || name.startsWith(`${word}.`) || name.endsWith(`.${word}`)),
  );
}

function comparison({ name, type }: FieldSchema, op: string, value: FilterValue): string {
  const field = quotedName(name);
  if (op === 'contains' || op === '!contains')
    return `${op === 'contains' ? '' : 'not'}(${textOf(field, type)} contains ${writtenText(String(value))})`;
  if (value === null) return op === '!=' ? `isnotnull(${field})` : `isnull(${field})`;
  if (!operators.has(op)) throw new ViewError(`${op} is not an operator of filters`);
  const [left, right] = sides(field, type, value);
  const test = `${left} ${op} ${right}`;
  return op === '!=' ? `(${test} or isnull(${field}))` : test;
}

const operators: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** Returns the field and the value in a common type. */
function sides(field: string, type: FieldSchema['type'], value: string | number | boolean): [string, string] {
  const text = String(value);
  const wrong = () => new ViewError(`${text} is not a value that a column of type ${type} holds`);
  const span = type === 'timespan' ? (parseTimespan(text) ?? parseGoDuration(text)) : undefined;
  switch (type) {
    case 'string':
      return [field, writtenText(text)];
    case 'dynamic':
      return [`tostring(${field})`, writtenText(text)];
    case 'datetime':
      if (parseTime(text) === undefined) throw wrong();
      return [field, `todatetime(${writtenText(text)})`];
    case 'timespan':
      if (span === undefined) throw wrong();
      return [field, spanLiteral(span)];
    case 'bool':
      if (!/^(true|false)$/i.test(text)) throw wrong();
      return [field, text.toLowerCase()];
    case 'long':
      if (!/^-?\d+$/.test(text) && !Number.isFinite(Number(text))) throw wrong();
      return [field, /^-?\d+$/.test(text) ? `tolong(${writtenText(text)})` : `toreal(${writtenText(text)})`];
    case 'real':
      if (Number.isNaN(Number(text)) || text.trim() === '') throw wrong();
      return [field, `toreal(${writtenText(text)})`];
  }
}

/** Returns a duration in nanoseconds as an APL literal. */
export function spanLiteral(nanos: bigint): string {
  return nanos < 0n ? `(-${-nanos}nanosecond)` : `${nanos}nanosecond`;
}

/** Returns a value as text, for searches. */
function textOf(field: string, type: FieldSchema['type']): string {
  return type === 'string' ? field : `tostring(${field})`;
}

/** Runs a query over the rows of a view and returns its first table; `text` follows the operators of the view. */
export async function queryView(
  session: Pick<Session, 'queryCached'>,
  cached: CachedResult,
  { text, places, rowField }: ViewQuery,
  then: string,
  signal: AbortSignal,
): Promise<Table> {
  const { startTime, endTime } = cached.result.provenance;
  const fields = cached.result.tables[0]?.data.schema.fields ?? [];
  const isWritable =
    fields.some((field, place) => places.includes(place) && isUnwritable(field)) || undefined;
  const read = { cached, places, rowField, ...present({ isWritable }) };
  const raw = await session.queryCached(
    { apl: `${viewTable}${text}\n${then}`, startTime, endTime },
    signal,
    new Map([[viewTable, read]]),
  );
  const [table] = decodeTabular(raw.body).tables;
  if (table === undefined) throw new RangeError('the response has no table');
  return table.data;
}

/** Returns the numbers of the rows of a view, in its order. */
export async function rowsOfView(
  session: Pick<Session, 'queryCached'>,
  cached: CachedResult,
  query: ViewQuery,
  signal: AbortSignal,
): Promise<Uint32Array> {
  const table = await queryView(session, cached, query, `| project ${quotedName(query.rowField)}`, signal);
  return lowHalves(table.getChildAt(0)?.data[0]?.values as BigInt64Array | undefined);
}

/** Returns the low halves of row numbers, which are below 2^32: a million bigints would take a quarter of a second. */
function lowHalves(numbers: BigInt64Array = new BigInt64Array(0)): Uint32Array {
  const halves = new Uint32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length);
  const low = new Uint32Array(numbers.length);
  for (let row = 0; row < low.length; row += 1) low[row] = halves[2 * row] as number;
  return low;
}
