import type { Columns, Relation } from '../../../apl/plan/plan.js';
import type { RowGroupsOf } from '../compiled.js';
import { type IsTextList, withTextElements } from './elements.js';
import { levelled } from './levels.js';
import { orderRows } from './ordering.js';
import { pageOf } from './pages.js';
import { placed } from './placed.js';
import { prune } from './prune.js';
import { timeBounded } from './timed.js';
import { takeApart } from './totals.js';
import { cutShort, readingBack } from './windows.js';

/** What the rewrites of a statement know besides its relation. */
export interface RewriteContext {
  readonly now: bigint;
  readonly columns: Columns;
  readonly rowGroups: RowGroupsOf;
  readonly isTextList: IsTextList;
}

type Rewrite = (relation: Relation, context: RewriteContext) => Relation;

const ofStatement = {
  prune: (relation, { columns }) => prune(relation, columns),
  bounds: (relation, { now }) => timeBounded(relation, now),
  limits: (relation, { rowGroups, now }) => cutShort(relation, rowGroups, now),
  elements: (relation, { isTextList, columns }) => withTextElements(relation, isTextList, columns),
  levels: (relation, { columns }) => levelled(relation, columns),
} satisfies Record<string, Rewrite>;

/** Every rewrite by its name, in order: first of the whole query, then what makes several statements of it, then of each statement. */
export const rewrites = {
  ordering: orderRows,
  places: placed,
  pages: pageOf,
  totals: takeApart,
  windows: readingBack,
  ...ofStatement,
};

/**
 * The rewrites of a statement, in order: it reads no more rows and columns than it needs, in expressions that are not too deep.
 * Pruned first, so that the columns of a wide dataset that nothing reads do not pass through the rest, and last, as the rest makes
 * columns.
 */
const inOrder = ['prune', 'bounds', 'limits', 'elements', 'levels', 'prune'] as const;

/** Returns the relation of a statement after all of its rewrites. */
export function rewritten(relation: Relation, context: RewriteContext): Relation {
  return inOrder.reduce((at: Relation, name) => ofStatement[name](at, context), relation);
}
