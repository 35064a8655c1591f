import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { localProfile } from '../../../api/profile.js';
import { lineField } from '../../../apl/editor/editor-events.js';
import { parseCell } from '../../../apl/syntax/cell.js';
import type { QueryText } from '../../../apl/syntax/parse.js';
import { rowTexts } from '../../../result/display/display-text.js';
import type { ArrowTable, QueryResult } from '../../../result/result.js';
import { cut, formatCount, oneLine, plural, visible } from '../../../text.js';
import { formatDuration, formatTime, MILLISECOND, MINUTE, parseTimespan, SECOND } from '../../../time.js';
import { isRandom, keepsRows } from '../../query/query-reading.js';
import { readsOf } from '../../results/reads.js';
import { consoleWidthFor } from '../../session.js';
import { parseRange, type TimeRange } from '../../time-range.js';
import type { Magic, MagicCall, MagicHost, QuerySettings } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say, textOutput } from '../output.js';

/** The magic that shows events as they arrive. */
export const tailMagics: readonly Magic[] = [
  {
    name: 'tail',
    usage: "%tail ['DATASET'] | where … [--for 30s] [--rows N] [--within 15m]; %%tail above a query",
    options: [
      { name: 'for', value: 'LENGTH', summary: 'how long to run (default: until the cell is stopped)' },
      {
        name: 'rows',
        value: 'N',
        summary: 'how many of the newest rows to show (default: 500, at most 10000)',
      },
      {
        name: 'within',
        value: 'LENGTH',
        summary: 'how far the `_time` of an event may be from the current time (default: 15m)',
      },
    ],
    summary: 'show events as they are stored, until the cell is stopped',
    help: [
      'Shows the events stored from now on, newest first, until the cell is stopped or the duration of `--for` has passed. The grid adds new events while its first row is in view; while you read further down, it stays in place and counts them. Afterwards, the result has a fixed range: `_` has its rows, and the query above it can be run again. A terminal prints one line for each event.',
      '',
      'Each event appears once, by the time at which it was stored (`_sysTime`), even if it is stored late or with an old `_time`, within 15 minutes or the duration of `--within`. The query may filter events and change their fields; operators that need all events at once, such as `summarize`, are rejected. If nobody can stop the cell, as in `apl-kernel run`, `--for` is required.',
      '',
      '    %tail [\'app\'] | where level == "error" --for 5m',
    ].join('\n'),
    arity: [0, 0],
    effects: ['query'],
    argument: 'dataset',
    verbatim: true,
    run: tail,
  },
];

/** Maximum delay until queries see a stored event, in nanoseconds. It is longer for lines, as printed lines cannot be undone. */
const LAG = { grid: 500n * MILLISECOND, lines: 2n * SECOND };
/** Interval between queries, in milliseconds; a hosted service has limits. */
const EVERY_MS = { local: 1_000, hosted: 5_000 };
/** Minimum pause between queries: this many times the duration of the last one, and this fraction of the time since the start. */
const REST = { afterQuery: 4, ofAge: 0.01 };
const ROWS = { usual: 500, most: 10_000 };
/** Maximum lines to print at once. */
const MOST_LINES = 1_000;
/** Maximum bytes of Arrow in the output while it is live. */
const LIVE_BYTES = 512 * 1024;

/** The query to follow. */
interface Followed {
  /** Name of the dataset. */
  readonly name: string;
  /** The query's text before and after the condition that bounds its events. */
  readonly source: string;
  readonly operators: string;
  readonly variables: NonNullable<QuerySettings['variables']>;
  readonly begin: bigint;
  readonly rows: number;
  readonly within: bigint;
  /** Nanoseconds; undefined if it runs until stopped. */
  readonly length: bigint | undefined;
}

/** The events stored before a time. */
interface Stored {
  readonly until: bigint;
  readonly total: number;
  /** The newest events; undefined if there are none. */
  readonly result: QueryResult | undefined;
}

