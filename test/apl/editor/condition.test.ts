import { describe, expect, test } from 'vitest';
import { conditionFor } from '../../../kernel/apl/editor/condition.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';

describe('the condition for a value', () => {
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
