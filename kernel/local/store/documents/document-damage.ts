import type { ErrorCode } from '../../../errors.js';
import { LocalError } from '../../local-errors.js';

/** A file that cannot be read, or that is not as it was written. What asks for one alone that cannot be read fails. */
export interface Damage {
  /** A sentence about the file, such as "The starred query 12ab cannot be read: it is empty (FILE)." */
  readonly text: string;
  /** A sentence that says what a listing makes of it. */
  readonly consequence: string;
  /** A sentence that says what to do. */
  readonly remedy: string;
}

/** Returns what a listing says of these files. */
export function damageNotices(damages: readonly Damage[]): readonly string[] {
  return damages.map(({ text, consequence, remedy }) => `${text} ${consequence} ${remedy}`);
}

/** Returns the error for a request that asks for a damaged file. */
export function damageError({ text, remedy }: Damage, code: ErrorCode, cause?: unknown): LocalError {
  return new LocalError('failed', code, text, { hint: remedy, cause });
}
