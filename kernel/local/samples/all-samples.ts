import type { BuiltinDataset } from '../sql/compiled-query.js';
import { httpLogs } from './http-logs.js';
import { logs } from './sample-logs.js';
import { traces } from './traces.js';

/** The datasets that are always there: functions of time, so that any window has rows, and the same window the same rows. */
export const samples: readonly BuiltinDataset[] = [httpLogs, traces, logs];
