import { expect, test } from 'vitest';
import { sourcesIn, target, withoutEnding } from './setup/sources.js';

/**
 * Files of kernel/ and labextension/ that import each other in a cycle, type imports included. Each cycle is one recursion of the language:
 * an expression contains expressions, and a pipeline contains sources, which contain pipelines.
 */
const ALLOWED: readonly (readonly string[])[] = [
  [
    'kernel/apl/bind/bind-operators',
    'kernel/apl/bind/bind-pipeline',
    'kernel/apl/bind/bind-source',
    'kernel/apl/bind/join',
  ],
  [
    'kernel/apl/bind/expressions/aggregate',
    'kernel/apl/bind/expressions/binary',
    'kernel/apl/bind/expressions/bind-expression',
    'kernel/apl/bind/expressions/bind-list',
    'kernel/apl/bind/expressions/call',
    'kernel/apl/bind/expressions/name',
  ],
  [
    'kernel/apl/syntax/readers/clauses',
    'kernel/apl/syntax/readers/dynamic',
    'kernel/apl/syntax/readers/read-expression',
    'kernel/apl/syntax/readers/read-items',
    'kernel/apl/syntax/readers/read-pipeline',
    'kernel/apl/syntax/readers/read-search',
    'kernel/apl/syntax/readers/read-source',
  ],
];

test('files import each other in cycles only for recursion in the language', () => {
  expect(circles(importsByFile('kernel', 'labextension/src'))).toEqual(ALLOWED);
});

test('finds a cycle', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ]);
  expect(circles(graph)).toEqual([['a', 'b', 'c']]);
});

/** Returns each file of these folders, without its extension, and the files that it imports. */
function importsByFile(...folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const sources = sourcesIn(...folders);
  return new Map(
    sources.map(source => [
      withoutEnding(source.path),
      source.imports.filter(name => name.startsWith('.')).map(name => target(source, name)),
    ]),
  );
}
/** Returns the sets of files that reach each other, sorted (Tarjan's algorithm). */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const indexes = new Map<string, number>();
  const lows = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const index = indexes.size;
    indexes.set(file, index);
    stack.push(file);
    let low = index;
    for (const next of graph.get(file) ?? []) {
      if (!indexes.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, lows.get(next) ?? indexes.get(next) ?? low);
      lows.set(file, low);
    }
    if (low === index) {
      const members = stack.splice(stack.indexOf(file));
      if (members.length > 1) found.push(members.sort());
    }
    return low;
  };
  for (const file of [...graph.keys()].sort()) if (!indexes.has(file)) visit(file);
  return found.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
}
