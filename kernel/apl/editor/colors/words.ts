import { clauseWords, sources } from '../../operators/operator-rows.js';

/** Words that are keywords unless the parser reads them as names. */
export const contextualWords: ReadonlySet<string> = new Set([
  ...clauseWords,
  ...Object.keys(sources),
  ...['let', 'set', 'declare', 'query_parameters', 'default'],
]);

/** Words of a sort order. */
export const sortWords: ReadonlySet<string> = new Set(['asc', 'desc', 'nulls', 'first', 'last', 'granny']);

/** Word operators without an infix entry of their own in the catalog. */
export const operatorWords: ReadonlySet<string> = new Set(['and', 'or', 'not', 'between', '!between']);
