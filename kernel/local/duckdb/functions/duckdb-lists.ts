import type { SqlArg, SqlTemplate } from '../../sql/sql-template.js';
import { computeOnce } from '../duckdb-arguments.js';

/** Returns the parts of a string between delimiters, as a list of VARCHAR. */
export function splitList([text, delimiter]: readonly [SqlArg, SqlArg]): string {
  return `string_split(${text.sql}, ${delimiter.sql})`;
}

/** Returns the keys of a map as a list of VARCHAR; null for anything else. */
export function keysList([map]: readonly [SqlArg]): string {
  return computeOnce([map], j => `CASE WHEN json_type(${j}) = 'OBJECT' THEN json_keys(${j}) END`);
}

/** Functions that end in `to_json`, `json_array` or `json_object`, or in null. */
const composed: ReadonlySet<string> = new Set([
  '$texts',
  'array',
  'array_concat',
  'array_reverse',
  'array_rotate_left',
  'array_rotate_right',
  'array_shift_left',
  'array_shift_right',
  'array_slice',
  'array_sort_asc',
  'array_sort_desc',
  'bag_keys',
  'bag_pack',
  'extract_all',
  'map',
  'pack_array',
  'pack_dictionary',
  'split',
]);

/** Returns a converter to text for functions whose array or map the engine has serialized. */
export function composedText(name: string): ((value: string) => string) | undefined {
  return composed.has(name) ? value => `${value}::VARCHAR` : undefined;
}

const textLists: ReadonlyMap<string, SqlTemplate<never>> = new Map<string, SqlTemplate<never>>([
  ['$texts', ([list]: readonly [SqlArg]) => list.sql],
  ['split', splitList],
  ['bag_keys', keysList],
]);

/** Returns the SQL of a function's array result as a list of VARCHAR, if it contains only strings. */
export function textListOf(name: string): SqlTemplate | undefined {
  return textLists.get(name) as SqlTemplate | undefined;
}
