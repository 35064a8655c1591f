import type { Dialect } from '../sql/dialect.js';
import { aggregateSql, merge } from './aggregates.js';
import { bytesOf, growthFactor } from './bounds/lengths.js';
import {
  arithmetic,
  array,
  between,
  callSql,
  compare,
  element,
  listTest,
  literal,
  map,
  negate,
  path,
  queryTest,
  withoutNaN,
} from './expressions.js';
import { externalSql } from './external.js';
import { convert } from './functions/conversion.js';
import { textListOf } from './functions/lists.js';
import { expandSql, firstOfEach, joinSql, orderKey, sequenceSql, stageSql, valuesSql } from './relations.js';
import { seriesSql } from './series-grid.js';
import { textTest } from './text-test.js';

/** DuckDB's SQL. */
export const duckdb: Dialect = {
  literal,
  convert,
  call: callSql,
  bytes: bytesOf,
  growthFactor,
  textListOf,
  compare,
  between,
  arithmetic,
  negate,
  textTest,
  listTest,
  queryTest,
  path,
  element,
  array,
  map,
  aggregate: aggregateSql,
  withoutNaN,
  merge,
  stage: stageSql,
  orderKey,
  same: (left, right) => `${left} IS NOT DISTINCT FROM ${right}`,
  join: joinSql,
  values: valuesSql,
  sequence: sequenceSql,
  sample: proportion => `random() < ${proportion}`,
  firstOfEach,
  expand: expandSql,
  series: seriesSql,
  external: externalSql,
  temporary: table => `temp.${table}`,
};
