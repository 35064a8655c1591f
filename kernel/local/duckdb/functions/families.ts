import { aloneLengths } from '../bounds/vectors.js';
import type { FunctionFamily } from '../duckdb-template.js';
import * as arrays from './duckdb-arrays.js';
import * as conversion from './duckdb-conversion.js';
import * as datetime from './duckdb-datetime.js';
import { eventFamily } from './duckdb-events.js';
import * as formats from './duckdb-formats.js';
import * as genai from './duckdb-genai.js';
import { internalFamily } from './duckdb-internal.js';
import * as math from './duckdb-math.js';
import * as net from './duckdb-net.js';
import * as series from './duckdb-series.js';
import * as sql from './duckdb-sql.js';
import * as strings from './duckdb-strings.js';

/** All function families. Macros of a later family may call those of an earlier one. */
export const families: readonly FunctionFamily[] = [
  aloneLengths,
  conversion,
  strings,
  formats,
  net,
  genai,
  sql,
  datetime,
  arrays,
  math,
  series,
  internalFamily,
  eventFamily,
];
