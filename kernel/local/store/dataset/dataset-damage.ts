import { systemRefusal } from '../../../machine.js';
import { LocalError } from '../../local-errors.js';
import { directoryRemedy } from '../store-files.js';

/** A file of a dataset that cannot be read, and why, as in "it {reason}". */
export interface Damage {
  readonly file: string;
  readonly reason: string;
}

/** Returns the refusal of a dataset with damaged files: an answer without their rows would not be true. */
export function damagedDataset(name: string, damages: readonly Damage[]): LocalError {
  const [first, ...others] = damages;
  const more = others.length === 0 ? '' : ` ${others.length} more of its files are damaged.`;
  return new LocalError(
    'invalid',
    'dataset-damaged',
    `The dataset \`${name}\` cannot be read: ${first?.file} ${first?.reason}.${more}`,
    {
      hint: `Put back a good copy of the file, or move it away to go on without what it holds. \`%drop ${name}\` deletes the dataset.`,
    },
  );
}

/** Returns the refusal of everything about stored datasets if their directory cannot be listed, for this reason, as in "it {fault}". */
export function damagedDatasets(directory: string, fault: string): LocalError {
  const message = `The datasets cannot be read: ${directory} ${fault}.`;
  return new LocalError('invalid', 'dataset-damaged', message, { hint: directoryRemedy });
}

/**
 * Returns the refusal of a dataset with acknowledged events that are in a log only, since they cannot be stored for this reason: an
 * answer without them would not be true.
 */
export function unstoredEvents(name: string, reason: unknown): unknown {
  const refusal = systemRefusal(reason);
  if (refusal === undefined) return reason;
  const message = `The dataset \`${name}\` has events in a log that cannot be stored: ${refusal.reason}.`;
  const hint =
    'Nothing is lost: they are stored as soon as the data directory can be written. Other datasets can be read.';
  return new LocalError(refusal.kind, refusal.code, message, { hint, cause: reason });
}
