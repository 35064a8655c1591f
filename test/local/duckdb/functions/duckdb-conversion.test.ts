import { describe, expect, it } from 'vitest';
import {
  conversion,
  convert,
  toDynamic,
} from '../../../../kernel/local/duckdb/functions/duckdb-conversion.js';
import type { SqlTemplate } from '../../../../kernel/local/sql/sql-template.js';
import { b, type Case, checkAll, d, j, n, nul, openEngine, r, s, t } from './harness.js';

const engine = openEngine();
const maxLong = 9223372036854775807n;
const minLong = -9223372036854775808n;

const numbers = [0, -0, 1.5, 2, 1e3, 1e-7, 1e21, 2 ** 53, 0.1, -123.456].flatMap(x => [
  `${x}`,
  x.toFixed(9),
  x.toExponential(3),
]);
const dynamics = [
  ...numbers,
  ...numbers.map(text => `"${text}"`),
  ...[
    '-0',
    '-0.0',
    '1.50',
    '1E400',
    '-1e400',
    '9223372036854775808',
    '-9223372036854775808',
    '1'.repeat(400),
  ],
  ...[
    'true',
    'false',
    'null',
    '"true"',
    '"T"',
    '" 1"',
    '"1_0"',
    '""',
    '"inf"',
    'NaN',
    '-Infinity',
    '[1]',
    '{"a":1}',
    ' 7 ',
  ],
];

describe('the fast path for usual numbers and bools', () => {
  it.each(['long', 'real', 'bool'])('reads a %s like the general path', async type => {
    const rows = dynamics.map(text => `('${text}'::JSON)`).join(', ');
    const both = (j: string) => `apl_dyn_${type}(${j})::VARCHAR, apl_other_${type}(${j})::VARCHAR`;
    const found = await engine.query(
      `SELECT j::VARCHAR, ${both('j')}, ${both("json_extract(json_array(j), '/0')")} FROM (VALUES ${rows}) t(j)`,
    );
    expect(found.map(([text, a, , c]) => [text, a, c])).toEqual(
      found.map(([text, , b, , d]) => [text, b, d]),
    );
    expect(found.filter(([, value]) => value !== null).length).toBeGreaterThan(5);
  });

  const strings = [
    '+5',
    '0x1f',
    '.5',
    '5.',
    'n/a',
    '1\\n',
    '\\u0031',
    '1\\u0032',
    '\\"1\\"',
    '１２',
    '-',
    'É',
  ];
  it.each(['long', 'real', 'bool', 'text'])(
    'reads a %s of a column like that of other values',
    async type => {
      const all = [...dynamics, ...strings.map(text => `"${text}"`), '"12" ', ' "1.5"', ' [1] '];
      const rows = all.map(text => `('${text}')`).join(', ');
      const found = await engine.query(
        `SELECT j, apl_dyn_${type}(j)::VARCHAR, apl_column_${type}(j)::VARCHAR FROM (VALUES ${rows}) t(j)`,
      );
      expect(found.map(([text, , column]) => [text, column])).toEqual(
        found.map(([text, value]) => [text, value]),
      );
      expect(found.filter(([, value]) => value !== null).length).toBeGreaterThan(5);
    },
  );

  it('orders the keys of values like their numbers and texts', async () => {
    const rows = [...dynamics, ...strings.map(text => `"${text}"`)].map(text => `('${text}')`).join(', ');
    const found = await engine.query(
      `SELECT j, row_number() OVER (ORDER BY x IS NULL, x, j), row_number() OVER (ORDER BY apl_number_key(x, j)), apl_key_value(apl_number_key(x, j))::VARCHAR
       FROM (SELECT DISTINCT j, apl_column_real(j) AS x FROM (VALUES ${rows}) t(j))`,
    );
    expect(found.map(([, , key, value]) => [value, key])).toEqual(
      found.map(([text, place]) => [text, place]),
    );
  });
});

