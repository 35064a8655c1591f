import { own } from '../../present.js';
import { scalarWords } from '../catalog/catalog-written.js';
import { likeness, percentOf } from './languages/language-expression.js';
import { sqlFunctions } from './languages/language-sql.js';
import { eventFunctions } from './languages/spl.js';

const formats =
  "The only time format is tostring(x). Combine parts, `strcat(getyear(x), '-', getmonth(x))`, or round the time, `bin(x, 1d)`.";
const lengths = '`tostring(x)` gives `1h2m3s`, and `x / 1m` the number of minutes.';
const joining = "strcat_array(make_list(x), ',')";
const ranking = '`row_number()` after a `sort` numbers the rows.';
const packing = "Name the fields: `bag_pack('a', a, 'b', b)`.";
const keyed = "parse_json(text).key, or parse_json(text)['key']";
const sinceEpoch = '(time - datetime(1970-01-01)) / 1s';

/** Functions of Kusto, SQL and other languages, with their equivalents: code, or a sentence. */
export const functionsElsewhere: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  list: 'make_list(x)',
  average: 'avg(x)',
  mean: 'avg(x)',
  median: 'percentile(x, 50)',
  quantile: 'percentile(x, 95)',
  percentiles: 'percentiles_array(x, 50, 95, 99)',
  p50: 'percentile(x, 50)',
  p95: 'percentile(x, 95)',
  p99: 'percentile(x, 99)',
  count_distinct: 'dcount(x)',
  uniq: 'dcount(x)',
  distinct: 'dcount(x)',
  nunique: 'dcount(x)',
  dimensional_analysis: 'spotlight(x, field)',
  dc: 'dcount(x)',
  dcount_hll: 'dcount(x)',
  make_bag: 'make_list(x)',
  take_any: 'arg_max(_time, x)',
  any: 'arg_max(_time, x)',
  first: 'arg_min(_time, x)',
  last: 'arg_max(_time, x)',
  std: 'stdev(x)',
  stddev: 'stdev(x)',
  stdevp: 'stdev(x)',
  var: 'variance(x)',
  concat: 'strcat(a, b)',
  substr: 'substring(text, start, length)',
  length: 'strlen(text)',
  str: 'tostring(x)',
  lower: 'tolower(text)',
  upper: 'toupper(text)',
  lcase: 'tolower(text)',
  ucase: 'toupper(text)',
  if: 'iff(condition, a, b)',
  ifnull: 'coalesce(a, b)',
  nvl: 'coalesce(a, b)',
  date_trunc: 'bin(time, 1h)',
  to_timestamp: 'todatetime(x)',
  timestamp: 'todatetime(x)',
  cast: 'toint(x), todouble(x), tostring(x), …',
  unnest: '| mv-expand x',
  take_anyif: 'Write `arg_max(_time, x)` after a `where`.',
  bag_unpack: 'Write each key as `field.key`.',
  pivot: 'Write one `countif(…)` for each column.',
  lag: 'prev(x)',
  lead: 'next(x)',
  delta: 'x - prev(x)',
  rank: ranking,
  any_value: 'arg_max(_time, x)',
  anyif: 'Write `arg_max(_time, x)` after a `where`.',
  first_value: 'arg_min(_time, x)',
  last_value: 'arg_max(_time, x)',
  min_by: 'arg_min(by, x)',
  max_by: 'arg_max(by, x)',
  count_distinctif: 'dcountif(x, condition)',
  count_distinct_if: 'dcountif(x, condition)',
  hll: 'dcount(x)',
  tdigest: 'percentile(x, 95)',
  topn: 'topk(x, 10)',
  array_agg: 'make_list(x)',
  collect: 'make_list(x)',
  collect_list: 'make_list(x)',
  collect_set: 'make_set(x)',
  values: 'make_set(x)',
  group_concat: joining,
  string_agg: joining,
  listagg: joining,
  buildschema: 'Write `| getschema`, or `bag_keys(x)` for the keys of a map.',
  bag_merge: "Name the keys: `bag_pack('a', x.a, 'b', y.b)`.",
  bag_remove_keys: "Name the keys to keep: `bag_pack('a', x.a, 'b', x.b)`.",
  object_keys: 'bag_keys(x)',
  map_keys: 'bag_keys(x)',
  keys: 'bag_keys(x)',
  has_key: 'bag_has_key(x, key)',
  array_contains: 'set_has_element(array, x)',
  array_has: 'set_has_element(array, x)',
  array_distinct: 'set_union(x, x)',
  array_join: 'strcat_array(array, delimiter)',
  array_size: 'array_length(x)',
  cardinality: 'array_length(x)',
  size: 'array_length(x)',
  json: 'parse_json(x)',
  json_parse: 'parse_json(x)',
  json_extract: keyed,
  json_extract_scalar: keyed,
  json_value: keyed,
  json_extract_path_text: keyed,
  regexp_extract: 'extract(regex, group, text)',
  regex_extract: 'extract(regex, group, text)',
  regexp_replace: 'replace_regex(regex, rewrite, text)',
  regexp_like: 'text matches regex pattern',
  regex_match: 'text matches regex pattern',
  match: 'text matches regex pattern',
  regex: 'text matches regex pattern',
  like: 'text contains part',
  strpos: 'indexof(text, part) + 1',
  strstr: 'indexof(text, part)',
  instr: 'indexof(text, part) + 1',
  locate: 'indexof(text, part) + 1',
  position: 'indexof(text, part) + 1',
  split_part: 'split(text, delimiter)[0]',
  ltrim: 'trim_start(characters, text)',
  rtrim: 'trim_end(characters, text)',
  trim_left: 'trim_start(characters, text)',
  trim_right: 'trim_end(characters, text)',
  todecimal: 'todouble(x)',
  tonumber: 'todouble(x)',
  parseint: 'toint(x)',
  parsefloat: 'todouble(x)',
  to_number: 'todouble(x)',
  toguid: 'tostring(x)',
  nullif: 'iff(a == b, null, a)',
  zeroifnull: 'coalesce(x, 0)',
  greatest: 'max_of(a, b)',
  least: 'min_of(a, b)',
  power: 'pow(x, y)',
  mod: 'x % y',
  trunc: 'bin(x, 1)',
  truncate: 'bin(x, 1)',
  md5: 'hash_md5(x)',
  sha1: 'hash_sha1(x)',
  sha256: 'hash_sha256(x)',
  sha512: 'hash_sha512(x)',
  cidr_match: 'ipv4_is_in_range(ip, range)',
  base64_encode: 'base64_encode_tostring(x)',
  base64_decode: 'base64_decode_tostring(x)',
  current_timestamp: 'now()',
  getdate: 'now()',
  today: 'startofday(now())',
  sysdate: 'now()',
  year: 'getyear(x)',
  month: 'getmonth(x)',
  day: 'dayofmonth(x)',
  hour: 'hourofday(x)',
  minute: "datetime_part('minute', x)",
  second: "datetime_part('second', x)",
  weekofyear: 'week_of_year(x)',
  weekday: 'dayofweek(x)',
  startofhour: 'bin(x, 1h)',
  time_bucket: 'bin(time, 1h)',
  date_bin: 'bin(time, 1h)',
  bin_at: 'bin(x, 1h)',
  epoch: sinceEpoch,
  unix_timestamp: sinceEpoch,
  to_unixtime: sinceEpoch,
  from_unixtime: 'unixtime_seconds_todatetime(x)',
  make_datetime: "todatetime(strcat(year, '-', month, '-', day))",
  make_timespan: '1h * hours + 1m * minutes',
  format_datetime: formats,
  format_date: formats,
  date_format: formats,
  strftime: formats,
  format_timespan: lengths,
  format_duration: lengths,
  ln: 'log(x)',
  to_date: 'todatetime(x)',
  todate: 'todatetime(x)',
  to_char: formats,
  minuteofhour: "datetime_part('minute', x)",
  secondofminute: "datetime_part('second', x)",
  datetime_utc_to_local: 'Times are in UTC. Add the offset: `time + 2h`.',
  datetime_local_to_utc: 'Times are in UTC. Subtract the offset: `time - 2h`.',
  extractjson: keyed,
  extract_json: keyed,
  json_keys: 'bag_keys(x)',
  json_array_length: 'array_length(x)',
  toobject: 'parse_json(x)',
  pack_all: packing,
  bag_pack_columns: packing,
  char: 'unicode_codepoints_to_string(array)',
  chr: 'unicode_codepoints_to_string(array)',
  make_string: 'unicode_codepoints_to_string(array)',
  ascii: 'unicode_codepoints_from_string(text)',
  left: 'substring(text, 0, length)',
  right: 'substring(text, -length)',
  initcap: 'totitle(text)',
  printf: 'strcat(a, b)',
  format: 'strcat(a, b)',
  lpad: "strcat(strrep('0', length - strlen(text)), text)",
  rpad: "strcat(text, strrep(' ', length - strlen(text)))",
  parse_regex: 'extract(regex, group, text)',
  rex: 'extract(regex, group, text)',
  url_encode_component: 'url_encode(x)',
  url_host: 'parse_url(x).host',
  domain: 'parse_url(x).host',
  hash_xxhash64: 'hash(x)',
  hash_combine: 'hash(strcat(a, b))',
  hash_many: 'hash(strcat(a, b))',
  mvjoin: 'strcat_array(array, delimiter)',
  mvcount: 'array_length(x)',
  mvindex: 'array[0]',
  earliest: 'arg_min(_time, x)',
  latest: 'arg_max(_time, x)',
  arg_any: 'arg_max(_time, x)',
  p75: 'percentile(x, 75)',
  p90: 'percentile(x, 90)',
  perc95: 'percentile(x, 95)',
  perc99: 'percentile(x, 99)',
  variancep: 'variance(x)',
  make_bag_if: 'make_list_if(x, condition)',
  irate: 'rate(x)',
  rate_over_time: 'rate(x)',
  increase: 'sum(x)',
  sum_over_time: 'sum(x)',
  series_mean: 'series_stats(x)[4]',
  row_rank_dense: ranking,
  row_rank_min: ranking,
  row_window_session:
    'Mark where one begins: `| sort by _time asc | extend s = row_cumsum(iff(_time - prev(_time) > 30m, 1, 0))`.',
  nvl2: 'iff(isnull(x), b, a)',
  decode: 'case(x == 1, a, b)',
  exists: 'isnotnull(x)',
  isset: 'isnotnull(x)',
  defined: 'isnotnull(x)',
  span: 'bin(time, 1h)',
  date_histogram: 'bin(time, 1h)',
  time_slice: 'bin(time, 1h)',
  date_sub: 'Write `now() - 1h`, or `ago(1h)`.',
  date_add: 'Write `time + 1h`.',
  repeat: 'strrep(text, times)',
  in_cidr: 'ipv4_is_in_range(ip, range)',
  zip: 'Write `| mv-expand a, b`, which expands both in parallel.',
};

