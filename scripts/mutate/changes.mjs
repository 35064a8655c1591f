import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';
import { root } from '../process.mjs';

/** @typedef {{ type: string, start: number, end: number, [key: string]: unknown }} Node */
/** @typedef {{ file: string, line: number, start: number, end: number, before: string, text: string, operator: string }} Mutation */

const SWAPS = new Map(
  Object.entries({
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '===': '!==',
    '!==': '===',
    '+': '-',
    '-': '+',
    '*': '/',
    '/': '*',
    '%': '*',
    '&': '|',
    '|': '&',
    '<<': '>>',
    '>>': '<<',
    '&&': '||',
    '||': '&&',
    '??': '&&',
  }),
);

/** Types have no effect at run time, and the strings of imports and of thrown errors are not behavior. */
const SKIPPED =
  /^(TS(?!AsExpression|SatisfiesExpression|NonNull)|Import(?!Expression)|ExportAll|ThrowStatement)/;

/**
 * Returns every mutation of a file.
 * @param {string} file
 * @returns {Mutation[]}
 */
export function mutationsOf(file) {
  const source = readFileSync(join(root, file), 'utf8');
  /** @type {Mutation[]} */
  const found = [];
  const add = (/** @type {Node} */ node, /** @type {string} */ operator, /** @type {string} */ text) => {
    const line = source.slice(0, node.start).split('\n').length;
    const { start, end } = node;
    found.push({ file, line, start, end, before: source.slice(start, end), operator, text });
  };
  const program = /** @type {Node} */ (/** @type {unknown} */ (parseAst(source, { lang: 'ts' })));
  visit(program, node => change(node, source, add));
  return found;
}

/**
 * @param {Node} node
 * @param {string} source
 * @param {(node: Node, operator: string, text: string) => void} add
 */
function change(node, source, add) {
  const text = (/** @type {unknown} */ part) =>
    source.slice(/** @type {Node} */ (part).start, /** @type {Node} */ (part).end);
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      add(/** @type {Node} */ (node.test), 'condition', `!(${text(node.test)})`);
      return;
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const swapped = SWAPS.get(String(node.operator));
      if (swapped === undefined) return;
      add(node, String(node.operator), `((${text(node.left)}) ${swapped} (${text(node.right)}))`);
      return;
    }
    case 'UnaryExpression':
      if (node.operator === '!') add(node, 'not', `(${text(node.argument)})`);
      return;
    case 'ExpressionStatement':
      add(node, 'statement', ';');
      return;
    case 'Literal':
      literal(node, add);
  }
}

/**
 * @param {Node} node
 * @param {(node: Node, operator: string, text: string) => void} add
 */
function literal(node, add) {
  const { value } = node;
  if (typeof value === 'number') add(node, 'number', String(value + 1));
  else if (typeof value === 'bigint') add(node, 'number', `${value + 1n}n`);
  else if (typeof value === 'boolean') add(node, 'boolean', String(!value));
  else if (typeof value === 'string') add(node, 'text', value === '' ? "'mutated'" : "''");
}

/**
 * @param {unknown} node
 * @param {(node: Node) => void} use
 */
function visit(node, use) {
  if (Array.isArray(node)) for (const each of node) visit(each, use);
  if (typeof node !== 'object' || node === null || !('type' in node)) return;
  if (SKIPPED.test(String(node.type)) || node.type === 'ImportExpression') return;
  use(/** @type {Node} */ (node));
  for (const [key, part] of Object.entries(node)) {
    const isName = (key === 'key' && !('computed' in node && node.computed)) || key === 'typeAnnotation';
    if (!isName && typeof part === 'object') visit(part, use);
  }
}
