import { own } from '../../present.js';
import { conditioned, percentOf, textOf } from './languages/language-expression.js';
import { LanguageReader } from './languages/language-reader.js';
import { translateSql } from './languages/language-sql.js';
import { translateLucene } from './languages/lucene.js';
import { translateCommand } from './languages/spl.js';
import { powerCondition, signs, translatedCmdlet } from './powershell.js';

interface Row {
  readonly written: RegExp;
  readonly instead: (match: RegExpExecArray) => string | undefined;
}

const field = String.raw`(?:[A-Za-z_]\w*(?:\.\w+)*|\['[^'\n]*'\])`;
const parts: Readonly<Record<string, string>> = {
  ' ': String.raw`[ \t]+`,
  F: field,
  FS: String.raw`${field}(?:\s*,\s*${field})*`,
  CALL: String.raw`\w+\((?:[^()\n]|\([^()\n]*\))*\)`,
  TEXT: String.raw`(?:"[^"\n]*"|'[^'\n]*')`,
};

/** Returns the pattern of a whole stage, with `F`, `FS`, `CALL` and `TEXT` for a field, several, a call and a string. */
function stage({ raw: [pattern = ''] }: TemplateStringsArray): RegExp {
  return new RegExp(
    `^${pattern.replace(/\b(?:FS|F|CALL|TEXT)\b| /g, part => own(parts, part) ?? part)}$`,
    'i',
  );
}

