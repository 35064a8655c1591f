import { describe, expect, test } from 'vitest';
import { openQueries, start } from '../queries.js';

/** Includes JSON from other programs: with spaces, escapes, and numbers that the language prints differently. */
const values = [
  '["gold","Silver ware"]',
  '[ "gold" , "x" ]',
  '["\\u0067old","a\\/b","\\u00c4rger"]',
  '["Ärger","gold.rush","1e5"]',
  '[1,2.0,1.10,1e5,1E400,-0.0,-0,12345678901234567890]',
  '["gold",1e5,{"k":"gold"}]',
  '{"gold":"x","k":[1.50,"Gold"]}',
  '{"k":1.0,"l":null}',
  '["a\\"b","a\\\\b",""]',
  '"gold"',
  '"1.0"',
  '1.0',
  '-1e5',
  'true',
  '[null,true,false]',
  '[]',
  '{}',
  '["golden","x\\t","x\\u001f","goldt"]',
  '[ "p" , "a , b" ]',
  '"{\\"k\\":\\"gold\\",\\"golden\\":1}"',
];

/** Text around runs without letters, in both cases, some of it with another length in the other case. */
const cased = [
  'BUILD-77 in eu-1',
  'build-77',
  'Build-7',
  'x build-77x',
  '77-build',
  'K--K',
  'k--\u212a',
  '\u0130--\u00df',
  'i\u0307--SS',
  'A::B [::] a::b',
  '\u0391\u03a3\u0391 \u0391\u03a3',
  '  ',
  '',
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
      ...values.map((text, id) => [time, `${id}`, `'${text}'::JSON`, `'/a/${id}//b.5'`]),
      [time, `${values.length}`, 'NULL::JSON', 'NULL::VARCHAR'],
    ],
  },
  texts: {
    open: false,
    fields: [
      { name: '_time', type: 'datetime' },
      { name: 'id', type: 'long' },
      { name: 's', type: 'string' },
    ],
    rows: [
      ...cased.map((text, id) => [time, `${id}`, `'${text}'`]),
      [time, `${cased.length}`, 'NULL::VARCHAR'],
    ],
  },
});

const needles = [
  'gold',
  'old',
  'ärger',
  'a/b',
  '100000',
  '1e5',
  '1',
  '2',
  'k',
  'e',
  'true',
  'inf',
  'x","',
  'ware"',
  't',
  'f',
  '1f',
  'golden',
  ' , ',
];
const more = ['Silver ware', 'a"b', 'a\\b', 'null', '[', '', 'gold.rush', '1.5', '1E400'];
const operators = ['has', 'contains', 'startswith', 'endswith', 'hasprefix', 'hassuffix'];
const written = operators.flatMap(name => [name, `${name}_cs`, `!${name}`]);

/** Returns the columns of values for each row, from one query. */
async function columns(...values: readonly string[]): Promise<readonly (readonly string[])[]> {
  const list = values.map((value, at) => `r${at} = ${value}`).join(', ');
  const outcome = await run(`stored | project id, ${list} | sort by id asc`);
  if (!outcome.ok) throw new Error(outcome.diagnostics.map(each => each.message).join('; '));
  return values.map((_, at) => outcome.ran.rows.map(row => String(row[at + 1])));
}

async function column(value: string): Promise<readonly string[]> {
  const [found = []] = await columns(value);
  return found;
}

const quoted = (text: string): string => JSON.stringify(text);

/** Wraps a value in `iff`, which hides its other forms from the compiler. */
const apart = (value: string): string => `iff(id >= 0, ${value}, ${value})`;

