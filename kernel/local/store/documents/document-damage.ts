import type { ErrorCode } from '../../../errors.js';
import { LocalError } from '../../local-errors.js';

/** An unreadable or altered file. A request for an unreadable document alone fails. */
export interface Damage {
  /** A sentence about the file, such as "The starred query 12ab cannot be read: it is empty (FILE)." */
  readonly text: string;
  /** A sentence about its effect on a listing. */
  readonly consequence: string;
  /** A sentence with the remedy. */
  readonly remedy: string;
}

/** Returns the notices of a listing about these files. */
export function damageNotices(damages: readonly Damage[]): readonly string[] {
  return damages.map(({ text, consequence, remedy }) => `${text} ${consequence} ${remedy}`);
}

/** Returns the error for a request for a damaged file. */
export function damageError({ text, remedy }: Damage, code: ErrorCode, cause?: unknown): LocalError {
  return new LocalError('failed', code, text, { hint: remedy, cause });
}
