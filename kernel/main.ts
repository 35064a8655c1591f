import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { importChoices, importOptions } from './api/imports.js';
import type { InstallReport, InstallTarget, Machine, PackageFiles } from './commands/install.js';
import type { CodeView, NotebookHost, RunOptions, VerifyOptions } from './commands/notebooks.js';
import { nameSourceLines } from './commands/stack.js';
import { AplKernelError, UsageError } from './errors.js';
import type { KernelHandler } from './jupyter/message.js';
import type { LocalService } from './local/launch.js';
import { type AskedEffect, askedEffects, readEffects } from './notebook/magics/effects/effects.js';
import { present } from './present.js';
import { formatCount, plural, visibleLines, withoutTokens } from './text.js';

const machine: Machine = {
  env: process.env,
  platform: process.platform,
  home: homedir(),
  execPath: process.execPath,
};

/** The folder of the compiled program. */
const folder = dirname(fileURLToPath(import.meta.url));
const files: PackageFiles = packageFiles(dirname(folder), join(folder, 'main.js'));

/** Each query holds a thread of libuv's pool, whose size is read when a process starts. */
const SERVICE_THREADS = '16';

async function runCommand(argv: readonly string[]): Promise<void> {
  try {
    const start = programIn(argv);
    if (start !== undefined) await start();
    else await (await commands()).parseAsync(argv);
  } catch (error) {
    if (!(error instanceof AplKernelError)) throw error;
    const hint = error.hint === undefined ? '' : `  ${error.hint}\n`;
    process.stderr.write(visibleLines(`apl-kernel: ${error.message}\n${hint}`));
    process.exitCode = error instanceof UsageError ? USAGE : 1;
  }
}

/** The exit code of a command that was given invalid arguments and did not run. */
const USAGE = 2;

/**
 * The two command lines that programs write, those of the kernelspec and of a kernel, start without loading the parser of
 * commands.
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

/** Every command; a command's module is loaded when it runs. */
async function commands(): Promise<Command> {
  const { Command } = await import('commander');
  const program = new Command('apl-kernel')
    .description(
      'A Jupyter kernel for APL, the Axiom Processing Language, with an embedded local query service.',
    )
    .version(files.version)
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE));
  target(
    program
      .command('install')
      .description('put the kernel and the JupyterLab extension where Jupyter finds them'),
  ).action(async (options: TargetOptions) => {
    const { install } = await import('./commands/install.js');
    printReport('installed', await install(targetOf(options), files, machine));
  });
  target(program.command('uninstall').description('remove what `install` put there')).action(
    async (options: TargetOptions) => {
      const { uninstall } = await import('./commands/install.js');
      printReport('removed', await uninstall(targetOf(options), machine));
    },
  );
  program
    .command('kernel', { hidden: true })
    .description('run the kernel; Jupyter calls this')
    .requiredOption('--connection-file <file>', 'where to listen, as Jupyter wrote it')
    .action(({ connectionFile }: { connectionFile: string }) => kernel(connectionFile));
  notebookCommands(program);
  verifyCommand(program);
  fileCommands(program);
  program
    .command('serve')
    .description('run the local query service in the foreground')
    .option('--port <port>', 'where to listen on 127.0.0.1; 0 takes any free port', portNumber, 0)
    .option('--data <directory>', 'where datasets are kept', dataDirectory())
    .option('--query-timeout <seconds>', 'how long a query may take; 120 when absent', daySeconds)
    .option('--managed', 'end when no kernel is left that uses it')
    .option('--stop', 'end the service that kernels share')
    .option('--unused', 'with --stop: end it only if no kernel uses it')
    .action(serve);
  importCommand(program);
  program
    .command('doctor')
    .description('say what is found on this machine and what is wrong')
    .option('--check-data', 'read all of the data directory too, and name every damaged file')
    .action(doctor);
  return program;
}

function importCommand(program: Command): void {
  const command = program
    .command('import')
    .description('turn CSV, NDJSON, JSON, Parquet or log files into a dataset of the local service')
    .argument(
      '<file>',
      'a file, a directory, a pattern in quotes such as "app.log*", or - for standard input',
    )
    .option(
      '--dataset <name>',
      'the dataset to add the rows to, created when there is none; the name of the file when absent',
    );
  for (const { name, value, summary } of importOptions) {
    const isList = value.includes('|');
    const flags = `--${name} <${isList ? 'name' : value.toLowerCase()}>`;
    command.option(flags, isList ? `${value.replaceAll('|', ', ')}: ${summary}` : summary);
  }
  command
    .option('--replace', "replace the dataset's rows instead of adding to them")
    .option('--data <directory>', 'where datasets are kept', dataDirectory())
    .action(importFile);
}

