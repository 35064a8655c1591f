import type {
  AggregateCall,
  Aggregated,
  Column,
  Columns,
  Computed,
  Plan,
  Relation,
} from '../../../apl/plan/plan.js';
import { idsIn, mapInputs } from '../../../apl/plan/plan-walk.js';
import type { ScanFilter } from '../compiled-query.js';
import type { Dialect } from '../dialect.js';
import { sqlArg } from '../sql-template.js';
import { binnedName, keyOf } from './ordering.js';

type Aggregate = Extract<Relation, { kind: 'aggregate' }>;
type Project = Extract<Relation, { kind: 'project' }>;
type Scan = Extract<Relation, { kind: 'scan' }>;

/**
 * A time-binned summarize split up to compute its totals without a second scan: `binned` is aggregated once and stored, `table` is the
 * query over the stored bins, and `totals` merges the bins of each group.
 */
export interface BinnedQuery {
  readonly binned: Relation;
  readonly table: Relation;
  readonly totals: Relation;
  /** The keys other than the time bin. */
  readonly groups: readonly Column[];
  /** Only some of the groups are returned: totals for the rest are omitted. */
  readonly someGroups: boolean;
  /** Names of the fields whose totals cannot be computed from the bins. */
  readonly leftOut: readonly string[];
  /** Returns the SELECT of one of the two scans above; `source` is the text after FROM for the stored rows. */
  readonly scanSql: (
    dataset: string,
    fields: readonly string[],
    source: string,
    filter?: ScanFilter,
  ) => string;
}

/** The name for scanning the merged bins. No dataset can have it: control characters are not allowed in names. */
const totalsName = '\u0000totals';

/**
 * Splits a query that ends with a time-binned summarize, followed by at most sorts and limits; undefined for any other. `windowSeconds` is
 * the divisor of rates in the totals.
 */
export function takeApart(
  relation: Relation,
  plan: Plan,
  windowSeconds: number,
  dialect: Dialect,
): BinnedQuery | undefined {
  const outputs = outputsOf(relation);
  const aggregate = outputs?.input;
  if (outputs === undefined || aggregate?.kind !== 'aggregate') return undefined;
  const bin = aggregate.keys.find(key => key.column.name === plan.bucket?.field)?.column;
  if (bin?.type !== 'datetime') return undefined;
  const groups = aggregate.keys.map(key => key.column).filter(column => column.id !== bin.id);
  const merged = mergeAll(aggregate.aggregates, plan.columns, windowSeconds, dialect);
  const binned = withColumns(aggregate, merged);
  const known = new Set([...groups.map(group => group.id), ...merged.map(each => each.aggregate.column.id)]);
  const items = outputs.items.filter(item => item.column.id !== bin.id);
  const [totalled, leftOut] = split(items, item => readsOnly(item.value, known));
  const totals: Relation = {
    kind: 'project',
    input: scanOf(totalsName, [...groups, ...merged.map(each => each.aggregate.column)]),
    items: totalled,
    columns: totalled.map(item => item.column),
  };
  // If stages do not keep their order, the rows are sorted when they are read.
  const ordered = dialect.keepsOrder ? storedInOrder(relation, outputs, aggregate) : undefined;
  return {
    binned: inOrderOf(ordered?.order ?? aggregate.keys.map(({ column }) => column), binned),
    table: replaced(ordered?.relation ?? relation, aggregate, scanOf(binnedName, aggregate.columns)),
    totals,
    groups,
    someGroups: groups.length > 0 && isLimited(relation),
    leftOut: leftOut.map(item => item.column.name),
    scanSql: (dataset, fields, source, filter) =>
      selectFields(
        dataset === binnedName ? source : `(${mergedSql(groups, merged, source)})`,
        fields,
        filter,
      ),
  };
}

/**
 * Fixes the order of the bins: sums of reals differ in their last digits by order, and a multithreaded engine returns bins in any order.
 */
