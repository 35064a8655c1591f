import type { Order, QueryRequest } from '../../api/wire.js';
import { type VirtualField, virtualExtension } from '../../apl/syntax/readers/virtual.js';
import { quotedName, writtenText } from '../../apl/syntax/tokens/quote.js';
import { own } from '../../present.js';
import { parseGoDuration } from '../../time.js';
import { LocalError } from '../local-errors.js';
import {
  invalid,
  isKind,
  kindNames,
  type MemberKind,
  readObject,
} from '../store/documents/document-members.js';
import { readQueryRequest } from './http-requests.js';

/** A structured query as APL: events, or groups by time bins with `totals`, the groups over the whole range. */
export interface StructuredQuery {
  readonly rows: QueryRequest;
  readonly totals?: QueryRequest;
}

/**
 * Returns the requests for a structured query of one dataset, the predecessor of APL
 * (https://axiom.co/docs/restapi/endpoints/queryDataset). Throws LocalError (`invalid`) naming anything unsupported here.
 */
export function readStructuredQuery(dataset: string, body: unknown): StructuredQuery {
  const query = readObject(body, 'the body');
  checkMembers(query, queryMembers, 'the query');
  if (!isEmpty(query.continuationToken))
    throw new LocalError(
      'not-supported',
      'not-supported',
      '`continuationToken` is not supported: use `cursor`.',
    );
  const from = [quotedName(dataset), ...readVirtualFields(query.virtualFields), ...whereOf(query.filter)];
  const last = [
    ...orderOf(query.order),
    ...(typeof query.limit === 'number' && query.limit > 0 ? [`limit ${query.limit}`] : []),
  ];
  const requestOf = (steps: readonly string[]): QueryRequest => {
    const { startTime, endTime, cursor, includeCursor } = query;
    return readQueryRequest({ apl: steps.join('\n| '), startTime, endTime, cursor, includeCursor });
  };
  const computed = objects(query.aggregations).map(aggregationOf).join(', ');
  if (computed === '') return { rows: requestOf([...from, ...projectOf(objects(query.project)), ...last]) };
  const keys = Array.isArray(query.groupBy) ? query.groupBy.map(name => quotedName(String(name))) : [];
  const by = (names: readonly string[]) =>
    `summarize ${computed}${names.length === 0 ? '' : ` by ${names.join(', ')}`}`;
  return {
    rows: requestOf([...from, by([binOf(query.resolution), ...keys]), ...last]),
    totals: requestOf([...from, by(keys), ...last]),
  };
}

const queryMembers: Readonly<Record<string, MemberKind | 'any'>> = {
  aggregations: 'objects',
  continuationToken: 'string',
  cursor: 'string',
  endTime: 'string',
  fieldsMeta: 'any',
  filter: 'object',
  groupBy: 'strings',
  includeCursor: 'boolean',
  limit: 'count',
  order: 'orders',
  project: 'objects',
  queryOptions: 'object',
  resolution: 'string',
  startTime: 'string',
  virtualFields: 'objects',
};

