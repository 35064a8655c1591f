import type { sql as catalog } from '../../../apl/catalog/functions/sql-functions.js';
import { formatSql } from '../../functions/sql/sql-format.js';
import { parseSql } from '../../functions/sql/sql-parse.js';
import type { SqlTemplates } from '../../sql/sql-template.js';
import type { JsFunction } from '../duckdb-template.js';

/** SQL of the functions that parse and format SQL text, both in JavaScript. */
export const sql: SqlTemplates<typeof catalog> = {
  parse_sql: ([statement]) => `apl_parse_sql(${statement.sql})::JSON`,
  format_sql: ([model]) => `apl_format_sql(${model.sql})`,
};

export const setup: readonly string[] = [];

export const udfs: readonly JsFunction[] = [
  { name: 'apl_parse_sql', params: ['VARCHAR'], returns: 'VARCHAR', run: parseSql },
  { name: 'apl_format_sql', params: ['VARCHAR'], returns: 'VARCHAR', run: formatSql },
];
