/** Values as colors: a deeper color is a greater value, on both light and dark backgrounds. */
import type { ChartOptions } from '../../../apl/operators/drawing.js';
import { present } from '../../../present.js';
import { cut, formatCount } from '../../../text.js';
import { aggregateOf, keyTexts, keyValues, nameOf, type Roles } from '../chart-columns.js';
import { firstOf, namesOf, notDrawn, notes, noValue, rowsWithout } from '../chart-notes.js';
import {
  allRows,
  type ChartColumn,
  distinctTimes,
  greatestOf,
  groupNumbers,
  numberAt,
  rowsOfGroup,
  sizesOf,
} from '../chart-values.js';
import { exactly, numberLabels, timeGuide, tip, utcTime, valueGuide } from '../draw/axes.js';
import { RULE_LABELS_HEIGHT, ruleBands, ruleData, ruleMarks } from '../draw/draw-rules.js';
import {
  at,
  BESIDE_WIDTH,
  type Drawing,
  LABELS_SIGNAL,
  mark,
  type NameAxis,
  namesBelow,
  namesBeside,
  type Part,
  partFacts,
  plotGroup,
  TICKS,
  titlePlace,
} from '../draw/draw-style.js';
import {
  characterOf,
  columnsAlong,
  columnsOfNames,
  greatestIn,
  RULES_NAME,
  ruleLine,
  withNames,
} from '../draw/draw-terminal.js';
import { measureText, overTime } from '../draw/draw-texts.js';
import { LABEL_LENGTH } from '../labels.js';
import type { ChartModel } from '../model.js';
import type { KeyValue } from '../palette.js';
import { largest, scaled, smallest, titleOf, unitOf } from '../plots.js';
import { axisOf, binCount, type TimeAxis } from '../time/bins.js';
import { THINNED, toSeries } from '../time/time-series.js';
import type { Histograms } from '../unfold.js';
import { greatestSize, scaleFor } from '../units.js';
import type { ChartInput } from './input.js';
import type { ChartForm, KindRow } from './kind.js';
import {
  cutNames,
  dividedRows,
  MAX_CELLS,
  notDrawnBeside,
  OTHERS,
  sumAt,
  withValues,
} from './shared/bars-by-name.js';

/** One cell of a heatmap; in a row of names, `y` is the index of the row and `height` is 1. */
interface Cell {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  readonly v: number;
  /** Exact bounds of its bucket, and whether it is the last of its histogram. */
  readonly bucket?: readonly [from: number, to: number, isLast: boolean];
}

/** A vertical axis of numbers; above `linearBelow` it is logarithmic. */
interface NumberRows {
  readonly title: string;
  readonly low: number;
  readonly high: number;
  readonly linearBelow?: number;
}

/** The color scale of values. */
interface Shades {
  /** Values at the ends of the color scale. */
  readonly most: number;
  readonly least: number;
  readonly isLog: boolean;
  /** Colors are about linear up to here and logarithmic above; absent for a purely linear or logarithmic scale. */
  readonly linearBelow?: number;
}

/** Values as colors, over time or names, and over numbers or names. */
export interface HeatChart extends ChartModel, Shades {
  readonly kind: 'heat';
  /** The horizontal axis: time, or names from the left. */
  readonly axis: TimeAxis | readonly string[];
  /** The vertical axis: numbers with their unit, or names from the top. */
  readonly rows: readonly string[] | NumberRows;
  /** Groups of the result behind each name of the axes. */
  readonly groups?: { readonly across: readonly Part[]; readonly up: readonly Part[] };
  /** The column of histograms whose buckets the cells are, and the groups of the histogram drawn. */
  readonly buckets?: { readonly column: string; readonly of: readonly KeyValue[] };
  readonly cells: readonly Cell[];
  readonly unit: string;
}

const NO_GRID = 'No heatmap: the times are not evenly spaced.';
const MAX_BUCKETS = 4_000;

