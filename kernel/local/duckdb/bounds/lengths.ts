import type { CatalogEntry, FunctionName } from '../../../apl/catalog/all-functions.js';
import { type ArgsOf, type Size, type SqlArg, sizeOfAll } from '../../sql/sql-template.js';
import { sqlText } from '../duckdb-literal.js';

/** Maximum size of a value computed by a query, in bytes. */
export const longestValue = 64 * 2 ** 20;

/** Name of the macro that tests potentially long values. */
export const lengthTest = 'apl_too_long';

const mark = 'too long: ';

/** Returns the function that would have produced too long a value, if an engine error reports one. */
export function lengthenedBy(text: string): string | undefined {
  return new RegExp(`${mark}([\\w ]+)\\.`).exec(text)?.[1];
}

/** Returns the message about too long a value. */
export function tooLongMessage(name: string): string {
  return `\`${name}\` would produce a value of more than ${longestValue / 2 ** 20} MiB, the maximum size`;
}

export const tooLongHint =
  'Shorten its arguments first, for example with substring or array_slice, or pass fewer.';

/**
 * Size class of a function's result. `short`: a number, a bool, a time or a few characters. `bounded`: about as long as its arguments
 * combined at most. Anything else is checked before it is computed.
 */
type Anything = readonly (SqlArg | undefined)[];
type Growth<Args> = 'short' | 'bounded' | Growing<Args>;

interface Growing<Args = Anything> {
  /** Maximum bytes of output per byte of the arguments; 0 if that depends on another argument. */
  readonly factor: number;
  /**
   * SQL for the maximum size of the value in bytes (default: its actual length, since a small multiple is harmless). `count` returns that
   * of the elements of an array.
   */
  readonly bytes?: (args: Args, value: string, count: (array: SqlArg) => string) => string;
  /** SQL for a cheap estimate of the size (default: `bytes`, or twice the size of the arguments). */
  readonly estimate?: (args: Args) => string;
}

/** The most that strrep repeats a string. Other multipliers rarely exceed it. */
const longestRepeat = 1024;

const jsonFactor = 6;

/** Never shorter than the arguments combined. */
const packed: Growing = {
  factor: jsonFactor,
  bytes: (args, value) =>
    `CASE WHEN ${sum(args)} > ${longestValue} THEN ${longestValue + 1} ELSE ${lengthOf(value)} END`,
  estimate: sum,
};
const escaped: Growing = { factor: jsonFactor };

