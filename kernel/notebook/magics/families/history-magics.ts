import { present } from '../../../present.js';
import { formatCount, oneLine, plural } from '../../../text.js';
import type { LoggedQuery } from '../../query/query-log.js';
import { parseRange } from '../../time-range.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { tableOutput } from '../output.js';

/** The magics about earlier queries, in help order. */
export const historyMagics: readonly Magic[] = [
  {
    name: 'history',
    usage: '%history [TEXT] [--limit N]',
    options: [{ name: 'limit', value: 'N', summary: 'how many to list (default: 20)' }],
    summary: 'list the last queries of all kernels on this machine, or those that contain TEXT',
    help: 'Shows the time range as sent, rows, elapsed time, profile and trace id of each query, even if its output leaves these out. `%rerun` takes the number in the first column. Up to 8 MB of history is stored in the data directory, in a file that only you can read.',
    arity: [0, 1],
    effects: ['history'],
    run: history,
  },
  {
    name: 'rerun',
    usage: '%rerun N',
    options: [],
    summary: 'run a query from the history again, with the same parameters and time range',
    help: 'Works only on the profile that the query ran on; switch to it first with `%use`.',
    arity: [1, 1],
    effects: ['history', 'query'],
    run: rerun,
  },
];

async function history({ words, options, magic }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const limit = options.get('limit') ?? '20';
  if (!/^[1-9]\d{0,5}$/.test(limit)) throw usageError(magic, `${limit} is not a number of queries`);
  const wanted = (words[0] ?? '').toLowerCase();
  const { entries: all = [], damage } = (await session.options.queryLog?.read()) ?? {};
  const numbered = all.map((entry, index) => ({ entry, number: index + 1 }));
  const found = numbered.filter(({ entry }) => entry.apl.toLowerCase().includes(wanted));
  const rows = found.slice(-Number(limit)).map(({ entry, number }) => [String(number), ...cells(entry)]);
  const which = wanted === '' ? '' : ` with "${words[0]}"`;
  const last = found.length > rows.length ? `, the last ${rows.length} are shown` : '';
  io.display(
    tableOutput(
      ['number', 'when', 'profile', 'time range', 'rows', 'elapsed', 'trace', 'query'],
      rows,
      [`${plural(found.length, 'query', 'queries')}${which}${last}`, damage ?? []].flat().join('\n'),
    ),
  );
}

function cells(entry: LoggedQuery): readonly string[] {
  const { at, profile, startTime, endTime, rows, error, elapsedMs, traceId, apl } = entry;
  return [
    at,
    profile,
    `${startTime} .. ${endTime}`,
    rows === undefined ? `failed: ${error ?? ''}` : formatCount(rows),
    `${Math.round(elapsedMs)} ms`,
    traceId ?? '',
    oneLine(apl, 200),
  ];
}

async function rerun({ words, magic }: MagicCall, { session, show }: MagicHost): Promise<void> {
  const [number = ''] = words;
  const all = (await session.options.queryLog?.entries()) ?? [];
  const entry = /^[1-9]\d*$/.test(number) ? all[Number(number) - 1] : undefined;
  if (entry === undefined)
    throw usageError(magic, `the history has no query ${number}; it has ${all.length}`);
  if (entry.profile !== session.profileName)
    throw new MagicError(
      `%rerun: query ${number} ran on ${entry.profile}, but the profile is ${session.profileName}`,
      `Switch to it with \`%use ${entry.profile}\`.`,
    );
  if (entry.redacted === true)
    throw new MagicError(
      `%rerun: query ${number} contained an access token, which is not stored`,
      'Write the query again.',
    );
  const range = parseRange(`${entry.startTime}..${entry.endTime}`);
  await show(entry.apl, { range, ...present({ variables: entry.variables }) });
}
