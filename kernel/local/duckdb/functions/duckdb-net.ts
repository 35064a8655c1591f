import type { net as catalog } from '../../../apl/catalog/functions/net-functions.js';
import { compareIp, isInRange, isIpMatch } from '../../functions/ip-address.js';
import {
  constantText,
  type SqlArg,
  type SqlContext,
  type SqlTemplates,
  sqlArg,
  sqlOr,
  TemplateError,
} from '../../sql/sql-template.js';
import { computeOnce } from '../duckdb-arguments.js';
import { sqlText } from '../duckdb-literal.js';
import type { JsFunction } from '../duckdb-template.js';
import { convert, toDynamic } from './duckdb-conversion.js';

/** SQL of the functions for IP addresses: IPv4 as 32-bit numbers in SQL, IPv6 in JavaScript. */
export const net: SqlTemplates<typeof catalog> = {
  parse_ipv4: ([ip]) => `apl_ipv4_network(${ip.sql}, 32)`,
  parse_ipv4_mask: ([ip, prefix]) => `apl_ipv4_network(${ip.sql}, ${prefix.sql})`,
  format_ipv4: ([ip]) =>
    ip.type === 'string'
      ? ofAddress(ip.sql, ip.sql, `coalesce(apl_ipv4_plain(${ip.sql}), '')`)
      : ofAddressOrNumber(ip, formatted),
  format_ipv4_mask: ([ip, prefix]) => networkText(ip, prefix),
  ipv4_compare: ([a, b, prefix]) => compareSql(a, b, prefix),
  ipv4_is_match: ([a, b, prefix], context) => isMatch(a, b, prefix, context),
  ipv4_is_in_range: ([ip, range], context) =>
    inRanges(ip, textsOf([range]), context) ?? `apl_ipv4_in(${ip.sql}, ${range.sql})`,
  ipv4_is_in_any_range: ([ip, ...ranges], context) =>
    inRanges(ip, textsOf(ranges), context) ??
    `apl_any(list_transform(${textList(ranges)}, lambda r: apl_ipv4_in(${ip.sql}, r)))`,
  ipv4_is_private: ([ip]) => `apl_ipv4_private(${ip.sql})`,
  ipv4_netmask_suffix: ([ip]) => `apl_ipv4_prefix(${ip.sql})`,
  has_ipv4: ([text, ip], context) =>
    holdsAny(text, textsOf([ip]), addressOf, context) ??
    `list_contains(apl_ipv4_list(${text.sql}), ${ip.sql})`,
  has_ipv4_prefix: ([text, prefix], context) =>
    holdsAny(text, textsOf([prefix]), beginningOf, context) ??
    `apl_has_ipv4_prefix(apl_ipv4_list(${text.sql}), [${prefix.sql}])`,
  has_any_ipv4: ([text, ...ips], context) =>
    holdsAny(text, textsOf(ips), rangeOf, context) ??
    `apl_has_any_ipv4(apl_ipv4_list(${text.sql}), ${textList(ips)})`,
  has_any_ipv4_prefix: ([text, ...prefixes], context) =>
    holdsAny(text, textsOf(prefixes), beginningOf, context) ??
    `apl_has_ipv4_prefix(apl_ipv4_list(${text.sql}), ${textList(prefixes)})`,
  ipv6_compare: ([a, b, prefix]) => `apl_ipv6_compare(${a.sql}, ${b.sql}, ${sqlOr(prefix, '128')})`,
  ipv6_is_match: ([a, b, prefix]) => `apl_ipv6_match(${a.sql}, ${b.sql}, ${sqlOr(prefix, '128')})`,
  ipv6_is_in_range: ([ip, range]) => `apl_ipv6_in(${ip.sql}, ${range.sql})`,
  ipv6_is_in_any_range: ([ip, ...ranges]) =>
    `apl_any(list_transform(${textList(ranges)}, lambda r: apl_ipv6_in(${ip.sql}, r)))`,
  geo_info_from_ip_address: () => {
    throw new TemplateError('geo_info_from_ip_address needs an IP geolocation database', 0);
  },
};

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const address = `${octet}(?:[.]${octet}){3}`;

