import { lineField } from '../../../../kernel/apl/editor/events.js';
import { parseTime, SECOND } from '../../../../kernel/time.js';
import type { GridColumn } from '../cells.js';

/** What the columns of a result are to a line of the stream. */
export interface Roles {
  readonly time: GridColumn | undefined;
  readonly level: GridColumn | undefined;
  readonly message: GridColumn | undefined;
  /** All others but the time of storing, in their order. */
  readonly others: readonly GridColumn[];
}

/** Returns what columns are to a line: a column that is hidden is none of it. */
export function rolesOf(columns: readonly GridColumn[]): Roles {
  const times = columns.filter(column => column.times !== undefined);
  const time = times.find(({ name }) => name === '_time') ?? times[0];
  const level = columns.find(({ colors }) => colors === 'severity');
  const texts = columns.filter(({ type }) => type === 'string');
  const name = lineField(texts.map(each => each.name));
  const message = texts.find(each => each.name === name);
  // When a service stored an event is the same in a whole import, and nearly `_time` elsewhere.
  const others = columns.filter(
    each => each !== time && each !== level && each !== message && each.name !== '_sysTime',
  );
  return { time, level, message, others };
}

/** Times within a second of that of the line are those of its way: when it was sent, received or stored. */
const NEAR = SECOND;

/** The time of an access log, from which `_time` is read: `17/May/2015:10:05:03 +0000`. */
const ACCESS_TIME = /^(\d\d)\/(\w{3})\/(\d{4}):([\d:]{8}) ([+-]\d\d)(\d\d)$/;

function isoOf([, day, month = '', year, clock, hours, minutes]: readonly string[]): string {
  const number = MONTHS.indexOf(month) / 3 + 1;
  return `${year}-${String(number).padStart(2, '0')}-${day}T${clock}${hours}:${minutes}`;
}

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** True for a value that says what the time of its line says already. */
export function repeatsTime(exact: string, time: string | null | undefined): boolean {
  if (time === undefined || time === null) return false;
  const written = ACCESS_TIME.exec(exact);
  const iso = written === null ? exact : isoOf(written);
  if (!/^\d{4}-\d\d-\d\dT/.test(iso)) return false;
  const [a, b] = [parseTime(iso), parseTime(time)];
  return a !== undefined && b !== undefined && (a < b ? b - a : a - b) <= NEAR;
}
