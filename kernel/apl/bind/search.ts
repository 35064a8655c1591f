import { optionsOf } from '../operators/rows.js';
import type { Column, Relation, Scalar } from '../plan/plan.js';
import { condition, constant, not, reference } from '../plan/scalars.js';
import type { OperatorOf, SearchPredicate, SourceOf } from '../syntax/ast.js';
import { optionText } from '../syntax/readers/options.js';
import { writtenText } from '../syntax/tokens/quote.js';
import { type Binder, convertTo, type Scope, scopeOf, unbound } from './binder.js';
import { bindExpression, bindPredicate } from './expressions/expression.js';
import { textOfFields } from './expressions/star.js';
import { findColumn } from './names.js';
import { keep, type Stage, withHidden, withRelation } from './stage.js';

type SearchNode = OperatorOf<'search'> | SourceOf<'search'>;

/** The scope that a search looks through: `everything` is the text of all fields of a row. */
interface Searched {
  readonly scope: Scope;
  readonly everything: Column;
  readonly sensitive: boolean;
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
  const predicate = bindSearch(binder, search, {
    scope: scopeOf(stage),
    everything: everything.column,
    sensitive,
  });
  const input = withHidden(stage.relation, [everything]);
  const found: Relation = { kind: 'filter', input, predicate, columns: input.columns };
  return withRelation(stage, { kind: 'project', input: found, items: columns.map(keep), columns });
}

function bindSearch(binder: Binder, predicate: SearchPredicate, searched: Searched): Scalar {
  const weight = { levels: 1, nodes: 1 };
  if (!binder.enter(predicate, weight)) return convertTo(unbound, 'bool');
  const value = bindTerm(binder, predicate, searched);
  binder.leave(weight);
  return value;
}

/** `search error`: what is searched for needs quotes, unless a field has that name. */
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
    `A text needs quotes: ${instead}.`,
    instead,
  );
  return unbound;
}

function bindTerm(binder: Binder, predicate: SearchPredicate, searched: Searched): Scalar {
  const { scope, everything, sensitive } = searched;
  switch (predicate.kind) {
    case 'all':
      return constant('bool', true);
    case 'and':
    case 'or': {
      const left = bindSearch(binder, predicate.left, searched);
      return condition(predicate.kind, left, bindSearch(binder, predicate.right, searched));
    }
    case 'not':
      return not(bindSearch(binder, predicate.operand, searched));
    case 'expr':
      return (
        reportBareText(binder, predicate, scope) ?? bindPredicate(binder, predicate.expr, scope, '`search`')
      );
    case 'term': {
      if (predicate.field === undefined) return matchTerm(reference(everything), predicate.text, sensitive);
      return matchTerm(
        convertTo(bindExpression(binder, predicate.field, scope), 'string'),
        predicate.text,
        sensitive,
      );
    }
  }
}

/** `text` is a whole term, `text*` starts one, `*text` ends one, `*text*` lies anywhere; other wildcards become a pattern. */
function matchTerm(field: Scalar, text: string, sensitive: boolean): Scalar {
  const starts = text.startsWith('*') && text.length > 1;
  const ends = text.endsWith('*') && text.length > 1;
  const inner = text.slice(starts ? 1 : 0, text.length - (ends ? 1 : 0));
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

function wildcardPattern(text: string): string {
  const escaped = text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '[^\\n]*')
    .replace(/\?/g, '.');
  return `(?:^|[^\\pL\\pN])${escaped}(?:$|[^\\pL\\pN])`;
}
