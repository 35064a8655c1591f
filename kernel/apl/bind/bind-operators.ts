import type { OperatorKind } from '../operators/operator-rows.js';
import type { Column, Relation, Scalar } from '../plan/plan.js';
import { constant } from '../plan/scalars.js';
import type { Expr, OperatorOf } from '../syntax/ast.js';
import {
  bindExtendValid,
  bindExtensions,
  bindItems,
  bindRename,
  bindReorder,
  expand,
} from './bind-fields.js';
import { inheritedName } from './bind-names.js';
import { limitGroups, limitRows, sort } from './bind-order.js';
import { bindSearchFilter } from './bind-search.js';
import { bindSeries } from './bind-series.js';
import { bindUnion } from './bind-source.js';
import { extend, freshStage, keep, project, type Stage, withRelation } from './bind-stage.js';
import { type Binder, scopeOf } from './binder.js';
import { bindConstant, bindCount, bindPredicate } from './expressions/bind-expression.js';
import { bindJoin } from './join.js';
import { bindApply, bindExpand, bindParse, bindParseKv, bindRedact } from './reshape.js';
import { bindSummarize } from './summarize.js';

type OperatorBinders = {
  readonly [K in OperatorKind]: (binder: Binder, operator: OperatorOf<K>, stage: Stage) => Stage;
};

/** Binders by operator: each makes a stage from the previous one. */
export const operatorBinders: OperatorBinders = {
  where: (binder, operator, stage) => filter(binder, stage, operator.predicate, '`where`'),
  extend: (binder, operator, stage) => extend(stage, bindExtensions(binder, operator.items, stage)),
  'extend-valid': bindExtendValid,
  project: (binder, operator, stage) =>
    project({ ...stage, open: false }, bindItems(binder, operator.items, stage)),
  'project-away': (binder, operator, stage) => {
    const away = new Set(operator.patterns.flatMap(pattern => expand(binder, pattern, stage)));
    return chooseColumns(stage, column => !away.has(column));
  },
  'project-keep': (binder, operator, stage) => {
    const kept = new Set(operator.patterns.flatMap(pattern => expand(binder, pattern, stage)));
    return chooseColumns(stage, column => kept.has(column));
  },
  'project-rename': bindRename,
  'project-reorder': bindReorder,
  summarize: bindSummarize,
  sort: (binder, operator, stage) => sort(binder, operator.keys, stage),
  serialize: (binder, { items }, stage) =>
    items === undefined ? stage : extend(stage, bindExtensions(binder, items, stage)),
  as: (_, __, stage) => stage,
  limit: (binder, operator, stage) =>
    limitGroups(
      stage,
      operator.count === undefined ? constant('long', 10n) : bindCount(binder, operator.count, 'the limit'),
    ),
  top: (binder, operator, stage) =>
    limitRows(sort(binder, [operator.key], stage), bindCount(binder, operator.count, 'the number of `top`')),
  sample: bindSample,
  count: bindRowCount,
  getschema: (binder, _, stage) => ({
    ...freshStage(schemaTable(binder, stage.relation.columns), false),
    bounded: true,
  }),
  distinct: bindDistinct,
  join: bindJoin,
  lookup: bindJoin,
  union: (binder, operator, stage) => bindUnion(binder, operator, stage),
  search: (binder, operator, stage) => bindSearchFilter(binder, operator, stage),
  'make-series': bindSeries,
  'mv-apply': bindApply,
  'mv-expand': bindExpand,
  parse: bindParse,
  'parse-where': bindParse,
  'parse-kv': bindParseKv,
  redact: bindRedact,
  render: (binder, operator, stage) => {
    const message = '`render` must be the last operator of a query';
    binder.error('misplaced-render', operator, message, 'Move it to the end, or remove it.');
    return stage;
  },
};

function chooseColumns(stage: Stage, isKept: (column: Column) => boolean): Stage {
  return project(stage, stage.relation.columns.filter(isKept).map(keep));
}

function bindRowCount(binder: Binder, _: OperatorOf<'count'>, stage: Stage): Stage {
  const column = binder.column('count', 'long', { agg: { name: 'count', args: [], fields: [] } });
  const aggregates = [{ column, call: { name: 'count', args: [], type: 'long' as const } }];
  const relation: Relation = {
    kind: 'aggregate',
    input: stage.relation,
    keys: [],
    aggregates,
    columns: [column],
  };
  return { ...freshStage(relation, false), bounded: true };
}

function bindDistinct(binder: Binder, { items }: OperatorOf<'distinct'>, stage: Stage): Stage {
  const isStar = items.length === 1 && items[0]?.value.kind === 'star';
  const kept = isStar ? stage.relation.columns.map(keep) : bindItems(binder, items, stage, inheritedName);
  const { relation } = project(stage, kept);
  const distinct: Relation = { kind: 'distinct', input: relation, columns: relation.columns };
  return { ...freshStage(distinct, isStar && stage.open), bounded: true };
}

function bindSample(binder: Binder, operator: OperatorOf<'sample'>, stage: Stage): Stage {
  const value = bindConstant(binder, operator.proportion, 'the proportion of `sample`');
  const proportion = value === undefined ? 1 : Number(value.value);
  if (!(proportion > 0 && proportion <= 1)) {
    binder.error(
      'bad-proportion',
      operator.proportion,
      '`sample` takes a fraction above 0 and up to 1',
      'For example, sample 0.1 keeps a tenth of the rows.',
    );
  }
  const relation: Relation = {
    kind: 'sample',
    input: stage.relation,
    proportion: constant('real', proportion),
    columns: stage.relation.columns,
  };
  return withRelation(stage, relation);
}

const schemaColumns = ['ColumnName', 'DataType', 'ColumnOrdinal', 'ColumnType'] as const;

function schemaTable(binder: Binder, columns: readonly Column[]): Relation {
  const rows = columns.map((column, index): Scalar[] => [
    constant('string', column.name),
    constant('string', column.type),
    constant('long', BigInt(index)),
    constant('string', column.type),
  ]);
  return {
    kind: 'values',
    rows,
    columns: schemaColumns.map(name => binder.column(name, name === 'ColumnOrdinal' ? 'long' : 'string')),
  };
}

function filter(binder: Binder, stage: Stage, predicate: Expr, context: string): Stage {
  const bound = bindPredicate(binder, predicate, scopeOf(stage), context);
  return withRelation(stage, {
    kind: 'filter',
    input: stage.relation,
    predicate: bound,
    columns: stage.relation.columns,
  });
}
