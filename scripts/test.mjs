import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureBuild, installInto } from './build.mjs';
import { root, show } from './process.mjs';
import { ensureVenv, venvBin } from './python.mjs';

/** @typedef {{ passed: number, failed: number }} Tally */

const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name);
const reports = join(root, 'test-output');

/** Every stage in the order in which the whole run takes them; each can be run alone: `npm test -- lint fast`. */
const STAGES = new Map(
  Object.entries({
    types: () => together(command(bin('tsc'), ['--noEmit']), command(bin('tsc'), ['-p', 'labextension'])),
    unused: () => command(bin('knip'), ['--no-progress']),
    lint: () => command(bin('biome'), ['ci', '--error-on-warnings', '--colors=off', '.']),
    fast: () => vitest('fast'),
    build: () => step(() => ensureBuild(console.log)),
    service: () => vitest('service'),
    built: () => vitest('built'),
    faults: () => vitest('faults'),
    environments: () => together(environment('.venv', VENV), environment('.venv-lab42', VENV_LAB42)),
    jupyter: () => vitest('jupyter'),
    python: pytest,
    browser: () => vitest('browser'),
  }),
);

const GROUPS = new Map(
  Object.entries({ check: ['types', 'unused', 'lint', 'fast'], all: [...STAGES.keys()] }),
);

const VENV = ['scripts/requirements.txt', 'test/python/requirements.txt'];
const VENV_LAB42 = ['test/python/requirements-lab42.txt'];

await main(process.argv.slice(2));

/** @param {string[]} names stages or groups; none: everything */
async function main(names) {
  const wanted = (names.length > 0 ? names : ['all']).flatMap(name => GROUPS.get(name) ?? [name]);
  const unknown = wanted.filter(name => !STAGES.has(name));
  if (unknown.length > 0) {
    console.error(
      `No stage ${unknown.join(', ')}; there are: ${[...GROUPS.keys(), ...STAGES.keys()].join(', ')}`,
    );
    process.exit(2);
  }
  mkdirSync(reports, { recursive: true });
  const total = { passed: 0, failed: 0 };
  const table = [];
  for (const [name, stage] of [...STAGES].filter(([name]) => wanted.includes(name))) {
    console.log(`\n━━ ${name}`);
    const started = performance.now();
    const { passed, failed } = await stage();
    total.passed += passed;
    total.failed += failed;
    table.push({
      stage: name,
      passed,
      failed,
      seconds: Number(((performance.now() - started) / 1000).toFixed(1)),
    });
  }
  console.table(table);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

/** @param {Promise<Tally>[]} parts @returns {Promise<Tally>} the sum of what runs at the same time */
async function together(...parts) {
  const sum = { passed: 0, failed: 0 };
  for (const { passed, failed } of await Promise.all(parts)) {
    sum.passed += passed;
    sum.failed += failed;
  }
  return sum;
}

/** @param {string} program @param {string[]} args @returns {Promise<Tally>} one test: it exits with 0 */
async function command(program, args) {
  const code = await show(program, args);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** @param {() => Promise<unknown>} work @returns {Promise<Tally>} one test: it does not throw */
async function step(work) {
  try {
    await work();
    return { passed: 1, failed: 0 };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1 };
  }
}

/** @param {string} project @returns {Promise<Tally>} */
async function vitest(project) {
  const report = join(reports, `${project}.json`);
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await show(bin('vitest'), ['run', '--project', project, ...reporters], {
    env: testEnvironment(),
  });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  return tally(code, numPassedTests, numFailedTests);
}

/** @returns {Promise<Tally>} */
async function pytest() {
  const report = join(reports, 'python.xml');
  rmSync(report, { force: true });
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test/python', `--junitxml=${report}`];
  const code = await show(venvBin(join(root, '.venv'), 'python'), args, { env: testEnvironment() });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const count = (/** @type {string} */ name) =>
    Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(readFileSync(report, 'utf8'))?.[1] ?? 0);
  const failed = count('failures') + count('errors');
  return tally(code, count('tests') - failed - count('skipped'), failed);
}

/** A runner that failed without a failed test (a file that does not load, no test at all) counts as one failure. */
function tally(/** @type {number} */ code, /** @type {number} */ passed, /** @type {number} */ failed) {
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

/** @param {string} directory @param {readonly string[]} requirements @returns {Promise<Tally>} */
function environment(directory, requirements) {
  return step(async () => {
    const venv = await ensureVenv(directory, requirements, console.log);
    await installInto(venv);
  });
}

/** The private environments' programs come first, and the browser is the one that is on the PATH. */
function testEnvironment() {
  const path = `${join(root, '.venv', 'bin')}${delimiter}${process.env.PATH ?? ''}`;
  return {
    ...process.env,
    PATH: path,
    CHROMIUM_PATH: process.env.CHROMIUM_PATH ?? findBrowser(),
  };
}

function findBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
  const directories = (process.env.PATH ?? '').split(delimiter);
  const found = names.flatMap(name => directories.map(directory => join(directory, name))).find(existsSync);
  return found ?? '/usr/bin/chromium';
}
