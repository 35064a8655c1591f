import { aggregates } from './aggregates.js';
import type { FunctionEntry } from './entry.js';
import { arrays } from './functions/array-functions.js';
import { conversion } from './functions/conversion-functions.js';
import { datetime } from './functions/datetime-functions.js';
import { formats } from './functions/format-functions.js';
import { genai } from './functions/genai-functions.js';
import { math } from './functions/math-functions.js';
import { net } from './functions/net-functions.js';
import { series } from './functions/series-functions.js';
import { sql } from './functions/sql-functions.js';
import { strings } from './functions/string-functions.js';
import { rowFunctions } from './row-functions.js';

const catalog = [
  ...strings,
  ...formats,
  ...conversion,
  ...net,
  ...genai,
  ...sql,
  ...datetime,
  ...math,
  ...arrays,
  ...series,
] as const;

/** A scalar function, with its name and parameters as literal types. */
export type CatalogEntry = (typeof catalog)[number];

/** Canonical name of a scalar function. */
export type FunctionName = CatalogEntry['name'];

export const functions: readonly FunctionEntry[] = catalog;

/** All functions except aggregates: scalar functions and those that read neighboring rows. */
export const everyFunction: readonly FunctionEntry[] = [...functions, ...rowFunctions];

const byName = index(everyFunction);
const aggregatesByName = index(aggregates);

/** Returns the scalar or row function with that name or alias. */
export function functionNamed(name: string): FunctionEntry | undefined {
  return byName.get(name);
}

/** Returns the aggregate with that name or alias. */
export function aggregateNamed(name: string): FunctionEntry | undefined {
  return aggregatesByName.get(name);
}

/** Returns the names and aliases of all functions and aggregates; set `aggregatesFirst` if those are more likely meant. */
export function functionNames(aggregatesFirst: boolean): string[] {
  const [functions, aggregates] = [[...byName.keys()], [...aggregatesByName.keys()]];
  return aggregatesFirst ? [...aggregates, ...functions] : [...functions, ...aggregates];
}

function index(entries: readonly FunctionEntry[]): Map<string, FunctionEntry> {
  return new Map(entries.flatMap(entry => [entry.name, ...(entry.aliases ?? [])].map(name => [name, entry])));
}
