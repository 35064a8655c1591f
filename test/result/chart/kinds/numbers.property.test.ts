import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChartOptions } from '../../../../kernel/apl/operators/drawing.js';
import { cells, type SampleTable, sampleResult } from '../../sample.js';
import { boxesIn, drawnChart, marksIn, onAxis, textsIn } from '../marks.js';

/** A failure ends the run: each image takes a while, and shrinking would take hundreds. */
const runs = { numRuns: 12, endOnFailure: true };
const value = fc.double({ min: -1e6, max: 1e9, noNaN: true }).map(v => (Math.abs(v) < 1e-6 ? 0 : v));
const orNull = (arbitrary: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: fc.constant(null) });
const numbers = (all: readonly (number | null | undefined)[]) => all.flatMap(v => v ?? []);

/** Two measures by bins of a number or a duration; some bins are missing, and one row has no bin. */
const binned = fc
  .record({
    size: fc.constantFrom(0.25, 1, 10, 500),
    isSpan: fc.boolean(),
    unit: fc.constantFrom('', 'ms', 'bytes'),
    hasNullBin: fc.boolean(),
    measures: fc.integer({ min: 1, max: 7 }),
    bins: fc.uniqueArray(fc.integer({ min: -20, max: 60 }), { minLength: 2, maxLength: 40 }),
  })
  .chain(shape =>
    fc.record({
      shape: fc.constant(shape),
      rows: fc.array(fc.array(orNull(value), { minLength: shape.measures, maxLength: shape.measures }), {
        minLength: shape.bins.length,
        maxLength: shape.bins.length,
      }),
    }),
  );

describe('bins of a number', () => {
  const choices = fc.constantFrom<ChartOptions>({}, { kind: 'line' }, { kind: 'area' }, { log: true });

  test('draw every value in its bin, break lines at missing bins, and name what is not drawn', () =>
    fc.assert(
      fc.asyncProperty(binned, choices, async ({ shape, rows }, options) => {
        const { size, isSpan, unit, hasNullBin, bins } = shape;
        const names = Array.from({ length: shape.measures }, (_, index) => `${'m'.repeat(60)}${index}`);
        const starts = [
          ...bins.map(bin => (isSpan ? `${bin * size}s` : bin * size)),
          ...(hasNullBin ? [null] : []),
        ];
        const cellsOf = (index: number) =>
          JSON.stringify([...rows.map(row => row[index]), ...(hasNullBin ? [1] : [])]);
        const table: SampleTable = {
          columns: [
            ['x', isSpan ? 'timespan' : 'float', JSON.stringify(starts)],
            ...names.map((name, index) => [name, 'float', cellsOf(index)] as const),
            ['t', 'string', cells(starts.length, () => 'text')],
          ],
          groups: ['x'],
          buckets: { field: 'x', size: isSpan ? size * 1e9 : size },
          aggs: Object.fromEntries(names.map(name => [name, { name: 'sum' }])),
        };
        const chart = await drawnChart(
          sampleResult([table], { meta: names.map(name => ({ name, unit })) }),
          options,
          'xy',
        );
        const filled = names.filter((_, index) => hasNullBin || rows.some(row => row[index] !== null));
        if (filled.length === 0) {
          expect(chart).toMatch(/^No chart: .* (has|have) no value in any row\.$/);
          return;
        }
        if (typeof chart === 'string') throw new Error(chart);
        const { model, svg } = chart;
        expect(model.plots.length).toBe(Math.min(6, filled.length));
        expect(new Set(model.plots.map(plot => plot.title)).size).toBe(model.plots.length);
        expect(model.notes.includes(`the first 6 of ${filled.length} measures`)).toBe(filled.length > 6);
        expect(model.notes.some(note => note.startsWith('no value in any row: '))).toBe(
          filled.length < names.length,
        );
        expect(model.notes).toContain('not drawn: t');
        expect(model.notes.includes('not drawn: 1 row without x')).toBe(hasNullBin);
        const spanUnit = isSpan
          ? onAxis(
              's',
              bins.map(bin => Math.abs(bin * size) + size),
            )
          : undefined;
        const acrossOf = (v: number) => (spanUnit === undefined ? v : spanUnit.of(v));
        if (spanUnit !== undefined) expect(model.across).toBe(`x (${spanUnit.unit})`);
        const order = [...bins.keys()].sort((a, b) => (bins[a] ?? 0) - (bins[b] ?? 0));
        for (const [place, plot] of model.plots.entries()) {
          const index = names.indexOf(filled[place] ?? '');
          const held = order.map(row => rows[row]?.[index] ?? null);
          const axis = onAxis(unit, numbers(held));
          const points = plot.lines.flatMap(line => line.points);
          const data = points.filter(point => point.added !== true);
          expect(data.map(({ v }) => v)).toEqual(held.map(v => (v === null ? null : axis.of(v))));
          expect(plot.unit).toBe(axis.unit);
          for (const [at, { t, end }] of data.entries()) {
            const from = (bins[order[at] ?? 0] ?? 0) * size;
            expect(t).toBeCloseTo(acrossOf(from), 6);
            expect(end).toBeCloseTo(acrossOf(from + size), 6);
          }
          if (plot.mark !== 'bars')
            for (const [at, point] of points.entries()) {
              const next = points[at + 1];
              const isBridge = next !== undefined && point.v !== null && next.v !== null;
              if (isBridge)
                expect(next.t - (point.end ?? point.t)).toBeLessThan(((point.end ?? 0) - point.t) / 2);
            }
          for (const v of numbers(data.map(point => point.v)))
            expect(v >= plot.low && v <= plot.high).toBe(true);
          if (plot.mark === 'bars') {
            const boxes = boxesIn(svg)[place] ?? [];
            expect(boxes.length).toBe(numbers(held).length);
            if (plot.isLog) for (const { height } of boxes) expect(height).toBeGreaterThan(0.5);
            for (const { width } of boxes) expect(width).toBeGreaterThan(3);
          }
        }
      }),
      runs,
    ));
});

