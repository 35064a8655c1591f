import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environment } from '../environment.js';

/*
 * Queries of other languages, each followed by its indented translation or, after `!`, by the reason that it has none.
 * `UPDATE_GOLDEN=1 npx vitest run --project fast test/apl/hints` rewrites them from the current code.
 */

const update = process.env.UPDATE_GOLDEN === '1';
const languages = {
  esql: 'ES|QL',
  insights: 'CloudWatch Logs Insights',
  sql: 'SQL',
  spl: 'SPL',
  logql: 'LogQL',
  promql: 'PromQL',
  lucene: 'Lucene',
  pandas: 'pandas',
};

describe.each(Object.entries(languages))('%s', (file, language) => {
  const url = new URL(`pairs/${file}.txt`, import.meta.url);
  const pairs = readPairs(readFileSync(url, 'utf8'));

  if (update)
    test('writes the translations', () =>
      writeFileSync(url, pairs.map(({ query }) => `${query}\n${shown(query, language)}\n`).join('\n')));
  else test.each(pairs)('$query', ({ query, expected }) => expect(shown(query, language)).toBe(expected));

  test.each(pairs)('the translation of $query is valid', ({ query }) => {
    const apl = translation(query)?.instead ?? 'print 1';
    expect(errors(apl)).toEqual([]);
  });
});

test('parses any prefix of a query of another language', () => {
  for (const file of Object.keys(languages)) {
    const pairs = readPairs(readFileSync(new URL(`pairs/${file}.txt`, import.meta.url), 'utf8'));
    for (const { query } of pairs)
      for (let length = 1; length < query.length; length += 1)
        expect(parseQuery(query.slice(0, length)).query.statements.length).toBeGreaterThan(0);
  }
});

test.each([
  `SELECT ${'('.repeat(2000)}1${')'.repeat(2000)}`,
  `SELECT ${'select '.repeat(2000)}`,
  `SELECT ${'case when '.repeat(2000)}`,
  `SELECT ${'!'.repeat(2000)}a FROM t`,
  `SELECT ${'- '.repeat(2000)}a FROM t`,
  `index=a ${'('.repeat(2000)}`,
  `index=a ${'NOT '.repeat(2000)}b`,
  `a:b AND ${'('.repeat(2000)}c`,
  `a:b AND ${'- '.repeat(2000)}c`,
  `${'rate('.repeat(2000)}{a="b"}[5m]`,
])('a deeply nested query gets a hint', text => {
  expect(translation(text)?.hint).toBe('It is nested too deeply to translate.');
});

function readPairs(text: string): readonly { readonly query: string; readonly expected: string }[] {
  return text
    .split(/\n+(?=\S)/)
    .map(part => {
      const [query = '', ...lines] = part.trimEnd().split('\n');
      return { query, expected: lines.join('\n') };
    })
    .filter(({ query }) => query !== '');
}

function translation(query: string) {
  const { diagnostics } = parseQuery(query);
  return diagnostics.find(({ code }) => code === 'other-language');
}

/** Returns the translation, or the hint if there is none. */
function shown(query: string, language: string): string {
  const found = translation(query);
  expect(found?.message).toBe(`this is ${language}, not APL`);
  const text = found?.instead ?? `! ${found?.hint}`;
  return text.replace(/^/gm, '  ');
}

/** Returns the errors of a translation over datasets of unknown fields. */
function errors(apl: string): readonly string[] {
  const { query, diagnostics } = parseQuery(apl);
  const open = {
    ...environment,
    schema: (name: string) => ({ name, fields: [{ name: '_time', type: 'datetime' as const }], open: true }),
  };
  const found = [...diagnostics, ...bind(query, apl, open).diagnostics];
  return found.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}
