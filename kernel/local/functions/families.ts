import * as conversion from './conversion.js';
import * as datetime from './datetime.js';
import type { FunctionFamily } from './register.js';

/** Every family of functions; macros of a later family may call those of an earlier one. */
export const families: readonly FunctionFamily[] = [conversion, datetime];