/** Returns the first plot of a chart over time, with one row for each line that a line chart would have. */
function toTimeHeat(input: ChartInput, options: ChartOptions): HeatChart | string | undefined {
  const { log: _, stack: __, ...plain } = options;
  const chart = toSeries(input, { ...plain, kind: 'line' }, MAX_BUCKETS);
  if (typeof chart !== 'object') return chart;
  const { axis } = chart;
  const [plot] = chart.plots;
  if (plot === undefined || axis.grid === undefined) return NO_GRID;
  if (plot.mark === 'dots') return 'No heatmap: several rows share a timestamp.';
  const isThinned = chart.notes.includes(THINNED);
  const cells = plot.lines.flatMap(({ points }, y) =>
    points.flatMap(({ t, v, added }): Cell[] =>
      v === null || added === true ? [] : [{ ...binAt(t, axis), y, height: 1, v }],
    ),
  );
  const shades = shadesOf(cells, options);
  return {
    ...{ kind: 'heat', axis, cells, ...shades, legend: [] },
    rows: plot.lines.map(({ label }) => label),
    groups: { across: [], up: plot.lines },
    unit: plot.unit,
    names: chart.plots.length > 1 ? chart.names.slice(0, 1) : chart.names,
    notes: notes(
      chart.notes.filter(note => !OF_LINES.test(note)),
      logNote(shades, options),
      plot.lines.some(({ points }) => points.some(({ flagged }) => flagged)) && 'anomalies are not marked',
      !isThinned && cells.length < plot.lines.length * binCount(axis) && 'bins without rows are empty',
      chart.plots.length > 1 && `the first of ${chart.plots.length} measures`,
    ),
  };
}

/** Notes that only apply to lines and their axis. */
const OF_LINES = /^(?:bins |anomalies by .* are red$|the axis does not start at 0)/;

/** Returns the first measure as colors over the first key and the remaining ones. */
function toGrid({ table, roles }: ChartInput, options: ChartOptions): HeatChart | string {
  const [measure] = withValues(table, roles.measures);
  if (measure === undefined) return noValue(roles.measures);
  if (roles.keys.length < 2) return 'No heatmap: it needs two keys, or one over time.';
  const mixes = aggregateOf(measure).additive;
  const names = dividedRows(roles.keys, measure, { most: MAX_CELLS, mixes });
  const { rows: drawn, parts, cut } = names;
  const scale = scaleFor(
    unitOf(measure, options),
    greatestSize(drawn.flatMap(row => row.places.map(place => sumAt(place, measure) ?? 0))),
  );
  const cells = drawn.flatMap((row, y): Cell[] =>
    row.places.flatMap((place, x) => {
      const v = scaled(sumAt(place, measure), scale.factor);
      return v === null ? [] : [{ x, width: 1, y, height: 1, v }];
    }),
  );
  const shades = shadesOf(cells, options);
  return {
    ...{ kind: 'heat', cells, ...shades, legend: [] },
    axis: parts.map(part => part.label),
    rows: drawn.map(row => row.label),
    groups: { across: parts, up: drawn },
    unit: scale.unit,
    names: [nameOf(measure), nameOf(roles.keys.at(-1) as ChartColumn)],
    notes: notes(
      cutNames(names, measure),
      cut > 0 && beyondNote(cut, mixes, roles, measure),
      logNote(shades, options),
      notDrawnBeside(roles, measure),
    ),
  };
}

function beyondNote(cut: number, mixes: boolean, { keys }: Roles, measure: ChartColumn): string {
  if (mixes) return `parts beyond the ${MAX_CELLS - 1} largest are combined into ${OTHERS}`;
  const all = formatCount(cut + MAX_CELLS);
  return `not drawn: ${formatCount(cut)} of ${all} ${namesOf(keys.slice(-1))}, those with the lowest ${nameOf(measure)}`;
}

