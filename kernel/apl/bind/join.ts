import { joinKinds } from '../operators/combining.js';
import { optionsOf } from '../operators/operator-rows.js';
import type { Column, Computed, JoinKind, Relation, Scalar } from '../plan/plan.js';
import { call, reference } from '../plan/scalars.js';
import type { Expr, OperatorOf } from '../syntax/ast.js';
import { optionText } from '../syntax/readers/read-options.js';
import { visitExpr } from '../syntax/syntax-walk.js';
import { dottedName, findColumn } from './bind-names.js';
import { bindSource } from './bind-source.js';
import { freshStage, keep, project, type Stage } from './bind-stage.js';
import { type Binder, commonType, convertTo, type Scope, scopeOf, unwrap } from './binder.js';
import { bindExpression } from './expressions/bind-expression.js';

type Join = OperatorOf<'join' | 'lookup'>;
interface Condition {
  readonly left: Scalar;
  readonly right: Scalar;
  /** The two values before they were converted to one type. */
  readonly written: { readonly left: Scalar; readonly right: Scalar };
}

/** Binds `join` and `lookup`: equal keys, then the fields of both sides; a key with the same name on both sides occurs once. */
export function bindJoin(binder: Binder, operator: Join, stage: Stage): Stage {
  if (!binder.count('joins', operator)) return stage;
  const kind = joinKind(operator);
  const right = freshIds(binder, bindSource(binder, operator.right));
  const sides = { left: scopeOf(stage), right: scopeOf(right) };
  const on = operator.on.flatMap(condition => bindCondition(binder, condition, sides));
  const relation: Relation = {
    kind: 'join',
    left: stage.relation,
    right: right.relation,
    join: kind,
    on: on.map(({ left, right }) => ({ left, right })),
    columns: joinedColumns(kind, sides),
  };
  return project(
    { ...freshStage(relation, stage.open || right.open), order: stage.order, bounded: stage.bounded },
    outputs(binder, kind, sides, on, operator.kind === 'lookup'),
  );
}

/** Returns the kind of a join; the parser has rejected values not in the table. */
function joinKind({ kind, options }: Join): JoinKind {
  const written = optionText(options, 'kind', optionsOf(kind));
  return joinKinds.find(each => each === written) ?? (kind === 'lookup' ? 'leftouter' : 'inner');
}

/** Gives a stage new columns, as a table joined with itself needs distinct ones on each side. */
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

/** Binds `key`, `a == b`, `$left.a == $right.b`, or several joined by `and`. */
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
        'a join can only compare fields for equality',
        'Write `on key`, `on a == b` or `on $left.a == $right.b`.',
      );
    return [];
  }
  const [left, right] = [findColumn(sides.left.columns, name), findColumn(sides.right.columns, name)];
  if (left !== undefined && right !== undefined)
    return [align(bindOn(binder, inner, sides, 'left'), bindOn(binder, inner, sides, 'right'))];
  const missing = left === undefined ? sides.left : sides.right;
  if (missing.open) return [];
  if (left !== undefined || right !== undefined) {
    binder.error(
      'unknown-field',
      expr,
      `the ${left === undefined ? 'left' : 'right'} side has no field \`${name}\``,
      `Its fields: ${missing.columns.map(column => column.name).join(', ')}. To join fields with different names, write \`on $left.a == $right.b\`.`,
    );
    return [];
  }
  binder.unknown(
    'field',
    name,
    expr,
    missing.columns.map(column => column.name),
    'To join fields with different names, write `on $left.a == $right.b`.',
  );
  return [];
}

/** Binds `a == b`: a value of each side, in either order if the fields show which is which. */
function bindEquality(binder: Binder, expr: Extract<Expr, { kind: 'binary' }>, sides: Sides): Condition[] {
  const { left, right } = expr;
  const isInOrder = belongs(binder, left, sides, 'left') && belongs(binder, right, sides, 'right');
  const isSwapped =
    !isInOrder && belongs(binder, left, sides, 'right') && belongs(binder, right, sides, 'left');
  if (!isInOrder && !isSwapped) {
    if (sides.left.open || sides.right.open) return [];
    return refuseEquality(binder, expr, sides);
  }
  const [ours, theirs] = isSwapped ? [right, left] : [left, right];
  return [align(bindOn(binder, ours, sides, 'left'), bindOn(binder, theirs, sides, 'right'))];
}

