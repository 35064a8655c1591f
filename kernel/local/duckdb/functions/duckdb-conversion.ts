import type { TypeName } from '../../../apl/catalog/entry.js';
import type { conversion as catalog } from '../../../apl/catalog/functions/conversion-functions.js';
import {
  EARLIEST_TIME,
  HOUR,
  LATEST_TIME,
  MICROSECOND,
  MILLISECOND,
  MINUTE,
  parseGoDuration,
  SECOND,
} from '../../../time.js';
import { canonicalJson } from '../../functions/json/json-text.js';
import { timeNs } from '../../functions/time-text.js';
import { type Atom, atom } from '../../sql/atom.js';
import type { SqlArg, SqlTemplate, SqlTemplates } from '../../sql/sql-template.js';
import { computeHeavyFirst } from '../duckdb-arguments.js';
import { compileTimeOnly, luhnSetup } from '../duckdb-checks.js';
import type { JsFunction } from '../duckdb-template.js';
import { sqlTypes } from '../duckdb-types.js';

/**
 * Returns an argument as SQL of another type; null stays null, and inconvertible values become null. Numbers and timespans convert to times
 * as nanoseconds; strings are parsed as by the conversion functions.
 */
export function convert(arg: SqlArg, to: TypeName): Atom {
  if (arg.type === to) return arg.sql;
  if (to === 'string' && arg.text !== undefined) return arg.text;
  if (arg.constant === null) return atom(`NULL::${sqlTypes[to]}`);
  const ofColumn = arg.type === 'dynamic' && arg.computed === true ? columnConversions[to] : undefined;
  const conversion = ofColumn ?? conversions[to][arg.type];
  const { raw: sql = arg.sql, ...forms } = arg;
  const read = to === 'dynamic' ? arg : { ...forms, sql };
  return computeHeavyFirst([read], ([value = read]) => conversion(value.sql));
}

/** Returns an argument as JSON: times as RFC 3339 strings, timespans as integer nanoseconds, NaN and infinities as null. */
export function toDynamic(arg: SqlArg): Atom {
  return convert(arg, 'dynamic');
}

/** Returns an argument as a member of JSON that the engine writes, which need not be JSON beforehand. */
export function memberOf(arg: SqlArg): string {
  if (arg.constant === null) return 'NULL';
  switch (arg.type) {
    case 'real':
      return computeHeavyFirst([arg], ([{ sql } = arg]) => `CASE WHEN isfinite(${sql}) THEN ${sql} END`);
    case 'datetime':
      return convert(arg, 'string');
    default:
      return arg.sql;
  }
}

/** Returns an argument as text for concatenation and hashing: like {@link convert}, but with null as the empty string. */
export function textOrEmpty(arg: SqlArg): string {
  return `coalesce(${convert(arg, 'string')}, '')`;
}

type Conversion = (sql: Atom) => string;

const same: Conversion = sql => sql;
const call =
  (macro: string): Conversion =>
  sql =>
    `${macro}(${sql})`;
const cast =
  (type: string): Conversion =>
  sql =>
    `${sql}::${type}`;

const conversions: Readonly<Record<TypeName, Readonly<Record<TypeName, Conversion>>>> = {
  string: {
    string: same,
    bool: cast('VARCHAR'),
    long: cast('VARCHAR'),
    real: call('apl_real_text'),
    datetime: call('apl_time_text'),
    timespan: call('apl_span_text'),
    dynamic: call('apl_dyn_text'),
  },
  long: {
    long: same,
    bool: cast('BIGINT'),
    real: call('apl_real_long'),
    string: call('apl_text_long'),
    datetime: call('epoch_ns'),
    timespan: same,
    dynamic: call('apl_dyn_long'),
  },
  real: {
    real: same,
    bool: cast('DOUBLE'),
    long: cast('DOUBLE'),
    string: call('apl_text_real'),
    datetime: sql => `epoch_ns(${sql})::DOUBLE`,
    timespan: cast('DOUBLE'),
    dynamic: call('apl_dyn_real'),
  },
  bool: {
    bool: same,
    long: sql => `(${sql} <> 0)`,
    // If negated, this becomes an equality search.
    real: sql => `(${sql} + 0.0 <> 0)`,
    string: call('apl_text_bool'),
    datetime: sql => `(epoch_ns(${sql}) <> 0)`,
    timespan: sql => `(${sql} <> 0)`,
    dynamic: call('apl_dyn_bool'),
  },
  datetime: {
    datetime: same,
    bool: () => 'NULL::TIMESTAMP_NS',
    long: call('apl_long_time'),
    real: sql => `apl_long_time(apl_real_long(${sql}))`,
    string: call('apl_text_time'),
    timespan: call('apl_long_time'),
    dynamic: call('apl_dyn_time'),
  },
  timespan: {
    timespan: same,
    bool: () => 'NULL::BIGINT',
    long: same,
    real: call('apl_real_long'),
    string: call('apl_text_span'),
    datetime: call('epoch_ns'),
    dynamic: call('apl_dyn_span'),
  },
  dynamic: {
    dynamic: same,
    bool: call('to_json'),
    long: call('to_json'),
    real: call('apl_real_json'),
    string: call('to_json'),
    datetime: sql => `to_json(apl_time_text(${sql}))`,
    timespan: call('to_json'),
  },
};

