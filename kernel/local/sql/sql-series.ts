import type { Relation } from '../../apl/plan/plan.js';
import type { SeriesParts } from './dialect.js';
import { aggregatesSql, argument, type ExpressionContext, expressionSql } from './sql-expression.js';

type Series = Extract<Relation, { kind: 'series' }>;

/** Returns the parts of a `make-series` over a stage. */
export function seriesParts(relation: Series, context: ExpressionContext, input: string): SeriesParts {
  const calls = relation.aggregates.map(({ call }) => call);
  const written = aggregatesSql(calls, context, '');
  return {
    input,
    axis: argument(relation.axis, context),
    start: integer(relation.start),
    stop: integer(relation.stop),
    step: integer(relation.step),
    keys: relation.keys.map(key => ({
      name: `c${key.column.id}`,
      sql: expressionSql(key.value, context),
    })),
    aggregates: relation.aggregates.map((item, index) => ({
      name: `c${item.column.id}`,
      sql: written[index] ?? '',
      type: item.call.type,
      fallback: argument(item.fallback, context),
      output: `c${item.output.id}`,
    })),
    time: `c${relation.time.id}`,
  };
}

function integer(value: Series['start']): bigint {
  return value.kind === 'constant' && typeof value.value === 'bigint' ? value.value : 0n;
}
