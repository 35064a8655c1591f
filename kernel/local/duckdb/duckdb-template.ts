/** A JavaScript function registered with the engine, used only if SQL cannot do the work. Null in, null out. */
export interface JsFunction {
  readonly name: string;
  readonly params: readonly ('VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN')[];
  readonly returns: 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN';
  readonly run: (...args: never[]) => string | bigint | number | boolean | null;
}

/** A test of the numbers of all rows that the engine has at hand: true or false for all of them. */
export interface VectorTest {
  readonly name: string;
  readonly test: (values: readonly bigint[]) => boolean;
}

/** One family of functions as it is registered with the engine: JavaScript functions, then statements in order. */
export interface FunctionFamily {
  readonly setup: readonly string[];
  readonly udfs: readonly JsFunction[];
  readonly vectorTests?: readonly VectorTest[];
  /** Its functions are short and serve the import: they run in the engine of the service itself. */
  readonly inPlace?: true;
}
