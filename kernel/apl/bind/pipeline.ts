import { operatorNames } from '../catalog/all.js';
import type { Bound, Column, Computed, Relation } from '../plan/plan.js';
import type { Assignment, Expr, Operator, Pipeline } from '../syntax/ast.js';
import { fieldOf } from './aggregate.js';
import { type Binder, scopeOf, unwrap } from './binder.js';
import { bindExpression, bindPredicate } from './expression.js';
import { dottedName, reference } from './name.js';
import { bindSource } from './source.js';
import { operatorBinders } from './stage.js';
import { nearest } from './suggest.js';

/** What a pipeline has become so far. */
export interface Stage {
  readonly relation: Relation;
  /** Unknown fields are null. */
  readonly open: boolean;
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  readonly groups: readonly string[];
  readonly bucket?: { readonly field: string; readonly size: bigint | number };
  /** Set right after a summarize: what a limit then counts. */
  readonly summary?: Summary;
  readonly bounded: boolean;
}

export interface Summary {
  /** The time bin, when the first key is one. */
  readonly bin?: Column;
  /** The other keys. */
  readonly groups: readonly Column[];
  readonly aggregates: readonly Column[];
}

/** Binds a source and its operators. */
export function bindPipeline(binder: Binder, pipeline: Pipeline): Stage {
  let stage = bindSource(binder, pipeline.source);
  for (const operator of pipeline.operators) stage = bindOperator(binder, operator, stage);
  return stage;
}

/** A stage that starts with `relation` and knows nothing of order or groups. */
export function freshStage(relation: Relation, open: boolean): Stage {
  return { relation, open, order: [], groups: [], bounded: false };
}

/** `stage` with another relation of the same columns: order and groups are kept, what a limit counts is not. */
export function withRelation(stage: Stage, relation: Relation): Stage {
  const { summary: _, ...rest } = stage;
  return { ...rest, relation };
}

export function filter(binder: Binder, stage: Stage, predicate: Expr, context: string): Stage {
  const bound = bindPredicate(binder, predicate, scopeOf(stage), context);
  return withRelation(stage, {
    kind: 'filter',
    input: stage.relation,
    predicate: bound,
    columns: stage.relation.columns,
  });
}

/** A projection; names that occur twice get a number. */
export function project(stage: Stage, items: readonly Computed[]): Stage {
  const unique = uniqueNames(items.map(item => item.column));
  const renamed = items.map((item, index) => {
    const column = unique[index] as Column;
    return column === item.column ? item : { ...item, column };
  });
  return projectUnique(stage, renamed);
}

/** A projection whose names are known to differ. */
export function projectUnique(stage: Stage, items: readonly Computed[]): Stage {
  const columns = items.map(item => item.column);
  const relation: Relation = { kind: 'project', input: stage.relation, items, columns };
  const isKept = (name: string): boolean => columns.some(column => column.name === name);
  const { bucket, ...rest } = withRelation(stage, relation);
  return {
    ...rest,
    order: stage.order.filter(key => isKept(key.field)),
    ...(bucket !== undefined && isKept(bucket.field) ? { bucket } : {}),
  };
}

/** Wide tables pass the same columns through every stage. */
const kept = new WeakMap<Column, Computed>();

/** A column that passes through unchanged. */
export function keep(column: Column): Computed {
  const known = kept.get(column);
  if (known !== undefined) return known;
  const fresh = { column, value: reference(column) };
  kept.set(column, fresh);
  return fresh;
}

export function uniqueNames(columns: readonly Column[]): Column[] {
  const used = new Set<string>();
  return columns.map(column => {
    let name = column.name;
    for (let n = 1; used.has(name); n += 1) name = `${column.name}${n}`;
    used.add(name);
    return name === column.name ? column : { ...column, name };
  });
}

