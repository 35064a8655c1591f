import { describe, expect, test } from 'vitest';
import { openEngine } from '../duckdb/functions/harness.js';
import { openQueries } from '../queries.js';

/**
 * Behavior of the pinned engine version that APL must not have. `trap` runs on the engine alone: if it fails after an upgrade, the
 * rule may have become unnecessary. `right` is APL, which is correct in spite of the trap. Rules 12 (the thread pool) and 13 (what
 * the engine can access) concern processes and files: see duckdb.test.ts.
 */
interface Rule {
  readonly rule: string;
  /** SQL, and the text of its rows or part of its error message. */
  readonly trap: readonly (readonly [sql: string, gives: string])[];
  /** A query, and its rows as JSON. */
  readonly right: readonly (readonly [apl: string, rows: string])[];
}

const instant = '2023-11-14T22:13:20.123456789Z';
const at = 'make_timestamp_ns(1700000000123456789)';

const rules: readonly Rule[] = [
  {
    rule: '1: approximate distinct counts are up to a quarter off, and exact percentiles cost no more',
    trap: [['SELECT approx_count_distinct(i) FROM range(1000) t(i)', '1249']],
    right: [
      ['range x from 1 to 1000 step 1 | summarize dcount(x)', '[[1000]]'],
      ['range x from 1 to 1000 step 1 | summarize percentile(x, 99)', '[[990.01]]'],
    ],
  },
  {
    rule: '2: the case of column names is folded',
    trap: [
      ['SELECT "A" FROM (SELECT 1 AS a)', '1'],
      ['SELECT b.* FROM (SELECT 1 AS a, 2 AS "A") b', '1 2'],
      ['SELECT "A" FROM (SELECT a, "A" FROM (SELECT 1 AS a, 2 AS "A"))', '1'],
    ],
    right: [
      [
        'datatable(a: long, A: long, ["A "]: long)[1, 2, 3] | extend b = A * 10 | where A == 2 | project b, A, a, ["A "]',
        '[[20,2,1,3]]',
      ],
    ],
  },
  {
    rule: '3: buckets, truncation, intervals and differences lose nanoseconds; times span 1677 to 2262',
    trap: [
      [`SELECT date_trunc('microsecond', ${at})::VARCHAR`, '2023-11-14 22:13:20.123456'],
      [`SELECT typeof(time_bucket(INTERVAL '1 hour', ${at}))`, 'TIMESTAMP'],
      [`SELECT (${at} + INTERVAL '1 second')::VARCHAR`, '2023-11-14 22:13:21.123456'],
      [`SELECT (${at} - make_timestamp_ns(1700000000123456788))::VARCHAR`, '00:00:00'],
      ["SELECT '2263-01-01'::TIMESTAMP_NS", 'Could not convert'],
    ],
    right: [
      [
        `print bin(datetime(${instant}), 10ns), datetime(${instant}) + 1s, datetime(${instant}) - datetime(2023-11-14T22:13:20.123456788Z)`,
        '[["2023-11-14T22:13:20.12345678Z","2023-11-14T22:13:21.123456789Z",1]]',
      ],
      ["print datetime_add('year', 239, datetime(2023-11-14)), todatetime('2263-01-01')", '[[null,null]]'],
    ],
  },
  {
    rule: '4: %n of strftime corrupts what follows',
    trap: [[`SELECT strftime(${at}, '%n|%Y')`, '123456|2023234']],
    right: [
      [`print tostring(datetime(${instant}))`, `[["${instant}"]]`],
      [
        "print strcat(datetime(2023-11-14T22:13:20.000000001Z), '|')",
        '[["2023-11-14T22:13:20.000000001Z|"]]',
      ],
    ],
  },
  {
    rule: '5: time buckets start on 2000-01-03, and // truncates toward zero',
    trap: [
      ["SELECT time_bucket(INTERVAL '5 days', TIMESTAMP '1970-01-02')::VARCHAR", '1969-12-31 00:00:00'],
      ['SELECT (-7) // 2', '-3'],
    ],
    right: [
      [
        'print bin(datetime(1970-01-02), 5d), bin(datetime(1969-12-31T23:59:59Z), 1h)',
        '[["1969-12-30T00:00:00Z","1969-12-31T23:00:00Z"]]',
      ],
      ['print bin(-7, 2), bin(-1ns, 1s), bin(-7.0, 2.0)', '[[-8,-1000000000,-8]]'],
    ],
  },
  {
    rule: '6: overflow and arguments outside the domain stop the query',
    trap: [
      ['SELECT ln(0)', 'cannot take logarithm of zero'],
      ['SELECT sqrt(-1)', 'cannot take square root of a negative number'],
      ['SELECT acos(2)', 'ACOS is undefined outside [-1,1]'],
      ['SELECT 9223372036854775807::BIGINT + 1::BIGINT', 'Overflow in addition'],
      ['SELECT -((-9223372036854775808)::BIGINT)', 'Overflow'],
      ['SELECT (SUM(i))::BIGINT FROM (VALUES (9223372036854775807), (1)) t(i)', "can't be cast"],
    ],
    right: [
      [
        'datatable(x: real)[0.0, -1.0, 2.0] | project log(x), sqrt(x), acos(x)',
        '[[null,0,1.5707963267948966],[null,null,3.141592653589793],[0.6931471805599453,1.4142135623730951,null]]',
      ],
      [
        'datatable(x: long)[9223372036854775807, 1] | project x + 1, x * 2, -2 - x',
        '[[null,null,null],[2,2,-3]]',
      ],
      ['datatable(x: long)[9223372036854775807, 1] | summarize sum(x)', '[[null]]'],
    ],
  },
  {
    rule: '7: a string cast to an integer may be decimal, exponential, hexadecimal or padded',
    trap: [
      ["SELECT TRY_CAST('12.7' AS BIGINT), TRY_CAST('1e3' AS BIGINT)", '13 1000'],
      [
        "SELECT TRY_CAST('0x1f' AS BIGINT), TRY_CAST(' 12 ' AS BIGINT), TRY_CAST('1_0' AS BIGINT)",
        '31 12 10',
      ],
    ],
    right: [
      [
        "datatable(s: string)['12.7', '1e3', '0x1f', ' 12 ', '1_0', '-12'] | project toint(s)",
        '[[null],[null],[null],[null],[null],[-12]]',
      ],
    ],
  },
  {
    rule: '8: no match gives an empty string, groups take a backslash, a null in a list makes the test null',
    trap: [
      [String.raw`SELECT regexp_extract('abc', '(\d+)', 1) = ''`, 'true'],
      ["SELECT regexp_replace('ab', '(a)', '$1x')", '$1xb'],
      ['SELECT 1 NOT IN (2, NULL)', 'null'],
    ],
    right: [
      [
        String.raw`datatable(s: string)['abc', 'a12'] | project extract(@'(\d+)', 1, s), replace_regex('([ab])', '<$1>', s)`,
        '[[null,"<a><b>c"],["12","<a>12"]]',
      ],
      ['datatable(x: long)[1, 2] | where x !in (2, long(null)) | project x', '[[1]]'],
      ['datatable(x: long)[1, 2, long(null)] | where x !in (2, 3) | count', '[[2]]'],
    ],
  },
  {
    rule: '9: VARIANT cannot compare values of different types',
    trap: [["SELECT 1::VARIANT = 'a'::VARIANT", "Can't compare values of type"]],
    right: [
      [
        "datatable(x: dynamic)[1, 'a', dynamic([1])] | project x == 'a', x == 1",
        '[[false,true],[true,false],[false,false]]',
      ],
      [`datatable(x: dynamic)['a', 1, dynamic([1])] | sort by x asc | project x`, '[[1],["a"],[[1]]]'],
    ],
  },
  {
    rule: '10: NaN and infinity are printed bare in JSON, and the sum of integers is a HUGEINT',
    trap: [
      ["SELECT to_json('NaN'::DOUBLE)::VARCHAR, to_json('inf'::DOUBLE)::VARCHAR", 'NaN Infinity'],
      ['SELECT typeof(sum(i::BIGINT)) FROM range(3) t(i)', 'HUGEINT'],
    ],
    right: [
      [
        'print sqrt(-1.0), exp(1000.0), pack_array(sqrt(-1.0), exp(1000.0), 1)',
        '[[null,null,[null,null,1]]]',
      ],
      ['range x from 1 to 3 step 1 | summarize s = sum(x) | extend t = gettype(s)', '[[6,"long"]]'],
    ],
  },
  {
    rule: '11: a list is ordered only if it asks for it, and a JSON number loses digits as a double',
    trap: [["SELECT '9007199254740993'::JSON::DOUBLE::BIGINT", '9007199254740992']],
    right: [
      [
        'range x from 1 to 300000 step 1 | extend y = (x * 7919) % 1000003 | sort by y asc | summarize l = make_list(y) | project a = l[0], b = l[1], c = l[299999]',
        '[[5,8,1000000]]',
      ],
      [
        `print parse_json('{"id":9007199254740993}'), tolong(parse_json('{"id":9007199254740993}').id)`,
        '[[{"id":9007199254740993},9007199254740993]]',
      ],
    ],
  },
];

const engine = openEngine();
const queries = openQueries();

describe.each(rules)('rule $rule', ({ trap, right }) => {
  test.each(trap)('the engine: %s', async (sql, gives) => {
    const shown = await engine.query(sql).then(
      rows => rows.map(row => row.map(cell => String(cell)).join(' ')).join('\n'),
      (error: Error) => (error.message.includes(gives) ? gives : error.message),
    );
    expect(shown).toBe(gives);
  });

  test.each(right)('APL: %s', async (apl, rows) => {
    const outcome = await queries.run(apl);
    const shown = outcome.ok
      ? `[${outcome.ran.rows.map(row => `[${row.join(',')}]`).join(',')}]`
      : outcome.diagnostics.map(each => each.message).join('\n');
    expect(shown).toBe(rows);
  });
});