function notebookCommands(program: Command): void {
  program
    .command('run')
    .description(
      'run notebooks or .apl files without Jupyter, and write the executed notebook and an HTML page of each',
    )
    .argument('<notebook...>')
    .option('--out <directory>', 'where to write', 'out')
    .option('-o, --output <file>', 'the executed notebook, in place of the directory; one notebook only')
    .option('--html <file>', 'the page; none with -o when absent')
    .option('-p, --param <name=value>', 'set a parameter; may be given several times', gathered, [])
    .option('--time <range>', "a time range in place of the notebook's own")
    .option('--profile <name>', "a profile in place of the notebook's own")
    .option('--timeout <seconds>', 'how long a cell may take', seconds)
    .option('--keep-going', 'go on after a cell that failed')
    .option('--code <how>', CODE_HELP, codeView)
    .option('--cache <directory>', 'replay the answers recorded there, or record them where there are none')
    .option('--allow <effects>', ALLOW_HELP, allowed)
    .action((notebooks: string[], options: RunOptions) =>
      onNotebooks((commands, host) => commands.run(notebooks, options, host)),
    );
  program
    .command('freeze')
    .description("write a notebook's time ranges as the times that they stand for")
    .argument('<notebook>')
    .option('-o, --output <file>', 'where to write; the notebook itself when absent')
    .action((notebook: string, options: { output?: string }) =>
      onNotebooks((commands, host) => commands.freeze(notebook, options, host)),
    );
}

function fileCommands(program: Command): void {
  program
    .command('export')
    .description('write an executed notebook as one HTML page, for reading and for paper')
    .argument('<notebook>')
    .option('-o, --output <file>', 'where to write; beside the notebook when absent')
    .option('--code <how>', CODE_HELP, codeView)
    .action((notebook: string, options: { output?: string; code?: CodeView }) =>
      onNotebooks((commands, host) => commands.exportPage(notebook, options, host)),
    );
  program
    .command('convert')
    .description('write a notebook as an .apl file, or an .apl file as a notebook')
    .argument('<file>')
    .option('-o, --output <file>', 'where to write; beside the file when absent')
    .action((file: string, options: { output?: string }) =>
      onNotebooks((commands, host) => commands.convert(file, options, host)),
    );
  program
    .command('strip')
    .description("remove the data from a notebook's outputs; what ran and the sizes of results stay")
    .argument('<notebook>')
    .option('-o, --output <file>', 'where to write; the notebook itself when absent')
    .action((notebook: string, options: { output?: string }) =>
      onNotebooks((commands, host) => commands.strip(notebook, options, host)),
    );
}

const ALLOW_HELP = `what cells may do without a question, of ${askedEffects.join(', ')}; nothing when absent`;
const CODE_HELP = 'how the page shows the code of the cells: show, fold or hide';

function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description('run a notebook again and compare its results with those that it holds')
    .argument('<notebook>')
    .option('--json', 'print the comparison as JSON')
    .option(
      '--tolerance <ratio>',
      'the relative difference that real numbers may have; 1e-9 when absent',
      part,
    )
    .option('--allow <effects>', ALLOW_HELP, allowed)
    .action((notebook: string, options: VerifyOptions) =>
      onNotebooks((commands, host) => commands.verify(notebook, options, host)),
    );
}

interface TargetOptions {
  readonly user?: boolean;
  readonly sysPrefix?: boolean;
  readonly prefix?: string;
}

function target(command: Command): Command {
  return command
    .option('--user', 'for this user (the default)')
    .option('--sys-prefix', 'for the Python environment that is active')
    .option('--prefix <directory>', 'for the environment in this directory');
}

function targetOf(options: TargetOptions): InstallTarget {
  if (options.prefix !== undefined) return { kind: 'prefix', prefix: options.prefix };
  return { kind: options.sysPrefix ? 'sys-prefix' : 'user' };
}

function printReport(what: string, { dataDir, kernelspec, labextension, papermill }: InstallReport): void {
  console.log(kernelspec === undefined ? `no kernel in ${dataDir}` : `${what} the kernel: ${kernelspec}`);
  if (labextension !== undefined) console.log(`${what} the JupyterLab extension: ${labextension}`);
  else if (what === 'installed') console.log('the JupyterLab extension is not built, so it was left out');
  for (const path of papermill) console.log(`${what} parameters for papermill: ${path}`);
}

