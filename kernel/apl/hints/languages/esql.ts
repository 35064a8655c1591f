import {
  atomic,
  conditioned,
  datasetName,
  type ExpressionDialect,
  fieldName,
  fieldsFrom,
  keeping,
  sharedFunctions,
  type Translated,
  textOf,
  translateExpression,
} from './language-expression.js';
import { LanguageReader } from './language-reader.js';

const functions: Readonly<Record<string, string>> = {
  ...sharedFunctions,
  case: 'case($*)',
  concat: 'strcat($*)',
  left: 'substring($1, 0, $2)',
  trim: 'trim_space($1)',
  replace: 'replace_regex($2, $3, $1)',
  split: 'split($*)',
  locate: 'indexof($1, $2) + 1',
  contains: '$1 contains_cs $2',
  starts_with: '$1 startswith_cs $2',
  ends_with: '$1 endswith_cs $2',
  match: '$1 has $2',
  match_phrase: '$1 has $2',
  to_lower: 'tolower($1)',
  to_upper: 'toupper($1)',
  greatest: 'max_of($*)',
  least: 'min_of($*)',
  cidr_match: 'ipv4_is_in_range($1, $2)',
  mv_count: 'array_length($1)',
  mv_concat: 'strcat_array($*)',
  date_diff: 'datetime_diff($1, $3, $2)',
  tbucket: 'bin(_time, $1)',
  ...{ to_string: 'tostring($1)', to_integer: 'toint($1)', to_long: 'toint($1)', to_double: 'todouble($1)' },
  ...{ to_boolean: 'tobool($1)', to_datetime: 'todatetime($1)', to_ip: 'tostring($1)' },
};

/** Aggregates of `STATS`; `COUNT_DISTINCT` becomes an estimate. */
const aggregates: Readonly<Record<string, string>> = {
  ...{ 'count()': 'count()', count: 'countif(isnotnull($1))', count_distinct: 'dcount($1)' },
  ...{ sum: 'sum($1)', avg: 'avg($1)', min: 'min($1)', max: 'max($1)', std_dev: 'stdev($1)' },
  ...{ variance: 'variance($1)', median: 'percentile($1, 50)', percentile: 'percentile($1, $2)' },
  values: 'make_set($1)',
};

const units: Readonly<Record<string, string>> = {
  ...{ ms: 'ms', millisecond: 'ms', milliseconds: 'ms', s: 's', sec: 's', second: 's', seconds: 's' },
  ...{ min: 'm', minute: 'm', minutes: 'm', h: 'h', hour: 'h', hours: 'h', d: 'd', day: 'd', days: 'd' },
};

/** Names of time parts in `DATE_EXTRACT` that may be named differently here. */
const parts: Readonly<Record<string, string>> = {
  ...{ year: 'getyear', month_of_year: 'getmonth', day_of_month: 'dayofmonth', hour_of_day: 'hourofday' },
  ...{ day_of_year: 'dayofyear', aligned_week_of_year: 'week_of_year' },
};

/** The query so far, and the names of its unnamed results, by their source without spaces. */
interface Query {
  readonly lines: string[];
  readonly results: Map<string, string>;
}

type Dialects = Readonly<Record<'values' | 'measures', ExpressionDialect>>;

function dialectsOf({ results }: Query): Dialects {
  const values: ExpressionDialect = {
    quotesName: 'single',
    functions,
    special: reader => readSpecial(reader, values, results),
    signs: { ':': 'has', '=~': '=~' },
    wildcards: ['*', '?'],
    matchesAll: true,
  };
  return { values, measures: { ...values, functions: { ...functions, ...aggregates } } };
}

