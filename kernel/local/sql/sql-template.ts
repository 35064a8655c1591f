import type { Param, TypeName } from '../../apl/catalog/entry.js';
import type { Span } from '../../apl/syntax/ast.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';
import { type Atom, atom } from './atom.js';

/** Reals below this have finite squares, and finite sums of squares over any number of rows. */
export const squareable = 1e145;

/** The value of a constant: bigint for long, timespan and datetime (nanoseconds), JSON text for dynamic. */
export type ConstantValue = string | number | bigint | boolean | null;

/** A bound argument: its SQL, its type, and its value if constant. */
export interface SqlArg {
  readonly sql: Atom;
  readonly type: TypeName;
  readonly constant?: ConstantValue;
  /** A real that is neither a number literal nor derived from an integer. */
  readonly mayBeNaN?: boolean;
  /** The SQL is a column or an already computed value, so it may be repeated. */
  readonly computed?: boolean;
  /** A column without nulls. */
  readonly filled?: boolean;
  /** The largest possible magnitude of an integer. */
  readonly most?: number;
  /** The dynamic value as a string, if cheaper than converting it. */
  readonly text?: Atom;
  /** The dynamic value, in which null may also be JSON's null, which is neither a number nor a bool either. */
  readonly raw?: Atom;
  /** A member or element as a string, with numbers as written in the JSON. */
  readonly written?: Atom;
  /** The array, or the one that the string comes from, as an engine list of strings, if a function returns one. */
  readonly list?: string;
  /** The elements of an array of constants. */
  readonly items?: readonly ConstantValue[];
  /** The dynamic value that the string comes from. */
  readonly json?: Atom;
  /** Its maximum size as a string, in terms of the columns it is made of. */
  readonly size?: Size;
}

/** Maximum size of a value in bytes: a fixed part plus multiples of column sizes, keyed by SQL of these sizes. */
export interface Size {
  readonly fixed: number;
  readonly columns: ReadonlyMap<string, number>;
}

/** Returns a multiple of the sum of sizes. */
export function sizeOfAll(sizes: readonly Size[], factor = 1): Size {
  const columns = new Map<string, number>();
  for (const size of sizes)
    for (const [bytes, count] of size.columns) columns.set(bytes, (columns.get(bytes) ?? 0) + count * factor);
  return { fixed: sizes.reduce((sum, { fixed }) => sum + fixed, 0) * factor, columns };
}

/** Returns an argument that a template derives from others. */
export function sqlArg(sql: string, type: TypeName): SqlArg {
  return { sql: atom(sql), type };
}

/** Values fixed once per request. Times are nanoseconds since 1970. */
export interface SqlContext {
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
  /** The value is only used as true or not true: null may be false. */
  readonly predicate?: boolean;
}

/** Returns the SQL of a call whose arguments have already been converted to the declared parameter types. */
export type SqlTemplate<Args extends readonly unknown[] = readonly SqlArg[]> = (
  args: Args,
  context: SqlContext,
) => string;

/** Arguments as declared by parameters: optional ones may be missing, and the last may repeat. */
export type ArgsOf<Params extends readonly Param[]> = Params extends readonly [
  infer First extends Param,
  ...infer Rest extends readonly Param[],
]
  ? 'rest' extends keyof First
    ? 'optional' extends keyof First
      ? readonly SqlArg[]
      : readonly [SqlArg, ...SqlArg[]]
    : 'optional' extends keyof First
      ? readonly [arg?: SqlArg, ...rest: ArgsOf<Rest>]
      : readonly [arg: SqlArg, ...rest: ArgsOf<Rest>]
  : readonly [];

/** A template for each entry of a catalog, with arguments as declared by its parameters. */
export type SqlTemplates<Entries extends readonly Callable[]> = {
  readonly [Entry in Entries[number] as Entry['name']]: SqlTemplate<ArgsOf<Entry['params']>>;
};

interface Callable {
  readonly name: string;
  readonly params: readonly Param[];
}

/** Returns the SQL of an argument, or the fallback if missing. */
export function sqlOr(arg: SqlArg | undefined, fallback: string): string {
  return arg?.sql ?? fallback;
}

/** Returns the value of a constant string argument; undefined if the argument is absent, null or not constant. */
export function constantText(arg: SqlArg | undefined): string | undefined {
  return typeof arg?.constant === 'string' ? arg.constant : undefined;
}

/** A call refused at compile time because of the value of one argument, numbered from 0. */
export class TemplateError extends AplKernelError {
  readonly argIndex: number;
  /** Span of the argument in the query, once known. */
  readonly span?: Span;

  constructor(message: string, argIndex: number, hint?: string, span?: Span) {
    super('invalid-argument', message, present({ hint }));
    this.argIndex = argIndex;
    if (span !== undefined) this.span = span;
  }
}

/** Returns the result of `write`; a refusal of one argument gets its span in the query, `at[argIndex]`. */
export function located(at: readonly Span[] | undefined, write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof TemplateError) || error.span !== undefined) throw error;
    throw new TemplateError(error.message, error.argIndex, error.hint, spanOf(at, error.argIndex));
  }
}

function spanOf(at: readonly Span[] | undefined, argIndex: number): Span | undefined {
  const [first, last] = [at?.[0], at?.at(-1)];
  if (argIndex >= 0 || first === undefined || last === undefined) return at?.[argIndex];
  return { from: first.from, to: last.to };
}
