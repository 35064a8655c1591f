import type { Computed, Relation } from '../../apl/plan/plan.js';
import { convert, toDynamic } from '../duckdb/functions/conversion.js';
import { aggregateSql } from './aggregate.js';
import { argument, type ExpressionContext } from './expression.js';

type Series = Extract<Relation, { kind: 'series' }>;

/** What writing a series asks of the run of writing that it is part of. */
interface Writer {
  readonly context: ExpressionContext;
  write(relation: Relation): string;
  stage(body: string, materialized?: boolean): string;
  expression(value: Computed['value']): string;
  computed(item: Computed): string;
}

/**
 * Writes `make-series`: aggregates by group and step number, then joins them to a full grid of groups and steps, so that
 * every step has a value, and gathers each group's steps into arrays.
 */
export function seriesSql(writer: Writer, relation: Series): string {
  const [start, stop, step] = [relation.start, relation.stop, relation.step].map(integer) as [
    bigint,
    bigint,
    bigint,
  ];
  const isTime = relation.axis.type === 'datetime';
  const axis = isTime ? `epoch_ns(${writer.expression(relation.axis)})` : writer.expression(relation.axis);
  const input = writer.write(relation.input);
  const keys = relation.keys.map(key => `c${key.column.id}`);
  const aggregates = relation.aggregates.map(
    item => `${aggregateSql(item.call, writer.context, '')} AS c${item.column.id}`,
  );
  const selected = [
    ...relation.keys.map(key => writer.computed(key)),
    `(${axis} - ${start}) // ${step} AS step`,
    ...aggregates,
  ];
  const grouped = writer.stage(
    `SELECT ${selected.join(', ')} FROM ${input} WHERE ${axis} >= ${start} AND ${axis} < ${stop} GROUP BY ${[...keys, 'step'].map((_, index) => index + 1).join(', ')}`,
    true,
  );
  const steps = step > 0n && stop > start ? (stop - start + step - 1n) / step : 0n;
  const groups =
    keys.length === 0 ? '(SELECT 1 AS one)' : `(SELECT DISTINCT ${keys.join(', ')} FROM ${grouped})`;
  const same = ['g.step = n.step', ...keys.map(key => `g.${key} IS NOT DISTINCT FROM k.${key}`)].join(
    ' AND ',
  );
  const grid = `${groups} k CROSS JOIN (SELECT range AS step FROM range(0, ${steps})) n LEFT JOIN ${grouped} g ON ${same}`;
  const arrays = relation.aggregates.map(
    item => `to_json(list(${filled(writer, item)} ORDER BY n.step)) AS c${item.output.id}`,
  );
  const at = `${start} + n.step * ${step}`;
  const time = `to_json(list(${isTime ? `apl_time_text(make_timestamp_ns(${at}))` : at} ORDER BY n.step)) AS c${relation.time.id}`;
  const output = [...keys.map(key => `k.${key}`), ...arrays, time].join(', ');
  return `SELECT ${output} FROM ${grid}${keys.length === 0 ? '' : ` GROUP BY ${keys.map(key => `k.${key}`).join(', ')}`}`;
}

function integer(value: Series['start']): bigint {
  return value.kind === 'constant' && typeof value.value === 'bigint' ? value.value : 0n;
}

/** The aggregate of a step, or the default where the step has no rows. */
function filled(writer: Writer, item: Series['aggregates'][number]): string {
  const { call, column, fallback } = item;
  const value = `g.c${column.id}`;
  const json =
    call.type === 'dynamic' || call.type === 'datetime' ? toDynamic({ sql: value, type: call.type }) : value;
  if (fallback.kind === 'constant' && fallback.value === null) return json;
  const given = argument(fallback, writer.context);
  const other =
    call.type === 'dynamic' || call.type === 'datetime' ? toDynamic(given) : convert(given, call.type);
  return `CASE WHEN g.step IS NULL THEN ${other} ELSE ${json} END`;
}
