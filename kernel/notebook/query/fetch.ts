/**
 * Fetches all rows of a query that a service returns only in part: page by page. The local service's cursors are exact, even among
 * rows with the same time; elsewhere the time range is divided until no part reaches the limit. Each row is in exactly one part.
 */
import type { RawResult } from '../../api/client.js';
import type { AnswerOptions, QueryRequest, RequestOptions } from '../../api/wire.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { AplKernelError } from '../../errors.js';
import { present } from '../../present.js';
import type { TabularArrow } from '../../result/decode/decode-arrow.js';
import type { Page } from '../../result/decode/decode-pages.js';
import { formatBytes, oneLine } from '../../text.js';
import { formatTime, parseTime } from '../../time.js';
import { MagicError } from '../magics/magic-arguments.js';
import { TimeRangeError } from '../time-range.js';
import { isRandom, isRowWise } from './query-reading.js';

/** Maximum rows that a query should fetch in total. */
export interface Fetch {
  /** Infinity for all rows. */
  readonly most: number;
}

/** Throws MagicError for a query whose result is not the concatenation of its parts' results. */
export function checkFetchable(query: QueryText, { cursor }: RequestOptions): void {
  const { text, pipeline } = query;
  if (pipeline?.source.kind !== 'dataset')
    throw new MagicError(
      '%fetch: the query does not read one dataset',
      '%fetch fetches the rows of a dataset.',
    );
  if (cursor !== undefined)
    throw new MagicError(
      '%fetch: it pages on its own and takes no cursor',
      'Leave `--cursor` out of %%request.',
    );
  if (isRandom(query))
    throw new MagicError(
      '%fetch: `rand()` returns different values on each page',
      'Fetch the rows into a named result without it, and use it in the next cell.',
    );
  const wrong = pipeline.operators.find(each => !isRowWise(each));
  if (wrong === undefined) return;
  const words = oneLine(text.slice(wrong.from, wrong.to), 60);
  throw new MagicError(
    `%fetch: \`${words}\` does not work row by row, but rows are fetched page by page`,
    wrong.kind === 'limit'
      ? 'Leave it out: `%fetch --max N` sets the number of rows.'
      : 'Fetch the rows into a named result, such as `rows << dataset | where …`, and write the rest in the next cell: `rows | …`.',
  );
}

/** Returns whether every row of a query can be fetched page by page. */
export function isFetchable(query: QueryText): boolean {
  const { pipeline } = query;
  return pipeline?.source.kind === 'dataset' && !isRandom(query) && pipeline.operators.every(isRowWise);
}

/** A response assembled from pages, and the reason if it lacks rows. */
export interface Fetched {
  readonly raw: RawResult;
  /** The tables, if the response was parsed as it arrived. */
  readonly decoded?: TabularArrow;
  readonly stopped?: Stopped;
}

export interface Stopped extends Reason {
  /** Number of rows in total, if the service has counted them. */
  readonly matched?: number;
}

/** Reason why a fetch ended early. */
interface Reason {
  /** Text in parentheses: `interrupted`, `--max 500`. */
  readonly why: string;
  /** A sentence: how to fetch the remaining rows. */
  readonly hint: string;
}

const again = 'Run the cell again to fetch every row.';

/** Reason for a fetch that the user interrupted. */
export const interrupted: Reason = { why: 'interrupted', hint: again };

const fewer: Reason = {
  why: 'the service returned no more',
  hint: 'The data may have changed in the meantime: run the cell again.',
};

const timeless: Reason = {
  why: 'the query returns no `_time` to page by',
  hint: 'Keep `_time` among its fields.',
};

/** One request of a fetch. */
type Ask = (request: QueryRequest & AnswerOptions) => Promise<RawResult>;

/** Context of a fetch besides its request. */
interface Means {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  /** Whether the service is the local one, which has exact cursors. */
  readonly isLocal: boolean;
  /** Maximum bytes of all pages together. */
  readonly mostBytes: number;
  /** Called with the number of rows so far. */
  readonly tell: (rows: number) => void;
}

/** Rows of one request: few enough to arrive before it times out, and the most that the hosted service returns. */
const PAGE_ROWS = 50_000;

