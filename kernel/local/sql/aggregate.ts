import type { AggregateCall } from '../../apl/plan/plan.js';
import { argument, type ExpressionContext, expressionSql } from './expression.js';
import { located } from './template.js';

/** Returns an aggregate as SQL. `order` is the ORDER BY of the rows, for aggregates whose result depends on it. */
export function aggregateSql(call: AggregateCall, context: ExpressionContext, order: string): string {
  const filter = call.filter === undefined ? undefined : expressionSql(call.filter, context, true);
  const args = call.args.map(item => argument(item, context));
  return located(call.at, () => context.dialect.aggregate({ call, args, filter, order }));
}
