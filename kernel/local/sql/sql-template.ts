import type { Param, TypeName } from '../../apl/catalog/entry.js';
import type { Span } from '../../apl/syntax/ast.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';
import { type Atom, atom } from './atom.js';

/** The squares of reals below this, and their sums over any number of rows, are finite. */
export const squareable = 1e145;

/** The value of a constant: bigint for long, timespan and datetime (nanoseconds), JSON text for dynamic. */
export type ConstantValue = string | number | bigint | boolean | null;

/** A bound argument: its SQL, its type, and its value when it is a constant. */
export interface SqlArg {
  readonly sql: Atom;
  readonly type: TypeName;
  readonly constant?: ConstantValue;
  /** A real that is neither a number written in the query nor made from an integer. */
  readonly mayBeNaN?: boolean;
  /** The text names a column, or a value that was computed before: it may be repeated. */
  readonly computed?: boolean;
  /** The dynamic value as a text, if that takes less than to convert it. */
  readonly text?: Atom;
  /** The dynamic value where JSON's null may stand for null, which is neither a number nor a bool either. */
  readonly raw?: Atom;
  /** The text of a member or an element as JSON writes it, numbers too. */
  readonly written?: Atom;
  /** The array, or that which the text is of, as a list of texts of the engine, if a function gives one. */
  readonly list?: string;
  /** The elements of an array of constants. */
  readonly items?: readonly ConstantValue[];
  /** The dynamic value that the text is of. */
  readonly json?: Atom;
  /** Its bytes as text at most, by the columns that it is made of. */
  readonly size?: Size;
}

/** How many bytes a value has at most: so many, and those of each of these columns so often; the keys are SQL of their bytes. */
export interface Size {
  readonly fixed: number;
  readonly columns: ReadonlyMap<string, number>;
}

/** Returns so many times the sum of sizes. */
export function sizeOfAll(sizes: readonly Size[], factor = 1): Size {
  const columns = new Map<string, number>();
  for (const size of sizes)
    for (const [bytes, count] of size.columns) columns.set(bytes, (columns.get(bytes) ?? 0) + count * factor);
  return { fixed: sizes.reduce((sum, { fixed }) => sum + fixed, 0) * factor, columns };
}

/** Returns an argument that a template makes of others. */
export function sqlArg(sql: string, type: TypeName): SqlArg {
  return { sql: atom(sql), type };
}

/** What is fixed once per request. Times are nanoseconds since 1970. */
export interface SqlContext {
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
  /** The value is used only as true or not true: null may be false. */
  readonly predicate?: boolean;
}

/** Returns the SQL of a call whose arguments have already been converted to the declared parameter types. */
export type SqlTemplate<Args extends readonly unknown[] = readonly SqlArg[]> = (
  args: Args,
  context: SqlContext,
) => string;

/** Arguments as parameters declare them: those that are optional may be missing, and the last may repeat. */
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

/** A template for each entry of a catalog, with arguments as its parameters declare them. */
export type SqlTemplates<Entries extends readonly Callable[]> = {
  readonly [Entry in Entries[number] as Entry['name']]: SqlTemplate<ArgsOf<Entry['params']>>;
};

interface Callable {
  readonly name: string;
  readonly params: readonly Param[];
}

/** Returns the SQL of an argument, or other SQL in place of one that is missing. */
export function sqlOr(arg: SqlArg | undefined, fallback: string): string {
  return arg?.sql ?? fallback;
}

/** Returns the text of a constant string argument; undefined when the argument is absent, null or not constant. */
export function constantText(arg: SqlArg | undefined): string | undefined {
  return typeof arg?.constant === 'string' ? arg.constant : undefined;
}

/** A call that is refused before it runs because of the value of one argument, counted from 0. */
export class TemplateError extends AplKernelError {
  readonly argIndex: number;
  /** Where the argument stands in the query, once that is known. */
  readonly span?: Span;

  constructor(message: string, argIndex: number, hint?: string, span?: Span) {
    super('invalid-argument', message, present({ hint }));
    this.argIndex = argIndex;
    if (span !== undefined) this.span = span;
  }
}

/** Returns the result of `write`; a refusal of one argument is given its place in the query, `at[argIndex]`. */
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
