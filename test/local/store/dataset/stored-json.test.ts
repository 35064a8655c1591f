import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { copyToParquet, type FileField } from '../../../../kernel/local/engine/engine-parquet.js';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import { now, openQueries, start } from '../../queries.js';
import { sharedStore } from './stores.js';

let catalog: DatasetCatalog | undefined;

const { rows } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('there are no files yet');
  return catalog;
});

const values = [
  ...['1', '3', '-0', '2.5', '2.0', '-7.9', '15e-1', '2e3', '1E2', '9007199254740993', '9223372036854775807'],
  ...[
    '9223372036854775808',
    '-9223372036854775808',
    '12345678901234567890',
    '1e300',
    '0.1',
    '100000000000000000000.5',
  ],
  ...[
    '"a"',
    '"12"',
    '"1.5"',
    '" 7"',
    '"true"',
    '"2026-01-01"',
    '"1h"',
    '"nan"',
    '"a\\nb c"',
    '"É x"',
    '""',
    '"null"',
  ],
  ...[
    'true',
    'false',
    '[]',
    '{}',
    '[1,"a",null,2.0]',
    '["a","b.c"]',
    '[[1],[2]]',
    '{"k":1}',
    '{"k":{"b":"x"},"a.b":2.50}',
  ],
  ...['{"k":null,"x":[3]}', '{"k":"1.0"}', ' [ 1 ] ', ' {"k": 2}'],
];

/** Values to search for terms. */
const searched = [
  ...[
    '"name"',
    '"\\name"',
    '"a\\name"',
    '"\\u006eame"',
    '"x name y"',
    '["NAME",{"k":"b\\tname"}]',
    '"c\\/d"',
    '"c/d"',
    '["/d e"]',
  ],
  ...[
    '{"key name":[null,true]}',
    '"surname"',
    '"names"',
    '"\\u000e9 x"',
    '"e9 x"',
    '"É x"',
    '"\\u00c9 x"',
    '"é-x"',
    '"12:name"',
    'null',
  ],
  ...[' [ true ] ', '[1e5, "n-1"]', '{"a": "n-1\\\\name"}', '"\\"name\\""', '"N-1"', '[ "n", null ]'],
];

const fieldOf = (name: string, type: FileField['type']): FileField => ({ name, type, column: name });
const base = [fieldOf('_time', 'datetime'), fieldOf('i', 'long')];
/** No two files have the same numbers. */
const rowsOf = (all: readonly string[]) =>
  all.map((value, at) => `(${all.length * 100 + at}, ${sqlText(value)})`).join(', ');
const selectOf = (all: readonly string[]) =>
  `SELECT make_timestamp_ns(${start} + i) AS _time, i::BIGINT AS i, d FROM (VALUES ${rowsOf(all)}, (${all.length * 100 + 99}, NULL)) t(i, d)`;
const jsonOf = (all: readonly string[]) => selectOf(all).replace('i, d FROM', 'i, d::JSON AS d FROM');
const typed = jsonOf(values);

/** Files of each dataset, and the fields whose JSON is scanned as a string. */
const datasets: Readonly<
  Record<
    string,
    readonly [files: readonly (readonly [string, readonly FileField[]])[], stored: readonly string[]]
  >
> = {
  one: [[[selectOf(values), [...base, fieldOf('d', 'dynamic')]]], ['d']],
  two: [
    [
      [selectOf(values.slice(0, 9)), [...base, fieldOf('d', 'dynamic')]],
      [selectOf(values.slice(9)), [...base, fieldOf('d', 'dynamic')]],
      [selectOf(['1']).replace(' d FROM', ' 1 AS other FROM'), [...base, fieldOf('other', 'long')]],
    ],
    ['d'],
  ],
  // As other writers have it, which the engine reads as JSON.
  typed: [[[typed, [...base, fieldOf('d', 'dynamic')]]], ['d']],
  mixed: [
    [
      [selectOf(values), [...base, fieldOf('d', 'dynamic')]],
      [selectOf(['1']).replace(' d FROM', ' 5 AS d FROM'), [...base, fieldOf('d', 'long')]],
    ],
    [],
  ],
  searched: [[[selectOf(searched), [...base, fieldOf('d', 'dynamic')]]], ['d']],
  typedSearched: [[[jsonOf(searched), [...base, fieldOf('d', 'dynamic')]]], ['d']],
  divided: [
    [
      [selectOf(values), [...base, fieldOf('d', 'dynamic')]],
      [selectOf(['1']).replace(' d FROM', ` 'x' AS "d.k" FROM`), [...base, fieldOf('d.k', 'string')]],
    ],
    [],
  ],
};

