import { own } from '../../../present.js';
import { datesMeant, parseTime, parseTimespan } from '../../../time.js';
import { aggregateNamed, functionNamed, functionNames } from '../../catalog/all-functions.js';
import {
  arityOf,
  type FunctionEntry,
  type Param,
  type ParamType,
  type TypeName,
} from '../../catalog/entry.js';
import { allGroups } from '../../catalog/functions/string-functions.js';
import { rowFunctions } from '../../catalog/row-functions.js';
import {
  callElsewhere,
  familyHint,
  functionsElsewhere,
  operatorCalled,
  sameOrder,
} from '../../hints/hint-functions.js';
import type { Relation, Scalar } from '../../plan/plan.js';
import { call, constant, reference } from '../../plan/scalars.js';
import type { Argument, Expr, Pipeline, Span } from '../../syntax/ast.js';
import { nearest } from '../../syntax/nearest.js';
import { dataset, identifier, literal } from '../../syntax/nodes.js';
import { typeNamed } from '../../syntax/syntax-types.js';
import { findColumn } from '../bind-names.js';
import {
  type Binder,
  convertTo,
  type Definition,
  isNull,
  isNumber,
  type Scope,
  shorten,
  typeInWords,
  unbound,
} from '../binder.js';
import { bindAggregate } from './aggregate.js';
import { countFixes, countHints, swappedPercentile } from './bind-counts.js';
import { bindExpression } from './bind-expression.js';
import { type Operand, refusesBin, typeOfOneOf, warnOfBareNumber, warnOfTimeUnit } from './duration.js';

export type CallExpr = Extract<Expr, { kind: 'call' }>;
type SpecialForm = (binder: Binder, expr: CallExpr, scope: Scope) => Scalar | undefined;

/** Binds a call: a special form, an aggregate if aggregates are allowed, or a catalog function. */
export function bindCall(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const { name } = expr.callee;
  const special = Object.hasOwn(specialForms, name) ? specialForms[name]?.(binder, expr, scope) : undefined;
  if (special !== undefined) return special;
  const aggregate = aggregateNamed(name);
  if (aggregate !== undefined && functionNamed(name) === undefined)
    return bindAggregateCall(binder, expr, aggregate, scope);
  const entry = functionNamed(name);
  if (entry === undefined) return refuseUnknown(binder, expr, scope);
  if (entry.unavailable !== undefined && binder.environment.hasAllFunctions !== true) {
    binder.error('unavailable', expr.callee, `\`${name}\` is not available here: ${entry.unavailable}`);
    return unbound;
  }
  const values = positional(binder, expr).map(value => bindArgument(binder, value, scope));
  if (entry.name === 'todatetime') warnOfTimeUnit(binder, scope, operandsOf(expr, values));
  const args = alignArguments(binder, expr, entry, values);
  return args === undefined ? unbound : call(entry.name, args.args, args.type, argumentSpans(expr));
}

/** Returns the arguments without names; a name is reported, as it is usually a typo for `==`. */
export function positional(binder: Binder, expr: CallExpr): readonly Expr[] {
  for (const argument of expr.args) {
    if (argument.name === undefined) continue;
    binder.error(
      'named-argument',
      argument,
      `\`${expr.callee.name}\` takes no named arguments`,
      `Write \`${argument.name.name} == …\` to compare.`,
    );
  }
  return expr.args.map((argument: Argument) => argument.value);
}

export function argumentSpans(expr: CallExpr): Span[] {
  return expr.args.map(({ value }) => ({ from: value.from, to: value.to }));
}

