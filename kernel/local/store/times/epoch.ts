import { EARLIEST_TIME, LATEST_TIME, MICROSECOND, MILLISECOND, SECOND } from '../../../time.js';

/** Unit of a number since 1970 by magnitude: seconds, milliseconds, microseconds, nanoseconds. */
const units = [
  { below: 10n ** 11n, nanos: SECOND },
  { below: 10n ** 14n, nanos: MILLISECOND },
  { below: 10n ** 17n, nanos: MICROSECOND },
] as const;

/** Returns nanoseconds since 1970; null if the number is not a timestamp. */
export function epochNs(value: bigint): bigint | null {
  const size = value < 0n ? -value : value;
  const time = value * (units.find(({ below }) => size < below)?.nanos ?? 1n);
  return time >= EARLIEST_TIME && time <= LATEST_TIME ? time : null;
}

/** Returns the SQL of {@link epochNs} for a BIGINT. */
export function epochNsSql(value: string): string {
  const cases = units.map(({ below, nanos }) => {
    const inside = `${value} BETWEEN ${EARLIEST_TIME / nanos} AND ${LATEST_TIME / nanos}`;
    return `WHEN ${value} > -${below} AND ${value} < ${below} THEN CASE WHEN ${inside} THEN ${value} * ${nanos} END`;
  });
  return `CASE ${cases.join(' ')} WHEN ${value} BETWEEN ${EARLIEST_TIME} AND ${LATEST_TIME} THEN ${value} END`;
}

/** Returns the SQL of {@link epochNs} for a DOUBLE, rounded to the microsecond, the precision of a time in seconds. */
export function epochNsOfRealSql(value: string): string {
  const micros = `round(${value} * ${microsecondsOf(value)})`;
  return `CASE WHEN abs(${micros}) < 9.2e15 THEN CAST(${micros} AS BIGINT) * 1000 END`;
}

/** Returns the SQL of whether {@link epochNsOfRealSql} drops digits of a DOUBLE. */
export function exceedsMicrosecondsSql(value: string): string {
  const unit = microsecondsOf(value);
  return `round(${value} * ${unit}) / ${unit} <> ${value}`;
}

function microsecondsOf(value: string): string {
  const cases = units.map(({ below, nanos }) => `WHEN abs(${value}) < ${below} THEN ${nanos / MICROSECOND}`);
  return `CASE ${cases.join(' ')} ELSE 1e-3 END`;
}
