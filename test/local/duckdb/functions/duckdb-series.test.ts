import { describe, expect, it } from 'vitest';
import { series } from '../../../../kernel/local/duckdb/functions/duckdb-series.js';
import { fft, fir, ifft } from '../../../../kernel/local/functions/signal.js';
import { sqlArg, TemplateError } from '../../../../kernel/local/sql/sql-template.js';
import { type Case, checkAll, context, d, j, n, nul, opaque, openEngine, r, s } from './harness.js';

type Name = keyof typeof series;

const engine = openEngine();
const empty = j([]);
const none = nul('dynamic');
const map = j({ a: 1 });
const text = async (sql: string) => (await engine.query(`SELECT (${sql})::VARCHAR`))[0]?.[0];

/** Cases that hold for every function of one array: empty for an empty array, null for anything but an array. */
function noArray(name: Name, ofEmpty: Case<Name>[2]): Case<Name>[] {
  return [
    [name, [empty], ofEmpty],
    [name, [map], null],
    [name, [j('text')], null],
    [name, [none], null],
  ];
}

describe('one series', () => {
  const odd = [null, 'a', true, '1', [1], { a: 1 }];
  const nulls = odd.map(() => null);
  checkAll(engine, series, [
    ['series_abs', [j([-50, 30, -10, 20])], [50, 30, 10, 20]],
    ['series_abs', [j([-0.5, 3, ...odd])], [0.5, 3, ...nulls]],
    ['series_acos', [j([1, 0.5, 2, -1.5])], [0, 1.0471975511965979, null, null]],
    ['series_asin', [j([1.2, 0.5, 1, ...odd])], [null, 0.5235987755982989, Math.PI / 2, ...nulls]],
    ['series_atan', [j([1, 0])], [Math.PI / 4, 0]],
    ['series_ceiling', [j([0.2, 1.3, -0.8, 3])], [1, 2, 0, 3]],
    ['series_ceiling', [j([1e300, 7.5])], [null, 8]],
    ['series_floor', [j([0.2, 1.3, -0.8, 3])], [0, 1, -1, 3]],
    ['series_floor', [j([3, null])], [3, null]],
    ['series_cos', [j([0, Math.PI, ...odd])], [1, -1, ...nulls]],
    ['series_sin', [j([0, Math.PI / 2])], [0, 1]],
    ['series_tan', [j([0, Math.PI / 4])], [0, 0.9999999999999999]],
    ['series_exp', [j([0, 1, 1000])], [1, Math.E, null]],
    ['series_log', [j([1, 0, -1, Math.E])], [0, null, null, 1]],
    ['series_sign', [j([20, -5, 0])], [1, -1, 0]],
    ['series_sign', [j([0.5, -5, ...odd])], [1, -1, ...nulls]],
    ['series_sum', [j([120, 300, 50])], 470],
    ['series_sum', [j([1.5, ...odd])], 1.5],
    ['series_sum', [j([null])], 0],
    ['series_magnitude', [j([3, 4, null])], 5],
    ...(
      ['series_abs', 'series_acos', 'series_asin', 'series_atan', 'series_ceiling', 'series_cos'] as const
    ).flatMap(name => noArray(name, [])),
    ...(
      ['series_floor', 'series_exp', 'series_log', 'series_sign', 'series_sin', 'series_tan'] as const
    ).flatMap(name => noArray(name, [])),
    ...(['series_fill_backward', 'series_fill_forward', 'series_fill_linear'] as const).flatMap(name =>
      noArray(name, []),
    ),
    ...noArray('series_sum', 0),
    ...noArray('series_magnitude', 0),
  ]);
  it('is null, and valid JSON, if a number is too large for a real', async () => {
    const huge = j('[1e400, -1e400, 2.5]', 'text');
    expect(await text(series.series_abs([huge], context))).toBe('[null,null,2.5]');
    expect(await text(series.series_cos([huge], context))).toBe('[null,null,-0.8011436155469337]');
  });
});

