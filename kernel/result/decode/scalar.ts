/**
 * Cells from JSON bytes to exact 64-bit integers and doubles: integers, floats, ISO 8601 times, Go durations. Each reader consumes the
 * cell at `json.pos`; it returns false, having stored nothing, if the cell does not fit. A reader of several cells consumes those that
 * begin before `stop`, have the usual form and are directly followed by a comma, as most are, and returns the row after them; all of its
 * state stays in registers.
 */
import { parseGoDuration } from '../../time.js';
import type { Int64Store } from './decode-store.js';
import { COMMA, DOT, type JsonBytes, MINUS, NINE, QUOTE, ZERO } from './json-bytes.js';

/** This many decimal digits always fit a double's 53 bits. */
const SAFE_DIGITS = 15;
/** An integer with more digits does not fit 64 bits. */
const MOST_DIGITS = 19;

/** Reads an integer in any JSON notation (`7`, `7.0`, `7e3`) that fits 64 bits. */
export function readInteger(json: JsonBytes, store: Int64Store, row: number): boolean {
  const { bytes } = json;
  const negative = bytes[json.pos] === MINUS;
  const from = negative ? json.pos + 1 : json.pos;
  let p = from;
  let value = 0;
  for (let c = bytes[p] as number; c >= ZERO && c <= NINE; c = bytes[++p] as number)
    value = value * 10 + (c - ZERO);
  const length = p - from;
  const next = bytes[p] as number;
  if (
    length === 0 ||
    length > SAFE_DIGITS ||
    next === DOT ||
    (next | 0x20) === 0x65 ||
    (length > 1 && bytes[from] === ZERO)
  ) {
    return readLongInteger(json, store, row);
  }
  json.pos = p;
  store.setSafe(row, negative ? -value : value);
  return true;
}

/** Reads integers of at most 19 digits, each with its comma. */
export function readIntegers(json: JsonBytes, store: Int64Store, row: number, stop: number): number {
  const { bytes } = json;
  let next = row;
  let p = json.pos;
  while (p < stop) {
    const negative = bytes[p] === MINUS;
    const from = negative ? p + 1 : p;
    let at = from;
    let value = 0;
    let c = bytes[at] as number;
    for (; c >= ZERO && c <= NINE; c = bytes[++at] as number) value = value * 10 + (c - ZERO);
    const length = at - from;
    const isUsual = length > 0 && length <= MOST_DIGITS && (length === 1 || bytes[from] !== ZERO);
    if (c !== COMMA || !isUsual) break;
    store.reserve(next);
    if (length <= SAFE_DIGITS) store.setSafe(next, negative ? -value : value);
    else if (!setDigits(bytes, from, at, negative, store, next)) break;
    next++;
    p = at + 1;
  }
  json.pos = p;
  return next;
}

/**
 * Reads a number as the nearest double, and the strings `NaN`, `Infinity` and their signed spellings, which JSON numbers cannot express.
 * Returns false if it overflows, or if `exactIntegers` is set and an integer is not exactly a double.
 */
export function readFloat(json: JsonBytes, out: Float64Array, row: number, exactIntegers: boolean): boolean {
  const { bytes } = json;
  const negative = bytes[json.pos] === MINUS;
  const from = negative ? json.pos + 1 : json.pos;
  let p = from;
  let mantissa = 0;
  let c = bytes[p] as number;
  for (; c >= ZERO && c <= NINE; c = bytes[++p] as number) mantissa = mantissa * 10 + (c - ZERO);
  const whole = p - from;
  let fraction = 0;
  if (c === DOT && whole > 0) {
    for (c = bytes[++p] as number; c >= ZERO && c <= NINE; c = bytes[++p] as number)
      mantissa = mantissa * 10 + (c - ZERO);
    fraction = p - from - whole - 1;
    if (fraction === 0) return readLongFloat(json, out, row, exactIntegers);
  }
  const leadingZero = whole > 1 && bytes[from] === ZERO;
  if (whole === 0 || whole + fraction > SAFE_DIGITS || leadingZero || (c | 0x20) === 0x65) {
    return readLongFloat(json, out, row, exactIntegers);
  }
  json.pos = p;
  // Both operands are exact, so the quotient is correctly rounded.
  const value = mantissa / (POWERS_OF_TEN[fraction] as number);
  out[row] = negative ? -value : value;
  return true;
}

