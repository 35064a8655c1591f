import type { AddStage, HistogramParts } from '../../sql/dialect.js';
import type { SqlArg } from '../../sql/sql-template.js';
import { bucketCount } from '../duckdb-aggregates.js';
import { isCheap } from '../duckdb-arguments.js';
import { sqlText } from '../duckdb-literal.js';

/** Keys with longer SQL are computed once. */
const longestKey = 200;
const largest = `${sqlText(String(Number.MAX_VALUE))}::DOUBLE`;

/**
 * Returns a histogram as a SELECT of its keys and `value`: the bounds of each group first, then the row count of each bucket, without a
 * list of all values. Rows in files are read twice, others are stored.
 */
export function histogramStagesSql(parts: HistogramParts, stage: AddStage): string {
  const { args, filter, input, computed, keys } = parts;
  const [value, count] = args as readonly [SqlArg, SqlArg];
  const known =
    value.type === 'real' && value.mayBeNaN !== false
      ? `${value.sql} BETWEEN -${largest} AND ${largest}`
      : `${value.sql} IS NOT NULL`;
  const isCounted = [known, ...(filter === undefined ? [] : [filter])].join(' AND ');
  const isStored =
    computed || !isCheap(value) || keys.some(({ arg }) => !isCheap(arg, { longest: longestKey }));
  const x = `${value.sql}::DOUBLE`;
  if (keys.length === 0) {
    // As a range, the engine applies it while reading; NaN lies above it.
    const values = stage(`SELECT ${x} AS x FROM ${input} WHERE ${isCounted}`, isStored);
    return ofAllRows(values, bucketCount(count), stage);
  }
  const items = keys.map(({ name, arg }) => `${arg.sql} AS ${name}`).join(', ');
  // A group without numbers still counts.
  const values = stage(`SELECT ${items}, CASE WHEN ${isCounted} THEN ${x} END AS x FROM ${input}`, isStored);
  return ofGroups(
    values,
    keys.map(key => key.name),
    bucketCount(count),
    stage,
  );
}

function ofAllRows(values: string, n: string, stage: AddStage): string {
  // The engine's buckets include the upper end but not the lower one, so the buckets of -x are used.
  const bounds = stage(
    `SELECT min(x) AS lo, max(x) AS hi, apl_bucket_width(lo, hi, ${n}) AS width, list_transform(range(${n}), lambda i: -(lo + i * width)) AS ends FROM ${values}`,
    true,
  );
  const found = stage(`SELECT unnest(map_entries(histogram(-x, ends))) AS e FROM ${values}, ${bounds}`);
  const counts = stage(
    `SELECT apl_bucket(-e.key, lo, width, ${n}) AS bucket, sum(e.value) AS n FROM ${found}, ${bounds} GROUP BY 1`,
  );
  const all = stage(`SELECT map(list(bucket), list(n)) AS counts FROM ${counts}`);
  return `SELECT apl_buckets(lo, hi, ${n}, counts) AS value FROM ${bounds}, ${all}`;
}

function ofGroups(values: string, keys: readonly string[], n: string, stage: AddStage): string {
  const names = keys.join(', ');
  const extremes = stage(`SELECT ${names}, min(x) AS lo, max(x) AS hi FROM ${values} GROUP BY ${names}`);
  const bounds = stage(
    `SELECT *, apl_bucket_width(lo, hi, ${n}) AS width, row_number() OVER () AS place FROM ${extremes}`,
    true,
  );
  // A join might hash the rows instead of the groups, whose number the engine cannot know; a scalar subquery does not.
  const same = keys.map(key => `b.${key} IS NOT DISTINCT FROM ${values}.${key}`).join(' AND ');
  const placed = stage(
    `SELECT x, (SELECT struct_pack(place, lo, width) FROM ${bounds} AS b WHERE ${same}) AS g FROM ${values}`,
  );
  // count(x) skips rows without a number.
  const counts = stage(
    `SELECT g.place AS place, apl_bucket(x, g.lo, g.width, ${n}) AS bucket, count(x) AS n FROM ${placed} GROUP BY 1, 2`,
  );
  const all = stage(`SELECT place, map(list(bucket), list(n)) AS counts FROM ${counts} GROUP BY 1`);
  return `SELECT ${names}, apl_buckets(lo, hi, ${n}, counts) AS value FROM ${bounds} JOIN ${all} USING (place)`;
}
