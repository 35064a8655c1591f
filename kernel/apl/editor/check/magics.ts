import type { Diagnostic } from '../../syntax/ast.js';
import type { MagicLine } from '../../syntax/cell.js';
import { finding } from '../../syntax/diagnostics.js';
import { noCellForm, readArguments, unknownMagic } from '../../syntax/syntax-magic.js';
import type { MagicFacts } from '../known.js';

/** Returns the diagnostics for a cell's magic lines: unknown names and options, and invalid arguments. */
export function checkMagics(
  lines: readonly MagicLine[],
  cell: string,
  magics: readonly MagicFacts[],
): readonly Diagnostic[] {
  return lines.flatMap(line => check(line, cell, magics) ?? []);
}

function check(line: MagicLine, cell: string, magics: readonly MagicFacts[]): Diagnostic | undefined {
  const wanted = line.name.toLowerCase();
  const nameFrom = line.from + (line.cell ? 2 : 1);
  const name = { from: nameFrom, to: nameFrom + line.name.length };
  const magic = magics.find(each => each.name === wanted || each.aliases.includes(wanted));
  if (magic === undefined) {
    const known = magics.flatMap(each => [each.name, ...each.aliases]);
    const { message, hint, instead } = unknownMagic(line.name, known);
    return finding('error', 'magic', name, message, hint, instead);
  }
  if (line.cell && magic.perCell !== true) {
    const hint = `Usage: ${magic.usage}`;
    const span = { from: line.from, to: name.to };
    const instead = `%${magic.name}`;
    return finding('error', 'magic', span, `%${magic.name}: ${noCellForm(magic)}`, hint, instead);
  }
  if (magic.verbatim === true) return undefined;
  const found = readArguments(magic, line.args);
  if (!('message' in found)) return undefined;
  const start = line.args === '' ? name.to : cell.indexOf(line.args, name.to);
  const { from, to, message, hint, instead } = found;
  const span = line.args === '' ? { from: line.from, to: name.to } : { from: start + from, to: start + to };
  return finding('error', 'magic', span, message, hint, instead);
}
