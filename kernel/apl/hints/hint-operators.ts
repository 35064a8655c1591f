import { own } from '../../present.js';

const noGraphs = 'APL does not support graphs: write `| join`.';
const joins = 'Write `| join kind=leftouter (T) on field`.';
const skipping =
  'Rows cannot be skipped: narrow the time range, or write `| where _time < …` with the last time that you saw.';
const expanding = 'Write `| mv-expand x`.';
const texts = 'Write `| search "text"`, or `| where field contains "text"`.';
const keys = 'Write `| extend x = parse_json(field).key`; keys of a map are fields: `field.key`.';
const shown = 'Write `| limit N`: tables of any length can be scrolled and searched.';
const written = 'Write `%export FILE` in the next cell.';
const noCommands = 'Shell commands do not run here.';
const shaped = 'Write one `countif(…)` or `sumif(…)` for each column.';
const patterns = 'Run `%patterns` in its own cell: it groups lines by template.';
const drawn = 'Write `| render linechart` at the end, or choose another chart type in its menu.';
const metrics = 'This is MPL, the metrics language; APL queries events.';

/** Operators from Kusto and other languages, with their equivalents. */
const operatorsElsewhere: Readonly<Record<string, string>> = {
  invoke: 'APL does not support table functions: write the operators directly.',
  facet: 'Write one `| summarize count() by field` for each field.',
  partition: 'Write `| summarize … by field`; `arg_max(x, *)` keeps one row of each group.',
  scan: 'APL does not support window functions: use `| summarize make_list(x) by …` and array functions.',
  'top-hitters': 'Write `| summarize topk(field, N)`.',
  reduce: 'Write `| summarize count() by field`, or `phrases(field, N)` for texts.',
  'make-graph': noGraphs,
  'graph-match': noGraphs,
  'graph-shortest-paths': noGraphs,
  'graph-to-table': noGraphs,
  consume: 'Write `| count`.',
  left: joins,
  right: joins,
  inner: joins,
  full: joins,
  dedup: 'Write `| distinct field`, or `| summarize arg_max(_time, *) by field`.',
  rex: 'Write `| extend x = extract(…)` or `| parse … with …`.',
  table: 'Write `| project …`.',
  timechart: 'Write `| summarize … by bin_auto(_time)`.',
  chart: 'Write `| summarize … by …`.',
  plot: drawn,
  visualize: drawn,
  viz: drawn,
  streamstats: 'Write `| sort by _time asc | extend n = row_number()`; `row_cumsum(x)` adds up.',
  unwrap: 'A field is its value: write `| summarize avg(field)`.',
  let: 'Write `| extend …`.',
  eventstats: 'Write `| join (… | summarize …) on …`.',
  spath: 'Write `| extend x = parse_json(field)`.',
  align: metrics,
  bucket: metrics,
  map: metrics,
  compute: metrics,
  'sample-distinct': 'Write `| distinct field | limit N`.',
  'top-nested': 'Write `| summarize topk(field, N) by …`.',
  fork: 'Write two queries in two cells.',
  find: 'Write `| search …`.',
  'macro-expand': 'Write `| union T, U`, or a pattern of names such as `union logs*`.',
  select: 'Write `| project …`.',
  stats: 'Write `| summarize … by …`.',
  group: 'Write `| summarize … by …`.',
  eval: 'Write `| extend …`.',
  derive: 'Write `| extend …`.',
  mutate: 'Write `| extend …`.',
  assign: 'Write `| extend …`.',
  aggregate: 'Write `| summarize …`.',
  agg: 'Write `| summarize …`.',
  arrange: 'Write `| sort by …`.',
  order_by: 'Write `| sort by …`.',
  sort_by: 'Write `| sort by …`.',
  group_by: 'Write `| summarize count() by …`.',
  count_by: 'Write `| summarize count() by …`.',
  length: 'Write `| count`, which counts the rows.',
  reverse: 'Write `| sort by _time asc`.',
  head: 'Write `| limit N`.',
  tail: 'Write `| sort by _time desc | limit N`.',
  having: 'Write `| where …` after the summarize.',
  rename: 'Write `| project-rename new = old`.',
  fields: 'Write `| project …`.',
  offset: skipping,
  skip: skipping,
  flatten: expanding,
  explode: expanding,
  unnest: expanding,
  fillnull: 'Write `| extend x = coalesce(x, value)`.',
  regex: 'Write `| where x matches regex pattern`, or `| extend y = extract(pattern, 1, x)`.',
  rare: 'Write `| summarize count() by field | sort by count_ asc`.',
  transaction: 'Write `| summarize min(_time), max(_time), count() by field`.',
  keep: 'Write `| project …`.',
  display: 'Write `| project …`.',
  drop: 'Write `| project-away …`.',
  groupby: 'Write `| summarize count() by …`.',
  orderby: 'Write `| sort by …`.',
  uniq: 'Write `| distinct …`.',
  wc: 'Write `| count`, which counts the rows.',
  grep: texts,
  egrep: texts,
  line_contains: texts,
  awk: 'Write `| parse field with …`, or `| extend x = split(field, " ")[0]`.',
  sed: 'Write `| extend x = replace_regex(pattern, rewrite, x)`.',
  cut: 'Write `| extend x = split(field, " ")[0]`.',
  jq: keys,
  json: keys,
  unpack: keys,
  logfmt: 'Write `| parse-kv field as (name: string, …)`.',
  kv: 'Write `| parse-kv field as (name: string, …)`.',
  pattern: 'Write `| parse field with …`; `%patterns` groups lines by template.',
  dissect: 'Write `| parse field with …`.',
  grok: 'Write `| parse field with …`, or `| extend x = extract(pattern, 1, field)`.',
  extract: 'Write `| extend x = extract(pattern, 1, field)`.',
  line_format: 'Write `| extend line = strcat(a, " ", b)`.',
  label_format: 'Write `| project-rename new = old`.',
  mv_expand: 'Write `| mv-expand …`.',
  enrich: joins,
  unique: 'Write `| distinct …`.',
  to_entries: 'Keys of a map are fields: `field.key`; `bag_keys(field)` lists them.',
  xargs: noCommands,
  tee: written,
  'select-object': 'Write `| project …`, and `| limit N`.',
  'where-object': 'Write `| where …`.',
  'foreach-object': 'Write `| extend x = …`.',
  'export-csv': written,
  'out-file': written,
  'convertto-json': written,
  'out-gridview': shown,
  'format-table': shown,
  'format-list': shown,
  regexp: 'Write `| extend x = extract(pattern, 1, field)`.',
  add: 'Write `| summarize sum(field)`.',
  tr: 'Write `| extend x = toupper(x)`, or `replace_string(from, to, x)`.',
  explain: 'What a query read is shown below its result.',
  externaldata: 'Import a file with `%import FILE` in its own cell.',
  inputlookup: 'Import a file with `%import FILE`, and join its dataset with `| lookup (T) on field`.',
  tstats: 'Write `| summarize … by …`: every query reads columns.',
  convert: 'Write `| extend x = todatetime(x)`, `toint(x)` or `todouble(x)`.',
  iplocation: 'Write `| extend place = geo_info_from_ip_address(ip)`, on a hosted service.',
  makemv: 'Write `| extend x = split(x, ",")`.',
  addtotals: 'Write `| extend total = a + b`.',
  transpose: shaped,
  untable: shaped,
  xyseries: shaped,
  cluster: patterns,
  anomalydetection:
    'Compare with another period with `%compare -1w`; `%explain` shows what rows have in common.',
  predict: 'APL does not forecast: `%compare -1w` shows the previous week.',
  abstract: patterns,
  decolorize: 'Write `| extend x = replace_regex(@"\\x1b\\[[0-9;]*m", "", x)`.',
  less: shown,
  more: shown,
};

