import { own } from '../../present.js';
import { textOf } from './languages/language-expression.js';

const names = String.raw`[\w.]+(?:\s*,\s*[\w.]+)*`;

/** Signs for comparison words. */
export const signs: Readonly<Record<string, string>> = {
  eq: '==',
  ne: '!=',
  gt: '>',
  ge: '>=',
  lt: '<',
  le: '<=',
};

/** Parts of a PowerShell condition; operators that take a string come first. */
const parts =
  /-(c?)i?(not)?(like|match)\s+("[^"\n]*"|'[^'\n]*')|-(c?)i?(eq|ne)(?=\s+["'])|-[ci]?(eq|ne|g[te]|l[te])(?=\s)|-[ci]?(not)?in(?=\s*\()|-(and|or|not)(?=[\s(])|"[^"\n]*"|'[^'\n]*'|\$(?:_|PSItem)\./gi;

/** Translates a PowerShell condition, such as `$_.status -ge 500`; returns undefined if it is not understood. */
export function powerCondition(text: string): string | undefined {
  const found = text.trim().replace(parts, (whole, ...groups: readonly (string | undefined)[]) => {
    const [likeCase, likeNot, like, pattern, equalCase, equal, sign, inNot, word] = groups;
    if (like !== undefined) return likeness(like, pattern ?? '', likeCase !== '', likeNot === undefined);
    if (equal !== undefined) return textSign(equal.toLowerCase(), equalCase !== '');
    if (sign !== undefined) return signs[sign.toLowerCase()] ?? whole;
    if (word !== undefined) return word.toLowerCase();
    if (whole.startsWith('$')) return '';
    return whole.startsWith('-') ? `${inNot === undefined ? '' : '!'}in` : whole;
  });
  return /\s-[a-z]|[${}|]/i.test(found.replace(/"[^"\n]*"|'[^'\n]*'/g, '')) ? undefined : found;
}

/** Returns the sign that compares strings: PowerShell ignores case unless a `c` is given. */
function textSign(equal: string, isExact: boolean): string {
  if (isExact) return equal === 'eq' ? '==' : '!=';
  return equal === 'eq' ? '=~' : '!~';
}

/** Translates `-like "a*"` or `-match "^a"` to the equivalent operator. */
function likeness(word: string, quoted: string, isExact: boolean, finds: boolean): string {
  const pattern = quoted.slice(1, -1);
  const not = finds ? '' : '!';
  const exact = isExact ? '_cs' : '';
  const matching = (regex: string) => `${not}matches regex ${textOf(`${isExact ? '' : '(?i)'}${regex}`)}`;
  if (word.toLowerCase() === 'match') return matching(pattern);
  const [, before = '', plain = '', after = ''] = /^(\*?)([^*?[\]]+)(\*?)$/.exec(pattern) ?? [];
  if (plain === '' || before + after === '')
    return matching(
      `^${pattern
        .replace(/[.+^$(){}|\\]/g, '\\$&')
        .replace(/\*/g, '.*')
        .replace(/\?/g, '.')}$`,
    );
  const operator = before === '' ? 'startswith' : after === '' ? 'endswith' : 'contains';
  return `${not}${operator}${exact} ${textOf(plain)}`;
}

/** Returns a command's arguments without these options; undefined if other options remain. */
function namesIn(rest: string, options: RegExp): string | undefined {
  const left = rest
    .replace(options, ' ')
    .replace(/-Property\b/gi, ' ')
    .trim();
  return left === '' || new RegExp(`^${names}$`).test(left) ? left : undefined;
}

/** PowerShell commands that read objects, by lowercase name, with their translated stages. */
const commands: Readonly<Record<string, (rest: string) => string | undefined>> = {
  'where-object': rest => {
    const [, block = rest.replace(/^-Property\s+/i, '')] = /^\{([\s\S]*)\}$/.exec(rest) ?? [];
    const condition = powerCondition(block);
    return condition && `where ${condition}`;
  },
  'select-object': rest => {
    const [, count] = /-First\s+(\d+)/i.exec(rest) ?? [];
    const [, last] = /-Last\s+(\d+)/i.exec(rest) ?? [];
    const isUnique = /-Unique\b/i.test(rest);
    const found = namesIn(rest, /-(?:First|Last)\s+\d+|-Unique\b/gi);
    if (found === undefined || (isUnique && (count ?? last) !== undefined)) return undefined;
    const rows = last === undefined ? [] : ['sort by _time desc'];
    const limit = count ?? last;
    const fields = isUnique ? `distinct ${found || '*'}` : `project ${found}`;
    return [
      ...rows,
      ...(limit === undefined ? [] : [`limit ${limit}`]),
      ...(found === '' && !isUnique ? [] : [fields]),
    ].join(' | ');
  },
  'sort-object': rest => {
    const order = /-Descending\b/i.test(rest) ? 'desc' : 'asc';
    const found = namesIn(rest, /-Descending\b/gi);
    return found && `sort by ${found.replace(/[\w.]+/g, `$& ${order}`)}`;
  },
  'group-object': rest => {
    const found = namesIn(rest, /-NoElement\b/gi);
    return found && `summarize count() by ${found}`;
  },
  'measure-object': rest => {
    const measures = { average: 'avg', sum: 'sum', maximum: 'max', minimum: 'min' };
    const found = namesIn(rest, /-(?:Average|Sum|Maximum|Minimum)\b/gi);
    if (found === undefined || found.includes(',')) return undefined;
    const asked = Object.entries(measures).filter(([option]) => new RegExp(`-${option}\\b`, 'i').test(rest));
    if (asked.length > 0)
      return found && `summarize ${asked.map(([, name]) => `${name}(${found})`).join(', ')}`;
    return found === '' ? 'count' : `summarize countif(isnotnull(${found}))`;
  },
  'select-string': rest => {
    const not = /-NotMatch\b/i.test(rest) ? 'not ' : '';
    const pattern = rest.replace(/-(?:NotMatch|SimpleMatch|Pattern)\b/gi, '').trim();
    const [, , text] = /^(["']?)([^"'\\[\]()*+?^$|.]+)\1$/.exec(pattern) ?? [];
    return text && `search ${not}${textOf(text)}`;
  },
  'foreach-object': rest => {
    const [, found] = /^\{\s*\$(?:_|PSItem)\.([\w.]+)\s*\}$/i.exec(rest) ?? [];
    return found && `project ${found}`;
  },
  'format-table': rest => shownFields(rest),
  'format-list': rest => shownFields(rest),
};

function shownFields(rest: string): string | undefined {
  const found = namesIn(rest, /-(?:AutoSize|Wrap)\b/gi);
  return found && `project ${found}`;
}

const aliases: Readonly<Record<string, string>> = {
  ...{ '?': 'where-object', where: 'where-object', '%': 'foreach-object' },
  ...{ ft: 'format-table', fl: 'format-list' },
};

/** Translates a PowerShell command, without its leading pipe, to APL stages; returns undefined if it is unknown. */
export function translatedCmdlet(text: string): string | undefined {
  const [, word = '', rest = ''] = /^([\w-]+|[?%])\s*([\s\S]*)$/.exec(text) ?? [];
  const name = word.toLowerCase();
  return own(commands, own(aliases, name) ?? name)?.(rest.trim()) || undefined;
}
