import { own } from '../../../present.js';
import { isPlain, writtenName } from '../../catalog/catalog-written.js';
import { quotedName, writtenText } from '../../syntax/tokens/quote.js';
import type { LanguageReader } from './language-reader.js';

/** An expression of another language as APL, and the precedence of its outermost operator. */
export interface Translated {
  readonly text: string;
  readonly binds: number;
}

/** Expressions in SQL, or in the SPL commands `eval` and `where`. */
export interface ExpressionDialect {
  /** Quotes for names; the other kind is for strings. */
  readonly quotesName: 'single' | 'double';
  /** Functions by name, as APL with `$1`, `$2` for the arguments and `$*` for all of them. */
  readonly functions: Readonly<Record<string, string>>;
  /** Reads a value with special syntax. */
  readonly special?: (reader: LanguageReader) => Translated | undefined;
  /** Table names that may qualify a field. */
  readonly tables?: ReadonlySet<string>;
  /** Returns the current name of the column that holds an expression's result. */
  readonly named?: (text: string) => string | undefined;
  /** Comparison operators specific to it, as APL. */
  readonly signs?: Readonly<Record<string, string>>;
  /** Pattern wildcards for any characters and for exactly one; `%` and `_` if absent. */
  readonly wildcards?: Wildcards;
  /** True if a regular expression must match the whole string. */
  readonly matchesAll?: true;
}

type Wildcards = readonly [many: string, one: string];

const OR = 1;
const AND = 2;
export const COMPARED = 3;
const SUM = 4;
const PRODUCT = 5;
const ATOM = 6;

const timeNames = new Set(['timestamp', '@timestamp', 'timegenerated']);

/** True for a name that other systems use for the time of an event. */
export function isTimeElsewhere(name: string): boolean {
  return timeNames.has(name.toLowerCase());
}

/** Returns a field's name in APL; other systems' names for the time of an event become `_time`. */
export function fieldName(name: string): string {
  if (isTimeElsewhere(name)) return '_time';
  const parts = name.split('.');
  return parts.every(isPlain) && parts.length > 1 ? name : writtenName(name);
}

/** Returns the APL pattern for fields whose names have a prefix. */
export function fieldsFrom(start: string): string {
  return start === '' || isPlain(start) ? `${start}*` : `${quotedName(start)}*`;
}

/** Returns the operator that keeps fields, each by name or by prefix. */
export function keeping(names: readonly string[]): string {
  return `${names.some(name => name.endsWith('*')) ? 'project-keep' : 'project'} ${names.join(', ')}`;
}

/** Returns a dataset's name in APL. */
export function datasetName(name: string): string {
  return quotedName(name);
}

/** Returns a string literal in APL, verbatim if it has a backslash. */
export function textOf(value: string): string {
  if (value.includes('\\') && !value.includes("'")) return `@'${value}'`;
  return writtenText(value);
}

/** Returns a quantile, such as `0.95`, as a percentage. */
export function percentOf(quantile: string): string {
  return String(Number((Number(quantile) * 100).toPrecision(6)));
}

export function atomic(text: string): Translated {
  return { text, binds: ATOM };
}

/** Returns an expression as an operand at this precedence. */
function within(value: Translated, binds: number): string {
  return value.binds < binds ? `(${value.text})` : value.text;
}

/** Translates one expression to APL. */
export function translateExpression(reader: LanguageReader, dialect: ExpressionDialect): string {
  return readOr(reader, dialect).text;
}

function readOr(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  let left = readAnd(reader, dialect);
  while (reader.takeWord('or') !== undefined) {
    const right = readAnd(reader, dialect);
    left = { text: `${within(left, OR)} or ${within(right, OR)}`, binds: OR };
  }
  return left;
}

function readAnd(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  let left = readNot(reader, dialect);
  while (reader.takeWord('and') !== undefined) {
    const right = readNot(reader, dialect);
    left = { text: `${within(left, AND)} and ${within(right, AND)}`, binds: AND };
  }
  return left;
}

function readNot(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  if (reader.takeWord('not') === undefined && reader.takeSign('!') === undefined)
    return readComparison(reader, dialect);
  return atomic(`not(${readNot(reader, dialect).text})`);
}

const comparisons: Readonly<Record<string, string>> = {
  '=': '==',
  '==': '==',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
  '=~': 'matches regex',
  '!~': '!matches regex',
};

