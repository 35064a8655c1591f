import { cut, plural, visible } from '../../../text.js';
import type { FileField, FileSummary } from '../../engine/engine-parquet.js';
import type { Damage } from './dataset-damage.js';

/** Returns what is not read of files that other programs have put beside ours, as one line for all files alike. */
export function limitsOf(files: readonly FileSummary[]): readonly Damage[] {
  const others = files.filter(({ foreign }) => foreign);
  const untimed = others.filter(({ fields }) => !fields.some(isTime));
  const finer = others.filter(file => !untimed.includes(file) && file.fields.some(isCut));
  const names = [...new Set(finer.flatMap(({ fields }) => fields.filter(isCut).map(({ name }) => name)))];
  const listed = names.map(name => `\`${visible(cut(name, 80))}\``).join(', ');
  return [
    ...limitOf(untimed, 'is skipped, because it has no `_time` column with timestamps: import it'),
    ...limitOf(finer, `has timestamps in ${listed} that are read with microsecond precision`),
  ];
}

function isTime({ name, type }: FileField): boolean {
  return name === '_time' && type === 'datetime';
}

function isCut(field: FileField): boolean {
  return field.cut === true;
}

function limitOf([first, ...others]: readonly FileSummary[], reason: string): readonly Damage[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` (and ${plural(others.length, 'other file')})`;
  return [{ file: first.path, reason: `${reason}${more}` }];
}
