import type { Column, Computed, DatasetSchema, Scalar } from '../plan/plan.js';
import { call, constant, path, reference } from '../plan/scalars.js';
import type { Assignment, Expr, FieldPattern, OperatorOf, OrderedPattern, Span } from '../syntax/ast.js';
import { finding } from '../syntax/diagnostics.js';
import { type VirtualField, virtualExtension } from '../syntax/readers/virtual.js';
import { quotedName } from '../syntax/tokens/quote.js';
import { defaultName, fieldOf, findColumn, givenName, warnOfRepeats } from './bind-names.js';
import { matchesPattern } from './bind-pattern.js';
import { columnFor, extend, keep, project, type Stage } from './bind-stage.js';
import { type Binder, scopeOf } from './binder.js';
import { bindExpression } from './expressions/bind-expression.js';

/** Returns the columns that match a pattern; reports an error if none do. */
export function expand(binder: Binder, pattern: FieldPattern, stage: Stage): Column[] {
  const columns = stage.relation.columns.filter(column => matchesPattern(pattern, column.name));
  if (columns.length > 0 || stage.open) return columns;
  const name = pattern.parts.join('*');
  if (pattern.exact) {
    const written = quotedPattern(name, stage.relation.columns);
    const known = stage.relation.columns.map(column => column.name);
    if (written !== undefined)
      binder.unknown('field', name, pattern, [], `Write \`${written}\`.`, { instead: written });
    else if (name !== '') binder.unknown('field', name, pattern, known);
  } else binder.report('warning', 'no-match', pattern, `no field matches \`${name}\``);
  return [];
}

/** Returns a name with `*` in its quotes, such as `['a.*']`, as a pattern, if that matches a column. */
function quotedPattern(name: string, columns: readonly Column[]): string | undefined {
  const parts = name.split('*');
  const matches = columns.some(column => matchesPattern({ parts, exact: false }, column.name));
  return parts.length > 1 && matches
    ? parts.map(part => (part === '' ? '' : quotedName(part))).join('*')
    : undefined;
}

/** Binds assignments in which a name replaces any existing column. */
export function bindExtensions(binder: Binder, items: readonly Assignment[], stage: Stage): Computed[] {
  warnOfRepeats(
    binder,
    items.flatMap(({ names }) => names),
  );
  return bindItems(binder, items, stage);
}

/** Binds `extend-valid`: keeps a value only if it is valid for its type: not empty, not zero, not false. */
export function bindExtendValid(binder: Binder, operator: OperatorOf<'extend-valid'>, stage: Stage): Stage {
  const items = bindExtensions(binder, operator.items, stage).map(item => ({
    ...item,
    value: call('$valid', [item.value], item.value.type),
  }));
  return extend(stage, items);
}

/** Renames fields in place; the order of rows follows the renamed fields. */
export function bindRename(binder: Binder, operator: OperatorOf<'project-rename'>, stage: Stage): Stage {
  const renamed = new Map<Column, string>();
  for (const item of operator.items) {
    const value = bindExpression(binder, item.value, scopeOf(stage));
    const column =
      value.kind === 'column'
        ? stage.relation.columns.find(candidate => candidate.id === value.id)
        : undefined;
    const name = givenName(binder, item);
    if (name === undefined) binder.error('rename-shape', item, '`project-rename` takes `new = old`');
    else if (column !== undefined) {
      if (renamed.has(column))
        warnOfRename(binder, item, `\`${column.name}\` is renamed twice: the last name is used`);
      renamed.set(column, name);
    } else if (value.kind !== 'constant')
      binder.error(
        'rename-shape',
        item.value,
        'only a field can be renamed',
        'Use `extend` for computed fields.',
      );
  }
  for (const item of operator.items) {
    const [given] = item.names;
    const replaced = given && findColumn(stage.relation.columns, given.name);
    if (replaced !== undefined && !renamed.has(replaced))
      warnOfRename(binder, item, `this replaces the existing field \`${replaced.name}\``);
  }
  const names = new Set(renamed.values());
  const kept = stage.relation.columns.filter(column => renamed.has(column) || !names.has(column.name));
  return project(
    { ...stage, order: renameOrder(stage, renamed) },
    kept.map(column => ({ column: rename(binder, column, renamed), value: reference(column) })),
  );
}

function warnOfRename(binder: Binder, span: Span, message: string): void {
  binder.report('warning', 'replaced-field', span, message, 'Use another name, or remove the line.');
}

function rename(binder: Binder, column: Column, renamed: ReadonlyMap<Column, string>): Column {
  const name = renamed.get(column);
  return name === undefined ? column : columnFor(binder, name, reference(column), [column]);
}