async function tail(call: MagicCall, host: MagicHost): Promise<void> {
  const { plan, session } = host;
  const { text, options } = optionsOf(call);
  const [query, more] = call.cell ? plan.queries : parseCell(text).queries;
  if (query === undefined || more !== undefined || (call.cell && text !== ''))
    throw usageError(
      call.magic,
      call.cell ? 'write one query below it' : 'name a dataset, such as `%tail web`',
    );
  const start = async () => {
    const { parsed, variables } = session.parameters.bind(query);
    await follow({ ...partsOf(parsed, host), ...bounded(options, call, host), variables }, host);
  };
  if (!call.cell) return start();
  plan.run = false;
  plan.afterRun.push(start);
}

/** An option before or after the query. */
const OPTION =
  /^--(for|rows|within)(?:\s+|=)([\w.]+)(?:\s+|$)|(?:^|\s+)--(for|rows|within)(?:\s+|=)([\w.]+)$/;

function optionsOf({ raw }: MagicCall): {
  readonly text: string;
  readonly options: ReadonlyMap<string, string>;
} {
  const options = new Map<string, string>();
  let text = raw.trim();
  for (let found = OPTION.exec(text); found !== null; found = OPTION.exec(text)) {
    const [whole, first = found[3] ?? '', value = found[4] ?? ''] = found;
    options.set(first, value);
    // The same words may also be in a string of the query.
    text = `${text.slice(0, found.index)}${text.slice(found.index + whole.length)}`.trim();
  }
  return { text, options };
}

function bounded(
  options: ReadonlyMap<string, string>,
  { magic }: MagicCall,
  { session, io }: MagicHost,
): Pick<Followed, 'begin' | 'rows' | 'within' | 'length'> {
  const lengthOf = (name: string) => {
    const text = options.get(name);
    const length = text === undefined ? undefined : parseTimespan(text);
    if (text !== undefined && (length === undefined || length <= 0n))
      throw usageError(magic, `--${name} is a duration such as 30s or 5m, not ${text}`);
    return length;
  };
  const rows = Number(options.get('rows') ?? ROWS.usual);
  if (!Number.isInteger(rows) || rows < 1 || rows > ROWS.most)
    throw usageError(magic, `--rows is a number from 1 to ${formatCount(ROWS.most)}`);
  if (session.replays)
    throw new MagicError('%tail: a recording has no new events', 'Stop the replay first: `%cache off`.');
  const length = lengthOf('for');
  if (length === undefined && !io.allowStdin)
    throw usageError(magic, 'nobody can stop it here: give a duration, such as `--for 30s`');
  return { begin: session.now(), rows, within: lengthOf('within') ?? 15n * MINUTE, length };
}

/** Splits a query; throws MagicError if its rows are not its events. */
function partsOf(query: QueryText, { session }: MagicHost): Pick<Followed, 'source' | 'operators' | 'name'> {
  const { text, pipeline, diagnostics } = query;
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error !== undefined) throw new MagicError(`%tail: ${error.message}`, error.hint);
  if (pipeline?.source.kind !== 'dataset' || readsOf(query, session).results.size > 0)
    throw new MagicError('%tail: the query reads no dataset', 'Start it with the name of a dataset.');
  if (isRandom(query)) throw new MagicError('%tail: `rand()` returns different values each time');
  const wrong = pipeline.operators.find(each => each.kind === 'sort' || !keepsRows(each));
  if (wrong !== undefined)
    throw new MagicError(
      `%tail: \`${oneLine(text.slice(wrong.from, wrong.to), 60)}\` needs all events at once, but they arrive one at a time`,
      'Leave it out, and write it in the next cell: `_ | …`.',
    );
  const { source } = pipeline;
  return { source: text.slice(0, source.to), operators: text.slice(source.to), name: source.name.name };
}

