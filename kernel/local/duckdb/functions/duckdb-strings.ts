import { allGroups, type strings as catalog } from '../../../apl/catalog/functions/string-functions.js';
import { oneLine } from '../../../text.js';
import {
  constantText,
  type SqlArg,
  type SqlTemplates,
  sqlArg,
  sqlOr,
  TemplateError,
} from '../../sql/sql-template.js';
import { computeOnce } from '../duckdb-arguments.js';
import { constantInteger, sqlText } from '../duckdb-literal.js';
import type { JsFunction } from '../duckdb-template.js';
import {
  canMatchNothing,
  indexOfRegex,
  type Regex,
  regexArgument,
  udfs as regexUdfs,
  wrappedRegex,
} from '../regex.js';
import { convert, textOrEmpty } from './duckdb-conversion.js';
import { splitList } from './duckdb-lists.js';

/** SQL of the functions that search, cut, replace and join strings. */
export const strings: SqlTemplates<typeof catalog> = {
  coalesce: args => coalesceSql(args),
  countof: ([search, text]) => `apl_count_of(${search.sql}, ${text.sql})`,
  countof_regex: ([regex, text]) => {
    const pattern = regexArgument(regex, 0);
    return pattern.guard(`len(regexp_extract_all(${text.sql}, ${pattern.sql}))`);
  },
  extract: ([regex, group, text]) => extractSql(regex, group, text),
  extract_all: ([regex, groups, text]) => extractAllSql(regex, groups, text),
  indexof: ([text, lookup, start, length, occurrence]) =>
    start === undefined
      ? `(strpos(${text.sql}, ${lookup.sql}) - 1)`
      : `apl_text_index(${text.sql}, ${lookup.sql}, ${start.sql}, ${sqlOr(length, '-1')}, ${sqlOr(occurrence, '1')})`,
  indexof_regex: ([text, regex, start, occurrence, length]) => {
    const pattern = wrappedRegex(regex, 1, '\\A(?s:(.*?))(?:', ')');
    if (start === undefined) return pattern.guard(`apl_first_match(${text.sql}, ${pattern.sql})`);
    return `apl_index_of_regex(${text.sql}, ${regex.sql}, ${start.sql}, ${sqlOr(occurrence, '1')}, ${sqlOr(length, '-1')})`;
  },
  isascii: ([text]) => `(strlen(${text.sql}) = length(${text.sql}))`,
  isempty: ([value]) => emptySql(value),
  // As a condition, null need not be told from false, and the engine applies a plain comparison while reading.
  isnotempty: ([value], { predicate }) =>
    predicate && value.type === 'string' ? `(${value.sql} <> '')` : `(NOT ${emptySql(value)})`,
  isnotnull: ([value]) => `(${value.sql} IS NOT NULL)`,
  isnull: ([value]) => `(${value.sql} IS NULL)`,
  regex_quote: ([text]) => `regexp_replace(${text.sql}, '([\\\\.+*?()|\\[\\]{}^$])', '\\\\\\1', 'g')`,
  replace_regex: ([regex, rewrite, text]) => {
    const pattern = regexArgument(regex, 0);
    return pattern.guard(`regexp_replace(${text.sql}, ${pattern.sql}, ${rewriteSql(rewrite, pattern)}, 'g')`);
  },
  replace_string: ([lookup, rewrite, text]) => `replace(${text.sql}, ${lookup.sql}, ${rewrite.sql})`,
  reverse: ([text]) => `reverse(${text.sql})`,
  split: args => `to_json(${splitList(args)})`,
  // The engine passes over nulls.
  strcat: args => `concat(${args.map(arg => convert(arg, 'string')).join(', ')})`,
  strcat_delim: ([delimiter, ...args]) => `concat_ws(${delimiter.sql}, ${args.map(textOrEmpty).join(', ')})`,
  strcmp: ([a, b]) => `apl_compare(${a.sql}, ${b.sql})`,
  string_size: ([text]) => `strlen(${text.sql})`,
  strip_ansi_escapes: ([text]) => `regexp_replace(${text.sql}, ${sqlText(ansiEscape)}, '', 'g')`,
  strlen: ([text]) => `length(${text.sql})`,
  strrep: ([text, count, delimiter]) => `apl_repeat(${text.sql}, ${count.sql}, ${sqlOr(delimiter, "''")})`,
  substring: ([text, start, length]) =>
    `apl_substring(${text.sql}, ${start.sql}, ${sqlOr(length, '2147483647')})`,
  tolower: ([text]) => `lower(${text.sql})`,
  toupper: ([text]) => `upper(${text.sql})`,
  totitle: ([text]) => `apl_title(${text.sql})`,
  translate: ([search, replacement, text]) => `apl_translate(${search.sql}, ${replacement.sql}, ${text.sql})`,
  trim: ([cutset, text]) => `trim(${text.sql}, ${cutset.sql})`,
  trim_start: ([cutset, text]) => `ltrim(${text.sql}, ${cutset.sql})`,
  trim_end: ([cutset, text]) => `rtrim(${text.sql}, ${cutset.sql})`,
  trim_space: ([text]) => trimSpaceSql(text),
  trim_start_regex: ([regex, text]) => removeSql(text.sql, wrappedRegex(regex, 0, '\\A(?:', ')+')),
  trim_end_regex: ([regex, text]) => removeSql(text.sql, wrappedRegex(regex, 0, '(?:', ')+\\z')),
  trim_regex: ([regex, text]) =>
    removeSql(
      removeSql(text.sql, wrappedRegex(regex, 0, '\\A(?:', ')+')),
      wrappedRegex(regex, 0, '(?:', ')+\\z'),
    ),
};

