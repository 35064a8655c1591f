import { describe, expect, test } from 'vitest';
import { toOutputs } from '../../kernel/result/mime.js';
import { percent, spotlightEntries, spotlightSentence, strongest } from '../../kernel/result/spotlight.js';
import { sampleResult } from './sample.js';

const region = {
  field: 'region',
  score: 0.88,
  values: [
    { value: 'GRU', selected: 0.92, baseline: 0.04 },
    { value: 'FRA', selected: 0.08, baseline: 0.96 },
  ],
};
const range = (from: number | null, to: number | null, selected: number, baseline: number) => ({
  value: `${from} to ${to}`,
  selected,
  baseline,
  from,
  to,
});
const ms = {
  field: 'ms',
  score: 0.5,
  values: [
    range(null, 9, 0.1, 0.5),
    range(9, 36, 0.3, 0.1),
    range(36, 90, 0.4, 0.2),
    range(90, null, 0.2, 0.2),
  ],
};
const share = (value: string, selected: number, baseline: number) => ({ value, selected, baseline });
const member = (part: object) => ({
  ...region,
  values: [{ value: 'of a test', selected: 1, baseline: 0, ...part }],
});
const pair = {
  field: 'a, b',
  fields: ['a', 'b'],
  score: 0.7,
  values: [{ value: 'a1, 9 to 36', selected: 1, baseline: 0, parts: [{ value: 'a1' }, { from: 9, to: 36 }] }],
};
const method = {
  field: 'method',
  score: 0,
  values: [{ value: 'GET', selected: 0.5, baseline: 0.5 }],
};
const left = (field: string, note: string) => ({ field, score: 0, values: [], note });

const resultOf = (entries: readonly unknown[], groups: readonly string[] = []) =>
  sampleResult([
    {
      columns: [
        ...groups.map(name => [name, 'string', '["g1"]'] as const),
        ['found', 'dynamic', JSON.stringify([entries])],
      ],
      aggs: { found: { name: 'spotlight' } },
      groups,
    },
  ]);

async function texts(entries: readonly unknown[], width?: number): Promise<readonly string[]> {
  const outputs = await toOutputs(resultOf(entries), width === undefined ? {} : { width });
  return outputs.map(({ data }) => String(data['text/plain']));
}

describe('the sentence of an entry', () => {
  const sentence = (entry: unknown) => {
    const best = strongest(spotlightEntries([entry])[0] ?? { field: '', score: 0, values: [] });
    return best && spotlightSentence(best);
  };

  test.each([
    ['a value', region, '92% of the selected events have region = GRU, 4% of the others'],
    ['neighboring ranges', ms, '70% of the selected events have ms from 9 to 90, 30% of the others'],
    ['fields together', pair, '100% of the selected events have a = a1 and b from 9 to 36, 0% of the others'],
    [
      'a missing value',
      { ...region, values: [{ value: null, selected: 0.5, baseline: 0.001 }] },
      '50% of the selected events have no region, 0.1% of the others',
    ],
    [
      'an open range',
      { ...ms, values: [range(9, 36, 0.1, 0.3), range(36, null, 0.9, 0.7)] },
      '90% of the selected events have ms \u2265 36, 70% of the others',
    ],
    [
      'the value whose share grows most, not the most frequent one',
      { ...region, values: [share('FRA', 0.6, 0.5), share('GRU', 0.4, 0.1)] },
      '40% of the selected events have region = GRU, 10% of the others',
    ],
    [
      'the first of several values that grow equally',
      { ...region, values: [share('FRA', 0.25, 0.5), share('GRU', 0.5, 0.25), share('IAD', 0.25, 0)] },
      '50% of the selected events have region = GRU, 25% of the others',
    ],
    [
      'ranges with a less frequent one between them',
      { ...ms, values: [range(null, 9, 0.3, 0.1), range(9, 36, 0.1, 0.5), range(36, null, 0.6, 0.2)] },
      '60% of the selected events have ms \u2265 36, 20% of the others',
    ],
    ['a word', member({ has: 'deadlock' }), 'region has deadlock'],
    ['a missing element', member({ lacks: 7 }), 'region without 7'],
    ['a prefix', member({ starts: '10.2.' }), 'region that starts with 10.2.'],
    ['a map member', member({ member: 'zone', is: 'a' }), 'region.zone = a'],
    ['nothing more frequent', { ...region, values: [] }, undefined],
  ])('of %s', (_, entry, expected) =>
    expect(sentence(entry)).toBe(
      expected?.startsWith('region')
        ? `100% of the selected events have ${expected}, 0% of the others`
        : expected,
    ),
  );

  test('never rounds a share to 0% or 100%', () => {
    expect([0, 0.0001, 0.004, 0.015, 0.92, 0.995, 0.9999, 1].map(percent)).toEqual([
      '0%',
      '<0.1%',
      '0.4%',
      '2%',
      '92%',
      '99.5%',
      '>99.9%',
      '100%',
    ]);
  });
});

