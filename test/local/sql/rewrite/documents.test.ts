import { describe, expect, test } from 'vitest';
import { openQueries, start } from '../../queries.js';

/** Members in many notations: all forms of numbers, values that the engine takes for numbers, and values that only look like numbers. */
const members = [
  '0',
  '-0',
  '-0.0',
  '1.50',
  '2.0',
  '1e3',
  '1E400',
  '-1e-7',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '123456789012345678901234567890',
  '0.1234567890123456789012345678901234567890123456789',
  'true',
  'false',
  'null',
  '"12"',
  '" 12"',
  '"1_000"',
  '"-0"',
  '"1.50"',
  '"0x1F"',
  '"NaN"',
  '"-inf"',
  '"true"',
  '"T"',
  '"pod-7"',
  '"Pod-7"',
  '"e5"',
  '""',
  '[1]',
  '{"b":1}',
];

const texts = [
  ...members.map(member => `{"a":${member},"l":[${member}, 1]}`),
  ...members.map(member => ` \n{"a": {"b": ${member} }}`),
  ...['NaN', '-Infinity', 'inf', 'nan'].flatMap(loose => [
    `{"a":1,"z":${loose}}`,
    `{"a":[1, ${loose}]}`,
    `{"a":1,"z":"x, ${loose}"}`,
    loose,
  ]),
  ...['{"a":1,}', '{"a":[1, ]}', '{"a":",]"}', '{"a":1', 'text', '', 'null', ' null ', '"a"', '7', '[5,6]'],
];

const time = `make_timestamp_ns(${start})`;

const { rows } = openQueries({
  stored: {
    open: false,
    fields: [
      { name: '_time', type: 'datetime' },
      { name: 'id', type: 'long' },
      { name: 't', type: 'string' },
    ],
    rows: [...texts, undefined].map((text, id) => [
      time,
      `${id}`,
      text === undefined ? 'NULL::VARCHAR' : `'${text}'`,
    ]),
  },
});

const readers = [
  'X',
  ...['tostring', 'toint', 'todouble', 'tobool', 'todatetime', 'totimespan', 'gettype'].map(
    name => `${name}(X)`,
  ),
  ...['> 1', '>= 1.5', '< 1', '<= 0', '== 0', '!= 2', '> -1e300'].map(test => `X ${test}`),
  ...["== 'pod-7'", "!= 'pod-7'", "== '12'", "contains 'POD'", "has 'pod'", "has_cs '7'"].map(
    test => `X ${test}`,
  ),
  ...["startswith '1'", "endswith 'e5'", "in ('pod-7', 'e5')", "!in ('12', '1.5')", "in~ ('POD-7')"].map(
    test => `X ${test}`,
  ),
];

/** `distinct` passes on only the dynamic value, whose members are then read from the whole value. */
describe.each(['parse_json', 'todynamic'])('a member of %s, read from the string', parse => {
  test.each(readers)('as %s, matches the parsed value', async reader => {
    const of = (member: string) => reader.replace('X', member);
    const read = `a = ${of('p.a')}, b = ${of('p.a.b')}, l = ${of('p.l[0]')}, e = ${of('p[1]')}`;
    const written = await rows(`stored | extend p = ${parse}(t) | project id, ${read} | sort by id asc`);
    const single = ['a', 'b', 'l', 'e'].map(name => `${name} = ${of(name)}`).join(', ');
    const apart = await rows(
      `stored | extend p = ${parse}(t) | distinct id, p | extend a = p.a, b = p.a.b, l = p.l[0], e = p[1]
       | distinct id, a, b, l, e | project id, ${single} | sort by id asc`,
    );
    expect(written).toEqual(apart);
    expect(written).toHaveLength(texts.length + 1);
  });
});

const bounds: readonly (readonly [test: string, id: number, answer: string])[] = [
  ['p.a > 1.5', 3, 'false'],
  ['p.a >= 1.5', 3, 'true'],
  ['p.a > 1.4999999999999998', 3, 'true'],
  ['p.a >= 1.5000000000000002', 3, 'false'],
  ['1.5 < p.a', 3, 'false'],
  ['1.5 <= p.a', 3, 'true'],
  ['p.a > 0', 0, 'false'],
  ['p.a >= 0', 0, 'true'],
  ['p.a > -1.5', 0, 'true'],
  ['p.a >= 0', 2, 'true'],
  ['p.a > 1e308', 6, 'false'],
];

test.each(bounds)('%s of string %i is %s', async (compared, id, answer) => {
  const apl = `stored | where id == ${id} | extend p = parse_json(t) | project r = ${compared}`;
  expect(await rows(apl)).toEqual([[answer]]);
});