describe.each([...needles, ...more].map(quoted))('the constant %s', needle => {
  test('is found by each operator if the string form of the value has it', async () => {
    const found = await columns(...written.map(operator => `a ${operator} ${needle}`));
    const texts = await columns(...written.map(operator => `strcat(tostring(a), '') ${operator} ${needle}`));
    for (const [at, operator] of written.entries()) {
      expect([operator, found[at]?.slice(0, -1)]).toEqual([operator, texts[at]?.slice(0, -1)]);
      expect([operator, found[at]?.at(-1)]).toEqual([operator, String(operator.startsWith('!'))]);
    }
  });

  test('is an element of the same values, however they are read', async () => {
    const [inIt, alike, has, ...apartFromIt] = await columns(
      `${needle} in (a)`,
      `${needle} in~ (a)`,
      `set_has_element(a, ${needle}) == true`,
      `${needle} in (${apart('a')})`,
      `${needle} in~ (${apart('a')})`,
      `array_index_of(a, ${needle}) >= 0`,
    );
    expect([inIt, alike, has]).toEqual(apartFromIt);
  });
});

test.each([
  'Build-77',
  'build-77 ',
  '-77',
  'k--K',
  'K--',
  '\u0130--',
  '--\u00df',
  'a::B',
  'B [::]',
  'u-1',
  '\u0391\u03a3',
  'D  ',
])('the constant %s matches in any case, as it does when it comes from a row', async needle => {
  const of = async (needle: string) =>
    run(
      `texts | project id, ${written.map((operator, at) => `r${at} = s ${operator} ${needle}`).join(', ')} | sort by id asc`,
    );
  const [found, apartFromIt] = [await of(quoted(needle)), await of(apart(quoted(needle)))];
  if (!found.ok || !apartFromIt.ok) throw new Error('refused');
  expect(found.ran.rows.map(String)).toEqual(apartFromIt.ran.rows.map(String));
});

test('a search ignores case around characters without case', async () => {
  const rows = async (test: string) => {
    const outcome = await run(`texts | where ${test} | project id | sort by id asc`);
    if (!outcome.ok) throw new Error('refused');
    return outcome.ran.rows.map(([id]) => Number(id));
  };
  expect(await rows("s contains 'Build-77'")).toEqual([0, 1, 3]);
  expect(await rows("s has 'Build-77'")).toEqual([0, 1]);
  expect(await rows("s !contains 'Build-77'")).toEqual([2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  expect(await rows("s contains 'k--K'")).toEqual([5, 6]);
  expect(await rows("s hasprefix 'b [::'")).toEqual([9]);
  expect(await rows("s contains '\u0130--'")).toEqual([7]);
  expect(await rows("s contains '\u0391\u03a3\u0391'")).toEqual([10]);
  expect(await rows("s has '\u0391\u03a3'")).toEqual([10]);
});

test('an element is found whatever surrounds it', async () => {
  const rows = async (test: string) =>
    (await column(test)).flatMap((cell, id) => (cell === 'true' ? [id] : []));
  expect(await rows("'gold' in (a)")).toEqual([0, 1, 2, 5, 9]);
  expect(await rows("a has 'gold'")).toEqual([0, 1, 2, 3, 5, 6, 9, 19]);
  expect(await rows("a contains '100000'")).toEqual([4, 5, 12]);
  expect(await rows("a contains 'ärger'")).toEqual([2, 3]);
});

test.each([
  'a[0]',
  'a[3]',
  'a[1]',
  'a.k',
  'a.k[0]',
  "a['l']",
  "split(s, '/')[2]",
  "split(s, '/')[9]",
  "split(s, '')[0]",
])('%s has the string form of its dynamic value', async value => {
  expect(await column(`tostring(${value})`)).toEqual(await column(`tostring(${apart(value)})`));
  expect(await column(`${value} == '1.5'`)).toEqual(await column(`${apart(value)} == '1.5'`));
  expect(await column(`${value}`)).toEqual(await column(apart(value)));
});

test('an element and the length of a computed list need no array', async () => {
  const rows = await run(
    `stored | where id in (0, ${values.length}) | extend parts = split(s, '/') | project first = parts[1], n = array_length(parts), beyond = isnull(parts[9]), t = tostring(parts[4])`,
  );
  if (!rows.ok) throw new Error('refused');
  expect(rows.ran.rows.map(row => row.join(' '))).toEqual(['"a" 5 true "b.5"', 'null null true ""']);
});