describe('two series', () => {
  const a = j([100, 200, 150]);
  checkAll(engine, series, [
    ['series_add', [a, j([30, 60, 45])], [130, 260, 195]],
    ['series_add', [a, j([30.5])], [130.5]],
    ['series_add', [a, n(1n)], [101, 201, 151]],
    ['series_add', [n(1n), a], [101, 201, 151]],
    ['series_add', [a, r(0.5)], [100.5, 200.5, 150.5]],
    ['series_add', [a, j(0.5)], [100.5, 200.5, 150.5]],
    ['series_add', [a, j(5)], [105, 205, 155]],
    ['series_add', [a, d(1_000_000_000n)], [1_000_000_100, 1_000_000_200, 1_000_000_150]],
    ['series_add', [j([1, null, 'a']), j([1, 1, 1])], [2, null, null]],
    ['series_add', [empty, a], []],
    ['series_add', [empty, empty], []],
    ['series_add', [a, none], null],
    ['series_add', [none, a], null],
    ['series_add', [a, map], null],
    ['series_add', [map, a], null],
    ['series_add', [a, j('text')], null],
    ['series_add', [a, nul('real')], null],
    ['series_add', [n(1n), n(2n)], null],
    ['series_subtract', [j([60, 65, 58]), j([50, 55])], [10, 10, null]],
    ['series_subtract', [j([1]), j([0.5, 1])], [0.5, null]],
    ['series_subtract', [a, j([100, 100, 100, 100, 100])], [0, 100, 50, null, null]],
    ['series_multiply', [j([50, 60, 55]), j([1.5, 2])], [75, 120, null]],
    ['series_multiply', [a, n(-2n)], [-200, -400, -300]],
    ['series_divide', [j([1, 0, 1]), j([1, 1, 1])], [1, 0, 1]],
    ['series_divide', [j([80, 120, 90]), j([100, 0])], [0.8, null]],
    ['series_divide', [j([50, 200]), r(1000)], [0.05, 0.2]],
    ['series_divide', [j([0]), j([0])], [null]],
    ['series_divide', [j([1, 3]), n(2n)], [0.5, 1.5]],
    ['series_pow', [j([1, 2, 3]), n(2n)], [1, 4, 9]],
    ['series_pow', [j([4, -4, null]), r(0.5)], [2, null, null]],
    ['series_pow', [j([2, 3]), j([3, 2])], [8, 9]],
    ['series_max', [j([120, 150, 100]), j([180, 130, 190])], [180, 150, 190]],
    ['series_max', [j([1, null]), j([0.5, 1, 2])], [1, null, null]],
    ['series_min', [j([120, 150, 100]), j([180, 130, 190])], [120, 130, 100]],
    ['series_min', [j([1, 5]), n(3n)], [1, 3]],
    ['series_equals', [j([150, 200, 250]), n(200n)], [false, true, false]],
    ['series_equals', [j([150, 200.0, null]), r(200)], [false, true, null]],
    ['series_equals', [j([1, 2]), j([1, 3, 4])], [true, false, null]],
    ['series_not_equals', [j([10, 20, 30]), j([10, 25, 30])], [false, true, false]],
    ['series_greater', [j([180, 220, 150, 300]), j([200, 200, 200, 200])], [false, true, false, true]],
    ['series_greater_equals', [j([2, 4, 6]), j([1, 4, 10])], [true, true, false]],
    ['series_less', [j([2, 4, 6.5]), j([1, 4, 10])], [false, false, true]],
    ['series_less_equals', [j([2, 4, 6.5]), j([1, 4, 10])], [false, true, true]],
    ['series_less', [empty, empty], []],
    ['series_less', [map, empty], null],
  ]);
  it('keeps integers exact', async () => {
    const long = j('[9223372036854775807, 9007199254740993, null]', 'text');
    const one = j('[1,1,1]', 'text');
    expect(await text(series.series_subtract([long, one], context))).toBe(
      '[9223372036854775806,9007199254740992,null]',
    );
    expect(await text(series.series_subtract([long, n(1n)], context))).toBe(
      '[9223372036854775806,9007199254740992,null]',
    );
    expect(await text(series.series_abs([long], context))).toBe(
      '[9223372036854775807,9007199254740993,null]',
    );
    expect(await text(series.series_floor([long], context))).toBe(
      '[9223372036854775807,9007199254740993,null]',
    );
    expect(await text(series.series_equals([long, n(9007199254740992n)], context))).toBe(
      '[false,false,null]',
    );
    expect(await text(series.series_multiply([long, long], context))).toBe(
      '[85070591730234615847396907784232501249,81129638414606699710187514626049,null]',
    );
    expect(await text(series.series_fill_const([long, n(9007199254740993n)], context))).toBe(
      '[9223372036854775807,9007199254740993,9007199254740993]',
    );
    expect(await text(series.series_fill_forward([long], context))).toBe(
      '[9223372036854775807,9007199254740993,9007199254740993]',
    );
  });
  it('refuses anything but a series', () => {
    expect(() => series.series_add([a, s('x')], context)).toThrow(
      new TemplateError('a series must be an array of numbers, not a string', 1),
    );
  });
  it('nests without growing exponentially', async () => {
    const nest = (depth: number): string =>
      depth === 0 ? a.sql : series.series_add([sqlArg(nest(depth - 1), 'dynamic'), opaque(n(1n))], context);
    const sql = nest(8);
    expect(sql.length).toBeLessThan(12_000);
    expect(await text(sql)).toBe('[108,208,158]');
  });
});

