import { own } from '../../../present.js';
import { hintForOperator } from '../hint-operators.js';
import {
  atomic,
  COMPARED,
  datasetName,
  type ExpressionDialect,
  fieldName,
  fieldsFrom,
  keeping,
  likeness,
  sharedFunctions,
  type Translated,
  textOf,
  translateExpression,
} from './language-expression.js';
import { LanguageReader } from './language-reader.js';

/** Functions in expressions, with their translations. */
export const eventFunctions: Readonly<Record<string, string>> = {
  ...sharedFunctions,
  case: 'case($*)',
  isnull: 'isnull($1)',
  isnotnull: 'isnotnull($1)',
  true: 'true',
  tonumber: 'todouble($1)',
  tostring: 'tostring($1)',
  trim: 'trim_space($1)',
  split: 'split($*)',
  mvcount: 'array_length($1)',
  mvjoin: 'strcat_array($*)',
  mvindex: '$1[$2]',
  match: '$1 matches regex $2',
  cidrmatch: 'ipv4_is_in_range($2, $1)',
  urldecode: 'url_decode($1)',
  strptime: 'todatetime($1)',
  min: 'min_of($*)',
  max: 'max_of($*)',
  sha512: 'hash_sha512($1)',
  spath: 'parse_json($1)',
  'true()': 'true',
  'false()': 'false',
  'time()': 'now()',
};

const values: ExpressionDialect = { quotesName: 'single', functions: eventFunctions, special: readSpecial };

/** Reads a call whose arguments are translated specially. */
function readSpecial(reader: LanguageReader): Translated | undefined {
  if (reader.peek(1).text !== '(') return undefined;
  if (reader.isWord(['substr'])) return readSubstring(reader);
  return reader.isWord(['like']) ? readLike(reader) : undefined;
}

/** Reads `like(text, pattern)`. */
function readLike(reader: LanguageReader): Translated {
  reader.next();
  reader.expect('(');
  const text = translateExpression(reader, values);
  reader.expect(',');
  const test = likeness(reader.next().text, '', true);
  reader.expect(')');
  return { text: `${text} ${test}`, binds: COMPARED };
}

/** Reads `substr(text, start, length)`; positions start at 1. */
function readSubstring(reader: LanguageReader): Translated {
  reader.next();
  reader.expect('(');
  const [text = '', start = '1', ...rest] = reader.list(() => translateExpression(reader, values));
  reader.expect(')');
  const from = /^\d+$/.test(start) ? String(Number(start) - 1) : `${start} - 1`;
  return atomic(`substring(${[text, from, ...rest].join(', ')})`);
}

/** Functions of `stats`; with `eval`, their argument is an expression. */
const aggregates: Readonly<Record<string, string>> = {
  count: 'countif(isnotnull($1))',
  c: 'countif(isnotnull($1))',
  dc: 'dcount($1)',
  distinct_count: 'dcount($1)',
  estdc: 'dcount($1)',
  sum: 'sum($1)',
  avg: 'avg($1)',
  mean: 'avg($1)',
  min: 'min($1)',
  max: 'max($1)',
  median: 'percentile($1, 50)',
  stdev: 'stdev($1)',
  var: 'variance($1)',
  range: 'max($1) - min($1)',
  values: 'make_set($1)',
  list: 'make_list($1)',
  latest: 'arg_max(_time, $1)',
  last: 'arg_min(_time, $1)',
  earliest: 'arg_min(_time, $1)',
  first: 'arg_max(_time, $1)',
};

/** Translates an SPL search; `reader.reason` is set if that is not possible. */
export function translateSpl(reader: LanguageReader): string {
  reader.takeWord('search');
  const search = readSearch(reader);
  const lines = [datasetName(search.dataset ?? 'logs'), ...search.conditions.map(each => `| where ${each}`)];
  while (reader.takeSign('|') !== undefined) {
    const { text } = reader.next();
    const read = own(commands, text.toLowerCase());
    if (read === undefined) reader.fail(withoutTranslation(text));
    else lines.push(...read(reader).map(line => `| ${line}`));
  }
  if (!reader.done) reader.fail(`${reader.shown()} has no translation.`);
  return lines.join('\n');
}