function inOrderOf(columns: readonly Column[], binned: Relation): Relation {
  const keys = columns.map(column => keyOf(column, false));
  return { kind: 'sort', input: binned, keys, columns: binned.columns };
}

/**
 * Returns the keys of an aggregate in the order of the sort directly above its outputs, and the relation without that sort, which is
 * unnecessary for rows stored in this order; undefined if the rows are sorted by anything else.
 */
function storedInOrder(
  relation: Relation,
  outputs: Project,
  aggregate: Aggregate,
): { readonly order: readonly Column[]; readonly relation: Relation } | undefined {
  if (relation.kind === 'limit') {
    const below = storedInOrder(relation.input, outputs, aggregate);
    return below && { ...below, relation: { ...relation, input: below.relation } };
  }
  if (relation.kind !== 'sort' || relation.input !== outputs) return undefined;
  const order = relation.keys.flatMap(({ value, descending, nullsFirst }) => {
    const key = aggregate.keys.find(({ column }) => value.kind === 'column' && column.id === value.id);
    // For reals, NaN and null groups share a position, and which comes first depends on more than this key.
    return key === undefined || key.column.type === 'real' || descending || !nullsFirst ? [] : [key.column];
  });
  const isWhole = order.length === relation.keys.length && new Set(order).size === aggregate.keys.length;
  return isWhole ? { order, relation: outputs } : undefined;
}

/** Returns the SELECT of the totals, one row for each group returned by `tableSql`, in group order. */
export function totalsSql(
  apart: BinnedQuery,
  sql: string,
  tableSql: string,
  rows: number,
  dialect: Dialect,
): string {
  const keys = apart.groups.map(group => `c${group.id}`);
  const same = keys.map(key => dialect.same(`t.${key}`, `g.${key}`)).join(' AND ');
  const groups = `(SELECT DISTINCT ${keys.join(', ')} FROM (${tableSql})) AS g`;
  const from = apart.someGroups ? dialect.join('leftsemi', `(${sql}) AS t`, groups, same) : `(${sql}) AS t`;
  const order = keys.length === 0 ? '' : ` ORDER BY ${keys.map(key => `t.${key} NULLS FIRST`).join(', ')}`;
  return `SELECT t.* FROM ${from}${order}${dialect.limit(String(rows), 0)}`;
}

/** How to compute the totals of one aggregate from its bins: `hidden` columns are stored next to it, `sql` merges the bins. */
interface Merged {
  readonly aggregate: Aggregated;
  readonly hidden: readonly Aggregated[];
  readonly sql: string;
}

function mergeAll(
  aggregates: readonly Aggregated[],
  made: Columns,
  windowSeconds: number,
  { merge }: Dialect,
): Merged[] {
  const hide = (call: AggregateCall): Aggregated => ({ column: made.hidden(call.type), call });
  return aggregates.flatMap(aggregate => mergeOne(aggregate, hide, windowSeconds, merge) ?? []);
}

type Merge = Dialect['merge'];
type Hide = (call: AggregateCall) => Aggregated;

function mergeOne(
  aggregate: Aggregated,
  hide: Hide,
  windowSeconds: number,
  merge: Merge,
): Merged | undefined {
  const { call } = aggregate;
  const own = sqlOf(aggregate);
  const plain = (sql: string): Merged => ({ aggregate, hidden: [], sql });
  switch (call.name) {
    case 'count':
      return plain(merge.count(own));
    case 'sum':
      return plain(merge.sum(own, call.type));
    case 'min':
    case 'max':
      return plain(merge.extreme(call.name, sqlArg(own, call.type)));
    case 'take_any':
      return plain(merge.any(own));
    case 'rate':
      return plain(merge.scaled(own, secondsOf(call) / windowSeconds));
    case 'avg':
      return mergeMean(aggregate, hide, merge);
    case 'arg_max':
    case 'arg_min':
      return mergeExtreme(aggregate, hide, merge);
    default:
      return undefined;
  }
}

