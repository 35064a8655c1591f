import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { importChoices } from './api/api-imports.js';
import { USAGE } from './commands/command-options.js';
import type { Actions, ImportFileOptions, LspOptions, ServeOptions } from './commands/command-program.js';
import type { InstallTarget, Machine, PackageFiles } from './commands/install.js';
import { nameSourceLines } from './commands/stack.js';
import { AplKernelError, UsageError } from './errors.js';
import type { KernelHandler } from './jupyter/message.js';
import { inDataDir } from './local/data-layout.js';
import type { LocalService } from './local/launch.js';
import { AUTHORITIES_HANDED_ON, homeDirectory, systemRefusal } from './machine.js';
import { type AskedEffect, readEffects, unknownAllowed } from './notebook/magics/effects/effects.js';
import type { LocalServiceAccess, SessionOptions } from './notebook/session.js';
import { present } from './present.js';
import { visibleLines, withoutTokens } from './text.js';

const machine: Machine = {
  env: process.env,
  platform: process.platform,
  home: homeDirectory(),
  execPath: process.execPath,
};

/** Folder of the compiled program. */
const folder = dirname(fileURLToPath(import.meta.url));
const files: PackageFiles = packageFiles(dirname(folder), join(folder, 'main.js'));

/** Each query occupies a thread of libuv's pool, whose size is read when a process starts. */
const SERVICE_THREADS = '16';

async function runCommand(argv: readonly string[]): Promise<void> {
  try {
    const start = programIn(argv);
    if (start !== undefined) await start();
    else await (await program()).parseAsync(argv);
  } catch (error) {
    if (!(error instanceof AplKernelError)) throw error;
    const hint = error.hint === undefined ? '' : `  ${error.hint}\n`;
    process.stderr.write(visibleLines(`apl-kernel: ${error.message}\n${hint}`));
    process.exitCode = error instanceof UsageError ? USAGE : 1;
  }
}

/**
 * Returns the action for the two command lines written by programs, those of the kernelspec and of a kernel, to start them without loading
 * the command parser.
 */
function programIn([, , ...words]: readonly string[]): (() => Promise<void>) | undefined {
  const [file, data] = [words[2], words[3]];
  if (file !== undefined && isCommand(words, [...kernelCommand, file])) return () => kernel(file);
  if (data !== undefined && isCommand(words, [...serviceCommand, data]))
    return () => serve({ port: 0, data, managed: true });
  return undefined;
}

const kernelCommand = ['kernel', '--connection-file'];
const serviceCommand = ['serve', '--managed', '--data'];

function isCommand(words: readonly string[], command: readonly string[]): boolean {
  return words.length === command.length && words.every((word, index) => word === command[index]);
}

/** Returns the commands, each of which loads its module when it runs. */
async function program(): Promise<Command> {
  const { programOf } = await import('./commands/command-program.js');
  const actions = { install, uninstall, kernel, lab, lsp, mcp, serve, importFile, doctor, onNotebooks };
  return programOf(actions, { version: files.version, dataDir: dataDirectory() });
}

async function install(target: InstallTarget): Promise<void> {
  const [commands, { printInstalled }] = await installing();
  printInstalled('installed', await commands.install(target, ...(await whatLasts())));
}

async function uninstall(target: InstallTarget): Promise<void> {
  const [commands, { printInstalled }] = await installing();
  printInstalled('removed', await commands.uninstall(target, machine));
}

/** Returns the package and the machine, with its Node, that a kernelspec can point to permanently. */
async function whatLasts(): Promise<[PackageFiles, Machine]> {
  const { lasting, lastingNode } = await import('./commands/lasting.js');
  const dataDir = dataDirectory();
  const node = { execPath: machine.execPath, version: process.version };
  return [await lasting(files, dataDir), { ...machine, execPath: await lastingNode(node, dataDir) }];
}

function installing() {
  return Promise.all([import('./commands/install.js'), import('./commands/reports.js')]);
}

