import { describe, expect, it } from 'vitest';
import { math } from '../../../../kernel/local/duckdb/functions/duckdb-math.js';
import { sqlArg, TemplateError } from '../../../../kernel/local/sql/sql-template.js';
import { b, type Case, checkAll, context, d, j, n, nul, opaque, openEngine, r, s, t } from './harness.js';

type Name = keyof typeof math;

const engine = openEngine();
const inf = Number.POSITIVE_INFINITY;
const max = 9223372036854775807n;
const min = -max - 1n;
const none = nul('real');

/** Cases of a function of one real, from pairs of argument and result. */
function onReals(name: Name, pairs: readonly (readonly [number, number | null])[]): Case<Name>[] {
  return [...pairs.map(([x, y]): Case<Name> => [name, [r(x)], y]), [name, [none], null]];
}

describe('functions of a real', () => {
  checkAll(engine, math, [
    ...onReals('acos', [
      [1, 0],
      [0.5, 1.0471975511965979],
      [-1, Math.PI],
      [1.0000000000000002, null],
      [-2, null],
      [Number.NaN, null],
      [inf, null],
    ]),
    ...onReals('asin', [
      [0.5, 0.5235987755982989],
      [2, null],
      [-inf, null],
    ]),
    ...onReals('atan', [
      [1, Math.PI / 4],
      [inf, Math.PI / 2],
    ]),
    ...onReals('cos', [
      [Math.PI, -1],
      [0, 1],
      [inf, null],
      [Number.NaN, null],
    ]),
    ...onReals('sin', [
      [Math.PI / 2, 1],
      [-inf, null],
    ]),
    ...onReals('tan', [
      [Math.PI / 4, 0.9999999999999999],
      [inf, null],
    ]),
    ...onReals('cot', [
      [Math.PI / 4, 1.0000000000000002],
      [0, null],
      [-0, null],
      [inf, null],
    ]),
    ...onReals('degrees', [
      [Math.PI, 180],
      [1e308, inf],
    ]),
    ...onReals('radians', [[180, Math.PI]]),
    ...onReals('exp', [
      [0, 1],
      [1000, inf],
      [-1000, 0],
    ]),
    ...onReals('exp2', [
      [10, 1024],
      [-1, 0.5],
      [5000, inf],
    ]),
    ...onReals('exp10', [
      [3, 1000],
      [-3, 0.001],
    ]),
    ...onReals('gamma', [
      [5, 24],
      [0.5, 1.772453850905516],
      [-0.5, -3.5449077018110318],
      [0, null],
      [-3, null],
      [200, inf],
      [-inf, null],
    ]),
    ...onReals('loggamma', [
      [10, 12.80182748008147],
      [-1.5, 0.8600470153764809],
      [0, null],
      [-2, null],
    ]),
    ...onReals('log', [
      [Math.E, 1],
      [0, null],
      [-1, null],
      [inf, inf],
    ]),
    ...onReals('log2', [
      [8, 3],
      [0, null],
    ]),
    ...onReals('log10', [
      [1000, 3],
      [-0.001, null],
    ]),
    ...onReals('sqrt', [
      [256, 16],
      [0, 0],
      [-200, Number.NaN],
      [inf, inf],
    ]),
    ['atan2', [r(1), r(1)], Math.PI / 4],
    ['atan2', [r(0), r(-1)], Math.PI],
    ['atan2', [none, r(1)], null],
    ['pow', [r(1024), r(3)], 1073741824],
    ['pow', [r(2), r(0.5)], Math.SQRT2],
    ['pow', [r(10), r(400)], inf],
    ['pow', [r(0), r(-1)], inf],
    ['pow', [r(-8), r(0.5)], Number.NaN],
    ['pow', [none, r(2)], null],
    ['pi', [], Math.PI],
  ]);
});

describe('predicates on a real', () => {
  const onAll = (name: Name, expected: readonly boolean[]): Case<Name>[] =>
    [r(42), r(4.2), r(inf), r(-inf), r(Number.NaN), none].map(
      (arg, i): Case<Name> => [name, [arg], expected[i] ?? null],
    );
  checkAll(engine, math, [
    ...onAll('isfinite', [true, true, false, false, false, false]),
    ...onAll('isinf', [false, false, true, true, false, false]),
    ...onAll('isint', [true, false, false, false, false, false]),
    ...onAll('isnan', [false, false, false, false, true, false]),
    ['not', [b(true)], false],
    ['not', [b(false)], true],
    ['not', [nul('bool')], null],
  ]);
});

