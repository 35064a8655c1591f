import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type Position,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { root } from '../../commands/command.js';
import { removeHome } from '../../setup/leavings.js';

const uri = 'file:///queries.apl';

/** An editor with one document, connected to its own language server. */
export class Editor {
  readonly initialized: InitializeResult;
  readonly #connection: ReturnType<typeof createProtocolConnection>;
  readonly #ended: Promise<unknown>;
  readonly #published: Diagnostic[][] = [];
  #text = '';
  #version = 0;
  #wake = () => {};

  private constructor(
    connection: Editor['connection'],
    initialized: InitializeResult,
    ended: Promise<unknown>,
  ) {
    this.#connection = connection;
    this.initialized = initialized;
    this.#ended = ended;
    connection.onNotification(PublishDiagnosticsNotification.type, ({ version, diagnostics }) => {
      if (version === this.#version) this.#published.push(diagnostics);
      this.#wake();
    });
  }

  /** Starts `apl-kernel lsp`; it and its service end with the test. */
  static async start(...options: readonly string[]): Promise<Editor> {
    const home = mkdtempSync(join(tmpdir(), 'apl-kernel-lsp-'));
    onTestFinished(() => removeHome(home));
    const args = [join(root, 'dist', 'main.js'), 'lsp', '--stdio', ...options];
    const child = spawn(process.execPath, args, {
      env: { HOME: home, APL_KERNEL_DATA: join(home, 'data') },
      cwd: home,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = new Promise(settle => child.on('close', settle));
    const connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    connection.listen();
    const initialized = await connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      initializationOptions: { runInTerminal: true },
      capabilities: { textDocument: { completion: { completionItem: { snippetSupport: true } } } },
    });
    await connection.sendNotification(InitializedNotification.type, {});
    return new Editor(connection, initialized, ended);
  }

  get connection() {
    return this.#connection;
  }

  get document() {
    return { uri };
  }

  /** Replaces the text; a `^` in it marks the cursor and is removed. */
  async write(
    marked: string,
  ): Promise<{ readonly textDocument: { readonly uri: string }; readonly position: Position }> {
    const at = marked.indexOf('^');
    this.#text = at < 0 ? marked : marked.slice(0, at) + marked.slice(at + 1);
    this.#version += 1;
    this.#published.length = 0;
    const { document } = this;
    if (this.#version === 1)
      await this.#connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri, languageId: 'axiom-apl', version: 1, text: this.#text },
      });
    else
      await this.#connection.sendNotification(DidChangeTextDocumentNotification.type, {
        textDocument: { uri, version: this.#version },
        contentChanges: [{ text: this.#text }],
      });
    const lines = this.#text.slice(0, Math.max(at, 0)).split('\n');
    return {
      textDocument: document,
      position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 },
    };
  }

  /** Resolves with the diagnostics of the current text once there are at least `count`. */
  async diagnostics(count = 0): Promise<readonly Diagnostic[]> {
    for (;;) {
      const last = this.#published.at(-1);
      if (last !== undefined && last.length >= count) return last;
      await new Promise<void>(settle => {
        this.#wake = settle;
      });
    }
  }

  /** Returns the text of a range. */
  textIn({ start, end }: { readonly start: Position; readonly end: Position }): string {
    const lines = this.#text.split('\n');
    const offset = ({ line, character }: Position) =>
      lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, character);
    return this.#text.slice(offset(start), offset(end));
  }

  /** Shuts down the server as the protocol requires; returns its exit code. */
  async close(): Promise<unknown> {
    await this.#connection.sendRequest(ShutdownRequest.type);
    await this.#connection.sendNotification(ExitNotification.type);
    return this.#ended;
  }
}
