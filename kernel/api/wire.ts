import { AplKernelError } from '../errors.js';
import { present } from '../present.js';
import { withoutCredentials } from '../text.js';
import { formatTime, parseTime } from '../time.js';
import type { ImportChoices } from './api-imports.js';
import type { Listed } from './api-notices.js';
import type { ImportPreview } from './api-preview.js';

/**
 * JSON shapes of the query API (https://axiom.co/docs/restapi/introduction), shared by the client that reads them and the local
 * service that writes them. Names are spelled as in the API.
 */

/** Types of a result field. `timespan` cells are integer nanoseconds; `unknown` and unions such as `integer|float` allow any JSON. */
export type WireType =
  | 'datetime'
  | 'string'
  | 'boolean'
  | 'integer'
  | 'float'
  | 'timespan'
  | 'dynamic'
  | 'array'
  | 'map'
  | 'unknown'
  | (string & {});

export interface QueryRequest {
  readonly apl: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly cursor?: string;
  readonly includeCursor?: boolean;
  readonly includeCursorField?: boolean;
  readonly defaultLimit?: number;
  readonly defaultOrder?: readonly Order[];
  readonly libraries?: readonly string[];
  /** Local service only: `now`, the reference time of `now()` and `ago()`. */
  readonly queryOptions?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Local service only: results of the kernel that the query may name like datasets. */
  readonly results?: WantedResults;
}

/** How a response arrives. */
export interface AnswerOptions {
  /** As JSON, whose cells can be combined with those of other responses, also on this machine. */
  readonly asJson?: true;
  /** Receives a long JSON body as it arrives, to avoid buffering it; the body of the response is then empty. */
  readonly receive?: (body: AsyncIterable<Uint8Array>) => Promise<void>;
}

/** Options of a request besides its query, range, limit and variables. */
export interface RequestOptions
  extends Pick<
    QueryRequest,
    'cursor' | 'includeCursor' | 'includeCursorField' | 'defaultOrder' | 'libraries' | 'queryOptions'
  > {
  /** Bypasses the cache; sent as a URL parameter. */
  readonly nocache?: true;
}

/** Media type of Arrow IPC streams: results sent by a kernel, and the local service's responses to kernels. */
export const arrowType = 'application/vnd.apache.arrow.stream';

/** Results that a kernel has sent under its lease, by their names in a query. */
export interface WantedResults {
  readonly lease: string;
  /** `rowField` adds a field with the number of each row, from 0. */
  readonly tables: Readonly<Record<string, { readonly id: string; readonly rowField?: string }>>;
}

export interface Order {
  readonly field: string;
  readonly desc: boolean;
}

export interface FieldMeta {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly hidden: boolean;
  readonly description: string;
}

export interface ResultField {
  readonly name: string;
  readonly type: WireType;
  readonly agg?: {
    readonly name: string;
    readonly args?: readonly unknown[];
    readonly fields?: readonly string[];
  };
}

export interface ResultTable {
  readonly name: string;
  readonly sources: readonly { readonly name: string }[];
  readonly fields: readonly ResultField[];
  readonly order: readonly Order[];
  readonly groups: readonly { readonly name: string }[];
  readonly range?: { readonly field: string; readonly start: string; readonly end: string };
  /** `size` is in nanoseconds if the field is a timestamp, else a number. */
  readonly buckets?: { readonly field: string; readonly size: number };
  /** Column-major: one array per field, all of the same length. */
  readonly columns: readonly (readonly unknown[])[];
}

export interface StatusMessage {
  readonly priority: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly count: number;
  readonly code: string;
  readonly msg: string;
}

/** Code of a message that the rows examined and matched are unknown. */
export const notCountedCode = 'not_counted';

export interface QueryStatus {
  /** Microseconds. */
  readonly elapsedTime: number;
  readonly minCursor?: string;
  readonly maxCursor?: string;
  readonly blocksExamined: number;
  readonly blocksCached: number;
  readonly blocksMatched: number;
  readonly rowsExamined: number;
  readonly rowsMatched: number;
  readonly numGroups: number;
  readonly isPartial: boolean;
  readonly isEstimate?: boolean;
  readonly cacheStatus: number;
  readonly minBlockTime: string;
  readonly maxBlockTime: string;
  readonly messages?: readonly StatusMessage[];
}

export interface TabularResult {
  readonly format: 'tabular';
  readonly status: QueryStatus;
  readonly tables: readonly ResultTable[];
  readonly datasetNames: readonly string[];
  readonly fieldsMetaMap: Readonly<Record<string, readonly FieldMeta[]>>;
}

