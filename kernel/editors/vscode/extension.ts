import {
  commands,
  type ExtensionContext,
  ShellExecution,
  ShellQuoting,
  Task,
  TaskRevealKind,
  TaskScope,
  tasks,
  Uri,
  window,
  workspace,
} from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

const languageId = 'axiom-apl';

/** Starts the language server and registers the commands; VS Code calls it when a document of the language opens. */
export async function activate(context: ExtensionContext): Promise<void> {
  let client: LanguageClient | undefined;
  const start = async () => {
    await client?.stop();
    client = undefined;
    if (!workspace.isTrusted) return;
    client = serverClient();
    await client.start().catch(() => offerHelp());
  };
  context.subscriptions.push(
    commands.registerCommand('axiom-apl.installKernel', () => runTask('install the kernel', ['install'])),
    commands.registerCommand('axiom-apl.restartServer', start),
    // Command of the server's code lenses.
    commands.registerCommand('apl.runInTerminal', runInTerminal),
    workspace.onDidGrantWorkspaceTrust(start),
    workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration(languageId)) void start();
    }),
    { dispose: () => client?.stop() },
  );
  await start();
}

function serverClient(): LanguageClient {
  const isEager = workspace.getConfiguration(languageId).get<boolean>('startService') === true;
  const server = {
    command: program(),
    args: ['lsp', ...(isEager ? ['--start-service'] : [])],
    // On Windows, npm and pip install a script, which only a shell can start.
    options: { shell: process.platform === 'win32' },
  };
  return new LanguageClient(languageId, 'APL', server, {
    // Notebook cells are documents of this language too.
    documentSelector: [{ language: languageId }],
    initializationOptions: { runInTerminal: true },
  });
}

/** Runs the cells of a file that begin at or above a line, counted from 1, and shows their output. */
async function runInTerminal(uri: string, line: number): Promise<void> {
  const file = Uri.parse(uri);
  const document = workspace.textDocuments.find(each => each.uri.toString() === file.toString());
  if (document?.isDirty === true && !(await document.save())) return;
  await runTask(`run ${workspace.asRelativePath(file)}`, [
    'run',
    file.fsPath,
    '--print',
    '--to-line',
    String(line),
  ]);
}

async function runTask(name: string, args: readonly string[]): Promise<void> {
  if (!workspace.isTrusted) {
    await window.showWarningMessage('APL runs programs only in a trusted workspace.');
    return;
  }
  const quoted = args.map(value => ({ value, quoting: ShellQuoting.Strong }));
  const execution = new ShellExecution({ value: program(), quoting: ShellQuoting.Strong }, quoted);
  const task = new Task({ type: languageId }, TaskScope.Workspace, name, 'APL', execution, []);
  task.presentationOptions = { reveal: TaskRevealKind.Always, clear: true };
  await tasks.executeTask(task);
}

function program(): string {
  return workspace.getConfiguration(languageId).get<string>('command') || 'apl-kernel';
}

function offerHelp(): void {
  void window.showErrorMessage(
    `The program ${program()} could not be started. Install it with pip install apl-kernel or npm install -g apl-kernel, or set ${languageId}.command to its path.`,
  );
}
