/**
 * Numbers for people: separators between thousands, aligned decimals within a column, units. The exact value of a cell is `cellText`;
 * a rendering offers it if the two differ. Free of Node.js.
 */
import { DataType, type Field, type Vector } from 'apache-arrow';
import { parseGoDuration } from '../../time.js';
import { scaleFor, unitIsKnown } from '../chart/units.js';
import { FIELD_KEY } from '../field.js';

/** Format of the numbers of one column. */
export type NumberFormat =
  /** Unchanged digits: identifiers, codes, ports, years, and every cell that is not a number. */
  | { readonly kind: 'exact' }
  /** Integers with thousands separators. */
  | { readonly kind: 'integer' }
  /** Floating-point numbers with `decimals` digits after the point, or up to `most` if a number beyond the sample has more. */
  | { readonly kind: 'real'; readonly decimals: number; readonly most?: number }
  /** Measures with a unit, each in the most suitable multiple: `1.24 MB`. */
  | { readonly kind: 'measure'; readonly unit: string }
  /** Durations, each in the most suitable unit: `29.33403 ms`. */
  | { readonly kind: 'span' };

const EXACT: NumberFormat = { kind: 'exact' };
const INTEGER: NumberFormat = { kind: 'integer' };
const SPAN: NumberFormat = { kind: 'span' };

/** Significant digits of a floating-point number or a duration, and of a measure with its unit. */
const REAL_DIGITS = 7;
const MEASURE_DIGITS = 4;
/** Outside of these bounds, numbers are written with an exponent. */
const SMALLEST_PLAIN = 1e-5;
const LARGEST_PLAIN = 1e15;
/** Number of cells that decide the digits of a column. */
const SAMPLE = 1_000;

/** Last words of names of fields whose numbers are labels: `user_id`, `http.status_code`, `srcPort`. */
const LABELS = new Set(
  'id ids pid ppid tid uid gid port year status code zip version asn line serial'.split(' '),
);

/**
 * Chooses the format of a column from its type, unit and name, and for floating-point numbers from its first cells. `units: false` is for
 * renderings without room for the exact value beside `1.24 MB`.
 */
export function numberFormat(field: Field, vector: Vector, { units = true } = {}): NumberFormat {
  const { type } = field;
  if (units && DataType.isDuration(type)) return SPAN;
  const isReal = DataType.isFloat(type);
  if (!isReal && !DataType.isInt(type)) return EXACT;
  const unit = field.metadata.get(FIELD_KEY.unit);
  if (units && unit !== undefined && unitIsKnown(unit)) return { kind: 'measure', unit };
  if (isReal) return { kind: 'real', ...decimalsOf(vector) };
  return isLabel(field) ? EXACT : INTEGER;
}

/** Formats a number, given exactly as by `cellText`; infinities, NaN and other strings are returned unchanged. */
export function formatNumber(exact: string, format: NumberFormat): string {
  switch (format.kind) {
    case 'exact':
      return exact;
    case 'integer':
      return grouped(exact);
    case 'real':
      return formatReal(exact, format);
    case 'measure':
      return formatMeasure(exact, format.unit, MEASURE_DIGITS);
    case 'span':
      return formatSpan(exact);
  }
}

/** A count of distinct ids is not an id. */
const COUNTING = /^d?count/;

function isLabel({ name, metadata }: Field): boolean {
  const { name: aggregate = '' } = JSON.parse(metadata.get(FIELD_KEY.agg) ?? '{}') as { name?: string };
  if (COUNTING.test(aggregate) || COUNTING.test(name)) return false;
  const last = /([A-Z]?[a-z]+|[A-Z]+)$/.exec(name)?.[1] ?? '';
  return LABELS.has(last.toLowerCase());
}

function decimalsOf(vector: Vector): { readonly decimals: number; readonly most: number } {
  let most = 0;
  let largest = 0;
  for (let row = 0; row < Math.min(vector.length, SAMPLE); row += 1) {
    const value = vector.get(row) as number | null;
    if (value === null || !Number.isFinite(value)) continue;
    const size = Math.abs(value);
    if (size >= LARGEST_PLAIN) continue;
    largest = Math.max(largest, size);
    most = Math.max(most, fraction(Number(value.toPrecision(REAL_DIGITS))));
  }
  if (largest < SMALLEST_PLAIN) return { decimals: 0, most: REAL_DIGITS };
  // Below 1, zeros after the point do not count.
  const whole = Math.floor(Math.log10(largest)) + 1;
  const room = Math.max(REAL_DIGITS - whole, 0);
  return { decimals: Math.min(most, room), most: room };
}

/** Returns the number of digits after the point of the shortest decimal. */
export function fraction(value: number): number {
  const [digits = '', exponent = '0'] = String(Math.abs(value)).split('e');
  return Math.max((digits.split('.')[1]?.length ?? 0) - Number(exponent), 0);
}

function formatReal(
  exact: string,
  { decimals, most = decimals }: { readonly decimals: number; readonly most?: number },
): string {
  const value = Number(exact);
  if (!Number.isFinite(value)) return exact;
  if (value === 0) return Object.is(value, -0) ? `-${(0).toFixed(decimals)}` : (0).toFixed(decimals);
  if (Math.abs(value) >= LARGEST_PLAIN) return exponential(value);
  const isPlain = Math.abs(value) >= SMALLEST_PLAIN;
  const own = isPlain ? fraction(Number(value.toPrecision(REAL_DIGITS))) : 0;
  const fixed = value.toFixed(Math.max(decimals, Math.min(own, most)));
  // A number that would round to zero is written with an exponent.
  if (Number(fixed) === 0) return exponential(value);
  return grouped(fixed);
}

/** Returns a number shortened, with an exponent, or exact if that is shorter. */
function exponential(value: number): string {
  const short = value
    .toExponential(REAL_DIGITS - 1)
    .replace(/\.?0+e/, 'e')
    .replace('e+', 'e');
  const exact = String(value).replace('e+', 'e');
  return exact.length <= short.length ? exact : short;
}

function formatSpan(exact: string): string {
  const nanos = parseGoDuration(exact);
  if (nanos === undefined) return exact;
  return nanos === 0n ? '0 s' : formatMeasure(String(nanos), 'ns', REAL_DIGITS);
}

function formatMeasure(exact: string, unit: string, digits: number): string {
  const value = Number(exact);
  if (!Number.isFinite(value)) return exact;
  const scale = scaleFor(unit, Math.abs(value));
  const scaled = value * scale.factor;
  const shown = Number.isInteger(scaled) ? scaled : Number(scaled.toPrecision(digits));
  const text = Math.abs(shown) >= LARGEST_PLAIN ? exponential(shown) : grouped(plain(shown));
  return scale.unit === '' ? text : `${text} ${scale.unit}`;
}

/** Returns decimal digits without an exponent. */
function plain(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(Math.min(fraction(value), 20)) : text;
}

/** Groups the digits before the point in threes. */
function grouped(text: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(text) ?? [];
  if (whole.length < 4) return text;
  return `${sign}${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}${rest}`;
}
