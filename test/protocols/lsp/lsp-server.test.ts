import { describe, expect, test } from 'vitest';
import {
  CodeActionRequest,
  CodeLensRequest,
  CompletionItemKind,
  type CompletionList,
  CompletionRequest,
  CompletionResolveRequest,
  DefinitionRequest,
  DiagnosticSeverity,
  DocumentFormattingRequest,
  DocumentSymbolRequest,
  FoldingRangeRequest,
  HoverRequest,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
  SemanticTokensRequest,
  SignatureHelpRequest,
} from 'vscode-languageserver/node';
import { Editor } from './client.js';

test('without a service, reports errors of the language but not unknown names', async () => {
  const editor = await Editor.start();
  await editor.write("%tiem last 6h\n['my-logs'] | where status == 500 | sumarize count() by uri");
  const found = await editor.diagnostics();
  expect(found.map(each => [editor.textIn(each.range), each.severity, each.source])).toEqual([
    ['tiem', DiagnosticSeverity.Error, 'apl'],
    ['sumarize', DiagnosticSeverity.Error, 'apl'],
  ]);
  expect(await editor.close()).toBe(0);
});

describe('with a service', () => {
  test('knows datasets, fields and values', async () => {
    const editor = await Editor.start('--start-service');
    await editor.write("['sample-http-logs'] | where nosuch == 1\n\nnowhere | count");
    expect((await editor.diagnostics(2)).map(each => [editor.textIn(each.range), each.code])).toEqual([
      ['nosuch', 'unknown-field'],
      ['nowhere', 'unknown-dataset'],
    ]);
    const field = await complete(editor, "['sample-http-logs'] | where req_dur^");
    expect(field.items[0]).toMatchObject({
      label: 'req_duration_ms',
      kind: CompletionItemKind.Field,
      textEdit: { newText: 'req_duration_ms' },
    });
    const dataset = await complete(editor, "['sample-h^");
    expect(dataset.items[0]).toMatchObject({
      label: 'sample-http-logs',
      filterText: "['sample-http-logs']",
      textEdit: { newText: "['sample-http-logs']" },
    });
    const value = await complete(editor, "['sample-http-logs'] | where method == \"^");
    expect(value.items.map(({ label }) => label)).toContain('GET');

    const at = await editor.write("['sample-http-logs'] | where req_dur^ation_ms > 500");
    const hover = await editor.connection.sendRequest(HoverRequest.type, at);
    expect(hover?.contents).toMatchObject({ kind: 'markdown' });
    expect(JSON.stringify(hover?.contents)).toContain('req_duration_ms');
    await editor.close();
  });
});

test('a fix replaces the wrong word', async () => {
  const editor = await Editor.start();
  await editor.write('logs | sumarize count() by uri');
  const [diagnostic] = await editor.diagnostics();
  const range = diagnostic?.range ?? expect.fail('no diagnostic');
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: editor.document,
    range,
    context: { diagnostics: [] },
  });
  expect(actions).toMatchObject([
    {
      title: 'Write summarize',
      isPreferred: true,
      edit: { changes: { [editor.document.uri]: [{ range, newText: 'summarize' }] } },
    },
  ]);
  await editor.close();
});

test('completes the language, magics and directives, with documentation', async () => {
  const editor = await Editor.start();
  const [summarize] = (await complete(editor, 'logs | summ^')).items;
  expect(summarize?.label).toBe('summarize');
  const resolved = await editor.connection.sendRequest(
    CompletionResolveRequest.type,
    summarize ?? expect.fail('nothing is offered'),
  );
  expect(resolved.documentation).toMatchObject({ kind: 'markdown' });
  const [call] = (await complete(editor, 'logs | extend x = strca^')).items;
  expect(call?.textEdit).toMatchObject({ newText: 'strcat($0)' });
  const magics = await complete(editor, '%ti^');
  expect(magics.items.map(({ label }) => label)).toContain('%time');
  const kinds = await complete(editor, '// @viz ba^\nlogs');
  expect(kinds.items.map(({ label }) => label)).toEqual(['bar']);
  const at = await editor.write('logs ^');
  const context = { triggerKind: 2 as const, triggerCharacter: ' ' };
  expect(await editor.connection.sendRequest(CompletionRequest.type, { ...at, context })).toBeNull();
  await editor.close();
});

