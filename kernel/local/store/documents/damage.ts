import type { ErrorCode } from '../../../errors.js';
import { LocalError } from '../../errors.js';

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

/** Returns what an answer that leaves these files out says of them. */
export function damageNotices(damages: readonly Damage[]): readonly string[] {
  return damages.map(damage => `${damagedText(damage)} It is left out. ${damage.remedy}`);
}

/** Returns the error for a request that asks for a damaged file. */
export function damageError(damage: Damage, code: ErrorCode, cause?: unknown): LocalError {
  return new LocalError('failed', code, damagedText(damage), { hint: damage.remedy, cause });
}

function damagedText({ what, file, reason }: Damage): string {
  return `${what[0]?.toUpperCase()}${what.slice(1)} cannot be read: ${reason} (${file}).`;
}
