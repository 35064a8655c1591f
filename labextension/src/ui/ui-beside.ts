import type { Widget } from '@lumino/widgets';
import { BESIDE_STYLE, besideClass, columnIn } from '../../../kernel/result/beside.js';
import { addStyle } from './ui-style.js';

/** Places an output in the column named by its metadata. */
export function standBeside(output: Widget, apl: unknown): void {
  const column = columnIn(apl);
  for (const each of [1, 2] as const)
    for (const name of besideClass(each).split(' ')) output.removeClass(name);
  if (column === undefined) return;
  addStyle('apl-beside-style', BESIDE_STYLE);
  for (const name of besideClass(column).split(' ')) output.addClass(name);
}
