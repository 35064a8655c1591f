import type { CatalogEntry } from '../../apl/catalog/all-functions.js';
import type { internalFunctions } from '../../apl/catalog/catalog-internal.js';
import { autoBinWidth } from '../../apl/plan/auto-bin.js';
import { DAY, HOUR, MICROSECOND, MILLISECOND, SECOND } from '../../time.js';
import {
  type ArgsOf,
  constantText,
  type SqlArg,
  type SqlContext,
  type SqlTemplate,
  TemplateError,
} from '../sql/sql-template.js';
import {
  clockPart,
  datePart,
  datetimeAdd,
  datetimeDiff,
  datetimePart,
  endOf,
  startOf,
  timeOf,
  wide,
} from './calendar.js';
import { array } from './trino-expressions.js';
import { sqlText } from './trino-literal.js';
import { pattern, replacement } from './trino-patterns.js';
import { convert, literal, notHere, textOrEmpty, withoutNaN } from './trino-values.js';

/** A function computed by the cluster, one that only this machine computes (`here`), or one that the binder replaces (`bound`). */
type OfCluster<Args extends readonly unknown[]> = SqlTemplate<Args> | 'here' | 'bound';

type Functions = { readonly [Entry in CatalogEntry as Entry['name']]: OfCluster<ArgsOf<Entry['params']>> };
type Internal = {
  readonly [Entry in (typeof internalFunctions)[number] as Entry['name']]: OfCluster<ArgsOf<Entry['params']>>;
};