async function lab(
  options: readonly string[],
  { environment }: { readonly environment: string },
): Promise<void> {
  const commands = await import('./commands/lab/lab.js');
  const [lasting, onThisMachine] = await whatLasts();
  process.exitCode = await commands.lab({
    machine: onThisMachine,
    files: lasting,
    dataDir: dataDirectory(),
    venv: resolve(environment),
    options,
  });
}

async function kernel(connectionFile: string): Promise<void> {
  const [{ readConnectionFile }, { startKernel }, { terminalWidth }, { kernelInfo }] = await Promise.all([
    import('./jupyter/connection.js'),
    import('./jupyter/jupyter-server.js'),
    import('./jupyter/jupyter-terminal.js'),
    import('./notebook/kernel-info.js'),
  ]);
  const open = () => interpreter(process.cwd(), () => terminalWidth(machine.env));
  const running = await startKernel(await readConnectionFile(connectionFile), open, {
    info: kernelInfo(files.version),
    historyFile: inDataDir(dataDirectory(), 'history.jsonl'),
    log,
  });
  process.on('SIGINT', () => void running.interrupt());
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void running.shutdown(false));
  onOrphaned(() => void running.shutdown(false));
  await running.closed;
  process.exit();
}

/** Ends a kernel whose Jupyter server was killed, as it would otherwise go on running. */
function onOrphaned(end: () => void): void {
  const parent = process.ppid;
  if (Number(machine.env.JPY_PARENT_PID) !== parent) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, 1_000);
  timer.unref();
}

/** Runs a command on notebooks: an interrupt ends the running cell, and the notebook is written up to there. */
async function onNotebooks(command: Parameters<Actions['onNotebooks']>[0]): Promise<void> {
  const stop = new AbortController();
  // Not `once`: the lock library ends a process that has no listener left when its own is called.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  process.exitCode = await command(await import('./commands/notebook-commands.js'), {
    kernel: (workDir, allow) => interpreter(resolve(workDir), undefined, allow),
    print: line => console.log(line),
    terminal: process.stderr,
    now: nowNs,
    signal: stop.signal,
  });
}

const stopTexts = {
  none: 'no local service is running',
  elsewhere:
    'no local service can be reached from here, but one holds the data directory: `npx apl-kernel doctor` says which',
  used: 'the local service keeps running: it is in use',
  ended: 'the local service has ended',
  alive: 'the local service does not end: its process is still there',
} as const;

async function serve(options: ServeOptions): Promise<void> {
  const { port, data, queryTimeout, managed, stop, unused, cors } = options;
  const service = await import('./commands/service.js');
  if (stop) {
    const report = await service.stopSharedService(data, unused ?? false);
    console.log(stopTexts[report]);
    if (report === 'alive' || report === 'elsewhere') process.exitCode = 1;
    return;
  }
  if (machine.env.UV_THREADPOOL_SIZE === undefined) return withThreads();
  // Kernels can find the service before `serve` returns it, so a signal may arrive that early.
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort());
  // The process that started this one and waits for it may be killed without a chance to pass the signal on.
  process.on('disconnect', () => end.abort());
  if (process.connected === false) end.abort();
  const { fork } = await import('node:child_process');
  const engineProgram = join(folder, 'engine.cjs');
  const spawnEngine = () => fork(engineProgram, { serialization: 'advanced' });
  const { version } = files;
  const token = machine.env.APL_KERNEL_TOKEN;
  const { ProfileFile } = await import('./api/profile.js');
  const profiles = new ProfileFile(machine.home);
  const running = await service.serve({
    deploymentOf: name => profiles.named(name),
    dataDir: data,
    version,
    port,
    managed: managed ?? false,
    token,
    ...present({ origins: cors, queryMs: queryTimeout === undefined ? undefined : queryTimeout * 1000 }),
    now: nowMs,
    spawnEngine,
    log,
  });
  const close = () => void running.close();
  if (end.signal.aborted) close();
  else end.signal.addEventListener('abort', close);
  if (!managed)
    console.log(
      `The local service answers at ${running.url}\nIts token: ${token === undefined ? running.token : 'that of APL_KERNEL_TOKEN'}\nCtrl-C ends it.`,
    );
  await running.closed;
  process.exit();
}

