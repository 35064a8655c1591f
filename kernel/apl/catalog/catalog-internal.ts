import type { FunctionEntry, Param } from './entry.js';

const text = { name: 'text', type: 'string' } as const satisfies Param;
const pattern = { name: 'pattern', type: 'string', constant: true } as const satisfies Param;
const group = { name: 'group', type: 'long', constant: true } as const satisfies Param;
const value = { name: 'value', type: 'any' } as const satisfies Param;
const more = { name: 'more', type: 'any', optional: true, rest: true } as const satisfies Param;

/** Aggregates used by operators and rewrites; `rate` takes the seconds of a bin. */
export const internalAggregates = [
  /** Number of non-null values. */
  { name: '$values', params: [value] },
  { name: 'take_first', params: [value] },
  { name: 'take_any', params: [value] },
  { name: 'rate', params: [value, { name: 'seconds', type: 'real', optional: true }] },
] as const satisfies readonly Pick<FunctionEntry, 'name' | 'params'>[];

/** Functions that operators compile to; users cannot write them. */
export const internalFunctions = [
  /** String captured by the group; null if the pattern does not match. */
  { name: '$regex_group', params: [text, pattern, group] },
  /** String captured by the group; empty if the pattern does not match. */
  { name: '$regex_part', params: [text, pattern, group] },
  /** Captures of the first match, for `$regex_text`. */
  { name: '$regex_match', params: [text, pattern] },
  /** String captured by a group, the first of which is the whole match; null if there is no match. */
  { name: '$regex_text', params: [{ name: 'match', type: 'any' }, pattern, group] },
  /** The string and its members if it is JSON; else null. */
  { name: '$document', params: [text] },
  /** The dynamic value of a string that is known to be JSON. */
  { name: '$json', params: [text] },
  /** The array whose elements a list of the engine holds; without the list's JSON it is looked through by `textLists` of a dialect. */
  { name: '$texts', params: [value] },
  /** The value if it is valid for its type, else null. */
  { name: '$valid', params: [value] },
  /** Lower end of the value's bucket, for buckets of equal width between the smallest and largest values. */
  { name: '$histogram_bucket', params: [value, { name: 'count', type: 'long' }] },
  /** Non-null strings joined by separators that no search pattern crosses. */
  { name: '$joined_text', params: [value, more] },
  /** Compares two values of which one is dynamic: numbers exactly by value, else as strings. */
  { name: '$compare', params: [{ name: 'operator', type: 'string', constant: true }, value, value] },
  /** First non-null value. */
  { name: '$first', params: [value, more] },
  /** The string without the matches of a pattern. */
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
