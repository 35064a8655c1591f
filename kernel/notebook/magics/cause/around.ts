import { nearest } from '../../../apl/editor/editor-events.js';
import { formatDuration, formatTime, parseTimespan, SECOND } from '../../../time.js';
import { parseInstant, parseRange } from '../../time-range.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { usageError } from '../magic-arguments.js';
import { say } from '../output.js';
import { type EventsBehind, eventsBehind, insteadOfQuery, onLastResult } from './behind.js';

/** Maximum rows to show. */
const MOST = 500;

/** The magic that shows the events before and after a time. */
export const aroundMagics: readonly Magic[] = [
  {
    name: 'around',
    usage: '%around TIME [--within 30s]; %%around TIME [--within 30s] above a query',
    options: [
      { name: 'within', value: 'LENGTH', summary: 'how far before and after the time (default: 30s)' },
    ],
    summary: 'show the events before and after a time',
    help: [
      `Shows the events whose \`_time\` is within 30 seconds of a time; if there are more than ${MOST}, the nearest ${MOST}.`,
      '',
      '- `%around 2026-11-23T10:04:31.25Z`: among the events behind the last result, which its query reads before it sorts, limits or summarizes them',
      '- `%around now-10m --within 5m`: five minutes before and after it',
      '- `%%around 2026-11-23T10:04:31.25Z`, above a query: among the events behind that query, which itself does not run; JupyterLab adds such a cell for a row',
    ].join('\n'),
    arity: [1, 3],
    effects: ['query'],
    run: around,
  },
];

async function around(call: MagicCall, host: MagicHost): Promise<void> {
  const { magic } = call;
  const at = parseInstant(call.words.join(' '), host.session.now());
  const within = lengthOf(call);
  const answer = (behind: EventsBehind) => show(behind, at, within, host);
  if (call.cell) return insteadOfQuery(magic, host, answer);
  await onLastResult(host, cached =>
    answer(eventsBehind(cached, magic, host, 'Write `%%around TIME` above a query of the events.')),
  );
}

/** Returns the nanoseconds before and after; throws MagicError for an invalid duration. */
function lengthOf({ options, magic }: MagicCall): bigint {
  const text = options.get('within');
  if (text === undefined) return 30n * SECOND;
  const length = parseTimespan(text);
  if (length === undefined || length <= 0n)
    throw usageError(magic, `--within is a duration such as 30s or 5m, not ${text}`);
  return length;
}

async function show(behind: EventsBehind, at: bigint, within: bigint, host: MagicHost): Promise<void> {
  const { events, ...settings } = behind;
  // The end of a range is exclusive.
  const range = parseRange(`${formatTime(at - within)}..${formatTime(at + within + 1n)}`);
  const result = await host.run(nearest(events, formatTime(at), MOST), { ...settings, range });
  const rows = result.tables[0]?.data.numRows ?? 0;
  if (rows === MOST)
    say(
      host.io,
      `The ${MOST} events nearest to ${formatTime(at)}; there may be more within ${formatDuration(within)} of it.`,
    );
  await host.showResult(result);
}