/** Translates an ES|QL query; `reader.reason` is set if that is not possible. */
export function translateEsql(outer: LanguageReader): string {
  const reader = new LanguageReader(inSigns(outer.text));
  const query: Query = { lines: [], results: new Map() };
  const dialects = dialectsOf(query);
  do {
    const word = reader.next().text;
    const name = word.toLowerCase();
    const read = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (read === undefined) reader.fail(`The command \`${word}\` has no translation.`);
    else read(reader, query, dialects);
  } while (reader.takeSign('|') !== undefined);
  if (!reader.done) reader.fail(`${reader.shown()} has no translation.`);
  return reader.reason === undefined ? query.lines.join('\n') : outer.fail(reader.reason);
}

const quotes = /"""([\s\S]*?)"""|"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g;

/** Returns the text without comments, and with triple-quoted strings in a form the reader accepts. */
function inSigns(text: string): string {
  return text.replace(quotes, (whole, inner?: string) => {
    if (inner !== undefined) return `"${inner.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`;
    return whole.startsWith('//') ? '' : whole;
  });
}

type Command = (reader: LanguageReader, query: Query, dialects: Dialects) => void;

const commands: Readonly<Record<string, Command>> = {
  from: readFrom,
  row: (reader, { lines }, { values }) => void lines.push(`print ${assignments(reader, values)}`),
  where: (reader, { lines }, { values }) => void lines.push(`| where ${translateExpression(reader, values)}`),
  eval: (reader, { lines }, { values }) => void lines.push(`| extend ${assignments(reader, values)}`),
  stats: readStats,
  sort: readSort,
  limit: (reader, { lines }) => void lines.push(`| limit ${reader.next().text}`),
  keep: (reader, { lines }) => {
    const names = reader.list(() => readPattern(reader));
    if (names.join() === '*') return;
    if (names.includes('*'))
      reader.fail('`KEEP` with some fields and a wildcard has no translation: see `project-reorder`.');
    lines.push(`| ${keeping(names)}`);
  },
  drop: (reader, { lines }) =>
    void lines.push(`| project-away ${reader.list(() => readPattern(reader)).join(', ')}`),
  rename: readRename,
  dissect: readDissect,
  grok: reader => void reader.fail('`GROK` has no translation: write `parse`, or extract("(…)", 1, field).'),
  mv_expand: (reader, { lines }) => void lines.push(`| mv-expand ${nameOf(reader.next().text)}`),
};

function nameOf(text: string): string {
  return text === '@timestamp' ? '_time' : fieldName(text);
}

/** Reads `FROM logs-*, "web logs" METADATA _id`. */
function readFrom(reader: LanguageReader, { lines }: Query): void {
  const names = reader.list(() => readIndex(reader));
  if (reader.takeWord('metadata') !== undefined) reader.list(() => reader.next());
  const isOne = names.length === 1 && !names.some(name => name.endsWith('*'));
  lines.push(isOne ? (names[0] ?? '') : `union ${names.join(', ')}`);
}

/** Reads an index name, up to the next space or comma; `*` stands for any suffix. */
function readIndex(reader: LanguageReader): string {
  const first = reader.next();
  let { text, to } = first;
  if (first.kind !== 'double')
    while (reader.peek().from === to && !reader.done && !reader.isSign(',', '|')) {
      const token = reader.next();
      text += reader.text.slice(token.from, token.to);
      to = token.to;
    }
  const [name = '', ...rest] = text.split('*');
  if (rest.length > 1 || (rest[0] ?? '') !== '' || /^[-<]|:/.test(text))
    return reader.fail(`The name \`${text}\` has no translation: name each dataset in a \`union\`.`);
  if (rest.length === 0) return datasetName(name);
  return name === '' ? '*' : `${datasetName(name)}*`;
}

