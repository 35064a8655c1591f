import { expect, test } from 'vitest';
import { fitted } from '../../../../kernel/notebook/magics/agents/agent-report.js';

const advice = 'Request less: fewer rows or fields, or names that contain a string.';
const long = 'x'.repeat(8_193);
const line = 'y'.repeat(8_192);

test.each<readonly [string, readonly string[], readonly string[], readonly string[]]>([
  ['that fits is complete', ['a', line], ['a', line], []],
  [
    'omits each line that is too long',
    ['a', long, 'b', long],
    ['a', 'b'],
    [`Left out of this response: 2 lines of 4, 2 of them longer than 8,192 characters. ${advice}`],
  ],
  [
    'is cut off when it is full',
    [line, line, line, line, 'b'],
    [line, line, line],
    [`Left out of this response: 2 lines of 5. ${advice}`],
  ],
  [
    'omits long lines and is cut off when it is full',
    [long, line, line, line, line],
    [line, line, line],
    [`Left out of this response: 2 lines of 5, 1 of them longer than 8,192 characters. ${advice}`],
  ],
])('a response %s', (_, lines, kept, said) => {
  expect(fitted({ sentences: ['first'], lines })).toEqual({ sentences: ['first', ...said], lines: kept });
});

test('invisible characters are escaped', () => {
  expect(fitted({ sentences: [], lines: ['"a\u200bb\u{e0001}"'] }).lines).toEqual([
    '"a\\u200bb\\udb40\\udc01"',
  ]);
});
