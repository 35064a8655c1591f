import { existsSync, realpathSync } from 'node:fs';
import { cp, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { AplKernelError } from '../errors.js';
import { removeFile, textOf } from '../files.js';
import { isDirectory, setAside } from '../local/store/store-files.js';
import { output } from './command-process.js';
import { installPapermill, uninstallPapermill } from './papermill.js';

/** Directory name of the kernelspec under `kernels/`. */
export const KERNEL_NAME = 'apl';

/** Path of the prebuilt extension under `labextensions/`. */
export const LABEXTENSION_NAME = '@apl-kernel/labextension';

/** Process state for the commands: only `main.ts` reads the real one. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Running Node binary, with symbolic links resolved. */
  readonly execPath: string;
}

/**
 * Locations of the package's own files and facts from its package.json: the compiled entry point, and the root with the logos and the built
 * extension.
 */
export interface PackageFiles {
  readonly main: string;
  readonly root: string;
  readonly version: string;
  /** Oldest supported Node, such as `20.19`. */
  readonly oldestNode: string;
}

/** Jupyter data directory to write to. */
export type InstallTarget =
  | { readonly kind: 'user' }
  | { readonly kind: 'sys-prefix' }
  | { readonly kind: 'prefix'; readonly prefix: string };

/** Absolute directories that were written or removed; `labextension` is undefined if there was none. */
export interface InstallReport {
  readonly dataDir: string;
  readonly kernelspec: string | undefined;
  readonly labextension: string | undefined;
  /** Modules for papermill, one per Python in an environment; none for a user. */
  readonly papermill: readonly string[];
}

/** The target cannot be found or written. */
class InstallError extends AplKernelError {}

const LOGOS = ['logo-svg.svg', 'logo-32x32.png', 'logo-64x64.png'];

/** Writes the kernelspec, and the built extension if there is one, into the target's Jupyter data directory. */
export async function install(
  target: InstallTarget,
  files: PackageFiles,
  machine: Machine,
): Promise<InstallReport> {
  const { dataDir, prefix } = await placeOf(target, machine);
  try {
    return {
      dataDir,
      kernelspec: await writeKernelspec(dataDir, files, machine),
      labextension: await copyLabextension(dataDir, files),
      papermill: prefix === undefined ? [] : await installPapermill(prefix, files.root, files.version),
    };
  } catch (cause) {
    throw cannotWrite(dataDir, cause);
  }
}

/** Removes what `install` wrote to the target's Jupyter data directory, and directories left empty. */
export async function uninstall(target: InstallTarget, machine: Machine): Promise<InstallReport> {
  const { dataDir, prefix } = await placeOf(target, machine);
  try {
    return {
      dataDir,
      kernelspec: await removeKernelspec(dataDir),
      labextension: await removeLabextension(dataDir),
      papermill: prefix === undefined ? [] : await uninstallPapermill(prefix),
    };
  } catch (cause) {
    throw cannotWrite(dataDir, cause);
  }
}

/** Returns the content of kernel.json. */
function kernelJson(node: string, main: string): Readonly<Record<string, unknown>> {
  return {
    argv: [node, main, 'kernel', '--connection-file', '{connection_file}'],
    display_name: 'APL (Axiom)',
    language: 'axiom-apl',
    interrupt_mode: 'message',
    // As many as the local service needs, which inherits this from the kernel that starts it; the heartbeat uses one of them.
    env: { UV_THREADPOOL_SIZE: '16' },
    metadata: { debugger: false, supported_encryption: ['curve'] },
  };
}

/** Returns a path to the running Node that survives an upgrade: the one on PATH if it is the same binary, else the binary itself. */
export function stableNodePath(machine: Machine): string {
  const name = machine.platform === 'win32' ? 'node.exe' : 'node';
  const onPath = (machine.env.PATH ?? '')
    .split(delimiter)
    .filter(directory => directory !== '' && !isPerShell(directory))
    .map(directory => resolve(directory, name))
    .find(candidate => realPath(candidate) === realPath(machine.execPath));
  return onPath ?? machine.execPath;
}

/** Returns every data directory that Jupyter searches, according to `jupyter --paths`; the platform's defaults if that fails. */
export async function jupyterDataDirs(machine: Machine): Promise<readonly string[]> {
  const paths = await output(machine.env, 'jupyter', ['--paths', '--json']);
  const data = paths === undefined ? undefined : parseObject(paths)?.data;
  if (Array.isArray(data) && data.every(each => typeof each === 'string')) return data;
  return [userDataDir(machine), '/usr/local/share/jupyter', '/usr/share/jupyter'];
}

