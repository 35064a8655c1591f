import {
  atomic,
  cast,
  conditioned,
  datasetName,
  type ExpressionDialect,
  fieldName,
  percentOf,
  sharedFunctions,
  type Translated,
  translateExpression,
} from './language-expression.js';
import type { LanguageReader } from './language-reader.js';

const aggregates: Readonly<Record<string, string>> = {
  'count()': 'count()',
  count: 'countif(isnotnull($1))',
  'count distinct': 'dcount($1)',
  approx_count_distinct: 'dcount($1)',
  approx_distinct: 'dcount($1)',
  uniq: 'dcount($1)',
  sum: 'sum($1)',
  avg: 'avg($1)',
  mean: 'avg($1)',
  min: 'min($1)',
  max: 'max($1)',
  median: 'percentile($1, 50)',
  stddev: 'stdev($1)',
  stddev_samp: 'stdev($1)',
  variance: 'variance($1)',
  var_samp: 'variance($1)',
  countif: 'countif($1)',
  count_if: 'countif($1)',
  array_agg: 'make_list($1)',
  'array_agg distinct': 'make_set($1)',
  any_value: 'max($1)',
};

/** SQL functions, with their translations. */
export const sqlFunctions: Readonly<Record<string, string>> = {
  ...sharedFunctions,
  ...aggregates,
  concat: 'strcat($*)',
  concat_ws: 'strcat_delim($*)',
  ifnull: 'coalesce($*)',
  nvl: 'coalesce($*)',
  greatest: 'max_of($*)',
  least: 'min_of($*)',
  mod: '$1 % $2',
  trim: 'trim_space($1)',
  split_part: 'split($1, $2)[$3 - 1]',
  strpos: 'indexof($1, $2) + 1',
  starts_with: '$1 startswith_cs $2',
  regexp_like: '$1 matches regex $2',
  regexp_extract: 'extract($2, 0, $1)',
  year: 'getyear($1)',
  month: 'getmonth($1)',
  day: 'dayofmonth($1)',
  hour: 'hourofday($1)',
  date: 'startofday($1)',
  to_timestamp: 'todatetime($1)',
  json_extract: 'parse_json($1)',
  array_length: 'array_length($1)',
};

const units: Readonly<Record<string, string>> = { second: 's', minute: 'm', hour: 'h', day: 'd', week: '7d' };

/** Returns `1 hour` or `15 minutes` as a timespan. */
function lengthOf(text: string): string | undefined {
  const [, count = '', unit = ''] = /^\s*(\d+)\s*([a-z]+?)s?\s*$/i.exec(text) ?? [];
  const short = units[unit.toLowerCase()];
  if (short === '7d') return `${7 * Number(count)}d`;
  return short === undefined ? undefined : `${count}${short}`;
}

/** Reads a SQL value that is not a call: a case, an interval, a cast, a query in parentheses. */
function readSpecial(reader: LanguageReader, dialect: ExpressionDialect): Translated | undefined {
  const opens = reader.peek(1).text === '(';
  if (reader.takeWord('case') !== undefined) return readCase(reader, dialect);
  if (reader.takeWord('interval') !== undefined) return readInterval(reader);
  if (reader.takeWord('current_timestamp', 'current_date') !== undefined) return atomic('now()');
  if (reader.isWord(['select'])) return atomic(`(${selectOf(reader).join(' ')})`);
  if (opens && reader.takeWord('cast', 'try_cast', 'safe_cast') !== undefined)
    return readCast(reader, dialect);
  if (opens && reader.takeWord('date_trunc', 'time_bucket') !== undefined) return readBin(reader, dialect);
  if (opens && reader.takeWord('extract') !== undefined) return readExtract(reader, dialect);
  if (opens && reader.takeWord('substring', 'substr') !== undefined) return readSubstring(reader, dialect);
  if (opens && reader.takeWord('percentile_cont', 'percentile_disc') !== undefined)
    return readPercentile(reader, dialect);
  if (opens && reader.takeWord('approx_percentile', 'quantile') !== undefined)
    return readQuantile(reader, dialect);
  return undefined;
}

function readCase(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  const value = reader.isWord(['when']) ? undefined : translateExpression(reader, dialect);
  const parts: string[] = [];
  while (reader.takeWord('when') !== undefined) {
    const condition = translateExpression(reader, dialect);
    if (reader.takeWord('then') === undefined) reader.fail('`THEN` is missing after `WHEN`.');
    parts.push(
      value === undefined ? condition : `${value} == ${condition}`,
      translateExpression(reader, dialect),
    );
  }
  parts.push(reader.takeWord('else') === undefined ? 'null' : translateExpression(reader, dialect));
  if (reader.takeWord('end') === undefined) reader.fail('`END` is missing after `CASE`.');
  return atomic(`case(${parts.join(', ')})`);
}

