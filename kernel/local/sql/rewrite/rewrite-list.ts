import type { Order } from '../../../api/wire.js';
import type { Column, Columns, Plan, Relation } from '../../../apl/plan/plan.js';
import { present } from '../../../present.js';
import type { RowCountOf, RowGroupsOf } from '../compiled-query.js';
import type { Dialect } from '../dialect.js';
import { type KnownFunctions, withTextElements } from './elements.js';
import { levelled } from './levels.js';
import { orderRows } from './ordering.js';
import { type PlacesOf, placed } from './placed.js';
import { prune } from './prune.js';
import { counted } from './rewrite-counts.js';
import { withSortKeys } from './rewrite-keys.js';
import { withMembers } from './rewrite-members.js';
import { type Page, type PageCursor, pageOf, type SortedRows, sortOf } from './rewrite-pages.js';
import { timesFirst } from './rewrite-times.js';
import { cutShort, readingBack } from './rewrite-windows.js';
import { timeBounded } from './timed.js';
import { type BinnedQuery, takeApart } from './totals.js';

/** A rewritten query, with facts about its rows. */
export interface RewrittenQuery {
  readonly relation: Relation;
  /** The columns of the result; the relation may have more. */
  readonly shown: readonly Column[];
  readonly order: readonly Order[];
  /** Fields in the requested order that the result does not have. */
  readonly unknown: readonly string[];
  readonly sorted?: SortedRows;
  readonly page?: Page;
  readonly apart?: BinnedQuery;
}

/** Input of the query rewrites: the plan, and the options of the request. */
export interface QueryContext {
  readonly plan: Plan;
  readonly defaultOrder: readonly Order[];
  readonly placesOf: PlacesOf;
  readonly cursor?: PageCursor;
  readonly includeCursor: boolean;
  readonly windowSeconds: number;
  readonly dialect: Dialect;
}

type QueryRewrite = (query: RewrittenQuery, context: QueryContext) => RewrittenQuery;

const ofQuery = {
  ordering: (query, { plan, defaultOrder }) => {
    const ordered = orderRows(plan, defaultOrder);
    return { ...query, ...ordered, shown: ordered.relation.columns };
  },
  places: (query, { plan, placesOf }) => ({
    ...query,
    relation: placed(query.relation, placesOf, plan.columns),
  }),
  pages: (query, { plan, cursor, includeCursor }) => {
    const sorted = sortOf(query.relation);
    return { ...query, ...present({ sorted, page: pageOf(sorted, plan, cursor, includeCursor) }) };
  },
  totals: (query, { plan, windowSeconds, dialect }) =>
    query.page === undefined
      ? { ...query, ...present({ apart: takeApart(query.relation, plan, windowSeconds, dialect) }) }
      : query,
} satisfies Record<string, QueryRewrite>;

/** Returns the query of a plan after all rewrites of the whole query, in order. */
export function rewrittenQuery(context: QueryContext): RewrittenQuery {
  const { relation, order } = context.plan;
  const asked: RewrittenQuery = { relation, order, shown: relation.columns, unknown: [] };
  return Object.values<QueryRewrite>(ofQuery).reduce((query, rewrite) => rewrite(query, context), asked);
}

/** Input of the statement rewrites besides the relation. */
export interface RewriteContext {
  readonly now: bigint;
  readonly columns: Columns;
  readonly rowGroups: RowGroupsOf;
  readonly rowCount: RowCountOf;
  readonly functions: KnownFunctions;
  /** Whether the engine's stages preserve their order. */
  readonly keepsOrder: boolean;
}

type Rewrite = (relation: Relation, context: RewriteContext) => Relation;

const ofStatement = {
  keys: (relation, { keepsOrder }) => (keepsOrder ? relation : withSortKeys(relation)),
  prune: (relation, { columns }) => prune(relation, columns),
  bounds: (relation, { now }) => timeBounded(relation, now),
  counts: (relation, { rowCount }) => counted(relation, rowCount),
  limits: (relation, { rowGroups, now }) => cutShort(relation, rowGroups, now),
  elements: (relation, { functions, columns }) => withTextElements(relation, functions, columns),
  members: (relation, { keepsOrder, columns }) => (keepsOrder ? withMembers(relation, columns) : relation),
  levels: (relation, { columns }) => levelled(relation, columns),
} satisfies Record<string, Rewrite>;

/** Every rewrite by name, in order: those of the whole query, then those that split it into statements, then those of each statement. */
export const rewrites = {
  ...ofQuery,
  windows: readingBack,
  times: timesFirst,
  ...ofStatement,
};

/**
 * The rewrites of a statement, in order, so that it reads only the rows and columns it needs, in expressions that are not too deep. Pruning
 * comes first to keep unused columns of a wide dataset out of the rest, and again last because the rest adds columns.
 */
const inOrder = [
  ...(['keys', 'prune', 'bounds', 'counts', 'limits', 'elements', 'members', 'levels', 'prune'] as const),
];

/** Returns the relation of a statement after all of its rewrites. */
export function rewritten(relation: Relation, context: RewriteContext): Relation {
  return inOrder.reduce((at: Relation, name) => ofStatement[name](at, context), relation);
}
