import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { format, sameTree } from '../../../../kernel/apl/editor/layout/layout-format.js';
import { parseQuery } from '../../../../kernel/apl/syntax/parse.js';

/** Checks the formatted text, and that formatting it again changes nothing. */
function check(text: string, expected: string): void {
  expect(format(text)).toBe(expected);
  expect(format(expected)).toBe(expected);
}

describe('formats spaces', () => {
  test.each<readonly [string, string]>([
    ["web|where status>=500 and  method=='GET'", "web\n| where status >= 500 and method == 'GET'"],
    [
      "web|extend x=-a* -(2-1)+b[0].c ['d'],y=not( z )",
      "web\n| extend x = -a * -(2 - 1) + b[0].c['d'], y = not(z)",
    ],
    ["web | project-away geo*,['x.']*,a.b", "web\n| project-away geo*, ['x.']*, a.b"],
    ['web | project-reorder a granny-asc,*', 'web\n| project-reorder a granny-asc, *'],
    ['web | extend a=b*c, d = e *f', 'web\n| extend a = b * c, d = e * f'],
    ['web | where a in~( 1,2 ) and b !between(1..5)', 'web\n| where a in~ (1, 2) and b !between (1 .. 5)'],
    ['web | where t>datetime( 2026-01-02 )', 'web\n| where t > datetime(2026-01-02)'],
    ['web | join kind = inner(spans)on a', 'web\n| join kind=inner (spans) on a'],
    ['web | mv-apply x=a on(top 1 by x)', 'web\n| mv-apply x = a on (top 1 by x)'],
    ['web | mv-expand a to typeof( long )limit 5', 'web\n| mv-expand a to typeof(long) limit 5'],
    ["web | parse kind=regex s with*'a' b:long", "web\n| parse kind=regex s with * 'a' b:long"],
    [
      "web|parse-kv s as(a:long,b)with(kv_delimiter = '=')",
      "web\n| parse-kv s as (a: long, b) with (kv_delimiter='=')",
    ],
    [
      'web|make-series n=count()default = 0 on _time step 5m',
      'web\n| make-series n = count() default=0 on _time step 5m',
    ],
    ['datatable(a:long)[1,2]|where a==2', 'datatable(a: long) [1, 2]\n| where a == 2'],
    [
      'print dynamic([-12345678901234567890,- 1e400 , -1,{"k":-1e400}])',
      'print dynamic([-12345678901234567890, -1e400, -1, {"k": -1e400}])',
    ],
    ['print dynamic({"k":[1,{"x":null}]})', 'print dynamic({"k": [1, {"x": null}]})'],
    ["web | search title : 'x'", "web\n| search title:'x'"],
    ["print 'kept  as | it is', @'\\d', 1e3", "print 'kept  as | it is', @'\\d', 1e3"],
    ["['a b']|where ['c d']==1", "['a b']\n| where ['c d'] == 1"],
    ['union withsource=s web,sp*,(spans|limit 1)', 'union withsource=s web, sp*, (spans | limit 1)'],
    ['web|extend a=b [1 : 3],c=d[: 2] [e+1 :]', 'web\n| extend a = b[1:3], c = d[:2][e + 1:]'],
    ['web | where not a==b and not(c)', 'web\n| where not a == b and not(c)'],
    ["web | parse-where a with 'x',b:long ,'y'", "web\n| parse-where a with 'x', b:long, 'y'"],
    ['web | extend (a,b)=c', 'web\n| extend (a, b) = c'],
  ])('%s', check);
});

describe('formats lines', () => {
  test.each<readonly [string, string]>([
    [
      'let a=5m;let t=web|where d>a;\n\n\n\nt|count;',
      'let a = 5m;\nlet t = web\n    | where d > a;\n\nt\n| count;',
    ],
    [
      '%time 1h\n\nerrors<<web|count\n\nspans|limit 5',
      '%time 1h\n\nerrors << web\n| count\n\nspans\n| limit 5',
    ],
    ['web\r\n| count\r\n', 'web\n| count\n'],
    [
      '// all\nweb // the requests\n// only errors\n|where status>=500 // here\n  // slow\n  and d>1\n|count // n',
      '// all\nweb // the requests\n// only errors\n| where status >= 500 // here\n    // slow\n    and d > 1\n| count // n',
    ],
    [
      `web | summarize requests = count(), errors = countif(status >= 500), slow = percentile(duration, 95), all = sum(duration) by bin(_time, 5m), method`,
      `web
| summarize requests = count(),
    errors = countif(status >= 500),
    slow = percentile(duration, 95),
    all = sum(duration)
  by bin(_time, 5m), method`,
    ],
    [
      `web | join kind=leftouter (spans | where duration > 100 and name == 'frontend' | summarize n = count() by trace_id) on trace_id`,
      `web
| join kind=leftouter (
    spans
    | where duration > 100 and name == 'frontend'
    | summarize n = count() by trace_id
  )
  on trace_id`,
    ],
    [
      `web | where (status == 1 or status == 2) and (method == 'GET' or method == 'POST' or method == 'PATCH') or duration > 1`,
      `web
| where (status == 1 or status == 2)
    and (method == 'GET' or method == 'POST' or method == 'PATCH')
    or duration > 1`,
    ],
    [
      `web | extend kind = case(status >= 500, 'the server is to blame', status >= 400, 'the client is to blame, whoever it is', 'fine')`,
      `web
| extend kind = case(
    status >= 500,
    'the server is to blame',
    status >= 400,
    'the client is to blame, whoever it is',
    'fine'
  )`,
    ],
  ])('%s', check);
});