sharedStore(async ({ dataDir, engine, store }) => {
  for (const [name, [files]] of Object.entries(datasets)) {
    const folder = path.join(dataDir, 'datasets', name);
    await mkdir(folder, { recursive: true });
    for (const [index, [select, fields]] of files.entries())
      await engine.run(copyToParquet(select, path.join(folder, `${index}.parquet`), { fields }));
  }
  catalog = await store.snapshot(...Object.keys(datasets));
});

/** Expressions of a dynamic value V. */
const expressions = [
  ...['tostring', 'toint', 'todouble', 'tobool', 'todatetime', 'totimespan', 'gettype', 'array_length'].map(
    name => `${name}(V)`,
  ),
  ...['isnull', 'isnotnull', 'isempty', 'isnotempty', 'isbool', 'isstring', 'isreal', 'ismap'].map(
    name => `${name}(V)`,
  ),
  ...[
    'V.k',
    'V.k.b',
    'V[0]',
    'V["a.b"]',
    'V[1][0]',
    'tostring(V.k)',
    'toint(V.k)',
    'todouble(V["a.b"])',
    'V[i]',
  ],
  ...[
    'V + 1',
    'V * 0.5',
    'strcat(V, "x")',
    'coalesce(V, 1)',
    'iff(i % 2 == 0, V, V.k)',
    'pack("a", V)',
    'bag_keys(V)',
  ],
  ...[
    'set_has_element(V, "a")',
    'set_has_element(V, 1)',
    'set_has_element(V, V.k)',
    'set_has_element(V, V)',
    'set_has_element(pack_array(V, "a"), V)',
    'array_index_of(V, "a")',
    'array_index_of(V, 2)',
    'array_index_of(V, V)',
    'array_index_of(pack_array(1, V), V)',
    'strcat_array(V, ",")',
    'strcat_array(V, tostring(V))',
    '"a" in (V)',
    '"A" in~ (V, "x")',
    '"a" !in (V, V.k)',
    '1 in (V)',
    'V in (V)',
    'V.k in (V, 1)',
    'V in (1, "a")',
    'V == 3',
    'V != "a"',
    'V > 2',
    'V < 2.5',
    '3 <= V',
  ],
  ...[
    'V has "a"',
    'V contains "b"',
    'V !has "a"',
    'V =~ "A"',
    'V startswith "a"',
    'V matches regex "[ab]"',
    'V == V',
  ],
  ...[
    'V.k == 1',
    'V.k == "1.0"',
    'strlen(V)',
    'array_concat(V, V)',
    'pack_array(V, V.k)',
    'dynamic_to_json(V)',
    'V < V.k',
  ],
  ...[
    'case(toint(V) > 2, "a", isnull(V), "b", gettype(V))',
    'toint(tostring(V)) + toint(V)',
    'not(isempty(V)) and V > 1',
  ],
];

const stages = [
  ...[
    'mv-expand V | project i, V',
    'mv-expand V to typeof(string) | project i, V',
    'mv-expand V to typeof(long) | project i, V',
    'mv-expand bagexpansion=array V | project i, V',
  ],
  ...[
    'sort by V asc | project i',
    'summarize count() by V',
    'distinct V',
    'summarize max(V), min(V), dcount(V)',
    'summarize max(V.k), min(V.k), arg_max(V.k, i), arg_min(V, i)',
    'sort by V.k asc, i asc | project i, V.k',
    'summarize count(), max(V) by V, toint(V) | where V != 2 | project V, V.k, pack("a", V)',
    'sort by V desc | distinct V | extend W = pack_array(V) | where toint(V) > 1',
    'summarize count() by bin(toint(V), 10), bin(todouble(V.k), 0.5)',
    'summarize dcount(i) by V, tostring(V) | summarize make_set(V), make_set(tostring(V))',
  ],
  ...[
    'sort by i asc | summarize make_list(V), make_set(V.k)',
    'summarize sum(toint(V)), avg(todouble(V)), countif(V has "a")',
  ],
  ...[
    'summarize arg_max(V, i) by gettype(V)',
    'where V > 1 | extend w = V | where isnotnull(w.k) or w > 2 | project i, w',
  ],
  ...['union (D | where V has "a") | summarize count() by tostring(V)', 'top 3 by V desc | project V'],
  ...['join kind=inner (D | project i, w = V) on i | where toint(V) == toint(w) | project i, V, w'],
  ...[
    'where V has "a" | count',
    'where toint(V) in (1, 3) | count',
    'where V.k == 1 or V[0] == 1 | project i, V',
  ],
  ...['extend V = V.k | where isnotnull(V) | project i, V, x = toint(V)', 'search "b.c" | count'],
  ...[
    'sort by i asc | extend p = prev(V) | project p, q = toint(p), r = toint(V)',
    'summarize topk(tostring(V), 3)',
  ],
];

