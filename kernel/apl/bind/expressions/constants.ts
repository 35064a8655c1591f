import { writtenName } from '../../catalog/catalog-written.js';
import type { Expr } from '../../syntax/ast.js';
import { type Binder, type Scope, shorten, unwrap } from '../binder.js';

/** Warns about `"status" == 500`: a quoted field is a string, the same in every row. */
export function warnOfQuotedField(binder: Binder, left: Expr, right: Expr, scope: Scope): void {
  const field = quotedField(left, scope);
  if (field === undefined || unwrap(right).kind !== 'literal') return;
  report(binder, left, `Write \`${shorten(field)}\` for the field.`, field);
}

/** Warns about `by 5m`, `by "status"`, `by 1`: a key that groups nothing. */
export function warnOfConstantKey(binder: Binder, key: Expr, scope: Scope): void {
  const literal = unwrap(key);
  if (literal.kind !== 'literal') return;
  const hasTime = scope.columns.some(({ name }) => name === '_time');
  const meant =
    literal.type === 'timespan' && hasTime
      ? `bin(_time, ${binder.text(literal)})`
      : quotedField(literal, scope);
  const hint = meant === undefined ? 'Write the name of a field.' : `Write \`${shorten(meant)}\`.`;
  report(binder, key, hint, meant);
}

/** Returns the field whose name is written in quotes. */
function quotedField(expr: Expr, scope: Scope): string | undefined {
  const literal = unwrap(expr);
  if (literal.kind !== 'literal' || literal.type !== 'string') return undefined;
  const field = scope.columns.find(({ name }) => name === literal.value);
  return field && writtenName(field.name);
}

function report(binder: Binder, at: Expr, hint: string, instead: string | undefined): void {
  const message = `\`${shorten(binder.text(at))}\` is the same in every row`;
  binder.report('warning', 'same-in-every-row', at, message, hint, instead);
}