/** One row per catalog function; a missing one fails the type check. */
const growths: {
  readonly [Entry in CatalogEntry as Entry['name']]: Growth<ArgsOf<Entry['params']>>;
} = {
  ...all('short', [
    'array_index_of',
    'array_length',
    'array_sum',
    'bag_has_key',
    'isarray',
    'len',
    'toint',
    'todouble',
    'tobool',
    'todatetime',
    'totimespan',
    'tohex',
    'isbool',
    'isstring',
    'isreal',
    'ismap',
    'isutf8',
    'iscc',
    'isimei',
    'gettype',
    'ingestion_time',
    'cursor_current',
    'ago',
    'datetime_add',
    'datetime_diff',
    'datetime_part',
    'dayofmonth',
    'dayofweek',
    'dayofyear',
    'endofday',
    'endofmonth',
    'endofweek',
    'endofyear',
    'getmonth',
    'getyear',
    'hourofday',
    'monthofyear',
    'now',
    'startofday',
    'startofmonth',
    'startofweek',
    'startofyear',
    'unixtime_microseconds_todatetime',
    'unixtime_milliseconds_todatetime',
    'unixtime_nanoseconds_todatetime',
    'unixtime_seconds_todatetime',
    'week_of_year',
    'format_bytes',
    'parse_bytes',
    'hash',
    'hash_md5',
    'hash_sha1',
    'hash_sha256',
    'hash_sha512',
    'genai_conversation_turns',
    'genai_cost',
    'genai_input_cost',
    'genai_output_cost',
    'genai_get_pricing',
    'genai_estimate_tokens',
    'genai_has_tool_calls',
    'genai_is_truncated',
    'abs',
    'acos',
    'asin',
    'atan',
    'atan2',
    'cos',
    'cot',
    'degrees',
    'exp',
    'exp10',
    'exp2',
    'gamma',
    'isfinite',
    'isinf',
    'isint',
    'isnan',
    'log',
    'log10',
    'log2',
    'loggamma',
    'not',
    'pi',
    'pow',
    'radians',
    'rand',
    'round',
    'set_has_element',
    'sign',
    'sin',
    'sqrt',
    'tan',
    'bin',
    'bin_auto',
    'ceiling',
    'floor',
    'parse_ipv4',
    'parse_ipv4_mask',
    'format_ipv4',
    'format_ipv4_mask',
    'ipv4_compare',
    'ipv4_is_match',
    'ipv4_is_in_range',
    'ipv4_is_in_any_range',
    'ipv4_is_private',
    'ipv4_netmask_suffix',
    'has_ipv4',
    'has_ipv4_prefix',
    'has_any_ipv4',
    'has_any_ipv4_prefix',
    'ipv6_compare',
    'ipv6_is_match',
    'ipv6_is_in_range',
    'ipv6_is_in_any_range',
    'geo_info_from_ip_address',
    'series_cosine_similarity',
    'series_dot_product',
    'series_magnitude',
    'series_pearson_correlation',
    'series_stats',
    'series_stats_dynamic',
    'series_sum',
    'countof',
    'countof_regex',
    'indexof',
    'indexof_regex',
    'isascii',
    'isempty',
    'isnotempty',
    'isnotnull',
    'isnull',
    'strcmp',
    'string_size',
    'strlen',
  ]),
  ...all('bounded', [
    'array_extract',
    'array_reverse',
    'array_rotate_left',
    'array_rotate_right',
    'array_select_dict',
    'array_shift_left',
    'array_shift_right',
    'array_slice',
    'array_sort_asc',
    'array_sort_desc',
    'bag_keys',
    'tostring',
    'todynamic',
    'toarray',
    'dynamic_to_json',
    'ensure_field',
    'iff',
    'case',
    'column_ifexists',
    'base64_decode_toarray',
    'base64_decode_tostring',
    'parse_json',
    'parse_path',
    'parse_url',
    'parse_urlquery',
    'url_decode',
    'parse_pair',
    'find_pair',
    'genai_extract_assistant_response',
    'genai_extract_user_prompt',
    'genai_extract_system_prompt',
    'genai_extract_tool_calls',
    'genai_extract_function_results',
    'genai_get_content_by_index',
    'genai_get_content_by_role',
    'genai_get_role',
    'genai_message_roles',
    'max_of',
    'min_of',
    'set_difference',
    'set_intersect',
    'coalesce',
    'extract',
    'reverse',
    'strip_ansi_escapes',
    'substring',
    'totitle',
    'trim',
    'trim_start',
    'trim_end',
    'trim_space',
    'trim_regex',
    'trim_start_regex',
    'trim_end_regex',
    // JavaScript functions, limited to a few megabytes; see `costs.ts`.
    'base64_encode_fromarray',
    'format_sql',
    'format_url',
    'parse_csv',
    'parse_sql',
    'quote',
    'series_fft',
    'series_fill_backward',
    'series_fill_forward',
    'series_fill_linear',
    'series_fir',
    'series_ifft',
    'series_iir',
    'set_union',
    // An array of at most 1,048,576 numbers or times.
    'range',
  ]),
  ...all(escaped, [
    'bag_zip',

    'pair',
    'split',
    'tolower',
    'toupper',
    'translate',
    'url_encode',
    'base64_encode_tostring',
    'unicode_codepoints_from_string',
    'unicode_codepoints_to_string',
  ]),
  ...all(packed, ['array_concat', 'bag_pack', 'pack_array', 'pack_dictionary']),
  // A single digit may become a real with all its digits.
  ...all({ factor: 16 }, [
    'series_abs',
    'series_acos',
    'series_add',
    'series_asin',
    'series_atan',
    'series_ceiling',
    'series_cos',
    'series_divide',
    'series_equals',
    'series_exp',
    'series_fill_const',
    'series_floor',
    'series_greater',
    'series_greater_equals',
    'series_less',
    'series_less_equals',
    'series_log',
    'series_max',
    'series_min',
    'series_multiply',
    'series_not_equals',
    'series_pow',
    'series_sign',
    'series_sin',
    'series_subtract',
    'series_tan',
  ]),
  // The whole string may be in each of ten groups.
  extract_all: { factor: 10 * jsonFactor },
  strcat: { factor: 1, bytes: args => sum(args) },
  strcat_delim: {
    factor: 0,
    bytes: args => `${sum(args.slice(1))} + ${args.length} * ${bytesOf(args[0])}`,
  },
  strcat_array: {
    factor: 0,
    bytes: ([array, delimiter], _, count) => `${bytesOf(array)} + ${count(array)} * ${bytesOf(delimiter)}`,
  },
  genai_concat_contents: {
    factor: 0,
    bytes: ([array, delimiter], _, count) => `${bytesOf(array)} + ${count(array)} * ${bytesOf(delimiter)}`,
  },
  array_iff: {
    factor: 0,
    bytes: ([condition, ...sides], _, count) =>
      `${sum(sides)} + ${count(condition)} * (${sides.map(elementBytes).join(' + ')})`,
  },
  array_split: {
    factor: 0,
    bytes: ([array, index], _, count) =>
      `${bytesOf(array)} * ${index.type === 'dynamic' ? count(index) : '2'}`,
  },
  strrep: {
    factor: 0,
    bytes: ([text, count, delimiter]) =>
      `least(greatest(coalesce(${count.sql}, 0), 0), ${longestRepeat}) * (${sum([text, delimiter])})`,
  },
  regex_quote: {
    factor: 2,
    bytes: ([text]) =>
      `2 * ${bytesOf(text)} - coalesce(strlen(translate(${text.sql}, '\\.+*?()|[]{}^$', '')), 0)`,
  },
  replace_string: {
    factor: 0,
    bytes: ([lookup, rewrite, text]) => replacedBytes(lookup, rewrite, text),
    estimate: ([lookup, rewrite, text]) =>
      `${bytesOf(text)} * (1 + ${bytesOf(rewrite)} // greatest(${bytesOf(lookup)}, 1))`,
  },
  replace_regex: {
    factor: 0,
    bytes: ([regex, rewrite, text]) => matchedBytes(regex, rewrite, text),
    estimate: ([, rewrite, text]) => `(${bytesOf(text)} + 1) * (1 + ${bytesOf(rewrite)})`,
  },
};

