/** Returns a string as a quoted SQL literal: the only path for query text into SQL. Backslash and NUL are plain characters. */
export function sqlText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns a quoted identifier; Trino folds its case regardless. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the path to a member or element by these keys, including indexes, as an SQL string. */
export function jsonPath(keys: readonly string[]): string {
  return sqlText(`$${keys.map(key => `["${key.replace(/["\\]/g, '\\$&')}"]`).join('')}`);
}