const noGeometry =
  'APL computes no geometry: write conditions on the coordinates, such as `lat between (40 .. 41)`.';
const bitwise = 'APL has no functions of bits: divide by powers of two, `toint(x / 4) % 2`.';
const noUsers = 'A query does not know who runs it: write the name, or declare a parameter by `%param`.';
const otherSources = "Datasets are named alone: ['name'].";

/** Families of functions that APL lacks, by a pattern of their names. */
const families: readonly (readonly [name: RegExp, hint: string])[] = [
  [/^geo_(?!info_from_ip_address$)|^st_/, noGeometry],
  [/^binary_|^bitset_/, bitwise],
  [/^convert_/, 'Multiply by the factor: `miles * 1.609344`.'],
  [/^current_(?:principal|cluster|database)/, noUsers],
  [
    /^series_(?:decompose|outliers|periods|seasonal|fit_(?:2lines|line|poly))/,
    'Nothing is fitted or foretold in APL: `%compare -1w` shows the week before, `series_stats(x)` the mean and the spread.',
  ],
  [/^gzip_|^zlib_/, 'Compressed text cannot be read here: decompress it before the import.'],
  [/^parse_user_agent$/, 'Write `extract(pattern, 1, user_agent)`, or `user_agent contains "Firefox"`.'],
  [/^parse_command_line$/, "Write `split(command, ' ')`."],
  [
    /^(?:estimate_data_size|extent_id|extent_tags|cursor_\w+)$/,
    'Storage is not visible to a query: `string_size(x)` counts the bytes of a string.',
  ],
  [/^make_list_with_nulls$/, "Nulls are left out: write `make_list(coalesce(tostring(x), ''))`."],
  [/^bag_set_key$/, "Name the keys: `bag_pack('a', x.a, 'b', b)`."],
  [/^jaccard_index$/, 'Write `todouble(array_length(set_intersect(a, b))) / array_length(set_union(a, b))`.'],
  [/^has_any_index$/, 'Write `case(x has a, 0, x has b, 1, -1)`.'],
  [
    /^(?:cluster|database|workspace|app|resource|adx|external_table|materialized_view|stored_query_result|_getwatchlist|graph)$/,
    otherSources,
  ],
  [/^\$__/, 'That is a Grafana macro: the range set by `%time` applies to every query.'],
];

