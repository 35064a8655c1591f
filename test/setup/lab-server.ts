import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import { endLeavings, removeHome } from './leavings.js';

const compiledMain = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** A JupyterLab server with its own directories. */
export interface Server {
  /** The front end that its pages show: a layout saved by one means nothing to another. */
  readonly frontEnd: string;
  readonly url: string;
  readonly token: string;
  /** Directory that contains everything that it, its kernels and their service read and write. */
  readonly root: string;
  readonly notebookDir: string;
  readonly home: string;
  readonly child: ChildProcess;
}

/** Directories below a server's root that belong to the lease. */
const OF_LEASE = ['notebooks', 'home', 'settings', 'workspaces', 'ipython'];

/** Unused servers of this process. */
const idle: Server[] = [];

/** Resolves with a server for exclusive use until it is released; throws with its log if it exits before it answers. */
export async function leaseServer(frontEnd: string, venv: string): Promise<Server> {
  const found = idle.findIndex(server => server.frontEnd === frontEnd && isRunning(server.child));
  const [server] = found < 0 ? [] : idle.splice(found, 1);
  return server ?? startServer(frontEnd, venv);
}

/**
 * Ends everything that the lease has started except the server itself, and removes its files. Throws if a process does not end; the server
 * is then not reused.
 */
export async function releaseServer(server: Server): Promise<void> {
  await endLeavings(server.root, server.child.pid);
  // A page's last save may still be on its way to the directory being removed.
  for (const name of OF_LEASE)
    rmSync(join(server.root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  mkdirSync(server.notebookDir);
  idle.push(server);
}

/** Ends the unused servers. */
export async function stopServers(): Promise<void> {
  for (const server of idle.splice(0)) {
    server.child.kill('SIGTERM');
    await removeHome(server.root);
  }
}

/** Sets the actions that cells of kernels started later may take without confirmation. */
export function allow({ root }: Server, actions: string): void {
  const file = join(root, 'share', 'jupyter', 'kernels', 'apl', 'kernel.json');
  const spec = JSON.parse(readFileSync(file, 'utf8')) as { readonly env?: object };
  writeJson(file, { ...spec, env: { ...spec.env, APL_KERNEL_ALLOW: actions } });
}

export function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

/** Writes the user settings of a plugin. */
export function writeSettings({ root }: Server, plugin: string, settings: unknown): void {
  writeJson(join(root, 'settings', `${plugin.replace(':', '/')}.jupyterlab-settings`), settings);
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}

/** Starts JupyterLab on a free port of 127.0.0.1, with the kernel and extension installed as users do, but below its root. */
async function startServer(frontEnd: string, venv: string): Promise<Server> {
  const root = mkdtempSync(join(process.env.APL_TEST_LABS ?? tmpdir(), 'apl-kernel-lab-'));
  const notebookDir = join(root, 'notebooks');
  mkdirSync(notebookDir);
  await promisify(execFile)(process.execPath, [compiledMain, 'install', '--prefix', root]);
  const token = 'test-token';
  const port = await freePort();
  // Logs to a file: the server may outlive this process, and the process that started it may ask it to end.
  const log = openSync(join(root, 'server.log'), 'a');
  const child = spawn(join(venv, 'bin', 'python'), labArguments(port, token, notebookDir), {
    env: environment(root, venv),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const url = `http://127.0.0.1:${port}/`;
  if (await answers(child, `${url}api/status?token=${token}`))
    return { frontEnd, url, token, root, notebookDir, home: join(root, 'home'), child };
  const text = readFileSync(join(root, 'server.log'), 'utf8');
  await removeHome(root);
  throw new Error(`JupyterLab of ${venv} ended before it answered:\n${text}`);
}

function labArguments(port: number, token: string, notebookDir: string): string[] {
  return [
    ...['-m', 'jupyter', 'lab', '--no-browser', '--allow-root', `--ServerApp.port=${port}`],
    ...['--ServerApp.port_retries=0', '--ServerApp.ip=127.0.0.1', `--IdentityProvider.token=${token}`],
    ...[`--ServerApp.root_dir=${notebookDir}`, '--LabApp.extension_manager=readonly'],
    // Lets tests run commands that have no key.
    ...['--LabApp.expose_app_in_browser=True', '--JupyterNotebookApp.expose_app_in_browser=True'],
  ];
}

/** Returns an environment with separate directories for everything that Jupyter reads or writes, so that no user setting leaks in. */
function environment(root: string, venv: string): NodeJS.ProcessEnv {
  return {
    PATH: `${join(venv, 'bin')}:${process.env.PATH ?? ''}`,
    LANG: 'C.UTF-8',
    HOME: join(root, 'home'),
    JUPYTER_PATH: join(root, 'share', 'jupyter'),
    JUPYTER_DATA_DIR: join(root, 'data'),
    JUPYTER_CONFIG_DIR: join(root, 'config'),
    JUPYTER_RUNTIME_DIR: join(root, 'runtime'),
    JUPYTERLAB_SETTINGS_DIR: join(root, 'settings'),
    JUPYTERLAB_WORKSPACES_DIR: join(root, 'workspaces'),
    IPYTHONDIR: join(root, 'ipython'),
    JUPYTER_PLATFORM_DIRS: '1',
  };
}

/** Resolves true once the address answers, or false if the process has ended. */
async function answers(child: ChildProcess, url: string): Promise<boolean> {
  while (isRunning(child)) {
    const ok = await fetch(url).then(
      response => response.ok,
      () => false,
    );
    if (ok) return true;
    await sleep(100);
  }
  return false;
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