/** The older response format: events under `matches`, or groups under `buckets`. */
export interface LegacyResult {
  readonly request: QueryRequest;
  readonly status: QueryStatus;
  readonly matches: readonly LegacyMatch[];
  readonly buckets: {
    /** One per time bin, in order. */
    readonly series: readonly {
      readonly startTime: string;
      readonly endTime: string;
      readonly groups: readonly LegacyGroup[];
    }[];
    readonly totals: readonly LegacyGroup[];
  };
  readonly datasetNames: readonly string[];
}

export interface LegacyMatch {
  /** {@link noTime} if the query yields no timestamp, as in every member that is a timestamp. */
  readonly _time: string;
  readonly _sysTime: string;
  readonly _rowId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `id` is the same in every series and in the totals of one response; `op` is the name of the aggregated field. */
export interface LegacyGroup {
  readonly id: number;
  readonly group: Readonly<Record<string, unknown>>;
  readonly aggregations: readonly { readonly op: string; readonly value: unknown }[];
}

export interface ErrorBody {
  readonly code: number | string;
  readonly message: string;
  readonly detail?: {
    readonly errorType?: string;
    readonly compileErrorCode?: string;
    /** One-based line and column in the APL. */
    readonly line?: number;
    readonly column?: number;
    readonly message?: string;
    /** Suggested correction; only the local service sends it. */
    readonly hint?: string;
    /** Further errors in the same APL, in order, at most ten; only the local service sends them. */
    readonly others?: readonly CompileError[];
  };
}

/** An error in the APL at a one-based line and column. */
export interface CompileError {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

export interface StarredQuery {
  readonly id?: string;
  readonly dataset?: string;
  readonly kind: 'apl';
  readonly name: string;
  readonly who: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly query: QueryRequest;
}

/**
 * A mark on the charts of some datasets, such as a deployment: at a timestamp, or over an interval if it has an end. Times are RFC
 * 3339.
 */
export interface Annotation {
  readonly id: string;
  readonly datasets: readonly string[];
  readonly time: string;
  readonly endTime?: string;
  readonly title?: string;
  readonly description?: string;
  readonly url?: string;
  /** Lowercase letters, digits and hyphens, such as `deploy`. */
  readonly type: string;
}

/** An annotation without its id, which the service assigns. */
export type AnnotationContent = Omit<Annotation, 'id'>;

export interface DatasetInfo {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly created?: string;
  readonly who?: string;
  readonly kind?: string;
  /** Local service only; absent for its samples, which are computed. */
  readonly rows?: number;
  /** RFC 3339 timestamps of the first and last event; absent if there is none. */
  readonly firstTime?: string;
  readonly lastTime?: string;
  /** Location of its rows, such as `s3://bucket/prefix/`, if it is read in place. */
  readonly place?: string;
  /** Problems with its files, as sentences without a period; local service only. */
  readonly problems?: readonly string[];
}

export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export interface IngestStatus {
  readonly ingested: number;
  readonly failed: number;
  readonly failures: readonly { readonly timestamp: string; readonly error: string }[];
  readonly processedBytes: number;
}

/** Progress of a query on the local service: the response to `GET /v1/local/queries/ID`. */
export type QueryProgress =
  /** Waits in the queue behind `before` queries. */
  | { readonly state: 'waiting'; readonly before: number }
  /** Retries something it needs that does not respond yet; the reason is a sentence without a period. */
  | { readonly state: 'held up'; readonly reason: string }
  /** Reads about `rows` rows; `share` is the fraction done, absent if the engine cannot tell. */
  | { readonly state: 'running'; readonly rows: number; readonly share?: number };

/** Body of `POST /v1/local/import`, for the local service only; unset options are detected. */
export interface ImportRequest extends ImportChoices {
  /** A file, a directory, or a pattern such as `app.log*`, whose files all go into one dataset. */
  readonly path: string;
  readonly dataset: string;
  /** Whether to replace the rows of the dataset (default: append). */
  readonly replace?: boolean;
  /** Whether to copy the objects of a bucket to this machine and import them as files (default: read in place). */
  readonly copy?: boolean;
}

/** Body of `POST /v1/local/publish`, for the local service only. */
export interface PublishRequest {
  readonly dataset: string;
  /** Address in a bucket, such as `s3://bucket/prefix`. */
  readonly path: string;
}

/** Report of a publication to a bucket. */
export interface PublishReport {
  readonly dataset: string;
  /** Such as `s3://bucket/prefix/`. */
  readonly place: string;
  /** The days written this time, their rows, and the bytes of their objects. */
  readonly days: number;
  readonly rows: number;
  readonly bytes: number;
  /** The days present in total. */
  readonly daysThere: number;
  readonly notes: readonly string[];
}

/** Returns the dataset that files are imported into by default: `access 2026.log.gz` -> `access-2026`, `logs/*.ndjson` -> `logs`. */
export function datasetNameOf(file: string): string {
  const named = withoutCredentials(file)
    .split(/[\\/]/)
    .filter(part => !/^(?:\.{0,2}|[*?.]+(?:\.\w+)*[*?]*)$/.test(part));
  const name = (named.at(-1) ?? '')
    .replace(/[*?]+/g, '')
    .replace(/\.+$/, '')
    .replace(/(\.(csv|tsv|json|ndjson|jsonl|parquet|xlsx|xlsm|zip|tar|tgz|gz|zst|txt|log))+$/i, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-');
  return name.replace(/^-+|-+$/g, '') || 'imported';
}

export interface ImportReport {
  readonly dataset: string;
  readonly rows: number;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  /** The field that provides the timestamps; empty if none does. */
  readonly timeField: string;
  readonly notes: readonly string[];
  /** Rows of the dataset before and after the import. */
  readonly rowsBefore: number;
  readonly rowsNow: number;
  /** RFC 3339 timestamps of the dataset's first and last event; absent if no event has one. */
  readonly firstTime?: string;
  readonly lastTime?: string;
  /** Location of the rows, if they are read in place. */
  readonly place?: string;
}

// ---- checks: JSON of unknown shape in, a typed value out, or a ShapeError that names the place ----

/** A JSON value does not have the shape that the API specifies; the message names the position and the expected shape. */
export class ShapeError extends AplKernelError {
  constructor(path: string, expected: string, found: unknown) {
    super('unexpected-shape', `${path} should be ${expected}, not ${kindOf(found)}`);
  }
}

/** Returns the error body; undefined if the value is not one. */
export function readErrorBody(value: unknown): ErrorBody | undefined {
  if (!isRecord(value)) return undefined;
  const { code, message, error, detail } = value;
  const text = typeof message === 'string' ? message : typeof error === 'string' ? error : undefined;
  if (text === undefined) return undefined;
  return {
    code: typeof code === 'number' || typeof code === 'string' ? code : '',
    message: text,
    ...present({ detail: isRecord(detail) ? readDetail(detail) : undefined }),
  };
}

/** Returns a starred query with every required member; drops members that are not in the API. */
export function readStarredQuery(value: unknown, path = 'starred query'): StarredQuery {
  const object = record(value, path);
  const query = record(object.query, `${path}.query`);
  if (object.kind !== undefined && object.kind !== 'apl')
    throw new ShapeError(`${path}.kind`, '"apl"', object.kind);
  return {
    ...optionalString(object, 'id', path),
    ...optionalString(object, 'dataset', path),
    kind: 'apl',
    name: string(object.name, `${path}.name`),
    who: string(object.who ?? '', `${path}.who`),
    metadata: strings(object.metadata ?? {}, `${path}.metadata`),
    query: { ...query, apl: string(query.apl, `${path}.query.apl`) },
  };
}

/** Returns the starred queries of a listing; skips invalid ones, with a notice. */
export function readStarredQueries(value: unknown): Listed<StarredQuery> {
  return listed(value, 'starred queries', readStarredQuery);
}

/** Returns an annotation; treats an empty string, and an end that is null or Go's zero time, as absent, since services write them so. */
export function readAnnotation(value: unknown, path = 'annotation'): Annotation {
  const object = record(value, path);
  const { endTime } = object;
  return {
    id: string(object.id, `${path}.id`),
    datasets: list(object.datasets, `${path}.datasets`).map((name, index) =>
      string(name, `${path}.datasets[${index}]`),
    ),
    time: timeText(object.time, `${path}.time`),
    ...present({ endTime: isNoTime(endTime) ? undefined : timeText(endTime, `${path}.endTime`) }),
    ...optionalText(object, 'title', path),
    ...optionalText(object, 'description', path),
    ...optionalText(object, 'url', path),
    type: string(object.type, `${path}.type`),
  };
}

/** Returns the annotations of a listing; skips invalid ones, with a notice. */
export function readAnnotations(value: unknown): Listed<Annotation> {
  return listed(value, 'annotations', readAnnotation);
}

/** Go's zero time, sent for an absent time. */
export const noTime = '0001-01-01T00:00:00Z';

/** Returns whether a time in a request or a response is absent: clients in Go send the year 1 instead. */
export function isNoTime(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === noTime;
}

/** Returns the datasets of a listing; skips invalid ones, with a notice. */
export function readDatasets(value: unknown): Listed<DatasetInfo> {
  return listed(value, 'datasets', readDataset);
}

/** Returns one dataset. */
export function readDataset(value: unknown, path = 'dataset'): DatasetInfo {
  const object = record(value, path);
  const name = string(object.name ?? object.id, `${path}.name`);
  return {
    id: string(object.id ?? name, `${path}.id`),
    name,
    description: string(object.description ?? '', `${path}.description`),
    ...optionalString(object, 'created', path),
    ...optionalString(object, 'who', path),
    ...optionalString(object, 'kind', path),
    ...present({ rows: object.rows === undefined ? undefined : number(object.rows, `${path}.rows`) }),
    ...optionalString(object, 'firstTime', path),
    ...optionalString(object, 'lastTime', path),
    ...optionalString(object, 'place', path),
    ...present({ problems: problemsIn(object.problems, `${path}.problems`) }),
  };
}

function problemsIn(value: unknown, path: string): readonly string[] | undefined {
  return value === undefined ? undefined : list(value, path).map(each => string(each, path));
}

/** Returns the fields of a dataset; skips invalid ones, with a notice. */
export function readFields(value: unknown): Listed<FieldMeta> {
  return listed(value, 'fields', (item, path) => {
    const object = record(item, path);
    return {
      name: string(object.name, `${path}.name`),
      type: string(object.type ?? '', `${path}.type`),
      unit: string(object.unit ?? '', `${path}.unit`),
      hidden: object.hidden === true,
      description: string(object.description ?? '', `${path}.description`),
    };
  });
}

/** Returns the user of a token. */
export function readUser(value: unknown): User {
  const object = record(value, 'user');
  return {
    id: string(object.id, 'user.id'),
    name: string(object.name ?? '', 'user.name'),
    email: string(object.email ?? '', 'user.email'),
  };
}

/** Returns the local service's report of an import. */
export function readImportReport(value: unknown): ImportReport {
  const object = record(value, 'import report');
  return {
    dataset: string(object.dataset, 'import report.dataset'),
    rows: number(object.rows, 'import report.rows'),
    fields: list(object.fields, 'import report.fields').map((item, index) => {
      const path = `import report.fields[${index}]`;
      const field = record(item, path);
      return { name: string(field.name, `${path}.name`), type: string(field.type, `${path}.type`) };
    }),
    timeField: string(object.timeField ?? '', 'import report.timeField'),
    notes: list(object.notes ?? [], 'import report.notes').map((note, index) =>
      string(note, `import report.notes[${index}]`),
    ),
    rowsBefore: number(object.rowsBefore, 'import report.rowsBefore'),
    rowsNow: number(object.rowsNow, 'import report.rowsNow'),
    ...optionalString(object, 'firstTime', 'import report'),
    ...optionalString(object, 'lastTime', 'import report'),
    ...optionalString(object, 'place', 'import report'),
  };
}

/** Returns the local service's report of a publication to a bucket. */
export function readPublishReport(value: unknown): PublishReport {
  const at = 'publish report';
  const object = record(value, at);
  return {
    dataset: string(object.dataset, `${at}.dataset`),
    place: string(object.place, `${at}.place`),
    days: number(object.days, `${at}.days`),
    rows: number(object.rows, `${at}.rows`),
    bytes: number(object.bytes, `${at}.bytes`),
    daysThere: number(object.daysThere, `${at}.daysThere`),
    notes: list(object.notes, `${at}.notes`).map((note, index) => string(note, `${at}.notes[${index}]`)),
  };
}

/** Returns the local service's preview of an import. */
export function readImportPreview(value: unknown): ImportPreview {
  const at = 'import preview';
  const object = record(value, at);
  const format = record(object.format, `${at}.format`);
  const problem = object.problem === undefined ? undefined : record(object.problem, `${at}.problem`);
  return {
    file: string(object.file, `${at}.file`),
    dataset: string(object.dataset, `${at}.dataset`),
    format: {
      name: string(format.name, `${at}.format.name`),
      label: string(format.label, `${at}.format.label`),
    },
    rows: number(object.rows, `${at}.rows`),
    isWhole: object.isWhole === true,
    about: number(object.about, `${at}.about`),
    fields: list(object.fields, `${at}.fields`).map((item, index) => {
      const path = `${at}.fields[${index}]`;
      const { name, type, values } = record(item, path);
      return {
        name: string(name, `${path}.name`),
        type: string(type, `${path}.type`),
        values: list(values, `${path}.values`).map(each =>
          each === null ? null : string(each, `${path}.values`),
        ),
      };
    }),
    timeField: string(object.timeField, `${at}.timeField`),
    notes: list(object.notes, `${at}.notes`).map((note, index) => string(note, `${at}.notes[${index}]`)),
    ...present({
      problem: problem && {
        message: string(problem.message, `${at}.problem.message`),
        ...optionalString(problem, 'hint', `${at}.problem`),
      },
    }),
  };
}

/** Returns the progress of a query. */
export function readProgress(value: unknown): QueryProgress {
  const object = record(value, 'progress');
  if (object.state === 'waiting')
    return { state: 'waiting', before: number(object.before, 'progress.before') };
  if (object.state === 'held up')
    return { state: 'held up', reason: string(object.reason, 'progress.reason') };
  const share = object.share === undefined ? undefined : number(object.share, 'progress.share');
  return { state: 'running', rows: number(object.rows, 'progress.rows'), ...present({ share }) };
}

function readDetail(detail: Record<string, unknown>): NonNullable<ErrorBody['detail']> {
  const { errorType, compileErrorCode, line, column, message, hint, others } = detail;
  const errors = Array.isArray(others) ? others.flatMap(readCompileError) : [];
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const place = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : undefined);
  return present({
    errorType: text(errorType),
    compileErrorCode: text(compileErrorCode),
    line: place(line),
    column: place(column),
    message: text(message),
    hint: text(hint),
    others: errors.length > 0 ? errors : undefined,
  });
}

/** Returns an error with a position, and drops anything else. */
function readCompileError(value: unknown): readonly CompileError[] {
  if (!isRecord(value)) return [];
  const { line, column, message, hint } = value;
  if (!Number.isSafeInteger(line) || !Number.isSafeInteger(column) || typeof message !== 'string') return [];
  const hinted = typeof hint === 'string' ? { hint } : {};
  return [{ line: line as number, column: column as number, message, ...hinted }];
}

function optionalString<K extends string>(
  object: Record<string, unknown>,
  key: K,
  path: string,
): { readonly [P in K]?: string } {
  const value = object[key];
  if (value === undefined || value === null) return {};
  return { [key]: string(value, `${path}.${key}`) } as { readonly [P in K]?: string };
}

/** Like `optionalString`, but an empty string is absent too. */
function optionalText<K extends string>(
  object: Record<string, unknown>,
  key: K,
  path: string,
): { readonly [P in K]?: string } {
  return object[key] === '' ? {} : optionalString(object, key, path);
}

function timeText(value: unknown, path: string): string {
  const time = parseTime(string(value, path));
  if (time === undefined) throw new ShapeError(path, 'a time', value);
  return formatTime(time);
}

function strings(value: unknown, path: string): Readonly<Record<string, string>> {
  const entries = Object.entries(record(value, path));
  return Object.fromEntries(entries.map(([key, item]) => [key, string(item, `${path}.${key}`)]));
}

function record(value: unknown, path: string): Record<string, unknown> {
  if (!isRecord(value)) throw new ShapeError(path, 'an object', value);
  return value;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new ShapeError(path, 'an array', value);
  return value;
}

function listed<T>(value: unknown, path: string, read: (value: unknown, path: string) => T): Listed<T> {
  const items: T[] = [];
  const odd: string[] = [];
  for (const [index, item] of list(value, path).entries())
    try {
      items.push(read(item, `${path}[${index}]`));
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      odd.push(`Left out: ${error.message}.`);
    }
  const more = odd.length - NAMED_ENTRIES;
  const notices = odd.slice(0, NAMED_ENTRIES);
  return { items, notices: more > 0 ? [...notices, `Left out: ${more} more of the ${path}.`] : notices };
}

/** Maximum invalid entries of a listing to name. */
const NAMED_ENTRIES = 5;

function string(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new ShapeError(path, 'a string', value);
  return value;
}

function number(value: unknown, path: string): number {
  if (typeof value !== 'number') throw new ShapeError(path, 'a number', value);
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return `a ${typeof value}`;
}
