/** Scalar types of the language. `long` is 64-bit, `timespan` is int64 nanoseconds, `dynamic` is any JSON value. */
export type TypeName = 'bool' | 'long' | 'real' | 'string' | 'datetime' | 'timespan' | 'dynamic';

/** Type names in a service's schemas and responses. */
export const serviceTypes = {
  bool: 'boolean',
  long: 'integer',
  real: 'float',
  string: 'string',
  datetime: 'datetime',
  timespan: 'timespan',
  dynamic: 'dynamic',
} as const satisfies Readonly<Record<TypeName, string>>;

/**
 * Values that a parameter accepts. `number` is long or real (unconverted), `scalar` any but dynamic, `any` everything. `array` and `map`
 * are dynamic values of that shape, `type` is a `typeof(...)`, `field` a field name as a string constant.
 */
export type ParamType = TypeName | 'number' | 'any' | 'scalar' | 'array' | 'map' | 'type' | 'field';

export interface Param {
  readonly name: string;
  readonly type: ParamType;
  readonly optional?: boolean;
  /** Whether the last parameter may repeat. */
  readonly rest?: boolean;
  /** Whether the value must be known before the query runs. */
  readonly constant?: boolean;
  readonly doc?: string;
}

/** Returns the number of arguments that a call with these parameters accepts. */
export function arityOf(params: readonly Param[]): { readonly least: number; readonly most: number } {
  const isRest = params.at(-1)?.rest === true;
  return {
    least: params.filter(({ optional }) => optional !== true).length,
    most: isRest ? Number.POSITIVE_INFINITY : params.length,
  };
}

/** A fixed type; `same`: the type of the first argument; `common`: the common type of the arguments that have type `any`. */
export type ReturnType = TypeName | 'same' | 'common';

export interface Example {
  /** A complete query that needs no dataset. */
  readonly apl: string;
  /** First row of its result as JSON-like text, values in column order: `[1, "a", null]`. */
  readonly result: string;
}

export interface FunctionEntry {
  readonly kind: 'function' | 'aggregate';
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly group: string;
  readonly params: readonly Param[];
  readonly returns: ReturnType;
  /** One or two sentences. */
  readonly doc: string;
  readonly example: Example;
  /** By parameter: the example's result with a null for that parameter, if it is not all null. */
  readonly nulls?: Readonly<Record<string, string>>;
  /** Reason why calls are rejected, if the function is not available. */
  readonly unavailable?: string;
}

/** A language element that is not written as a call. */
export interface ElementEntry {
  readonly kind: 'operator' | 'source' | 'statement' | 'syntax' | 'scalar';
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Forms, one per line; `[…]` is optional. */
  readonly usage: readonly string[];
  /** One or two sentences. */
  readonly doc: string;
  /** Absent if an example would need a dataset, or has no single exact result. */
  readonly example?: Example;
}