const bucketsOf = fc
  .tuple(
    fc.double({ min: -1e3, max: 1e5, noNaN: true }),
    fc.constantFrom(0.5, 3, 1000),
    fc.array(fc.nat(1000), { minLength: 1, maxLength: 30 }),
  )
  .map(([from, width, counts]) =>
    counts.map((count, index) => ({ from: from + index * width, to: from + (index + 1) * width, count })),
  );

test('histograms: every bucket has a bar as high as its count; omitted groups are counted', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(bucketsOf, { freq: 8 }), { minLength: 1, maxLength: 9 }),
      async histograms => {
        const table: SampleTable = {
          columns: [
            ['g', 'string', cells(histograms.length, row => `${'g'.repeat(70)}${row}`)],
            ['h', 'dynamic', JSON.stringify(histograms)],
            ['n', 'integer', cells(histograms.length, () => 7)],
          ],
          groups: ['g'],
          aggs: { h: { name: 'histogram' }, n: { name: 'count' } },
        };
        const chart = await drawnChart(sampleResult([table]), {}, 'xy');
        const filled = histograms.filter(each => each !== null);
        if (filled.length === 0) {
          expect(chart).toBe('No chart: h has no buckets.');
          return;
        }
        if (typeof chart === 'string') throw new Error(chart);
        const { model, svg } = chart;
        expect(model.plots.length).toBe(Math.min(6, filled.length));
        expect(new Set(model.plots.map(plot => plot.title)).size).toBe(model.plots.length);
        expect(model.notes).toContain('not drawn: n');
        expect(model.notes.includes(`the first 6 of ${filled.length} histograms`)).toBe(filled.length > 6);
        const without = histograms.length - filled.length;
        expect(model.notes.includes(`${without} without buckets`)).toBe(without > 0);
        const layers = boxesIn(svg);
        for (const [index, plot] of model.plots.entries()) {
          const counts = filled[index]?.map(({ count }) => count) ?? [];
          expect(plot.lines.flatMap(line => line.points.map(({ v }) => v))).toEqual(counts);
          const boxes = layers[index] ?? [];
          expect(boxes.length).toBe(counts.length);
          const most = Math.max(...counts);
          const highest = Math.max(...boxes.map(({ height }) => height));
          for (const [at, { height }] of boxes.entries())
            if (most > 0) expect(Math.abs(height - (highest * (counts[at] ?? 0)) / most)).toBeLessThan(0.3);
        }
      },
    ),
    runs,
  ));

