import type { Expr } from '../apl/syntax/ast.js';
import { AplKernelError } from '../errors.js';
import { cellText, realText, valueKind } from '../result/display/display-text.js';
import type { ArrowTable, QueryResult } from '../result/result.js';
import { shortfallSentences } from '../result/shortfall.js';
import { plural } from '../text.js';
import { formatDuration, formatTime, parseTime, parseTimespan } from '../time.js';
import { MagicError } from './magics/magic-arguments.js';
import { DEFINITION_AT, readDefinition } from './query/definition.js';

/** The result of a query does not meet a cell's condition; the message has the figures. */
class AssertionError extends AplKernelError {}

/** Returns the figures of a condition that holds; throws AssertionError with them if it does not, and MagicError if it cannot be parsed. */
export function assertResult(condition: string, result: QueryResult): string {
  const { value, problem } = readDefinition(condition);
  if (value === undefined || 'source' in value)
    throw unreadable(condition, problem ?? 'it is not a single condition');
  const reader = new Reader(condition, result);
  const holds = reader.holds(value);
  // If a condition does not hold, every digit matters.
  const figures = [...reader.figures]
    .map(([text, { exact, shown }]) => `${text} is ${holds ? shown : exact}`)
    .join(', ');
  if (holds) return figures;
  const short = shortfallSentences(result);
  throw new AssertionError(
    'assertion',
    [`does not hold: ${condition} (${figures})`, ...short].join('. ').replace(/\.$/, ''),
  );
}

function unreadable(condition: string, why: string): MagicError {
  return new MagicError(
    `%assert: \`${condition}\` cannot be parsed: ${why}`,
    'Write conditions such as `rows > 0`, `no_nulls(user)`, `unique(id)`, `max(p99) < 500`, joined by `and` or `or`.',
  );
}

/**
 * A value in a condition: integers, timestamps and durations (nanoseconds) are exact; null if there is none, as for the maximum of
 * no rows.
 */
type Figure = bigint | number | string | boolean | null;

type Field = ArrowTable['data']['schema']['fields'][number];

interface Column {
  readonly field: Field;
  readonly vector: NonNullable<ReturnType<ArrowTable['data']['getChildAt']>>;
}

/** Evaluates a condition on the first table of a result, and records the figures that it reads. */
class Reader {
  /** The figures read, by their source text. */
  readonly figures = new Map<string, { readonly exact: string; readonly shown: string }>();
  readonly #condition: string;
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #rows: number;

  constructor(condition: string, { tables }: QueryResult) {
    this.#condition = condition;
    const data = tables[0]?.data;
    this.#rows = data?.numRows ?? 0;
    const fields = data?.schema.fields ?? [];
    this.#columns = new Map(
      fields.flatMap((field, index) => {
        const vector = data?.getChildAt(index);
        return vector ? [[field.name, { field, vector }]] : [];
      }),
    );
  }

  holds(expr: Expr): boolean {
    switch (expr.kind) {
      case 'paren':
        return this.holds(expr.inner);
      case 'unary':
        if (expr.operator === 'not') return !this.holds(expr.operand);
        break;
      case 'call':
        if (expr.callee.name === 'not' && expr.args[0] !== undefined) return !this.holds(expr.args[0].value);
        return this.#check(expr);
      case 'binary':
        // Evaluates both sides, so that the message has the figures of both.
        if (expr.operator === 'and')
          return [expr.left, expr.right].map(each => this.holds(each)).every(Boolean);
        if (expr.operator === 'or')
          return [expr.left, expr.right].map(each => this.holds(each)).some(Boolean);
        return this.#compare(expr);
    }
    throw this.#unknown(expr);
  }

  #compare(expr: Extract<Expr, { kind: 'binary' }>): boolean {
    const test = Object.hasOwn(COMPARISONS, expr.operator) ? COMPARISONS[expr.operator] : undefined;
    if (test === undefined) throw this.#unknown(expr);
    const [left, right] = [this.#value(expr.left), this.#value(expr.right)];
    if (left === null || right === null) return false;
    const [a, b] = sameKind(left, right);
    if ((typeof a === 'string') !== (typeof b === 'string'))
      throw unreadable(this.#condition, `a string is compared with a number in \`${this.#text(expr)}\``);
    // No number is equal to NaN, or in any order with it.
    if (Number.isNaN(a) || Number.isNaN(b)) return expr.operator === '!=';
    return test(a < b ? -1 : a > b ? 1 : 0);
  }

  /** Evaluates `no_nulls(field)` or `unique(field)`. */
  #check(expr: Extract<Expr, { kind: 'call' }>): boolean {
    const texts = this.#column(expr);
    const nulls = texts.filter(text => text === null).length;
    if (expr.callee.name === 'no_nulls') {
      const first = texts.indexOf(null) + 1;
      this.#note(
        expr,
        nulls === 0
          ? 'true'
          : `${plural(nulls, 'null')} in ${plural(this.#rows, 'row')}, the first in row ${first}`,
      );
      return nulls === 0;
    }
    if (expr.callee.name !== 'unique') throw this.#unknown(expr);
    const seen = new Set<string | null>();
    const twice = texts.find(text => seen.has(text) || !seen.add(text));
    const repeated =
      twice === undefined
        ? 'true'
        : `${new Set(texts).size} distinct in ${plural(this.#rows, 'row')}, ${twice ?? 'null'} repeated`;
    this.#note(expr, repeated);
    return twice === undefined;
  }

  #value(expr: Expr): Figure {
    if (expr.kind === 'paren') return this.#value(expr.inner);
    if (expr.kind === 'literal') return expr.value;
    if (expr.kind === 'unary' && expr.operator === '-') {
      const inner = this.#value(expr.operand);
      if (typeof inner === 'bigint' || typeof inner === 'number') return -inner;
    }
    if (expr.kind === 'name' && expr.name === 'rows') return this.#counted(expr, this.#rows);
    if (expr.kind === 'name' && expr.name === 'columns') return this.#counted(expr, this.#columns.size);
    if (expr.kind === 'call') return this.#aggregate(expr);
    throw this.#unknown(expr);
  }

  #counted(expr: Expr, count: number): bigint {
    this.#note(expr, String(count));
    return BigInt(count);
  }

  /** Evaluates `min`, `max`, `sum`, `avg`, `dcount` or `nulls` of a field; only `nulls` counts nulls. */
  #aggregate(expr: Extract<Expr, { kind: 'call' }>): Figure {
    const { name } = expr.callee;
    const texts = this.#column(expr);
    const known = texts.filter(text => text !== null);
    if (name === 'nulls') return this.#counted(expr, texts.length - known.length);
    if (name === 'dcount') return this.#counted(expr, new Set(known).size);
    const { field } = this.#columnOf(expr);
    const values = known.map(text => figureOf(text, field));
    const figure = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name]?.(values) : undefined;
    if (figure === undefined) throw this.#unknown(expr);
    const text = figureText(figure, field);
    this.#note(expr, text, typeof figure === 'number' ? realText(text) : text);
    return figure;
  }

  #column(expr: Extract<Expr, { kind: 'call' }>): readonly (string | null)[] {
    const { vector, field } = this.#columnOf(expr);
    return Array.from({ length: this.#rows }, (_, row) => cellText(vector, row, field));
  }

  #columnOf({ args }: Extract<Expr, { kind: 'call' }>): Column {
    const [argument, ...others] = args;
    const value = argument?.value;
    if (value === undefined || others.length > 0)
      throw unreadable(this.#condition, 'a function takes one field here');
    const name = value.kind === 'name' ? value.name : this.#text(value).replace(/^\[["'](.*)["']\]$/, '$1');
    const column = this.#columns.get(name);
    if (column !== undefined) return column;
    const names = [...this.#columns.keys()].join(', ');
    throw new MagicError(
      `%assert: the result has no field ${name}`,
      `It has ${names === '' ? 'none' : names}.`,
    );
  }

  #note(expr: Expr, exact: string, shown = exact): void {
    this.figures.set(this.#text(expr), { exact, shown });
  }

  #text({ from, to }: Expr): string {
    return this.#condition.slice(from - DEFINITION_AT, to - DEFINITION_AT);
  }

  #unknown(expr: Expr): MagicError {
    return unreadable(this.#condition, `\`${this.#text(expr)}\` is not a check of a result`);
  }
}

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '==': order => order === 0,
  '!=': order => order !== 0,
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
};