/** Returns the maximum growth of a function per byte of its arguments. */
export function growthFactor(name: string): number {
  const growth = growthOf(name);
  if (growth === 'short') return 0;
  return growth === 'bounded' ? 1 : growth.factor || longestRepeat;
}

/** Returns the SQL of a call that fails before computing too long a value; `value` is the SQL without the check. */
export function limited(name: string, args: readonly SqlArg[], value: string): string {
  const growth = growthOf(name);
  if (typeof growth === 'string') return value;
  const test = testOf(growth, args, value);
  if (test === undefined) return value;
  return failing(name, test, value);
}

/** Returns the SQL of a value that fails on behalf of a function if `test` finds it too long. */
export function failing(name: string, test: string, value: string): string {
  return `CASE WHEN ${test} THEN error(${sqlText(`${mark}${name}.`)}) ELSE ${value} END`;
}

/** Returns whether SQL contains a value that fails when too long. */
export function mayFail(sql: string): boolean {
  return sql.includes(mark);
}

/** Returns the size class of a catalog function. */
export function lengthClass(name: string): 'short' | 'bounded' | 'checked' | undefined {
  if (!Object.hasOwn(growths, name)) return undefined;
  const growth = growthOf(name);
  return typeof growth === 'string' ? growth : 'checked';
}

function growthOf(name: string): Growth<Anything> {
  return Object.hasOwn(growths, name) ? (growths[name as FunctionName] as Growth<Anything>) : 'bounded';
}

/**
 * Returns SQL for whether the value is too long, by itself or together with the other rows at hand; undefined if it cannot be. The cheap
 * test on column sizes rules out most values.
 */
function testOf(growth: Growing, args: readonly SqlArg[], value: string): string | undefined {
  const { factor, bytes, estimate = bytes ?? twice } = growth;
  const about = estimate(args, value, elements);
  if (factor === 0) {
    const most = estimate(args, value, mostElements);
    return tested(`${most} > ${fewBytes}`, about, `${bytes?.(args, value, elements)} > ${longestValue}`);
  }
  const coarse = sizeOfAll(
    args.flatMap(({ size }) => size ?? []),
    factor,
  );
  if (coarse.columns.size === 0 && coarse.fixed <= fewBytes) return undefined;
  const exact = bytes?.(args, value, elements) ?? lengthOf(value);
  return tested(
    exceeds(coarse, fewBytes),
    about,
    `CASE WHEN ${exceeds(coarse, longestValue)} THEN ${exact} > ${longestValue} ELSE false END`,
  );
}

