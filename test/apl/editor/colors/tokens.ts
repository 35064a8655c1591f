import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aggregates } from '../../../../kernel/apl/catalog/aggregates.js';
import { everyFunction } from '../../../../kernel/apl/catalog/all-functions.js';
import { elements } from '../../../../kernel/apl/catalog/operator-entries.js';
import { aplParser } from '../../../../kernel/apl/editor/colors/highlight.js';
import { classes, type TokenClass } from '../../../../kernel/apl/editor/colors/lexical.js';
import { root } from '../../../setup/sources.js';

/** A token with the class that JupyterLab colors it by. */
export interface ClassedToken {
  readonly from: number;
  readonly to: number;
  readonly is: TokenClass;
}

/** Returns the code cells of the example notebooks. */
export function exampleCells(): readonly string[] {
  const folder = join(root, 'examples');
  return readdirSync(folder)
    .filter(name => name.endsWith('.ipynb'))
    .flatMap(name => JSON.parse(readFileSync(join(folder, name), 'utf8')).cells)
    .filter(cell => cell.cell_type === 'code')
    .map(({ source }) => (Array.isArray(source) ? source.join('') : source));
}

/** Returns the examples of the catalog. */
export function catalogExamples(): readonly string[] {
  return [...elements, ...everyFunction, ...aggregates].flatMap(({ example }) => example?.apl ?? []);
}

const classOfLeaf = new Map<string, TokenClass>(
  (Object.keys(classes) as TokenClass[]).flatMap(name =>
    classes[name].leaves.map((leaf): [string, TokenClass] => [leaf, name]),
  ),
);

const parser = aplParser();

/** Returns the tokens of a text as JupyterLab highlights them; throws for a leaf without a class. */
export function tokensOf(text: string): readonly ClassedToken[] {
  const found: ClassedToken[] = [];
  parser.parse(text).iterate({
    enter: ({ node, name, from, to }) => {
      if (node.firstChild !== null || to === from) return;
      const is = classOfLeaf.get(name);
      if (is === undefined) throw new Error(`no class for the leaf ${name}`);
      found.push({ from, to, is });
    },
  });
  return found;
}