/** The bucket SDK would warn about each Node version that it stops supporting within a year. */
const quietSdk = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

/** Returns the environment of the local service, without the credentials of the hosted service, as it answers only for this machine. */
function serviceEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: authorities, ...env } = machine.env;
  const own = Object.entries(env).filter(([name]) => !name.startsWith('AXIOM_'));
  return {
    ...{ UV_THREADPOOL_SIZE: SERVICE_THREADS, ...quietSdk },
    ...present({ [AUTHORITIES_HANDED_ON]: authorities }),
    ...Object.fromEntries(own),
  };
}

/**
 * Runs this command in a process with enough threads and without variables that it should not see, which ends with this one. Node 20 has
 * started its threads before any of this code runs.
 */
async function withThreads(): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child = spawn(machine.execPath, process.argv.slice(1), {
    env: serviceEnvironment(),
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  let passedOn: NodeJS.Signals | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      passedOn = signal;
      child.kill(signal);
    });
  // A signal that reached the child before it could listen has ended it, as intended.
  child.on('exit', (code, signal) => process.exit(code ?? (signal === passedOn ? 0 : 1)));
  try {
    await once(child, 'spawn');
  } catch (error) {
    const { reason = (error as Error).message, hint } = systemRefusal(error) ?? {};
    throw new AplKernelError('local-service', `the service cannot be started: ${reason}`, present({ hint }));
  }
}

async function importFile(file: string, options: ImportFileOptions): Promise<void> {
  const [{ importIntoDataset, previewImport }, { progressLine }, { printImported, printPreview }] =
    await Promise.all([
      import('./commands/service.js'),
      import('./commands/command-progress.js'),
      import('./commands/reports.js'),
    ]);
  const choices = importChoices(
    ({ name }) => options[name],
    ({ name, wanted }, value) => {
      const message = `${String(value)} cannot be the value of --${name}`;
      throw new UsageError('option-invalid', message, { hint: `give ${wanted}` });
    },
  );
  const progress = progressLine(process.stderr, file);
  const command = {
    dataDir: options.data,
    version: files.version,
    log,
    file,
    dataset: options.dataset,
    ...choices,
    replace: options.replace ?? false,
    now: nowNs,
    onProgress: (share: number | undefined, rows: number) => progress.show(share, rows),
  };
  if (options.preview === true)
    return printPreview(await previewImport(command).finally(() => progress.end()));
  printImported(await importIntoDataset(command).finally(() => progress.end()));
}

/**
 * Returns an interpreter. Relative paths in its magics start at `workDir`; cells may have the effects in `allow` and those that the
 * environment allows.
 */
async function interpreter(
  workDir = process.cwd(),
  consoleWidth: () => number | undefined = () => undefined,
  allow: readonly AskedEffect[] = [],
): Promise<KernelHandler> {
  const [{ createInterpreter }, { QueryLog }, { ImportLog }, local] = await Promise.all([
    import('./notebook/interpreter.js'),
    import('./notebook/query/query-log.js'),
    import('./notebook/magics/effects/effect-imports.js'),
    localService(),
  ]);
  const { named, unknown } = readEffects(machine.env.APL_KERNEL_ALLOW ?? '');
  return createInterpreter({
    ...present({ problems: unknown === undefined ? undefined : [unknownAllowed(unknown)] }),
    ...(await sessionOptions(local, workDir)),
    consoleWidth,
    // Voilà shows an error below each chart that its Vega renderer draws.
    svgOnly: machine.env.SERVER_SOFTWARE?.startsWith('voila/') ?? false,
    queryLog: new QueryLog(inDataDir(dataDirectory(), 'queries.jsonl')),
    importLog: new ImportLog(inDataDir(dataDirectory(), 'imports.json')),
    allowed: [...allow, ...named],
  });
}

