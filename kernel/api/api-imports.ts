import { AplKernelError } from '../errors.js';
import { present } from '../present.js';
import { cut, visible } from '../text.js';
import { dateOrders, isZone, parseTime } from '../time.js';
import { formatNames } from './logs/log-formats.js';

/** An import option with a value: a member of the request, and an option of the command and the magic. */
export interface ImportOption {
  readonly member: ImportMember;
  /** Name as written after two hyphens. */
  readonly name: string;
  /** Placeholder of the value in help texts; `a|b` lists the only values. */
  readonly value: string;
  readonly summary: string;
  /** Returns whether a value is valid (default: any text). */
  readonly allows?: (value: string) => boolean;
  /** Description of valid values, for messages. */
  readonly wanted: string;
}

export const importMembers = [
  'timeField',
  'format',
  'dates',
  'date',
  'zone',
  'pattern',
  'encoding',
  'list',
] as const;

export type ImportMember = (typeof importMembers)[number];

/** The options set in a request. */
export type ImportChoices = Readonly<Partial<Record<ImportMember, string>>>;

const rows: Readonly<Record<ImportMember, Omit<ImportOption, 'member'>>> = {
  timeField: {
    name: 'time',
    value: 'FIELD',
    summary: 'the field that holds the time (default: detected)',
    wanted: 'the name of a field',
  },
  format: {
    name: 'format',
    value: formatNames.join('|'),
    summary: 'the file format (default: detected)',
    wanted: 'the name of a format',
  },
  dates: {
    name: 'dates',
    value: dateOrders.join('|'),
    summary: 'the order of day, month and year in dates such as 05/11/2026 (default: detected)',
    allows: value => dateOrders.some(order => order === value),
    wanted: dateOrders.join(', '),
  },
  date: {
    name: 'date',
    value: 'DAY',
    summary: 'the date of the first timestamp, such as 2026-06-01, if timestamps have no date',
    allows: value => /^\d{4}-\d{2}-\d{2}$/.test(value) && parseTime(value) !== undefined,
    wanted: 'a day such as 2026-06-01',
  },
  zone: {
    name: 'zone',
    value: 'ZONE',
    summary: 'the time zone of times without an offset, such as Europe/Berlin (default: UTC)',
    allows: isZone,
    wanted: 'an IANA time zone, such as Europe/Berlin',
  },
  pattern: {
    name: 'pattern',
    value: 'TEXT',
    summary:
      'a custom pattern of a line: `"%{IP:client} %{GREEDYDATA:message}"`, or a regular expression with named groups',
    wanted: 'a regular expression',
  },
  encoding: {
    name: 'encoding',
    value: 'NAME',
    summary: 'the text encoding, such as windows-1252 or utf-16le (default: detected)',
    wanted: 'the name of an encoding',
  },
  list: {
    name: 'path',
    value: 'KEYS',
    summary:
      'the list of events in a JSON object, such as `data.items`, or the sheet of a workbook (default: detected)',
    wanted: 'the path of a list',
  },
};

/** An import option without a value. */
export interface ImportFlag {
  readonly name: 'replace' | 'preview';
  readonly summary: string;
}

/** The options without a value, for the command and the magic. */
export const importFlags: readonly ImportFlag[] = [
  { name: 'replace', summary: 'replace the rows of the dataset instead of adding to them' },
  { name: 'preview', summary: 'show how the file would be read without importing it' },
];

const longestUsage = 20;

/** The options, in display order. The request, the command and the magic read this table. */
export const importOptions: readonly ImportOption[] = importMembers.map(member => ({
  member,
  ...rows[member],
}));

/** The options in a command's usage line, without long lists of values. */
export const importUsage = [
  ...importOptions.map(({ name, value }) => `[--${name} ${value.length > longestUsage ? 'NAME' : value}]`),
  ...importFlags.map(({ name }) => `[--${name}]`),
].join(' ');

/** Returns the import options, calling `choice` for the value of each; calls `refuse`, which throws, for an invalid value. */
export function importChoices<Value>(
  choice: (option: ImportOption) => Value,
  refuse: (option: ImportOption, value: NonNullable<Value>) => never,
): ImportChoices {
  const choices: Partial<Record<ImportMember, string>> = {};
  for (const option of importOptions) {
    const value = choice(option);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' || option.allows?.(value) === false) refuse(option, value);
    else choices[option.member] = value;
  }
  return choices;
}

/** Location of an import's data, recognized by its prefix. */
interface Place {
  readonly name: string;
  readonly begins: RegExp;
  /** How it becomes a dataset; absent if it is not supported. */
  readonly by?: 'download' | 'bucket';
  /** What to do instead, if it is not supported. */
  readonly hint?: string;
}

/** Locations other than files on this machine. */
const places = [
  { name: 'https', begins: /^https?:[\\/]{2}/i, by: 'download' },
  { name: 's3', begins: /^s3:\/\//i, by: 'bucket' },
  {
    name: 'gs',
    begins: /^g(?:c)?s:\/\//i,
    hint: 'Create an HMAC key for the bucket, set AWS_ENDPOINT_URL to its S3-compatible endpoint, and use s3://BUCKET/PREFIX.',
  },
  {
    name: 'Azure',
    begins: /^(?:az|azure|abfss?|wasbs?|adl):\/\//i,
    hint: 'Copy the files to this machine or to a bucket, and import them from there.',
  },
] as const satisfies readonly Place[];

/** An import from an unsupported location. */
class PlaceError extends AplKernelError {}

/** Returns how a location becomes a dataset: as a file unless another prefix matches. Throws AplKernelError if unsupported. */
export function placeOfImport(written: string): 'file' | 'download' | 'bucket' {
  const found: Place | undefined = places.find(({ begins }) => begins.test(written));
  if (found === undefined) return 'file';
  if (found.by !== undefined) return found.by;
  const message = `${found.name} URLs are not supported`;
  throw new PlaceError('bucket', message, present({ hint: found.hint }));
}

/** A bucket and a prefix of object names. */
export interface BucketAddress {
  readonly bucket: string;
  /** Ends with a slash unless it is empty. */
  readonly prefix: string;
}

/** Parses `s3://bucket/prefix`; throws AplKernelError for an invalid address, without quoting any credentials in it. */
export function readBucketAddress(written: string): BucketAddress {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)\/*(.*)$/is.exec(written) ?? [];
  if (bucket.includes('@') || rest.includes('?'))
    throw new PlaceError('bucket', 'an S3 URL cannot have a user, password or parameters', {
      hint: 'Credentials come from the environment or the profile, as in other AWS tools.',
    });
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new PlaceError('bucket', `${visible(cut(bucket, 70))} is not a bucket name`, {
      hint: 'Write s3://BUCKET/PREFIX.',
    });
  const prefix = rest.replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

/** Formats the address. */
export function bucketAddressText({ bucket, prefix }: BucketAddress): string {
  return `s3://${bucket}/${prefix}`;
}
