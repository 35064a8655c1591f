/** A JavaScript function registered with the engine, used only where SQL cannot do the work. Null in, null out. */
export interface JsFunction {
  readonly name: string;
  readonly params: readonly ('VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN')[];
  readonly returns: 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN';
  readonly run: (...args: never[]) => string | bigint | number | boolean | null;
}

/** One family of functions as it is registered with the engine: JavaScript functions, then statements in order. */
export interface FunctionFamily {
  readonly setup: readonly string[];
  readonly udfs: readonly JsFunction[];
  /** Its functions are short and serve the import: they run in the engine of the service itself. */
  readonly inPlace?: true;
}
