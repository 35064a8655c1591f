/**
 * Mutates one position of the code at a time, in a copy of the project, and runs the tests that mirror its file, then those of its
 * folder, and finally the type check: a mutation that nothing detects is a survivor. `npm run mutate -- kernel/api --sample 100
 * --seed 1`.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
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
import { root } from '../process.mjs';
import { mutationsOf } from './changes.mjs';
import { Runner } from './runner.mjs';

/** @typedef {import('./changes.mjs').Mutation} Mutation */
/** @typedef {import('./runner.mjs').Outcome} Outcome */

/** A mutation that makes a loop endless must not block the rest: tests may take this many times as long as without one. */
const TIME_LIMIT_FACTOR = 4;

/** On a busy machine, tests take longer even without an endless loop. */
const LEAST_TIME_LIMIT_MS = 60_000;

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
 * @param {string[]} paths files and folders to mutate
 * @param {number} sample number of mutations
 * @param {number} seed of the selection
 * @param {string[]} tests the tests to run instead of those of the mirrored folders
 */
async function main(paths, sample, seed, tests) {
  if (paths.length === 0) throw new Error('Name a file or a folder of kernel/.');
  const found = paths.flatMap(filesBelow).flatMap(mutationsOf);
  const chosen = shuffled(found, seed).slice(0, sample);
  const copy = copyOfProject();
  const runner = new Runner(copy);
  const stages = (/** @type {string} */ file) => (tests.length > 0 ? [tests] : stagesOf(file));
  /** @type {Record<Outcome, Mutation[]>} */
  const outcomes = { noticed: [], 'by types': [], survived: [], 'time limit': [] };
  try {
    const started = performance.now();
    const whole = [...new Set(chosen.flatMap(({ file }) => stages(file).flat()))];
    if ((await runner.run([], whole)) !== 'survived') throw new Error('The tests fail without a change.');
    if (!(await passesTypes(copy))) throw new Error('The type check fails without a change.');
    const limitMs = Math.max(LEAST_TIME_LIMIT_MS, TIME_LIMIT_FACTOR * (performance.now() - started));
    for (const [index, mutation] of chosen.entries()) {
      const outcome = await outcomeOf(runner, copy, mutation, stages(mutation.file), limitMs);
      outcomes[outcome].push(mutation);
      console.log(`${index + 1}/${chosen.length} ${outcome.padEnd(10)} ${described(mutation)}`);
    }
  } finally {
    runner.end();
    rmSync(copy, { recursive: true });
  }
  report(outcomes, chosen.length, found.length);
}

/**
 * @param {Record<Outcome, Mutation[]>} outcomes
 * @param {number} chosen number of mutations made
 * @param {number} places number of possible mutations
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
 * Returns the stages to run, one after the other, until a test fails: the mirrored test file, if there is one, then the mirrored folder or
 * the nearest existing one above it, then those above that. The language also has the golden queries, which define its meaning, and
 * finally all its tests, since the parser and the rows of the operators feed completion and hover. Changes to plans show in their SQL.
 * @param {string} path
 * @returns {string[][]}
 */
function stagesOf(path) {
  const mirrored = path
    .replace(/^kernel/, 'test')
    .replace(/^labextension\/src/, 'test/labextension')
    .replace(/\.ts$/, '.test.ts');
  const file = statSync(join(root, mirrored), { throwIfNoEntry: false })?.isFile() ? [[mirrored]] : [];
  const folder = folderAbove(mirrored);
  // Files directly in `kernel/` are used by all folders.
  if (folder === 'test') return [...file, ['test/result/', 'test/notebook/']];
  if (!path.startsWith('kernel/apl/')) return [...file, ...foldersFrom(folder).map(each => [`${each}/`])];
  const sql = path.startsWith('kernel/apl/plan/') ? ['test/local/sql/'] : [];
  return [...file, [`${folder}/`, 'test/golden.test.ts'], ['test/apl/', ...sql]];
}

/**
 * @param {string} folder
 * @returns {string[]} it and those above it, up to `test/result` and the like, and in the local service up to `test/local/store`
 */
function foldersFrom(folder) {
  const last = folder.startsWith('test/local/') ? 3 : 2;
  return folder.split('/').length > last ? [folder, ...foldersFrom(dirname(folder))] : [folder];
}

/**
 * @param {string} path
 * @returns {string} the nearest folder above that exists
 */
function folderAbove(path) {
  const folder = dirname(path);
  return statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()
    ? folder
    : folderAbove(folder);
}

/** @returns {string} a directory with the files of the project that git tracks or would add, sharing its packages */
function copyOfProject() {
  const copy = mkdtempSync(join(tmpdir(), 'apl-mutate-'));
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files.filter(each => existsSync(join(root, each))))
    cpSync(join(root, file), join(copy, file), { recursive: true });
  for (const packages of ['node_modules', 'labextension/node_modules'].filter(each =>
    existsSync(join(root, each)),
  ))
    symlinkSync(join(root, packages), join(copy, packages));
  return copy;
}

/**
 * @param {Runner} runner
 * @param {string} copy
 * @param {Mutation} mutation
 * @param {readonly (readonly string[])[]} stages
 * @param {number} limitMs of each stage
 * @returns {Promise<Outcome>}
 */
async function outcomeOf(runner, copy, { file, start, end, text }, stages, limitMs) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, source.slice(0, start) + text + source.slice(end));
  try {
    for (const tests of stages) {
      const outcome = await runner.run([path], tests, limitMs);
      if (outcome !== 'survived') return outcome;
    }
    return (await passesTypes(copy)) ? 'survived' : 'by types';
  } finally {
    writeFileSync(path, source);
    runner.changed(path);
  }
}

/**
 * @param {string} copy
 * @returns {Promise<boolean>} whether the types check; the check is incremental
 */
function passesTypes(copy) {
  const options = ['--noEmit', '--incremental', '--tsBuildInfoFile', join(copy, 'types.json')];
  return new Promise(settle => {
    const program = join(root, 'node_modules', '.bin', 'tsc');
    spawn(program, options, { cwd: copy, stdio: 'ignore' }).on('close', code => settle(code === 0));
  });
}

/**
 * Shuffles deterministically for a seed.
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