/** Values of up to this many bytes are negligible, provided that no row exceeds it. */
const fewBytes = 4096;

/** Returns a test of a size. That of one column is its length: the engine would compute the size for every row. */
function exceeds(size: Size, most: number): string {
  const [[bytes, count] = ['', 1], ...others] = size.columns;
  const [, length] = /^coalesce\((strlen\(.*\)), 0\)$/.exec(bytes) ?? [];
  const isOne = length !== undefined && count > 0 && others.length === 0 && size.fixed <= most;
  return isOne ? `${length} > ${Math.floor((most - size.fixed) / count)}` : `${sizeSql(size)} > ${most}`;
}

function tested(isLong: string, estimate: string, exact: string): string {
  return `CASE WHEN ${isLong} THEN ${lengthTest}(${estimate}, ${exact}) ELSE false END`;
}

function twice(args: Anything): string {
  return `2 * (${sum(args)})`;
}

function all<Name extends FunctionName>(
  growth: Growth<Anything>,
  names: readonly Name[],
): Readonly<Record<Name, Growth<Anything>>> {
  return Object.fromEntries(names.map(name => [name, growth])) as Record<Name, Growth<Anything>>;
}

function sizeSql({ fixed, columns }: Size): string {
  const parts = [...columns].map(([bytes, count]) => (count === 1 ? bytes : `${count} * ${bytes}`));
  return [...parts, String(fixed)].join(' + ');
}

function lengthOf(value: string): string {
  return `strlen((${value})::VARCHAR)`;
}

/** Returns SQL for the size of a value as a string, in bytes; 0 for null. */
export function bytesOf(arg: SqlArg | undefined): string {
  if (arg === undefined || arg.constant === null) return '0';
  if (typeof arg.constant === 'string') return String(Buffer.byteLength(arg.constant));
  if (arg.type === 'string') return `coalesce(strlen(${arg.sql}), 0)`;
  return arg.type === 'dynamic' ? `coalesce(strlen((${arg.sql})::VARCHAR), 0)` : '40';
}

function sum(args: readonly (SqlArg | undefined)[]): string {
  return args.length === 0 ? '0' : args.map(bytesOf).join(' + ');
}

/** Returns SQL for the number of elements in an array. */
function elements(array: SqlArg): string {
  return `coalesce(CASE WHEN json_type(${array.sql}) = 'ARRAY' THEN json_array_length(${array.sql})::BIGINT END, 0)`;
}

/** Returns SQL for the maximum number of elements in an array by its size: counting them parses it. */
function mostElements(array: SqlArg): string {
  return `${bytesOf(array)} // 2`;
}

/** Returns SQL for the size of the value used for every element; an array contributes one element each. */
function elementBytes(side: SqlArg): string {
  if (side.type !== 'dynamic') return bytesOf(side);
  return `CASE WHEN starts_with((${side.sql})::VARCHAR, '[') THEN 5 ELSE ${bytesOf(side)} END`;
}

/** A string only grows if a shorter match is replaced by a longer string. */
function replacedBytes(lookup: SqlArg, rewrite: SqlArg, text: SqlArg): string {
  const most = `CASE WHEN ${bytesOf(text)} * ${bytesOf(rewrite)} <= ${longestValue} THEN 0`;
  const found = `(${bytesOf(text)} - coalesce(strlen(replace(${text.sql}, ${lookup.sql}, '')), 0)) // greatest(${bytesOf(lookup)}, 1)`;
  return `${most} ELSE ${bytesOf(text)} + ${found} * (${bytesOf(rewrite)} - ${bytesOf(lookup)}) END`;
}

/** Each group reference may expand to the entire match. */
function matchedBytes(regex: SqlArg, rewrite: SqlArg, text: SqlArg): string {
  const most = `CASE WHEN (${bytesOf(text)} + 1) * (1 + ${bytesOf(rewrite)}) <= ${longestValue} THEN 0`;
  const references = `(1 + ${bytesOf(rewrite)} - coalesce(strlen(replace(${rewrite.sql}, '$', '')), 0))`;
  const found = `coalesce(len(regexp_extract_all(${text.sql}, ${regex.sql})), 0)`;
  return `${most} ELSE ${bytesOf(text)} * ${references} + ${found} * ${bytesOf(rewrite)} END`;
}
