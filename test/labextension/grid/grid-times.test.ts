import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedText, shownTime, timeFormat } from '../../../labextension/src/grid/grid-times.js';
import { timeIn } from '../../../labextension/src/link/link-zone.js';

const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = 'Asia/Kolkata';
});
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test.each([
  ['2026-11-20T18:30:00.123456789Z', 'local', '2026-11-21T00:00:00.123456789+05:30'],
  ['2026-11-20T18:30:00Z', 'local', '2026-11-21T00:00:00+05:30'],
  ['2026-11-20T18:30:00.123456789Z', 'utc', '2026-11-20T18:30:00.123456789Z'],
] as const)('%s in %s time', (exact, where, shown) => expect(timeIn(exact, where)).toBe(shown));

describe('times without their shared parts', () => {
  const shown = (times: readonly string[], zone: 'utc' | 'local' = 'utc', more: readonly string[] = []) => {
    const format = timeFormat(times);
    return [sharedText(zone, format), ...[...times, ...more].map(time => shownTime(time, zone, format))];
  };

  test('show a common day once', () =>
    expect(shown(['2026-11-20T09:00:00Z', '2026-11-20T10:00:00.5Z'])).toEqual([
      'UTC \u00b7 2026-11-20',
      '09:00:00.0',
      '10:00:00.5',
    ]));

  test('show a different day and extra digits in full', () =>
    expect(
      shown(['2026-11-20T09:00:00Z'], 'utc', ['2026-11-21T09:00:00Z', '2026-11-20T09:00:00.123456789Z']),
    ).toEqual(['UTC \u00b7 2026-11-20', '09:00:00', '2026-11-21 09:00:00', '09:00:00.123456789']));

  test('show the day of each if there are several', () =>
    expect(shown(['2026-11-20T09:00:00Z', '2026-11-21T00:00:00Z'])).toEqual([
      'UTC',
      '2026-11-20 09:00:00',
      '2026-11-21 00:00:00',
    ]));

  test('show days only, as in daily bins', () =>
    expect(shown(['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'], 'utc', ['2026-11-22T01:00:00Z'])).toEqual([
      'UTC',
      '2026-11-20',
      '2026-11-21',
      '2026-11-22 01:00:00',
    ]));

  test('show local time, with the offset in the header', () =>
    expect(shown(['2026-11-20T18:30:00Z', '2026-11-20T18:31:00Z'], 'local')).toEqual([
      'UTC+05:30 \u00b7 2026-11-21',
      '00:00:00',
      '00:01:00',
    ]));

  test('show a different offset in full', () => {
    process.env.TZ = 'Europe/Berlin';
    expect(shown(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'], 'local')).toEqual([
      'UTC+02:00 \u00b7 2026-10-25',
      '02:30:00',
      '02:30:00 +01:00',
    ]);
    process.env.TZ = 'Asia/Kolkata';
  });

  test('leave a value that is not a time unchanged', () => {
    expect(shown([])).toEqual(['UTC']);
    expect(shownTime('never', 'utc', timeFormat([]))).toBe('never');
  });
});
