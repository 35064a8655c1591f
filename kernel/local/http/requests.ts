import { type ImportOption, importChoices } from '../../api/imports.js';
import {
  type AnnotationContent,
  type ImportRequest,
  isNoTime,
  type QueryRequest,
  readStarredQuery,
  ShapeError,
  type StarredQuery,
} from '../../api/wire.js';
import { present } from '../../present.js';
import { formatTime, isBeyondTime, parseGoDuration, parseTime } from '../../time.js';
import type { DatasetSettings } from '../store/dataset/stored.js';
import { ServiceError } from './service-error.js';

/** Returns the body of a query request; throws a ServiceError (400) that names the wrong member. */
export function readQueryRequest(body: unknown): QueryRequest {
  const object = readObject(body, 'the body');
  checkQuery(object, '');
  const given = Object.entries(object).filter(([name, value]) => !isAbsent(name, value));
  return Object.fromEntries(given) as unknown as QueryRequest;
}

/** Returns the time limit that a request asks for with `queryOptions.timeLimitMs`, in milliseconds; throws ServiceError. */
export function timeLimitOf({ queryOptions }: QueryRequest): number | undefined {
  const limit = queryOptions?.timeLimitMs;
  if (limit === undefined || limit === null) return undefined;
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0 && limit <= mostLimitMs)
    return limit;
  throw invalid('`queryOptions.timeLimitMs` should be a whole number of milliseconds, from 1 to 86400000.');
}

/** A day. */
const mostLimitMs = 86_400_000;

/** Returns the body of a request with a starred query; throws ServiceError (400) that names the wrong member. */
export function readStarredBody(body: unknown): StarredQuery {
  const object = readObject(body, 'the body');
  for (const key of ['kind', 'metadata', 'name', 'query', 'who']) {
    if (object[key] === undefined) throw invalid(`\`${key}\` is missing.`);
  }
  return readWholeStar(object);
}

/** Returns a starred query; members that are not the API's are refused, so that a typo does not go unnoticed. Throws ServiceError. */
export function readWholeStar(value: unknown): StarredQuery {
  const object = readObject(value, 'its content');
  const unknown = Object.keys(object).find(key => !starredMembers.includes(key));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is not a member of a starred query.`);
  if (object.name === '') throw invalid('`name` is empty.');
  checkQuery(readObject(object.query, '`query`'), 'query.');
  try {
    return readStarredQuery(object);
  } catch (error) {
    if (error instanceof ShapeError) throw invalid(`${error.message}.`);
    throw error;
  }
}

/** Returns the body of a request to create an annotation, which is at `now` where it names no time. */
export function readNewAnnotation(body: unknown, now: string): AnnotationContent {
  const change = readAnnotationChange(body);
  const { datasets, type } = change;
  if (!datasets) throw invalid('`datasets` is missing: the datasets on whose charts the annotation appears.');
  if (!type) throw invalid('`type` is missing, such as "deploy".');
  const content = changed({ datasets, time: now, type }, change);
  checkAnnotation(content);
  return content;
}

/** Members to change; null removes one. */
export type AnnotationChange = { readonly [K in keyof AnnotationContent]?: AnnotationContent[K] | null };

/** Returns an annotation with the members of a change, in the order in which the API names them. */
export function changed(before: AnnotationContent, change: AnnotationChange): AnnotationContent {
  const { datasets, time, type, endTime, title, description, url } = { ...before, ...change };
  return {
    datasets: datasets ?? before.datasets,
    time: time ?? before.time,
    ...present({
      endTime: endTime ?? undefined,
      title: title ?? undefined,
      description: description ?? undefined,
      url: url ?? undefined,
    }),
    type: type ?? before.type,
  };
}

/** Returns the annotation in a file; throws ServiceError for anything that a request could not have made. */
export function readWholeAnnotation(value: unknown): AnnotationContent {
  const { time } = readAnnotationChange(readObject(value, 'its content'));
  if (!time) throw invalid('`time` is missing.');
  return readNewAnnotation(value, time);
}

/** Returns the members of an annotation in a request that changes it; null stands for one that is taken away. */
export function readAnnotationChange(body: unknown): AnnotationChange {
  const { id: _, ...members } = readObject(body, 'the body');
  const unknown = Object.keys(members).find(key => !annotationMembers.includes(key));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is not a member of an annotation.`);
  const datasets = members.datasets ?? undefined;
  const type = members.type ?? undefined;
  if (datasets !== undefined && !isNames(datasets))
    throw invalid('`datasets` should be a list of at least one name.');
  if (type !== undefined && (typeof type !== 'string' || !/^[a-z0-9-]{1,64}$/.test(type)))
    throw invalid('`type` should be 1 to 64 lower-case letters, digits and hyphens, such as "deploy".');
  return present({
    datasets,
    type,
    time: readMoment(members.time, 'time') ?? undefined,
    endTime: readMoment(members.endTime, 'endTime'),
    title: readText(members.title, 'title'),
    description: readText(members.description, 'description'),
    url: readUrl(members.url),
  });
}

