import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AplKernelError } from '../../errors.js';
import { type Environment, output, runProgram } from '../command-process.js';

const OLDEST = [3, 9] as const;

/** Something that JupyterLab needs from outside this package is missing. */
export class MissingError extends AplKernelError {}

/** Inputs for creating an environment: the process's variables, and a callback for each step. */
export interface PythonTools {
  readonly env: Environment;
  readonly say: (step: string) => void;
}

/** Returns the command of a recent enough Python; throws MissingError. */
async function findPython(env: Environment): Promise<string> {
  const candidates = process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];
  const need = `Python ${OLDEST.join('.')} or newer is needed for JupyterLab`;
  let old: string | undefined;
  for (const command of candidates) {
    const version = await pythonVersion(env, command);
    if (version === undefined) continue;
    if (isNewEnough(version)) return command;
    old ??= `${need}, and ${command} is ${version.join('.')}`;
  }
  throw new MissingError('python-missing', old ?? `${need}, and none is on the PATH`);
}

/**
 * Creates the virtual environment `venv` with the packages from requirements files, unless it already exists; throws MissingError. All
 * paths are absolute.
 */
export async function ensureVenv(
  venv: string,
  requirements: readonly string[],
  tools: PythonTools,
): Promise<void> {
  const stamp = join(venv, `${stampOf(venv, requirements)}.stamp`);
  if (existsSync(stamp) && (await works(tools.env, venv))) return;
  const python = await findPython(tools.env);
  if (!(await works(tools.env, venv))) {
    tools.say(`Creating a private Python environment in ${venv}`);
    rmSync(venv, { recursive: true, force: true });
    await createVenv(tools.env, python, venv);
  }
  tools.say('Installing packages (a few minutes the first time)');
  await installRequirements(tools.env, venv, requirements);
  // JupyterLab runs scripts in there with Node, which must not treat them as modules of this package.
  writeFileSync(join(venv, 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(stamp, '');
}

/** Returns the path of a program in an environment. */
export function venvBin(venv: string, name: string): string {
  return process.platform === 'win32' ? join(venv, 'Scripts', `${name}.exe`) : join(venv, 'bin', name);
}

async function createVenv(env: Environment, python: string, venv: string): Promise<void> {
  const plain = await runProgram(env, python, ['-m', 'venv', venv]);
  if (plain.ok) return;
  rmSync(venv, { recursive: true, force: true });
  const tool = `${venv}-tool`;
  const fetched = await runProgram(env, python, [
    '-m',
    'pip',
    'install',
    ...PIP,
    '--target',
    tool,
    'virtualenv',
  ]);
  const created = fetched.ok
    ? await runProgram({ ...env, PYTHONPATH: tool }, python, ['-m', 'virtualenv', '--quiet', venv])
    : fetched;
  rmSync(tool, { recursive: true, force: true });
  if (created.ok) return;
  throw new MissingError('venv-failed', `${python} cannot create a virtual environment here`, {
    hint: 'Install its venv module (on Debian and Ubuntu: apt-get install python3-venv) or pip, and check that the package index can be reached.',
  });
}

const PIP = ['--disable-pip-version-check', '--no-input', '--quiet'];

async function installRequirements(
  env: Environment,
  venv: string,
  requirements: readonly string[],
): Promise<void> {
  const files = requirements.flatMap(file => ['-r', file]);
  // Python compiles modules on import; compiling all of them up front takes longer than the installation.
  const args = ['-m', 'pip', 'install', '--no-compile', ...PIP, ...files];
  const { ok, lastLine } = await runProgram(env, venvBin(venv, 'python'), args);
  if (ok) return;
  throw new MissingError(
    'packages-missing',
    `the Python packages could not be installed from the package index (${lastLine})`,
  );
}

async function works(env: Environment, venv: string): Promise<boolean> {
  return (await pythonVersion(env, venvBin(venv, 'python'))) !== undefined;
}

/** Returns the stamp of an environment, which includes its path: a copied environment must not run the original's programs. */
function stampOf(venv: string, requirements: readonly string[]): string {
  const hash = createHash('sha256').update(venv);
  for (const file of requirements) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/** Returns the major and minor version. */
async function pythonVersion(env: Environment, command: string): Promise<readonly number[] | undefined> {
  const script = 'import sys; print(*sys.version_info[:2])';
  return (await output(env, command, ['-c', script]))?.split(' ').map(Number);
}

function isNewEnough([major = 0, minor = 0]: readonly number[]): boolean {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
