import { expect, test } from 'vitest';
import {
  TRACE_MIME,
  type TraceReference,
  traceReference,
} from '../../../kernel/result/trace/trace-reference.js';

const reference: TraceReference = {
  trace: 'abc',
  dataset: 'spans',
  result: { id: '0f', rows: 4, columns: 9 },
  logs: [
    { dataset: 'lines', trace: 'trace_id', span: 'span_id' },
    { dataset: 'notes', trace: 'traceId' },
  ],
  query: '[\'spans\'] | where trace_id == "abc"',
  startTime: '2026-01-01T09:59:00Z',
  endTime: '2026-01-01T10:01:00Z',
  profile: 'local',
};

test('reads back a valid reference and rejects malformed ones', () => {
  expect(TRACE_MIME).toMatch(/^application\/.*\+json$/);
  expect(traceReference(JSON.parse(JSON.stringify(reference)))).toEqual(reference);
  const odd = [undefined, null, 'abc', [], {}, { ...reference, trace: 1 }, { ...reference, result: null }];
  expect([...odd, { ...reference, result: { id: '0f', rows: '4', columns: 9 } }].map(traceReference)).toEqual(
    Array.from({ length: odd.length + 1 }, () => undefined),
  );
  const { logs } =
    traceReference({ ...reference, logs: [null, { dataset: 1 }, { dataset: 'x', trace: 'y', span: 2 }] }) ??
    {};
  expect(logs).toEqual([{ dataset: 'x', trace: 'y' }]);
});