const questions = [
  ...expressions.map(value => `project i, x = ${value} | sort by i asc`),
  ...expressions.map(value => `where tostring(${value}) != "1" | project i | sort by i asc`),
  ...stages.map(stage => `${stage} | limit 1000`),
];

test.each(Object.entries(datasets))(
  'a dynamic field of %s gives the same from a string',
  async (name, [, stored]) => {
    expect([...(catalog?.bounds?.(name)?.stored ?? [])]).toEqual(stored);
    const different: string[] = [];
    for (const question of questions) {
      // A computed value is JSON.
      const computed = `${name} | extend d = iff(i >= 0, d, d)`;
      const of = (dataset: string) =>
        `${dataset} | ${question.replaceAll('V', 'd').replaceAll(/\bD\b/g, dataset)}`;
      const answer = (apl: string) => rows(apl).catch(error => String(error.message));
      const [found, expected] = [await answer(of(name)), await answer(of(computed))];
      if (JSON.stringify(found) !== JSON.stringify(expected))
        different.push(`${question}: ${JSON.stringify(found)} ${JSON.stringify(expected)}`);
    }
    expect(different).toEqual([]);
  },
);

const terms = [
  'name',
  'NAME',
  'n',
  'ame',
  'e9 x',
  'É x',
  'c/d',
  '/d',
  'true',
  ' true',
  'null',
  'nul',
  'n-1',
  'N-1',
  '-1',
  'key name',
  'key',
  '1e5',
  'u006e',
  'x',
];
const operators = ['contains', 'has', 'hasprefix', 'hassuffix'].flatMap(name => [
  name,
  `${name}_cs`,
  `!${name}`,
]);

test.each(['searched', 'typedSearched'])('a search of %s finds what the text of a value has', async name => {
  const columns = operators.flatMap((operator, at) =>
    terms.flatMap((term, index) => [
      `a${at}_${index} = d ${operator} "${term}"`,
      `b${at}_${index} = strcat(tostring(d), "") ${operator} "${term}"`,
    ]),
  );
  const different: string[] = [];
  for (let at = 0; at < columns.length; at += 40) {
    const found = await rows(`${name} | sort by i asc | project ${columns.slice(at, at + 40).join(', ')}`);
    for (const [row, values] of found.entries())
      for (const [index, value] of values.entries())
        if (index % 2 === 0 && value !== values[index + 1])
          different.push(`${searched[row]}: ${columns[at + index]} is ${value}`);
    expect(found.length).toBe(searched.length + 1);
  }
  expect(different).toEqual([]);
});

test('members, numbers and elements are read without a cast to JSON', () => {
  const sqlOf = (apl: string) => {
    const result = compileRequest({ apl }, catalog as DatasetCatalog, now);
    return result.ok ? (result.compiled.tables[0]?.sql ?? '') : '';
  };
  for (const stage of [
    'where d.k == 1 | count',
    'where d > 2 | count',
    'summarize sum(toint(d)) by tostring(d)',
    'summarize dcount(d)',
    'sort by d asc | project i',
  ])
    expect(sqlOf(`one | ${stage}`), stage).not.toContain('::JSON');
  // Only the values of the result are parsed.
  for (const stage of ['summarize count() by d', 'distinct d', 'summarize max(d)'])
    expect(sqlOf(`one | ${stage}`), stage).not.toContain('"d"::JSON');
  expect(sqlOf('one | mv-expand d | summarize count() by tostring(d.k)')).not.toContain('"d"::JSON');
  expect(sqlOf('mixed | where d.k == 1 | count')).toContain('::JSON');
});
