import type { TypeName } from '../../apl/catalog/entry.js';

/** A bound argument: its SQL text, its type, and its value when it is a constant (bigint for long, timespan and datetime nanoseconds). */
export interface SqlArg {
  readonly sql: string;
  readonly type: TypeName;
  readonly constant?: string | number | bigint | boolean | null;
}

/** What is fixed once per request. Times are nanoseconds since 1970. */
export interface SqlContext {
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
}

/** Returns the SQL text of a call whose arguments have already been converted to the declared parameter types. */
export type SqlTemplate = (args: readonly SqlArg[], context: SqlContext) => string;

/** A JavaScript function registered with the engine, used only where SQL cannot. VARCHAR in and out unless said. Null in, null out. */
export interface JsFunction {
  readonly name: string;
  readonly params: readonly ('VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN')[];
  readonly returns: 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN';
  readonly run: (...args: never[]) => string | bigint | number | boolean | null;
}

/** What one family of functions needs in the engine before its templates run: JavaScript functions, then statements in order. */
export interface FunctionFamily {
  readonly setup: readonly string[];
  readonly udfs: readonly JsFunction[];
}
