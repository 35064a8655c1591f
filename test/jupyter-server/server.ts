import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ServerConnection } from '@jupyterlab/services';
import { freePort } from '../setup/free-port.js';
import { removeHome } from '../setup/leavings.js';

/** The project directory. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const venv = join(root, '.venv');

/** A Jupyter server of the private environment, with the kernel installed only for it. */
export interface JupyterServer {
  readonly settings: ServerConnection.ISettings;
  stop(): Promise<void>;
}

/** Starts a Jupyter server on a free port with its own directories; throws with its log if it exits instead. */
export async function startJupyterServer(): Promise<JupyterServer> {
  const python = join(venv, 'bin', 'python');
  if (!existsSync(python)) throw new Error('There is no .venv: run `npm test -- environments` once.');
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-server-'));
  const env = environment(home);
  await installKernel(home, env);
  const port = await freePort();
  const child = spawn(python, ['-m', 'jupyter_server', ...serverOptions(port, home)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (log += String(part)));
  const baseUrl = `http://127.0.0.1:${port}/`;
  const stop = async () => {
    await end(child);
    await removeHome(home);
  };
  if (!(await answers(child, `${baseUrl}api`))) {
    await stop();
    throw new Error(`The Jupyter server ended before it answered:\n${log}`);
  }
  const settings = ServerConnection.makeSettings({
    baseUrl,
    wsUrl: baseUrl.replace('http', 'ws'),
    token: TOKEN,
  });
  return { settings, stop };
}

const TOKEN = 'test-token';

function environment(home: string): Record<string, string> {
  return {
    HOME: home,
    LANG: 'C.UTF-8',
    PATH: `${join(venv, 'bin')}:${process.env.PATH ?? ''}`,
    APL_KERNEL_DATA: join(home, 'apl-kernel'),
    JUPYTER_DATA_DIR: join(home, 'share', 'jupyter'),
    JUPYTER_CONFIG_DIR: join(home, 'config'),
    JUPYTER_RUNTIME_DIR: join(home, 'runtime'),
    IPYTHONDIR: join(home, 'ipython'),
  };
}

function serverOptions(port: number, home: string): string[] {
  return [
    ...['--no-browser', '--allow-root', '--ServerApp.ip=127.0.0.1', `--ServerApp.port=${port}`],
    ...['--ServerApp.port_retries=0', `--IdentityProvider.token=${TOKEN}`, `--ServerApp.root_dir=${home}`],
  ];
}

async function installKernel(home: string, env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), 'install', '--prefix', home], {
    env,
  });
  const code = await new Promise(settle => child.on('close', settle));
  if (code !== 0) throw new Error(`apl-kernel install ended with ${String(code)}`);
}

/** Resolves with an unused port. */
async function answers(child: ChildProcess, url: string): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return true;
    await sleep(100);
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise(settle => child.on('exit', settle));
  child.kill('SIGTERM');
  await ended;
}
