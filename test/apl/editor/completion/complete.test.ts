import { describe, expect, test } from 'vitest';
import { complete } from '../../../../kernel/apl/editor/completion/complete.js';
import { cursorOf, environment, environmentOf } from '../../environment.js';

/** Checks the first completions at `$0`, as `kind insert`; with `whole`, there may be no more. */
function check(marked: string, expected: readonly string[], whole = false): void {
  const { text, offset } = cursorOf(marked);
  const items = complete(text, offset, environment).items.map(({ kind, insert }) => `${kind} ${insert}`);
  expect(whole ? items : items.slice(0, expected.length)).toEqual(expected);
}

type Case = readonly [marked: string, expected: readonly string[]];

const webFields = [
  ...['field _time', 'field status', 'field duration', 'field method', "field ['geo.city']"],
  ...["field ['geo.country']", 'field attributes', "field ['by']"],
];
const bracketed = ["dataset ['web']", "dataset ['spans']", "dataset ['sample-http-logs']"];
const tables = ['dataset web', 'dataset spans', "dataset ['sample-http-logs']"];

describe('a source', () => {
  test.each<Case>([
    ['$0', [...tables, 'keyword print']],
    ['let a = 1; $0', tables],
    ['let t = web | where status > 1; let u = t; $0', ['let t', 'let u', ...tables]],
    ['web | union $0', tables],
    ['union web, s$0', ['dataset spans']],
    ['web | join $0', tables],
    ['web | join kind=inner ($0', tables],
    ['web | lookup (s$0', ['dataset spans']],
    ['search in ($0', tables],
    ['name << $0', tables],
  ])('%s', (marked, expected) => check(marked, expected));

  test.each<Case>([
    ['w$0', ['dataset web']],
    ["['sa$0", ["dataset ['sample-http-logs']"]],
    ['[$0', bracketed],
    ['[$0]', bracketed],
    ['web | join [$0', bracketed],
    ['web | union [$0', bracketed],
    ['web | join kin$0', ['option kind=']],
    ['sample-h$0', ["dataset ['sample-http-logs']"]],
    ['web // w$0', []],
    ["print 'w$0", []],
    ['let w$0', []],
  ])('and nothing else for %s', (marked, expected) => check(marked, expected, true));
});

describe('an operator', () => {
  test.each<Case>([
    ['web | $0', ['operator where', 'operator limit']],
    ['web | where status > 1\n| summ$0', ['operator summarize']],
    ['web | project-a$0', ['operator project-away']],
    ['web | project-$0', ['operator project-away', 'operator project-keep']],
    ['web $0', ['operator | where']],
    ['web | where id in (spans | $0', ['operator where']],
    ['web | join (spans | $0', ['operator where']],
    ['web | over$0', ['snippet summarize count() by bin_auto(_time)']],
    ['print a = 1 | over$0', []],
  ])('%s', (marked, expected) => check(marked, expected));
});

describe('an expression', () => {
  test.each<Case>([
    ['web | where $0', webFields],
    ['web | where stat$0', ['field status']],
    ['web | where STAT$0', ['field status']],
    ['web | where city$0', ["field ['geo.city']"]],
    ['web | where drtn$0', ['field duration']],
    ['web | where stauts$0', ['field status']],
    ["web | where ['geo$0", ["field ['geo.city']", "field ['geo.country']"]],
    ["web | where ['geo$0']", ["field ['geo.city']", "field ['geo.country']"]],
    ['web | where [$0', ["field ['_time']", "field ['status']", "field ['duration']"]],
    ['web | project status, [$0]', ["field ['_time']", "field ['status']", "field ['duration']"]],
    ['web | where attributes[$0', ["field http.method']", "field user']"]],
    ['web | extend a = strl$0', ['function strlen']],
    ['web | extend a = strcat(method, $0', webFields],
    ['web | extend a = 1 | where $0', [...webFields, 'field a']],
    ['web | project a = 1, status | where $0', ['field a', 'field status', 'function abs']],
    ['web | summarize n = count() by method | where $0', ['field method', 'field n', 'function abs']],
    ['let t = web | project a = 1; t | where $0', ['field a', 'function abs']],
    ['let limit_ms = 5; web | where duration > lim$0', ['let limit_ms']],
    ['web | join (spans | where $0', ['field _time', 'field trace_id', 'field status']],
    ['web | where status == 1 and dur$0', ['field duration']],
    ['web | extend a = ensure_field("x", $0', ['type typeof(bool)', 'type typeof(long)']],
    ['print $0', ['function abs']],
    ['print x = strl$0', ['function strlen']],
  ])('%s', (marked, expected) => check(marked, expected));

  test('offers the fields of both sides of a join, shared ones first', () => {
    check('web | join (spans) on $0', ['field _time', 'field status', 'field duration']);
    check('web | join (spans) on $left.$0', webFields, true);
    check(
      'web | join (spans) on $right.$0',
      ['field _time', 'field trace_id', 'field status', "field ['service.name']"],
      true,
    );
  });

  test('offers aggregates only where they are allowed', () => {
    const kinds = (marked: string): boolean => {
      const { text, offset } = cursorOf(marked);
      return complete(text, offset, environment).items.some(item => item.kind === 'aggregate');
    };
    expect(
      [
        'web | summarize $0',
        'web | summarize a = round($0',
        'web | make-series a = $0',
        'web | summarize avg($0',
        'web | summarize count() by $0',
        'web | make-series count() on _time step $0',
        'web | where $0',
      ].map(kinds),
    ).toEqual([true, true, true, false, false, false, false]);
    check('web | summarize d$0', ['aggregate dcount', 'aggregate dcountif', 'field duration']);
  });

  test('offers columns and the time bin after `by`', () => {
    check('web | summarize count() by $0', [...webFields, 'snippet bin_auto(_time)']);
  });
});

