import type { TypeName } from '../../../apl/catalog/entry.js';
import type { math as catalog } from '../../../apl/catalog/functions/math-functions.js';
import { autoBinWidth } from '../../../apl/plan/auto-bin.js';
import { mostSequenceRows } from '../../../apl/plan/effort.js';
import { HOUR } from '../../../time.js';
import { setDifference, setIntersect, setUnion } from '../../functions/json/sets.js';
import {
  type SqlArg,
  type SqlContext,
  type SqlTemplate,
  type SqlTemplates,
  sqlArg,
  TemplateError,
} from '../../sql/sql-template.js';
import { computeOnce } from '../duckdb-arguments.js';
import type { JsFunction } from '../duckdb-template.js';
import { mayBeElement } from '../text-test.js';
import { convert, toDynamic } from './duckdb-conversion.js';
import { binTime, binTimeByColumn } from './duckdb-datetime.js';

/** SQL of the mathematical and rounding functions. Arguments that would make the engine raise an error give null. */
export const math: SqlTemplates<typeof catalog> = {
  abs: args => abs(args[0]),
  acos: inUnit('acos'),
  asin: inUnit('asin'),
  atan: unary(x => `atan(${x})`),
  atan2: ([y, x]) => `atan2(${y.sql}, ${x.sql})`,
  bin: args => bin(args[0], args[1]),
  bin_auto: (args, context) => binAuto(args[0], context),
  ceiling: args => roundToLong('ceil', args[0]),
  cos: finite('cos'),
  cot: unary(x => `CASE WHEN ${x} <> 0 AND isfinite(${x}) THEN cot(${x}) END`),
  degrees: unary(x => `degrees(${x})`),
  exp: unary(x => `exp(${x})`),
  exp10: unary(x => `pow(10::DOUBLE, ${x})`),
  exp2: unary(x => `pow(2::DOUBLE, ${x})`),
  floor: args => roundToLong('floor', args[0]),
  gamma: unary(x => `CASE WHEN ${hasGamma(x)} THEN gamma(${x}) END`),
  isfinite: unary(x => `coalesce(isfinite(${x}), false)`),
  isinf: unary(x => `coalesce(isinf(${x}), false)`),
  isint: unary(x => `coalesce(isfinite(${x}) AND floor(${x}) = ${x}, false)`),
  isnan: unary(x => `coalesce(isnan(${x}), false)`),
  log: positive('ln'),
  log10: positive('log10'),
  log2: positive('log2'),
  loggamma: unary(x => `CASE WHEN ${hasGamma(x)} THEN lgamma(${x}) END`),
  max_of: args => extreme('greatest', args),
  min_of: args => extreme('least', args),
  not: ([value]) => `(NOT ${value.sql})`,
  pi: () => 'pi()',
  pow: ([base, exponent]) => `pow(${base.sql}, ${exponent.sql})`,
  radians: unary(x => `radians(${x})`),
  rand: ([bound]) =>
    bound === undefined ? 'random()' : `CASE WHEN ${bound.sql} > 0 THEN floor(random() * ${bound.sql}) END`,
  range: ([start, stop, step]) => range(asNumber(start), asNumber(stop), step && asNumber(step)),
  round: args => round(args[0], args[1]),
  set_difference: sets('apl_set_difference'),
  set_has_element: ([set, value]) => hasElement(set, value),
  set_intersect: sets('apl_set_intersect'),
  set_union: sets('apl_set_union'),
  sign: args => sign(args[0]),
  sin: finite('sin'),
  sqrt: unary(x => `CASE WHEN ${x} < 0 THEN 'NaN'::DOUBLE ELSE sqrt(${x}) END`),
  tan: finite('tan'),
};

/** Macros: floor of an integer to a multiple, exact or null at the ends of int64; sequences of numbers and of nanoseconds. */
export const setup: readonly string[] = [
  `CREATE OR REPLACE MACRO apl_bin_long(x, w) AS
     CASE WHEN w > 0 THEN TRY_CAST(x::HUGEINT - apl_floor_mod(x::HUGEINT, w) AS BIGINT) END`,
  `CREATE OR REPLACE MACRO apl_bin_real(x, w) AS CASE WHEN isfinite(x / w) THEN floor(x / w) * w ELSE x::DOUBLE END`,
  // The index of the last element: one above the maximum if there are too many, null for a step of zero, negative for an empty sequence.
  `CREATE OR REPLACE MACRO apl_last_step(a, b, s) AS CASE WHEN s > 0 AND b >= a OR s < 0 AND b <= a
     THEN CAST(least((b::HUGEINT - a) // s, ${mostSequenceRows}) AS BIGINT) WHEN s <> 0 AND a IS NOT NULL AND b IS NOT NULL THEN -1 END`,
  `CREATE OR REPLACE MACRO apl_range_long(a, b, s) AS
     list_transform(range(apl_last_step(a, b, s) + 1)[1:${mostSequenceRows}], lambda i: CAST(a::HUGEINT + i * s::HUGEINT AS BIGINT))`,
  `CREATE OR REPLACE MACRO apl_last_real_step(a, b, s) AS CASE WHEN NOT (isfinite(a) AND isfinite(b) AND isfinite(s)) OR s = 0
     THEN NULL WHEN (b - a) / s >= 0 THEN CAST(least(floor((b - a) / s), ${mostSequenceRows}) AS BIGINT)
     WHEN s IS NOT NULL AND a IS NOT NULL AND b IS NOT NULL THEN -1 END`,
  `CREATE OR REPLACE MACRO apl_range_real(a, b, s) AS
     list_transform(range(apl_last_real_step(a, b, s) + 1)[1:${mostSequenceRows}], lambda i: a + i * s)`,
];