/** Stages in the syntax of other tools, which are never valid APL; the first match determines the replacement. */
const rows: readonly Row[] = [
  {
    written: /^search\s+(?!(?:in|k[a-z]{1,4})\b)(?!.*\w:)(?!\S+\s*=\s*\S+$)\S+\s+\S/,
    instead: ({ input }) => translateCommand(input),
  },
  // Conditions within a summary, and its groups.
  {
    written: stage`summarize (.+?) where (.+?) by (.+)`,
    instead: ([, measures, condition = '', keys]) =>
      `where ${compared(condition)} | summarize ${measures} by ${keys}`,
  },
  {
    written: stage`summarize ([^=]+?) where ((?!count_).+)`,
    instead: ([, measures, condition = '']) => `where ${compared(condition)} | summarize ${measures}`,
  },
  {
    written: stage`summarize (\w+\s*=\s*)?(CALL) (?:filter\s*\(\s*where (.+?)\s*\)|(?:if|when) (.+?))( by .+)?`,
    instead: ([, name = '', measure = '', within, condition = within ?? '', keys = '']) => {
      const found = conditioned(measure, compared(condition));
      return found && `summarize ${name}${found}${keys}`;
    },
  },
  {
    written: stage`summarize ((?:CALL(?:\s+as \w+)?\s+)+CALL(?:\s+as \w+)?)( by .+)?`,
    instead: ([, measures = '', keys = '']) => `summarize ${commas(measures)}${keys}`,
  },
  {
    written: stage`(?:group|summarize) by (FS) select (.+)`,
    instead: ([, keys, measures = '']) =>
      `summarize ${measures.replace(/\bcount\(\*\)/gi, 'count()')} by ${keys}`,
  },
  { written: stage`(summarize .+ by .+?) over (FS)`, instead: ([, before, keys]) => `${before}, ${keys}` },
  {
    written: stage`(summarize (?:.+,\s*)?CALL) over (FS)`,
    instead: ([, before, keys]) => `${before} by ${keys}`,
  },
  {
    written: stage`(summarize .+? by FS) every (\d+[a-z]+)`,
    instead: ([, before, size]) => `${before}, bin(_time, ${size})`,
  },
  {
    written: stage`(summarize .+?)(?: by)? every (\d+[a-z]+)`,
    instead: ([, before, size]) => `${before} by bin(_time, ${size})`,
  },
  {
    written: stage`summarize (\w+\s*=\s*)?quantile\(([\d.]+)\)\((F)\)( by .+)?`,
    instead: ([, name = '', share = '', of, keys = '']) =>
      `summarize ${name}percentile(${of}, ${percentOf(share)})${keys}`,
  },
  { written: stage`summarize top (\d+) (F)`, instead: ([, n, of]) => `summarize topk(${of}, ${n})` },
  // Counts.
  { written: stage`count distinct (F)`, instead: ([, of]) => `summarize dcount(${of})` },
  {
    written: stage`count\(\s*(F)\s*\)( by FS)?`,
    instead: ([, of, keys = '']) => `summarize countif(isnotnull(${of}))${keys}`,
  },
  { written: stage`count (?:where|if) (.+)`, instead: ([, rest = '']) => `where ${compared(rest)} | count` },
  { written: stage`count (?!by\b)(F)`, instead: ([, of]) => `summarize count() by ${of}` },
  { written: /^(getschema|serialize)\(\)$/, instead: ([, word]) => word },
  // Sorts and limits.
  {
    written: stage`top (?:limit\s*=\s*\d+ .+|(?!by\b)F(?:[\s,]+F)*|\d+ (?!by\b)F\s*,.+)`,
    instead: ([whole]) => translateCommand(whole),
  },
  {
    written: stage`top (\d+) (?!by\b)(FS) by (CALL)(?: desc)?`,
    instead: ([, n, keys, measure]) => `summarize n = ${measure} by ${keys} | top ${n} by n`,
  },
  {
    written: stage`(?:sort|order)\(\s*(F)\s*\)(?: (asc|desc))?`,
    instead: ([, of, order = 'asc']) => `sort by ${of} ${order}`,
  },
  { written: stage`sort -u`, instead: () => 'distinct *' },
  {
    written: stage`sort (?:\d+ [-+]?\s*F|[-+]\s*F\s*,.+)`,
    instead: ([whole]) => translateCommand(whole),
  },
  { written: stage`(?:distinct by|project distinct) (FS)`, instead: ([, names]) => `distinct ${names}` },
  {
    written: stage`sample ([\d.]+)\s*%`,
    instead: ([, percent]) => `sample ${Number((Number(percent) / 100).toPrecision(6))}`,
  },
  { written: /^>\s*([a-z][^\n]*)$/, instead: ([, rest]) => ` ${rest}` },
  // Objects, arrays and slices in jq.
  { written: /^\{\s*([^{}\n]*)\}$/, instead: ([, inner = '']) => projected(inner) },
  { written: /^\[\s*(\.[^[\]\n]*)\]$/, instead: ([, inner = '']) => projected(inner) },
  { written: /^(?:\.\[0?:(\d+)\]|limit\((\d+);\s*\.\[\]\))$/, instead: ([, to, n]) => `limit ${to ?? n}` },
  { written: /^\[\s*\.\[\]\s*\|\s*\.([\w.]+)\s*\]$/, instead: ([, name]) => `project ${name}` },
  { written: /^\.\[\]\.([\w.]+)$/, instead: ([, name]) => `project ${name}` },
  { written: /^sort(?:_by| by)\(\s*-\s*\.?(\w[\w.]*)\s*\)$/, instead: ([, name]) => `sort by ${name} desc` },
  // PowerShell commands and conditions, and comparison words.
  { written: /^(?:[?%]|where)\s*\{/, instead: ({ input }) => translatedCmdlet(input) },
  {
    written:
      /^where\s+(?=\S)(?=.*\s-(?:[ic]?(?:eq|ne|g[te]|l[te]|(?:not)?(?:like|match|in))|and|or|not)\b)(.*)$/i,
    instead: ([, condition = '']) => {
      const found = powerCondition(condition);
      return found && `where ${found}`;
    },
  },
  {
    written: /^where\s.*\s(?:eq|ne|g[te]|l[te])\s/i,
    instead: ({ input }) =>
      input.replace(
        /"[^"\n]*"|'[^'\n]*'|(?<=[\w)\]"']\s+)(eq|ne|g[te]|l[te])(?=\s)/gi,
        (whole, word?: string) => (word === undefined ? whole : (signs[word.toLowerCase()] ?? whole)),
      ),
  },
  // Conditions.
  {
    written: stage`where (.*?)(F)\s*([<>]=?|[=!]=)\s*(TEXT|-?\d[\w.]*) (and|or) ([<>]=?|[=!]=)\s*([^\s=].*)`,
    instead: ([, before, of, sign, value, word, other, rest]) =>
      `where ${before}${of} ${sign} ${value} ${word} ${of} ${other} ${rest}`,
  },
  {
    written: stage`where (.*?)(F) is( not)? (TEXT|-?\d[\w.]*)(.*)`,
    instead: ([, before, of, not, value, after]) =>
      `where ${before}${of} ${not === undefined ? '==' : '!='} ${value}${after}`,
  },
  { written: /^where\s.*<=>/, instead: ({ input }) => input.replaceAll('<=>', '==') },
  {
    written: stage`where (.+?) (?<!(?:and|or|not) )not (F)\s*==?\s*(TEXT|-?\d[\w.]*)`,
    instead: ([, before = '', of, value]) => `where ${compared(before)} and ${of} != ${value}`,
  },
  {
    written: stage`where (.+?) group by (FS)`,
    instead: ([, condition = '', keys]) => `where ${compared(condition)} | summarize count() by ${keys}`,
  },
  {
    written: stage`where (.*?)(F) !(has_any|has_all)\s*(\([^()]*\))(.*)`,
    instead: ([, before, of, word, list, after]) => `where ${before}not(${of} ${word} ${list})${after}`,
  },
  {
    written: stage`where (.*?)(F)\s*(=~|~\*?|!~)\s*/([^/\n]+)/(.*)`,
    instead: ([, before, of, sign, regex = '', after]) =>
      `where ${before}${of} ${sign === '!~' ? '!' : ''}matches regex ${textOf(regex)}${after}`,
  },
  {
    written: stage`where (.*?)(F)\s*(~\*?|rlike)\s*(TEXT)(.*)`,
    instead: ([, before, of, sign, regex = '', after]) =>
      `where ${before}${of} matches regex ${sign === '~*' ? regex.replace(/^./, '$&(?i)') : regex}${after}`,
  },
  {
    written: stage`where (.*?)(F) (?:(?:is )?(?:one|any) of\s*\(|in\s*\{)([^(){}\n]+)[)}](.*)`,
    instead: ([, before, of, list, after]) => `where ${before}${of} in (${list})${after}`,
  },
  {
    written: stage`where (.*?)(F) between \[([^[\],\n]+),([^[\],\n]+)\](.*)`,
    instead: ([, before, of, from = '', to = '', after]) =>
      `where ${before}${of} between (${from.trim()} .. ${to.trim()})${after}`,
  },
  {
    written: stage`where _?time (?:in |within )?(?:the )?(?:last |past )?(\d+[a-z]+)`,
    instead: ([, size]) => `where _time > ago(${size})`,
  },
  {
    written: /^where[ \t]+(?=\S)((?:[^\n:]*:)*?[^\n:]*[\w.]\s*:\s*[[({*\w>"][^\n]*)$/i,
    instead: ([, condition = '']) => (/::|==/.test(condition) ? undefined : fromLucene(condition)),
  },
  // Values.
  {
    written: /^\w[^\n]*[\w)\]]\.\[/,
    instead: ({ input }) =>
      input.replace(/"[^"\n]*"|'[^'\n]*'|(?<=[\w)\]])\.(?=\[)/g, found => (found === '.' ? '' : found)),
  },
  {
    written: stage`(extend \w+\s*=\s*)([^"'|]*(?:TEXT[^"'|]*)*\s\.\s.*)`,
    instead: ([, before, joined = '']) => {
      const values = joined.match(/(?:"[^"\n]*"|'[^'\n]*'|(?!\s\.\s)[^"'])+/g) ?? [];
      const texts = values.map(value => value.replace(/^\s*\.\s/, '').trim());
      return `${before}strcat(${texts.join(', ')})`;
    },
  },
  {
    written: stage`((?:extend|project) \w+\s*=\s*)([^,?|]+?)\s*\?[?:]\s*([^,?|]+)`,
    instead: ([, before, of, other]) => `${before}coalesce(${of}, ${other})`,
  },
  {
    written: stage`((?:extend|project) \w+\s*=\s*)([^,?|]+?)\s*\?\s*([^,?:|]+?)\s*:\s*([^,?:|]+)`,
    instead: ([, before, condition = '', one, other]) =>
      `${before}iff(${compared(condition)}, ${one}, ${other})`,
  },
  { written: /^(?:where|extend|project|summarize)\s[^\n]*\.\w+\(/, instead: ({ input }) => unchained(input) },
  {
    written: /^(where|extend)\s+(?=\S)(?=[^\n]*(?:::|\|\||\bcase\s+when\b|\bis\s+distinct\b))([^\n]*)$/i,
    instead: ([, word = '', rest = '']) => fromSql(word, rest),
  },
  {
    written: /^summarize\s+([^\n]*(?:\bcase\s+when\b|\bwithin\s+group\b)[^\n]*?)(\s+by\s+[^\n()]*)?$/i,
    instead: ([, measures = '', keys = '']) => {
      const found = fromSql('summarize', measures);
      return found && `${found}${keys}`;
    },
  },
];

/** Translations of methods on a value; `$0` is the value, `$1` the arguments. */
const methods: Readonly<Record<string, string>> = {
  ...{ contains: '$0 contains $1', includes: '$0 contains $1', has: '$0 has $1', equals: '$0 == $1' },
  ...{ startswith: '$0 startswith $1', endswith: '$0 endswith $1', isin: '$0 in ($1)' },
  ...{ isnull: 'isnull($0)', isna: 'isnull($0)', notnull: 'isnotnull($0)', notna: 'isnotnull($0)' },
  ...{ lower: 'tolower($0)', tolowercase: 'tolower($0)', upper: 'toupper($0)', touppercase: 'toupper($0)' },
  ...{ strip: 'trim_space($0)', trim: 'trim_space($0)', len: 'strlen($0)', length: 'strlen($0)' },
  ...{ split: 'split($0, $1)', tostring: 'tostring($0)', round: 'round($0)', between: '$0 between ($1)' },
};

/** Maximum length of a stage in characters: anything longer was not typed by hand. */
export const longestStage = 500;

/** Returns the APL for an invalid stage, without its leading pipe; undefined if that is not clear. */
export function mendedStage(text: string): string | undefined {
  if (text.length > longestStage) return undefined;
  for (const { written, instead } of rows) {
    const match = written.exec(text);
    const found = match === null ? undefined : instead(match);
    if (found !== undefined && found !== text) return found;
  }
  return undefined;
}

/** Returns space-separated aggregates, which SPL allows, with commas between them and each name in front. */
function commas(measures: string): string {
  const calls = measures.matchAll(/(\w+\((?:[^()]|\([^()]*\))*\))(?:\s+as\s+(\w+))?/gi);
  return Array.from(calls, ([, call, name]) => `${name === undefined ? '' : `${name} = `}${call}`).join(', ');
}

/** Returns a condition with `==` for SQL's `=`. */
function compared(condition: string): string {
  return condition.trim().replace(/(?<![=!<>~])=(?![=~])/g, '==');
}

/** Returns the keys of a jq object, each of which names a field, or the fields of an array. */
function projected(inner: string): string | undefined {
  const items = inner
    .split(',')
    .map(item => /^\s*(?:(\w+)\s*:\s*)?(?:\.\[0\]\.|\.)?(\w+(?:\.\w+)*)\s*$/.exec(item));
  const named = items.map(item => {
    if (item === null) return null;
    const [, name, of] = item;
    const value = of === 'length' ? 'count_' : of;
    return name === undefined || name === value ? value : `${name} = ${value}`;
  });
  return named.includes(null) ? undefined : `project ${named.join(', ')}`;
}

function fromLucene(condition: string): string | undefined {
  return stagesOf(translateLucene, condition);
}

/** Translates SQL values in a stage with this word. */
function fromSql(word: string, rest: string): string | undefined {
  if (word === 'where') return stagesOf(translateSql, `select * from t where ${rest}`);
  const [, name, value = rest] = /^(\w+)\s*=\s*(.*)$/.exec(rest) ?? [];
  const found = stagesOf(translateSql, `select ${value}${name === undefined ? '' : ` as ${name}`} from t`);
  return found?.replace(/^project\b/, word);
}

/** Returns the stages of a whole SQL query, whose table the query has already named. */
export function sqlStages(text: string): string | undefined {
  return stagesOf(translateSql, text);
}

/** Returns the stages of a translated query, without its dataset. */
function stagesOf(translate: (reader: LanguageReader) => string, text: string): string | undefined {
  const reader = new LanguageReader(text);
  const [, ...lines] = translate(reader).split('\n');
  return reader.reason === undefined ? lines.join(' ').replace(/^\|\s*/, '') : undefined;
}

const method = new RegExp(String.raw`(${field})\.(\w+)\(([^()\n]*)\)`);

/** Returns the text with methods of values replaced by functions and operators; undefined if a method has neither. */
function unchained(text: string): string | undefined {
  let found = text;
  for (let match = method.exec(found); match !== null; match = method.exec(found)) {
    const [whole, of = '', name = '', args = ''] = match;
    const template = own(methods, name.toLowerCase());
    if (template === undefined) return undefined;
    const list = args.replace(/^\[(.*)\]$/, '$1');
    const put = template.includes('between') ? list.replace(/\s*,\s*/, ' .. ') : list;
    const instead = template.replace('$0', of.replace(/\.str$/, '')).replace('$1', put);
    found = found.slice(0, match.index) + instead + found.slice(match.index + whole.length);
  }
  return found;
}
