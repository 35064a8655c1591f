/** When a limit resets: at a time on the service's clock, in milliseconds since 1970, or after some milliseconds. */
export type Reset = { readonly at: number } | { readonly after: number };

/** Headers that report when a limit resets, most specific first, with their parsers; `Retry-After` takes precedence. */
const resetHeaders: readonly (readonly [name: string, read: (text: string) => Reset | undefined])[] = [
  ['retry-after-ms', text => (/^\d{1,12}$/.test(text) ? { after: Number(text) } : undefined)],
  ['x-ratelimit-reset', readReset],
  ['ratelimit-reset', readReset],
  ['x-querylimit-reset', readReset],
  ['x-ratelimit-reset-after', readReset],
  ['x-rate-limit-reset', readReset],
  // Two IETF drafts have it among other members.
  ['ratelimit', text => readReset(/(?:^|[;,\s])(?:reset|t)=(\d+)/.exec(text)?.[1])],
];

/** Returns the end of a limit from the headers of a response, except for `Retry-After`; undefined if none can be parsed. */
export function limitReset(header: (name: string) => string | undefined): Reset | undefined {
  for (const [name, read] of resetHeaders) {
    const reset = read(header(name)?.trim() ?? '');
    if (reset !== undefined) return reset;
  }
  return undefined;
}

/**
 * Parses a header such as `X-RateLimit-Reset`; returns undefined if it is none of these. Services write seconds since 1970; gateways
 * write seconds from now, milliseconds since 1970, durations or timestamps. The magnitude of a number tells which.
 */
export function readReset(text: string | undefined): Reset | undefined {
  if (text === undefined) return undefined;
  if (/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text)) return atTime(Date.parse(text));
  if (!/^\d{1,15}(?:\.\d+)?$/.test(text.trim())) return readDuration(text);
  const number = Number(text);
  if (number < FIRST_TIME_SECONDS) return { after: number * 1000 };
  if (number < LAST_TIME_SECONDS) return { at: number * 1000 };
  return number >= FIRST_TIME_MS && number < LAST_TIME_SECONDS * 1000 ? { at: number } : undefined;
}

function atTime(at: number): Reset | undefined {
  return Number.isNaN(at) ? undefined : { at };
}

/** Parses a duration as printed by Go, such as `1m30s` or `20ms`. */
function readDuration(text: string): Reset | undefined {
  const found = /^(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,6}(?:\.\d{1,9})?)s)?(?:(\d{1,6})ms)?$/.exec(
    text.trim(),
  );
  if (found === null || text.trim() === '') return undefined;
  const [hours, minutes, seconds, ms] = found.slice(1).map(each => Number(each ?? 0));
  return { after: (((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000 + (ms ?? 0) };
}

/** Parses `Retry-After`: seconds or an HTTP date; returns undefined for anything else. */
export function readRetryAfter(text: string | undefined): Reset | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (seconds >= 0) return { after: seconds * 1000 };
  const at = Date.parse(text);
  return Number.isNaN(seconds) && !Number.isNaN(at) ? { at } : undefined;
}

/** Returns the milliseconds from now, by the service's clock if the response has its date: this machine's clock may be wrong. */
export function untilReset(reset: Reset, date: string | undefined): number {
  if ('after' in reset) return reset.after;
  const now = Date.parse(date ?? '');
  return Math.max(0, reset.at - (Number.isNaN(now) ? Date.now() : now));
}

/** Returns whether the date of a response, if it has one, roughly matches this machine's clock. */
export function isOurClock(date: string | undefined): boolean {
  const theirs = Date.parse(date ?? '');
  return Number.isNaN(theirs) || Math.abs(theirs - Date.now()) < CLOCKS_DIFFER_MS;
}

const CLOCKS_DIFFER_MS = 60_000;

/** Spring of 1970. */
const FIRST_TIME_SECONDS = 10_000_000;
/** The year 2255. */
const LAST_TIME_SECONDS = 9_000_000_000;
/** The year 1973. */
const FIRST_TIME_MS = 100_000_000_000;
