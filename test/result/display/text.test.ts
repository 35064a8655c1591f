import type { Vector } from 'apache-arrow';
import { expect, test } from 'vitest';
import { shownText } from '../../../kernel/result/display/text.js';
import { sampleResult } from '../sample.js';

test('a null looks different from every text', () => {
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