/** Reads numbers of at most 15 digits, with or without a fraction, each with its comma. */
export function readFloats(json: JsonBytes, out: Float64Array, row: number, stop: number): number {
  const { bytes } = json;
  let next = row;
  let p = json.pos;
  while (p < stop && next < out.length) {
    const negative = bytes[p] === MINUS;
    const from = negative ? p + 1 : p;
    let at = from;
    let mantissa = 0;
    let c = bytes[at] as number;
    for (; c >= ZERO && c <= NINE; c = bytes[++at] as number) mantissa = mantissa * 10 + (c - ZERO);
    const whole = at - from;
    let fraction = 0;
    if (c === DOT) {
      const first = ++at;
      for (c = bytes[at] as number; c >= ZERO && c <= NINE; c = bytes[++at] as number)
        mantissa = mantissa * 10 + (c - ZERO);
      fraction = at - first;
      if (fraction === 0) break;
    }
    const isUsual = whole > 0 && whole + fraction <= SAFE_DIGITS && (whole === 1 || bytes[from] !== ZERO);
    if (c !== COMMA || !isUsual) break;
    const value = mantissa / (POWERS_OF_TEN[fraction] as number);
    out[next++] = negative ? -value : value;
    p = at + 1;
  }
  json.pos = p;
  return next;
}

/** Reads an ISO 8601 time with up to nine digits of fraction, in UTC or with an offset, as nanoseconds since 1970 that fit 64 bits. */
export function readDatetime(json: JsonBytes, store: Int64Store, row: number): boolean {
  const { bytes } = json;
  const from = json.pos + 1;
  if (bytes[json.pos] !== QUOTE) return false;
  const minute = minuteOf(bytes, from);
  const second = twoDigits(bytes, from + 17);
  if (!(second < 60)) return false;
  let p = from + 19;
  let nanos = 0;
  if (bytes[p] === DOT) {
    let scale = 1e8;
    const start = ++p;
    for (let c = bytes[p] as number; c >= ZERO && c <= NINE; c = bytes[++p] as number) {
      if (scale < 1 && c !== ZERO) return false;
      nanos += scale < 1 ? 0 : (c - ZERO) * scale;
      scale /= 10;
    }
    if (p === start) return false;
  }
  return readZone(json, p, minute + second, nanos, store, row);
}

/** Reads times in UTC with at most nine digits of fraction, each with its comma; most are in the same minute as the previous one. */
export function readDatetimes(json: JsonBytes, store: Int64Store, row: number, stop: number): number {
  const { bytes } = json;
  let next = row;
  let p = json.pos;
  let known = -1;
  let minute = 0;
  while (p < stop) {
    if (known < 0 || !startAlike(bytes, known, p, MINUTE_BYTES)) {
      minute = bytes[p] === QUOTE ? minuteOf(bytes, p + 1) : Number.NaN;
      if (Number.isNaN(minute)) break;
      known = p;
    }
    const second = twoDigits(bytes, p + MINUTE_BYTES);
    let at = p + MINUTE_BYTES + 2;
    let c = bytes[at] as number;
    let nanos = 0;
    if (c === DOT) {
      const first = ++at;
      for (c = bytes[at] as number; c >= ZERO && c <= NINE; c = bytes[++at] as number)
        nanos = nanos * 10 + (c - ZERO);
      const digits = at - first;
      if (digits === 0 || digits > 9) break;
      nanos *= POWERS_OF_TEN[9 - digits] as number;
    }
    const isUsual = second < 60 && (c | 0x20) === 0x7a && bytes[at + 1] === QUOTE && bytes[at + 2] === COMMA;
    if (!isUsual) break;
    store.reserve(next);
    if (!store.setBillions(next, minute + second, nanos)) break;
    next++;
    p = at + 3;
  }
  json.pos = p;
  return next;
}

/** Length of a quote and a time up to its seconds. */
const MINUTE_BYTES = 18;

/** Returns whether the first `length` bytes at two positions are equal, comparing from the end, where they differ first. */
function startAlike(bytes: Uint8Array, one: number, other: number, length: number): boolean {
  for (let at = length - 1; at >= 0; at--) if (bytes[one + at] !== bytes[other + at]) return false;
  return true;
}

/** Returns the minute of a time in seconds since 1970, up to the colon before its seconds; NaN if there is none. */
function minuteOf(bytes: Uint8Array, from: number): number {
  const separator = (bytes[from + 10] as number) | 0x20;
  const isTime =
    bytes[from + 4] === MINUS &&
    bytes[from + 7] === MINUS &&
    (separator === 0x74 || separator === 0x20) &&
    bytes[from + 13] === 0x3a &&
    bytes[from + 16] === 0x3a;
  if (!isTime) return Number.NaN;
  const day = dayNumber(
    twoDigits(bytes, from) * 100 + twoDigits(bytes, from + 2),
    twoDigits(bytes, from + 5),
    twoDigits(bytes, from + 8),
  );
  const hour = twoDigits(bytes, from + 11);
  const minute = twoDigits(bytes, from + 14);
  return hour < 24 && minute < 60 ? day * 86400 + hour * 3600 + minute * 60 : Number.NaN;
}

