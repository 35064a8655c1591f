import type { Operand } from '../operators/grammar.js';
import { clausesOf } from '../operators/operator-rows.js';
import type { Diagnostic, Expr, Query, Span } from './ast.js';
import { limitFinding } from './diagnostics.js';
import { type Limit, limits } from './syntax-limits.js';
import { visitQuery } from './syntax-walk.js';

/**
 * Returns a diagnostic for the first list or name in a query that is longer than the language allows, or undefined. The binder checks the
 * limits that depend on the meaning of names.
 */
export function beyondBounds(query: Query, source: string): Diagnostic | undefined {
  let first: Diagnostic | undefined;
  const check = (limit: Limit, count: number, span: Span | undefined): void => {
    if (count <= limit.most || span === undefined || (first !== undefined && first.from <= span.from)) return;
    first = limitFinding(limit, span);
  };
  const checkList = (limit: Limit, list: readonly Span[]): void =>
    check(limit, list.length, list[limit.most]);
  const checkClauses = (node: Span & { readonly kind: string }): void => {
    const held = node as unknown as Readonly<Record<string, unknown>>;
    for (const { name, takes } of clausesOf(node.kind)) {
      const value = held[name];
      if (Array.isArray(value)) checkList(listLimit(takes, node.kind), value);
    }
  };
  checkList(limits.statements, query.statements);
  visitQuery(query, {
    expr: expr => checkList(listLimitOf(expr), listIn(expr)),
    operator: operator => operator.kind !== 'unknown' && checkClauses(operator),
    source: checkClauses,
    name: span => {
      if (span.to - span.from > limits.name.most) check(limits.name, writtenName(source, span).length, span);
    },
  });
  return first;
}

function listIn(expr: Expr): readonly Span[] {
  switch (expr.kind) {
    case 'call':
      return expr.args;
    case 'list':
    case 'array':
      return expr.items;
    case 'map':
      return expr.entries.map(entry => entry.value);
    default:
      return [];
  }
}

function listLimitOf(expr: Expr): Limit {
  if (expr.kind !== 'list') return limits.items;
  if (expr.operator.startsWith('has_all')) return limits.allTerms;
  return expr.operator.startsWith('has_any') ? limits.terms : limits.items;
}

function listLimit(takes: Operand, kind: string): Limit {
  if (takes === 'columns' && kind === 'parse-kv') return limits.pairs;
  if (takes === 'expressions' && kind === 'redact') return limits.redacted;
  return listLimits[takes] ?? limits.items;
}

const listLimits: Readonly<Partial<Record<Operand, Limit>>> = {
  values: limits.cells,
  pieces: limits.pieces,
  'typed assignments': limits.expanded,
};

/** Returns a name without its brackets and quotes. */
function writtenName(source: string, { from, to }: Span): string {
  return source.slice(from, to).replace(/^\[?["']|["']\]?$/g, '');
}