/** Translates one command, without its leading pipe, to APL stages; returns undefined if there is no translation. */
export function translateCommand(text: string): string | undefined {
  const reader = new LanguageReader(text);
  const word = /^\w+(?=\s|$)/.exec(text)?.[0] ?? '';
  reader.next();
  const lines = own(commands, word.toLowerCase())?.(reader);
  return lines !== undefined && reader.done && reader.reason === undefined ? lines.join(' | ') : undefined;
}

function withoutTranslation(command: string): string {
  const reason = `The command \`${command}\` has no translation.`;
  const hint = hintForOperator(command.toLowerCase(), command);
  return hint === undefined ? reason : `${reason} ${hint}`;
}

interface Search {
  dataset: string | undefined;
  readonly conditions: string[];
}

function readSearch(reader: LanguageReader): Search {
  const search: Search = { dataset: undefined, conditions: [] };
  const text = readTerms(reader, search);
  if (text !== '') search.conditions.push(text);
  return search;
}

/** Reads adjacent terms, which must all match; `index=` is not a condition, nor are the search's start and end times. */
function readTerms(reader: LanguageReader, search: Search): string {
  const either: string[] = [];
  let all: string[] = [];
  while (!reader.done && !reader.isSign('|', ')')) {
    if (reader.takeWord('and') !== undefined) continue;
    if (reader.takeWord('or') !== undefined) {
      either.push(all.join(' and '));
      all = [];
      continue;
    }
    const term = readTerm(reader, search);
    if (term !== '') all.push(term);
  }
  const sides = [...either, all.join(' and ')].filter(side => side !== '');
  return sides.join(' or ');
}

function readTerm(reader: LanguageReader, search: Search): string {
  if (reader.takeWord('not') !== undefined) return `not(${readTerm(reader, search)})`;
  if (reader.takeSign('(') !== undefined) {
    const inner = readTerms(reader, search);
    reader.expect(')');
    return inner === '' || !inner.includes(' or ') ? inner : `(${inner})`;
  }
  const field = reader.next();
  const sign = field.kind === 'number' ? undefined : reader.takeSign('=', '==', '!=', '<', '>', '<=', '>=');
  if (sign === undefined && reader.takeWord('in') !== undefined)
    return `${fieldName(field.text)} in ${readValues(reader)}`;
  if (sign === undefined)
    return field.text === '*' ? '' : `* has ${textOf(searched(reader, field.text, field.to))}`;
  const value = readWord(reader);
  const name = field.text.toLowerCase();
  if (name === 'index') {
    search.dataset = value;
    return '';
  }
  if (name === 'earliest' || name === 'latest') return timeBound(reader, name, value);
  return compared(fieldName(field.text), sign, value);
}

/** Reads a search word, with anything attached to its end. */
function searched(reader: LanguageReader, first: string, to: number): string {
  let [text, end] = [first, to];
  while (reader.peek().from === end && !reader.done && !reader.isSign('|', ')', '(')) {
    const { from, to: next } = reader.next();
    text += reader.text.slice(from, next);
    end = next;
  }
  return text.replace(/^\*+|\*+$/g, '');
}

/** Reads a value; if unquoted, it ends at the next space. */
function readWord(reader: LanguageReader): string {
  const first = reader.next();
  if (first.kind === 'single' || first.kind === 'double') return first.text;
  let [text, end] = [first.text, first.to];
  while (reader.peek().from === end && !reader.done && !reader.isSign('|', ')', ',')) {
    const { from, to } = reader.next();
    text += reader.text.slice(from, to);
    end = to;
  }
  return text;
}

function readValues(reader: LanguageReader): string {
  reader.expect('(');
  const found = reader.list(() => literalOf(readWord(reader)));
  reader.expect(')');
  return `(${found.join(', ')})`;
}

function literalOf(value: string): string {
  return /^-?\d+(?:\.\d+)?$/.test(value) ? value : textOf(value);
}

