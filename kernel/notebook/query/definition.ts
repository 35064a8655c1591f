import type { Expr, Pipeline } from '../../apl/syntax/ast.js';
import { parseQuery } from '../../apl/syntax/parse.js';

/** Offset of a definition in the query that it is parsed in. */
export const DEFINITION_AT = 'let p = '.length;

/**
 * Parses a text as the value of a `let`: an expression or a table. Offsets in it start at `DEFINITION_AT`. Without a value,
 * `problem` describes the error, unless the text is more than one definition.
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
