import type { Expr, Operator, Pipeline, Query, Source, Statement } from '../../apl/syntax/ast.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';

/** A field compared with constants. `field` is APL; `texts` are the constants that are texts. */
export interface Comparison {
  readonly field: string;
  readonly operator: string;
  readonly texts: readonly string[];
}

/** A condition that every row has to meet, as it is written. */
export interface Condition {
  readonly text: string;
  readonly comparisons: readonly Comparison[];
}

/** The facts about the rows that a query reads, as far as its text tells. */
export interface QueryReading {
  /** The statements before the query, which its conditions may refer to. */
  readonly prelude: string;
  /** The dataset that the query reads first; undefined when it reads none by name. */
  readonly dataset: string | undefined;
  /** The conditions directly after that dataset, in order. */
  readonly conditions: readonly Condition[];
  /** How many tables are read: datasets, tables written into the query, lookups. */
  readonly sources: number;
  /** Whether it makes series, which have steps even if there is no data. */
  readonly isSeries: boolean;
  /** Whether it asks for the fields, and not for events. */
  readonly isSchema: boolean;
}

/** Operators after which each row that matched is one row. */
const keeping: ReadonlySet<Operator['kind']> = new Set([
  'where',
  'search',
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

/** Whether an operator gives one row for each row that it lets through. */
export function keepsRows({ kind }: Operator): boolean {
  return keeping.has(kind);
}

/** Whether the rows of the parts of a time range are, in the order of the parts, those of the whole. */
export function isRowWise(operator: Operator): boolean {
  if (operator.kind !== 'sort') return keepsRows(operator);
  return operator.keys.every(({ value }) => value.kind === 'name' && value.name === '_time');
}

/** Returns the name of the dataset that a query reads first; undefined when it reads none by name. */
export function datasetOf({ pipeline }: QueryText): string | undefined {
  const source = pipeline?.source;
  return source?.kind === 'dataset' ? source.name.name : undefined;
}

/** Returns the names that a query reads as datasets; names of its own tables may be among them. */
export function datasetNames({ tree }: QueryText): readonly string[] {
  const names: string[] = [];
  visitQuery(tree, {
    source: source => {
      if (source.kind === 'dataset') names.push(source.name.name);
    },
  });
  return names;
}

/** Whether a query reads the clock, by `now()` or `ago()`. */
export function readsClock(query: QueryText): boolean {
  return calls(query, ['now', 'ago']);
}

/** Whether a query chooses or makes values at random. */
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

/** Returns the dataset and the conditions of a query; for a text with errors, the part that could be parsed. */
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

/** The conditions before any other operator: after one, the same name may be another field. */
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

/** The comparisons in a condition. */
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

/** `status`, `geo.city`, `['a b']['c']`. */
function isField(expr: Expr): boolean {
  if (expr.kind === 'member') return isField(expr.object);
  if (expr.kind === 'index') return isField(expr.object);
  return expr.kind === 'name';
}
