import { describe, expect, test } from 'vitest';
import type { Answer, EditorQuestion, ResultRow } from '../../../kernel/apl/editor/editor-link.js';
import {
  cellOf,
  conditionOf,
  factsOf,
  insertOf,
  itemsOf,
  type Subject,
} from '../../../labextension/src/panel/panel-items.js';

const datasets: Answer = {
  ...{ tell: 'datasets', question: { ask: 'datasets' } },
  rows: [
    {
      ...{ name: 'web-logs', description: 'requests', rows: 1_234, range: '2026-01-01..2026-01-03' },
      ...{ firstTime: '2026-01-01T10:00:00Z', lastTime: '2026-01-02T11:00:00Z' },
    },
    { name: 'traces', description: '' },
  ],
};

const result = {
  ...{ rows: 2, columns: 1, bytes: 30, profile: 'local' },
  ...{ startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-02T00:00:00Z' },
};
let results: readonly ResultRow[] = [];

/** Answers a question as the kernel would; undefined if it has not answered yet. */
function answers({ ask }: EditorQuestion): Answer | undefined {
  const question = { ask: 'profiles' } as const;
  if (ask === 'datasets') return datasets;
  if (ask === 'stars') return { tell: 'failed', question, message: 'no access', hint: 'Use another token.' };
  if (ask === 'results') return { tell: 'results', question, rows: results };
  if (ask === 'fields')
    return {
      tell: 'fields',
      question,
      fields: [
        { name: 'tags', type: 'dynamic' },
        { name: 'took', type: 'long', unit: 'ms' },
      ],
    };
  if (ask === 'keys') return { tell: 'texts', question, texts: ['a b'] };
  if (ask === 'top') return { tell: 'top', question, top: [{ text: null, count: 2 }] };
  return undefined;
}

describe('rows of the panel', () => {
  const check = (open: readonly string[], filter: string, expected: readonly string[]) => {
    const view = { isOpen: (key: string) => open.includes(key), filter };
    const rows = itemsOf({ profile: 'local', answer: answers }, view);
    expect(
      rows.map(({ level, label, detail = '' }) => `${'  '.repeat(level - 1)}${label} | ${detail}`),
    ).toEqual(expected);
  };
  const closed = ['Results | ', 'Starred queries | ', 'History | ', 'Profiles | '];

  test('closed sections request nothing', () => check([], '', ['Datasets | ', ...closed]));

  test('list datasets with their event counts and days', () =>
    check(['datasets'], '', [
      'Datasets | 2',
      '  web-logs | 1,234 \u00b7 2026-01-01 to 2026-01-02',
      '  traces | ',
      ...closed,
    ]));

  test('the filter matches names and descriptions', () =>
    check(['datasets'], 'REQ', [
      'Datasets | 1',
      '  web-logs | 1,234 \u00b7 2026-01-01 to 2026-01-02',
      ...closed,
    ]));

  test('list fields, keys of maps, and values', () =>
    check(
      ['datasets', 'dataset traces', 'field ["traces","tags"]', 'field ["traces","tags","a b"]'],
      'traces',
      [
        ...['Datasets | 1', '  traces | ', '    tags | dynamic', '      a b | ', '        (none) | 2'],
        ...['    took | long, ms', ...closed],
      ],
    ));

  test('a result without a name shows its query', () => {
    results = [
      { ...result, names: ['_', 'errs'], query: 'web | limit 2' },
      { ...result, names: [], query: 'web\n| limit 2' },
    ];
    const said = ['  _, errs | 2 rows \u00b7 30 B', '  web | limit 2 | 2 rows \u00b7 30 B'];
    try {
      check(['results'], '', ['Datasets | ', 'Results | 2', ...said, ...closed.slice(1)]);
    } finally {
      results = [];
    }
  });

  test('an empty, failed or loading section says so', () =>
    check(['results', 'stars', 'history'], '', [
      ...['Datasets | ', 'Results | ', '  None yet. | ', 'Starred queries | '],
      ...['  no access. Use another token. | ', 'History | ', '  Loading\u2026 | ', 'Profiles | '],
    ]));
});

test('each row has its kind, label and detail', () => {
  const history = {
    ...{ profile: 'local', at: '2026-01-01T10:20:30Z', query: 'web\n| count' },
    ...{ startTime: result.startTime, endTime: result.endTime, elapsedMs: 5, hasVariables: false },
  };
  const question = { ask: 'profiles' } as const;
  const told: readonly Answer[] = [
    {
      ...{ tell: 'stars', question },
      rows: [
        { id: '1', name: 'Errors', dataset: 'web', query: 'web | limit 1' },
        { id: '2', name: '', query: 'print 1' },
      ],
    },
    {
      ...{ tell: 'history', question },
      rows: [
        { ...history, number: 2, rows: 1_234 },
        { ...history, number: 1, error: 'timeout' },
      ],
    },
    {
      ...{ tell: 'profiles', question },
      rows: [
        { name: 'local', hasToken: false },
        { name: 'p', hasToken: true },
        { name: 'q', hasToken: true, problem: 'not an address' },
      ],
    },
    { tell: 'results', question, rows: [{ ...result, names: ['errs'], query: 'web' }] },
    {
      ...{ tell: 'top', question },
      top: [
        { text: '5', count: 7 },
        { text: null, count: 2 },
      ],
    },
  ];
  const open = ['datasets', 'dataset traces', 'field ["traces","took"]', 'results', 'stars', 'history'];
  const questions: EditorQuestion[] = [];
  const rows = itemsOf(
    {
      profile: 'local',
      answer: asked => {
        questions.push(asked);
        return told.find(({ tell }) => tell === asked.ask) ?? answers(asked);
      },
    },
    { isOpen: key => open.includes(key) || key === 'profiles', filter: '' },
  );
  // The kernel filters only its history.
  expect(questions.filter(({ ask }) => ask === 'history' || ask === 'stars')).toEqual([
    { ask: 'stars' },
    { ask: 'history', text: '' },
  ]);
  expect(rows.map(({ kind, label, detail = '' }) => [kind, label, detail])).toEqual([
    ['section', 'Datasets', '2'],
    ['dataset', 'web-logs', '1,234 \u00b7 2026-01-01 to 2026-01-02'],
    ['dataset', 'traces', ''],
    ['field', 'tags', 'dynamic'],
    ['field', 'took', 'long, ms'],
    ['value', '5', '7'],
    ['none', '(none)', '2'],
    ['section', 'Results', '1'],
    ['result', 'errs', '2 rows \u00b7 30 B'],
    ['section', 'Starred queries', '2'],
    ['star', 'Errors', 'web'],
    ['star', '(empty)', ''],
    ['section', 'History', '2'],
    ['history', 'web | count', '1,234 \u00b7 10:20'],
    ['history', 'web | count', 'failed \u00b7 10:20'],
    ['section', 'Profiles', '3'],
    ['profile', 'local', 'in use'],
    ['profile', 'p', ''],
    ['profile', 'q', 'cannot be used'],
  ]);
  expect(rows.filter(({ isCurrent }) => isCurrent).map(({ label }) => label)).toEqual(['local']);
});

test('names and values are inserted as valid APL', () => {
  const value = (type: string, text: string | null, path = ['f']): Extract<Subject, { kind: 'value' }> => ({
    ...{ kind: 'value', type, path, value: { text, count: 1 } },
  });
  expect(insertOf({ kind: 'dataset', row: { name: 'web-logs', description: '' } })).toBe("['web-logs']");
  expect(insertOf({ kind: 'field', dataset: 'd', path: ['tags', 'a b', 'c'] })).toBe("tags['a b'].c");
  expect(conditionOf(value('string', 'it\'s "x"\n'))).toBe('f == "it\'s \\"x\\"\\n"');
  expect(conditionOf(value('long', '500'))).toBe('f == 500');
  expect(conditionOf(value('datetime', '2026-01-01T00:00:00Z'))).toBe('f == datetime(2026-01-01T00:00:00Z)');
  expect(conditionOf(value('dynamic', '1', ['m', 'k']))).toBe('tostring(m.k) == "1"');
  expect(conditionOf(value('real', 'NaN'))).toBe('isnan(f)');
  expect(conditionOf(value('real', '-Infinity'))).toBe('isinf(f) and f < 0');
  const inserted = ['NaN', '-Infinity', '1.5', '12345678901234567'].map(text =>
    insertOf(value('real', text)),
  );
  expect(inserted).toEqual(['todouble("NaN")', 'todouble("-Infinity")', '1.5', '12345678901234568.0']);
  expect(conditionOf(value('timespan', '1m30s'))).toBe('f == totimespan("1m30s")');
  expect(conditionOf(value('dynamic', '', ['m', 'k']))).toBe('(isnotnull(m.k) and tostring(m.k) == "")');
  expect(conditionOf(value('string', null))).toBe('isempty(f)');
  expect(conditionOf(value('long', null))).toBe('isnull(f)');
  expect(cellOf('now-1h..now', 'T')).toBe('%%time now-1h..now\nT');
});

test('a profile lists its address and whether it has a token', () =>
  expect(
    factsOf({ kind: 'profile', inUse: false, row: { name: 'p', address: 'https://a', hasToken: false } }),
  ).toEqual([
    ['address', 'https://a'],
    ['token', 'none; the kernel prompts for it'],
  ]));
