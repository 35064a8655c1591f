import type { series as catalog } from '../../../apl/catalog/functions/series-functions.js';
import { fft, fillBackward, fillForward, fillLinear, fir, ifft, iir } from '../../functions/signal.js';
import type { Atom } from '../../sql/atom.js';
import {
  type SqlArg,
  type SqlTemplate,
  type SqlTemplates,
  sqlArg,
  sqlOr,
  TemplateError,
} from '../../sql/sql-template.js';
import { computeFirst, computeOnce } from '../duckdb-arguments.js';
import type { JsFunction } from '../duckdb-template.js';
import { toDynamic } from './duckdb-conversion.js';

/**
 * SQL of the series functions, which process numeric arrays element by element. Elements that are not numbers or whose result is not finite
 * give null. Integer arrays are computed as integers if the result is one.
 */
export const series: SqlTemplates<typeof catalog> = {
  series_abs: wholeUnary(x => `abs(${x})`),
  series_acos: realUnary(x => `CASE WHEN ${x} BETWEEN -1 AND 1 THEN acos(${x}) END`),
  series_add: pairs({ op: (a, b) => `${a} + ${b}`, whole: true, length: 'least' }),
  series_asin: realUnary(x => `CASE WHEN ${x} BETWEEN -1 AND 1 THEN asin(${x}) END`),
  series_atan: realUnary(x => `atan(${x})`),
  series_ceiling: rounded('ceil'),
  series_cos: realUnary(finite('cos')),
  series_cosine_similarity: reduction('apl_cosine'),
  series_divide: pairs({ op: (a, b) => `${a} / ${b}`, whole: false, length: 'least' }),
  series_dot_product: reduction('apl_dot'),
  series_equals: comparison('='),
  series_exp: realUnary(x => `exp(${x})`),
  series_fft: args => `apl_fft(${args[0].sql}, ${sqlOr(args[1], "'[]'")})::JSON`,
  series_fill_backward: args => `apl_fill_backward(${args[0].sql})::JSON`,
  series_fill_const: args => fillConst(args[0], args[1]),
  series_fill_forward: args => `apl_fill_forward(${args[0].sql})::JSON`,
  series_fill_linear: args => `apl_fill_linear(${args[0].sql})::JSON`,
  series_fir: args => `apl_fir(${args[0].sql}, ${args[1].sql})::JSON`,
  series_floor: rounded('floor'),
  series_greater: comparison('>'),
  series_greater_equals: comparison('>='),
  series_ifft: args => `apl_ifft(${args[0].sql}, ${sqlOr(args[1], "'[]'")})::JSON`,
  series_iir: args => `apl_iir(${args.map(arg => arg.sql).join(', ')})::JSON`,
  series_less: comparison('<'),
  series_less_equals: comparison('<='),
  series_log: realUnary(x => `CASE WHEN ${x} > 0 THEN ln(${x}) END`),
  series_magnitude: args => onReals(args[0], l => `sqrt(apl_total(list_transform(${l}, lambda x: x * x)))`),
  series_max: pairs({
    op: (a, b) => `CASE WHEN ${a} >= ${b} THEN ${a} WHEN ${a} < ${b} THEN ${b} END`,
    whole: true,
    length: 'greatest',
  }),
  series_min: pairs({
    op: (a, b) => `CASE WHEN ${a} <= ${b} THEN ${a} WHEN ${a} > ${b} THEN ${b} END`,
    whole: true,
    length: 'greatest',
  }),
  series_multiply: pairs({ op: (a, b) => `${a} * ${b}`, whole: true, length: 'greatest' }),
  series_not_equals: comparison('<>'),
  series_pearson_correlation: reduction('apl_pearson'),
  series_pow: pairs({ op: (a, b) => `pow(${a}, ${b})`, whole: false, length: 'least' }),
  series_sign: wholeUnary(x => `CAST(sign(${x}) AS TINYINT)`),
  series_sin: realUnary(finite('sin')),
  series_stats: args => stats('apl_stats_array', args[0]),
  series_stats_dynamic: args => stats('apl_stats_map', args[0]),
  series_subtract: pairs({ op: (a, b) => `${a} - ${b}`, whole: true, length: 'greatest' }),
  series_sum: args => onReals(args[0], l => `apl_total(${l})`),
  series_tan: realUnary(finite('tan')),
};

