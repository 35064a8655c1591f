import type { Spec } from 'vega';
import { expect, test } from 'vitest';
import { interactiveSpec } from '../../../kernel/result/chart/draw/spec.js';
import { factsOf } from '../../../labextension/src/charts/charts-facts.js';
import { buckets, chartOf, minute } from '../../result/chart/fixtures.js';
import { cells } from '../../result/sample.js';

const histogram = '[{"from":0,"to":5,"count":3}]';

test('a heatmap of histograms names the group whose buckets it draws', async () => {
  const { model } = await chartOf({
    columns: [
      ['_time', 'datetime', cells(4, row => minute(Math.floor(row / 2)))],
      ['city', 'string', '["LHR","GRU","LHR","GRU"]'],
      ['took', 'dynamic', `[[],${histogram},[],${histogram}]`],
    ],
    buckets,
    groups: ['city'],
    aggs: { took: { name: 'histogram' } },
  });
  expect(factsOf(interactiveSpec(model, 'a chart'))).toMatchObject({
    across: 'none',
    parts: new Map(),
    buckets: { column: 'took', of: [{ column: 'city', type: 'string', value: 'GRU' }] },
  });
});

test('a heatmap of histograms over time alone names no group', async () => {
  const { model } = await chartOf({
    columns: [
      ['_time', 'datetime', cells(4, minute)],
      ['took', 'dynamic', `[[],${histogram},[],${histogram}]`],
    ],
    buckets,
    aggs: { took: { name: 'histogram' } },
  });
  expect(factsOf(interactiveSpec(model, 'a chart')).buckets).toEqual({ column: 'took', of: [] });
});

test.each<[string, unknown]>([
  ['a string', 'took'],
  ['an object without a column', { of: [] }],
  ['an object whose groups are not a list', { column: 'took', of: {} }],
  ['a group with an invalid value', { column: 'took', of: [{ column: 'city', type: 'string', value: 1 }] }],
])('ignores buckets from an untrusted notebook: %s', (_, written) => {
  const usermeta = { apl: { parts: {}, buckets: written } };
  expect(factsOf({ usermeta } as Spec)).not.toHaveProperty('buckets');
});

const axis = { across: 'time', start: 0, end: 60, bin: 5, origin: 1 };
const facts = (apl: unknown) => factsOf({ usermeta: { apl } } as unknown as Spec);

test('reads the valid members of an axis from an untrusted notebook', () => {
  const rules = [
    { t: 5, label: 'a', type: 'deploy' },
    { t: 5, end: 9, label: 'b', type: 1, text: 'c' },
    { t: '5' },
    null,
  ];
  expect(facts({ ...axis, bin: '5', origin: null, units: ['ms', 1], titles: 'ms', rules })).toMatchObject({
    ...{ across: 'time', start: 0, end: 60, bin: 0, origin: 0, units: ['ms', '1'], titles: [] },
    rules: [
      { t: 5, end: 5, label: 'a', type: 'deploy', text: '' },
      { t: 5, end: 9, label: 'b', type: '1', text: 'c' },
    ],
  });
});

test.each<[string, object]>([
  ['ends where it begins', { end: 0 }],
  ['ends before it begins', { start: 61 }],
  ['has an invalid start', { start: '0' }],
  ['has an unknown kind', { across: 'names' }],
])('ignores an axis that %s', (_, odd) => {
  expect(facts({ ...axis, ...odd })).toMatchObject({ across: 'none', start: 0, end: 1, bin: 0 });
});