/** Returns the Jupyter data directory of a target, and its environment. */
async function placeOf(
  target: InstallTarget,
  machine: Machine,
): Promise<{ readonly dataDir: string; readonly prefix: string | undefined }> {
  if (target.kind === 'user')
    return {
      dataDir: (await output(machine.env, 'jupyter', ['--data-dir'])) ?? userDataDir(machine),
      prefix: undefined,
    };
  const prefix = target.kind === 'prefix' ? resolve(target.prefix) : await pythonPrefix(machine);
  return { dataDir: join(prefix, 'share', 'jupyter'), prefix };
}

async function pythonPrefix(machine: Machine): Promise<string> {
  for (const python of ['python3', 'python']) {
    const prefix = await output(machine.env, python, ['-c', 'import sys; print(sys.prefix)']);
    if (prefix !== undefined) return prefix;
  }
  throw new InstallError(
    'python-not-found',
    'there is no python on the PATH, so there is no prefix to install into',
    {
      hint: 'activate the environment that has Jupyter, or give its directory with --prefix',
    },
  );
}

function userDataDir(machine: Machine): string {
  const { env, home, platform } = machine;
  if (env.JUPYTER_DATA_DIR) return env.JUPYTER_DATA_DIR;
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'jupyter');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'jupyter');
}

async function writeKernelspec(dataDir: string, files: PackageFiles, machine: Machine): Promise<string> {
  const directory = join(dataDir, 'kernels', KERNEL_NAME);
  await mkdir(directory, { recursive: true });
  for (const logo of LOGOS) await cp(join(files.root, 'kernel', 'kernelspec', logo), join(directory, logo));
  const spec = kernelJson(stableNodePath(machine), files.main);
  const file = join(directory, 'kernel.json');
  const fresh = `${file}.new`;
  await writeFile(fresh, `${JSON.stringify(spec, null, 2)}\n`);
  // A directory in its place is not a kernelspec.
  if (await isDirectory(file)) await setAside(file);
  await rename(fresh, file);
  return directory;
}

async function copyLabextension(dataDir: string, files: PackageFiles): Promise<string | undefined> {
  const built = join(files.root, 'labextension', 'labextension');
  if (!existsSync(join(built, 'package.json'))) return undefined;
  const directory = join(dataDir, 'labextensions', LABEXTENSION_NAME);
  const fresh = `${directory}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await cp(built, fresh, { recursive: true });
  const note = {
    packageManager: 'npm',
    packageName: 'apl-kernel',
    uninstallInstructions: 'Run `apl-kernel uninstall` with the options used to install it.',
  };
  await writeFile(join(fresh, 'install.json'), `${JSON.stringify(note, null, 2)}\n`);
  await rm(directory, { recursive: true, force: true });
  await rename(fresh, directory);
  return directory;
}

async function removeKernelspec(dataDir: string): Promise<string | undefined> {
  const directory = join(dataDir, 'kernels', KERNEL_NAME);
  if (!(await isOurs(directory))) return undefined;
  for (const name of ['kernel.json', ...LOGOS]) await removeFile(join(directory, name));
  await removeEmpty(directory, dataDir);
  return directory;
}

/** True for this project's kernelspec: other projects also call their kernel `apl`, for the array language, but the language id differs. */
async function isOurs(directory: string): Promise<boolean> {
  return (await readJson(join(directory, 'kernel.json')))?.language === 'axiom-apl';
}

/** Returns the JSON object in a file; undefined if there is none that can be read. */
export async function readJson(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await textOf(path).catch(() => undefined);
  return text === undefined ? undefined : parseObject(text);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function removeLabextension(dataDir: string): Promise<string | undefined> {
  const directory = join(dataDir, 'labextensions', LABEXTENSION_NAME);
  if (!existsSync(directory)) return undefined;
  await rm(directory, { recursive: true });
  await removeEmpty(dirname(directory), dataDir);
  return directory;
}

async function removeEmpty(directory: string, stop: string): Promise<void> {
  for (let at = directory; at.length >= stop.length; at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

/** True for directories that a version manager creates for one shell, or npm for one command; their paths soon become invalid. */
function isPerShell(directory: string): boolean {
  return /fnm_multishells|[\\/]_npx[\\/]|node_modules[\\/]\.bin|^\/(?:tmp|run|var\/run|private\/tmp)\//.test(
    directory,
  );
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function cannotWrite(dataDir: string, cause: unknown): InstallError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new InstallError('install-failed', `cannot change ${dataDir}: ${reason}`, {
    hint: 'use --user, or --prefix with a directory that you can write to',
    cause,
  });
}
