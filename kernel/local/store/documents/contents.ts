import {
  type AnnotationContent,
  readStarredQuery,
  ShapeError,
  type StarredQuery,
} from '../../../api/wire.js';
import { present } from '../../../present.js';
import { parseTime } from '../../../time.js';
import { checkQuery, invalid, readObject, readTimestamp } from './document-members.js';

/** Parses a starred query. Unknown members are errors, so that a typo does not go unnoticed. Throws LocalError. */
export function readWholeStar(value: unknown): StarredQuery {
  const object = readObject(value, 'its content');
  const unknown = Object.keys(object).find(key => !starredMembers.includes(key));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is not a known property of a starred query.`);
  if (object.name === '') throw invalid('`name` is empty.');
  checkQuery(readObject(object.query, '`query`'), 'query.');
  try {
    return readStarredQuery(object);
  } catch (error) {
    if (error instanceof ShapeError) throw invalid(`${error.message}.`);
    throw error;
  }
}

const starredMembers = ['id', 'dataset', 'kind', 'metadata', 'name', 'query', 'who'];

/** Parses the body of a request to create an annotation, at `now` unless it has a time. */
export function readNewAnnotation(body: unknown, now: string): AnnotationContent {
  const change = readAnnotationChange(body);
  const { datasets, type } = change;
  if (!datasets)
    throw invalid('`datasets` is missing: list the datasets whose charts should show the annotation.');
  if (!type) throw invalid('`type` is missing, such as "deploy".');
  const content = changed({ datasets, time: now, type }, change);
  checkAnnotation(content);
  return content;
}

/** Members to change; null removes one. */
export type AnnotationChange = { readonly [K in keyof AnnotationContent]?: AnnotationContent[K] | null };

/** Applies a change to an annotation; the members are in the order of the API. */
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

/** Parses the annotation in a file; throws LocalError for content that no request could have created. */
export function readWholeAnnotation(value: unknown): AnnotationContent {
  const { time } = readAnnotationChange(readObject(value, 'its content'));
  if (!time) throw invalid('`time` is missing.');
  return readNewAnnotation(value, time);
}

/** Parses the members of an annotation in a change request; null removes one. */
export function readAnnotationChange(body: unknown): AnnotationChange {
  const { id: _, ...members } = readObject(body, 'the body');
  const unknown = Object.keys(members).find(key => !annotationMembers.includes(key));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is not a known property of an annotation.`);
  const datasets = members.datasets ?? undefined;
  const type = members.type ?? undefined;
  if (datasets !== undefined && !isNames(datasets))
    throw invalid('`datasets` should be a list of at least one name.');
  if (type !== undefined && (typeof type !== 'string' || !/^[a-z0-9-]{1,64}$/.test(type)))
    throw invalid('`type` should be 1 to 64 lowercase letters, digits and hyphens, such as "deploy".');
  return present({
    datasets,
    type,
    time: readTimestamp(members.time, 'time') ?? undefined,
    endTime: readTimestamp(members.endTime, 'endTime'),
    title: readText(members.title, 'title'),
    description: readText(members.description, 'description'),
    url: readUrl(members.url),
  });
}

/** Throws LocalError (`invalid`) for an annotation that ends before it begins. */
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

/** Maximum length of a string in an annotation. */
const longestText = 4096;

function readText(value: unknown, name: string): string | null | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === '') return null;
  if (typeof value !== 'string') throw invalid(`\`${name}\` should be a string.`);
  if (value.length > longestText) throw invalid(`\`${name}\` should have at most 4,096 characters.`);
  return value;
}

/** Accepts only web addresses and relative references: others, such as `javascript:`, would run if rendered as a link. */
function readUrl(value: unknown): string | null | undefined {
  const url = readText(value, 'url');
  if (typeof url === 'string' && !isPage(url) && !/^[\w./?#&=~+%-]+$/.test(url))
    throw invalid('`url` should be a URL that begins with https:// or http://.');
  return url;
}

function isPage(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}