/** Macros. Those with a parameter `p` take a list of pairs `{x, y}` without nulls. */
export const setup: readonly string[] = [
  `CREATE OR REPLACE MACRO apl_number(j) AS CASE WHEN regexp_matches(j::VARCHAR, '^[-0-9]') THEN j END`,
  `CREATE OR REPLACE MACRO apl_finite(l) AS to_json(list_transform(l, lambda x: CASE WHEN isfinite(x) THEN x END))`,
  `CREATE OR REPLACE MACRO apl_long(x) AS CASE WHEN x BETWEEN -9.2e18 AND 9.2e18 THEN CAST(x AS BIGINT) END`,
  `CREATE OR REPLACE MACRO apl_total(l) AS CASE WHEN l IS NOT NULL THEN coalesce(list_sum(l), 0) END`,
  `CREATE OR REPLACE MACRO apl_sum_xy(p) AS list_sum(list_transform(p, lambda e: e.x * e.y))`,
  `CREATE OR REPLACE MACRO apl_dot(p) AS CASE WHEN p IS NOT NULL THEN coalesce(apl_sum_xy(p), 0) END`,
  // Rounding may put the quotient slightly outside its bounds.
  `CREATE OR REPLACE MACRO apl_quotient(xy, norms) AS
     CASE WHEN norms > 0 AND isfinite(norms) THEN apl_clamp(xy / norms, -1, 1) END`,
  `CREATE OR REPLACE MACRO apl_cosine(p) AS list_transform([{
     'xx': list_sum(list_transform(p, lambda e: e.x * e.x)), 'yy': list_sum(list_transform(p, lambda e: e.y * e.y))}],
     lambda m: apl_quotient(apl_sum_xy(p), sqrt(m.xx * m.yy)))[1]`,
  `CREATE OR REPLACE MACRO apl_centered(p) AS list_transform([{
     'p': p, 'x': list_avg(list_transform(p, lambda e: e.x)), 'y': list_avg(list_transform(p, lambda e: e.y))}],
     lambda m: list_transform(m.p, lambda e: {'x': e.x - m.x, 'y': e.y - m.y}))[1]`,
  `CREATE OR REPLACE MACRO apl_pearson(p) AS apl_cosine(apl_centered(p))`,
  `CREATE OR REPLACE MACRO apl_place_of(l, x) AS
     CASE WHEN x IS NOT NULL THEN CAST(list_position(l, x) - 1 AS BIGINT) END`,
  // Each step is bound before the next one reads it: an expression inside a lambda is recomputed for every element.
  `CREATE OR REPLACE MACRO apl_variance(l, n, mean) AS
     CASE WHEN n > 1 THEN list_sum(list_transform(l, lambda x: (x - mean) * (x - mean))) / (n - 1) END`,
  `CREATE OR REPLACE MACRO apl_spread(l) AS list_transform([{
     'l': l, 'n': list_count(l), 'mean': list_avg(l), 'low': list_min(l), 'high': list_max(l)}], lambda s: {
     'mean': s.mean, 'min': apl_place_of(s.l, s.low), 'max': apl_place_of(s.l, s.high),
     'variance': apl_variance(s.l, s.n, s.mean)})[1]`,
  // The minimum and maximum as written, so an integer stays exact.
  `CREATE OR REPLACE MACRO apl_stats(j) AS list_transform([{'items': apl_items(j), 's': apl_spread(apl_reals(j))}], lambda v: {
     'min': v.items[v.s.min + 1], 'min_idx': v.s.min, 'max': v.items[v.s.max + 1], 'max_idx': v.s.max,
     'avg': apl_real_json(v.s.mean), 'variance': apl_real_json(v.s.variance), 'stdev': apl_real_json(sqrt(v.s.variance))})[1]`,
  `CREATE OR REPLACE MACRO apl_stats_map(s) AS to_json(s)`,
  `CREATE OR REPLACE MACRO apl_stats_array(s) AS
     json_array(s.min, s.min_idx, s.max, s.max_idx, s.avg, s.variance, s.stdev)`,
];

