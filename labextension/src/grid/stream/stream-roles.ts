import { lineField } from '../../../../kernel/apl/editor/editor-events.js';
import { parseTime, SECOND } from '../../../../kernel/time.js';
import type { GridColumn } from '../grid-cells.js';

/** The role of each column of a result in a line of the stream. */
export interface Roles {
  readonly time: GridColumn | undefined;
  readonly level: GridColumn | undefined;
  readonly message: GridColumn | undefined;
  /** All others except the time of ingestion: in the order of the query if it chose one, otherwise most informative first. */
  readonly others: readonly GridColumn[];
}

/** Returns the roles of columns; a hidden column is not part of a line. */
export function rolesOf(columns: readonly GridColumn[]): Roles {
  const times = columns.filter(column => column.times !== undefined);
  const time = times.find(({ name }) => name === '_time') ?? times[0];
  const level = columns.find(({ colors }) => colors === 'severity');
  const texts = columns.filter(({ type }) => type === 'string');
  const name = lineField(texts.map(each => each.name));
  const message = texts.find(each => each.name === name);
  // The time of ingestion is the same throughout an import, and nearly `_time` elsewhere.
  const others = columns.filter(
    each => each !== time && each !== level && each !== message && each.name !== '_sysTime',
  );
  // A query that lists fields does not list the time of ingestion.
  const isWhole = columns.some(each => each.name === '_sysTime');
  return { time, level, message, others: isWhole ? others.toSorted((a, b) => rank(a) - rank(b)) : others };
}

/** Names of fields that say what happened, as whole names, or as their last part. */
const TELLING = new RegExp(
  `^(?:${[
    '(?:http_|response_)?(?:status|code)(?:_code)?',
    'method|verb|uri|url|path|route|endpoint|target|request',
    '(?:[a-z]+_)*(?:duration|latency|elapsed|took)(?:_[a-z]+)?',
    'service(?:[._]name)?|app|logger|error|err|exception(?:[._]\\w+)?',
  ].join('|')})$`,
  'i',
);

/** Names of ids, and of long, rarely read values. */
const TAIL = /(?:^|[._])(?:id|uuid|guid)$|^(?:user_?agent|referr?er|cookie)$/i;

/** Returns the rank of a field if the query chose no order: what happened, then the rest, then ids and maps. */
function rank({ name, type }: GridColumn): number {
  if (TELLING.test(name)) return 0;
  return type === 'dynamic' || TAIL.test(name) ? 2 : 1;
}

/** Times within a second of the line's are from the same event: when it was sent, received or stored. */
const NEAR = SECOND;

/** Formats of log times from which `_time` is read: access logs, syslog and Apache's error log, and others in ISO 8601 order. */
const LOG_TIMES: readonly RegExp[] = [
  /^(?<day>\d\d)\/(?<month>\w{3})\/(?<year>\d{4}):(?<clock>[\d:]{8}) (?<zone>[+-]\d{4})$/,
  /^(?:\w{3} )?(?<month>[A-Z][a-z]{2}) +(?<day>\d\d?) (?<clock>\d\d:\d\d:\d\d(?:\.\d+)?)(?: (?<year>\d{4}))?$/,
  /^(?<year>\d{4})[-/.](?<month>\d\d)[-/.](?<day>\d\d)[ T](?<clock>\d\d:\d\d:\d\d(?:[.,]\d+)?)(?: ?(?<zone>[+-]\d\d:?\d\d|Z|UTC))?$/,
];

/** Returns a log time in ISO 8601; without a year it gets the line's, without a zone it is UTC. */
function isoOf(written: string, lineYear: string): string | undefined {
  const found = LOG_TIMES.map(form => form.exec(written)?.groups).find(groups => groups !== undefined);
  if (found === undefined) return undefined;
  const { day = '', month = '', year = lineYear, clock = '', zone = 'Z' } = found;
  const number = /^\d/.test(month) ? Number(month) : MONTHS.indexOf(month) / 3 + 1;
  const date = `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
  const offset = zone === 'UTC' ? 'Z' : zone.replace(/^(...)(\d\d)$/, '$1:$2');
  return `${date}T${clock}${offset}`;
}

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** Returns true for a value that only repeats the time of its line. */
export function repeatsTime(exact: string, time: string | null | undefined): boolean {
  if (time === undefined || time === null) return false;
  const iso = isoOf(exact, time.slice(0, 4));
  if (iso === undefined) return false;
  const [a, b] = [parseTime(iso), parseTime(time)];
  return a !== undefined && b !== undefined && (a < b ? b - a : a - b) <= NEAR;
}
