import { clauseWords, sources } from '../../operators/operator-rows.js';

/** Words that are keywords if the parser does not take them for a name. */
export const contextualWords: ReadonlySet<string> = new Set([
  ...clauseWords,
  ...Object.keys(sources),
  ...['let', 'set', 'declare', 'query_parameters', 'default'],
]);

/** The words of an order. */
export const sortWords: ReadonlySet<string> = new Set(['asc', 'desc', 'nulls', 'first', 'last', 'granny']);

/** The word operators that are not infix entries of the catalog by themselves. */
export const operatorWords: ReadonlySet<string> = new Set(['and', 'or', 'not', 'between', '!between']);
