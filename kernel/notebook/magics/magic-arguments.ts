import { type MagicArguments, type MagicSyntax, readArguments } from '../../apl/syntax/syntax-magic.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';

/** A magic line that cannot be run as written; the hint is its usage. */
export class MagicError extends AplKernelError {
  constructor(message: string, hint?: string) {
    super('magic', message, present({ hint }));
  }
}

/** Returns the arguments of a magic line; throws MagicError with the usage when they do not fit. */
export function parseArguments(syntax: MagicSyntax, raw: string): MagicArguments {
  const found = readArguments(syntax, raw);
  if ('message' in found) throw new MagicError(found.message, found.hint);
  return found;
}

/** Returns the error for a magic that is used wrongly. */
export function usageError(syntax: MagicSyntax, problem: string): MagicError {
  return new MagicError(`%${syntax.name}: ${problem}`, `Usage: ${syntax.usage}`);
}
