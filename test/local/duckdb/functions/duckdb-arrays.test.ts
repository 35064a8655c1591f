import { describe, expect, it } from 'vitest';
import { arrays } from '../../../../kernel/local/duckdb/functions/duckdb-arrays.js';
import { enginePath } from '../../../../kernel/local/functions/json/path.js';
import { sqlArg, TemplateError } from '../../../../kernel/local/sql/sql-template.js';
import { checkAll, context, d, j, n, nul, opaque, openEngine, r, s, t } from './harness.js';

const engine = openEngine();
const empty = j([]);
const none = nul('dynamic');
const map = j({ a: 1 });
const abc = j(['a', 'b', 'c']);
const five = j([1, 2, 3, 4, 5]);
const max = 9223372036854775807n;

/** Integers beyond 2^53, which survive as text. */
const exact = j('[9007199254740993,1]', 'text');
const text = async (sql: string) => (await engine.query(`SELECT (${sql})::VARCHAR`))[0]?.[0];

describe('building arrays', () => {
  checkAll(engine, arrays, [
    ['array_concat', [j([1, 2]), j(['a', null])], [1, 2, 'a', null]],
    ['array_concat', [j([5, 4])], [5, 4]],
    ['array_concat', [empty, empty], []],
    ['array_concat', [j([1]), none, map, j([2])], [1, 2]],
    ['array_concat', [none, map], null],
    ['pack_array', [], []],
    ['pack_array', [n(1n), s('a'), r(1.5), nul('string'), j([1])], [1, 'a', 1.5, null, [1]]],
    [
      'pack_array',
      [r(Number.NaN), t('2024-02-29T00:00:00.000000001Z')],
      [null, '2024-02-29T00:00:00.000000001Z'],
    ],
    ['bag_pack', [s('a'), n(1n), s('b c'), j({ x: [] })], { a: 1, 'b c': { x: [] } }],
    ['bag_pack', [s('a'), n(1n), s('a'), n(2n)], { a: 2 }, [0, 2]],
    ['bag_pack', [s('a'), nul('long')], { a: null }],
    ['bag_pack', [nul('string'), n(1n)], { '': 1 }],
    ['bag_pack', [], {}],
    ['pack_dictionary', [s("it's"), s('"q"'), s('d'), d(5n)], { "it's": '"q"', d: 5 }],
    ['bag_zip', [abc, j([1, 2])], { a: 1, b: 2 }],
    ['bag_zip', [j(['a']), five], { a: 1 }],
    ['bag_zip', [j(['a', 'b', 'a']), five], { b: 2, a: 3 }],
    ['bag_zip', [j([1, null, 'q"']), j([null, 2, { z: 1 }])], { '1': null, 'q"': { z: 1 } }],
    ['bag_zip', [empty, five], {}],
    ['bag_zip', [map, five], null],
    ['bag_zip', [five, none], null],
  ]);
  it('keeps a repeated key once, at its last position', async () => {
    const pairs = [s('a'), n(1n), s('b'), n(2n), s('a'), n(3n)] as const;
    for (const name of ['bag_pack', 'pack_dictionary'] as const)
      expect(await text(arrays[name](pairs, context))).toBe('{"b":2,"a":3}');
  });
  it('refuses a key without a value', () => {
    expect(() => arrays.bag_pack([s('a'), n(1n), s('b')], context)).toThrow(
      new TemplateError('bag_pack takes key-value pairs: a value is missing', 2),
    );
  });
});

