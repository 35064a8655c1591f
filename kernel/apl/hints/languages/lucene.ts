import { datasetName, fieldName, textOf } from './language-expression.js';
import type { LanguageReader } from './language-reader.js';

/** Translates a Lucene query, as in Kibana and Graylog; `reader.reason` is set if that is not possible. */
export function translateLucene(reader: LanguageReader): string {
  const condition = readOr(reader);
  if (!reader.done) reader.fail(`${reader.shown()} has no translation.`);
  return [datasetName('logs'), `| where ${condition}`].join('\n');
}

function readOr(reader: LanguageReader): string {
  const sides = [readAnd(reader)];
  while (reader.takeWord('or') !== undefined || (reader.takeSign('||') ?? '') !== '')
    sides.push(readAnd(reader));
  return sides.join(' or ');
}

function readAnd(reader: LanguageReader): string {
  const all: string[] = [];
  while (!reader.done && !reader.isSign(')', '||') && !reader.isWord(['or'])) {
    if (reader.takeWord('and') !== undefined || reader.takeSign('&') !== undefined) continue;
    const term = readTerm(reader);
    all.push(term.includes(' or ') && !term.startsWith('not(') && !term.startsWith('(') ? `(${term})` : term);
  }
  return all.join(' and ');
}

function readTerm(reader: LanguageReader): string {
  if (reader.takeWord('not') !== undefined || reader.takeSign('-', '!') !== undefined)
    return `not(${readTerm(reader)})`;
  reader.takeSign('+');
  if (reader.takeSign('(') !== undefined) {
    const inner = readOr(reader);
    reader.expect(')');
    return inner.includes(' or ') ? `(${inner})` : inner;
  }
  const first = reader.next();
  const name = reader.isSign('.') ? `${first.text}${reader.next().text}${reader.next().text}` : first.text;
  const sign = reader.takeSign('>=', '<=', '>', '<', '==', '!=', '=');
  if (sign !== undefined) {
    const { kind, text, to } = reader.next();
    const value = kind === 'double' ? textOf(text) : bound(rest(reader, text, to));
    return `${fieldName(name)} ${sign === '=' ? '==' : sign} ${value}`;
  }
  if (reader.takeSign(':') === undefined)
    return `* has ${textOf(rest(reader, first.text, first.to).replace(/^\*+|\*+$/g, ''))}`;
  return readField(reader, name);
}

function readField(reader: LanguageReader, name: string): string {
  const field = fieldName(name);
  if (name === '_exists_') return `isnotnull(${fieldName(reader.next().text)})`;
  if (reader.isSign('[', '{')) return readRange(reader, field);
  if (reader.takeSign('(') !== undefined) return readChoices(reader, field);
  const sign = reader.takeSign('>=', '<=', '>', '<');
  const quoted = reader.peek().kind === 'double';
  const { text, to } = reader.next();
  if (reader.isSign('~') && reader.peek().from === to)
    return reader.fail('Fuzzy matching has no translation: use `contains` or `matches regex`.');
  const value = quoted ? text : rest(reader, text, to);
  if (sign !== undefined) return `${field} ${sign} ${bound(value)}`;
  if (value === '*') return `isnotnull(${field})`;
  const regex = /^\/(.+)\/$/.exec(value)?.[1];
  if (regex !== undefined && !quoted) return `${field} matches regex ${textOf(regex)}`;
  return quoted ? `${field} == ${textOf(value)}` : likeness(field, value);
}

function likeness(field: string, value: string): string {
  const inner = value.replace(/^\*+|\*+$/g, '');
  if (inner === value && !value.includes('?')) return `${field} == ${bound(value)}`;
  if (/[*?]/.test(inner)) {
    const regex = value
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return `${field} matches regex ${textOf(`^${regex}$`)}`;
  }
  const word = !value.startsWith('*') ? 'startswith' : value.endsWith('*') ? 'contains' : 'endswith';
  return `${field} ${word} ${textOf(inner)}`;
}

/** Reads `(a OR b)` after a field. */
function readChoices(reader: LanguageReader, field: string): string {
  const found: string[] = [];
  while (!reader.done && !reader.isSign(')')) {
    if (reader.takeWord('or') !== undefined) continue;
    const { kind, text, to } = reader.next();
    found.push(kind === 'double' ? textOf(text) : bound(rest(reader, text, to)));
  }
  reader.expect(')');
  if (reader.text.includes('*'))
    reader.fail('A pattern in a list has no translation: write one condition for each.');
  return `${field} in (${found.join(', ')})`;
}

/** Reads `[a TO b]`, inclusive, or `{a TO b}`, exclusive; `*` is an open end. */
function readRange(reader: LanguageReader, field: string): string {
  const low = reader.next().text === '[' ? '>=' : '>';
  const from = readBound(reader);
  if (reader.takeWord('to') === undefined) reader.fail('`TO` is missing in a range.');
  const to = readBound(reader);
  const high = reader.takeSign(']', '}') === ']' ? '<=' : '<';
  const ends = [from === '*' ? '' : `${field} ${low} ${from}`, to === '*' ? '' : `${field} ${high} ${to}`];
  return ends.filter(end => end !== '').join(' and ');
}

function readBound(reader: LanguageReader): string {
  const { kind, text, to } = reader.next();
  if (kind === 'double') return textOf(text);
  const value = rest(reader, text, to);
  return value === '*' ? value : bound(value);
}

/** Reads the tokens that follow without a space between. */
function rest(reader: LanguageReader, first: string, to: number): string {
  let [text, end] = [first, to];
  while (reader.peek().from === end && !reader.done && !reader.isSign(')', ']', '}')) {
    const { from, to: next } = reader.next();
    text += reader.text.slice(from, next);
    end = next;
  }
  // Escaped signs of the language are literal; an escaped wildcard has no equivalent here.
  return text.replace(/\\([^\w*?])/g, '$1');
}

/** Returns a number, a relative time, or a string. */
function bound(value: string): string {
  const ago = /^now-(\d+[smhd])(?:\/\w)?$/.exec(value)?.[1];
  if (ago !== undefined) return `ago(${ago})`;
  if (value === 'now') return 'now()';
  return /^-?\d+(?:\.\d+)?$/.test(value) || value === 'true' || value === 'false' ? value : textOf(value);
}