describe('values as strings', () => {
  checkAll(engine, conversion, [
    ['tostring', [s("it's\0")], "it's\0"],
    ['tostring', [n(minLong)], '-9223372036854775808'],
    ['tostring', [b(true)], 'true'],
    ['tostring', [nul('bool')], 'false'],
    ['tostring', [nul('string')], ''],
    ['tostring', [nul('real')], ''],
    ['tostring', [nul('dynamic')], ''],
    ['tostring', [r(1)], '1'],
    ['tostring', [r(-0.5)], '-0.5'],
    ['tostring', [r(0)], '0'],
    ['tostring', [r(-0)], '0'],
    ['tostring', [r(100)], '100'],
    ['tostring', [r(0.0001)], '0.0001'],
    ['tostring', [r(999999999999999)], '999999999999999'],
    ['tostring', [r(1e15)], '1000000000000000'],
    ['tostring', [r(1e21)], '1000000000000000000000'],
    ['tostring', [r(-1.2345678901234568e17)], '-123456789012345680'],
    ['tostring', [r(1.5e-7)], '0.00000015'],
    ['tostring', [r(1e-5)], '0.00001'],
    ['tostring', [r(0.1 + 0.2)], '0.30000000000000004'],
    ['tostring', [r(Number.NaN)], 'NaN'],
    ['tostring', [r(Number.NEGATIVE_INFINITY)], '-Inf'],
    ['tostring', [r(Number.POSITIVE_INFINITY)], '+Inf'],
    ['tostring', [d(0n)], '0s'],
    ['tostring', [d(1n)], '1ns'],
    ['tostring', [d(1500n)], '1.5µs'],
    ['tostring', [d(-2_000_000n)], '-2ms'],
    ['tostring', [d(80_000_000_000n)], '1m20s'],
    ['tostring', [d(300_004_487_127n)], '5m0.004487127s'],
    ['tostring', [d(3_600_000_000_000n)], '1h0m0s'],
    ['tostring', [d(maxLong)], '2562047h47m16.854775807s'],
    ['tostring', [d(minLong)], '-2562047h47m16.854775808s'],
    ['tostring', [t('2026-01-02T03:04:05Z')], '2026-01-02T03:04:05Z'],
    ['tostring', [t('2026-01-02T03:04:05.123456789Z')], '2026-01-02T03:04:05.123456789Z'],
    ['tostring', [t('1969-12-31T23:59:59.5Z')], '1969-12-31T23:59:59.5Z'],
    ['tostring', [j('a "b"')], 'a "b"'],
    ['tostring', [j('{"a": [1, 2.0, "x"]}', 'text')], '{"a":[1,2.0,"x"]}'],
    ['tostring', [j('12345678901234567890', 'text')], '12345678901234567890'],
    ['tostring', [j('1e3', 'text')], '1000'],
    ['tostring', [j('10.0', 'text')], '10'],
    ['tostring', [j(false)], 'false'],
    [
      'dynamic_to_json',
      [j('{"b": 1, "a": {"d": "é\\"", "c": [true, null, 12345678901234567890]}}', 'text')],
      '{"a":{"c":[true,null,12345678901234567890],"d":"é\\""},"b":1}',
    ],
    ['dynamic_to_json', [j([])], '[]'],
    ['dynamic_to_json', [j('x')], '"x"'],
    ['dynamic_to_json', [d(1500n)], '1.5µs'],
    ['tohex', [n(546n)], '222'],
    ['tohex', [n(12345n), n(8n)], '00003039'],
    ['tohex', [n(12345n), n(2n)], '3039'],
    ['tohex', [n(-546n)], 'fffffffffffffdde'],
    ['tohex', [n(0n), n(-3n)], '0'],
    ['tohex', [n(1n), nul('long')], null],
    ['tohex', [nul('long')], null],
  ]);
});

