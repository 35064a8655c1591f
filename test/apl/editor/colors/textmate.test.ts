import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, test } from 'vitest';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';
import { classes, type TokenClass } from '../../../../kernel/apl/editor/colors/lexical.js';
import { scopeOf, textMateGrammar, textMateScope } from '../../../../kernel/apl/editor/colors/textmate.js';
import { catalogExamples, exampleCells, tokensOf } from './tokens.js';

const classOfScope = new Map(
  (Object.keys(classes) as TokenClass[]).map((name): [string, TokenClass] => [scopeOf(name), name]),
);

let grammar: textmate.IGrammar;

beforeAll(async () => {
  const wasm = createRequire(import.meta.url).resolve('vscode-oniguruma/release/onig.wasm');
  await oniguruma.loadWASM(readFileSync(wasm));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: patterns => new oniguruma.OnigScanner(patterns),
      createOnigString: text => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(JSON.stringify(textMateGrammar()), 'apl.json'),
  });
  grammar = (await registry.loadGrammar(textMateScope)) ?? expect.fail('no grammar');
});

test('every class has its own scope', () => {
  expect(classOfScope.size).toBe(Object.keys(classes).length);
});

describe('the TextMate grammar classifies tokens as JupyterLab does', () => {
  test('in the example notebooks', () => {
    expect(exampleCells().flatMap(differences)).toEqual([]);
  });

  test('in the examples of the catalog', () => {
    // Telling apart a name that is a keyword elsewhere, or an operator after a bracket, takes a parser.
    expect(catalogExamples().flatMap(differences)).toEqual([
      'top: keyword, not name',
      'limit: name, not keyword',
    ]);
  });

  test.each([
    ["logs | where größe > 5 and 数 == 'x'"],
    ['logs\n| extend msg = ```two\nlines``` | count'],
    ['logs | where a == 12abc'],
    ['logs | where a /* other\nlanguage */ == 1'],
    ['%%on prod\n// @viz bar\nlogs | where t > ago(1h) // why'],
    ['logs | where a == h"secret" or a == @\'c:\\dir\' or b == “typographic”'],
    ['logs | where a has_any ("x") and b !in~ ("y") | project-away c*'],
  ])('%j', text => {
    expect(differences(text)).toEqual([]);
  });
});

/** Returns the tokens that the grammar classifies differently, each as `text: JupyterLab's class, not the grammar's class`. */
function differences(text: string): readonly string[] {
  const found = classesOf(text);
  return tokensOf(text).flatMap(({ from, to, is }) => {
    const others = new Set(found.slice(from, to).filter(each => each !== is && each !== 'line break'));
    return others.size === 0 ? [] : [`${text.slice(from, to)}: ${is}, not ${[...others].join(', ')}`];
  });
}

/** Returns the class of each character. */
function classesOf(text: string): readonly string[] {
  let stack = textmate.INITIAL;
  return text.split('\n').flatMap(line => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    const row = tokens.flatMap(({ startIndex, endIndex, scopes }) =>
      Array<string>(endIndex - startIndex).fill(classOfScope.get(scopes.at(-1) ?? '') ?? 'nothing'),
    );
    // The grammar sees a line break at the end of each line.
    return [...row.slice(0, line.length), 'line break'];
  });
}