describe('functions that keep the type of a number', () => {
  checkAll(engine, math, [
    ['abs', [n(-5n)], 5n],
    ['abs', [n(max)], max],
    ['abs', [n(min)], null],
    ['abs', [r(-2.5)], 2.5],
    ['abs', [d(-90_000_000_000n)], 90_000_000_000n],
    ['abs', [j(-2.5)], 2.5],
    ['abs', [j('-2')], 2],
    ['abs', [j({})], null],
    ['abs', [nul('long')], null],
    ['sign', [n(min)], -1n],
    ['sign', [r(0.1)], 1n],
    ['sign', [r(-0)], 0n],
    ['sign', [r(Number.NaN)], null],
    ['sign', [none], null],
    ['ceiling', [r(1.2)], 2n],
    ['ceiling', [r(-1.2)], -1n],
    ['ceiling', [n(max)], max],
    ['ceiling', [r(1e300)], null],
    ['ceiling', [r(Number.NaN)], null],
    ['floor', [r(1.8)], 1n],
    ['floor', [r(-1.2)], -2n],
    ['floor', [r(-inf)], null],
    ['floor', [n(-3n)], -3n],
    ['floor', [none], null],
    ['max_of', [n(10n), n(1n), n(-3n), n(17n)], 17n],
    ['max_of', [nul('long'), n(1n)], 1n],
    ['max_of', [nul('long'), nul('long')], null],
    ['max_of', [s('a'), s('B'), s('b')], 'b'],
    ['max_of', [n(7n)], 7n],
    ['max_of', [j(9), j(10)], 10],
    ['min_of', [j(9), j('a')], 9],
    ['min_of', [j({}), j('a')], null],
    ['min_of', [r(10), r(-3.5)], -3.5],
    [
      'min_of',
      [t('2024-02-29T00:00:00Z'), t('2023-01-01T00:00:00.000000001Z')],
      '2023-01-01T00:00:00.000000001'.concat('Z'),
    ],
    ['min_of', [d(5n), nul('timespan')], 5n],
  ]);
});

describe('round', () => {
  checkAll(engine, math, [
    ['round', [r(2.5)], 3],
    ['round', [r(-2.5)], -3],
    ['round', [r(0.49999999999999994)], 0],
    ['round', [r(123.4567), n(2n)], 123.46],
    ['round', [r(2.675), n(2n)], 2.68],
    ['round', [r(1234.5), n(-2n)], 1200],
    ['round', [r(1.5), n(max)], 1.5],
    ['round', [r(1.5), n(min)], 0],
    ['round', [r(1e308), n(10n)], 1e308],
    ['round', [r(inf), n(1n)], inf],
    ['round', [none, n(1n)], null],
    ['round', [r(1.5), nul('long')], null],
  ]);
});

