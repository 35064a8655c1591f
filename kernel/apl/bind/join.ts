import { optionsOf } from '../operators/rows.js';
import type { Bound, Column, Computed, JoinKind, Relation } from '../plan/plan.js';
import type { Expr, OperatorOf } from '../syntax/ast.js';
import { optionText } from '../syntax/options.js';
import { type Binder, commonType, convertTo, type Scope, unwrap } from './binder.js';
import { bindExpression } from './expressions/expression.js';
import { dottedName, findColumn, reference } from './names.js';
import { bindSource } from './source.js';
import { freshStage, keep, project, type Stage } from './stage.js';

type Join = OperatorOf<'join' | 'lookup'>;
interface Condition {
  readonly left: Bound;
  readonly right: Bound;
}

/** Binds `join` and `lookup`: equal keys, then the fields of both sides; a key of the same name stands once. */
export function bindJoin(binder: Binder, operator: Join, stage: Stage): Stage {
  const kind = joinKind(operator);
  const right = freshIds(binder, bindSource(binder, operator.right));
  const sides = { left: stage.relation.columns, right: right.relation.columns };
  const on = operator.on.flatMap(condition => bindCondition(binder, condition, sides));
  const relation: Relation = {
    kind: 'join',
    left: stage.relation,
    right: right.relation,
    join: kind,
    on,
    columns: joinedColumns(kind, sides),
  };
  return project(
    { ...freshStage(relation, stage.open), order: stage.order, bounded: stage.bounded },
    outputs(binder, kind, sides, on, operator.kind === 'lookup'),
  );
}

/** A value that the row does not allow was refused by the parser. */
function joinKind({ kind, options }: Join): JoinKind {
  const written = optionText(options, 'kind', optionsOf(kind));
  return (written ?? (kind === 'lookup' ? 'leftouter' : 'inner')) as JoinKind;
}

/** A table joined with itself needs columns of its own on each side. */
function freshIds(binder: Binder, stage: Stage): Stage {
  const items = stage.relation.columns.map(
    (column): Computed => ({
      column: { ...column, id: binder.column(column.name, column.type).id },
      value: reference(column),
    }),
  );
  const columns = items.map(item => item.column);
  return { ...stage, relation: { kind: 'project', input: stage.relation, items, columns } };
}

type Sides = NonNullable<Scope['sides']>;

/** `key`, `$left.a == $right.b`, or several joined by `and`. */
function bindCondition(binder: Binder, expr: Expr, sides: Sides): Condition[] {
  const inner = unwrap(expr);
  if (inner.kind === 'binary' && inner.operator === 'and')
    return [...bindCondition(binder, inner.left, sides), ...bindCondition(binder, inner.right, sides)];
  if (inner.kind === 'binary' && inner.operator === '==') return bindEquality(binder, inner, sides);
  const name = dottedName(inner);
  if (name === undefined) {
    if (inner.kind !== 'missing')
      binder.error(
        'join-condition',
        expr,
        'a join compares fields for equality',
        'Write `on key` or `on $left.a == $right.b`.',
      );
    return [];
  }
  const [left, right] = [findColumn(sides.left, name), findColumn(sides.right, name)];
  if (left !== undefined && right !== undefined) return [align(reference(left), reference(right))];
  const missing = left === undefined ? sides.left : sides.right;
  if (left !== undefined || right !== undefined) {
    binder.error(
      'unknown-field',
      expr,
      `the ${left === undefined ? 'left' : 'right'} side has no field \`${name}\``,
      `Its fields: ${missing.map(column => column.name).join(', ')}. Fields of different names are joined by \`on $left.a == $right.b\`.`,
    );
    return [];
  }
  binder.unknown(
    'field',
    name,
    expr,
    missing.map(column => column.name),
    'Fields of different names are joined by `on $left.a == $right.b`.',
  );
  return [];
}

function bindEquality(binder: Binder, expr: Extract<Expr, { kind: 'binary' }>, sides: Sides): Condition[] {
  const [a, b] = [expr.left, expr.right].map(side => ({
    side: sideOf(side),
    value: bindExpression(binder, side, { columns: [], open: false, sides }),
  })) as [SideValue, SideValue];
  if (a.side === 'left' && b.side === 'right') return [align(a.value, b.value)];
  if (a.side === 'right' && b.side === 'left') return [align(b.value, a.value)];
  binder.error(
    'join-condition',
    expr,
    'a condition compares a field of the left side with one of the right',
    'Write `$left.a == $right.b`.',
  );
  return [];
}

interface SideValue {
  readonly side: 'left' | 'right' | undefined;
  readonly value: Bound;
}

function sideOf(expr: Expr): 'left' | 'right' | undefined {
  const name = dottedName(unwrap(expr));
  if (name?.startsWith('$left.') === true) return 'left';
  return name?.startsWith('$right.') === true ? 'right' : undefined;
}

function align(left: Bound, right: Bound): Condition {
  const type = commonType([left, right]);
  const target = type === 'dynamic' ? 'string' : type;
  return { left: convertTo(left, target), right: convertTo(right, target) };
}

function joinedColumns(kind: JoinKind, sides: Sides): readonly Column[] {
  if (kind === 'leftsemi' || kind === 'leftanti') return sides.left;
  if (kind === 'rightsemi' || kind === 'rightanti') return sides.right;
  return [...sides.left, ...sides.right];
}

/** Left fields, then right ones; a right key that repeats its left one is left out, and filled in where only the right has it. */
function outputs(
  binder: Binder,
  kind: JoinKind,
  sides: Sides,
  on: readonly Condition[],
  lookup: boolean,
): Computed[] {
  if (kind.endsWith('semi') || kind.endsWith('anti')) return joinedColumns(kind, sides).map(keep);
  const keys = on.flatMap(({ left, right }) =>
    left.kind === 'column' && right.kind === 'column' ? [{ left: left.id, right: right.id }] : [],
  );
  const repeated = (column: Column): boolean =>
    keys.some(
      key =>
        key.right === column.id &&
        (lookup || sides.left.some(other => other.id === key.left && other.name === column.name)),
    );
  const left = sides.left.map((column): Computed => {
    const key = keys.find(candidate => candidate.left === column.id);
    const twin = sides.right.find(other => other.id === key?.right && other.name === column.name);
    if (twin === undefined || (kind !== 'rightouter' && kind !== 'fullouter')) return keep(column);
    const value: Bound = {
      kind: 'call',
      name: '$first',
      args: [reference(column), reference(twin)],
      type: column.type,
    };
    return { column: { ...column, id: binder.column(column.name, column.type).id }, value };
  });
  return [...left, ...sides.right.filter(column => !repeated(column)).map(keep)];
}
