/** A chart in characters, for terminals: the parts that kinds of charts share. */
import { alignedLines, cutToWidth, GAP, widthOf } from '../../display/aligned.js';
import type { Rule } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import { shortText } from './draw-texts.js';

/** The share of a line that names may fill. */
const NAME_SHARE = 0.3;

/** Levels from least to greatest. */
export const LEVELS = '▁▂▃▄▅▆▇█';

/** Name of the line of annotations. */
export const RULES_NAME = 'annotations';

/** Characters along an axis, and the index of the one at a position. */
export interface Columns {
  readonly count: number;
  of(t: number): number;
}

/** Returns a column for each bin of an axis, or for several bins if there is less room; without bins, at most `most`. */
export function columnsAlong({ start, end, grid }: TimeAxis, room: number, most = room): Columns {
  if (grid === undefined) return spreadOver(Math.min(room, most), t => (t - start) / (end - start));
  const bins = grid.last - grid.first + 1;
  const binOf = (t: number) => Math.floor((t - grid.origin) / grid.size + ROUNDING) - grid.first;
  return spreadOver(Math.min(room, bins), t => binOf(t) / bins);
}

/** Returns a column for each name, from the left. */
export function columnsOfNames(names: number, room: number): Columns {
  return spreadOver(Math.min(room, names), t => t / names);
}

/** A fraction of a bin or a column that is only a rounding error. */
const ROUNDING = 1e-6;

function spreadOver(wanted: number, shareOf: (t: number) => number): Columns {
  const count = Math.max(1, wanted);
  const of = (t: number) => Math.min(count - 1, Math.max(0, Math.floor(shareOf(t) * count + ROUNDING)));
  return { count, of };
}

/** Returns the greatest value in each column as a character; a space for a column without values. */
export function greatestIn(
  { count, of }: Columns,
  points: readonly { readonly t: number; readonly v: number | null }[],
  characterFor: (v: number) => string,
): string {
  const found: (number | undefined)[] = Array.from({ length: count });
  for (const { t, v } of points) {
    const column = of(t);
    if (v !== null) found[column] = Math.max(found[column] ?? v, v);
  }
  return found.map(v => (v === undefined ? ' ' : characterFor(v))).join('');
}

/** Returns a mark for each annotation in its column, and a line to its end. */
export function ruleLine(rules: readonly Rule[], { count, of }: Columns): string {
  const found = Array.from({ length: count }, () => ' ');
  for (const { t, end: until = t } of rules) found.fill('\u2500', of(t), of(until) + 1);
  for (const { t } of rules) found[of(t)] = '\u25b2';
  return found.join('');
}

/** Returns the character for a share from 0 to 1. */
export function characterOf(characters: string, share: number): string {
  const level = Math.floor(share * characters.length);
  return characters.charAt(Math.min(characters.length - 1, Math.max(0, level)));
}

/** Returns a bar for each name, as long as the size of its value, which is at its end; the longest fills the line. */
export function barsByName(
  bars: readonly { readonly label: string; readonly v: number | null }[],
  unit: string,
  width: number,
  sizeOf: (v: number) => number = Math.abs,
): readonly string[] {
  const texts = bars.map(({ v }) => (v === null ? 'null' : shortText(v, unit)));
  const sizes = bars.map(({ v }) => (v === null ? 0 : sizeOf(v)));
  const most = Math.max(...sizes) || 1;
  const beside = Math.max(...texts.map(text => text.length)) + 1;
  const names = bars.map(({ label }) => label);
  return withNames(names, width, room =>
    sizes.map((size, index) => `${bar(size / most, room - beside)} ${texts[index]}`),
  );
}

const EIGHTHS = ' ▏▎▍▌▋▊▉';

function bar(share: number, room: number): string {
  const eighths = Math.round(share * Math.max(1, room) * 8);
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS.charAt(eighths % 8)}`.trimEnd();
}

/** Returns names in a column, and beside each the result of `drawn` for the remaining width. */
export function withNames(
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
