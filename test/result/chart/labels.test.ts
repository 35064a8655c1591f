import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distinctLabels, LABEL_LENGTH } from '../../../kernel/result/chart/labels.js';

test('keeps short names, and shows the ends of long ones with a common prefix', () => {
  const name = (end: string) => `/api/v1/organizations/0123456789/projects/0123456789/${end}`;
  expect(distinctLabels(['a', name('production'), name('staging')])).toEqual([
    'a',
    '/api/v1/organizations/012\u20266789/projects/0123456789/production'.slice(0, 26) +
      name('production').slice(-22),
    '/api/v1/organizations/012\u2026'.slice(0, 26) + name('staging').slice(-22),
  ]);
});

test('shows the differing middle of long names', () => {
  const name = (middle: string) => `/api/v1/organizations/eu/${middle}/projects/0123456789/deployments`;
  expect(distinctLabels([name('blue'), name('green'), '/'], 24)).toEqual([
    '/api/\u2026/eu/blue/project\u2026',
    '/api/\u2026/eu/green/projec\u2026',
    '/',
  ]);
});

test('numbers names that shortening makes equal', () => {
  const name = (one: string, other: string) =>
    `${'a'.repeat(50)}${one}${'-'.repeat(60)}${other}${'b'.repeat(40)}`;
  const labels = distinctLabels([name('x', 'x'), name('x', 'y'), name('y', 'y')]);
  expect(new Set(labels).size).toBe(3);
  expect(labels.map(label => label.slice(-4))).toEqual(['---\u2026', ' (2)', '---\u2026']);
});

test('gives any names distinct labels that fit', () => {
  const part = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.tuple(part, part).map(parts => parts.join('')),
        { maxLength: 12 },
      ),
      names => {
        const labels = distinctLabels(names);
        expect(new Set(labels).size).toBe(names.length);
        expect(labels.every(label => label.length <= LABEL_LENGTH && !/\p{Cs}/u.test(label))).toBe(true);
      },
    ),
  );
});