function compared(field: string, sign: string, value: string): string {
  const no = sign === '!=' ? '!' : '';
  if (sign === '<' || sign === '>' || sign === '<=' || sign === '>=')
    return `${field} ${sign} ${literalOf(value)}`;
  if (value === '*') return `${no === '' ? 'isnotnull' : 'isnull'}(${field})`;
  const inner = value.replace(/^\*+|\*+$/g, '');
  if (!value.includes('*')) return `${field} ${no === '' ? '==' : '!='} ${literalOf(value)}`;
  if (inner.includes('*'))
    return `${field} ${no}matches regex ${textOf(`^${value.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`)}`;
  const word = !value.startsWith('*') ? 'startswith' : value.endsWith('*') ? 'contains' : 'endswith';
  return `${field} ${no}${word} ${textOf(inner)}`;
}

const timeUnits: Readonly<Record<string, string>> = {
  s: 's',
  sec: 's',
  m: 'm',
  min: 'm',
  h: 'h',
  hr: 'h',
  d: 'd',
  day: 'd',
};

function timeBound(reader: LanguageReader, name: string, value: string): string {
  if (value === 'now' || value === 'now()') return '';
  const [, count = '', unit = ''] = /^-(\d+)([a-z]+)(?:@\w+)?$/.exec(value) ?? [];
  const short = unit === 'w' ? `${7 * Number(count)}d` : `${count}${timeUnits[unit] ?? ''}`;
  if (count === '' || (unit !== 'w' && timeUnits[unit] === undefined))
    return reader.fail(`\`${name}=${value}\` has no translation: set the range with \`%time\`.`);
  return `_time ${name === 'earliest' ? '>=' : '<'} ago(${short})`;
}

/** Reads `avg(x) AS y, count BY a, b`. */
function readStats(reader: LanguageReader): {
  readonly found: readonly string[];
  readonly keys: readonly string[];
} {
  const found: string[] = [];
  while (!reader.done && !reader.isSign('|') && !reader.isWord(['by', 'over'])) {
    found.push(readAggregate(reader));
    reader.takeSign(',');
  }
  return { found, keys: readKeys(reader) };
}

function readKeys(reader: LanguageReader): readonly string[] {
  return reader.takeWord('by') === undefined ? [] : readNames(reader);
}

function readAggregate(reader: LanguageReader): string {
  const { text } = reader.next();
  const value = aggregate(reader, text);
  if (reader.takeWord('as') === undefined) return value === 'count()' ? 'count = count()' : value;
  return `${fieldName(reader.next().text)} = ${value}`;
}

function aggregate(reader: LanguageReader, name: string): string {
  const word = name.toLowerCase();
  if (reader.takeSign('(') === undefined) {
    if (word !== 'count' && word !== 'c') reader.fail(`The function \`${name}\` has no translation.`);
    return 'count()';
  }
  if (reader.takeSign(')') !== undefined) return 'count()';
  const isCondition = reader.isWord(['eval']) && reader.peek(1).text === '(';
  const argument = isCondition ? readEval(reader) : fieldName(reader.next().text);
  reader.expect(')');
  if (isCondition && (word === 'count' || word === 'c')) return `countif(${argument})`;
  const [, rank] = /^(?:p|perc|exactperc|upperperc)(\d+)$/.exec(word) ?? [];
  const template = rank === undefined ? aggregates[word] : `percentile($1, ${rank})`;
  if (template === undefined) return reader.fail(`The function \`${name}\` has no translation.`);
  return template.replaceAll('$1', argument);
}

function readEval(reader: LanguageReader): string {
  reader.next();
  reader.expect('(');
  const value = translateExpression(reader, values);
  reader.expect(')');
  return value;
}

/** Reads names up to the next pipe, with or without commas. */
function readNames(reader: LanguageReader): readonly string[] {
  const found: string[] = [];
  while (!reader.done && !reader.isSign('|') && !(found.length > 0 && reader.isWord(['over', 'span']))) {
    if (reader.takeSign(',') !== undefined) continue;
    found.push(pattern(reader));
  }
  return found;
}

function pattern(reader: LanguageReader): string {
  const { kind, text, to } = reader.next();
  const isOpen = kind === 'word' && reader.isSign('*') && reader.peek().from === to;
  if (isOpen) reader.next();
  const isPattern = text.endsWith('*') && kind !== 'single' && kind !== 'double';
  return isOpen || isPattern ? fieldsFrom(isPattern ? text.slice(0, -1) : text) : fieldName(text);
}

/** Reads `span=5m limit=10`, before a command's arguments. */
function readOptions(reader: LanguageReader): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  while (reader.peek(1).text === '=' && reader.peek().kind === 'word') {
    const name = reader.next().text.toLowerCase();
    reader.next();
    found[name] = readWord(reader);
  }
  return found;
}

