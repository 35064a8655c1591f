import type { Dialect } from '../sql/dialect.js';
import { standard } from '../sql/standard.js';
import { aggregateSql, type Estimates, merge } from './trino-aggregates.js';
import {
  arithmetic,
  array,
  compare,
  elementAt,
  joinKey,
  listTest,
  map,
  negate,
  path,
  pathText,
  queryTest,
  textTest,
} from './trino-expressions.js';
import { callSql } from './trino-functions.js';
import { expandSql, limitSql, neighborSql, orderKey, sequenceSql, seriesSql } from './trino-relations.js';
import { convert, literal, notHere, sqlTypes, withoutNaN } from './trino-values.js';

const refuse = (what: string) => (): never => notHere(`\`${what}\``);

/** Returns Trino's overrides of the standard SQL; its reader prepends the functions that a statement calls. */
export function trino(estimates: Estimates): Dialect {
  return {
    ...standard,
    literal,
    convert,
    call: callSql,
    bytes: ({ sql, type }) =>
      type === 'string' || type === 'dynamic' ? `coalesce(length(to_utf8(${sql})), 0)` : '8',
    compare,
    arithmetic,
    negate,
    textTest,
    listTest,
    queryTest,
    path,
    pathText,
    rawPath: path,
    writtenPath: pathText,
    element: elementAt,
    array,
    map,
    aggregate: aggregateSql(estimates),
    withoutNaN,
    merge,
    joinKey,
    limit: limitSql,
    unionItem: ({ sql, type }) => `CAST(${sql} AS ${sqlTypes[type]})`,
    orderKey,
    // Rows of VALUES cannot contain queries.
    values: (rows, columns) =>
      rows.length === 1
        ? `SELECT ${rows[0]?.map((value, index) => `${value} AS ${columns[index]}`).join(', ')}`
        : standard.values(rows, columns),
    sequence: sequenceSql,
    sample: proportion => `random() < ${proportion}`,
    expand: expandSql,
    neighbor: neighborSql,
    series: seriesSql,
    spotlight: refuse('spotlight'),
    external: refuse('externaldata'),
  };
}
