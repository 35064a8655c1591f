import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChartOptions } from '../../../../kernel/apl/operators/drawing.js';
import { shortText } from '../../../../kernel/result/chart/draw/draw-texts.js';
import { distinctLabels } from '../../../../kernel/result/chart/labels.js';
import { type SampleTable, sampleResult } from '../../sample.js';
import { type Box, boxesIn, drawnChart, marksIn, onAxis, textsIn } from '../marks.js';

const keys = fc.oneof(
  // An image collapses runs of spaces.
  fc.string({ maxLength: 8 }).filter(name => !/^\s+\S|\S\s+$|\s\s+\S/.test(name)),
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.constantFrom(
    ...[null, 'null', '', '__proto__', 'constructor', '\u0001', '\u27e8U+0001\u27e9', '/a', 'W'.repeat(30)],
    ...[`${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`, '/api/v1/orders/checkout/confirm-payment-123456'],
  ),
);

const values = (least: number) =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.double({ min: least, max: 1e9, noNaN: true }).map(v => (Math.abs(v) < 1e-9 ? 0 : v)),
    },
    { weight: 3, arbitrary: fc.constantFrom(1, 10, 100, 0) },
    { weight: 1, arbitrary: fc.constant(null) },
  );

/** Rows with one or two keys and a value. */
const tables = (least: number) =>
  fc
    .record({
      unit: fc.constantFrom('', 'ms', 'bytes'),
      aggregate: fc.constantFrom('count', 'sum', 'avg', 'percentile'),
      firsts: fc.uniqueArray(keys, { minLength: 2, maxLength: 40 }),
      seconds: fc.uniqueArray(keys, { minLength: 1, maxLength: 40 }),
    })
    .chain(({ firsts, seconds, ...rest }) =>
      fc.record({
        ...{ unit: fc.constant(rest.unit), aggregate: fc.constant(rest.aggregate) },
        rows: fc.uniqueArray(
          fc.record({ k: fc.constantFrom(...firsts), j: fc.constantFrom(...seconds), v: values(least) }),
          { minLength: 2, maxLength: 80, selector: row => JSON.stringify([row.k, row.j]) },
        ),
      }),
    );

type Sample = ReturnType<typeof tables> extends fc.Arbitrary<infer T> ? T : never;
type Row = Sample['rows'][number];

function resultOf({ unit, aggregate }: Sample, rows: readonly Row[], groups: readonly ('k' | 'j')[]) {
  const column = (name: 'k' | 'j' | 'v', type: string) =>
    [name, type, JSON.stringify(rows.map(row => row[name]))] as const;
  const table: SampleTable = {
    columns: [...groups.map(name => column(name, 'string')), column('v', 'float')],
    groups,
    aggs: { v: { name: aggregate } },
  };
  return sampleResult([table], { meta: [{ name: 'v', unit }] });
}

/** Returns the first row of each first key. */
function single(rows: readonly Row[]): readonly Row[] {
  return rows.filter((row, index) => rows.findIndex(other => other.k === row.k) === index);
}

const numbers = (rows: readonly Row[]) => rows.flatMap(({ v }) => v ?? []);
const sorted = (all: readonly number[]) => [...all].sort((a, b) => b - a);
/** Whether a name is drawn unchanged. */
const isPlain = (name: string | null) => name !== null && name !== 'null' && /^[a-z]{1,6}$/.test(name);
/** A failure ends the run: each image takes a while, and shrinking would take hundreds. */
const runs = { numRuns: 15, endOnFailure: true };

const labelsOf = (all: readonly { readonly label: string }[]) => all.map(({ label }) => label);

/** Checks that all names are drawn in full, or all shortened to distinct labels. */
function expectNames(texts: readonly string[], names: readonly string[]): void {
  const isWhole = names.every(name => texts.includes(name));
  if (!isWhole) for (const name of distinctLabels(names, 24)) expect(texts).toContain(name);
}

/** Checks that the drawn values match the rows, all in the same unit. */
function expectOneFactor(pairs: readonly (readonly number[])[]): void {
  const factors = pairs.flatMap(([drawn = 0, held = 0]) => {
    expect(drawn === 0).toBe(held === 0);
    return held === 0 ? [] : [drawn / held];
  });
  for (const factor of factors) expect(factor / (factors[0] ?? 1)).toBeCloseTo(1, 9);
}

