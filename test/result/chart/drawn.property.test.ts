import fc from 'fast-check';
import * as vega from 'vega';
import { expect, test } from 'vitest';
import type { ChartOptions } from '../../../kernel/apl/operators/drawing.js';
import { layersOf } from '../../../kernel/result/chart/draw/draw-lines.js';
import { chartInput } from '../../../kernel/result/chart/kinds/input.js';
import type { XyChart } from '../../../kernel/result/chart/model.js';
import { toSeries } from '../../../kernel/result/chart/time/time-series.js';
import { scaleFor } from '../../../kernel/result/chart/units.js';
import { sampleResult } from '../sample.js';

const now = Date.UTC(2027, 0);
const nine = Date.UTC(2026, 10, 20, 9);
const iso = (t: number) => new Date(t).toISOString();

/** A binned result: rows of bin, group and value, and the offsets at which the searched range cuts the first and last bins. */
const results = fc
  .record({
    size: fc.constantFrom(1_000, 60_000, 300_000, 3_600_000),
    bins: fc.integer({ min: 2, max: 400 }),
    cutStart: fc.constantFrom(0, 0.25, 0.9),
    cutEnd: fc.constantFrom(0, 0.25, 0.9),
    aggregate: fc.constantFrom('count', 'sum', 'dcount', 'avg', 'percentile'),
    unit: fc.constantFrom('', 'ms', 'bytes', 'percentunit'),
    groups: fc.uniqueArray(
      fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.constantFrom('__proto__', 'null', '', `${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`),
      ),
      { minLength: 1, maxLength: 6 },
    ),
    isGrouped: fc.boolean(),
  })
  .chain(shape =>
    fc.record({
      shape: fc.constant(shape),
      rows: fc.uniqueArray(
        fc.record({
          bin: fc.nat(shape.bins - 1),
          group: fc.nat(shape.isGrouped ? shape.groups.length - 1 : 0),
          value: fc.oneof(
            { weight: 9, arbitrary: fc.double({ min: -1e7, max: 1e9, noNaN: true }) },
            { weight: 1, arbitrary: fc.constant(null) },
          ),
        }),
        { minLength: 1, maxLength: 500, selector: row => `${row.bin} ${row.group}` },
      ),
    }),
  );

type Sample = typeof results extends fc.Arbitrary<infer T> ? T : never;

function drawn({ shape, rows }: Sample, options: ChartOptions = {}): XyChart | undefined {
  const { size, bins, groups, isGrouped, aggregate, unit } = shape;
  const text = (of: (row: Sample['rows'][number]) => unknown) => JSON.stringify(rows.map(of));
  const input = chartInput(
    sampleResult(
      [
        {
          columns: [
            ['_time', 'datetime', text(row => iso(nine + row.bin * size))],
            ...(isGrouped ? [['g', 'string', text(row => groups[row.group])] as const] : []),
            ['x', 'float', text(row => row.value)],
          ],
          groups: isGrouped ? ['g'] : [],
          buckets: { field: '_time', size: size * 1e6 },
          aggs: { x: { name: aggregate } },
          range: { start: iso(start(shape)), end: iso(nine + (bins - shape.cutEnd) * size) },
        },
      ],
      { meta: [{ name: 'x', unit }] },
    ),
    now,
    options,
  );
  const chart = input && toSeries(input, options);
  return typeof chart === 'string' ? undefined : chart;
}

const start = ({ size, cutStart }: Sample['shape']) => nine + Math.round(cutStart * size);
const zeroes = /^(?:count|sum|dcount)$/;

