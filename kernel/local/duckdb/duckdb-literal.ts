import { DAY, EARLIEST_TIME, formatTime, LATEST_TIME, MICROSECOND } from '../../time.js';
import type { SqlArg } from '../sql/sql-template.js';

/** Returns a string as a quoted SQL literal: the only path for query text into SQL. */
export function sqlText(value: string): string {
  const parts = value.split('\0').map(part => `'${part.replaceAll("'", "''")}'`);
  // The engine's parser ends a statement at a NUL character.
  return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(' || chr(0) || ')})`;
}

/** Returns a quoted identifier. The engine allows no NUL characters in names: U+2400 replaces them. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""').replaceAll('\0', '\u2400')}"`;
}

/** Returns the JSON pointer (https://www.rfc-editor.org/rfc/rfc6901) for these keys, as an SQL string. */
export function jsonPointer(keys: readonly string[]): string {
  return sqlText(keys.map(key => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
}

/** Returns the value of a constant whole-number argument; undefined if the argument is absent, null or not constant. */
export function constantInteger(arg: SqlArg | undefined): number | undefined {
  return typeof arg?.constant === 'bigint' ? Number(arg.constant) : undefined;
}

/** Start of the last, partial day of TIMESTAMP_NS: the engine fails to parse timestamp strings in it. */
const partDayNs = LATEST_TIME - (LATEST_TIME % DAY);

/** Returns a comparison with a time in nanoseconds since 1970, in a form that the engine checks against statistics. */
export function timeBound(time: string, operator: '>=' | '<', ns: bigint): string {
  if (ns >= partDayNs) return `epoch_ns(${time}) ${operator} ${ns}`;
  return `${time} ${operator} make_timestamp_ns(${ns > EARLIEST_TIME ? ns : EARLIEST_TIME})`;
}

/** The engine's name of the type of times in UTC, which have microseconds. */
export const zonedType = 'TIMESTAMP WITH TIME ZONE';

/** Returns the comparison of {@link timeBound} for a column of {@link zonedType}. */
export function zonedTimeBound(time: string, operator: '>=' | '<', ns: bigint): string {
  const micros = ns / MICROSECOND + (ns % MICROSECOND > 0n ? 1n : 0n);
  return `${time} ${operator} ${sqlText(formatTime(micros * MICROSECOND, 'fewest'))}::${zonedType}`;
}