function readInterval(reader: LanguageReader): Translated {
  const { kind, text } = reader.next();
  const written = kind === 'number' || !/[a-z]/i.test(text) ? `${text} ${reader.next().text}` : text;
  return atomic(lengthOf(written) ?? reader.fail(`The interval \`${written}\` has no translation.`));
}

function readCast(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const value = translateExpression(reader, dialect);
  if (reader.takeWord('as') === undefined) reader.fail('`AS` is missing in `CAST`.');
  const made = cast(reader, value);
  reader.expect(')');
  return made;
}

const starts: Readonly<Record<string, string>> = {
  month: 'startofmonth',
  year: 'startofyear',
  week: 'startofweek',
};

/** Reads `date_trunc('hour', t)`, `time_bucket('5 minutes', t)`. */
function readBin(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  reader.takeWord('interval');
  const unit = reader.next().text;
  reader.expect(',');
  const value = translateExpression(reader, dialect);
  reader.expect(')');
  const start = starts[unit.toLowerCase()];
  const width = lengthOf(/^\d/.test(unit) ? unit : `1 ${unit}`);
  if (start !== undefined) return atomic(`${start}(${value})`);
  return atomic(
    width === undefined ? reader.fail(`The unit \`${unit}\` has no translation.`) : `bin(${value}, ${width})`,
  );
}

const parts: Readonly<Record<string, string>> = {
  year: 'getyear',
  month: 'getmonth',
  day: 'dayofmonth',
  hour: 'hourofday',
  doy: 'dayofyear',
  week: 'week_of_year',
};

/** Reads `extract(hour from t)`. */
function readExtract(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const part = parts[reader.next().text.toLowerCase()];
  if (part === undefined || reader.takeWord('from') === undefined)
    reader.fail('`EXTRACT` of that part has no translation: see `datetime_part`.');
  const value = translateExpression(reader, dialect);
  reader.expect(')');
  return atomic(`${part}(${value})`);
}

/** Reads the arguments of a substring function; SQL positions start at 1. */
function readSubstring(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const [text = '', start = '1', length] = reader.list(() => translateExpression(reader, dialect));
  reader.expect(')');
  const from = /^\d+$/.test(start) ? String(Number(start) - 1) : `${start} - 1`;
  return atomic(`substring(${[text, from, ...(length === undefined ? [] : [length])].join(', ')})`);
}

/** Reads `percentile_cont(0.95) WITHIN GROUP (ORDER BY x)`. */
function readPercentile(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const { text } = reader.next();
  reader.expect(')');
  if (!reader.takeWords('within', 'group')) reader.fail('`WITHIN GROUP` is missing after the percentile.');
  reader.expect('(');
  if (!reader.takeWords('order', 'by')) reader.fail('`ORDER BY` is missing in `WITHIN GROUP`.');
  const value = translateExpression(reader, dialect);
  const isDescending = reader.takeWord('asc', 'desc') === 'desc';
  reader.expect(')');
  return atomic(`percentile(${value}, ${percentOf(isDescending ? String(1 - Number(text)) : text)})`);
}

/** Reads `approx_percentile(x, 0.95)`. */
function readQuantile(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  reader.expect('(');
  const value = translateExpression(reader, dialect);
  reader.expect(',');
  const { text } = reader.next();
  reader.expect(')');
  return atomic(`percentile(${value}, ${percentOf(text)})`);
}

interface Item {
  readonly text: string;
  readonly name: string | undefined;
  readonly isAggregate: boolean;
}

const aggregateNames = [...new Set(Object.values(aggregates).map(text => text.slice(0, text.indexOf('('))))];
const aggregate = new RegExp(`\\b(?:${aggregateNames.join('|')})(?:_?if)?\\(`);

