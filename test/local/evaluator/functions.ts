import { createHash } from 'node:crypto';
import { Dynamic, dynamicOf, fitted, type Type, type Value } from './values.js';

/** A function: the types of its arguments (or literal texts to choose from), its result type, and its computation. */
export interface FunctionRow {
  readonly args: readonly (Type | readonly string[])[];
  readonly type: Type;
  readonly compute: (...args: never[]) => Value;
  /** Set if the function is called with nulls; otherwise a null argument makes the result null. */
  readonly ofNulls?: true;
}

/** Range of a datetime. */
const timeSpan = { least: -9_223_286_400_000_000_000n, greatest: 2n ** 63n - 2n };
const second = 1_000_000_000n;
const day = 86_400n * second;

const characters = (text: string): string[] => [...text];
const times = (ns: bigint): bigint | null => (ns < timeSpan.least || ns > timeSpan.greatest ? null : ns);
const mod = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;
const floored = (ns: bigint, width: bigint): bigint => ns - mod(ns, width);
const dateOf = (ns: bigint): Date => new Date(Number(floored(ns, 1_000_000n) / 1_000_000n));
const dayStart = (year: number, month: number, date: number): bigint =>
  BigInt(Date.UTC(year, month, date)) * 1_000_000n;

type Unit = 'day' | 'week' | 'month' | 'year';

/** Returns the start of the day, week, month or year of a time, shifted by this many units. */
function startOf(unit: Unit, ns: bigint, by = 0n): bigint {
  const date = dateOf(ns);
  const [year, month, offset] = [date.getUTCFullYear(), date.getUTCMonth(), Number(by)];
  if (unit === 'year') return dayStart(year + offset, 0, 1);
  if (unit === 'month') return dayStart(year, month + offset, 1);
  const week = unit === 'week' ? [date.getUTCDay(), 7] : [0, 1];
  return floored(ns, day) + BigInt((week[1] ?? 1) * offset - (week[0] ?? 0)) * day;
}

const small = ['-2', '-1', '0', '1', '2', '3'];

function starts(unit: Unit): FunctionRow {
  return { args: ['datetime'], type: 'datetime', compute: (ns: bigint) => times(startOf(unit, ns)) };
}

function ends(unit: Unit): FunctionRow {
  return {
    args: ['datetime'],
    type: 'datetime',
    compute: (ns: bigint) => times(startOf(unit, ns, 1n) - 100n),
  };
}

function ofTime(compute: (date: Date, ns: bigint) => number): FunctionRow {
  return { args: ['datetime'], type: 'long', compute: (ns: bigint) => BigInt(compute(dateOf(ns), ns)) };
}

function ofText(compute: (text: string) => string): FunctionRow {
  return { args: ['string'], type: 'string', compute };
}

function hashed(algorithm: string): FunctionRow {
  return ofText(text => createHash(algorithm).update(text).digest('hex'));
}

function since(factor: bigint): FunctionRow {
  return { args: ['long'], type: 'datetime', compute: (n: bigint) => times(n * factor) };
}

function array(compute: (items: readonly unknown[]) => Value): FunctionRow {
  return {
    args: ['dynamic'],
    type: 'dynamic',
    compute: ({ json }: Dynamic) => (Array.isArray(json) ? compute(json) : null),
  };
}

function trimmed(set: string, text: string, ends: 'both' | 'start' | 'end'): string {
  const all = characters(text);
  const cut = new Set(characters(set));
  let [from, to] = [0, all.length];
  while (ends !== 'end' && from < to && cut.has(all[from] ?? '')) from += 1;
  while (ends !== 'start' && from < to && cut.has(all[to - 1] ?? '')) to -= 1;
  return all.slice(from, to).join('');
}

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');

