import { optionsOf } from '../operators/rows.js';
import type { Column, Scalar } from '../plan/plan.js';
import { condition, constant, joined, not, reference } from '../plan/scalars.js';
import type { OperatorOf, SearchPredicate, SourceOf } from '../syntax/ast.js';
import { optionText } from '../syntax/readers/options.js';
import { type Binder, convertTo, type Scope, scopeOf, unbound } from './binder.js';
import { bindExpression, bindPredicate } from './expressions/expression.js';
import { type Stage, withRelation } from './stage.js';

type SearchNode = OperatorOf<'search'> | SourceOf<'search'>;

/** Keeps the rows in which the search finds its terms. */
export function bindSearchFilter(
  binder: Binder,
  { options, predicate: search }: SearchNode,
  stage: Stage,
): Stage {
  const isSensitive = optionText(options, 'kind', optionsOf('search')) === 'case_sensitive';
  const predicate = bindSearch(binder, search, scopeOf(stage), isSensitive);
  return withRelation(stage, {
    kind: 'filter',
    input: stage.relation,
    predicate,
    columns: stage.relation.columns,
  });
}

function bindSearch(binder: Binder, predicate: SearchPredicate, scope: Scope, sensitive: boolean): Scalar {
  const weight = { levels: 1, nodes: 1 };
  if (!binder.enter(predicate, weight)) return convertTo(unbound, 'bool');
  const value = bindTerm(binder, predicate, scope, sensitive);
  binder.leave(weight);
  return value;
}

function bindTerm(binder: Binder, predicate: SearchPredicate, scope: Scope, sensitive: boolean): Scalar {
  switch (predicate.kind) {
    case 'all':
      return constant('bool', true);
    case 'and':
    case 'or': {
      const left = bindSearch(binder, predicate.left, scope, sensitive);
      return condition(predicate.kind, left, bindSearch(binder, predicate.right, scope, sensitive));
    }
    case 'not':
      return not(bindSearch(binder, predicate.operand, scope, sensitive));
    case 'expr':
      return bindPredicate(binder, predicate.expr, scope, '`search`');
    case 'term': {
      if (predicate.field === undefined) return anyField(scope.columns, predicate.text, sensitive);
      return matchTerm(
        convertTo(bindExpression(binder, predicate.field, scope), 'string'),
        predicate.text,
        sensitive,
      );
    }
  }
}

/** Any field but times and durations, read as text. */
function anyField(columns: readonly Column[], text: string, sensitive: boolean): Scalar {
  const tests = columns
    .filter(
      column => column.type !== 'datetime' && column.type !== 'timespan' && !column.name.startsWith('$'),
    )
    .map(column => matchTerm(convertTo(reference(column), 'string'), text, sensitive));
  return joined('or', tests) ?? constant('bool', false);
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
