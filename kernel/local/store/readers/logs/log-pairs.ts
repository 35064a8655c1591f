import type { PairStyle } from '../../../../api/logs/log-format.js';
import { sqlText } from '../../../duckdb/duckdb-literal.js';
import type { Connection } from '../../../engine/duckdb.js';

/** Syntax of key-value pairs. */
interface Style {
  /** SQL that splits the text t into tokens. */
  readonly tokens: string;
  /** SQL of each token's key, null if it is not a pair, and of its value, over t and the tokens ts. */
  readonly keys: string;
  readonly values: string;
  /** Separator of tokens. */
  readonly between: string;
}

const quoted = '"((?:[^"\\\\]|\\\\.)*)"';
/** A key with its value up to a blank, otherwise any text between blanks. */
const logfmt = `([\\w.@/-]+)=(?:${quoted}|([^\\s"]*))(?:\\s|$)|"(?:[^"\\\\]|\\\\.)*"|\\S+`;
const groups = (group: number) => `regexp_extract_all(t, ${sqlText(logfmt)}, ${group})`;

const unescaped = (text: string, escapable: string) =>
  `regexp_replace(${text}, ${sqlText(`\\\\(${escapable})`)}, '\\1', 'g')`;

/** For tokens that are pairs with an equals sign. */
const keyed = {
  keys: `list_transform(ts, lambda p: nullif(regexp_extract(p, ${sqlText('^([\\w.@\\[\\]-]+)=')}, 1), ''))`,
  values: `list_transform(ts, lambda p: substr(p, strpos(p, '=') + 1))`,
};

/** Returns the SQL of a CEF value, in which `\n` and `\r` are line breaks. */
function cefValue(text: string): string {
  const [kept, backslash] = ['chr(30)', sqlText('\\')];
  const marked = `replace(${text}, ${sqlText('\\\\')}, ${kept})`;
  const broken = `replace(replace(${marked}, ${sqlText('\\n')}, chr(10)), ${sqlText('\\r')}, chr(13))`;
  return `replace(${unescaped(broken, '[=|]')}, ${kept}, ${backslash})`;
}

const mark = 'chr(31)';
const marked = `regexp_replace(t, ${sqlText('(^|\\s)([\\w.\\[\\]-]+=)')}, ${mark} || '\\2', 'g')`;

/** LEEF names the delimiter before the pairs, as a character or its code; the default is a tab. */
const leefStart = sqlText('^([^|=]|0?x[0-9A-Fa-f]{1,4}|\\\\t)?\\|');
const leefGiven = `regexp_extract(t, ${leefStart}, 1)`;
const leefPairs = `regexp_replace(t, ${leefStart}, '')`;
const leefDelimiter = `CASE WHEN ${leefGiven} IN ('', '\\t') THEN chr(9) WHEN length(${leefGiven}) = 1 THEN ${leefGiven} ELSE coalesce(TRY(chr(('0x' || regexp_replace(${leefGiven}, '^0?x', ''))::INTEGER)), chr(9)) END`;

const styles: Readonly<Record<PairStyle, Style>> = {
  logfmt: {
    tokens: `list_transform(${groups(0)}, lambda p: rtrim(p))`,
    keys: groups(1),
    values: `list_transform(list_zip(${groups(2)}, ${groups(3)}), lambda p: coalesce(${unescaped('p[1]', '["\\\\]')}, '') || coalesce(p[2], ''))`,
    between: ' ',
  },
  cef: {
    ...keyed,
    tokens: `list_transform(string_split(${marked}, ${mark}), lambda p: trim(p))`,
    values: `list_transform(ts, lambda p: ${cefValue("substr(p, strpos(p, '=') + 1)")})`,
    between: ' ',
  },
  leef: { ...keyed, tokens: `string_split(${leefPairs}, ${leefDelimiter})`, between: '\t' },
};

/** Returns the SELECT that adds the pairs of a text to the rows of `from`: tokens ts, keys ks and values vs. */
export function withPairs(from: string, text: string, style: PairStyle): string {
  const { tokens, keys, values } = styles[style];
  return `SELECT *, ${keys} AS ks, ${values} AS vs FROM (SELECT *, ${tokens} AS ts FROM (SELECT *, ${text} AS t FROM (${from})))`;
}

/** Returns the SQL of the value of a key, that of its first pair. */
export function pairValue(name: string): string {
  return `vs[list_position(ks, ${sqlText(name)})]`;
}

/** Returns the SQL of the tokens that are not the first pair of one of these keys. */
export function otherTokens(names: readonly string[], style: PairStyle): string {
  const known = `[${names.map(sqlText).join(', ')}]::VARCHAR[]`;
  const isKnown = `coalesce(list_contains(${known}, ks[i]) AND list_position(ks, ks[i]) = i, false)`;
  return `array_to_string(list_filter(ts, lambda p, i: NOT ${isKnown}), ${sqlText(styles[style].between)})`;
}

/** Maximum number of keys that become fields. */
const mostKeys = 200;

/**
 * Returns the keys in the rows of {@link withPairs} over numbered lines n, in order of first occurrence, with the number of lines that have
 * each.
 */
export async function keysOf(connection: Connection, from: string): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.run(
    `SELECT k, count(DISTINCT n) FROM (SELECT unnest(ks) AS k, n FROM (${from})) WHERE k <> '' GROUP BY k ORDER BY min(n), k LIMIT ${mostKeys}`,
  );
  return new Map(rows.map(([name, lines]) => [String(name), Number(lines)]));
}
