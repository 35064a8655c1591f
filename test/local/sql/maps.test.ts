import { expect, test } from 'vitest';
import { type Fixture, openQueries, secondsAgo } from '../queries.js';

const at = secondsAgo(60);

/** Returns a dataset of rows without their time; fields are written `name:type`. */
function table(fields: string, ...rows: readonly (readonly string[])[]): Fixture {
  const named = ['_time:datetime', ...fields.split(' ')].map(field => {
    const [name = '', type] = field.split(':');
    return { name, type } as Fixture['fields'][number];
  });
  return { open: false, fields: named, rows: rows.map(row => [at, ...row]) };
}

const { run } = openQueries({
  flat: table('id:long m.a:long m.b.c:string', ['1', '1', "'x'"], ['2', 'NULL', "''"]),
  map: table('id:long m:dynamic', ['3', `'{"a":2,"b":{"c":"y"}}'`], ['4', `'{"a":"two"}'`], ['5', 'NULL']),
  middle: table('id:long m.b:dynamic', ['6', `'{"c":"z"}'`]),
  both: table('id:long m.a:long m:dynamic', ['7', '1', 'NULL'], ['8', 'NULL', `'{"a":2}'`]),
});

async function rows(apl: string): Promise<readonly string[]> {
  const outcome = await run(apl);
  if (!outcome.ok) return outcome.diagnostics.map(each => each.message);
  return outcome.ran.rows.map(row => row.join(' '));
}

const all = 'union flat, map, middle | sort by id asc';

test.each([
  [`${all} | project id, m.a`, ['1 1', '2 null', '3 2', '4 "two"', '5 null', '6 null']],
  [`${all} | project id, m.b.c`, ['1 "x"', '2 ""', '3 "y"', '4 null', '5 null', '6 "z"']],
  [`${all} | where m.a > 0 | project id`, ['1', '3']],
  [`${all} | where m.b.c == 'z' or m.b.c has 'y' | project id`, ['3', '6']],
  [`${all} | summarize sum(m.a)`, ['3']],
  [`${all} | summarize n = count() by m.a | sort by n desc | limit 1 | project n`, ['3']],
  [`${all} | where id < 4 | project-away _time | project id, m.a`, ['1 1', '2 null', '3 2']],
  ['both | sort by id asc | project m.a', ['1', '2']],
])('a bare `m.a` reads the field and the key of the map: %s', async (apl, expected) => {
  expect(await rows(apl)).toEqual(expected);
});

test.each([
  [`${all} | project id, ['m.a']`, ['1 1', '2 null', '3 null', '4 null', '5 null', '6 null']],
  [`${all} | project id, m['a']`, ['1 null', '2 null', '3 2', '4 "two"', '5 null', '6 null']],
  [`${all} | project-rename q = ['m.a'] | where id == 1 | project q`, ['1']],
])('a quoted name reads only the field or only the key: %s', async (apl, expected) => {
  expect(await rows(apl)).toEqual(expected);
});

test.each([
  // A map of another table, or one made by the query, is not read from the field's events.
  ['flat | join kind=inner (map | where id == 3) on _time | sort by id asc | project m.a', ['1', 'null']],
  [`${all} | extend m = dynamic({"a": 9}) | where id < 4 | project m.a`, ['1', 'null', 'null']],
  [`${all} | project-rename other = m | where id < 4 | project m.a`, ['1', 'null', 'null']],
  [
    `${all} | extend other = m | project-away m | project-rename m = other | where id < 4 | project m.a`,
    ['1', 'null', 'null'],
  ],
])('only a map of the same table is read: %s', async (apl, expected) => {
  expect(await rows(apl)).toEqual(expected);
});

test.each([
  ['on m.a', ['1 1', '3 3', '4 4']],
  ['on $left.m.a == $right.m.a', ['1 1', '3 3', '4 4']],
])('a join %s compares both the field and the key', async (on, expected) => {
  const apl = `${all} | join kind=inner (union flat, map | project other = id, m.a, m) ${on} | project id, other | sort by id asc`;
  expect(await rows(apl)).toEqual(expected);
});