/** Checks the number of arguments and converts each to its parameter's type; returns undefined, with a report, on failure. */
export function alignArguments(
  binder: Binder,
  expr: CallExpr,
  entry: FunctionEntry,
  values: readonly Scalar[],
): { args: Scalar[]; type: TypeName } | undefined {
  if (!checkCount(binder, expr, entry, values.length)) return undefined;
  if (entry.name === 'bin' && refusesBin(binder, operandsOf(expr, values))) return undefined;
  const last = entry.params.at(-1);
  const params = values.map((_, index) => entry.params[index] ?? last);
  const common =
    entry.returns === 'common'
      ? typeOfOneOf(
          binder,
          entry.name,
          operandsOf(expr, values).filter((_, index) => params[index]?.type === 'any'),
        )
      : undefined;
  if (entry.returns === 'common' && common === undefined) return undefined;
  const args: Scalar[] = [];
  for (const [index, value] of values.entries()) {
    const param = params[index];
    if (param === undefined) return undefined;
    const at = expr.args[index]?.value ?? expr;
    if (param.constant === true && !isConstant(value)) {
      const swapped = swappedPercentile(
        expr.callee.name,
        expr.args.map(each => binder.text(each.value)),
      );
      const order = `\`${entry.name}\` takes the values first, then the percentage`;
      if (swapped !== undefined)
        binder.error('argument-order', expr, order, `Write ${shorten(swapped)}.`, swapped);
      else binder.error('not-constant', at, `the ${param.name} of \`${entry.name}\` must be a constant`);
      return undefined;
    }
    const converted =
      common !== undefined && param.type === 'any'
        ? convertTo(value, common)
        : convertArgument(binder, entry, param, value, at);
    if (converted === undefined) return undefined;
    args.push(converted);
  }
  warnOfOrder(binder, expr, entry, values);
  if (entry.name === 'replace_regex') warnOfBackslash(binder, expr, values);
  if (/^trim(?:_start|_end)?$/.test(entry.name)) warnOfPattern(binder, expr, values);
  const type =
    entry.returns === 'same'
      ? (args[0]?.type ?? 'dynamic')
      : entry.returns === 'common'
        ? (common ?? 'dynamic')
        : entry.returns;
  return { args, type };
}

function operandsOf(expr: CallExpr, values: readonly Scalar[]): readonly Operand[] {
  return expr.args.flatMap(({ value }, index) => {
    const bound = values[index];
    return bound === undefined ? [] : [{ expr: value, value: bound }];
  });
}

/** Warns about `replace_string(field, 'a', 'b')`, the argument order of other languages: the string to search is a constant. */
function warnOfOrder(binder: Binder, expr: CallExpr, entry: FunctionEntry, values: readonly Scalar[]): void {
  const last = entry.params.length - 1;
  const isFirst = entry.name === 'split';
  if (!isFirst && (last === 0 || entry.params[last]?.name !== 'text')) return;
  const [worked, other] = isFirst ? [values[0], values[1]] : [values[last], values[0]];
  if (worked === undefined || other === undefined || !isConstant(worked) || isConstant(other)) return;
  const [first = '', ...rest] = expr.args.map(({ value }) => binder.text(value));
  // A regular expression and its group stay adjacent.
  const order = entry.params[1]?.type === 'string' ? [...rest, first] : [...rest.reverse(), first];
  const meant = `${expr.callee.name}(${order.join(', ')})`;
  binder.report(
    'warning',
    'argument-order',
    expr,
    `\`${expr.callee.name}\` operates on its ${isFirst ? 'first' : 'last'} argument, which is a constant here`,
    `Write ${shorten(meant)}.`,
    meant,
  );
}

/** Warns about `replace_regex(regex, '\\1', text)`: a group as other languages write it. */
function warnOfBackslash(binder: Binder, expr: CallExpr, [, rewrite]: readonly Scalar[]): void {
  const at = expr.args[1]?.value;
  const [group] = (rewrite?.kind === 'constant' && /\\\d/.exec(String(rewrite.value))) || [];
  if (at?.kind !== 'literal' || group === undefined) return;
  const meant = binder.text(at).replace(/\\+(\d)/g, '$$$1');
  const message = `\`${group}\` is a string here: write a group as \`$${group.slice(1)}\``;
  binder.report('warning', 'rewrite-group', at, message, `Write ${shorten(meant)}.`, meant);
}

/** Warns about `trim(@'[^\w]+', text)`: a regular expression, which Kusto's functions of these names take. */
function warnOfPattern(binder: Binder, expr: CallExpr, [set]: readonly Scalar[]): void {
  if (set?.kind !== 'constant' || !/\\[wdsWDS]|\[[^\]]+\][+*]|\.[+*]/.test(String(set.value))) return;
  const meant = `${expr.callee.name}_regex`;
  binder.report(
    'warning',
    'regex-as-set',
    expr.callee,
    `\`${expr.callee.name}\` removes the characters in a set, not a regular expression`,
    `Use ${meant} for a regular expression.`,
    meant,
  );
}

