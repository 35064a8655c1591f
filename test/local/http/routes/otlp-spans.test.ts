import { expect, test } from 'vitest';
import type { Span } from '../../../../kernel/local/otlp/otlp-protocol.js';
import { spanEvent } from '../../../../kernel/local/otlp/otlp-spans.js';

const cellsOf = (entry: Span) => spanEvent({ resource: [], scope: {}, entry }).cells;

test.each<[Span['kind'], string]>([
  [undefined, 'unspecified'],
  [0, 'unspecified'],
  [1, 'internal'],
  [2, 'server'],
  [3, 'client'],
  [4, 'producer'],
  [5, 'consumer'],
  [6, '6'],
  ['SPAN_KIND_SERVER', 'server'],
  ['SPAN_KIND_CONSUMER', 'consumer'],
  ['other', 'other'],
])('the kind %s of a span is %s', (kind, name) => {
  expect(cellsOf({ ...(kind === undefined ? {} : { kind }) }).get('kind')).toEqual({
    type: 'string',
    text: `"${name}"`,
  });
});

test.each<[number | string | undefined, string | undefined, string]>([
  [undefined, undefined, 'false'],
  [0, undefined, 'false'],
  [1, '"OK"', 'false'],
  [2, '"ERROR"', 'true'],
  [3, '"3"', 'false'],
  ['STATUS_CODE_UNSET', undefined, 'false'],
  ['STATUS_CODE_OK', '"OK"', 'false'],
  ['STATUS_CODE_ERROR', '"ERROR"', 'true'],
])('the status %s of a span is %s, and an error: %s', (code, text, error) => {
  const cells = cellsOf(code === undefined ? {} : { status: { code } });
  expect([cells.get('status.code')?.text, cells.get('error')?.text]).toEqual([text, error]);
});

test('a span has a duration if it has a start and an end', () => {
  const duration = (entry: Span) => cellsOf(entry).get('duration');
  expect(duration({ startTimeUnixNano: '5', endTimeUnixNano: '12' })).toEqual({
    type: 'timespan',
    text: '7',
  });
  expect(duration({ startTimeUnixNano: '5' })).toBeUndefined();
  expect(duration({ endTimeUnixNano: '12' })).toBeUndefined();
});
