import {
  CodeActionKind,
  CompletionItemKind,
  type CompletionList,
  type Connection,
  createConnection,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  MarkupKind,
  ProposedFeatures,
  ResponseError,
  type TextDocumentPositionParams,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import {
  formatCells,
  hoverCell,
  referencesInCell,
  renameInCell,
  signatureInCell,
} from '../../apl/editor/editor-cell.js';
import type { Span } from '../../apl/syntax/ast.js';
import { completeCell, inspectCell } from '../../notebook/editor/completion.js';
import { Session, type SessionOptions } from '../../notebook/session.js';
import { present } from '../../present.js';
import { visible } from '../../text.js';
import { Knowledge, type Known } from './knowledge.js';
import { type CellText, cellAt, editTo, rangeOf } from './lsp-cells.js';
import { diagnosticsOf, fixesOf } from './lsp-check.js';
import { completionsAt, described } from './lsp-complete.js';
import { codeLenses, foldingRanges, legend, semanticTokens, symbolsOf } from './structure.js';

/** Delay after the last keystroke before a document is checked, in milliseconds. */
const pauseMs = 150;

/** Answers an editor on these streams, in the Language Server Protocol, until it sends exit or closes them. */
export function serveEditor(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  options: SessionOptions,
): void {
  const server = new Server(createConnection(ProposedFeatures.all, input, output), options);
  server.listen();
}

class Server {
  readonly #connection: Connection;
  readonly #documents = new TextDocuments(TextDocument);
  readonly #session: Session;
  readonly #knowledge: Knowledge;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #version: string;
  #snippets = false;

  constructor(connection: Connection, options: SessionOptions) {
    this.#connection = connection;
    this.#version = options.version;
    this.#session = new Session(options);
    this.#knowledge = new Knowledge(this.#session, () => this.#checkAll());
  }

  listen(): void {
    const connection = this.#connection;
    const documents = this.#documents;
    connection.onInitialize(params => this.#initialize(params));
    connection.onShutdown(() => this.#session.close());
    documents.onDidChangeContent(({ document }) => this.#checkSoon(document));
    documents.onDidSave(() => void this.#renew());
    documents.onDidClose(({ document: { uri } }) => {
      clearTimeout(this.#timers.get(uri));
      this.#timers.delete(uri);
      void connection.sendDiagnostics({ uri, diagnostics: [] });
    });
    this.#listenAtCursor();
    connection.onCodeAction(({ textDocument, range }) =>
      this.#whole(textDocument.uri, (document, known) => fixesOf(document, range, known)),
    );
    connection.onDocumentFormatting(({ textDocument }) => {
      const document = documents.get(textDocument.uri);
      return document === undefined ? [] : formatted(document);
    });
    const withDocument =
      <T>(use: (document: TextDocument) => T, none: T) =>
      ({ textDocument }: { readonly textDocument: { readonly uri: string } }): T => {
        const document = documents.get(textDocument.uri);
        return document === undefined ? none : use(document);
      };
    connection.onDocumentSymbol(withDocument(symbolsOf, []));
    connection.onCodeLens(withDocument(codeLenses, []));
    connection.onFoldingRanges(withDocument(foldingRanges, []));
    connection.languages.semanticTokens.on(withDocument(semanticTokens, { data: [] }));
    documents.listen(connection);
    connection.listen();
  }

  #listenAtCursor(): void {
    const connection = this.#connection;
    connection.onCompletion(async params => {
      if (params.context?.triggerCharacter === ' ' && !this.#isAfterPipe(params)) return null;
      return this.#atCursor(params, (document, cell, offset, known) =>
        isMagicLine(cell, offset)
          ? this.#completeMagic(document, cell, offset)
          : completionsAt(document, cell, offset, known, this.#snippets),
      );
    });
    connection.onCompletionResolve(item => described(item));
    connection.onHover(params =>
      this.#atCursor(params, async (document, cell, offset, known) => {
        if (isMagicLine(cell, offset)) return this.#hoverMagic(cell, offset);
        const found = hoverCell(cell.text, offset - cell.from, known.environment);
        if (found === undefined) return null;
        const contents = { kind: MarkupKind.Markdown, value: found.markdown };
        return { contents, range: rangeOf(document, found, cell.from) };
      }),
    );
    connection.onSignatureHelp(params =>
      this.#atCursor(params, (_, cell, offset) => {
        const found = signatureInCell(cell.text, offset - cell.from);
        if (found === undefined) return null;
        const { label, doc, parameters, active } = found;
        const markdown = (value: string) => ({ kind: MarkupKind.Markdown, value });
        const shown = parameters.map(each => ({
          label: each.label,
          ...present({ documentation: each.doc === undefined ? undefined : markdown(each.doc) }),
        }));
        const signature = { label, documentation: markdown(doc), parameters: shown };
        return { signatures: [signature], activeSignature: 0, activeParameter: active };
      }),
    );
    const spans = (params: TextDocumentPositionParams) =>
      this.#atCursor(params, (document, cell, offset, { environment }) =>
        referencesInCell(cell.text, offset - cell.from, environment).map(span => ({
          span,
          range: rangeOf(document, span, cell.from),
          isHere: touches(span, offset - cell.from),
        })),
      );
    connection.onDefinition(async params => {
      const [first] = (await spans(params)) ?? [];
      return first === undefined ? null : { uri: params.textDocument.uri, range: first.range };
    });
    connection.onReferences(async params =>
      ((await spans(params)) ?? []).map(({ range }) => ({ uri: params.textDocument.uri, range })),
    );
    connection.onDocumentHighlight(async params => (await spans(params)) ?? []);
    connection.onPrepareRename(
      async params => ((await spans(params)) ?? []).find(({ isHere }) => isHere)?.range ?? null,
    );
    connection.onRenameRequest(async params => {
      const renamed = await this.#atCursor(params, (document, cell, offset, { environment }) => {
        const renaming = renameInCell(cell.text, offset - cell.from, params.newName, environment);
        if (!renaming.ok) return renaming.problem;
        return renaming.edits.map(edit => ({
          range: rangeOf(document, edit, cell.from),
          newText: edit.insert,
        }));
      });
      if (typeof renamed === 'string') return new ResponseError(ErrorCodes.InvalidParams, renamed);
      return renamed === null ? null : { changes: { [params.textDocument.uri]: renamed } };
    });
  }

  #initialize({ capabilities, initializationOptions }: InitializeParams): InitializeResult {
    // The command of a lens is the editor's own.
    const runs = (initializationOptions as { readonly runInTerminal?: unknown } | undefined)?.runInTerminal;
    this.#snippets = capabilities.textDocument?.completion?.completionItem?.snippetSupport === true;
    return {
      serverInfo: { name: 'apl-kernel', version: this.#version },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        completionProvider: {
          resolveProvider: true,
          triggerCharacters: ['|', ' ', '.', '[', "'", '"', '%', '@', '-'],
        },
        hoverProvider: true,
        signatureHelpProvider: { triggerCharacters: ['(', ','] },
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        documentFormattingProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        foldingRangeProvider: true,
        ...present({ codeLensProvider: runs === true ? {} : undefined }),
        semanticTokensProvider: { legend, full: true },
      },
    };
  }

  async #renew(): Promise<void> {
    await this.#knowledge.renew();
    this.#checkAll();
  }

  #checkAll(): void {
    for (const document of this.#documents.all()) this.#checkSoon(document);
  }

  #checkSoon({ uri }: TextDocument): void {
    clearTimeout(this.#timers.get(uri));
    const check = () => void this.#check(uri).catch(error => this.#session.options.log(String(error)));
    this.#timers.set(uri, setTimeout(check, pauseMs));
  }

  async #check(uri: string): Promise<void> {
    this.#timers.delete(uri);
    const { version } = this.#documents.get(uri) ?? {};
    const diagnostics = await this.#whole(uri, diagnosticsOf);
    // Text typed in the meantime is checked after this.
    if (version === undefined || this.#documents.get(uri)?.version !== version) return;
    await this.#connection.sendDiagnostics({ uri, version, diagnostics: diagnostics ?? [] });
  }

  async #whole<T>(uri: string, use: (document: TextDocument, known: Known) => T): Promise<T | null> {
    const document = this.#documents.get(uri);
    if (document === undefined) return null;
    return this.#knowledge.answer(document.getText(), known => use(document, known));
  }

  /** Returns null in prose, and in a document that is not open. */
  async #atCursor<T>(
    { textDocument: { uri }, position }: TextDocumentPositionParams,
    use: (document: TextDocument, cell: CellText, offset: number, known: Known) => T | Promise<T>,
  ): Promise<T | null> {
    const document = this.#documents.get(uri);
    if (document === undefined) return null;
    const offset = document.offsetAt(position);
    const cell = cellAt(document, offset);
    if (cell === undefined) return null;
    return this.#knowledge.answer(document.getText(), known => use(document, cell, offset, known));
  }

  #isAfterPipe({ textDocument: { uri }, position }: TextDocumentPositionParams): boolean {
    const document = this.#documents.get(uri);
    if (document === undefined) return false;
    return /\|[ \t]*$/.test(document.getText().slice(0, document.offsetAt(position)));
  }

  async #completeMagic(
    document: TextDocument,
    { text, from }: CellText,
    offset: number,
  ): Promise<CompletionList> {
    const found = await completeCell(this.#session, text, offset - from);
    const range = rangeOf(document, found, from);
    const items = found.items.map(({ text: newText, signature }) => ({
      label: visible(newText),
      kind: CompletionItemKind.Keyword,
      ...present({ detail: signature }),
      filterText: newText,
      textEdit: { range, newText },
    }));
    return { isIncomplete: true, items };
  }

  async #hoverMagic({ text, from }: CellText, offset: number) {
    const value = (await inspectCell(this.#session, text, offset - from))?.data['text/markdown'];
    return typeof value === 'string' ? { contents: { kind: MarkupKind.Markdown, value } } : null;
  }
}

function isMagicLine({ text, from }: CellText, offset: number): boolean {
  const at = offset - from;
  return /^[ \t]*%/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at));
}

function touches({ from, to }: Span, offset: number): boolean {
  return from <= offset && offset <= to;
}

/** Formats a document, keeping its line endings. */
function formatted(document: TextDocument) {
  const source = document.getText();
  const after = formatCells(source.replaceAll('\r\n', '\n'));
  const edit = editTo(document, source.includes('\r\n') ? after.replaceAll('\n', '\r\n') : after);
  return edit === undefined ? [] : [edit];
}
