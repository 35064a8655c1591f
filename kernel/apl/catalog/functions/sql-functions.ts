import type { FunctionEntry } from '../entry.js';

/** Functions that parse and format SQL. */
export const sql = [
  {
    kind: 'function',
    name: 'parse_sql',
    group: 'sql',
    params: [{ name: 'statement', type: 'string' }],
    returns: 'dynamic',
    doc: 'Returns the structure of an SQL statement as a map with `statement`, `columns`, `from`, `where`, `order` and so on; null if it cannot be read.',
    example: {
      apl: "print parse_sql('SELECT id FROM logs WHERE status = 401').where.operator",
      result: '["="]',
    },
  },
  {
    kind: 'function',
    name: 'format_sql',
    group: 'sql',
    params: [{ name: 'model', type: 'map' }],
    returns: 'string',
    doc: 'Returns the SQL text of what parse_sql returned, with keywords in lower case; null if it is not such a map.',
    example: {
      apl: "print format_sql(parse_sql('SELECT id  FROM logs ORDER BY id'))",
      result: '["select id from logs order by id asc"]',
    },
  },
] as const satisfies readonly FunctionEntry[];