/** Returns the query for the events stored in a time range. */
function storedIn({ source, operators }: Followed, from: bigint, to: bigint): string {
  const bounds = `_sysTime >= datetime(${formatTime(from)}) and _sysTime < datetime(${formatTime(to)})`;
  return `${source}\n| where ${bounds}${operators.trim() === '' ? '' : `\n${operators.trim()}`}`;
}

function rangeOf({ begin, within }: Followed, until: bigint): TimeRange {
  return parseRange(`${formatTime(begin - within)}..${formatTime(until + within)}`);
}

async function follow(followed: Followed, host: MagicHost): Promise<void> {
  const { session, io } = host;
  // The session's clock may be frozen.
  const startedMs = performance.now();
  const now = () => followed.begin + BigInt(Math.round((performance.now() - startedMs) * 1e6));
  const isTerminal = consoleWidthFor(session.options, io) !== undefined;
  const view = isTerminal ? new Lines(followed, host) : new LiveTable(followed, host);
  const lag = isTerminal ? LAG.lines : LAG.grid;
  const end = followed.length === undefined ? undefined : followed.begin + followed.length;
  let stored: Stored = { until: followed.begin, total: 0, result: undefined };
  await view.show(stored);
  try {
    while (end === undefined || stored.until < end) {
      const started = now();
      const visible = started - lag;
      const until = end === undefined || visible < end ? visible : end;
      if (until > stored.until) {
        stored = await ask(followed, stored, until, host);
        await view.show(stored);
      }
      const took = Number((now() - started) / MILLISECOND);
      const age = Number((started - followed.begin) / MILLISECOND);
      const every = session.profileName === localProfile ? EVERY_MS.local : EVERY_MS.hosted;
      const left = end === undefined ? every : Number((end + lag - now()) / MILLISECOND) + 1;
      const rest = Math.max(every, took * REST.afterQuery, age * REST.ofAge);
      if (end === undefined || stored.until < end)
        await after(Math.max(0, Math.min(rest, left)), undefined, { signal: io.signal });
    }
  } catch (error) {
    if (!io.signal.aborted) throw error;
    host.plan.isStopped = true;
  }
  await view.end(stored);
}

/** Queries the events stored until now: their number, and the newest ones if it has changed. */
async function ask(followed: Followed, before: Stored, until: bigint, host: MagicHost): Promise<Stored> {
  const { variables, begin, rows, name } = followed;
  const settings = { range: rangeOf(followed, until), isRepeated: true, variables } as const;
  const query = storedIn(followed, begin, until);
  const counted = await host.ask(`${query}\n| count`, settings);
  const total = Number(rowTexts(counted.tables[0])[0]?.[0] ?? 0);
  if (total === before.total) return { ...before, until };
  const result = await host.ask(query, { ...settings, rowLimit: rows });
  const shown = result.tables[0]?.data.numRows ?? 0;
  const text = `Events of \`${name}\` stored from ${formatTime(begin)} to ${formatTime(until)}: ${formatCount(Math.max(total, shown))}${shown < total ? `; the newest ${formatCount(shown)} are here` : ''}.`;
  const notices = [
    { level: 'info' as const, text },
    ...result.notices.filter(({ level }) => level === 'warn'),
  ];
  return { until, total: Math.max(total, shown), result: { ...result, notices } };
}

interface Cell {
  readonly name: string;
  readonly text: string | null;
}

/** Returns the cells of a table by row. */
function cellsOf(table: ArrowTable | undefined): readonly (readonly Cell[])[] {
  const names = table?.data.schema.fields.map(({ name }) => name) ?? [];
  return rowTexts(table).map(texts => texts.map((text, at) => ({ name: names[at] ?? '', text })));
}

/** Shows events as they arrive, and the final result. */
interface View {
  show(stored: Stored): void | Promise<void>;
  end(stored: Stored): Promise<void>;
}

/** One output, replaced whenever there are more events. */
class LiveTable implements View {
  readonly #displayId = randomUUID();
  readonly #followed: Followed;
  readonly #host: MagicHost;
  #shown: QueryResult | undefined;

