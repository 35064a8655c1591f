import type { Expr, Pipeline } from '../../apl/syntax/ast.js';
import { parseQuery } from '../../apl/syntax/parse.js';

/** Where the text of a definition begins in the query that it is read in. */
export const DEFINITION_AT = 'let p = '.length;

/**
 * Reads a text as what a `let` may define: an expression or a table. Places in it count from `DEFINITION_AT`. Without a value,
 * `problem` says what is wrong, unless the text is more than one definition.
 */
export function readDefinition(text: string): {
  readonly value?: Expr | Pipeline;
  readonly problem?: string;
} {
  const { query, diagnostics } = parseQuery(`let p = ${text}; print p`);
  const [statement] = query.statements;
  const problem = diagnostics.find(({ severity }) => severity === 'error');
  if (problem !== undefined) return { problem: problem.message };
  if (statement?.kind !== 'let' || query.statements.length !== 2) return {};
  return { value: statement.value };
}
