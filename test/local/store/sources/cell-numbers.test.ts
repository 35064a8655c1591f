import { expect, test } from 'vitest';
import { kindOfNumber, textOfNumber } from '../../../../kernel/local/store/sources/cell-numbers.js';

test.each([
  [0, undefined, 'number'],
  [14, undefined, 'date'],
  [20, undefined, 'time'],
  [22, undefined, 'date'],
  [46, undefined, 'time'],
  [164, 'yyyy-mm-dd hh:mm:ss.000', 'date'],
  [164, '[$-407]d. mmmm yyyy;@', 'date'],
  [164, 'mmm', 'date'],
  [164, '[h]:mm:ss', 'time'],
  [164, 'h:mm AM/PM', 'time'],
  [164, '#,##0.00 "days"', 'number'],
  [164, '[Red]0.00;-0.00', 'number'],
  [164, '0.00\\h', 'number'],
  [164, 'General', 'number'],
] as const)('format %i (%s) is a %s', (format, code, kind) => {
  expect(kindOfNumber(format, code)).toBe(kind);
});

const utc = { from1904: false, local: false };

test.each([
  [45_940.579_875_578_7, 'date', utc, '2025-10-10T13:55:01.250Z'],
  [45_940.579_875_578_7, 'date', { ...utc, local: true }, '2025-10-10T13:55:01.250'],
  [44_478, 'date', { ...utc, from1904: true }, '2025-10-10T00:00:00.000Z'],
  [59, 'date', utc, '1900-02-28T00:00:00.000Z'],
  [61, 'date', utc, '1900-03-01T00:00:00.000Z'],
  [0.5, 'time', utc, '12:00:00'],
  [-1.5, 'time', utc, '-36:00:00'],
  [45_940.25, 'time', utc, '2025-10-10T06:00:00.000Z'],
  [1e300, 'date', utc, '1e+300'],
  [0.1, 'number', utc, '0.1'],
] as const)('%d as a %s', (value, kind, options, text) => {
  expect(textOfNumber(value, kind, options)).toBe(text);
});
