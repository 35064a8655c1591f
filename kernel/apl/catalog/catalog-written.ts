import { clauseWords, sources } from '../operators/operator-rows.js';
import { quotedName } from '../syntax/tokens/quote.js';
import { scalarOperators } from './scalar-operators.js';

/** Word operators of expressions. */
export const scalarWords: readonly string[] = scalarOperators
  .map(({ name }) => name)
  .filter(name => /^!?[a-z]/.test(name) && name !== 'not');

/** Returns a name as written in a query: quoted unless it is a plain word. */
export function writtenName(name: string): string {
  return isPlain(name) && !reserved.has(name) ? name : quotedName(name);
}

/** True for a word that needs no quotes, unless it is reserved. */
export function isPlain(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

const reserved = new Set([
  ...scalarWords,
  ...clauseWords,
  ...Object.keys(sources),
  ...['not', 'true', 'false', 'null', 'asc', 'desc', 'matches', 'default', 'let', 'set', 'declare'],
]);
