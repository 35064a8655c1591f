/** The header in which the local service names what an answer leaves out: bodies have the shapes of the API and no room for it. */
export const noticeHeader = 'x-apl-kernel-notice';

/** The items of a listing, and sentences about what the service could not list. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly notices: readonly string[];
}

/** HTTP libraries refuse a head of more than 16 KiB. */
const mostCharacters = 8_000;

/** Returns sentences as the value of the header; those that do not fit are counted. */
export function encodeNotices(notices: readonly string[]): string {
  for (let shown = notices.length; shown > 0; shown--) {
    const rest = notices.length - shown;
    const more = rest === 0 ? [] : [`${rest} more could not be read.`];
    const text = encodeURIComponent(JSON.stringify([...notices.slice(0, shown), ...more]));
    if (text.length <= mostCharacters) return text;
  }
  return encodeURIComponent(JSON.stringify([`${notices.length} could not be read.`]));
}

/** Returns the sentences of the header; none if it is absent or was changed on the way. */
export function decodeNotices(value: string | undefined): readonly string[] {
  try {
    const found: unknown = JSON.parse(decodeURIComponent(value ?? '[]'));
    return Array.isArray(found) ? found.filter(each => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
