import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBScalarFunction,
  type DuckDBType,
  type DuckDBValue,
  type DuckDBVector,
  VARCHAR,
} from '@duckdb/node-api';
import { families } from './functions/families.js';
import type { FunctionFamily, JsFunction } from './template.js';

/** Registers the JavaScript functions and macros of all families; they are seen by every connection of the same instance. */
export async function registerFunctions(
  connection: DuckDBConnection,
  wanted: readonly FunctionFamily[] = families,
): Promise<void> {
  for (const family of wanted) {
    for (const udf of family.udfs) connection.registerScalarFunction(scalarFunction(udf));
  }
  for (const family of wanted) {
    for (const statement of family.setup) await connection.run(statement);
  }
}

const duckTypes: Record<JsFunction['returns'], DuckDBType> = { VARCHAR, BIGINT, DOUBLE, BOOLEAN };

function scalarFunction(udf: JsFunction): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: udf.name,
    parameterTypes: udf.params.map(type => duckTypes[type]),
    returnType: duckTypes[udf.returns],
    mainFunction: (info, input, output) => {
      try {
        fillChunk(udf, input, output);
      } catch (error) {
        info.setError(`${udf.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  });
}

function fillChunk(udf: JsFunction, input: DuckDBDataChunk, output: DuckDBVector): void {
  const run = udf.run as (...args: DuckDBValue[]) => string | bigint | number | boolean | null;
  const vectors = udf.params.map((_, index) => input.getColumnVector(index));
  for (let row = 0; row < input.rowCount; row++) {
    const args = vectors.map(vector => vector.getItem(row));
    output.setItem(row, args.includes(null) ? null : run(...args));
  }
  output.flush();
}
