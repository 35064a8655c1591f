import { expect, test } from 'vitest';
import { spansOf } from '../../../kernel/result/trace/trace-spans.js';
import { sampleResult } from '../sample.js';

test.each<readonly [string, string, bigint]>([
  ['long', '1500000', 1_500_000n],
  ['long', '-5', -5n],
  ['float', '1500000.4', 1_500_000n],
  ['float', '1e21', 10n ** 21n],
  ['float', '-2.0', -2n],
  ['timespan', '"1.5ms"', 1_500_000n],
  ['string', '"1.5ms"', 1_500_000n],
  ['string', '"soon"', 0n],
])('the %s %s as a duration is %d nanoseconds', (type, cell, expected) => {
  const columns = [
    ['_time', 'datetime', '["2026-01-01T00:00:00Z"]'],
    ['span_id', 'string', '["a"]'],
    ['duration', type, `[${cell}]`],
  ] as const;
  const [table] = sampleResult([{ columns }]).tables;
  if (table === undefined) throw new Error('there is no table');
  const [span] = spansOf(table).spans;
  expect(span?.duration).toBe(expected);
});