/** The Unicode white space characters. */
const whiteSpace =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Control sequences (CSI), strings (OSC, DCS and the like, with their end), and the two- and three-byte escapes. */
const ansiEscape =
  '(?:\\x1b\\[|\\x{9b})[0-?]*[ -/]*[@-~]|\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)|\\x1b[PX^_][^\\x1b]*\\x1b\\\\|\\x1b[ -/]*[0-~]';

export const setup: readonly string[] = [
  `CREATE MACRO apl_count_of(search, text) AS CASE WHEN search = '' THEN length(text) + 1
     ELSE (length(text) - length(replace(text, search, ''))) // length(search) END`,
  // An empty group may be an empty match or no match: only then is a second test needed.
  `CREATE MACRO apl_matched(found, matches) AS CASE WHEN found <> '' THEN found WHEN matches THEN '' END`,
  `CREATE MACRO apl_first_match(text, pattern) AS CASE WHEN regexp_matches(text, pattern)
     THEN length(regexp_extract(text, pattern, 1)) WHEN text IS NOT NULL AND pattern IS NOT NULL THEN -1 END::BIGINT`,
  `CREATE MACRO apl_group_numbers(j) AS CASE WHEN json_type(j) = 'ARRAY' THEN
     list_transform(j::JSON[], lambda g: apl_dyn_long(g)) ELSE [apl_dyn_long(j)] END`,
  `CREATE MACRO apl_pick_groups(found, groups) AS CASE WHEN len(groups) = 1 THEN to_json(found[groups[1] + 1])
     ELSE to_json(list_transform(range(1, len(found[1]) + 1),
       lambda i: list_transform(groups, lambda g: found[g + 1][i]))) END`,
  `CREATE MACRO apl_rewrite(s) AS
     regexp_replace(replace(s, '\\', '\\\\'), '\\$(?:\\{([0-9])\\}|([0-9]))', '\\\\\\1\\2', 'g')`,
  `CREATE MACRO apl_compare(a, b) AS (CASE WHEN a < b THEN -1 WHEN a = b THEN 0 WHEN a > b THEN 1 END)::BIGINT`,
  `CREATE MACRO apl_repeat(s, n, delimiter) AS CASE WHEN n IS NULL THEN NULL WHEN n < 1 THEN left(s, 0)
     ELSE repeat(s || delimiter, least(n, 1024) - 1) || s END`,
  `CREATE MACRO apl_substring(s, start, len) AS CASE WHEN start IS NULL OR len IS NULL THEN NULL WHEN len <= 0 THEN left(s, 0)
     ELSE substring(s, CASE WHEN start < 0 THEN greatest(length(s) + start, 0) ELSE least(start, 2147483646) END + 1,
       least(len, 2147483647)) END`,
  `CREATE MACRO apl_title(s) AS (upper(left(s, 1)) || substr(s, 2))::VARCHAR`,
  `CREATE MACRO apl_translate(search, replacement, s) AS translate(s, search,
     CASE WHEN replacement <> '' AND length(replacement) < length(search)
     THEN rpad(replacement, length(search)::INTEGER, right(replacement, 1)) ELSE replacement END)`,
];