test('does not format after an unknown operator', () => {
  expect(format("['a']|summarise count()  by uri")).toBe("['a']\n| summarise count()  by uri");
});

test('formats a chain of ten thousand conditions', () => {
  const chain = Array.from({ length: 10_000 }, (_, index) => `a==${index}`).join(' or ');
  const lines = format(`web|where ${chain}`).split('\n');
  expect([lines.length, lines[1], lines[2], lines.at(-1)]).toEqual([
    10_001,
    '| where a == 0',
    '    or a == 1',
    '    or a == 9999',
  ]);
});

test('compares trees by content, not by position', () => {
  const same = (a: string, b: string): boolean => sameTree(parseQuery(a).query, parseQuery(b).query);
  expect([
    same('web|count', 'web  |  count'),
    same('web|take 1', 'web|take 2'),
    same('web', 'web|count'),
  ]).toEqual([true, false, false]);
});

describe('leaves text that does not parse unchanged', () => {
  test.each(['let = 5', "web  where a=='x", '%time 1h', '', '// only'])('%s', text =>
    expect(format(text)).toBe(text),
  );
});

describe('leaves an operator that does not parse unchanged and formats the rest', () => {
  test.each<readonly [string, string]>([
    ['web|summarise count()  by uri|where a==1', 'web\n| summarise count()  by uri\n| where a == 1'],
    ['web|where|', 'web\n| where\n|'],
    ['web|where a==1 | where (a', 'web\n| where a == 1\n| where (a'],
    ["web|limit 5|where a=='x", "web\n| limit 5\n| where a=='x"],
    ['web|where a==1;\nlet = 5', 'web\n| where a == 1;\nlet = 5'],
  ])('%s', check);
});

const name = fc.constantFrom('status', 'a', 'm.k', "['geo.city']", 'duration');
const literal = fc.constantFrom(
  '1',
  "'x y'",
  '5m',
  'true',
  '1.5',
  "dynamic(['a',{'k':1}])",
  'datetime(2026-01-02)',
);
const { expression } = fc.letrec<{ expression: string }>(tie => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    name,
    literal,
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '==', ' and ', ' or ', ' has ', '<'),
        tie('expression'),
      )
      .map(([a, op, b]) => `(${a})${op}(${b})`),
    tie('expression').map(inner => `-(${inner})`),
    fc.array(tie('expression'), { minLength: 1, maxLength: 5 }).map(args => `strcat( ${args.join(',')} )`),
    fc
      .tuple(name, fc.array(literal, { minLength: 1, maxLength: 6 }))
      .map(([a, items]) => `${a} in(${items.join(',')})`),
  ),
}));
const stage = fc.oneof(
  expression.map(each => `where ${each}`),
  fc
    .array(expression, { minLength: 1, maxLength: 5 })
    .map(items => `extend ${items.map((item, index) => `x${index}=${item}`).join(',')}`),
  fc
    .tuple(expression, name)
    .map(([value, key]) => `summarize n=count(),m=max(${value}) by ${key},bin(_time,5m)`),
  fc.constantFrom('project-away geo*,a', 'sort by a asc nulls last', 'take 5', 'count', 'distinct *'),
  expression.map(each => `join kind=inner (spans|where ${each}|take 1) on a`),
);
const comment = fc.constantFrom('', '', '', ' // why\n', '\n// alone\n', '\n');
const query = fc
  .array(fc.tuple(comment, stage, comment), { maxLength: 6 })
  .map(stages => `web${stages.map(([before, each, after]) => `${before}|${each}${after}`).join('')}`);

describe('formatting any query', () => {
  test('keeps its tree and comments and is idempotent', () => {
    fc.assert(
      fc.property(query, text => {
        const formatted = format(text);
        expect(sameTree(parseQuery(formatted).query, parseQuery(text).query)).toBe(true);
        expect(formatted.match(/\/\/.*/g)).toEqual(text.match(/\/\/.*/g));
        expect(format(formatted)).toBe(formatted);
        const pipes = formatted.split('\n').filter(line => line.startsWith('| ')).length;
        expect(pipes).toBe(
          parseQuery(text).query.statements.flatMap(each =>
            each.kind === 'query' ? each.pipeline.operators : [],
          ).length,
        );
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});
