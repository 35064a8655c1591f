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
import { bounded } from './bounds/costs.js';
import type { FunctionFamily, JsFunction, VectorTest } from './duckdb-template.js';
import { families } from './functions/families.js';

/**
 * The functions and macros of some families in one instance, visible to all its connections. JavaScript functions are registered at once. A
 * macro is defined before the first statement that names it: defining all of them takes longer than most queries.
 */
export class FunctionRegistry {
  readonly #connection: DuckDBConnection;
  /** Macros not yet defined; a macro comes after those it calls. */
  readonly #macros: Map<string, string>;
  #defined: Promise<unknown> = Promise.resolve();

  /** `connection` is for definitions only: an interrupt would lose them. `pulse` is called for each row of a JavaScript function. */
  constructor(
    connection: DuckDBConnection,
    wanted: readonly FunctionFamily[] = families,
    pulse: () => void = () => {},
  ) {
    this.#connection = connection;
    this.#macros = new Map(
      wanted.flatMap(({ setup }) => setup.map(statement => [macroOf(statement), statement])),
    );
    for (const { udfs, vectorTests = [] } of wanted) {
      for (const udf of udfs) connection.registerScalarFunction(scalarFunction(udf, pulse));
      for (const test of vectorTests) connection.registerScalarFunction(testFunction(test));
    }
  }

  /** Resolves once every macro that a statement needs is defined. */
  async provide(sql: string): Promise<void> {
    const statements = this.#take(sql);
    const defined = this.#defined.then(() =>
      statements.length === 0 ? undefined : this.#connection.run(statements.join(';\n')),
    );
    // A failure is reported by the statement that needed the macros.
    this.#defined = defined.catch(() => undefined);
    await defined;
  }

  /** Defines all macros, for many statements of any kind. */
  async all(): Promise<void> {
    await this.provide([...this.#macros.keys()].join(' '));
  }

  close(): void {
    this.#connection.closeSync();
  }

  /** Returns the missing definitions, inner macros first. */
  #take(sql: string): string[] {
    return namesIn(sql).flatMap(name => {
      const statement = this.#macros.get(name);
      if (statement === undefined) return [];
      this.#macros.delete(name);
      return [...this.#take(statement), statement];
    });
  }
}

const duckTypes: Record<JsFunction['returns'], DuckDBType> = { VARCHAR, BIGINT, DOUBLE, BOOLEAN };

/**
 * Returns the families without JavaScript functions and the macros that call them, so an engine can run inside a server, and a test of
 * whether a statement needs the rest. A name inside a string counts too: the statement then runs elsewhere.
 */
export function withoutScripts(all: readonly FunctionFamily[] = families): {
  readonly families: readonly FunctionFamily[];
  readonly isScripted: (sql: string) => boolean;
} {
  const moved = all.filter(family => !family.inPlace);
  const names = new Set(moved.flatMap(family => family.udfs.map(udf => udf.name)));
  const isScripted = (sql: string) => namesIn(sql).some(name => names.has(name));
  const plain = all.map(({ setup, udfs, inPlace, ...family }) => ({
    ...family,
    udfs: inPlace ? udfs : [],
    setup: setup.filter(each => !adds(names, each, isScripted)),
  }));
  return { families: plain, isScripted };
}

/** Adds the name of a macro that calls JavaScript, which then counts as JavaScript too. Macros come after those they call. */
function adds(names: Set<string>, statement: string, isScripted: (sql: string) => boolean): boolean {
  if (!isScripted(statement)) return false;
  names.add(macroOf(statement));
  return true;
}

/** Returns the name of the macro that a statement defines. */
function macroOf(statement: string): string {
  const name = /^CREATE (?:OR REPLACE )?MACRO (\w+)/.exec(statement)?.[1];
  if (name === undefined) throw new RangeError(`not a macro: ${statement}`);
  return name;
}

/** Returns the names of our functions in a statement, including any inside a string. */
function namesIn(sql: string): readonly string[] {
  return sql.match(/\bapl_\w+/g) ?? [];
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

function testFunction({ name, test }: VectorTest): DuckDBScalarFunction {
  return DuckDBScalarFunction.create({
    name,
    parameterTypes: [BIGINT],
    returnType: BOOLEAN,
    mainFunction: (_, input, output) => {
      const vector = input.getColumnVector(0);
      const values = Array.from({ length: input.rowCount }, (_, row) => vector.getItem(row) as bigint | null);
      const result = test(values.map(value => value ?? 0n));
      for (const row of values.keys()) output.setItem(row, result);
      output.flush();
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
