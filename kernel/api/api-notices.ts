/** Header in which the local service reports what a response omits: the API's bodies have no member for it. */
export const noticeHeader = 'x-apl-kernel-notice';

/** The items of a listing, and sentences about what the service could not list. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly notices: readonly string[];
}

/** HTTP libraries reject headers of more than 16 KiB in total. */
const mostCharacters = 8_000;

/** Encodes sentences as a header value; counts those that do not fit. */
export function encodeNotices(notices: readonly string[]): string {
  for (let shown = notices.length; shown > 0; shown--) {
    const rest = notices.length - shown;
    const more = rest === 0 ? [] : [`${rest} more could not be read.`];
    const text = encodeURIComponent(JSON.stringify([...notices.slice(0, shown), ...more]));
    if (text.length <= mostCharacters) return text;
  }
  return encodeURIComponent(JSON.stringify([`${notices.length} could not be read.`]));
}

/** Decodes the sentences in a header; returns none if it is absent or was modified in transit. */
export function decodeNotices(value: string | undefined): readonly string[] {
  try {
    const found: unknown = JSON.parse(decodeURIComponent(value ?? '[]'));
    return Array.isArray(found) ? found.filter(each => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