/** Returns `name(a, b?, c…)`, a signature for messages. */
function signature(entry: FunctionEntry): string {
  const params = entry.params.map(
    param => `${param.name}${param.optional === true ? '?' : ''}${param.rest === true ? ', …' : ''}`,
  );
  return `${entry.name}(${params.join(', ')})`;
}

function bindArgument(binder: Binder, expr: Expr, scope: Scope): Scalar {
  if (expr.kind === 'typeof') return constant('string', expr.type ?? 'string');
  return bindExpression(binder, expr, scope);
}

/** True for a constant, or a call or array of constants. */
function isConstant(value: Scalar): boolean {
  switch (value.kind) {
    case 'constant':
      return true;
    case 'convert':
      return isConstant(value.value);
    case 'array':
      return value.items.every(isConstant);
    case 'call':
      return value.args.every(isConstant);
    case 'negate':
      return isConstant(value.operand);
    case 'binary':
      return isConstant(value.left) && isConstant(value.right);
    default:
      return false;
  }
}

function checkCount(binder: Binder, expr: CallExpr, entry: FunctionEntry, count: number): boolean {
  const { least, most } = arityOf(entry.params);
  if (count >= least && count <= most) return true;
  const wanted =
    least === most
      ? `${least}`
      : most === Number.POSITIVE_INFINITY
        ? `at least ${least}`
        : `${least} to ${most}`;
  const noun = wanted === '1' || wanted.endsWith(' 1') ? 'argument' : 'arguments';
  binder.error(
    'argument-count',
    expr,
    `\`${entry.name}\` takes ${wanted} ${noun}, not ${expr.args.length}`,
    countHints[entry.name]?.(count) ?? `${signature(entry)}: ${entry.doc}`,
    countFixes[entry.name]?.(expr.args.map(({ value }) => binder.text(value))),
  );
  return false;
}

function convertArgument(
  binder: Binder,
  entry: FunctionEntry,
  param: Param,
  value: Scalar,
  at: Expr,
): Scalar | undefined {
  const target = targetType(param.type, value);
  if (target === 'timespan')
    warnOfBareNumber(binder, { expr: at, value }, `the ${param.name} of \`${entry.name}\``);
  if (target !== undefined) return convertTo(value, target);
  if (param.type === 'string' && value.type !== 'dynamic') {
    binder.report(
      'hint',
      'read-as-text',
      at,
      `\`${shorten(binder.text(at))}\` is ${typeInWords(value.type)}, read as text by \`${entry.name}\``,
    );
    return convertTo(value, 'string');
  }
  binder.error(
    'argument-type',
    at,
    `the ${param.name} of \`${entry.name}\` must be ${kindInWords(param.type)}, but \`${shorten(binder.text(at))}\` is ${typeInWords(value.type)}`,
    literalHint(param.type, value) ?? textHint(entry, value) ?? conversionHint(param.type, value.type),
    unquotedDuration(param.type, value) ?? converted(param.type, value, binder.text(at)),
  );
  return undefined;
}

function kindInWords(type: ParamType): string {
  switch (type) {
    case 'array':
      return 'an array';
    case 'map':
      return 'a map';
    case 'number':
      return 'a number';
    case 'type':
      return 'the name of a type';
    case 'field':
      return 'a field';
    case 'any':
    case 'scalar':
      return 'a single value';
    default:
      return typeInWords(type);
  }
}

/** Returns a hint for `ago('1h')`: a duration is written without quotes. */
function literalHint(wanted: ParamType, value: Scalar): string | undefined {
  if (wanted !== 'timespan' || value.kind !== 'constant' || value.type !== 'string') return undefined;
  const text = unquotedDuration(wanted, value);
  return text === undefined
    ? 'Write a duration as 30s, 5m, 1h or 7d, without quotes.'
    : `Write ${text} without quotes.`;
}

function unquotedDuration(wanted: ParamType, value: Scalar): string | undefined {
  if (wanted !== 'timespan' || value.kind !== 'constant' || value.type !== 'string') return undefined;
  const text = String(value.value);
  return /^\d+(?:\.\d+)?[a-z]+$/.test(text) && parseTimespan(text) !== undefined ? text : undefined;
}