function readSpecial(
  reader: LanguageReader,
  dialect: ExpressionDialect,
  results: Query['results'],
): Translated | undefined {
  const { kind, text } = reader.peek();
  const opens = reader.peek(1).text === '(';
  const found = kind === 'tick' ? results.get(keyOf(text)) : undefined;
  if (found !== undefined || text === '@timestamp') {
    reader.next();
    return atomic(found ?? '_time');
  }
  if (kind === 'number' && Object.hasOwn(units, reader.peek(1).text.toLowerCase()))
    return atomic(readLength(reader));
  if (text === '?') return atomic(reader.fail('A parameter has no translation: write `%param` above it.'));
  if (!opens) return undefined;
  if (reader.takeWord('date_trunc') !== undefined) return readBin(reader, dialect, 'first');
  if (reader.takeWord('bucket') !== undefined) return readBin(reader, dialect, 'last');
  if (reader.takeWord('date_extract') !== undefined) return readExtract(reader, dialect);
  if (reader.takeWord('substring') !== undefined) return readSubstring(reader, dialect);
  return reader.takeWord('case') === undefined ? undefined : readCase(reader, dialect);
}

/** Reads `1 hour`; the unit is undefined if it is not one of time. */
function readLength(reader: LanguageReader): string {
  const count = reader.next().text;
  return `${count}${units[reader.next().text.toLowerCase()]}`;
}

const starts: Readonly<Record<string, string>> = {
  ...{ week: 'startofweek', month: 'startofmonth', year: 'startofyear' },
};

/** Reads `DATE_TRUNC(1 hour, t)`, `BUCKET(t, 1 hour)`, `BUCKET(t, 50, "…", "…")`. */
function readBin(reader: LanguageReader, dialect: ExpressionDialect, width: 'first' | 'last'): Translated {
  reader.expect('(');
  const value = (): string => translateExpression(reader, dialect);
  const before = width === 'first' ? undefined : value();
  if (before !== undefined) reader.expect(',');
  const unit = reader.peek(1).text.toLowerCase().replace(/s$/, '');
  const start = reader.peek().text === '1' ? starts[unit] : undefined;
  const size = start === undefined ? value() : reader.next().text;
  if (start !== undefined) reader.next();
  if (width === 'first') reader.expect(',');
  const field = before ?? value();
  const ends = reader.takeSign(',') === undefined ? [] : reader.list(value);
  reader.expect(')');
  if (start !== undefined) return atomic(`${start}(${field})`);
  if (ends.length === 0) return atomic(`bin(${field}, ${size})`);
  if (field !== '_time')
    reader.fail('`BUCKET` with a number of buckets has no translation: write `bin(x, width)`.');
  return atomic('bin_auto(_time)');
}

/** Reads `DATE_EXTRACT("hour_of_day", t)`. */
function readExtract(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const { text } = reader.next();
  const part = parts[text.toLowerCase()];
  if (part === undefined)
    reader.fail(`\`DATE_EXTRACT\` of \`${text}\` has no translation: see \`datetime_part\`.`);
  reader.expect(',');
  const value = translateExpression(reader, dialect);
  reader.expect(')');
  return atomic(`${part}(${value})`);
}

/** Reads the arguments of a substring function; its positions start at 1. */
function readSubstring(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const [text = '', start = '1', ...rest] = reader.list(() => translateExpression(reader, dialect));
  reader.expect(')');
  const from = /^\d+$/.test(start) ? String(Number(start) - 1) : `${start} - 1`;
  return atomic(`substring(${[text, from, ...rest].join(', ')})`);
}

/** Reads a case; without a default value it is null. */
function readCase(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const found = reader.list(() => translateExpression(reader, dialect));
  reader.expect(')');
  return atomic(`case(${[...found, ...(found.length % 2 === 0 ? ['null'] : [])].join(', ')})`);
}

function assignments(reader: LanguageReader, dialect: ExpressionDialect): string {
  const found = reader.list(() => {
    if (reader.peek(1).text !== '=') {
      translateExpression(reader, dialect);
      return reader.fail('A computed field without a name has no translation: write `name = …`.');
    }
    const name = nameOf(reader.next().text);
    reader.next();
    return `${name} = ${translateExpression(reader, dialect)}`;
  });
  return found.join(', ');
}

