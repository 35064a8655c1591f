import { own } from '../../present.js';
import { operatorWords } from '../operators/rows.js';
import type { Relation } from '../plan/plan.js';
import { inputsOf } from '../plan/walk.js';
import type { Operator, Pipeline } from '../syntax/ast.js';
import { limits } from '../syntax/limits.js';
import { nearest } from '../syntax/nearest.js';
import type { Binder } from './binder.js';
import { operatorBinders } from './operators.js';
import { bindSource } from './source.js';
import { freshStage, type Stage } from './stage.js';

/** Binds a source and its operators. */
export function bindPipeline(binder: Binder, pipeline: Pipeline): Stage {
  if (!binder.enter(pipeline, weightOfPipeline)) return emptyStage();
  let stage = bindSource(binder, pipeline.source);
  for (const operator of pipeline.operators) {
    stage = bindOperator(binder, operator, stage);
    if (depthOf(stage.relation) <= mostRelations) continue;
    binder.limit(operator, limits.stages);
    return { ...stage, open: true };
  }
  return stage;
}

/** The part of the bound of nodes that a pipeline takes up, each time that a `let` table is used. */
const weightOfPipeline = { levels: 0, nodes: 10 };

function emptyStage(): Stage {
  return freshStage({ kind: 'values', rows: [], columns: [] }, true);
}

/** An operator becomes one to three relations. */
const mostRelations = limits.stages.most * 2;
const depths = new WeakMap<Relation, number>();

/** How many relations follow each other; known depths are remembered, as every stage asks. */
function depthOf(relation: Relation): number {
  const known = depths.get(relation);
  if (known !== undefined) return known;
  const depth = 1 + Math.max(0, ...inputsOf(relation).map(depthOf));
  depths.set(relation, depth);
  return depth;
}

function bindOperator(binder: Binder, operator: Operator, stage: Stage): Stage {
  if (operator.kind !== 'unknown') {
    // The kind chooses the function that takes this node; the type of the table says so for each kind separately.
    const bindNode = operatorBinders[operator.kind] as (b: Binder, o: Operator, s: Stage) => Stage;
    return bindNode(binder, operator, stage);
  }
  const word = binder.text(operator.word);
  if (word === '') return stage;
  const foreign = own(foreignOperators, word);
  if (foreign !== undefined) {
    binder.error('unknown-operator', operator.word, `APL has no operator \`${word}\``, foreign);
  } else {
    const guess = nearest(word, operatorWords);
    binder.error(
      'unknown-operator',
      operator.word,
      `unknown operator \`${word}\``,
      guess === undefined ? 'The operators are listed by `%help operators`.' : `Did you mean \`${guess}\`?`,
      guess,
    );
  }
  return stage;
}

const noGraphs = 'Graphs do not exist in APL: write `| join`.';
const joins = 'Write `| join kind=leftouter (T) on field`.';
const skipping =
  'Rows cannot be skipped: narrow the time range, or write `| where _time < …` with the last time seen.';
const expanding = 'Write `| mv-expand x`.';
const metrics = 'This is MPL, the language of metrics; APL reads events.';

/** Operators from Kusto and other languages, with their equivalents. */
const foreignOperators: Readonly<Record<string, string>> = {
  evaluate: 'Plugins do not exist in APL.',
  invoke: 'Functions of tables do not exist in APL: write the operators themselves.',
  facet: 'Write one `| summarize count() by field` for each field.',
  partition: 'Write `| summarize … by field`; `arg_max(x, *)` keeps one row of each group.',
  scan: 'Rows do not see each other in APL: write `| summarize make_list(x) by …` and functions of arrays.',
  'top-hitters': 'Write `| summarize topk(field, N)`.',
  reduce: 'Write `| summarize count() by field`, or `phrases(field, N)` for texts.',
  'make-graph': noGraphs,
  'graph-match': noGraphs,
  'graph-shortest-paths': noGraphs,
  'graph-to-table': noGraphs,
  consume: 'Write `| count`.',
  left: joins,
  right: joins,
  inner: joins,
  full: joins,
  dedup: 'Write `| distinct field`, or `| summarize arg_max(_time, *) by field`.',
  rex: 'Write `| extend x = extract(…)` or `| parse … with …`.',
  table: 'Write `| project …`.',
  timechart: 'Write `| summarize … by bin_auto(_time)`.',
  chart: 'Write `| summarize … by …`.',
  eventstats: 'Write `| join (… | summarize …) on …`.',
  spath: 'Write `| extend x = parse_json(field)`.',
  align: metrics,
  bucket: metrics,
  map: metrics,
  compute: metrics,
  serialize: 'Rows keep the order of `sort` by themselves.',
  'sample-distinct': 'Write `| distinct field | limit N`.',
  'top-nested': 'Write `| summarize topk(field, N) by …`.',
  'mv-apply': 'Write `| mv-expand`, then the operators.',
  fork: 'Write two queries in two cells.',
  as: 'Name a query with `let name = …;`, or a result with `name << query`.',
  find: 'Write `| search …`.',
  select: 'Write `| project …`.',
  stats: 'Write `| summarize … by …`.',
  group: 'Write `| summarize … by …`.',
  eval: 'Write `| extend …`.',
  head: 'Write `| limit N`.',
  tail: 'Write `| sort by _time desc | limit N`.',
  having: 'Write `| where …` after the summarize.',
  rename: 'Write `| project-rename new = old`.',
  fields: 'Write `| project …`.',
  offset: skipping,
  skip: skipping,
  flatten: expanding,
  explode: expanding,
  unnest: expanding,
  fillnull: 'Write `| extend x = coalesce(x, value)`.',
  regex: 'Write `| where x matches regex pattern`, or `| extend y = extract(pattern, 1, x)`.',
  rare: 'Write `| summarize count() by field | sort by count_ asc`.',
  transaction: 'Write `| summarize min(_time), max(_time), count() by field`.',
};