test('finds, follows and renames names of let within their cell', async () => {
  const editor = await Editor.start();
  const source =
    'let slow = 500;\nlogs | where a > slow\n\n// %% other\nlet slow = 1;\nlogs | where a > sl^ow\n';
  const at = await editor.write(source);
  const rest = { line: 4, character: 4 };
  const { connection } = editor;
  const range = { start: rest, end: { line: 4, character: 8 } };
  expect(await connection.sendRequest(DefinitionRequest.type, at)).toEqual({
    uri: editor.document.uri,
    range,
  });
  const uses = await connection.sendRequest(ReferencesRequest.type, {
    ...at,
    context: { includeDeclaration: true },
  });
  expect(uses?.map(use => [use.range.start.line, editor.textIn(use.range)])).toEqual([
    [4, 'slow'],
    [5, 'slow'],
  ]);
  const prepared = await connection.sendRequest(PrepareRenameRequest.type, at);
  expect(prepared).toEqual({ start: { line: 5, character: 17 }, end: { line: 5, character: 21 } });
  for (const character of [4, 8]) {
    const edge = { ...at, position: { line: 4, character } };
    expect(await connection.sendRequest(PrepareRenameRequest.type, edge)).toEqual(range);
  }
  const renamed = await connection.sendRequest(RenameRequest.type, { ...at, newName: 'limit_ms' });
  expect(renamed?.changes?.[editor.document.uri]?.map(edit => [edit.range.start.line, edit.newText])).toEqual(
    [
      [4, 'limit_ms'],
      [5, 'limit_ms'],
    ],
  );
  const field = await editor.write('logs | where st^atus > 1');
  await expect(connection.sendRequest(RenameRequest.type, { ...field, newName: 'x' })).rejects.toThrow(
    'only names from let statements and parameters can be renamed',
  );
  await editor.close();
});

test('shows the signature of a call and the parameter at the cursor', async () => {
  const editor = await Editor.start();
  const at = await editor.write('logs | extend x = substring(a, ^');
  const help = await editor.connection.sendRequest(SignatureHelpRequest.type, at);
  expect(help).toMatchObject({ activeSignature: 0, activeParameter: 1 });
  expect(help?.signatures[0]?.label).toMatch(/^substring\(/);
  await editor.close();
});

test('formatting reports no edit for formatted code, and keeps prose and line endings', async () => {
  const editor = await Editor.start();
  const options = { tabSize: 2, insertSpaces: true };
  const format = () =>
    editor.connection.sendRequest(DocumentFormattingRequest.type, { textDocument: editor.document, options });
  await editor.write('// %% [markdown]\r\n//   a|b\r\n// %%\r\nlogs|where a>1\r\n');
  const edits = (await format()) ?? [];
  expect(edits).toHaveLength(1);
  await editor.write('// %% [markdown]\r\n//   a|b\r\n// %%\r\nlogs\r\n| where a > 1\r\n');
  expect(await format()).toEqual([]);
  await editor.close();
});

test('lists cells and their definitions, folds them, and offers to run them', async () => {
  const editor = await Editor.start();
  await editor.write(
    '// %% [markdown]\n// # Errors\n// of a day\n\n// %% Worst\nlet a = 1;\nworst << logs\n| where x > a\n',
  );
  const symbols = await editor.connection.sendRequest(DocumentSymbolRequest.type, {
    textDocument: editor.document,
  });
  expect(symbols).toMatchObject([
    { name: expect.stringContaining('Errors'), children: [] },
    { name: 'Worst', children: [{ name: 'a' }, { name: 'worst' }] },
  ]);
  const lenses = await editor.connection.sendRequest(CodeLensRequest.type, { textDocument: editor.document });
  expect(lenses?.map(({ range, command }) => [range.start.line, command?.title, command?.arguments])).toEqual(
    [[4, 'Run up to here in terminal', [editor.document.uri, 8]]],
  );
  const folds = await editor.connection.sendRequest(FoldingRangeRequest.type, {
    textDocument: editor.document,
  });
  expect(folds?.map(({ startLine, endLine, kind }) => [startLine, endLine, kind])).toEqual([
    [0, 2, 'comment'],
    [4, 7, 'region'],
    [6, 7, undefined],
  ]);
  await editor.close();
});

test("semantic tokens have the highlighter's types", async () => {
  const editor = await Editor.start();
  await editor.write('%time last 1h\nlogs\n| summarize n = count() by bin(_time, 1h) // end\n');
  const { tokenTypes } = editor.initialized.capabilities.semanticTokensProvider?.legend ?? { tokenTypes: [] };
  const tokens = await editor.connection.sendRequest(SemanticTokensRequest.type, {
    textDocument: editor.document,
  });
  const found: (readonly [string, string | undefined])[] = [];
  let [line, character] = [0, 0];
  for (let at = 0; at < (tokens?.data.length ?? 0); at += 5) {
    const [down = 0, right = 0, length = 0, type = 0] = tokens?.data.slice(at, at + 5) ?? [];
    character = down === 0 ? character + right : right;
    line += down;
    const range = { start: { line, character }, end: { line, character: character + length } };
    found.push([editor.textIn(range), tokenTypes[type]]);
  }
  expect(found).toEqual([
    ['%time', 'macro'],
    ['last 1h', 'string'],
    ['logs', 'class'],
    ['|', 'operator'],
    ['summarize', 'keyword'],
    ['n', 'variable'],
    ['=', 'operator'],
    ['count', 'function'],
    ['by', 'keyword'],
    ['bin', 'function'],
    ['_time', 'property'],
    ['1h', 'number'],
    ['// end', 'comment'],
  ]);
  await editor.close();
});

async function complete(editor: Editor, marked: string): Promise<CompletionList> {
  const at = await editor.write(marked);
  const found = await editor.connection.sendRequest(CompletionRequest.type, at);
  return found === null || Array.isArray(found) ? expect.fail('no list') : found;
}
