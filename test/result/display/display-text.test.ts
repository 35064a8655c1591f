import type { Vector } from 'apache-arrow';
import { expect, test } from 'vitest';
import { realText, shownText, typeWord } from '../../../kernel/result/display/display-text.js';
import { sampleResult } from '../sample.js';

test('null looks different from every string', () => {
  const { tables } = sampleResult([
    { columns: [['s', 'string', String.raw`[null,"null",""," ","\"null\"","Null"]`]] },
  ]);
  const field = tables[0]?.data.schema.fields[0];
  const vector = tables[0]?.data.getChildAt(0) as Vector;
  if (field === undefined) throw new Error('no field');
  expect([0, 1, 2, 3, 4, 5].map(row => shownText(vector, row, field))).toEqual([
    { text: 'null', isNull: true },
    { text: '"null"', isNull: false },
    { text: '""', isNull: false },
    { text: '" "', isNull: false },
    { text: String.raw`"\"null\""`, isNull: false },
    { text: 'Null', isNull: false },
  ]);
});

test.each([
  ['[24.690800000000003,13066.666666666666]', '[24.6908,13066.67]'],
  ['{"a 0.30000000000000004":0.30000000000000004}', '{"a 0.30000000000000004":0.3}'],
  ['[52.520008,9007199254740993,1763628000.123456]', '[52.520008,9007199254740993,1763628000.123456]'],
  ['[86.82055000000003,408.7221099999995,0.1234567890123456]', '[86.82055,408.7221,0.1234567890123456]'],
  ['[0.000012345678901234567]', '[0.00001234568]'],
])('numbers in %s are shown without rounding noise', (json, shown) => {
  const { tables } = sampleResult([{ columns: [['d', 'array', `[${json}]`]] }]);
  const field = tables[0]?.data.schema.fields[0];
  if (field === undefined) throw new Error('no field');
  expect(shownText(tables[0]?.data.getChildAt(0) as Vector, 0, field).text).toBe(shown);
});

test.each([
  ['13066.666666666666', '13066.67'],
  ['12345678901234568', '12345678901234568'],
  ['1.2345678901234567e-7', '1.234568e-7'],
  ['NaN', 'NaN'],
])('the real number %s is shown as %s', (exact, shown) => expect(realText(exact)).toBe(shown));

test('types are named as in queries', () =>
  expect(['integer', 'float', 'boolean', 'map', 'string', 'datetime'].map(typeWord)).toEqual([
    'long',
    'real',
    'bool',
    'dynamic',
    'string',
    'datetime',
  ]));
