import {
  datasetName,
  type ExpressionDialect,
  fieldName,
  sharedFunctions,
  textOf,
  translateExpression,
} from './language-expression.js';
import { LanguageReader } from './language-reader.js';

const functions: Readonly<Record<string, string>> = {
  ...sharedFunctions,
  ispresent: 'isnotnull($1)',
  isblank: 'isempty(trim_space($1))',
  isempty: 'isempty($1)',
  strlen: 'strlen($1)',
  strcontains: '$1 contains_cs $2',
  tolower: 'tolower($1)',
  toupper: 'toupper($1)',
  concat: 'strcat($*)',
  substr: 'substring($*)',
  greatest: 'max_of($*)',
  least: 'min_of($*)',
  datefloor: 'bin($1, $2)',
  bin: 'bin(_time, $1)',
  isvalidip: 'isnotnull(parse_ipv4($1))',
  isipv4insubnet: 'ipv4_is_in_range($1, $2)',
};

/** Aggregates of `stats`; `count_distinct` becomes an estimate. */
const aggregates: Readonly<Record<string, string>> = {
  ...{ avg: 'avg($1)', sum: 'sum($1)', min: 'min($1)', max: 'max($1)', median: 'percentile($1, 50)' },
  ...{ stddev: 'stdev($1)', count: 'countif(isnotnull($1))', 'count()': 'count()' },
  ...{ count_distinct: 'dcount($1)', pct: 'percentile($1, $2)', percentile: 'percentile($1, $2)' },
  ...{ earliest: 'arg_min(_time, $1)', latest: 'arg_max(_time, $1)' },
};

const values: ExpressionDialect = { quotesName: 'single', functions, special: readSpecial };
const measures: ExpressionDialect = { ...values, functions: { ...functions, ...aggregates } };

/**
 * Reads a field or a duration: fields that the service discovers in every event start with `@`, and a duration is a number with its unit.
 */
function readSpecial(reader: LanguageReader) {
  const { kind, text } = reader.peek();
  if (kind !== 'word') return undefined;
  const isLength = /^\d+(?:ms|s|m|h|d|w)$/.test(text);
  const isFound = text.startsWith('@') && reader.peek(1).text !== '(';
  if (!isLength && !isFound) return undefined;
  reader.next();
  return { text: isLength ? lengthOf(text) : nameOf(text), binds: ATOM };
}

const ATOM = 6;

function lengthOf(text: string): string {
  const weeks = /^(\d+)w$/.exec(text)?.[1];
  return weeks === undefined ? text : `${7 * Number(weeks)}d`;
}

function nameOf(text: string): string {
  return /^@timestamp$/i.test(text) ? '_time' : fieldName(text.replace(/^@/, ''));
}

/** Translates a CloudWatch Logs Insights query; `reader.reason` is set if that is not possible. */
export function translateInsights(outer: LanguageReader): string {
  const reader = new LanguageReader(inSigns(outer.text));
  const query: Query = { lines: [datasetName('logs')], shown: [], isSummary: false };
  do {
    const word = reader.next().text;
    const read = Object.hasOwn(commands, word.toLowerCase()) ? commands[word.toLowerCase()] : undefined;
    if (read === undefined) reader.fail(`The command \`${word}\` has no translation.`);
    else read(reader, query);
  } while (reader.takeSign('|') !== undefined);
  if (!reader.done) reader.fail(`${reader.shown()} has no translation.`);
  if (reader.reason !== undefined) return outer.fail(reader.reason);
  const shown = query.isSummary || query.shown.length === 0 ? [] : [`| project ${query.shown.join(', ')}`];
  return [...query.lines, ...shown].join('\n');
}