/** Functions by name, written from the documentation. */
export const functionRows: Readonly<Record<string, FunctionRow>> = {
  tolower: ofText(text => text.toLowerCase()),
  toupper: ofText(text => text.toUpperCase()),
  totitle: ofText(text => text.slice(0, 1).toUpperCase() + text.slice(1)),
  reverse: ofText(text => characters(text).reverse().join('')),
  trim_space: ofText(text => text.trim()),
  base64_encode_tostring: ofText(text => bytes(text).toString('base64')),
  url_encode: ofText(text => encodeURIComponent(text).replaceAll('%20', '+').replaceAll("'", '%27')),
  hash_md5: hashed('md5'),
  hash_sha1: hashed('sha1'),
  hash_sha256: hashed('sha256'),
  hash_sha512: hashed('sha512'),
  regex_quote: ofText(text => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
  string_size: { args: ['string'], type: 'long', compute: (text: string) => BigInt(bytes(text).length) },
  isascii: { args: ['string'], type: 'bool', compute: (text: string) => bytes(text).length === text.length },
  strcmp: {
    args: ['string', 'string'],
    type: 'long',
    compute: (a: string, b: string) => BigInt(Buffer.compare(bytes(a), bytes(b))),
  },
  countof: {
    args: ['string', 'string'],
    type: 'long',
    compute: (part: string, text: string) =>
      BigInt(part === '' ? characters(text).length + 1 : text.split(part).length - 1),
  },
  indexof: {
    args: ['string', 'string'],
    type: 'long',
    compute: (text: string, part: string) => {
      const at = text.indexOf(part);
      return BigInt(at < 0 ? at : characters(text.slice(0, at)).length);
    },
  },
  replace_string: {
    args: ['string', 'string', 'string'],
    type: 'string',
    compute: (part: string, by: string, text: string) => (part === '' ? text : text.split(part).join(by)),
  },
  substring: {
    args: ['string', small, ['0', '1', '2', '5']],
    type: 'string',
    compute: (text: string, start: bigint, length: bigint) => {
      const all = characters(text);
      const from = start < 0n ? Math.max(all.length + Number(start), 0) : Number(start);
      return all.slice(from, from + Number(length)).join('');
    },
  },
  strrep: {
    args: ['string', small],
    type: 'string',
    compute: (text: string, count: bigint) => text.repeat(Math.max(Number(count), 0)),
  },
  trim: {
    args: ['string', 'string'],
    type: 'string',
    compute: (set: string, text: string) => trimmed(set, text, 'both'),
  },
  trim_start: {
    args: ['string', 'string'],
    type: 'string',
    compute: (set: string, text: string) => trimmed(set, text, 'start'),
  },
  trim_end: {
    args: ['string', 'string'],
    type: 'string',
    compute: (set: string, text: string) => trimmed(set, text, 'end'),
  },
  isempty: {
    args: ['string'],
    type: 'bool',
    ofNulls: true,
    compute: (text: string | null) => text === null || text === '',
  },
  isnotempty: {
    args: ['string'],
    type: 'bool',
    ofNulls: true,
    compute: (text: string | null) => text !== null && text !== '',
  },
  unicode_codepoints_from_string: {
    args: ['string'],
    type: 'dynamic',
    compute: (text: string) => dynamicOf(characters(text).map(each => BigInt(each.codePointAt(0) ?? 0))),
  },
  tostring: {
    args: ['long'],
    type: 'string',
    ofNulls: true,
    compute: (n: bigint | null) => (n === null ? '' : String(n)),
  },
  tobool: { args: ['long'], type: 'bool', compute: (n: bigint) => n !== 0n },
  sign: { args: ['long'], type: 'long', compute: (n: bigint) => (n > 0n ? 1n : n < 0n ? -1n : 0n) },
  abs: { args: ['long'], type: 'long', compute: (n: bigint) => fitted(n < 0n ? -n : n) },
  max_of: {
    args: ['long', 'long'],
    type: 'long',
    ofNulls: true,
    compute: (a: bigint | null, b: bigint | null) => (a === null || (b !== null && b > a) ? b : a),
  },
  min_of: {
    args: ['long', 'long'],
    type: 'long',
    ofNulls: true,
    compute: (a: bigint | null, b: bigint | null) => (a === null || (b !== null && b < a) ? b : a),
  },
  startofday: starts('day'),
  startofweek: starts('week'),
  startofmonth: starts('month'),
  startofyear: starts('year'),
  endofday: ends('day'),
  endofweek: ends('week'),
  endofmonth: ends('month'),
  endofyear: ends('year'),
  getyear: ofTime(date => date.getUTCFullYear()),
  getmonth: ofTime(date => date.getUTCMonth() + 1),
  monthofyear: ofTime(date => date.getUTCMonth() + 1),
  dayofmonth: ofTime(date => date.getUTCDate()),
  hourofday: ofTime(date => date.getUTCHours()),
  dayofyear: ofTime((_, ns) => Number((floored(ns, day) - startOf('year', ns)) / day) + 1),
  unixtime_seconds_todatetime: since(second),
  unixtime_milliseconds_todatetime: since(1_000_000n),
  unixtime_microseconds_todatetime: since(1000n),
  unixtime_nanoseconds_todatetime: since(1n),
  array_length: {
    args: ['dynamic'],
    type: 'long',
    compute: ({ json }: Dynamic) => (Array.isArray(json) ? BigInt(json.length) : null),
  },
  array_reverse: array(items => new Dynamic([...items].reverse() as never)),
  isarray: {
    args: ['dynamic'],
    type: 'bool',
    ofNulls: true,
    compute: (value: Dynamic | null) => Array.isArray(value?.json),
  },
};
