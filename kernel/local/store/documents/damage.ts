import { encodeNotices, noticeHeader } from '../../../api/notices.js';
import type { ErrorCode } from '../../../errors.js';
import { ServiceError } from '../../http/service-error.js';

/** A file that cannot be read. A listing leaves it out and says so; what asks for it alone fails. */
export interface Damage {
  /** What the file should hold, such as `the starred query 12ab`. */
  readonly what: string;
  readonly file: string;
  /** Reads as in "is damaged: {reason}". */
  readonly reason: string;
  /** A sentence that says what to do. */
  readonly remedy: string;
}

/** Returns the headers of an answer that leaves these files out. */
export function noticeHeaders(damages: readonly Damage[]): Readonly<Record<string, string>> {
  if (damages.length === 0) return {};
  const notices = damages.map(damage => `${damagedText(damage)} It is left out. ${damage.remedy}`);
  return { [noticeHeader]: encodeNotices(notices) };
}

/** Returns the error for a request that asks for a damaged file. */
export function damageError(damage: Damage, code: ErrorCode, cause?: unknown): ServiceError {
  return new ServiceError(500, code, damagedText(damage), { hint: damage.remedy, cause });
}

function damagedText({ what, file, reason }: Damage): string {
  return `${what[0]?.toUpperCase()}${what.slice(1)} cannot be read: ${reason} (${file}).`;
}