/** Returns histograms over time; each keeps its own buckets. Of several groups, the largest is drawn. */
function toHistogramHeat(input: ChartInput, options: ChartOptions): HeatChart | string | undefined {
  const { result, table, histograms, roles, now } = input;
  const { time, keys, measures, leftOut } = roles;
  if (histograms === undefined || time === undefined) return undefined;
  const axis = axisOf(result, table, distinctTimes(time), now);
  if (axis === undefined) return undefined;
  if (axis.grid === undefined) return NO_GRID;
  const { column, rows } = histograms;
  const group = largestGroup(rows, keys);
  const found = [...group.rows].flatMap(row => {
    const t = numberAt(time, row);
    if (t === null) return [];
    const all = rows[row] ?? [];
    const counted = all.filter(({ count }) => count > 0);
    return counted.map(({ from, to, count }) => ({
      ...binAt(t, axis),
      ...{ y: from, height: to - from, v: count },
      bucket: [from, to, to === all.at(-1)?.to] as const,
    }));
  });
  if (found.length === 0) return `No chart: ${nameOf(column)} has no buckets.`;
  const shown = found.slice(0, MAX_BUCKETS);
  const size = greatestSize(shown.flatMap(({ y, height }) => [y, y + height]));
  const scale = scaleFor(unitOf(column, options), size);
  const cells = shown.map(cell => ({
    ...cell,
    y: cell.y * scale.factor,
    height: cell.height * scale.factor,
  }));
  const linearBelow = linearLimit(cells);
  return {
    ...{ kind: 'heat', axis, cells, ...shadesOf(cells, options), legend: [] },
    rows: {
      title: titleOf(nameOf(column), scale.unit),
      low: Math.min(0, ...cells.map(({ y }) => y)),
      high: largest(cells.map(({ y, height }) => y + height)),
      ...present({ linearBelow }),
    },
    ...present({ buckets: group.of && { column: column.field.name, of: group.of } }),
    unit: '',
    names: [nameOf(column)],
    notes: notes(
      'each time bin has its own buckets; colors are counts',
      linearBelow !== undefined && 'the axis is logarithmic: a few buckets are far above the others',
      firstOf(shown.length, found.length, 'buckets'),
      group.count > 1 &&
        `of the ${formatCount(group.count)} groups by ${namesOf(keys)}, the one with the highest count: ${group.label}`,
      rowsWithout(group.rows.filter(row => numberAt(time, row) === null).length, 'a time'),
      notDrawn([...measures, ...leftOut]),
    ),
  };
}

/** A row of names whose greatest value is below this share of the overall greatest would have no visible color. */
const FAINT = 0.02;

/** Returns the color scale: its ends, and where it becomes logarithmic. */
function shadesOf(cells: readonly Cell[], options: ChartOptions): Shades {
  const values = cells.length === 0 ? [0] : cells.map(({ v }) => v);
  const [least, most] = [smallest(values), largest(values)];
  const isLog = options.log === true && least > 0;
  const isMixed = !isLog && least >= 0 && hasFaintRow(cells, most);
  const linearBelow = isMixed ? smallest(values.filter(v => v > 0)) : undefined;
  return { most, least: isLog ? least : Math.min(0, least), isLog, ...present({ linearBelow }) };
}

function hasFaintRow(cells: readonly Cell[], most: number): boolean {
  const greatest = new Map<number, number>();
  for (const { y, v } of cells) greatest.set(y, Math.max(greatest.get(y) ?? 0, v));
  return [...greatest.values()].some(v => v > 0 && v < FAINT * most);
}

/** Buckets that reach this many times as high as nearly all others would squeeze those into a line at the bottom. */
const FAR = 8;

/** Returns where an axis of buckets becomes logarithmic, for a few that are far above the others; undefined for a linear axis. */
function linearLimit(cells: readonly Cell[]): number | undefined {
  const ends = cells.map(({ y, height }) => y + height).sort((a, b) => a - b);
  const usual = ends[Math.floor(ends.length * 0.9)] ?? 0;
  const isFar = cells.every(({ y }) => y >= 0) && usual > 0 && (ends.at(-1) ?? 0) > FAR * usual;
  return isFar ? usual / 10 : undefined;
}

function logNote({ linearBelow, isLog }: Shades, options: ChartOptions): string | false {
  if (linearBelow !== undefined) return 'colors are logarithmic: some rows are far below the others';
  return options.log === true && !isLog && 'no log colors: some values are 0 or less';
}

/** Returns the rows of the group whose histograms have the greatest total count, and the number of groups. */
function largestGroup(
  rows: Histograms['rows'],
  keys: readonly ChartColumn[],
): {
  readonly rows: Uint32Array;
  readonly label: string;
  readonly of: readonly KeyValue[] | undefined;
  readonly count: number;
} {
  const all = allRows(rows.length);
  const groups = groupNumbers(keys, all);
  const totals = Float64Array.from(rows, buckets => buckets.reduce((sum, { count }) => sum + count, 0));
  const [greatest = 0] = greatestOf(sizesOf(groups, totals, true), 1);
  const own = rowsOfGroup(all, groups, greatest);
  const first = own[0] ?? 0;
  return {
    rows: own,
    label: cut(keyTexts(keys, first).join(' \u00b7 '), LABEL_LENGTH),
    of: keyValues(keys, first),
    count: groups.count,
  };
}

/** Returns the searched part of a time bin. */
function binAt(t: number, { grid, start, until }: TimeAxis): Pick<Cell, 'x' | 'width'> {
  const from = Math.max(t, start);
  return { x: from, width: Math.min(t + (grid?.size ?? 0), until) - from };
}