describe('bars by name', () => {
  const choices = fc.constantFrom<ChartOptions>({}, { log: true }, { unit: 'ms' });

  test('have lengths proportional to values, with labels; omitted names are counted', () =>
    fc.assert(
      fc.asyncProperty(tables(-1e7), choices, async (sample, options) => {
        const rows = single(sample.rows);
        const all = numbers(rows);
        const chart = await drawnChart(resultOf(sample, rows, ['k']), options, 'bars');
        if (rows.length < 2 || all.length === 0) {
          expect(chart).toBe(rows.length < 2 ? 'nothing' : 'No chart: v has no value in any row.');
          return;
        }
        if (typeof chart === 'string') throw new Error(chart);
        const { model, svg } = chart;
        const [plot, ...others] = model.plots;
        if (plot === undefined) throw new Error('no plot');
        expect(others).toEqual([]);
        const shown = plot.bars.map(({ parts }) => parts[0] ?? null);
        const drawn = shown.filter(v => v !== null);
        const axis = onAxis(options.unit ?? sample.unit, numbers(topOf(rows)));
        expect(drawn).toEqual(sorted(all).slice(0, 25).map(axis.of));
        expect(plot.bars.length).toBe(Math.min(25, rows.length));
        expect(model.notes.includes(`the 25 of ${rows.length} names with the highest v`)).toBe(
          rows.length > 25,
        );
        expect(plot.title).toBe(axis.unit === '' ? 'v' : `v (${axis.unit})`);
        const labels = plot.bars.map(({ label }) => label);
        expect(new Set(labels).size).toBe(labels.length);
        for (const { k, v } of rows) {
          const bar = plot.bars.find(({ label }) => isPlain(k) && label === k);
          if (bar !== undefined) expect(bar.parts).toEqual([v === null ? null : axis.of(v)]);
        }
        for (const v of drawn) expect(v >= plot.low && v <= plot.high).toBe(true);
        expect(plot.isLog).toBe(options.log === true && all.every(v => v > 0));
        expect(model.notes.includes('no log axis: some values are 0 or less')).toBe(
          options.log === true && !plot.isLog,
        );
        const [boxes = []] = boxesIn(svg);
        expect(boxes.length).toBe(drawn.length);
        if (plot.isLog) for (const { width } of boxes) expect(width).toBeGreaterThan(1);
        else checkLengths(boxes, drawn);
        const texts = textsIn(svg);
        for (const v of drawn) expect(texts).toContain(shortText(v, plot.unit));
        expectNames(texts, labels);
      }),
      runs,
    ));

  function topOf(rows: readonly Row[]): readonly Row[] {
    return [...rows]
      .sort((a, b) => (b.v ?? Number.NEGATIVE_INFINITY) - (a.v ?? Number.NEGATIVE_INFINITY))
      .slice(0, 25);
  }

  /** Checks that lengths are proportional to values, within the image's rounding. */
  function checkLengths(boxes: readonly Box[], drawn: readonly number[]): void {
    const longest = Math.max(...boxes.map(({ width }) => width));
    const most = Math.max(...drawn.map(Math.abs));
    if (most === 0) return;
    expect(longest).toBeGreaterThan(100);
    for (const [index, { width }] of boxes.entries())
      expect(Math.abs(width - (longest * Math.abs(drawn[index] ?? 0)) / most)).toBeLessThan(0.3);
  }

  test('stacked by a second key have parts that add up to their rows', () =>
    fc.assert(
      fc.asyncProperty(tables(0), async sample => {
        const { rows } = sample;
        const chart = await drawnChart(resultOf(sample, rows, ['k', 'j']), { stack: true }, 'bars');
        if (numbers(rows).length === 0) return;
        if (typeof chart === 'string') throw new Error(chart);
        const { model, svg } = chart;
        const [plot] = model.plots;
        if (plot === undefined) throw new Error('no plot');
        if (!/^(?:count|sum)$/.test(sample.aggregate)) {
          expect(model.notes).toContain('not stacked: values of v do not add up');
          expect(plot.bars.length).toBe(Math.min(25, rows.length));
          return;
        }
        const names = new Set(rows.map(({ k }) => k));
        const parts = new Set(rows.map(({ j }) => j));
        expect(plot.bars.length).toBe(Math.min(25, names.size));
        expect(model.legend.length).toBe(Math.min(8, parts.size));
        expect(new Set(model.legend.map(({ label }) => label)).size).toBe(model.legend.length);
        expect(model.notes.includes('parts beyond the 7 largest are combined into others')).toBe(
          parts.size > 8,
        );
        const pieces = plot.bars.flatMap(bar => bar.parts.flatMap(part => part ?? []));
        expect(boxesIn(svg)[0]?.length).toBe(pieces.length);
        expectOneFactor(
          plot.bars.flatMap(({ label, parts: own }) => {
            if (!isPlain(label)) return [];
            const sum = numbers(rows.filter(({ k }) => k === label)).reduce((a, b) => a + b, 0);
            return [[own.reduce<number>((a, part) => a + (part ?? 0), 0), sum]];
          }),
        );
        const texts = textsIn(svg);
        expectNames(texts, labelsOf(plot.bars));
        expectNames(texts, labelsOf(model.legend));
      }),
      runs,
    ));
});