describe('one number from two series', () => {
  checkAll(engine, series, [
    ['series_dot_product', [j([1, 1, 1]), j([1.2, 3.4, 0.8])], 5.3999999999999995],
    ['series_dot_product', [j([200, 150, 300]), j([0, 1])], 150],
    ['series_dot_product', [j([1, null, 3]), j([1, 2, 'x'])], 1],
    ['series_dot_product', [empty, empty], 0],
    ['series_dot_product', [map, empty], null],
    ['series_dot_product', [none, empty], null],
    ['series_cosine_similarity', [j([3, 4]), j([4, 3])], 0.96],
    ['series_cosine_similarity', [j([120, 0, 300, 0]), j([0, 150, 0, 280])], 0],
    ['series_cosine_similarity', [j([1, 2, 3]), j([-1, -2, -3])], -1],
    ['series_cosine_similarity', [j([1, 2]), j([0, 0])], null],
    ['series_cosine_similarity', [empty, empty], null],
    ['series_cosine_similarity', [j([1e200, 1e200]), j([1, 1])], null],
    ['series_cosine_similarity', [j([1]), none], null],
    ['series_pearson_correlation', [j([1, 2, 3]), j([2, 4, 6])], 1],
    ['series_pearson_correlation', [j([1, 2, 3]), j([6, 4, 2])], -1],
    ['series_pearson_correlation', [j([1, 2, 3, 4]), j([1, 3, 2, 4])], 0.8],
    ['series_pearson_correlation', [j([1, null, 2, 3]), j([2, 9, 4, 6, 100])], 1],
    ['series_pearson_correlation', [j([1, 1]), j([1, 2])], null],
    ['series_pearson_correlation', [j([1]), j([2])], null],
    ['series_pearson_correlation', [empty, empty], null],
    ['series_pearson_correlation', [map, empty], null],
  ]);
});

describe('statistics', () => {
  const nothing = {
    min: null,
    min_idx: null,
    max: null,
    max_idx: null,
    avg: null,
    variance: null,
    stdev: null,
  };
  checkAll(engine, series, [
    ['series_stats', [j([2, 4, 6])], [2, 0, 6, 2, 4, 4, 2]],
    ['series_stats', [j([null, 5, 5, 'a', 1, 1])], [1, 4, 5, 1, 3, 16 / 3, Math.sqrt(16 / 3)]],
    ['series_stats', [j([7])], [7, 0, 7, 0, 7, null, null]],
    ['series_stats', [j([1e308, -1e308])], [-1e308, 1, 1e308, 0, 0, null, null]],
    ['series_stats', [empty], [null, null, null, null, null, null, null]],
    ['series_stats', [map], null],
    ['series_stats', [none], null],
    [
      'series_stats_dynamic',
      [j([2, 4, 6])],
      { min: 2, min_idx: 0, max: 6, max_idx: 2, avg: 4, variance: 4, stdev: 2 },
    ],
    ['series_stats_dynamic', [j([null])], nothing],
    ['series_stats_dynamic', [j('x')], null],
  ]);
  it('keeps the extremes exact', async () => {
    const sql = `json_extract_string(${series.series_stats([j('[9007199254740993]', 'text')], context)}, '$[0]')`;
    expect(await text(sql)).toBe('9007199254740993');
  });
});

describe('filling', () => {
  checkAll(engine, series, [
    ['series_fill_backward', [j([null, 150, null, 200])], [150, 150, 200, 200]],
    ['series_fill_backward', [j([100, null, null, 300, null])], [100, 300, 300, 300, 300]],
    ['series_fill_forward', [j([150, null, null, 200])], [150, 150, 150, 200]],
    ['series_fill_forward', [j([null, 100, 'a', 300, null])], [100, 100, 100, 300, 300]],
    ['series_fill_forward', [j([null, null])], [null, null]],
    ['series_fill_linear', [j([100, null, null, 250])], [100, 150, 200, 250]],
    ['series_fill_linear', [j([null, 150, null, 300, null, null])], [150, 150, 225, 300, 300, 300]],
    ['series_fill_linear', [j([1, null, 3, null, 1])], [1, 2, 3, 2, 1]],
    ['series_fill_linear', [j([null])], [null]],
    ['series_fill_linear', [j([5])], [5]],
    ['series_fill_const', [j([null, 150, null]), n(0n)], [0, 150, 0]],
    ['series_fill_const', [j([null, 'a']), r(0.5)], [0.5, 'a']],
    ['series_fill_const', [empty, n(0n)], []],
    ['series_fill_const', [j([null]), nul('long')], [null]],
    ['series_fill_const', [map, n(0n)], null],
    ['series_fill_const', [none, n(0n)], null],
  ]);
});

