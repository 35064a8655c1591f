import { present } from '../../../present.js';
import { translateEsql } from './esql.js';
import { translateInsights } from './insights.js';
import { LanguageReader } from './language-reader.js';
import { translateSql } from './language-sql.js';
import { translateLucene } from './lucene.js';
import { translatePandas } from './pandas.js';
import { translateLogQl, translatePromQl } from './selectors.js';
import { translateSpl } from './spl.js';

/** A query in another language: its translation, or the reason why there is none, as a sentence. */
export interface TranslatedQuery {
  readonly language: string;
  readonly apl?: string;
  /** Assumption that the translation makes. */
  readonly given?: string;
  readonly reason?: string;
}

interface Language {
  readonly name: string;
  /** Matches the beginning of its queries. */
  readonly begins: RegExp;
  /** Matches text that no such query contains. */
  readonly never?: RegExp;
  readonly given?: string;
  readonly translate: (reader: LanguageReader) => string;
}

/** Calls and aggregations around a selector, each up to its opening parenthesis. */
const around = '(?:\\w+\\s*(?:by\\s*\\([^)]*\\)\\s*)?\\(\\s*(?:[\\d.]+\\s*,\\s*)?)*';
const aggregations = 'sum|avg|min|max|count|stddev|stdvar|topk|bottomk|quantile|group';

/** Contents of Python brackets: strings, `|` between conditions in parentheses, anything but brackets. */
const within = `(?:"[^"]*"|'[^']*'|\\)\\s*\\|\\s*(?=[(~])|[^|;"'[\\]])*`;
/** Brackets with at most one nested level. */
const bracket = `\\[${within}(?:\\[${within}\\]${within})*\\]`;
const frameMethods =
  'groupby|query|resample|value_counts|sort_values|nlargest|nsmallest|drop_duplicates|unique|nunique|describe|info|head|tail|size|mean|median|std|reset_index|quantile|fillna|dropna|drop|rename|assign|merge|plot';

/** The first language that matches applies. */
const languages: readonly Language[] = [
  {
    name: 'ES|QL',
    begins:
      /^(?:from\s+[^|;()]+\|\s*(?:where|stats|eval|keep|drop|limit|sort|rename|dissect|grok|mv_expand|enrich|lookup|inlinestats|sample)\b|row\s+[\w.`]+\s*=(?!=))/i,
    translate: translateEsql,
  },
  {
    name: 'SQL',
    begins: /^(?:select\s+[^|;]|with\s+[\w"`]+\s+as\s*\(|from\s+[\w."`-]+(?:\s|$))/i,
    never: /^from\s+\w+\s*\|/i,
    translate: translateSql,
  },
  {
    name: 'SPL',
    begins:
      /^(?:search\s+)?(?:index|source|sourcetype|host|eventtype)\s*=(?!=)|^search\s[^|]*\|\s*(?:stats|eval|timechart|chart|table|fields|head|tail|rare|dedup|rex)\b/i,
    translate: translateSpl,
  },
  {
    name: 'CloudWatch Logs Insights',
    begins:
      /^(?:#[^\n]*\n\s*)*(?:(?:fields|display|dedup)\s+[@\w`]|filter\s+[@\w`(]|stats\s+\w+\s*\(|(?:parse|sort|pattern)\s+@)/i,
    translate: translateInsights,
  },
  {
    name: 'LogQL',
    begins: new RegExp(`^${around}\\{\\s*\\w+\\s*(?:=|!=|=~|!~)\\s*["\`]`),
    translate: translateLogQl,
  },
  {
    name: 'PromQL',
    begins: new RegExp(
      `^(?:(?:${aggregations})\\s*(?:by|without)\\s*\\(|${around}[a-zA-Z_:][\\w:]*(?<!:)\\s*(?:\\{[^}]*\\}|\\[\\d+[smhdwy]\\]))`,
    ),
    given: 'over a dataset with the events that it counts',
    translate: translatePromQl,
  },
  {
    name: 'pandas',
    begins: new RegExp(
      `^[A-Za-z_]\\w*(?:${bracket}|\\.\\w+)*(?:\\.(?:(?:${frameMethods})\\(|i?loc\\[|(?:dtypes|columns)$)|${bracket}\\.(?:max|min|sum|count)\\()|^(\\w+)(?=\\[+\\s*(?:["'~(]|\\1\\b))${bracket}$`,
    ),
    translate: translatePandas,
  },
  {
    name: 'Lucene',
    begins:
      /^[-+(!]*(?:not\s+)?_?[\w@]+(?:\.\w+)*\s*:\s*(?:["[{(<>*/\w-]|\\\/)|^(?:[A-Za-z_][\w.]*\s*[!=<>]=?\s*)?(?:"[^"]*"|[\w.*-]+)\s+(?:AND|OR|NOT)\s+\S/i,
    never: /\||^\w+:\/\/|;/,
    translate: translateLucene,
  },
];

/** Maximum length of a statement in characters: on hostile text, patterns of a whole statement take time that grows with its square. */
export const longestStatement = 25_000;

/** Returns the unmistakable language of a text, with its translation; undefined for anything that may be APL. */
export function translatedQuery(text: string): TranslatedQuery | undefined {
  if (text.length > longestStatement) return undefined;
  const found = languages.find(({ begins, never }) => begins.test(text) && never?.test(text) !== true);
  if (found === undefined) return undefined;
  const reader = new LanguageReader(text);
  const apl = found.translate(reader);
  const { name: language, given } = found;
  if (reader.reason !== undefined) return { language, reason: reader.reason };
  return { language, apl, ...present({ given }) };
}
