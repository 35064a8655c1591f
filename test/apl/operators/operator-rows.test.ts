import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import { elementNamed } from '../../../kernel/apl/catalog/operator-entries.js';
import { aplParser } from '../../../kernel/apl/editor/colors/highlight.js';
import { complete } from '../../../kernel/apl/editor/completion/complete.js';
import { referencePage } from '../../../kernel/apl/editor/help/help-reference.js';
import { hover } from '../../../kernel/apl/editor/help/hover.js';
import { format } from '../../../kernel/apl/editor/layout/layout-format.js';
import type { Clause, OperatorRow } from '../../../kernel/apl/operators/grammar.js';
import { operators, optionsOf, sources } from '../../../kernel/apl/operators/operator-rows.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environment } from '../environment.js';

/** An operator under one of its words: its documentation and its clauses. */
interface Word {
  readonly kind: string;
  readonly word: string;
  readonly usage: readonly string[];
  readonly example: string | undefined;
  readonly clauses: readonly Clause[];
}

const words: readonly Word[] = Object.entries(operators).flatMap(
  ([kind, row]: [string, OperatorRow]): Word[] => {
    const { clauses } = row;
    const main = { kind, word: kind, usage: row.usage, example: row.example?.apl, clauses };
    const also = Object.entries(row.also ?? {}).map(([word, { usage, example }]) => ({
      ...{ kind, word, usage, clauses },
      example: example?.apl,
    }));
    return [main, ...also];
  },
);
const old = Object.entries(operators).flatMap(([kind, row]: [string, OperatorRow]) =>
  (row.old ?? []).map(word => [word, kind] as const),
);
const options = words.flatMap(({ kind, word, clauses }) =>
  Object.keys(optionsOf(kind)).map(option => ({ kind, word, option, clauses })),
);

const goldenFolder = new URL('../../golden/', import.meta.url);
const golden = readdirSync(goldenFolder, { encoding: 'utf8', recursive: true })
  .filter(name => name.endsWith('.txt'))
  .flatMap(name => readFileSync(new URL(name, goldenFolder), 'utf8').match(/\| [a-z].*/g) ?? []);

const SENTENCES = /^[A-Z`].*\.$/;

/** Returns the completions at the end of a text. */
function offered(text: string): string[] {
  return complete(text, text.length, environment).items.map(({ label }) => label);
}

/** Returns the query up to the position of the operator's options. */
function beforeOptions(word: string, clauses: readonly Clause[]): string {
  const [first] = clauses;
  if (first?.takes === 'word') return `web | ${word} ${first.words?.[0]} with (`;
  return first?.takes === 'options' ? `web | ${word} ` : `web | ${word} method as (a:long) with (`;
}

/** Returns the texts of all nodes with this name in the highlighting tree. */
function colored(text: string, name: string): string[] {
  const found: string[] = [];
  aplParser()
    .parse(text)
    .iterate({ enter: node => void (node.name === name && found.push(text.slice(node.from, node.to))) });
  return found;
}

describe.each(words)('$word', ({ kind, word, usage, example, clauses }) => {
  test('parses to a node of its kind', () => {
    const [statement] = parseQuery(`T | ${word}`).query.statements;
    const node = statement?.kind === 'query' ? statement.pipeline.operators[0] : undefined;
    expect(node?.kind).toBe(kind);
  });

  test('is completed after a pipe and documented', () => {
    expect(offered('web | ')).toContain(word);
    expect(hover(`web | ${word}`, 7, environment)?.markdown).toContain(usage[0]);
    expect(elementNamed(word)?.usage).toEqual(usage);
    expect(elementNamed(word)?.doc).toMatch(SENTENCES);
    expect(referencePage()).toContain(`### \`${word}\``);
  });

  test('shows every word of its clauses in its usage', () => {
    const shown = usage.join('\n');
    const expected = [word, ...clauses.flatMap(clause => clause.word ?? [])];
    expect(expected.filter(each => !shown.includes(each))).toEqual([]);
  });

  test('has an example that is valid, highlighted and formatted idempotently', () => {
    const text = example ?? '';
    const parsed = parseQuery(text);
    const { diagnostics } = bind(parsed.query, text, environment);
    expect([...parsed.diagnostics, ...diagnostics].filter(each => each.severity === 'error')).toEqual([]);
    expect(colored(text, 'Stage')).toContain(word);
    expect(format(format(text))).toBe(format(text));
  });

  test('has queries in test/golden', () => {
    expect(golden.filter(line => `${line} `.startsWith(`| ${word} `)).length).toBeGreaterThan(0);
  });

  test('completes its first clause, or the next operator', () => {
    const [first] = clauses;
    const offers = offered(`web | ${word} `);
    if (first === undefined) expect(offers).toContain('where');
    else expect(offers.length > 0).toBe(first.offers !== 'new names');
  });
});

test.each(old)('%s is an old spelling of %s', (word, kind) => {
  const { query, diagnostics } = parseQuery(`T | ${word} a`);
  const [statement] = query.statements;
  expect(statement?.kind === 'query' && statement.pipeline.operators[0]?.kind).toBe(kind);
  expect(diagnostics.map(each => [each.code, each.hint])).toEqual([['old-spelling', `Write \`${kind}\`.`]]);
});

describe.each(options)('option $option of $word', ({ kind, word, option, clauses }) => {
  const row = optionsOf(kind)[option];
  const before = beforeOptions(word, clauses);

  test('is completed with its values and documented', () => {
    expect(row?.doc).toMatch(SENTENCES);
    expect(offered(before)).toContain(`${option}=`);
    if (row?.takes === 'word') expect(offered(`${before}${option}=`)).toEqual(row.values);
  });

  test('accepts its values and refuses others', () => {
    const codes = (text: string): string[] =>
      parseQuery(text)
        .diagnostics.map(each => each.code)
        .filter(code => code.endsWith('option'));
    for (const value of [...(row?.values ?? []), ...Object.keys(row?.synonyms ?? {})])
      expect(codes(`${before}${option}=${value}`)).toEqual([]);
    const unused = row?.unused === undefined ? [] : ['unknown-option'];
    expect(codes(`${before}${option}=nonsense`)).toEqual(row?.takes === 'word' ? ['bad-option'] : unused);
    expect(codes(`${before}${option}s=x 'y'`)).toEqual(['unknown-option']);
  });
});

test('a word that cannot be a name is not parsed as an option', () => {
  const messages = (text: string): string[] => parseQuery(text).diagnostics.map(({ message }) => message);
  expect(messages('T | join !in = 1')).toContain('expected a dataset here, found `!in`');
  expect(messages('T | parse-kv a as (x:string) with (!in=1)')).toContain(
    'expected `)` to close `with (`, found `!in`',
  );
});

test('distinguishes a misspelled option from the name of a result', () => {
  const codes = (text: string): string[] => parseQuery(text).diagnostics.map(({ code }) => code);
  expect(codes('T | mv-expand kinds=bag x')).toEqual(['unknown-option']);
  expect(codes('T | mv-expand kinds = bag')).toEqual([]);
  expect(codes('T | search knd=case_sensitive "x"')).toEqual(['unknown-option']);
  expect(codes('T | search level="x"')).toEqual(['single-equals']);
});

test.each(Object.keys(sources))('the source %s is completed and documented', word => {
  expect(offered('')).toContain(word);
  expect(elementNamed(word)?.name.replace(' (tabular)', '')).toBe(word);
  expect(elementNamed(word)?.doc).toMatch(SENTENCES);
  for (const option of Object.values(optionsOf(word))) expect(option.doc).toMatch(SENTENCES);
});
