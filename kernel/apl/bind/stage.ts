import {
  type Bound,
  type Column,
  type Computed,
  isSorted,
  type OrderKey,
  type Relation,
} from '../plan/plan.js';
import type { FieldPattern, Operator, ReorderItem, SortKey } from '../syntax/ast.js';
import { type Binder, scopeOf, unwrap } from './binder.js';
import { bindConstant, bindCount, bindExpression } from './expression.js';
import { bindJoin } from './join.js';
import { dottedName, findColumn, reference } from './name.js';
import {
  bindItems,
  filter,
  freshStage,
  keep,
  project,
  projectUnique,
  type Stage,
  withRelation,
} from './pipeline.js';
import { bindExpand, bindParse, bindParseKv, bindRedact } from './reshape.js';
import { bindSearchFilter } from './search.js';
import { bindSeries } from './series.js';
import { bindUnion, matchesPattern } from './source.js';
import { bindSummarize } from './summarize.js';

type Known = Exclude<Operator, { kind: 'unknown' }>;
/** The operator of one kind, also where several kinds share a shape. */
type OperatorOf<K, T = Known> = T extends { readonly kind: infer Kinds }
  ? K extends Kinds
    ? T
    : never
  : never;
type OperatorBinders = {
  readonly [K in Known['kind']]: (binder: Binder, operator: OperatorOf<K>, stage: Stage) => Stage;
};

/** Operator -> how it changes the stage before it. */
export const operatorBinders: OperatorBinders = {
  where: (binder, operator, stage) => filter(binder, stage, operator.predicate, '`where`'),
  extend: (binder, operator, stage) => extend(stage, bindItems(binder, operator.items, stage)),
  'extend-valid': bindExtendValid,
  project: (binder, operator, stage) =>
    project({ ...stage, open: false }, bindItems(binder, operator.items, stage)),
  'project-away': (binder, operator, stage) => {
    const away = new Set(operator.patterns.flatMap(pattern => expand(binder, pattern, stage)));
    return project(
      { ...stage, open: false },
      stage.relation.columns.filter(column => !away.has(column)).map(keep),
    );
  },
  'project-keep': (binder, operator, stage) => {
    const kept = new Set(operator.patterns.flatMap(pattern => expand(binder, pattern, stage)));
    return project(
      { ...stage, open: false },
      stage.relation.columns.filter(column => kept.has(column)).map(keep),
    );
  },
  'project-rename': bindRename,
  'project-reorder': (binder, operator, stage) =>
    project(stage, reorder(binder, operator.items, stage).map(keep)),
  summarize: bindSummarize,
  sort: (binder, operator, stage) => sort(binder, operator.keys, stage, true),
  limit: (binder, operator, stage) =>
    limit(
      stage,
      operator.count === undefined
        ? { kind: 'constant', type: 'long', value: 10n }
        : bindCount(binder, operator.count, 'the limit'),
    ),
  top: (binder, operator, stage) =>
    limit(
      sort(binder, [operator.key], stage, true),
      bindCount(binder, operator.count, 'the number of `top`'),
    ),
  sample: bindSample,
  count: (binder, operator, stage) => {
    const column = binder.column('count', 'long', { agg: { name: 'count', args: [], fields: [] } });
    const aggregates = [{ column, call: { name: 'count', args: [], type: 'long' as const } }];
    return {
      ...freshStage(
        { kind: 'aggregate', input: stage.relation, keys: [], aggregates, columns: [column] },
        false,
      ),
      bounded: operator.kind === 'count',
    };
  },
  getschema: (binder, _, stage) => ({
    ...freshStage(schemaTable(binder, stage.relation.columns), false),
    bounded: true,
  }),
  distinct: (binder, operator, stage) => {
    const items = operator.all ? stage.relation.columns.map(keep) : bindItems(binder, operator.items, stage);
    const projected = project({ ...stage, open: false }, items);
    return {
      ...freshStage(
        { kind: 'distinct', input: projected.relation, columns: projected.relation.columns },
        false,
      ),
      bounded: true,
    };
  },
  join: bindJoin,
  lookup: bindJoin,
  union: (binder, operator, stage) => bindUnion(binder, operator.union, stage),
  search: (binder, operator, stage) => bindSearchFilter(binder, operator.search, stage),
  'make-series': bindSeries,
  'mv-expand': bindExpand,
  parse: bindParse,
  'parse-where': bindParse,
  'parse-kv': bindParseKv,
  redact: bindRedact,
};