/** Throws ServiceError (400) for an annotation that ends before it begins. */
export function checkAnnotation({ time, endTime }: AnnotationContent): void {
  if (endTime === undefined || (parseTime(endTime) ?? 0n) > (parseTime(time) ?? 0n)) return;
  throw invalid(`\`endTime\` (${endTime}) should be after \`time\` (${time}).`);
}

const annotationMembers = ['datasets', 'time', 'endTime', 'title', 'description', 'url', 'type'];

function isNames(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every(each => typeof each === 'string' && each !== '')
  );
}

/** A time as RFC 3339; null for one that stands for none. */
function readMoment(value: unknown, name: string): string | null | undefined {
  if (value === undefined) return undefined;
  if (isNoTime(value)) return null;
  const time = typeof value === 'string' ? parseTime(value) : undefined;
  if (time === undefined)
    throw invalid(
      typeof value === 'string' && isBeyondTime(value)
        ? `\`${name}\` should be between 1677-09-22 and 2262-04-11.`
        : `\`${name}\` should be a time, such as 2026-01-31T10:00:00Z.`,
    );
  return formatTime(time);
}

/** Characters of a text of an annotation. */
const longestText = 4096;

function readText(value: unknown, name: string): string | null | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === '') return null;
  if (typeof value !== 'string') throw invalid(`\`${name}\` should be a string.`);
  if (value.length > longestText) throw invalid(`\`${name}\` should have at most 4,096 characters.`);
  return value;
}