/** Fetches the rows of a request; after the first page, an interrupt or a failure retains the rows received. */
export async function fetchAll(request: QueryRequest, fetch: Fetch, means: Means): Promise<Fetched> {
  const { joinPages } = await import('../../result/decode/decode-pages.js');
  const pages = new Pages(fetch.most, means);
  const why = await (means.isLocal ? pages.byCursor(request) : pages.byTime(request)).catch(error => {
    if (pages.rows === 0) throw error;
    if (means.signal.aborted) return interrupted;
    if (!(error instanceof AplKernelError)) throw error;
    return { why: oneLine(error.message, 200), hint: again };
  });
  const matched = pages.matched;
  const reason = why ?? (matched !== undefined && matched > pages.rows ? fewer : undefined);
  const body = joinPages(pages.read, pages.status());
  const raw = {
    body,
    elapsedMs: pages.elapsedMs,
    ...present({ traceId: pages.traceId, recorded: pages.recorded, nearLimit: pages.nearLimit }),
  };
  if (reason === undefined) return { raw };
  const counted = matched !== undefined && matched > pages.rows ? matched : undefined;
  return { raw, stopped: { ...reason, ...present({ matched: counted }) } };
}

/** The pages of one fetch so far. */
class Pages {
  readonly read: Page[] = [];
  rows = 0;
  #bytes = 0;
  elapsedMs = 0;
  traceId: string | undefined;
  recorded: true | undefined;
  /** As reported by the latest response. */
  nearLimit: string | undefined;
  /** Number of rows counted by the service; undefined if it has not. */
  matched: number | undefined;
  readonly #most: number;
  readonly #means: Means;

  constructor(most: number, means: Means) {
    this.#most = most;
    this.#means = means;
  }

  /**
   * Fetches pages from the first row on; returns the reason if it ended early. The local service reports with each page whether
   * there is more, and counts only what it has read.
   */
  async byCursor(request: QueryRequest): Promise<Reason | undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.#ask({ ...request, ...present({ cursor }) });
      if (!this.#fits(page)) return this.#largeness();
      this.#take(page);
      if (!saysMore(page)) return undefined;
      if (this.#isFull) return this.#fullness();
      const next = cursorOf(page);
      if (next === undefined || next === '' || next === cursor) return timeless;
      cursor = next;
    }
  }

  /** Divides the range, and again each part that reaches the limit; returns the reason if it ended early. */
  async byTime(request: QueryRequest): Promise<Reason | undefined> {
    const [start, end] = [parseTime(request.startTime ?? ''), parseTime(request.endTime ?? '')];
    if (start === undefined || end === undefined)
      throw new TimeRangeError('%fetch needs a range of two times', 'Give one, such as `%time last 1d`.');
    const left = [{ start, end }];
    let why: Reason | undefined;
    for (let part = left.pop(); part !== undefined; part = left.pop()) {
      const window = { startTime: formatTime(part.start), endTime: formatTime(part.end) };
      const page = await this.#ask({ ...request, ...window });
      this.matched ??= matchedBy(page);
      const length = part.end - part.start;
      const isWhole = !isCut(page, PAGE_ROWS);
      const isTaken = isWhole || length <= 1n || this.#isEnough(page);
      if (isTaken && !this.#fits(page)) return this.#largeness();
      if (isTaken) this.#take(page);
      else left.push(...(isAscending(page) ? divided(part, page).reverse() : divided(part, page)));
      if (!isWhole && length <= 1n) why = crowded(window.startTime);
      if (!this.#isFull) continue;
      const isMore = left.length > 0 || !isWhole || (await this.#goesOn({ ...request, ...window }, page));
      return isMore ? this.#fullness() : undefined;
    }
    return why;
  }

  /** Merges the statuses of all requests. */
  status(): Readonly<Record<string, unknown>> {
    const all = this.read.map(({ rest }) => statusOf(rest));
    const sum = (name: string) => all.reduce((total, each) => total + Number(each[name] ?? 0), 0);
    return {
      ...all[0],
      elapsedTime: sum('elapsedTime'),
      blocksExamined: sum('blocksExamined'),
      blocksMatched: sum('blocksMatched'),
      rowsExamined: sum('rowsExamined'),
      rowsMatched: this.matched ?? this.rows,
      isPartial: all.some(({ isPartial }) => isPartial === true),
      isEstimate: all.some(({ isEstimate }) => isEstimate === true),
      messages: all.flatMap(({ messages }) => messagesOf(messages)).filter(each => !isLimit(each)),
    };
  }

  get #isFull(): boolean {
    return this.rows >= this.#most;
  }

  /** Returns whether the page contains the remaining requested rows, in order. */
  #isEnough({ rows }: Page): boolean {
    return rows >= this.#most - this.rows;
  }

  /** Returns whether a row follows a page that reached its limit: a service may count only the rows it returns. */
  async #goesOn(request: QueryRequest, { rows }: Page): Promise<boolean> {
    return rows === PAGE_ROWS || (await this.#read({ ...request, defaultLimit: rows + 1 })).rows > rows;
  }

  #fullness(): Reason {
    return { why: `--max ${this.#most}`, hint: '`%fetch --all` fetches every row.' };
  }