async function kernel(connectionFile: string): Promise<void> {
  const [{ readConnectionFile }, { startKernel }, { terminalWidth }, { kernelInfo }] = await Promise.all([
    import('./jupyter/connection.js'),
    import('./jupyter/server.js'),
    import('./jupyter/terminal.js'),
    import('./notebook/kernel-info.js'),
  ]);
  const open = () => interpreter(process.cwd(), () => terminalWidth(machine.env));
  const running = await startKernel(await readConnectionFile(connectionFile), open, {
    info: kernelInfo(files.version),
    historyFile: join(dataDirectory(), 'history.jsonl'),
    log,
  });
  process.on('SIGINT', () => void running.interrupt());
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void running.shutdown(false));
  onOrphaned(() => void running.shutdown(false));
  await running.closed;
  process.exit();
}

/** When a Jupyter server is killed its kernels go on running; they end by themselves. */
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

/** Runs a command on notebooks: an interrupt ends the running cell, and the notebook is written as far as it came. */
async function onNotebooks(
  command: (commands: typeof import('./commands/notebooks.js'), host: NotebookHost) => Promise<number>,
): Promise<void> {
  const stop = new AbortController();
  // Not `once`: the library of locks ends a process that has no listener left when its own is called.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  process.exitCode = await command(await import('./commands/notebooks.js'), {
    kernel: (workDir, allow) => interpreter(resolve(workDir), undefined, allow),
    print: line => console.log(line),
    terminal: process.stderr,
    now: nowNs,
    signal: stop.signal,
  });
}

interface ServeOptions {
  readonly port: number;
  readonly data: string;
  readonly queryTimeout?: number;
  readonly managed?: boolean;
  readonly stop?: boolean;
  readonly unused?: boolean;
}

const stopTexts = {
  none: 'no local service is running',
  elsewhere:
    'no local service can be reached from here, but one holds the data directory: `npx apl-kernel doctor` says which',
  used: 'the local service goes on: it is used',
  ended: 'the local service has ended',
  alive: 'the local service does not end: its process is still there',
} as const;

async function serve({ port, data, queryTimeout, managed, stop, unused }: ServeOptions): Promise<void> {
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
  // The process that was started and waits for this one may be killed without a chance to pass it on.
  process.on('disconnect', () => end.abort());
  if (process.connected === false) end.abort();
  const { fork } = await import('node:child_process');
  const engineProgram = join(folder, 'engine.cjs');
  const spawnEngine = () => fork(engineProgram, { serialization: 'advanced' });
  const { version } = files;
  const token = machine.env.APL_KERNEL_TOKEN;
  const running = await service.serve({
    dataDir: data,
    version,
    port,
    managed: managed ?? false,
    token,
    ...present({ queryMs: queryTimeout === undefined ? undefined : queryTimeout * 1000 }),
    now: nowMs,
    spawnEngine,
    log,
  });
  const close = () => void running.close();
  if (end.signal.aborted) close();
  else end.signal.addEventListener('abort', close);
  if (!managed)
    console.log(`The local service answers at ${running.url}\nIts token: ${running.token}\nCtrl-C ends it.`);
  await running.closed;
  process.exit();
}

/**
 * The local service answers from this machine alone: it gets neither the credentials of the hosted service nor a list of
 * certificate authorities, which Node would read before anything else.
 */
function serviceEnvironment(): NodeJS.ProcessEnv {
  const isOthers = (name: string) => name.startsWith('AXIOM_') || name === 'NODE_EXTRA_CA_CERTS';
  const own = Object.entries(machine.env).filter(([name]) => !isOthers(name));
  return { UV_THREADPOOL_SIZE: SERVICE_THREADS, ...Object.fromEntries(own) };
}

