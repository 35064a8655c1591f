import { oneLine } from '../../text.js';
import { writtenName } from '../catalog/catalog-written.js';
import type { TypeName } from '../catalog/entry.js';
import {
  type Aggregated,
  type BindEnvironment,
  type Column,
  Columns,
  type Relation,
  type Scalar,
} from '../plan/plan.js';
import { constant } from '../plan/scalars.js';
import type { Diagnostic, Expr, Pipeline, Severity, Source, Span } from '../syntax/ast.js';
import type { DiagnosticCode } from '../syntax/codes.js';
import { finding } from '../syntax/diagnostics.js';
import { nearest } from '../syntax/nearest.js';
import { type Limit, limits } from '../syntax/syntax-limits.js';
import { type Token, tokenize } from '../syntax/tokens/lexer.js';

/** The fields of a table. */
export interface Fields {
  readonly columns: readonly Column[];
  /** Whether there may be further fields: an unknown field is then not an error. */
  readonly open: boolean;
}

/** Names available to an expression. */
export interface Scope extends Fields {
  /** The two inputs of a join, for `$left` and `$right`. */
  readonly sides?: { readonly left: Fields; readonly right: Fields };
  /** Collects aggregates, each under a new column; set if aggregates are allowed. */
  readonly aggregates?: AggregateSink;
  /** Aggregate whose arguments are being bound, as aggregates do not nest. */
  readonly inside?: string;
  /** Set if the value must be known before the query runs, in which case fields are not allowed; the description for messages. */
  readonly constant?: string;
  /** Names defined earlier in the same operator, which its expressions do not see. */
  readonly beside?: ReadonlySet<string>;
  /** True if an unknown word may be an unquoted string. */
  readonly mayBeText?: true;
}

export interface AggregateSink {
  /** The scope that the aggregates are computed over. */
  readonly input: Scope;
  /** Keys, with their spans. */
  readonly keys: readonly { readonly column: Column; readonly span: Span }[];
  readonly found: Aggregated[];
}

/** A name given by `let`, a parameter or the request's variables. */
export type Definition =
  | {
      readonly kind: 'scalar';
      readonly value: Scalar;
      readonly span?: Span;
      /** Weight of its expression, charged against the limits at each use. */
      readonly weight?: Weight;
      used: boolean;
    }
  | { readonly kind: 'table'; readonly bind: () => Bindable; readonly span?: Span; used: boolean };

/** Depth and size of an expression. */
export interface Weight {
  readonly levels: number;
  readonly nodes: number;
}

/** Relation, with whether its schema is open. */
export interface Bindable {
  readonly relation: Relation;
  readonly open: boolean;
}

/** One binding run: the environment, the names defined so far, and the diagnostics. */
export class Binder {
  readonly environment: BindEnvironment;
  readonly definitions = new Map<string, Definition>();
  readonly diagnostics: Diagnostic[] = [];
  readonly datasets = new Set<string>();
  /** Columns of calls that read neighboring rows, while their operator is bound; undefined if the call was rejected. */
  readonly neighbors = new Map<Expr, Column | undefined>();
  /** Input rows of operators with inner pipelines, by the pipeline's source. */
  readonly given = new Map<Source, Bindable>();
  /** Source of the query, to name columns after their expressions. */
  readonly source: string;
  /** Binds a query inside an expression; injected, as expressions know nothing of pipelines. */
  readonly bindPipeline: (pipeline: Pipeline) => Bindable;
  /** Set by `set stricttypes`: comparisons of different types are rejected. */
  strict = false;
  /** Creates the columns of the plan. */
  readonly columns = new Columns();
  #levels = 0;
  #deepest = 0;
  #nodes = 0;
  readonly #counts = { tables: 0, joins: 0 };
  readonly #reported = new Set<string>();
  #read: readonly Token[] | undefined;

  constructor(
    source: string,
    environment: BindEnvironment,
    bindPipeline: (binder: Binder, pipeline: Pipeline) => Bindable,
  ) {
    this.source = source;
    this.environment = environment;
    this.bindPipeline = pipeline => bindPipeline(this, pipeline);
  }

  column(name: string, type: TypeName, rest: Omit<Column, 'id' | 'name' | 'type'> = {}): Column {
    return this.columns.named(name, type, rest);
  }

  report(
    severity: Severity,
    code: DiagnosticCode,
    span: Span,
    message: string,
    hint?: string,
    instead?: string,
  ): void {
    if (this.isFirst(`${code} ${span.from} ${span.to}`))
      this.diagnostics.push(finding(severity, code, span, message, hint, instead));
  }

