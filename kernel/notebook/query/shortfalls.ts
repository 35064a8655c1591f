/** What the rows of a result omit, from the text of its query, the limits sent with it, and the results that it reads. */
import type { Expr, Operator, Pipeline } from '../../apl/syntax/ast.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { present } from '../../present.js';
import type { QueryAnswer, Shortfall, Whole } from '../../result/result.js';
import { readThrough } from '../../result/shortfall.js';
import { formatCount, plural } from '../../text.js';
import { formatTime } from '../../time.js';
import type { Reads } from '../results/reads.js';
import { type Fetch, isFetchable, type Stopped } from './fetch.js';
import { keepsRows, retainsRows } from './query-reading.js';

/** The query behind a result, as sent, and the limit of its cell. */
export interface Limited {
  readonly query: QueryText;
  readonly rowLimit: number | undefined;
  readonly fetch: Fetch | undefined;
  /** Whether the service reports each limit that truncates its results, as the local one does. Others may stop counting at a limit. */
  readonly namesCuts: boolean;
  /** Reason why a fetch ended early. */
  readonly stopped?: Stopped;
}

/**
 * Returns the shortfalls of a result, including those of the results that it read. `replayed` is the start of the recording it comes
 * from, in nanoseconds since 1970.
 */
export function shortfallsIn(
  order: Limited,
  answer: QueryAnswer,
  { results, datasets }: Reads,
  replayed: bigint | undefined,
): readonly Shortfall[] {
  const { pipeline } = order.query;
  const own =
    pipeline === undefined
      ? []
      : [...cutBy(order, answer, results.size > 0), ...asked(order, answer, pipeline)];
  const isAlone = results.size === 1 && datasets.length === 0;
  const read = [...results].flatMap(([name, { result }]) => readThrough(name, result));
  return [
    ...read
      .filter(({ kind }) => kind !== 'replayed' || replayed === undefined)
      .map(({ isGapless, ...each }) => (isAlone && isGapless === true ? { ...each, isGapless } : each)),
    ...own,
    ...(replayed === undefined
      ? []
      : [{ kind: 'replayed' as const, holds: `a recorded response, as of ${formatTime(replayed)}` }]),
  ];
}

/** Returns a sentence about a result that ends at a limit which its service does not report. */
export function limitNotice(order: Limited, answer: QueryAnswer, readsResults: boolean): string | undefined {
  const cut = unsaidLimit(order, answer, readsResults);
  if (cut === undefined) return undefined;
  const { rows, matched, whose } = cut;
  const of = matched === undefined ? '' : ` of ${formatCount(matched)} matching`;
  const only = `Only ${formatCount(rows)}${of} rows were fetched (${whose}).`;
  if (order.stopped !== undefined) return `${only} ${order.stopped.hint}`;
  const all = isFetchable(order.query) ? ', and `%fetch --all` above the query fetches every row' : '';
  return `${only} Add \`| limit N\` or aggregate; \`%limit N\` changes the limit${all}.`;
}

/** An unrequested end of the rows of a result. */
interface Cut {
  readonly rows: number;
  /** Number of rows that the query would return, if parts of its range were counted: a service stops counting once it has enough rows. */
  readonly matched: number | undefined;
  readonly whose: string;
}

function cutBy(order: Limited, answer: QueryAnswer, readsResults: boolean): readonly Shortfall[] {
  const cut = saidLimit(order, answer) ?? unsaidLimit(order, answer, readsResults);
  if (cut === undefined) return [];
  const { rows, matched, whose } = cut;
  const of = matched === undefined ? 'rows, not all of them' : `of ${formatCount(matched)} rows`;
  return [
    {
      kind: 'cut',
      holds: `the first ${formatCount(rows)} ${of} (${whose})`,
      ...present({
        whole: order.fetch !== undefined || readsResults ? undefined : wholeOf(order.query, rows),
        isGapless: isByTime(answer) || undefined,
      }),
    },
  ];
}

function wholeOf(query: QueryText, rows: number): Whole | undefined {
  const text = shortened(query.text);
  if (isFetchable(query)) return { query: text };
  return rows < largeLimit ? { query: text, most: largeLimit } : undefined;
}

/** Maximum rows of one response of the hosted service. */
const largeLimit = 50_000;

/** Returns the limit that a service names in its message code. */
function saidLimit({ fetch }: Limited, { tables, status }: QueryAnswer): Cut | undefined {
  if (fetch !== undefined) return undefined;
  const code = status.messages?.find(isRowLimit)?.code;
  const rows = tables[0]?.data.numRows;
  if (code === undefined || rows === undefined) return undefined;
  return {
    rows,
    matched: undefined,
    whose: whoseLimit[code] ?? 'the limit of the service',
  };
}

const whoseLimit: Readonly<Record<string, string>> = {
  row_limit_default: 'the default limit',
  row_limit_request: 'the limit set by %limit',
  default_limit: 'the default limit',
  default_limit_warning: 'the default limit',
};

/** Returns whether a message is about omitted rows. */
function isRowLimit({ code }: { readonly code: string }): boolean {
  return /^(?:row|default)_limit/.test(code);
}

/** Number of rows returned if neither query nor request sets a limit. */
const serviceRowLimit = 1_000;

/**
 * Returns the probable truncation by a service that reports none: there are as many rows as a limit allows, or fewer than it counts.
 * A cached result has no limit of its own.
 */