/**
 * Runs this command in a process that has enough threads and none of the environment that it should not know, and that ends with
 * this one. Node 20 has started its threads before any code of ours runs.
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
}

async function importFile(
  file: string,
  options: { dataset?: string; replace?: boolean; data: string } & Readonly<Record<string, unknown>>,
): Promise<void> {
  const [{ importIntoDataset }, { progressLine }] = await Promise.all([
    import('./commands/service.js'),
    import('./commands/progress.js'),
  ]);
  const choices = importChoices(
    ({ name }) => options[name],
    ({ name, wanted }, value) => {
      const message = `${String(value)} cannot be the value of --${name}`;
      throw new UsageError('option-invalid', message, { hint: `give ${wanted}` });
    },
  );
  const progress = progressLine(process.stderr, file);
  const { dataset, rows, rowsBefore, rowsNow, fields, timeField, notes } = await importIntoDataset({
    dataDir: options.data,
    version: files.version,
    log,
    file,
    dataset: options.dataset,
    ...choices,
    replace: options.replace ?? false,
    now: nowNs,
    onProgress: (share, rows) => progress.show(share, rows),
  }).finally(() => progress.end());
  const time = timeField === '' ? 'no field with a time' : `time from ${timeField}`;
  const lines = [
    `${dataset}: ${plural(rows, 'row')}, ${plural(fields.length, 'field')}, ${time}`,
    ...(rowsBefore > 0
      ? [`  the dataset held ${plural(rowsBefore, 'row')} before and holds ${formatCount(rowsNow)} now`]
      : []),
    ...notes.map(note => `  ${note}`),
  ];
  // Names of fields come from the file: none of them controls the terminal.
  for (const line of lines) console.log(visibleLines(line));
}

function portNumber(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError('port-invalid', `${text} is not a port`, { hint: 'give a number from 0 to 65535' });
}

function seconds(text: string): number {
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new UsageError('option-invalid', `${text} is not a number of seconds`);
}

/** A timer holds no more than some weeks. */
function daySeconds(text: string): number {
  const number = seconds(text);
  if (number <= 86_400) return number;
  throw new UsageError('option-invalid', `${text} seconds are more than a day`);
}

function part(text: string): number {
  const number = Number(text);
  if (number >= 0 && number < 1) return number;
  throw new UsageError(
    'option-invalid',
    `${text} is not a relative difference: give a number from 0 to less than 1`,
  );
}

function codeView(text: string): CodeView {
  if (text === 'show' || text === 'fold' || text === 'hide') return text;
  throw new UsageError('option-invalid', `--code is show, fold or hide, not ${text}`);
}

/** The effects of a list such as `overwrite,drop`. */
function allowed(text: string): readonly AskedEffect[] {
  const { named, unknown } = readEffects(text);
  if (unknown === undefined) return named;
  throw new UsageError('option-invalid', `${unknown} is nothing that can be allowed`, {
    hint: `there are ${askedEffects.join(', ')}`,
  });
}

/** An option that may be given several times. */
function gathered(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Relative paths in its magics start at `workDir`; cells may do what `allow` names, and what the environment does. */
async function interpreter(
  workDir = process.cwd(),
  consoleWidth: () => number | undefined = () => undefined,
  allow: readonly AskedEffect[] = [],
): Promise<KernelHandler> {
  const [{ createInterpreter }, { QueryLog }, { ImportLog }, local] = await Promise.all([
    import('./notebook/interpreter.js'),
    import('./notebook/query/log.js'),
    import('./notebook/magics/effects/imports.js'),
    localService(),
  ]);
  const { env, home } = machine;
  return createInterpreter({
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
    version: files.version,
    local,
    log,
    consoleWidth,
    queryLog: new QueryLog(join(dataDirectory(), 'queries.jsonl')),
    importLog: new ImportLog(join(dataDirectory(), 'imports.json')),
    allowed: [...allow, ...allowed(env.APL_KERNEL_ALLOW ?? '')],
  });
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

/** A log that cannot be written, as on a full disk, is no reason to end. */
function log(text: string): void {
  try {
    process.stderr.write(`[apl-kernel] ${withoutTokens(text)}\n`);
  } catch {
    // There is nowhere left to say it.
  }
}

async function doctor({ checkData = false }: { readonly checkData?: boolean }): Promise<void> {
  const { examine, findingsText } = await import('./commands/doctor.js');
  const findings = await examine({
    machine,
    files,
    nodeVersion: process.versions.node,
    dataDir: dataDirectory(),
    checkData,
  });
  console.log(findingsText(findings));
  if (findings.some(({ state }) => state === 'error')) process.exitCode = 1;
}

/** How far APL_KERNEL_NOW is from the clock: with it a notebook can be tried on another day. */
const clockShiftMs = machine.env.APL_KERNEL_NOW ? Date.parse(machine.env.APL_KERNEL_NOW) - Date.now() : 0;

/** Milliseconds since 1970. */
function nowMs(): number {
  if (Number.isFinite(clockShiftMs)) return Date.now() + clockShiftMs;
  throw new UsageError('option-invalid', 'APL_KERNEL_NOW is not a time', {
    hint: 'write it as 2026-01-31T12:00:00Z',
  });
}

/** Nanoseconds since 1970. */
function nowNs(): bigint {
  return BigInt(nowMs()) * 1_000_000n;
}

/** Where datasets, starred queries, history and the local service's runtime file are kept. */
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
