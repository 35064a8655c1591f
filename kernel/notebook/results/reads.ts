import { DataType } from 'apache-arrow';
import { isOwnService } from '../../api/profile.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';
import { AplKernelError } from '../../errors.js';
import { exactInt64 } from '../../result/display/display-text.js';
import type { Notice, QueryResult } from '../../result/result.js';
import { shortfallsOf } from '../../result/shortfall.js';
import { formatTime, parseTime } from '../../time.js';
import type { SchemaCache } from '../schema-cache.js';
import type { Session } from '../session.js';
import type { TimeRange } from '../time-range.js';
import { type CachedResult, lastName, type ResultCache } from './result-cache.js';
import type { ReadTables } from './sent.js';

/** The cached results that a query reads, by name, and the names of the remaining tables that it reads. */
export interface Reads {
  readonly results: ReadonlyMap<string, CachedResult>;
  readonly datasets: readonly string[];
}

/** A query names a result that the kernel no longer has, or that the query's service cannot read. */
class ResultError extends AplKernelError {
  constructor(message: string, hint: string) {
    super('result', message, { hint });
  }
}

/** The results that a query can name. */
export interface Names {
  readonly results: ResultCache;
}

/**
 * Returns the tables that a query reads by name. A bare name is resolved first as one of its own `let` tables, then a cached result,
 * then a dataset; a quoted name in brackets is always a dataset. Throws ResultError for a result that was dropped to free memory,
 * and for the last result before there is one.
 */
export function readsOf({ tree }: QueryText, names: Names): Reads {
  const own = new Set(tree.statements.flatMap(each => (each.kind === 'let' ? [each.name.name] : [])));
  const results = new Map<string, CachedResult>();
  const datasets: string[] = [];
  const read = (name: string, quoted: boolean, isTable: boolean) => {
    if (own.has(name)) return;
    const cached = quoted ? undefined : names.results.named(name);
    if (cached !== undefined) results.set(name, cached);
    else if (!quoted && names.results.wasEvicted(name)) throw evicted(name);
    else if (!quoted && isTable && name === lastName) throw noneYet();
    else if (isTable) datasets.push(name);
  };
  visitQuery(tree, {
    source: source => void (source.kind === 'dataset' && read(source.name.name, source.name.quoted, true)),
  });
  for (const each of tree.statements)
    if (each.kind === 'let' && 'kind' in each.value && each.value.kind === 'name')
      read(each.value.name, each.value.quoted, false);
  return { results, datasets };
}

/** Throws ResultError for a query that reads both results and datasets on a service that cannot receive results. */
export async function checkTogether({ results, datasets }: Reads, profiles: Profiles): Promise<void> {
  const [dataset] = datasets;
  const [result] = results.keys();
  if (dataset === undefined || result === undefined) return;
  const { profileName } = profiles;
  const endpoint = await profiles.endpoint(profileName);
  if (endpoint !== undefined && !isOwnService(endpoint)) throw apart(dataset, result, profileName);
}

/** The parts of a session that identify the service of a query; `local` has no endpoint. */
type Profiles = Pick<Session, 'profileName' | 'endpoint'>;

/** Returns the error for a query of a dataset and a result: the dataset's service lacks the result, which must not be sent there. */
function apart(dataset: string, result: string, profile: string): ResultError {
  return new ResultError(
    `\`${dataset}\` is a dataset of the profile ${profile}, and \`${result}\` is a result in this kernel: no service has both`,
    `First name the part that reads the dataset, such as \`part << ['${dataset}'] | …\`, then join \`part\` and \`${result}\`.`,
  );
}

function evicted(name: string): ResultError {
  return new ResultError(
    `the result \`${name}\` was dropped to free memory`,
    `Run its query again. \`%results --budget\` sets the memory for results; \`['${name}']\` is the dataset of that name.`,
  );
}

function noneYet(): ResultError {
  return new ResultError(
    `there is no last result \`${lastName}\` yet`,
    'Run the cells above again: a new kernel has no results.',
  );
}

