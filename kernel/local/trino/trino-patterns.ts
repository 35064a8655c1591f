import { partsOfPattern } from '../../apl/plan/pattern-parts.js';
import { regexArgument } from '../duckdb/regex.js';
import { constantText, type SqlArg } from '../sql/sql-template.js';
import { sqlText } from './trino-literal.js';
import { notHere } from './trino-values.js';

/** A regular expression that both of Trino's libraries interpret the same way: its groups have no names. */
export interface Pattern {
  readonly sql: string;
  readonly groups: number;
}

/** Returns a constant regular expression with text around it. Refuses computed ones, and those that are not valid RE2. */
export function pattern(arg: SqlArg, argIndex: number, before = '', after = ''): Pattern {
  const source = constantText(arg);
  if (source === undefined) return notHere('A regular expression that is not a constant');
  const { groups = 0 } = regexArgument(arg, argIndex);
  const plain = source.replace(partsOfPattern, (part, _group, name?: string) =>
    name === undefined ? part : '(',
  );
  return { sql: sqlText(`${before}${plain}${after}`), groups };
}

/** Returns the replacement of a match: `$1` and `${1}` name groups; all else is literal. */
export function replacement(arg: SqlArg, groups: number): string {
  const source = constantText(arg);
  if (source === undefined) return notHere('A replacement that is not a constant');
  const text = source.replace(/\\|\$\$|\$(\d)|\$\{(\d)\}|\$/g, (whole, bare?: string, braced?: string) => {
    if (whole === '\\') return '\\\\';
    const group = bare ?? braced;
    if (group === undefined) return '\\$';
    return Number(group) > groups ? '' : `$${group}`;
  });
  return sqlText(text);
}

/** Returns the pattern for a term: no letter or digit next to it. */
export function termPattern(term: string, before: boolean, behind: boolean): string {
  const escaped = term.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
  return sqlText(
    `${before ? '(?:\\A|[^\\p{L}\\p{N}])' : ''}${escaped}${behind ? '(?:\\z|[^\\p{L}\\p{N}])' : ''}`,
  );
}