  /** False if the problem was seen before: the same error is reported once. */
  isFirst(problem: string): boolean {
    if (this.#reported.has(problem)) return false;
    this.#reported.add(problem);
    return true;
  }

  error(code: DiagnosticCode, span: Span, message: string, hint?: string, instead?: string): void {
    this.report('error', code, span, message, hint, instead);
  }

  /**
   * Reports an unknown name once, with the nearest known one, else `otherwise` and its `instead`. `before` is the prefix of the span before
   * the name.
   */
  unknown(
    kind: 'field' | 'dataset' | 'function',
    name: string,
    span: Span,
    candidates: Iterable<string>,
    otherwise?: string,
    { before = '', instead }: { readonly before?: string; readonly instead?: string | undefined } = {},
  ): void {
    if (!this.isFirst(`unknown ${kind} ${name}`)) return;
    const guess = nearest(name, candidates);
    const message = `unknown ${kind} \`${name}\``;
    if (guess === undefined) this.error(`unknown-${kind}`, span, message, otherwise, instead);
    else {
      const near = `${before}${kind === 'function' ? guess : writtenName(guess)}`;
      const shown = /^[\w.$@-]+$/.test(guess) ? guess : writtenName(guess);
      this.error(`unknown-${kind}`, span, message, `Did you mean \`${shown}\`?`, near);
    }
  }

  /** Descends into an expression; returns false, with a report, if it is too deep or the query too long. */
  enter(span: Span, { levels, nodes }: Weight): boolean {
    this.#nodes += nodes;
    if (this.#levels + levels > limits.expression.most) return this.limit(span, limits.expression);
    if (this.#nodes > limits.nodes.most) return this.limit(span, limits.nodes);
    this.#levels += levels;
    if (this.#levels > this.#deepest) this.#deepest = this.#levels;
    return true;
  }

  /** Undoes one `enter`. */
  leave({ levels }: Weight): void {
    this.#levels -= levels;
  }

  /** Counts tables or joins; returns false, with a report, if there are too many. */
  count(what: 'tables' | 'joins', span: Span, more = 1): boolean {
    this.#counts[what] += more;
    return this.#counts[what] <= limits[what].most || this.limit(span, limits[what]);
  }

  /** Reports once that a limit of the language is exceeded; returns false, for the caller to stop. */
  limit(span: Span, { code, message, hint }: Limit): false {
    if (this.isFirst(message)) this.error(code, span, message, hint);
    return false;
  }

  /** Returns the value of `bind` and its weight, measured separately. */
  weigh<T>(bind: () => T): { readonly value: T; readonly weight: Weight } {
    const before = { levels: this.#levels, deepest: this.#deepest, nodes: this.#nodes };
    this.#levels = 0;
    this.#deepest = 0;
    const value = bind();
    const weight = { levels: this.#deepest, nodes: this.#nodes - before.nodes };
    this.#levels = before.levels;
    this.#deepest = before.deepest;
    return { value, weight };
  }

  text(span: Span): string {
    return this.source.slice(span.from, span.to);
  }

  /** Returns the source of an expression on one line, without its comments. */
  written(span: Span): string {
    const text = this.text(span);
    const comments = text.includes('//') ? tokenize(text).filter(({ kind }) => kind === 'comment') : [];
    const parts = comments.map(({ to }, index) => text.slice(to, comments[index + 1]?.from));
    return [text.slice(0, comments[0]?.from), ...parts].join('').replace(/\s+/g, ' ').trim();
  }

  /** True if two spans of the query differ at most in white space and comments. */
  sameWritten(one: Span, other: Span): boolean {
    const tokens = this.#tokens;
    let [left, right] = [firstFrom(tokens, one.from), firstFrom(tokens, other.from)];
    for (; ; left += 1, right += 1) {
      const [a, b] = [tokens[left], tokens[right]];
      const ends = a === undefined || a.from >= one.to;
      if (ends || b === undefined || b.from >= other.to)
        return ends && (b === undefined || b.from >= other.to);
      if (a.kind !== b.kind || a.text !== b.text) return false;
    }
  }

  /** Tokens of the query without comments, read on first use. */
  get #tokens(): readonly Token[] {
    this.#read ??= tokenize(this.source).filter(({ kind }) => kind !== 'comment');
    return this.#read;
  }

  get failed(): boolean {
    return this.diagnostics.some(diagnostic => diagnostic.severity === 'error');
  }
}

/** Untyped null in place of an expression that could not be bound. */
export const unbound = constant('dynamic', null);

/** Strips the parentheses around an expression. */
export function unwrap(expr: Expr): Expr {
  return expr.kind === 'paren' ? unwrap(expr.inner) : expr;
}

/** Returns `value` as `type`: unchanged if it already is, a typed null for null. */
export function convertTo(value: Scalar, type: TypeName): Scalar {
  if (value.type === type) return value;
  if (value.kind === 'constant') {
    if (value.value === null) return constant(type, null);
    if (value.type === 'long' && type === 'real') return constant(type, Number(value.value));
    if (value.type === 'long' && (type === 'timespan' || type === 'datetime')) return { ...value, type };
  }
  return { kind: 'convert', type, value };
}

export function isNull(value: Scalar): boolean {
  return value.kind === 'constant' && value.value === null;
}

export function isNumber(type: TypeName): boolean {
  return type === 'long' || type === 'real';
}

/** Returns the type that holds values of all given types without loss; untyped nulls do not count. */
export function commonType(values: readonly Scalar[]): TypeName {
  const types = [
    ...new Set(values.filter(value => !(isNull(value) && value.type === 'dynamic')).map(value => value.type)),
  ];
  const [first] = types;
  if (first === undefined) return 'dynamic';
  if (types.length === 1) return first;
  return types.every(isNumber) ? 'real' : 'dynamic';
}

/** Returns the scope of an expression over this input, without aggregates. */
export function scopeOf(input: Bindable): Scope {
  const { columns } = input.relation;
  const isHidden = columns.some(({ role }) => role === 'neighbor');
  return {
    columns: isHidden ? columns.filter(({ role }) => role !== 'neighbor') : columns,
    open: input.open,
  };
}

const articles: Readonly<Record<TypeName, string>> = {
  bool: 'a boolean',
  long: 'an integer',
  real: 'a number',
  string: 'a string',
  datetime: 'a time',
  timespan: 'a duration',
  dynamic: 'a dynamic value',
};

/** Returns "a string", "an integer", … for messages. */
export function typeInWords(type: TypeName): string {
  return articles[type];
}

/** Returns the index of the first token at or after an offset. */
function firstFrom(tokens: readonly Token[], from: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.from ?? from) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a string on one line, cut to a length that fits in a message. */
export function shorten(text: string): string {
  return oneLine(text, 40);
}
