import { type FunctionName, functions } from '../../../apl/catalog/all-functions.js';
import { internalFunctions } from '../../../apl/catalog/catalog-internal.js';
import { arityOf } from '../../../apl/catalog/entry.js';
import type { SqlTemplate } from '../../sql/sql-template.js';
import { arrays } from './duckdb-arrays.js';
import { conversion } from './duckdb-conversion.js';
import { datetime } from './duckdb-datetime.js';
import { formats } from './duckdb-formats.js';
import { genai } from './duckdb-genai.js';
import { internal } from './duckdb-internal.js';
import { math } from './duckdb-math.js';
import { net } from './duckdb-net.js';
import { series } from './duckdb-series.js';
import { sql } from './duckdb-sql.js';
import { strings } from './duckdb-strings.js';

/** SQL of every catalog function; a missing one fails the type check. */
const templates: Readonly<Record<FunctionName, SqlTemplate<never>>> = {
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
};

const all: Readonly<Record<string, SqlTemplate<never>>> = { ...templates, ...internal };
const arities = new Map(
  [...functions, ...internalFunctions].map(({ name, params }) => [name, arityOf(params)]),
);

/**
 * Returns the SQL template of a function by its canonical name, or of an internal function, whose name starts with `$`. The template throws
 * a RangeError if the number of arguments does not fit the catalog's parameters.
 */
export function templateOf(name: string): SqlTemplate | undefined {
  const template = Object.hasOwn(all, name) ? all[name] : undefined;
  const arity = arities.get(name);
  if (template === undefined || arity === undefined) return undefined;
  return (args, context) => {
    if (args.length < arity.least || args.length > arity.most)
      throw new RangeError(`${name} has ${args.length} arguments`);
    return (template as SqlTemplate)(args, context);
  };
}
