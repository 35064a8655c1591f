import type { TypeName } from '../../apl/catalog/entry.js';
import { EARLIEST_TIME, formatTime, LATEST_TIME } from '../../time.js';
import { sqlText } from './trino-literal.js';

/** How a table column becomes a field: its type, and the SQL of its value. */
export interface ColumnReading {
  readonly type: TypeName;
  readonly read: (column: string) => string;
  /** Returns whether a time in the stored column is at or after a start and before an end, in nanoseconds since 1970. */
  readonly within?: (column: string, startNs: bigint, endNs: bigint) => string;
}

/** Returns how to read a column, by Trino's name for its type; undefined if unsupported. */
export function readingOf(type: string): ColumnReading | undefined {
  const found = rows.find(({ pattern }) => pattern.test(type));
  return found?.reading(type);
}

interface TypeRow {
  readonly pattern: RegExp;
  /** The name of the type in the docs, and its result. */
  readonly shown: string;
  readonly becomes: string;
  readonly reading: (type: string) => ColumnReading | undefined;
}

const cast = (type: TypeName, sqlType: string) => (): ColumnReading => ({
  type,
  read: column => `CAST(${column} AS ${sqlType})`,
});

const rows: readonly TypeRow[] = [
  {
    pattern: /^boolean$/,
    shown: '`boolean`',
    becomes: 'bool',
    reading: () => ({ type: 'bool', read: column => column }),
  },
  {
    pattern: /^(?:tinyint|smallint|integer|bigint)$/,
    shown: '`tinyint`, `smallint`, `integer`, `bigint`',
    becomes: 'long',
    reading: cast('long', 'bigint'),
  },
  {
    pattern: /^(?:real|double)$/,
    shown: '`real`, `double`',
    becomes: 'real',
    reading: cast('real', 'double'),
  },
  {
    pattern: /^decimal\((?:[1-9]|1[0-8]),0\)$/,
    shown: '`decimal` of at most 18 digits without decimal places',
    becomes: 'long',
    reading: cast('long', 'bigint'),
  },
  {
    pattern: /^decimal\(/,
    shown: 'other `decimal`',
    becomes: 'real: digits beyond the 15th may be lost',
    reading: cast('real', 'double'),
  },
  {
    pattern: /^(?:varchar|char)\b/,
    shown: '`varchar`, `char`',
    becomes: 'string',
    reading: cast('string', 'varchar'),
  },
  {
    pattern: /^varbinary$/,
    shown: '`varbinary`',
    becomes: 'string of hexadecimal digits',
    reading: () => ({ type: 'string', read: column => `lower(to_hex(${column}))` }),
  },
  {
    pattern: /^(?:uuid|ipaddress|time(?:\(\d+\))?(?: with time zone)?)$/,
    shown: '`uuid`, `ipaddress`, `time`',
    becomes: 'string',
    reading: cast('string', 'varchar'),
  },
  {
    pattern: /^date$/,
    shown: '`date`',
    becomes: 'datetime, midnight in UTC',
    reading: () => ({
      type: 'datetime',
      read: column =>
        inRange(
          column,
          'DATE',
          10,
          `date_diff('day', DATE '1970-01-01', ${column}) * BIGINT '86400000000000'`,
        ),
      within: (column, start, end) => bounds(column, 'DATE', 10, dayNs, start, end),
    }),
  },
  {
    pattern: /^timestamp\(\d+\)$/,
    shown: '`timestamp`',
    becomes: 'datetime, read as UTC; digits below a nanosecond are rounded',
    reading: type => timestampReading(type, ''),
  },
  {
    pattern: /^timestamp\(\d+\) with time zone$/,
    shown: '`timestamp with time zone`',
    becomes: 'datetime, exact in UTC',
    reading: type => timestampReading(type, ' UTC'),
  },
  {
    pattern: /^interval day to second$/,
    shown: '`interval day to second`',
    becomes: 'timespan',
    reading: () => ({
      type: 'timespan',
      read: column => `TRY(to_milliseconds(${column}) * BIGINT '1000000')`,
    }),
  },
  {
    pattern: /^json$/,
    shown: '`json`',
    becomes: 'dynamic',
    reading: () => ({ type: 'dynamic', read: column => dynamicOf(`json_format(${column})`) }),
  },
  {
    pattern: /^(?:array|map|row)\(/,
    shown: '`array`, `map`, `row` of types that Trino can cast to JSON',
    becomes: 'dynamic',
    reading: type => (becomesJson(type) ? nested : undefined),
  },
];

/** Rows of the table of types in the documentation. */
export const shownTypes: readonly (readonly [type: string, becomes: string])[] = [
  ...rows.map(({ shown, becomes }) => [shown, becomes] as const),
  ['any other', 'skipped: the field is missing'],
];

/** Column types of a published dataset that differ from the field's type. */
const publishedAs: Readonly<Partial<Record<TypeName, TypeName>>> = { timespan: 'long', dynamic: 'string' };

/** Returns how to read a column as the type it was published with; undefined if the column's type does not match. */
export function readAs(reading: ColumnReading, type: TypeName): ColumnReading | undefined {
  return reading.type === (publishedAs[type] ?? type) ? { ...reading, type } : undefined;
}

/** Returns a condition that a string is a day, such as `2026-06-01`, that overlaps a range. */
export function withinDays(column: string, startNs: bigint, endNs: bigint): string {
  const [first, last] = [startNs, endNs - 1n].map(ns =>
    sqlText(formatTime(clamped(ns), 'in threes').slice(0, 10)),
  );
  return `${column} BETWEEN ${first} AND ${last}`;
}

const nested: ColumnReading = {
  type: 'dynamic',
  read: column => dynamicOf(`json_format(CAST(${column} AS JSON))`),
};

/** Returns JSON's null as null. */
function dynamicOf(text: string): string {
  return `nullif(${text}, 'null')`;
}

/** Returns whether everything in an array, map or row can be cast to JSON; map keys are strings or numbers. */
function becomesJson(type: string): boolean {
  // The member names of rows are not checked.
  const words = type.replace(/"(?:[^"]|"")*"/g, 'name').match(/[a-z_]\w*/gi) ?? [];
  return !words.some(word =>
    /^(?:varbinary|uuid|ipaddress|interval|time|hyperloglog|qdigest|tdigest|p4hyperloglog|geometry|char)$/i.test(
      word,
    ),
  );
}

const dayNs = 86_400_000_000_000n;

/** Returns how to read a timestamp as nanoseconds since 1970; null if it does not fit 64 bits. */
function timestampReading(type: string, zone: '' | ' UTC'): ColumnReading {
  const digits = Number(/\d+/.exec(type)?.[0] ?? 3);
  const unit = 10n ** BigInt(Math.max(0, 9 - digits));
  const length = digits === 0 ? 19 : 20 + Math.min(digits, 9);
  const plain = (column: string) =>
    zone === '' ? column : `CAST(${column} AT TIME ZONE 'UTC' AS timestamp(${digits}))`;
  return {
    type: 'datetime',
    read: column => inRange(column, 'TIMESTAMP', length, nanoseconds(plain(column), digits), zone),
    within: (column, start, end) => bounds(column, 'TIMESTAMP', length, unit, start, end, zone),
  };
}

/**
 * Returns nanoseconds. Whole seconds are counted, and a real represents the remainder of a second accurately enough; with up to three
 * digits it represents everything.
 */
function nanoseconds(time: string, digits: number): string {
  if (digits <= 3) return `CAST(round(to_unixtime(${time}) * 1000) AS bigint) * BIGINT '1000000'`;
  const second = `date_diff('second', TIMESTAMP '1970-01-01 00:00:00', date_trunc('second', ${time}))`;
  return `${second} * BIGINT '1000000000' + CAST(round(to_unixtime(date_add('second', -(${second}), ${time})) * 1e9) AS bigint)`;
}

function inRange(column: string, word: Word, length: number, value: string, zone = ''): string {
  const [low, high] = [EARLIEST_TIME + 2n * dayNs, LATEST_TIME - 2n * dayNs].map(ns =>
    literal(word, length, ns, zone),
  );
  return `CASE WHEN ${column} >= ${low} AND ${column} < ${high} THEN ${value} END`;
}

type Word = 'DATE' | 'TIMESTAMP';

/** Rounds bounds to the column's precision: no time of the column lies between a bound and the next representable time. */
function bounds(
  column: string,
  word: Word,
  length: number,
  unit: bigint,
  start: bigint,
  end: bigint,
  zone = '',
): string {
  const at = (ns: bigint) => literal(word, length, clamped(ceiled(ns, unit)), zone);
  return `${column} >= ${at(start)} AND ${column} < ${at(end)}`;
}

function ceiled(ns: bigint, unit: bigint): bigint {
  const rest = ((ns % unit) + unit) % unit;
  return rest === 0n ? ns : ns - rest + unit;
}

function clamped(ns: bigint): bigint {
  if (ns < EARLIEST_TIME) return EARLIEST_TIME;
  return ns > LATEST_TIME ? LATEST_TIME : ns;
}

function literal(word: Word, length: number, ns: bigint, zone: string): string {
  const [date = '', clock = ''] = formatTime(ns, 'in threes').replace('Z', '').split('T');
  const text = `${date} ${clock}${clock.includes('.') ? '' : '.'}`.padEnd(29, '0').slice(0, length);
  return `${word} ${sqlText(`${text}${zone}`)}`;
}