  constructor(followed: Followed, host: MagicHost) {
    this.#followed = followed;
    this.#host = host;
    host.io.display({
      ...textOutput(`Waiting for events of ${followed.name} \u2026`),
      displayId: this.#displayId,
    });
  }

  async show({ result, total }: Stored): Promise<void> {
    if (result === undefined || result === this.#shown) return;
    this.#shown = result;
    const { plan, io } = this.#host;
    const { toBundle, toOutputWithoutData } = await import('../../../result/mime.js');
    const { data, metadata } = plan.retains
      ? toBundle(result, { byteBudget: LIVE_BYTES })
      : toOutputWithoutData(result);
    const apl = { ...(metadata.apl as object), live: { events: total } };
    io.updateDisplay({ data, metadata: { ...metadata, apl }, displayId: this.#displayId });
  }

  async end({ result, until }: Stored): Promise<void> {
    if (result !== undefined) return this.#host.showInstead(this.#displayId, result);
    this.#host.io.updateDisplay({
      ...textOutput(nothing(this.#followed, until)),
      displayId: this.#displayId,
    });
  }
}

/** One line for each event. */
class Lines implements View {
  readonly #followed: Followed;
  readonly #host: MagicHost;
  #before: Stored | undefined;

  constructor(followed: Followed, host: MagicHost) {
    this.#followed = followed;
    this.#host = host;
    say(host.io, `Events of ${followed.name} from now on; interrupt the cell to stop.`);
  }

  async show(stored: Stored): Promise<void> {
    const before = this.#before;
    this.#before = stored;
    if (before === undefined || stored.total === before.total) return;
    const { host, followed } = { host: this.#host, followed: this.#followed };
    const { tables } = await host.ask(storedIn(followed, before.until, stored.until), {
      ...{ range: rangeOf(followed, stored.until), rowLimit: MOST_LINES },
      ...{ isRepeated: true, variables: followed.variables },
    });
    const rows = cellsOf(tables[0]).toReversed();
    const more = stored.total - before.total - rows.length;
    const lines = rows.map(lineOf);
    say(
      host.io,
      [
        ...lines,
        ...(more > 0 ? [`… and ${plural(more, 'event')} more, too many at once or stored late`] : []),
      ].join('\n'),
    );
  }

  async end({ result, total, until }: Stored): Promise<void> {
    const { io } = this.#host;
    if (result === undefined) return say(io, nothing(this.#followed, until));
    await this.#host.keepLast(result);
    say(
      io,
      `${plural(total, 'event')}. \`_\` has the newest. To query all of them:\n%%time ${result.provenance.startTime}..${result.provenance.endTime}\n${result.provenance.query}`,
    );
  }
}

function nothing({ name, begin, within }: Followed, until: bigint): string {
  return `No events of ${name} were stored from ${formatTime(begin)} to ${formatTime(until)} with a \`_time\` within ${formatDuration(within)} of then.`;
}

/** Maximum length of a value in a line, in characters. */
const LONGEST = 300;

/** Formats an event as its time and line, then its other values by name. */
function lineOf(cells: readonly Cell[]): string {
  const own = cells.filter(({ name, text }) => text !== null && text !== '' && name !== '_sysTime');
  const line = lineField(own.map(({ name }) => name));
  const plain = (name: string | undefined) =>
    own.flatMap(cell => (cell.name === name ? [visible(cut(cell.text ?? '', LONGEST))] : []));
  const others = own
    .filter(({ name }) => name !== '_time' && name !== line)
    .map(({ name, text }) => `${visible(name)}=${fieldText(cut(text ?? '', LONGEST))}`);
  return [...plain('_time'), ...plain(line), ...others].join(' ');
}

function fieldText(text: string): string {
  return visible(/[\s"=]/.test(text) ? JSON.stringify(text) : text);
}
