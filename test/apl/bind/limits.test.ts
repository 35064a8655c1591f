import { expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import type { Diagnostic } from '../../../kernel/apl/syntax/ast.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { limits } from '../../../kernel/apl/syntax/syntax-limits.js';
import { environment } from '../environment.js';
import { type LimitCase, limitCases, repeated } from '../limits.js';

function errorsIn(text: string): readonly Diagnostic[] {
  const { query, diagnostics } = parseQuery(text);
  const bound = bind(query, text, environment);
  return [...diagnostics, ...bound.diagnostics].filter(({ severity }) => severity === 'error');
}

type Name = keyof typeof limits;

/** The length of a pattern is checked when it is compiled, not here. */
const bounded = (Object.entries(limitCases) as [Name, LimitCase][]).filter(([name]) => name !== 'pattern');

test.each(bounded)('%s: allows the limit and refuses one more', (name, { write, most, at }) => {
  const limit = limits[name];
  const allowed = most ?? limit.most;
  expect(errorsIn(write(allowed))).toEqual([]);
  const text = write(allowed + 1);
  const [error] = errorsIn(text);
  expect(error?.message).toBe(limit.message);
  expect(text.slice(error?.from).slice(0, at.length)).toBe(at);
});

const chain = (count: number): string =>
  `let a0 = 1; ${repeated(count, '; ', index => `let a${index + 1} = a${index} + 1`)}; print a${count}`;
const doubled = (count: number): string =>
  `let a0 = 1; ${repeated(count, '; ', at => `let a${at + 1} = iff(true, a${at}, a${at})`)}; print a${count}`;
const doubledTable = (count: number): string =>
  `let a0 = web; ${repeated(count, '; ', at => `let a${at + 1} = a${at} | union a${at}`)}; a${count}`;

test.each<readonly [name: string, write: (count: number) => string, most: number, limit: Name]>([
  ['terms of a sum', count => `print ${repeated(count, '+', () => '1')}`, 200, 'expression'],
  [
    'terms of a search',
    count => `web | search ${repeated(count, ' and ', at => `"a${at}"`)}`,
    990,
    'expression',
  ],
  ['minus signs', count => `print ${'- '.repeat(count)}1`, 190, 'expression'],
  ['properties', count => `web | project a = attributes${'.b'.repeat(count)}`, 190, 'expression'],
  ['arguments', count => `print strcat(${repeated(count, ',', at => `'${at}'`)})`, 10_000, 'items'],
  ['elements', count => `print dynamic([${repeated(count, ',', at => `${at}`)}])`, 10_000, 'items'],
  ['keys', count => `print dynamic({${repeated(count, ',', at => `k${at}:1`)}})`, 10_000, 'items'],
  ['fields', count => `web | project ${repeated(count, ',', at => `f${at}=1`)}`, 10_000, 'items'],
  ['names of let', count => `let ${'n'.repeat(count)} = 1; print ${'n'.repeat(count)}`, 4_000, 'name'],
  ['lookups', count => `web ${'| lookup (web) on status'.repeat(count)}`, 64, 'joins'],
  ['let values, each using the previous one', chain, 160, 'expression'],
  ['let values, each using the previous one twice', doubled, 12, 'nodes'],
  ['let tables, each using the previous one twice', doubledTable, 6, 'tables'],
  [
    'let tables, each using the previous one',
    count =>
      `let a0 = web; ${repeated(count, '; ', at => `let a${at + 1} = a${at} | where status > 1`)}; a${count}`,
    290,
    'stages',
  ],
])('the limit on %s is enforced and reported once', (_, write, most, limit) => {
  expect(errorsIn(write(most))).toEqual([]);
  const [first, ...further] = errorsIn(write(most * 4)).map(({ message }) => message);
  expect(first).toBe(limits[limit].message);
  expect(further).not.toContain(first);
});

test('parsing continues after malformed arguments', () => {
  expect(errorsIn("print strlen('a' 'b'), nowhere").map(({ message }) => message)).toEqual([
    "expected `,` or `)` in the arguments of `strlen`, found `'b'`",
    'unknown field `nowhere`',
  ]);
});

test('a message truncates a long name', () => {
  const [error] = errorsIn(`${'n'.repeat(3_000)} | count`);
  expect(error?.message).toBe(`unknown dataset \`${'n'.repeat(79)}…\``);
});

test('a pipeline of empty stages is parsed up to the limit', () => {
  const errors = errorsIn(`print 1 ${'|'.repeat(20_000)}`);
  expect(errors).toHaveLength(limits.stages.most + 1);
  expect(errors.at(-1)?.message).toBe(limits.stages.message);
});

test('a pipeline over the limit is reported once, and the rest is parsed', () => {
  const long = `web ${'| where status > 1'.repeat(limits.stages.most + 1)}`;
  const messages = (apl: string) => errorsIn(apl).map(({ message }) => message);
  expect(messages(`let a = ${long} | nope; nowhere`)).toEqual([
    limits.stages.message,
    'unknown dataset `nowhere`',
  ]);
  expect(messages(`print toscalar(${long} | count), 1`)).toEqual([limits.stages.message]);
  expect(messages(`web | join (${long} | take 5) on status`)).toEqual([limits.stages.message]);
});