describe('querying arrays', () => {
  checkAll(engine, arrays, [
    ['array_length', [five], 5n],
    ['array_length', [empty], 0n],
    ['array_length', [j('  [1]', 'text')], 1n],
    ['array_length', [map], null],
    ['array_length', [j('x')], null],
    ['array_length', [none], null],
    ['array_sum', [five], 15],
    ['array_sum', [j([1, 2.5, 'a', '3', true, null, [9]])], 3.5],
    ['array_sum', [j(['a'])], null],
    ['array_sum', [empty], null],
    ['array_sum', [map], null],
    ['array_sum', [none], null],
    ['isarray', [five], true],
    ['isarray', [map], false],
    ['isarray', [none], false],
    ['isarray', [s('[1]')], false],
    ['len', [s('naïve 😀')], 7n],
    ['len', [s('')], 0n],
    ['len', [nul('string')], null],
    ['len', [five], 5n],
    ['len', [j('héé')], 3n],
    ['len', [map], null],
    ['len', [none], null],
    ['bag_has_key', [j({ 'a.b': null }), s('a.b')], true],
    ['bag_has_key', [j({ a: { b: 1 } }), s('a.b')], false],
    ['bag_has_key', [j({ 'a/b~c': 1 }), s('a/b~c')], true],
    ['bag_has_key', [j({ '$.x"*': 1, '': 2 }), s('$.x"*')], true],
    ['bag_has_key', [j({ '': 2 }), s('')], true],
    ['bag_has_key', [map, s('')], false],
    ['bag_has_key', [j(['a']), s('0')], false],
    ['bag_has_key', [none, s('a')], null],
    ['bag_keys', [j({ b: 1, a: { c: 2 } })], ['b', 'a']],
    ['bag_keys', [j({})], []],
    ['bag_keys', [five], null],
    ['bag_keys', [none], null],
    ['array_index_of', [abc, s('c')], 2n],
    ['array_index_of', [abc, s('C')], -1n],
    ['array_index_of', [j([1, 2.0, 3]), r(2)], 1n],
    ['array_index_of', [j('[1, 2.0]', 'text'), n(2n)], 1n],
    ['array_index_of', [j('[100, 1e2]', 'text'), n(100n), n(1n)], 1n],
    ['array_index_of', [exact, n(9007199254740993n)], 0n],
    ['array_index_of', [exact, n(9007199254740992n)], -1n],
    ['array_index_of', [j(['1', 1]), n(1n)], 1n],
    ['array_index_of', [empty, n(1n)], -1n],
    ['array_index_of', [map, n(1n)], null],
    ['array_index_of', [abc, nul('string')], null],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(1n)], 2n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(-1n)], 3n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(-99n)], 0n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(1n), n(1n)], -1n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(1n), n(2n)], 2n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(0n), n(-1n), n(3n)], 3n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(0n), n(-1n), n(4n)], -1n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(0n), n(-1n), n(0n)], -1n],
    ['array_index_of', [j(['a', 'b', 'a', 'a']), s('a'), n(max), n(max), n(max)], -1n],
    ['array_index_of', [abc, s('a'), nul('long')], null],
    ['array_index_of', [abc, s('a'), n(0n), nul('long')], null],
    ['array_index_of', [abc, s('a'), n(0n), n(-1n), nul('long')], null],
    ['array_index_of', [abc, s('a'), n(0n), n(-2n)], null],
    ['array_index_of', [abc, s('a'), n(0n), n(-1n), n(-1n)], null],
    ['array_index_of', [abc, s('a'), n(0n), n(0n)], -1n],
    ['array_select_dict', [j([{ k: 1 }, 5, { k: 'a', v: 2 }]), s('k'), s('a')], { k: 'a', v: 2 }],
    [
      'array_select_dict',
      [j([{ 'service.name': 'frontend', status_code: '200' }]), s('service.name'), s('frontend')],
      { 'service.name': 'frontend', status_code: '200' },
    ],
    ['array_select_dict', [j('[{"k":2.0},{"k":2}]', 'text'), s('k'), n(2n)], { k: 2 }],
    ['array_select_dict', [j([{ k: 1 }]), s('k'), n(2n)], null],
    ['array_select_dict', [j([{ k: null }]), s('k'), nul('long')], null],
    ['array_select_dict', [j([['x']]), s('0'), s('x')], null],
    ['array_select_dict', [map, s('a'), n(1n)], null],
    ['strcat_array', [j(['a', 1, 2.5, true, null, { x: 1 }]), s('-')], 'a-1-2.5-true--{"x":1}'],
    ['strcat_array', [abc], 'abc'],
    ['strcat_array', [empty, s(',')], ''],
    ['strcat_array', [map, s(',')], null],
  ]);
});