/** Every function of the catalog; a missing one fails the type check. */
const functions: Functions = {
  coalesce: args => coalesceSql(args),
  countof: ([search, text]) => `apl_count_of(${search.sql}, ${text.sql})`,
  countof_regex: ([regex, text]) =>
    `CAST(cardinality(regexp_extract_all(${text.sql}, ${pattern(regex, 0).sql})) AS bigint)`,
  extract: ([regex, group, text]) => extractSql(regex, group, text),
  indexof: ([text, lookup, start]) =>
    start === undefined
      ? `(strpos(${text.sql}, ${lookup.sql}) - 1)`
      : notHere('`indexof` with a start position'),
  isascii: ([text]) => `(length(${text.sql}) = length(to_utf8(${text.sql})))`,
  isempty: ([value]) => emptySql(value),
  isnotempty: ([value]) => `(NOT ${emptySql(value)})`,
  isnotnull: ([value]) => `(${value.sql} IS NOT NULL)`,
  isnull: ([value]) => `(${value.sql} IS NULL)`,
  replace_regex: ([regex, rewrite, text]) => {
    const found = pattern(regex, 0);
    return `regexp_replace(${text.sql}, ${found.sql}, ${replacement(rewrite, found.groups)})`;
  },
  replace_string: ([lookup, rewrite, text]) => {
    const replaced = `replace(${text.sql}, ${lookup.sql}, ${rewrite.sql})`;
    // Trino finds an empty string next to every character.
    return (constantText(lookup) ?? '') === ''
      ? `CASE WHEN ${lookup.sql} = '' AND ${rewrite.sql} IS NOT NULL THEN ${text.sql} ELSE ${replaced} END`
      : replaced;
  },
  reverse: ([text]) => `reverse(${text.sql})`,
  split: ([text, delimiter]) =>
    `json_format(CAST(CASE WHEN ${delimiter.sql} = '' THEN regexp_extract_all(${text.sql}, '(?s).') ELSE split(${text.sql}, ${delimiter.sql}) END AS JSON))`,
  strcat: args => `concat(${["CAST('' AS varchar)", ...args.map(textOrEmpty)].join(', ')})`,
  strcat_delim: ([delimiter, ...args]) =>
    `array_join(ARRAY[${args.map(textOrEmpty).join(', ')}], ${delimiter.sql})`,
  strcmp: ([a, b]) => `apl_compare(${a.sql}, ${b.sql})`,
  string_size: ([text]) => `length(to_utf8(${text.sql}))`,
  strlen: ([text]) => `length(${text.sql})`,
  substring: ([text, start, length]) =>
    `apl_substring(${text.sql}, ${start.sql}, ${length === undefined ? '2147483647' : length.sql})`,
  tolower: ([text]) => `lower(${text.sql})`,
  toupper: ([text]) => `upper(${text.sql})`,
  totitle: ([text]) => `concat(upper(substr(${text.sql}, 1, 1)), substr(${text.sql}, 2))`,
  trim: ([cutset, text]) => trimSql('BOTH', cutset, text),
  trim_start: ([cutset, text]) => trimSql('LEADING', cutset, text),
  trim_end: ([cutset, text]) => trimSql('TRAILING', cutset, text),
  trim_space: ([text]) =>
    `regexp_replace(${text.sql}, ${sqlText(`\\A[${whiteSpace}]+|[${whiteSpace}]+\\z`)}, '')`,
  trim_start_regex: ([regex, text]) =>
    `regexp_replace(${text.sql}, ${pattern(regex, 0, '\\A(?:', ')+').sql}, '')`,
  trim_end_regex: ([regex, text]) =>
    `regexp_replace(${text.sql}, ${pattern(regex, 0, '(?:', ')+\\z').sql}, '')`,
  base64_decode_tostring: ([text]) => `TRY(from_utf8(from_base64(${text.sql})))`,
  base64_encode_tostring: ([text]) => `to_base64(to_utf8(${text.sql}))`,
  hash_md5: ([value]) => hashSql('md5', value),
  hash_sha1: ([value]) => hashSql('sha1', value),
  hash_sha256: ([value]) => hashSql('sha256', value),
  hash_sha512: ([value]) => hashSql('sha512', value),
  tostring: ([value]) => `coalesce(${convert(value, 'string')}, ${value.type === 'bool' ? "'false'" : "''"})`,
  toint: ([value]) => convert(value, 'long'),
  todouble: ([value]) => convert(value, 'real'),
  tobool: ([value]) => convert(value, 'bool'),
  todatetime: ([value]) => convert(value, 'datetime'),
  totimespan: ([value]) => convert(value, 'timespan'),
  todynamic: ([value]) => parsed(value),
  isbool: ([value]) => typeTest(value, ['bool'], 'true|false'),
  isstring: ([value]) => typeTest(value, ['string'], '".*'),
  ismap: ([value]) => typeTest(value, [], '[{].*'),
  isarray: ([value]) => typeTest(value, [], '\\[.*'),
  isutf8: ([value]) => `(${value.sql} IS NOT NULL)`,
  iff: ([test, yes, no]) => `CASE WHEN ${test.sql} THEN ${yes.sql} ELSE ${no.sql} END`,
  case: args => caseSql(args),
  parse_ipv4: ([ip]) => `apl_ipv4_network(${ip.sql}, 32)`,
  parse_ipv4_mask: ([ip, prefix]) => `apl_ipv4_network(${ip.sql}, ${prefix.sql})`,
  ipv4_is_in_range: ([ip, range]) => `apl_ipv4_in(${ip.sql}, ${range.sql})`,
  ipv4_is_private: ([ip]) => `apl_ipv4_private(${ip.sql})`,
  ipv4_netmask_suffix: ([ip]) => `apl_ipv4_prefix(${ip.sql})`,
  ago: ([span], { now }) => timeOf(`${wide(literal('long', now))} - ${wide(span.sql)}`),
  now: ([offset], { now }) =>
    offset === undefined
      ? literal('long', now)
      : timeOf(`${wide(literal('long', now))} + ${wide(offset.sql)}`),
  datetime_add: ([part, count, time]) => datetimeAdd(part, count, time),
  datetime_diff: ([part, later, earlier]) => datetimeDiff(part, later, earlier),
  datetime_part: ([part, time]) => datetimePart(part, time),
  dayofmonth: ([time]) => datePart('day', time),
  dayofweek: ([time]) => `(${datePart('day_of_week', time)} % 7)`,
  dayofyear: ([time]) => datePart('day_of_year', time),
  endofday: args => endOf('days', args),
  endofmonth: args => endOf('months', args),
  endofweek: args => endOf('weeks', args),
  endofyear: args => endOf('years', args),
  getmonth: ([time]) => datePart('month', time),
  getyear: ([time]) => datePart('year', time),
  hourofday: ([time]) => clockPart(time, DAY, HOUR),
  monthofyear: ([time]) => datePart('month', time),
  startofday: args => startOf('days', args),
  startofmonth: args => startOf('months', args),
  startofweek: args => startOf('weeks', args),
  startofyear: args => startOf('years', args),
  unixtime_microseconds_todatetime: ([count]) => timeOf(`${wide(count.sql)} * ${MICROSECOND}`),
  unixtime_milliseconds_todatetime: ([count]) => timeOf(`${wide(count.sql)} * ${MILLISECOND}`),
  unixtime_nanoseconds_todatetime: ([count]) => timeOf(wide(count.sql)),
  unixtime_seconds_todatetime: ([count]) => timeOf(`${wide(count.sql)} * ${SECOND}`),
  week_of_year: ([time]) => datePart('week', time),
  abs: ([x]) =>
    x.type === 'real'
      ? `abs(${x.sql})`
      : x.type === 'dynamic'
        ? notHere('`abs` of a dynamic value')
        : `TRY(abs(${x.sql}))`,
  acos: ([x]) => `CASE WHEN ${x.sql} BETWEEN -1 AND 1 THEN acos(${x.sql}) END`,
  asin: ([x]) => `CASE WHEN ${x.sql} BETWEEN -1 AND 1 THEN asin(${x.sql}) END`,
  atan: ([x]) => `atan(${x.sql})`,
  atan2: ([y, x]) => `atan2(${y.sql}, ${x.sql})`,
  cos: ([x]) => `CASE WHEN is_finite(${x.sql}) THEN cos(${x.sql}) END`,
  sin: ([x]) => `CASE WHEN is_finite(${x.sql}) THEN sin(${x.sql}) END`,
  tan: ([x]) => `CASE WHEN is_finite(${x.sql}) THEN tan(${x.sql}) END`,
  degrees: ([x]) => `degrees(${x.sql})`,
  radians: ([x]) => `radians(${x.sql})`,
  exp: ([x]) => `exp(${x.sql})`,
  exp10: ([x]) => `pow(DOUBLE '10', ${x.sql})`,
  exp2: ([x]) => `pow(DOUBLE '2', ${x.sql})`,
  isfinite: ([x]) => `coalesce(is_finite(${x.sql}), false)`,
  isinf: ([x]) => `coalesce(is_infinite(${x.sql}), false)`,
  isint: ([x]) => `coalesce(is_finite(${x.sql}) AND floor(${x.sql}) = ${x.sql}, false)`,
  isnan: ([x]) => `coalesce(is_nan(${x.sql}), false)`,
  log: ([x]) => `CASE WHEN ${x.sql} > 0 THEN ln(${x.sql}) END`,
  log10: ([x]) => `CASE WHEN ${x.sql} > 0 THEN log10(${x.sql}) END`,
  log2: ([x]) => `CASE WHEN ${x.sql} > 0 THEN log2(${x.sql}) END`,
  max_of: args => extreme('array_max', args),
  min_of: args => extreme('array_min', args),
  not: ([value]) => `(NOT ${value.sql})`,
  pi: () => 'pi()',
  pow: ([base, exponent]) => `pow(${base.sql}, ${exponent.sql})`,
  rand: ([bound]) =>
    bound === undefined ? 'random()' : `CASE WHEN ${bound.sql} > 0 THEN floor(random() * ${bound.sql}) END`,
  round: ([x, precision]) =>
    precision === undefined
      ? `round(${x.sql})`
      : `round(${x.sql}, CAST(least(greatest(${precision.sql}, -400), 400) AS integer))`,
  sign: ([x]) =>
    x.type === 'real'
      ? `CASE WHEN NOT is_nan(${x.sql}) THEN CAST(sign(${x.sql}) AS bigint) END`
      : `CAST(sign(${x.sql}) AS bigint)`,
  sqrt: ([x]) => `sqrt(${x.sql})`,
  bin: ([value, size]) => bin(value, size),
  bin_auto: ([time], { start, end }) =>
    binTime(time, literal('long', autoBinWidth(start, end)), autoBinWidth(start, end)),
  ceiling: ([x]) => (x.type === 'real' ? `apl_ceiling(${x.sql})` : x.sql),
  floor: ([x]) => (x.type === 'real' ? `apl_floor(${x.sql})` : x.sql),
  array_length: ([list]) => `apl_array_length(${list.sql})`,
  pack_array: args => array(args),
  extract_all: 'here',
  indexof_regex: 'here',
  regex_quote: 'here',
  strip_ansi_escapes: 'here',
  strrep: 'here',
  translate: 'here',
  trim_regex: ([regex, text]) =>
    `regexp_replace(regexp_replace(${text.sql}, ${pattern(regex, 0, '\\A(?:', ')+').sql}, ''), ${pattern(regex, 0, '(?:', ')+\\z').sql}, '')`,
  base64_decode_toarray: 'here',
  base64_encode_fromarray: 'here',
  format_bytes: 'here',
  format_url: 'here',
  parse_bytes: 'here',
  parse_csv: 'here',
  parse_json: 'here',
  parse_path: 'here',
  parse_url: 'here',
  parse_urlquery: 'here',
  quote: 'here',
  unicode_codepoints_from_string: 'here',
  unicode_codepoints_to_string: 'here',
  url_decode: 'here',
  url_encode: 'here',
  pair: 'here',
  parse_pair: 'here',
  find_pair: 'here',
  hash: 'here',
  toarray: 'here',
  tohex: 'here',
  dynamic_to_json: 'here',
  ensure_field: 'bound',
  isreal: ([value]) =>
    value.type === 'real'
      ? `coalesce(is_finite(${value.sql}), false)`
      : typeTest(value, ['long'], '-?[0-9].*'),
  iscc: 'here',
  isimei: 'here',
  gettype: 'here',
  column_ifexists: 'bound',
  ingestion_time: 'bound',
  cursor_current: 'bound',
  format_ipv4: 'here',
  format_ipv4_mask: 'here',
  ipv4_compare: 'here',
  ipv4_is_match: 'here',
  ipv4_is_in_any_range: 'here',
  has_ipv4: 'here',
  has_ipv4_prefix: 'here',
  has_any_ipv4: 'here',
  has_any_ipv4_prefix: 'here',
  ipv6_compare: 'here',
  ipv6_is_match: 'here',
  ipv6_is_in_range: 'here',
  ipv6_is_in_any_range: 'here',
  geo_info_from_ip_address: 'here',
  genai_concat_contents: 'here',
  genai_conversation_turns: 'here',
  genai_cost: 'here',
  genai_input_cost: 'here',
  genai_output_cost: 'here',
  genai_get_pricing: 'here',
  genai_estimate_tokens: 'here',
  genai_extract_assistant_response: 'here',
  genai_extract_user_prompt: 'here',
  genai_extract_system_prompt: 'here',
  genai_extract_tool_calls: 'here',
  genai_extract_function_results: 'here',
  genai_has_tool_calls: 'here',
  genai_get_content_by_index: 'here',
  genai_get_content_by_role: 'here',
  genai_get_role: 'here',
  genai_message_roles: 'here',
  genai_is_truncated: 'here',
  parse_sql: 'here',
  format_sql: 'here',
  cot: ([x]) => `CASE WHEN ${x.sql} <> 0 AND is_finite(${x.sql}) THEN 1 / tan(${x.sql}) END`,
  gamma: 'here',
  loggamma: 'here',
  range: 'here',
  set_difference: 'here',
  set_has_element: 'here',
  set_intersect: 'here',
  set_union: 'here',
  array_concat: 'here',
  array_extract: 'here',
  array_iff: 'here',
  array_index_of: 'here',
  array_reverse: 'here',
  array_rotate_left: 'here',
  array_rotate_right: 'here',
  array_select_dict: 'here',
  array_shift_left: 'here',
  array_shift_right: 'here',
  array_slice: 'here',
  array_sort_asc: 'here',
  array_sort_desc: 'here',
  array_split: 'here',
  array_sum: 'here',
  bag_has_key: ([bag, key]) =>
    `CASE WHEN ${bag.sql} IS NOT NULL AND ${key.sql} IS NOT NULL THEN coalesce(contains(map_keys(TRY_CAST(json_extract(${bag.sql}, '$') AS map(varchar, json))), ${key.sql}), false) END`,
  bag_keys: ([bag]) =>
    `CASE WHEN substr(${bag.sql}, 1, 1) = '{' THEN json_format(CAST(map_keys(CAST(json_extract(${bag.sql}, '$') AS map(varchar, json))) AS json)) END`,
  bag_pack: 'here',
  bag_zip: 'here',
  len: ([value]) =>
    value.type === 'string'
      ? `length(${value.sql})`
      : value.type === 'dynamic'
        ? `CASE WHEN substr(${value.sql}, 1, 1) = '"' THEN length(apl_dyn_text(${value.sql})) ELSE apl_array_length(${value.sql}) END`
        : notHere(`\`len\` of a ${value.type}`),
  pack_dictionary: 'here',
  strcat_array: 'here',
  series_abs: 'here',
  series_acos: 'here',
  series_add: 'here',
  series_asin: 'here',
  series_atan: 'here',
  series_ceiling: 'here',
  series_cos: 'here',
  series_cosine_similarity: 'here',
  series_divide: 'here',
  series_dot_product: 'here',
  series_equals: 'here',
  series_exp: 'here',
  series_fft: 'here',
  series_fill_backward: 'here',
  series_fill_const: 'here',
  series_fill_forward: 'here',
  series_fill_linear: 'here',
  series_fir: 'here',
  series_floor: 'here',
  series_greater: 'here',
  series_greater_equals: 'here',
  series_ifft: 'here',
  series_iir: 'here',
  series_less: 'here',
  series_less_equals: 'here',
  series_log: 'here',
  series_magnitude: 'here',
  series_max: 'here',
  series_min: 'here',
  series_multiply: 'here',
  series_not_equals: 'here',
  series_pearson_correlation: 'here',
  series_pow: 'here',
  series_sign: 'here',
  series_sin: 'here',
  series_stats: 'here',
  series_stats_dynamic: 'here',
  series_subtract: 'here',
  series_sum: 'here',
  series_tan: 'here',
};

