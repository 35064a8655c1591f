import { describe, expect, test } from 'vitest';
import { openQueries, start } from '../queries.js';

const arrays = [
  '["a","b"]',
  '[null,"x",""]',
  '[]',
  '[ ]',
  '[\n]',
  ' ["after a space"]',
  '[ 1.50 ]',
  '[1,2.0,1.10,1e5,1E400,-0.0,-0,12345678901234567890,123456789012345678901234567890]',
  '["1.5",1.5,"[1.5"]',
  '["\\u00e9\\n\\"q","\\ud83d\\ude00","null",null]',
  '[{"a":1.10,"b":[1.0,null]},[1.50,2e3],{},[]]',
  '[true,false,9007199254740993]',
  '[1e-7]',
  '{"k":1.0,"l":"x"}',
  '{}',
  '"text"',
  '"[1]"',
  '1.0',
  'true',
  '[1,-2E5]',
  '["\\u0061b","c"]',
  '["a,1.0","b, 2.50","q"]',
  '["a",1.0]',
  '["a" ,\t-1.50,null]',
  '["a","b",null]',
  '["x",[1.0,"ab"],{"ab":2.0}]',
  '["[",true,"a"]',
  '{"k":null,"l":{"m/n~":"\\u00e9","":[1.50,null]},"m/n~":false}',
];

const time = `make_timestamp_ns(${start})`;

const { run } = openQueries({
  stored: {
    open: false,
    fields: [
      { name: '_time', type: 'datetime' },
      { name: 'id', type: 'long' },
      { name: 'a', type: 'dynamic' },
      { name: 's', type: 'string' },
    ],
    rows: [
      ...arrays.map((text, id) => [time, `${id}`, `'${text}'::JSON`, `'/a/${id}//b.5'`]),
      [time, `${arrays.length}`, 'NULL::JSON', 'NULL::VARCHAR'],
    ],
  },
});

async function cells(apl: string): Promise<readonly (readonly string[])[]> {
  const outcome = await run(apl);
  if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
  return outcome.ran.rows;
}

const expansions = [
  'mv-expand with_itemindex=at x = a',
  'mv-expand kind=array with_itemindex=at x = a',
  'mv-expand with_itemindex=at x = a limit 2',
  "extend x = split(s, '/') | mv-expand with_itemindex=at x",
  "extend p = split(s, '/') | where id > 3 | project id, a, p | mv-expand with_itemindex=at x = p",
  "mv-expand with_itemindex=at x = split(s, '/'), a",
  'mv-expand with_itemindex=at x = bag_keys(a)',
];

const readers = ['tostring(x)', 'toint(x)', 'todouble(x)', 'tobool(x)', "x == 'a'", 'gettype(x)', 'x'];

/** `distinct` passes on only the dynamic values. */
describe.each(expansions)('the elements of `%s`', expansion => {
  test.each(readers)('read as %s match their dynamic values', async reader => {
    const written = await cells(`stored | ${expansion} | project id, at, r = ${reader} | sort by id, at`);
    const apart = await cells(
      `stored | ${expansion} | distinct id, at, x | project id, at, r = ${reader} | sort by id, at`,
    );
    expect(written).toEqual(apart);
    expect(written.length).toBeGreaterThan(arrays.length / 2);
  });
});

const cases: readonly (readonly [apl: string, rows: readonly string[]])[] = [
  ['stored | where id == 0 | mv-expand a | project t = tostring(a)', ['"a"', '"b"']],
  ['stored | where id == 1 | mv-expand a to typeof(string) | project a', ['null', '"x"', '""']],
  [
    'stored | where id == 7 | mv-expand a | project t = tostring(a)',
    [
      '1',
      '2',
      '1.1',
      '100000',
      '1E400',
      '-0',
      '0',
      '12345678901234567890',
      '123456789012345678901234567890',
    ].map(text => `"${text}"`),
  ],
  ["stored | where id in (1, 19) | sort by id asc | project strcat_array(a, ';')", ['";x;"', '"1;-200000"']],
  ['stored | where id in (2, 3, 4, 14) | mv-expand a | count', ['4']],
  [
    "stored | where id == 0 | mv-expand x = split(s, '/') | summarize n = count() by x | sort by tostring(x) asc",
    ['"" 2', '"0" 1', '"a" 1', '"b.5" 1'],
  ],
  [
    "stored | where id == 0 | mv-expand x = split(s, '/'), a | project x, t = tostring(x), a",
    ['"" "" "a"', '"a" "a" "b"', '"0" "0" null', '"" "" null', '"b.5" "b.5" null'],
  ],
  ["stored | where isnull(a) | mv-expand x = split(s, '/') | project x, t = tostring(x)", ['null ""']],
  [
    "stored | where id == 0 | mv-expand x = split(s, '/') | summarize sum(toint(x)), countif(tostring(x) == '')",
    ['0 2'],
  ],
  ["stored | where id == 0 | mv-expand x = split(s, '/') | distinct x | count", ['4']],
  [
    "stored | where id == 0 | extend x = split(s, '/') | mv-expand x | mv-expand y = split(tostring(x), '.') | project t = tostring(y)",
    ['""', '"a"', '"0"', '""', '"b"', '"5"'],
  ],
];

