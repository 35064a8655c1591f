import { type ImportOption, importChoices } from '../../api/api-imports.js';
import {
  type ImportRequest,
  isNoTime,
  type PublishRequest,
  type QueryRequest,
  type StarredQuery,
} from '../../api/wire.js';
import { present } from '../../present.js';
import { parseGoDuration, parseTime } from '../../time.js';
import { LocalError } from '../local-errors.js';
import type { DatasetSettings } from '../store/dataset/stored.js';
import { readWholeStar } from '../store/documents/contents.js';
import {
  checkQuery,
  invalid,
  isKind,
  kindNames,
  type MemberKind,
  readObject,
  readTimestamp,
} from '../store/documents/document-members.js';

/** Returns the body of a query request. Throws LocalError naming the invalid member. */
export function readQueryRequest(body: unknown): QueryRequest {
  if (body === undefined || body === null) throw noQuery();
  const object = readObject(body, 'the body');
  checkQuery(object, '');
  const given = Object.entries(object).filter(([name, value]) => !isAbsent(name, value));
  if (Array.isArray(object.libraries) && object.libraries.length > 0) throw noLibraries();
  return Object.fromEntries(given) as unknown as QueryRequest;
}

function noQuery(): LocalError {
  return new LocalError('no-query', 'invalid-request', 'The request has no body.', {
    hint: 'Send a JSON object with the query in `apl`.',
  });
}

function noLibraries(): LocalError {
  return new LocalError('not-supported', 'not-supported', 'The local service does not support libraries.', {
    hint: 'Remove `libraries`.',
  });
}

/** Returns the time limit in `queryOptions.timeLimitMs`, in milliseconds. Throws LocalError. */
export function timeLimitOf({ queryOptions }: QueryRequest): number | undefined {
  const limit = queryOptions?.timeLimitMs;
  if (limit === undefined || limit === null) return undefined;
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0 && limit <= mostLimitMs)
    return limit;
  throw invalid('`queryOptions.timeLimitMs` should be a whole number of milliseconds, from 1 to 86400000.');
}

/** One day. */
const mostLimitMs = 86_400_000;

/** Returns the body of a request with a starred query. Throws LocalError (`invalid`) naming the invalid member. */
export function readStarredBody(body: unknown): StarredQuery {
  const object = readObject(body, 'the body');
  for (const key of ['kind', 'metadata', 'name', 'query', 'who']) {
    if (object[key] === undefined) throw invalid(`\`${key}\` is missing.`);
  }
  return readWholeStar(object);
}

/** Returns the body of a request to create a dataset. */
export function readNewDataset(body: unknown): {
  readonly name: string;
  readonly settings: DatasetSettings;
} {
  const { name, ...settings } = readObject(body, 'the body');
  if (typeof name !== 'string') throw invalid('`name` should be a string.');
  return { name, settings: readDatasetSettings(settings) };
}

/** Returns the body of a request to change the settings of a dataset. */
export function readDatasetSettings(body: unknown): DatasetSettings {
  const members = Object.entries(readObject(body, 'the body')).filter(([, value]) => value !== null);
  for (const [name, value] of members) {
    const kind = datasetMembers[name];
    if (kind === undefined) throw invalid(`\`${name}\` is not a known property of a dataset.`);
    if (!isKind(value, kind)) throw invalid(`\`${name}\` should be ${kindNames[kind]}.`);
  }
  const settings = Object.fromEntries(members) as DatasetSettings;
  if (settings.kind !== undefined && !datasetKinds.includes(settings.kind))
    throw invalid(`\`kind\` should be one of ${datasetKinds.join(', ')}.`);
  return settings;
}

const datasetMembers: Readonly<Record<string, MemberKind>> = {
  description: 'string',
  kind: 'string',
  useRetentionPeriod: 'boolean',
  retentionDays: 'count',
  edgeDeployment: 'string',
  region: 'string',
} satisfies Record<keyof DatasetSettings, MemberKind>;

/** The API's kinds, except for metrics, which are not events. */
const datasetKinds = ['axiom:events:v1', 'otel:traces:v1', 'otel:logs:v1'];

/** Returns the duration in the body of a request to trim a dataset, in nanoseconds. */
export function readMaxDuration(body: unknown): bigint {
  const { maxDuration } = readObject(body, 'the body');
  const length = typeof maxDuration === 'string' ? parseGoDuration(maxDuration) : undefined;
  if (length === undefined || length < 0n)
    throw invalid('`maxDuration` should be a duration, such as "36h" or "1h30m".');
  return length;
}

/** Returns the body of a request to import a file. */
export function readImportRequest(body: unknown): ImportRequest {
  const members = readObject(body, 'the body');
  const { path, dataset, replace, copy } = members;
  if (typeof path !== 'string' || path === '') throw invalid('`path` should be a file path.');
  if (typeof dataset !== 'string') throw invalid('`dataset` should be a dataset name.');
  if (replace !== undefined && typeof replace !== 'boolean')
    throw invalid('`replace` should be true or false.');
  if (copy !== undefined && typeof copy !== 'boolean') throw invalid('`copy` should be true or false.');
  const refuse = ({ member, wanted }: ImportOption) => {
    throw invalid(`\`${member}\` should be ${wanted}.`);
  };
  const choices = importChoices(
    ({ member }) => (members[member] === '' ? undefined : members[member]),
    refuse,
  );
  return { path, dataset, ...choices, ...present({ replace, copy }) };
}

/** Returns the body of a request to publish a dataset. */
export function readPublishRequest(body: unknown): PublishRequest {
  const { path, dataset } = readObject(body, 'the body');
  if (typeof path !== 'string') throw invalid('`path` should be a URL such as s3://BUCKET/PREFIX.');
  if (typeof dataset !== 'string') throw invalid('`dataset` should be a dataset name.');
  return { path, dataset };
}

/** Returns the properties of a field in a request: unit, description, and whether it is hidden. */
export function readFieldNote(body: unknown): { unit?: string; description?: string; hidden?: boolean } {
  const { unit, description, hidden } = readObject(body, 'the body');
  if (unit !== undefined && typeof unit !== 'string') throw invalid('`unit` should be a string.');
  if (description !== undefined && typeof description !== 'string')
    throw invalid('`description` should be a string.');
  if (hidden !== undefined && typeof hidden !== 'boolean') throw invalid('`hidden` should be true or false.');
  return {
    ...present({ unit, description, hidden }),
  };
}

/** The parameters of a query string, by name. */
export type Parameters = Readonly<Record<string, string | undefined>>;

/** Returns the parameters of a request. For a repeated one, as some clients send, the first value is used. */
export function parametersOf({ query }: { readonly query: unknown }): Parameters {
  const given = Object.entries(query as Record<string, string | readonly string[]>);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'string' ? value : value[0]]),
  );
}

/** Returns a timestamp from the query string in nanoseconds since 1970; undefined if it means none. Throws LocalError. */
export function timeOf(text: string | undefined, name: string): bigint | undefined {
  const timestamp = readTimestamp(text, name);
  return typeof timestamp === 'string' ? parseTime(timestamp) : undefined;
}

/** Returns a whole number from the query string. Throws LocalError if it is not one. */
export function readCount(text: string | undefined, name: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw invalid(`\`${name}\` should be a whole number.`);
  return Number(text);
}

/**
 * Returns whether a value means none: saved queries have an empty string for an absent cursor or time, and Go clients the year 1 for an
 * absent time.
 */
function isAbsent(name: string, value: unknown): boolean {
  if (name === 'startTime' || name === 'endTime') return isNoTime(value);
  return value === null || (value === '' && name !== 'apl');
}
