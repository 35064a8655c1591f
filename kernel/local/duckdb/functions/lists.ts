import type { SqlArg, SqlTemplate } from '../../sql/template.js';
import { computeOnce } from '../arguments.js';

/** The parts of a text between delimiters, as a list of VARCHAR. */
export function splitList([text, delimiter]: readonly [SqlArg, SqlArg]): string {
  return `string_split(${text.sql}, ${delimiter.sql})`;
}

/** The keys of a map as a list of VARCHAR; null for anything else. */
export function keysList([map]: readonly [SqlArg]): string {
  return computeOnce([map], j => `CASE WHEN json_type(${j}) = 'OBJECT' THEN json_keys(${j}) END`);
}

const textLists: ReadonlyMap<string, SqlTemplate<never>> = new Map<string, SqlTemplate<never>>([
  ['split', splitList],
  ['bag_keys', keysList],
]);

/** Returns the SQL of the array that a function returns as a list of VARCHAR, if it holds nothing but strings. */
export function textListOf(name: string): SqlTemplate | undefined {
  return textLists.get(name) as SqlTemplate | undefined;
}
