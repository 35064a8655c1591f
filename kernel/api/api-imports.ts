import { AplKernelError } from '../errors.js';
import { present } from '../present.js';
import { cut, visible } from '../text.js';
import { dateOrders, isZone, parseTime } from '../time.js';
import { formatNames } from './logs/log-formats.js';

/** An option of an import that has a value: a member of the request, an option of the command, and one of the magic. */
export interface ImportOption {
  readonly member: ImportMember;
  /** As users write it, behind two hyphens. */
  readonly name: string;
  /** What stands for the value in texts; `a|b` are the only values. */
  readonly value: string;
  readonly summary: string;
  /** Whether a value can be one (default: every text can). */
  readonly allows?: (value: string) => boolean;
  /** What a value has to be, in messages. */
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

/** The values that a request has. */
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
    summary: 'how the file is read (default: detected)',
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
    summary: 'the day of the first time of day, such as 2026-06-01, if the times have no date',
    allows: value => /^\d{4}-\d{2}-\d{2}$/.test(value) && parseTime(value) !== undefined,
    wanted: 'a day such as 2026-06-01',
  },
  zone: {
    name: 'zone',
    value: 'ZONE',
    summary: 'the time zone of times without an offset, such as Europe/Berlin (default: UTC)',
    allows: isZone,
    wanted: 'a time zone of the IANA, such as Europe/Berlin',
  },
  pattern: {
    name: 'pattern',
    value: 'TEXT',
    summary:
      'how a line is split instead: `"%{IP:client} %{GREEDYDATA:message}"`, or a regular expression with named groups',
    wanted: 'a regular expression',
  },
  encoding: {
    name: 'encoding',
    value: 'NAME',
    summary: 'of text, such as windows-1252 or utf-16le (default: detected)',
    wanted: 'the name of an encoding',
  },
  list: {
    name: 'path',
    value: 'KEYS',
    summary:
      'the list of events in a JSON object, such as `data.items`, or the sheet of a workbook; the usual ones are found',
    wanted: 'the path of a list',
  },
};

/** An option of an import that has no value. */
export interface ImportFlag {
  readonly name: 'replace' | 'preview';
  readonly summary: string;
}

/** The options without a value, of the command and the magic. */
export const importFlags: readonly ImportFlag[] = [
  { name: 'replace', summary: 'replace the rows of the dataset instead of adding to them' },
  { name: 'preview', summary: 'show how the file would be read, and import nothing' },
];

const longestUsage = 20;

/** The options, in the order in which they are shown. The request, the command and the magic read this table. */
export const importOptions: readonly ImportOption[] = importMembers.map(member => ({
  member,
  ...rows[member],
}));

/** The options in the usage of a command, without long lists of values. */
export const importUsage = [
  ...importOptions.map(({ name, value }) => `[--${name} ${value.length > longestUsage ? 'NAME' : value}]`),
  ...importFlags.map(({ name }) => `[--${name}]`),
].join(' ');

/**
 * Returns the choices of an import by asking for the value of each option; `refuse` is called with an option whose value is
 * not one, and throws.
 */
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

/** Where the data of an import lies, by how its name begins. */
interface Place {
  readonly name: string;
  readonly begins: RegExp;
  /** How it becomes a dataset; absent if it is refused. */
  readonly by?: 'download' | 'bucket';
  /** What to do if it is refused. */
  readonly hint?: string;
}

/** The places that are not files of this machine. */
const places = [
  { name: 'https', begins: /^https?:[\\/]{2}/i, by: 'download' },
  { name: 's3', begins: /^s3:\/\//i, by: 'bucket' },
  {
    name: 'gs',
    begins: /^g(?:c)?s:\/\//i,
    hint: 'Make an HMAC key for the bucket, set AWS_ENDPOINT_URL to the address of its interoperable API, and name it as s3://BUCKET/PREFIX.',
  },
  {
    name: 'Azure',
    begins: /^(?:az|azure|abfss?|wasbs?|adl):\/\//i,
    hint: 'Copy the files to this machine or to a bucket, and import them from there.',
  },
] as const satisfies readonly Place[];

/** An import of what lies at a place that is not read. */
class PlaceError extends AplKernelError {}

/** Returns how what was named becomes a dataset: as a file if its name begins like no other place. Throws AplKernelError for one that is refused. */
export function placeOfImport(written: string): 'file' | 'download' | 'bucket' {
  const found: Place | undefined = places.find(({ begins }) => begins.test(written));
  if (found === undefined) return 'file';
  if (found.by !== undefined) return found.by;
  const message = `no address of ${found.name} is read`;
  throw new PlaceError('bucket', message, present({ hint: found.hint }));
}

/** A bucket, and what the names of the objects there begin with. */
export interface BucketAddress {
  readonly bucket: string;
  /** Ends with a slash unless it is empty. */
  readonly prefix: string;
}

/** Reads `s3://bucket/prefix`; throws AplKernelError for what is not such an address, without the credentials that it may hold. */
export function readBucketAddress(written: string): BucketAddress {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)\/*(.*)$/is.exec(written) ?? [];
  if (bucket.includes('@') || rest.includes('?'))
    throw new PlaceError('bucket', 'an address of S3 has no user, password or parameters', {
      hint: 'Credentials come from the environment or the profile, as for other programs of AWS.',
    });
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new PlaceError('bucket', `${visible(cut(bucket, 70))} is not a name of a bucket`, {
      hint: 'Write s3://BUCKET/PREFIX.',
    });
  const prefix = rest.replace(/\/+$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

/** Returns the address as it is written. */
export function bucketAddressText({ bucket, prefix }: BucketAddress): string {
  return `s3://${bucket}/${prefix}`;
}
