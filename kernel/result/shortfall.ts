/**
 * How the rows of a result fall short: not all rows of its query, not all counted, or not current. Whatever reads a result reports it,
 * since a sum over a part looks like a sum over all.
 */
import { formatCount } from '../text.js';
import type { Notice, QueryResult, Shortfall, Whole } from './result.js';

/** Returns every shortfall of a result: those of its query and of the results that it read, and those that its service reports. */
export function shortfallsOf({
  shortfalls = [],
  status,
}: Pick<QueryResult, 'shortfalls' | 'status'>): readonly Shortfall[] {
  return [
    ...shortfalls,
    ...(status.isPartial
      ? [
          {
            kind: 'partial' as const,
            holds: 'only part of the rows: the service did not read all data in the range',
          },
        ]
      : []),
    ...(status.isEstimate === true
      ? [{ kind: 'estimated' as const, holds: 'an estimate: the service did not count every row' }]
      : []),
  ];
}

/** Returns the shortfalls of a result for a reader that knows it by a name. */
export function readThrough(name: string, result: QueryResult): readonly Shortfall[] {
  return shortfallsOf(result).map(({ through = name, ...each }) => ({ ...each, through }));
}

/** Returns a sentence without its period: `` `z` contains the first 1,000 of 3,116 rows (the default limit) ``. */
export function shortfallText({ through, holds }: Shortfall): string {
  return through === undefined ? `the result contains ${holds}` : `\`${through}\` contains ${holds}`;
}

/** Returns a sentence for each shortfall, to follow a figure or a file made from a result. */
export function shortfallSentences(result: QueryResult): readonly string[] {
  return [...new Set(shortfallsOf(result).map(sentence))];
}

/** Returns the notices above a result; its service has already reported where the rows of its own query end. */
export function shortfallNotices(result: QueryResult): readonly Notice[] {
  return shortfallsOf(result).flatMap((each): readonly Notice[] => {
    if (each.kind === 'cut' && each.through === undefined) return [];
    const level = each.isAsked === true || each.kind === 'replayed' ? 'info' : 'warn';
    return [{ level, text: [sentence(each), ...wholeOf(each)].join(' ') }];
  });
}

/** Returns the notes above a chart; a limit in the query is expected in its own chart, a sample is not. */
export function shortfallNotes(result: QueryResult): readonly string[] {
  const told = shortfallsOf(result).filter(
    ({ kind, through, isAsked }) => kind !== 'cut' || through !== undefined || isAsked !== true,
  );
  return [...new Set(told.map(shortfallText))];
}

/** Returns whether a time bin without a row may have had rows that the result lacks. */
export function mayMissBins(result: Pick<QueryResult, 'shortfalls' | 'status'>): boolean {
  return shortfallsOf(result).some(
    ({ kind, isGapless }) => leavesOut.has(kind) && (kind !== 'cut' || isGapless !== true),
  );
}

const leavesOut: ReadonlySet<Shortfall['kind']> = new Set(['cut', 'sampled', 'partial']);

function sentence(shortfall: Shortfall): string {
  const text = shortfallText(shortfall);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function wholeOf({ through, whole }: Shortfall): readonly string[] {
  return whole === undefined || through === undefined ? [] : [wholeText(through, whole)];
}

/** Returns a sentence with the line that stores all rows under the name, or up to `most` if they cannot be fetched page by page. */
export function wholeText(name: string, { query, most }: Whole): string {
  const named = `${name === '_' ? '' : `${name} << `}${query.replaceAll('`', "'")}`;
  return most === undefined
    ? `All of them: \`%%fetch --all\` above \`${named}\`.`
    : `Up to ${formatCount(most)} of them: \`${named} | limit ${most}\`.`;
}
