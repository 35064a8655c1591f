/** A JavaScript function registered with the engine, for work that SQL cannot do. Nulls in give null out. */
export interface JsFunction {
  readonly name: string;
  readonly params: readonly ('VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN')[];
  readonly returns: 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN';
  readonly run: (...args: never[]) => string | bigint | number | boolean | null;
}

/** A test over the numbers of all rows at hand: true or false for all of them. */
export interface VectorTest {
  readonly name: string;
  readonly test: (values: readonly bigint[]) => boolean;
}

/** A family of functions as registered with the engine: JavaScript functions, then statements in order. */
export interface FunctionFamily {
  readonly setup: readonly string[];
  readonly udfs: readonly JsFunction[];
  readonly vectorTests?: readonly VectorTest[];
  /** For short functions that imports use: they run in the engine of the service itself. */
  readonly inPlace?: true;
}
