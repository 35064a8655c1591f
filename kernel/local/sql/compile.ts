import { duckdb } from '../duckdb/duckdb-dialect.js';
import { compilerFor } from './sql-request.js';

/** Compiles a request to DuckDB's SQL. */
export const compileRequest = compilerFor(duckdb);
