import { expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environment } from '../environment.js';

/** `count` times what `write` writes, joined. */
function repeated(count: number, join: string, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(join);
}

/** The codes of the errors in a text. */
function errors(text: string): string[] {
  const { query, diagnostics } = parseQuery(text);
  const bound = bind(query, text, environment);
  return [...diagnostics, ...bound.diagnostics]
    .filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);
}

type Case = readonly [name: string, write: (count: number) => string, most: number, code: string];

const chain = (count: number): string =>
  `let a0 = 1; ${repeated(count, '; ', index => `let a${index + 1} = a${index} + 1`)}; print a${count}`;
const doubled = (count: number): string =>
  `let a0 = 1; ${repeated(count, '; ', at => `let a${at + 1} = iff(true, a${at}, a${at})`)}; print a${count}`;

test.each<Case>([
  ['terms of a sum', count => `print ${repeated(count, '+', () => '1')}`, 200, 'too-deep'],
  ['conditions', count => `web | where ${repeated(count, ' or ', at => `status == ${at}`)}`, 990, 'too-deep'],
  [
    'terms of a search',
    count => `web | search ${repeated(count, ' and ', at => `"a${at}"`)}`,
    990,
    'too-deep',
  ],
  ['signs', count => `print ${'- '.repeat(count)}1`, 190, 'too-deep'],
  ['properties', count => `web | project a = attributes${'.b'.repeat(count)}`, 190, 'too-deep'],
  ['operators', count => `web ${'| where status > 1 '.repeat(count)}`, 300, 'too-long'],
  ['let values, each of the one before', chain, 160, 'too-deep'],
  ['let values, each twice the one before', doubled, 12, 'too-long'],
  [
    'let tables, each of the one before',
    count =>
      `let a0 = web; ${repeated(count, '; ', at => `let a${at + 1} = a${at} | where status > 1`)}; a${count}`,
    290,
    'too-long',
  ],
])('%s have a bound', (_, write, most, code) => {
  expect(errors(write(most))).toEqual([]);
  expect(errors(write(most * 10)).slice(0, 1)).toEqual([code]);
});
