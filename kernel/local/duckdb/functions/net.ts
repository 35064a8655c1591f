import type { net as catalog } from '../../../apl/catalog/functions/net.js';
import { compareIp, isInRange, isIpMatch } from '../../functions/ip-address.js';
import { constantText, type SqlArg, type SqlTemplates, sqlOr, TemplateError } from '../../sql/template.js';
import { sqlText } from '../literal.js';
import type { JsFunction } from '../template.js';
import { convert, toDynamic } from './conversion.js';

/** SQL of the functions for IP addresses: IPv4 as 32-bit numbers in SQL, IPv6 in JavaScript. */
export const net: SqlTemplates<typeof catalog> = {
  parse_ipv4: ([ip]) => `apl_ipv4(${ip.sql})`,
  parse_ipv4_mask: ([ip, prefix]) => `apl_ipv4_masked(apl_ipv4(${ip.sql}), ${prefix.sql})`,
  format_ipv4: ([ip]) => `coalesce(apl_ipv4_text(${ipv4Number(ip)}), '')`,
  format_ipv4_mask: ([ip, prefix]) => `apl_ipv4_cidr(${ipv4Number(ip)}, ${sqlOr(prefix, '32')})`,
  ipv4_compare: ([a, b, prefix]) => `apl_ipv4_compare(${a.sql}, ${b.sql}, ${sqlOr(prefix, '32')})`,
  ipv4_is_match: ([a, b, prefix]) => isMatch(a, b, prefix),
  ipv4_is_in_range: ([ip, range]) => inRange(ip, range),
  ipv4_is_in_any_range: ([ip, ...ranges]) => inAnyRange(ip, ranges),
  ipv4_is_private: ([ip]) => `apl_ipv4_private(${ip.sql})`,
  ipv4_netmask_suffix: ([ip]) => `apl_ipv4_prefix(${ip.sql})`,
  has_ipv4: ([text, ip]) => afterText(text, ip, `list_contains(apl_ipv4_list(${text.sql}), ${ip.sql})`),
  has_ipv4_prefix: ([text, prefix]) =>
    afterText(text, prefix, `apl_has_ipv4_prefix(apl_ipv4_list(${text.sql}), [${prefix.sql}])`),
  has_any_ipv4: ([text, ...ips]) => `apl_has_any_ipv4(apl_ipv4_list(${text.sql}), ${textList(ips)})`,
  has_any_ipv4_prefix: ([text, ...prefixes]) =>
    `apl_has_ipv4_prefix(apl_ipv4_list(${text.sql}), ${textList(prefixes)})`,
  ipv6_compare: ([a, b, prefix]) => `apl_ipv6_compare(${a.sql}, ${b.sql}, ${sqlOr(prefix, '128')})`,
  ipv6_is_match: ([a, b, prefix]) => `apl_ipv6_match(${a.sql}, ${b.sql}, ${sqlOr(prefix, '128')})`,
  ipv6_is_in_range: ([ip, range]) => `apl_ipv6_in(${ip.sql}, ${range.sql})`,
  ipv6_is_in_any_range: ([ip, ...ranges]) =>
    `apl_any(list_transform(${textList(ranges)}, lambda r: apl_ipv6_in(${ip.sql}, r)))`,
  geo_info_from_ip_address: () => {
    throw new TemplateError('geo_info_from_ip_address needs a database of the locations of IP addresses', 0);
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
  // A macro's argument is pasted wherever it is named: lambdas name it once, or planning would take longer than the query.
  `CREATE MACRO apl_ipv4_text(n) AS list_transform([n], lambda m: CASE WHEN m BETWEEN 0 AND 4294967295 THEN
     concat(m >> 24, '.', (m >> 16) & 255, '.', (m >> 8) & 255, '.', m & 255) END)[1]`,
  `CREATE MACRO apl_ipv4_cidr(n, prefix) AS
     coalesce(apl_ipv4_text(apl_ipv4_masked(n, prefix)) || '/' || prefix::VARCHAR, '')`,
  // least() skips nulls: an address that cannot be read must not count as one without a prefix.
  `CREATE MACRO apl_ipv4_common(a, b, prefix) AS CASE WHEN a IS NOT NULL AND b IS NOT NULL AND prefix BETWEEN 0 AND 32
     THEN least(a, b, prefix) END`,
  `CREATE MACRO apl_ipv4_compare(a, b, prefix) AS
     list_transform([apl_ipv4_common(apl_ipv4_prefix(a), apl_ipv4_prefix(b), prefix)], lambda p:
       sign(apl_ipv4_masked(apl_ipv4_address(a), p) - apl_ipv4_masked(apl_ipv4_address(b), p))::BIGINT)[1]`,
  `CREATE MACRO apl_ipv4_in(ip, cidr) AS apl_ipv4_masked(apl_ipv4(ip), apl_ipv4_prefix(cidr))
     = apl_ipv4_masked(apl_ipv4_address(cidr), apl_ipv4_prefix(cidr))`,
  // An address has no zeros in front, so that its text tells the range.
  `CREATE MACRO apl_ipv4_private(s) AS CASE WHEN regexp_full_match(s, '${address}(?s:/.*)?')
     THEN starts_with(s, '10.') OR starts_with(s, '192.168.') OR regexp_matches(s, '^172[.](?:1[6-9]|2[0-9]|3[01])[.]') END`,
  // True when one of them is true; else null when one is unknown.
  `CREATE MACRO apl_any(flags) AS CASE WHEN list_contains(flags, true) THEN true
     WHEN len(list_filter(flags, lambda f: f IS NULL)) = 0 THEN false END`,
  `CREATE MACRO apl_text_list(j) AS CASE WHEN json_type(j) = 'ARRAY'
     THEN list_transform(j::JSON[], lambda e: apl_dyn_text(e)) ELSE [apl_dyn_text(j)] END`,
  `CREATE MACRO apl_ipv4_list(text) AS list_filter(
     list_transform(regexp_extract_all(text, '[0-9A-Za-z.]+'), lambda word: trim(word, '.')),
     lambda word: regexp_full_match(word, '${address}'))`,
  `CREATE MACRO apl_has_any_ipv4(found, wanted) AS CASE WHEN found IS NOT NULL AND wanted IS NOT NULL THEN
     len(list_filter(found, lambda ip: len(list_filter(wanted, lambda w: coalesce(apl_ipv4_in(ip, w), false))) > 0)) > 0 END`,
  // A prefix ends at a dot, written or not; four numbers are a whole address.
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

/** The octets that a constant range fixes rule most addresses out without computing their numbers. */
function inRange(ip: SqlArg, range: SqlArg): string {
  const test = `apl_ipv4_in(${ip.sql}, ${range.sql})`;
  const [whole, prefix] =
    new RegExp(`^${address}/(3[0-2]|[12]?[0-9])$`).exec(constantText(range) ?? '') ?? [];
  const fixed = Math.min(Math.floor(Number(prefix) / 8), 3);
  if (whole === undefined || fixed === 0) return test;
  const start = sqlText(`${whole.split('.', fixed).join('.')}.`);
  return `CASE WHEN starts_with(${ip.sql}, ${start}) THEN ${test} WHEN regexp_full_match(${ip.sql}, '${address}') THEN false END`;
}

/** The first address may have a prefix of its own; without one the second says all. */
function isMatch(a: SqlArg, b: SqlArg, prefix: SqlArg | undefined): string {
  const compared = `(apl_ipv4_compare(${a.sql}, ${b.sql}, ${sqlOr(prefix, '32')}) = 0)`;
  if (prefix !== undefined || constantText(b) === undefined) return compared;
  return `CASE WHEN regexp_full_match(${a.sql}, '${address}') THEN ${inRange(a, b)} ELSE ${compared} END`;
}

/** OR is true when one side is; else null when one is unknown. */
function inAnyRange(ip: SqlArg, ranges: readonly SqlArg[]): string {
  if (ranges.every(range => range.type === 'string' && constantText(range) !== undefined))
    return `(${ranges.map(range => inRange(ip, range)).join(' OR ')})`;
  return `apl_any(list_transform(${textList(ranges)}, lambda r: apl_ipv4_in(${ip.sql}, r)))`;
}

/** The addresses of a text are looked for only where it holds the constant that one of them is or begins with. */
function afterText(text: SqlArg, sought: SqlArg, test: string): string {
  const needle = constantText(sought)?.replace(/[.]+$/, '');
  if (needle === undefined) return test;
  return `CASE WHEN contains(${text.sql}, ${sqlText(needle)}) THEN ${test} WHEN ${text.sql} IS NOT NULL THEN false END`;
}

/** Text is read as an address, anything else as its number. */
function ipv4Number(ip: SqlArg): string {
  if (ip.type === 'string') return `apl_ipv4_address(${ip.sql})`;
  if (ip.type !== 'dynamic') return convert(ip, 'long');
  const text = `list_transform([${convert(ip, 'string')}], lambda t: apl_ipv4_address(t))[1]`;
  return `coalesce(${text}, ${convert(ip, 'long')})`;
}

/** A list of texts from arguments that are texts or arrays of texts. */
function textList(args: readonly SqlArg[]): string {
  const lists = args.map(arg =>
    arg.type === 'string' ? `[${arg.sql}]` : `apl_text_list(${toDynamic(arg)})`,
  );
  return lists.length === 1 ? `${lists[0]}` : `flatten([${lists.join(', ')}])`;
}