export const udfs: readonly JsFunction[] = [
  ...regexUdfs,
  {
    name: 'apl_text_index',
    params: ['VARCHAR', 'VARCHAR', 'BIGINT', 'BIGINT', 'BIGINT'],
    returns: 'BIGINT',
    run: indexOf,
  },
  {
    name: 'apl_index_of_regex',
    params: ['VARCHAR', 'VARCHAR', 'BIGINT', 'BIGINT', 'BIGINT'],
    returns: 'BIGINT',
    run: indexOfRegex,
  },
];

/** Returns the first value that is neither null nor empty, otherwise an empty one if any. */
function coalesceSql(args: readonly SqlArg[]): string {
  const values = args.map(arg => arg.sql);
  const filled = args.filter(arg => arg.type === 'string' || arg.type === 'dynamic').map(nonEmptySql);
  return `coalesce(${[...(filled.length === args.length ? filled : []), ...values].join(', ')})`;
}

function nonEmptySql(arg: SqlArg): string {
  return arg.type === 'string'
    ? `nullif(${arg.sql}, '')`
    : `CASE WHEN ${arg.sql}::VARCHAR <> '""' THEN ${arg.sql} END`;
}

function emptySql(value: SqlArg): string {
  switch (value.type) {
    case 'string':
      return value.filled ? `(${value.sql} = '')` : `coalesce(${value.sql} = '', true)`;
    case 'dynamic':
      return `coalesce(${value.sql}::VARCHAR = '""', true)`;
    default:
      return `(${value.sql} IS NULL)`;
  }
}

function removeSql(text: string, pattern: Regex): string {
  return pattern.guard(`regexp_replace(${text}, ${pattern.sql}, '')`);
}

/** A group missing from the pattern captures nothing. */
function extractSql(regex: SqlArg, group: SqlArg, text: SqlArg): string {
  const pattern = regexArgument(regex, 0);
  const index = groupNumber(group);
  if (index < 0 || index > (pattern.groups ?? 9)) return 'NULL::VARCHAR';
  const found = `regexp_extract(${text.sql}, ${pattern.sql}, ${index})`;
  // The engine returns the empty string without a match; it has to be asked again only if a match may be empty too.
  if (isNeverEmpty(constantText(regex) ?? '', index)) return `nullif(${found}, '')`;
  return pattern.guard(`apl_matched(${found}, regexp_matches(${text.sql}, ${pattern.sql}))`);
}

/**
 * Returns whether a match always has a character in this group, as far as is easy to see: in the only group of a pattern without
 * alternatives.
 */
