import { present } from '../../present.js';
import type { TypeName } from '../catalog/entry.js';
import { type OperatorKind, optionsOf } from '../operators/operator-rows.js';
import { appliedByRow } from '../plan/by-row.js';
import { escapeRegex, keyPattern, type PairDelimiters, wholeQuoted } from '../plan/key-pattern.js';
import { partsOfPattern } from '../plan/pattern-parts.js';
import type { Column, Computed, Relation, Scalar } from '../plan/plan.js';
import { mapInputs } from '../plan/plan-walk.js';
import { binary, call, condition, constant, joined, reference } from '../plan/scalars.js';
import type { Expr, FieldPattern, OperatorOf, Option, ParsePiece, Span } from '../syntax/ast.js';
import { optionText } from '../syntax/readers/read-options.js';
import { expand } from './bind-fields.js';
import { defaultName, givenName, warnOfRepeats } from './bind-names.js';
import { newestFirst } from './bind-order.js';
import { extend, keep, project, type Stage, uniqueNames, withHidden, withRelation } from './bind-stage.js';
import { type Binder, convertTo, scopeOf } from './binder.js';
import { bindConstant, bindCount, bindExpression } from './expressions/bind-expression.js';

/** Binds `mv-expand`: one row per element, with several columns in step. */
export function bindExpand(binder: Binder, operator: OperatorOf<'mv-expand'>, stage: Stage): Stage {
  const option = (name: string): string | undefined =>
    optionText(operator.options, name, optionsOf('mv-expand'));
  const isBag = (option('kind') ?? option('bagexpansion') ?? 'bag') === 'bag';
  const given = operator.items.map(({ type, ...item }, index) => {
    const value = convertTo(bindExpression(binder, item.value, scopeOf(stage)), 'dynamic');
    const name = givenName(binder, item) ?? defaultName(binder, item.value, index);
    return { column: binder.column(name, 'dynamic'), value, type };
  });
  const indexName = option('with_itemindex');
  const limit = operator.limit === undefined ? undefined : bindCount(binder, operator.limit, 'the limit');
  const names = new Set([...given.map(item => item.column.name), indexName]);
  const kept = stage.relation.columns.filter(column => !names.has(column.name));
  const columns = uniqueNames([
    ...kept,
    ...given.map(item => item.column),
    ...(indexName === undefined ? [] : [binder.column(indexName, 'long')]),
  ]);
  const items = given.map((item, place) => ({
    ...item,
    column: columns[kept.length + place] ?? item.column,
  }));
  const index = columns[kept.length + items.length];
  const relation: Relation = {
    kind: 'expand',
    input: stage.relation,
    items: items.map(({ column, value }) => ({ column, value })),
    bag: isBag,
    columns,
    ...present({ index, limit }),
  };
  const typed = items.flatMap(({ column, type }): Computed[] =>
    type === undefined
      ? []
      : [{ column: binder.column(column.name, type), value: convertTo(reference(column), type) }],
  );
  const expanded = withRelation({ ...stage, bounded: false }, relation);
  const outputs = items.map(
    ({ column }) => typed.find(each => each.column.name === column.name)?.column ?? column,
  );
  return inPlace(stage, typed.length === 0 ? expanded : extend(expanded, typed), outputs);
}

/** Operators that read more than their input rows. */
const beyondRows: ReadonlySet<string> = new Set([
  'join',
  'lookup',
  'union',
  'sample',
  'make-series',
  'getschema',
  'as',
] as const satisfies readonly OperatorKind[]);

/** Binds `mv-apply`: its operators are bound as if the elements of all rows were one table, then the plan is made per row. */
export function bindApply(binder: Binder, operator: OperatorOf<'mv-apply'>, before: Stage): Stage {
  const leaf: Relation = { kind: 'values', rows: [], columns: before.relation.columns };
  const { stages } = operator;
  const elements = bindExpand(binder, { ...operator, kind: 'mv-expand' }, { ...before, relation: leaf });
  for (const { kind, word } of stages.operators) if (beyondRows.has(kind)) refuseWithin(binder, word);
  binder.given.set(stages.source, elements);
  const { relation: applied } = binder.bindPipeline(stages);
  const { relation: expanded } = elements;
  const left = new Set(expanded.columns.map(({ id }) => id));
  const fields = before.relation.columns.filter(({ id }) => left.has(id));
  const { relation: rows, order } = newestFirst(before);
  const relation = appliedByRow({ rows, fields, leaf, expanded, applied }, binder.columns);
  const added = applied.columns.filter(({ id }) => !fields.some(field => field.id === id));
  const stage = { ...withRelation(before, relation), order, bounded: false };
  return project(stage, [...fields, ...added].map(keep));
}