/** Returns the source datasets of a query's rows, including those behind the results that it reads. */
export function sourcesOf({ results, datasets }: Reads): readonly string[] {
  const behind = [...results.values()].flatMap(({ result }) => result.sources ?? []);
  return [...new Set([...datasets, ...behind])];
}

/** Returns the results that a query reads, for the session to send to the local service. */
export function tablesOf({ results, datasets }: Reads): ReadTables {
  const sent = new Map([...results].map(([name, cached]) => [name, { cached }]));
  return { results: sent, areAlone: sent.size > 0 && datasets.length === 0 };
}

/**
 * Returns the time range of a query that reads only results, from the earliest start to the latest end of their windows, so that
 * bins and charts fit. Undefined for a query that reads anything else.
 */
export function rangeOfReads({ results, datasets }: Reads): TimeRange | undefined {
  if (results.size === 0 || datasets.length > 0) return undefined;
  const windows = [...results.values()].map(({ result }) => windowOf(result));
  const starts = windows.flatMap(({ start = [] }) => start);
  const ends = windows.flatMap(({ end = [] }) => end);
  if (starts.length === 0 || ends.length === 0) return undefined;
  const start = starts.reduce((a, b) => (a < b ? a : b));
  const end = ends.reduce((a, b) => (a > b ? a : b));
  return {
    start: { kind: 'at', time: start },
    end: { kind: 'at', time: end },
    label: `${formatTime(start)} .. ${formatTime(end)}`,
  };
}

/** Returns the window that was searched for a result; if a limit truncated its rows, the window from the first to the last row. */
function windowOf(result: QueryResult): {
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
} {
  const isCut = shortfallsOf(result).some(({ kind }) => kind === 'cut');
  const { startTime, endTime } = result.provenance;
  return (
    (isCut ? windowOfRows(result) : undefined) ?? { start: parseTime(startTime), end: parseTime(endTime) }
  );
}

/** Returns the window of the rows' times, including the last bin; undefined if they have none. */
function windowOfRows({
  tables: [table],
}: QueryResult): { readonly start: bigint; readonly end: bigint } | undefined {
  const place = table?.data.schema.fields.findIndex(
    ({ name, type }) => name === '_time' && DataType.isTimestamp(type),
  );
  const vector = place === undefined ? null : table?.data.getChildAt(place);
  if (table === undefined || vector === null || vector === undefined) return undefined;
  let start: bigint | undefined;
  let end: bigint | undefined;
  for (let row = 0; row < vector.length; row++) {
    if (!vector.isValid(row)) continue;
    const time = exactInt64(vector, row);
    if (start === undefined || time < start) start = time;
    if (end === undefined || time > end) end = time;
  }
  if (start === undefined || end === undefined) return undefined;
  const { buckets } = table.info;
  const length = buckets?.field === '_time' ? BigInt(Math.round(buckets.size)) : 1n;
  return { start, end: end + length };
}

/** Returns the profiles whose data a query reads: those of its results, and the active one if it also reads datasets. */
export function profileOfReads(active: string, { results, datasets }: Reads): string {
  const profiles = new Set([...results.values()].map(({ result }) => result.provenance.profile));
  if (profiles.size === 0 || datasets.length > 0) profiles.add(active);
  return [...profiles].join(' and ');
}

/** Timeout of the dataset names for the notice about shadowed datasets, in milliseconds. */
const timeoutMs = 1_000;

/** Returns the notices for a query over results: names shared with datasets, and tables that the time range does not apply to. */
export async function readNotices(
  { results, datasets }: Reads,
  schema: Pick<SchemaCache, 'knownDatasets'>,
): Promise<readonly Notice[]> {
  if (results.size === 0) return [];
  const known = new Set((await schema.knownDatasets(timeoutMs)).map(({ name }) => name));
  const shadowed = [...results.keys()].filter(name => known.has(name));
  const notices: Notice[] = shadowed.map(name => ({
    level: 'info',
    text: `\`${name}\` is the named result; the dataset is \`['${name}']\`.`,
  }));
  if (datasets.length === 0) return notices;
  const names = [...results.keys()].map(name => `\`${name}\``).join(', ');
  return [
    ...notices,
    { level: 'info', text: `The time range applies only to the datasets; all rows of ${names} are read.` },
  ];
}
