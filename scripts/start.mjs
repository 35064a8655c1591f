import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuild, installInto, main } from './build.mjs';
import { copyExamples, notebooksIn } from './examples.mjs';
import { basePath, lastLines, portOption } from './lab.mjs';
import { root, run, show } from './process.mjs';
import { ensureVenv, Missing, venvBin } from './python.mjs';

const examples = join(root, 'examples');
/** The folder that JupyterLab opens: what is changed there leaves the clone alone. */
const notebooks = join(homedir(), 'apl-examples');
/** Options for JupyterLab. */
const options = process.argv.slice(2);

await start().catch(error => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

async function start() {
  checkNode();
  await ensureBuild(say);
  try {
    const venv = await ensureVenv('.venv', ['scripts/requirements.txt'], say);
    await installInto(venv);
    quietenLab(venv);
    copyExamples(examples, notebooks);
    await runLab(venv);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    await runHeadless(error.message);
  }
}

/** @param {string} step */
function say(step) {
  console.log(`• ${step} …`);
}

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  console.error(`Node ${oldest} or newer is needed; this is ${process.versions.node}.`);
  process.exit(1);
}

/** No question about news and no check for updates: nothing is sent anywhere. */
function quietenLab(/** @type {string} */ venv) {
  const settings = join(venv, 'share', 'jupyter', 'lab', 'settings');
  mkdirSync(settings, { recursive: true });
  const quiet = {
    '@jupyterlab/apputils-extension:notification': { fetchNews: 'false', checkForUpdates: false },
  };
  writeFileSync(join(settings, 'overrides.json'), `${JSON.stringify(quiet, null, 2)}\n`);
}

/** Runs JupyterLab until it ends or the user presses Ctrl-C. */
async function runLab(/** @type {string} */ venv) {
  say('Starting JupyterLab');
  const port = portOption(options) ?? (await freePort(8888));
  const token = randomBytes(24).toString('hex');
  const log = join(venv, 'jupyterlab.log');
  const lab = spawn(venvBin(venv, 'python'), ['-m', 'jupyterlab', ...labOptions(port)], {
    cwd: root,
    detached: process.platform !== 'win32',
    env: { ...process.env, ...privateEnvironment(venv), JUPYTER_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const file = createWriteStream(log);
  lab.stdout.pipe(file, { end: false });
  lab.stderr.pipe(file, { end: false });
  lab.on('close', () => file.end());
  const ended = new Promise(settle => lab.on('exit', code => settle(code ?? 0)));
  stopOnSignal(lab, ended);
  const base = `http://localhost:${port}${basePath(options)}`;
  if (!(await answers(`${base}api`, ended))) {
    await finished(file);
    throw new Error(
      `JupyterLab did not start. The end of its log:\n\n${lastLines(readFileSync(log, 'utf8'))}\n\nThe whole log is ${log}`,
    );
  }
  console.log(
    `\n  JupyterLab is at  ${base}lab/tree/${firstNotebook()}?token=${token}\n  Its notebooks: ${notebooks}\n  Its log: ${log}\n  Ctrl-C stops it and everything that it started.\n`,
  );
  await ended;
  await stopService();
}

/** @param {number} port */
function labOptions(port) {
  return [
    `--ServerApp.root_dir=${notebooks}`,
    ...(portOption(options) === undefined ? [`--ServerApp.port=${port}`] : []),
    '--ServerApp.port_retries=0',
    `--LabApp.default_url=/lab/tree/${firstNotebook()}`,
    `--ServerApp.open_browser=${hasDisplay() ? 'True' : 'False'}`,
    '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate',
    ...(process.getuid?.() === 0 ? ['--allow-root'] : []),
    ...options,
  ];
}

function firstNotebook() {
  return notebooksIn(examples)[0] ?? '';
}

/** Lab sees the private environment alone: it neither reads nor writes the user's own Jupyter. */
function privateEnvironment(/** @type {string} */ venv) {
  const own = join(venv, 'private');
  const bin = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin');
  return {
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    VIRTUAL_ENV: venv,
    JUPYTER_CONFIG_DIR: join(own, 'config'),
    JUPYTER_DATA_DIR: join(own, 'data'),
    JUPYTER_RUNTIME_DIR: join(own, 'runtime'),
    JUPYTER_PATH: '',
    JUPYTER_CONFIG_PATH: '',
    IPYTHONDIR: join(own, 'ipython'),
  };
}

function hasDisplay() {
  if (process.env.SSH_CONNECTION) return false;
  if (process.platform !== 'linux') return true;
  return Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/** Lab runs in a process group of its own: it asks before it ends on the terminal's Ctrl-C, and ends cleanly on SIGTERM. */
function stopOnSignal(
  /** @type {import('node:child_process').ChildProcess} */ lab,
  /** @type {Promise<unknown>} */ ended,
) {
  let asked = false;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, async () => {
      if (asked) return void kill(lab);
      asked = true;
      console.log('\nStopping JupyterLab and its kernels …');
      lab.kill('SIGTERM');
      const late = await Promise.race([ended.then(() => false), sleep(15_000, true, { ref: false })]);
      if (late) kill(lab);
    });
  }
}

/** @param {import('node:child_process').ChildProcess} lab */
function kill(lab) {
  if (lab.pid === undefined) return;
  if (process.platform === 'win32') lab.kill('SIGKILL');
  else process.kill(-lab.pid, 'SIGKILL');
}

/** @param {string} url @param {Promise<unknown>} ended @returns {Promise<boolean>} false when Lab ended before it answered */
async function answers(url, ended) {
  let alive = true;
  ended.then(() => {
    alive = false;
  });
  while (alive) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return true;
    await sleep(150);
  }
  return false;
}

/** @param {number} from @returns {Promise<number>} the first port from there that nobody listens on */
async function freePort(from) {
  for (let port = from; port < from + 100; port++) {
    const free = await new Promise(settle => {
      const server = createServer();
      server.once('error', () => settle(false));
      server.listen(port, '127.0.0.1', () => server.close(() => settle(true)));
    });
    if (free) return port;
  }
  throw new Error(`No port from ${from} to ${from + 99} is free.`);
}

/** @param {string} reason one sentence: why there is no JupyterLab */
async function runHeadless(reason) {
  console.log(`\n${reason}\nJupyterLab is left out; the example notebooks run without it.\n`);
  const paths = notebooksIn(examples).map(name => join(examples, name));
  process.exitCode = await show(process.execPath, [main, 'run', ...paths, '--out', join(root, 'out')]);
  await stopService();
}

/** Stops the local service, which would wait a while for other kernels, unless those of another JupyterLab use it. */
async function stopService() {
  await run(process.execPath, [main, 'serve', '--stop', '--unused']);
}
