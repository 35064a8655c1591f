import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, type BrowserContext, type ConsoleMessage, chromium, type Page } from 'playwright-core';
import { browserPath } from '../../scripts/browser.mjs';
import {
  allow,
  leaseServer,
  releaseServer,
  stopServers,
  writeFiles,
  writeSettings,
} from '../setup/lab-server.js';

const THEME_NAMES = {
  light: 'JupyterLab Light',
  dark: 'JupyterLab Dark',
  'high contrast': 'JupyterLab Dark High Contrast',
};

export type Theme = keyof typeof THEME_NAMES;

export const THEMES = Object.keys(THEME_NAMES) as readonly Theme[];

/** Returns the themes to check the nth part of a page in: light and one other in rotation; all of them with `FRONT_ENDS=all`. */
export function themesOf(part: number): readonly Theme[] {
  const [light, ...others] = THEMES;
  return process.env.FRONT_ENDS === 'all'
    ? THEMES
    : THEMES.filter(theme => theme === light || theme === others[part % others.length]);
}

/** Changes the theme of an open page as its own menu does; pages opened later use it too. */
export async function changeTheme(page: Page, theme: Theme): Promise<void> {
  const name = JSON.stringify(THEME_NAMES[theme]);
  await page.evaluate(`jupyterapp.commands.execute('apputils:change-theme', { theme: ${name} })`);
  await page.locator(`body[data-jp-theme-name=${name}]`).waitFor({ state: 'attached' });
}

export interface LabOptions {
  /** Files of the notebook directory, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly theme?: Theme;
  /** Files of the home directory, by name. */
  readonly home?: Readonly<Record<string, string>>;
  /** Actions that cells may take without confirmation; none if absent. */
  readonly allow?: string;
}

/** A running JupyterLab in exclusive use, without files, settings or kernels of its previous user. */
export interface Lab {
  readonly url: string;
  readonly token: string;
  readonly notebookDir: string;
  /** Writes the user settings of a plugin, such as `@jupyterlab/codemirror-extension:plugin`, for pages opened later. */
  configure(plugin: string, settings: unknown): void;
  /** Ends its kernels, removes everything they and its pages have written, and releases it for the next user. */
  release(): Promise<void>;
}

/** Returns the virtual environment of a front end; throws with instructions if JupyterLab is not installed. */
function venvPath({ variable, fallback }: FrontEnd): string {
  const venv = resolve(process.env[variable] ?? fallback);
  if (existsSync(join(venv, 'bin', 'jupyter-lab'))) return venv;
  throw new Error(
    `No JupyterLab in ${venv}: prepare the test environments with "npm test", or set ${variable} to a virtual environment that has jupyterlab.`,
  );
}

/** The address and the token of a server. */
type Address = Pick<Lab, 'url' | 'token'>;

/** Resolves with a running server of a front end: one that another test file has released, or a new one. */
export async function leaseLab(frontEnd: FrontEnd, options: LabOptions): Promise<Lab> {
  const server = await leaseServer(frontEnd.name, venvPath(frontEnd));
  const { url, token, notebookDir } = server;
  allow(server, options.allow ?? '');
  writeFiles(notebookDir, options.files);
  writeFiles(server.home, options.home ?? {});
  const configure: Lab['configure'] = (plugin, settings) => writeSettings(server, plugin, settings);
  configure('@jupyterlab/apputils-extension:themes', { theme: THEME_NAMES[options.theme ?? 'light'] });
  configure('@jupyterlab/apputils-extension:notification', { fetchNews: 'false', checkForUpdates: false });
  // Autosave runs after two minutes and asks whether to overwrite if a test has saved in the meantime.
  configure('@jupyterlab/docmanager-extension:plugin', { autosave: false });
  const release = async () => {
    await endKernels(server);
    await releaseServer(server);
  };
  return { url, token, notebookDir, configure, release };
}

let shared: Promise<Browser> | undefined;

/** Returns the Chromium of this process; each test file uses its own context in it. */
export async function sharedBrowser(): Promise<Browser> {
  if (shared !== undefined && !(await shared).isConnected()) shared = undefined;
  shared ??= startBrowser();
  return shared;
}

/** Starts a Chromium with these switches. */
export async function startBrowser(switches: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath(),
    args: ['--no-sandbox', ...switches],
    // Scroll bars take up space, as they do for users.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });
}

/** Ends Chromium and every JupyterLab of this process; test processes leave this to the end of the stage. */
export async function closeAll(): Promise<void> {
  await (await shared)?.close();
  await stopServers();
}

