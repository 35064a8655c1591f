import { createHash } from 'node:crypto';
import type { formats as catalog } from '../../../apl/catalog/functions/format-functions.js';
import { formatBytes, parseBytes } from '../../functions/byte-sizes.js';
import { findPair } from '../../functions/function-pairs.js';
import { parsePath } from '../../functions/path-text.js';
import { quoted } from '../../functions/quoted-text.js';
import { formatUrl, parseUrl, parseUrlQuery, urlDecode } from '../../functions/url-text.js';
import { type SqlArg, type SqlTemplates, sqlOr } from '../../sql/sql-template.js';
import type { JsFunction } from '../duckdb-template.js';
import { convert, toDynamic } from './duckdb-conversion.js';

/** SQL of the functions that encode, decode, parse and format text in known formats, and of pairs and hashes. */
export const formats: SqlTemplates<typeof catalog> = {
  base64_decode_toarray: ([text]) => `apl_base64_bytes(${text.sql})`,
  base64_decode_tostring: ([text]) => `apl_base64_decode(${text.sql})`,
  base64_encode_fromarray: ([bytes]) => `coalesce(apl_base64_encode(${bytes.sql}), '')`,
  base64_encode_tostring: ([text]) => `to_base64(encode(${text.sql}))`,
  format_bytes: ([value, precision, units, base]) =>
    `apl_format_bytes(${value.sql}, ${sqlOr(precision, '0')}, ${sqlOr(units, "''")}, ${sqlOr(base, '2')})`,
  format_url: ([parts]) => `apl_format_url(${parts.sql})`,
  parse_bytes: ([text, base]) => `apl_parse_bytes(${text.sql}, ${sqlOr(base, '2')})`,
  parse_csv: ([text]) => `apl_parse_csv(${text.sql})::JSON`,
  parse_json: ([text]) => parseJsonSql(text),
  parse_path: ([text]) => `apl_parse_path(${text.sql})::JSON`,
  parse_url: ([text]) => `apl_parse_url(${text.sql})::JSON`,
  parse_urlquery: ([text]) =>
    text.type === 'dynamic'
      ? `CASE WHEN json_type(${text.sql}) = 'OBJECT' THEN ${text.sql} ELSE ${queryMap(text)} END`
      : queryMap(text),
  quote: ([text]) => `apl_quote(${text.sql})`,
  unicode_codepoints_from_string: ([text]) => `apl_code_points(${text.sql})`,
  unicode_codepoints_to_string: ([codes]) => `apl_code_points_text(${codes.sql})`,
  url_decode: ([text]) =>
    `CASE WHEN contains(${text.sql}, '%') THEN apl_url_decode(${text.sql}) ELSE ${text.sql} END`,
  url_encode: ([text]) => `url_encode(${text.sql})`,
  pair: ([key, value, separator]) => `apl_pair(${key.sql}, ${value.sql}, ${sqlOr(separator, "':'")})`,
  parse_pair: ([text, separator]) => `apl_parse_pair(${text.sql}, ${sqlOr(separator, "':'")})`,
  find_pair: ([pairs, key, value, separator]) =>
    `apl_find_pair(${pairs.sql}, ${key.sql}, ${value.sql}, ${sqlOr(separator, "':'")})::JSON`,
  hash: ([value, salt]) =>
    `apl_signed_hash(${textOf(value)}, hash(${textOf(value)}${salt === undefined ? '' : `, ${salt.sql}`}))`,
  hash_md5: ([value]) => `md5(${textOf(value)})`,
  hash_sha1: ([value]) => `sha1(${textOf(value)})`,
  hash_sha256: ([value]) => `sha256(${textOf(value)})`,
  hash_sha512: ([value]) => `apl_sha512(${textOf(value)})`,
};

