import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChartOptions } from '../../../../kernel/apl/operators/drawing.js';
import { cells, type SampleTable, sampleResult } from '../../sample.js';
import { boxesIn, drawnChart, marksIn, onAxis } from '../marks.js';

const nine = Date.UTC(2026, 10, 20, 9);
const size = 60_000;
const bins = 60;
const runs = { numRuns: 12, endOnFailure: true };
const at = (bin: number) => new Date(nine + bin * size).toISOString();

const measure = fc.record({
  unit: fc.constantFrom('', 'ms', 'bytes'),
  aggregate: fc.constantFrom('count', 'sum', 'avg', 'percentile'),
  size: fc.constantFrom(1, 1e3, 1e6),
  values: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.double({ min: 0.001, max: 100, noNaN: true }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 1, 10) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    { minLength: bins, maxLength: bins },
  ),
});

/** Measures by minute of an hour; some minutes have no row. */
const samples = fc.record({
  measures: fc.array(measure, { minLength: 1, maxLength: 8 }),
  rows: fc.uniqueArray(fc.nat(bins - 1), { minLength: 2, maxLength: bins }),
});
type Sample = typeof samples extends fc.Arbitrary<infer T> ? T : never;

const nameOf = (index: number) => `${'m'.repeat(60)}${index}`;
const valueIn = ({ measures }: Sample, index: number, bin: number) => {
  const value = measures[index]?.values[bin] ?? null;
  return value === null ? null : value * (measures[index]?.size ?? 1);
};

function resultOf(sample: Sample) {
  const rows = [...sample.rows].sort((a, b) => a - b);
  const table: SampleTable = {
    columns: [
      ['_time', 'datetime', JSON.stringify(rows.map(at))],
      ...sample.measures.map(
        (_, index) =>
          [nameOf(index), 'float', JSON.stringify(rows.map(bin => valueIn(sample, index, bin)))] as const,
      ),
    ],
    buckets: { field: '_time', size: size * 1e6 },
    aggs: Object.fromEntries(
      sample.measures.map(({ aggregate }, index) => [nameOf(index), { name: aggregate }]),
    ),
  };
  const meta = sample.measures.map(({ unit }, index) => ({ name: nameOf(index), unit }));
  return { rows, result: sampleResult([table], { meta }) };
}

const choices = fc.constantFrom<ChartOptions>(
  {},
  { kind: 'bar' },
  { kind: 'area' },
  { kind: 'bar', log: true },
  { log: true },
);

test('several measures: every value is in a plot of its unit, over the searched range; omitted ones are noted', () =>
  fc.assert(
    fc.asyncProperty(samples, choices, async (sample, options) => {
      const { rows, result } = resultOf(sample);
      const filled = sample.measures.flatMap((_, index) =>
        rows.some(bin => valueIn(sample, index, bin) !== null) ? [index] : [],
      );
      const chart = await drawnChart(result, options, 'xy');
      if (filled.length === 0) {
        expect(chart).toBeTypeOf('string');
        return;
      }
      if (typeof chart === 'string') throw new Error(chart);
      const { model, svg } = chart;
      expect([model.axis.start, model.axis.end]).toEqual([nine, nine + bins * size]);
      expect(model.notes.includes(`the first 6 of ${filled.length} measures`)).toBe(filled.length > 6);
      expect(model.notes.some(note => note.startsWith('no value in any row: '))).toBe(
        filled.length < sample.measures.length,
      );
      const lines = model.plots.flatMap(plot => plot.lines.map(line => ({ plot, line })));
      expect(lines.length).toBe(Math.min(6, filled.length));
      const named = lines.map(({ plot, line }) => (plot.lines.length > 1 ? line.label : plot.title));
      expect(new Set(named).size).toBe(named.length);
      for (const plot of model.plots) {
        const own = lines.flatMap((each, index) => (each.plot === plot ? [filled[index] ?? -1] : []));
        const held = (index: number) => rows.flatMap(bin => valueIn(sample, index, bin) ?? []);
        const axis = onAxis(sample.measures[own[0] ?? 0]?.unit ?? '', own.flatMap(held));
        expect(plot.unit).toBe(axis.unit);
        for (const [place, index] of own.entries()) {
          const points = plot.lines[place]?.points ?? [];
          const data = points.filter(point => point.added !== true && point.v !== null);
          expect(data.map(({ t, v }) => [t, v])).toEqual(
            rows.flatMap(bin => {
              const v = valueIn(sample, index, bin);
              return v === null ? [] : [[nine + bin * size, axis.of(v)]];
            }),
          );
          for (const { v } of data) expect((v ?? 0) >= plot.low && (v ?? 0) <= plot.high).toBe(true);
        }
      }
      for (const [place, boxes] of boxesIn(svg).entries()) {
        const plot = model.plots.filter(each => each.mark === 'bars')[place];
        const data = plot?.lines.flatMap(line =>
          line.points.filter(({ v, added }) => v !== null && added !== true),
        );
        expect(boxes.length).toBe(data?.length);
        if (plot?.isLog) for (const { height } of boxes) expect(height).toBeGreaterThan(0.5);
      }
    }),
    runs,
  ));

