import { encodeNotices, noticeHeader } from '../../api/api-notices.js';

/** Returns the headers of an answer that leaves out what these sentences name; none for no sentences. */
export function noticeHeaders(notices: readonly string[]): Readonly<Record<string, string>> {
  return notices.length === 0 ? {} : { [noticeHeader]: encodeNotices(notices) };
}
