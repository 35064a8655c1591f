import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './process.mjs';

const OLDEST = /** @type {const} */ ([3, 9]);

/** Something outside the project is missing; the message says what and what to do, in one sentence. */
export class Missing extends Error {}

/** @returns {string} the command of a Python that is new enough; throws Missing */
export function findPython() {
  const candidates = process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];
  const found = candidates.map(command => ({ command, version: pythonVersion(command) }));
  const usable = found.find(({ version }) => version !== undefined && isNewEnough(version));
  if (usable) return usable.command;
  const old = found.find(({ version }) => version !== undefined);
  const need = `Python ${OLDEST.join('.')} or newer is needed for JupyterLab`;
  throw new Missing(
    old
      ? `${need}, and ${old.command} is ${old.version?.join('.')}.`
      : `${need}, and there is none on the PATH.`,
  );
}

/**
 * Creates the virtual environment `directory` with the packages of the requirements files, unless it exists already.
 * @param {string} directory relative to the project
 * @param {readonly string[]} requirements files relative to the project
 * @param {(step: string) => void} say is told each step
 * @returns {Promise<string>} the environment's directory, absolute; throws Missing
 */
export async function ensureVenv(directory, requirements, say) {
  const venv = join(root, directory);
  const stamp = join(venv, `${stampOf(venv, requirements)}.stamp`);
  if (existsSync(stamp) && works(venv)) return venv;
  const python = findPython();
  if (!works(venv)) {
    say(`Creating a private Python environment in ${directory}`);
    rmSync(venv, { recursive: true, force: true });
    await createVenv(python, venv);
  }
  say(`Installing ${requirements.join(' and ')} into ${directory} (a few minutes the first time)`);
  await installRequirements(venv, requirements);
  // JupyterLab runs scripts in there with Node, which must not take them for modules of this package.
  writeFileSync(join(venv, 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(stamp, '');
  return venv;
}

/**
 * @param {string} venv
 * @param {string} name
 * @returns {string} the path of a program in the environment
 */
export function venvBin(venv, name) {
  return process.platform === 'win32' ? join(venv, 'Scripts', `${name}.exe`) : join(venv, 'bin', name);
}

/** @param {string} python @param {string} venv */
async function createVenv(python, venv) {
  const plain = await run(python, ['-m', 'venv', venv]);
  if (plain.code === 0) return;
  rmSync(venv, { recursive: true, force: true });
  const tool = `${venv}-tool`;
  const fetched = await run(python, ['-m', 'pip', 'install', ...PIP, '--target', tool, 'virtualenv']);
  const created =
    fetched.code === 0
      ? await run(python, ['-m', 'virtualenv', '--quiet', venv], {
          env: { ...process.env, PYTHONPATH: tool },
        })
      : fetched;
  rmSync(tool, { recursive: true, force: true });
  if (created.code === 0) return;
  throw new Missing(
    `${python} cannot create a virtual environment here: install its venv module (on Debian and Ubuntu: apt-get install python3-venv) or pip, and check that the package index can be reached.`,
  );
}

const PIP = ['--disable-pip-version-check', '--no-input', '--quiet'];

/** @param {string} venv @param {readonly string[]} requirements */
async function installRequirements(venv, requirements) {
  const files = requirements.flatMap(file => ['-r', join(root, file)]);
  // Python compiles what it imports; to compile all of it beforehand takes longer than to install it.
  const args = ['-m', 'pip', 'install', '--no-compile', ...PIP, ...files];
  const installed = await run(venvBin(venv, 'python'), args);
  if (installed.code === 0) return;
  const reason = installed.text.trim().split('\n').at(-1) ?? '';
  throw new Missing(`The Python packages could not be installed from the package index (${reason}).`);
}

/** @param {string} venv */
function works(venv) {
  return pythonVersion(venvBin(venv, 'python')) !== undefined;
}

/** A copied checkout must not run the environment of the original, so the stamp names the place too. */
function stampOf(/** @type {string} */ venv, /** @type {readonly string[]} */ requirements) {
  const hash = createHash('sha256').update(venv);
  for (const file of requirements) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** @param {string} command @returns {number[] | undefined} major and minor */
function pythonVersion(command) {
  const script = 'import sys; print(*sys.version_info[:2])';
  const answer = spawnSync(command, ['-c', script], { encoding: 'utf8' });
  return answer.status === 0 ? answer.stdout.trim().split(' ').map(Number) : undefined;
}

/** @param {readonly number[]} version */
function isNewEnough([major = 0, minor = 0]) {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