  /** Returns whether another page fits; the first one was within the limit of a response. */
  #fits({ bytes }: Page): boolean {
    return this.rows === 0 || this.#bytes + bytes <= this.#means.mostBytes;
  }

  #largeness(): Reason {
    return {
      why: `${formatBytes(this.#means.mostBytes)}, the memory limit of one result`,
      hint: 'Fetch fewer fields with `| project …`, or a shorter range.',
    };
  }

  #ask(request: QueryRequest): Promise<Page> {
    return this.#read({ ...request, defaultLimit: Math.min(PAGE_ROWS, this.#most - this.rows) });
  }

  async #read(request: QueryRequest): Promise<Page> {
    this.#means.signal.throwIfAborted();
    const raw = await this.#means.ask({ ...request, asJson: true });
    const { readPage } = await import('../../result/decode/decode-pages.js');
    this.elapsedMs += raw.elapsedMs;
    this.traceId = raw.traceId;
    this.recorded = raw.recorded;
    this.nearLimit = raw.nearLimit;
    return readPage(raw.body);
  }

  #take(page: Page): void {
    this.read.push(page);
    this.#bytes += page.bytes;
    this.rows += page.rows;
    this.#means.tell(this.rows);
  }
}

interface Part {
  readonly start: bigint;
  readonly end: bigint;
}

function crowded(time: string): Reason {
  return {
    why: `more rows at ${time} than fit in one response`,
    hint: 'Fetch them in parts, each with its own `where`.',
  };
}

/** Maximum parts to divide a range into at once. */
const MOST_PARTS = 64n;

/** Halves a part, or divides it by its number of rows if the service has counted them. */
function divided({ start, end }: Part, page: Page): Part[] {
  const wanted = BigInt(Math.ceil(((matchedBy(page) ?? 0) / Math.max(page.rows, 1)) * 1.2));
  const most = wanted < 2n ? 2n : wanted > MOST_PARTS ? MOST_PARTS : wanted;
  const parts = most > end - start ? end - start : most;
  const at = (index: bigint) => start + ((end - start) * index) / parts;
  return Array.from({ length: Number(parts) }, (_, index) => ({
    start: at(BigInt(index)),
    end: at(BigInt(index) + 1n),
  }));
}

/** Returns whether a page may lack rows: it is full, or its service reports it. */
function isCut(page: Page, limit: number): boolean {
  const { rows, rest } = page;
  return rows > 0 && (rows >= limit || Number(statusOf(rest).rowsMatched) > rows || saysMore(page));
}

function saysMore({ rest }: Page): boolean {
  return messagesOf(statusOf(rest).messages).some(isLimit);
}

function isLimit({ code }: { readonly code: string }): boolean {
  return /limit/i.test(code);
}

function matchedBy({ rest }: Page): number | undefined {
  const matched = Number(statusOf(rest).rowsMatched);
  return Number.isSafeInteger(matched) && matched > 0 ? matched : undefined;
}

function isAscending({ table }: Page): boolean {
  const [order] = (table.order ?? []) as readonly { readonly desc?: boolean }[];
  return order?.desc === false;
}

/** Returns the cursor after the last row. */
function cursorOf(page: Page): string | undefined {
  const { minCursor, maxCursor } = statusOf(page.rest);
  const cursor = isAscending(page) ? maxCursor : minCursor;
  return typeof cursor === 'string' ? cursor : undefined;
}

function statusOf({ status }: Page['rest']): Readonly<Record<string, unknown>> {
  return typeof status === 'object' && status !== null ? { ...status } : {};
}

function messagesOf(messages: unknown): readonly { readonly code: string }[] {
  return Array.isArray(messages) ? messages.filter(each => typeof each?.code === 'string') : [];
}
