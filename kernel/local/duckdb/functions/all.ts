import type { FunctionName } from '../../../apl/catalog/all.js';
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

/** SQL of every function of the catalogue: one that is missing here fails the type check. */
const templates = {
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
} satisfies Readonly<Record<FunctionName, SqlTemplate>>;

const all: Readonly<Record<string, SqlTemplate>> = { ...templates, ...internal };

/** The SQL template of a function by its canonical name, or of one of the compiler's own, which start with `$`. */
export function templateOf(name: string): SqlTemplate | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}