function refuseWithin(binder: Binder, word: Span): void {
  const message = `\`${binder.text(word)}\` is not allowed in \`mv-apply\`, which applies operators to the elements of one row at a time`;
  binder.error('misplaced-operator', word, message, 'Move it before or after the `mv-apply`.');
}

/** Moves expanded columns back to their original positions; new ones follow in the order of the items, then the index. */
function inPlace(before: Stage, after: Stage, expanded: readonly Column[]): Stage {
  const { columns } = after.relation;
  const first = before.relation.columns.flatMap(
    column =>
      expanded.find(candidate => candidate.name === column.name) ??
      columns.find(candidate => candidate.id === column.id) ??
      [],
  );
  const order = new Set([...first, ...expanded, ...columns]);
  const items = [...order].map(keep);
  return withRelation(after, {
    kind: 'project',
    input: after.relation,
    items,
    columns: items.map(item => item.column),
  });
}

/**
 * Binds `parse` and `parse-where`: the pattern becomes one regular expression per eight fields. Captured strings, then their values, are
 * columns of lower stages, so each is computed once.
 */
export function bindParse(
  binder: Binder,
  operator: OperatorOf<'parse' | 'parse-where'>,
  stage: Stage,
): Stage {
  const kind = optionText(operator.options, 'kind', optionsOf('parse')) ?? 'simple';
  const subject = convertTo(bindExpression(binder, operator.subject, scopeOf(stage)), 'string');
  const fields = operator.pieces.flatMap(piece => fieldsOf(piece, kind));
  warnOfRepeats(
    binder,
    fields.map(({ name, at }) => ({ name, ...at })),
  );
  const flags = optionText(operator.options, 'flags', optionsOf('parse')) ?? '';
  const at = [operator.subject, patternSpan(operator)];
  const hidden = (value: Scalar): Computed => ({ column: binder.column('', value.type), value });
  const patterns = Array.from({ length: Math.max(1, Math.ceil(fields.length / mostGroups)) }, (_, part) =>
    constant('string', parsePattern(operator.pieces, kind, flags, part * mostGroups)),
  );
  const matches = patterns.map(pattern => hidden(call('$regex_match', [subject, pattern], 'dynamic', at)));
  const texts = fields.map((_, index) => {
    const part = Math.floor(index / mostGroups);
    return hidden(groupOf(matches[part], patterns[part], (index % mostGroups) + 2, at));
  });
  const trimmed = texts.map(({ column }, index) =>
    hidden(
      fields[index]?.type === 'string'
        ? reference(column)
        : call('trim_space', [reference(column)], 'string'),
    ),
  );
  const values = trimmed.map(({ column }, index) =>
    hidden(converted(reference(column), fields[index]?.type ?? 'string')),
  );
  const strict = kind === 'relaxed' ? undefined : allValid(values, fields);
  const items = fields.map((field, index): Computed => {
    const empty = constant(field.type, null);
    const read = values[index];
    const value = read === undefined ? empty : reference(read.column);
    return {
      column: binder.column(field.name, field.type),
      value: strict === undefined ? value : call('iff', [strict, value, empty], field.type),
    };
  });
  const parsed = [matches, texts, trimmed, values].reduce(withHidden, stage.relation);
  if (operator.kind === 'parse') return extendOver(stage, parsed, items);
  const matched: Scalar = call('isnotnull', [groupOf(matches[0], patterns[0], 1, at)], 'bool');
  const predicate = strict === undefined ? matched : condition('and', matched, strict);
  return extendOver(stage, { kind: 'filter', input: parsed, predicate, columns: parsed.columns }, items);
}

interface ParsedField {
  readonly name: string;
  readonly type: TypeName;
  readonly at: Span;
}

/** Returns the fields that a piece defines; in regex mode, the named groups of a string are fields too. */
function fieldsOf(piece: ParsePiece, kind: string): readonly ParsedField[] {
  if (piece.kind === 'field') return [{ name: piece.name.name, type: piece.type, at: piece.name }];
  if (piece.kind === 'star' || kind !== 'regex') return [];
  return [...piece.text.matchAll(partsOfPattern)].flatMap(([, , name]) =>
    name === undefined ? [] : [{ name, type: 'string', at: piece }],
  );
}

/** An engine returns at most nine groups of a pattern, and the first is the whole match. */
const mostGroups = 8;

