import { afterEach, expect, test } from 'vitest';
import { rangeText } from '../../../labextension/src/toolbar/range-text.js';

const now = new Date('2026-06-01T00:00:00Z');

test.each([
  ['2026-01-26T14:30:00Z', '2026-01-26T16:30:00.836Z', '26 Jan 14:30\u201316:30 UTC'],
  ['2026-01-26T23:00:00Z', '2026-01-27T01:00:00Z', '26 Jan 23:00 \u2013 27 Jan 01:00 UTC'],
  ['2025-12-31T23:00:00Z', '2026-01-01T01:00:00Z', '31 Dec 2025 23:00 \u2013 1 Jan 01:00 UTC'],
  ['2015-05-17T10:00:00Z', '2015-05-21T11:00:00Z', '17 May 10:00 \u2013 21 May 2015 11:00 UTC'],
  ['2015-05-17T00:00:00Z', '2015-05-21T00:00:00Z', '17 May \u2013 20 May 2015 UTC'],
  ['2015-05-17T00:00:00Z', '2015-05-18T00:00:00Z', '17 May 2015 UTC'],
  ['2026-01-26T00:00:00Z', '2026-01-26T00:00:00.5Z', '26 Jan 00:00\u201300:00 UTC'],
  ['2025-12-01T00:00:00Z', '2026-01-01T00:00:00Z', '1 Dec \u2013 31 Dec 2025 UTC'],
])('shows a fixed range from %s to %s', (startTime, endTime, text) =>
  expect(rangeText({ label: 'any', startTime, endTime, isFrozen: true }, 'utc', now)).toBe(text),
);

const machine = process.env.TZ;
afterEach(() => {
  if (machine === undefined) delete process.env.TZ;
  else process.env.TZ = machine;
});

test('takes the current year from the zone of its times', () => {
  process.env.TZ = 'America/New_York';
  const range = {
    label: 'any',
    startTime: '2026-12-31T23:00:00Z',
    endTime: '2027-01-01T01:00:00Z',
    isFrozen: true,
  };
  const late = new Date('2027-01-01T02:00:00Z');
  expect(rangeText(range, 'local', late)).toBe('31 Dec 18:00\u201320:00 UTC-05:00');
  expect(rangeText(range, 'utc', late)).toBe('31 Dec 2026 23:00 \u2013 1 Jan 01:00 UTC');
});

test('shows a moving range as typed', () =>
  expect(
    rangeText(
      { label: 'last 1h', startTime: '2026-01-26T14:30:00Z', endTime: '', isFrozen: false },
      'utc',
      now,
    ),
  ).toBe('last 1h'));
