import type { Expr, Operator, Pipeline, Query, Source, Statement } from '../../apl/syntax/ast.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';

/** A comparison of a field with constants. `field` is APL; `texts` are the string constants. */
export interface Comparison {
  readonly field: string;
  readonly operator: string;
  readonly texts: readonly string[];
}

/** A condition that every row must meet, as written. */
export interface Condition {
  readonly text: string;
  readonly comparisons: readonly Comparison[];
}

/** Facts about the rows that a query reads, from its text alone. */
export interface QueryReading {
  /** The statements before the query, which its conditions may reference. */
  readonly prelude: string;
  /** The dataset that the query reads first; undefined if it reads none by name. */
  readonly dataset: string | undefined;
  /** The conditions directly after that dataset, in order. */
  readonly conditions: readonly Condition[];
  /** Number of tables read: datasets, inline tables, lookups. */
  readonly sources: number;
  /** Whether it creates series, which have steps even without data. */
  readonly isSeries: boolean;
  /** Whether it requests the fields instead of events. */
  readonly isSchema: boolean;
}

/** Operators that retain every row, each for itself. */
const retaining: ReadonlySet<Operator['kind']> = new Set([
  'sort',
  'extend',
  'extend-valid',
  'project',
  'project-away',
  'project-keep',
  'project-rename',
  'project-reorder',
  'parse',
  'parse-kv',
  'redact',
]);

/** Returns whether an operator retains every row. */
export function retainsRows({ kind }: Operator): boolean {
  return retaining.has(kind) || kind === 'serialize' || kind === 'as' || kind === 'render';
}

/** Returns whether an operator returns one row for each matching row. */
export function keepsRows({ kind }: Operator): boolean {
  return retaining.has(kind) || kind === 'where' || kind === 'search';
}

/** Returns whether the rows of consecutive parts of a time range, in order, are the rows of the whole range. */
export function isRowWise(operator: Operator): boolean {
  if (operator.kind !== 'sort') return keepsRows(operator);
  return operator.keys.every(({ value }) => value.kind === 'name' && value.name === '_time');
}

/** Returns the name of the dataset that a query reads first; undefined if it reads none by name. */
export function datasetOf({ pipeline }: QueryText): string | undefined {
  const source = pipeline?.source;
  return source?.kind === 'dataset' ? source.name.name : undefined;
}

/** Returns the names that a query reads as datasets, possibly including its own tables. */
export function datasetNames({ tree }: QueryText): readonly string[] {
  const names: string[] = [];
  visitQuery(tree, {
    source: source => {
      if (source.kind === 'dataset') names.push(source.name.name);
    },
  });
  return names;
}

/** Returns whether a query reads the clock, by `now()` or `ago()`. */
export function readsClock(query: QueryText): boolean {
  return calls(query, ['now', 'ago']);
}

/** Returns whether a query selects or generates values at random. */
export function isRandom(query: QueryText): boolean {
  return calls(query, ['rand']);
}

function calls({ tree }: QueryText, names: readonly string[]): boolean {
  let found = false;
  visitQuery(tree, {
    expr: expr => {
      found ||= expr.kind === 'call' && names.includes(expr.callee.name);
    },
  });
  return found;
}

/** Returns the dataset and the conditions of a query; for source with errors, those of the part that could be parsed. */
export function readConditions({ text, tree }: QueryText): QueryReading {
  const statement = queryStatement(tree);
  const pipeline = statement?.pipeline;
  const read: Source[] = [];
  visitQuery(tree, { source: source => read.push(source) });
  return {
    prelude: text.slice(0, statement?.from ?? 0),
    dataset: pipeline?.source.kind === 'dataset' ? pipeline.source.name.name : undefined,
    conditions: pipeline === undefined ? [] : conditionsOf(pipeline, text),
    isSeries: pipeline?.operators.some(({ kind }) => kind === 'make-series') ?? false,
    isSchema: pipeline?.operators.some(({ kind }) => kind === 'getschema') ?? false,
    sources: read.filter(({ kind }) => tables.has(kind)).length,
  };
}

function queryStatement(query: Query): Extract<Statement, { kind: 'query' }> | undefined {
  return query.statements.find(each => each.kind === 'query');
}

const tables: ReadonlySet<string> = new Set(['dataset', 'datatable', 'print', 'range', 'externaldata']);

/** Returns the conditions before any other operator: after one, the same name may be another field. */
function conditionsOf({ operators }: Pipeline, text: string): readonly Condition[] {
  const first = operators.findIndex(operator => operator.kind !== 'where');
  const filters = first < 0 ? operators : operators.slice(0, first);
  return filters
    .flatMap(operator => (operator.kind === 'where' ? conjuncts(operator.predicate) : []))
    .map(expr => ({ text: text.slice(expr.from, expr.to), comparisons: comparisonsIn(expr, text) }));
}

function conjuncts(expr: Expr): readonly Expr[] {
  if (expr.kind === 'paren') return conjuncts(expr.inner);
  if (expr.kind !== 'binary' || expr.operator !== 'and') return [expr];
  return [...conjuncts(expr.left), ...conjuncts(expr.right)];
}

/** Returns the comparisons in a condition. */
function comparisonsIn(expr: Expr, text: string): readonly Comparison[] {
  switch (expr.kind) {
    case 'paren':
      return comparisonsIn(expr.inner, text);
    case 'list':
      return comparison(expr.left, expr.operator, expr.items, text);
    case 'between':
      return comparison(expr.value, 'between', [expr.low, expr.high], text);
    case 'binary':
      if (expr.operator === 'and' || expr.operator === 'or')
        return [...comparisonsIn(expr.left, text), ...comparisonsIn(expr.right, text)];
      return isField(expr.left)
        ? comparison(expr.left, expr.operator, [expr.right], text)
        : comparison(expr.right, expr.operator, [expr.left], text);
    default:
      return [];
  }
}

function comparison(
  field: Expr,
  operator: string,
  values: readonly Expr[],
  text: string,
): readonly Comparison[] {
  if (!isField(field)) return [];
  const texts = values.flatMap(each =>
    each.kind === 'literal' && each.type === 'string' && each.value !== null ? [String(each.value)] : [],
  );
  return [{ field: text.slice(field.from, field.to), operator, texts }];
}

/** Returns whether an expression is a field: `status`, `geo.city`, `['a b']['c']`. */
function isField(expr: Expr): boolean {
  if (expr.kind === 'member') return isField(expr.object);
  if (expr.kind === 'index') return isField(expr.object);
  return expr.kind === 'name';
}
