#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { AplKernelError } from './errors.js';
import type { InstallReport, InstallTarget, Machine, PackageFiles } from './install.js';

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
