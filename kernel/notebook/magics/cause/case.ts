/** Subject of `%investigate`: a dataset with the fields that its questions need, and a range with the one before it. */
import { writtenName } from '../../../apl/catalog/catalog-written.js';
import { lineField } from '../../../apl/editor/editor-events.js';
import { quotedName } from '../../../apl/syntax/tokens/quote.js';
import { rowTexts } from '../../../result/display/display-text.js';
import { NEEDED_FIELDS } from '../../../result/trace/trace-spans.js';
import { plural, visible } from '../../../text.js';
import { formatTime, MINUTE, parseTime } from '../../../time.js';
import { lastName } from '../../results/result-cache.js';
import { parseInstant, parseRange, resolveRange, TimeRangeError } from '../../time-range.js';
import type { MagicCall, MagicHost, QuerySettings } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';

/** A dataset with the fields that the questions need, and the range, in nanoseconds. */
export interface Case {
  readonly source: string;
  readonly name: string;
  readonly from: bigint;
  readonly to: bigint;
  /** Types of the fields, by name. */
  readonly types: ReadonlyMap<string, string>;
  /** Condition that matches failed events. */
  readonly failed: string | undefined;
  readonly duration: Duration | undefined;
  readonly line: string | undefined;
  readonly trace: string | undefined;
  /** Fields that identify one event or trace, or have more than one value. */
  readonly ids: readonly string[];
  /** Fields that cannot explain a failure: the ids, what failed events share because they failed, and their messages. */
  readonly symptoms: readonly string[];
}

/** Duration of an event: the field, and a numeric expression with its unit, if known. */
export interface Duration {
  readonly field: string;
  readonly number: string;
  readonly unit: string;
}

/** Returns the case of a call; throws MagicError if it lacks a time or a dataset. */
export async function caseOf({ words, magic }: MagicCall, host: MagicHost): Promise<Case> {
  const { session } = host;
  const last = words.at(-1) ?? '';
  const bare = /^\[(.*)\]$/.exec(last)?.[1];
  const when = bare === undefined ? words : words.slice(0, -1);
  const name = bare ?? session.results.named(lastName)?.result.datasetNames[0];
  if (when.length === 0) throw usageError(magic, 'give a time or a range');
  if (name === undefined) throw usageError(magic, "no query has run yet: name a dataset, such as `['logs']`");
  const window = windowOf(when.join(' '), session.now());
  await requireTimes(name, host);
  const source = quotedName(name);
  const { tables } = await host.run(`${source}\n| getschema\n| project ColumnName, ColumnType`);
  const types = new Map(rowTexts(tables[0]).map(([column, type]) => [column ?? '', type ?? '']));
  const texts = [...types.keys()].filter(each => types.get(each) === 'string');
  const line = lineField(texts);
  const ids = [...types].flatMap(([field, type]) => (isId(field, type) ? [field] : []));
  const shared = [...types.keys()].filter(field => isSymptom(field) || field === line);
  return {
    ...{ source, name, types, ...window, failed: failedOf(types), duration: durationOf(types) },
    ...{ line, ids, symptoms: [...new Set([...shared, ...ids])] },
    trace: NEEDED_FIELDS.every(each => types.has(each)) ? 'trace_id' : undefined,
  };
}

/** Throws MagicError if no event of the dataset has a time: all would count in the range, and none before it. */
async function requireTimes(name: string, { session, io }: MagicHost): Promise<void> {
  const [{ rows = 0, firstTime } = {}] = await session.measuredDatasets([name], io.signal);
  if (rows === 0 || firstTime !== undefined) return;
  throw new MagicError(
    `%investigate compares two time ranges, but ${visible(quotedName(name))} has ${plural(rows, 'event')} without a time.`,
    'Import the file again with `--time FIELD --replace` to read times from a field; the import lists the fields that have times.',
  );
}

/** Returns the range of the case, or both ranges, in the syntax of `%time`. */
export function rangeText({ from, to }: Case, which: 'both' | 'own'): string {
  return `${formatTime(which === 'both' ? from - (to - from) : from)}..${formatTime(to)}`;
}

/** Returns the settings of a query over the range of the case, or over both ranges. */
export function settingsOf(asked: Case, which: 'both' | 'own'): QuerySettings {
  return { range: parseRange(rangeText(asked, which)) };
}

const DURATIONS = [
  'duration',
  'req_duration_ms',
  'duration_ms',
  'latency_ms',
  'latency',
  'elapsed_ms',
  'response_time',
];

function durationOf(types: ReadonlyMap<string, string>): Duration | undefined {
  const field = DURATIONS.find(each => types.has(each));
  if (field === undefined) return undefined;
  const name = writtenName(field);
  return types.get(field) === 'timespan'
    ? { field, number: `${name} / 1ms`, unit: ' ms' }
    : { field, number: name, unit: '' };
}

function isSymptom(field: string): boolean {
  return DURATIONS.includes(field) || /(?:^|\.)(?:status|error)(?:[._]|$)/.test(field);
}

function isId(field: string, type: string): boolean {
  return type === 'dynamic' || /(?:_|\.|[a-z](?=I))[iI]d$/.test(field);
}

function failedOf(types: ReadonlyMap<string, string>): string | undefined {
  if (types.get('error') === 'bool') return 'error == true';
  const status = ['status', 'status_code', 'http.status_code'].find(each => types.has(each));
  if (status !== undefined) return `toint(${writtenName(status)}) >= 500`;
  const level = ['level', 'severity', 'severity_text', 'log.level'].find(
    each => types.get(each) === 'string',
  );
  return level === undefined ? undefined : `tolower(${writtenName(level)}) in ("error", "fatal", "critical")`;
}

function windowOf(text: string, now: bigint): Pick<Case, 'from' | 'to'> {
  let at: bigint | undefined;
  try {
    at = parseInstant(text, now);
  } catch (error) {
    if (!(error instanceof TimeRangeError)) throw error;
  }
  if (at !== undefined) return { from: at - 15n * MINUTE, to: at + 15n * MINUTE };
  const { startTime, endTime } = resolveRange(parseRange(text), now);
  return { from: parseTime(startTime) ?? now, to: parseTime(endTime) ?? now };
}
