import { type MagicArguments, type MagicSyntax, readArguments } from '../../apl/syntax/syntax-magic.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';

/** A magic line that cannot be run as written; its hint is the usage. */
export class MagicError extends AplKernelError {
  constructor(message: string, hint?: string) {
    super('magic', message, present({ hint }));
  }
}

/** Parses the arguments of a magic line; throws MagicError with the usage if they do not match. */
export function parseArguments(syntax: MagicSyntax, raw: string): MagicArguments {
  const found = readArguments(syntax, raw);
  if ('message' in found) throw new MagicError(found.message, found.hint);
  return found;
}

/** Returns a usage error of a magic. */
export function usageError(syntax: MagicSyntax, problem: string): MagicError {
  return new MagicError(`%${syntax.name}: ${problem}`, `Usage: ${syntax.usage}`);
}
