/**
 * Changes one place of the code at a time, in a copy of the project, and runs the tests that mirror its file, then those of
 * its folder, and at last the type check: a change that nothing notices is a survivor. `npm run mutate -- kernel/api --sample 100 --seed 1`.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAst } from 'vitest/node';
import { root } from './process.mjs';

/** @typedef {{ type: string, start: number, end: number, [key: string]: unknown }} Node */
/** @typedef {{ file: string, line: number, start: number, end: number, before: string, text: string, operator: string }} Mutation */
/** @typedef {'noticed' | 'by types' | 'survived' | 'time limit'} Outcome */

/** A change that makes a loop endless must not block the rest: tests may take this many times as long as without one. */
const PATIENCE = 4;

/** On a busy machine tests take longer without any endless loop. */
const LEAST_TIME_LIMIT_MS = 60_000;

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

/** Types do nothing, and texts of imports and of errors that are thrown are not behaviour. */
const SKIPPED =
  /^(TS(?!AsExpression|SatisfiesExpression|NonNull)|Import(?!Expression)|ExportAll|ThrowStatement)/;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true },
  },
});
await main(positionals, Number(values.sample), Number(values.seed), values.tests ?? []);

/**
 * @param {string[]} paths files and folders to change
 * @param {number} sample how many places
 * @param {number} seed of the choice of places
 * @param {string[]} tests the tests to run instead of those of the mirrored folders
 */
async function main(paths, sample, seed, tests) {
  if (paths.length === 0) throw new Error('Name a file or a folder of kernel/.');
  const found = paths.flatMap(filesBelow).flatMap(mutationsOf);
  const chosen = shuffled(found, seed).slice(0, sample);
  const copy = copyOfProject();
  const stages = (/** @type {string} */ file) => (tests.length > 0 ? [tests] : stagesOf(file));
  /** @type {Record<Outcome, Mutation[]>} */
  const outcomes = { noticed: [], 'by types': [], survived: [], 'time limit': [] };
  try {
    const started = performance.now();
    const whole = [...new Set(chosen.flatMap(({ file }) => stages(file).flat()))];
    if ((await run(copy, whole, Number.POSITIVE_INFINITY)) !== 'survived')
      throw new Error('The tests fail without a change.');
    const limitMs = Math.max(LEAST_TIME_LIMIT_MS, PATIENCE * (performance.now() - started));
    for (const [index, mutation] of chosen.entries()) {
      const outcome = await outcomeOf(copy, mutation, stages(mutation.file), limitMs);
      outcomes[outcome].push(mutation);
      console.log(`${index + 1}/${chosen.length} ${outcome.padEnd(10)} ${described(mutation)}`);
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
  report(outcomes, chosen.length, found.length);
}

/**
 * @param {Record<Outcome, Mutation[]>} outcomes
 * @param {number} chosen how many changes were made
 * @param {number} places how many could be made
 */
function report(outcomes, chosen, places) {
  const { survived, 'by types': refused, 'time limit': late } = outcomes;
  const noticed = chosen - survived.length;
  const share = ((100 * noticed) / Math.max(1, chosen)).toFixed(1);
  console.log(
    `\n${noticed} of ${chosen} changes noticed (${share} %), ${refused.length} of them by the type check alone, ${late.length} by the time limit; ${places} places in all`,
  );
  for (const mutation of late) console.log(`time limit ${described(mutation)}`);
  for (const mutation of survived) console.log(`survived   ${described(mutation)}`);
}

/** @param {Mutation} mutation */
function described({ file, line, before, text, operator }) {
  const short = (/** @type {string} */ code) => {
    const one = code.replace(/\s+/g, ' ');
    return one.length > 80 ? `${one.slice(0, 80)}…` : one;
  };
  return `${file}:${line} ${operator}: ${short(before)}  ->  ${short(text)}`;
}

/** @param {string} path */
function filesBelow(path) {
  const full = join(root, path);
  if (statSync(full).isFile()) return [path];
  return readdirSync(full, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(root, join(entry.parentPath, entry.name)));
}

/**
 * What is run, one after the other, until a test fails: the mirrored test file, where there is one, then the mirrored folder or
 * the nearest above it that there is. What the language means is in the golden queries.
 * @param {string} path
 * @returns {string[][]}
 */
function stagesOf(path) {
  const mirrored = path.replace(/^kernel/, 'test').replace(/\.ts$/, '.test.ts');
  const file = statSync(join(root, mirrored), { throwIfNoEntry: false })?.isFile() ? [[mirrored]] : [];
  const folder = [`${folderAbove(mirrored)}/`];
  return [...file, path.startsWith('kernel/apl/') ? [...folder, 'test/golden.test.ts'] : folder];
}

/**
 * @param {string} path
 * @returns {string} the nearest folder above that there is
 */
function folderAbove(path) {
  const folder = dirname(path);
  return statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()
    ? folder
    : folderAbove(folder);
}

/** @returns {string} a directory with the code and tests of the project, sharing its packages */
function copyOfProject() {
  const copy = mkdtempSync(join(tmpdir(), 'apl-mutate-'));
  for (const part of ['kernel', 'test', 'docs', 'examples', 'scripts', 'bench', 'labextension/src']) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  for (const file of ['package.json', 'README.md', 'vitest.config.ts', 'tsconfig.json']) {
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/**
 * @param {string} copy
 * @param {Mutation} mutation
 * @param {readonly (readonly string[])[]} stages
 * @param {number} limitMs of each stage
 * @returns {Promise<Outcome>}
 */
async function outcomeOf(copy, { file, start, end, text }, stages, limitMs) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, source.slice(0, start) + text + source.slice(end));
  try {
    for (const tests of stages) {
      const outcome = await run(copy, tests, limitMs);
      if (outcome !== 'survived') return outcome;
    }
    return (await passes(copy, [join(root, 'node_modules', '.bin', 'tsc'), '--noEmit']))
      ? 'survived'
      : 'by types';
  } finally {
    writeFileSync(path, source);
  }
}

/**
 * @param {string} copy
 * @param {readonly string[]} tests
 * @param {number} limitMs
 * @returns {Promise<Outcome>}
 */
function run(copy, tests, limitMs) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const projects = ['--project', 'fast', '--project', 'service'];
  const args = ['run', ...projects, '--bail', '1', '--reporter', 'dot', ...tests];
  return new Promise(settle => {
    const child = spawn(process.execPath, [vitest, ...args], { cwd: copy, stdio: 'ignore', detached: true });
    let late = false;
    const kill = () => {
      late = true;
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    };
    const timer = Number.isFinite(limitMs) ? setTimeout(kill, limitMs) : undefined;
    child.on('close', code => {
      clearTimeout(timer);
      if (late) settle('time limit');
      else settle(code === 0 ? 'survived' : 'noticed');
    });
  });
}

/**
 * @param {string} cwd
 * @param {readonly [string, ...string[]]} command a program and its arguments
 * @returns {Promise<boolean>} whether it ends without an error
 */
function passes(cwd, [program, ...args]) {
  return new Promise(settle => {
    spawn(program, args, { cwd, stdio: 'ignore' }).on('close', code => settle(code === 0));
  });
}

/**
 * Every change that can be made to a file.
 * @param {string} file
 * @returns {Mutation[]}
 */
function mutationsOf(file) {
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

/**
 * A shuffle that is the same for the same seed.
 * @template T
 * @param {readonly T[]} items
 * @param {number} seed
 * @returns {T[]}
 */
function shuffled(items, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return items
    .map(item => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
