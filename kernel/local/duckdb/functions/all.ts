import { type FunctionName, functions } from '../../../apl/catalog/all.js';
import { arityOf } from '../../../apl/catalog/entry.js';
import { internalFunctions } from '../../../apl/catalog/internal.js';
import type { SqlTemplate } from '../../sql/template.js';
import { arrays } from './arrays.js';
import { conversion } from './conversion.js';
import { datetime } from './datetime.js';
import { formats } from './formats.js';
import { genai } from './genai.js';
import { internal } from './internal.js';
import { math } from './math.js';
import { net } from './net.js';
import { series } from './series.js';
import { sql } from './sql.js';
import { strings } from './strings.js';

/** SQL of every function of the catalog: one that is missing here fails the type check. */
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
 * Returns the SQL template of a function by its canonical name, or of one of the compiler's own, which start with `$`. It
 * throws a RangeError for fewer or more arguments than the parameters in the catalog.
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
