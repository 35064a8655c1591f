import type { Scalar } from '../../apl/plan/plan.js';
import type { Lookup } from './compiled-query.js';
import { foldCase } from './fold-case.js';

/** Number of values from which lookups take as long as reading the rows. */
const mostValues = 100;

/**
 * Returns the lookups implied by a condition that compares a field with constants; none for any other condition. `nameOf` names columns.
 */
export function lookupsIn(condition: Scalar, nameOf: (id: number) => string | undefined): readonly Lookup[] {
  const [column, ...constants] = sidesOf(condition);
  if (column?.kind !== 'column') return [];
  const { id, type } = column;
  const field = nameOf(id);
  const row = lookups[operatorOf(condition)];
  if (field === undefined || row === undefined || (type !== 'string' && type !== 'long')) return [];
  const values = constants.flatMap(each => valueIn(each, type) ?? []);
  if (values.length < constants.length || values.length > mostValues) return [];
  return row(values, type).map(found => ({ field, ...found }));
}

/** Returns the compared value and the constants; empty for other conditions. */
function sidesOf(condition: Scalar): readonly Scalar[] {
  if (condition.kind === 'in' && condition.subquery === undefined)
    return [condition.left, ...condition.items];
  if (condition.kind !== 'binary') return [];
  const { operator, left, right } = condition;
  return operator === '==' && left.kind !== 'column' ? [right, left] : [left, right];
}

function operatorOf(condition: Scalar): string {
  return condition.kind === 'binary' || condition.kind === 'in' ? condition.operator : '';
}

function valueIn(value: Scalar, type: 'string' | 'long'): string | bigint | undefined {
  if (value.kind !== 'constant' || value.type !== type) return undefined;
  if (type === 'string') return typeof value.value === 'string' ? value.value : undefined;
  return typeof value.value === 'bigint' ? value.value : undefined;
}

type Values = readonly (string | bigint)[];
type FieldLookups = (values: Values, type: 'string' | 'long') => readonly Omit<Lookup, 'field'>[];

/** Which ends of a term must be ends of words in every text that contains it. */
interface Ends {
  readonly first: boolean;
  readonly last: boolean;
}

const whole: Ends = { first: true, last: true };
const prefix: Ends = { first: true, last: false };
const suffix: Ends = { first: false, last: true };
const within: Ends = { first: false, last: false };

/** Lookups implied by each operator about the values of a field. */
const lookups: Readonly<Record<string, FieldLookups>> = {
  '==': equal,
  in: equal,
  '=~': allWords(whole),
  ...{ has: allWords(whole), has_cs: allWords(whole), has_all: allWords(whole), has_all_cs: allWords(whole) },
  ...{ has_any: anyWord, has_any_cs: anyWord },
  ...{ hasprefix: allWords(prefix), hasprefix_cs: allWords(prefix) },
  ...{ startswith: allWords(prefix), startswith_cs: allWords(prefix) },
  ...{ hassuffix: allWords(suffix), hassuffix_cs: allWords(suffix) },
  ...{ endswith: allWords(suffix), endswith_cs: allWords(suffix) },
  ...{ contains: allWords(within), contains_cs: allWords(within) },
};

function equal(values: Values, kind: 'string' | 'long'): readonly Omit<Lookup, 'field'>[] {
  return [{ kind, values }];
}

function allWords(ends: Ends): FieldLookups {
  return (values, type) =>
    type === 'string'
      ? values.flatMap(value => wordsIn(String(value), ends)).map(word => ({ kind: 'term', values: [word] }))
      : [];
}

/** Uses the longest word of each term. */
function anyWord(values: Values, type: 'string' | 'long'): readonly Omit<Lookup, 'field'>[] {
  const words = values.map(value => wordsIn(String(value), whole).sort((a, b) => b.length - a.length)[0]);
  const known = words.flatMap(word => word ?? []);
  return type === 'string' && known.length === values.length ? [{ kind: 'term', values: known }] : [];
}

/** Returns the ASCII words in a term that are whole words in every text that contains it. */
function wordsIn(term: string, ends: Ends): string[] {
  // Some patterns match a long s for an s.
  const folded = foldCase(term).replaceAll('\u017f', 's');
  return [...folded.matchAll(/[a-z0-9]+/g)].flatMap(({ 0: word, index }) => {
    const isWhole = (ends.first || index > 0) && (ends.last || index + word.length < folded.length);
    return isWhole ? [word] : [];
  });
}
