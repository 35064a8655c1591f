import { encodeNotices, noticeHeader } from '../../api/api-notices.js';

/** Returns the headers of a response whose omissions these sentences name; none without sentences. */
export function noticeHeaders(notices: readonly string[]): Readonly<Record<string, string>> {
  return notices.length === 0 ? {} : { [noticeHeader]: encodeNotices(notices) };
}