type Side = keyof Sides;

function bindOn(binder: Binder, expr: Expr, sides: Sides, side: Side): Scalar {
  return bindExpression(binder, expr, { ...sides[side], sides });
}

/** True if an expression names fields, all on that side. */
function belongs(binder: Binder, expr: Expr, sides: Sides, side: Side): boolean {
  const names = fieldRoots(expr).filter(name => !binder.definitions.has(name));
  return names.length > 0 && names.every(name => isOnSide(name, sides[side].columns, side));
}

function isOnSide(name: string, columns: readonly Column[], side: Side): boolean {
  if (name === '$left' || name === '$right') return name === `$${side}`;
  return columns.some(column => column.name === name || column.name.startsWith(`${name}.`));
}

/** Returns the root names of the paths in an expression. */
function fieldRoots(expr: Expr): string[] {
  const names: string[] = [];
  visitExpr(expr, {
    expr: each => {
      if (each.kind === 'name') names.push(each.name);
    },
  });
  return names;
}

/** Reports the name that neither side has, or that both values are from one side. */
function refuseEquality(binder: Binder, expr: Extract<Expr, { kind: 'binary' }>, sides: Sides): Condition[] {
  const isWritten = (value: Expr): boolean => fieldRoots(value).some(name => name.startsWith('$'));
  const found = binder.diagnostics.length;
  if (!isWritten(expr.left) && !isWritten(expr.right)) {
    bindOn(binder, expr.left, sides, 'left');
    bindOn(binder, expr.right, sides, 'right');
  }
  if (binder.diagnostics.length > found) return [];
  binder.error(
    'join-condition',
    expr,
    'a condition must compare a field of the left side with one of the right',
    'Write `$left.a == $right.b`.',
  );
  return [];
}

function align(left: Scalar, right: Scalar): Condition {
  const type = commonType([left, right]);
  const target = type === 'dynamic' ? 'string' : type;
  return { left: convertTo(left, target), right: convertTo(right, target), written: { left, right } };
}

function joinedColumns(kind: JoinKind, sides: Sides): readonly Column[] {
  if (kind === 'leftsemi' || kind === 'leftanti') return sides.left.columns;
  if (kind === 'rightsemi' || kind === 'rightanti') return sides.right.columns;
  return [...sides.left.columns, ...sides.right.columns];
}

/**
 * Returns the left fields, then the right ones. A right key with the same name as its left key is left out; its value is used for rows that
 * only the right side has.
 */
function outputs(
  binder: Binder,
  kind: JoinKind,
  sides: Sides,
  on: readonly Condition[],
  lookup: boolean,
): Computed[] {
  if (kind.endsWith('semi') || kind.endsWith('anti')) return joinedColumns(kind, sides).map(keep);
  const keys = on.flatMap(({ written: { left, right } }) =>
    left.kind === 'column' && right.kind === 'column' ? [{ left: left.id, right: right.id }] : [],
  );
  const repeated = (column: Column): boolean =>
    keys.some(
      key =>
        key.right === column.id &&
        (lookup || sides.left.columns.some(other => other.id === key.left && other.name === column.name)),
    );
  const left = sides.left.columns.map((column): Computed => {
    const key = keys.find(candidate => candidate.left === column.id);
    const twin = sides.right.columns.find(other => other.id === key?.right && other.name === column.name);
    if (twin === undefined || (kind !== 'rightouter' && kind !== 'fullouter')) return keep(column);
    const values = [reference(column), reference(twin)];
    const type = commonType(values);
    const value = call(
      '$first',
      values.map(each => convertTo(each, type)),
      type,
    );
    return { column: { ...column, type, id: binder.column(column.name, type).id }, value };
  });
  return [...left, ...sides.right.columns.filter(column => !repeated(column)).map(keep)];
}
