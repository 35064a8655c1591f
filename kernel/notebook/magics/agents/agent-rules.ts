import { declares, parseCell, splitCell, withoutPrefix } from '../../../apl/syntax/cell.js';
import { refuseFiles } from '../../query/query-files.js';
import { effects } from '../effects/effects.js';
import type { Magic } from '../magic.js';
import { MagicError } from '../magic-arguments.js';
import { magicLines } from '../magic-lines.js';
import { findMagic } from '../magic-table.js';

/** Throws an AplKernelError for a cell that does more than read, or would affect the user's cells. */
export function checkCell(source: string): void {
  const cell = parseCell(withoutPrefix(source));
  const error = cell.diagnostics.find(({ severity }) => severity === 'error');
  if (error !== undefined) throw new MagicError(error.message, error.hint);
  for (const line of cell.magics) {
    const magic = findMagic(line.name);
    if (isForAgents(magic, line.cell)) continue;
    const ofCell = isForAgents(magic, true)
      ? `Write \`%%${magic.name}\`, which applies to its own cell.`
      : onlyRead;
    throw new MagicError(`agents may not use \`%${magic.name}\``, ofCell);
  }
  if (splitCell(source).statements.some(declares))
    throw new MagicError(
      'agents may not declare parameters, which apply to the notebook',
      'Define a name with `let`.',
    );
  const named = cell.queries.find(({ name }) => name !== undefined);
  if (named !== undefined)
    throw new MagicError(
      `agents may not name a result, as in \`${named.name} <<\``,
      'Write the query alone.',
    );
  for (const { parsed } of cell.queries) refuseFiles(parsed);
}

const onlyRead = 'Cells of agents are read-only: `%help` lists what each magic does.';

/** Returns whether a magic only reads and has no effect on the user's cells. */
export function isForAgents(
  { name, effects: own }: Pick<Magic, 'name' | 'effects'>,
  ofCell: boolean,
): boolean {
  const row: { readonly repeats?: true; readonly sets?: true; readonly perCell?: true } = magicLines[name];
  const sets = row.sets === true && !(ofCell && row.perCell === true);
  return row.repeats === true && !sets && own.every(each => 'forAgents' in effects[each]);
}
