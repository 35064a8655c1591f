import type { FunctionEntry, Param } from './entry.js';

const text = { name: 'text', type: 'string' } as const satisfies Param;
const pattern = { name: 'pattern', type: 'string', constant: true } as const satisfies Param;
const group = { name: 'group', type: 'long', constant: true } as const satisfies Param;
const value = { name: 'value', type: 'any' } as const satisfies Param;
const more = { name: 'more', type: 'any', optional: true, rest: true } as const satisfies Param;

/** The aggregates that operators and rewrites use; `rate` is given the seconds of a bin. */
export const internalAggregates = [
  /** How many values are not null. */
  { name: '$values', params: [value] },
  { name: 'take_first', params: [value] },
  { name: 'take_any', params: [value] },
  { name: 'rate', params: [value, { name: 'seconds', type: 'real', optional: true }] },
] as const satisfies readonly Pick<FunctionEntry, 'name' | 'params'>[];

/** The functions that operators compile to; users cannot write them. */
export const internalFunctions = [
  /** The string of the group; null if the pattern does not match. */
  { name: '$regex_group', params: [text, pattern, group] },
  /** The string of the group; empty if the pattern does not match. */
  { name: '$regex_part', params: [text, pattern, group] },
  /** The strings of the groups of the first match, for `$regex_text`. */
  { name: '$regex_match', params: [text, pattern] },
  /** The string of a group, the first of which is the whole match; null if there is no match. */
  { name: '$regex_text', params: [{ name: 'match', type: 'any' }, pattern, group] },
  /** The string if it is JSON, with its members; else null. */
  { name: '$document', params: [text] },
  /** The array whose elements a list of the engine holds; without the list's JSON it is looked through by `textLists` of a dialect. */
  { name: '$texts', params: [value] },
  /** The value when it is valid for its type, else null. */
  { name: '$valid', params: [value] },
  /** The lower end of the bucket of equal width between the smallest and the largest value. */
  { name: '$histogram_bucket', params: [value, { name: 'count', type: 'long' }] },
  /** The strings that are not null, between separators that no pattern of a search crosses. */
  { name: '$joined_text', params: [value, more] },
  /** Two values of which one is dynamic: numbers by value and exactly, else as strings. */
  { name: '$compare', params: [{ name: 'operator', type: 'string', constant: true }, value, value] },
  /** The first value that is not null. */
  { name: '$first', params: [value, more] },
  /** The string without what a pattern finds. */
  {
    name: '$redact',
    params: [
      text,
      pattern,
      { name: 'token', type: 'string' },
      { name: 'hash', type: 'bool' },
      { name: 'groups', type: 'bool' },
    ],
  },
] as const satisfies readonly Pick<FunctionEntry, 'name' | 'params'>[];
