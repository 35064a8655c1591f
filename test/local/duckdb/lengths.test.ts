import { expect, test } from 'vitest';
import { aggregates } from '../../../kernel/apl/catalog/aggregates.js';
import { functions } from '../../../kernel/apl/catalog/all-functions.js';
import { lengthClass } from '../../../kernel/local/duckdb/bounds/lengths.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

test('every function has a bounded result or a length check', () => {
  expect(
    functions.map(({ name }) => [name, lengthClass(name)]).filter(([, found]) => found === undefined),
  ).toEqual([]);
});

const doubled = (step: string, times: number, first = '"0123456789abcdef"') =>
  `print s = ${first}${` | extend s = ${step}`.repeat(times)} | project n = strlen(tostring(s))`;
const mebibyte = 'strrep(strrep("x", 1024), 1024)';

/** Queries for all functions whose result can be longer than their arguments, with results just below the limit. */
const bombs: Readonly<Record<string, string>> = {
  strcat: doubled('strcat(s, s)', 23),
  strcat_delim: doubled('strcat_delim(s, s, s)', 15),
  strrep: doubled('strrep(s, 1024)', 3),
  strcat_array: `print n = strlen(strcat_array(range(1, 100000), strrep("x", 1000)))`,
  genai_concat_contents: `print n = strlen(genai_concat_contents(array_concat(range(1, 100000)), strrep("x", 1000)))`,
  replace_string: doubled('replace_string("0", "00000000000000000000000000000000", s)', 6),
  replace_regex: doubled('replace_regex("[0-9a-f]+", "$0$0$0$0$0$0$0$0", s)', 8),
  array_iff: 'print n = array_length(array_iff(range(1, 100000), strrep("x", 1000), "y"))',
  array_split: `print n = array_length(array_split(range(1, 100000), range(0, 1000)))`,
  array_concat: `print a = dynamic([1]) | extend s = ${mebibyte} | extend a = pack_array(s, s, s, s, s, s, s, s, s, s) | project n = array_length(array_concat(a, a, a, a, a, a, a))`,
  pack_array: `print s = strrep(${mebibyte}, 40) | project n = array_length(pack_array(s, s))`,
  bag_pack: `print s = strrep(${mebibyte}, 40) | project n = bag_pack("a", s, "b", s)`,
  url_encode: `print s = strrep(strrep(strrep("%", 1024), 1024), 30) | project n = strlen(url_encode(s))`,
  base64_encode_tostring: `print s = strrep(${mebibyte}, 60) | project n = strlen(base64_encode_tostring(s))`,
  regex_quote: `print s = strrep(strrep(strrep(".", 1024), 1024), 40) | project n = strlen(regex_quote(s))`,
  make_list: `range i from 1 to 100 step 1 | extend s = ${mebibyte} | summarize l = make_list(s) | project n = array_length(l)`,
  make_set: `range i from 1 to 100 step 1 | extend s = strcat(i, ${mebibyte}) | summarize l = make_set(s) | project n = array_length(l)`,
  topk: `range i from 1 to 100 step 1 | extend s = strcat(i, ${mebibyte}) | summarize l = topk(s, 100), n = count() by bin(i, 1000) | project n = strlen(tostring(l))`,
};

test.each(Object.entries(bombs))('%s is refused by name if its value is too long', async (name, apl) => {
  const { status, body } = await service().query(apl);
  expect([status, body.detail?.errorType, body.message]).toEqual([
    400,
    'function-cost',
    `\`${name}\` would produce a value of more than 64 MiB, the maximum size. Shorten its arguments first, for example with substring or array_slice, or pass fewer.`,
  ]);
});

const fine: readonly (readonly [what: string, apl: string, value: number])[] = [
  ['64 MiB', doubled('strcat(s, s)', 22), 64 * 2 ** 20],
  [
    'a part of long strings',
    `print s = strrep(${mebibyte}, 50) | project n = strlen(strcat(substring(s, 0, 10), substring(s, 5, 10)))`,
    20,
  ],
  [
    'a replacement by less',
    `print s = strrep(${mebibyte}, 50) | project n = strlen(replace_string("x", "", s))`,
    0,
  ],
  [
    'nothing to replace',
    `print s = strrep(${mebibyte}, 50) | project n = strlen(replace_regex("y", "zzzz", s))`,
    50 * 2 ** 20,
  ],
  [
    'few values of a long list',
    `range i from 1 to 100 step 1 | extend s = ${mebibyte} | summarize l = make_list(s, 2) | project n = array_length(l)`,
    2,
  ],
  ['nulls', 'print n = strlen(strcat_delim(",", tostring(dynamic(null)), "a"))', 2],
];

test.each(fine)('a value within the limit is computed: %s', async (_, apl, value) => {
  const { body } = await service().query(apl);
  expect(body.tables?.[0].columns ?? body.message).toEqual([[value]]);
});

/**
 * Aggregates whose arrays are bounded: by their arguments, by truncated values, or by JavaScript, where they take a few megabytes at
 * most.
 */
const shortArrays = ['histogram', 'percentiles_array', 'phrases', 'presence', 'spotlight'];

test('the length of one column is compared as it is', () => {
  const sqlOf = (value: string): string => {
    const apl = `datatable(s:string, t:string)['a', 'b'] | summarize count() by ${value}`;
    const result = compileRequest({ apl }, {} as DatasetCatalog, 0n);
    return result.ok ? (result.compiled.tables[0]?.sql ?? '') : '';
  };
  expect(sqlOf('tolower(s)')).toMatch(/CASE WHEN strlen\(c\d+\) > 682 THEN/);
  expect(sqlOf("strcat(s, '-')")).toMatch(
    /CASE WHEN strlen\(c\d+\) > 4095 THEN .* ELSE concat\(c\d+, '-'\) END/,
  );
  expect(sqlOf('strcat(s, t)')).toMatch(
    /coalesce\(strlen\(c\d+\), 0\) \+ coalesce\(strlen\(c\d+\), 0\) \+ 0 > 4096/,
  );
  // Its elements are counted only if it is long.
  expect(sqlOf("strcat_array(parse_json(s), '--')")).toMatch(
    /CASE WHEN coalesce\(strlen\((.+)\), 0\) \+ coalesce\(strlen\(\1\), 0\) \/\/ 2 \* 2 > 4096 THEN apl_too_long\(/,
  );
});

test('every aggregate that returns an array has a bounded result or a length check', () => {
  const base = (name: string) => name.replace(/_?if$/, '');
  const arrays = aggregates.filter(({ returns }) => returns === 'dynamic').map(({ name }) => base(name));
  expect(arrays.filter(name => !shortArrays.includes(name) && !Object.hasOwn(bombs, name))).toEqual([]);
});
