import { aggregateNamed, functionNamed } from '../../catalog/all-functions.js';
import { writtenName } from '../../catalog/catalog-written.js';
import { isTimeElsewhere } from '../../hints/languages/language-expression.js';
import { escapeRegex } from '../../plan/key-pattern.js';
import type { Column, DatasetSchema, Scalar } from '../../plan/plan.js';
import { call, constant, path, reference } from '../../plan/scalars.js';
import type { Expr, Span } from '../../syntax/ast.js';
import { identifier, member, nameExpr } from '../../syntax/nodes.js';
import { quotedName, writtenText } from '../../syntax/tokens/quote.js';
import { dottedName, findColumn } from '../bind-names.js';
import {
  type Binder,
  convertTo,
  type Definition,
  type Scope,
  shorten,
  typeInWords,
  unbound,
  unwrap,
} from '../binder.js';
import { bindExpression } from './bind-expression.js';

type NameExpr = Extract<Expr, { kind: 'name' | 'member' | 'index' }>;

/**
 * Binds a field, a `let` name, or a path into a dynamic value. In `a.b.c`, the longest prefix that is a flat field wins; the rest is a
 * path. `a['b']` is a path, or the field `a.b` if there is no `a`; `['a.b']` is always a field. If some rows of one table have `a.b` and
 * others a map `a`, `a.b` is read from both.
 */
export function bindName(binder: Binder, expr: NameExpr, scope: Scope): Scalar {
  const side = bindSide(binder, expr, scope);
  if (side !== undefined) return side;
  const flat = findFlat(expr, scope);
  if (flat !== undefined) return orKeys(reference(flat), keysLike(flat, expr, scope.columns));
  if (expr.kind === 'name') {
    const path = escapedPath(expr);
    return path === undefined ? bindSimple(binder, expr, scope) : bindName(binder, path, scope);
  }
  const { object } = expr;
  const flattened = findFlattened(binder, expr, scope);
  if (flattened !== undefined) return reference(flattened);
  if (isUnknownRoot(binder, expr, scope)) return reportUnknown(binder, expr, scope);
  const parent = bindExpression(binder, object, scope);
  const key: Scalar =
    expr.kind === 'member' ? constant('string', expr.member.name) : bindExpression(binder, expr.index, scope);
  return bindPath(binder, expr, parent, key);
}

/** Reads `['a.b\\.c']` as the property `b.c` of `a`: an escaped dot is not a separator. */
function escapedPath(expr: Extract<Expr, { kind: 'name' }>): NameExpr | undefined {
  if (!expr.quoted || !expr.name.includes('\\.')) return undefined;
  const [root = '', ...keys] = expr.name.split(/(?<!\\)\./).map(part => part.replaceAll('\\.', '.'));
  return keys.reduce<NameExpr>(
    (object, name) => member(object, identifier(name, true, expr), expr.to),
    nameExpr(identifier(root, true, expr)),
  );
}

function findFlat(expr: NameExpr, scope: Scope): Column | undefined {
  const name = dottedName(expr);
  return name === undefined ? undefined : findColumn(scope.columns, name);
}

/** Returns the field `a.b` for `a['b']` if there is no map `a`, as its keys became fields. */
function findFlattened(binder: Binder, expr: NameExpr, scope: Scope): Column | undefined {
  const [root, ...keys] = keysOf(expr);
  if (root === undefined || keys.length + 1 < depthOf(expr)) return undefined;
  if (binder.definitions.has(root) || findColumn(scope.columns, root) !== undefined) return undefined;
  return findColumn(scope.columns, [root, ...keys].join('.'));
}

/** Returns the map keys with the same name in the field's own table, longest path first. */
function keysLike({ table }: Column, expr: NameExpr, columns: readonly Column[]): Scalar[] {
  const found: Scalar[] = [];
  const keys: string[] = [];
  for (let at: Expr = expr; at.kind === 'member' && table !== undefined; at = at.object) {
    keys.unshift(at.member.name);
    const name = dottedName(at.object)?.replace(/^\$(?:left|right)\./, '');
    const map = name === undefined ? undefined : findColumn(columns, name);
    if (map?.table === table && map.type === 'dynamic')
      found.push(keys.reduce<Scalar>((object, key) => path(object, constant('string', key)), reference(map)));
  }
  return found;
}

function orKeys(field: Scalar, keys: readonly Scalar[]): Scalar {
  return keys.length === 0 ? field : call('$first', [convertTo(field, 'dynamic'), ...keys], 'dynamic');
}