function readComparison(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  const left = readSum(reader, dialect);
  const signs = { ...comparisons, ...dialect.signs };
  const sign = reader.takeSign(...Object.keys(signs));
  if (sign !== undefined) {
    const right = readSum(reader, dialect);
    return compared(`${within(left, SUM)} ${signs[sign]} ${within(right, SUM)}`);
  }
  if (reader.takeWord('is') !== undefined) return readIs(reader, left);
  const negated = reader.isWord(['not']) && reader.isWord(['in', 'like', 'ilike', 'rlike', 'between'], 1);
  if (negated) reader.next();
  const word = reader.takeWord('in', 'like', 'ilike', 'rlike', 'regexp', 'between');
  const side = within(left, SUM);
  const no = negated ? '!' : '';
  switch (word) {
    case 'in':
      return compared(`${side} ${no}in ${readList(reader, dialect)}`);
    case 'between': {
      const low = readSum(reader, dialect);
      if (reader.takeWord('and') === undefined) reader.fail('`AND` is missing after `BETWEEN`.');
      return compared(`${side} ${no}between (${low.text} .. ${readSum(reader, dialect).text})`);
    }
    case 'like':
    case 'ilike':
      return compared(`${side} ${likeness(reader.next().text, no, word === 'like', dialect.wildcards)}`);
    case 'rlike':
    case 'regexp': {
      const { text } = reader.next();
      const regex = dialect.matchesAll === true ? `^(?:${text})$` : text;
      return compared(`${side} ${no}matches regex ${textOf(regex)}`);
    }
    default:
      return left;
  }
}

function compared(text: string): Translated {
  return { text, binds: COMPARED };
}

function readIs(reader: LanguageReader, { text }: Translated): Translated {
  const negated = reader.takeWord('not') !== undefined;
  const word = reader.takeWord('null', 'true', 'false');
  if (word === 'null') return atomic(`${negated ? 'isnotnull' : 'isnull'}(${text})`);
  if (word === undefined) reader.fail(`\`IS\` before ${reader.shown()} has no translation.`);
  return compared(`${text} ${negated ? '!=' : '=='} ${word}`);
}

function readList(reader: LanguageReader, dialect: ExpressionDialect): string {
  reader.expect('(');
  const query = dialect.special?.(reader);
  const items = query === undefined ? reader.list(() => translateExpression(reader, dialect)) : [query.text];
  reader.expect(')');
  return `(${items.join(', ')})`;
}

/** Returns the string operator and its operand for a pattern; SQL's wildcards by default. */
export function likeness(
  pattern: string,
  no: string,
  isExact: boolean,
  [many, one]: Wildcards = ['%', '_'],
): string {
  const cs = isExact ? '_cs' : '';
  const inner = trimmed(pattern, many);
  if (inner.includes(many) || inner.includes(one)) {
    const regex = [...pattern].map(each => {
      if (each === many) return '.*';
      return each === one ? '.' : each.replace(/[.*+?^${}()|[\]\\]/, '\\$&');
    });
    return `${no}matches regex ${textOf(`${isExact ? '' : '(?i)'}^${regex.join('')}$`)}`;
  }
  const [starts, ends] = [!pattern.startsWith(many), !pattern.endsWith(many)];
  if (starts && ends)
    return `${isExact ? `${no === '' ? '=' : no}=` : `${no === '' ? '=' : no}~`} ${textOf(inner)}`;
  const word = starts ? 'startswith' : ends ? 'endswith' : 'contains';
  return `${no}${word}${cs} ${textOf(inner)}`;
}

/** Trims a character from both ends of a string. */
function trimmed(text: string, ends: string): string {
  let [from, to] = [0, text.length];
  while (from < to && text[from] === ends) from += 1;
  while (from < to && text[to - 1] === ends) to -= 1;
  return text.slice(from, to);
}

function readSum(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  let left = readProduct(reader, dialect);
  for (;;) {
    const sign = reader.takeSign('+', '-', '||', '.');
    if (sign === undefined) return left;
    const right = readProduct(reader, dialect);
    const ago =
      sign === '-' && left.text === 'now()' && /^\d+[smhd]$/.test(right.text)
        ? `ago(${right.text})`
        : undefined;
    if (ago !== undefined) left = atomic(ago);
    else if (sign === '+' || sign === '-')
      left = { text: `${within(left, SUM)} ${sign} ${within(right, PRODUCT)}`, binds: SUM };
    else left = atomic(`strcat(${argumentsOf(left)}, ${argumentsOf(right)})`);
  }
}

/** Returns the arguments of a nested `strcat`, to merge into the outer one, or else the value. */
function argumentsOf({ text }: Translated): string {
  return /^strcat\(([^()]*)\)$/.exec(text)?.[1] ?? text;
}

function readProduct(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  let left = readUnary(reader, dialect);
  for (;;) {
    const sign = reader.takeSign('*', '/', '%');
    if (sign === undefined) return left;
    const right = readUnary(reader, dialect);
    left = { text: `${within(left, PRODUCT)} ${sign} ${within(right, ATOM)}`, binds: PRODUCT };
  }
}

function readUnary(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  if (reader.takeSign('-') !== undefined)
    return { text: `-${within(readUnary(reader, dialect), ATOM)}`, binds: ATOM };
  reader.takeSign('+');
  const value = readValue(reader, dialect);
  return reader.takeSign('::') === undefined ? value : cast(reader, value.text);
}

/** Reads a type name, and returns the conversion to it. */
export function cast(reader: LanguageReader, value: string): Translated {
  const type = reader.next().text.toLowerCase();
  const convert = types[type];
  if (convert === undefined) return atomic(reader.fail(`The type \`${type}\` has no translation.`));
  if (reader.takeSign('(') !== undefined) {
    reader.list(() => reader.next());
    reader.expect(')');
  }
  return atomic(`${convert}(${value})`);
}