/** Only addresses of pages, or parts of them: others, such as `javascript:`, would run where somebody makes a link of them. */
function readUrl(value: unknown): string | null | undefined {
  const url = readText(value, 'url');
  if (typeof url === 'string' && !isPage(url) && !/^[\w./?#&=~+%-]+$/.test(url))
    throw invalid('`url` should be an address that begins with https:// or http://.');
  return url;
}

function isPage(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
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

/** Returns the body of a request to change what is said of a dataset. */
export function readDatasetSettings(body: unknown): DatasetSettings {
  const members = Object.entries(readObject(body, 'the body')).filter(([, value]) => value !== null);
  for (const [name, value] of members) {
    const kind = datasetMembers[name];
    if (kind === undefined) throw invalid(`\`${name}\` is not a member of a dataset.`);
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

/** Those of the API, but for metrics, which are not events. */
const datasetKinds = ['axiom:events:v1', 'otel:traces:v1', 'otel:logs:v1'];

/** Returns the length of time in the body of a request to trim a dataset, in nanoseconds. */
export function readMaxDuration(body: unknown): bigint {
  const { maxDuration } = readObject(body, 'the body');
  const length = typeof maxDuration === 'string' ? parseGoDuration(maxDuration) : undefined;
  if (length === undefined || length < 0n)
    throw invalid('`maxDuration` should be a length of time, such as "36h" or "1h30m".');
  return length;
}

/** Returns the body of a request to import a file. */
export function readImportRequest(body: unknown): ImportRequest {
  const members = readObject(body, 'the body');
  const { path, dataset, replace } = members;
  if (typeof path !== 'string' || path === '') throw invalid('`path` should be the path of a file.');
  if (typeof dataset !== 'string') throw invalid('`dataset` should be the name of a dataset.');
  if (replace !== undefined && typeof replace !== 'boolean')
    throw invalid('`replace` should be true or false.');
  const refuse = ({ member, wanted }: ImportOption) => {
    throw invalid(`\`${member}\` should be ${wanted}.`);
  };
  const choices = importChoices(
    ({ member }) => (members[member] === '' ? undefined : members[member]),
    refuse,
  );
  return { path, dataset, ...choices, ...present({ replace }) };
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

/** Returns the parameters of a request: of one that is given several times, as some clients do, the first. */
export function parametersOf({ query }: { readonly query: unknown }): Parameters {
  const given = Object.entries(query as Record<string, string | readonly string[]>);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'string' ? value : value[0]]),
  );
}

/** Returns a moment from the query string, in nanoseconds since 1970; undefined for one that stands for none. Throws ServiceError. */
export function momentOf(text: string | undefined, name: string): bigint | undefined {
  const moment = readMoment(text, name);
  return typeof moment === 'string' ? parseTime(moment) : undefined;
}

/** Returns a whole number from the query string; throws ServiceError when it is not one. */
export function readCount(text: string | undefined, name: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw invalid(`\`${name}\` should be a whole number.`);
  return Number(text);
}

const starredMembers = ['id', 'dataset', 'kind', 'metadata', 'name', 'query', 'who'];

type MemberKind = 'string' | 'boolean' | 'count' | 'object' | 'strings' | 'orders' | 'results';

const queryMembers: Readonly<Record<string, MemberKind>> = {
  apl: 'string',
  startTime: 'string',
  endTime: 'string',
  cursor: 'string',
  includeCursor: 'boolean',
  includeCursorField: 'boolean',
  defaultLimit: 'count',
  defaultOrder: 'orders',
  libraries: 'strings',
  queryOptions: 'object',
  variables: 'object',
  results: 'results',
};

function checkQuery(query: Record<string, unknown>, prefix: string): void {
  if (typeof query.apl !== 'string' || query.apl.trim() === '') {
    throw invalid(`\`${prefix}apl\` should be the text of a query.`);
  }
  for (const [name, kind] of Object.entries(queryMembers)) {
    const value = query[name];
    if (value !== undefined && value !== null && !isKind(value, kind)) {
      throw invalid(`\`${prefix}${name}\` should be ${kindNames[kind]}.`);
    }
  }
}

/** Saved queries spell an absent cursor or time as an empty text, and clients in Go an absent time as the year 1. */
function isAbsent(name: string, value: unknown): boolean {
  if (name === 'startTime' || name === 'endTime') return isNoTime(value);
  return value === null || (value === '' && name !== 'apl');
}

const kindNames: Readonly<Record<MemberKind, string>> = {
  string: 'a string',
  boolean: 'true or false',
  count: 'a whole number that is not negative',
  object: 'an object',
  strings: 'a list of strings',
  orders: 'a list of {"field": string, "desc": boolean}',
  results: '{"lease": string, "tables": {name: {"id": string, "rowField": string}}}',
};

function isKind(value: unknown, kind: MemberKind): boolean {
  switch (kind) {
    case 'string':
    case 'boolean':
      return typeof value === kind;
    case 'count':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case 'object':
      return isObject(value);
    case 'strings':
      return Array.isArray(value) && value.every(each => typeof each === 'string');
    case 'orders':
      return Array.isArray(value) && value.every(isOrder);
    case 'results':
      return isObject(value) && typeof value.lease === 'string' && isTables(value.tables);
  }
}

function isTables(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isTable);
}

function isTable(value: unknown): boolean {
  if (!isObject(value) || typeof value.id !== 'string') return false;
  return value.rowField === undefined || typeof value.rowField === 'string';
}

function isOrder(value: unknown): boolean {
  return isObject(value) && typeof value.field === 'string' && typeof value.desc === 'boolean';
}

function readObject(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw invalid(`${what[0]?.toUpperCase()}${what.slice(1)} should be a JSON object.`);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): ServiceError {
  return new ServiceError(400, 'invalid-request', message);
}