function checkMembers(
  value: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, MemberKind | 'any'>>,
  what: string,
): void {
  for (const [name, member] of Object.entries(value)) {
    const kind = own(members, name);
    if (kind === undefined) throw invalid(`\`${name}\` is not a known property of ${what}.`);
    if (kind === 'any' || member === null || isKind(member, kind)) continue;
    throw invalid(`\`${name}\` of ${what} should be ${kindNames[kind]}.`);
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function objects(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

function readVirtualFields(value: unknown): readonly string[] {
  return objects(value).map(member => {
    checkMembers(member, { alias: 'string', expr: 'string' }, 'a virtual field');
    const field = { name: String(member.alias ?? ''), expression: String(member.expr ?? '') };
    checkVirtualField(field, 'expr');
    return `extend ${quotedName(field.name)} = ${field.expression}\n`;
  });
}

/** Throws LocalError (`invalid`) for a virtual field without a name, or whose expression (`member`) is not a single APL expression. */
export function checkVirtualField(field: VirtualField, member: string): void {
  if (field.name === '') throw invalid('A virtual field must have a name.');
  if (virtualExtension(field, { from: 0, to: 0 }) === undefined)
    throw invalid(
      `\`${member}\` of the virtual field ${JSON.stringify(field.name)} should be one APL expression.`,
    );
}

function whereOf(filter: unknown): readonly string[] {
  const condition = filter === undefined || filter === null ? undefined : conditionOf(filter);
  return condition === undefined ? [] : [`where ${condition}`];
}

const filterMembers = {
  op: 'string',
  field: 'string',
  value: 'any',
  caseSensitive: 'boolean',
  children: 'objects',
} as const;

/** Returns the condition of a filter; undefined if it passes everything. */
function conditionOf(filter: unknown): string | undefined {
  const member = readObject(filter, 'a filter');
  checkMembers(member, filterMembers, 'a filter');
  const { op = '', field, value, caseSensitive } = member;
  const children = objects(member.children).flatMap(child => conditionOf(child) ?? []);
  if (op === 'or') return children.length === 0 ? undefined : `(${children.join(' or ')})`;
  if (op === 'not') return children.length === 0 ? undefined : `not(${children.join(' and ')})`;
  const conditions =
    op === '' || op === 'and'
      ? children
      : [testOf(String(op), String(field ?? ''), value, caseSensitive === true), ...children];
  return conditions.length === 0 ? undefined : `(${conditions.join(' and ')})`;
}

function testOf(op: string, field: string, value: unknown, isExact: boolean): string {
  const test = own(tests, op);
  if (test === undefined)
    throw invalid(`Unknown filter \`${op}\`: use one of ${Object.keys(tests).join(', ')}, and, or, not.`);
  if (field === '') throw invalid(`\`field\` of the filter \`${op}\` is missing.`);
  const literal = () => literalOf(field, value, `\`value\` of the filter \`${op}\``);
  return test(quotedName(field), literal, isExact ? '_cs' : '');
}

type Test = (field: string, value: () => string, exact: '_cs' | '') => string;

const infix =
  (operator: string): Test =>
  (field, value) =>
    `${field} ${operator} ${value()}`;
const texts =
  (operator: string): Test =>
  (field, value, exact) =>
    `${field} ${operator}${exact} ${value()}`;

const tests: Readonly<Record<string, Test>> = {
  '==': infix('=='),
  '!=': infix('!='),
  '>': infix('>'),
  '>=': infix('>='),
  '<': infix('<'),
  '<=': infix('<='),
  exists: field => `isnotnull(${field})`,
  'not-exists': field => `isnull(${field})`,
  'starts-with': texts('startswith'),
  'not-starts-with': texts('!startswith'),
  'ends-with': texts('endswith'),
  'not-ends-with': texts('!endswith'),
  contains: texts('contains'),
  'not-contains': texts('!contains'),
  regexp: infix('matches regex'),
  'not-regexp': (field, value) => `not(${field} matches regex ${value()})`,
};

function literalOf(field: string, value: unknown, what: string): string {
  if (typeof value === 'string')
    return isTime(field) ? `todatetime(${writtenText(value)})` : writtenText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return `(${value})`;
  throw invalid(`${what} should be a string, a number or a Boolean.`);
}

function isTime(field: string): boolean {
  return field === '_time' || field === '_sysTime';
}

function projectOf(fields: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  if (fields.length === 0) return [];
  const items = fields.map(member => {
    checkMembers(member, { field: 'string', alias: 'string' }, 'a projection');
    if (isEmpty(member.field)) throw invalid('`field` of a projection is missing.');
    const field = String(member.field);
    return `${quotedName(isEmpty(member.alias) ? field : String(member.alias))} = ${quotedName(field)}`;
  });
  return [`project _time, _sysTime, ${items.join(', ')}`];
}

function binOf(resolution: unknown): string {
  if (isEmpty(resolution) || resolution === 'auto') return 'bin_auto(_time)';
  const width = parseGoDuration(String(resolution));
  if (width === undefined || width <= 0n || width % 1_000_000n !== 0n)
    throw invalid('`resolution` should be `auto` or a duration in whole milliseconds, such as "1m".');
  return `bin(_time, ${width / 1_000_000n}ms)`;
}

const aggregationMembers = { op: 'string', field: 'string', alias: 'string', argument: 'any' } as const;

function aggregationOf(aggregation: Readonly<Record<string, unknown>>): string {
  checkMembers(aggregation, aggregationMembers, 'an aggregation');
  const op = String(aggregation.op ?? '');
  const write = own(aggregates, op);
  if (write === undefined)
    throw invalid(
      `The aggregation \`${op}\` is not supported: use one of ${Object.keys(aggregates).join(', ')}, or APL.`,
    );
  const field = isEmpty(aggregation.field) ? '*' : String(aggregation.field);
  if (field === '*' && op !== 'count') throw invalid(`\`field\` of the aggregation \`${op}\` is missing.`);
  const name = isEmpty(aggregation.alias) ? op : String(aggregation.alias);
  return `${quotedName(name)} = ${write(field === '*' ? '*' : quotedName(field), numbersIn(aggregation.argument, op))}`;
}

function numbersIn(argument: unknown, op: string): readonly number[] {
  const given = isEmpty(argument) ? [] : [argument].flat();
  if (given.every(each => typeof each === 'number')) return given;
  throw invalid(`\`argument\` of the aggregation \`${op}\` should be a number or a list of numbers.`);
}

type Write = (field: string, numbers: readonly number[]) => string;

const plain =
  (name: string): Write =>
  (field, numbers) =>
    `${name}(${[field, ...numbers].join(', ')})`;

const aggregates: Readonly<Record<string, Write>> = {
  count: field => (field === '*' ? 'count()' : `countif(isnotnull(${field}))`),
  distinct: plain('dcount'),
  makeset: plain('make_set'),
  makelist: plain('make_list'),
  sum: plain('sum'),
  avg: plain('avg'),
  min: plain('min'),
  max: plain('max'),
  topk: (field, [most = 10]) => `topk(${field}, ${most})`,
  percentiles: (field, numbers) => `percentiles_array(${[field, ...numbers].join(', ')})`,
  histogram: (field, [bins = 10]) => `histogram(${field}, ${bins})`,
  stdev: plain('stdev'),
  variance: plain('variance'),
};

function orderOf(order: unknown): readonly string[] {
  const keys = (Array.isArray(order) ? order : []).map(
    ({ field, desc }: Order) => `${quotedName(field)} ${desc ? 'desc' : 'asc'}`,
  );
  return keys.length === 0 ? [] : [`sort by ${keys.join(', ')}`];
}