function isNeverEmpty(source: string, group: number): boolean {
  if (group === 0) return source !== '' && !canMatchNothing(source);
  const inner = /^[^()|[\]\\]*\(([^()|?][^()|]*)\)(?![?*{])[^()|]*$/.exec(source)?.[1];
  return inner !== undefined && !canMatchNothing(inner);
}

/** Trimming a set of characters takes much longer than finding out that there are none, the common case. */
function trimSpaceSql(text: SqlArg): string {
  const space = `[${whiteSpace}]`;
  const pattern = sqlText(`^${space}|${space}$`);
  return computeOnce(
    [text],
    sql =>
      `CASE WHEN regexp_matches(${sql}, ${pattern}) THEN trim(${sql}, ${sqlText(whiteSpace)}) ELSE ${sql} END`,
  );
}

function groupNumber(group: SqlArg): number {
  const index = constantInteger(group);
  if (index === undefined) throw new TemplateError('the capture group must be a constant number', 1);
  if (index <= 9) return index;
  throw tooManyGroups(1);
}

function tooManyGroups(argIndex: number): TemplateError {
  const hint = 'Use (?:…) for groups that you do not need.';
  return new TemplateError('only the first 9 capture groups are supported', argIndex, hint);
}

function extractAllSql(regex: SqlArg, groups: SqlArg | undefined, text: SqlArg): string {
  const pattern = regexArgument(regex, 0);
  if (pattern.groups === undefined) throw new TemplateError('the regular expression must be a constant', 0);
  const most = Math.min(pattern.groups, 9);
  const found = (group: number): string => `regexp_extract_all(${text.sql}, ${pattern.sql}, ${group})`;
  const chosen: SqlArg = groups ?? { ...sqlArg('', 'dynamic'), constant: allGroups };
  const known = knownGroups(chosen, pattern);
  const numbers = known?.filter(group => isNumberOf(group, most)).map(Number);
  if (numbers !== undefined && numbers.length > 0 && numbers.length === known?.length)
    return `CASE WHEN ${text.sql} IS NOT NULL THEN ${chosenSql(numbers.map(found))} END`;
  const all = Array.from({ length: most + 1 }, (_, group) => found(group)).join(', ');
  const wanted = known === undefined ? convert(chosen, 'dynamic') : `${sqlText(JSON.stringify(known))}::JSON`;
  return `CASE WHEN ${text.sql} IS NOT NULL THEN apl_pick_groups([${all}], apl_group_numbers(${wanted})) END`;
}

/** Returns the captures of one group, or an array per match for several groups. */
function chosenSql(found: readonly string[]): string {
  if (found.length === 1) return `to_json(${found[0]})`;
  const captured = found.map((_, index) => `x[${index + 1}]`).join(', ');
  return `to_json(list_transform(list_zip(${found.join(', ')}), lambda x: [${captured}]))`;
}

/** Returns whether a value is an integer from 0 to `most`, in any notation. */
function isNumberOf(group: unknown, most: number): boolean {
  return (
    ['bigint', 'number', 'string'].includes(typeof group) &&
    /^[0-9]$/.test(String(group)) &&
    Number(group) <= most
  );
}

/** Returns constant groups with names resolved to numbers; undefined if they are only known when the query runs. */
function knownGroups(
  { constant, items }: SqlArg,
  { groups = 0, names }: Regex,
): readonly unknown[] | undefined {
  if (constant === allGroups) return everyGroup(groups);
  const wanted: unknown =
    items?.map(item => (typeof item === 'bigint' ? Number(item) : item)) ??
    (typeof constant === 'string' ? JSON.parse(constant) : undefined);
  if (!Array.isArray(wanted)) return undefined;
  return wanted.map((each: unknown) => {
    if (!isName(each)) return each;
    if (Object.hasOwn(names, each)) return names[each];
    const named = Object.keys(names);
    const hint =
      named.length === 0 ? 'Name a group with `(?P<name>…)`.' : `Its named groups: ${named.join(', ')}.`;
    throw new TemplateError(`the regular expression has no group \`${oneLine(each, 80)}\``, 1, hint);
  });
}

function isName(group: unknown): group is string {
  return typeof group === 'string' && !/^\d+$/.test(group);
}

/** Returns the numbers of all groups of a pattern, or 0, the whole match, without groups. */
function everyGroup(count: number): readonly number[] {
  if (count > 9) throw tooManyGroups(0);
  return count === 0 ? [0] : Array.from({ length: count }, (_, index) => index + 1);
}

/** Groups are `$1` or `${1}` in the rewrite text, and `\1` for the engine. */
function rewriteSql(rewrite: SqlArg, pattern: Regex): string {
  const source = constantText(rewrite);
  if (source === undefined) return `apl_rewrite(${rewrite.sql})`;
  const text = source.replace(/\\|\$\$|\$(\d+)|\$\{(\d+)\}/g, (whole, bare?: string, braced?: string) => {
    if (whole === '\\') return '\\\\';
    if (whole === '$$') return '$';
    const group = Number(bare ?? braced);
    return group > Math.min(pattern.groups ?? 9, 9) ? '' : `\\${group}`;
  });
  return sqlText(text);
}

/** Positions count characters; a negative start counts from the end. */
function indexOf(
  text: string,
  lookup: string,
  start: bigint,
  length: bigint,
  occurrence: bigint,
): bigint | null {
  if (length < -1n || occurrence < 1n) return null;
  const characters = [...text];
  const from = Math.max(0, start < 0n ? characters.length + Number(start) : Number(start));
  const to = length === -1n ? characters.length : from + Number(length);
  const part = characters.slice(from, to).join('');
  let at = part.indexOf(lookup);
  for (let left = occurrence; at !== -1 && left > 1n; left--)
    at = part.indexOf(lookup, at + Math.max(lookup.length, 1));
  return at === -1 || from > characters.length ? -1n : BigInt(from + [...part.slice(0, at)].length);
}