/** Returns a sentence for a function of a family that APL lacks. */
export function familyHint(name: string): string | undefined {
  const word = name.toLowerCase();
  return families.find(([pattern]) => pattern.test(word))?.[1];
}

/** Functions of several parameters whose equivalents take them in the same order. */
export const sameOrder: ReadonlySet<string> = new Set([
  ...[
    'concat',
    'if',
    'ifnull',
    'nvl',
    'power',
    'greatest',
    'least',
    'array_contains',
    'array_has',
    'has_key',
  ],
  ...['array_join', 'strstr', 'count_distinctif', 'count_distinct_if'],
]);

/** Functions of SPL and SQL, with their translations; `$1` is the first argument, `$*` all of them. */
const templates: Readonly<Record<string, string>> = {
  ...eventFunctions,
  ...sqlFunctions,
  ...{ pct: 'percentile($1, $2)', perc: 'percentile($1, $2)', percentiles: 'percentiles_array($*)' },
  ...{ distinct_count: 'dcount($1)', uniqexact: 'dcount($1)', mode: 'topk($1, 1)', list: 'make_list($1)' },
  ...{ first: 'arg_min(_time, $1)', earliest: 'arg_min(_time, $1)', first_value: 'arg_min(_time, $1)' },
  ...{ last: 'arg_max(_time, $1)', latest: 'arg_max(_time, $1)', last_value: 'arg_max(_time, $1)' },
  ...{ take_any: 'arg_max(_time, $1)', any_value: 'arg_max(_time, $1)' },
  ...{ span: 'bin($*)', eval: '$1', searchmatch: '* has $1' },
};