/** Returns the string function that matches an array function. */
function textHint({ name }: FunctionEntry, { type }: Scalar): string | undefined {
  const written = type === 'string' ? forTexts.get(name) : undefined;
  return written === undefined
    ? undefined
    : `Write ${written} for a string; parse_json(…) and split(…) convert it to an array.`;
}

const forTexts = new Map([
  ['array_slice', 'substring(text, start, length)'],
  ['array_length', 'strlen(text)'],
  ['array_concat', 'strcat(a, b)'],
  ['array_reverse', 'reverse(text)'],
  ['array_index_of', 'indexof(text, part)'],
]);

/** Returns a value converted to the required type: a number from a condition or a string. */
function converted(wanted: ParamType, { type }: Scalar, text: string): string | undefined {
  if (wanted !== 'number' && wanted !== 'real' && wanted !== 'long') return undefined;
  if (type === 'bool') return `toint(${text})`;
  return type === 'string' ? `${wanted === 'long' ? 'toint' : 'todouble'}(${text})` : undefined;
}

function conversionHint(wanted: ParamType, given: TypeName): string | undefined {
  if (given === 'string' && (wanted === 'number' || wanted === 'real' || wanted === 'long'))
    return 'Convert it first: toint(…), todouble(…).';
  if (given === 'bool' && (wanted === 'number' || wanted === 'real' || wanted === 'long'))
    return '`countif(condition)` counts matching rows; toint(…) converts a condition to 1 or 0.';
  if (given === 'string' && (wanted === 'array' || wanted === 'map'))
    return 'Convert it first: parse_json(…), split(…).';
  return wanted === 'datetime' ? 'Convert it first: todatetime(…).' : undefined;
}

/** Returns the type that a value is converted to for a parameter; undefined if the conversion needs a hint or is rejected. */
function targetType(wanted: ParamType, value: Scalar): TypeName | undefined {
  const given = value.type;
  if (wanted === 'any' || wanted === 'type') return given;
  if (isNull(value) && !(wanted === 'number' && isQuantity(given)))
    return wanted === 'number'
      ? 'real'
      : wanted === 'array' || wanted === 'map' || wanted === 'scalar' || wanted === 'field'
        ? 'dynamic'
        : wanted;
  switch (wanted) {
    case 'number':
      return isQuantity(given) ? given : given === 'dynamic' ? 'real' : undefined;
    case 'array':
    case 'map':
      return given === 'dynamic' ? 'dynamic' : undefined;
    case 'field':
      return given === 'string' ? 'string' : undefined;
    case 'scalar':
      return given === 'dynamic' ? 'string' : given;
    case 'dynamic':
      return 'dynamic';
    default:
      return scalarTarget(wanted, value);
  }
}

/** True for the types that an aggregate such as sum preserves. */
function isQuantity(type: TypeName): boolean {
  return isNumber(type) || type === 'timespan';
}

function scalarTarget(wanted: TypeName, value: Scalar): TypeName | undefined {
  const given = value.type;
  if (given === wanted || given === 'dynamic') return wanted;
  if (wanted === 'real' || wanted === 'long') return isQuantity(given) ? wanted : undefined;
  if (wanted === 'timespan') return given === 'long' ? wanted : undefined;
  if (wanted === 'datetime' && value.kind === 'constant' && given === 'string')
    return parseTime(String(value.value)) === undefined ? undefined : wanted;
  return undefined;
}

function bindAggregateCall(binder: Binder, expr: CallExpr, entry: FunctionEntry, scope: Scope): Scalar {
  if (scope.aggregates !== undefined) return bindAggregate(binder, expr, entry, scope.aggregates);
  if (scope.inside !== undefined) {
    binder.error(
      'nested-aggregate',
      expr.callee,
      `aggregates cannot be nested: \`${entry.name}\` is inside \`${scope.inside}\``,
      `Summarize twice: \`| summarize x = ${shorten(binder.text(expr))} by … | summarize ${scope.inside}(x)\`.`,
    );
    return unbound;
  }
  const [first] = expr.args;
  const result = `${entry.name}_${first === undefined ? '' : binder.text(first.value)}`;
  const message = `\`${entry.name}\` is an aggregate, which is allowed only in summarize and make-series`;
  if (findColumn(scope.columns, result) === undefined)
    binder.error(
      'misplaced-aggregate',
      expr.callee,
      message,
      `Write \`| summarize ${shorten(binder.text(expr))}\`.`,
    );
  else binder.error('misplaced-aggregate', expr, message, `Its result above is named \`${result}\`.`, result);
  return unbound;
}