describe('bin', () => {
  const hour = d(3_600_000_000_000n);
  checkAll(engine, math, [
    ['bin', [n(7n), n(5n)], 5n],
    ['bin', [n(-7n), n(5n)], -10n],
    ['bin', [n(-10n), n(5n)], -10n],
    ['bin', [n(0n), n(5n)], 0n],
    ['bin', [n(min), n(max)], null],
    ['bin', [n(max), n(max)], max],
    ['bin', [nul('long'), n(5n)], null],
    ['bin', [r(7.3), r(0.5)], 7],
    ['bin', [r(-7.3), n(2n)], -8],
    ['bin', [r(Number.NaN), n(2n)], Number.NaN],
    ['bin', [n(7n), r(2.5)], 5n],
    ['bin', [n(-1n), r(2.5)], -3n],
    ['bin', [r(-1e308), r(0.5)], -1e308],
    ['bin', [n(-7n), r(5e-324)], -7n],
    ['bin', [d(90n), d(60n)], 60n],
    ['bin', [d(-90n), d(60n)], -120n],
    ['bin', [j(7.5), n(2n)], 6],
    ['bin', [j('text'), n(2n)], null],
    ['bin', [n(7n), j(5)], 5n],
    ['bin', [j(7), j(5)], 5],
    ['bin', [d(90n), j(60)], 60n],
    ['bin', [t('2024-02-29T13:14:15.123456789Z'), hour], '2024-02-29T13:00:00Z'],
    ['bin', [t('1969-12-31T23:59:59.999999999Z'), hour], '1969-12-31T23:00:00Z'],
    ['bin', [t('2024-02-29T00:00:00Z'), d(604_800_000_000_000n)], '2024-02-26T00:00:00Z'],
    ['bin', [nul('datetime'), hour], null],
    ['bin_auto', [t('2024-02-29T13:14:15.123456789Z')], '2024-02-29T13:14:00Z'],
    ['bin_auto', [t('2024-02-29T13:14:30Z')], '2024-02-29T13:14:30Z'],
    ['bin_auto', [nul('datetime')], null],
  ]);
  it('is null if a bin size from a row is not positive', async () => {
    for (const type of ['long', 'real'] as const) {
      for (const size of ['0', '-5', 'NULL']) {
        const arg = sqlArg(`${size}::${type === 'long' ? 'BIGINT' : 'DOUBLE'}`, type);
        expect(await engine.query(`SELECT ${math.bin([n(7n), arg], context)}`)).toStrictEqual([[null]]);
      }
    }
  });
  it('refuses invalid sizes', () => {
    const refusals: readonly (readonly [Parameters<typeof math.bin>[0], string, number])[] = [
      [[n(1n), n(0n)], 'the size of a bin must be positive', 1],
      [[r(1), r(-1)], 'the size of a bin must be positive', 1],
      [
        [t('2024-02-29T00:00:00Z'), n(5n)],
        'the bin size for a datetime must be a timespan such as 5m, not a long',
        1,
      ],
      [[d(1n), n(5n)], 'the bin size for a timespan must be a timespan such as 5m, not a long', 1],
      [[n(1n), d(5n)], 'the bin size for a long must be a number, not a timespan', 1],
      [[s('a'), n(5n)], 'bin takes a number, a datetime or a timespan, not a string', 0],
      [[s('a'), s('b')], 'bin takes a number, a datetime or a timespan, not a string', 0],
    ];
    for (const [args, message, index] of refusals) {
      expect(() => math.bin(args, context)).toThrow(new TemplateError(message, index));
    }
  });
});

describe('rand', () => {
  it('stays within its bounds', async () => {
    const whole = math.rand([opaque(n(3n))], context);
    const sql = `SELECT bool_and(a >= 0 AND a < 1), count(DISTINCT a) > 990, list_sort(list(DISTINCT w)) FROM
      (SELECT ${math.rand([], context)} AS a, ${whole} AS w FROM range(1000))`;
    const [row] = await engine.query(sql);
    expect(row?.slice(0, 2)).toStrictEqual([true, true]);
    expect(String(row?.[2])).toBe('[0, 1, 2]');
  });
  it('is null for a bound that is not positive', async () => {
    for (const bound of [n(0n), n(-1n), nul('long')]) {
      expect(await engine.query(`SELECT ${math.rand([bound], context)}`)).toStrictEqual([[null]]);
    }
  });
  it('is evaluated once, however often a template reads it', async () => {
    const random = sqlArg(`${math.rand([], context)} * 4 - 2`, 'real');
    const sql = `SELECT count(*), count(a), bool_and(a >= 0) FROM (SELECT ${math.acos([random], context)} AS a FROM range(10000))`;
    const [row] = await engine.query(sql);
    expect(row?.[0]).toBe(10000n);
    expect(row?.[2]).toBe(true);
    expect(Number(row?.[1])).toBeGreaterThan(4000);
    expect(Number(row?.[1])).toBeLessThan(6000);
  });
});

