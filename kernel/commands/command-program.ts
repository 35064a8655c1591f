import { join } from 'node:path';
import { Command } from 'commander';
import { importFlags, importOptions } from '../api/api-imports.js';
import { inDataDir } from '../local/data-layout.js';
import { askedEffects } from '../notebook/magics/effects/effects.js';
import {
  allowed,
  codeView,
  daySeconds,
  gathered,
  lineNumber,
  pageOrigins,
  part,
  portNumber,
  seconds,
  USAGE,
} from './command-options.js';
import type { InstallTarget } from './install.js';
import type { CodeView, NotebookHost, RunOptions, VerifyOptions } from './notebook-commands.js';

/** Implementations of the commands. */
export interface Actions {
  install(target: InstallTarget): Promise<void>;
  uninstall(target: InstallTarget): Promise<void>;
  kernel(connectionFile: string): Promise<void>;
  lsp(options: LspOptions): Promise<void>;
  mcp(): Promise<void>;
  lab(options: readonly string[], places: { readonly environment: string }): Promise<void>;
  serve(options: ServeOptions): Promise<void>;
  importFile(file: string, options: ImportFileOptions): Promise<void>;
  doctor(options: { readonly checkData?: boolean }): Promise<void>;
  onNotebooks(
    command: (commands: typeof import('./notebook-commands.js'), host: NotebookHost) => Promise<number>,
  ): Promise<void>;
}

export interface LspOptions {
  readonly startService?: boolean;
}

export interface ServeOptions {
  readonly port: number;
  readonly data: string;
  readonly queryTimeout?: number;
  readonly cors?: readonly string[];
  readonly managed?: boolean;
  readonly stop?: boolean;
  readonly unused?: boolean;
}

/** Options shared by imports, and format-specific ones by name. */
export type ImportFileOptions = {
  readonly dataset?: string;
  readonly replace?: boolean;
  readonly data: string;
} & Readonly<Record<string, unknown>>;

interface ProgramFacts {
  readonly version: string;
  /** Data directory unless an option overrides it. */
  readonly dataDir: string;
}

/** Returns every command with its arguments and options; `actions` run them, with validated values. */
export function programOf(actions: Actions, { version, dataDir }: ProgramFacts): Command {
  const program = new Command('apl-kernel')
    .description(
      'A Jupyter kernel for APL, the Axiom Processing Language, with an embedded local query service.',
    )
    .version(version)
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE));
  target(
    program.command('install').description('install the kernel and the JupyterLab extension for Jupyter'),
  ).action((options: TargetOptions) => actions.install(targetOf(options)));
  target(program.command('uninstall').description('remove what `install` added')).action(
    (options: TargetOptions) => actions.uninstall(targetOf(options)),
  );
  program
    .command('kernel', { hidden: true })
    .description('run the kernel; Jupyter calls this')
    .requiredOption('--connection-file <file>', 'the connection file that Jupyter wrote')
    .action(({ connectionFile }: { connectionFile: string }) => actions.kernel(connectionFile));
  labCommand(program, actions, dataDir);
  program
    .command('lsp')
    .description('run a language server (LSP) for an editor, on standard input and output')
    .option('--stdio', 'the only transport; editors add this option')
    .option(
      '--start-service',
      'start the local service if it is not running, to learn its datasets and fields',
    )
    .action(actions.lsp);
  program
    .command('mcp')
    .description(
      'let an agent query the local service, using the Model Context Protocol on standard input and output',
    )
    .action(() => actions.mcp());
  notebookCommands(program, actions);
  verifyCommand(program, actions);
  fileCommands(program, actions);
  program
    .command('serve')
    .description('run the local query service in the foreground')
    .option('--port <port>', 'the port on 127.0.0.1; 0 takes any free port', portNumber, 0)
    .option('--data <directory>', 'the directory of datasets', dataDir)
    .option('--query-timeout <seconds>', 'how long a query may take (default: 120)', daySeconds)
    .option('--cors <origin>', 'let web pages from an origin use the service, with its token', pageOrigins)
    .option('--managed', 'exit when no kernel uses it anymore')
    .option('--stop', 'stop the service that kernels share')
    .option('--unused', 'with --stop: stop it only if no kernel uses it')
    .action(actions.serve);
  importCommand(program, actions, dataDir);
  program
    .command('doctor')
    .description('check this machine and report problems')
    .option('--check-data', 'also read the whole data directory, and name every damaged file')
    .action(actions.doctor);
  return program;
}

function labCommand(program: Command, { lab }: Actions, dataDir: string): void {
  program
    .command('lab')
    .description(
      'run JupyterLab with this kernel, in its own Python environment, on the examples in ~/apl-examples',
    )
    .argument('[options...]', 'options for JupyterLab, such as --ServerApp.ip=0.0.0.0')
    .allowUnknownOption()
    .option(
      '--environment <directory>',
      'the Python environment, created if missing',
      join(inDataDir(dataDir, 'tools'), 'lab'),
    )
    .action(lab);
}