export const setup: readonly string[] = [
  `CREATE MACRO apl_ipv4(s) AS CASE WHEN regexp_full_match(s, '${address}') THEN
     split_part(s, '.', 1)::BIGINT * 16777216 + split_part(s, '.', 2)::BIGINT * 65536
     + split_part(s, '.', 3)::BIGINT * 256 + split_part(s, '.', 4)::BIGINT END`,
  `CREATE MACRO apl_ipv4_address(s) AS apl_ipv4(split_part(s, '/', 1))`,
  `CREATE MACRO apl_ipv4_prefix(s) AS CASE WHEN regexp_full_match(s, '${address}') THEN 32::BIGINT
     WHEN regexp_full_match(s, '${address}/(?:3[0-2]|[12]?[0-9])') THEN split_part(s, '/', 2)::BIGINT END`,
  // A null stays null when its last bits are cleared.
  `CREATE MACRO apl_ipv4_masked(n, prefix) AS
     CASE WHEN prefix BETWEEN 0 AND 32 THEN n & -(1::BIGINT << (32 - prefix)) END`,
  `CREATE MACRO apl_ipv4_text(n) AS CASE WHEN n BETWEEN 0 AND 4294967295 THEN
     concat(n >> 24, '.', (n >> 16) & 255, '.', (n >> 8) & 255, '.', n & 255) END`,
  // least() skips nulls: an unreadable address must not count as one without a prefix.
  `CREATE MACRO apl_ipv4_common(a, b, prefix) AS CASE WHEN a IS NOT NULL AND b IS NOT NULL AND prefix BETWEEN 0 AND 32
     THEN least(a, b, prefix) END`,
  // The bits that the prefix after the slash covers too, if there is one. What is read again is a lambda's parameter.
  `CREATE MACRO apl_ipv4_cut(s, prefix) AS list_transform([apl_ipv4_common(apl_ipv4_prefix(s), 32, prefix)], lambda p:
     {'p': p, 'n': apl_ipv4_masked(apl_ipv4_address(s), p)})`,
  `CREATE MACRO apl_ipv4_network(s, prefix) AS CASE WHEN contains(s, '/') THEN apl_ipv4_cut(s, prefix)[1].n
     ELSE apl_ipv4_masked(apl_ipv4(s), prefix) END`,
  `CREATE MACRO apl_ipv4_plain(s) AS CASE WHEN regexp_full_match(s, '${address}') THEN s
     WHEN contains(s, '/') THEN list_transform(apl_ipv4_cut(s, 32), lambda v: apl_ipv4_text(v.n))[1] END`,
  `CREATE MACRO apl_ipv4_cidr(s, prefix) AS
     list_transform(apl_ipv4_cut(s, prefix), lambda v: apl_ipv4_text(v.n) || '/' || v.p)[1]`,
  `CREATE MACRO apl_ipv4_compare(a, b, prefix) AS
     list_transform([apl_ipv4_common(apl_ipv4_prefix(a), apl_ipv4_prefix(b), prefix)], lambda p:
       sign(apl_ipv4_masked(apl_ipv4_address(a), p) - apl_ipv4_masked(apl_ipv4_address(b), p))::BIGINT)[1]`,
  `CREATE MACRO apl_ipv4_in(ip, cidr) AS apl_ipv4_masked(apl_ipv4(ip), apl_ipv4_prefix(cidr))
     = apl_ipv4_masked(apl_ipv4_address(cidr), apl_ipv4_prefix(cidr))`,
  `CREATE MACRO apl_ipv4_private(s) AS CASE WHEN regexp_full_match(s, '${address}(?s:/.*)?')
     THEN starts_with(s, '10.') OR starts_with(s, '192.168.') OR regexp_matches(s, '^172[.](?:1[6-9]|2[0-9]|3[01])[.]') END`,
  // True if any is true, otherwise null if any is unknown.
  `CREATE MACRO apl_any(flags) AS CASE WHEN list_contains(flags, true) THEN true
     WHEN len(list_filter(flags, lambda f: f IS NULL)) = 0 THEN false END`,
  `CREATE MACRO apl_text_list(j) AS CASE WHEN json_type(j) = 'ARRAY'
     THEN list_transform(j::JSON[], lambda e: apl_dyn_text(e)) ELSE [apl_dyn_text(j)] END`,
  `CREATE MACRO apl_ipv4_list(text) AS list_filter(
     list_transform(regexp_extract_all(text, '[0-9A-Za-z.]+'), lambda word: trim(word, '.')),
     lambda word: regexp_full_match(word, '${address}'))`,
  `CREATE MACRO apl_has_any_ipv4(found, wanted) AS CASE WHEN found IS NOT NULL AND wanted IS NOT NULL THEN
     len(list_filter(found, lambda ip: len(list_filter(wanted, lambda w: coalesce(apl_ipv4_in(ip, w), false))) > 0)) > 0 END`,
  // A prefix ends at a dot, written or implied; four numbers are a whole address.
  `CREATE MACRO apl_ipv4_starts(ip, prefix) AS prefix <> '' AND CASE WHEN regexp_full_match(prefix, '${address}') THEN ip = prefix
     ELSE starts_with(ip, rtrim(prefix, '.') || '.') END`,
  `CREATE MACRO apl_has_ipv4_prefix(found, prefixes) AS CASE WHEN found IS NOT NULL AND prefixes IS NOT NULL THEN
     len(list_filter(found, lambda ip: len(list_filter(prefixes, lambda p: coalesce(apl_ipv4_starts(ip, p), false))) > 0)) > 0 END`,
];

