import type { BuiltinDataset } from './compiled.js';
import { httpLogs } from './sample-http-logs.js';
import { traces } from './sample-traces.js';

/** The datasets that are always there: functions of time, so that any window has rows, and the same window the same rows. */
export const samples: readonly BuiltinDataset[] = [httpLogs, traces];
