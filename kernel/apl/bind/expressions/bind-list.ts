import type { TypeName } from '../../catalog/entry.js';
import type { Column, Relation, Scalar } from '../../plan/plan.js';
import { call, reference } from '../../plan/scalars.js';
import type { Expr } from '../../syntax/ast.js';
import {
  type Binder,
  commonType,
  convertTo,
  isNumber,
  type Scope,
  shorten,
  typeInWords,
  unbound,
} from '../binder.js';
import { exactInteger, isExactReal } from './binary.js';
import { bindExpression } from './bind-expression.js';
import { quoted, warnOfBareNumber } from './duration.js';

type List = Extract<Expr, { kind: 'list' }>;

/** Binds `in` and its variants: constants, arrays (flattened), or the first column of a query. */
export function bindList(binder: Binder, expr: List, scope: Scope): Scalar {
  const left = bindExpression(binder, expr.left, scope);
  const items: Scalar[] = [];
  let query: Relation | undefined;
  for (const item of expr.items) {
    const table = asTable(binder, item);
    if (table === undefined) items.push(bindExpression(binder, item, scope));
    else query = table;
  }
  if (query !== undefined && items.length > 0) {
    binder.error('mixed-list', expr, 'a list must contain either values or one query, not both');
    return unbound;
  }
  if (query !== undefined) return listOfQuery(binder, expr, left, query);
  return { kind: 'in', operator: expr.operator, ...alignList(binder, expr, left, items), type: 'bool' };
}

/** Returns whether an operator compares strings. */
function isTextual({ operator }: List): boolean {
  return hasTerms({ operator }) || operator.endsWith('~');
}

function hasTerms({ operator }: Pick<List, 'operator'>): boolean {
  return operator.startsWith('has');
}

function asTable(binder: Binder, item: Expr): Relation | undefined {
  if (item.kind === 'subquery') return binder.bindPipeline(item.pipeline).relation;
  const inner = item.kind === 'paren' ? item.inner : item;
  const definition = inner.kind === 'name' ? binder.definitions.get(inner.name) : undefined;
  if (definition?.kind !== 'table') return undefined;
  definition.used = true;
  return definition.bind().relation;
}

/** Binds a list that a query returns: the values of its first column, and the elements of those that are arrays. */
function listOfQuery(binder: Binder, expr: List, left: Scalar, query: Relation): Scalar {
  const { operator } = expr;
  const [first] = query.columns;
  if (first === undefined) return unbound;
  const elements = first.type === 'dynamic' ? expanded(binder, query, first) : query;
  const found = elements.columns[0] ?? first;
  const type = isTextual(expr) ? 'string' : typeBesideQuery(binder, expr, left, found);
  const column = type === found.type ? found : binder.column(first.name, type);
  const values = column === found ? elements : converted(elements, found, column);
  const subject = convertTo(left, type);
  return hasTerms(expr)
    ? { kind: 'in', operator, left: subject, items: [gathered(binder, values, column)], type: 'bool' }
    : { kind: 'in', operator, left: subject, items: [], subquery: values, type: 'bool' };
}

/** Returns one row for each element of the arrays in a column, and for each other value. */
function expanded(binder: Binder, input: Relation, { name, ...column }: Column): Relation {
  const value = reference(column);
  const single: Scalar = { kind: 'array', items: [value], type: 'dynamic' };
  const array = call('iff', [call('isarray', [value], 'bool'), value, single], 'dynamic');
  const element = binder.column(name, 'dynamic');
  return {
    kind: 'expand',
    input,
    items: [{ column: element, value: array }],
    bag: false,
    columns: [element],
  };
}

function converted(input: Relation, from: Column, to: Column): Relation {
  const items = [{ column: to, value: convertTo(reference(from), to.type) }];
  return { kind: 'project', input, items, columns: [to] };
}

/** Returns the values of a column as an array. */
function gathered(binder: Binder, input: Relation, column: Column): Scalar {
  const list = binder.column(column.name, 'dynamic');
  const aggregate = { column: list, call: { name: 'make_list', args: [reference(column)], type: list.type } };
  const query: Relation = { kind: 'aggregate', input, keys: [], aggregates: [aggregate], columns: [list] };
  return { kind: 'query', query, type: list.type };
}

/** Returns the type in which a value is compared with those of a query, as with the values of a list. */
function typeBesideQuery(binder: Binder, expr: List, left: Scalar, column: Column): TypeName {
  const value = reference(column);
  const common = commonType([left, value]);
  if (common !== 'dynamic') return common;
  if (left.type === 'dynamic' || value.type === 'dynamic') {
    const known = left.type === 'dynamic' ? value : left;
    return known.type === 'dynamic' ? 'string' : typeBesideDynamic(known.type, [known]);
  }
  binder.report(
    'warning',
    'type-mismatch',
    expr.items[0] ?? expr,
    `\`${shorten(binder.text(expr.left))}\` is ${typeInWords(left.type)}, but the first column of the query is ${typeInWords(value.type)}`,
    'They are converted before they are compared.',
  );
  return isNumber(left.type) && value.type === 'string' ? 'string' : left.type;
}

/** Returns the type for comparing a dynamic value with constants; string if a conversion would change the value. */
function typeBesideDynamic(common: TypeName, scalars: readonly Scalar[]): TypeName {
  if (common === 'bool') return 'string';
  return common !== 'long' ? common : scalars.every(isExactReal) ? 'real' : 'string';
}

/** Converts the left side and the items to one type; arrays stay arrays, to be searched. */
function alignList(
  binder: Binder,
  expr: List,
  left: Scalar,
  items: readonly Scalar[],
): { left: Scalar; items: readonly Scalar[] } {
  if (isTextual(expr))
    return {
      left: convertTo(left, 'string'),
      items: items.map(item => (item.type === 'dynamic' ? item : convertTo(item, 'string'))),
    };
  const scalars = items.filter(item => item.type !== 'dynamic');
  const common = commonType([...scalars, ...(left.type === 'dynamic' && scalars.length > 0 ? [] : [left])]);
  if (common === 'dynamic' && scalars.length > 0 && left.type !== 'dynamic') {
    const odd = expr.items.find(
      (_, index) =>
        items[index] !== undefined && items[index]?.type !== left.type && items[index]?.type !== 'dynamic',
    );
    const type = left.type;
    if (type === 'timespan' && items.every(item => item.type === type || isNumber(item.type)))
      for (const [index, value] of items.entries())
        warnOfBareNumber(binder, { expr: expr.items[index] ?? expr, value }, quoted(binder, expr.left));
    else
      binder.report(
        'warning',
        'type-mismatch',
        odd ?? expr,
        `\`${shorten(binder.text(expr.left))}\` is ${typeInWords(type)}, but the list contains other types`,
        'The items are converted before they are compared.',
      );
    const read = items.map(item => exactInteger(item, left) ?? item);
    // As with `==`: a number and a string are equal if their strings are.
    const shared = isNumber(type) && read.some(item => item.type === 'string') ? 'string' : type;
    return {
      left: convertTo(left, shared),
      items: read.map(item => (item.type === 'dynamic' ? item : convertTo(item, shared))),
    };
  }
  const type = left.type === 'dynamic' ? typeBesideDynamic(common, scalars) : common;
  return {
    left: convertTo(left, type),
    items: items.map(item => (item.type === 'dynamic' ? item : convertTo(item, type))),
  };
}
