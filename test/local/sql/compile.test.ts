import { describe, expect, test } from 'vitest';
import type { QueryRequest } from '../../../kernel/api/wire.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { everyType } from '../../apl/queries.js';
import { now, openQueries, secondsAgo, start } from '../queries.js';

const none = {
  names: () => [],
  schema: () => undefined,
  scan: (name: string): string => {
    throw new RangeError(`there is no dataset ${name}`);
  },
};

function compile(request: QueryRequest) {
  const result = compileRequest(request, none, now);
  if (!result.ok) throw new Error(result.diagnostics.map(each => each.message).join('; '));
  return result.compiled;
}

function refusal(request: QueryRequest): string {
  const result = compileRequest(request, none, now);
  return result.ok ? '' : result.diagnostics.map(each => `${each.code}: ${each.message}`).join('; ');
}

describe('the window of a request', () => {
  const hour = 3_600_000_000_000n;
  const lastDay = 106_751n * 24n * hour;
  const cases: readonly (readonly [
    start: string | undefined,
    end: string | undefined,
    from: bigint,
    to: bigint,
  ])[] = [
    [undefined, undefined, start, now],
    ['now-2h', undefined, now - 2n * hour, now],
    ['now-2h', 'now-1h', now - 2n * hour, now - hour],
    ['now', 'now+1h', now, now + hour],
    ['now-1h', 'now-1h', now - hour, now - hour],
    ['2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z', 1_767_312_000_000_000_000n, 1_767_398_400_000_000_000n],
    // The last possible time is inside a window that ends with it.
    ['2262-04-11T00:00:00Z', '2262-04-11T23:47:16.854775805Z', lastDay, 2n ** 63n - 3n],
    ['2262-04-11T00:00:00Z', '2262-04-11T23:47:16.854775806Z', lastDay, 2n ** 63n - 1n],
  ];
  test.each(cases)('%s to %s', (startTime, endTime, from, to) => {
    const { range } =
      compile({ apl: 'print 1', ...(startTime && { startTime }), ...(endTime && { endTime }) }).tables[0] ??
      {};
    expect(range).toEqual({ field: '_time', start: from, end: to });
  });
  test('is refused if it is unreadable or ends before it starts', () => {
    expect(refusal({ apl: 'print 1', startTime: 'soon' })).toBe(
      'bad-time: startTime "soon" cannot be used: it is neither RFC 3339 nor relative',
    );
    expect(refusal({ apl: 'print 1', startTime: 'now', endTime: 'now-1h' })).toBe(
      'bad-time: startTime "now" cannot be used: it is after endTime',
    );
  });
  test.each<readonly [name: string, value: string]>([
    ['startTime', '1600-01-01T00:00:00Z'],
    ['startTime', '9999-12-31'],
    ['endTime', '2300-01-01T00:00:00Z'],
    ['endTime', 'now+2100000h'],
    ['queryOptions.now', '1600-01-01T00:00:00Z'],
  ])('%s %s is refused as out of range', (name, value) => {
    const request = name === 'queryOptions.now' ? { queryOptions: { now: value } } : { [name]: value };
    expect(refusal({ apl: 'print 1', ...request })).toBe(
      `bad-time: ${name} "${value}" cannot be used: it is outside of 1677-09-22 to 2262-04-11`,
    );
  });
});