/** Returns the options common to all sessions. */
async function sessionOptions(local: LocalServiceAccess, workDir: string): Promise<SessionOptions> {
  const [{ Logins }, { openInBrowser }] = await Promise.all([
    import('./api/login/logins.js'),
    import('./api/login/browser.js'),
  ]);
  const { env, home } = machine;
  return {
    now: nowNs,
    environment: present({
      deployment: env.AXIOM_DEPLOYMENT,
      url: env.AXIOM_URL,
      token: env.AXIOM_TOKEN,
      orgId: env.AXIOM_ORG_ID,
      edgeUrl: env.AXIOM_EDGE_URL,
      edgeRegion: env.AXIOM_EDGE_REGION,
    }),
    homeDir: home,
    workDir,
    agentsDir: inDataDir(dataDirectory(), 'agents'),
    version: files.version,
    local,
    logins: new Logins({
      file: inDataDir(dataDirectory(), 'logins.json'),
      openPage: page => openInBrowser(page, machine),
    }),
    log,
  };
}

async function lsp({ startService }: LspOptions): Promise<void> {
  const [{ serveEditor }, { runningService }] = await Promise.all([
    import('./protocols/lsp/lsp-server.js'),
    import('./local/launch.js'),
  ]);
  const local = startService ? await localService() : runningService(dataDirectory());
  serveEditor(process.stdin, process.stdout, await sessionOptions(local, process.cwd()));
}

/** Serves agents, which get only the service on this machine. */
async function mcp(): Promise<void> {
  const { serveAgent } = await import('./protocols/mcp/mcp-server.js');
  const options = await sessionOptions(await localService(), process.cwd());
  await serveAgent({ ...options, environment: {} });
}

async function localService(): Promise<LocalService> {
  const { createLocalService, spawnDetached } = await import('./local/launch.js');
  const dataDir = dataDirectory();
  const args = [files.main, ...serviceCommand, dataDir];
  const spawn = () => {
    const service = spawnDetached(machine.execPath, args, dataDir, serviceEnvironment());
    // Loaded while the service starts, which takes longer.
    void import('./api/client.js');
    return service;
  };
  return createLocalService({ dataDir, spawn, log, version: files.version });
}

/** Logs a line; a log that cannot be written, as on a full disk, is not a reason to end. */
function log(text: string): void {
  try {
    process.stderr.write(`[apl-kernel] ${withoutTokens(text)}\n`);
  } catch {
    // There is nowhere left to report it.
  }
}

async function doctor({ checkData = false }: { readonly checkData?: boolean }): Promise<void> {
  Object.assign(machine.env, quietSdk);
  const [{ examine, findingsText }, { lastingFiles }] = await Promise.all([
    import('./commands/doctor.js'),
    import('./commands/lasting.js'),
  ]);
  const findings = await examine({
    machine,
    files: await lastingFiles(files, dataDirectory()),
    nodeVersion: process.versions.node,
    dataDir: dataDirectory(),
    checkData,
    workDir: process.cwd(),
  });
  console.log(findingsText(findings));
  if (findings.some(({ state }) => state === 'error')) process.exitCode = 1;
}

/** Offset of APL_KERNEL_NOW from the clock, to try a notebook on another day. */
const clockShiftMs = machine.env.APL_KERNEL_NOW ? Date.parse(machine.env.APL_KERNEL_NOW) - Date.now() : 0;

/** Returns milliseconds since 1970. */
function nowMs(): number {
  if (Number.isFinite(clockShiftMs)) return Date.now() + clockShiftMs;
  throw new UsageError('option-invalid', 'APL_KERNEL_NOW is not a time', {
    hint: 'write it as 2026-01-31T12:00:00Z',
  });
}

/** Returns nanoseconds since 1970. */
function nowNs(): bigint {
  return BigInt(nowMs()) * 1_000_000n;
}

/** Returns the directory of datasets, starred queries, history and the local service's runtime file. */
function dataDirectory(): string {
  const { env, home, platform } = machine;
  if (env.APL_KERNEL_DATA) return env.APL_KERNEL_DATA;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'apl-kernel');
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'apl-kernel');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'apl-kernel');
}

function packageFiles(root: string, main: string): PackageFiles {
  const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    engines: { node: string };
  };
  return { main, root, version, oldestNode: engines.node.replace('>=', '') };
}

process.stderr.on('error', () => undefined);
nameSourceLines();
void runCommand(process.argv);