/** Reads a duration: integer nanoseconds, or a Go duration such as `"5m0.004487127s"`. */
export function readTimespan(json: JsonBytes, store: Int64Store, row: number): boolean {
  const { pos } = json;
  if (json.bytes[pos] !== QUOTE) return readInteger(json, store, row);
  json.string();
  const nanos = parseGoDuration(json.text(pos + 1, json.pos - 1), 'refuse');
  return nanos !== undefined && store.setBig(row, nanos);
}

const POWERS_OF_TEN = Float64Array.from({ length: SAFE_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

const NON_FINITE: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '+Infinity': Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  Inf: Number.POSITIVE_INFINITY,
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
};

function readLongInteger(json: JsonBytes, store: Int64Store, row: number): boolean {
  const { pos } = json;
  if (!startsNumber(json)) return false;
  const plain = json.number();
  const negative = json.bytes[pos] === MINUS;
  const from = negative ? pos + 1 : pos;
  const length = json.pos - from;
  if (!plain) {
    const value = integralValue(json.ascii(pos, json.pos));
    return value !== undefined && store.setBig(row, value);
  }
  return length <= MOST_DIGITS && setDigits(json.bytes, from, json.pos, negative, store, row);
}

/** Stores the integer of at least ten digits `bytes[from..to]`; returns false if it exceeds 64 bits. */
function setDigits(
  bytes: Uint8Array,
  from: number,
  to: number,
  negative: boolean,
  store: Int64Store,
  row: number,
): boolean {
  const high = digitsValue(bytes, from, to - 9);
  const low = digitsValue(bytes, to - 9, to);
  return negative ? store.setBillions(row, -high, -low) : store.setBillions(row, high, low);
}

function digitsValue(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let p = from; p < to; p++) value = value * 10 + ((bytes[p] as number) - ZERO);
  return value;
}

/** Returns the value of a JSON number with a fraction or exponent if it is an integer below 10^20. */
function integralValue(text: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/0+$/, '').replace(/^0+/, '');
  if (digits === '') return 0n;
  const trailing = (whole + fraction).length - (whole + fraction).replace(/0+$/, '').length;
  const power = Number(exponent) - fraction.length + trailing;
  if (power < 0 || digits.length + power > 20) return undefined;
  return BigInt(`${sign}${digits}${'0'.repeat(power)}`);
}

function readLongFloat(json: JsonBytes, out: Float64Array, row: number, exactIntegers: boolean): boolean {
  const { pos } = json;
  if (!startsNumber(json)) return readNonFinite(json, out, row);
  const plain = json.number();
  const text = json.ascii(pos, json.pos);
  const value = Number(text);
  out[row] = value;
  return Number.isFinite(value) && !(exactIntegers && plain && BigInt(text) !== BigInt(value));
}

function readNonFinite(json: JsonBytes, out: Float64Array, row: number): boolean {
  const { pos } = json;
  if (json.bytes[pos] !== QUOTE) return false;
  json.string();
  const text = json.text(pos + 1, json.pos - 1);
  if (!Object.hasOwn(NON_FINITE, text)) return false;
  out[row] = NON_FINITE[text] as number;
  return true;
}

/** Returns whether a number is next. */
export function startsNumber(json: JsonBytes): boolean {
  const c = json.bytes[json.pos] as number;
  return c === MINUS || (c >= ZERO && c <= NINE);
}

/** Reads `Z` or `+hh:mm` and the closing quote at `p`, and stores the timestamp. */
function readZone(
  json: JsonBytes,
  p: number,
  localSeconds: number,
  nanos: number,
  store: Int64Store,
  row: number,
): boolean {
  const { bytes } = json;
  const zone = bytes[p] as number;
  let end = p + 1;
  let offset = 0;
  if (zone === 0x2b || zone === MINUS) {
    const hours = twoDigits(bytes, p + 1);
    const minutes = twoDigits(bytes, p + 4);
    if (bytes[p + 3] !== 0x3a || !(hours < 24 && minutes < 60)) return false;
    offset = (zone === MINUS ? -1 : 1) * (hours * 3600 + minutes * 60);
    end = p + 6;
  } else if ((zone | 0x20) !== 0x7a) return false;
  const seconds = localSeconds - offset;
  if (bytes[end] !== QUOTE || Number.isNaN(seconds)) return false;
  json.pos = end + 1;
  return store.setBillions(row, seconds, nanos);
}

/** Returns NaN if either byte is not a digit. */
function twoDigits(bytes: Uint8Array, p: number): number {
  const tens = (bytes[p] as number) - ZERO;
  const ones = (bytes[p + 1] as number) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Returns days since 1970-01-01 in the proleptic Gregorian calendar; NaN for a day that does not exist. */
function dayNumber(year: number, month: number, day: number): number {
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return Number.NaN;
  // Years begin in March, which puts the leap day last.
  const shifted = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leapDays + dayOfYear - 719468;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