/** Translates a call to a function of another language, with its arguments reordered; returns undefined if it is unknown. */
export function callElsewhere(name: string, args: readonly string[]): string | undefined {
  const word = name.toLowerCase();
  const [text = '', pattern = ''] = args;
  const [, , inner] = /^(["'])([^"'\\]*)\1$/.exec(pattern) ?? [];
  if (word === 'quantile' && args.length === 2) {
    const [of = '', share = ''] = /^[\d.]+$/.test(text) ? [pattern, text] : args;
    return /^0?\.\d+$/.test(share) ? `percentile(${of}, ${percentOf(share)})` : undefined;
  }
  if (word === 'like' && args.length === 2 && inner !== undefined)
    return `${text} ${likeness(inner, '', true)}`;
  if (/^date_?diff$/.test(word) && args.length === 3)
    return `datetime_diff('${text.replace(/^["']|["']$/g, '').toLowerCase()}', ${args[2]}, ${pattern})`;
  const template = own(templates, args.length === 0 ? `${word}()` : word);
  if (template !== undefined && args.length === 0) return template;
  if (template === undefined) return undefined;
  const takes = template.includes('$*')
    ? args.length
    : Math.max(0, ...[...template.matchAll(/\$(\d)/g)].map(([, place]) => Number(place)));
  if (takes !== args.length || takes === 0) return undefined;
  const isInCall = /^\w+\([^()]*\)$/.test(template);
  const put = args.map(arg =>
    isInCall || /^[\w.]+$|^\w*\([^()]*\)$|^(["'])[^"']*\1$/.test(arg) ? arg : `(${arg})`,
  );
  return template
    .replaceAll('$*', args.join(', '))
    .replace(/\$(\d)/g, (_, place) => put[Number(place) - 1] ?? '');
}

/** Returns the operator to write for a call such as `contains(a, b)`, or undefined if no operator has that name. */
export function operatorCalled(name: string, args: readonly string[]): string | undefined {
  const word = name.toLowerCase();
  const [left = 'x', ...rest] = args;
  const right = rest.length === 0 ? ['y'] : rest;
  if (word === 'between') return `Write \`${left} between (${right[0]} .. ${right[1] ?? 'z'})\`.`;
  if (word === 'matches') return `Write \`${left} matches regex ${right[0]}\`.`;
  if (!scalarWords.includes(word)) return undefined;
  const isOfList = /^(?:in|has_any|has_all)/.test(word);
  return `Write \`${left} ${word} ${isOfList ? `(${right.join(', ')})` : right[0]}\`.`;
}
