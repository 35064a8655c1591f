import type { SqlArg } from '../../sql/template.js';
import { at, computeOnce } from '../arguments.js';

/** The parts of a text between delimiters, as a list of VARCHAR. */
export function splitList(args: readonly SqlArg[]): string {
  return `string_split(${at(args, 0).sql}, ${at(args, 1).sql})`;
}

/** The keys of a map as a list of VARCHAR; null for anything else. */
export function keysList(args: readonly SqlArg[]): string {
  return computeOnce([at(args, 0)], j => `CASE WHEN json_type(${j}) = 'OBJECT' THEN json_keys(${j}) END`);
}

/** The functions whose array holds nothing but texts, with the SQL of that array as a list of VARCHAR. */
export const textLists: ReadonlyMap<string, (args: readonly SqlArg[]) => string> = new Map([
  ['split', splitList],
  ['bag_keys', keysList],
]);
