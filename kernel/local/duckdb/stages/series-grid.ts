import type { TypeName } from '../../../apl/catalog/entry.js';
import type { AddStage, SeriesParts } from '../../sql/dialect.js';
import { type SqlArg, sqlArg } from '../../sql/template.js';
import { convert, toDynamic } from '../functions/conversion.js';
import { timeBound } from '../literal.js';

/**
 * Returns `make-series`: aggregates by group and step number, and from those of each group its arrays, as JSON that is put together
 * in order: a value, then the default as often as steps without rows follow. So the work grows with the steps that have rows.
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
  );
  const steps = step > 0n && stop > start ? (stop - start + step - 1n) / step : 0n;
  const partition = keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')} `;
  const others = parts.aggregates.map(({ name }) => name);
  const placed = stage(
    `SELECT ${[...keys, ...others, 'step'].join(', ')}, lag(step) OVER w IS NULL AS first, coalesce(lead(step) OVER w, ${steps}) - step - 1 AS gap
     FROM ${grouped} WINDOW w AS (${partition}ORDER BY step)`,
  );
  const arrays = parts.aggregates.map(item => `${arraySql(item, steps)} AS ${item.output}`);
  const output = [...keys, ...arrays, `${timesSql(parts, steps)} AS ${parts.time}`].join(', ');
  return `SELECT ${output} FROM ${placed}${keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`}`;
}

/** One array as JSON; of defaults alone if there are no rows. */
function arraySql({ name, type, fallback }: SeriesParts['aggregates'][number], steps: bigint): string {
  const value = `',' || ${jsonText(toDynamic(sqlArg(name, type)))}`;
  const other = `',' || ${jsonText(defaultJson(fallback, type))}`;
  const before = `CASE WHEN first THEN repeat(${other}, step) ELSE '' END`;
  const text = `string_agg(${before} || ${value} || repeat(${other}, gap), '' ORDER BY step)`;
  return arrayOf(`coalesce(${text}, repeat(${other}, ${steps}))`);
}

/** A default has the type of its aggregate; of times it may be anything. */
function defaultJson(fallback: SqlArg, type: TypeName): string {
  return toDynamic(type === 'datetime' ? fallback : sqlArg(convert(fallback, type), type));
}

/** The times are the same for each group: made once. */
function timesSql({ axis, start, step }: SeriesParts, steps: bigint): string {
  const at = `${start} + n.step * ${step}`;
  const shown = axis.type === 'datetime' ? `apl_time_text(make_timestamp_ns(${at}))` : at;
  return `(SELECT to_json(coalesce(list(${shown} ORDER BY n.step), [])) FROM range(0, ${steps}) n(step))`;
}

function jsonText(json: string): string {
  return `coalesce((${json})::VARCHAR, 'null')`;
}

/** Elements with a comma before each. */
function arrayOf(elements: string): string {
  return `('[' || substr(${elements}, 2) || ']')::JSON`;
}
