import { sqlName } from '../duckdb/literal.js';

/** The schema of the engine that holds results; datasets are files, so nothing else is in it. */
export const resultsSchema = 'results';

/** Returns the SQL name of a table of results. */
export function resultTable(name: string): string {
  return `${resultsSchema}.${sqlName(name)}`;
}
