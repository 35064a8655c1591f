import {
  DAY,
  EARLIEST_TIME,
  HOUR,
  LATEST_TIME,
  MICROSECOND,
  MILLISECOND,
  MINUTE,
  SECOND,
} from '../../time.js';

/**
 * Functions that a statement brings along, since it cannot create permanent ones: name, parameters with result, and body. A function may
 * call earlier ones. In all of them, `IN`, `BETWEEN`, `NULLIF` and `CASE x WHEN` fail to compile over columns, although they work over
 * constants.
 */
export const inlineFunctions: readonly (readonly [name: string, signature: string, body: string])[] = [
  ['apl_json', '(j varchar) RETURNS varchar', `CASE WHEN j <> 'null' THEN j END`],
  ['apl_floor_div', '(n bigint, d bigint) RETURNS bigint', 'n / d - (CASE WHEN n % d < 0 THEN 1 ELSE 0 END)'],
  ['apl_floor_mod', '(n bigint, d bigint) RETURNS bigint', '(n % d + d) % d'],
  [
    'apl_real_long',
    '(x double) RETURNS bigint',
    `CASE WHEN x >= DOUBLE '-9223372036854775808' AND x < DOUBLE '9223372036854775808' THEN CAST(truncate(x) AS bigint) END`,
  ],
  [
    'apl_digits_text',
    '(m varchar, e bigint) RETURNS varchar',
    `CASE WHEN e < 0 THEN concat('0.', rpad('', -e - 1, '0'), m) WHEN length(m) <= e + 1 THEN rpad(m, e + 1, '0')
      ELSE concat(substr(m, 1, e + 1), '.', substr(m, e + 2)) END`,
  ],
  [
    'apl_unsigned_text',
    '(t varchar) RETURNS varchar',
    `apl_digits_text(CASE WHEN regexp_replace(replace(split_part(t, 'E', 1), '.', ''), '0+\\z', '') = '' THEN '0'
      ELSE regexp_replace(replace(split_part(t, 'E', 1), '.', ''), '0+\\z', '') END, CAST(split_part(t, 'E', 2) AS bigint))`,
  ],
  [
    'apl_real_text',
    '(x double) RETURNS varchar',
    `CASE WHEN x IS NULL THEN NULL WHEN is_nan(x) THEN 'NaN' WHEN is_infinite(x) THEN (CASE WHEN x > 0 THEN '+Inf' ELSE '-Inf' END)
      WHEN x = 0 THEN (CASE WHEN 1 / x < 0 THEN '-0' ELSE '0' END)
      ELSE concat(CASE WHEN x < 0 THEN '-' ELSE '' END, apl_unsigned_text(CAST(abs(x) AS varchar))) END`,
  ],
  [
    'apl_text_long',
    '(s varchar) RETURNS bigint',
    `CASE WHEN regexp_like(s, '\\A[+-]?[0-9]+\\z') THEN TRY_CAST(s AS bigint) END`,
  ],
  [
    'apl_text_real',
    '(s varchar) RETURNS double',
    `CASE WHEN regexp_like(s, '(?i)\\A[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:e[+-]?[0-9]+)?\\z') THEN
      (CASE WHEN is_finite(TRY_CAST(s AS double)) THEN TRY_CAST(s AS double) END)
      WHEN regexp_like(s, '(?i)\\A[+-]?nan\\z') THEN nan() WHEN regexp_like(s, '(?i)\\A-inf(?:inity)?\\z') THEN -infinity()
      WHEN regexp_like(s, '(?i)\\A[+]?inf(?:inity)?\\z') THEN infinity() END`,
  ],
  [
    'apl_text_bool',
    '(s varchar) RETURNS boolean',
    `CASE WHEN regexp_like(s, '\\A(?:1|t|T|TRUE|true|True)\\z') THEN true WHEN regexp_like(s, '\\A(?:0|f|F|FALSE|false|False)\\z') THEN false END`,
  ],
  [
    'apl_timestamp',
    '(t timestamp(9)) RETURNS bigint',
    `date_diff('second', TIMESTAMP '1970-01-01 00:00:00', date_trunc('second', t)) * BIGINT '1000000000' + CAST(round(to_unixtime(date_add('second',
      -date_diff('second', TIMESTAMP '1970-01-01 00:00:00', date_trunc('second', t)), t)) * 1e9) AS bigint)`,
  ],
  [
    'apl_zone',
    '(z varchar) RETURNS bigint',
    `CASE WHEN z IS NULL OR z = 'Z' THEN 0 ELSE (CASE WHEN substr(z, 1, 1) = '-' THEN -1 ELSE 1 END)
      * (CAST(substr(z, 2, 2) AS bigint) * ${HOUR} + CAST(substr(z, 5, 2) AS bigint) * ${MINUTE}) END`,
  ],
  [
    'apl_iso',
    '(s varchar) RETURNS bigint',
    `apl_timestamp(TRY_CAST(concat(substr(s, 1, 10), ' ', CASE WHEN length(s) < 16 THEN '00:00:00' WHEN regexp_like(s, '\\A.{16}:') THEN
      regexp_extract(s, '\\A.{11}([0-9:]+(?:[.][0-9]{1,9})?)', 1) ELSE concat(substr(s, 12, 5), ':00') END) AS timestamp(9)))
      - apl_zone(regexp_extract(s, '(?:Z|[+-][0-9]{2}:[0-9]{2})\\z'))`,
  ],
  [
    'apl_text_time',
    '(s varchar) RETURNS bigint',
    `CASE WHEN regexp_like(s, '\\A(?:1[7-9]|2[01])[0-9]{2}-[0-9]{2}-[0-9]{2}(?:[T ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?\\z')
      THEN apl_iso(s) END`,
  ],
  [
    'apl_time_text',
    '(n bigint) RETURNS varchar',
    `CASE WHEN n IS NULL THEN NULL ELSE concat(replace(CAST(CAST(date_add('second', apl_floor_div(n, 1000000000), TIMESTAMP '1970-01-01 00:00:00') AS timestamp(0)) AS varchar), ' ', 'T'),
      CASE WHEN n % 1000000000 = 0 THEN '' ELSE concat('.', regexp_replace(lpad(CAST(apl_floor_mod(n, 1000000000) AS varchar), 9, '0'), '0+\\z', '')) END, 'Z') END`,
  ],
  [
    'apl_decimal_text',
    '(n bigint, unit bigint, digits bigint) RETURNS varchar',
    `concat(CAST(n / unit AS varchar), CASE WHEN n % unit = 0 THEN '' ELSE concat('.', regexp_replace(lpad(CAST(n % unit AS varchar), digits, '0'), '0+\\z', '')) END)`,
  ],
  [
    'apl_magnitude_text',
    '(n bigint) RETURNS varchar',
    `CASE WHEN n = 0 THEN '0s' WHEN n < ${MICROSECOND} THEN concat(CAST(n AS varchar), 'ns') WHEN n < ${MILLISECOND} THEN concat(apl_decimal_text(n, ${MICROSECOND}, 3), 'µs')
      WHEN n < ${SECOND} THEN concat(apl_decimal_text(n, ${MILLISECOND}, 6), 'ms') ELSE concat(CASE WHEN n < ${HOUR} THEN '' ELSE concat(CAST(n / ${HOUR} AS varchar), 'h') END,
      CASE WHEN n < ${MINUTE} THEN '' ELSE concat(CAST(n / ${MINUTE} % 60 AS varchar), 'm') END, apl_decimal_text(n % ${MINUTE}, ${SECOND}, 9), 's') END`,
  ],
  [
    'apl_span_text',
    '(n bigint) RETURNS varchar',
    `CASE WHEN n IS NULL THEN NULL WHEN n >= 0 THEN apl_magnitude_text(n) WHEN n = BIGINT '-9223372036854775808' THEN '-2562047h47m16.854775808s'
      ELSE concat('-', apl_magnitude_text(-n)) END`,
  ],
  ['apl_json_text', '(s varchar) RETURNS varchar', 'json_format(CAST(s AS JSON))'],
  [
    'apl_real_json',
    '(x double) RETURNS varchar',
    'CASE WHEN is_finite(x) THEN json_format(CAST(x AS JSON)) END',
  ],
  ['apl_time_json', '(n bigint) RETURNS varchar', `concat('"', apl_time_text(n), '"')`],
  [
    'apl_parse_json',
    '(s varchar) RETURNS varchar',
    `CASE WHEN TRY(json_parse(s)) IS NOT NULL THEN apl_json(json_format(json_extract(s, '$'))) END`,
  ],
  ['apl_at', '(j varchar, p varchar) RETURNS varchar', `apl_json(TRY(json_format(json_extract(j, p))))`],
  [
    'apl_dyn_text',
    '(j varchar) RETURNS varchar',
    `CASE WHEN substr(j, 1, 1) = '"' THEN json_extract_scalar(j, '$') WHEN regexp_like(j, '\\A-?[0-9]+[.eE]') THEN apl_real_text(TRY_CAST(j AS double)) ELSE j END`,
  ],
  [
    'apl_dyn_long',
    '(j varchar) RETURNS bigint',
    `CASE WHEN substr(j, 1, 1) = '"' THEN apl_text_long(json_extract_scalar(j, '$')) WHEN j = 'true' THEN 1 WHEN j = 'false' THEN 0
      WHEN regexp_like(j, '\\A-?[0-9]+\\z') THEN TRY_CAST(j AS bigint) WHEN regexp_like(j, '\\A-?[0-9]') THEN apl_real_long(TRY_CAST(j AS double)) END`,
  ],
  [
    'apl_dyn_real',
    '(j varchar) RETURNS double',
    `CASE WHEN substr(j, 1, 1) = '"' THEN apl_text_real(json_extract_scalar(j, '$')) WHEN j = 'true' THEN 1 WHEN j = 'false' THEN 0 ELSE apl_text_real(j) END`,
  ],
  [
    'apl_dyn_bool',
    '(j varchar) RETURNS boolean',
    `CASE WHEN substr(j, 1, 1) = '"' THEN apl_text_bool(json_extract_scalar(j, '$')) WHEN j = 'true' THEN true WHEN j = 'false' THEN false
      WHEN regexp_like(j, '\\A-?[0-9]') THEN TRY_CAST(j AS double) <> 0 END`,
  ],
  [
    'apl_dyn_time',
    '(j varchar) RETURNS bigint',
    `CASE WHEN substr(j, 1, 1) = '"' THEN apl_text_time(json_extract_scalar(j, '$')) WHEN regexp_like(j, '\\A-?[0-9]') THEN apl_dyn_long(j) END`,
  ],
  [
    'apl_bin_time',
    '(n bigint, w bigint, phase bigint) RETURNS bigint',
    `CASE WHEN w <= 0 OR n < BIGINT '-9223372036854775808' + phase THEN NULL WHEN (n - phase) % w >= 0 THEN n - (n - phase) % w
      WHEN n < BIGINT '-9223372036854775808' + ((n - phase) % w + w) THEN NULL ELSE n - (n - phase) % w - w END`,
  ],
  [
    'apl_bin_real',
    '(x double, w double) RETURNS double',
    'CASE WHEN is_finite(x / w) THEN floor(x / w) * w ELSE x END',
  ],
  [
    'apl_floor',
    '(x double) RETURNS bigint',
    'CASE WHEN x >= -9.2e18 AND x <= 9.2e18 THEN CAST(floor(x) AS bigint) END',
  ],
  [
    'apl_ceiling',
    '(x double) RETURNS bigint',
    'CASE WHEN x >= -9.2e18 AND x <= 9.2e18 THEN CAST(ceiling(x) AS bigint) END',
  ],
  ['apl_date', '(n bigint) RETURNS date', `date_add('day', apl_floor_div(n, ${DAY}), DATE '1970-01-01')`],
  [
    'apl_midnight',
    '(d date) RETURNS bigint',
    `CASE WHEN d >= DATE '1677-09-22' AND d <= DATE '2262-04-11' THEN date_diff('day', DATE '1970-01-01', d) * ${DAY} END`,
  ],
  [
    'apl_offset',
    '(n bigint) RETURNS bigint',
    'CASE WHEN n IS NOT NULL THEN least(greatest(n, -250000), 250000) END',
  ],
  ['apl_add_days', '(d date, n bigint) RETURNS date', `date_add('day', apl_offset(n), d)`],
  [
    'apl_add_weeks',
    '(d date, n bigint) RETURNS date',
    `date_add('day', apl_offset(n) * 7 - day_of_week(d) % 7, d)`,
  ],
  [
    'apl_add_months',
    '(d date, n bigint) RETURNS date',
    `date_add('month', apl_offset(n), date_trunc('month', d))`,
  ],
  [
    'apl_add_years',
    '(d date, n bigint) RETURNS date',
    `date_add('year', apl_offset(n), date_trunc('year', d))`,
  ],
  [
    'apl_shift_months',
    '(n bigint, m bigint) RETURNS bigint',
    `apl_midnight(date_add('month', m, apl_date(n))) + apl_floor_mod(n, ${DAY})`,
  ],
  [
    'apl_time',
    '(n decimal(38, 0)) RETURNS bigint',
    `CASE WHEN n >= ${EARLIEST_TIME} AND n <= ${LATEST_TIME} THEN CAST(n AS bigint) END`,
  ],
  [
    'apl_substring',
    '(s varchar, a bigint, n bigint) RETURNS varchar',
    `CASE WHEN a IS NULL OR n IS NULL THEN NULL WHEN n <= 0 THEN substr(s, 1, 0)
      ELSE substr(s, (CASE WHEN a < 0 THEN greatest(length(s) + a, 0) ELSE least(a, 2147483646) END) + 1, least(n, 2147483647)) END`,
  ],
  [
    'apl_count_of',
    '(f varchar, s varchar) RETURNS bigint',
    `CASE WHEN f = '' THEN length(s) + 1 ELSE (length(s) - length(replace(s, f, ''))) / length(f) END`,
  ],
  [
    'apl_compare',
    '(a varchar, b varchar) RETURNS bigint',
    'CASE WHEN a < b THEN -1 WHEN a = b THEN 0 WHEN a > b THEN 1 END',
  ],
  [
    'apl_term',
    '(t varchar) RETURNS varchar',
    `concat('(?:\\A|[^\\p{L}\\p{N}])', regexp_replace(t, '([^\\p{L}\\p{N}_\\s])', '\\\\$1'), '(?:\\z|[^\\p{L}\\p{N}])')`,
  ],
  [
    'apl_array_length',
    '(j varchar) RETURNS bigint',
    `CASE WHEN substr(j, 1, 1) = '[' THEN json_array_length(j) END`,
  ],
  [
    'apl_ipv4',
    '(s varchar) RETURNS bigint',
    `CASE WHEN regexp_like(s, '\\A(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:[.]|\\z)){4}\\z') AND NOT regexp_like(s, '[.]\\z') THEN
      CAST(split_part(s, '.', 1) AS bigint) * 16777216 + CAST(split_part(s, '.', 2) AS bigint) * 65536 + CAST(split_part(s, '.', 3) AS bigint) * 256
      + CAST(split_part(s, '.', 4) AS bigint) END`,
  ],
  [
    'apl_ipv4_prefix',
    '(s varchar) RETURNS bigint',
    `CASE WHEN apl_ipv4(s) IS NOT NULL THEN 32 WHEN apl_ipv4(split_part(s, '/', 1)) IS NOT NULL AND regexp_like(s, '\\A[^/]*/(?:3[0-2]|[12]?[0-9])\\z')
      THEN CAST(split_part(s, '/', 2) AS bigint) END`,
  ],
  [
    'apl_ipv4_masked',
    '(n bigint, p bigint) RETURNS bigint',
    'CASE WHEN p >= 0 AND p <= 32 THEN n - n % CAST(pow(2, 32 - p) AS bigint) END',
  ],
  [
    'apl_ipv4_network',
    '(s varchar, p bigint) RETURNS bigint',
    `CASE WHEN p >= 0 AND p <= 32 THEN apl_ipv4_masked(apl_ipv4(split_part(s, '/', 1)), least(apl_ipv4_prefix(s), p)) END`,
  ],
  [
    'apl_ipv4_in',
    '(s varchar, r varchar) RETURNS boolean',
    `(apl_ipv4_masked(apl_ipv4(s), apl_ipv4_prefix(r)) = apl_ipv4_masked(apl_ipv4(split_part(r, '/', 1)), apl_ipv4_prefix(r)))`,
  ],
  [
    'apl_ipv4_private',
    '(s varchar) RETURNS boolean',
    `CASE WHEN apl_ipv4(split_part(s, '/', 1)) IS NOT NULL THEN regexp_like(s, '\\A(?:10[.]|192[.]168[.]|172[.](?:1[6-9]|2[0-9]|3[01])[.])') END`,
  ],
  [
    'apl_quantile',
    '(l array(double), p double) RETURNS double',
    `CASE WHEN cardinality(l) > 0 THEN element_at(l, CAST(floor((cardinality(l) - 1) * p) AS bigint) + 1) + (element_at(l, CAST(ceiling((cardinality(l) - 1) * p) AS bigint) + 1)
      - element_at(l, CAST(floor((cardinality(l) - 1) * p) AS bigint) + 1)) * ((cardinality(l) - 1) * p - floor((cardinality(l) - 1) * p)) END`,
  ],
];

const names = new Set(inlineFunctions.map(([name]) => name));

/** Returns a statement preceded by the functions that it calls, directly or indirectly. */
export function withFunctions(sql: string): string {
  const wanted = calledIn(sql);
  // Called functions come before their callers.
  for (const [name, , body] of inlineFunctions.toReversed())
    if (wanted.has(name)) for (const called of calledIn(body)) wanted.add(called);
  const written = inlineFunctions
    .filter(([name]) => wanted.has(name))
    .map(([name, signature, body]) => `FUNCTION ${name}${signature} RETURN ${body}`);
  return written.length === 0 ? sql : `WITH ${written.join(',\n')}\n${sql}`;
}

function calledIn(sql: string): Set<string> {
  const found = [...sql.matchAll(/\bapl_\w+(?=\()/g)].map(([name]) => name);
  return new Set(found.filter(name => names.has(name)));
}