/** Returns one plot: time or names across, numbers or names up. */
function heatDrawing(chart: HeatChart, interactive: boolean): Drawing {
  const { rows, axis, rules = [] } = chart;
  const height = isNames(rows) ? Math.max(3, rows.length) * ROW_HEIGHT : HEIGHT;
  const across = acrossOf(chart);
  const up = upOf(chart, height);
  const cell = { ...across.place, ...up.place, fill: at('color', 'v'), tooltip: tipOf(chart) };
  return {
    marks: [
      plotGroup(height, {
        scales: [
          { name: 'x', range: [0, { signal: 'width' }], ...across.scale },
          { name: 'y', ...up.scale },
        ],
        axes: [across.guide, up.guide],
        marks: [
          mark('rect', 'cells', cell),
          ...ruleBands(rules, height),
          ...ruleMarks(rules, height, { isLabeled: true, interactive }),
        ],
      }),
    ],
    data: [
      { name: 'cells', values: chart.cells.map(each => rowOf(each, chart)) },
      ...(isNames(axis) ? [] : ruleData(rules, axis)),
    ],
    ...colors(chart),
    labels: { ...up.names?.labels, ...across.names?.labels },
    titles: [isNames(rows) ? '' : rows.title, chart.unit],
    beside: up.names === undefined ? String(BESIDE_WIDTH) : `${up.names.width} + 30`,
    signals: up.names === undefined ? [] : [up.names.signal],
    ...present({ facts: factsOf(chart) }),
  };
}

/** Returns the groups behind cells; cells along time alone have none beside their bins, and possibly buckets. */
function factsOf({ axis, groups, buckets }: HeatChart): object | undefined {
  if (buckets !== undefined) return { parts: {}, buckets };
  if (groups === undefined) return undefined;
  const { across, up } = groups;
  return (
    partFacts([
      [columnId, across],
      [rowId, up],
    ]) ?? (isNames(axis) ? undefined : { parts: {} })
  );
}

const HEIGHT = 220;
const ROW_HEIGHT = 22;

function isNames<T>(names: readonly string[] | T): names is readonly string[] {
  return Array.isArray(names);
}

function rowId(index: number): string {
  return `r${index}`;
}

function columnId(index: number): string {
  return `c${index}`;
}

function rowOf({ x, width, y, height, v, bucket }: Cell, { axis, rows }: HeatChart): object {
  return {
    ...(isNames(axis) ? { c: columnId(x) } : { t: x, e: x + width }),
    ...(isNames(rows) ? { r: rowId(y) } : { y, z: y + height }),
    v,
    ...present({ b: bucket }),
  };
}

/** One axis of a heatmap: the position of a cell along it, its scale and its guide. */
interface Side {
  readonly place: object;
  readonly scale: object;
  readonly guide: object;
}

function acrossOf({ axis }: HeatChart): Side & { readonly names?: Pick<NameAxis, 'labels'> } {
  if (!isNames(axis))
    return {
      place: { x: at('x', 't'), x2: at('x', 'e') },
      scale: { type: 'utc', domain: [axis.start, axis.end], nice: false },
      guide: timeGuide(axis, true),
    };
  const names = namesBelow(axis, columnId);
  return {
    place: { x: at('x', 'c'), width: { scale: 'x', band: 1 } },
    scale: { type: 'band', domain: axis.map((_, index) => columnId(index)), padding: 0.04 },
    guide: { scale: 'x', ...names.guide },
    names,
  };
}

function upOf({ rows, rules = [] }: HeatChart, height: number): Side & { readonly names?: NameAxis } {
  if (!isNames(rows))
    return {
      place: { y: at('y', 'y'), y2: at('y', 'z') },
      scale: { ...heightScale(rows), range: [height, 0] },
      guide: {
        ...valueGuide(rows, 0, rules.length === 0 ? 0 : RULE_LABELS_HEIGHT),
        ...ticksUpTo(rows.high, rows.linearBelow),
      },
    };
  const names = namesBeside(rows, rowId);
  const domain = rows.map((_, index) => rowId(index));
  return {
    place: { y: at('y', 'r'), height: { scale: 'y', band: 1 } },
    scale: { type: 'band', padding: 0.06, range: [0, height], domain },
    guide: { scale: 'y', ...names.guide },
    names,
  };
}

