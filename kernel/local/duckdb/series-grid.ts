import type { AddStage, SeriesParts } from '../sql/dialect.js';
import { convert, toDynamic } from './functions/conversion.js';
import { timeBound } from './literal.js';

/**
 * Returns `make-series`: aggregates by group and step number, joined to a full grid of groups and steps, so that every step
 * has a value, each group's steps gathered into arrays.
 */
export function seriesSql(parts: SeriesParts, stage: AddStage): string {
  const { axis, start, stop, step } = parts;
  const at = axis.type === 'datetime' ? `epoch_ns(${axis.sql})` : axis.sql;
  const keys = parts.keys.map(key => key.name);
  const selected = [
    ...parts.keys.map(key => `${key.sql} AS ${key.name}`),
    `(${at} - ${start}) // ${step} AS step`,
    ...parts.aggregates.map(item => `${item.sql} AS ${item.name}`),
  ];
  const groupBy = [...keys, 'step'].map((_, index) => index + 1).join(', ');
  const bounds = (['>=', '<'] as const).map(operator => {
    const bound = operator === '<' ? stop : start;
    return axis.type === 'datetime' ? timeBound(axis.sql, operator, bound) : `${at} ${operator} ${bound}`;
  });
  const grouped = stage(
    `SELECT ${selected.join(', ')} FROM ${parts.input} WHERE ${bounds.join(' AND ')} GROUP BY ${groupBy}`,
    true,
  );
  const arrays = parts.aggregates.map(
    item => `to_json(list(${filled(item)} ORDER BY n.step)) AS ${item.output}`,
  );
  const output = [...keys.map(key => `k.${key}`), ...arrays, timesSql(parts)].join(', ');
  const gathered = keys.length === 0 ? '' : ` GROUP BY ${keys.map(key => `k.${key}`).join(', ')}`;
  return `SELECT ${output} FROM ${gridSql(parts, grouped, keys)}${gathered}`;
}

/** Every group with every step, joined to the aggregates of those that have rows. */
function gridSql({ start, stop, step }: SeriesParts, grouped: string, keys: readonly string[]): string {
  const steps = step > 0n && stop > start ? (stop - start + step - 1n) / step : 0n;
  const groups =
    keys.length === 0 ? '(SELECT 1 AS one)' : `(SELECT DISTINCT ${keys.join(', ')} FROM ${grouped})`;
  const same = ['g.step = n.step', ...keys.map(key => `g.${key} IS NOT DISTINCT FROM k.${key}`)];
  const numbers = `(SELECT range AS step FROM range(0, ${steps}))`;
  return `${groups} k CROSS JOIN ${numbers} n LEFT JOIN ${grouped} g ON ${same.join(' AND ')}`;
}

function timesSql({ axis, start, step, time }: SeriesParts): string {
  const at = `${start} + n.step * ${step}`;
  const shown = axis.type === 'datetime' ? `apl_time_text(make_timestamp_ns(${at}))` : at;
  return `to_json(list(${shown} ORDER BY n.step)) AS ${time}`;
}

/** The aggregate of a step, or the default where the step has no rows. */
function filled({ name, type, fallback }: SeriesParts['aggregates'][number]): string {
  const isJson = type === 'dynamic' || type === 'datetime';
  const value = `g.${name}`;
  const json = isJson ? toDynamic({ sql: value, type }) : value;
  if (fallback.constant === null) return json;
  const other = isJson ? toDynamic(fallback) : convert(fallback, type);
  return `CASE WHEN g.step IS NULL THEN ${other} ELSE ${json} END`;
}
