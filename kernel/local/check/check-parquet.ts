import { sqlName, sqlText } from '../duckdb/duckdb-literal.js';
import type { Engine } from '../engine/duckdb.js';
import { engineWords } from '../engine/engine-failure.js';

/** Types whose statistics follow the order of the values. String statistics may hold only the first characters. */
const ordered = /^(?:U?(?:TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DATE|TIMESTAMP(?:_NS|_MS|_S)?)$/;

/**
 * Reads every value of a Parquet file and returns how they contradict the footer, worded as in "it {reason}": queries prune by the footer
 * alone.
 */
export async function valuesDamage(engine: Engine, file: string): Promise<string | undefined> {
  try {
    return await compared(engine, file);
  } catch (error) {
    if (engineWords(error) === undefined) throw error;
    return 'is damaged: its values are unreadable';
  }
}

async function compared(engine: Engine, file: string): Promise<string | undefined> {
  const path = sqlText(file);
  return engine.withConnection(async connection => {
    const [[rows] = []] = await connection.run(`SELECT num_rows FROM parquet_file_metadata(${path})`);
    const described = await connection.run(`DESCRIBE SELECT * FROM read_parquet(${path})`);
    const columns = described.filter(([, type]) => ordered.test(String(type)));
    // The hash of whole rows keeps the engine from answering the other columns from the statistics.
    const values = columns.map(([column, type]) => outside(path, String(column), String(type)));
    const [[, counted, ...wrong] = []] = await connection.run(
      `SELECT bit_xor(hash(r)), count(*)${values.map(each => `, ${each}`).join('')} FROM read_parquet(${path}) AS r`,
    );
    if (counted !== rows) return `is damaged: it has ${counted} rows, but its footer says ${rows}`;
    const column = columns[wrong.indexOf(true)]?.[0];
    return column === undefined
      ? undefined
      : `is damaged: values in its column ${column} do not match their statistics`;
  });
}

/** Returns SQL for whether a value lies outside the statistics of all row groups or the null count differs; null without statistics. */
function outside(path: string, column: string, type: string): string {
  const name = sqlName(column);
  const isReal = type === 'FLOAT' || type === 'DOUBLE';
  const numbers = isReal ? ` FILTER (NOT isnan(${name}))` : '';
  const stat = (expression: string) =>
    `(SELECT ${expression} FROM parquet_metadata(${path}) WHERE path_in_schema = ${sqlText(column)})`;
  return [
    `(coalesce(min(${name})${numbers} < ${stat(`min(stats_min_value::${type})`)}, false)`,
    `OR coalesce(max(${name})${numbers} > ${stat(`max(stats_max_value::${type})`)}, false)`,
    `OR coalesce(count(*) - count(${name}) <> ${stat('sum(stats_null_count)')}, false))`,
  ].join(' ');
}
