import type { Dialect } from '../sql/dialect.js';
import { standard } from '../sql/standard.js';
import { bytesOf, growthFactor } from './bounds/lengths.js';
import { aggregateSql, merge } from './duckdb-aggregates.js';
import {
  arithmetic,
  array,
  between,
  callSql,
  compare,
  element,
  listTest,
  literal,
  lookedFor,
  map,
  negate,
  path,
  paths,
  pathText,
  queryTest,
  rawPath,
  withoutNaN,
  writtenPath,
} from './duckdb-expressions.js';
import { externalSql } from './duckdb-external.js';
import {
  expandSql,
  firstOfEach,
  isStreamed,
  joinSql,
  neighborSql,
  orderKey,
  sequenceSql,
  stageSql,
} from './duckdb-relations.js';
import { convert } from './functions/duckdb-conversion.js';
import { composedText, textListOf } from './functions/duckdb-lists.js';
import { histogramStagesSql } from './stages/duckdb-histogram.js';
import { spotlightSql } from './stages/duckdb-spotlight.js';
import { seriesSql } from './stages/series-grid.js';
import { textTest } from './text-test.js';

/** DuckDB's overrides of the standard SQL; its functions are macros of the connection. */
export const duckdb: Dialect = {
  ...standard,
  literal,
  convert,
  call: callSql,
  bytes: bytesOf,
  growthFactor,
  textLists: { of: textListOf, element: (list, index) => `${list}[${index + 1n}]` },
  compare,
  between,
  arithmetic,
  negate,
  textTest,
  listTest,
  queryTest,
  path,
  paths,
  pathText,
  rawPath,
  writtenPath,
  documents: new Set(['parse_json', 'todynamic']),
  composedText,
  element,
  array,
  map,
  aggregate: aggregateSql,
  histogram: histogramStagesSql,
  withoutNaN,
  merge,
  stage: stageSql,
  keepsOrder: true,
  nothing: items => `SELECT ${items} WHERE false`,
  limit: (count, skip) => ` LIMIT ${count}${skip === 0 ? '' : ` OFFSET ${skip}`}`,
  // The engine finds the common type.
  unionItem: ({ sql }) => sql,
  orderKey,
  joinKey: lookedFor,
  join: joinSql,
  sequence: sequenceSql,
  sample: proportion => `random() < ${proportion}`,
  firstOfEach,
  expand: expandSql,
  isStreamed,
  neighbor: neighborSql,
  series: seriesSql,
  spotlight: spotlightSql,
  external: externalSql,
  temporary: table => `temp.${table}`,
};