/** Conversions of dynamic columns, which need no lambda that names a value once. */
const columnConversions: { readonly [type in TypeName]?: Conversion } = {
  long: call('apl_column_long'),
  real: call('apl_column_real'),
  bool: call('apl_column_bool'),
  string: call('apl_column_text'),
};

const to =
  (type: TypeName): SqlTemplate<readonly [SqlArg]> =>
  ([value]) =>
    convert(value, type);

/** SQL of the conversion, type, conditional and metadata functions. */
export const conversion: SqlTemplates<typeof catalog> = {
  tostring: ([value]) => `coalesce(${convert(value, 'string')}, ${value.type === 'bool' ? "'false'" : "''"})`,
  toint: to('long'),
  todouble: to('real'),
  tobool: to('bool'),
  todatetime: to('datetime'),
  totimespan: to('timespan'),
  todynamic: ([value]) =>
    value.type === 'dynamic' ? `apl_parse_dynamic(${value.sql})` : `apl_parse_json(${textOf(value)})`,
  toarray: ([value]) => `apl_to_array(${toDynamic(value)})`,
  tohex: ([value, length]) =>
    `apl_to_hex(${value.sql}, ${length === undefined ? '0' : `CASE WHEN ${length.sql} IS NOT NULL THEN greatest(least(${length.sql}, 1024), 0) END`})`,
  dynamic_to_json: ([value]) =>
    value.type === 'dynamic' ? `apl_canonical_json(${value.sql})` : `coalesce(${textOf(value)}, '')`,
  isbool: ([value]) => typeTest(value, ['bool'], ['BOOLEAN']),
  isstring: ([value]) => typeTest(value, ['string'], ['VARCHAR']),
  isreal: ([value]) =>
    value.type === 'real'
      ? `coalesce(isfinite(${value.sql}), false)`
      : typeTest(value, ['long'], ['UBIGINT', 'BIGINT', 'HUGEINT', 'DOUBLE']),
  ismap: ([value]) => typeTest(value, [], ['OBJECT']),
  isutf8: ([value]) => `(${value.sql} IS NOT NULL)`,
  iscc: ([value]) => `apl_is_card(${value.sql})`,
  isimei: ([value]) => `apl_is_imei(${value.sql})`,
  gettype: ([value]) => typeName(value),
  iff: ([test, yes, no]) => `CASE WHEN ${test.sql} THEN ${yes.sql} ELSE ${no.sql} END`,
  case: args => caseSql(args),
  ensure_field: compileTimeOnly('ensure_field'),
  column_ifexists: compileTimeOnly('column_ifexists'),
  ingestion_time: compileTimeOnly('ingestion_time'),
  cursor_current: compileTimeOnly('cursor_current'),
};

function textOf(value: SqlArg): string {
  return convert(value, 'string');
}

function typeTest(value: SqlArg, types: readonly TypeName[], jsonTypes: readonly string[]): string {
  if (value.type === 'dynamic') {
    return `coalesce(json_type(${value.sql}) IN (${jsonTypes.map(type => `'${type}'`).join(', ')}), false)`;
  }
  return types.includes(value.type) ? `(${value.sql} IS NOT NULL)` : 'false';
}