test('arrays are joined like their elements', async () => {
  const joined = await cells(
    "stored | project id, t = strcat_array(a, ';'), u = strcat_array(a, s) | sort by id asc",
  );
  const rows = await cells(
    'stored | where isarray(a) | mv-expand with_itemindex=at x = a to typeof(string) | project id, n = array_length(a), s, x, at | sort by id asc, at asc',
  );
  const read = (cell = ''): unknown => JSON.parse(cell);
  for (const [id, t, u] of joined) {
    const own = rows.filter(row => row[0] === id && row[1] !== '0');
    const separator = String(read(rows.find(row => row[0] === id)?.[2] ?? '""'));
    const texts = own.map(row => read(row[3]) ?? '');
    const isArray = rows.some(row => row[0] === id);
    expect([read(t), read(u)]).toEqual(isArray ? [texts.join(';'), texts.join(separator)] : [null, null]);
  }
});

test('a JSON string is a number exactly if its text is', async () => {
  const ends = ['', '1', '.5', 'nf', 'NF', 'an', 'AN', 'nfinity', '1nf', '1an'];
  const rows = await cells(
    `range i from 1 to 126 step 1 | mv-expand e = dynamic(${JSON.stringify(ends)}) to typeof(string)
    | extend s = strcat(unicode_codepoints_to_string(pack_array(i)), e) | extend d = pack_array(s) | mv-expand d
    | where tostring(todouble(d)) != tostring(todouble(s)) or tostring(toint(d)) != tostring(toint(s)) | project s`,
  );
  expect(rows).toEqual([]);
  const numbers = await cells(
    `range i from 1 to 126 step 1 | extend d = pack_array(strcat(unicode_codepoints_to_string(pack_array(i)), '1')) | mv-expand d
    | where isnotnull(todouble(d)) | count`,
  );
  // Ten digits, two signs and a point.
  expect(numbers).toEqual([['13']]);
});

test('members that are read together are those read alone', async () => {
  const members = [
    'a.k',
    'a.l',
    "a['m/n~']",
    'a[0]',
    'a[1]',
    "a.l['m/n~']",
    "a.l[''][0]",
    "a.l[''][1]",
    "a['']",
  ];
  const values = members.flatMap(member => [
    `max(${member})`,
    `sum(toint(${member}))`,
    `min(todouble(${member}))`,
  ]);
  const ofEach = (some: readonly string[]) =>
    cells(
      `stored | summarize ${some.map((value, at) => `v${at} = ${value}`).join(', ')} by id | sort by id asc`,
    );
  const together = await ofEach(values);
  const alone: (readonly (readonly string[])[])[] = [];
  for (const value of values) alone.push(await ofEach([value]));
  expect(together).toEqual(together.map(([id], row) => [id, ...alone.map(rows => rows[row]?.[1])]));
  expect(together.at(-2)).toEqual(expect.arrayContaining(['"é"', 'false', '1']));
});

test.each(cases)('%s', async (apl, rows) => {
  expect((await cells(apl)).map(row => row.join(' '))).toEqual(rows);
});

const sought = [
  'a',
  'ab',
  'x',
  'q',
  '"q',
  'é',
  '1.5',
  '[1.5',
  'null',
  'true',
  'text',
  'after a space',
  'Infinity',
  'n',
];

/** Parsed values of the JSON texts; undefined for null. */
const values = [...arrays, 'null'].map(text => JSON.parse(text) as unknown);

describe.each(sought)('the string %s', text => {
  const literal = JSON.stringify(text);
  const answers = async (test: string): Promise<string[]> =>
    (await cells(`stored | project id, r = ${test} | sort by id asc`)).map(row => String(row[1]));
  test('is found in exactly the arrays that contain it', async () => {
    const isArray = values.map(value => Array.isArray(value));
    const places = values.map(value => (Array.isArray(value) ? value.indexOf(text) : null));
    expect(await answers(`array_index_of(a, ${literal})`)).toEqual(places.map(String));
    const has = places.map((place, at) => (isArray[at] ? String(place !== -1) : 'null'));
    expect(await answers(`set_has_element(a, ${literal})`)).toEqual(has);
  });
  test('is found by `in` like by testing each element, even in nested arrays', async () => {
    const each = `stored | mv-expand x = a | mv-expand x | mv-expand x | summarize r = countif(tostring(x) == ${literal}) > 0 by id | sort by id asc`;
    const found = (await cells(each)).map(row => String(row[1]));
    const maps = values.map(value => typeof value === 'object' && value !== null && !Array.isArray(value));
    const inArrays = (all: readonly string[]) => all.filter((_, at) => maps[at] !== true);
    expect(inArrays(await answers(`${literal} in (a)`))).toEqual(inArrays(found));
    expect(inArrays(await answers(`${JSON.stringify(text.toUpperCase())} in~ (a)`))).toEqual(
      inArrays((await cells(each.replace('tostring(x) ==', 'tostring(x) =~'))).map(row => String(row[1]))),
    );
  });
});

test('arrays of strings are sorted, sliced and joined like their elements', async () => {
  const texts = values.map(value =>
    Array.isArray(value) && value.every(x => typeof x === 'string') ? value : undefined,
  );
  const read = `stored | project id, up = array_sort_asc(a), down = array_sort_desc(a), cut = array_slice(a, 1, 3), joined = strcat_array(a, ';') | sort by id asc`;
  const rows = await cells(read);
  for (const [at, list] of texts.entries()) {
    if (list === undefined) continue;
    const sorted = [...list].sort((one, other) => (one < other ? -1 : 1));
    const [, up, down, cut, joined] = rows[at] ?? [];
    expect([up, down, cut, joined].map(text => JSON.parse(String(text)))).toEqual([
      sorted,
      sorted.toReversed(),
      list.slice(1, 3),
      list.join(';'),
    ]);
  }
});
