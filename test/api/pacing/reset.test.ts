import { describe, expect, test } from 'vitest';
import { limitReset, type Reset, readReset, readRetryAfter } from '../../../kernel/api/pacing/reset.js';

const hour = 3_600_000;

describe('the end of a limit', () => {
  test.each<readonly [what: string, text: string, reset: Reset | undefined]>([
    ['seconds from now', '0', { after: 0 }],
    ['fractions of a second', '0.5', { after: 500 }],
    ['the most seconds from now', '9999999', { after: 9_999_999_000 }],
    ['the first time in seconds', '10000000', { at: 10_000_000_000 }],
    ['the last time in seconds', '8999999999', { at: 8_999_999_999_000 }],
    ['the first time in milliseconds', '100000000000', { at: 100_000_000_000 }],
    ['the last time in milliseconds', '8999999999999', { at: 8_999_999_999_999 }],
    ['a timestamp', '1970-01-01T01:00:00Z', { at: hour }],
    ['a timestamp with an offset', '1970-01-01T02:00:00.000+01:00', { at: hour }],
    ['a duration of each unit', '1h1m1.5s20ms', { after: hour + 60_000 + 1_500 + 20 }],
    ['a duration of one unit', '20ms', { after: 20 }],
  ])('can be %s: %s', (_, text, reset) => {
    expect(readReset(text)).toEqual(reset);
    expect(limitReset(name => (name === 'ratelimit-reset' ? ` ${text} ` : undefined))).toEqual(reset);
  });

  test.each([
    ['nothing', ''],
    ['a number between seconds and milliseconds', '9000000000'],
    ['a number just below the first milliseconds', '99999999999'],
    ['a number above the last milliseconds', '9000000000000'],
    ['a negative number', '-1'],
    ['a day that does not exist', '2026-13-01T00:00:00Z'],
    ['a word', 'soon'],
    ['units in another order', '1s1m'],
  ])('is not read from %s: %j', (_, text) => expect(readReset(text)).toBeUndefined());

  test.each<readonly [headers: Record<string, string>, reset: Reset | undefined]>([
    [{ 'retry-after-ms': '250', 'x-ratelimit-reset': '3' }, { after: 250 }],
    [{ 'retry-after-ms': '1.5', 'x-ratelimit-reset': '3' }, { after: 3_000 }],
    [{ 'x-ratelimit-reset': 'soon', 'x-rate-limit-reset': '4' }, { after: 4_000 }],
    [{ ratelimit: 'limit=100, remaining=0, reset=5' }, { after: 5_000 }],
    [{ ratelimit: '"default";r=0;t=6' }, { after: 6_000 }],
    [{ ratelimit: '"offset=7"' }, undefined],
    [{}, undefined],
  ])('comes from the first header that can be read: %j', (headers, reset) =>
    expect(limitReset(name => headers[name])).toEqual(reset),
  );

  test.each<readonly [text: string | undefined, reset: Reset | undefined]>([
    ['0', { after: 0 }],
    ['2', { after: 2_000 }],
    ['Thu, 01 Jan 1970 01:00:00 GMT', { at: hour }],
    ['-2', undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('in Retry-After: %s', (text, reset) => expect(readRetryAfter(text)).toEqual(reset));
});