function groupOf(
  match: Computed | undefined,
  pattern: Scalar | undefined,
  group: number,
  at: readonly Span[],
): Scalar {
  if (match === undefined || pattern === undefined) return constant('string', null);
  const args = [reference(match.column), pattern, constant('long', BigInt(group))];
  return call('$regex_text', args, 'string', at);
}

/** Extends the columns of a stage with items that read hidden columns of a relation derived from it. */
function extendOver(stage: Stage, input: Relation, items: readonly Computed[]): Stage {
  const extended = extend(stage, items);
  return { ...extended, relation: mapInputs(extended.relation, () => input) };
}

function patternSpan({ pieces, word }: OperatorOf<'parse' | 'parse-where'>): Span {
  const [first, last] = [pieces[0], pieces.at(-1)];
  return first === undefined || last === undefined ? word : { from: first.from, to: last.to };
}

/** Returns a test that every field fits its type: except in relaxed mode, a field that does not fit rejects the whole line. */
function allValid(values: readonly Computed[], fields: readonly ParsedField[]): Scalar | undefined {
  const tests = values.flatMap(({ column }, index): Scalar[] =>
    fields[index]?.type === 'string' ? [] : [call('isnotnull', [reference(column)], 'bool')],
  );
  return joined('and', tests);
}

/**
 * Returns the regular expression. The last field matches the rest, the others as little as they can, whatever `U` does to the user's own
 * pattern. Group 1 is the whole match, the others are the fields from `first` on, up to the maximum. A pattern whose only fields are named
 * groups matches anywhere.
 */
function parsePattern(pieces: readonly ParsePiece[], kind: string, flags: string, first: number): string {
  const own = flags.includes('U') ? '(?U:' : '(?:';
  let field = -1;
  const opening = (): string => {
    field += 1;
    return field >= first && field < first + mostGroups ? '(' : '(?:';
  };
  const body = pieces.map((piece, index) => {
    const last = index === pieces.length - 1;
    if (piece.kind === 'text')
      return kind === 'regex' ? `${own}${regrouped(piece.text, opening)})` : escapeRegex(piece.text);
    if (piece.kind === 'star') return last ? '.*' : '.*?';
    const literal = kind !== 'regex' && pieces[index + 1]?.kind === 'text';
    const rest = last ? '.*' : literal ? '.*?' : numberOrLess(piece.type);
    return `${opening()}${rest})`;
  });
  const anywhere = field >= 0 && pieces.every(piece => piece.kind === 'text');
  const end = pieces.at(-1)?.kind === 'text' ? '' : '$';
  return `(?s${flags.replaceAll('U', '')})(${anywhere ? '' : '^'}${body.join('')}${end})`;
}

/** Matches as little as possible; a number with no literal after it would then be empty, so it takes all of its digits. */
function numberOrLess(type: TypeName): string {
  const digits = numberPatterns[type];
  return digits === undefined ? '.*?' : `${digits}|.*?`;
}

const numberPatterns: Readonly<Partial<Record<TypeName, string>>> = {
  long: '\\s*[-+]?\\d+',
  real: '\\s*[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?',
};

/** Returns the pattern with its named groups opened by `opening` and the others made non-capturing. */
function regrouped(pattern: string, opening: () => string): string {
  return pattern.replace(partsOfPattern, (match, group?: string, name?: string) =>
    group === undefined ? match : name === undefined ? '(?:' : opening(),
  );
}

const conversions: Readonly<Partial<Record<TypeName, string>>> = {
  long: 'toint',
  real: 'todouble',
  bool: 'tobool',
  datetime: 'todatetime',
  timespan: 'totimespan',
  dynamic: 'parse_json',
};

/** Returns a captured string converted to `type`; null if it does not convert. */
function converted(value: Scalar, type: TypeName): Scalar {
  const name = conversions[type];
  return name === undefined ? value : call(name, [value], type);
}

