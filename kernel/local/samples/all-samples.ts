import type { BuiltinDataset } from '../sql/compiled-query.js';
import { httpLogs } from './http-logs.js';
import { logs } from './sample-logs.js';
import { traces } from './traces.js';

/** The built-in datasets: functions of time, so every window has rows, and the same window always the same ones. */
export const samples: readonly BuiltinDataset[] = [httpLogs, traces, logs];
