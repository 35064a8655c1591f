import { isNoTime } from '../../../api/wire.js';
import { formatTime, isBeyondTime, parseTime } from '../../../time.js';
import { LocalError } from '../../local-errors.js';

/** Type of a member in a body or document. */
export type MemberKind =
  | 'string'
  | 'boolean'
  | 'count'
  | 'object'
  | 'strings'
  | 'objects'
  | 'orders'
  | 'results';

/** Names of the kinds in error messages. */
export const kindNames: Readonly<Record<MemberKind, string>> = {
  string: 'a string',
  boolean: 'true or false',
  count: 'a non-negative integer',
  object: 'an object',
  strings: 'a list of strings',
  objects: 'a list of objects',
  orders: 'a list of {"field": string, "desc": boolean}',
  results: '{"lease": string, "tables": {name: {"id": string, "rowField": string}}}',
};

/** Whether a value is of a kind. */
export function isKind(value: unknown, kind: MemberKind): boolean {
  switch (kind) {
    case 'string':
    case 'boolean':
      return typeof value === kind;
    case 'count':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case 'object':
      return isObject(value);
    case 'strings':
      return Array.isArray(value) && value.every(each => typeof each === 'string');
    case 'objects':
      return Array.isArray(value) && value.every(isObject);
    case 'orders':
      return Array.isArray(value) && value.every(isOrder);
    case 'results':
      return isObject(value) && typeof value.lease === 'string' && isTables(value.tables);
  }
}

function isTables(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isTable);
}

function isTable(value: unknown): boolean {
  if (!isObject(value) || typeof value.id !== 'string') return false;
  return value.rowField === undefined || typeof value.rowField === 'string';
}

function isOrder(value: unknown): boolean {
  return isObject(value) && typeof value.field === 'string' && typeof value.desc === 'boolean';
}

/** Returns the members of an object; throws LocalError (`invalid`), naming the value `what`, if it is not an object. */
export function readObject(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw invalid(`${what[0]?.toUpperCase()}${what.slice(1)} should be a JSON object.`);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const queryMembers: Readonly<Record<string, MemberKind>> = {
  apl: 'string',
  startTime: 'string',
  endTime: 'string',
  cursor: 'string',
  includeCursor: 'boolean',
  includeCursorField: 'boolean',
  defaultLimit: 'count',
  defaultOrder: 'orders',
  libraries: 'strings',
  queryOptions: 'object',
  variables: 'object',
  results: 'results',
};

/** Throws LocalError (`invalid`) for a query with an invalid member, whose name is prefixed with `prefix`. */
export function checkQuery(query: Record<string, unknown>, prefix: string): void {
  if (typeof query.apl !== 'string' || query.apl.trim() === '') {
    throw invalid(`\`${prefix}apl\` should be a query string.`);
  }
  for (const [name, kind] of Object.entries(queryMembers)) {
    const value = query[name];
    if (value !== undefined && value !== null && !isKind(value, kind)) {
      throw invalid(`\`${prefix}${name}\` should be ${kindNames[kind]}.`);
    }
  }
}

/** Parses a time into RFC 3339, null for an empty value. Throws LocalError (`invalid`). */
export function readTimestamp(value: unknown, name: string): string | null | undefined {
  if (value === undefined) return undefined;
  if (isNoTime(value)) return null;
  const time = typeof value === 'string' ? parseTime(value) : undefined;
  if (time === undefined)
    throw invalid(
      typeof value === 'string' && isBeyondTime(value)
        ? `\`${name}\` should be between 1677-09-22 and 2262-04-11.`
        : `\`${name}\` should be a time, such as 2026-01-31T10:00:00Z.`,
    );
  return formatTime(time);
}

/** Returns an error about an invalid value. */
export function invalid(message: string): LocalError {
  return new LocalError('invalid', 'invalid-request', message);
}