export const udfs: readonly JsFunction[] = [
  { name: 'apl_fft', params: ['VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: fft },
  { name: 'apl_ifft', params: ['VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: ifft },
  { name: 'apl_fir', params: ['VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: fir },
  { name: 'apl_iir', params: ['VARCHAR', 'VARCHAR', 'VARCHAR'], returns: 'VARCHAR', run: iir },
  { name: 'apl_fill_forward', params: ['VARCHAR'], returns: 'VARCHAR', run: fillForward },
  { name: 'apl_fill_backward', params: ['VARCHAR'], returns: 'VARCHAR', run: fillBackward },
  { name: 'apl_fill_linear', params: ['VARCHAR'], returns: 'VARCHAR', run: fillLinear },
];

// ---- one series ----

type Unary = readonly [SqlArg];
type Elementwise = (x: string) => string;

function finite(name: string): Elementwise {
  return x => `CASE WHEN isfinite(${x}) THEN ${name}(${x}) END`;
}

function realUnary(body: Elementwise): SqlTemplate<Unary> {
  return args =>
    computeOnce([args[0]], j => `apl_finite(list_transform(apl_reals(${j}), lambda x: ${body('x')}))`);
}

function wholeUnary(body: Elementwise): SqlTemplate<Unary> {
  return args =>
    computeOnce([args[0]], j => {
      const whole = `to_json(list_transform(apl_wholes(${j}), lambda x: ${body('x')}))`;
      return `CASE WHEN apl_whole(${j}) THEN ${whole} ELSE apl_finite(list_transform(apl_reals(${j}), lambda x: ${body('x')})) END`;
    });
}

/** Whole numbers are unchanged; reals become integers. */
function rounded(name: 'ceil' | 'floor'): SqlTemplate<Unary> {
  return args =>
    computeOnce([args[0]], j => {
      const reals = `to_json(list_transform(apl_reals(${j}), lambda x: apl_long(${name}(x))))`;
      return `CASE WHEN apl_whole(${j}) THEN to_json(apl_wholes(${j})) ELSE ${reals} END`;
    });
}

function onReals(array: SqlArg, body: (list: string) => string): string {
  return computeOnce([array], j => body(`apl_reals(${j})`));
}

function fillConst(array: SqlArg, value: SqlArg): string {
  const args = [sqlArg(`apl_items(${array.sql})`, 'dynamic'), sqlArg(toDynamic(value), 'dynamic')] as const;
  return computeFirst(args, (l, fill) => `to_json(list_transform(${l}, lambda x: coalesce(x, ${fill})))`);
}

function stats(shape: string, array: SqlArg): string {
  return computeOnce(
    [array],
    j =>
      `CASE WHEN apl_items(${j}) IS NOT NULL THEN ${computeFirst([sqlArg(`apl_stats(${j})`, 'dynamic')], s => `${shape}(${s})`)} END`,
  );
}

// ---- two series ----

type Binary = readonly [SqlArg, SqlArg];

interface PairRule {
  readonly op: (a: string, b: string) => string;
  /** Whether integers give integers. */
  readonly whole: boolean;
  /** Whether the shorter length applies, or the longer one with nulls for missing elements. */
  readonly length: 'least' | 'greatest';
  readonly bool?: boolean;
}

function comparison(operator: string): SqlTemplate<Binary> {
  return pairs({ op: (a, b) => `${a} ${operator} ${b}`, whole: true, length: 'greatest', bool: true });
}

/** Either side may be a single number, used for every element. */
function pairs(rule: PairRule): SqlTemplate<Binary> {
  return args => {
    const sides = [operand(args[0], 0), operand(args[1], 1)] as const;
    return computeOnce(sides, (a, b) => {
      const real = zip(rule, [operandOf(sides[0], a), operandOf(sides[1], b)], 'real');
      if (!rule.whole || sides.some(side => side.type === 'real')) return real;
      const tests = [wholeTest(sides[0], a), wholeTest(sides[1], b)].filter(test => test !== undefined);
      const whole = zip(rule, [operandOf(sides[0], a), operandOf(sides[1], b)], 'whole');
      return tests.length === 0 ? whole : `CASE WHEN ${tests.join(' AND ')} THEN ${whole} ELSE ${real} END`;
    });
  };
}

function operand(arg: SqlArg, index: number): SqlArg {
  if (['dynamic', 'long', 'real', 'timespan'].includes(arg.type)) return arg;
  throw new TemplateError(`a series must be an array of numbers, not a ${arg.type}`, index);
}

function operandOf(arg: SqlArg, sql: Atom): SqlArg {
  return { ...arg, sql };
}

function wholeTest(side: SqlArg, sql: string): string | undefined {
  return side.type === 'dynamic' ? `apl_whole(${sql})` : undefined;
}

/** Reads a side as a list (null for a number) and as a number (null for a list). */
function zip(rule: PairRule, sides: readonly [SqlArg, SqlArg], numbers: 'real' | 'whole'): string {
  const read = (side: SqlArg): SqlArg[] => {
    const type = numbers === 'real' ? 'DOUBLE' : 'HUGEINT';
    if (side.type !== 'dynamic')
      return [sqlArg(`NULL::${type}[]`, 'dynamic'), sqlArg(`${side.sql}::${type}`, 'real')];
    const list = numbers === 'real' ? `apl_reals(${side.sql})` : `apl_wholes(${side.sql})`;
    return [sqlArg(list, 'dynamic'), sqlArg(`TRY_CAST(apl_number(${side.sql}) AS ${type})`, 'real')];
  };
  return computeFirst([...read(sides[0]), ...read(sides[1])], (listA, a, listB, b) => {
    const element = (list: string, one: string) =>
      `CASE WHEN ${list} IS NULL THEN ${one} ELSE ${list}[i] END`;
    const body = rule.op(`(${element(listA, a)})`, `(${element(listB, b)})`);
    const places = `range(1, ${rule.length}(len(${listA}), len(${listB})) + 1)`;
    const list = `list_transform(${places}, lambda i: ${body})`;
    const finiteOnly = numbers === 'real' && rule.bool !== true;
    const known = `(${listA} IS NOT NULL OR ${a} IS NOT NULL) AND (${listB} IS NOT NULL OR ${b} IS NOT NULL)`;
    return `CASE WHEN ${known} THEN ${finiteOnly ? 'apl_finite' : 'to_json'}(${list}) END`;
  });
}

/** Skips pairs that lack a number, and the rest of the longer series. */
function reduction(macro: string): SqlTemplate<Binary> {
  return args => {
    const lists = [args[0], args[1]].map(arg => sqlArg(`apl_reals(${arg.sql})`, 'dynamic'));
    return computeFirst(lists, (a, b) => {
      const places = `range(1, least(len(${a}), len(${b})) + 1)`;
      const all = `list_transform(${places}, lambda i: {'x': ${a}[i], 'y': ${b}[i]})`;
      const complete = sqlArg(
        `list_filter(${all}, lambda e: e.x IS NOT NULL AND e.y IS NOT NULL)`,
        'dynamic',
      );
      return `CASE WHEN ${a} IS NOT NULL AND ${b} IS NOT NULL THEN ${computeFirst([complete], p => `${macro}(${p})`)} END`;
    });
  };
}
