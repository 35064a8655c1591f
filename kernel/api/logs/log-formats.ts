import { applications } from './applications.js';
import { cloud } from './cloud.js';
import { containers } from './containers.js';
import { databases } from './databases.js';
import { frameworks } from './frameworks.js';
import { hosts } from './hosts.js';
import type { LogFormat } from './log-format.js';
import { services } from './log-services.js';
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
  ...containers,
  ...web,
  ...cloud,
  ...services,
  ...system,
  ...hosts,
  ...frameworks,
  ...databases,
  ...applications,
  ...objects,
  plainText,
];

/** A format of whole files: how it is called in messages, in requests, and at the end of file names. */
interface FileFormat {
  readonly kind: 'csv' | 'json' | 'parquet';
  readonly label: string;
  readonly names: readonly string[];
  readonly endings: readonly string[];
}

/** How a file is read: as one of {@link fileFormats}, or line by line. */
export type FileKind = FileFormat['kind'] | 'lines';

/** The formats of files that are not logs. */
export const fileFormats: readonly FileFormat[] = [
  { kind: 'csv', label: 'CSV', names: ['csv'], endings: ['.csv', '.tsv'] },
  { kind: 'json', label: 'JSON', names: ['json', 'ndjson'], endings: ['.json', '.ndjson', '.jsonl'] },
  { kind: 'parquet', label: 'Parquet', names: ['parquet'], endings: ['.parquet'] },
];

/** The names that a request may give as its format. */
export const formatNames: readonly string[] = [
  ...fileFormats.flatMap(({ names }) => names),
  ...logFormats.map(({ name }) => name),
];