test('scatter: every row with both numbers has a dot, thinning keeps extremes, omitted rows are counted', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(orNull(value), orNull(value), fc.constantFrom('a', 'b', null, 'null')), {
        minLength: 2,
        maxLength: 1500,
        size: 'max',
      }),
      async rows => {
        const column = (index: number) => JSON.stringify(rows.map(row => row[index]));
        const table: SampleTable = {
          columns: [
            ['x', 'float', column(0)],
            ['y', 'float', column(1)],
            ['g', 'string', column(2)],
          ],
        };
        const chart = await drawnChart(sampleResult([table]), { kind: 'scatter' }, 'xy');
        const held = rows.flatMap(([x, y, g]) => (x === null || y === null ? [] : [{ x, y, g }]));
        if (typeof chart === 'string') {
          expect(held).toEqual([]);
          return;
        }
        const { model, svg } = chart;
        const [plot] = model.plots;
        if (plot === undefined) throw new Error('no plot');
        const [xs, ys] = [held.map(({ x }) => x), held.map(({ y }) => y)];
        const [across, up] = [onAxis('', xs), onAxis('', ys)];
        const dots = plot.lines.flatMap(line => line.points.map(({ t, v }) => `${t} ${v}`));
        const wanted = held.map(({ x, y }) => `${across.of(x)} ${up.of(y)}`);
        const known = new Set(wanted);
        for (const dot of dots) expect(known.has(dot)).toBe(true);
        if (held.length <= 1_000) expect(dots.toSorted()).toEqual(wanted.toSorted());
        else
          expect(model.notes.some(note => note.startsWith(`${dots.length.toLocaleString('en')} of `))).toBe(
            true,
          );
        expect(marksIn(svg, 'symbol')).toBe(dots.length);
        const points = plot.lines.flatMap(line => line.points);
        for (const [of, all, axis] of [
          [points.map(({ t }) => t), xs, across],
          [numbers(points.map(({ v }) => v)), ys, up],
        ] as const) {
          expect(Math.min(...of)).toBe(axis.of(Math.min(...all)));
          expect(Math.max(...of)).toBe(axis.of(Math.max(...all)));
        }
        const groups = new Set(held.map(({ g }) => String(g === 'null' ? '"null"' : g)));
        expect(new Set(plot.lines.map(({ label }) => label))).toEqual(groups);
        const without = rows.length - held.length;
        expect(
          model.notes.some(note => note.startsWith('not drawn: ') && note.includes('rows, which lack')),
        ).toBe(without > 0);
      },
    ),
    runs,
  ));

test('big numbers: every measure has a tile with its full name and number; omitted ones are counted', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('m', 'm'.repeat(60), 'percentile_duration_'), orNull(fc.integer())), {
        minLength: 2,
        maxLength: 15,
      }),
      async measures => {
        const names = measures.map(([name], index) => `${name}${index}`);
        const table: SampleTable = {
          columns: names.map(
            (name, index) => [name, 'integer', JSON.stringify([measures[index]?.[1]])] as const,
          ),
          aggs: Object.fromEntries(names.map(name => [name, { name: 'sum' }])),
        };
        const chart = await drawnChart(sampleResult([table]), { kind: 'stat' }, 'stat');
        if (typeof chart === 'string') throw new Error(chart);
        const { tiles, notes } = chart.model;
        expect(tiles.map(({ exact }) => exact)).toEqual(
          measures.slice(0, 12).map(([, v]) => (v === null ? 'null' : String(v))),
        );
        expect(new Set(tiles.map(({ name }) => name)).size).toBe(tiles.length);
        expect(notes.includes(`the first 12 of ${names.length} numbers`)).toBe(names.length > 12);
        const texts = textsIn(chart.svg);
        for (const { name, text } of tiles) {
          expect(texts).toContain(name);
          expect(texts).toContain(text);
        }
      },
    ),
    runs,
  ));
