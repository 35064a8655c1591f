/**
 * Numbers for people: thousands apart, decimals of a column aligned, units applied. The exact text of a cell is `cellText`;
 * a rendering offers it if the two differ. Free of Node.js.
 */
import { DataType, type Field, type Vector } from 'apache-arrow';
import { parseGoDuration } from '../../time.js';
import { scaleFor, unitIsKnown } from '../chart/units.js';
import { FIELD_KEY } from '../field.js';

/** How the numbers of one column are written. */
export type NumberFormat =
  /** Digits as they are: identifiers, codes, ports, years, and every cell that is not a number. */
  | { readonly kind: 'exact' }
  /** Whole numbers with thousands separators. */
  | { readonly kind: 'integer' }
  /** Real numbers with so many digits after the point, the same in every row. */
  | { readonly kind: 'real'; readonly decimals: number }
  /** Measures of a unit, each in the multiple that suits it: `1.24 MB`. */
  | { readonly kind: 'measure'; readonly unit: string }
  /** Timespans, each in the unit that suits it: `29.33403 ms`. */
  | { readonly kind: 'span' };

const EXACT: NumberFormat = { kind: 'exact' };
const INTEGER: NumberFormat = { kind: 'integer' };
const SPAN: NumberFormat = { kind: 'span' };

/** Significant digits of a real number or a timespan, and of a measure with its unit. */
const REAL_DIGITS = 7;
const MEASURE_DIGITS = 4;
/** Outside of these bounds a number is written with an exponent. */
const SMALLEST_PLAIN = 1e-5;
const LARGEST_PLAIN = 1e15;
/** How many cells decide the digits of a column. */
const SAMPLE = 1_000;

/** Last words of the names of fields whose numbers are labels: `user_id`, `http.status_code`, `srcPort`. */
const LABELS = new Set(
  'id ids pid ppid tid uid gid port year status code zip version asn line serial'.split(' '),
);

/**
 * Chooses the format of a column from its type, unit and name, and for real numbers from its first cells. `units: false` is for
 * renderings that have no place for the exact value beside `1.24 MB`.
 */
export function numberFormat(field: Field, vector: Vector, { units = true } = {}): NumberFormat {
  const { type } = field;
  if (units && DataType.isDuration(type)) return SPAN;
  const isReal = DataType.isFloat(type);
  if (!isReal && !DataType.isInt(type)) return EXACT;
  const unit = field.metadata.get(FIELD_KEY.unit);
  if (units && unit !== undefined && unitIsKnown(unit)) return { kind: 'measure', unit };
  if (isReal) return { kind: 'real', decimals: decimalsOf(vector) };
  return isLabel(field) ? EXACT : INTEGER;
}

/**
 * The text of a number in a format, from its exact text as `cellText` gives it; an infinity, NaN or any other text is unchanged.
 */
export function formatNumber(exact: string, format: NumberFormat): string {
  switch (format.kind) {
    case 'exact':
      return exact;
    case 'integer':
      return grouped(exact);
    case 'real':
      return formatReal(exact, format.decimals);
    case 'measure':
      return formatMeasure(exact, format.unit, MEASURE_DIGITS);
    case 'span':
      return formatSpan(exact);
  }
}

/** The number of different ids is not an id. */
const COUNTING = /^d?count/;

function isLabel({ name, metadata }: Field): boolean {
  const { name: aggregate = '' } = JSON.parse(metadata.get(FIELD_KEY.agg) ?? '{}') as { name?: string };
  if (COUNTING.test(aggregate) || COUNTING.test(name)) return false;
  const last = /([A-Z]?[a-z]+|[A-Z]+)$/.exec(name)?.[1] ?? '';
  return LABELS.has(last.toLowerCase());
}

function decimalsOf(vector: Vector): number {
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
  if (largest < SMALLEST_PLAIN) return 0;
  // Below 1 the zeros after the point do not count.
  const whole = Math.floor(Math.log10(largest)) + 1;
  return Math.min(most, Math.max(REAL_DIGITS - whole, 0));
}

/** Digits after the point of the shortest decimal. */
function fraction(value: number): number {
  const [digits = '', exponent = '0'] = String(Math.abs(value)).split('e');
  return Math.max((digits.split('.')[1]?.length ?? 0) - Number(exponent), 0);
}

function formatReal(exact: string, decimals: number): string {
  const value = Number(exact);
  if (!Number.isFinite(value)) return exact;
  if (value === 0) return Object.is(value, -0) ? `-${(0).toFixed(decimals)}` : (0).toFixed(decimals);
  if (Math.abs(value) >= LARGEST_PLAIN) return exponential(value);
  const fixed = value.toFixed(decimals);
  // A number that would be rounded to zero is written with an exponent.
  if (Number(fixed) === 0) return exponential(value);
  return grouped(fixed);
}

/** Short with an exponent, or exact where that is shorter. */
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

/** Decimal digits without an exponent. */
function plain(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(Math.min(fraction(value), 20)) : text;
}

/** The digits before the point in groups of three. */
function grouped(text: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(text) ?? [];
  if (whole.length < 4) return text;
  return `${sign}${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}${rest}`;
}
