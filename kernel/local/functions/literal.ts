import { AplKernelError } from '../../errors.js';
import type { SqlArg } from '../functions.js';

/** A call that is refused before it runs because of the value of one argument, counted from 0. */
export class TemplateError extends AplKernelError {
  readonly argIndex: number;

  constructor(message: string, argIndex: number, hint?: string) {
    super('invalid_argument', message, hint === undefined ? {} : { hint });
    this.argIndex = argIndex;
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
