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

/** All log formats: a file is read in the first one that it matches. */
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

/** A format of whole files: its label in messages, its names in requests, and its file extensions. */
interface FileFormat {
  readonly kind: 'csv' | 'json' | 'parquet';
  readonly label: string;
  readonly names: readonly string[];
  readonly endings: readonly string[];
}

/** The kind of a file: one of {@link fileFormats}, or lines. */
export type FileKind = FileFormat['kind'] | 'lines';

/** File formats other than logs. */
export const fileFormats: readonly FileFormat[] = [
  { kind: 'csv', label: 'CSV', names: ['csv'], endings: ['.csv', '.tsv'] },
  { kind: 'json', label: 'JSON', names: ['json', 'ndjson'], endings: ['.json', '.ndjson', '.jsonl'] },
  { kind: 'parquet', label: 'Parquet', names: ['parquet'], endings: ['.parquet'] },
];

/** Format names that a request may use. */
export const formatNames: readonly string[] = [
  ...fileFormats.flatMap(({ names }) => names),
  ...logFormats.map(({ name }) => name),
];
