import { operatorWords } from '../operators/rows.js';
import type { Operator, Pipeline } from '../syntax/ast.js';
import { nearest } from '../syntax/nearest.js';
import type { Binder } from './binder.js';
import { operatorBinders } from './operators.js';
import { bindSource } from './source.js';
import type { Stage } from './stage.js';

/** Binds a source and its operators. */
export function bindPipeline(binder: Binder, pipeline: Pipeline): Stage {
  let stage = bindSource(binder, pipeline.source);
  for (const operator of pipeline.operators) stage = bindOperator(binder, operator, stage);
  return stage;
}

function bindOperator(binder: Binder, operator: Operator, stage: Stage): Stage {
  if (operator.kind !== 'unknown') {
    // The kind chooses the function that takes this node; the type of the table says so for each kind by itself.
    const bindNode = operatorBinders[operator.kind] as (b: Binder, o: Operator, s: Stage) => Stage;
    return bindNode(binder, operator, stage);
  }
  const word = binder.text(operator.word);
  if (word === '') return stage;
  const foreign = foreignOperators[word];
  if (foreign !== undefined) {
    binder.error('unknown-operator', operator.word, `APL has no operator \`${word}\``, foreign);
  } else {
    const guess = nearest(word, operatorWords);
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
