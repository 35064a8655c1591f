import { expect, test } from 'vitest';
import {
  clauseWords,
  operators,
  operatorWords,
  sources,
} from '../../../../kernel/apl/operators/operator-rows.js';
import { parseQuery } from '../../../../kernel/apl/syntax/parse.js';
import { tokenize } from '../../../../kernel/apl/syntax/tokens/lexer.js';

/** Words of the grammar other than operators, sources and clauses. */
const others = ['and', 'or', 'in', 'has', 'asc', 'desc', 'nulls', 'first', 'last', 'let', 'to', 'regex'];
const more = [
  'let n = 3; print n',
  'web | order by x | take 1',
  'externaldata (line:string) ["https://example.com/a.csv"]',
  'web | where a and b or c | sort by x asc nulls first, y desc nulls last',
  'web | where uri matches regex "x" and host has "y" and status in (200, 204)',
];

const words = new Set([...clauseWords, ...others, ...Object.keys(sources), ...operatorWords]);
const rows = [...Object.values(operators), ...Object.values(sources)];
const examples = [...rows.flatMap(row => ('example' in row ? [row.example.apl] : [])), ...more];

/** Examples with one word of the grammar in capitals, except names of calls and results. */
const written = examples.flatMap(apl =>
  tokenize(apl)
    .filter(({ kind, text, to }) => kind === 'word' && words.has(text) && !/^(?:\(\)| =)/.test(apl.slice(to)))
    .map(({ from, to, text }) => ({
      apl,
      text,
      cell: apl.slice(0, from) + text.toUpperCase() + apl.slice(to),
    })),
);

test('a keyword in capitals is the only error reported, with its spelling', () => {
  const unlike = written.flatMap(({ apl, cell }) => {
    const [first, ...rest] = parseQuery(cell).diagnostics;
    if (first === undefined) return [{ cell, said: 'nothing' }];
    const { from, to, message, instead = '' } = first;
    const isSaid = message === `\`${cell.slice(from, to)}\` is written \`${apl.slice(from, to)}\` in APL`;
    const mended = cell.slice(0, from) + instead + cell.slice(to);
    return isSaid && mended === apl && rest.length === 0 ? [] : [{ cell, said: message, mended }];
  });
  expect(unlike).toEqual([]);
  const single = [...words].filter(word => /^\w+$/.test(word));
  expect(single.filter(word => !written.some(({ text }) => text === word))).toEqual([]);
});

test('a dataset may have a capitalized source keyword as its name', () => {
  const found = ['Search', 'Search | count', 'union Search, Range'].map(apl => parseQuery(apl).diagnostics);
  expect(found).toEqual([[], [], []]);
});
