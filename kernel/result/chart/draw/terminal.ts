/**
 * A chart in characters, for terminals: what the kinds of charts share of it.
 */
import { alignedLines, cutToWidth, GAP, widthOf } from '../../display/aligned.js';
import type { Rule } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import { shortText } from './texts.js';

/** The share of a line that names may take. */
const NAME_SHARE = 0.3;

/** From the least level to the greatest. */
export const LEVELS = '▁▂▃▄▅▆▇█';

/** What the line of annotations is called. */
export const RULES_NAME = 'annotations';

/** A mark for each annotation in its column, and a line to where it ends. */
export function ruleLine(rules: readonly Rule[], { start, end }: TimeAxis, columns: number): string {
  const found = Array.from({ length: columns }, () => ' ');
  const columnOf = (t: number) =>
    Math.min(columns - 1, Math.max(0, Math.floor(((t - start) / (end - start)) * columns)));
  for (const { t, end: until = t } of rules) found.fill('\u2500', columnOf(t), columnOf(until) + 1);
  for (const { t } of rules) found[columnOf(t)] = '\u25b2';
  return found.join('');
}

/** Returns the character for a share from 0 to 1. */
export function characterOf(characters: string, share: number): string {
  const level = Math.floor(share * characters.length);
  return characters.charAt(Math.min(characters.length - 1, Math.max(0, level)));
}

/** Returns a bar for each name, with its value at its end; the longest takes the line. */
export function barsByName(
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

/** Returns names in a column of their own, and beside each what `drawn` returns for the room that is left. */
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