test('pie: every value has a slice and its share, smaller ones share a slice, nulls have none', () =>
  fc.assert(
    fc.asyncProperty(tables(-10), async sample => {
      const rows = single(sample.rows);
      const all = numbers(rows);
      const sum = all.reduce((a, b) => a + b, 0);
      const chart = await drawnChart(resultOf(sample, rows, ['k']), { kind: 'pie' }, 'pie');
      const isShare = /^(?:count|sum)$/.test(sample.aggregate);
      if (rows.length < 2 || all.length === 0 || !isShare || all.some(v => v < 0) || sum === 0) {
        expect(chart).toBeTypeOf('string');
        return;
      }
      if (typeof chart === 'string') throw new Error(chart);
      const { model, svg } = chart;
      const isCut = all.length > 8;
      expect(model.values.length).toBe(isCut ? 8 : all.length);
      expect(marksIn(svg, 'arc')).toBe(model.values.length);
      expect(model.legend.length).toBe(model.values.length);
      const axis = onAxis(sample.unit, [sum]);
      const greatest = sorted(all);
      const rest = greatest.slice(7).reduce((a, b) => a + b, 0);
      expect(model.values).toEqual((isCut ? [...greatest.slice(0, 7), rest] : greatest).map(axis.of));
      expect(
        model.notes.includes(`the 7 of ${all.length} names with the highest v; the others are one slice`),
      ).toBe(isCut);
      const without = rows.length - all.length;
      expect(model.notes.includes(`not drawn: ${without} of ${rows.length} names, which have no value`)).toBe(
        without > 0,
      );
      const labels = model.legend.map(({ label }) => label);
      expect(new Set(labels).size).toBe(labels.length);
      const texts = textsIn(svg);
      for (const [index, label] of labels.entries()) {
        const v = model.values[index] ?? 0;
        const share = (((isCut ? [...greatest.slice(0, 7), rest] : greatest)[index] ?? 0) / sum) * 100;
        expect(texts).toContain(`${label}: ${shortText(v, model.unit)} (${share.toFixed(1)} %)`);
      }
    }),
    runs,
  ));

test('heatmap of two keys: every cell is its row; extra names are counted, and merged only if values add up', () =>
  fc.assert(
    fc.asyncProperty(tables(-1e7), async sample => {
      const { rows } = sample;
      if (numbers(rows).length === 0) return;
      const chart = await drawnChart(resultOf(sample, rows, ['k', 'j']), { kind: 'heat' }, 'heat');
      if (typeof chart === 'string') throw new Error(chart);
      const { model, svg } = chart;
      const { axis, rows: names } = model;
      if (!('map' in axis) || !('map' in names)) throw new Error('no names');
      const [ks, js] = [new Set(rows.map(({ k }) => k)), new Set(rows.map(({ j }) => j))];
      expect(new Set(names).size).toBe(names.length);
      expect(new Set(axis).size).toBe(axis.length);
      expect(names.length).toBe(Math.min(25, ks.size));
      expect(marksIn(svg, 'rect')).toBe(model.cells.length);
      expect(new Set(model.cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(model.cells.length);
      const adds = /^(?:count|sum)$/.test(sample.aggregate);
      if (js.size <= 30) {
        expect(axis.length).toBe(js.size);
        if (ks.size <= 25) expect(model.cells.length).toBe(numbers(rows).length);
      } else if (adds) expect(model.notes).toContain('parts beyond the 29 largest are combined into others');
      else
        expect(model.notes).toContain(`not drawn: ${js.size - 30} of ${js.size} j, those with the lowest v`);
      expect(model.notes.includes(`the 25 of ${ks.size} names with the highest v`)).toBe(ks.size > 25);
      const shown = model.cells.map(({ v }) => v);
      for (const v of shown) expect(v >= model.least && v <= model.most).toBe(true);
      expectOneFactor(
        model.cells.flatMap(({ x, y, v }) => {
          const [k, j] = [names[y] ?? null, axis[x] ?? null];
          const row = rows.find(each => isPlain(each.k) && each.k === k && isPlain(each.j) && each.j === j);
          return row === undefined ? [] : [[v, row.v ?? Number.NaN]];
        }),
      );
      const texts = textsIn(svg);
      expectNames(texts, names);
      for (const name of distinctLabels(axis, 18)) expect(texts).toContain(name);
    }),
    runs,
  ));
