import { textOf } from './languages/language-expression.js';
import { translateCommand } from './languages/spl.js';
import { longestStage, mendedStage, sqlStages } from './mended.js';
import { translatedCmdlet } from './powershell.js';

interface Row {
  readonly written: RegExp;
  readonly instead: (match: RegExpExecArray) => string | undefined;
}

/** Stages of other tools; further ones are SPL commands. */
const rows: readonly Row[] = [
  {
    written:
      /^(?:e?grep|rg|line_contains)\s+(?:-[EFi]+\s+)*(?:(-v)\s+)?(?:-[EFi]+\s+)*(["']?)([^"'\s|\\[\]()*+?^$]+|[^"'|\\[\]()*+?^$]+\2)$/,
    instead: ([, inverts, , text = '']) =>
      `search ${inverts === undefined ? '' : 'not '}${textOf(text.replace(/["']$/, ''))}`,
  },
  { written: /^(?:wc(?:\s+-l)?|length|size|len|consume)(?:\(\))?$/, instead: () => 'count' },
  { written: /^uniq(?:ue)?(?:\(\))?$/, instead: () => 'distinct *' },
  {
    written: /^head(?:\(\s*(\d*)\s*\)|\s+-(?:n\s*)?(\d+))?$/,
    instead: ([, called, option]) => `limit ${called || option || '10'}`,
  },
  {
    written: /^tail(?:\(\s*(\d*)\s*\)|\s+(?:-(?:n\s*)?)?(\d+))?$/,
    instead: ([, called, option]) => `sort by _time desc | limit ${called || option || '10'}`,
  },
  {
    written: /^fields\s+-\s*(.+)$/,
    instead: ([, names = '']) => `project-away ${names.replace(/[\s,]+/g, ', ')}`,
  },
  {
    written:
      /^select\(\s*\.([\w.]+)\s*\|\s*(test|startswith|endswith|contains)\(\s*("[^"]*")\s*\)(\s*\|\s*not)?\s*\)$/,
    instead: ([, name, word = '', text, not]) =>
      `where ${name} ${not === undefined ? '' : '!'}${word === 'test' ? 'matches regex' : `${word}_cs`} ${text}`,
  },
  {
    written: /^(?:select|filter)\((.*\.\w.*)\)$/,
    instead: ([, condition = '']) => `where ${withoutDots(condition)}`,
  },
  {
    written: /^map\(\s*select\((.*\.\w.*)\)\s*\)$/,
    instead: ([, condition = '']) => `where ${withoutDots(condition)}`,
  },
  { written: /^map\(\s*(\{.*\})\s*\)$/, instead: ([, object = '']) => mendedStage(object) },
  {
    written: /^(select|del)\(?\s*(\.\w[\w.]*(?:\s*,\s*\.\w[\w.]*)*)\s*\)?$/,
    instead: ([, word, names = '']) => `project${word === 'del' ? '-away' : ''} ${withoutDots(names)}`,
  },
  {
    written: /^(any|all)\(\s*(\..+)\)$/,
    instead: ([, word, condition = '']) =>
      word === 'any'
        ? `summarize any = countif(${withoutDots(condition)}) > 0`
        : `summarize all = countif(not(${withoutDots(condition)})) == 0`,
  },
  {
    written: /^(min|max)_by\(\s*\.(\w[\w.]*)\s*\)$/,
    instead: ([, word, name]) => `top 1 by ${name} ${word === 'min' ? 'asc' : 'desc'}`,
  },
  {
    written:
      /^(topk|bottomk)\(\s*(\d+)\s*,\s*(?:count(?:\(\))?|(\w+\([^()]*\)))\s*by\b\s*\(?\s*([\w.][\w.,\s]*)\)?\s*\)$/,
    instead: ([, word, count, measure = 'count()', keys = '']) =>
      `summarize n = ${measure} by ${keys.trim()} | top ${count} by n ${word === 'topk' ? 'desc' : 'asc'}`,
  },
  { written: /^select\s+distinct\s+([\w.,\s]+)$/i, instead: ([, names]) => `distinct ${names}` },
  { written: /^select\s[\s\S]+\sfrom\s/i, instead: ({ input }) => sqlStages(input) },
  { written: /^has\(\s*["'](\w+)["']\s*\)$/, instead: ([, name]) => `where isnotnull(${name})` },
  { written: /^first(?:\s*\(?(\d+)\)?)?$/, instead: ([, count = '1']) => `limit ${count}` },
  {
    written: /^last(?:\s*\(?(\d+)\)?)?$/,
    instead: ([, count = '1']) => `sort by _time desc | limit ${count}`,
  },
  {
    written: /^([\w.]+)\s*(=~|!~)\s*(["'`])(.*)\3$/,
    instead: ([, name, sign, , pattern = '']) =>
      /[.*+?|^$[(\\]/.test(pattern) || sign === '!~'
        ? `where ${name} ${sign === '!~' ? '!' : ''}matches regex ${textOf(`^(?:${pattern})$`)}`
        : `where ${name} =~ ${textOf(pattern)}`,
  },
  { written: /^by\s+([\w.,\s]+)$/, instead: ([, names]) => `summarize count() by ${names}` },
  {
    written: /^(?:append|concat|union_?all)\s*\(?\s*([A-Za-z_]\w*)\s*\)?$/,
    instead: ([, name]) => `union ${name}`,
  },
  {
    written: /^merge\(\s*(\w+)\s*,.*\bon\s*=\s*["'](\w+)["'].*\)$/,
    instead: ([, name, key]) => `join kind=inner (${name}) on ${key}`,
  },
  {
    written:
      /^(inner|left|right|full)\s+(?:outer\s+)?join\s+\(?(\w+)\)?\s+(?:using\s*\(\s*([\w.][\w.,\s]*)\)|on\s+(?:\w+\.)?(\w+)(?:\s*==?\s*(?:\w+\.)?(\w+))?)$/i,
    instead: ([, kind = '', name, using, left = using?.trim(), right = left]) => {
      const how = kind.toLowerCase() === 'inner' ? 'inner' : `${kind.toLowerCase()}outer`;
      return `join kind=${how} (${name}) on ${left === right ? left : `$left.${left} == $right.${right}`}`;
    },
  },
  {
    written:
      /^timeseries\s+(?:\w+\s*=\s*)?(\w+\([^()]*\)|count)\s*(?:(?:,\s*)?by\b\s*:?\s*\{?\s*([\w.][\w.,\s]*)\}?)?$/,
    instead: ([, measure = '', keys]) =>
      `summarize ${measure === 'count' ? 'count()' : measure} by bin_auto(_time)${keys === undefined ? '' : `, ${keys.trim()}`}`,
  },
  {
    written: /^(?:count_?distinct|nunique|distinct_count)\(\s*([\w.]+)\s*\)(\s+by\s.*)?$/,
    instead: ([, name, keys = '']) => `summarize dcount(${name})${keys}`,
  },
  { written: /^uniq\s+-c\s+([\w.]+)$/, instead: ([, name]) => `summarize count() by ${name}` },
  { written: /^awk\s+["']\/([\w -]+)\/["']$/, instead: ([, found = '']) => `search ${textOf(found)}` },
  {
    written: /^makemv\s+delim=(["'][^"']*["'])\s+([\w.]+)$/,
    instead: ([, delimiter, name]) => `extend ${name} = split(${name}, ${delimiter})`,
  },
  { written: /^map\(\s*\.(\w[\w.]*)\s*\)$/, instead: ([, name = '']) => `project ${name}` },
  {
    written: /^(?:group|group_?by|count_?by|value_counts)\(\s*\.?["']?(\w[\w.]*)["']?\s*\)$/,
    instead: ([, name = '']) => `summarize count() by ${name}`,
  },
  { written: /^unique_by\(\s*\.?(\w[\w.]*)\s*\)$/, instead: ([, name = '']) => `distinct ${name}` },
  {
    written: /^(?:sort_by|sort_values|order_?by|arrange)\(\s*(-?)\s*\.?["']?(\w[\w.]*)["']?\s*\)$/,
    instead: ([, minus, name = '']) => `sort by ${name} ${minus === '' ? 'asc' : 'desc'}`,
  },
  {
    written: /^(?:nlargest|top)\(\s*(\d+)\s*,\s*["']?(\w[\w.]*)["']?\s*\)$/,
    instead: ([, count = '', name = '']) => `top ${count} by ${name}`,
  },
  { written: /^(?:agg|aggregate)\((.+)\)$/, instead: ([, measures = '']) => `summarize ${measures}` },
  { written: /^(?:keys|describe|info|columns|schema|dtypes)(?:\(\))?$/, instead: () => 'getschema' },
];

/** Strips the dots from jq fields; its `and` and `or` are the same in APL. */
function withoutDots(condition: string): string {
  return condition.replace(/(^|[\s(])\.(?=[A-Za-z_])/g, '$1');
}

/** Translates a stage of another tool, without its leading pipe, to APL stages; returns undefined if it is unknown. */
export function translatedStage(text: string): string | undefined {
  if (text.length > longestStage) return undefined;
  for (const { written, instead } of rows) {
    const match = written.exec(text);
    const found = match === null ? undefined : instead(match);
    if (found !== undefined) return found;
  }
  return translatedCmdlet(text) ?? translateCommand(text);
}
