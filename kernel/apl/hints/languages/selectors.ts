import { present } from '../../../present.js';
import { atomic, datasetName, fieldName, percentOf, textOf } from './language-expression.js';
import type { LanguageReader } from './language-reader.js';

/** The selection so far of a PromQL or LogQL query, as parts of an APL query. */
interface Selected {
  readonly dataset: string;
  readonly lines: readonly string[];
  /** Aggregate over the bins of a range, once there is one. */
  readonly measure?: string;
  readonly width?: string;
  /** Field named by `unwrap`. */
  readonly value?: string;
}

/** Translates a LogQL query; `reader.reason` is set if that is not possible. */
export function translateLogQl(reader: LanguageReader): string {
  return written(reader, readQuery(reader));
}

/** Translates a PromQL query: a series is a dataset whose events have a `value`. */
export function translatePromQl(reader: LanguageReader): string {
  return written(reader, readQuery(reader));
}

function written(reader: LanguageReader, { dataset, lines, measure, width }: Selected): string {
  const sign = reader.takeSign('>', '<', '>=', '<=', '==', '!=');
  const limit = sign === undefined ? undefined : `| where ${nameOf(measure)} ${sign} ${reader.next().text}`;
  if (!reader.done) reader.fail(`${reader.shown()} has no translation.`);
  const summary =
    measure === undefined || lines.some(line => line.startsWith('| summarize'))
      ? []
      : [`| summarize ${measure} by ${binOf(width)}`];
  return [dataset, ...lines, ...summary, ...(limit === undefined ? [] : [limit])].join('\n');
}

function binOf(width: string | undefined): string {
  return width === undefined ? 'bin_auto(_time)' : `bin(_time, ${width})`;
}

