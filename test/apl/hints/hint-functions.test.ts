import { expect, test } from 'vitest';
import { functionNames } from '../../../kernel/apl/catalog/all-functions.js';
import { diagnose } from '../../../kernel/apl/editor/check/diagnose.js';
import {
  callElsewhere,
  functionsElsewhere,
  operatorCalled,
} from '../../../kernel/apl/hints/hint-functions.js';
import { environment } from '../environment.js';

test.each(Object.entries(functionsElsewhere))(
  'the hint for `%s` calls only known functions: %s',
  (_, hint) => {
    expect(hint).toMatch(/^[`\w('|]/);
    const known = ['datetime', ...functionNames(true)];
    const called = [...hint.matchAll(/\b([a-z]\w*)\(/g)].map(([, name]) => name);
    expect(called.filter(name => !known.includes(String(name)))).toEqual([]);
  },
);

test.each<[string, readonly string[], string | undefined]>([
  ['pct', ['x', '95'], 'percentile(x, 95)'],
  ['PERC', ['x', '95'], 'percentile(x, 95)'],
  ['percentiles', ['x', '50', '95'], 'percentiles_array(x, 50, 95)'],
  ['distinct_count', ['x'], 'dcount(x)'],
  ['uniqExact', ['x'], 'dcount(x)'],
  ['mode', ['x'], 'topk(x, 1)'],
  ['list', ['x'], 'make_list(x)'],
  ...['first', 'earliest', 'first_value'].map(
    name => [name, ['x'], 'arg_min(_time, x)'] satisfies [string, string[], string],
  ),
  ...['last', 'latest', 'last_value', 'take_any', 'any_value'].map(
    name => [name, ['x'], 'arg_max(_time, x)'] satisfies [string, string[], string],
  ),
  ['span', ['_time', '5m'], 'bin(_time, 5m)'],
  ['eval', ['x > 1'], '(x > 1)'],
  ['searchmatch', ['"a"'], '* has "a"'],
  ['count', [], 'count()'],
  ['time', [], 'now()'],
  ['concat', ['x', 'y + 1'], 'strcat(x, y + 1)'],
  ['mod', ['x + 1', 'f(y)'], '(x + 1) % f(y)'],
  ['mod', ['x'], undefined],
  ['pct', ['x'], undefined],
  ['nothing', ['x'], undefined],
  ['nothing', [], undefined],
  ['quantile', ['x', '0.95'], 'percentile(x, 95)'],
  ['quantile', ['.5', 'x'], 'percentile(x, 50)'],
  ['quantile', ['x', '95'], undefined],
  ['quantile', ['x'], undefined],
  ['like', ['x', "'a%'"], 'x startswith_cs "a"'],
  ['like', ['x', '"%a"'], 'x endswith_cs "a"'],
  ['like', ['x', 'y'], undefined],
  ['datediff', ["'Day'", 'a', 'b'], "datetime_diff('day', b, a)"],
  ['date_diff', ['hour', 'a', 'b'], "datetime_diff('hour', b, a)"],
  ['datediff', ['a', 'b'], undefined],
])('translates a call of %s with %j to %s', (name, args, expected) => {
  expect(callElsewhere(name, args)).toBe(expected);
});

test.each<[string, readonly string[], string | undefined]>([
  ['contains', ['a', 'b'], 'Write `a contains b`.'],
  ['HAS', [], 'Write `x has y`.'],
  ['in', ['a', '1', '2'], 'Write `a in (1, 2)`.'],
  ['has_any', ['a', '"b"'], 'Write `a has_any ("b")`.'],
  ['has_all', ['a', '"b"', '"c"'], 'Write `a has_all ("b", "c")`.'],
  ['between', ['a', '1', '2'], 'Write `a between (1 .. 2)`.'],
  ['between', ['a', '1'], 'Write `a between (1 .. z)`.'],
  ['matches', ['a', '"b"'], 'Write `a matches regex "b"`.'],
  ['not', ['a'], undefined],
  ['==', ['a', 'b'], undefined],
  ['strlen', ['a'], undefined],
])('writes a call of %s with %j as an operator: %s', (name, args, expected) => {
  expect(operatorCalled(name, args)).toBe(expected);
});

test.each<[name: string, args: string, written: string | undefined]>([
  ['concat', "(method ,'x')", 'strcat'],
  ['if', "( status>499,'bad','good' )", 'iff'],
  ['ifnull', '(duration ,0.5)', 'coalesce'],
  ['nvl', '(duration ,0.5)', 'coalesce'],
  ['power', '(duration ,2)', 'pow'],
  ['greatest', '(status ,1)', 'max_of'],
  ['least', '(status ,1)', 'min_of'],
  ['array_contains', '(attributes ,1)', 'set_has_element'],
  ['array_has', '(attributes ,1)', 'set_has_element'],
  ['has_key', "(attributes ,'a')", 'bag_has_key'],
  ['array_join', "(attributes ,',')", 'strcat_array'],
  ['count_distinctif', '(method ,status>499)', 'dcountif'],
  ['count_distinct_if', '(method ,status>499)', 'dcountif'],
  // Another number of arguments, and an equivalent that takes them in another order.
  ['power', '(duration)', undefined],
  ['if', "(status>499 ,'bad')", undefined],
  ['locate', "('E' ,method)", undefined],
  // Its positions start at 1.
  ['instr', "(method ,'E')", undefined],
])(
  'replaces only the name in a call of %s with %s, if the arguments stay in order: %s',
  (name, args, written) => {
    const start = `web | ${name.startsWith('count_') ? 'summarize' : 'project'} `;
    const [found] = diagnose(`${start}${name}${args}`, environment);
    expect([found?.code, found?.from, found?.to, found?.instead]).toEqual([
      'unknown-function',
      start.length,
      start.length + name.length,
      written,
    ]);
  },
);