describe('slicing and rotating', () => {
  checkAll(engine, arrays, [
    ['array_reverse', [j([1, null, 'a'])], ['a', null, 1]],
    ['array_reverse', [empty], []],
    ['array_reverse', [map], null],
    ['array_reverse', [none], null],
    ['array_slice', [five, n(1n), n(3n)], [2, 3]],
    ['array_slice', [five, n(-3n), n(-1n)], [3, 4]],
    ['array_slice', [five, n(0n), n(99n)], [1, 2, 3, 4, 5]],
    ['array_slice', [five, n(-99n), n(2n)], [1, 2]],
    ['array_slice', [five, n(3n), n(1n)], []],
    ['array_slice', [five, n(0n), n(0n)], []],
    ['array_slice', [five, n(5n), n(9n)], []],
    ['array_slice', [five, n(-max - 1n), n(max)], [1, 2, 3, 4, 5]],
    ['array_slice', [empty, n(0n), n(1n)], []],
    ['array_slice', [five, nul('long'), n(1n)], null],
    ['array_slice', [map, n(0n), n(1n)], null],
    ['array_rotate_left', [five, n(1n)], [2, 3, 4, 5, 1]],
    ['array_rotate_left', [five, n(-1n)], [5, 1, 2, 3, 4]],
    ['array_rotate_left', [five, n(12n)], [3, 4, 5, 1, 2]],
    ['array_rotate_left', [five, n(5n)], [1, 2, 3, 4, 5]],
    ['array_rotate_left', [empty, n(1n)], []],
    ['array_rotate_left', [five, nul('long')], null],
    ['array_rotate_left', [map, n(1n)], null],
    ['array_rotate_right', [five, n(2n)], [4, 5, 1, 2, 3]],
    ['array_rotate_right', [five, n(-max - 1n)], [4, 5, 1, 2, 3]],
    ['array_rotate_left', [five, n(-max - 1n)], [3, 4, 5, 1, 2]],
    ['array_shift_left', [five, n(2n)], [3, 4, 5, null, null]],
    ['array_shift_left', [five, n(-1n)], [null, 1, 2, 3, 4]],
    ['array_shift_left', [five, n(0n)], [1, 2, 3, 4, 5]],
    ['array_shift_left', [five, n(max)], [null, null, null, null, null]],
    ['array_shift_left', [five, n(-max - 1n)], [null, null, null, null, null]],
    ['array_shift_left', [empty, n(1n)], []],
    ['array_shift_left', [map, n(1n)], null],
    ['array_shift_left', [five, nul('long')], null],
    ['array_shift_right', [five], [null, 1, 2, 3, 4]],
    ['array_shift_right', [five, n(2n)], [null, null, 1, 2, 3]],
    ['array_shift_right', [five, n(-2n)], [3, 4, 5, null, null]],
    ['array_shift_right', [five, n(-max - 1n)], [null, null, null, null, null]],
    [
      'array_split',
      [five, n(2n)],
      [
        [1, 2],
        [3, 4, 5],
      ],
    ],
    ['array_split', [five, j([1, 3])], [[1], [2, 3], [4, 5]]],
    [
      'array_split',
      [five, n(-2n)],
      [
        [1, 2, 3],
        [4, 5],
      ],
    ],
    ['array_split', [five, j([3, 1])], [[1, 2, 3], [], [2, 3, 4, 5]]],
    ['array_split', [five, n(99n)], [[1, 2, 3, 4, 5], []]],
    ['array_split', [five, empty], [[1, 2, 3, 4, 5]]],
    [
      'array_split',
      [five, j(2)],
      [
        [1, 2],
        [3, 4, 5],
      ],
    ],
    ['array_split', [empty, n(1n)], [[], []]],
    ['array_split', [five, j(['x'])], null],
    ['array_split', [five, nul('long')], null],
    ['array_split', [map, n(1n)], null],
    ['array_iff', [j([true, false, true]), j([1, 2, 3]), j(['a', 'b', 'c'])], [1, 'b', 3]],
    ['array_iff', [j([true, false, true]), j([1]), j(['a'])], [1, null, null]],
    ['array_iff', [j([true, false]), j([1, 2, 3]), n(0n)], [1, 0]],
    ['array_iff', [j([1, 0, -2, 0.5]), s('y'), s('n')], ['y', 'n', 'y', 'y']],
    ['array_iff', [j([null, 'x', true]), n(1n), j({ k: 1 })], [{ k: 1 }, { k: 1 }, 1]],
    ['array_iff', [empty, n(1n), n(2n)], []],
    ['array_iff', [map, n(1n), n(2n)], null],
  ]);
});