function importCommand(program: Command, actions: Actions, dataDir: string): void {
  const command = program
    .command('import')
    .description('import CSV, NDJSON, JSON, Parquet or log files into a dataset of the local service')
    .argument(
      '<file>',
      'a file, a directory, a pattern in quotes such as "app.log*", an https address, or - for standard input',
    )
    .option(
      '--dataset <name>',
      'the dataset to add the rows to, created if it does not exist (default: the name of the file)',
    );
  for (const { name, value, summary } of importOptions) {
    const isList = value.includes('|');
    const flags = `--${name} <${isList ? 'name' : value.toLowerCase()}>`;
    command.option(flags, isList ? `${value.replaceAll('|', ', ')}: ${summary}` : summary);
  }
  for (const { name, summary } of importFlags) command.option(`--${name}`, summary);
  command.option('--data <directory>', 'the directory of datasets', dataDir).action(actions.importFile);
}

function notebookCommands(program: Command, { onNotebooks }: Actions): void {
  program
    .command('run')
    .description(
      'run notebooks or .apl files without Jupyter, and write the executed notebook and an HTML page of each',
    )
    .argument('<notebook...>')
    .option('--out <directory>', 'where to write', 'out')
    .option('-o, --output <file>', 'the executed notebook, instead of the directory; one notebook only')
    .option('--html <file>', 'the page (with -o or --print, none unless named)')
    .option('--print', 'print the results as text, and write no file unless -o or --html names one')
    .option(
      '--to-line <line>',
      'run only the cells of an .apl file that begin at or above this line',
      lineNumber,
    )
    .option('-p, --param <name=value>', 'set a parameter; may be given several times', gathered, [])
    .option('--time <range>', "a time range instead of the notebook's own")
    .option('--profile <name>', "a profile instead of the notebook's own")
    .option('--timeout <seconds>', 'how long a cell may take', seconds)
    .option('--keep-going', 'continue after a failed cell')
    .option('--code <how>', CODE_HELP, codeView)
    .option('--setup', SETUP_HELP)
    .option('--cache <directory>', 'replay the responses recorded there, or record them if there are none')
    .option('--allow <effects>', ALLOW_HELP, allowed)
    .action((notebooks: string[], options: RunOptions) =>
      onNotebooks((commands, host) => commands.run(notebooks, options, host)),
    );
  program
    .command('freeze')
    .description("replace a notebook's relative time ranges with absolute ones")
    .argument('<notebook>')
    .option('-o, --output <file>', 'where to write (default: the notebook itself)')
    .action((notebook: string, options: { output?: string }) =>
      onNotebooks((commands, host) => commands.freeze(notebook, options, host)),
    );
}

function fileCommands(program: Command, { onNotebooks }: Actions): void {
  program
    .command('export')
    .description('write an executed notebook as one HTML page, for reading and printing')
    .argument('<notebook>')
    .option('-o, --output <file>', 'where to write (default: next to the notebook)')
    .option('--code <how>', CODE_HELP, codeView)
    .option('--setup', SETUP_HELP)
    .action((notebook: string, options: { output?: string; code?: CodeView; setup?: boolean }) =>
      onNotebooks((commands, host) => commands.exportPage(notebook, options, host)),
    );
  program
    .command('convert')
    .description('write a notebook as an .apl file, or an .apl file as a notebook')
    .argument('<file>')
    .option('-o, --output <file>', 'where to write (default: next to the file)')
    .action((file: string, options: { output?: string }) =>
      onNotebooks((commands, host) => commands.convert(file, options, host)),
    );
  program
    .command('strip')
    .description("remove the data from a notebook's outputs, keeping what ran and the sizes of results")
    .argument('<notebook>')
    .option('-o, --output <file>', 'where to write (default: the notebook itself)')
    .action((notebook: string, options: { output?: string }) =>
      onNotebooks((commands, host) => commands.strip(notebook, options, host)),
    );
}

const ALLOW_HELP = `effects that cells may have without asking: ${askedEffects.join(', ')} (default: none)`;
const CODE_HELP = 'how the page shows the code of the cells: show, fold or hide';
const SETUP_HELP = 'keep what setup lines print, such as `Using local`, and the types of fields';

function verifyCommand(program: Command, { onNotebooks }: Actions): void {
  program
    .command('verify')
    .description('run a notebook again and compare its results with the saved ones')
    .argument('<notebook>')
    .option('--json', 'print the comparison as JSON')
    .option(
      '--tolerance <ratio>',
      'the allowed relative difference between real numbers (default: 1e-9)',
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
    .option('--sys-prefix', 'for the active Python environment')
    .option('--prefix <directory>', 'for the environment in this directory');
}

function targetOf(options: TargetOptions): InstallTarget {
  if (options.prefix !== undefined) return { kind: 'prefix', prefix: options.prefix };
  return { kind: options.sysPrefix ? 'sys-prefix' : 'user' };
}
