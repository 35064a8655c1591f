import { expect, test } from 'vitest';
import { freezeNotebook } from '../../kernel/headless/freeze.js';
import type { CodeCell, Notebook, NotebookCell } from '../../kernel/headless/notebook.js';

/** 2026-03-04T05:06:07Z */
const now = 1_772_600_767_000_000_000n;

/** A cell and, if it was run, the windows of its outputs: range label, start, end. */
type Sample = readonly [source: string, ...windows: readonly (readonly [string, string, string])[]];

function notebookOf(samples: readonly Sample[]): Notebook {
  const cells: NotebookCell[] = samples.map(([source, ...windows]) => ({
    cell_type: 'code',
    source,
    metadata: {},
    execution_count: null,
    outputs: windows.map(([rangeLabel, startTime, endTime]) => ({
      output_type: 'display_data' as const,
      data: {},
      metadata: { apl: { rangeLabel, startTime, endTime } },
    })),
  }));
  return { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
}

const HOUR = ['last 1h', '2026-03-01T00:00:00Z', '2026-03-01T01:00:00Z'] as const;

const cases: readonly (readonly [string, readonly Sample[], readonly string[]])[] = [
  [
    'a range without outputs is resolved now',
    [['%time yesterday\nweb'], ['web']],
    ['%time 2026-03-03T00:00:00Z..2026-03-04T00:00:00Z\nweb', 'web'],
  ],
  [
    'a range with outputs below it becomes their window',
    [['%time last 1h'], ['web', HOUR], ['web', ['last 1h', '2026-03-01T00:00:09Z', '2026-03-01T01:00:09Z']]],
    ['%time 2026-03-01T00:00:00Z..2026-03-01T01:00:00Z', 'web', 'web'],
  ],
  [
    'a range ignores outputs after the next range and outputs of single-cell ranges',
    [
      ['%time last 1h'],
      ['%%time last 2h\nweb', ['last 2h', '2026-02-01T00:00:00Z', '2026-02-01T02:00:00Z']],
      ['%time today'],
      ['web', HOUR],
    ],
    [
      '%time 2026-03-04T04:06:07Z..2026-03-04T05:06:07Z',
      '%%time 2026-02-01T00:00:00Z..2026-02-01T02:00:00Z\nweb',
      '%time 2026-03-04T00:00:00Z..2026-03-04T05:06:07Z',
      'web',
    ],
  ],
  [
    'without a line, the default range is written above the first query of data',
    [['%limit 5'], ['web', HOUR], ['web']],
    ['%limit 5', '%time 2026-03-01T00:00:00Z..2026-03-01T01:00:00Z\nweb', 'web'],
  ],
  [
    'a range of two times is unchanged',
    [['%time 2026-01-01..2026-01-02\nweb']],
    ['%time 2026-01-01..2026-01-02\nweb'],
  ],
  [
    '--freeze is removed',
    [['%time 2026-01-01 --freeze'], ['%time --freeze'], ['%time last 1h --freeze']],
    ['%time 2026-01-01', '%time 2026-01-01', '%time 2026-03-04T04:06:07Z..2026-03-04T05:06:07Z'],
  ],
  [
    '--clear becomes the default range, and a line that only shows the range is unchanged',
    [['%time 2026-01-01'], ['%time --clear\n%time\nweb']],
    ['%time 2026-01-01', '%time 2026-03-04T04:06:07Z..2026-03-04T05:06:07Z\n%time\nweb'],
  ],
  [
    '`all` becomes the interval around all windows below it',
    [
      ['%time all'],
      [
        'a',
        ['all', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'],
        ['all', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
      ],
    ],
    ['%time 2026-01-01T00:00:00Z..2026-01-03T00:00:00Z', 'a'],
  ],
  ['`all` without outputs is unchanged', [['%time all'], ['web']], ['%time all', 'web']],
  ['an invalid range is unchanged', [['%time lst 1h'], ['web']], ['%time lst 1h', 'web']],
];

test.each(cases)('%s', (_, samples, after) => {
  const notebook = notebookOf(samples);
  const done = freezeNotebook(notebook, now);
  expect(notebook.cells.map(({ source }) => source)).toEqual(after);
  const isRefused = after[0] === samples[0]?.[0] && /all|lst/.test(after[0] ?? '');
  expect(done.some(({ kind }) => kind === 'refused')).toBe(isRefused);
  if (!isRefused) expect(freezeNotebook(notebook, now + 60_000_000_000n)).toEqual([]);
});

test('reports each change with its cell and the origin of its window', () => {
  const notebook = notebookOf([['// why'], ['%time last 1h\nweb', HOUR], ['%%time all\nweb']]);
  (notebook.cells[0] as CodeCell).metadata = { tags: ['x'] };
  expect(freezeNotebook(notebook, now)).toEqual([
    {
      kind: 'frozen',
      cell: 2,
      before: '%time last 1h',
      after: '%time 2026-03-01T00:00:00Z..2026-03-01T01:00:00Z',
      asRun: true,
    },
    {
      kind: 'refused',
      cell: 3,
      reason: '`%time all` is the window of its results, and there are none: run the notebook first',
    },
  ]);
});
