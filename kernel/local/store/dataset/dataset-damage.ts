import { systemRefusal } from '../../../machine.js';
import { LocalError } from '../../local-errors.js';
import { directoryRemedy } from '../store-files.js';

/** An unreadable file of a dataset, with the reason as in "it {reason}". */
export interface Damage {
  readonly file: string;
  readonly reason: string;
}

/** Returns the error for a dataset with damaged files: a result without their rows would be wrong. */
export function damagedDataset(name: string, damages: readonly Damage[]): LocalError {
  const [first, ...others] = damages;
  const more = others.length === 0 ? '' : ` ${others.length} more files are damaged.`;
  return new LocalError(
    'invalid',
    'dataset-damaged',
    `The dataset \`${name}\` cannot be read: ${first?.file} ${first?.reason}.${more}`,
    {
      hint: `Restore a good copy of the file, or move it away to continue without its contents. \`%drop ${name}\` deletes the dataset.`,
    },
  );
}

/** Returns the error for all stored datasets if their directory cannot be listed; `fault` is the reason as in "it {fault}". */
export function damagedDatasets(directory: string, fault: string): LocalError {
  const message = `The datasets cannot be read: ${directory} ${fault}.`;
  return new LocalError('invalid', 'dataset-damaged', message, { hint: directoryRemedy });
}

/**
 * Returns the error for a dataset with acknowledged events that exist only in a log because they cannot be stored: a result without them
 * would be wrong.
 */
export function unstoredEvents(name: string, reason: unknown): unknown {
  const refusal = systemRefusal(reason);
  if (refusal === undefined) return reason;
  const message = `The dataset \`${name}\` has logged events that cannot be stored: ${refusal.reason}.`;
  const hint =
    'Nothing is lost: they are stored as soon as the data directory is writable. Other datasets are not affected.';
  return new LocalError(refusal.kind, refusal.code, message, { hint, cause: reason });
}