const types: Readonly<Record<string, string>> = {
  ...{ int: 'toint', integer: 'toint', bigint: 'toint', smallint: 'toint', signed: 'toint', long: 'toint' },
  ...{ int64: 'toint', keyword: 'tostring', date_nanos: 'todatetime', time_duration: 'totimespan' },
  ...{ float: 'todouble', double: 'todouble', real: 'todouble', decimal: 'todouble', numeric: 'todouble' },
  ...{ varchar: 'tostring', text: 'tostring', char: 'tostring', string: 'tostring', float64: 'todouble' },
  ...{ bool: 'tobool', boolean: 'tobool', json: 'parse_json', jsonb: 'parse_json', interval: 'totimespan' },
  ...{ timestamp: 'todatetime', timestamptz: 'todatetime', datetime: 'todatetime', date: 'todatetime' },
};

function readValue(reader: LanguageReader, dialect: ExpressionDialect): Translated {
  const special = dialect.special?.(reader);
  if (special !== undefined) return special;
  const token = reader.next();
  switch (token.kind) {
    case 'number':
      return atomic(token.text);
    case 'single':
    case 'double':
    case 'tick':
      return atomic(
        token.kind === 'tick' || token.kind === dialect.quotesName
          ? fieldName(token.text)
          : textOf(token.text),
      );
    case 'word':
      return reader.takeSign('(') === undefined
        ? named(withoutTable(token.text, dialect))
        : readCall(reader, dialect, token.text);
    default:
      if (token.text !== '(') return atomic(reader.fail(`A value is missing before ${reader.shown()}.`));
  }
  const inner = readOr(reader, dialect);
  reader.expect(')');
  return inner;
}

function withoutTable(name: string, { tables }: ExpressionDialect): string {
  const [table = '', ...rest] = name.split('.');
  return rest.length > 0 && tables?.has(table) === true ? rest.join('.') : name;
}

function named(name: string): Translated {
  const word = name.toLowerCase();
  return atomic(['true', 'false', 'null'].includes(word) ? word : fieldName(name));
}

function readCall(reader: LanguageReader, dialect: ExpressionDialect, name: string): Translated {
  const word = name.toLowerCase();
  const isDistinct = reader.takeWord('distinct') !== undefined;
  const isStar = !isDistinct && reader.takeSign('*') !== undefined;
  const args = isStar || reader.isSign(')') ? [] : reader.list(() => readOr(reader, dialect));
  reader.expect(')');
  const key = isDistinct ? `${word} distinct` : args.length === 0 ? `${word}()` : word;
  const template = Object.hasOwn(dialect.functions, key) ? dialect.functions[key] : dialect.functions[word];
  if (template === undefined) return atomic(reader.fail(`The function \`${name}\` has no translation.`));
  const texts = args.map(({ text }) => text);
  const text = template.replace(/\$(\*|\d)/g, (_, place: string) =>
    place === '*'
      ? texts.join(', ')
      : within(args[Number(place) - 1] ?? atomic(''), template.includes(`$${place} `) ? ATOM : 0),
  );
  if (text.includes('(, ') || text.includes(', )')) reader.fail(`\`${name}\` is missing an argument.`);
  const binds = /^\w+\(.*\)$/.test(template) ? ATOM : COMPARED;
  return dialect.named?.(text) === undefined ? { text, binds } : atomic(dialect.named(text) ?? '');
}

/** Functions with the same name and meaning in SQL, SPL and APL. */
const same = [
  'abs',
  'ceiling',
  'floor',
  'round',
  'sqrt',
  'exp',
  'log10',
  'log2',
  'pow',
  'coalesce',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sign',
  'pi',
  'reverse',
  'now',
];

export const sharedFunctions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(same.map(name => [name, `${name}($*)`])),
  ceil: 'ceiling($1)',
  ln: 'log($1)',
  power: 'pow($1, $2)',
  lower: 'tolower($1)',
  upper: 'toupper($1)',
  len: 'strlen($1)',
  length: 'strlen($1)',
  replace: 'replace_string($2, $3, $1)',
  md5: 'hash_md5($1)',
  sha1: 'hash_sha1($1)',
  sha256: 'hash_sha256($1)',
  if: 'iff($1, $2, $3)',
  nullif: 'iff($1 == $2, null, $1)',
};

/** Returns an aggregate over the rows that meet a condition, its last argument; undefined if there is no such form. */
export function conditioned(aggregate: string, condition: string): string | undefined {
  const [, name = '', args = ''] = /^(\w+)\((.*)\)$/.exec(aggregate) ?? [];
  const named = own(conditional, name);
  return named === undefined ? undefined : `${named}(${args === '' ? '' : `${args}, `}${condition})`;
}

const conditional: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['count', 'sum', 'avg', 'min', 'max', 'dcount', 'percentile', 'stdev', 'variance'].map(name => [
      name,
      `${name}if`,
    ]),
  ),
  make_list: 'make_list_if',
  make_set: 'make_set_if',
};
