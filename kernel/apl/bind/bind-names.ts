import type { BindEnvironment, Column, DatasetSchema } from '../plan/plan.js';
import type { Assignment, Expr, Span } from '../syntax/ast.js';
import { type Binder, shorten, unwrap } from './binder.js';

/** Returns the column called `name`; a relation has at most one. */
export function findColumn(columns: readonly Column[], name: string): Column | undefined {
  return columns.find(column => column.name === name);
}

/** Returns the stored result with that name; a quoted name always means a dataset. */
export function resultNamed(
  { results }: BindEnvironment,
  { name, quoted }: { readonly name: string; readonly quoted: boolean },
): DatasetSchema | undefined {
  return quoted ? undefined : results?.get(name);
}

/** Returns the dotted name of `a.b.c`, or undefined if the path has an index or an expression. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.name;
  if (expr.kind !== 'member') return undefined;
  const object = dottedName(expr.object);
  return object === undefined ? undefined : `${object}.${expr.member.name}`;
}

/** Returns the field that an expression names: the expression itself, or the one whose property it reads. */
export function fieldOf(expr: Expr): string | undefined {
  const inner = unwrap(expr);
  const name = dottedName(inner);
  if (name !== undefined) return name;
  if (inner.kind === 'index') {
    const object = fieldOf(inner.object);
    return object !== undefined && inner.index.kind === 'literal'
      ? `${object}.${String(inner.index.value)}`
      : object;
  }
  return undefined;
}

/** Returns the field whose name an expression keeps: the expression itself, or the field it converts. */
export function inheritedName(expr: Expr): string | undefined {
  const inner = unwrap(expr);
  const [only, more] = inner.kind === 'call' ? inner.args : [];
  if (inner.kind === 'call' && only !== undefined && more === undefined && converting.has(inner.callee.name))
    return fieldOf(only.value);
  return fieldOf(inner);
}

const converting = new Set([
  ...['tostring', 'toint', 'tolong', 'toreal', 'todouble', 'tofloat', 'tobool', 'toboolean'],
  ...['todatetime', 'totimespan', 'todynamic'],
]);

/** Returns the name given to an item; reports an error if there are more names than values. */
export function givenName(binder: Binder, { names, value }: Assignment, values = 1): string | undefined {
  const extra = names[values];
  if (extra !== undefined)
    binder.error(
      'expected',
      extra,
      `\`${shorten(binder.text(value))}\` returns ${values === 1 ? 'one value' : `${values} values`}, but there are ${names.length} names`,
    );
  return names[0]?.name;
}

/** Warns about each repeated name in an operator, as only its last value is kept. */
export function warnOfRepeats(binder: Binder, names: readonly (Span & { readonly name: string })[]): void {
  const last = new Map(names.map(({ name }, index) => [name, index]));
  for (const [index, { name, from, to }] of names.entries())
    if (last.get(name) !== index)
      binder.report(
        'warning',
        'repeated-name',
        { from, to },
        `this \`${name}\` is lost, because the same operator assigns the name again`,
        'Rename one of the two.',
      );
}

/** Returns the name of an unnamed expression: its field, or its source. */
export function defaultName(binder: Binder, expr: Expr, index: number, prefix?: string): string {
  const field = fieldOf(expr) ?? binnedField(expr);
  if (field !== undefined) return field;
  return prefix === undefined ? binder.written(expr) || `column${index + 1}` : `${prefix}${index}`;
}

const binning = new Set(['bin', 'bin_auto', 'floor', 'ceiling', 'round']);

/** Returns the field of a binned expression: `_time` for `bin(_time, 1h)`. */
function binnedField(expr: Expr): string | undefined {
  const inner = unwrap(expr);
  if (inner.kind !== 'call' || !binning.has(inner.callee.name)) return undefined;
  const first = inner.args[0]?.value;
  return first === undefined ? undefined : dottedName(unwrap(first));
}
