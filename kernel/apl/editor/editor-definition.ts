import { writtenName } from '../catalog/catalog-written.js';
import type { BindEnvironment } from '../plan/plan.js';
import type { Identifier, Query, Span } from '../syntax/ast.js';
import { parseQuery } from '../syntax/parse.js';
import { visitQuery } from '../syntax/syntax-walk.js';
import { namesAt } from './scope.js';

/** Returns the `let` or `declare query_parameters` that defines the name at `offset`; undefined for anything else. */
export function definition(text: string, offset: number, environment: BindEnvironment): Span | undefined {
  return references(text, offset, environment)[0];
}

/**
 * Returns the definition of the name at `offset`, then its uses in order; a field of the same name, or a later `let`, is a different name.
 */
export function references(text: string, offset: number, environment: BindEnvironment): readonly Span[] {
  const { query } = parseQuery(text);
  const uses = usesOf(query, text, environment);
  const defined = definitionsOf(query).map(({ name }) => name);
  const wanted =
    defined.find(name => touches(name, offset)) ?? uses.find(use => touches(use, offset))?.target;
  if (wanted === undefined) return [];
  return [wanted, ...uses.filter(use => use.target === wanted)].map(({ from, to }) => ({ from, to }));
}

export type Renaming =
  | { readonly ok: true; readonly edits: readonly (Span & { readonly insert: string })[] }
  | { readonly ok: false; readonly problem: string };

/** Returns the edits, by position, that rename the name at `offset`; fails if the new name would change the meaning of the query. */
export function rename(
  text: string,
  offset: number,
  newName: string,
  environment: BindEnvironment,
): Renaming {
  const found = [...references(text, offset, environment)].sort((a, b) => a.from - b.from);
  if (found.length === 0)
    return { ok: false, problem: 'only names from let statements and parameters can be renamed' };
  if (newName === '') return { ok: false, problem: 'a name must contain at least one letter' };
  const edits = found.map(span => ({ ...span, insert: writtenName(newName) }));
  const changed = applyEdits(text, edits);
  const moved = movedSpans(edits);
  const again = [...references(changed, moved[0]?.from ?? 0, environment)].sort((a, b) => a.from - b.from);
  if (JSON.stringify(again) !== JSON.stringify(moved))
    return { ok: false, problem: `\`${newName}\` already has another meaning here` };
  return { ok: true, edits };
}

interface Definition {
  readonly name: Identifier;
  /** End of its statement, and start of its scope. */
  readonly end: number;
}

interface Use extends Span {
  readonly target: Identifier;
}

function definitionsOf(query: Query): Definition[] {
  return query.statements.flatMap(statement => {
    if (statement.kind === 'let') return [{ name: statement.name, end: statement.to }];
    if (statement.kind !== 'parameters') return [];
    return statement.params.map(param => ({ name: param.name, end: param.to }));
  });
}

/** Returns every use of a defined name, in order. */
function usesOf(query: Query, text: string, environment: BindEnvironment): Use[] {
  const definitions = definitionsOf(query);
  const uses: Use[] = [];
  const targetOf = (name: string, from: number): Identifier | undefined =>
    definitions.findLast(each => each.name.name === name && each.end <= from)?.name;
  const members = new Map<number, string>();
  visitQuery(query, {
    source: source => {
      const target = source.kind === 'dataset' ? targetOf(source.name.name, source.from) : undefined;
      if (source.kind !== 'dataset' || target === undefined) return;
      const { from, to } = source.held === true ? source.name : source;
      uses.push({ from, to, target });
    },
    expr: expr => {
      if (expr.kind === 'member' && !members.has(expr.from))
        members.set(expr.from, text.slice(expr.from, expr.to));
      if (expr.kind !== 'name') return;
      const target = targetOf(expr.name, expr.from);
      if (target === undefined) return;
      const { columns, right } = namesAt(query, text, environment, expr.from);
      const dotted = members.get(expr.from) ?? expr.name;
      const shadowed = [...columns, ...right].some(
        ({ name }) => name === expr.name || dotted === name || dotted.startsWith(`${name}.`),
      );
      if (!shadowed) uses.push({ from: expr.from, to: expr.to, target });
    },
  });
  return uses.sort((a, b) => a.from - b.from);
}

function touches({ from, to }: Span, offset: number): boolean {
  return from <= offset && offset <= to;
}

function applyEdits(text: string, edits: readonly (Span & { readonly insert: string })[]): string {
  return edits.reduceRight(
    (result, { from, to, insert }) => result.slice(0, from) + insert + result.slice(to),
    text,
  );
}

/** Returns the spans of the inserted strings after the edits. */
function movedSpans(edits: readonly (Span & { readonly insert: string })[]): Span[] {
  let shift = 0;
  return edits.map(({ from, to, insert }) => {
    const start = from + shift;
    shift += insert.length - (to - from);
    return { from: start, to: start + insert.length };
  });
}
