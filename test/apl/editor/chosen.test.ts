import { describe, expect, test } from 'vitest';
import {
  type ChosenMark,
  chosenMark,
  chosenPart,
  chosenRows,
  sourceOfRow,
} from '../../../kernel/apl/editor/chosen.js';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';

const day = { start: 1_767_225_600_000_000_000n, end: 1_767_312_000_000_000_000n };
const columns = [
  { name: '_time', type: 'datetime' },
  { name: 'status', type: 'string' },
  { name: 'ms', type: 'float' },
  { name: 'count_', type: 'integer' },
  { name: 'place', type: 'string' },
];

const status = { column: 'status', type: 'string', value: '5' };
const bucket = { column: 'h', from: -0.5, to: 1e-7, isLast: false };
const city = { column: 'geo.city', type: 'string', value: null };

function rowsOf(query: string, column: string, ...rows: readonly Record<string, string | null>[]) {
  const chosen = rows.map(row => new Map(Object.entries(row)));
  const found = chosenRows(new QueryText(query), columns, column, chosen, day);
  return 'condition' in found ? found.condition : found.problem;
}

describe('the events behind rows', () => {
  test.each<[string, string, string, readonly Record<string, string | null>[], string]>([
    ['a value', 'web', 'status', [{ status: 'it\'s "5\\00"' }], String.raw`status == "it's \"5\\00\""`],
    ['a null value', 'web', 'status', [{ status: null }], 'isnull(status)'],
    [
      'several values',
      'web | take 9',
      'status',
      [{ status: '1' }, { status: '2' }, { status: '1' }],
      'status == "1" or status == "2"',
    ],
    [
      'a group, whichever of its values is selected',
      'web | summarize count() by status, place = tolower(["geo.city"]) | sort by count_',
      'count_',
      [{ status: '500', place: 'x', count_: '7' }],
      'status == "500" and tolower(["geo.city"]) == "x"',
    ],
    [
      'groups',
      'web | summarize count() by status, bin(_time, 5m)',
      'status',
      [
        { status: '5', _time: '2026-01-01T00:00:00Z' },
        { status: '6', _time: '2026-01-01T00:05:00Z' },
      ],
      '(status == "5" and bin(_time, 5m) == datetime(2026-01-01T00:00:00Z)) or (status == "6" and bin(_time, 5m) == datetime(2026-01-01T00:05:00Z))',
    ],
    [
      'a bin whose width depends on the range',
      'web | summarize count() by bin_auto(_time)',
      'count_',
      [{ _time: '2026-01-01T00:15:00Z', count_: '1' }],
      'bin(_time, 900s) == datetime(2026-01-01T00:15:00Z)',
    ],
    ['a distinct value', 'web | distinct status', 'status', [{ status: '5' }], 'status == "5"'],
    [
      'no groups',
      'web | summarize count()',
      'count_',
      [{ count_: '7' }],
      'Rows of this result do not correspond to a subset of the events.',
    ],
    [
      'bins of all events',
      'web | summarize count() by histogram(ms, 5)',
      'count_',
      [{ ms: '7', count_: '1' }],
      'Rows of this result do not correspond to a subset of the events.',
    ],
    [
      'named bins of all events',
      'web | summarize count() by h = histogram(ms, 5)',
      'count_',
      [{ h: '7', count_: '1' }],
      'Rows of this result do not correspond to a subset of the events.',
    ],
    [
      'a field computed by the query',
      'web | take 5 | extend status = strcat(status, "!")',
      'status',
      [{ status: '5!' }],
      'The events do not have this status: the query computes it later.',
    ],
  ])('%s', (_, query, column, rows, condition) => {
    expect(rowsOf(query, column, ...rows)).toBe(condition);
  });

  test('refuses more than twenty rows', () => {
    const rows = Array.from({ length: 21 }, (_, index) => ({ status: String(index) }));
    expect(rowsOf('web', 'status', ...rows)).toBe('Choose at most 20 rows.');
  });
});

