/** The scalar types of the language. `long` is 64-bit, `timespan` is int64 nanoseconds, `dynamic` is any JSON value. */
export type TypeName = 'bool' | 'long' | 'real' | 'string' | 'datetime' | 'timespan' | 'dynamic';

/** The names that a service's schemas and answers have for types. */
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
 * The values that a parameter accepts. `number` is long or real (kept as it is); `scalar` any but dynamic; `any` everything;
 * `array` and `map` are dynamic values of that shape; `type` a `typeof(...)`; `field` the name of a field as a string constant.
 */
export type ParamType = TypeName | 'number' | 'any' | 'scalar' | 'array' | 'map' | 'type' | 'field';

export interface Param {
  readonly name: string;
  readonly type: ParamType;
  readonly optional?: boolean;
  /** The last parameter may repeat. */
  readonly rest?: boolean;
  /** Must be a constant known before the query runs. */
  readonly constant?: boolean;
  readonly doc?: string;
}

/** Returns how many arguments a call with these parameters takes. */
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
  /** The first row of its result as JSON-like text, values in column order: `[1, "a", null]`. */
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
  /** By parameter: the result of the example with a null for that parameter, if it is not all null. */
  readonly nulls?: Readonly<Record<string, string>>;
  /** Refused by name and position, with this reason. */
  readonly unavailable?: string;
}

/** An element of the language that is not written as a call. */
export interface ElementEntry {
  readonly kind: 'operator' | 'source' | 'statement' | 'syntax' | 'scalar';
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Its forms, one per line; `[…]` may be left out. */
  readonly usage: readonly string[];
  /** One or two sentences. */
  readonly doc: string;
  /** Absent if nothing can be shown without a dataset, or if there is no one exact result. */
  readonly example?: Example;
}