/** Functions that operators compile to. */
const internal: Internal = {
  $regex_group: ([text, regex, group]) => groupOf(text.sql, regex, Number(group.constant ?? 0)),
  $regex_part: ([text, regex, group]) => groupOf(text.sql, regex, Number(group.constant ?? 0)),
  // Matched again for each group.
  $regex_match: ([text]) => text.sql,
  $regex_text: ([match, regex, group]) => groupOf(match.sql, regex, Number(group.constant ?? 0)),
  $valid: ([value]) => valid(value),
  $histogram_bucket: 'here',
  $joined_text: args =>
    `array_join(ARRAY[${args.map(({ sql }) => sql).join(', ')}], ${sqlText('\n\uffff\n')})`,
  $compare: ([operator, a, b]) => compareLoose(constantText(operator) ?? '', a, b),
  $first: args => `coalesce(${args.map(({ sql }) => sql).join(', ')})`,
  $document: 'here',
  $json: 'here',
  $texts: 'here',
  $redact: 'here',
};

/** The operator that users write for an internal function. */
const operatorOf: Readonly<Record<string, string>> = {
  $histogram_bucket: 'histogram',
  $redact: 'redact',
};

const all: Readonly<Record<string, OfCluster<never>>> = { ...functions, ...internal };

/** Names of catalog functions, with whether the cluster computes them. */
export const computedThere: ReadonlyMap<string, boolean> = new Map(
  Object.entries<OfCluster<never>>(functions).flatMap(([name, template]) =>
    template === 'bound' ? [] : [[name, template !== 'here'] as const],
  ),
);