function heightScale({ low, high, linearBelow }: NumberRows): object {
  const domain = [low, high];
  if (linearBelow === undefined) return { type: 'linear', domain, zero: false, nice: TICKS };
  return { type: 'symlog', constant: linearBelow, domain, nice: false };
}

/** Returns the ticks of a scale: powers of ten if it is logarithmic, from where it becomes so. */
function ticksUpTo(high: number, linearBelow: number | undefined): object {
  if (linearBelow === undefined) return { tickCount: TICKS };
  const [first, last] = [Math.ceil(Math.log10(linearBelow)), Math.floor(Math.log10(high))];
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => 10 ** (first + index));
  return { values: [0, ...powers] };
}

/** Shades of one color, the lightest still visible on both light and dark backgrounds. */
const SHADES = ['rgba(42, 133, 199, 0.12)', 'rgba(42, 133, 199, 1)'];

function colors({ least, most, isLog, linearBelow }: HeatChart): Pick<Drawing, 'scales' | 'legends'> {
  const low = least < most ? least : isLog ? most / 10 : most - 1;
  const scale = { name: 'color', ...shadeScale(isLog, linearBelow), domain: [low, most], range: SHADES };
  const legend = {
    ...{ fill: 'color', type: 'gradient', orient: 'bottom', direction: 'horizontal', title: titlePlace(1) },
    ...ticksUpTo(most, linearBelow),
    ...numberLabels(low, most),
    gradientLength: { signal: 'min(260, width - 20)' },
  };
  return { scales: [{ ...scale, interpolate: 'hcl', nice: false }], legends: [legend] };
}

function shadeScale(isLog: boolean, linearBelow: number | undefined): object {
  if (linearBelow !== undefined) return { type: 'symlog', constant: linearBelow };
  return isLog ? { type: 'log' } : { type: 'linear', zero: false };
}

function tipOf({ axis, rows }: HeatChart): object {
  const name = (id: string) => `${LABELS_SIGNAL}[datum.${id}]`;
  return tip({
    ...(isNames(axis) ? { column: name('c') } : { 'time (UTC)': utcTime('t') }),
    ...(isNames(rows) ? { row: name('r') } : { from: exactly('y'), to: exactly('z') }),
    value: exactly('v'),
  });
}

const SHADES_PRINTED = '░▒▓█';

/** Returns a shade for each cell of a row of names; rows of numbers have no lines. */
function heatLines(chart: HeatChart, width: number): readonly string[] {
  const { axis, rows, cells, rules = [] } = chart;
  if (!isNames(rows)) return [];
  const marked = isNames(axis) || rules.length === 0 ? undefined : axis;
  return withNames(marked === undefined ? rows : [...rows, RULES_NAME], width, room => {
    const columns = isNames(axis) ? columnsOfNames(axis.length, room) : columnsAlong(axis, room);
    const shades = rows.map((_, y) => {
      const own = cells.filter(cell => cell.y === y).map(({ x, v }) => ({ t: x, v }));
      return greatestIn(columns, own, v => characterOf(SHADES_PRINTED, shareOf(chart, v)));
    });
    return marked === undefined ? shades : [...shades, ruleLine(rules, columns)];
  });
}

/** Returns how far the color of a value is from the least one, from 0 to 1. */
function shareOf({ least, most, isLog, linearBelow }: HeatChart, v: number): number {
  const scale = (value: number) =>
    isLog ? Math.log(value) : linearBelow === undefined ? value : Math.log1p(value / linearBelow);
  return (scale(v) - scale(least)) / (scale(most) - scale(least));
}

function extremesOf({ cells, unit }: HeatChart): readonly string[] {
  const values = cells.map(({ v }) => v);
  if (values.length === 0) return [];
  return [`values from ${measureText(smallest(values), unit)} to ${measureText(largest(values), unit)}`];
}

const form: ChartForm<HeatChart> = {
  type: 'heat',
  title: () => 'Heatmap',
  clauses: chart => [...(isNames(chart.axis) ? [] : [overTime(chart.axis)]), ...extremesOf(chart)],
  timeAxis: ({ axis }) => (isNames(axis) ? undefined : axis),
  draw: heatDrawing,
  print: heatLines,
};

export const heat: KindRow = {
  label: 'Heatmap',
  title: 'heatmap',
  needs: 'numbers over time, or by two names',
  draws: {
    'histograms over time': toHistogramHeat,
    'percentiles over time': toTimeHeat,
    series: toTimeHeat,
    'measures over time': toTimeHeat,
    'numbers by name': toGrid,
  },
  form,
};
