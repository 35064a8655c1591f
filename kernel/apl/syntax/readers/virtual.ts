import type { OperatorOf, Span } from '../ast.js';
import { parseQuery } from '../parse.js';
import { quotedName } from '../tokens/quote.js';

/** A field that a dataset computes on read. */
export interface VirtualField {
  readonly name: string;
  /** An expression over the fields of the dataset, and over the virtual fields before it. */
  readonly expression: string;
}

/** Returns a virtual field as the `extend` that computes it, at `span`; undefined if its source is not one expression. */
export function virtualExtension(
  { name, expression }: VirtualField,
  span: Span,
): OperatorOf<'extend'> | undefined {
  const { query, diagnostics } = parseQuery(`_ | extend ${quotedName(name)} = ${expression}`);
  const [statement, ...others] = query.statements;
  if (diagnostics.length > 0 || others.length > 0 || statement?.kind !== 'query') return undefined;
  const [operator, ...further] = statement.pipeline.operators;
  if (operator?.kind !== 'extend' || operator.items.length !== 1 || further.length > 0) return undefined;
  place(operator, span);
  return operator;
}

/** Moves every node to `span`, as its own source is never shown. */
function place(node: unknown, span: Span): void {
  if (typeof node !== 'object' || node === null) return;
  if ('from' in node && 'to' in node) Object.assign(node, { from: span.from, to: span.to });
  for (const part of Object.values(node)) place(part, span);
}