/** Returns the name that a summarize gives a measure. */
function nameOf(measure = 'value'): string {
  const [, name = '', field = ''] = /^(?:(\w+) = )?/.exec(measure) ?? [];
  if (name !== '') return name;
  const [, call = '', argument = ''] = /^(\w+)\((\w*)/.exec(measure) ?? [];
  return call === '' ? `value${field}` : `${call}_${argument}`;
}

/** Aggregations over series, which combine the results of ranges. */
const aggregations = ['sum', 'avg', 'min', 'max', 'count', 'stddev', 'stdvar', 'topk', 'bottomk'];

/** Functions over the values of a series in a range. */
const ofValues: Readonly<Record<string, string>> = {
  avg_over_time: 'avg($1)',
  sum_over_time: 'sum($1)',
  min_over_time: 'min($1)',
  max_over_time: 'max($1)',
  count_over_time: 'count()',
  stddev_over_time: 'stdev($1)',
  last_over_time: 'arg_max(_time, $1)',
};

/** Functions over a range of lines, or of a counter, translated to counts of the events themselves. */
const ofEvents: Readonly<Record<string, (seconds: string) => string>> = {
  rate: seconds => `rate_ = count() / ${seconds}`,
  irate: seconds => `rate_ = count() / ${seconds}`,
  increase: () => 'count()',
  count_over_time: () => 'count()',
  bytes_over_time: () => 'bytes = sum(string_size(message))',
  bytes_rate: seconds => `bytes = sum(string_size(message)) / ${seconds}`,
};

function readQuery(reader: LanguageReader): Selected {
  const word = reader.peek().text;
  const opens = reader.peek(1).text === '(' || reader.isWord(['by', 'without'], 1);
  if (aggregations.includes(word) && opens) return readAggregation(reader, reader.next().text);
  if (word === 'histogram_quantile' && opens) return readQuantile(reader);
  if (opens && reader.peek().kind === 'word') return readRange(reader, reader.next().text);
  if (reader.takeSign('(') !== undefined) {
    const inner = readQuery(reader);
    reader.expect(')');
    return inner;
  }
  return readSelector(reader);
}

function readAggregation(reader: LanguageReader, name: string): Selected {
  const before = readGroups(reader);
  reader.expect('(');
  const count = name === 'topk' || name === 'bottomk' ? reader.next().text : undefined;
  if (count !== undefined) reader.expect(',');
  const inner = readQuery(reader);
  reader.expect(')');
  const groups = [...before, ...readGroups(reader)];
  if (count !== undefined) return ranked(reader, inner, count, name === 'topk' ? 'desc' : 'asc', groups);
  const measure = inner.measure ?? (name === 'count' ? 'count()' : `${combined[name] ?? name}(value)`);
  const over = measured(reader, name, measure);
  const keys = [...groups, binOf(inner.width)];
  return { ...inner, measure: over, lines: [...inner.lines, `| summarize ${over} by ${keys.join(', ')}`] };
}

const combined: Readonly<Record<string, string>> = { stddev: 'stdev', stdvar: 'variance' };

/** Returns the measure of an aggregation: the sum of the groups' rates is the total rate, other aggregations read the values themselves. */
function measured(reader: LanguageReader, name: string, measure: string): string {
  if (name === 'sum') return measure;
  if (name === 'count') return 'count()';
  if (/^rate_ |^bytes|^count/.test(measure))
    return reader.fail(`\`${name}\` of rates has no translation: summarize twice.`);
  return `${combined[name] ?? name}(value)`;
}

function ranked(
  reader: LanguageReader,
  inner: Selected,
  count: string,
  order: string,
  groups: readonly string[],
): Selected {
  const last = inner.lines.at(-1) ?? '';
  if (inner.measure === undefined && groups.length === 0)
    return {
      ...inner,
      lines: [...inner.lines, `| top ${count} by value ${order}`],
    };
  const keyed = last.startsWith('| summarize') ? inner.lines.slice(0, -1) : inner.lines;
  const keys = / by (.*?),? ?bin/.exec(last)?.[1] ?? groups.join(', ');
  if (keys === '') reader.fail('`topk` without labels has no translation: summarize `by` a field.');
  // All rates cover the same range, so they order groups as the counts do.
  const measure = inner.measure?.startsWith('rate_ =') === true ? 'count()' : (inner.measure ?? 'count()');
  return {
    ...inner,
    lines: [...keyed, `| summarize ${measure} by ${keys}`, `| top ${count} by ${nameOf(measure)} ${order}`],
  };
}

/** Reads `by (a, b)`. */
function readGroups(reader: LanguageReader): readonly string[] {
  if (reader.takeWord('without') !== undefined)
    reader.fail('`without` has no translation: list the labels after `by`.');
  if (reader.takeWord('by') === undefined) return [];
  reader.expect('(');
  const names = reader.isSign(')') ? [] : reader.list(() => fieldName(reader.next().text));
  reader.expect(')');
  return names.filter(name => name !== 'le');
}

/** Reads `histogram_quantile(0.95, …)` as a percentile of the values. */
function readQuantile(reader: LanguageReader): Selected {
  reader.next();
  reader.expect('(');
  const rank = percentOf(reader.next().text);
  reader.expect(',');
  const inner = readQuery(reader);
  reader.expect(')');
  const measure = `percentile(value, ${rank})`;
  const keys = / by (.*)$/.exec(inner.lines.at(-1) ?? '')?.[1] ?? binOf(inner.width);
  const lines = inner.lines.filter(line => !line.startsWith('| summarize'));
  return {
    ...inner,
    dataset: inner.dataset.replace(/_bucket'\]$/, "']"),
    lines: [...lines, `| summarize ${measure} by ${keys}`],
    measure,
  };
}

/** Reads `rate(selector[5m])`. */
function readRange(reader: LanguageReader, name: string): Selected {
  reader.expect('(');
  const rank = name === 'quantile_over_time' ? percentOf(reader.next().text) : undefined;
  if (rank !== undefined) reader.expect(',');
  if (reader.peek().kind === 'number') reader.fail(`The function \`${name}\` has no translation.`);
  const inner = readQuery(reader);
  const { width = '5m', value = 'value' } = inner;
  reader.expect(')');
  const template = rank === undefined ? ofValues[name] : `percentile($1, ${rank})`;
  const measure = ofEvents[name]?.(secondsOf(width)) ?? template?.replace('$1', value);
  if (measure === undefined)
    return { ...inner, lines: [reader.fail(`The function \`${name}\` has no translation.`)] };
  const groups = readGroups(reader);
  const keys = [...groups, binOf(width)].join(', ');
  const lines = groups.length === 0 ? inner.lines : [...inner.lines, `| summarize ${measure} by ${keys}`];
  return { ...inner, lines, width, measure };
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsOf(width: string): string {
  const [, count = '1', unit = 's'] = /^(\d+)([smhd])$/.exec(width) ?? [];
  return `${Number(count) * (seconds[unit] ?? 1)}.0`;
}

/** Reads `metric{label="value"} |= "text" | json [5m]`. */
function readSelector(reader: LanguageReader): Selected {
  const name = reader.peek().kind === 'word' ? reader.next().text : undefined;
  const conditions = reader.takeSign('{') === undefined ? [] : readLabels(reader);
  const lines = conditions.length === 0 ? [] : [`| where ${conditions.join(' and ')}`];
  let value: string | undefined;
  while (reader.isSign('|=', '!=', '|~', '!~', '|') && (name === undefined || reader.isSign('|'))) {
    if (reader.isWord(['unwrap'], 1)) value = readUnwrap(reader);
    else lines.push(...readFilter(reader));
  }
  const width = reader.takeSign('[') === undefined ? undefined : reader.next().text;
  if (width !== undefined) reader.expect(']');
  if (reader.isWord(['offset'])) reader.fail('`offset` has no translation: compare periods with `%compare`.');
  return { dataset: datasetName(name ?? 'logs'), lines, ...present({ width, value }) };
}

/** Reads `| unwrap field`, or `| unwrap duration(field)`. */
function readUnwrap(reader: LanguageReader): string {
  reader.next();
  reader.next();
  const name = reader.next().text;
  if (reader.takeSign('(') === undefined) return fieldName(name);
  reader.fail(`\`unwrap ${name}(…)\` has no translation: unwrap the field itself.`);
  return '';
}

function readLabels(reader: LanguageReader): readonly string[] {
  const found: string[] = [];
  while (!reader.done && !reader.isSign('}')) {
    const label = fieldName(reader.next().text);
    const sign = reader.takeSign('=', '!=', '=~', '!~') ?? '';
    found.push(matched(label, sign, reader.next().text));
    if (reader.takeSign(',') === undefined) break;
  }
  reader.expect('}');
  return found;
}

function matched(label: string, sign: string, value: string): string {
  if (sign === '=' || sign === '!=') return `${label} ${sign === '=' ? '==' : '!='} ${textOf(value)}`;
  return `${label} ${sign === '!~' ? '!' : ''}matches regex ${textOf(`^(?:${value})$`)}`;
}

/** Reads a filter on log lines, or a stage such as `| json` that needs no translation. */
function readFilter(reader: LanguageReader): readonly string[] {
  const sign = reader.next().text;
  if (sign === '|=') return [`| where * contains ${textOf(reader.next().text)}`];
  if (sign === '!=') return [`| where not(* contains ${textOf(reader.next().text)})`];
  if (sign === '|~') return [`| where message matches regex ${textOf(reader.next().text)}`];
  if (sign === '!~') return [`| where message !matches regex ${textOf(reader.next().text)}`];
  const word = reader.next();
  if (['json', 'logfmt', 'unpack'].includes(word.text)) return [];
  const compared = reader.takeSign('=', '==', '!=', '=~', '!~', '>', '<', '>=', '<=');
  if (compared === undefined) return [reader.fail(`The stage \`${word.text}\` has no translation.`)];
  const value = reader.next();
  const label = fieldName(word.text);
  if (value.kind === 'number')
    return [`| where ${label} ${compared === '=' ? '==' : compared} ${value.text}`];
  if (value.kind === 'word') return [`| where ${label} ${compared} ${atomic(value.text).text}`];
  return [`| where ${matched(label, compared === '==' ? '=' : compared, value.text)}`];
}