/** A page of a lab, with the warnings and errors that it logged to the console. */
export interface LabPage {
  readonly page: Page;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Server applications that show a notebook: JupyterLab and Notebook 7. */
export type App = 'lab/tree' | 'notebooks';

/** A notebook front end: the environment of its server, and the application. */
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
export const NOTEBOOK_7: FrontEnd = { ...NEWEST_LAB, name: 'Notebook 7', app: 'notebooks' };

/** All front ends that the extension supports. */
export const FRONT_ENDS: readonly FrontEnd[] = [NEWEST_LAB, LAB_42, NOTEBOOK_7];

/** Returns the front ends for a suite that hardly depends on them: those named, or all of them with `FRONT_ENDS=all`. */
export function usually(...named: readonly FrontEnd[]): readonly FrontEnd[] {
  return process.env.FRONT_ENDS === 'all' ? FRONT_ENDS : named;
}

/** A Notebook 7 race between settings and shortcuts: https://github.com/jupyter/notebook/issues/7862 */
const OWN_RACE = /reading 'schema'/;

/** Opens a file of the notebook directory in a new page and waits for its editor. */
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
    if (isComplaint(message))
      complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`);
  });
  await page.goto(`${lab.url}${app}/${file}?token=${lab.token}&reset`);
  await editorOf(page);
  return { page, complaints, close: () => page.close() };
}

/**
 * Closes everything open in a JupyterLab page without saving, and opens a file of the notebook directory as a new page would; throws if
 * anything else is left on top. A new page takes ten times as long.
 */
export async function replaceFile(page: Page, file: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(`(async () => {
    const { commands, shell } = jupyterapp;
    const old = [...shell.widgets('main')];
    // JupyterLab opens a launcher of its own, at some time, once nothing is there.
    const launcher = await commands.execute('launcher:create');
    for (const widget of old) widget.dispose();
    shell.activateById('filebrowser');
    shell.collapseRight();
    const opened = await commands.execute('docmanager:open', { path: ${JSON.stringify(file)} });
    await opened.context.ready;
    launcher.dispose();
  })()`);
  await editorOf(page);
  const left = await page.locator('.jp-Dialog, .lm-Menu, .apl-popover, .cm-tooltip').allInnerTexts();
  if (left.length > 0) throw new Error(`The page still shows: ${left.join(', ')}`);
}

/** Resolves once an editor is visible. */
async function editorOf(page: Page): Promise<void> {
  const editors = page.locator('.jp-MainAreaWidget:not(.lm-mod-hidden) .cm-content:visible');
  await editors.first().waitFor({ timeout: 60_000 });
}

/** Resolves once the kernel of a notebook answers the extension, in any front end; the window must be wide enough for the toolbar. */
export async function kernelReady(page: Page): Promise<void> {
  await page.locator('.apl-toolbar-range:not(:disabled)').waitFor({ timeout: 60_000 });
}

/** Server actions on the kernel of one file. */
export interface KernelOfFile {
  interrupt(): Promise<void>;
  end(): Promise<void>;
}

/** Returns the kernel of an open file in the notebook directory; throws if it has none. */
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
export async function endKernels(lab: Address): Promise<void> {
  const headers = { authorization: `token ${lab.token}` };
  for (const id of await kernelIds(lab))
    await fetch(`${lab.url}api/kernels/${id}`, { method: 'DELETE', headers });
}

/** Kills the process of every kernel, as the OOM killer would; the server restarts them. */
export async function killKernels(lab: Lab): Promise<void> {
  const ids = await kernelIds(lab);
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const file = `/proc/${pid}/cmdline`;
    const words = existsSync(file) ? readFileSync(file, 'utf8').split('\0') : [];
    if (words.includes('kernel') && ids.some(id => words.some(word => word.includes(id))))
      process.kill(Number(pid), 'SIGKILL');
  }
}

async function kernelIds({ url, token }: Address): Promise<readonly string[]> {
  const headers = { authorization: `token ${token}` };
  for (;;) {
    const answer = await fetch(`${url}api/kernels`, { headers });
    if (answer.status === 200)
      return ((await answer.json()) as { readonly id: string }[]).map(({ id }) => id);
    // jupyter_server 2.21 cannot list kernels while one is starting and has no last activity yet.
    if (answer.status !== 500) throw new Error(`The kernels cannot be listed: ${answer.status}`);
    await delay(100);
  }
}

/**
 * Whether a console message counts as a failure: an error, or a warning about shared modules, except that a busy machine is slow or that
 * the server cannot list kernels while one is starting.
 */
function isComplaint(message: ConsoleMessage): boolean {
  if (message.type() === 'error')
    return !(/status of 500/.test(message.text()) && /\/api\/kernels(?:\?|$)/.test(message.location().url));
  if (message.type() !== 'warning' || /to activate\.$/.test(message.text())) return false;
  return /apl|shared|version|module/i.test(message.text());
}