/** Binds `name = expr` items to new columns over `stage`; a name without a sign keeps its column. */
export function bindItems(binder: Binder, items: readonly Assignment[], stage: Stage): Computed[] {
  const scope = scopeOf(stage);
  return items.flatMap((item, index) => {
    const value = bindExpression(binder, item.value, scope);
    if (item.names.length > 1) return spread(binder, item, value);
    const name = item.names[0]?.name ?? defaultName(binder, item.value, index);
    return [
      { column: columnFor(binder, name, value, stage.relation.columns, item.names.length === 0), value },
    ];
  });
}

/** A new column; a field that is only renamed keeps its unit and description. */
export function columnFor(
  binder: Binder,
  name: string,
  value: Bound,
  inputs: readonly Column[],
  same = false,
): Column {
  const source = value.kind === 'column' ? inputs.find(column => column.id === value.id) : undefined;
  if (source === undefined) return binder.column(name, value.type);
  if (same && source.name === name) return source;
  const { id: _, name: __, type: ___, ...rest } = source;
  return binder.column(name, value.type, rest);
}

/** The name of an expression that was given none: its field, or its text. */
export function defaultName(binder: Binder, expr: Expr, index: number, prefix?: string): string {
  const field = fieldOf(expr) ?? binnedField(expr);
  if (field !== undefined) return field;
  return prefix === undefined
    ? binder.text(expr).replace(/\s+/g, ' ') || `column${index + 1}`
    : `${prefix}${index}`;
}

const binning = new Set(['bin', 'bin_auto', 'floor', 'ceiling', 'round']);

/** `bin(_time, 1h)` is about `_time`. */
function binnedField(expr: Expr): string | undefined {
  const inner = unwrap(expr);
  if (inner.kind !== 'call' || !binning.has(inner.callee.name)) return undefined;
  const first = inner.args[0]?.value;
  return first === undefined ? undefined : dottedName(unwrap(first));
}

/** `(a, b) = array`: one column an element. */
function spread(binder: Binder, item: Assignment, value: Bound): Computed[] {
  if (value.type !== 'dynamic')
    binder.error('argument-type', item.value, 'only an array can be spread over several names');
  return item.names.map((name, index) => {
    const key: Bound = { kind: 'constant', type: 'long', value: BigInt(index) };
    return {
      column: binder.column(name.name, 'dynamic'),
      value: { kind: 'path', object: value, key, type: 'dynamic' },
    };
  });
}

function bindOperator(binder: Binder, operator: Operator, stage: Stage): Stage {
  if (operator.kind !== 'unknown') return operatorBinders[operator.kind](binder, operator as never, stage);
  const word = binder.text(operator.word);
  if (word === '') return stage;
  const foreign = foreignOperators[word];
  if (foreign !== undefined) {
    binder.error('unknown-operator', operator.word, `APL has no operator \`${word}\``, foreign);
  } else {
    const guess = nearest(word, operatorNames);
    binder.error(
      'unknown-operator',
      operator.word,
      `unknown operator \`${word}\``,
      guess === undefined ? 'The operators are listed by `%help operators`.' : `Did you mean \`${guess}\`?`,
    );
  }
  return stage;
}

/** Habits from Kusto and other languages. */
const foreignOperators: Readonly<Record<string, string>> = {
  render: 'A time-binned summarize is drawn as a chart by itself.',
  evaluate: 'Plugins do not exist in APL.',
  serialize: 'Rows keep the order of `sort` by themselves.',
  'sample-distinct': 'Write `| distinct field | limit N`.',
  'top-nested': 'Write `| summarize topk(field, N) by …`.',
  'mv-apply': 'Write `| mv-expand`, then the operators.',
  fork: 'Write two queries in two cells.',
  as: 'Name a query with `let name = …;`, or a result with `name << query`.',
  select: 'Write `| project …`.',
  stats: 'Write `| summarize … by …`.',
  group: 'Write `| summarize … by …`.',
  eval: 'Write `| extend …`.',
  head: 'Write `| limit N`.',
  tail: 'Write `| sort by _time desc | limit N`.',
  having: 'Write `| where …` after the summarize.',
  rename: 'Write `| project-rename new = old`.',
  fields: 'Write `| project …`.',
};