function summarize(found: readonly string[], keys: readonly string[]): string {
  return `summarize ${found.join(', ')}${keys.length === 0 ? '' : ` by ${keys.join(', ')}`}`;
}

function readAssignments(reader: LanguageReader): string {
  const found = reader.list(() => {
    const name = fieldName(reader.next().text);
    reader.expect('=');
    return `${name} = ${translateExpression(reader, values)}`;
  });
  return found.join(', ');
}

function readTop(reader: LanguageReader, order: 'asc' | 'desc'): readonly string[] {
  const before = readOptions(reader);
  const count = reader.peek().kind === 'number' ? reader.next().text : (before.limit ?? '10');
  const names: string[] = [];
  while (!reader.done && !reader.isSign('|') && !reader.isWord(['by'])) {
    if (reader.takeSign(',') === undefined) names.push(pattern(reader));
  }
  const keys = [...names, ...readKeys(reader)];
  return [summarize(['count = count()'], keys), `top ${count} by count ${order}`];
}

function readSort(reader: LanguageReader): readonly string[] {
  const count = reader.peek().kind === 'number' ? reader.next().text : undefined;
  const keys: string[] = [];
  while (!reader.done && !reader.isSign('|')) {
    if (reader.takeSign(',') !== undefined) continue;
    const sign = reader.takeSign('-', '+');
    const name = reader.next().text;
    const isCast = reader.takeSign('(') !== undefined;
    if (isCast && !/^(?:auto|ip|num|str)$/i.test(name))
      reader.fail(`Sorting by \`${name}(…)\` has no translation: name the result with \`as\`.`);
    const field = fieldName(isCast ? reader.next().text : name);
    if (isCast) reader.expect(')');
    const word = reader.takeWord('desc', 'd', 'asc', 'a');
    keys.push(`${field} ${sign === '-' || word?.startsWith('d') === true ? 'desc' : 'asc'}`);
  }
  return [`sort by ${keys.join(', ')}`, ...(count === undefined || count === '0' ? [] : [`limit ${count}`])];
}