describe('range', () => {
  const minute = 60_000_000_000n;
  checkAll(engine, math, [
    ['range', [n(100n), n(500n), n(100n)], [100, 200, 300, 400, 500]],
    ['range', [n(1n), n(4n)], [1, 2, 3, 4]],
    ['range', [n(1n), n(6n), n(2n)], [1, 3, 5]],
    ['range', [n(5n), n(1n), n(-2n)], [5, 3, 1]],
    ['range', [n(5n), n(1n)], []],
    ['range', [n(3n), n(3n)], [3]],
    ['range', [n(1n), n(5n), n(0n)], null],
    ['range', [nul('long'), n(5n)], null],
    ['range', [n(1n), nul('long')], null],
    ['range', [n(1n), n(5n), nul('long')], null],
    ['range', [n(min), n(max), n(max)], [-9223372036854776000, -1, 9223372036854776000]],
    ['range', [r(0), r(1), r(0.25)], [0, 0.25, 0.5, 0.75, 1]],
    ['range', [n(1n), r(2.5)], [1, 2]],
    ['range', [r(1), r(0)], []],
    ['range', [j(1), j(2.5)], [1, 2]],
    ['range', [n(1n), j('x')], null],
    ['range', [r(0), r(1), r(0)], null],
    ['range', [r(0), r(inf)], null],
    ['range', [r(Number.NaN), r(1)], null],
    ['range', [none, r(1)], null],
    ['range', [d(0n), d(2n * minute), d(minute)], [0, 60_000_000_000, 120_000_000_000]],
    ['range', [d(0n), d(120n * minute)], [0, 3_600_000_000_000, 7_200_000_000_000]],
    [
      'range',
      [t('2025-07-29T12:00:00Z'), t('2025-07-29T12:45:00.000000001Z'), d(15n * minute)],
      ['2025-07-29T12:00:00Z', '2025-07-29T12:15:00Z', '2025-07-29T12:30:00Z', '2025-07-29T12:45:00Z'],
    ],
    [
      'range',
      [t('2025-07-29T00:00:00.000000001Z'), t('2025-07-29T02:00:00Z')],
      ['2025-07-29T00:00:00.000000001Z', '2025-07-29T01:00:00.000000001Z'],
    ],
    ['range', [nul('datetime'), t('2025-07-29T02:00:00Z')], null],
  ]);
  it('stops at 1,048,576 elements', async () => {
    for (const args of [
      [n(1n), n(max)],
      [r(0), r(1e300)],
    ] as const) {
      expect(await engine.query(`SELECT json_array_length(${math.range(args, context)})`)).toStrictEqual([
        [1_048_576n],
      ]);
    }
  });
  it('refuses types that do not match', () => {
    expect(() => math.range([s('a'), n(1n)], context)).toThrow(
      new TemplateError('range takes numbers, datetimes or timespans, not a string', 0),
    );
    expect(() => math.range([d(1n), n(1n)], context)).toThrow(
      new TemplateError('a range that starts at a timespan must end at a timespan, not a long', 1),
    );
    expect(() => math.range([d(1n), d(1n), n(1n)], context)).toThrow(
      new TemplateError('the step must be a timespan such as 15m, not a long', 2),
    );
  });
});

describe('sets', () => {
  const a = j([1, 2, 3]);
  const mixed = j(
    '[ 1, 1.0, "1", [1, 2], [1,2], {"a":1,"b":2}, {"b":2,"a":1}, null, "\\u0041", "A" ]',
    'text',
  );
  checkAll(engine, math, [
    ['set_union', [a, j([2, 3, 4, 5])], [1, 2, 3, 4, 5]],
    ['set_union', [j([3, 3]), j([1]), j([2, 1])], [3, 1, 2]],
    ['set_union', [mixed, j([])], [1, '1', [1, 2], { a: 1, b: 2 }, null, 'A']],
    ['set_union', [j([]), j([])], []],
    ['set_union', [a, nul('dynamic')], null],
    ['set_union', [a, j({ a: 1 })], null],
    ['set_intersect', [a, j([2, 3, 4, 5])], [2, 3]],
    ['set_intersect', [j([3, 1, 3]), j([1, 3])], [3, 1]],
    ['set_intersect', [a, j([3, 2]), j([2])], [2]],
    ['set_intersect', [a, j([])], []],
    ['set_difference', [j([5, 2, 1, 2, 5]), j([2, 4])], [5, 1]],
    ['set_difference', [a, j([]), j([3])], [1, 2]],
    ['set_difference', [j(['a,b', 'c]']), j(['c]'])], ['a,b']],
    ['set_has_element', [a, n(2n)], true],
    ['set_has_element', [a, r(2)], true],
    ['set_has_element', [j('[1.5, 2.0]', 'text'), n(2n)], true],
    ['set_has_element', [a, s('2')], false],
    ['set_has_element', [j(['US']), s('US')], true],
    ['set_has_element', [j(['US']), s('us')], false],
    ['set_has_element', [j([true]), b(true)], true],
    ['set_has_element', [j('[9007199254740993]', 'text'), n(9007199254740992n)], false],
    ['set_has_element', [j([]), n(1n)], false],
    ['set_has_element', [j('x'), s('x')], null],
    ['set_has_element', [a, nul('long')], null],
    ['set_has_element', [nul('dynamic'), n(1n)], null],
  ]);
  it('keeps integers exact', async () => {
    const sql = math.set_union([j('[9007199254740993]', 'text'), j('[9007199254740992]', 'text')], context);
    expect(await engine.query(`SELECT (${sql})::VARCHAR`)).toStrictEqual([
      ['[9007199254740993,9007199254740992]'],
    ]);
  });
});