test.each<[string, ChosenMark, string]>([
  ['summarize count() by status', { values: [status] }, 'status == "5"'],
  ['summarize count() by status = tostring(code)', { values: [status] }, 'tostring(code) == "5"'],
  ['project status, n', { values: [status] }, 'status == "5"'],
  [
    'summarize count() by status, ["geo.city"]',
    { values: [status, city] },
    'status == "5" and isnull(["geo.city"])',
  ],
  [
    'summarize count() by status, ["geo.city"] | project-away ["geo.city"]',
    { values: [status] },
    'The result is also grouped by geo.city, which the chart does not show.',
  ],
  [
    'summarize count() by bin_auto(_time), status',
    { values: [status], span: ['1', '2'] },
    '_time >= 1 and _time < 2 and status == "5"',
  ],
  ['summarize count() by bin(_time, 5m), status', { values: [status], span: 'all' }, 'status == "5"'],
  ['summarize count() by bin(_time, 5m)', { values: [], span: ['1', '2'] }, '_time >= 1 and _time < 2'],
  [
    'summarize count() by bin(_time, 5m), status | project-away _time',
    { values: [status] },
    'The result is also grouped by _time, which the chart does not show.',
  ],
  [
    'summarize count() by status | extend status = strcat("a", status)',
    { values: [status] },
    'The events do not have this status: the query computes it later.',
  ],
  [
    'summarize count() by status',
    { values: [{ ...status, type: 'integer', value: '5 or true' }] },
    'Rows of this result do not correspond to a subset of the events.',
  ],
  [
    'summarize histogram(ms, 5) by bin_auto(_time), status',
    { values: [status], span: ['1', '2'], bucket: { ...bucket, column: 'histogram_ms' } },
    '_time >= 1 and _time < 2 and status == "5" and ms >= -0.5 and ms < 1e-7',
  ],
  [
    'summarize count(), h = histogramif(x * 2, 5, ok or late) by bin(_time, 5m)',
    { values: [], span: ['1', '2'], bucket: { ...bucket, isLast: true } },
    '_time >= 1 and _time < 2 and (x * 2) >= -0.5 and (x * 2) <= 1e-7 and (ok or late)',
  ],
  [
    'summarize h = histogram(ms, 5) by bin(_time, 5m), status',
    { values: [], span: ['1', '2'], bucket },
    'The result is also grouped by status, which the chart does not show.',
  ],
  [
    'summarize h = histogram(ms, 5) by bin(_time, 5m) | extend h = 1',
    { values: [], span: ['1', '2'], bucket },
    'The events do not have this h: the query computes it later.',
  ],
  [
    'summarize h = make_list(ms), histogram(ms, 5) by bin(_time, 5m)',
    { values: [], span: ['1', '2'], bucket },
    'The events do not have this h: the query computes it later.',
  ],
  [
    'summarize h = histogram(ms, 5) by bin(ms, 10), other = bin(_time, 5m)',
    { values: [{ column: 'ms', type: 'integer', value: '1' }], span: ['1', '2'], bucket },
    'The query does not determine which field is on the axis of this chart.',
  ],
  [
    'summarize count() by _time, status',
    { values: [status], span: ['1', '2'] },
    '_time >= 1 and _time < 2 and status == "5"',
  ],
  ['extend status = tolower(status) | take 9 | project status, n', { values: [status] }, 'status == "5"'],
  ...(['summarize count() by histogram(ms, 5)', 'summarize count() by bin_auto(_time)'] as const).map(
    (query): [string, ChosenMark, string] => [
      query,
      { values: [], span: 'all' },
      'Rows of this result do not correspond to a subset of the events.',
    ],
  ),
  ...(['ok or late', 'ms between (1 .. 5)', '-ms', '(ok)'] as const).map(
    (key): [string, ChosenMark, string] => [
      `summarize count() by status = ${key}`,
      { values: [status] },
      key === '(ok)' ? '(ok) == "5"' : `(${key}) == "5"`,
    ],
  ),
  [
    'summarize topk(status, 5)',
    { values: [status] },
    'The events do not have this status: the query computes it later.',
  ],
])('the events behind a chart mark of %s', (query, mark, condition) => {
  const found = chosenMark(new QueryText(`web | ${query}`), mark, day);
  expect('condition' in found ? found.condition : found.problem).toBe(condition);
});

test.each<[string, boolean, string]>([
  ['web | summarize count() by bin(_time, 5m), status', true, '_time >= 1 and _time < 2'],
  ['web | summarize count() by bin_auto(["start.time"])', true, '["start.time"] >= 1 and ["start.time"] < 2'],
  ['web | make-series count() on at from ago(1h) to now() step 1m', true, 'at >= 1 and at < 2'],
  ['web | project _time, ms', true, '_time >= 1 and _time < 2'],
  ['web | summarize count() by bin(ms, 10)', false, 'ms >= 1 and ms < 2'],
  [
    'web | summarize count() by bin(ms, 10), bin(_time, 5m)',
    false,
    'The query does not determine which field is on the axis of this chart.',
  ],
])('the events behind a selection in the chart of %s', (query, isTime, condition) => {
  const found = chosenPart(new QueryText(query), '1', '2', isTime);
  expect('condition' in found ? found.condition : found.problem).toBe(condition);
});

test.each<[string, string, unknown]>([
  ["['web'] | where ok | sort by x | take 5", 'status', { source: "['web']", condition: 'status == "5"' }],
  ['let a = 1;\nweb | where x == a', '_time', { source: 'let a = 1;\nweb' }],
  ['web | extend status = strcat("a", status)', 'status', { source: 'web' }],
  ['// @viz bar\n// why\nweb | take 5', '_time', { source: '// why\nweb' }],
  ['web | project status', 'status', undefined],
  ['web | extend _time = ago(1h)', 'status', undefined],
  ['web | summarize count() by _time, status', 'status', undefined],
  ['range n from 1 to 9 step 1', 'n', undefined],
])('the source of a row of %s', (query, name, source) => {
  expect(sourceOfRow(new QueryText(query), { name, type: 'string' }, '5')).toEqual(source);
});
