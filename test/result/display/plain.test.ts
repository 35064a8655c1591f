import { expect, test } from 'vitest';
import { toPlain } from '../../../kernel/result/display/plain.js';
import { cells, sampleResult } from '../sample.js';

const FOOTER = '55 ms (42 ms in the service) \u00b7 5,000,000 rows examined \u00b7 9 of 12 blocks cached';
const RANGE = 'last 1h (2026-11-20T09:00:00Z to 2026-11-20T10:00:00Z)';

test('aligns columns by display width, with numbers at the right', () => {
  const result = sampleResult(
    [
      {
        columns: [
          ['name', 'string', '["caf\u00e9","\u65e5\u672c\u8a9e","\ud83d\udc69\u200d\ud83d\udc67 x",null,""]'],
          ['n', 'integer', '[1,-20,9223372036854775807,null,0]'],
          ['ok', 'boolean', '[true,false,null,true,true]'],
        ],
      },
      { name: '_totals', columns: [['n', 'integer', '[7]']] },
    ],
    { meta: [{ name: 'n', unit: 'ms' }] },
  );
  expect(toPlain(result)).toBe(
    [
      `5 rows \u00d7 3 columns \u00b7 ${RANGE}`,
      'name                       n (ms)  ok',
      '\u2500\u2500\u2500\u2500\u2500\u2500  \u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500  \u2500\u2500\u2500\u2500\u2500',
      'caf\u00e9                            1  true',
      '\u65e5\u672c\u8a9e                        -20  false',
      '\ud83d\udc69\u200d\ud83d\udc67 x    9,223,372,036,854,775,807  null',
      'null                         null  true',
      '""                              0  true',
      'Totals \u00b7 1 row \u00d7 1 column',
      'n (ms)',
      '\u2500\u2500\u2500\u2500\u2500\u2500',
      '     7',
      FOOTER,
    ].join('\n'),
  );
});

test('omits the cache if no blocks were examined', () => {
  const result = sampleResult([{ columns: [['n', 'integer', '[1]']] }], {
    status: { blocksExamined: 0, blocksCached: 0 },
  });
  expect(toPlain(result).split('\n').at(-1)).toBe(
    '55 ms (42 ms in the service) \u00b7 5,000,000 rows examined',
  );
});

test('reports cut rows and columns, and truncates values', () => {
  const result = sampleResult(
    [
      {
        columns: [
          ['message', 'string', cells(3, row => (row === 0 ? '\u65e5'.repeat(40) : 'short'))],
          ['wide', 'string', cells(3, () => 'y'.repeat(30))],
          ['more', 'integer', '[1,2,3]'],
        ],
      },
    ],
    {
      notices: [
        { level: 'warn', text: 'A limit was hit.' },
        { level: 'info', text: 'A hint.' },
      ],
    },
  );
  const lines = toPlain(result, { rows: 2, head: 2, width: 82 }).split('\n');
  expect(lines).toEqual([
    'Warning: A limit was hit.',
    'Note: A hint.',
    `3 rows \u00d7 3 columns \u00b7 ${RANGE}`,
    'Showing the first 2 of 3 rows.',
    'Showing the first 2 of 3 columns.',
    `message${' '.repeat(44)}wide`,
    `${'\u2500'.repeat(49)}  ${'\u2500'.repeat(30)}`,
    `${'\u65e5'.repeat(24)}\u2026  ${'y'.repeat(30)}`,
    `short${' '.repeat(46)}${'y'.repeat(30)}`,
    FOOTER,
  ]);
});

test('wraps sentences at spaces to the width of the terminal', () => {
  const result = sampleResult([{ columns: [['n', 'integer', '[1]']] }], {
    notices: [{ level: 'info', text: `A hint of some length, with ${'x'.repeat(40)} in it.` }],
  });
  expect(toPlain(result, { rows: 2, head: 2, width: 36 }).split('\n')).toEqual([
    'Note: A hint of some length, with',
    'x'.repeat(40),
    'in it.',
    '1 row \u00d7 1 column \u00b7 last 1h',
    '(2026-11-20T09:00:00Z to',
    '2026-11-20T10:00:00Z)',
    'n',
    '\u2500',
    '1',
    '55 ms (42 ms in the service) \u00b7',
    '5,000,000 rows examined \u00b7 9 of 12',
    'blocks cached',
  ]);
});

test('passes no escape sequence, control or bidi character to a terminal', () => {
  const hostile = '\u001b]0;title\u0007\u001b[2J\u009b31m\r\b\u202e\n\u0000';
  const result = sampleResult([{ columns: [[hostile, 'string', JSON.stringify([hostile])]] }], {
    meta: [{ name: hostile, unit: hostile }],
    notices: [{ level: 'warn', text: hostile }],
    provenance: { traceId: hostile, rangeLabel: hostile },
  });
  const text = toPlain(result);
  expect(text.match(/[^\n\P{C}]/gu)).toBe(null);
  expect(text.split('\n').length).toBe(6);
});

test('isolates right-to-left values and names', () => {
  const columns = [
    ['\u05e9\u05dd', 'string', '["\u0634\u0643\u0631\u0627 1"]'],
    ['\u05d0', 'integer', '[7]'],
  ] as const;
  const notices = [{ level: 'warn', text: 'no `\u05e9\u05dd` 5 `n`' }] as const;
  const lines = toPlain(sampleResult([{ columns }], { notices })).split('\n');
  expect([lines[0], ...lines.slice(2, 5)]).toEqual([
    'Warning: no \u2068\u05e9\u05dd\u2069 5 n',
    '\u2068\u05e9\u05dd\u2069      \u2068\u05d0\u2069',
    '\u2500\u2500\u2500\u2500\u2500\u2500  \u2500',
    '\u2068\u0634\u0643\u0631\u0627 1\u2069  7',
  ]);
});
