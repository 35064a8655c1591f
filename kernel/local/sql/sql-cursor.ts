import type { Page, PageCursor } from './rewrite/rewrite-pages.js';

/** Returns a cursor as a string that clients can send back. */
export function cursorText({ time, count, whole }: PageCursor): string {
  return Buffer.from(`${time}.${count}${whole ? '.' : ''}`, 'latin1').toString('base64url');
}

/** Returns the id of a row, which also works as the cursor after it; different rows have different hashes. */
export function cursorId(cursor: string, hash: string): string {
  return `${cursor}.${hash}`;
}

/** Parses a cursor from a string; undefined if invalid. */
export function readCursor(text: string): PageCursor | undefined {
  const [cursor = ''] = text.split('.', 1);
  const parts = /^(-?\d{1,19})\.(\d{1,9})(\.)?$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (parts === null) return undefined;
  return { time: BigInt(parts[1] ?? 0), count: Number(parts[2]), whole: parts[3] !== undefined };
}

/** Consecutive rows that share a time; `all` if they are the whole page. */
export interface Run {
  readonly time: bigint;
  readonly rows: number;
  readonly all: boolean;
}

/** Returns the cursor after the last rows of a page; `more`: rows of the same time follow. */
export function lastCursor(page: Page, last: Run, more: boolean): PageCursor {
  return { time: last.time, count: last.rows + before(page, last), whole: !more };
}

/** Returns the cursor at the first rows of a page, for paging in the other direction. */
export function firstCursor(page: Page, first: Run, last: PageCursor): PageCursor {
  return first.all ? last : { time: first.time, count: first.rows + before(page, first), whole: true };
}

/** Returns the cursor after each row of a page in its fixed order; undefined for a row without a time. */
export function rowCursors(page: Page, times: readonly (bigint | undefined)[]): (PageCursor | undefined)[] {
  let count = 0;
  return times.map((time, row) => {
    if (time === undefined) return undefined;
    count = row > 0 && times[row - 1] === time ? count + 1 : 1;
    const skipped = times[0] === time ? before(page, { time, rows: 0, all: false }) : 0;
    return { time, count: count + skipped, whole: false };
  });
}

function before({ skipped }: Page, { time }: Run): number {
  return skipped?.time === time ? skipped.rows : 0;
}