/** Translates a SQL statement; `reader.reason` is set if that is not possible. */
export function translateSql(reader: LanguageReader): string {
  const lets: string[] = [];
  if (reader.takeWord('with') !== undefined)
    lets.push(
      ...reader.list(() => {
        const name = reader.next().text;
        if (reader.takeWord('as') === undefined) reader.fail('`AS` is missing after the name of a query.');
        reader.expect('(');
        const lines = selectOf(reader);
        reader.expect(')');
        return `let ${fieldName(name)} = ${lines.join('\n  ')};`;
      }),
    );
  const lines = selectOf(
    reader,
    lets.map(each => /^let (\S+)/.exec(each)?.[1] ?? ''),
  );
  reader.takeSign(';');
  if (!reader.done) reader.fail(`${reader.shown()} has no translation.`);
  return [...lets, ...lines].join('\n');
}

/** Reads a SELECT, or FROM and what follows it; returns the lines of a query. */
function selectOf(reader: LanguageReader, known: readonly string[] = []): readonly string[] {
  const results = new Map<string, string>();
  const found: Item[] = [];
  // Aggregates in HAVING and ORDER BY are results too.
  const named = (text: string): string | undefined => {
    if (results.size === 0 || !aggregate.test(text) || results.has(text)) return results.get(text);
    found.push({ text, name: undefined, isAggregate: true });
    results.set(text, resultName(text));
    return resultName(text);
  };
  const dialect: ExpressionDialect = {
    quotesName: 'double',
    functions: sqlFunctions,
    special: each => readSpecial(each, dialect),
    tables: tablesIn(reader),
    named,
  };
  const value = (): string => translateExpression(reader, dialect);
  const leads = reader.takeWord('select') !== undefined;
  const isDistinct = leads && reader.takeWord('distinct') !== undefined;
  const top = leads && reader.takeWord('top') !== undefined ? reader.next().text : undefined;
  const items = leads ? reader.list(() => readItem(reader, value)) : [];
  const lines = readFrom(reader, known);
  if (lines.length === 0) return [`print ${items.map(written).join(', ')}`];
  if (reader.takeWord('where') !== undefined) lines.push(`| where ${value()}`);
  const keys = reader.takeWords('group', 'by') ? reader.list(() => readKey(items, value())) : [];
  const selected = items.filter(({ text }) => text !== '*');
  const isGrouped = keys.length > 0 || selected.some(each => each.isAggregate);
  found.push(...selected);
  for (const { text, name } of selected) if (isGrouped) results.set(text, name ?? resultName(text));
  const having = reader.takeWord('having') === undefined ? [] : [`| where ${value()}`];
  const order = reader.takeWords('order', 'by') ? reader.list(() => readOrder(reader, items, value)) : [];
  lines.push(...(isGrouped ? [summarizeLine(reader, found, keys)] : []), ...having);
  const sort = order.length === 0 ? [] : [`| sort by ${order.join(', ')}`];
  const names = new Set(selected.map(each => each.name ?? each.text));
  const isLate = order.every(key => names.has(key.replace(/ (?:asc|desc)$/, '')));
  const shown =
    isGrouped || selected.length === 0
      ? []
      : [`| ${isDistinct ? 'distinct' : 'project'} ${selected.map(written).join(', ')}`];
  lines.push(...(isLate ? [...shown, ...sort] : [...sort, ...shown]));
  const limit = reader.takeWord('limit') === undefined ? top : reader.next().text;
  if (limit !== undefined) lines.push(`| limit ${limit}`);
  if (reader.takeWord('offset') !== undefined || reader.isSign(','))
    reader.fail('Rows cannot be skipped: continue after a row with `| where _time < …`.');
  if (reader.isWord(['union', 'intersect', 'except']))
    reader.fail(`${reader.shown()} has no translation: write \`union (…), (…)\`, or a \`join\`.`);
  return lines;
}

/** Returns the name of the table `at` tokens ahead, which may contain an unquoted `-` without spaces around it. */
function tableAt(reader: LanguageReader, at: number): { readonly name: string; readonly tokens: number } {
  let { text: name, to } = reader.peek(at);
  let tokens = 1;
  for (;;) {
    const [dash, part] = [reader.peek(at + tokens), reader.peek(at + tokens + 1)];
    if (dash.text !== '-' || dash.from !== to || part.from !== dash.to) return { name, tokens };
    name += `-${part.text}`;
    to = part.to;
    tokens += 2;
  }
}

function readTable(reader: LanguageReader): string {
  const { name, tokens } = tableAt(reader, 0);
  for (let token = 0; token < tokens; token += 1) reader.next();
  return name;
}