function readRex(reader: LanguageReader): readonly string[] {
  const { field = 'message' } = readOptions(reader);
  const regex = reader.next().text;
  const groups = [...regex.matchAll(/\((?!\?)|\(\?P?<(\w+)>/g)];
  const found = groups.flatMap(([, name], index) =>
    name === undefined
      ? []
      : [
          `${fieldName(name)} = extract(${textOf(regex.replaceAll('(?<', '(?P<'))}, ${index + 1}, ${fieldName(field)})`,
        ],
  );
  if (found.length === 0) reader.fail('`rex` without a named group has no translation.');
  return [`extend ${found.join(', ')}`];
}

type Command = (reader: LanguageReader) => readonly string[];

function readFields(reader: LanguageReader): readonly string[] {
  if (reader.takeSign('-') !== undefined) return [`project-away ${readNames(reader).join(', ')}`];
  reader.takeSign('+');
  return [keeping(readNames(reader))];
}

/** Commands, each with its translation. */
const commands: Readonly<Record<string, Command>> = {
  search: reader => readSearch(reader).conditions.map(each => `where ${each}`),
  where: reader => [`where ${translateExpression(reader, values)}`],
  eval: reader => [`extend ${readAssignments(reader)}`],
  stats: reader => {
    const { found, keys } = readStats(reader);
    return [summarize(found, keys)];
  },
  timechart: reader => {
    const before = readOptions(reader);
    const { found, keys } = readStats(reader);
    const { span = before.span } = readOptions(reader);
    return [
      summarize(found, [
        span === undefined
          ? 'bin_auto(_time)'
          : `bin(_time, ${span.replace(/min$/, 'm').replace(/hr?$/, 'h')})`,
        ...keys,
      ]),
    ];
  },
  chart: reader => {
    const { found, keys } = readStats(reader);
    const over = reader.takeWord('over') === undefined ? [] : [pattern(reader)];
    return [summarize(found, [...over, ...keys, ...readKeys(reader)])];
  },
  table: readFields,
  fields: readFields,
  head: reader => [`limit ${reader.peek().kind === 'number' ? reader.next().text : '10'}`],
  tail: reader => [
    'sort by _time asc',
    `limit ${reader.peek().kind === 'number' ? reader.next().text : '10'}`,
  ],
  reverse: () => ['sort by _time asc'],
  top: reader => readTop(reader, 'desc'),
  rare: reader => readTop(reader, 'asc'),
  sort: readSort,
  dedup: reader => [`summarize arg_max(_time, *) by ${readNames(reader).join(', ')}`],
  rename: reader => {
    const found: string[] = [];
    while (!reader.done && !reader.isSign('|')) {
      if (reader.takeSign(',') !== undefined) continue;
      const from = fieldName(reader.next().text);
      if (reader.takeWord('as') === undefined) reader.fail('`AS` is missing in `rename`.');
      found.push(`${fieldName(reader.next().text)} = ${from}`);
    }
    return [`project-rename ${found.join(', ')}`];
  },
  rex: readRex,
  bin: readBin,
  bucket: readBin,
  fillnull: reader => {
    const { value = '0' } = readOptions(reader);
    const names = readNames(reader);
    if (names.length === 0) reader.fail('`fillnull` of all fields has no translation: name them.');
    return [`extend ${names.map(name => `${name} = coalesce(${name}, ${literalOf(value)})`).join(', ')}`];
  },
  lookup: readLookup,
  mvexpand: reader => [`mv-expand ${fieldName(reader.next().text)}`],
  regex: reader => {
    const field = fieldName(reader.next().text);
    const no = reader.takeSign('=', '!=') === '!=' ? '!' : '';
    return [`where ${field} ${no}matches regex ${textOf(reader.next().text)}`];
  },
  spath: reader => {
    const { input = 'message', output, path } = readOptions(reader);
    if (path === undefined)
      return [reader.fail('`spath` without a path has no translation: write parse_json(field).key.')];
    return [`extend ${fieldName(output ?? path)} = parse_json(${fieldName(input)}).${path}`];
  },
};

/** Reads `lookup TABLE a AS b, c OUTPUT d`; the table is a dataset, and all of its fields are kept. */
function readLookup(reader: LanguageReader): readonly string[] {
  const table = reader.next().text;
  const keys: string[] = [];
  while (!reader.done && !reader.isSign('|') && reader.takeWord('output', 'outputnew') === undefined) {
    if (reader.takeSign(',') !== undefined) continue;
    const there = fieldName(reader.next().text);
    const here = reader.takeWord('as') === undefined ? there : fieldName(reader.next().text);
    keys.push(here === there ? here : `$left.${here} == $right.${there}`);
  }
  while (!reader.done && !reader.isSign('|')) reader.next();
  if (keys.length === 0) return [reader.fail('`lookup` without a field has no translation.')];
  return [`lookup kind=leftouter (${datasetName(table)}) on ${keys.join(', ')}`];
}

function readBin(reader: LanguageReader): readonly string[] {
  const before = readOptions(reader);
  const field = fieldName(reader.next().text);
  const span = before.span ?? readOptions(reader).span;
  if (span === undefined) reader.fail('`bin` without a span has no translation: write bin(field, size).');
  return [`extend ${field} = bin(${field}, ${span ?? ''})`];
}
