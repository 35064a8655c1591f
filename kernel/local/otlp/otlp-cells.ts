import type { TypeName } from '../../apl/catalog/entry.js';
import { LATEST_TIME } from '../../time.js';
import type { Batch } from '../store/append/append-batch.js';
import { type AnyValue, invalidBody, type KeyValue, listOf } from './otlp-protocol.js';

/** A value of an event: its type and its JSON text. */
export interface Cell {
  readonly type: TypeName;
  readonly text: string;
}

/** An event: its time in nanoseconds since 1970, undefined if it has none, and its cells by field. */
export interface OtlpEvent {
  readonly time: bigint | undefined;
  readonly cells: ReadonlyMap<string, Cell>;
}

/**
 * Returns events as a batch; those without a time get the arrival time. The string fields `always` are included even if no event has a
 * value.
 */
export function batchOf(events: readonly OtlpEvent[], always: readonly string[], nowNs: bigint): Batch {
  const types = new Map<string, TypeName>();
  for (const { cells } of events)
    for (const [name, { type }] of cells) types.set(name, common(types.get(name) ?? type, type));
  const empty = always
    .filter(name => !types.has(name))
    .map(name => ({ name, type: 'string' as const, empty: true }));
  const fields = [...[...types].map(([name, type]) => ({ name, type, empty: false })), ...empty];
  return {
    fields,
    timeless: false,
    events: events.map(({ time, cells }) => ({
      time: time ?? nowNs,
      cells: fields.map(({ name }) => cells.get(name)?.text),
    })),
    nowNs,
  };
}

/** Returns a type for the values of both. */
function common(a: TypeName, b: TypeName): TypeName {
  if (a === b) return a;
  const isNumber = (type: TypeName) => type === 'long' || type === 'real';
  return isNumber(a) && isNumber(b) ? 'real' : 'dynamic';
}

/** Returns the cell of a value; undefined if empty or not finite. Throws LocalError. */
export function cellOf(value: AnyValue | undefined): Cell | undefined {
  const text = jsonOf(value, 0);
  if (value === undefined || text === 'null') return undefined;
  return { type: typeOf(value), text };
}

/** Returns the cell of a string; undefined if empty. */
export function textCell(text: string | undefined): Cell | undefined {
  return text === undefined || text === '' ? undefined : { type: 'string', text: quoted(text) };
}

/** Returns the cell of a list of attributes, as one object with their keys unchanged; undefined if there are none. */
export function objectCell(attributes: readonly KeyValue[]): Cell | undefined {
  return attributes.length === 0 ? undefined : { type: 'dynamic', text: objectOf(attributes, 0) };
}

/** Returns the text of a JSON object with these members, omitting those without text. */
export function objectText(members: Readonly<Record<string, string | undefined>>): string {
  const written = Object.entries(members).flatMap(([key, text]) =>
    text === undefined ? [] : [`${quoted(key)}:${text}`],
  );
  return `{${written.join(',')}}`;
}

/** Returns a time in nanoseconds since 1970; undefined for zero, which means none, and out of range. */
export function timeOf(value: string | number | undefined): bigint | undefined {
  const time = integerOf(value ?? 0);
  return time > 0n && time <= LATEST_TIME ? time : undefined;
}

/** Returns an id in hex; undefined if empty. Throws LocalError for a string that is not hex. */
export function idOf(id: Uint8Array | string | undefined): string | undefined {
  const text = typeof id === 'string' ? id.toLowerCase() : Buffer.from(id ?? []).toString('hex');
  if (!/^[0-9a-f]*$/.test(text)) throw invalidBody('an ID is not hexadecimal');
  return /^0*$/.test(text) ? undefined : text;
}

function typeOf(value: AnyValue): TypeName {
  if (value.stringValue !== undefined || value.bytesValue !== undefined) return 'string';
  if (value.boolValue !== undefined) return 'bool';
  if (value.intValue !== undefined) return 'long';
  return value.doubleValue !== undefined ? 'real' : 'dynamic';
}

/** Deeper values are refused, as in JSON events. */
const deepest = 64;

function jsonOf(value: AnyValue | undefined, depth: number): string {
  if (depth > deepest) throw invalidBody(`a value is nested more than ${deepest} levels deep`);
  if (value === undefined || value === null) return 'null';
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value;
  if (stringValue !== undefined) return quoted(String(stringValue));
  if (boolValue !== undefined) return boolValue ? 'true' : 'false';
  if (intValue !== undefined) return String(signed(integerOf(intValue)));
  if (doubleValue !== undefined) return realOf(Number(doubleValue));
  if (arrayValue !== undefined)
    return `[${listOf(arrayValue.values)
      .map(item => jsonOf(item, depth + 1))
      .join(',')}]`;
  if (kvlistValue !== undefined) return objectOf(listOf(kvlistValue.values), depth + 1);
  if (bytesValue === undefined) return 'null';
  return quoted(typeof bytesValue === 'string' ? bytesValue : Buffer.from(bytesValue).toString('base64'));
}

/** Returns the text of an object. The last of duplicate keys wins. */
function objectOf(attributes: readonly KeyValue[], depth: number): string {
  const members = new Map(attributes.map(({ key = '', value }) => [quoted(key), jsonOf(value, depth)]));
  return `{${[...members].map(([key, text]) => `${key}:${text}`).join(',')}}`;
}

function realOf(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function integerOf(value: string | number): bigint {
  if (typeof value === 'number' ? Number.isSafeInteger(value) : /^-?\d{1,20}$/.test(value))
    return BigInt(value);
  throw invalidBody(`${JSON.stringify(value)} is not a 64-bit integer: write integers above 2^53 as strings`);
}

function signed(integer: bigint): bigint {
  if (BigInt.asIntN(64, integer) === integer) return integer;
  throw invalidBody(`${integer} exceeds 64 bits`);
}

/** Returns a JSON string. Replaces invalid Unicode, and NUL, which ends strings in other programs: the engine accepts neither. */
function quoted(text: string): string {
  return JSON.stringify(Buffer.from(text).toString().replaceAll('\0', '\ufffd'));
}