describe('a histogram', () => {
  const catalog: DatasetCatalog = {
    names: () => ['web', 'made'],
    schema: name => ({ name, open: false, fields: [{ name: 'x', type: 'real' }] }),
    scan: () => 'SELECT f0 FROM files',
    rowGroups: name =>
      name === 'made' ? [{ rows: 9, minNs: 0n, maxNs: 9n, timed: true, computed: true }] : [],
  };
  function sqlOf(apl: string): string {
    const result = compileRequest({ apl }, catalog, now);
    if (!result.ok) throw new Error(result.diagnostics.map(each => each.message).join('; '));
    return result.compiled.tables[0]?.sql ?? '';
  }
  test.each<readonly [apl: string, reads: 'twice' | 'once']>([
    ['web | summarize histogram(x, 3)', 'twice'],
    ['web | summarize count(), histogramif(x, 3, x > 1)', 'twice'],
    ['web | where x > 1 | summarize histogram(x, 3)', 'once'],
    ['web | summarize histogram(x * rand(), 3)', 'once'],
    ['made | summarize histogram(x, 3)', 'once'],
    ['web | summarize histogram(x, 3) by bin(x, 10)', 'twice'],
    ['web | summarize histogramif(x, 3, x > 1), count() by x', 'twice'],
    ['web | summarize histogram(x, 3) by rand()', 'once'],
    ['web | where x > 1 | summarize histogram(x, 3) by bin(x, 10)', 'once'],
  ])('%s reads the rows %s and builds no list', (apl, reads) => {
    const sql = sqlOf(apl);
    expect(sql).not.toContain('apl_histogram(');
    expect(/ (NOT )?MATERIALIZED \(SELECT [^\n]*::DOUBLE (?:END )?AS x /.exec(sql)?.[1]).toBe(
      reads === 'twice' ? 'NOT ' : undefined,
    );
  });
  test('uses a list for each bin of a series', () => {
    expect(
      sqlOf('web | extend at = tolong(x) | make-series histogram(x, 3) on at from 0 to 9 step 3'),
    ).toContain('apl_histogram(list(');
  });
});

test.each<readonly [apl: string, whole: boolean]>([
  ['range x from 1 to 9 step 1 | summarize count() by x', true],
  ['range x from 1 to 9 step 1 | summarize n = count() by x | where n > 1 | extend m = n | top 3 by m', true],
  ['range x from 1 to 9 step 1 | summarize count() by x | mv-expand y = dynamic([1, 2]) | limit 5000', false],
  ['range x from 1 to 9 step 1 | where x > 2', false],
  ['range x from 1 to 9 step 1 | where x > 2 | limit 1000', true],
  ['range x from 1 to 9 step 1 | where x > 2 | limit 1001', false],
  ['print x = 1 | extend y = 2', true],
])('%s: the engine may hold all rows: %s', (apl, whole) => {
  expect(compile({ apl }).tables[0]?.whole).toBe(whole);
});

test('members of a value that an aggregate reads for every row are read in one pass, up to eight', () => {
  const sqlOf = (apl: string): string =>
    compile({ apl: `datatable(s:string)['{}'] | extend a = parse_json(s) | where isnotnull(a) | ${apl}` })
      .tables[0]?.sql ?? '';
  const lists = (apl: string) =>
    [...new Set(sqlOf(apl).match(/json_extract\(c\d+, \[.*?\]\)/g))].map(list => list.split(', ').length - 1);
  const sums = (count: number) =>
    Array.from({ length: count }, (_, index) => `sum(toint(a.m${index}))`).join(', ');
  expect(lists(`summarize ${sums(1)}`)).toEqual([]);
  expect(lists(`summarize ${sums(2)}`)).toEqual([2]);
  expect(lists(`summarize ${sums(19)}`)).toEqual([8, 8, 3]);
  // Rows that a filter or a limit leaves out need not have all members.
  expect(lists('project k = a.k, l = a.l | where isnotnull(k) | limit 3')).toEqual([]);
});

test.each(["'gold' in (a)", "set_has_element(a, 'gold')"])(
  'in `%s`, an array without maps, arrays and escapes is searched, not parsed',
  condition => {
    const apl = `datatable(s:string)['x'] | extend a = parse_json(s) | where isnotnull(a) | where ${condition}`;
    expect(compile({ apl }).tables[0]?.sql).toMatch(
      /CASE WHEN apl_shows_elements\(.*\) THEN true ELSE list_contains\(apl_plain_texts\(/,
    );
  },
);

test.each<readonly [above: string, held: readonly string[]]>([
  ['join (other) on x | take 2', ['LIMIT 3']],
  ['where x in ((other)) | take 2', ['LIMIT 3']],
  ['where x > 1 | take 2', []],
])('in `take 3 | %s`, limits below a join are materialized: %j', (above, held) => {
  const numbers = 'range x from 1 to 9 step 1';
  const { sql = '' } =
    compile({ apl: `let other = ${numbers}; ${numbers} | take 3 | ${above}` }).tables[0] ?? {};
  expect([...sql.matchAll(/ AS MATERIALIZED \(.* (LIMIT \d+)\),?$/gm)].map(([, limit]) => limit)).toEqual(
    held,
  );
  expect(sql).toContain(' LIMIT 2)');
});

describe('the lowest limit wins, and on a tie the one nearest to the user', () => {
  test.each<readonly [apl: string, defaultLimit: number | undefined, rows: number, reason: string]>([
    ['range x from 1 to 9 step 1', undefined, 1_000_000, 'server'],
    ['range x from 1 to 9 step 1', 5, 5, 'request'],
    ['range x from 1 to 9 step 1', 1_000_000, 1_000_000, 'request'],
    ['range x from 1 to 9 step 1', 1_000_001, 1_000_001, 'request'],
    ['range x from 1 to 9 step 1', 10_000_000, 10_000_000, 'request'],
    ['range x from 1 to 9 step 1', 10_000_001, 10_000_000, 'server'],
    ['range x from 1 to 9 step 1 | limit 2000000', undefined, 2_000_000, 'server'],
    ['range x from 1 to 9 step 1 | limit 20000000', undefined, 10_000_000, 'server'],
    ['range x from 1 to 9 step 1 | sort by x | limit 2000000', undefined, 2_000_000, 'query'],
    ['range x from 1 to 9 step 1 | sort by x | limit 20000000', undefined, 10_000_000, 'server'],
    ['range x from 1 to 9 step 1 | limit 2000000 | where x > 1 | extend y = x', 5, 5, 'request'],
    ['range x from 1 to 9 step 1 | limit 2000000 | mv-expand y = range(1, x)', undefined, 1000, 'default'],
    ['range x from 1 to 9 step 1 | limit 7', undefined, 1_000_000, 'server'],
  ])('%s with %s', (apl, defaultLimit, rows, reason) => {
    const request = { apl, ...(defaultLimit === undefined ? {} : { defaultLimit }) };
    expect(compile(request).tables[0]?.rowLimit).toEqual({ rows, reason });
  });
});

test.each<readonly [apl: string, limited: boolean]>([
  ['kept | where a > 1', false],
  ['kept | where a > 1 | extend b = a | project b', false],
  ['kept | mv-expand b = pack_array(a, a)', true],
  ['more | where a > 1', true],
  ['other | where a > 1', true],
])('the engine gets a limit only if it could be exceeded: %s', (apl, limited) => {
  const rows = { kept: 1_000_000, more: 1_000_001 } as Readonly<Record<string, number>>;
  const schema = (name: string) => ({
    name,
    fields: [{ name: 'a', type: 'long' as const }],
    open: false,
  });
  const scan = () => 'SELECT 1::BIGINT AS f0';
  const catalog = { ...none, schema, scan, mostRows: (name: string) => rows[name] };
  const result = compileRequest({ apl, defaultLimit: 1_000_000 }, catalog, now);
  const [table] = result.ok ? result.compiled.tables : [];
  expect(table?.sql).toMatch(limited ? /LIMIT 1000001/ : /^(?!.*LIMIT)/s);
  expect(table?.rowLimit?.rows).toBe(1_000_000);
});

test.each([
  'sort by n desc | summarize make_list(s)',
  'sort by n desc | project s | summarize make_list(s)',
  "sort by n desc | project s | where s != 'c' | extend t = s | project t | summarize make_list(t)",
  "sort by n desc | where s != 'c' | summarize make_list(s)",
  'sort by n desc | limit 3 | summarize make_list(s)',
  'sort by n desc | summarize make_list(s) by one = 1',
])('order-dependent aggregates get the row order, whatever else is read: %s', stages => {
  const { sql } =
    compile({ apl: `datatable(s:string, n:long)['b',2, 'c',3, 'a',1] | ${stages}` }).tables[0] ?? {};
  expect(sql).toMatch(/list\([^()]*(?:\([^()]*\)[^()]*)* ORDER BY c\d+ DESC/);
});

describe('variables of a request', () => {
  const declared = 'declare query_parameters(n:long, d:timespan = 1h); print n, d';
  const cases: readonly (readonly [variables: Record<string, unknown>, expected: string])[] = [
    [{ n: 5 }, ''],
    [{ n: '5' }, ''],
    [{ n: 5, d: '2h' }, ''],
    [{ n: 'five' }, 'parameter: the parameter `n` cannot be "five": its type is long'],
    [{ n: 5, d: 'soon' }, 'parameter: the parameter `d` cannot be "soon": its type is timespan'],
    [{}, 'parameter: the parameter `n` has no value and no default'],
  ];
  test.each(cases)('%j', (variables, expected) => {
    expect(refusal({ apl: declared, variables })).toBe(expected);
  });
});

describe('column names stay out of the SQL', () => {
  test.each(['"; DROP TABLE x; --', "it's", 'a\nb', 'ключ', '\\'])('%j', name => {
    const quoted = JSON.stringify(name);
    const { tables } = compile({
      apl: `print [${quoted}] = 1 | where [${quoted}] > 0 | summarize count() by [${quoted}]`,
    });
    expect(tables[0]?.fields.map(field => field.name)).toEqual([name, 'count_']);
    expect(tables[0]?.sql.includes(name)).toBe(false);
  });
});

test('an error about a constant points at the constant', () => {
  const apl = "let p = '(b'; print 'abc' | extend x = print_0 matches regex '[', y = extract(p, 1, print_0)";
  const result = compileRequest({ apl }, none, now);
  const [found] = result.ok ? [] : result.diagnostics;
  expect(found && apl.slice(found.from, found.to)).toBe("'['");
});

test.each(['where * has "x"', 'where * !hasprefix "x"', 'search "x"'])(
  '%s uses one pattern for any number of fields',
  apl => {
    const fields = Array.from({ length: 50 }, (_, index) => `f${index} = "a"`);
    const { sql } = compile({ apl: `print ${fields.join(', ')} | ${apl}` }).tables[0] ?? { sql: '' };
    expect(sql.match(/regexp_matches/g)).toHaveLength(1);
  },
);

describe('terms of one field are matched together', () => {
  const { run } = openQueries();
  test.each<readonly [what: string, word: string, found: readonly string[], patterns: number]>([
    ['if joined by or', ' or ', ['GET /a', 'b c'], 1],
    ['if case-sensitive', ' or ', ['b c'], 1],
    ['but not if joined by and', ' and ', [], 4],
  ])('%s', async (what, word, found, patterns) => {
    const suffix = what === 'if case-sensitive' ? '_cs' : '';
    const terms = ['get', 'c', 'x', 'y', ''].map(each => `s has${suffix} '${each}'`).join(word);
    const outcome = await run(`datatable(s:string)['GET /a', 'b c', 'xy', ''] | where ${terms}`);
    if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
    expect(outcome.ran.rows.flat().map(each => JSON.parse(each))).toEqual(found);
    expect(outcome.ran.table.sql.match(/regexp_matches/g)).toHaveLength(patterns);
  });
});

describe('many tests of one field become one list', () => {
  const { run } = openQueries();
  const table =
    'datatable(n:long, s:string)[1,"1", 5,"x", 17,"17", 40,"40", null,null]\n| extend j = dynamic([n])[0], p = dynamic({"a": {"b": n}})\n| where ';
  const many = (count: number, test: (n: number) => string, word: string): string =>
    Array.from({ length: count }, (_, index) => test(index + 1)).join(` ${word} `);
  const numbers = many(20, n => `n == ${n}`, 'or');
  test.each<readonly [what: string, apl: string, lists: number, found: readonly string[]]>([
    ['not of fewer than 16', many(15, n => `n == ${n}`, 'or'), 0, ['1', '5']],
    ['of 16 tests', many(16, n => `n == ${n}`, 'or'), 1, ['1', '5']],
    ['of strings compared with numbers', many(20, n => `s == ${n}`, 'or'), 1, ['1', '17']],
    ['of a dynamic value compared with strings', many(20, n => `j == '${n}'`, 'or'), 1, ['1', '5', '17']],
    [
      'of case-insensitive tests',
      `s == 'X' or ${many(20, n => `s =~ '${n}X'`, 'or')} or ${many(17, () => "s =~ 'X'", 'or')}`,
      1,
      ['5'],
    ],
    ['of a property', many(20, n => `p.a['b'] == '${n}'`, 'or'), 1, ['1', '5', '17']],
    [
      'not of two alternating properties',
      many(20, n => `p.a['b'] == '${n}' or p.a['c'] == '${n}'`, 'or'),
      0,
      ['1', '5', '17'],
    ],
    ['of a function result', many(20, n => `tolower(tostring(n)) == '${n}'`, 'or'), 1, ['1', '5', '17']],
    ['of strings', many(20, n => `s == '${n}'`, 'or'), 1, ['1', '17']],
    [
      'twice, around a test of another field',
      `${numbers} or s == '40' or ${numbers}`,
      2,
      ['1', '5', '17', '40'],
    ],
    ['before another condition', `${numbers} or isnull(n)`, 1, ['1', '5', '17', 'null']],
    ['negated', `not(${numbers})`, 1, ['40', 'null']],
    ['of inequalities', many(20, n => `s != '${n}'`, 'and'), 1, ['5', '40', 'null']],
    [
      'of inequalities before another condition',
      `${many(20, n => `n != ${n}`, 'and')} and isnotnull(n)`,
      1,
      ['40'],
    ],
  ])('%s', async (_, apl, lists, found) => {
    const outcome = await run(`${table}${apl}\n| project n`);
    if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
    expect(outcome.ran.rows.flat()).toEqual(found);
    expect(outcome.ran.table.sql.split(' IN (').length - 1).toBe(lists);
  });
});

test('nesting does not multiply the size of the query', () => {
  const nested = (depth: number): string => {
    let text = 'j.a';
    for (let level = 0; level < depth; level += 1) text = `bin(parse_json(tostring(${text})) % (1 + j.b), 1)`;
    return `${everyType}T | extend x = ${text}`;
  };
  const size = (depth: number): number => compile({ apl: nested(depth) }).tables[0]?.sql.length ?? 0;
  const step = size(3) - size(2);
  expect(size(12) - size(11)).toBeLessThan(2 * step);
});

describe('rows', () => {
  const many = {
    open: false,
    fields: [
      { name: '_time', type: 'datetime' as const },
      { name: 'n', type: 'long' as const },
    ],
    rows: Array.from({ length: 1_200 }, (_, index) => [secondsAgo(1_300 - index), String(index)]),
  };
  const { run } = openQueries({ many });

  async function firstAndCount(apl: string): Promise<readonly [string | undefined, number]> {
    const outcome = await run(apl);
    return outcome.ok ? [outcome.ran.rows[0]?.at(-1), outcome.ran.rows.length] : ['refused', 0];
  }

  const cases: readonly (readonly [apl: string, first: string, count: number])[] = [
    ['many', '1199', 1_000],
    ['many | project n', '1199', 1_000],
    ['many | project x = n | where x < 1100', '1099', 1_000],
    ['many | sort by n asc', '0', 1_000],
    ['many | summarize by n | sort by n asc', '0', 1_200],
  ];
  test.each(cases)('%s', async (apl, first, count) => {
    expect(await firstAndCount(apl)).toEqual([first, count]);
  });
});
