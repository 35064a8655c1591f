import { type Cell, type MagicLine, parseCell } from '../apl/syntax/cell.js';
import {
  defaultRange,
  everything,
  isFrozen,
  parseRange,
  rangeLine,
  type TimeRange,
  TimeRangeError,
} from '../notebook/time-range.js';
import { parseTime } from '../time.js';
import { type CodeCell, type Notebook, sourceOf } from './notebook.js';

/** One time range of a notebook: made absolute, or the reason why it was not. */
export type Freezing =
  | {
      readonly kind: 'frozen';
      /** Index among all cells of the notebook, from 1. */
      readonly cell: number;
      readonly before: string;
      readonly after: string;
      /** Whether the window comes from the notebook's outputs rather than from the current time. */
      readonly asRun: boolean;
    }
  | { readonly kind: 'refused'; readonly cell: number; readonly reason: string };

/**
 * Makes every time range in a notebook's cells absolute. A range becomes the window of the outputs it produced, or without outputs
 * its window at `now`, in nanoseconds since 1970. Returns the changes, in cell order.
 */
export function freezeNotebook(notebook: Notebook, now: bigint): readonly Freezing[] {
  const done: Freezing[] = [];
  /** The line that sets the range in effect; undefined before the first. */
  let rangeInEffect: string | undefined;
  for (const [index, cell] of notebook.cells.entries()) {
    if (cell.cell_type !== 'code') continue;
    const parsed = parseCell(sourceOf(cell));
    const lines = parsed.magics.filter(isTime).filter(({ args }) => args !== '');
    if (rangeInEffect === undefined && !lines.some(line => !line.cell) && readsData(parsed)) {
      const { line, asRun } = absolute(defaultRange, windowsFrom(notebook, index), now, false);
      done.push({ kind: 'frozen', cell: index + 1, before: defaultRange.label, after: line, asRun });
      rangeInEffect = line;
      cell.source = `${line}\n${sourceOf(cell)}`;
      continue;
    }
    const texts: string[] = [];
    for (const line of lines) {
      const recorded = line.cell ? windowsOf(cell) : windowsFrom(notebook, index);
      const change = frozenLine(line, rangeInEffect, recorded, now);
      const before = sourceOf(cell).slice(line.from, line.to);
      const after = change.kind === 'frozen' ? change.after : before;
      texts.push(after);
      if (!line.cell) rangeInEffect = after;
      if (change.kind === 'refused') done.push({ ...change, cell: index + 1 });
      else if (change.after !== before) done.push({ ...change, before, cell: index + 1 });
    }
    cell.source = replaced(sourceOf(cell), lines, texts);
  }
  return done;
}

function isTime({ name }: MagicLine): boolean {
  return name.toLowerCase() === 'time';
}

/** Returns the source with each line replaced by the text at the same index. */
function replaced(source: string, lines: readonly MagicLine[], texts: readonly string[]): string {
  const starts = [0, ...lines.map(({ to }) => to)];
  const between = starts.map((start, index) => source.slice(start, lines[index]?.from ?? source.length));
  return between.map((text, index) => text + (texts[index] ?? '')).join('');
}

type LineFreezing =
  | { readonly kind: 'frozen'; readonly after: string; readonly asRun: boolean }
  | { readonly kind: 'refused'; readonly reason: string };

function frozenLine(
  line: MagicLine,
  rangeInEffect: string | undefined,
  recorded: readonly Window[],
  now: bigint,
): LineFreezing {
  const spelling = line.args.replace(/(^|\s)--freeze(?=\s|$)/g, ' ').trim();
  if (spelling === '' && rangeInEffect !== undefined)
    return { kind: 'frozen', after: rangeInEffect, asRun: false };
  try {
    const range = spelling === '' || spelling === '--clear' ? defaultRange : parseRange(spelling);
    if (isFrozen(range))
      return { kind: 'frozen', after: `${line.cell ? '%%' : '%'}time ${spelling}`, asRun: false };
    const { line: after, asRun } = absolute(range, recorded, now, line.cell);
    return { kind: 'frozen', after, asRun };
  } catch (error) {
    if (!(error instanceof TimeRangeError)) throw error;
    return { kind: 'refused', reason: error.message };
  }
}

/** Returns whether a cell's result depends on the range. */
function readsData({ magics, queries }: Cell): boolean {
  return queries.length > 0 || magics.some(({ name }) => name.toLowerCase() === 'peek');
}

/** The window of an output, and the label of its range. */
interface Window {
  readonly label: string;
  readonly start: bigint;
  readonly end: bigint;
}

function absolute(
  range: TimeRange,
  recorded: readonly Window[],
  now: bigint,
  forCell: boolean,
): { readonly line: string; readonly asRun: boolean } {
  const matching = recorded.filter(({ label }) => label === range.label);
  const [first, ...others] = matching;
  if (first === undefined) {
    if (range === everything)
      throw new TimeRangeError(
        '`%time all` is the window of its results, and there are none: run the notebook first',
      );
    return { line: rangeLine(range, now, forCell), asRun: false };
  }
  // Under `all` each query has its own window; the range covers them all.
  const all = range === everything ? [first, ...others] : [first];
  const start = all.reduce((least, each) => (each.start < least ? each.start : least), first.start);
  const end = all.reduce((most, each) => (each.end > most ? each.end : most), first.end);
  const window = { start: { kind: 'at', time: start }, end: { kind: 'at', time: end }, label: '' } as const;
  return { line: rangeLine(window, now, forCell), asRun: true };
}

/** Returns the windows of the outputs from a cell up to the next one that sets the notebook's range. */
function windowsFrom(notebook: Notebook, index: number): readonly Window[] {
  const rest = notebook.cells.slice(index).filter(cell => cell.cell_type === 'code');
  const next = rest.findIndex((cell, at) => at > 0 && setsRange(cell));
  return rest.slice(0, next < 0 ? undefined : next).flatMap(windowsOf);
}

function setsRange(cell: CodeCell): boolean {
  return parseCell(sourceOf(cell)).magics.some(line => isTime(line) && !line.cell && line.args !== '');
}

function windowsOf(cell: CodeCell): readonly Window[] {
  return cell.outputs.flatMap(output => {
    if (!('metadata' in output)) return [];
    const { rangeLabel, startTime, endTime } = (output.metadata.apl ?? {}) as Record<string, unknown>;
    const [start, end] = [startTime, endTime].map(time =>
      typeof time === 'string' ? parseTime(time) : undefined,
    );
    if (typeof rangeLabel !== 'string' || start === undefined || end === undefined) return [];
    return [{ label: rangeLabel, start, end }];
  });
}
