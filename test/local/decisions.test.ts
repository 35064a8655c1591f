import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sourcesIn } from '../setup/sources.js';
import { type Fixture, openQueries, secondsAgo } from './queries.js';

/** A query and its result: column names, a colon, and the rows as JSON; or the message that refuses it. */
type Case = readonly [apl: string, result: string];

const left = "datatable(k: long, v: string)[1, 'a', 1, 'b', 2, 'c']";
const right = "(datatable(k: long, w: string)[1, 'x', 1, 'y', 3, 'z'])";
const times =
  'datatable(t: datetime, v: long)[datetime(2026-03-04T05:00:30Z), 1, datetime(2026-03-04T05:02:30Z), 2]';

/** Decisions in docs/decisions/ about operators and the language itself, under the same titles. */
const points: Readonly<Record<string, readonly Case[]>> = {
  'null == null': [
    [
      'print a = long(null) == long(null), b = long(null) != 1, c = long(null) != long(null)',
      'a b c: [true,true,false]',
    ],
    ["print a = string(null) == '', b = long(null) == 0", 'a b: [false,false]'],
    ['datatable(a: long)[1, long(null)] | where a == long(null) | count', 'count: [1]'],
    [
      'datatable(a: long, b: long)[long(null), long(null), 1, long(null)] | project a == b, a != b',
      'a == b a != b: [false,false] [false,true]',
    ],
  ],
  'comparisons and text operators with null': [
    [
      "datatable(s: string)[string(null)] | project a = s contains 'a', b = s !contains 'a', c = s has 'a', d = s !has 'a', e = s in ('a'), f = s !in ('a'), g = s < 'b'",
      'a b c d e f g: [false,true,false,true,false,true,false]',
    ],
  ],
  'null keys of a join': [
    ['datatable(k: long)[1, long(null)] | join (datatable(k: long)[long(null), 1]) on k', 'k: [1]'],
  ],
  'kind=innerunique': [
    [`${left} | join kind=innerunique ${right} on k | sort by v asc`, 'k v w: [1,"a","x"] [1,"b","x"]'],
  ],
  'a join without a kind': [[`${left} | join ${right} on k | count`, 'count: [4]']],
  'names of both tables in join and lookup': [
    [
      "datatable(k: long, v: string)[1, 'a', 2, 'c'] | join kind=leftouter (datatable(k: long, v: string)[1, 'x']) on k | sort by k asc",
      'k v v1: [1,"a","x"] [2,"c",null]',
    ],
    [
      "datatable(k: long, v: string)[1, 'a'] | lookup (datatable(k: long, v: string)[1, 'x']) on k",
      'k v v1: [1,"a","x"]',
    ],
    [
      'datatable(k: long)[1] | join kind=fullouter (datatable(j: long)[1, 2]) on $left.k == $right.j | sort by j asc',
      'k j: [1,1] [null,2]',
    ],
  ],
  'hasprefix, hassuffix': [
    [
      "print a = 'x disk' hasprefix 'di', b = 'xdisk' hasprefix 'di', c = 'errorlog x' hassuffix 'log', d = 'logs x' hassuffix 'log'",
      'a b c d: [true,false,true,false]',
    ],
  ],
  'what a term is': [
    [
      "print a = 'foo_bar' has 'bar', b = 'foobar' has 'bar', c = 'foo.bar' has 'foo', d = 'a foo bar' has 'foo bar', e = 'a' has ''",
      'a b c d e: [true,false,true,true,false]',
    ],
    [
      "print a = '--' has '', b = '' has '', c = '- -' hasprefix '', d = '--' has_any ('', '', '', ''), e = '--' has_any (dynamic([''])), f = 'a' has_all ('a', '')",
      'a b c d e f: [false,false,false,false,false,false]',
    ],
    [
      "datatable(t: string)['', 'a'] | project a = '--' has t, b = '--' !has t, c = '--' has_any (t, 'x')",
      'a b c: [false,true,false] [false,true,false]',
    ],
  ],
  'direction of sort, place of nulls': [
    ['datatable(a: long)[2, long(null), 1] | sort by a', 'a: [2] [1] [null]'],
    ['datatable(a: long)[2, long(null), 1] | sort by a asc', 'a: [null] [1] [2]'],
    ['datatable(a: long)[2, long(null), 1] | sort by a asc nulls last', 'a: [1] [2] [null]'],
    ['datatable(a: long)[2, long(null), 1] | top 2 by a', 'a: [2] [1]'],
  ],
  'integer divided by integer': [
    ['print a = 7 / 2, b = -7 / 2, c = 7 / 2.0', 'a b c: [3,-3,3.5]'],
    ['datatable(x: long, y: long)[7, 2] | project a = x / y, b = -x / y', 'a b: [3,-3]'],
  ],
  'sign of %': [['print a = 7 % -3, b = -7 % 3, c = -7.5 % 2.0', 'a b c: [1,-1,-1.5]']],
  'integer overflow': [
    [
      'datatable(x: long)[9223372036854775807] | project a = x + 1, b = x * 2, c = -x - 2, d = x - -1',
      'a b c d: [null,null,null,null]',
    ],
    [
      'datatable(x: long)[9223372036854775807, 1] | summarize s = sum(x), m = avg(x)',
      's m: [null,4611686018427388000]',
    ],
  ],
  'division by zero': [
    [
      'print a = 1 / 0, b = 1 % 0, c = 1.0 / 0.0, d = 0.0 / 0.0, e = 1h / 0s',
      'a b c d e: [null,null,null,null,null]',
    ],
    ['datatable(x: long, y: long)[1, 0] | project a = x / y, b = x % y', 'a b: [null,null]'],
  ],
  'division of durations': [
    [
      'print a = 1h / 30m, b = 1h / 2, c = 1h % 25m, d = 2 * 1h',
      'a b c d: [2,1800000000000,600000000000,7200000000000]',
    ],
  ],
  'a string compared with a number': [
    ["print a = '1' == 1, b = '01' == 1, c = 'x' == 1, d = '9' < 10", 'a b c d: [true,false,false,true]'],
  ],
  'a value that extend-valid finds invalid': [
    [
      "print a = 0, b = 'x', c = 5 | extend-valid b = a, d = toint('zz'), e = c / 0, f = c, g = ''",
      'a c b d e f g: [0,5,null,null,null,5,null]',
    ],
  ],
  'items of one extend or project': [
    ['datatable(a: long, b: long)[1, 2] | extend a = 5, c = a + 1', 'b a c: [2,5,2]'],
    ['datatable(a: long, b: long)[1, 2] | extend a = b, b = a', 'a b: [2,1]'],
  ],
  'the same name twice': [
    ['datatable(a: long)[1] | project a, a', 'a a1: [1,1]'],
    ['print a = 1, a = 2', 'a a1: [1,2]'],
    ['datatable(a: long)[1] | extend b = 1, b = 2', 'a b: [1,2]'],
  ],
  'a let name defined twice': [['let x = 1; let x = 2; print x', 'x: [2]']],
  'default sizes of make_set, make_list and their if forms': [
    [
      'range x from 1 to 1000 step 1 | summarize s = make_set(x), t = make_set_if(x, true), l = make_list(x), m = make_list_if(x, true) | project array_length(s), array_length(t), array_length(l), array_length(m)',
      'array_length(s) array_length(t) array_length(l) array_length(m): [128,1000,1000,1000]',
    ],
    [
      'range x from 1 to 1000 step 1 | summarize s = make_set(x, 500) | project n = array_length(s)',
      'n: [500]',
    ],
  ],
  'aggregates of no rows': [
    [
      'datatable(x: long)[] | summarize c = count(), d = dcount(x), s = sum(x), a = avg(x), m = max(x), l = make_list(x), v = stdev(x)',
      'c d s a m l v: [0,0,0,null,null,[],null]',
    ],
  ],
  'nulls in aggregates': [
    [
      'datatable(x: long)[1, long(null), 3] | summarize c = count(), d = dcount(x), s = sum(x), a = avg(x), l = make_list(x), t = make_set(x)',
      'c d s a l t: [3,2,4,2,[1,3],[1,3]]',
    ],
  ],
  'arg_max of nulls only': [
    ["datatable(x: long, y: string)[long(null), 'a'] | summarize arg_max(x, y)", 'x y: [null,null]'],
  ],
  'stdev and variance': [
    [
      'datatable(x: long)[1, 2, 3, 4] | summarize v = variance(x), s = stdev(x)',
      'v s: [1.6666666666666667,1.2909944487358056]',
    ],
    ['datatable(x: long)[5] | summarize v = variance(x), s = stdev(x)', 'v s: [null,null]'],
    [
      'range i from 0 to 99999 step 1 | extend x = 1700000000000 + (i * 7919) % 1009 | summarize v = round(variance(x), 3), s = round(stdev(x), 3)',
      'v s: [84841.942,291.276]',
    ],
  ],
  'interpolation of percentiles': [
    [
      'datatable(x: long)[1, 2, 3, 4] | summarize a = percentile(x, 50), b = percentile(x, 25), c = percentile(x, 100)',
      'a b c: [2.5,1.75,4]',
    ],
  ],
  'second argument and shape of histogram': [
    [
      'datatable(x: long)[1, 2, 3, 10] | summarize h = histogram(x, 3)',
      'h: [[{"from":1.0,"to":4.0,"count":3},{"from":4.0,"to":7.0,"count":0},{"from":7.0,"to":10.0,"count":1}]]',
    ],
  ],
  'shape of topk': [
    [
      "datatable(x: string)['a', 'b', 'a', 'c', 'b', 'a'] | summarize topk(x, 2)",
      'x count_: ["a",3] ["b",2]',
    ],
    [
      "datatable(k: long, x: string)[1, 'a', 1, 'a', 1, 'b', 2, 'c'] | summarize topk(x, 1) by k | sort by k asc",
      'k x count_: [1,"a",2] [2,"c",1]',
    ],
  ],
  'score and shape of spotlight': [
    [
      "range i from 1 to 20 step 1 | extend x = iff(i > 10, 'a', 'b'), ok = i > 10, y = 1 | summarize s = spotlight(ok, x, y, ok)",
      's: [[{"field":"x","score":1.0,"values":[{"value":"a","selected":1.0,"baseline":0.0},{"value":"b","selected":0.0,"baseline":1.0}]},{"field":"y","score":0.0,"values":[{"value":"1","selected":1.0,"baseline":1.0}]},{"field":"ok","score":0.0,"values":[],"note":"left out: the condition reads it"}]]',
    ],
  ],
  'time column and anchor of make-series': [
    [
      `${times} | make-series sum(v) on t from datetime(2026-03-04T05:00:10Z) to datetime(2026-03-04T05:03:10Z) step 1m`,
      'sum_v t: [[1,0,2],["2026-03-04T05:00:10Z","2026-03-04T05:01:10Z","2026-03-04T05:02:10Z"]]',
    ],
    [
      `${times} | make-series s = sum(v) default = -1 on t step 30m`,
      's t: [[-1,3],["2026-03-04T04:06:07Z","2026-03-04T04:36:07Z"]]',
    ],
  ],
  'mv-expand of null, an empty array, a map, a single value': [
    [
      'datatable(a: dynamic, i: long)[dynamic([1,2]), 1, dynamic([]), 2, dynamic(null), 3, dynamic({"k":1}), 4, \'x\', 5] | mv-expand a | sort by i asc, tostring(a) asc | project i, a',
      'i a: [1,1] [1,2] [2,null] [3,null] [4,{"k":1}] [5,"x"]',
    ],
  ],
  'union of fields whose types differ': [
    [
      "datatable(a: long)[1] | union (datatable(a: string)['x']) | extend t = gettype(a) | sort by t asc",
      'a t: [1,"long"] ["x","string"]',
    ],
    ['datatable(a: long)[1] | union (datatable(a: real)[2.5]) | sort by a asc', 'a: [1] [2.5]'],
    [
      "datatable(a: long)[1] | union (datatable(b: string)['x']) | sort by b desc",
      'a b: [null,"x"] [1,null]',
    ],
  ],
  'parse takes as little as it can': [
    ["print s = 'a=1 b=2 c=3' | parse s with 'a=' x ' ' y", 's x y: ["a=1 b=2 c=3","1","b=2 c=3"]'],
    ["print s = 'k: v: w' | parse s with k ': ' v", 's k v: ["k: v: w","k","v: w"]'],
  ],
  'parse of a text that does not fit': [
    ["print s = 'nope' | parse s with 'a=' x", 's x: ["nope",null]'],
    ["print s = 'k: zz v' | parse s with * ': ' v: long ' ' rest", 's v rest: ["k: zz v",null,null]'],
  ],
  '`geo.city` written bare': [
    [`print geo = dynamic({"city":"Bern"}) | project geo.city`, 'geo.city: ["Bern"]'],
    [
      `datatable(['geo.city']: string, geo: dynamic)['flat', dynamic({"city":"map"})] | project a = geo.city, b = geo['city']`,
      'a b: ["flat","map"]',
    ],
    [
      `datatable(['geo.city']: string, ['a.b']: dynamic)['flat', dynamic({"c":[7]})]
       | summarize n = count() by city = ['geo']['city'], c = tolong(a['b']['c'][0]), g = geo['city']`,
      'city c g n: ["flat",7,"flat",1]',
    ],
  ],
  'names of columns without a name': [
    ['print 1, 2', 'print_0 print_1: [1,2]'],
    [
      'datatable(x: long)[1] | summarize count(), avg(x), percentile(x, 50), percentile(x, 95)',
      'count_ avg_x percentile_x percentile_x1: [1,1,1,1]',
    ],
    ['datatable(x: long)[1] | project x + 1, strlen(tostring(x))', 'x + 1 strlen(tostring(x)): [2,1]'],
    ['datatable(x: long)[1, 2] | count', 'count: [2]'],
  ],
  'a limit below zero': [
    ['datatable(a: long)[1] | limit -1', 'the limit must be a non-negative integer'],
    ['datatable(a: long)[1] | limit 0', 'a: '],
  ],
  'arithmetic of dynamic numbers': [
    [
      "print a = tolong(parse_json('[9007199254740993]')[0]), b = parse_json('[1]')[0] + 1, c = gettype(parse_json('[1]')[0] + 1)",
      'a b c: [9007199254740993,2,"real"]',
    ],
  ],
  'a time plus a number': [
    ['print datetime(2026-01-01) + 1', '`+` cannot be applied to a time and an integer'],
  ],
};