export const setup: readonly string[] = [
  `CREATE MACRO apl_is_base64(s) AS regexp_full_match(s, '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?')`,
  `CREATE MACRO apl_hex_bytes(digits) AS
     to_json(list_transform(regexp_extract_all(digits, '..'), lambda h: ('0x' || h)::BIGINT))`,
  `CREATE MACRO apl_base64_bytes(s) AS CASE WHEN apl_is_base64(s) THEN apl_hex_bytes(hex(from_base64(s)))
     WHEN s IS NOT NULL THEN '[]'::JSON END`,
  `CREATE MACRO apl_code_points(s) AS
     to_json(list_transform(regexp_extract_all(s, '(?s).'), lambda c: unicode(c)::BIGINT))`,
  `CREATE MACRO apl_character(n) AS chr(CASE WHEN n BETWEEN 0 AND 55295 OR n BETWEEN 57344 AND 1114111
     THEN n ELSE 65533 END::INTEGER)`,
  `CREATE MACRO apl_code_points_text(j) AS CASE WHEN json_type(j) = 'ARRAY' THEN
     array_to_string(list_transform(j::JSON[], lambda n: apl_character(apl_dyn_long(n))), '') END`,
  `CREATE MACRO apl_pair(k, v, separator) AS json_object('key', k, 'separator', separator, 'value', v)`,
  `CREATE MACRO apl_parse_pair(s, separator) AS CASE WHEN s IS NULL OR separator IS NULL THEN NULL
     WHEN separator = '' OR NOT contains(s, separator) THEN apl_pair('', s, separator)
     ELSE apl_pair(left(s, strpos(s, separator) - 1), substr(s, strpos(s, separator) + length(separator)), separator) END`,
  `CREATE MACRO apl_signed_hash(text, h) AS
     CASE WHEN text IS NOT NULL THEN (h::HUGEINT - 9223372036854775808)::BIGINT END`,
];

export const udfs: readonly JsFunction[] = [
  {
    name: 'apl_base64_decode',
    params: ['VARCHAR'],
    returns: 'VARCHAR',
    run: (text: string) => (isBase64(text) ? Buffer.from(text, 'base64').toString('utf8') : null),
  },
  { name: 'apl_base64_encode', params: ['VARCHAR'], returns: 'VARCHAR', run: base64OfArray },
  {
    name: 'apl_format_bytes',
    params: ['DOUBLE', 'BIGINT', 'VARCHAR', 'BIGINT'],
    returns: 'VARCHAR',
    run: formatBytes,
  },
  { name: 'apl_parse_bytes', params: ['VARCHAR', 'BIGINT'], returns: 'BIGINT', run: parseBytes },
  { name: 'apl_format_url', params: ['VARCHAR'], returns: 'VARCHAR', run: formatUrl },
  { name: 'apl_parse_url', params: ['VARCHAR'], returns: 'VARCHAR', run: parseUrl },
  { name: 'apl_parse_urlquery', params: ['VARCHAR'], returns: 'VARCHAR', run: parseUrlQuery },
  { name: 'apl_url_decode', params: ['VARCHAR'], returns: 'VARCHAR', run: urlDecode },
  { name: 'apl_parse_path', params: ['VARCHAR'], returns: 'VARCHAR', run: parsePath },
  { name: 'apl_parse_csv', params: ['VARCHAR'], returns: 'VARCHAR', run: parseCsv },
  { name: 'apl_quote', params: ['VARCHAR'], returns: 'VARCHAR', run: quoted },
  {
    name: 'apl_find_pair',
    params: ['VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR'],
    returns: 'VARCHAR',
    run: findPair,
  },
  {
    name: 'apl_sha512',
    params: ['VARCHAR'],
    returns: 'VARCHAR',
    run: (text: string) => createHash('sha512').update(text).digest('hex'),
  },
];

function textOf(value: SqlArg): string {
  return convert(value, 'string');
}

function queryMap(text: SqlArg): string {
  return `apl_parse_urlquery(${textOf(text)})::JSON`;
}

/** Strings that are not JSON stay strings; maps and arrays are unchanged. */
function parseJsonSql(value: SqlArg): string {
  const text = textOf(value);
  const parsed = `CASE WHEN apl_json_null(${text}) THEN NULL WHEN apl_json_valid(${text}) THEN json(${text}) ELSE to_json(${text}) END`;
  if (value.type !== 'dynamic') return value.type === 'string' ? parsed : toDynamic(value);
  return `CASE WHEN json_type(${value.sql}) = 'VARCHAR' THEN ${parsed} ELSE ${value.sql} END`;
}

function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
}

function base64OfArray(json: string): string | null {
  const bytes = JSON.parse(json) as unknown;
  const valid =
    Array.isArray(bytes) && bytes.every(byte => Number.isInteger(byte) && byte >= 0 && byte <= 255);
  return valid ? Buffer.from(bytes as number[]).toString('base64') : null;
}

/** Returns the fields of the first record; a quote inside a field that does not start with one is an ordinary character. */
function parseCsv(text: string): string {
  const fields: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"?([^,\r\n]*)|([^,\r\n]*))(,|\r?\n|\r|$)/y;
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    const [, inner, tail = '', plain = '', end] = match;
    fields.push(inner === undefined ? plain : inner.replaceAll('""', '"') + tail);
    if (end !== ',') break;
  }
  return JSON.stringify(fields);
}