function refuseUnknown(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const { name } = expr.callee;
  const definition = binder.definitions.get(name);
  if (definition !== undefined) return refuseCalled(binder, expr, definition);
  const texts = expr.args.map(({ value }) => binder.text(value));
  const operator = operatorCalled(name, texts.map(shorten));
  if (operator !== undefined) {
    binder.error('unknown-function', expr.callee, `\`${name}\` is an operator, not a function`, operator);
    return unbound;
  }
  const known = functionNames(scope.aggregates !== undefined);
  const translated = known.includes(name.toLowerCase()) ? undefined : callElsewhere(name, texts);
  // A typo in a short name yields another word.
  const foreign = Object.keys(functionsElsewhere).filter(each => each === name || each.length > 4);
  const candidates = [...known, ...foreign];
  const guess = translated === undefined ? (nearest(name, candidates) ?? '') : name;
  const equivalent = familyHint(name) ?? own(functionsElsewhere, guess);
  if (equivalent !== undefined) {
    const message = `APL has no function \`${name}\``;
    const hint = equivalent.endsWith('.') ? equivalent : `Write \`${equivalent}\`.`;
    const [span, instead] = calledAs(binder, expr, equivalent);
    const isWhole = instead === undefined && translated !== undefined;
    binder.error('unknown-function', isWhole ? expr : span, message, hint, instead ?? translated);
    return unbound;
  }
  if (translated !== undefined) {
    const message = `APL has no function \`${name}\``;
    binder.error('unknown-function', expr, message, `Write \`${shorten(translated)}\`.`, translated);
    return unbound;
  }
  binder.unknown('function', name, expr.callee, candidates, '`%help functions` lists all functions.');
  return unbound;
}

/** Returns the span of a call that its equivalent replaces, and the replacement; none if the order of the arguments may differ. */
function calledAs(binder: Binder, expr: CallExpr, known: string): readonly [span: Span, instead?: string] {
  const whole = { from: expr.callee.from, to: expr.to };
  if (expr.args.length === 0 && /^\w+\((?:now\(\))?\)$/.test(known)) return [whole, known];
  const [, name = '', params = ''] = /^(\w+)\(([^()]*)\)$/.exec(known) ?? [];
  const [first, ...rest] = expr.args;
  const [, constant] = /^\w+, (\d+)$/.exec(params) ?? [];
  if (constant !== undefined && first !== undefined && rest.length === 0)
    return [whole, `${name}(${binder.text(first.value)}, ${constant})`];
  const isSame =
    /^[a-z]+$/.test(params) ||
    (sameOrder.has(expr.callee.name) && params.split(',').length === expr.args.length);
  return isSame && name !== '' ? [expr.callee, name] : [expr.callee];
}

/** Reports a call of a name that the query defines, unless its definition was already rejected. */
function refuseCalled(binder: Binder, { callee }: CallExpr, definition: Definition): Scalar {
  if (definition.kind === 'scalar' && definition.value === unbound) return unbound;
  const what = definition.kind === 'table' ? 'a table' : 'a value';
  binder.error(
    'unknown-function',
    callee,
    `\`${callee.name}\` is ${what}, not a function`,
    `Write \`${callee.name}\` without parentheses.`,
  );
  return unbound;
}

/** Forms resolved during binding, because they depend on names or types. */
const specialForms: Readonly<Record<string, SpecialForm>> = {
  toscalar: bindFirstValue,
  extract_all: bindExtractAll,
  dynamic: (binder, expr, scope) => convertTo(onlyArgument(binder, expr, scope), 'dynamic'),
  ensure_field: bindEnsureField,
  column_ifexists: bindColumnIfExists,
  ingestion_time: (_, __, scope) => namedOrNull('_sysTime', 'datetime', scope),
  case: bindCase,
  ...Object.fromEntries(rowFunctions.map(({ name }) => [name, bindRowFunction])),
  bag_pack: bindPackAll,
  pack: bindPackAll,
  pack_array: bindPackArrayAll,
  gettype: bindGetType,
  ...Object.fromEntries(
    [
      'bool',
      'boolean',
      'int',
      'long',
      'real',
      'double',
      'string',
      'datetime',
      'date',
      'timespan',
      'time',
    ].map(name => [name, bindConstructor]),
  ),
};