type Aggregate = (values: readonly Exclude<Figure, null>[]) => Figure | undefined;

const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  min: values => extreme(values, (a, b) => a < b),
  max: values => extreme(values, (a, b) => a > b),
  sum: values => total(values),
  avg: values => {
    const sum = total(values);
    if (sum === undefined) return undefined;
    return values.length === 0 ? null : Number(sum) / values.length;
  },
};

function extreme(
  values: readonly Exclude<Figure, null>[],
  wins: (a: Exclude<Figure, null>, b: Exclude<Figure, null>) => boolean,
): Figure {
  // One NaN is enough: an assertion about all values must not depend on their order.
  const [first = null, ...others] = values.some(Number.isNaN) ? [Number.NaN] : values;
  return others.reduce<Figure>((best, each) => (best !== null && wins(each, best) ? each : best), first);
}

/** Returns the sum; undefined for values that cannot be added. */
function total(values: readonly Exclude<Figure, null>[]): bigint | number | undefined {
  if (values.every(each => typeof each === 'bigint')) return values.reduce((sum, each) => sum + each, 0n);
  if (values.every(each => typeof each === 'number')) return values.reduce((sum, each) => sum + each, 0);
  return undefined;
}

/** Converts both sides to one kind: parses a string as a timestamp or duration if the other side is exact nanoseconds. */
function sameKind(
  left: Exclude<Figure, null>,
  right: Exclude<Figure, null>,
): readonly [Exclude<Figure, null>, Exclude<Figure, null>] {
  const read = (text: string) => parseTime(text) ?? parseTimespan(text) ?? text;
  if (typeof left === 'bigint' && typeof right === 'string') return [left, read(right)];
  if (typeof right === 'bigint' && typeof left === 'string') return [read(left), right];
  return [left, right];
}

function figureOf(text: string, field: Field): Exclude<Figure, null> {
  switch (valueKind(field)) {
    case 'time':
      return parseTime(text) ?? text;
    case 'span':
      return parseTimespan(text) ?? text;
    case 'integer':
      return BigInt(text);
    case 'real':
      return Number(text);
    case 'bool':
      return text === 'true';
    case 'text':
      return text;
  }
}

function figureText(figure: Figure, field: Field): string {
  if (figure === null) return 'null, because it has no value';
  const kind = valueKind(field);
  const isNanos = kind === 'time' || kind === 'span';
  const whole = isNanos && typeof figure === 'number' ? BigInt(Math.round(figure)) : figure;
  if (typeof whole === 'bigint' && kind === 'time') return formatTime(whole);
  if (typeof whole === 'bigint' && kind === 'span') return formatDuration(whole);
  return String(figure);
}