test('any result: marks match the data plus noted zeros, over the searched range', () => {
  fc.assert(
    fc.property(results, sample => {
      const { shape, rows } = sample;
      const chart = drawn(sample);
      const values = rows.flatMap(row => (row.value === null ? [] : [row.value]));
      if (chart === undefined) {
        expect(values).toEqual([]);
        return;
      }
      const { factor, unit } = scaleFor(shape.unit, Math.max(...values.map(Math.abs)));
      const [plot] = chart.plots;
      if (plot === undefined) throw new Error('no plot');
      expect([chart.axis.start, chart.axis.end]).toEqual([
        start(shape),
        nine + Math.round((shape.bins - shape.cutEnd) * shape.size),
      ]);
      expect(plot.title).toBe(unit === '' ? 'x' : `x (${unit})`);
      const keys = new Set(rows.map(row => (shape.isGrouped ? row.group : 0)));
      expect(plot.lines.length).toBe(keys.size);
      expect(new Set(plot.lines.map(line => line.label)).size).toBe(plot.lines.length);
      const points = plot.lines.flatMap(line => line.points);
      for (const { t, v, added } of points.filter(point => point.v !== null)) {
        if (added === true) {
          expect([v, zeroes.test(shape.aggregate)]).toEqual([0, true]);
          expect(chart.notes).toContain('bins without rows are 0 in x');
        }
        expect(Number.isInteger((t - nine) / shape.size)).toBe(true);
      }
      const isThinned = chart.notes.some(note => note.startsWith('too many points'));
      const data = points.filter(point => point.v !== null && point.added !== true);
      if (!isThinned) expect(data.length).toBe(values.length);
      const scaled = (value: number) => (factor === 1 ? value : Number((value * factor).toPrecision(15)));
      const wanted = new Set(values.map(scaled));
      expect(data.every(point => point.v !== null && wanted.has(point.v))).toBe(true);
      const shown = data.flatMap(point => point.v ?? []);
      expect([Math.min(...shown), Math.max(...shown)]).toEqual([
        scaled(Math.min(...values)),
        scaled(Math.max(...values)),
      ]);
      expect(plot.low <= Math.min(...shown) && plot.high >= Math.max(...shown)).toBe(true);
      for (const point of points)
        expect(point.partial).toBe(isCut(shape, Math.round((point.t - nine) / shape.size)));
    }),
    { numRuns: 50 },
  );
});

const choices = fc.constantFrom<ChartOptions>(
  {},
  { kind: 'line' },
  { kind: 'area' },
  { kind: 'area', stack: true },
  { kind: 'bar' },
  { kind: 'bar', stack: false },
  { kind: 'scatter' },
  { log: true },
  { kind: 'area', stack: true, log: true },
);

test('any result and kind: every value has a line, dot or bar within the axis', () => {
  fc.assert(
    fc.property(results, choices, (sample, options) => {
      const chart = drawn(sample, options);
      const [plot] = chart?.plots ?? [];
      if (chart === undefined || plot === undefined) return;
      const marked = new Set<string>();
      const mark = ({ s, v }: Row) => marked.add(`${s} ${v}`);
      const { marks, data } = layersOf(plot, 0, chart, { interactive: false, height: 200 }) as Layers;
      const view = new vega.View(vega.parse({ data } as vega.Spec)).run();
      for (const { type, from, marks: inner } of marks) {
        const rows: readonly Row[] = view.data((from.facet ?? from).data);
        if (type === 'symbol' || type === 'rect') rows.map(mark);
        if (inner?.[0]?.type !== 'line') continue;
        const isDashed = JSON.stringify(inner[0].encode.update).includes('"strokeDash":{"value"');
        const isDrawn = ({ v, p, q }: Row) => v !== null && (isDashed ? q === 1 : p === undefined);
        for (const [index, row] of rows.entries()) {
          const next = rows[index + 1];
          if (next !== undefined && next.s === row.s && isDrawn(row) && isDrawn(next)) [row, next].map(mark);
        }
      }
      const all: readonly Row[] = view.data('rows_0');
      view.finalize();
      for (const { t, e = t } of all) expect(t >= chart.axis.start && e <= chart.axis.end).toBe(true);
      const tops = all.flatMap(({ v, y = v }) => (v === null || y === null ? [] : [y]));
      for (const [index, { points }] of plot.lines.entries())
        for (const { v, added } of points)
          if (v !== null && added !== true) expect(marked).toContain(`l${index} ${v}`);
      if (plot.isLog) expect(plot.low).toBeGreaterThan(0);
      for (const v of tops) expect(v >= plot.low && v <= plot.high).toBe(true);
    }),
    { numRuns: 60 },
  );
});

interface Row {
  readonly t: number;
  readonly v: number | null;
  readonly s: string;
  readonly e?: number;
  readonly p?: 1;
  readonly q?: 1;
  /** Position in a stack. */
  readonly y?: number | null;
}

interface Layers {
  readonly marks: readonly {
    readonly type: string;
    readonly from: { readonly data: string; readonly facet?: { readonly data: string } };
    readonly marks?: readonly { readonly type: string; readonly encode: { readonly update: object } }[];
  }[];
  readonly data: readonly object[];
}

/** Whether the range covers the bin only in part. */
function isCut({ bins, cutStart, cutEnd }: Sample['shape'], bin: number): boolean {
  return (bin === 0 && cutStart > 0) || (bin === bins - 1 && cutEnd > 0);
}