/** Returns the names and aliases of the tables in the next FROM. */
function tablesIn(reader: LanguageReader): ReadonlySet<string> {
  let at = 0;
  while (reader.peek(at).kind !== 'end' && !reader.isWord(['from'], at)) at += 1;
  const { name, tokens } = tableAt(reader, at + 1);
  const end = at + 1 + tokens;
  const as = reader.isWord(['as'], end) ? 1 : 0;
  const given = reader.isWord(clauses, end + as) ? [] : [reader.peek(end + as).text];
  return new Set([name, ...given]);
}

function readItem(reader: LanguageReader, value: () => string): Item {
  if (reader.takeSign('*') !== undefined) return { text: '*', name: undefined, isAggregate: false };
  const text = filtered(reader, value(), value);
  if (reader.isWord(['over']))
    reader.fail('`OVER` has no translation: summarize `by` the field, and join the result.');
  const hasName = reader.takeWord('as') !== undefined || (!reader.isWord(clauses) && isName(reader));
  const name = hasName ? fieldName(reader.next().text) : undefined;
  return { text, name: name === text ? undefined : name, isAggregate: aggregate.test(text) };
}

/** Reads `count(*) FILTER (WHERE condition)` as an aggregate with a condition, its last argument. */
function filtered(reader: LanguageReader, text: string, value: () => string): string {
  if (!reader.isWord(['filter']) || reader.peek(1).text !== '(') return text;
  reader.next();
  reader.expect('(');
  if (reader.takeWord('where') === undefined) reader.fail('`WHERE` is missing in `FILTER`.');
  const condition = value();
  reader.expect(')');
  return conditioned(text, condition) ?? reader.fail(`\`FILTER\` after ${text} has no translation.`);
}

function isName(reader: LanguageReader): boolean {
  return ['word', 'double', 'tick'].includes(reader.peek().kind);
}

const clauses = [
  'from',
  'where',
  'group',
  'having',
  'order',
  'limit',
  'offset',
  'union',
  'intersect',
  'except',
  'on',
  'as',
  'over',
  'filter',
  'join',
  'inner',
  'left',
  'right',
  'full',
  'cross',
  'into',
  'asc',
  'desc',
  'nulls',
];

function readFrom(reader: LanguageReader, known: readonly string[]): string[] {
  if (reader.takeWord('from') === undefined) return [];
  const lines: string[] = [];
  if (reader.takeSign('(') !== undefined) {
    lines.push(...selectOf(reader, known));
    reader.expect(')');
  } else {
    const name = readTable(reader);
    lines.push(known.includes(name) ? name : datasetName(name));
  }
  reader.takeWord('as');
  if (!reader.isWord(clauses) && isName(reader)) reader.next();
  if (reader.isWord(['join', 'inner', 'left', 'right', 'full', 'cross']) || reader.isSign(','))
    reader.fail("Write the join yourself: `| join kind=inner (['other']) on field`.");
  return lines;
}

/** Returns a key given by its index, its name or its expression. */
function readKey(items: readonly Item[], text: string): string {
  const item = /^\d+$/.test(text) ? items[Number(text) - 1] : items.find(each => each.name === text);
  const found = item ?? items.find(each => each.text === text);
  return found === undefined ? text : written(found);
}

function written({ text, name }: Item): string {
  return name === undefined ? text : `${name} = ${text}`;
}

function summarizeLine(reader: LanguageReader, items: readonly Item[], keys: readonly string[]): string {
  const other = items.find(each => !each.isAggregate && !keys.includes(written(each)));
  if (other !== undefined) reader.fail(`\`${other.text}\` is neither grouped by nor an aggregate.`);
  const found = items.filter(each => each.isAggregate).map(written);
  if (found.length === 0) return `| distinct ${keys.join(', ')}`;
  return `| summarize ${found.join(', ')}${keys.length === 0 ? '' : ` by ${keys.join(', ')}`}`;
}

/** Returns the name that a summarize gives an unnamed result. */
function resultName(text: string): string {
  const [, name = '', field = ''] = /^(\w+)\((\w*)[^()]*\)$/.exec(text) ?? [];
  return name === '' ? text : `${name}_${field}`;
}

function readOrder(reader: LanguageReader, items: readonly Item[], value: () => string): string {
  const text = value();
  const item = /^\d+$/.test(text) ? items[Number(text) - 1] : undefined;
  const direction = reader.takeWord('asc', 'desc') ?? 'asc';
  const nulls = reader.takeWord('nulls') === undefined ? '' : ` nulls ${reader.next().text.toLowerCase()}`;
  const key =
    item === undefined ? text : (item.name ?? (item.isAggregate ? resultName(item.text) : item.text));
  return `${key} ${direction}${nulls}`;
}