describe('the next words', () => {
  test.each<Case>([
    ['web | where status $0', ['keyword ==', 'keyword !=']],
    ['web | where method cont$0', ['keyword contains', 'keyword contains_cs']],
    ['web | where method matches $0', ['keyword regex']],
    ['web | summarize count() $0', ['keyword by']],
    ['web | sort $0', ['keyword by']],
    ['web | sort by status $0', ['keyword asc', 'keyword desc', 'keyword nulls first']],
    ['web | sort by status asc $0', ['keyword nulls first', 'keyword nulls last']],
    ['web | top 5 $0', ['keyword by']],
    ['web | join (spans) $0', ['keyword on']],
    [
      'web | make-series count() on _time $0',
      ['keyword from', 'keyword to', 'keyword in range(', 'keyword step', 'keyword by'],
    ],
    ['web | make-series count() on _time step 1h $0', ['keyword by']],
    ['web | project-reorder status gr$0', ['keyword granny-asc', 'keyword granny-desc']],
    ['web | parse method $0', ['keyword with']],
    ['web | redact "x" $0', ['keyword on']],
    ['range i from 1 $0', ['keyword to']],
    ['set $0', ['keyword stricttypes']],
    ['declare $0', ['keyword query_parameters']],
  ])('%s', (marked, expected) => check(marked, expected));
});

describe('options, types, keys, and values', () => {
  test.each<Case>([
    ['web | join kind=left$0', ['option leftouter', 'option leftsemi', 'option leftanti']],
    ['web | lookup kind=$0', ['option leftouter', 'option inner']],
    ['web | parse kind=r$0', ['option regex', 'option relaxed']],
    ['web | mv-apply word = attributes on (wher$0', ['operator where']],
    ['web | mv-apply word = attributes on (where wor$0', ['field word']],
    ['web | mv-apply word = attributes on (where status > 1 | top 1 by stat$0', ['field status']],
    ['web | mv-expand $0', ['option kind=', 'option with_itemindex=']],
    ['web | parse-kv method as (a) with ($0', ['option pair_delimiter=']],
    ['datatable(a:$0', ['type bool', 'type long']],
    ['datatable(a:long, b:str$0', ['type string']],
    ['declare query_parameters(a:$0', ['type bool']],
    ['web | mv-expand attributes to typeof(l$0', ['type long']],
    ['web | parse method with * "x" y:l$0', ['type long']],
    ['web | parse-kv method as (code:$0', ['type bool']],
  ])('%s', (marked, expected) => check(marked, expected));

  test.each<Case>([
    ['web | where geo.$0', ['field city', 'field country']],
    ['web | where geo.ci$0', ['field city']],
    ['web | where attributes.$0', ["field ['http.method']", 'field user']],
    ["web | where ['attributes'].u$0", ['field user']],
    ["web | where ['attributes']['$0", ["field http.method']", "field user']"]],
    ["web | where attributes['user']['$0']", ["field inner']"]],
    ['web | where method == "$0', ['value GET"', 'value POST"', 'value say \\"web\\""']],
    ["web | where method == '$0'", ['value GET', 'value POST', 'value say "web"']],
    ["web | where method !in ('GET', 'P$0", ["value POST'"]],
    ['web | where method has "$0', ['value GET"', 'value POST"', 'value say \\"web\\""']],
    ['web | where method contains "P$0', ['value POST"']],
    ['web | where method !startswith_cs "P$0', ['value POST"']],
    ['web | where status == "$0', []],
    ['web | extend m = 1 | where m == "$0', []],
    ['web | where method == strcat("$0', []],
    ['web | project-away ge$0', ["field ['geo.city']", "field ['geo.country']"]],
    ['web | redact "x" on me$0', ['field method']],
    ["web | project-away ['met$0']", ["field ['method']"]],
  ])('and nothing else for %s', (marked, expected) => check(marked, expected, true));

  test('include the keys of a map whose name has dots', () => {
    const spans = environmentOf({ spans: [{ name: 'attributes.custom', type: 'dynamic' }] });
    const known = { ...spans, mapKeys: (path: readonly string[]) => [path.join(' > ')] };
    const labels = (text: string) => complete(text, text.length, known).items.map(({ label }) => label);
    expect(labels('spans | where attributes.custom.')).toEqual(['attributes.custom']);
    expect(labels('spans | where attributes.custom.user.')).toEqual(['attributes.custom > user']);
    expect(labels("spans | where ['attributes.custom']['")).toEqual(['attributes.custom']);
  });

  test('include values before the quote is typed', () => {
    check('web | where method == $0', ['value "GET"', 'value "POST"']);
  });
});

