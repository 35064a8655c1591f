import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import { openQueries, start } from '../../queries.js';
import { sharedStore } from './stores.js';

let catalog: DatasetCatalog | undefined;

const { run } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('nothing was written');
  return catalog;
});

/** Texts that JSON writes verbatim, escaped, or like another value. */
const texts = [
  ...[
    'build-7',
    'Build-7',
    'build-77',
    'rebuild-7',
    'build',
    'BUILD-7 done',
    'zone-1',
    'a,b',
    '[x]',
    '{"k":"v"}',
    '',
  ],
  ...['null', 'NULL', 'true', '404', '4.0', '1e5', '1.50', '-0', 'http://example.org/a', 'É İ ß', '😀 new'],
  ...[
    'a\nbuild-7',
    'line\new',
    '\b7 up',
    'tab\there',
    'say "new"',
    'back\\slash\\new',
    '\u001build-7',
    '\u007f',
    '\0nul',
  ],
  ...['\u0001b', '\u001fx', '\u000b', '\u0000', '\r\n', '\fast', 'x\u0004 04', 'u001b'],
];

const elements = texts.map(text => sqlText(text).replaceAll('\0', "' || chr(0) || '"));

/** Lists with each text alone, beside others and beside nulls. */
const lists = [
  ...['NULL', '[]', '[NULL]', '[NULL, NULL]'],
  ...elements.flatMap((text, at) => [
    `[${text}]`,
    `[NULL, ${text}, ${elements[(at + 7) % elements.length]}]`,
    `[${elements[(at * 3 + 1) % elements.length]}, ${text}, NULL]`,
  ]),
];

/** Columns of other types, which remain unchanged. */
const others = `[i, NULL]::BIGINT[] AS numbers, [{'k': 'build-7', 'n': i}] AS maps, [['build-7'], NULL] AS nested,
  MAP {'build-7': i} AS pairs, ['build-7']::VARCHAR[1] AS fixed, [0.5, i]::DOUBLE[] AS reals, 'build-7' AS own`;

const time = `make_timestamp_ns(${start} + i * 1000)`;

const files: readonly (readonly [dataset: string, select: string])[] = [
  [
    'lists',
    `SELECT ${time} AS _time, i AS id, l::VARCHAR[] AS tags, l::VARCHAR[] AS "k.tags", ${others}
     FROM (VALUES ${lists.map((list, at) => `(${at}, ${list})`).join(', ')}) v(i, l)`,
  ],
  ['lists', `SELECT ${time} AS _time, i AS id FROM range(1000, 1003) r(i)`],
  ['lists', `SELECT ${time} AS _time, i AS id, ['build-7', NULL] AS "Tags" FROM range(2000, 2003) r(i)`],
  ['mixed', `SELECT ${time} AS _time, ['build-7'] AS tags, ['x'] AS a, ['y'] AS "m.t" FROM range(3) r(i)`],
  ['mixed', `SELECT ${time} AS _time, 'build-7' AS tags, ['x'] AS "a.b", {'t': 'z'} AS m FROM range(3) r(i)`],
];

sharedStore(
  async ({ dataDir, engine, store }) => {
    for (const [index, [dataset, select]] of files.entries()) {
      const directory = path.join(dataDir, 'datasets', dataset);
      await mkdir(directory, { recursive: true });
      await engine.run(
        `COPY (${select}) TO ${sqlText(path.join(directory, `${index}.parquet`))} (FORMAT parquet)`,
      );
    }
    catalog = await store.snapshot('lists', 'mixed');
  },
  { families: [] },
);