test('heatmap over time: every value is a cell in its row and bin, within the searched range', () =>
  fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.record({ bin: fc.nat(bins - 1), g: fc.nat(3), v: fc.double({ min: -5, max: 1e3, noNaN: true }) }),
        {
          minLength: 2,
          maxLength: 100,
          selector: ({ bin, g }) => `${bin} ${g}`,
        },
      ),
      fc.boolean(),
      async (rows, log) => {
        const column = (of: (row: (typeof rows)[number]) => unknown) => JSON.stringify(rows.map(of));
        const table: SampleTable = {
          columns: [
            ['_time', 'datetime', column(row => at(row.bin))],
            ['g', 'integer', column(row => row.g)],
            ['v', 'float', column(row => row.v)],
          ],
          groups: ['g'],
          buckets: { field: '_time', size: size * 1e6 },
          aggs: { v: { name: log ? 'avg' : 'count' } },
          range: { start: at(0.5), end: at(bins - 0.25) },
        };
        const chart = await drawnChart(sampleResult([table]), { kind: 'heat', log }, 'heat');
        if (typeof chart === 'string') throw new Error(chart);
        const { model, svg } = chart;
        const { axis, rows: names } = model;
        if (!('start' in axis) || !('map' in names)) throw new Error('no time');
        expect([axis.start, axis.end]).toEqual([nine + size / 2, nine + (bins - 0.25) * size]);
        const colors = onAxis(
          '',
          rows.map(({ v }) => v),
        );
        expect(model.unit).toBe(colors.unit);
        const found = model.cells.map(({ x, y, v }) => `${Math.floor((x - nine) / size)} ${names[y]} ${v}`);
        expect(found.toSorted()).toEqual(
          rows.map(({ bin, g, v }) => `${bin} ${g} ${colors.of(v)}`).toSorted(),
        );
        for (const { x, width } of model.cells)
          expect(x >= axis.start && width > 0 && x + width <= axis.end).toBe(true);
        expect(marksIn(svg, 'rect')).toBe(rows.length);
        const isLog = log && rows.every(({ v }) => v > 0);
        expect([model.isLog, model.notes.includes('no log colors: some values are 0 or less')]).toEqual([
          isLog,
          log && !isLog,
        ]);
      },
    ),
    runs,
  ));

test('histograms over time: every non-empty bucket of the largest group has a cell of its height', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          g: fc.nat(2),
          from: fc.integer({ min: -50, max: 50 }),
          counts: fc.array(fc.nat(20), { maxLength: 6 }),
        }),
        {
          minLength: 4,
          maxLength: 40,
        },
      ),
      async rows => {
        const histogram = ({ from, counts }: (typeof rows)[number]) =>
          counts.map((count, index) => ({
            from: (from + index * 5) * 1000,
            to: (from + (index + 1) * 5) * 1000,
            count,
          }));
        const groups = new Set(rows.map(({ g }) => g));
        const table: SampleTable = {
          columns: [
            ['_time', 'datetime', cells(rows.length, row => at(Math.floor(row / 3)))],
            ['g', 'integer', cells(rows.length, row => rows[row]?.g)],
            ['h', 'dynamic', JSON.stringify(rows.map(histogram))],
          ],
          groups: ['g'],
          buckets: { field: '_time', size: size * 1e6 },
          aggs: { h: { name: 'histogram' } },
        };
        const inMilliseconds = { meta: [{ name: 'h', unit: 'ms' }] };
        const chart = await drawnChart(sampleResult([table], inMilliseconds), {}, 'heat');
        const totals = [...groups].map(g =>
          rows
            .filter(row => row.g === g)
            .flatMap(({ counts }) => counts)
            .reduce((a, b) => a + b, 0),
        );
        if (Math.max(...totals) === 0) {
          expect(chart).toBe('No chart: h has no buckets.');
          return;
        }
        if (typeof chart === 'string') throw new Error(chart);
        const { cells: drawn, notes } = chart.model;
        expect(drawn.reduce((sum, { v }) => sum + v, 0)).toBe(Math.max(...totals));
        expect(notes.some(note => note.startsWith(`of the ${groups.size} groups by g`))).toBe(
          groups.size > 1,
        );
        expect(marksIn(chart.svg, 'rect')).toBe(drawn.length);
        for (const { height } of drawn) expect(height).toBeCloseTo(5, 9);
        for (const { y, height, bucket: [from = 0, to = 0] = [] } of drawn)
          expect(y * (to - from)).toBeCloseTo(from * height, 6);
        const [group] = chart.model.buckets?.of ?? [];
        expect([chart.model.buckets?.column, group?.column]).toEqual(['h', 'g']);
        const counted = rows
          .filter(row => String(row.g) === group?.value)
          .flatMap(row => {
            const all = histogram(row);
            return all.map(({ from, to, count }) => ({ from, to, count, isLast: to === all.at(-1)?.to }));
          })
          .filter(({ count }) => count > 0)
          .map(({ from, to, count, isLast }) => [from, to, isLast, count]);
        expect(drawn.map(({ bucket = [], v }) => [...bucket, v])).toEqual(counted);
      },
    ),
    runs,
  ));