function bindSimple(binder: Binder, expr: Extract<Expr, { kind: 'name' }>, scope: Scope): Scalar {
  const definition = binder.definitions.get(expr.name);
  if (definition !== undefined) {
    definition.used = true;
    if (definition.kind === 'scalar') return bindLetValue(binder, expr, definition);
    binder.error(
      'table-as-value',
      expr,
      `\`${expr.name}\` is a table, not a value`,
      `Use it as a source or as a list: \`field in (${expr.name})\`.`,
    );
    return unbound;
  }
  return bindUngrouped(binder, expr, scope) ?? reportUnknown(binder, expr, scope);
}

/** Reports the result of another cell used as a value: it is a table, and its first field other than a time is suggested. */
function reportResult(binder: Binder, expr: NameExpr, { name, fields }: DatasetSchema): Scalar {
  const field = fields.find(each => each.name !== '_time' && each.name !== '_sysTime') ?? fields[0];
  const rows = `${writtenName(name)} | project ${writtenName(field?.name ?? 'field')}`;
  binder.error(
    'table-as-value',
    expr,
    `\`${shorten(name)}\` is a result, not a value`,
    `Use it as a source, or one of its fields as a list: \`field in ((${rows}))\`.`,
  );
  return unbound;
}

/** Binds the value of a `let`, which weighs as much as its defining expression. */
function bindLetValue(
  binder: Binder,
  expr: Expr,
  { value, weight }: Extract<Definition, { kind: 'scalar' }>,
): Scalar {
  if (weight === undefined) return value;
  if (!binder.enter(expr, weight)) return unbound;
  binder.leave(weight);
  return value;
}

/** Binds a field that is neither aggregated nor grouped by: any value of the group, with a warning. */
function bindUngrouped(binder: Binder, expr: NameExpr, scope: Scope): Scalar | undefined {
  const sink = scope.aggregates;
  const column = sink === undefined ? undefined : findFlat(expr, sink.input);
  if (sink === undefined || column === undefined) return undefined;
  if (binder.isFirst(`not-grouped ${column.name}`))
    binder.report(
      'warning',
      'not-grouped',
      expr,
      `\`${column.name}\` is neither aggregated nor grouped by`,
      `An arbitrary value is returned: use make_list(${column.name}), or add it after \`by\`.`,
    );
  const output = binder.column(column.name, column.type);
  sink.found.push({
    column: output,
    call: { name: 'take_any', args: [reference(column)], type: column.type },
  });
  return reference(output);
}

function bindPath(binder: Binder, expr: NameExpr, parent: Scalar, key: Scalar): Scalar {
  if (parent.type === 'dynamic' || parent.type === 'string') {
    const object = parent.type === 'string' ? call('todynamic', [parent], 'dynamic') : parent;
    return path(object, key.type === 'long' || key.type === 'string' ? key : convertTo(key, 'string'));
  }
  const shown = binder.text(expr.kind === 'index' || expr.kind === 'member' ? expr.object : expr);
  binder.error('no-properties', expr, `\`${shown}\` has no properties: it is ${typeInWords(parent.type)}`);
  return unbound;
}

/** Binds `$left.a` or `$right.['b c']` in a join condition. */
function bindSide(binder: Binder, expr: NameExpr, scope: Scope): Scalar | undefined {
  const name = dottedName(expr);
  const [, side, field] = /^\$(left|right)\.(.+)$/s.exec(name ?? '') ?? [];
  if ((side !== 'left' && side !== 'right') || field === undefined) return undefined;
  if (scope.sides === undefined) {
    binder.error('side-outside-join', expr, `\`$${side}\` can be used only after \`on\` in a join or lookup`);
    return unbound;
  }
  const { columns, open } = scope.sides[side];
  const column = findColumn(columns, field);
  if (column !== undefined) return orKeys(reference(column), keysLike(column, expr, columns));
  if (open) return unbound;
  binder.unknown(
    'field',
    field,
    expr,
    columns.map(candidate => candidate.name),
    undefined,
    { before: `$${side}.` },
  );
  return unbound;
}

/** True if no prefix of the path is known. */
function isUnknownRoot(binder: Binder, expr: NameExpr, scope: Scope): boolean {
  const root = rootOf(expr);
  if (root.kind !== 'name') return false;
  if (binder.definitions.has(root.name) || findColumn(scope.columns, root.name) !== undefined) return false;
  for (let at: Expr = expr; at.kind === 'member' || at.kind === 'index'; at = at.object) {
    const name = dottedName(at);
    if (name !== undefined && findColumn(scope.columns, name) !== undefined) return false;
    if (findFlattened(binder, at, scope) !== undefined) return false;
  }
  return (
    scope.aggregates === undefined || findColumn(scope.aggregates.input.columns, root.name) === undefined
  );
}