/** Returns a call to a catalog function or to one of the compiler's internal functions. */
export function callSql(name: string, args: readonly SqlArg[], context: SqlContext): string {
  const template = all[name];
  if (template === undefined || typeof template === 'string')
    return notHere(`\`${operatorOf[name] ?? name}\``);
  return (template as SqlTemplate)(args, context);
}

function valid({ sql, type }: SqlArg): string {
  switch (type) {
    case 'string':
      return `nullif(${sql}, '')`;
    case 'bool':
      return `CASE WHEN ${sql} THEN true END`;
    case 'real':
      return `CASE WHEN is_finite(${sql}) AND ${sql} <> 0 THEN ${sql} END`;
    case 'long':
    case 'timespan':
      return `nullif(${sql}, 0)`;
    case 'datetime':
      return sql;
    case 'dynamic':
      return `CASE WHEN ${sql} NOT IN ('""', '[]', '{}', 'null', 'false', '0') THEN ${sql} END`;
  }
}

/** The Unicode white space characters. */
const whiteSpace =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Returns the first value that is neither null nor empty, otherwise an empty one if any. */
function coalesceSql(args: readonly SqlArg[]): string {
  const values = args.map(({ sql }) => sql);
  const filled = args.filter(({ type }) => type === 'string' || type === 'dynamic').map(nonEmpty);
  return `coalesce(${[...(filled.length === args.length ? filled : []), ...values].join(', ')})`;
}