/** Returns the text with quotes, patterns and lists in a form the reader accepts. */
function inSigns(text: string): string {
  return text
    .replace(/^\s*#.*$/gm, '')
    .replace(/'((?:[^'\\\n]|\\.)*)'/g, (_, inner: string) => `"${inner.replaceAll('"', '""')}"`)
    .replace(/\blike\s+"((?:[^"\\\n]|\\.|"")*)"/gi, (_, inner: string) => `like "%${inner}%"`)
    .replace(/\bnot\s+like\s+\/((?:[^/\\\n]|\\.)+)\//gi, (_, regex: string) => `!~ ${quotedRegex(regex)}`)
    .replace(
      /(?:\blike\b|=~|~=)\s*\/((?:[^/\\\n]|\\.)+)\//gi,
      (_, regex: string) => `=~ ${quotedRegex(regex)}`,
    )
    .replace(/\bin\s*\[([^\]]*)\]/gi, (_, list: string) => `in (${list})`)
    .replace(/`([^`]*)`/g, (_, name: string) => `'${name}'`);
}

function quotedRegex(regex: string): string {
  return `"${regex.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`;
}

interface Query {
  readonly lines: string[];
  /** Fields shown at the end; conditions below may read other fields. */
  shown: readonly string[];
  isSummary: boolean;
}

type Command = (reader: LanguageReader, query: Query) => void;

const commands: Readonly<Record<string, Command>> = {
  fields: readFields,
  display: (reader, query) => {
    query.shown = [];
    readFields(reader, query);
  },
  filter: (reader, { lines }) => void lines.push(`| where ${translateExpression(reader, values)}`),
  stats: readStats,
  sort: readSort,
  limit: (reader, { lines }) => void lines.push(`| limit ${reader.next().text}`),
  head: (reader, { lines }) => void lines.push(`| limit ${reader.next().text}`),
  dedup: (reader, { lines }) =>
    void lines.push(`| summarize arg_max(_time, *) by ${reader.list(() => readName(reader)).join(', ')}`),
  parse: readParse,
};

function readName(reader: LanguageReader): string {
  return nameOf(reader.next().text);
}

/** Reads `a, b as c, strlen(d) as e`; computed fields are available to later commands. */
function readFields(reader: LanguageReader, query: Query): void {
  const computed: string[] = [];
  const found = reader.list(() => {
    const value = translateExpression(reader, values);
    if (reader.takeWord('as') === undefined) {
      if (!/^[\w.]+$|^\[/.test(value))
        reader.fail('A computed field without a name has no translation: add `as NAME`.');
      return value;
    }
    const name = readName(reader);
    computed.push(`${name} = ${value}`);
    return name;
  });
  if (computed.length > 0) query.lines.push(`| extend ${computed.join(', ')}`);
  query.shown = [...query.shown, ...found.filter(name => !query.shown.includes(name))];
}

function readStats(reader: LanguageReader, query: Query): void {
  const named = (): string => {
    const value = translateExpression(reader, measures);
    return reader.takeWord('as') === undefined ? value : `${readName(reader)} = ${value}`;
  };
  const found = reader.list(named);
  const keys = reader.takeWord('by') === undefined ? [] : reader.list(named);
  query.lines.push(`| summarize ${found.join(', ')}${keys.length === 0 ? '' : ` by ${keys.join(', ')}`}`);
  query.isSummary = true;
}

function readSort(reader: LanguageReader, { lines }: Query): void {
  const keys = reader.list(() => {
    const name = translateExpression(reader, values);
    const order = reader.takeWord('asc', 'desc');
    return order === undefined
      ? reader.fail('`sort` without an order has no translation: write `asc` or `desc`.')
      : `${name} ${order}`;
  });
  lines.push(`| sort by ${keys.join(', ')}`);
}

/** Reads `parse @message "user=*, method=*" as user, method`. */
function readParse(reader: LanguageReader, { lines }: Query): void {
  const field = readName(reader);
  const { kind, text } = reader.next();
  if (kind !== 'double') {
    reader.fail('`parse` by a pattern has no translation: write extract("(…)", 1, field).');
    return;
  }
  if (reader.takeWord('as') === undefined) reader.fail('`as` is missing in `parse`.');
  const names = reader.list(() => readName(reader));
  const texts = text.split('*');
  if (texts.length !== names.length + 1) reader.fail('`parse` needs a name for each `*`.');
  const parts = texts.flatMap((each, place) => [
    ...(each === '' ? [] : [textOf(each)]),
    ...(names[place] === undefined ? [] : [names[place]]),
  ]);
  lines.push(`| parse ${field} with ${parts.join(' ')}`);
}