export const udfs: readonly JsFunction[] = [
  { name: 'apl_ipv6_compare', params: ['VARCHAR', 'VARCHAR', 'BIGINT'], returns: 'BIGINT', run: compareIp },
  { name: 'apl_ipv6_match', params: ['VARCHAR', 'VARCHAR', 'BIGINT'], returns: 'BOOLEAN', run: isIpMatch },
  { name: 'apl_ipv6_in', params: ['VARCHAR', 'VARCHAR'], returns: 'BOOLEAN', run: isInRange },
];

/** Addresses named by a constant: a pattern for their text, their common beginning, and their common bits. */
interface Addresses {
  readonly pattern: string;
  readonly start: string;
  readonly prefix: number;
  readonly octets: readonly number[];
}

/** Returns the addresses of a range or of a single address; undefined if the string is neither. */
function rangeOf(text: string, longest = 32): Addresses | undefined {
  const [whole, plain = '', own = '32'] =
    new RegExp(`^(${address})(?:/(3[0-2]|[12]?[0-9]))?$`).exec(text) ?? [];
  if (whole === undefined || longest < 0) return undefined;
  const prefix = Math.min(Number(own), longest);
  const octets = plain.split('.').map((each, at) => Number(each) & hostMask(prefix, at));
  const patterns = octets.map((least, at) => {
    const values = 1 + (255 & ~hostMask(prefix, at));
    return values === 256
      ? octet
      : `(?:${Array.from({ length: values }, (_, more) => least + more).join('|')})`;
  });
  const fixed = Math.floor(prefix / 8);
  const start = octets.slice(0, fixed).join('.') + (fixed > 0 && fixed < 4 ? '.' : '');
  return { pattern: patterns.join('[.]'), start, prefix, octets };
}

function addressOf(text: string): Addresses | undefined {
  return text.includes('/') ? undefined : rangeOf(text);
}

/** Returns the addresses that begin with a string, which ends at a dot, written or implied; four numbers are a whole address. */
function beginningOf(text: string): Addresses | undefined {
  const whole = addressOf(text);
  if (whole !== undefined) return whole;
  const given = text.replace(/[.]+$/, '').split('.');
  if (given.length > 3) return undefined;
  const filled = [...given, ...['0', '0', '0']].slice(0, 4);
  return rangeOf(`${filled.join('.')}/${8 * given.length}`);
}

/** Returns the mask of the prefix bits in an octet, numbered from 0. */
function hostMask(prefix: number, at: number): number {
  return (255 << Math.max(0, Math.min(8, 8 * at + 8 - prefix))) & 255;
}

/** Returns the strings of constants and constant arrays; undefined if any is unknown, or if there are too many for one pattern. */
function textsOf(args: readonly SqlArg[]): readonly string[] | undefined {
  const lists = args.map(constantTexts).filter(list => list !== undefined);
  const texts = lists.flat();
  return lists.length === args.length && texts.length <= mostTexts ? texts : undefined;
}

