import { describe, expect, test } from 'vitest';
import { toOutputs, toOutputWithoutData } from '../../kernel/result/mime.js';
import type { QueryResult, Shortfall } from '../../kernel/result/result.js';
import { mayMissBins, readThrough } from '../../kernel/result/shortfall.js';
import { sampleResult } from './sample.js';

const result = (shortfalls: readonly Shortfall[], status: object = {}): QueryResult => ({
  ...sampleResult(
    [
      {
        columns: [
          ['host', 'string', '["a","b"]'],
          ['count_', 'integer', '[1,2]'],
        ],
        groups: ['host'],
        aggs: { count_: { name: 'count' } },
      },
    ],
    { status },
  ),
  shortfalls,
});

const kinds: Readonly<Record<Shortfall['kind'], readonly [QueryResult, said: string, missesBins: boolean]>> =
  {
    cut: [result([{ kind: 'cut', holds: 'the first 2 of 5 rows' }]), 'the first 2 of 5 rows', true],
    sampled: [result([{ kind: 'sampled', holds: 'a sample', isAsked: true }]), 'a sample', true],
    partial: [
      result([], { isPartial: true }),
      'only part of the rows: the service did not read all data in the range',
      true,
    ],
    estimated: [result([], { isEstimate: true }), 'an estimate: the service did not count every row', false],
    replayed: [result([{ kind: 'replayed', holds: 'a recorded answer' }]), 'a recorded answer', false],
  };

describe.each(Object.keys(kinds) as Shortfall['kind'][])('%s', kind => {
  const [own, said, missesBins] = kinds[kind];
  const read = result(readThrough('z', own));

  test('is reported in a chart, above a table, without data and in metadata', async () => {
    for (const [each, sentence] of [
      [own, `the result contains ${said}`],
      [read, `\`z\` contains ${said}`],
    ] as const) {
      const [chart, table] = await toOutputs(each);
      expect(chart?.data['text/plain']).toContain(sentence);
      expect(String(chart?.data['image/svg+xml'])).toContain(said.slice(0, 20));
      expect(table?.metadata.apl).toMatchObject({ shortfalls: [{ kind, text: sentence }] });
      expect(toOutputWithoutData(each).data['text/plain']).toContain(said);
    }
    const [, table] = await toOutputs(read);
    expect(table?.data['text/plain']).toContain(`z contains ${said}.`);
    expect(table?.data['text/html']).toContain(`contains ${said}.`);
  });

  test('determines whether an empty bin may have had rows', () => {
    expect(mayMissBins(own)).toBe(missesBins);
    expect(mayMissBins(read)).toBe(missesBins);
  });
});

test('a cut in time order leaves no gaps', () => {
  expect(mayMissBins(result([{ kind: 'cut', holds: 'x', isGapless: true }]))).toBe(false);
});