/** Binds `toscalar(T | …)`: the first column of the first row. A scalar is returned unchanged. */
function bindFirstValue(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const [argument] = expr.args;
  const pipeline = argument === undefined ? undefined : asPipeline(binder, argument.value, scope);
  if (pipeline === undefined || expr.args.length > 1) return onlyArgument(binder, expr, scope);
  const span = { from: expr.to, to: expr.to };
  const count = literal('long', 1n, span);
  const limited = {
    ...pipeline,
    operators: [...pipeline.operators, { kind: 'limit', word: span, count, ...span }],
  } as const;
  const { relation: input } = binder.bindPipeline(limited);
  const [first] = input.columns;
  // A limit on groups may have let more than one row through.
  const query: Relation = { kind: 'limit', input, count: constant('long', 1n), columns: input.columns };
  return first === undefined ? unbound : { kind: 'query', query, type: first.type };
}

/** Returns the query that an argument is or names: a name is a table, unless it is a field or a scalar. */
function asPipeline(binder: Binder, expr: Expr, scope: Scope): Pipeline | undefined {
  if (expr.kind === 'subquery') return expr.pipeline;
  if (expr.kind !== 'name' || binder.definitions.get(expr.name)?.kind === 'scalar') return undefined;
  if (findColumn(scope.columns, expr.name) !== undefined) return undefined;
  const source = dataset(identifier(expr.name, expr.quoted, expr), expr);
  return { source, operators: [], from: expr.from, to: expr.to };
}

/** Binds `prev(x)`: the column that its operator computed for it. */
function bindRowFunction(binder: Binder, expr: CallExpr): Scalar {
  const column = binder.neighbors.get(expr);
  if (column !== undefined) return reference(column);
  if (!binder.neighbors.has(expr)) {
    const { name } = expr.callee;
    binder.error(
      'misplaced-row-function',
      expr.callee,
      `\`${name}\` reads neighboring rows, but there are none here`,
      `Compute it first: \`| sort by … | extend x = ${shorten(binder.text(expr))}\`.`,
    );
  }
  return unbound;
}

/** Binds `extract_all(regex, text)`: the captures of all groups. */
function bindExtractAll(binder: Binder, expr: CallExpr, scope: Scope): Scalar | undefined {
  const [regex, text] = expr.args;
  if (regex === undefined || text === undefined || expr.args.length !== 2) return undefined;
  const span = { from: text.from, to: text.from };
  const groups = { ...span, value: literal('dynamic', allGroups, span) };
  return bindCall(binder, { ...expr, args: [regex, groups, text] }, scope);
}

function onlyArgument(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const [first, second] = positional(binder, expr);
  if (first !== undefined && second === undefined) return bindExpression(binder, first, scope);
  binder.error('argument-count', expr, `\`${expr.callee.name}\` takes 1 argument, not ${expr.args.length}`);
  return unbound;
}

const conversions: Readonly<Record<TypeName, string>> = {
  bool: 'tobool',
  long: 'toint',
  real: 'todouble',
  string: 'tostring',
  datetime: 'todatetime',
  timespan: 'totimespan',
  dynamic: 'todynamic',
};

/** Binds `long(12)`, `datetime('2026-01-02')`, `real(null)`: a literal of that type. */
function bindConstructor(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const type = typeNamed(expr.callee.name) ?? 'string';
  const value = onlyArgument(binder, expr, scope);
  if (value.type === type || isNull(value)) return convertTo(value, type);
  if (value.kind === 'constant' && value.type === 'string' && (type === 'datetime' || type === 'timespan')) {
    const parsed = type === 'datetime' ? parseTime(String(value.value)) : parseTimespan(String(value.value));
    if (parsed !== undefined) return constant(type, parsed);
    const dates = type === 'datetime' ? datesMeant(String(value.value)) : [];
    const [hint, instead] =
      dates.length === 0
        ? [type === 'datetime' ? 'Write datetime(2026-01-02T03:04:05Z).' : 'Write timespan(1h30m).']
        : [
            `Write datetime(${dates.join(') or datetime(')}).`,
            dates.length === 1 ? `datetime(${dates[0]})` : undefined,
          ];
    binder.error(`bad-${type}`, expr, `\`${String(value.value)}\` is not a ${type}`, hint, instead);
    return convertTo(unbound, type);
  }
  return call(conversions[type], [value], type);
}

