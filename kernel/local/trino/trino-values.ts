import type { TypeName } from '../../apl/catalog/entry.js';
import { type Atom, atom } from '../sql/atom.js';
import { type ConstantValue, type SqlArg, TemplateError } from '../sql/sql-template.js';
import { sqlText } from './trino-literal.js';

/** Trino's types: datetimes and timespans are nanoseconds, dynamic values are JSON text. */
export const sqlTypes: Readonly<Record<TypeName, string>> = {
  bool: 'boolean',
  long: 'bigint',
  real: 'double',
  string: 'varchar',
  datetime: 'bigint',
  timespan: 'bigint',
  dynamic: 'varchar',
};

/** Throws a refusal of something that the cluster has no SQL for, which is then computed here. */
export function notHere(what: string): never {
  throw new TemplateError(`${what} is not available on a Trino cluster`, -1);
}

/** Returns a constant as an SQL literal of its type. */
export function literal(type: TypeName, value: ConstantValue): string {
  if (value === null) return `CAST(NULL AS ${sqlTypes[type]})`;
  switch (type) {
    case 'string':
    case 'dynamic':
      return `CAST(${sqlText(String(value))} AS varchar)`;
    case 'bool':
      return value === true ? 'true' : 'false';
    case 'real':
      return realSql(Number(value));
    case 'long':
    case 'timespan':
    case 'datetime':
      return `BIGINT ${sqlText(String(value))}`;
  }
}

function realSql(value: number): string {
  if (Number.isNaN(value)) return 'nan()';
  if (!Number.isFinite(value)) return value > 0 ? 'infinity()' : '(-infinity())';
  return `DOUBLE ${sqlText(Object.is(value, -0) ? '-0' : String(value))}`;
}

type Conversion = (sql: Atom) => string;

const call =
  (name: string): Conversion =>
  sql =>
    `${name}(${sql})`;
const cast =
  (type: string): Conversion =>
  sql =>
    `CAST(${sql} AS ${type})`;
const same: Conversion = sql => sql;

/** Missing conversions are refused by name: strings of durations are parsed by JavaScript. */
const conversions: Readonly<Record<TypeName, Readonly<Partial<Record<TypeName, Conversion>>>>> = {
  string: {
    bool: cast('varchar'),
    long: cast('varchar'),
    real: call('apl_real_text'),
    datetime: call('apl_time_text'),
    timespan: call('apl_span_text'),
    dynamic: call('apl_dyn_text'),
  },
  long: {
    bool: cast('bigint'),
    real: call('apl_real_long'),
    string: call('apl_text_long'),
    datetime: same,
    timespan: same,
    dynamic: call('apl_dyn_long'),
  },
  real: {
    bool: cast('double'),
    long: cast('double'),
    string: call('apl_text_real'),
    datetime: cast('double'),
    timespan: cast('double'),
    dynamic: call('apl_dyn_real'),
  },
  bool: {
    long: sql => `(${sql} <> 0)`,
    real: sql => `(${sql} <> 0)`,
    string: call('apl_text_bool'),
    datetime: sql => `(${sql} <> 0)`,
    timespan: sql => `(${sql} <> 0)`,
    dynamic: call('apl_dyn_bool'),
  },
  datetime: {
    bool: () => 'CAST(NULL AS bigint)',
    long: same,
    real: call('apl_real_long'),
    string: call('apl_text_time'),
    timespan: same,
    dynamic: call('apl_dyn_time'),
  },
  timespan: {
    bool: () => 'CAST(NULL AS bigint)',
    long: same,
    real: call('apl_real_long'),
    datetime: same,
  },
  dynamic: {
    bool: cast('varchar'),
    long: cast('varchar'),
    real: call('apl_real_json'),
    string: call('apl_json_text'),
    datetime: call('apl_time_json'),
    timespan: cast('varchar'),
  },
};

/** Returns an argument as SQL of another type; null stays null, and inconvertible values become null. */
export function convert(arg: SqlArg, to: TypeName): Atom {
  if (arg.type === to) return arg.sql;
  if (to === 'string' && arg.text !== undefined) return arg.text;
  if (arg.constant === null) return atom(literal(to, null));
  const conversion = conversions[to][arg.type];
  return conversion === undefined
    ? notHere(`Converting a ${arg.type} to a ${to}`)
    : atom(conversion(arg.sql));
}

/** Returns an argument as JSON, with null as JSON's null. */
export function element(arg: SqlArg): string {
  return `coalesce(${convert(arg, 'dynamic')}, 'null')`;
}

/** Returns an argument as text, with null as the empty string. */
export function textOrEmpty(arg: SqlArg): string {
  return `coalesce(${convert(arg, 'string')}, '')`;
}

/** Returns the value with NaN as null. */
export function withoutNaN({ sql, mayBeNaN }: SqlArg): Atom {
  return mayBeNaN === true ? atom(`CASE WHEN NOT is_nan(${sql}) THEN ${sql} END`) : sql;
}

/** Returns a JSON array from a list of JSON strings. */
export function arrayOf(list: string): string {
  return `concat('[', array_join(${list}, ','), ']')`;
}
