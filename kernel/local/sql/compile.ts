import { duckdb } from '../duckdb/dialect.js';
import { compilerFor } from './request.js';

/** Compiles a request to DuckDB's SQL. */
export const compileRequest = compilerFor(duckdb);
