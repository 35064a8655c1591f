/** Returns a string as a quoted SQL literal: the only way for text of a query into SQL. Backslash and NUL are plain characters. */
export function sqlText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns an identifier, always quoted; Trino folds its case all the same. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the path to a member or an element by these keys, an index among them too, as SQL text. */
export function jsonPath(keys: readonly string[]): string {
  return sqlText(`$${keys.map(key => `["${key.replace(/["\\]/g, '\\$&')}"]`).join('')}`);
}
