import { present } from '../../present.js';
import { optionsOf } from '../operators/operator-rows.js';
import type { Column, Relation, Scalar } from '../plan/plan.js';
import { condition, constant, joined, not, reference } from '../plan/scalars.js';
import type { OperatorOf, SearchPredicate, SourceOf } from '../syntax/ast.js';
import { optionText } from '../syntax/readers/read-options.js';
import { writtenText } from '../syntax/tokens/quote.js';
import { findColumn } from './bind-names.js';
import { keep, type Stage, withHidden, withRelation } from './bind-stage.js';
import { type Binder, convertTo, type Scope, scopeOf, unbound } from './binder.js';
import { bindExpression, bindPredicate } from './expressions/bind-expression.js';
import { containedIn, textOfFields } from './expressions/star.js';

type SearchNode = OperatorOf<'search'> | SourceOf<'search'>;

/** Scope of a search; `everything` holds the text of all fields of a row. */
interface Searched {
  readonly scope: Scope;
  readonly columns: readonly Column[];
  readonly everything: Column;
  readonly sensitive: boolean;
}

/** Test of a search, and a cheaper one, if any, that is true for at least the same rows. */
interface Found {
  readonly test: Scalar;
  readonly first?: Scalar;
}

/** Keeps the rows in which the search finds its terms. */
export function bindSearchFilter(
  binder: Binder,
  { options, predicate: search }: SearchNode,
  stage: Stage,
): Stage {
  const { columns } = stage.relation;
  const sensitive = optionText(options, 'kind', optionsOf('search')) === 'case_sensitive';
  const everything = { column: binder.column('', 'string'), value: textOfFields(columns) };
  const { test, first } = bindSearch(binder, search, {
    scope: scopeOf(stage),
    columns,
    everything: everything.column,
    sensitive,
  });
  const input = withHidden(first === undefined ? stage.relation : filtered(stage.relation, first), [
    everything,
  ]);
  return withRelation(stage, {
    kind: 'project',
    input: filtered(input, test),
    items: columns.map(keep),
    columns,
  });
}

function filtered(input: Relation, predicate: Scalar): Relation {
  return { kind: 'filter', input, predicate, columns: input.columns };
}

function bindSearch(binder: Binder, predicate: SearchPredicate, searched: Searched): Found {
  const weight = { levels: 1, nodes: 1 };
  if (!binder.enter(predicate, weight)) return { test: convertTo(unbound, 'bool') };
  const found = bindTerm(binder, predicate, searched);
  binder.leave(weight);
  return found;
}

/** Reports an unquoted search term, as in `search error`, unless a field has that name. */
function reportBareText(
  binder: Binder,
  { expr }: SearchPredicate & { readonly kind: 'expr' },
  scope: Scope,
): Scalar | undefined {
  if (expr.kind !== 'name' || scope.open || findColumn(scope.columns, expr.name) !== undefined)
    return undefined;
  const instead = writtenText(expr.name);
  binder.error(
    'unknown-field',
    expr,
    `unknown field \`${expr.name}\``,
    `Put quotes around text: ${instead}.`,
    instead,
  );
  return unbound;
}

function bindTerm(binder: Binder, predicate: SearchPredicate, searched: Searched): Found {
  const { scope, columns, everything, sensitive } = searched;
  switch (predicate.kind) {
    case 'all':
      return { test: constant('bool', true) };
    case 'and':
    case 'or': {
      const left = bindSearch(binder, predicate.left, searched);
      const right = bindSearch(binder, predicate.right, searched);
      const firsts = [left.first, right.first].filter(first => first !== undefined);
      const first =
        predicate.kind === 'and' || firsts.length === 2 ? joined(predicate.kind, firsts) : undefined;
      return { test: condition(predicate.kind, left.test, right.test), ...present({ first }) };
    }
    case 'not':
      return { test: not(bindSearch(binder, predicate.operand, searched).test) };
    case 'expr': {
      const bare = reportBareText(binder, predicate, scope);
      return { test: bare ?? bindPredicate(binder, predicate.expr, scope, '`search`') };
    }
    case 'term': {
      const { field, text } = predicate;
      if (field === undefined) {
        const first = containedIn(columns, literalOf(text), sensitive);
        return { test: matchTerm(reference(everything), text, sensitive), ...present({ first }) };
      }
      const value = convertTo(bindExpression(binder, field, scope), 'string');
      return { test: matchTerm(value, text, sensitive) };
    }
  }
}

/** Matches a term: `text` is whole, `text*` a prefix, `*text` a suffix, `*text*` anywhere; other wildcards become a pattern. */
function matchTerm(field: Scalar, text: string, sensitive: boolean): Scalar {
  const { starts, ends, inner } = wildcardsOf(text);
  if (inner === '*' || inner === '') return constant('bool', true);
  if (/[*?]/.test(inner))
    return condition(
      'matches regex',
      field,
      constant('string', `${sensitive ? '' : '(?i)'}${wildcardPattern(text)}`),
    );
  const operator = starts ? (ends ? 'contains' : 'hassuffix') : ends ? 'hasprefix' : 'has';
  return condition(sensitive ? `${operator}_cs` : operator, field, constant('string', inner));
}

function wildcardsOf(text: string): {
  readonly starts: boolean;
  readonly ends: boolean;
  readonly inner: string;
} {
  const starts = text.startsWith('*') && text.length > 1;
  const ends = text.endsWith('*') && text.length > 1;
  return { starts, ends, inner: text.slice(starts ? 1 : 0, text.length - (ends ? 1 : 0)) };
}

/** Returns the literal contained in every match; empty if wildcards are within. */
function literalOf(text: string): string {
  const { inner } = wildcardsOf(text);
  return /[*?]/.test(inner) ? '' : inner;
}

function wildcardPattern(text: string): string {
  const escaped = text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '[^\\n]*')
    .replace(/\?/g, '.');
  return `(?:^|[^\\pL\\pN])${escaped}(?:$|[^\\pL\\pN])`;
}