describe('sorting', () => {
  checkAll(engine, arrays, [
    ['array_sort_asc', [j([4, 10, 2.5, -1])], [-1, 2.5, 4, 10]],
    ['array_sort_asc', [j(['b', 'a', 'B', 'é', 'z'])], ['B', 'a', 'b', 'z', 'é']],
    ['array_sort_asc', [j(['10', '9'])], ['10', '9']],
    ['array_sort_asc', [j([2, null, 1])], [1, 2, null]],
    ['array_sort_asc', [j([true, false])], [false, true]],
    ['array_sort_asc', [j([null])], [null]],
    ['array_sort_asc', [empty], []],
    ['array_sort_asc', [j([1, 'a'])], []],
    ['array_sort_asc', [j([[2], [1]])], []],
    ['array_sort_asc', [j([{ a: 1 }])], []],
    ['array_sort_asc', [map], []],
    ['array_sort_asc', [j(5)], []],
    ['array_sort_asc', [j('[ 3,\n1 ]', 'text')], [1, 3]],
    ['array_sort_asc', [j('[123456789012345678901, 2]', 'text')], [2, 123456789012345680000]],
    ['array_sort_asc', [none], null],
    ['array_sort_desc', [j(['x', 'a', 'm', 'o', 'i'])], ['x', 'o', 'm', 'i', 'a']],
    ['array_sort_desc', [j([4, null, 10, 2.5])], [10, 4, 2.5, null]],
    ['array_sort_desc', [j('text')], []],
  ]);
  it('keeps integers exact', async () => {
    const long = j('[9007199254740993,9007199254740992,9007199254740994]', 'text');
    expect(await text(arrays.array_sort_asc([long], context))).toBe(
      '[9007199254740992,9007199254740993,9007199254740994]',
    );
    expect(await text(arrays.array_sort_desc([long], context))).toBe(
      '[9007199254740994,9007199254740993,9007199254740992]',
    );
    expect(await text(arrays.array_reverse([exact], context))).toBe('[1,9007199254740993]');
  });
});

describe('array_extract', () => {
  const records = j([{ id: 1, 'a.b': 'x', 'it"s': 1 }, { id: 2, c: { d: [7] } }, 'x']);
  const extract = (path: string, expected: readonly unknown[] | null, array = records) =>
    ['array_extract', [array, s(path)], expected, [1]] as const;
  checkAll(engine, arrays, [
    extract('$[*].id', [1, 2]),
    extract("$[*]['a.b']", ['x']),
    extract('$[*]["it\\"s"]', [1]),
    extract('$[*].missing', []),
    extract('$[1].c.d[0]', [7]),
    extract('$[-1]', ['x']),
    extract('$[9]', []),
    extract('$..d', [[7]]),
    extract('$', [[1]], j([1])),
    extract('$[*]', [1, 2, 3, 4, 5], five),
    extract('$[*]', null, none),
    extract('$[0]', null, none),
  ]);
  it('refuses an invalid path', () => {
    for (const path of ['', 'id', '$[?(@.a > 1)]', '$[0', "$['a]", '$[1:2]', '$.a b']) {
      expect(() => arrays.array_extract([records, s(path)], context)).toThrow(
        new TemplateError(
          `\`${path}\` is not a JSON path`,
          1,
          "use the form $[*].name: names, ['quoted names'], indexes and * are supported",
        ),
      );
    }
  });
  it('translates paths', () => {
    expect(enginePath("$.a['b.c'][*][-2]..d.*")).toStrictEqual({
      path: '$."a"."b.c"[*][#-2]..d.*',
      many: true,
    });
    expect(enginePath('$.a[0]')).toStrictEqual({ path: '$."a"[0]', many: false });
  });
});

describe('long arguments', () => {
  it('are computed once', async () => {
    const nest = (depth: number): string =>
      depth === 0
        ? five.sql
        : arrays.array_rotate_left([sqlArg(nest(depth - 1), 'dynamic'), opaque(n(1n))], context);
    const sql = nest(11);
    expect(sql.length).toBeLessThan(3_000);
    expect(await text(sql)).toBe('[2,3,4,5,1]');
  });
});