describe('numbers and bools', () => {
  checkAll(engine, conversion, [
    ['toint', [s('404')], 404n],
    ['toint', [s('-9223372036854775808')], minLong],
    ['toint', [s('9223372036854775808')], null],
    ['toint', [s('+5')], 5n],
    ['toint', [s('12.7')], null],
    ['toint', [s(' 12 ')], null],
    ['toint', [s('1e3')], null],
    ['toint', [s('0x1f')], null],
    ['toint', [s('')], null],
    ['toint', [r(12.7)], 12n],
    ['toint', [r(-12.7)], -12n],
    ['toint', [r(9.3e18)], null],
    ['toint', [r(2 ** 63)], null],
    ['toint', [r(2 ** 63 - 1024)], 9223372036854774784n],
    ['toint', [r(-(2 ** 63))], minLong],
    ['toint', [r(Number.NaN)], null],
    ['toint', [b(true)], 1n],
    ['toint', [d(80_000_000_000n)], 80_000_000_000n],
    ['toint', [t('1970-01-01T00:00:01.000000001Z')], 1_000_000_001n],
    ['toint', [j('9007199254740993', 'text')], 9007199254740993n],
    ['toint', [j('18446744073709551615', 'text')], null],
    ['toint', [j('77')], 77n],
    ['toint', [j(7.9)], 7n],
    ['toint', [j(true)], 1n],
    ['toint', [j([1])], null],
    ['todouble', [s('1e3')], 1000],
    ['todouble', [s('.5')], 0.5],
    ['todouble', [s('5.')], 5],
    ['todouble', [s('1_0')], null],
    ['todouble', [s('1e400')], null],
    ['todouble', [s(' 1')], null],
    ['todouble', [s('Inf')], Number.POSITIVE_INFINITY],
    ['todouble', [n(1n)], 1],
    ['todouble', [d(1500n)], 1500],
    ['todouble', [j('2.5')], 2.5],
    ['todouble', [j({})], null],
    ['tobool', [s('T')], true],
    ['tobool', [s('False')], false],
    ['tobool', [s('yes')], null],
    ['tobool', [s('tRUE')], null],
    ['tobool', [n(0n)], false],
    ['tobool', [r(0.1)], true],
    ['tobool', [t('1970-01-01T00:00:00Z')], false],
    ['tobool', [d(1n)], true],
    ['tobool', [j('1')], true],
    ['tobool', [j(0)], false],
    ['tobool', [j([])], null],
  ]);
});

