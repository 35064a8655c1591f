/** When a limit is lifted: at a time of the service's clock, in milliseconds since 1970, or after so many milliseconds. */
export type Reset = { readonly at: number } | { readonly after: number };

/**
 * Returns what a header such as `X-RateLimit-Reset` says; undefined if it is not such a number. Services write seconds since 1970,
 * gateways seconds from now or milliseconds since 1970: numbers as small or as large as those are nothing else.
 */
export function readReset(text: string | undefined): Reset | undefined {
  if (text === undefined || !/^\d{1,15}(?:\.\d+)?$/.test(text.trim())) return undefined;
  const number = Number(text);
  if (number < FIRST_TIME_SECONDS) return { after: number * 1000 };
  if (number < LAST_TIME_SECONDS) return { at: number * 1000 };
  return number >= FIRST_TIME_MS && number < LAST_TIME_SECONDS * 1000 ? { at: number } : undefined;
}

/** Returns what `Retry-After` says: seconds, or a date of HTTP; undefined for anything else. */
export function readRetryAfter(text: string | undefined): Reset | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (seconds >= 0) return { after: seconds * 1000 };
  const at = Date.parse(text);
  return Number.isNaN(seconds) && !Number.isNaN(at) ? { at } : undefined;
}

/** Returns milliseconds from now on, by the service's clock if its answer has one: that of this machine may be wrong. */
export function untilReset(reset: Reset, date: string | undefined): number {
  if ('after' in reset) return reset.after;
  const now = Date.parse(date ?? '');
  return Math.max(0, reset.at - (Number.isNaN(now) ? Date.now() : now));
}

/** Whether the date of an answer, if it has one, is about that of this machine. */
export function isOurClock(date: string | undefined): boolean {
  const theirs = Date.parse(date ?? '');
  return Number.isNaN(theirs) || Math.abs(theirs - Date.now()) < CLOCKS_DIFFER_MS;
}

const CLOCKS_DIFFER_MS = 60_000;

/** Spring of 1970. */
const FIRST_TIME_SECONDS = 10_000_000;
/** In the year 2255. */
const LAST_TIME_SECONDS = 9_000_000_000;
/** In the year 1973. */
const FIRST_TIME_MS = 100_000_000_000;
