import { describe, expect, test } from 'vitest';
import { fromWire, toWire } from '../../kernel/api/aggregations.js';
import { aggregates } from '../../kernel/apl/catalog/aggregates.js';

/** Aggregation names known to axiom-go, which rejects a response with any other. */
const known =
  `count countif distinct distinctif sum sumif avg avgif min minif max maxif topk topkif percentiles percentilesif
  histogram histogramif stdev stdevif variance varianceif argmin argmax rate makeset makesetif makelist makelistif computed spotlight`.split(
    /\s+/,
  );

describe('an aggregation', () => {
  test.each(aggregates.map(({ name }) => name))('%s maps to a name known to clients and back', name => {
    const agg = { name, args: [5], fields: ['x'] };
    const wire = toWire(agg);
    expect(known).toContain(wire.name);
    expect(fromWire(wire, name.startsWith('percentiles_') ? 'dynamic' : 'float')).toEqual(agg);
  });

  test.each([
    ['float', 'percentile'],
    ['integer', 'percentile'],
    ['integer|float', 'percentile'],
    ['timespan', 'percentile'],
    ['datetime', 'percentile'],
    ['array', 'percentiles_array'],
    ['dynamic', 'percentiles_array'],
    ['unknown', 'percentiles_array'],
  ])('named percentiles in a field of type %s maps to %s', (type, name) => {
    expect(fromWire({ name: 'percentiles' }, type).name).toBe(name);
  });

  test('unknown to APL is kept unchanged', () => {
    expect(fromWire({ name: 'computed' }, 'float')).toEqual({ name: 'computed' });
    expect(fromWire({ name: 'other', fields: ['x'] }, 'float')).toEqual({ name: 'other', fields: ['x'] });
  });
});
