import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type ConsoleMessage, chromium, type Page } from 'playwright-core';
import { removeHome } from '../setup/leavings.js';

const compiledMain = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const THEME_NAMES = {
  light: 'JupyterLab Light',
  dark: 'JupyterLab Dark',
  'high contrast': 'JupyterLab Dark High Contrast',
};

export type Theme = keyof typeof THEME_NAMES;

export const THEMES = Object.keys(THEME_NAMES) as readonly Theme[];

/** Changes the theme of an open page, as its own menu does; pages that are opened later have it too. */
export async function changeTheme(page: Page, theme: Theme): Promise<void> {
  const name = JSON.stringify(THEME_NAMES[theme]);
  await page.evaluate(`jupyterapp.commands.execute('apputils:change-theme', { theme: ${name} })`);
  await page.locator(`body[data-jp-theme-name=${name}]`).waitFor({ state: 'attached' });
}

export interface LabOptions {
  /** A virtual environment with JupyterLab. */
  readonly venv: string;
  /** Files of the notebook directory by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly theme?: Theme;
  /** Files of the home directory by name. */
  readonly home?: Readonly<Record<string, string>>;
  /** What cells may do without a question; nothing when absent. */
  readonly allow?: string;
}

/** A running JupyterLab with directories of its own; `stop` ends it and removes them. */
export interface Lab {
  readonly url: string;
  readonly token: string;
  readonly notebookDir: string;
  /** Writes the user's settings of a plugin, such as `@jupyterlab/codemirror-extension:plugin`, for pages opened later. */
  configure(plugin: string, settings: unknown): void;
  /** What the server has logged so far. */
  log(): string;
  stop(): Promise<void>;
}

/** The virtual environment of a front end; throws with what to do where there is no JupyterLab. */
export function venvPath({ variable, fallback }: FrontEnd): string {
  const venv = resolve(process.env[variable] ?? fallback);
  if (existsSync(join(venv, 'bin', 'jupyter-lab'))) return venv;
  throw new Error(
    `No JupyterLab in ${venv}: prepare the test environments with "npm test", or set ${variable} to a virtual environment that has jupyterlab.`,
  );
}

/** Starts JupyterLab on a free port of 127.0.0.1 and resolves when it answers; throws with its log when it ends instead. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const root = mkdtempSync(join(tmpdir(), 'apl-kernel-lab-'));
  const notebookDir = join(root, 'notebooks');
  await layOut(root, notebookDir, options);
  const token = 'test-token';
  const port = await freePort();
  const child = spawn(join(options.venv, 'bin', 'python'), labArguments(port, token, notebookDir), {
    env: { ...environment(root, options.venv), APL_KERNEL_ALLOW: options.allow ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (log += chunk));
  const stop = async () => {
    await endProcess(child);
    await removeHome(root);
  };
  const url = `http://127.0.0.1:${port}/`;
  if (await answers(child, `${url}api/status?token=${token}`))
    return {
      url,
      token,
      notebookDir,
      configure: (plugin, settings) => writeSettings(root, plugin, settings),
      log: () => log,
      stop,
    };
  await stop();
  throw new Error(`JupyterLab of ${options.venv} ended before it answered:\n${log}`);
}

/** Chromium with these switches, at CHROMIUM_PATH or where the distribution puts it. */
export async function startBrowser(switches: readonly string[] = []): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`No Chromium at ${executablePath}: install it, or set CHROMIUM_PATH to its executable.`);
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', ...switches],
    // Scroll bars take room, as they do for people.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });
}

/** A page of a lab, with what it wrote to the console as warnings and errors. */
export interface LabPage {
  readonly page: Page;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** The applications of the server that show a notebook: JupyterLab, and Notebook 7. */
export type App = 'lab/tree' | 'notebooks';

/** A front end of notebooks: the environment of its server, and the application. */
export interface FrontEnd {
  readonly name: string;
  readonly variable: string;
  readonly fallback: string;
  readonly app: App;
}

export const NEWEST_LAB: FrontEnd = {
  name: 'the JupyterLab of npm start',
  variable: 'APL_TEST_VENV',
  fallback: '.venv',
  app: 'lab/tree',
};
export const LAB_42: FrontEnd = {
  name: 'JupyterLab 4.2',
  variable: 'APL_TEST_VENV_LAB42',
  fallback: '.venv-lab42',
  app: 'lab/tree',
};
const NOTEBOOK_7: FrontEnd = { ...NEWEST_LAB, name: 'Notebook 7', app: 'notebooks' };

/** Every front end that the extension is for. */
export const FRONT_ENDS: readonly FrontEnd[] = [NEWEST_LAB, LAB_42, NOTEBOOK_7];

/** Notebook 7 has a race of settings and shortcuts: https://github.com/jupyter/notebook/issues/7862 */
const OWN_RACE = /reading 'schema'/;

/** Opens one file of the notebook directory in a page of its own and waits until its editor is there. */
export async function openFile(
  browser: BrowserContext,
  lab: Lab,
  file: string,
  app: App = 'lab/tree',
): Promise<LabPage> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', error => {
    if (!(app === 'notebooks' && OWN_RACE.test(`${error}`))) complaints.push(`${error}`);
  });
  page.on('console', message => {
    if (isComplaint(message)) complaints.push(`${message.type()}: ${message.text()}`);
  });
  await page.goto(`${lab.url}${app}/${file}?token=${lab.token}&reset`);
  const editors = page.locator('.jp-MainAreaWidget:not(.lm-mod-hidden) .cm-content:visible');
  await editors.first().waitFor({ timeout: 60_000 });
  return { page, complaints, close: () => page.close() };
}