/** Adds columns; one that exists is replaced and moves to the end. */
export function extend(stage: Stage, items: readonly Computed[]): Stage {
  const names = new Set(items.map(item => item.column.name));
  const kept = stage.relation.columns.filter(column => !names.has(column.name)).map(keep);
  const last = items.filter(
    (item, index) => !items.slice(index + 1).some(later => later.column.name === item.column.name),
  );
  return projectUnique(stage, [...kept, ...last]);
}

/** The columns that a pattern names; one that names none is reported. */
export function expand(binder: Binder, pattern: FieldPattern, stage: Stage): Column[] {
  const columns = stage.relation.columns.filter(column => matchesPattern(pattern, column.name));
  if (columns.length > 0 || stage.open) return columns;
  const name = pattern.parts.join('*');
  if (pattern.exact) {
    if (name !== '')
      binder.unknown(
        'field',
        name,
        pattern,
        stage.relation.columns.map(column => column.name),
      );
  } else binder.report('warning', 'no-match', pattern, `no field matches \`${name}\``);
  return [];
}

/** Keeps a value only when it is valid for its type: not empty, not zero, not false. */
function bindExtendValid(binder: Binder, operator: OperatorOf<'extend-valid'>, stage: Stage): Stage {
  const items = bindItems(binder, operator.items, stage).map(item => ({
    ...item,
    value: { kind: 'call', name: '$valid', args: [item.value], type: item.value.type } satisfies Bound,
  }));
  return extend(stage, items);
}

function bindRename(binder: Binder, operator: OperatorOf<'project-rename'>, stage: Stage): Stage {
  const renamed = new Map<Column, string>();
  for (const item of operator.items) {
    const value = bindExpression(binder, item.value, scopeOf(stage));
    const column =
      value.kind === 'column'
        ? stage.relation.columns.find(candidate => candidate.id === value.id)
        : undefined;
    const name = item.names[0]?.name;
    if (name === undefined) binder.error('rename-shape', item, '`project-rename` takes `new = old`');
    else if (column !== undefined) renamed.set(column, name);
    else if (value.kind !== 'constant')
      binder.error(
        'rename-shape',
        item.value,
        'only a field can be renamed',
        'Use `extend` for computed fields.',
      );
  }
  const names = new Set(renamed.values());
  const kept = stage.relation.columns.filter(column => renamed.has(column) || !names.has(column.name));
  return project(
    { ...stage, order: renameOrder(stage, renamed) },
    kept.map(column => ({ column: rename(binder, column, renamed), value: reference(column) })),
  );
}

function rename(binder: Binder, column: Column, renamed: ReadonlyMap<Column, string>): Column {
  const name = renamed.get(column);
  return name === undefined ? column : { ...column, id: binder.column(name, column.type).id, name };
}

function renameOrder(stage: Stage, renamed: ReadonlyMap<Column, string>): Stage['order'] {
  const names = new Map([...renamed].map(([column, name]) => [column.name, name]));
  return stage.order.map(key => ({ ...key, field: names.get(key.field) ?? key.field }));
}

/** Named fields come first, in the order of the items; `*` says where the rest goes, by default last. */
function reorder(binder: Binder, items: readonly ReorderItem[], stage: Stage): Column[] {
  const { columns } = stage.relation;
  const isRest = (item: ReorderItem): boolean =>
    item.pattern.parts.length === 2 && item.pattern.parts.every(part => part === '');
  const named = new Set(
    items
      .filter(item => !isRest(item))
      .flatMap(item => columns.filter(column => matchesPattern(item.pattern, column.name))),
  );
  const taken = new Set<Column>();
  const output = items.flatMap(item => {
    const all = isRest(item)
      ? columns.filter(column => !named.has(column))
      : expand(binder, item.pattern, stage);
    const fresh = all.filter(column => !taken.has(column));
    for (const column of fresh) taken.add(column);
    return sortColumns(fresh, item.order);
  });
  return [...output, ...columns.filter(column => !taken.has(column))];
}

function sortColumns(columns: readonly Column[], order: ReorderItem['order']): readonly Column[] {
  if (order === undefined) return columns;
  const byName = (a: Column, b: Column): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const sorted = [...columns].sort(
    order.startsWith('granny') ? (a, b) => compareNatural(a.name, b.name) : byName,
  );
  return order.endsWith('desc') ? sorted.reverse() : sorted;
}

