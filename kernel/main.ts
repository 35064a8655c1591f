#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { AplKernelError } from './errors.js';
import type { InstallReport, InstallTarget, Machine, PackageFiles } from './install.js';
import type { KernelHandler } from './jupyter/message.js';
import type { LocalService } from './local/launch.js';

const machine: Machine = {
  env: process.env,
  platform: process.platform,
  home: homedir(),
  execPath: process.execPath,
};

const main = fileURLToPath(import.meta.url);
const files: PackageFiles = {
  main,
  root: dirname(dirname(main)),
  version: packageVersion(dirname(dirname(main))),
};

await runCommand(process.argv);

async function runCommand(argv: readonly string[]): Promise<void> {
  try {
    await commands().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof AplKernelError)) throw error;
    process.stderr.write(
      `apl-kernel: ${error.message}\n${error.hint === undefined ? '' : `  ${error.hint}\n`}`,
    );
    process.exitCode = 1;
  }
}

/** Every command; a command's module is loaded when it runs, so that a kernel starts without what others need. */
function commands(): Command {
  const program = new Command('apl-kernel')
    .description(
      'A Jupyter kernel for APL, the Axiom Processing Language, with an embedded local query service.',
    )
    .version(files.version)
    .showHelpAfterError();
  target(
    program
      .command('install')
      .description('put the kernel and the JupyterLab extension where Jupyter finds them'),
  ).action(async (options: TargetOptions) => {
    const { install } = await import('./install.js');
    printReport('installed', await install(targetOf(options), files, machine));
  });
  target(program.command('uninstall').description('remove what `install` put there')).action(
    async (options: TargetOptions) => {
      const { uninstall } = await import('./install.js');
      printReport('removed', await uninstall(targetOf(options), machine));
    },
  );
  program
    .command('kernel', { hidden: true })
    .description('run the kernel; Jupyter calls this')
    .requiredOption('--connection-file <file>', 'where to listen, as Jupyter wrote it')
    .action(({ connectionFile }: { connectionFile: string }) => kernel(connectionFile));
  program
    .command('run')
    .description(
      'run notebooks or .apl files without Jupyter, and write the executed notebook and an HTML page of each',
    )
    .argument('<notebook...>')
    .option('--out <directory>', 'where to write', 'out')
    .action((notebooks: string[], { out }: { out: string }) => run(notebooks, out));
  program.command('doctor').description('say what is found on this machine and what is wrong').action(doctor);
  return program;
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

function printReport(what: string, { dataDir, kernelspec, labextension }: InstallReport): void {
  console.log(kernelspec === undefined ? `no kernel in ${dataDir}` : `${what} the kernel: ${kernelspec}`);
  if (labextension !== undefined) console.log(`${what} the JupyterLab extension: ${labextension}`);
  else if (what === 'installed') console.log('the JupyterLab extension is not built, so it was left out');
}

async function kernel(connectionFile: string): Promise<void> {
  const [{ readConnectionFile }, { startKernel }] = await Promise.all([
    import('./jupyter/connection.js'),
    import('./jupyter/server.js'),
  ]);
  const running = await startKernel(await readConnectionFile(connectionFile), interpreter, {
    historyFile: join(dataDirectory(), 'history.sqlite'),
    log,
  });
  process.on('SIGINT', () => void running.interrupt());
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void running.shutdown(false));
  onOrphaned(() => void running.shutdown(false));
  await running.closed;
  process.exit();
}

/** A Jupyter server that was killed leaves its kernels behind; they end by themselves. */
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

async function run(notebooks: readonly string[], directory: string): Promise<void> {
  const { runNotebook } = await import('./headless/run.js');
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let failed = 0;
  for (const path of notebooks) {
    const handler = await interpreter();
    try {
      const report = await runNotebook(path, directory, handler, stop.signal);
      console.log(
        `${report.failure === undefined ? 'ok     ' : 'FAILED '} ${path}: ${report.page}, ${report.notebook}`,
      );
      if (report.failure !== undefined) console.log(`        ${report.failure}`);
      if (report.failure !== undefined) failed += 1;
    } finally {
      await handler.shutdown(false);
    }
  }
  if (failed > 0) process.exitCode = 1;
}

async function interpreter(): Promise<KernelHandler> {
  const [{ createInterpreter }, local] = await Promise.all([import('./interpreter.js'), localService()]);
  const { env, home } = machine;
  return createInterpreter({
    now: () => BigInt(Date.now()) * 1_000_000n,
    environment: {
      deployment: env.AXIOM_DEPLOYMENT,
      url: env.AXIOM_URL,
      token: env.AXIOM_TOKEN,
      orgId: env.AXIOM_ORG_ID,
      edgeUrl: env.AXIOM_EDGE_URL,
      edgeRegion: env.AXIOM_EDGE_REGION,
    },
    homeDir: home,
    workDir: process.cwd(),
    version: files.version,
    local,
    log,
  });
}

async function localService(): Promise<LocalService> {
  const { createLocalService, spawnDetached } = await import('./local/launch.js');
  const dataDir = dataDirectory();
  const args = [files.main, 'serve', '--managed', '--data', dataDir];
  return createLocalService({ dataDir, spawn: () => spawnDetached(machine.execPath, args, dataDir), log });
}

function log(text: string): void {
  process.stderr.write(`[apl-kernel] ${text}\n`);
}

async function doctor(): Promise<void> {
  const { examine, findingsText } = await import('./doctor.js');
  const findings = await examine({
    machine,
    files,
    nodeVersion: process.versions.node,
    dataDir: dataDirectory(),
    runningService: async () => undefined,
  });
  console.log(findingsText(findings));
  if (findings.some(({ state }) => state === 'error')) process.exitCode = 1;
}

/** Where datasets, starred queries, history and the local service's runtime file are kept. */
function dataDirectory(): string {
  const { env, home, platform } = machine;
  if (env.APL_KERNEL_DATA) return env.APL_KERNEL_DATA;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'apl-kernel');
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), 'apl-kernel');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'apl-kernel');
}

function packageVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}
