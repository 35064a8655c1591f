import { sqlName } from '../duckdb/duckdb-literal.js';

/** The schema of the engine that holds results; datasets are files, so nothing else is in it. */
export const resultsSchema = 'results';

/** SQL that makes the schema. An engine that several kernels send results to has it from the start: made twice at once it fails. */
export const makeSchema = `CREATE SCHEMA IF NOT EXISTS ${resultsSchema}`;

/** Returns the SQL name of a table of results. */
export function resultTable(name: string): string {
  return `${resultsSchema}.${sqlName(name)}`;
}
