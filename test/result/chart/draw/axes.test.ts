import * as vega from 'vega';
import { expect, test } from 'vitest';
import { exactly, numberLabels, timeGuide } from '../../../../kernel/result/chart/draw/axes.js';
import { xyForm } from '../../../../kernel/result/chart/draw/xy.js';
import { cells, type SampleTable } from '../../sample.js';
import { chartOf, textsIn, time } from '../fixtures.js';

const DAY = 86_400_000;
const start = Date.UTC(2026, 0, 17);

/** Returns the labels of an axis for some values. */
function written(labels: object, values: readonly number[]): readonly string[] {
  const { encode } = labels as {
    readonly encode: { readonly labels: { readonly update: { readonly text: { readonly signal: string } } } };
  };
  const expr = encode.labels.update.text.signal;
  const view = new vega.View(
    vega.parse({
      data: [
        {
          name: 'd',
          values: values.map(value => ({ value })),
          transform: [{ type: 'formula', as: 'text', expr }],
        },
      ],
    }),
  ).run();
  return view.data('d').map(({ text }) => text);
}

test.each<[string, readonly [number, number], readonly number[], readonly string[]]>([
  ['a count of one', [0, 1], [0, 1], ['0', '1']],
  ['fractions', [0, 0.5], [0, 0.001, 0.25], ['0', '0.001', '0.25']],
  ['thousands', [0, 900_000], [1_500, 900_000], ['1,500', '900,000']],
  ['from one to a billion', [1, 1e9], [1, 100, 10_000, 1e9], ['1', '100', '10k', '1G']],
  ['from a thousandth to a billion', [0.001, 1e9], [0.001, 0.1, 10, 1e9], ['0.001', '0.1', '10', '1G']],
  ['millions below zero', [-2.5e6, 0], [-2.5e6, 0], ['\u22122.5M', '0']],
  ['huge', [0, 1e300], [0, 2e299, 1e300], ['0', '2e299', '1e300']],
  ['very small', [0, 5e-6], [5e-6, 2.5e-6], ['5e-6', '2.5e-6']],
])('axis labels are easy to read: %s', (_, [low, high], values, texts) => {
  expect(written(numberLabels(low, high), values)).toEqual(texts);
});

test('tooltips have integers in full, and fractions without noise', () => {
  const labels = { encode: { labels: { update: { text: { signal: exactly('value') } } } } };
  const texts = written(labels, [9_007_199_254_740_991, -1_234_567_890_123, 0.1 + 0.2, 1 / 3, 1e300]);
  expect(texts).toEqual([
    ...['9,007,199,254,740,991', '\u22121,234,567,890,123', '0.3', '0.333333333333'],
    expect.stringMatching(/^1,0{3}/),
  ]);
});

test('daily bins are labeled with dates, and smaller steps with hours', () => {
  const grid = { origin: start, size: DAY, first: 0, last: 8 };
  const axis = { start, end: start + 9 * DAY, until: start + 9 * DAY, isSearched: true };
  expect(timeGuide({ ...axis, grid }, true)).toMatchObject({
    format: '%b %d',
    tickCount: { interval: 'day', step: 1 },
  });
  expect(written(timeGuide(axis, true), [start, start + DAY / 2])).toEqual(['Jan 17', 'Jan 17, 12:00']);
});

test.each<[string, readonly number[], readonly string[]]>([
  ['one', [1, 1], ['0', '1']],
  ['three', [3, 1], ['0', '1', '2', '3']],
])('an axis of integers up to %s has no fractions', async (_, values, ticks) => {
  const table: SampleTable = {
    columns: [time(2), ['n', 'integer', cells(2, row => values[row])]],
    buckets: { field: '_time', size: 60_000_000_000 },
    aggs: { n: { name: 'count' } },
  };
  const { svg, model } = await chartOf(table);
  expect(model.kind).toBe(xyForm.type);
  expect(textsIn(svg).filter(text => /^[\d.]+$/.test(text))).toEqual(ticks);
});
