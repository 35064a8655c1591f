import path from 'node:path';
import { LocalError } from '../../errors.js';

/** Returns the refusal of a file of a set that is not written as those before it. */
export function unlike(file: string, why: string): LocalError {
  const message = `${path.basename(file)} is not written as the files before it. ${why}`;
  return new LocalError('invalid', 'unlike-files', message, {
    hint: 'Import files of each kind by themselves, into the same dataset.',
  });
}