export const udfs: readonly JsFunction[] = [
  { name: 'apl_set_union', params: ['VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: setUnion },
  { name: 'apl_set_intersect', params: ['VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: setIntersect },
  { name: 'apl_set_difference', params: ['VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: setDifference },
];

// ---- guards ----

type Unary = readonly [SqlArg];

function unary(body: (x: string) => string): SqlTemplate<Unary> {
  return args => computeOnce([args[0]], body);
}

function inUnit(name: string): SqlTemplate<Unary> {
  return unary(x => `CASE WHEN ${x} BETWEEN -1 AND 1 THEN ${name}(${x}) END`);
}

function finite(name: string): SqlTemplate<Unary> {
  return unary(x => `CASE WHEN isfinite(${x}) THEN ${name}(${x}) END`);
}

function positive(name: string): SqlTemplate<Unary> {
  return unary(x => `CASE WHEN ${x} > 0 THEN ${name}(${x}) END`);
}

/** Returns SQL that is false at the poles of the gamma function: zero and the negative integers. */
function hasGamma(x: string): string {
  return `${x} > 0 OR ${x} <> floor(${x})`;
}

// ---- numbers that keep their type ----

const minLong = '(-9223372036854775808)';

function abs(value: SqlArg): string {
  return keepingDynamic('abs takes a number or a timespan', value, (x, type) =>
    type === 'real' ? `abs(${x})` : `CASE WHEN ${x} > ${minLong} THEN abs(${x}) END`,
  );
}

/** Applies a body to a number or timespan; a dynamic value is read as a real and stays dynamic. */
function keepingDynamic(taken: string, value: SqlArg, body: (x: string, type: TypeName) => string): string {
  switch (value.type) {
    case 'long':
    case 'real':
    case 'timespan':
      return computeOnce([value], x => body(x, value.type));
    case 'dynamic':
      return computeOnce([sqlArg(convert(value, 'real'), 'real')], x => `apl_real_json(${body(x, 'real')})`);
    default:
      throw new TemplateError(`${taken}, not a ${value.type}`, 0);
  }
}

function sign(value: SqlArg): string {
  return computeOnce([value], x =>
    value.type === 'real' ? `CASE WHEN NOT isnan(${x}) THEN sign(${x})::BIGINT END` : `sign(${x})::BIGINT`,
  );
}

function roundToLong(name: 'floor' | 'ceil', value: SqlArg): string {
  if (value.type !== 'real') return value.sql;
  return computeOnce(
    [value],
    x => `CASE WHEN ${x} >= -9.2e18 AND ${x} <= 9.2e18 THEN ${name}(${x})::BIGINT END`,
  );
}

/** Halves round away from zero. The engine takes 32-bit precisions; beyond 400 digits a real does not change. */
function round(value: SqlArg, precision: SqlArg | undefined): string {
  if (precision === undefined) return `round(${value.sql})`;
  return `round(${value.sql}, CAST(apl_clamp(${precision.sql}, -400, 400) AS INTEGER))`;
}

/** Dynamic values are compared as numbers and stay dynamic; NaN is skipped. */
function extreme(name: 'greatest' | 'least', args: readonly SqlArg[]): string {
  if (!args.some(arg => arg.type === 'dynamic')) return `${name}(${args.map(notNaN).join(', ')})`;
  return computeOnce(
    [sqlArg(`${name}(${args.map(arg => notNaN(sqlArg(convert(arg, 'real'), 'real'))).join(', ')})`, 'real')],
    x => `apl_real_json(${x})`,
  );
}

/** Skips NaN like null. */
function notNaN({ sql, type, constant }: SqlArg): string {
  return type === 'real' && constant === undefined ? `nullif(${sql}, 'NaN'::DOUBLE)` : sql;
}

// ---- bins ----

function bin(value: SqlArg, written: SqlArg): string {
  if (!binnable.has(value.type)) throw new TemplateError(`${binTakes}, not a ${value.type}`, 0);
  const timed = value.type === 'datetime' || value.type === 'timespan';
  const size = written.type === 'dynamic' ? converted(written, timed ? 'timespan' : 'real') : written;
  const width = size.constant;
  if ((typeof width === 'bigint' || typeof width === 'number') && !(width > 0)) {
    throw new TemplateError('the size of a bin must be positive', 1);
  }
  if (timed ? size.type !== 'timespan' : size.type !== 'long' && size.type !== 'real') {
    const example = timed ? 'a timespan such as 5m' : 'a number';
    throw new TemplateError(`the bin size for a ${value.type} must be ${example}, not a ${size.type}`, 1);
  }
  if (value.type !== 'datetime')
    return keepingDynamic(binTakes, value, (x, type) => binNumber(x, type, size));
  return typeof width === 'bigint' ? binTime(value, width) : binTimeByColumn(value, size);
}

const binnable: ReadonlySet<TypeName> = new Set(['long', 'real', 'datetime', 'timespan', 'dynamic']);
const binTakes = 'bin takes a number, a datetime or a timespan';

function converted(arg: SqlArg, type: TypeName): SqlArg {
  return sqlArg(convert(arg, type), type);
}

function binNumber(x: string, type: TypeName, size: SqlArg): string {
  if (type === 'real' || size.type === 'real') {
    const floored = floorTo(x, size);
    const guarded = typeof size.constant === 'number' || typeof size.constant === 'bigint';
    const real = guarded ? floored : `CASE WHEN ${size.sql} > 0 THEN ${floored} END`;
    return type === 'real' ? real : roundToLong('floor', sqlArg(real, 'real'));
  }
  if (typeof size.constant !== 'bigint') return `apl_bin_long(${x}, ${size.sql})`;
  const w = size.constant;
  return `CASE WHEN ${x} >= 0 THEN ${x} - ${x} % ${w} ELSE apl_bin_long(${x}, ${w}) END`;
}

/** A number too large to be divided into steps counts as a multiple, which is as exact as a real gets. */
function floorTo(x: string, { sql, constant }: SqlArg): string {
  const isCountable = constant !== undefined && Number(constant) >= 1;
  return isCountable ? `floor(${x} / ${sql}) * ${sql}` : `apl_bin_real(${x}, ${sql})`;
}

function binAuto(value: SqlArg, context: SqlContext): string {
  if (value.type !== 'datetime') throw new TemplateError(`bin_auto takes a datetime, not a ${value.type}`, 0);
  return binTime(value, autoBinWidth(context.start, context.end));
}

// ---- range ----

function range(start: SqlArg, stop: SqlArg, written: SqlArg | undefined): string {
  const timed = start.type === 'datetime' || start.type === 'timespan';
  const step = written ?? sqlArg(`${timed ? HOUR : 1n}::BIGINT`, timed ? 'timespan' : 'long');
  if (timed) return rangeOfTimes(start, stop, step);
  for (const [index, arg] of [start, stop, step].entries()) {
    if (arg.type !== 'long' && arg.type !== 'real') {
      throw new TemplateError(`range takes numbers, datetimes or timespans, not a ${arg.type}`, index);
    }
  }
  const long = start.type === 'long' && stop.type === 'long' && step.type === 'long';
  if (long) return computeOnce([start, stop, step], (a, b, s) => `to_json(apl_range_long(${a}, ${b}, ${s}))`);
  const reals = [start, stop, step].map(arg => sqlArg(`${arg.sql}::DOUBLE`, 'real'));
  return computeOnce(reals, (a, b, s) => `to_json(apl_range_real(${a}, ${b}, ${s}))`);
}

function asNumber(arg: SqlArg): SqlArg {
  return arg.type === 'dynamic' ? converted(arg, 'real') : arg;
}

function rangeOfTimes(start: SqlArg, stop: SqlArg, step: SqlArg): string {
  if (stop.type !== start.type)
    throw new TemplateError(
      `a range that starts at a ${start.type} must end at a ${start.type}, not a ${stop.type}`,
      1,
    );
  if (step.type !== 'timespan')
    throw new TemplateError(`the step must be a timespan such as 15m, not a ${step.type}`, 2);
  if (start.type === 'timespan') {
    return computeOnce([start, stop, step], (a, b, s) => `to_json(apl_range_long(${a}, ${b}, ${s}))`);
  }
  return computeOnce([start, stop, step], (a, b, s) => {
    const instants = `apl_range_long(epoch_ns(${a}), epoch_ns(${b}), ${s})`;
    return `to_json(list_transform(${instants}, lambda n: apl_time_text(make_timestamp_ns(n))))`;
  });
}

// ---- sets ----

/** Folds two or more arrays from the left. */
function sets(udf: string): SqlTemplate {
  return args =>
    args.map((arg): string => arg.sql).reduce((left, right) => `${udf}(${left}, ${right})::JSON`);
}

function hasElement(set: SqlArg, value: SqlArg): string {
  if (set.list !== undefined && value.type === 'string') return `list_contains(${set.list}, ${value.sql})`;
  return computeOnce([set, value], (s, v) => {
    const found = `apl_has_item(${s}, ${toDynamic({ ...value, sql: v })})`;
    const first = mayBeElement(s, value, false);
    if (first === undefined) return found;
    const parsed = `CASE WHEN apl_shows_elements(${s}) THEN true ELSE list_contains(apl_plain_texts(${s}), ${v}) END`;
    const among = `CASE WHEN ${first} THEN ${parsed} ELSE false END`;
    return `CASE WHEN starts_with(${s}::VARCHAR, '[') THEN ${among} ELSE ${found} END`;
  });
}
