import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AplKernelError } from '../../errors.js';
import { makeDirectory } from '../../machine.js';
import { install, type Machine, type PackageFiles } from '../install.js';
import { stopSharedService } from '../service.js';
import { copyExamples, notebooksIn } from './examples.js';
import { basePath, lastLines, portOption } from './lab-options.js';
import { ensureVenv, MissingError, venvBin } from './python.js';

/** Parameters of a JupyterLab run. */
export interface LabRequest {
  readonly machine: Machine;
  /** The package, in a permanent location. */
  readonly files: PackageFiles;
  readonly dataDir: string;
  /** Private Python environment, an absolute path. */
  readonly venv: string;
  /** Options for JupyterLab. */
  readonly options: readonly string[];
}

/** JupyterLab did not start. */
class LabError extends AplKernelError {}

/**
 * Runs JupyterLab on the examples, in its own environment, until it ends or the user presses Ctrl-C. Without Python or a package index,
 * runs the examples without it. Returns an exit code.
 */
export async function lab(request: LabRequest): Promise<number> {
  const { machine, files, venv } = request;
  const notebooks = join(machine.home, 'apl-examples');
  copyExamples(join(files.root, 'examples'), notebooks);
  try {
    makeDirectory(dirname(venv));
    await ensureVenv(venv, [join(files.root, 'python', 'lab-requirements.txt')], { env: machine.env, say });
    await install({ kind: 'prefix', prefix: venv }, files, machine);
    quietenLab(venv);
    return await runLab(request, notebooks);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    console.log(`\n${[error.message, error.hint].filter(Boolean).join('. ')}\n`);
    console.log('Skipping JupyterLab; the example notebooks run without it.\n');
    return await runHeadless(request, notebooks);
  } finally {
    // Otherwise it would wait a while for other kernels.
    await stopSharedService(request.dataDir, true);
  }
}

function say(step: string): void {
  console.log(`• ${step} …`);
}

/** Turns off the news prompt and the check for updates: nothing is sent anywhere. */
function quietenLab(venv: string): void {
  const settings = join(venv, 'share', 'jupyter', 'lab', 'settings');
  mkdirSync(settings, { recursive: true });
  const quiet = {
    '@jupyterlab/apputils-extension:notification': { fetchNews: 'false', checkForUpdates: false },
  };
  writeFileSync(join(settings, 'overrides.json'), `${JSON.stringify(quiet, null, 2)}\n`);
}