/** Returns the replacement if the same operands may follow the operator that a hint names; else undefined. */
export function sameOperands(hint: string): string | undefined {
  const [, operator] =
    /^Write `\| ([\w-]+(?: count\(\))?(?: by)?)(?: (?:N|\u2026 by \u2026|\u2026))?`(?:\.$| after the summarize)/.exec(
      hint,
    ) ?? [];
  return operator;
}

/** Plugins for Kusto's `evaluate`. */
const plugins: Readonly<Record<string, string>> = {
  bag_unpack: 'Write each key as `field.key`, or all of them by `| mv-expand kind=array field`.',
  pivot: 'Write one `countif(…)` or `sumif(…)` for each column.',
  narrow: 'Write `| mv-expand kind=array row = bag_pack(*)`.',
  autocluster: 'Write `| summarize spotlight(condition, field, …)`.',
  basket: 'Write `| summarize spotlight(condition, field, …)`.',
  diffpatterns: 'Write `| summarize spotlight(condition, field, …)`.',
};

/** Returns a hint for an operator that APL lacks; `text` is the whole operator. Undefined if its word is unknown. */
export function hintForOperator(word: string, text: string): string | undefined {
  if (word !== 'evaluate') return own(operatorsElsewhere, word.toLowerCase());
  const plugin = /^evaluate\s+(?:hint\.\S+\s+)?(\w+)/.exec(text)?.[1] ?? '';
  return own(plugins, plugin) ?? 'APL does not support plugins.';
}