/** The mean of a bin replaces its sum, which avoids a second sum over the rows; durations are summed exactly. */
function mergeMean(aggregate: Aggregated, hide: Hide, merge: Merge): Merged | undefined {
  const { call } = aggregate;
  const [value] = call.args;
  if (value === undefined) return undefined;
  const count = hide({ ...call, name: '$values', args: [value], type: 'long' });
  const own = sqlOf(aggregate);
  if (call.type !== 'timespan')
    return { aggregate, hidden: [count], sql: merge.mean(own, sqlOf(count), undefined) };
  const sum = hide({ ...call, name: 'sum', args: [value], type: 'timespan' });
  return { aggregate, hidden: [count, sum], sql: merge.mean(own, sqlOf(count), sqlOf(sum)) };
}

/** The row with the overall extreme is the row with the extreme of its bin. */
function mergeExtreme(aggregate: Aggregated, hide: Hide, merge: Merge): Merged | undefined {
  const { call } = aggregate;
  const by = call.args[1];
  if (by === undefined) return undefined;
  const extreme = hide({
    ...call,
    name: call.name === 'arg_max' ? 'max' : 'min',
    args: [by],
    type: by.type,
  });
  const sql = merge.rowOf(call.name, sqlOf(aggregate), sqlArg(sqlOf(extreme), by.type));
  return { aggregate, hidden: [extreme], sql };
}

function secondsOf(call: AggregateCall): number {
  const seconds = call.args[1];
  return seconds?.kind === 'constant' ? Number(seconds.value) : 1;
}

function sqlOf({ column }: Aggregated): string {
  return `c${column.id}`;
}

function withColumns(aggregate: Aggregate, merged: readonly Merged[]): Aggregate {
  const hidden = merged.flatMap(each => each.hidden);
  return {
    ...aggregate,
    aggregates: [...aggregate.aggregates, ...hidden],
    columns: [...aggregate.columns, ...hidden.map(each => each.column)],
  };
}

function mergedSql(groups: readonly Column[], merged: readonly Merged[], source: string): string {
  const keys = groups.map(group => `c${group.id}`);
  const values = merged.map(each => `${each.sql} AS ${sqlOf(each.aggregate)}`);
  const grouped = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  const select = [...keys, ...values];
  // Without bins there are no groups, not even the one without a key.
  return `SELECT ${select.length === 0 ? '1 AS one' : select.join(', ')} FROM ${source}${grouped} HAVING count(*) > 0`;
}

function selectFields(source: string, fields: readonly string[], filter: ScanFilter | undefined): string {
  const columns = fields.map((field, index) => `${field} AS f${index}`);
  const only = filter === undefined ? '' : ` WHERE ${filter.sql(fields)}`;
  return `SELECT ${columns.length === 0 ? '1 AS f0' : columns.join(', ')} FROM ${source}${only}`;
}

function scanOf(dataset: string, columns: readonly Column[]): Scan {
  return {
    kind: 'scan',
    dataset,
    fields: columns.map(column => `c${column.id}`),
    start: 0n,
    end: 0n,
    columns,
  };
}

/** Returns the projection directly above an aggregate, below sorts and limits; undefined if there is another operator. */
function outputsOf(relation: Relation): Project | undefined {
  switch (relation.kind) {
    case 'sort':
    case 'limit':
    case 'top-groups':
      return outputsOf(relation.input);
    case 'project':
      return relation;
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'filter':
    case 'aggregate':
    case 'topk':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
    case 'neighbors':
    case 'series':
      return undefined;
  }
}

/** Returns whether there is a limit above the projection. */
function isLimited(relation: Relation): boolean {
  if (relation.kind === 'limit' || relation.kind === 'top-groups') return true;
  return relation.kind === 'sort' && isLimited(relation.input);
}

function replaced(relation: Relation, old: Relation, by: Relation): Relation {
  if (relation === old) return by;
  return mapInputs(relation, input => replaced(input, old, by));
}

function readsOnly(value: Computed['value'], known: ReadonlySet<number>): boolean {
  return [...idsIn(value)].every(id => known.has(id));
}

function split<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter(item => !test(item))];
}