describe('filters', () => {
  checkAll(engine, series, [
    ['series_fir', [j([100, 120, 110, 130]), j([0.25, 0.25, 0.25, 0.25])], [100, 110, 110, 115]],
    ['series_fir', [j([2, 4, 6, 8]), j([1, 1])], [2, 3, 5, 7]],
    ['series_fir', [j([2, 4, 6]), j([3, 1])], [2, 3.5, 5.5]],
    ['series_fir', [j([2, 4, 7]), j([1, -1])], [2, 2, 3]],
    ['series_fir', [j([2, null, 6]), j([1, 1])], [2, 2, 6]],
    ['series_fir', [j([null, 6]), j([1])], [null, 6]],
    ['series_fir', [j([1, 2]), j([0, 0])], [null, null]],
    ['series_fir', [empty, j([1])], []],
    ['series_fir', [j([1]), empty], null],
    ['series_fir', [map, j([1])], null],
    ['series_fir', [none, j([1])], null],
    ['series_iir', [j([1, 1, 1]), j([1]), j([1, -0.5])], [1, 1.5, 1.75]],
    ['series_iir', [j([1, 2, 3]), j([1, 1]), j([2])], [0.5, 1.5, 2.5]],
    ['series_iir', [empty, j([1]), j([1])], []],
    ['series_iir', [j([1]), j([1]), j([0, 1])], null],
    ['series_iir', [j([1]), j([1]), empty], null],
    ['series_iir', [j([1, null]), j([1]), j([1])], null],
    ['series_iir', [j([1]), none, j([1])], null],
  ]);
});

describe('Fourier transforms', () => {
  checkAll(engine, series, [
    ['series_fft', [empty], [[], []]],
    ['series_fft', [j([5])], [[5], [0]]],
    ['series_fft', [j([1, 2, 3]), j([1, 2])], null],
    ['series_fft', [j([1, null])], null],
    ['series_fft', [map], null],
    ['series_fft', [none], null],
    [
      'series_ifft',
      [j([2, 0])],
      [
        [1, 1],
        [0, 0],
      ],
    ],
  ]);
  const sizes = [2, 3, 4, 5, 8, 12, 31, 64, 100, 127];
  const close = (left: readonly number[], right: readonly number[]) =>
    left.length === right.length &&
    left.every((value, i) => Math.abs(value - (right[i] ?? Number.NaN)) < 1e-9);
  const series_ = (size: number, seed: number) =>
    Array.from({ length: size }, (_, i) => Math.sin(i * seed) * 10);
  it.each(sizes)('of %s elements match the defining sum, and the inverse restores the series', size => {
    const re = series_(size, 1.7);
    const im = series_(size, 0.3);
    const [outRe, outIm] = JSON.parse(fft(JSON.stringify(re), JSON.stringify(im)) ?? '') as [
      number[],
      number[],
    ];
    const sum = (k: number, part: (x: number, y: number, cos: number, sin: number) => number) =>
      re.reduce((total, x, i) => {
        const angle = (-2 * Math.PI * i * k) / size;
        return total + part(x, im[i] ?? 0, Math.cos(angle), Math.sin(angle));
      }, 0);
    const places = re.map((_, k) => k);
    expect(
      close(
        outRe,
        places.map(k => sum(k, (x, y, cos, sin) => x * cos - y * sin)),
      ),
    ).toBe(true);
    expect(
      close(
        outIm,
        places.map(k => sum(k, (x, y, cos, sin) => x * sin + y * cos)),
      ),
    ).toBe(true);
    const [backRe, backIm] = JSON.parse(ifft(JSON.stringify(outRe), JSON.stringify(outIm)) ?? '') as [
      number[],
      number[],
    ];
    expect(close(backRe, re)).toBe(true);
    expect(close(backIm, im)).toBe(true);
  });
  it('handle a hundred thousand elements', () => {
    const long = JSON.stringify(series_(100_003, 0.1));
    const [re] = JSON.parse(fft(long, '[]') ?? '') as [number[], number[]];
    const total = (JSON.parse(long) as number[]).reduce((sum, value) => sum + value, 0);
    expect(Math.abs((re[0] ?? 0) - total)).toBeLessThan(1e-6);
  });
});

describe('an array in JSON', () => {
  it('may contain white space, escapes and nested values', () => {
    expect(fir(' [ 1 , "a,]\\"" , [2,3] , {"x":[4]} , 5 ] ', '[1]')).toBe('[1,null,null,null,5]');
  });
});
