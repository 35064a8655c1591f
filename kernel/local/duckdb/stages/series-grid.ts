import type { TypeName } from '../../../apl/catalog/entry.js';
import type { AddStage, SeriesParts } from '../../sql/dialect.js';
import { type SqlArg, sqlArg } from '../../sql/sql-template.js';
import { sqlText, timeBound } from '../duckdb-literal.js';
import { convert, toDynamic } from '../functions/duckdb-conversion.js';

/**
 * Returns `make-series`: aggregates by group and step number, then the arrays of each group, sorted once and assembled as JSON text: the
 * default once per preceding step without rows, then a value. The cost grows with the steps that have rows.
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
  const members = ['step', ...parts.aggregates.map(({ name }) => name)].map(
    name => `${sqlText(name)}: ${name}`,
  );
  // Sorting a list takes a third of the time of sorting rows for each group.
  const filled = stage(
    `SELECT ${[...keys, `list_sort(list({${members.join(', ')}})) AS filled`].join(', ')} FROM ${grouped}${
      keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`
    }`,
  );
  const arrays = parts.aggregates.map(item => `${arraySql(item, steps)} AS ${item.output}`);
  return `SELECT ${[...keys, ...arrays, `${timesSql(parts, steps)} AS ${parts.time}`].join(', ')} FROM ${filled}`;
}

/** Returns one array as JSON, with only defaults if there are no rows. */
function arraySql({ name, type, fallback }: SeriesParts['aggregates'][number], steps: bigint): string {
  const value = `',' || ${jsonText(toDynamic(sqlArg(`e.${name}`, type)))}`;
  const other = `',' || ${jsonText(defaultJson(fallback, type))}`;
  const before = `repeat(${other}, e.step - coalesce(filled[i - 1].step, -1) - 1)`;
  const text = `array_to_string(list_transform(filled, lambda e, i: ${before} || ${value}), '')`;
  return arrayOf(
    `coalesce(${text} || repeat(${other}, ${steps} - 1 - filled[-1].step), repeat(${other}, ${steps}))`,
  );
}

/** A default has the type of its aggregate; for times it may be anything. */
function defaultJson(fallback: SqlArg, type: TypeName): string {
  return toDynamic(type === 'datetime' ? fallback : sqlArg(convert(fallback, type), type));
}

/** Builds the times once, since they are the same for every group. */
function timesSql({ axis, start, step }: SeriesParts, steps: bigint): string {
  const at = `${start} + n.step * ${step}`;
  const shown = axis.type === 'datetime' ? `apl_time_text(make_timestamp_ns(${at}))` : at;
  return `(SELECT to_json(coalesce(list(${shown} ORDER BY n.step), [])) FROM range(0, ${steps}) n(step))`;
}

function jsonText(json: string): string {
  return `coalesce((${json})::VARCHAR, 'null')`;
}

/** Returns an array from elements that are each preceded by a comma. */
function arrayOf(elements: string): string {
  return `('[' || substr(${elements}, 2) || ']')::JSON`;
}