/** Returns the result of a query with and without known text lists, and whether the first parsed the JSON of `tags`. */
async function bothOf(apl: string): Promise<readonly [unknown, unknown, boolean]> {
  const known = catalog;
  const found = await run(apl);
  if (known !== undefined)
    catalog = new Proxy(known, {
      get: (target, name) => {
        if (name === 'textLists') return undefined;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  const apart = await run(apl);
  catalog = known;
  const readsJson = !found.ok || found.ran.table.sql.includes('"tags"::JSON');
  return [found.ok ? found.ran.rows : found, apart.ok ? apart.ran.rows : apart, readsJson];
}

test('fields that are string lists in every file are known', () => {
  const known = ['lists', 'mixed', 'none'].map(name => [...(catalog?.textLists?.(name) ?? [])].sort());
  expect(known).toEqual([['Tags', 'fixed', 'k.tags', 'tags'], [], []]);
});

const words = [
  ...[
    'build-7',
    'BUILD',
    'uild',
    '-7',
    'new',
    'ew',
    'b',
    'n',
    'nul',
    'null',
    'N',
    '4',
    '404',
    '04',
    '0004',
    'u0004',
    'u001',
    'u001build-7',
  ],
  ...[
    'u001Build-7',
    'build-7 done',
    'a,b',
    ',',
    '"',
    '\\\\',
    '',
    'x',
    'http://example.org',
    'é',
    'İ',
    '😀',
    'true',
    'here',
    'there',
    'ast',
  ],
  ...['7 up', 'b7', 'e5', '1.5', '1.50', ']', 'slash', 'say'],
];

const tests = ['has', '!has_cs', 'hasprefix', 'hassuffix_cs', 'contains', '!contains_cs'];

test.each(tests)('`%s` finds in string lists what it finds in their JSON', async operator => {
  const items = words.map((word, at) => `w${at} = tags ${operator} "${word.replaceAll('"', '\\"')}"`);
  const [found, apart] = await bothOf(`lists | sort by id asc | project id, ${items.join(', ')}`);
  expect(found).toEqual(apart);
});

const inLists: readonly string[] = [
  ...[
    "where tags has 'build-7'",
    "where tags contains_cs 'ew'",
    "where tags !has 'new'",
    "where 'build-7' in (tags)",
  ],
  ...[
    "where 'NULL' in~ (tags)",
    "where 'b' !in~ (tags)",
    "where own in (tags, 'x')",
    "where '' in (tags)",
    'where id in (tags)',
  ],
  ...[
    "where set_has_element(tags, '404')",
    'where set_has_element(tags, own)',
    "where not(set_has_element(tags, 'a,b'))",
  ],
  ...[
    "where array_index_of(tags, 'build-7') > 0",
    "extend at = array_index_of(tags, own), has = set_has_element(tags, '4.0')",
  ],
  ...[
    'extend n = array_length(tags)',
    'summarize sum(array_length(tags)), count() by n = array_length(tags)',
  ],
  ...['extend a = tags[0], b = tostring(tags[1]), c = toint(tags[0]), d = tags[9], e = gettype(tags[0])'],
  ...['mv-expand with_itemindex=at tags', 'mv-expand t = tags to typeof(string) | summarize count() by t'],
  ...[
    "mv-expand tags | where tags == 'build-7'",
    'mv-expand t = tags to typeof(long)',
    'mv-expand t = tags limit 2',
  ],
  ...["where tags has 'build-7' or id > 100 | extend u = tags[0] | where u contains '7'"],
  ...["join kind=inner (lists | where tags has 'build-7' | project id, x = tags[0]) on id"],
].map(query => `lists | ${query}${query.includes('count() by') ? '' : ' | project-away tags, own'}`);

const beside = [
  ...["tags startswith '[\"b'", "tags endswith '7\"]'", "tags =~ '[]'"],
  ...[
    'tags',
    'tostring(tags)',
    'array_reverse(tags)',
    'array_slice(tags, 0, 1)',
    "tags == 'x'",
    'isarray(tags)',
    'tags.k',
    'tags[-1]',
  ],
  ...[
    "array_index_of(tags, 'build-7', 1)",
    'array_index_of(tags, 404)',
    'set_has_element(tags, 404)',
    "strcat_array(tags, '-')",
  ],
  ...[
    "tags matches regex 'b.*7'",
    "tags has_any ('build-7', 'new')",
    'own in (pack_array(own), tags)',
    'len(tags)',
    "dynamic(['a']) == tags",
  ],
  ...[
    "['k.tags'] has 'build-7'",
    "Tags has 'build-7'",
    "numbers has '5'",
    '5 in (numbers)',
    "maps has 'build-7'",
  ],
  ...[
    "nested has 'build-7'",
    "pairs has 'build-7'",
    "fixed has 'build-7'",
    'array_length(numbers)',
    'reals[0]',
    'gettype(pairs)',
  ],
].map(value => `lists | sort by id asc | project id, v = ${value}`);

test.each(inLists)('without parsing JSON, `%s` gives the same result', async apl => {
  const [found, apart, readsJson] = await bothOf(apl);
  expect(found).toEqual(apart);
  expect(Array.isArray(found)).toBe(true);
  expect(readsJson).toBe(false);
});

test.each(beside)('`%s` gives the same result', async apl => {
  const [found, apart] = await bothOf(apl);
  expect(found).toEqual(apart);
  expect(Array.isArray(found)).toBe(true);
});

test.each(['tags', 'a', "['a.b']", "['m.t']", 'm'])(
  'a field that is a list in only some files, `%s`, gives the same result',
  async field => {
    const [found, apart] = await bothOf(
      `mixed | project a = ${field} has 'x', b = 'build-7' in (${field}), c = ${field}`,
    );
    expect(found).toEqual(apart);
    expect(Array.isArray(found)).toBe(true);
  },
);
