import { sqlName } from '../duckdb/duckdb-literal.js';

/** The engine schema for results. Datasets are files, so it contains nothing else. */
export const resultsSchema = 'results';

/** SQL that creates the schema. An engine shared by several kernels has it from the start: creating it twice at once fails. */
export const makeSchema = `CREATE SCHEMA IF NOT EXISTS ${resultsSchema}`;

/** Returns the SQL name of a table of results. */
export function resultTable(name: string): string {
  return `${resultsSchema}.${sqlName(name)}`;
}