async function runLab({ machine, venv, options }: LabRequest, notebooks: string): Promise<number> {
  say('Starting JupyterLab');
  const port = portOption(options) ?? (await freePort(8888));
  const token = randomBytes(24).toString('hex');
  const log = join(venv, 'jupyterlab.log');
  const others = new Set(serversOf(venv));
  const first = notebooksIn(notebooks)[0] ?? '';
  const child = spawn(
    venvBin(venv, 'python'),
    ['-m', 'jupyterlab', ...labOptions({ machine, options, notebooks, first, port })],
    {
      cwd: notebooks,
      detached: machine.platform !== 'win32',
      env: { ...machine.env, ...privateEnvironment(machine, venv), JUPYTER_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const file = createWriteStream(log, { mode: 0o600 });
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  child.on('close', () => file.end());
  const ended = new Promise<number>(settle => child.on('exit', code => settle(code ?? 0)));
  stopOnSignal(child, ended);
  const base = `http://localhost:${port}${basePath(options)}`;
  // Another server may have the port, and would answer too.
  const isUp = () => serversOf(venv).some(server => !others.has(server));
  if (!(await answers(`${base}api`, isUp, ended))) {
    await finished(file);
    const end = lastLines(readFileSync(log, 'utf8'));
    throw new LabError('lab-failed', `JupyterLab did not start. The end of its log:\n\n${end}\n`, {
      hint: `The full log is ${log}`,
    });
  }
  console.log(
    `\n  JupyterLab is at  ${base}lab/tree/${first}?token=${token}\n  Notebooks: ${notebooks}\n  Log: ${log}\n  Ctrl-C stops it and everything it started.\n`,
  );
  await ended;
  return 0;
}

function labOptions({
  machine,
  options,
  notebooks,
  first,
  port,
}: {
  readonly machine: Machine;
  readonly options: readonly string[];
  readonly notebooks: string;
  readonly first: string;
  readonly port: number;
}): readonly string[] {
  return [
    `--ServerApp.root_dir=${notebooks}`,
    ...(portOption(options) === undefined ? [`--ServerApp.port=${port}`] : []),
    '--ServerApp.port_retries=0',
    `--LabApp.default_url=/lab/tree/${first}`,
    `--ServerApp.open_browser=${hasDisplay(machine) ? 'True' : 'False'}`,
    '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate',
    ...(process.getuid?.() === 0 ? ['--allow-root'] : []),
    ...options,
  ];
}

/** Returns an environment in which Lab sees only its private environment: it neither reads nor writes the user's own Jupyter. */
function privateEnvironment({ env, platform }: Machine, venv: string): Readonly<Record<string, string>> {
  const own = join(venv, 'private');
  const bin = join(venv, platform === 'win32' ? 'Scripts' : 'bin');
  return {
    PATH: `${bin}${delimiter}${env.PATH ?? ''}`,
    VIRTUAL_ENV: venv,
    JUPYTER_CONFIG_DIR: join(own, 'config'),
    JUPYTER_DATA_DIR: join(own, 'data'),
    JUPYTER_RUNTIME_DIR: privateRuntime(venv),
    JUPYTER_PATH: '',
    JUPYTER_CONFIG_PATH: '',
    IPYTHONDIR: join(own, 'ipython'),
  };
}

function hasDisplay({ env, platform }: Machine): boolean {
  if (env.SSH_CONNECTION) return false;
  if (platform !== 'linux') return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/**
 * Forwards signals to Lab, which runs in its own process group: on the terminal's Ctrl-C it would ask first, on SIGTERM it ends cleanly.
 */
function stopOnSignal(child: ChildProcess, ended: Promise<unknown>): void {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      if (asked) return void kill(child);
      asked = true;
      console.log('\nStopping JupyterLab and its kernels …');
      child.kill('SIGTERM');
      const late = await Promise.race([ended.then(() => false), sleep(15_000, true, { ref: false })]);
      if (late) kill(child);
    });
  }
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') child.kill('SIGKILL');
  else process.kill(-child.pid, 'SIGKILL');
}

/** Returns the files of Jupyter servers in the private environment, with their times: a server writes one once it listens. */
function serversOf(venv: string): readonly string[] {
  const runtime = privateRuntime(venv);
  const files = existsSync(runtime) ? readdirSync(runtime) : [];
  return files
    .filter(name => /^jpserver-\d+\.json$/.test(name))
    .map(name => `${name} ${statSync(join(runtime, name), { throwIfNoEntry: false })?.mtimeMs}`);
}

function privateRuntime(venv: string): string {
  return join(venv, 'private', 'runtime');
}

/** True if Lab answered before it ended. */
async function answers(url: string, isUp: () => boolean, ended: Promise<unknown>): Promise<boolean> {
  let alive = true;
  void ended.then(() => {
    alive = false;
  });
  while (alive) {
    const response = isUp() ? await fetch(url).catch(() => undefined) : undefined;
    if (response?.ok) return true;
    await sleep(150);
  }
  return false;
}

/** Returns the first free port from `from` on. */
async function freePort(from: number): Promise<number> {
  for (let port = from; port < from + 100; port++) {
    const free = await new Promise(settle => {
      const server = createServer();
      server.once('error', () => settle(false));
      server.listen(port, '127.0.0.1', () => server.close(() => settle(true)));
    });
    if (free) return port;
  }
  throw new LabError('lab-failed', `no port from ${from} to ${from + 99} is free`, {
    hint: 'Choose another with --ServerApp.port=PORT.',
  });
}

async function runHeadless({ machine, files }: LabRequest, notebooks: string): Promise<number> {
  const paths = notebooksIn(notebooks).map(name => join(notebooks, name));
  const args = [files.main, 'run', ...paths, '--out', join(notebooks, 'out')];
  const child = spawn(machine.execPath, args, { env: machine.env, stdio: 'inherit' });
  return new Promise(settle => child.on('exit', code => settle(code ?? 1)));
}
