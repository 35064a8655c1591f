import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kernel = join(dirname(dirname(fileURLToPath(import.meta.url))), 'kernel');

/**
 * The files of kernel/ that import each other in a circle, imports of types included. Each of these is one recursion of the
 * language: an expression holds expressions; a pipeline holds sources, which hold pipelines.
 */
const ALLOWED: readonly (readonly string[])[] = [
  [
    'apl/bind/expressions/aggregate',
    'apl/bind/expressions/binary',
    'apl/bind/expressions/call',
    'apl/bind/expressions/expression',
    'apl/bind/expressions/name',
  ],
  ['apl/bind/join', 'apl/bind/operators', 'apl/bind/pipeline', 'apl/bind/source'],
  [
    'apl/syntax/readers/clauses',
    'apl/syntax/readers/dynamic',
    'apl/syntax/readers/expression',
    'apl/syntax/readers/items',
    'apl/syntax/readers/pipeline',
    'apl/syntax/readers/search',
    'apl/syntax/readers/source',
  ],
];

test('files import each other in a circle only where the language recurs', () => {
  expect(circles(importsByFile())).toEqual(ALLOWED);
});

test('a circle is found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ]);
  expect(circles(graph)).toEqual([['a', 'b', 'c']]);
});

/** Each file of kernel/, without its ending, and those that it imports. */
function importsByFile(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(kernel, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name));
  return new Map(files.map(path => [nameOf(path), importsOf(path)]));
}

function nameOf(path: string): string {
  return relative(kernel, path).replace(/\.[jt]s$/, '');
}

function importsOf(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const paths = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    ([, specifier = '']) => specifier,
  );
  return paths.map(specifier => nameOf(join(dirname(path), specifier)));
}

/** The sets of files that reach each other, sorted; Tarjan's algorithm. */
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
