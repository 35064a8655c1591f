import type { TypeName } from '../../../apl/catalog/entry.js';
import { timeNs } from '../../functions/time-text.js';
import { rfc3339 } from '../readers/reader-texts.js';
import { epochNs } from '../times/epoch.js';
import type { RawValue } from './append-events.js';

/** The times of a batch's events, null for an event without one. Without a field, all are null. */
export interface BatchTimes {
  readonly field?: string;
  readonly times: readonly (bigint | null)[];
}

/** A field with its value in each event. */
export interface Column {
  readonly name: string;
  readonly type: TypeName;
  /** No event has a value. */
  readonly empty: boolean;
  readonly values: readonly (RawValue | undefined)[];
}

/** Returns the times that an import would find, undefined if only the import itself can find them. */
export function timesOf(
  columns: readonly Column[],
  named: string | undefined,
  rows: number,
): BatchTimes | undefined {
  const wanted = named ?? '_time';
  const own = columns.find(column => column.name === wanted);
  if (own) {
    const found = readTimes(own);
    const readable = found?.times.some(time => time !== null) ?? false;
    return readable || own.empty || named === undefined ? found : undefined;
  }
  return named === undefined ? { times: new Array<null>(rows).fill(null) } : undefined;
}

function isPresent(value: RawValue | undefined): value is RawValue {
  return value !== undefined && value.kind !== 'NULL';
}

function readTimes({ name, type, values }: Column): BatchTimes | undefined {
  const times: (bigint | null)[] = [];
  for (const value of values) {
    const time = isPresent(value) ? readTime(value, type) : null;
    if (time === undefined) return undefined;
    times.push(time);
  }
  return { field: name, times };
}

/** Returns nanoseconds since 1970, null for a number that is not a time, undefined for a value that only the engine can read. */
function readTime({ kind, text }: RawValue, type: Column['type']): bigint | null | undefined {
  if (type === 'long' && kind === 'BIGINT') return epochNs(BigInt(text));
  const inner = text.slice(1, -1);
  return type === 'string' && kind === 'VARCHAR' && usual.test(inner)
    ? (timeNs(inner) ?? undefined)
    : undefined;
}

/** RFC 3339, optionally with a space instead of the T, without a zone, or only a date. */
const usual = new RegExp(`^${rfc3339.date}(${rfc3339.clock}${rfc3339.zone}?)?$`);