describe('an item', () => {
  test('has the type, unit and description of a field', () => {
    const { items } = complete('web | where dur', 15, environment);
    expect(items[0]).toEqual({
      label: 'duration',
      insert: 'duration',
      kind: 'field',
      type: 'real',
      unit: 'ms',
      rank: 0,
    });
    expect(complete('web | where status', 18, environment).items[0]?.doc).toBe('HTTP status');
  });

  test('has the signature of a function', () => {
    const [item] = complete('print strle', 11, environment).items;
    expect([item?.label, item?.signature]).toEqual(['strlen', 'strlen(text: string) -> long']);
  });

  test('replaces the typed text and a closing bracket that the editor added', () => {
    const replaced = (marked: string): string => {
      const { text, offset } = cursorOf(marked);
      const { from, to } = complete(text, offset, environment);
      return text.slice(from, to);
    };
    expect(
      ['we$0', 'web | project-a$0', "['w$0']", "web | where attributes['u$0'] == 1", 'web | where $0x'].map(
        replaced,
      ),
    ).toEqual(['we', 'project-a', "['w']", "u']", '']);
  });

  test('for a field comes before a function even if it differs in case', () => {
    const { items } = complete('t | project le', 14, environmentOf({ t: [{ name: 'Level', type: 'long' }] }));
    expect(items.slice(0, 2).map(item => item.insert)).toEqual(['Level', 'len']);
  });

  test('is ranked by its match, then by its kind', () => {
    const fields = ['Stat', 'status', 'x_stat', 'set_at', 'astat', 'ztat', 'none'].map(
      name => ({ name, type: 'long' }) as const,
    );
    const labels = complete('t | where stat', 14, environmentOf({ t: fields }))
      .items.filter(item => item.kind === 'field')
      .map(item => [item.label, Math.floor(item.rank / 10)]);
    expect(labels).toEqual([
      ['status', 0],
      ['Stat', 0],
      ['x_stat', 1],
      ['set_at', 2],
      ['astat', 3],
      ['ztat', 3],
    ]);
  });
});

test('completes at any offset of a query without failing', () => {
  const text =
    "let a = 5m; union (web | where ['geo.city'] == 'x'), spans | join kind=inner (web) on $left.a == $right.b | summarize n = count(), x = avg(y) by bin(_time, a) | make-series c = count() default=0 on _time in range(a, b, c) by m | mv-expand m.k to typeof(long) | parse kind=regex s with * 'x' f:long | where a in~ ('b', dynamic({'k': [1]})) // end";
  for (let offset = 0; offset <= text.length; offset += 1) {
    const { from, to } = complete(text, offset, environment);
    expect([from <= offset, offset <= to]).toEqual([true, true]);
  }
});

test('offers functions that the local service lacks only for other services', () => {
  const offered = (hasAllFunctions: boolean) =>
    complete('print geo_info_from', 19, { ...environment, hasAllFunctions }).items.map(({ label }) => label);
  expect(offered(true)).toEqual(['geo_info_from_ip_address']);
  expect(offered(false)).toEqual([]);
});

test('a value is followed by each operator of values once', () => {
  const { items } = complete('web | where status ', 19, environment);
  const words = ['contains', 'startswith', 'endswith', 'has', 'hasprefix', 'hassuffix'].flatMap(word =>
    ['', '_cs'].flatMap(end => [`${word}${end}`, `!${word}${end}`]),
  );
  expect(items.map(({ label }) => label)).toEqual([
    ...['==', '!=', '>', '>=', '<', '<=', '=~', '!~', 'and', 'or', ...words],
    ...['matches regex', '!matches regex', 'in', '!in', 'in~', '!in~'],
    ...['has_any', 'has_any_cs', 'has_all', 'has_all_cs'],
  ]);
});