const mostTexts = 100;

function constantTexts({ type, constant, items }: SqlArg): readonly string[] | undefined {
  if (typeof constant === 'string' && type === 'string') return [constant];
  const values = items ?? (typeof constant === 'string' ? (JSON.parse(constant) as unknown) : undefined);
  if (!Array.isArray(values)) return undefined;
  const texts = values.filter(value => typeof value === 'string');
  return texts.length === values.length ? texts : undefined;
}

/** Tests an address against constant ranges: null if it cannot be read, or if it is in none of them and one cannot be read. */
function inRanges(
  { sql: ip }: SqlArg,
  ranges: readonly string[] | undefined,
  { predicate }: SqlContext,
): string | undefined {
  if (ranges === undefined) return undefined;
  if (ranges.length === 0) return 'false';
  const known = ranges.map(range => rangeOf(range)).filter(range => range !== undefined);
  const isIn = known.map(range => isInRange4(ip, range)).join(' OR ') || 'false';
  if (predicate === true) return `(${isIn})`;
  const isOut =
    known.length === ranges.length ? ` WHEN regexp_full_match(${ip}, '${address}') THEN false` : '';
  return `CASE WHEN ${isIn} THEN true${isOut} END`;
}

/** Tests the beginning of the address first, which rules out most strings; a single address is compared as a string. */
function isInRange4(ip: string, { pattern, start, prefix }: Addresses): string {
  if (prefix === 32) return `${ip} = ${sqlText(start)}`;
  const matches = `regexp_full_match(${ip}, ${sqlText(pattern)})`;
  return start === '' ? matches : `(starts_with(${ip}, ${sqlText(start)}) AND ${matches})`;
}

/** The first address may have its own prefix; if not, the second decides alone. */
function isMatch(a: SqlArg, b: SqlArg, prefix: SqlArg | undefined, context: SqlContext): string {
  const compared = `(${comparedSql(a, b, prefix)} = 0)`;
  const range = rangeUnder(b, prefix);
  if (range === undefined) return compared;
  const plain = inRanges(a, [`${range.octets.join('.')}/${range.prefix}`], context);
  return `CASE WHEN contains(${a.sql}, '/') THEN ${compared} ELSE ${plain} END`;
}

function compareSql(a: SqlArg, b: SqlArg, prefix: SqlArg | undefined): string {
  const compared = comparedSql(a, b, prefix);
  const range = rangeUnder(b, prefix);
  if (range === undefined) return compared;
  const number = range.octets.reduce((sum, each) => sum * 256 + each, 0);
  const plain = `sign(apl_ipv4_masked(apl_ipv4(${a.sql}), ${range.prefix}) - ${number})::BIGINT`;
  return `CASE WHEN contains(${a.sql}, '/') THEN ${compared} ELSE ${plain} END`;
}

function comparedSql(a: SqlArg, b: SqlArg, prefix: SqlArg | undefined): string {
  return `apl_ipv4_compare(${a.sql}, ${b.sql}, ${sqlOr(prefix, '32')})`;
}

function rangeUnder(range: SqlArg, prefix: SqlArg | undefined): Addresses | undefined {
  const [text, bits] = [constantText(range), constantPrefix(prefix)];
  return text === undefined || bits === undefined ? undefined : rangeOf(text, bits);
}

/** Returns the bits of a constant prefix, 32 by default; undefined if unknown or invalid. */
function constantPrefix(prefix: SqlArg | undefined): number | undefined {
  const constant = prefix === undefined ? 32n : prefix.constant;
  return typeof constant === 'bigint' && constant >= 0n && constant <= 32n ? Number(constant) : undefined;
}

/**
 * Returns whether a string contains one of the given constant addresses, without letters or digits next to it. Their common beginning is
 * searched for first.
 */