function renameOrder(stage: Stage, renamed: ReadonlyMap<Column, string>): Stage['order'] {
  const names = new Map([...renamed].map(([column, name]) => [column.name, name]));
  return stage.order.map(key => ({ ...key, field: names.get(key.field) ?? key.field }));
}

export function bindReorder(binder: Binder, { items }: OperatorOf<'project-reorder'>, stage: Stage): Stage {
  return project(stage, reorder(binder, items, stage).map(keep));
}

/** Returns the named columns first, in the order of the items; `*` marks the position of the rest, by default last. */
function reorder(binder: Binder, items: readonly OrderedPattern[], stage: Stage): Column[] {
  const { columns } = stage.relation;
  const isRest = (item: OrderedPattern): boolean =>
    item.pattern.parts.length === 2 && item.pattern.parts.every(part => part === '');
  const named = new Set(
    items
      .filter(item => !isRest(item))
      .flatMap(item => columns.filter(column => matchesPattern(item.pattern, column.name))),
  );
  const taken = new Set<Column>();
  const output = items.flatMap(item => {
    const all = isRest(item)
      ? columns.filter(column => !named.has(column))
      : expand(binder, item.pattern, stage);
    const fresh = all.filter(column => !taken.has(column));
    for (const column of fresh) taken.add(column);
    return sortColumns(fresh, item.order);
  });
  return [...output, ...columns.filter(column => !taken.has(column))];
}

function sortColumns(columns: readonly Column[], order: OrderedPattern['order']): readonly Column[] {
  if (order === undefined) return columns;
  const byName = (a: Column, b: Column): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const sorted = [...columns].sort(
    order.startsWith('granny') ? (a, b) => compareNatural(a.name, b.name) : byName,
  );
  return order.endsWith('desc') ? sorted.reverse() : sorted;
}

/** Compares names with their numbers by value: `a2` before `a10`. */
function compareNatural(a: string, b: string): number {
  const left: readonly string[] = a.match(/\d+|\D+/g) ?? [];
  const right: readonly string[] = b.match(/\d+|\D+/g) ?? [];
  for (const [at, x] of left.entries()) {
    const y = right[at];
    if (y === undefined || x === y) continue;
    const numeric = /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : 0;
    return numeric !== 0 ? numeric : x < y ? -1 : 1;
  }
  return left.length - right.length;
}

/** Binds `name = expr` items to new columns over `stage`; a bare name keeps its column. */
export function bindItems(
  binder: Binder,
  items: readonly Assignment[],
  stage: Stage,
  nameOf: (value: Expr) => string | undefined = fieldOf,
): Computed[] {
  const beside = new Set<string>();
  const scope = { ...scopeOf(stage), beside };
  return items.flatMap((item, index) => {
    const value = bindExpression(binder, item.value, scope);
    for (const { name } of item.names) beside.add(name);
    if (item.names.length > 1) return spread(binder, item, value);
    const name = item.names[0]?.name ?? nameOf(item.value) ?? defaultName(binder, item.value, index);
    return [
      { column: columnFor(binder, name, value, stage.relation.columns, item.names.length === 0), value },
    ];
  });
}

/** Binds `(a, b) = array`: one column per element. */
function spread(binder: Binder, item: Assignment, value: Scalar): Computed[] {
  if (value.type !== 'dynamic')
    binder.error('argument-type', item.value, 'only an array can be assigned to several names');
  return item.names.map((name, index) => {
    const key: Scalar = constant('long', BigInt(index));
    return {
      column: binder.column(name.name, 'dynamic'),
      value: path(value, key),
    };
  });
}

/** Adds a dataset's virtual fields to its rows. A field that cannot be computed is left out, with a warning at `span`. */
export function withVirtualFields(binder: Binder, scan: Stage, schema: DatasetSchema, span: Span): Stage {
  return (schema.virtual ?? []).reduce((stage, field) => {
    const problem = schema.fields.some(({ name }) => name === field.name)
      ? 'the dataset has a field with that name'
      : undefined;
    const extended = problem === undefined ? extendedBy(binder, stage, field, span) : problem;
    if (typeof extended !== 'string') return extended;
    const message = `the virtual field \`${field.name}\` is skipped: ${extended}`;
    binder.diagnostics.push(finding('warning', 'virtual-field', span, message));
    return stage;
  }, scan);
}

/** Returns the rows with the field, or the reason it cannot be computed. */
function extendedBy(binder: Binder, stage: Stage, field: VirtualField, span: Span): Stage | string {
  const operator = virtualExtension(field, span);
  if (operator === undefined) return 'its definition is not a single expression';
  const before = binder.diagnostics.length;
  const extended = extend(stage, bindExtensions(binder, operator.items, stage));
  // An error in the virtual field is not an error in this query.
  const wrong = binder.diagnostics.splice(before).find(({ severity }) => severity === 'error');
  return wrong === undefined ? extended : wrong.message;
}
