import type { Operator } from '../../../apl/syntax/ast.js';
import type { QueryText } from '../../../apl/syntax/parse.js';
import { present } from '../../../present.js';
import type { Provenance, QueryResult } from '../../../result/result.js';
import { formatTime, parseTime, parseTimespan } from '../../../time.js';
import { retainsRows } from '../../query/query-reading.js';
import { readsOf } from '../../results/reads.js';
import { type CachedResult, lastName } from '../../results/result-cache.js';
import { isFrozen, parseRange, type TimeRange } from '../../time-range.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';

/** The magic that compares a result with one of an earlier time. */
export const compareMagics: readonly Magic[] = [
  {
    name: 'compare',
    usage: '%compare -LENGTH|RANGE [--key FIELD,…]',
    options: [
      {
        name: 'key',
        value: 'FIELD,…',
        summary: 'the fields that identify a row (default: the fields of `summarize … by`)',
      },
    ],
    summary: "run the cell's last query on an earlier time range too, and show both results and the change",
    help: [
      'Below the result of the cell, shows each figure, its value in the earlier range, the change, and the change in percent. A chart over time draws both ranges, with the earlier one shifted onto the later one. In a cell without a query, compares the last result. With `;` at the end of the cell, shows only the comparison.',
      '',
      '- `%compare -1d`, `%compare -1w`: the same duration, a day or a week earlier',
      '- `%compare 2026-01-01..2026-01-08`: a range of two times, ideally of the same length',
      '',
      'Rows are matched by the fields of `summarize … by`, and rows over time by their offset from the start of the range. If only one range has a row, its counts and sums are 0 in the other, and its other figures are null. All are null if the query keeps only some of its rows, as with `top`, if the ranges differ in length, or if one of the results is incomplete. On the local service, `now()` and `ago()` are relative to the end of each range.',
      '',
      'The comparison becomes the last result, `_`, with the fields `before_…`, `change_…` and `percent_…` for each figure, so the next cell can check it: `%assert max(percent_p99) < 20`.',
    ].join('\n'),
    arity: [1, 3],
    effects: ['query'],
    run: compare,
  },
];

async function compare(call: MagicCall, host: MagicHost): Promise<void> {
  const { session, plan } = host;
  const words = call.words.join(' ');
  const shift = lengthBefore(words);
  const range = shift === undefined ? absoluteRange(words, call) : undefined;
  const show = async (cached: CachedResult | undefined) => {
    if (cached === undefined) throw usageError(call.magic, 'no query has run yet');
    const { query, result } = cached;
    checkComparable(query, result, host);
    await showBoth(query, result, range ?? earlier(result.provenance, shift ?? 0n), call, host);
  };
  if (plan.queries.length === 0) await show(session.results.named(lastName));
  else
    plan.afterRun.push(async results => {
      if (plan.run) await show(results.at(-1));
    });
}

/** Parses an offset such as `-1d` to nanoseconds; returns undefined for any other text. */
function lengthBefore(text: string): bigint | undefined {
  const length = /^-\s*(\d[^:]*)$/.exec(text)?.[1];
  return length === undefined ? undefined : parseTimespan(length.replaceAll(' ', '')) || undefined;
}

function absoluteRange(text: string, { magic }: MagicCall): TimeRange {
  const range = parseRange(text);
  if (!isFrozen(range))
    throw usageError(
      magic,
      `${text} is neither a duration with a minus, such as -1d, nor a range of two times`,
    );
  return range;
}

/** Returns the window of a result, moved back by `shift`. */
function earlier({ startTime, endTime }: Provenance, shift: bigint): TimeRange {
  const [start, end] = [parseTime(startTime), parseTime(endTime)];
  if (start === undefined || end === undefined)
    throw new MagicError(`the result covers ${startTime} to ${endTime}, which is not a range of two times`);
  return parseRange(`${formatTime(start - shift)}..${formatTime(end - shift)}`);
}

/** Throws unless the query yields a result of the same kind on another range. */
function checkComparable(query: QueryText, { provenance }: QueryResult, { session }: MagicHost): void {
  const { profile, comparedWith } = provenance;
  if (comparedWith !== undefined)
    throw new MagicError(
      '%compare: the last result is already a comparison',
      'Write %compare in the cell of the query.',
    );
  if (profile !== session.profileName)
    throw new MagicError(
      `%compare: the result is from ${profile}, but the profile is ${session.profileName}`,
      `Switch to it with \`%use ${profile}\`.`,
    );
  const [name] = readsOf(query, session).results.keys();
  if (name !== undefined)
    throw new MagicError(
      `%compare: the query reads the named result ${name}, which has no rows from an earlier time`,
      'Compare the query that produced it.',
    );
}

async function showBoth(
  query: QueryText,
  result: QueryResult,
  range: TimeRange,
  { words, options, magic }: MagicCall,
  { run, showResult, plan }: MagicHost,
): Promise<void> {
  const { variables = {}, startTime } = result.provenance;
  const { comparePeriods } = await import('../../../result/periods.js');
  const before = await run(query.text, { range, variables, rowLimit: plan.rowLimit });
  const offset = (parseTime(startTime) ?? 0n) - (parseTime(before.provenance.startTime) ?? 0n);
  const key = options.get('key')?.split(',');
  const asked = words.join(' ');
  const compared = comparePeriods(result, before, {
    offset,
    name: asked.startsWith('-') ? `${asked.slice(1).trim()} before` : asked,
    hasAllGroups: lengthOf(result) === lengthOf(before) && afterSummarize(query)?.every(retainsRows) === true,
    ...present({ key }),
  });
  if (compared.kind === 'none')
    throw new MagicError(`%compare: ${compared.reason}`, compared.hint || magic.usage);
  const notices = [...compared.result.notices, ...lengthNotices(result, before), ...cutNotices(query)];
  await showResult({ ...compared.result, notices }, compared.drawn);
}

function lengthOf({ provenance: { startTime, endTime } }: QueryResult): bigint {
  return (parseTime(endTime) ?? 0n) - (parseTime(startTime) ?? 0n);
}

function lengthNotices(later: QueryResult, before: QueryResult): QueryResult['notices'] {
  if (lengthOf(later) === lengthOf(before)) return [];
  return [
    { level: 'warn', text: 'The two ranges differ in length: totals of the longer one cover more time.' },
  ];
}

/** Operators that retain only some of the rows. */
const cutting: ReadonlySet<Operator['kind']> = new Set(['limit', 'top', 'sample', 'where', 'search']);

/** Returns the operators after the last `summarize`; undefined if there is none. */
function afterSummarize({ pipeline }: QueryText): readonly Operator[] | undefined {
  const operators = pipeline?.operators ?? [];
  const last = operators.findLastIndex(({ kind }) => kind === 'summarize');
  return last < 0 ? undefined : operators.slice(last + 1);
}

/** Warns that a row missing from one range may only have been cut off there, as by `top`. */
function cutNotices(query: QueryText): QueryResult['notices'] {
  const cut = afterSummarize(query)?.find(({ kind }) => cutting.has(kind))?.kind;
  if (cut === undefined) return [];
  return [
    {
      level: 'info',
      text: `The query keeps only some of its rows with \`${cut}\`: a row may be null in a range that has it, because the query dropped it there.`,
    },
  ];
}