function typeName(value: SqlArg): string {
  if (value.type === 'dynamic') return `apl_dyn_type(${value.sql})`;
  return `CASE WHEN ${value.sql} IS NULL THEN 'null' ELSE '${value.type}' END`;
}

/** Conditions are at even positions, results at odd ones, and the default is last. */
function caseSql(args: readonly [SqlArg, ...SqlArg[]]): string {
  const branches = args.flatMap((result, index) => {
    const condition = args[index - 1];
    return condition === undefined || index % 2 === 0
      ? []
      : [`WHEN ${convert(condition, 'bool')} THEN ${result.sql}`];
  });
  return `CASE ${branches.join(' ')} ELSE ${(args.at(-1) ?? args[0]).sql} END`;
}

/** Timestamps that the engine's reader parses as the language does: RFC 3339 and its shorter forms, in common years. */
const isoTime =
  '(?:1[7-9]|2[01])[0-9]{2}-[0-9]{2}-[0-9]{2}(?:[T ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?';

const realForms = '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?|[+-]?nan';
const realText = `(?i)${realForms}`;

export const setup: readonly string[] = [
  ...luhnSetup,
  // The engine accepts NaN, Infinity and trailing commas as JSON, so the text outside strings is checked again. They occur at the start or
  // after a token that ends another value.
  `CREATE MACRO apl_loose_json(s) AS regexp_matches(s, '(?i)(?:^|[\\[:,])\\s*-?(?:nan|inf)|,\\s*[\\]}]')`,
  `CREATE MACRO apl_json_valid(s) AS json_valid(s) AND (NOT apl_loose_json(s)
     OR NOT apl_loose_json(regexp_replace(s, '"(?:[^"\\\\]|\\\\.)*"', '""', 'g')))`,
  `CREATE MACRO apl_json(j) AS CASE WHEN j::VARCHAR = 'null' THEN NULL ELSE j END`,
  `CREATE MACRO apl_json_null(s) AS regexp_full_match(s, '\\s*null\\s*')`,
  `CREATE MACRO apl_parse_json(s) AS CASE WHEN apl_json_null(s) THEN NULL WHEN apl_json_valid(s) THEN json(s) END`,
  // The text of a value with the members of the parsed value; invalid JSON has none.
  `CREATE MACRO apl_json_document(s) AS CASE WHEN apl_json_valid(s) THEN s END`,
  `CREATE MACRO apl_parse_dynamic(j) AS CASE WHEN json_type(j) = 'VARCHAR' THEN apl_parse_json(j ->> '$') ELSE j END`,
  `CREATE MACRO apl_exp_text(digits, exponent) AS CASE WHEN exponent < 0 THEN '0.' || repeat('0', -exponent - 1) || digits
     ELSE rpad(digits, (exponent + 1)::INTEGER, '0') END`,
  // The engine pastes an argument wherever a macro names it, and plans even branches it never computes: lambdas name it once.
  `CREATE MACRO apl_unsigned_text(t) AS CASE WHEN contains(t, 'e')
     THEN list_transform([string_split(t, 'e')], lambda p: apl_exp_text(replace(p[1], '.', ''), p[2]::BIGINT))[1]
     WHEN ends_with(t, '.0') THEN left(t, -2) ELSE t END`,
  `CREATE MACRO apl_rare_real_text(x) AS list_transform([x::VARCHAR], lambda t: CASE WHEN t = 'nan' THEN 'NaN'
     WHEN t = 'inf' THEN '+Inf' WHEN t = '-inf' THEN '-Inf' WHEN starts_with(t, '-') THEN '-' || apl_unsigned_text(substr(t, 2))
     ELSE apl_unsigned_text(t) END)[1]`,
  // Within these bounds, the engine prints digits, a point and digits, with no trailing zero except in whole numbers.
  `CREATE MACRO apl_real_text(x) AS CASE WHEN abs(x) >= 1e-4::DOUBLE AND abs(x) < 1e15::DOUBLE
     THEN CASE WHEN x = trunc(x) THEN x::BIGINT::VARCHAR ELSE x::VARCHAR END ELSE apl_rare_real_text(x) END`,
  `CREATE MACRO apl_time_text(ts) AS replace(ts::VARCHAR, ' ', 'T') || 'Z'`,
  `CREATE MACRO apl_decimal_text(n, unit, digits) AS
     rtrim(rtrim((n // unit)::VARCHAR || '.' || lpad((n % unit)::VARCHAR, digits, '0'), '0'), '.')`,
  `CREATE MACRO apl_magnitude_text(n) AS CASE WHEN n = 0 THEN '0s' WHEN n < ${MICROSECOND} THEN n::VARCHAR || 'ns'
     WHEN n < ${MILLISECOND} THEN apl_decimal_text(n, ${MICROSECOND}, 3) || 'µs'
     WHEN n < ${SECOND} THEN apl_decimal_text(n, ${MILLISECOND}, 6) || 'ms'
     ELSE CASE WHEN n < ${HOUR} THEN '' ELSE (n // ${HOUR})::VARCHAR || 'h' END
       || CASE WHEN n < ${MINUTE} THEN '' ELSE (n // ${MINUTE} % 60)::VARCHAR || 'm' END
       || apl_decimal_text(n % ${MINUTE}, ${SECOND}, 9) || 's' END`,
  // The smallest int64 has no positive counterpart.
  `CREATE MACRO apl_span_text(ns) AS CASE WHEN ns >= 0 THEN apl_magnitude_text(ns)
     ELSE '-' || apl_magnitude_text(-(ns::HUGEINT)) END`,
  `CREATE MACRO apl_real_long(x) AS CASE WHEN x >= -9223372036854775808::DOUBLE AND x < 9223372036854775808::DOUBLE
     THEN trunc(x)::BIGINT END`,
  `CREATE MACRO apl_real_json(x) AS CASE WHEN isfinite(x) THEN to_json(x) END`,
  // The engine cannot print a time of 1677-09-21 or the last nanosecond of the range.
  `CREATE MACRO apl_long_time(n) AS make_timestamp_ns(CASE WHEN n BETWEEN ${EARLIEST_TIME} AND ${LATEST_TIME} THEN n END)`,
  // The engine accepts more than integers; a string in its own output form needs no pattern.
  `CREATE MACRO apl_text_long(s) AS CASE WHEN TRY_CAST(s AS BIGINT)::VARCHAR = s OR regexp_full_match(s, '[+-]?[0-9]+')
     THEN TRY_CAST(s AS BIGINT) END`,
  `CREATE MACRO apl_text_real(s) AS CASE WHEN regexp_full_match(s, '${realText}')
     AND (isfinite(TRY_CAST(s AS DOUBLE)) OR NOT regexp_matches(s, '[0-9]')) THEN TRY_CAST(s AS DOUBLE) END`,
  `CREATE MACRO apl_text_bool(s) AS CASE WHEN s IN ('1', 't', 'T', 'TRUE', 'true', 'True') THEN true
     WHEN s IN ('0', 'f', 'F', 'FALSE', 'false', 'False') THEN false END`,
  `CREATE MACRO apl_text_time(s) AS CASE WHEN regexp_full_match(s, '${isoTime}') THEN TRY_CAST(s AS TIMESTAMP_NS)
     ELSE make_timestamp_ns(apl_parse_time(s)) END`,
  `CREATE MACRO apl_text_span(s) AS apl_parse_span(s)`,
  // The engine prints all but numbers with a fraction or exponent correctly, so most values need no parsing.
  `CREATE MACRO apl_dyn_text(j) AS CASE WHEN regexp_matches(j::VARCHAR, '^\\s*-?[0-9]+[.eE]') AND isfinite(TRY_CAST(j::VARCHAR AS DOUBLE))
     THEN list_transform([TRY_CAST(j::VARCHAR AS DOUBLE)], lambda x: apl_real_text(x))[1] ELSE j ->> '$' END`,
  // `t` is the text of an element or member `j`, as written by the engine.
  `CREATE MACRO apl_path_text(t, j) AS CASE WHEN regexp_matches(t, '^-?[0-9]+[.eE]') THEN apl_dyn_text(j) ELSE t END`,
  // The engine computes an argument wherever a macro names it: lambdas name it once, and take less time than a pattern for the common form.
  `CREATE MACRO apl_dyn_long(j) AS coalesce(list_transform([j::VARCHAR],
     lambda t: CASE WHEN TRY_CAST(t AS BIGINT)::VARCHAR = t THEN TRY_CAST(t AS BIGINT) ELSE apl_real_long(TRY_CAST(t AS DOUBLE)) END)[1],
     apl_other_long(j))`,
  `CREATE MACRO apl_dyn_real(j) AS coalesce(list_transform([j::VARCHAR],
     lambda t: CASE WHEN isfinite(TRY_CAST(t AS DOUBLE)) AND t <> '-0' THEN TRY_CAST(t AS DOUBLE) END)[1], apl_other_real(j))`,
  // Of a JSON string without escapes or spaces around it, the text is what is between its quotes. A failed cast takes longer than a pattern.
  `CREATE MACRO apl_plain_string(j) AS ends_with(j::VARCHAR, '"') AND NOT contains(j::VARCHAR, '\\')`,
  // A string that begins with neither a digit, a sign, an escape nor the first letter of inf or nan is not a number.
  `CREATE MACRO apl_is_word(j) AS (j::VARCHAR >= '":' AND j::VARCHAR < '"I') OR (j::VARCHAR >= '"O' AND j::VARCHAR < '"[') OR (j::VARCHAR >= '"o')
     OR (j::VARCHAR >= '"j' AND j::VARCHAR < '"n') OR (j::VARCHAR >= '"J' AND j::VARCHAR < '"N') OR (j::VARCHAR >= '"]' AND j::VARCHAR < '"i')`,
  `CREATE MACRO apl_string_long(j) AS CASE WHEN apl_is_word(j) THEN NULL WHEN apl_plain_string(j) THEN CASE WHEN regexp_full_match(j::VARCHAR, '"[+-]?[0-9]+"')
     THEN TRY_CAST(replace(j::VARCHAR, '"', '') AS BIGINT) END ELSE apl_text_long(j ->> '$') END`,
  `CREATE MACRO apl_string_real(j) AS CASE WHEN apl_is_word(j) THEN NULL WHEN apl_plain_string(j) THEN CASE WHEN regexp_full_match(j::VARCHAR, '(?i)"(?:${realForms})"')
     THEN apl_text_real(replace(j::VARCHAR, '"', '')) END ELSE apl_text_real(j ->> '$') END`,
  `CREATE MACRO apl_starts_number(j) AS j::VARCHAR >= '-' AND j::VARCHAR < ':'`,
  `CREATE MACRO apl_starts_nested(j) AS starts_with(j::VARCHAR, '{') OR starts_with(j::VARCHAR, '[')`,
  // The cast rounds numbers with a fraction, and a search takes a fraction of the time of printing the number again.
  `CREATE MACRO apl_column_long(j) AS CASE WHEN apl_starts_number(j)
     THEN CASE WHEN contains(j::VARCHAR, '.') OR contains(j::VARCHAR, 'e') OR contains(j::VARCHAR, 'E')
       THEN apl_dyn_long(j) ELSE coalesce(TRY_CAST(j::VARCHAR AS BIGINT), apl_other_long(j)) END
     WHEN starts_with(j::VARCHAR, '"') THEN apl_string_long(j) WHEN apl_starts_nested(j) THEN NULL
     WHEN j IS NOT NULL THEN apl_other_long(j) END`,
  `CREATE MACRO apl_column_real(j) AS CASE WHEN apl_starts_number(j)
     THEN CASE WHEN isfinite(TRY_CAST(j::VARCHAR AS DOUBLE)) AND j::VARCHAR <> '-0' THEN TRY_CAST(j::VARCHAR AS DOUBLE) ELSE apl_other_real(j) END
     WHEN starts_with(j::VARCHAR, '"') THEN apl_string_real(j) WHEN apl_starts_nested(j) THEN NULL
     WHEN j IS NOT NULL THEN apl_other_real(j) END`,
  `CREATE MACRO apl_column_text(j) AS CASE WHEN starts_with(j::VARCHAR, '"') AND apl_plain_string(j) THEN replace(j::VARCHAR, '"', '')
     WHEN apl_starts_number(j) AND TRY_CAST(j::VARCHAR AS BIGINT)::VARCHAR = j::VARCHAR THEN j::VARCHAR ELSE apl_dyn_text(j) END`,
  `CREATE MACRO apl_column_bool(j) AS CASE WHEN j::VARCHAR IN ('true', 'false') THEN j::VARCHAR = 'true'
     WHEN j IS NOT NULL THEN apl_other_bool(j) END`,
  // Numbers in order before all else, then the text.
  `CREATE MACRO apl_number_key(x, j) AS create_sort_key(x, 'ASC NULLS LAST') || encode(j::VARCHAR)`,
  `CREATE MACRO apl_key_value(k) AS decode(CASE WHEN k >= '\\x02'::BLOB THEN k[2:] ELSE k[10:] END)::JSON`,
  `CREATE MACRO apl_dyn_bool(j) AS coalesce(TRY_CAST(regexp_extract(j::VARCHAR, '^true$|^false$') AS BOOLEAN), apl_other_bool(j))`,
  `CREATE MACRO apl_other_long(j) AS CASE json_type(j) WHEN 'VARCHAR' THEN apl_text_long(j ->> '$')
     WHEN 'UBIGINT' THEN TRY_CAST(j ->> '$' AS BIGINT) WHEN 'BIGINT' THEN TRY_CAST(j ->> '$' AS BIGINT)
     WHEN 'DOUBLE' THEN apl_real_long(TRY_CAST(j ->> '$' AS DOUBLE))
     WHEN 'BOOLEAN' THEN (j ->> '$' = 'true')::BIGINT END`,
  `CREATE MACRO apl_other_real(j) AS CASE json_type(j) WHEN 'VARCHAR' THEN apl_text_real(j ->> '$')
     WHEN 'BOOLEAN' THEN (j ->> '$' = 'true')::DOUBLE WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL
     ELSE apl_text_real(j ->> '$') END`,
  `CREATE MACRO apl_other_bool(j) AS CASE json_type(j) WHEN 'VARCHAR' THEN apl_text_bool(j ->> '$')
     WHEN 'BOOLEAN' THEN j ->> '$' = 'true' WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL
     ELSE TRY_CAST(j ->> '$' AS DOUBLE) <> 0 END`,
  `CREATE MACRO apl_dyn_time(j) AS CASE json_type(j) WHEN 'VARCHAR' THEN apl_text_time(j ->> '$')
     WHEN 'BOOLEAN' THEN NULL ELSE apl_long_time(apl_dyn_long(j)) END`,
  `CREATE MACRO apl_dyn_span(j) AS CASE json_type(j) WHEN 'VARCHAR' THEN apl_text_span(j ->> '$')
     WHEN 'BOOLEAN' THEN NULL ELSE apl_dyn_long(j) END`,
  `CREATE MACRO apl_dyn_type(j) AS CASE json_type(j) WHEN 'VARCHAR' THEN 'string' WHEN 'BOOLEAN' THEN 'bool'
     WHEN 'ARRAY' THEN 'array' WHEN 'OBJECT' THEN 'dictionary' WHEN 'UBIGINT' THEN 'long' WHEN 'BIGINT' THEN 'long'
     WHEN 'DOUBLE' THEN 'real' ELSE 'null' END`,
  `CREATE MACRO apl_to_array(j) AS CASE json_type(j) WHEN 'ARRAY' THEN j
     WHEN 'OBJECT' THEN to_json(json_extract(j, '$.*')) ELSE CASE WHEN j IS NULL THEN '[]'::JSON ELSE to_json([j]) END END`,
  `CREATE MACRO apl_to_hex(n, width) AS CASE WHEN width IS NULL THEN NULL WHEN width > length(to_hex(n)) THEN lpad(lower(to_hex(n)), width::INTEGER, '0')
     ELSE lower(to_hex(n)) END`,
];

export const udfs: readonly JsFunction[] = [
  { name: 'apl_parse_time', params: ['VARCHAR'], returns: 'BIGINT', run: timeNs },
  {
    name: 'apl_parse_span',
    params: ['VARCHAR'],
    returns: 'BIGINT',
    run: (text: string) => parseGoDuration(text) ?? null,
  },
  { name: 'apl_canonical_json', params: ['VARCHAR'], returns: 'VARCHAR', run: canonicalJson },
];