function nonEmpty({ sql, type }: SqlArg): string {
  return `nullif(${sql}, ${type === 'string' ? "''" : `'""'`})`;
}

function emptySql({ sql, type }: SqlArg): string {
  if (type === 'string') return `coalesce(${sql} = '', true)`;
  return type === 'dynamic' ? `coalesce(${sql} = '""', true)` : `(${sql} IS NULL)`;
}

/** A group missing from the pattern captures nothing. */
function extractSql(regex: SqlArg, group: SqlArg, text: SqlArg): string {
  const index = Number(group.constant ?? -1);
  if (index < 0 || index > pattern(regex, 0).groups) return literal('string', null);
  return groupOf(text.sql, regex, index);
}

/** A group that does not participate in a match is empty. */
function groupOf(text: string, regex: SqlArg, group: number): string {
  const { sql } = pattern(regex, 1);
  return `CASE WHEN regexp_like(${text}, ${sql}) THEN coalesce(regexp_extract(${text}, ${sql}, ${group}), '') END`;
}

function trimSql(side: 'BOTH' | 'LEADING' | 'TRAILING', cutset: SqlArg, text: SqlArg): string {
  return cutset.constant === '' ? text.sql : `trim(${side} ${cutset.sql} FROM ${text.sql})`;
}

function hashSql(name: string, value: SqlArg): string {
  return `lower(to_hex(${name}(to_utf8(${convert(value, 'string')}))))`;
}

