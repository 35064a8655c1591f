/**
 * A chart in characters, for terminals: a line of blocks for each series, bars by name, shades for heatmaps.
 */
import { alignedLines, cutToWidth, GAP, widthOf } from '../../display/aligned.js';
import type { BarChart, ChartModel, HeatChart, PieChart, Plot, Rule, XyChart } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import { shortText } from './texts.js';

/** Returns the lines of a chart, none wider than `width` characters; the sentence that describes it stands below them. */
export function toTerminal(chart: ChartModel, width: number): string {
  const lines = linesOf(chart, width).map(line => line.trimEnd());
  const title = chart.title === undefined ? [] : [cutToWidth(chart.title, width)];
  return [...title, ...lines].join('\n');
}

/** The share of a line that names may take. */
const NAME_SHARE = 0.3;

function linesOf(chart: ChartModel, width: number): readonly string[] {
  switch (chart.kind) {
    case 'xy':
      return chart.plots.flatMap(plot => plotLines(chart, plot, width));
    case 'bars':
      return chart.plots.flatMap(plot => barLines(plot, width));
    case 'heat':
      return heatLines(chart, width);
    case 'pie':
      return pieLines(chart, width);
    case 'stat':
      return chart.tiles.map(({ name, text }) => cutToWidth(`${name}: ${text}`, width));
  }
}

/** From the least level to the greatest. */
const LEVELS = '▁▂▃▄▅▆▇█';
const SHADES = '░▒▓█';

/** The lines of a plot share its axis: equal heights are equal values. */
function plotLines(chart: XyChart, plot: Plot, width: number): readonly string[] {
  const { axis, legend, across, rules = [] } = chart;
  const { low, high, unit, lines } = plot;
  const names = lines.map(({ label }) => (legend.length > 0 ? label : plot.title));
  const known = lines.flatMap(({ points }) => points.flatMap(({ v }) => v ?? []));
  const range = `${shortText(Math.min(...known), unit)} to ${shortText(Math.max(...known), unit)}`;
  const head = legend.length > 0 && plot.title !== '' ? [cutToWidth(`${plot.title}: ${range}`, width)] : [];
  const shares = (v: number) => (v - low) / (high - low);
  const isMarked = across === undefined && rules.length > 0;
  const drawn = withNames(isMarked ? [...names, RULES_NAME] : names, width, room => {
    const columns = Math.min(room, Math.max(...lines.map(line => line.points.length)));
    const rows = lines.map(({ points }) => {
      const found: (number | undefined)[] = Array.from({ length: columns });
      for (const { t, v } of points) {
        const share = (t - axis.start) / (axis.end - axis.start);
        const column = Math.min(columns - 1, Math.max(0, Math.floor(share * columns)));
        if (v !== null) found[column] = Math.max(found[column] ?? v, v);
      }
      return found.map(v => (v === undefined ? ' ' : characterOf(LEVELS, shares(v)))).join('');
    });
    return isMarked ? [...rows, ruleLine(rules, axis, columns)] : rows;
  });
  return head.length > 0 ? [...head, ...drawn] : [...drawn, cutToWidth(range, width)];
}

/** What the line of annotations is called. */
const RULES_NAME = 'annotations';

/** A mark for each annotation in its column, and a line to where it ends. */
function ruleLine(rules: readonly Rule[], { start, end }: TimeAxis, columns: number): string {
  const found = Array.from({ length: columns }, () => ' ');
  const columnOf = (t: number) =>
    Math.min(columns - 1, Math.max(0, Math.floor(((t - start) / (end - start)) * columns)));
  for (const { t, end: until = t } of rules) found.fill('\u2500', columnOf(t), columnOf(until) + 1);
  for (const { t } of rules) found[columnOf(t)] = '\u25b2';
  return found.join('');
}

function characterOf(characters: string, share: number): string {
  const level = Math.floor(share * characters.length);
  return characters.charAt(Math.min(characters.length - 1, Math.max(0, level)));
}

/** The longest bar takes the line; a bar of several parts is their sum. */
function barLines({ title, unit, bars }: BarChart['plots'][number], width: number): readonly string[] {
  const sizes = bars.map(({ parts }) => {
    const values = parts.filter(part => part !== null);
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  });
  return [
    cutToWidth(title, width),
    ...measured(
      bars.map(({ label }) => label),
      sizes,
      unit,
      width,
    ),
  ];
}

function pieLines({ legend, values, unit }: PieChart, width: number): readonly string[] {
  return measured(
    legend.map(({ label }) => label),
    values,
    unit,
    width,
  );
}

/** A bar for each name, with its value at its end. */
function measured(
  names: readonly string[],
  sizes: readonly (number | null)[],
  unit: string,
  width: number,
): readonly string[] {
  const texts = sizes.map(size => (size === null ? 'null' : shortText(size, unit)));
  const most = Math.max(...sizes.map(size => Math.abs(size ?? 0)));
  const beside = Math.max(...texts.map(text => text.length)) + 1;
  return withNames(names, width, room =>
    sizes.map((size, index) => `${bar(Math.abs(size ?? 0) / (most || 1), room - beside)} ${texts[index]}`),
  );
}

const EIGHTHS = ' ▏▎▍▌▋▊▉';

function bar(share: number, room: number): string {
  const eighths = Math.round(share * Math.max(1, room) * 8);
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS.charAt(eighths % 8)}`.trimEnd();
}

/** A shade for each cell of a band of names; bands of numbers have no lines of their own. */
function heatLines(chart: HeatChart, width: number): readonly string[] {
  const { axis, rows, cells, least, most, isLog, rules = [] } = chart;
  if (!('map' in rows)) return [];
  const [start, end] = 'start' in axis ? [axis.start, axis.end] : [0, axis.length];
  const scaled = (v: number) => (isLog ? Math.log(v) : v);
  const shares = (v: number) => (scaled(v) - scaled(least)) / (scaled(most) - scaled(least));
  const marked = 'start' in axis && rules.length > 0 ? axis : undefined;
  return withNames(marked === undefined ? rows : [...rows, RULES_NAME], width, room => {
    const columns = Math.min(room, Math.round((end - start) / Math.max(cells[0]?.width ?? 1, 1e-9)));
    const shades = rows.map((_, y) => {
      const found: (number | undefined)[] = Array.from({ length: Math.max(1, columns) });
      for (const cell of cells.filter(each => each.y === y)) {
        const column = Math.min(columns - 1, Math.floor(((cell.x - start) / (end - start)) * columns));
        found[column] = Math.max(found[column] ?? cell.v, cell.v);
      }
      return found.map(v => (v === undefined ? ' ' : characterOf(SHADES, shares(v)))).join('');
    });
    return marked === undefined ? shades : [...shades, ruleLine(rules, marked, Math.max(1, columns))];
  });
}

/** Names in a column of their own, and beside each what `drawn` returns for the room that is left. */
function withNames(
  names: readonly string[],
  width: number,
  drawn: (room: number) => readonly string[],
): readonly string[] {
  const most = Math.max(8, Math.floor(width * NAME_SHARE));
  const shown = names.map(name => cutToWidth(name, most));
  const longest = Math.max(...shown.map(name => widthOf(name)));
  const marks = drawn(Math.max(8, width - longest - GAP.length));
  return alignedLines(shown.map((name, index) => [name, marks[index] ?? '']));
}