const logs: Fixture = {
  open: false,
  fields: [
    { name: '_time', type: 'datetime' },
    { name: 'n', type: 'long' },
  ],
  rows: [
    [secondsAgo(30), '1'],
    [secondsAgo(10), '2'],
    [secondsAgo(20), '3'],
  ],
};

const queries = openQueries({ logs });

async function resultOf(apl: string): Promise<string> {
  const outcome = await queries.run(apl);
  if (!outcome.ok) return outcome.diagnostics.map(each => each.message).join('\n');
  const names = outcome.ran.table.fields.map(field => field.name).join(' ');
  return `${names}: ${outcome.ran.rows.map(row => `[${row.join(',')}]`).join(' ')}`;
}

describe.each(Object.entries(points))('%s', (_, cases) => {
  test.each(cases)('%s', async (apl, result) => {
    expect(await resultOf(apl)).toBe(result);
  });
});

test('default limit and order', async () => {
  const outcome = await queries.run('logs');
  if (!outcome.ok) throw new Error('the query is refused');
  const { table, rows } = outcome.ran;
  expect([table.order, table.rowLimit]).toEqual([
    [{ field: '_time', desc: true }],
    { rows: 1000, reason: 'default' },
  ]);
  expect(rows.map(row => row[1])).toEqual(['2', '3', '1']);
});