describe('a result of spotlight', () => {
  test('is bars by field and a table, and names omitted fields', async () => {
    const [chart, table] = await texts([
      region,
      ms,
      method,
      left('id', 'left out: nearly every row has its own value'),
      left('_time', 'left out: the time of the event'),
      left('_sysTime', 'left out: the time of the event'),
    ]);
    expect(chart).toBe(
      'Shares of region, ms; 92% of the selected events have region = GRU, 4% of the others; 70% of the selected events have ms from 9 to 90, 30% of the others.',
    );
    expect(table?.split('\n').map(line => line.replace(/ +/g, ' ').trim())).toEqual([
      'Note: Left out: method (no difference beyond chance); id (nearly every row has its own value); _time, _sysTime (the time of the event).',
      '6 rows × 5 columns · last 1h (2026-11-20T09:00:00Z to 2026-11-20T10:00:00Z)',
      'field score value selected (percent) others (percent)',
      '────── ───── ────────── ────────────────── ────────────────',
      'region 0.88 GRU 92 4',
      'region 0.88 FRA 8 96',
      'ms 0.50 null to 9 10 50',
      'ms 0.50 9 to 36 30 10',
      'ms 0.50 36 to 90 40 20',
      'ms 0.50 90 to null 20 20',
      expect.stringContaining('rows examined'),
    ]);
  });

  test('notes which shares were computed from a part of the rows', async () => {
    const [chart, table] = await texts([{ ...region, rows: 5600 }, ms]);
    const note = 'the shares of region are based on 5,600 rows, sampled evenly from both sides';
    expect(chart).toContain(`; ${note}.`);
    expect(table?.split('\n')[0]).toBe(`Note: T${note.slice(1)}.`);
  });

  test('shows the selected rows above the others in a terminal', async () => {
    const [chart] = await texts([region], 60);
    expect(chart?.split('\n')).toEqual([
      '92% of the selected events have region = GRU, 4% of the oth…',
      'region · score 0.88',
      'GRU       ███████████████████████████████████████████▏ 92 %',
      '  others  █▉ 4 %',
      'FRA       ███▊ 8 %',
      '  others  █████████████████████████████████████████████ 96 %',
      'Shares of region; 92% of the selected events have region =',
      'GRU, 4% of the others.',
    ]);
  });

  test.each([
    ['nothing selected', [left('a', 'no row is selected')], 'Nothing to compare: no row is selected.'],
    [
      'only chance differences',
      [method],
      'No field distinguishes the selected events from the others better than chance.',
    ],
  ])('with %s has a sentence above the table', async (_, entries, sentence) => {
    const [table, ...more] = await texts(entries);
    expect(more).toEqual([]);
    expect(table?.split('\n')[0]).toBe(`Note: ${sentence}`);
  });

  test('has a bar for a missing value, distinct from "null"', async () => {
    const entry = {
      ...ms,
      values: [
        ...Array.from({ length: 7 }, (_, at) => range(at, at + 1, 0, 0.1)),
        { value: null, selected: 1, baseline: 0.2 },
        { value: 'null', selected: 0, baseline: 0.1 },
      ],
    };
    const [chart, table] = await texts([entry], 60);
    const bars = chart?.split('\n').filter(line => /^"?null/.test(line));
    expect(bars).toEqual(['null      ████████████████████████████████████████████ 100 %', '"null"     0 %']);
    expect(table?.split('\n').filter(line => line.includes('null'))).toEqual([
      expect.stringMatching(/^ms +0\.5 +null +100 +20$/),
      expect.stringMatching(/^ms +0\.5 +"null" +0 +10$/),
    ]);
  });

  test('draws six values without ranges, with a note', async () => {
    const value = (at: number) => ({ value: `v${at}`, selected: 0.1, baseline: at / 100 });
    const drawn = async (count: number) =>
      (await texts([{ ...region, values: Array.from({ length: count }, (_, at) => value(at)) }], 60))[0];
    const six = await drawn(6);
    expect(six).toContain('v5 ');
    expect(six).not.toContain('the 6 values');
    const seven = await drawn(7);
    expect(seven).not.toContain('v6 ');
    expect(seven?.replaceAll('\n', ' ')).toContain('the 6 values of a field whose shares differ most');
  });

  test('by group is only a table, with the group in each row', async () => {
    const [table, ...more] = await toOutputs(resultOf([region], ['g']));
    expect(more.length).toBe(0);
    expect(table?.data['text/plain']).toMatch(/g1 +region +0.88 +GRU +92 +4\n/);
  });

  test('escapes values', async () => {
    const hostile = '<img src=x onerror=alert(1)>\u001b[31m';
    const entry = { ...region, field: hostile, values: [{ value: hostile, selected: 1, baseline: 0 }] };
    const outputs = await toOutputs(resultOf([entry]), { width: 100 });
    for (const { data } of outputs) {
      expect(`${data['text/html']}${data['image/svg+xml']}`).not.toContain('<img');
      expect(data['text/plain']).not.toContain('\u001b');
    }
    expect(outputs.length).toBe(2);
  });

  test('has a result id on the chart only, since the kernel keeps the list', async () => {
    const outputs = await toOutputs(resultOf([region]), { resultId: 'r1' });
    expect(outputs.map(({ metadata }) => (metadata.apl as { result?: { id: string } }).result?.id)).toEqual([
      'r1',
      undefined,
    ]);
  });
});

test('phrases are shown as a table', async () => {
  const found = '[[{"phrase":"disk is full","count":9007},{"phrase":"all fine","count":1}]]';
  const [table] = await toOutputs(
    sampleResult([{ columns: [['p', 'dynamic', found]], aggs: { p: { name: 'phrases' } } }]),
  );
  expect(table?.data['text/plain']).toMatch(/phrase +count\n─+ +─+\ndisk is full +9,007\nall fine +1\n/);
});

test.each(['phrases', 'presence'])('%s of counts that are not whole are left out', async name => {
  const found = {
    phrases: [
      { phrase: 'a', count: 1.5 },
      { phrase: 'b', count: 2 },
    ],
    presence: { a: 1.5, b: 2 },
  };
  const cell = JSON.stringify([found[name as keyof typeof found]]);
  const [table] = await toOutputs(
    sampleResult([{ columns: [['p', 'dynamic', cell]], aggs: { p: { name } } }]),
  );
  expect(table?.data['text/plain']).toMatch(/count\n─+ +─+\nb +2\n/);
  expect(table?.data['text/plain']).not.toMatch(/^a /m);
});

test('presence is shown as a table, the least used field first', async () => {
  const found = '[{"b":9007,"__proto__":2,"<i>":0}]';
  const [table] = await toOutputs(
    sampleResult([{ columns: [['p', 'dynamic', found]], aggs: { p: { name: 'presence' } } }]),
  );
  expect(table?.data['text/plain']).toMatch(/field +count\n─+ +─+\n<i> +0\n__proto__ +2\nb +9,007\n/);
  expect(table?.data['text/html']).not.toContain('<i>');
});