/** Binds `parse-kv`: each key is searched for separately, in any order. */
export function bindParseKv(binder: Binder, operator: OperatorOf<'parse-kv'>, stage: Stage): Stage {
  const source = convertTo(bindExpression(binder, operator.subject, scopeOf(stage)), 'string');
  const text = { column: binder.column('', 'string'), value: source };
  const subject = reference(text.column);
  const delimiters = pairDelimiters(binder, operator.options);
  const { open } = delimiters;
  warnOfRepeats(
    binder,
    operator.columns.map(({ name }) => name),
  );
  const found = operator.columns.map(({ name, type }): Computed => {
    const read = (isPlain: boolean) => {
      const pattern = constant('string', keyPattern(name.name, delimiters, isPlain));
      // Neither a missing value nor an empty string is a value of other types.
      const part = type === 'string' ? '$regex_group' : '$regex_part';
      return call(part, [subject, pattern, constant('long', 1n)], 'string');
    };
    const hasQuotes = binary('contains_cs', subject, constant('string', open), 'bool');
    const value = call('iff', [hasQuotes, read(false), read(true)], 'string');
    return { column: binder.column('', 'string'), value };
  });
  const items = operator.columns.map(({ name, type }, index): Computed => {
    const raw = found[index]?.column ?? binder.column('', 'string');
    const inner = [wholeQuoted(delimiters), '$1'].map(text => constant('string', text));
    const isQuoted = binary('startswith_cs', reference(raw), constant('string', open), 'bool');
    const unquoted = call('replace_regex', [...inner, reference(raw)], 'string');
    const value = call('iff', [isQuoted, unquoted, reference(raw)], 'string');
    const trimmed = type === 'string' ? value : call('trim_space', [value], 'string');
    return { column: binder.column(name.name, type), value: converted(trimmed, type) };
  });
  return extendOver(stage, withHidden(withHidden(stage.relation, [text]), found), items);
}

function pairDelimiters(binder: Binder, options: readonly Option[]): PairDelimiters {
  const quotes = [...(optionString(binder, options, 'quote') ?? '"')];
  const [open = '"', close = open] = quotes;
  const given = options.find(({ name }) => name.name === 'quote');
  if (quotes.length > 2 && given !== undefined) {
    const message = '`quote` must be one character, or an opening and a closing one';
    binder.error('bad-option', given, message, 'For example: quote="\'" or quote="()".');
  }
  return {
    pair: optionString(binder, options, 'pair_delimiter') ?? ' ',
    separator: optionString(binder, options, 'kv_delimiter') ?? '=',
    open,
    close,
  };
}

function optionString(binder: Binder, options: readonly Option[], name: string): string | undefined {
  const option = options.find(candidate => candidate.name.name === name);
  if (option === undefined) return undefined;
  const value = optionText([option], name, optionsOf('parse-kv'));
  if (value === undefined || value === '')
    binder.error('bad-option', option, `\`${name}\` must be a non-empty string`);
  return value;
}

/** Binds `redact`: masks the matches of the patterns in the named fields or in all strings. */
export function bindRedact(binder: Binder, operator: OperatorOf<'redact'>, stage: Stage): Stage {
  const token = optionText(operator.options, 'replaceToken', optionsOf('redact')) ?? '*';
  const hash = optionText(operator.options, 'replaceHash', optionsOf('redact')) === 'true';
  const groups = optionText(operator.options, 'redactGroups', optionsOf('redact')) === 'true';
  const patterns = operator.patterns.flatMap(pattern => redactPattern(binder, pattern));
  const fields =
    operator.on.length === 0
      ? stage.relation.columns.filter(column => column.type === 'string')
      : redactedFields(binder, operator.on, stage);
  const items = fields.map((column): Computed => {
    const value = patterns.reduce<Scalar>(
      (subject, pattern) =>
        call(
          '$redact',
          [
            subject,
            constant('string', pattern.value),
            constant('string', token),
            constant('bool', hash),
            constant('bool', groups),
          ],
          'string',
          [pattern.at, pattern.at],
        ),
      convertTo(reference(column), 'string'),
    );
    const { id: _, name: __, type: ___, ...rest } = column;
    return { column: binder.column(column.name, 'string', rest), value };
  });
  const replaced = stage.relation.columns.map(
    column => items.find(item => item.column.name === column.name) ?? keep(column),
  );
  return {
    ...withRelation(stage, {
      kind: 'project',
      input: stage.relation,
      items: replaced,
      columns: replaced.map(item => item.column),
    }),
    open: stage.open,
  };
}

function redactPattern(binder: Binder, pattern: Expr): { readonly value: string; readonly at: Span }[] {
  const value = bindConstant(binder, pattern, 'the pattern of `redact`');
  if (value !== undefined && value.type === 'string' && value.value !== null)
    return [{ value: String(value.value), at: pattern }];
  if (value !== undefined) binder.error('argument-type', pattern, 'the pattern of `redact` must be a string');
  return [];
}

function redactedFields(binder: Binder, on: readonly FieldPattern[], stage: Stage): Column[] {
  return [...new Set(on.flatMap(pattern => expand(binder, pattern, stage)))];
}