/** Numbers inside names compare as numbers: `a2` before `a10`. */
function compareNatural(a: string, b: string): number {
  const left: readonly string[] = a.match(/\d+|\D+/g) ?? [];
  const right: readonly string[] = b.match(/\d+|\D+/g) ?? [];
  for (const [at, x] of left.entries()) {
    const y = right[at];
    if (y === undefined || x === y) continue;
    const numeric = /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : 0;
    return numeric !== 0 ? numeric : x < y ? -1 : 1;
  }
  return left.length - right.length;
}

/** Descending unless said; nulls are smallest unless said. */
function sort(binder: Binder, keys: readonly SortKey[], stage: Stage, defaultDescending: boolean): Stage {
  const bound = keys.map((key): OrderKey => {
    const value = bindExpression(binder, key.value, scopeOf(stage));
    const descending = key.descending ?? defaultDescending;
    return { value, descending, nullsFirst: key.nulls === undefined ? !descending : key.nulls === 'first' };
  });
  const order = keys.flatMap((key, index) => {
    const name = dottedName(unwrap(key.value));
    return name === undefined || findColumn(stage.relation.columns, name) === undefined
      ? []
      : [{ field: name, desc: bound[index]?.descending ?? true }];
  });
  const sorted: Relation = {
    kind: 'sort',
    input: stage.relation,
    keys: bound,
    columns: stage.relation.columns,
  };
  return { ...stage, relation: sorted, order };
}

/** Right after a time-binned summarize with further keys, a limit counts groups, and each keeps all its bins. */
function limit(stage: Stage, count: Bound): Stage {
  const { summary, relation } = stage;
  if (summary?.bin === undefined || summary.groups.length === 0) {
    const ordered = newestFirst(stage);
    const limited = withRelation(ordered, {
      kind: 'limit',
      input: ordered.relation,
      count,
      columns: relation.columns,
    });
    return { ...withoutRanking(limited), bounded: true };
  }
  const first = summary.aggregates.find(
    column => column.type === 'long' || column.type === 'real' || column.type === 'timespan',
  );
  const rank: OrderKey[] =
    first === undefined ? [] : [{ value: reference(first), descending: true, nullsFirst: false }];
  return withRelation(stage, {
    kind: 'top-groups',
    input: relation,
    groups: summary.groups,
    rank,
    count,
    columns: relation.columns,
  });
}

/** The first events of a dataset are its newest, unless the query sorts them: a limit always keeps the same rows. */
function newestFirst(stage: Stage): Stage {
  const { relation } = stage;
  const time = findColumn(relation.columns, '_time');
  if (stage.bounded || isSorted(relation) || time?.type !== 'datetime') return stage;
  const keys = [{ value: reference(time), descending: true, nullsFirst: false }];
  const sorted: Relation = { kind: 'sort', input: relation, keys, columns: relation.columns };
  return { ...stage, relation: sorted, order: [{ field: '_time', desc: true }] };
}

/** The first bins by something else than their time are a ranking, and no series any more. */
function withoutRanking(stage: Stage): Stage {
  const { bucket, ...rest } = stage;
  const ranked =
    bucket !== undefined && stage.order[0] !== undefined && stage.order[0].field !== bucket.field;
  return ranked ? rest : stage;
}

function bindSample(binder: Binder, operator: OperatorOf<'sample'>, stage: Stage): Stage {
  const value = bindConstant(binder, operator.proportion, 'the proportion of `sample`');
  const proportion = value === undefined ? 1 : Number(value.value);
  if (!(proportion > 0 && proportion <= 1)) {
    binder.error(
      'bad-proportion',
      operator.proportion,
      '`sample` takes a proportion above 0 and up to 1',
      'For example: sample 0.1 keeps a tenth of the rows.',
    );
  }
  const relation: Relation = {
    kind: 'sample',
    input: stage.relation,
    proportion: { kind: 'constant', type: 'real', value: proportion },
    columns: stage.relation.columns,
  };
  return withRelation(stage, relation);
}

const schemaColumns = ['ColumnName', 'ColumnOrdinal', 'DataType', 'ColumnType'] as const;

function schemaTable(binder: Binder, columns: readonly Column[]): Relation {
  const text = (value: string): Bound => ({ kind: 'constant', type: 'string', value });
  const rows = columns.map((column, index): Bound[] => [
    text(column.name),
    { kind: 'constant', type: 'long', value: BigInt(index) },
    text(column.type),
    text(column.type),
  ]);
  return {
    kind: 'values',
    rows,
    columns: schemaColumns.map(name => binder.column(name, name === 'ColumnOrdinal' ? 'long' : 'string')),
  };
}