/** Resolves once the kernel of a notebook answers the extension, in every front end; the window must have room for the toolbar. */
export async function kernelReady(page: Page): Promise<void> {
  await page.locator('.apl-toolbar-range:not(:disabled)').waitFor({ timeout: 60_000 });
}

/** What the server does to the kernel of one file. */
export interface KernelOfFile {
  interrupt(): Promise<void>;
  end(): Promise<void>;
}

/** The kernel of an open file of the notebook directory; throws where it has none. */
export async function kernelOf({ url, token }: Lab, file: string): Promise<KernelOfFile> {
  const headers = { authorization: `token ${token}` };
  const sessions = (await (await fetch(`${url}api/sessions`, { headers })).json()) as readonly {
    readonly path: string;
    readonly kernel: { readonly id: string };
  }[];
  const found = sessions.find(({ path }) => path === file);
  if (found === undefined) throw new Error(`${file} has no kernel.`);
  const kernel = `${url}api/kernels/${found.kernel.id}`;
  const ask = async (method: string, address: string) => {
    await fetch(address, { method, headers });
  };
  return { interrupt: () => ask('POST', `${kernel}/interrupt`), end: () => ask('DELETE', kernel) };
}

/** Ends every kernel of the server, as its own menu does. */
export async function endKernels(lab: Lab): Promise<void> {
  const headers = { authorization: `token ${lab.token}` };
  for (const id of await kernelIds(lab))
    await fetch(`${lab.url}api/kernels/${id}`, { method: 'DELETE', headers });
}

/** Kills the process of every kernel, as a machine without memory does; the server starts them again. */
export async function killKernels(lab: Lab): Promise<void> {
  const ids = await kernelIds(lab);
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const file = `/proc/${pid}/cmdline`;
    const words = existsSync(file) ? readFileSync(file, 'utf8').split('\0') : [];
    if (words.includes('kernel') && ids.some(id => words.some(word => word.includes(id))))
      process.kill(Number(pid), 'SIGKILL');
  }
}

async function kernelIds({ url, token }: Lab): Promise<readonly string[]> {
  const headers = { authorization: `token ${token}` };
  const kernels = (await (await fetch(`${url}api/kernels`, { headers })).json()) as { readonly id: string }[];
  return kernels.map(({ id }) => id);
}

/** Whether a page should not have logged this: an error, or a warning about shared modules, but not that a busy machine is slow. */
function isComplaint(message: ConsoleMessage): boolean {
  if (message.type() === 'error') return true;
  if (message.type() !== 'warning' || /to activate\.$/.test(message.text())) return false;
  return /apl|shared|version|module/i.test(message.text());
}

/** Installs kernel and extension as users do, but below `root`. */
async function layOut(root: string, notebookDir: string, options: LabOptions): Promise<void> {
  mkdirSync(notebookDir, { recursive: true });
  writeFiles(notebookDir, options.files);
  writeFiles(join(root, 'home'), options.home ?? {});
  await promisify(execFile)(process.execPath, [compiledMain, 'install', '--prefix', root]);
  const theme = THEME_NAMES[options.theme ?? 'light'];
  writeSettings(root, '@jupyterlab/apputils-extension:themes', { theme });
  writeSettings(root, '@jupyterlab/apputils-extension:notification', {
    fetchNews: 'false',
    checkForUpdates: false,
  });
}

function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

function writeSettings(root: string, plugin: string, settings: unknown): void {
  writeJson(join(root, 'settings', `${plugin.replace(':', '/')}.jupyterlab-settings`), settings);
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}

function labArguments(port: number, token: string, notebookDir: string): string[] {
  return [
    ...['-m', 'jupyter', 'lab', '--no-browser', '--allow-root', `--ServerApp.port=${port}`],
    ...['--ServerApp.port_retries=0', '--ServerApp.ip=127.0.0.1', `--IdentityProvider.token=${token}`],
    ...[`--ServerApp.root_dir=${notebookDir}`, '--LabApp.extension_manager=readonly'],
    // So that tests can run commands that have no key of their own.
    ...['--LabApp.expose_app_in_browser=True', '--JupyterNotebookApp.expose_app_in_browser=True'],
  ];
}

/** Directories of its own for everything that Jupyter reads or writes, so that no setting of the user leaks in. */
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

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The system gave no free port.');
  return address.port;
}

/** Resolves true once the address answers, false when the process has ended. */
async function answers(child: ChildProcess, url: string): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    const ok = await fetch(url).then(
      response => response.ok,
      () => false,
    );
    if (ok) return true;
    await sleep(100);
  }
  return false;
}

/** Asks the server to end, which ends its kernels too. */
async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const ended = await Promise.race([exited.then(() => true), sleep(10_000, false, { ref: false })]);
  if (ended) return;
  child.kill('SIGKILL');
  await exited;
}