function rootOf(expr: Expr): Expr {
  return expr.kind === 'member' || expr.kind === 'index' ? rootOf(unwrap(expr.object)) : expr;
}

function reportUnknown(binder: Binder, expr: NameExpr, scope: Scope): Scalar {
  const ungrouped = expr.kind === 'name' ? undefined : bindUngrouped(binder, expr, scope);
  if (ungrouped !== undefined) return ungrouped;
  if (scope.open || scope.aggregates?.input.open === true) return unbound;
  if (scope.constant !== undefined) {
    binder.error(
      'not-constant',
      expr,
      `${scope.constant} must be known before the query runs: \`${binder.text(expr)}\` is not`,
    );
    return unbound;
  }
  const table = expr.kind === 'name' ? binder.environment.results?.get(expr.name) : undefined;
  if (table !== undefined) return reportResult(binder, expr, table);
  const root = rootOf(expr);
  const dotted = dottedName(expr);
  const name = dotted ?? (root.kind === 'name' ? root.name : binder.text(expr));
  const span = dotted === undefined && root.kind === 'name' ? root : expr;
  const columns = [...scope.columns, ...(scope.aggregates?.input.columns ?? [])];
  const known = [...new Set(columns.map(column => column.name))];
  const isFunction = aggregateNamed(name) !== undefined || functionNamed(name) !== undefined;
  const names = [...known, ...binder.definitions.keys()];
  if (reportUnquoted(binder, span, known)) return unbound;
  if (scope.beside?.has(name) === true) {
    binder.error(
      'unknown-field',
      span,
      `\`${name}\` is defined by the same operator, which can use only fields from before it`,
      `Use it in the next operator: \`| extend … = ${shorten(binder.text(expr))} …\`.`,
    );
    return unbound;
  }
  const whole = expr.kind === 'index' && expr.index.kind === 'literal' ? `${name}${expr.index.value}` : name;
  if (whole !== name && known.includes(whole)) {
    const written = quotedName(whole);
    binder.error('unknown-field', expr, `unknown field \`${name}\``, `Did you mean \`${written}\`?`, written);
    return unbound;
  }
  const result = scope.aggregates === undefined ? resultOf(name, known) : undefined;
  if (result !== undefined) binder.unknown('field', name, span, [result]);
  else if (isFunction && !known.includes(name))
    binder.error(
      'unknown-field',
      span,
      `unknown field \`${name}\``,
      `Add parentheses to call the function of that name: \`${name}()\`.`,
      `${name}()`,
    );
  else {
    const owner = columns.find(column => column.type === 'dynamic' && name.startsWith(`${column.name}.`));
    const flat = flatHint(name, known);
    if (isTimeElsewhere(name) && known.includes('_time')) reportTimeElsewhere(binder, name, span);
    else if (flat !== undefined) binder.unknown('field', name, span, [], flat);
    else if (owner === undefined) {
      const [hint, instead] = guessOf(name, known, scope.mayBeText === true);
      binder.unknown('field', name, span, name.startsWith('$') ? [] : names, hint, { instead });
    } else {
      const written = `${writtenName(owner.name)}${quotedName(name.slice(owner.name.length + 1))}`;
      binder.unknown('field', name, span, [], `Write a key of \`${owner.name}\` as \`${written}\`.`);
    }
  }
  return unbound;
}

/** Reports a field around a span whose name, such as `log-status`, was read as several words for lack of quotes; returns whether it did. */
function reportUnquoted(binder: Binder, span: Span, known: readonly string[]): boolean {
  const word = new RegExp(escapeRegex(binder.text(span)), 'g');
  const { source } = binder;
  const found = known.flatMap(name => {
    const offsets = /^[\w.]*$/.test(name) ? [] : [...name.matchAll(word)].map(({ index }) => index);
    return offsets
      .map(offset => ({ from: span.from - offset, to: span.from - offset + name.length }))
      .filter(({ from, to }) => source.slice(from, to) === name && !/\w/.test(around(source, from, to)));
  });
  const [whole] = found.sort((a, b) => b.to - b.from - (a.to - a.from));
  if (whole === undefined) return false;
  const written = quotedName(binder.text(whole));
  const message = `\`${binder.text(whole)}\` is written \`${written}\` in APL`;
  binder.error('unknown-field', whole, message, undefined, written);
  return true;
}