function namedOrNull(name: string, type: TypeName, scope: Scope): Scalar {
  const column = findColumn(scope.columns, name);
  return column === undefined ? constant(type, null) : reference(column);
}

/** Binds `ensure_field('name', typeof(string))`: the field, or a null of that type. */
function bindEnsureField(binder: Binder, expr: CallExpr, scope: Scope): Scalar | undefined {
  const [name, type] = expr.args.map(argument => argument.value);
  if (
    name?.kind !== 'literal' ||
    name.type !== 'string' ||
    type?.kind !== 'typeof' ||
    expr.args.length !== 2
  ) {
    binder.error(
      'argument-type',
      expr,
      '`ensure_field` takes a field name in quotes and a type',
      "For example: ensure_field('user_agent', typeof(string)).",
    );
    return unbound;
  }
  const wanted = type.type ?? 'string';
  const column = findColumn(scope.columns, String(name.value));
  return column === undefined ? constant(wanted, null) : convertTo(reference(column), wanted);
}

function bindColumnIfExists(binder: Binder, expr: CallExpr, scope: Scope): Scalar | undefined {
  const [name, fallback] = expr.args.map(argument => argument.value);
  if (
    name?.kind !== 'literal' ||
    name.type !== 'string' ||
    fallback === undefined ||
    expr.args.length !== 2
  ) {
    binder.error(
      'argument-type',
      expr,
      '`column_ifexists` takes a field name in quotes and a default',
      "For example: column_ifexists('geo.region', ['geo.country']).",
    );
    return unbound;
  }
  const column = findColumn(scope.columns, String(name.value));
  return column === undefined ? bindExpression(binder, fallback, scope) : reference(column);
}

/** Binds `case(p1, v1, p2, v2, …, else)`: predicates alternate with values of one type; without an else it is null. */
function bindCase(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const values = positional(binder, expr).map(value => bindExpression(binder, value, scope));
  if (values.length < 2) {
    binder.error(
      'argument-count',
      expr,
      `\`case\` takes pairs of a condition and a value, then a default: ${values.length} ${values.length === 1 ? 'argument is' : 'arguments are'} too few`,
      'case(p1, v1, p2, v2, …, default)',
    );
    return unbound;
  }
  // Without a default it is null, as in the documentation's `case(p1, v1, 1 == 1, v2)`.
  if (values.length % 2 === 0) values.push(constant('dynamic', null));
  const isPredicate = (index: number): boolean => index % 2 === 0 && index < values.length - 1;
  const type = typeOfOneOf(
    binder,
    'case',
    operandsOf(expr, values).filter((_, index) => !isPredicate(index)),
  );
  if (type === undefined) return unbound;
  for (const [index, value] of values.entries()) {
    if (!isPredicate(index) || value.type === 'bool' || value.type === 'dynamic') continue;
    const at = expr.args[index]?.value ?? expr;
    binder.error(
      'not-a-condition',
      at,
      `\`case\` needs a condition here, but \`${shorten(binder.text(at))}\` is ${typeInWords(value.type)}`,
    );
  }
  return call(
    'case',
    values.map((value, index) => convertTo(value, isPredicate(index) ? 'bool' : type)),
    type,
  );
}

function isStarCall(expr: CallExpr): boolean {
  return expr.args.length === 1 && expr.args[0]?.value.kind === 'star';
}

function bindPackAll(_: Binder, expr: CallExpr, scope: Scope): Scalar | undefined {
  if (!isStarCall(expr)) return undefined;
  return {
    kind: 'map',
    entries: scope.columns.map(column => ({ key: column.name, value: reference(column) })),
    type: 'dynamic',
  };
}

function bindPackArrayAll(_: Binder, expr: CallExpr, scope: Scope): Scalar | undefined {
  if (!isStarCall(expr)) return undefined;
  return { kind: 'array', items: scope.columns.map(reference), type: 'dynamic' };
}

/** Binds `gettype`: only the type of a dynamic value is unknown before the query runs. */
function bindGetType(binder: Binder, expr: CallExpr, scope: Scope): Scalar {
  const value = onlyArgument(binder, expr, scope);
  return call('gettype', [value], 'string');
}
