import { formatCount } from '../../../text.js';
import {
  defaultRange,
  everything,
  freezeRange,
  isFrozen,
  parseRange,
  rangeLine,
  resolveRange,
  type TimeRange,
  TimeRangeError,
} from '../../time-range.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { usageError } from '../magic-arguments.js';
import { say } from '../output.js';

/** The magics that set options for the queries below them, in help order. */
export const settingMagics: readonly Magic[] = [
  {
    name: 'time',
    usage: '%time [RANGE] [--freeze] [--clear]',
    options: [
      {
        name: 'freeze',
        summary: 'make the range absolute as of now, and replace this line of the cell with it',
      },
      { name: 'clear', summary: `reset to ${defaultRange.label}` },
    ],
    summary: 'show or set the time range of queries; `%%time RANGE` sets it for one cell',
    help: [
      'Every query is sent with a time range. Times are UTC; the end of a range is exclusive.',
      '',
      '- `%time last 1h`, `%time -1d12h`, `%time now-1d now-1h`',
      '- `%time today`, `%time yesterday`, `%time this week` (from Monday; also `month` and `year`), and the previous one in full: `%time last week`',
      '- `%time 2026`, `%time 2026-01`, `%time 2026-01-31`: that year, month or day',
      '- `%time last 1y`, `%time last 3 months`: by the calendar',
      '- `%time yesterday 10:00..11:00`: one hour of yesterday',
      '- `%time all`: from the first to the last event of the datasets that a query reads; on Axiom, everything since 1970',
      '- `%time 2026-01-01..2026-01-02` ends at the start of January 2; `%time 2026-01-01..` ends now',
      '- `%time 2026-01-01T10:00Z 2026-01-01T11:30Z`',
      '- `%time last 1d --freeze` becomes a line with both times as of now, for a write-up; `apl-kernel freeze` does the same in a file',
      '- if a range of two times has ended, `now()` and `ago()` are relative to its end on the local service; Axiom decides for itself, and a notice above the result says so',
      '- `%%time last 15m` applies to its own cell only',
    ].join('\n'),
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    argument: 'range',
    run: time,
  },
  {
    name: 'limit',
    usage: '%limit [N] [--clear]',
    options: [{ name: 'clear', summary: "reset to the service's own limit of 1,000" }],
    summary: 'show or set the row limit of queries without their own',
    help: 'The lowest limit applies: of the query, this setting or the service. `%%limit N` sets it for one cell.',
    arity: [0, 1],
    effects: [],
    run: limit,
  },
  {
    name: 'rows',
    usage: '%rows [N] [--clear]',
    options: [
      {
        name: 'clear',
        summary:
          'reset to the default of up to 100 rows in full, otherwise the first 30; fewer if they are large',
      },
    ],
    summary: 'show or set how many rows of a result are written to the notebook',
    help: 'To keep saved notebooks small, a result takes at most 256 KB, not counting its chart; a notice above the table says what was left out. `%rows 5000` writes up to 5,000 rows of each result, however large they are; `%%rows N` applies to one cell. The kernel keeps all fetched rows.',
    arity: [0, 1],
    effects: [],
    run: rows,
  },
  {
    name: 'retain',
    usage: '%retain [on|off]',
    options: [],
    summary: 'show or set whether outputs include the data of results',
    help: 'With `off`, the output of a query shows only its size, its time range and the names and types of its fields; the kernel still keeps the rows, for `%export` and others. Output of other magics is unaffected, such as the figures of `%assert` and the rows of `%diff`. `%%retain off` applies to one cell. `apl-kernel strip` removes the data from a saved notebook.',
    arity: [0, 1],
    effects: [],
    run: retain,
  },
];

/** Shows, sets, freezes or clears the time range. */
function time(call: MagicCall, { session, io, plan }: MagicHost): void {
  const { words, options, cell } = call;
  const now = session.now();
  if (options.has('clear') && (words.length > 0 || options.has('freeze')))
    throw usageError(call.magic, '--clear cannot be combined with other options');
  const asked = options.has('clear')
    ? defaultRange
    : words.length > 0
      ? readRange(words.join(' '), session.range)
      : plan.range;
  const range = options.has('freeze') ? freezeRange(asked, now) : asked;
  const { startTime, endTime } = resolveRange(range, now);
  plan.range = range;
  if (options.has('freeze')) plan.rewrites.push({ ...call.line, text: rangeLine(range, now, cell) });
  if (cell) return;
  session.range = range;
  const kind = isFrozen(range) ? '' : 'now ';
  const window = `${kind}${startTime} to ${endTime}, end exclusive`;
  const meaning = range === everything ? 'from the first to the last event that a query reads' : window;
  say(io, `Time range: ${range.label} (${meaning})`);
}

/** Parses a range; an error mentions the range that stays in effect. */
function readRange(text: string, held: TimeRange): TimeRange {
  try {
    return parseRange(text);
  } catch (error) {
    if (!(error instanceof TimeRangeError)) throw error;
    throw new TimeRangeError(error.message, `${error.hint} The time range is still \`${held.label}\`.`);
  }
}

/** Shows, sets or clears the row limit. */
function limit(call: MagicCall, { session, io, plan }: MagicHost): void {
  const { cell } = call;
  plan.rowLimit = rowsGiven(call, plan.rowLimit);
  if (cell) return;
  session.rowLimit = plan.rowLimit;
  const rows = plan.rowLimit;
  say(io, rows === undefined ? "Row limit: the service's own (1,000)" : `Row limit: ${formatCount(rows)}`);
}

/** Shows or sets how many rows of a result are stored in the notebook. */
function rows(call: MagicCall, { session, io, plan }: MagicHost): void {
  plan.shownRows = rowsGiven(call, plan.shownRows);
  if (call.cell) return;
  session.shownRows = plan.shownRows;
  const shown =
    plan.shownRows === undefined
      ? 'up to 100 in full, otherwise the first 30; fewer if they are large'
      : formatCount(plan.shownRows);
  say(io, `Rows written to the notebook: ${shown}`);
}

/** Shows or sets whether outputs contain the data of results. */
function retain({ words, cell, magic }: MagicCall, { session, io, plan }: MagicHost): void {
  const [word] = words;
  if (word !== undefined && word !== 'on' && word !== 'off')
    throw usageError(magic, `it is on or off, not ${word}`);
  if (word !== undefined) plan.retains = word === 'on';
  if (cell) return;
  session.retains = plan.retains;
  say(
    io,
    plan.retains ? 'Outputs include the data of results' : 'Outputs include no data, only sizes and fields',
  );
}

/** Returns the number of rows given to a magic, undefined for `--clear`; without either, the current number. */
function rowsGiven({ words, options, magic }: MagicCall, held: number | undefined): number | undefined {
  const [word] = words;
  if (options.has('clear') && word !== undefined)
    throw usageError(magic, '--clear cannot be combined with other options');
  if (word === undefined) return options.has('clear') ? undefined : held;
  return rowCount(word, magic);
}

/** Parses a number of rows such as `5_000`; throws MagicError. */
export function rowCount(word: string, magic: Magic): number {
  const digits = word.replaceAll(/[_,]/g, '');
  if (!/^[1-9]\d{0,8}$/.test(digits)) throw usageError(magic, `${word} is not a number of rows`);
  return Number(digits);
}
