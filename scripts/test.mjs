import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { ensureVenv, venvBin } from '../kernel/commands/lab/python.js';
import { ensureBuild, installInto } from './build.mjs';
import { root, run, show } from './process.mjs';
import { buildWheels } from './wheel.mjs';

/** @typedef {{ passed: number, failed: number, failures?: string[] }} Tally with a message for each failed test */
/** @typedef {(line: string) => void} Say prints a line under the name of its stage */
/** @typedef {(say: Say) => Promise<Tally>} Stage */

const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name);
const reports = join(root, 'test-output');

/**
 * Tracks run in parallel after the build, the stages of a track one after the other: some are CPU-bound, and in others
 * tests wait for processes. Each stage can be run alone: `npm test -- lint fast`.
 * @type {Record<string, Stage>[]}
 */
const TRACKS = [
  {
    unused: say => command(say, bin('knip'), ['--no-progress']),
    types: say => together(checkTypes(say, '.'), checkTypes(say, 'labextension')),
    lint: say => command(say, bin('biome'), ['ci', '--error-on-warnings', '--colors=off', '.']),
  },
  {
    fast: say => vitest(say, 'fast'),
  },
  {
    service: say => vitest(say, 'service'),
  },
  {
    built: say => vitest(say, 'built'),
    faults: say => vitest(say, 'faults'),
  },
  {
    environments: say =>
      together(environment(say, '.venv', VENV), environment(say, '.venv-lab42', VENV_LAB42)),
    jupyter: say => vitest(say, 'jupyter'),
    python: say => pytest(say, '.venv', 'python', ['test/python', '--ignore=test/python/neighbors']),
    browser: say => vitest(say, 'browser'),
    clients: say => vitest(say, 'clients'),
    cluster: say => vitest(say, 'cluster'),
    neighbors,
  },
];

/** @type {Record<string, Stage>} */
const FIRST = { build: say => step(say, () => ensureBuild(say)) };

/** Stages of the built package, which build it first. */
const OF_THE_BUILD = [
  'built',
  'faults',
  'environments',
  'jupyter',
  'python',
  'browser',
  'clients',
  'neighbors',
];

const NAMES = [FIRST, ...TRACKS].flatMap(Object.keys);
/** Stages that only run by name: they need other registries or large environments, and minutes. */
const APART = ['clients', 'cluster', 'neighbors'];
const GROUPS = new Map(
  Object.entries({
    check: ['types', 'unused', 'lint', 'fast'],
    all: NAMES.filter(name => !APART.includes(name)),
  }),
);

const VENV = ['python/lab-requirements.txt', 'test/python/requirements.txt'];
const VENV_LAB42 = ['test/python/requirements-lab42.txt'];

await main(process.argv.slice(2));