/** Reads `n = COUNT(*) WHERE status >= 500, AVG(took) BY host, hour = BUCKET(@timestamp, 1 hour)`. */
function readStats(reader: LanguageReader, { lines, results }: Query, { values, measures }: Dialects): void {
  const named = (read: () => string): string => {
    if (reader.peek(1).text !== '=') return read();
    const name = nameOf(reader.next().text);
    reader.next();
    return `${name} = ${read()}`;
  };
  const measure = (): string => {
    const { from } = reader.peek();
    const text = translateExpression(reader, measures);
    results.set(keyOf(reader.text.slice(from, reader.peek().from)), resultName(text));
    if (reader.takeWord('where') === undefined) return text;
    const condition = translateExpression(reader, values);
    return conditioned(text, condition) ?? reader.fail(`\`WHERE\` behind ${text} has no translation.`);
  };
  const found = reader.isWord(['by']) ? [] : reader.list(() => named(measure));
  const keys =
    reader.takeWord('by') === undefined
      ? []
      : reader.list(() => named(() => translateExpression(reader, values)));
  if (found.length === 0) lines.push(`| distinct ${keys.join(', ')}`);
  else lines.push(`| summarize ${found.join(', ')}${keys.length === 0 ? '' : ` by ${keys.join(', ')}`}`);
}

function keyOf(text: string): string {
  return text.replace(/\s+/g, '').toLowerCase();
}

/** Returns the name that a summarize gives an unnamed result. */
function resultName(text: string): string {
  const [, name = '', field = ''] = /^(\w+)\((\w*)[^()]*\)$/.exec(text) ?? [];
  return name === '' ? text : `${name}_${field}`;
}

function readSort(reader: LanguageReader, { lines }: Query, { values }: Dialects): void {
  const keys = reader.list(() => {
    const key = translateExpression(reader, values);
    const order = reader.takeWord('asc', 'desc') ?? 'asc';
    return `${key} ${order}${reader.takeWord('nulls') === undefined ? '' : ` nulls ${reader.next().text.toLowerCase()}`}`;
  });
  lines.push(`| sort by ${keys.join(', ')}`);
}

/** Reads a name, or `status*`. */
function readPattern(reader: LanguageReader): string {
  const { kind, text, to } = reader.next();
  const isOpen = kind === 'word' && reader.isSign('*') && reader.peek().from === to;
  if (isOpen) reader.next();
  const isPattern = text.endsWith('*') && kind !== 'tick';
  return isOpen || isPattern ? fieldsFrom(isPattern ? text.slice(0, -1) : text) : nameOf(text);
}

/** Reads `RENAME old AS new`, `RENAME new = old`. */
function readRename(reader: LanguageReader, { lines }: Query): void {
  const found = reader.list(() => {
    const first = nameOf(reader.next().text);
    const isNew = reader.takeSign('=') !== undefined;
    if (!isNew && reader.takeWord('as') === undefined) reader.fail('`AS` is missing in `RENAME`.');
    const second = nameOf(reader.next().text);
    return isNew ? `${first} = ${second}` : `${second} = ${first}`;
  });
  lines.push(`| project-rename ${found.join(', ')}`);
}

/** Reads `DISSECT message "%{ip} - %{verb}"`. */
function readDissect(reader: LanguageReader, { lines }: Query): void {
  const field = nameOf(reader.next().text);
  const { text } = reader.next();
  const keys = [...text.matchAll(/%\{([^}]*)\}/g)].map(([, key = '']) => key);
  if (keys.length === 0 || keys.some(key => !/^[\w.@]+$/.test(key)))
    reader.fail('`DISSECT` with `%{}`, `+`, `?` or `->` has no translation: write `parse`.');
  const parts = text
    .split(/%\{[^}]*\}/)
    .flatMap((each, place) => [
      ...(each === '' ? [] : [textOf(each)]),
      ...(keys[place] === undefined ? [] : [nameOf(keys[place])]),
    ]);
  lines.push(`| parse ${field} with ${parts.join(' ')}`);
}
