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
import { bounded } from './bounds.js';
import { families } from './functions/families.js';
import type { FunctionFamily, JsFunction } from './template.js';

/**
 * Registers the JavaScript functions and macros of all families; they are seen by every connection of the same instance.
 * `pulse` is called for each row of a JavaScript function.
 */
export async function registerFunctions(
  connection: DuckDBConnection,
  wanted: readonly FunctionFamily[] = families,
  pulse: () => void = () => {},
): Promise<void> {
  for (const family of wanted) {
    for (const udf of family.udfs) connection.registerScalarFunction(scalarFunction(udf, pulse));
  }
  for (const family of wanted) {
    for (const statement of family.setup) await connection.run(statement);
  }
}

const duckTypes: Record<JsFunction['returns'], DuckDBType> = { VARCHAR, BIGINT, DOUBLE, BOOLEAN };

/**
 * Returns the families without JavaScript functions and the macros that call them, so that an engine can run beside a server, and
 * a test of whether a statement needs the rest. A name inside a text counts too: such a statement only runs elsewhere.
 */
export function withoutScripts(all: readonly FunctionFamily[] = families): {
  readonly families: readonly FunctionFamily[];
  readonly isScripted: (sql: string) => boolean;
} {
  const moved = all.filter(family => !family.inPlace);
  const names = new Set(moved.flatMap(family => family.udfs.map(udf => udf.name)));
  const isScripted = (sql: string) => (sql.match(/\bapl_\w+/g) ?? []).some(name => names.has(name));
  const plain = all.map(({ setup, udfs, inPlace }) => ({
    udfs: inPlace ? udfs : [],
    setup: setup.filter(each => !adds(names, each, isScripted)),
  }));
  return { families: plain, isScripted };
}

/** A macro that calls JavaScript is as good as JavaScript; macros come after those that they call. */
function adds(names: Set<string>, statement: string, isScripted: (sql: string) => boolean): boolean {
  if (!isScripted(statement)) return false;
  const macro = /^CREATE (?:OR REPLACE )?MACRO (\w+)/.exec(statement)?.[1];
  if (macro !== undefined) names.add(macro);
  return true;
}

function scalarFunction(udf: JsFunction, pulse: () => void): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name: udf.name,
    parameterTypes: udf.params.map(type => duckTypes[type]),
    returnType: duckTypes[udf.returns],
    mainFunction: (info, input, output) => {
      try {
        fillChunk(udf, pulse, input, output);
      } catch (error) {
        info.setError(`${udf.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  });
}

function fillChunk(udf: JsFunction, pulse: () => void, input: DuckDBDataChunk, output: DuckDBVector): void {
  const run = bounded(udf) as (...args: DuckDBValue[]) => string | bigint | number | boolean | null;
  const vectors = udf.params.map((_, index) => input.getColumnVector(index));
  for (let row = 0; row < input.rowCount; row++) {
    pulse();
    const args = vectors.map(vector => vector.getItem(row));
    output.setItem(row, args.includes(null) ? null : run(...args));
  }
  output.flush();
}
