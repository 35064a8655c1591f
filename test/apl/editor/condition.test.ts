import { describe, expect, test } from 'vitest';
import { conditionFor, whereLine } from '../../../kernel/apl/editor/condition.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';

describe('a value becomes a condition', () => {
  test.each<[string, string, string | null, string, string]>([
    ['status', 'string', '500', 'status == "500"', 'status != "500"'],
    ['n', 'integer', '-9223372036854775808', 'n == -9223372036854775808', 'n != -9223372036854775808'],
    ['x', 'float', '1e-7', 'x == 1e-7', 'x != 1e-7'],
    ['x', 'float', 'NaN', 'isnan(x)', 'not(isnan(x))'],
    ['x', 'float', '-Infinity', 'isinf(x) and x < 0', 'not(isinf(x) and x < 0)'],
    ['ok', 'boolean', 'true', 'ok == true', 'ok != true'],
    [
      '_time',
      'datetime',
      '2026-11-20T09:00:00.123456789Z',
      '_time == datetime(2026-11-20T09:00:00.123456789Z)',
      '_time != datetime(2026-11-20T09:00:00.123456789Z)',
    ],
    ['d', 'timespan', '1h2m3.5s', 'd == totimespan("1h2m3.5s")', 'd != totimespan("1h2m3.5s")'],
    ['tags', 'array', '["a"]', 'tostring(tags) == "[\\"a\\"]"', 'tostring(tags) != "[\\"a\\"]"'],
    ['a b', 'string', null, "isnull(['a b'])", "isnotnull(['a b'])"],
    ["it's", 'string', 'x', "['it\\'s'] == \"x\"", "['it\\'s'] != \"x\""],
    [
      'uri',
      'string',
      'a"\\\n\u202e\u{e0041}',
      'uri == "a\\"\\\\\\n\\u202e\\U000e0041"',
      'uri != "a\\"\\\\\\n\\u202e\\U000e0041"',
    ],
  ])('%s %s %s', (name, type, value, keep, leave) => {
    expect(conditionFor({ name, type }, value, true)).toBe(keep);
    expect(conditionFor({ name, type }, value, false)).toBe(leave);
    for (const condition of [keep, leave])
      expect(parseQuery(`['d'] | where ${condition}`).diagnostics).toEqual([]);
  });
});

describe('the line goes to the end of the query', () => {
  const put = (source: string, query: string) => {
    const line = whereLine(source, query, 'x == 1');
    return line && source.slice(0, line.at) + line.text + source.slice(line.at);
  };
  test.each<[string, string, string, string | undefined]>([
    ['of one query', "['d']", "['d']", "['d']\n| where x == 1"],
    [
      'before a comment and a semicolon',
      "['d'] | limit 5; // five",
      "['d'] | limit 5;",
      "['d'] | limit 5\n| where x == 1; // five",
    ],
    ['of that query of several', "['a']\n\n['b']", "['a']", "['a']\n| where x == 1\n\n['b']"],
    [
      'after magics and lets',
      "%%time 1h\nlet y = 1;\n['a'] | where z == y",
      "let y = 1;\n['a'] | where z == y",
      "%%time 1h\nlet y = 1;\n['a'] | where z == y\n| where x == 1",
    ],
    [
      'of the last one, where the cell has changed',
      "['a']\n\n['b']",
      "['c']",
      "['a']\n\n['b']\n| where x == 1",
    ],
    ['nowhere without a query', '%help', "['c']", undefined],
  ])('%s', (_, source, query, changed) => expect(put(source, query)).toBe(changed));
});