describe('times', () => {
  checkAll(engine, conversion, [
    ['todatetime', [n(1_767_323_045_123_456_789n)], '2026-01-02T03:04:05.123456789Z'],
    ['todatetime', [n(maxLong)], null],
    ['todatetime', [n(minLong)], null],
    ['todatetime', [r(1.5e9)], '1970-01-01T00:00:01.5Z'],
    ['todatetime', [b(true)], null],
    ['todatetime', [j('2024-06-24')], '2024-06-24T00:00:00Z'],
    ['todatetime', [j(1_000_000_000)], '1970-01-01T00:00:01Z'],
    ...(
      [
        ['2024-06-24', '2024-06-24T00:00:00Z'],
        ['2024-06-24T10:11', '2024-06-24T10:11:00Z'],
        ['2024-06-24 10:11:12.5', '2024-06-24T10:11:12.5Z'],
        ['2024-06-24T10:11:12.123456789+02:00', '2024-06-24T08:11:12.123456789Z'],
        ['2024-06-24T10:11:12.1234567891Z', '2024-06-24T10:11:12.123456789Z'],
        ['2024-06-24T24:00:00Z', null],
        ['2024-02-30', null],
        ['1500-01-01', null],
        ['1677-09-21T00:12:44Z', null],
        ['1677-09-22T00:00:00Z', '1677-09-22T00:00:00Z'],
        ['2262-04-11T23:47:16.854775806Z', '2262-04-11T23:47:16.854775806Z'],
        ['2262-04-11T23:47:16.854775807Z', null],
        ['2300-01-01T00:00:00Z', null],
        ['2024-6-4 9:05', '2024-06-04T09:05:00Z'],
        ['2024/06/24 10:11:12', '2024-06-24T10:11:12Z'],
        ['06/24/2024 10:11:12 PM', '2024-06-24T22:11:12Z'],
        ['3.31.2014', '2014-03-31T00:00:00Z'],
        ['8/8/71', '1971-08-08T00:00:00Z'],
        ['oct 7, 1970', '1970-10-07T00:00:00Z'],
        ['May 8, 2009 5:57:51 PM', '2009-05-08T17:57:51Z'],
        ['12 Feb 2006, 19:17', '2006-02-12T19:17:00Z'],
        ['7 September 1970', '1970-09-07T00:00:00Z'],
        ['Mon, 02 Jan 2006 15:04:05 MST', '2006-01-02T22:04:05Z'],
        ['Mon, 02 Jan 2006 15:04:05 -0700', '2006-01-02T22:04:05Z'],
        ['Monday, 02-Jan-06 15:04:05 GMT', '2006-01-02T15:04:05Z'],
        ['Mon Jan  2 15:04:05 2006', '2006-01-02T15:04:05Z'],
        ['Mon Jan 02 15:04:05 -0700 2006', '2006-01-02T22:04:05Z'],
        ['Fri Jul 03 2015 18:04:07 GMT+0100 (GMT Daylight Time)', '2015-07-03T17:04:07Z'],
        ['10/Oct/2000:13:55:36 -0700', '2000-10-10T20:55:36Z'],
        ['2014年04月08日', '2014-04-08T00:00:00Z'],
        ['2013-Feb-03', '2013-02-03T00:00:00Z'],
        ['2013-04', '2013-04-01T00:00:00Z'],
        ['2013', '2013-01-01T00:00:00Z'],
        ["Aug 9, '71", '1971-08-09T00:00:00Z'],
        ['aug. 9, 71', '1971-08-09T00:00:00Z'],
        ['Tue, 03 Jan 2006 15:04:05 +0800 (GMT+08:00)', '2006-01-03T07:04:05Z'],
        ['August 9, 2012 at 10:09am PST-08', '2012-08-09T18:09:00Z'],
        ['2017-08-09T03:21:51:897+0100', '2017-08-09T02:21:51.897Z'],
        ['2012-08-09 18:31:59.257000000 +0800 +08', '2012-08-09T10:31:59.257Z'],
        ['2015-08-09 00:12:00 +0300 MSK m=+0.000000001', '2015-08-08T21:12:00Z'],
        ['2020-08-09+08:00', '2020-08-08T16:00:00Z'],
        ['2014.08', '2014-08-01T00:00:00Z'],
        ['170809 14:14:20', '2017-08-09T14:14:20Z'],
        ['20140601', '2014-06-01T00:00:00Z'],
        ['20140722105203', '2014-07-22T10:52:03Z'],
        ['1332151919', '2012-03-19T10:11:59Z'],
        ['1384216367189', '2013-11-12T00:32:47.189Z'],
        ['1384216367111222', '2013-11-12T00:32:47.111222Z'],
        ['1384216367111222333', '2013-11-12T00:32:47.111222333Z'],
        ['9999999999999999999', null],
        ["'; DROP TABLE x; --", null],
        ['', null],
        ['yesterday', null],
      ] as const
    ).map(([text, time]): Case<'todatetime'> => ['todatetime', [s(text)], time]),
    ['totimespan', [s('1m20s')], 80_000_000_000n],
    ['totimespan', [s('-1.5h')], -5_400_000_000_000n],
    ['totimespan', [s('2h45m')], 9_900_000_000_000n],
    ['totimespan', [s('1.5µs')], 1500n],
    ['totimespan', [s('.5us')], 500n],
    ['totimespan', [s('0')], 0n],
    ['totimespan', [s('1')], null],
    ['totimespan', [s('1d')], null],
    ['totimespan', [s('00:01:20')], null],
    ['totimespan', [s('')], null],
    ['totimespan', [s('9223372036854775807ns')], maxLong],
    ['totimespan', [s('9223372036854775808ns')], null],
    ['totimespan', [r(1500.9)], 1500n],
    ['totimespan', [j('300ms')], 300_000_000n],
    ['totimespan', [j(5)], 5n],
  ]);
});

