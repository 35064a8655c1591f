import { applications } from './applications.js';
import { cloud } from './cloud.js';
import { databases } from './databases.js';
import type { LogFormat } from './format.js';
import { objects } from './objects.js';
import { system } from './system.js';
import { web } from './web.js';

/** Each line is the field `line`. */
export const plainText: LogFormat = {
  name: 'text',
  label: 'plain text',
  example: ['2025-10-10 13:55:36 cart 7 is lost'],
  reading: { kind: 'text' },
};

/** Every format of logs: of those that a file fits, the first is the one that it is read as. */
export const logFormats: readonly LogFormat[] = [
  ...web,
  ...cloud,
  ...system,
  ...databases,
  ...applications,
  ...objects,
  plainText,
];

/** The names that a request may give as its format. */
export const formatNames: readonly string[] = [
  'csv',
  'json',
  'ndjson',
  'parquet',
  ...logFormats.map(({ name }) => name),
];