/** Returns the characters before and after a span. */
function around(source: string, from: number, to: number): string {
  return `${source[from - 1] ?? ''}${source[to] ?? ''}`;
}

/** Returns a hint at the meaning of an unknown name, and a fix if the meaning is clear. */
function guessOf(
  name: string,
  known: readonly string[],
  mayBeText: boolean,
): [hint: string, instead?: string] {
  if (name.startsWith('$__'))
    return [
      'That is a Grafana macro: the range set by `%time` applies to every query, and `bin_auto(_time)` adapts to it.',
    ];
  if (name.startsWith('$')) return ['Write a parameter by its name: `%param x=5` above, then `x`.'];
  const plain = name.normalize('NFKC');
  if (plain !== name && /^\d+$/.test(plain)) return [`Write ${plain}.`, plain];
  const word = name.toLowerCase();
  if (/^(?:true|false|null)$/.test(word)) return [`Write \`${word}\`.`, word];
  if (word === 'none' || word === 'nil') return ['Write `null`.', 'null'];
  const time = known.includes('_time') ? ofTime[word] : undefined;
  if (time !== undefined) return [`Write \`${time}\`.`, time];
  if (/^(?:any|all|_all|_raw)$/.test(word)) return ['Use `*` for all fields: `* has "text"`.', '*'];
  const deeper = known.filter(each => each.toLowerCase().endsWith(`.${word}`));
  const [first = ''] = deeper;
  if (deeper.length === 1) return [`Did you mean \`${first}\`?`, writtenName(first)];
  if (deeper.length > 1)
    return [
      `Did you mean one of ${deeper
        .slice(0, 3)
        .map(each => `\`${each}\``)
        .join(', ')}?`,
    ];
  return mayBeText ? [`Did you mean the string '${name}'?`, writtenText(name)] : [listOf(known)];
}

/** Words for times and their components. */
const ofTime: Readonly<Record<string, string>> = {
  today: 'startofday(now())',
  current_date: 'startofday(now())',
  current_timestamp: 'now()',
  localtimestamp: 'now()',
  sysdate: 'now()',
  yesterday: 'startofday(ago(1d))',
  minute: 'bin(_time, 1m)',
  hour: 'bin(_time, 1h)',
  day: 'bin(_time, 1d)',
  date: 'bin(_time, 1d)',
  week: 'bin(_time, 7d)',
};

function reportTimeElsewhere(binder: Binder, name: string, span: Span): void {
  if (!binder.isFirst(`unknown field ${name}`)) return;
  binder.error('unknown-field', span, `unknown field \`${name}\``, 'The time field is `_time`.', '_time');
}

/** Returns the flattened fields to write for a map that is not itself a field. */
function flatHint(name: string, known: readonly string[]): string | undefined {
  const parts = known.filter(each => each.startsWith(`${name}.`));
  const [first, second] = parts;
  if (first === undefined) return undefined;
  const more = parts.length > 2 ? ` and ${parts.length - 2} more` : '';
  const listed = second === undefined ? `\`${first}\`` : `\`${first}\`, \`${second}\`${more}`;
  return `Its keys are fields: ${listed}.`;
}

/** Returns the root name of a path, and its keys up to the first computed key or array index. */
function keysOf(expr: Expr): string[] {
  if (expr.kind === 'name') return [expr.name];
  if (expr.kind !== 'member' && expr.kind !== 'index') return [];
  const object = unwrap(expr.object);
  const above = keysOf(object);
  const key =
    expr.kind === 'member' ? expr.member.name : expr.index.kind === 'literal' ? expr.index.value : undefined;
  return typeof key === 'string' && above.length === depthOf(object) ? [...above, key] : above;
}

/** Returns the number of names and keys in a path. */
function depthOf(expr: Expr): number {
  return expr.kind === 'member' || expr.kind === 'index' ? depthOf(unwrap(expr.object)) + 1 : 1;
}

/**
 * Returns the result field of the aggregate with that name, such as `count_` or `avg_duration`, or a field whose name differs only in case.
 */
function resultOf(name: string, known: readonly string[]): string | undefined {
  const isAggregate = aggregateNamed(name) !== undefined;
  return known.find(
    each => each.toLowerCase() === name.toLowerCase() || (isAggregate && each.startsWith(`${name}_`)),
  );
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'There are no fields here.';
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `Fields here: ${shown} and ${names.length - 8} more.` : `Fields here: ${shown}.`;
}