function holdsAny(
  { sql: text }: SqlArg,
  sought: readonly string[] | undefined,
  read: (text: string) => Addresses | undefined,
  { predicate }: SqlContext,
): string | undefined {
  if (sought === undefined) return undefined;
  const known = sought.map(each => read(each)).filter(each => each !== undefined);
  const none = `WHEN ${text} IS NOT NULL THEN false END`;
  if (known.length === 0) return `CASE ${none}`;
  const edge = '[^0-9A-Za-z.]';
  const all = known.map(({ pattern }) => pattern).join('|');
  const matches = `regexp_matches(${text}, ${sqlText(`(?:^|${edge})[.]*(?:${all})[.]*(?:$|${edge})`)})`;
  if (known.length > mostNeedles) return matches;
  const may = known.map(({ start }) => `contains(${text}, ${sqlText(start || '.')})`).join(' OR ');
  return predicate === true ? `((${may}) AND ${matches})` : `CASE WHEN ${may} THEN ${matches} ${none}`;
}

const mostNeedles = 4;

/** Returns the text of a network, from an address whose octets are cut, or from a number. */
function networkText(ip: SqlArg, prefix: SqlArg | undefined): string {
  const bits = constantPrefix(prefix);
  const cidr = (text: string) => `coalesce(apl_ipv4_cidr(${text}, ${sqlOr(prefix, '32')}), '')`;
  if (ip.type !== 'string')
    return ofAddressOrNumber(ip, {
      address: cidr,
      number: number =>
        `coalesce(apl_ipv4_text(apl_ipv4_masked(${number}, ${sqlOr(prefix, '32')})) || '/' || ${sqlOr(prefix, '32')}, '')`,
    });
  if (bits === undefined) return cidr(ip.sql);
  return ofAddress(ip.sql, networkOf(ip.sql, bits), cidr(ip.sql));
}

/**
 * Returns a value for an address, another for an address with a slash, or an empty string. A CASE in which all rows are alike is as fast as
 * its branch.
 */
function ofAddress(ip: string, plain: string, other: string): string {
  return `CASE WHEN regexp_full_match(${ip}, '${address}') THEN ${plain} WHEN contains(${ip}, '/') THEN ${other} ELSE '' END`;
}

/** Returns the text of the network of an address. The engine computes functions of one column once per value of its dictionary. */
function networkOf(ip: string, bits: number): string {
  if (bits === 0) return sqlText('0.0.0.0/0');
  if (bits === 32) return `(${ip} || '/32')`;
  const whole = Math.floor(bits / 8);
  const zeros = '.0'.repeat(3 - whole);
  if (bits % 8 === 0) {
    const cut = Array.from({ length: 4 - whole }, (_, at) => at).reduce(
      (sql, at) => `rtrim(${at === 0 ? sql : `rtrim(${sql}, '.')`}, '0123456789')`,
      ip,
    );
    return `(${cut} || ${sqlText(`0${zeros}/${bits}`)})`;
  }
  const parts = Array.from({ length: whole + 1 }, (_, at) => `split_part(${ip}, '.', ${at + 1})`);
  const masked = `(${parts[whole]}::INTEGER & ${hostMask(bits, whole)})`;
  const list = [...parts.slice(0, whole), masked].join(", '.', ");
  return `concat(${list}, ${sqlText(`${zeros}/${bits}`)})`;
}

/** What is written of an address, and of its number; the first is empty for what is not a URL. */
interface Written {
  readonly address: (text: string) => string;
  readonly number: (number: string) => string;
}

const formatted: Written = {
  address: text => `coalesce(apl_ipv4_plain(${text}), '')`,
  number: number => `coalesce(apl_ipv4_text(${number}), '')`,
};

/** A dynamic value may hold either. */
function ofAddressOrNumber(ip: SqlArg, { address, number }: Written): string {
  const ofNumber = computeOnce([sqlArg(convert(ip, 'long'), 'long')], number);
  if (ip.type !== 'dynamic') return ofNumber;
  const ofText = `list_transform([${convert(ip, 'string')}], lambda t: ${address('t')})[1]`;
  return `coalesce(nullif(${ofText}, ''), ${ofNumber})`;
}

/** Returns a list of strings from arguments that are strings or arrays of strings. */
function textList(args: readonly SqlArg[]): string {
  const lists = args.map(arg =>
    arg.type === 'string' ? `[${arg.sql}]` : `apl_text_list(${toDynamic(arg)})`,
  );
  return lists.length === 1 ? `${lists[0]}` : `flatten([${lists.join(', ')}])`;
}
