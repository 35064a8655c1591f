import type { FunctionEntry } from '../entry.js';

/** Functions that parse and format SQL. */
export const sql = [
  {
    kind: 'function',
    name: 'parse_sql',
    group: 'sql',
    params: [{ name: 'statement', type: 'string' }],
    returns: 'dynamic',
    doc: 'Parses an SQL statement into a map with `statement`, `columns`, `from`, `where`, `order` and so on. Returns null if it cannot be parsed.',
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
    doc: 'Converts the result of parse_sql back to an SQL statement with lowercase keywords. Returns null for any other map.',
    example: {
      apl: "print format_sql(parse_sql('SELECT id  FROM logs ORDER BY id'))",
      result: '["select id from logs order by id asc"]',
    },
  },
] as const satisfies readonly FunctionEntry[];
