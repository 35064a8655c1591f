import { aloneLengths } from '../bounds/vectors.js';
import type { FunctionFamily } from '../template.js';
import * as arrays from './arrays.js';
import * as conversion from './conversion.js';
import * as datetime from './datetime.js';
import { eventFamily } from './events.js';
import * as formats from './formats.js';
import * as genai from './genai.js';
import { internalFamily } from './internal.js';
import * as math from './math.js';
import * as net from './net.js';
import * as series from './series.js';
import * as sql from './sql.js';
import * as strings from './strings.js';

/** Every family of functions; macros of a later family may call those of an earlier one. */
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
