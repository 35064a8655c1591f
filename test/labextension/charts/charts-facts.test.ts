import type { Spec } from 'vega';
import { expect, test } from 'vitest';
import { interactiveSpec } from '../../../kernel/result/chart/draw/spec.js';
import { factsOf } from '../../../labextension/src/charts/charts-facts.js';
import { buckets, chartOf, minute } from '../../result/chart/fixtures.js';
import { cells } from '../../result/sample.js';

const histogram = '[{"from":0,"to":5,"count":3}]';

test('a heatmap of histograms says whose buckets its cells are, of the group that is drawn', async () => {
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

test('a heatmap of histograms by time alone has buckets of no group', async () => {
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
  ['no object', 'took'],
  ['no column', { of: [] }],
  ['no list', { column: 'took', of: {} }],
  ['a value that is none', { column: 'took', of: [{ column: 'city', type: 'string', value: 1 }] }],
])('of buckets that a stranger wrote as %s nothing is read', (_, written) => {
  const usermeta = { apl: { parts: {}, buckets: written } };
  expect(factsOf({ usermeta } as Spec)).not.toHaveProperty('buckets');
});

const axis = { across: 'time', start: 0, end: 60, bin: 5, origin: 1 };
const facts = (apl: unknown) => factsOf({ usermeta: { apl } } as unknown as Spec);

test('of an axis that a stranger wrote is read what can be', () => {
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
  ['begins nowhere', { start: '0' }],
  ['is of a kind that is none', { across: 'names' }],
])('an axis that %s is none', (_, odd) => {
  expect(facts({ ...axis, ...odd })).toMatchObject({ across: 'none', start: 0, end: 1, bin: 0 });
});