function typeTest({ sql, type }: SqlArg, types: readonly string[], shape: string): string {
  if (type === 'dynamic') return `coalesce(regexp_like(${sql}, ${sqlText(`(?s)\\A(?:${shape})\\z`)}), false)`;
  return types.includes(type) ? `(${sql} IS NOT NULL)` : 'false';
}

/** Parses a dynamic value if it is a string. */
function parsed(value: SqlArg): string {
  if (value.type !== 'dynamic') return `apl_parse_json(${convert(value, 'string')})`;
  const { sql } = value;
  return `CASE WHEN substr(${sql}, 1, 1) = '"' THEN apl_parse_json(json_extract_scalar(${sql}, '$')) ELSE ${sql} END`;
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

/** Skips nulls and NaN. */
function extreme(name: 'array_max' | 'array_min', args: readonly SqlArg[]): string {
  if (args.some(({ type }) => type === 'dynamic')) return notHere('The maximum or minimum of dynamic values');
  return `${name}(filter(ARRAY[${args.map(withoutNaN).join(', ')}], e -> e IS NOT NULL))`;
}

/** Compares two values, at least one dynamic: numbers exactly by value, anything else as strings. */
function compareLoose(operator: string, left: SqlArg, right: SqlArg): string {
  if (operator === '!=') {
    const isThere = `(${left.sql} IS NOT NULL OR ${right.sql} IS NOT NULL)`;
    return `(${isThere} AND NOT ${compareLoose('==', left, right)})`;
  }
  const [x, y] = [convert(left, 'real'), convert(right, 'real')];
  const [m, n] = [convert(left, 'long'), convert(right, 'long')];
  const number =
    operator === '=='
      ? `(${x} = ${y} AND ${m} IS NOT DISTINCT FROM ${n})`
      : `(${x} ${operator.charAt(0)} ${y} OR (${x} = ${y} AND coalesce(${m} ${operator} ${n}, ${operator.length > 1})))`;
  const text = `${convert(left, 'string')} ${operator === '==' ? '=' : operator} ${convert(right, 'string')}`;
  const otherwise = left.type === 'dynamic' && right.type === 'dynamic' ? `ELSE ${text}` : '';
  return `coalesce(CASE WHEN ${x} IS NOT NULL AND ${y} IS NOT NULL THEN ${number} ${otherwise} END, false)`;
}

const daysBefore1970 = 719_162n;

/** Bins of a time start a whole number of widths from 0001-01-01. */
function binTime(time: SqlArg, width: string, constant: bigint): string {
  const phase = (((-daysBefore1970 * DAY) % constant) + constant) % constant;
  return `apl_bin_time(${time.sql}, ${width}, ${literal('long', phase)})`;
}

function bin(value: SqlArg, size: SqlArg): string {
  const width = size.constant;
  if ((typeof width === 'bigint' || typeof width === 'number') && !(width > 0))
    throw new TemplateError('the size of a bin must be positive', 1);
  const timed = value.type === 'datetime' || value.type === 'timespan';
  if (value.type === 'dynamic' || value.type === 'bool' || value.type === 'string')
    return notHere(`\`bin\` of a ${value.type}`);
  if (timed ? size.type !== 'timespan' : size.type !== 'long' && size.type !== 'real') {
    const example = timed ? 'a timespan such as 5m' : 'a number';
    throw new TemplateError(`the bin size for a ${value.type} must be ${example}, not a ${size.type}`, 1);
  }
  if (value.type === 'datetime')
    return typeof width === 'bigint'
      ? binTime(value, size.sql, width)
      : notHere('`bin` of timestamps by a column');
  if (value.type !== 'real' && size.type !== 'real') return `apl_bin_time(${value.sql}, ${size.sql}, 0)`;
  const [x, w] = [convert(value, 'real'), convert(size, 'real')];
  const real = `CASE WHEN ${w} > 0 THEN apl_bin_real(${x}, ${w}) END`;
  return value.type === 'real' ? real : `apl_floor(${real})`;
}
