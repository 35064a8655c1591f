import type { Span } from '../../apl/syntax/ast.js';
import { AplKernelError } from '../../errors.js';
import type { SqlArg } from './template.js';

/** A call that is refused before it runs because of the value of one argument, counted from 0. */
export class TemplateError extends AplKernelError {
  readonly argIndex: number;
  /** Where the argument stands in the query, once that is known. */
  readonly span?: Span;

  constructor(message: string, argIndex: number, hint?: string, span?: Span) {
    super('invalid-argument', message, { hint });
    this.argIndex = argIndex;
    if (span !== undefined) this.span = span;
  }
}

/** Returns what `write` returns; a refusal of one argument is given its place in the query, `at[argIndex]`. */
export function located(at: readonly Span[] | undefined, write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof TemplateError) || error.span !== undefined) throw error;
    throw new TemplateError(error.message, error.argIndex, error.hint, at?.[error.argIndex]);
  }
}

/** Returns a string as a quoted SQL literal: the only way in which text of a query enters SQL. */
export function sqlString(value: string): string {
  const parts = value.split('\0').map(part => `'${part.replaceAll("'", "''")}'`);
  // The engine's parser ends a statement at a zero character.
  return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(' || chr(0) || ')})`;
}

/** Returns the text of a constant string argument; undefined when the argument is absent, null or not constant. */
export function constantText(arg: SqlArg | undefined): string | undefined {
  return typeof arg?.constant === 'string' ? arg.constant : undefined;
}

/** Returns the value of a constant whole-number argument; undefined when the argument is absent, null or not constant. */
export function constantInteger(arg: SqlArg | undefined): number | undefined {
  return typeof arg?.constant === 'bigint' ? Number(arg.constant) : undefined;
}