/** @param {string[]} names stages or groups; none: everything */
async function main(names) {
  const asked = (names.length > 0 ? names : ['all']).flatMap(name => GROUPS.get(name) ?? [name]);
  const wanted = asked.some(name => OF_THE_BUILD.includes(name)) ? ['build', ...asked] : asked;
  const unknown = asked.filter(name => !NAMES.includes(name));
  if (unknown.length > 0) {
    console.error(`No stage ${unknown.join(', ')}; there are: ${[...GROUPS.keys(), ...NAMES].join(', ')}`);
    process.exit(2);
  }
  mkdirSync(reports, { recursive: true });
  const runStages = (/** @type {Record<string, Stage>} */ track) =>
    runTrack(Object.entries(track).filter(([name]) => wanted.includes(name)));
  const table = [...(await runStages(FIRST)), ...(await Promise.all(TRACKS.map(runStages))).flat()];
  console.table(table.map(({ failures, ...row }) => row));
  // Last, to survive if only the end of a long log is kept.
  for (const { stage, failures = [] } of table)
    for (const failure of failures) console.log(`FAILED ${stage}: ${failure}`);
  const sum = (/** @type {'passed' | 'failed'} */ key) => table.reduce((total, row) => total + row[key], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}

/** @param {[string, Stage][]} stages */
async function runTrack(stages) {
  const rows = [];
  for (const [name, stage] of stages) {
    const started = performance.now();
    const tally = await stage(line => console.log(`${name.padEnd(12)} │ ${line}`));
    const seconds = Number(((performance.now() - started) / 1000).toFixed(1));
    rows.push({ stage: name, ...tally, seconds });
  }
  return rows;
}

/** @param {Promise<Tally>[]} parts @returns {Promise<Tally>} the sum of concurrent parts */
async function together(...parts) {
  const sum = { passed: 0, failed: 0 };
  for (const { passed, failed } of await Promise.all(parts)) {
    sum.passed += passed;
    sum.failed += failed;
  }
  return sum;
}

/** @param {Say} say @param {string} program @param {string[]} args @returns {Promise<Tally>} one test: it exits with 0 */
async function command(say, program, args) {
  const code = await show(program, args, { say });
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * Checks the types of a project incrementally.
 * @param {Say} say @param {string} project @returns {Promise<Tally>}
 */
function checkTypes(say, project) {
  const kept = join(reports, `${project === '.' ? 'kernel' : project}.tsbuildinfo`);
  return command(say, bin('tsc'), ['-p', project, '--noEmit', '--incremental', '--tsBuildInfoFile', kept]);
}

/** @param {Say} say @param {() => Promise<unknown>} work @returns {Promise<Tally>} one test: it does not throw */
async function step(say, work) {
  try {
    await work();
    return { passed: 1, failed: 0 };
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: 1 };
  }
}

/** @param {Say} say @param {string} project @returns {Promise<Tally>} */
async function vitest(say, project) {
  const report = join(reports, `${project}.json`);
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = ['run', '--project', project, ...reporters];
  const code = await show(bin('vitest'), args, { say, env: testEnvironment() });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return { ...tally(code, numPassedTests, numFailedTests), failures: testResults.flatMap(failuresOf) };
}

/**
 * Returns a message for each failed test of a file, or for the file if it did not load.
 * @param {import('vitest/node').JsonTestResult} file
 */
function failuresOf({ name, status, message, assertionResults }) {
  const path = relative(root, name);
  const failures = assertionResults
    .filter(test => test.status === 'failed')
    .map(test => `${path} > ${test.fullName}\n${withoutRunner(test.failureMessages?.join('\n') ?? '')}`);
  return status === 'failed' && failures.length === 0 ? [`${path}\n${withoutRunner(message)}`] : failures;
}

/** Returns the start of a message, without the frames of the test runner. */
function withoutRunner(/** @type {string} */ message) {
  return message.replaceAll(/\n +at .*node_modules.*/g, '').slice(0, 4_000);
}

/**
 * @param {Say} say
 * @param {string} venv
 * @param {string} name of the report
 * @param {readonly string[]} tests
 * @returns {Promise<Tally>}
 */
async function pytest(say, venv, name, tests) {
  const report = join(reports, `${name}.xml`);
  rmSync(report, { force: true });
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...tests, `--junitxml=${report}`];
  const code = await show(venvBin(join(root, venv), 'python'), args, { say, env: testEnvironment() });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const count = (/** @type {string} */ name) =>
    Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(readFileSync(report, 'utf8'))?.[1] ?? 0);
  const failed = count('failures') + count('errors');
  const cases = readFileSync(report, 'utf8').matchAll(
    /<testcase classname="([^"]*)" name="([^"]*)"[^>]*><(?:failure|error) message="([^"]*)"/g,
  );
  const failures = Array.from(cases, ([, file, test, message]) => `${file} > ${test}\n${message}`);
  return { ...tally(code, count('tests') - failed - count('skipped'), failed), failures };
}

/** Runs third-party notebook tools, in their own environment with the wheel installed. @type {Stage} */
async function neighbors(say) {
  const venv = join(root, '.venv-neighbors');
  const ready = await step(say, async () => {
    const requirements = join(root, 'test', 'python', 'neighbors', 'requirements.txt');
    await ensureVenv(venv, [requirements], { env: process.env, say });
    const wheels = join(root, 'out', 'neighbors');
    rmSync(wheels, { recursive: true, force: true });
    await buildWheels([`${process.platform}-${process.arch}`], wheels);
    const wheel = readdirSync(wheels).find(name => name.startsWith('apl_kernel_slim-')) ?? '';
    const install = ['-m', 'pip', 'install', '-q', '--no-deps', '--force-reinstall', join(wheels, wheel)];
    const { code, text } = await run(venvBin(venv, 'python'), install);
    if (code !== 0) throw new Error(text);
  });
  if (ready.failed > 0) return ready;
  return pytest(say, '.venv-neighbors', 'neighbors', ['test/python/neighbors']);
}

/** Returns the tally; a runner that failed without a failed test (a file that does not load, no tests) counts as one failure. */
function tally(/** @type {number} */ code, /** @type {number} */ passed, /** @type {number} */ failed) {
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

/** @param {Say} say @param {string} directory @param {readonly string[]} requirements @returns {Promise<Tally>} */
function environment(say, directory, requirements) {
  return step(say, async () => {
    const venv = join(root, directory);
    const files = requirements.map(file => join(root, file));
    await ensureVenv(venv, files, { env: process.env, say });
    await installInto(venv);
  });
}

/** Returns the environment with the private environments' programs first on the PATH. */
function testEnvironment() {
  return { ...process.env, PATH: `${join(root, '.venv', 'bin')}${delimiter}${process.env.PATH ?? ''}` };
}