describe('dynamic', () => {
  checkAll(engine, conversion, [
    ['todynamic', [s('{"a": [1, 2]}')], { a: [1, 2] }],
    ['todynamic', [s('nope')], null],
    ['todynamic', [s('null')], null],
    ['todynamic', [s('NaN')], null],
    ['todynamic', [s('[Infinity]')], null],
    ['todynamic', [s('[1,]')], null],
    ['todynamic', [s('["NaN,]"]')], ['NaN,]']],
    ['todynamic', [s('"\\ud800"')], null],
    ['todynamic', [j('[1]')], [1]],
    ['todynamic', [j([1])], [1]],
    ['todynamic', [n(5n)], 5],
    ['toarray', [j(['a', null])], ['a', null]],
    ['toarray', [j({ b: 1, a: [2] })], [1, [2]]],
    ['toarray', [s('123')], ['123']],
    ['toarray', [n(1n)], [1]],
    ['toarray', [nul('string')], []],
    ['toarray', [nul('dynamic')], []],
  ]);
  it('writes times as strings, timespans as nanoseconds, and NaN as null', async () => {
    const value = async (sql: string) => (await engine.query(`SELECT (${sql})::VARCHAR`))[0]?.[0];
    expect(await value(toDynamic(t('2026-01-02T03:04:05.5Z')))).toBe('"2026-01-02T03:04:05.5Z"');
    expect(await value(toDynamic(d(1500n)))).toBe('1500');
    expect(await value(toDynamic(r(Number.NaN)))).toBe(null);
    expect(await value(toDynamic(s('a"b')))).toBe('"a\\"b"');
    expect(await value(toDynamic(nul('string')))).toBe(null);
    expect(await value(convert(s('x'), 'long'))).toBe(null);
  });
});

describe('types and conditions', () => {
  checkAll(engine, conversion, [
    ['isbool', [b(false)], true],
    ['isbool', [nul('bool')], false],
    ['isbool', [s('true')], false],
    ['isbool', [j(true)], true],
    ['isstring', [s('')], true],
    ['isstring', [j('a')], true],
    ['isstring', [n(1n)], false],
    ['isstring', [nul('string')], false],
    ['isreal', [r(123.11)], true],
    ['isreal', [n(1n)], true],
    ['isreal', [r(Number.NaN)], false],
    ['isreal', [j(1.5)], true],
    ['isreal', [s('1')], false],
    ['isreal', [nul('real')], false],
    ['ismap', [j({ a: 1 })], true],
    ['ismap', [j([])], false],
    ['ismap', [s('{}')], false],
    ['isutf8', [s('héllo')], true],
    ['iscc', [s('4111111111111111')], true],
    ['iscc', [s('4111 1111-1111 1111')], true],
    ['iscc', [s('378282246310005')], true],
    ['iscc', [s('4111111111111112')], false],
    ['iscc', [s('0000000000000000')], false],
    ['iscc', [s('')], false],
    ['iscc', [nul('string')], null],
    ['isimei', [s('356938035643809')], true],
    ['isimei', [s('356938035643808')], false],
    ['isimei', [s('35693803564380')], false],
    ['gettype', [s('a')], 'string'],
    ['gettype', [n(1n)], 'long'],
    ['gettype', [d(1n)], 'timespan'],
    ['gettype', [nul('long')], 'null'],
    ['gettype', [j([1])], 'array'],
    ['gettype', [j({})], 'dictionary'],
    ['gettype', [j(1.5)], 'real'],
    ['gettype', [j(-1)], 'long'],
    ['gettype', [nul('dynamic')], 'null'],
    ['iff', [b(true), s('a'), s('b')], 'a'],
    ['iff', [nul('bool'), s('a'), s('b')], 'b'],
    ['case', [b(false), n(1n), b(true), n(2n), n(3n)], 2n],
    ['case', [nul('bool'), n(1n), b(false), n(2n), n(3n)], 3n],
  ]);
  it.each(['ensure_field', 'column_ifexists', 'ingestion_time', 'cursor_current'] as const)(
    '%s has no SQL',
    name => {
      const template = conversion[name] as SqlTemplate;
      expect(() => template([], { now: 0n, start: 0n, end: 0n })).toThrow(`${name} can be used only if`);
    },
  );
});
