/** Scaling of the values of a plot: their unit, the ends of the axis, and whether it is logarithmic. */
import { DataType } from 'apache-arrow';
import type { ChartOptions } from '../../apl/operators/drawing.js';
import { cut } from '../../text.js';
import { safeWords } from '../display/summary.js';
import { FIELD_KEY } from '../field.js';
import type { ChartColumn } from './chart-values.js';
import type { Line, Plot } from './model.js';
import { greatestSize, scaleFor } from './units.js';

/** Style of a plot, and the unit of its values in the result. */
interface PlotStyle extends Pick<Plot, 'mark'> {
  readonly unit: string;
  /** Default: side by side. */
  readonly arrangement?: Plot['arrangement'];
  readonly isLog: boolean;
  readonly isIntegral?: boolean;
  /** The axis need not begin at zero. */
  readonly isNarrow?: boolean;
}

/** Returns a plot of lines in the unit that suits their greatest value, with an axis for all of them. */
export function plotOf(name: string, lines: readonly Line[], style: PlotStyle): Plot {
  const { mark, arrangement = 'apart', isLog, isIntegral = false } = style;
  const { factor, unit } = scaleFor(style.unit, greatestSize(valuesOf(lines)));
  const drawn = lines.map(line => ({
    ...line,
    points: line.points.map(point => ({ ...point, v: scaled(point.v, factor) })),
  }));
  const ends = endsFor(valuesOf(drawn), style);
  const sums = arrangement === 'stacked' ? stackEnds(drawn) : ends;
  return {
    title: titleOf(name, unit),
    ...{ unit, mark, arrangement, lines: drawn },
    ...(isLog ? { low: ends.low, high: sums.high } : sums),
    ...{ isLog, isIntegral: isIntegral && factor === 1 },
  };
}

/** Returns every value of lines. */
export function valuesOf(lines: readonly Pick<Line, 'points'>[]): readonly number[] {
  return lines.flatMap(({ points }) => points.flatMap(({ v }) => v ?? []));
}

/** Returns whether the axis of these values is logarithmic: the options say so, and all values are above zero. */
export function isLogFor(values: readonly number[], options: ChartOptions): boolean {
  return options.log === true && values.every(v => v > 0);
}

/** Returns the ends of an axis: from zero, unless it is logarithmic or narrow. Without values, it ends at 1. */
export function endsFor(
  values: readonly number[],
  { mark, isLog, isNarrow = false }: Pick<PlotStyle, 'mark' | 'isLog' | 'isNarrow'>,
): Pick<Plot, 'low' | 'high'> {
  const some = values.length > 0 ? values : [1];
  const all = isLog || isNarrow ? some : [0, ...some];
  const [least, most] = [smallest(all), largest(all)];
  if (isLog) return { low: mark === 'bars' || mark === 'area' ? logFoot(least) : least, high: most };
  return least === most ? { low: 0, high: 1 } : { low: least, high: most };
}

/** Returns the greatest and the least sum of a stack. */
function stackEnds(lines: readonly Line[]): Pick<Plot, 'low' | 'high'> {
  const [up, down] = [new Map<number, number>(), new Map<number, number>()];
  for (const { t, v } of lines.flatMap(({ points }) => points)) {
    const side = (v ?? 0) < 0 ? down : up;
    side.set(t, (side.get(t) ?? 0) + (v ?? 0));
  }
  return { low: smallest([0, ...down.values()]), high: largest([0, ...up.values()]) };
}

/** Returns the power of ten below the least value, at which marks of a logarithmic axis begin, so that its mark is visible too. */
function logFoot(least: number): number {
  return Math.max(Number.MIN_VALUE, 10 ** Math.floor(Math.log10(least / 1.5)));
}

/** Digits that the product of two doubles always gets right. */
const DIGITS = 15;

/** Returns a value in the unit of an axis. */
export function scaled(value: number, factor: number): number;
export function scaled(value: number | null, factor: number): number | null;
export function scaled(value: number | null, factor: number): number | null {
  return value === null || factor === 1 ? value : Number((value * factor).toPrecision(DIGITS));
}

/** Maximum length of an unknown unit. */
const UNIT_LENGTH = 24;

/** Returns the unit of a measure, empty if it has none. */
export function unitOf(measure: ChartColumn | undefined, options: ChartOptions = {}): string {
  if (options.unit !== undefined) return cut(safeWords(options.unit), UNIT_LENGTH);
  if (measure === undefined) return '';
  if (DataType.isDuration(measure.field.type)) return 's';
  return cut(safeWords(measure.field.metadata.get(FIELD_KEY.unit) ?? ''), UNIT_LENGTH);
}

/** Returns the title of an axis: a name with its unit. */
export function titleOf(name: string, unit: string): string {
  if (name === '') return unit;
  return unit === '' ? name : `${name} (${unit})`;
}

/** Returns the largest of any number of values; -Infinity if there are none. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/** Returns the smallest of any number of values; Infinity if there are none. */
export function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}