function unsaidLimit(
  { query, rowLimit, fetch, stopped, namesCuts }: Limited,
  { tables: [table], status }: QueryAnswer,
  readsResults: boolean,
): Cut | undefined {
  if (fetch !== undefined)
    return stopped && { rows: table?.data.numRows ?? 0, matched: stopped.matched, whose: stopped.why };
  if (table === undefined || table.info.groups.length > 0) return undefined;
  if (status.messages?.some(isRowLimit)) return undefined;
  const operators = query.pipeline?.operators ?? [];
  const rows = table.data.numRows;
  const limit = rowLimit ?? (readsResults ? undefined : serviceRowLimit);
  const isWhole = namesCuts && status.rowsMatched === rows;
  if (rows === limit && !isWhole && !operators.some(({ kind }) => reducing.has(kind))) {
    const whose = rowLimit === undefined ? 'the default limit' : 'the limit set by %limit';
    return { rows, matched: undefined, whose };
  }
  if (namesCuts) return undefined;
  const isLargest = rows === largeLimit && operators.every(operator => countOf(operator) !== rows);
  const isShort = rows < status.rowsMatched && rows > 0 && countsItsRows(operators);
  if (!isLargest && !isShort) return undefined;
  return { rows, matched: isShort ? status.rowsMatched : undefined, whose: 'the limit of the service' };
}

/** Returns whether every row that a service counts as a match is in the result: nothing filters rows after they were changed. */
function countsItsRows(operators: readonly Operator[]): boolean {
  const changed = operators.findIndex(({ kind }) => !filtering.has(kind));
  const rest = changed < 0 ? [] : operators.slice(changed);
  return rest.every(operator => keepsRows(operator) && !filtering.has(operator.kind));
}

const filtering: ReadonlySet<Operator['kind']> = new Set(['where', 'search']);

/** Operators that change the number of rows. */
const reducing: ReadonlySet<Operator['kind']> = new Set([
  'limit',
  'top',
  'sample',
  'summarize',
  'count',
  'distinct',
  'getschema',
  'make-series',
]);

/** Maximum characters of a query that a notice quotes. */
const longestQuery = 160;

/** Returns the query to put before a further operator; replaces one that does not fit on a line with an ellipsis. */
function shortened(text: string): string {
  const trimmed = text.trim().replace(/;$/, '');
  return trimmed.length > longestQuery || /[\n;]|\/\//.test(trimmed) ? '…' : trimmed;
}

/** Returns whether the rows are the first ones ordered by time. */
function isByTime({ tables: [table] }: QueryAnswer): boolean {
  return table?.info.order[0]?.field === '_time' && hasTime(table.data.schema.fields);
}

function hasTime(fields: readonly { readonly name: string }[]): boolean {
  return fields.some(({ name }) => name === '_time');
}

/** Returns the rows that the query itself omits, by a limit or a sample. */
function asked(
  { query: { text }, namesCuts }: Limited,
  answer: QueryAnswer,
  { operators }: Pipeline,
): readonly Shortfall[] {
  const words = ({ from, to }: Operator) => `\`${text.slice(from, to).replace(/\s+/g, ' ').trim()}\``;
  const samples = operators.filter(({ kind }) => kind === 'sample');
  const limit = operators.findLast(({ kind }) => kind === 'limit' || kind === 'top');
  const cut = limit === undefined ? undefined : askedCut(limit, operators, answer, namesCuts);
  return [
    ...samples.map(each => ({
      kind: 'sampled' as const,
      holds: `a sample (${words(each)})`,
      isAsked: true as const,
    })),
    ...(limit === undefined || cut === undefined
      ? []
      : [
          {
            kind: 'cut' as const,
            holds: `${cut} (${words(limit)})`,
            isAsked: true as const,
            ...present({ isGapless: gapless(limit, operators, answer) }),
          },
        ]),
  ];
}

/** Describes the rows that a limit leaves; undefined if it omitted nothing. Directly after time-binned groups it counts groups. */
function askedCut(
  limit: Operator,
  operators: readonly Operator[],
  { tables: [table], status }: QueryAnswer,
  countsAll: boolean,
): string | undefined {
  const most = countOf(limit);
  if (table === undefined || most === undefined) return undefined;
  const isLast = operators.slice(operators.indexOf(limit) + 1).every(retainsRows);
  if (!isLast) return `what remains of at most ${plural(most, 'row')}`;
  const rows = table.data.numRows;
  const countsGroups = table.info.buckets !== undefined && table.info.groups.length > 0;
  if ((countsGroups ? status.numGroups : rows) < most) return undefined;
  const before = operators.slice(0, operators.indexOf(limit)).every(keepsRows);
  if (countsAll && before && status.rowsMatched === rows) return undefined;
  return rows === 1 ? 'the first row' : `the first ${formatCount(rows)} rows`;
}

/** Returns the count of a limit; a bare `limit` is `limit 10`. */
function countOf(limit: Operator): number | undefined {
  if (limit.kind !== 'limit' && limit.kind !== 'top') return undefined;
  const count: Expr | undefined = limit.count;
  if (count === undefined) return 10;
  const value = count.kind === 'literal' ? Number(count.value) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

function gapless(limit: Operator, operators: readonly Operator[], answer: QueryAnswer): true | undefined {
  const after = operators.slice(operators.indexOf(limit) + 1);
  const isPlain = limit.kind === 'limit' && after.every(each => retainsRows(each) && each.kind !== 'sort');
  return (isPlain && isByTime(answer)) || undefined;
}