const chapters = new URL('../../docs/decisions/', import.meta.url);
const rows = readdirSync(chapters).flatMap(file =>
  readFileSync(new URL(file, chapters), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| id '))
    .map(line => ({ file, cells: line.slice(2, -2).split(' | ') })),
);
const ids = rows.map(({ cells }) => cells[0] ?? '');

test('each row has a unique id of its chapter, and the index names each chapter', () => {
  const index = readFileSync(new URL('../decisions.md', chapters), 'utf8');
  const named = [...index.matchAll(/\(decisions\/(\w+)\.md\) \| D-(\w+) \|/g)].map(found => found.slice(1));
  expect(named.map(([file, id]) => [`${file}.md`, id]).sort()).toEqual(
    readdirSync(chapters)
      .sort()
      .map(file => [file, file.replace('.md', '')]),
  );
  expect(
    rows.filter(
      ({ file, cells }) =>
        !/^D-\w+-[1-9]\d*$/.test(cells[0] ?? '') || !cells[0]?.startsWith(`D-${file.replace('.md', '')}-`),
    ),
  ).toEqual([]);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test('every decision id cited in code and tests exists', () => {
  const known = new Set(ids);
  const cited = sourcesIn('kernel', 'labextension/src', 'test', 'bench', 'scripts').flatMap(file =>
    [...file.text.matchAll(/\bD-[a-z]+-\d+\b/g)].map(([id]) => [file.path, id] as const),
  );
  expect(cited.filter(([, id]) => !known.has(id))).toEqual([]);
});

test('every point tested here has a row in docs/decisions', () => {
  const titles = new Set(rows.map(({ cells }) => cells[1]));
  expect([...Object.keys(points), 'default limit and order'].filter(point => !titles.has(point))).toEqual([]);
});

describe('a row of docs/decisions has every column and cites existing tests', () => {
  test.each(rows.map(({ cells }) => [`${cells[0]}: ${cells[1]}`, cells] as const))('%s', (_, row) => {
    expect(row.length).toBe(5);
    for (const place of row[4]?.split(/; (?=\S+\.(?:test\.ts|txt): )/) ?? []) {
      const [, file, titles] = /^(\S+): (.+)$/.exec(place) ?? [];
      const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
      for (const title of titlesIn(titles ?? ''))
        expect([file, source]).toEqual([file, expect.stringContaining(title)]);
    }
  });
});

/** Splits titles of decisions or suites, or functions: `f`, `g(1)`. */
function titlesIn(titles: string): string[] {
  const quoted = titles.match(/`[^`]+`/g);
  if (quoted === null) return [titles];
  if (Object.hasOwn(points, titles)) return [titles];
  return quoted.map(each => each.slice(1, -1).replace(/\(.*$/, ''));
}
