import {
  type CodeLens,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  type SemanticTokens,
  SemanticTokensBuilder,
  SemanticTokenTypes,
  SymbolKind,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { aplParser } from '../../apl/editor/colors/highlight.js';
import type { Span } from '../../apl/syntax/ast.js';
import { splitCell } from '../../apl/syntax/cell.js';
import { splitFile } from '../../apl/syntax/syntax-file.js';
import { present } from '../../present.js';
import { oneLine } from '../../text.js';
import { rangeOf } from './lsp-cells.js';

const parser = aplParser();

/** Token type of each leaf of the tree; punctuation has none. */
const tokenTypes: Readonly<Record<string, SemanticTokenTypes>> = {
  Stage: SemanticTokenTypes.keyword,
  Keyword: SemanticTokenTypes.keyword,
  SortOrder: SemanticTokenTypes.keyword,
  WordOperator: SemanticTokenTypes.keyword,
  Bool: SemanticTokenTypes.keyword,
  Null: SemanticTokenTypes.keyword,
  Function: SemanticTokenTypes.function,
  Aggregate: SemanticTokenTypes.function,
  UnknownFunction: SemanticTokenTypes.function,
  Type: SemanticTokenTypes.type,
  Dataset: SemanticTokenTypes.class,
  Field: SemanticTokenTypes.property,
  Member: SemanticTokenTypes.property,
  Name: SemanticTokenTypes.property,
  Definition: SemanticTokenTypes.variable,
  LetName: SemanticTokenTypes.variable,
  OptionName: SemanticTokenTypes.parameter,
  OptionValue: SemanticTokenTypes.enumMember,
  Number: SemanticTokenTypes.number,
  Timespan: SemanticTokenTypes.number,
  Datetime: SemanticTokenTypes.string,
  String: SemanticTokenTypes.string,
  Comment: SemanticTokenTypes.comment,
  MagicName: SemanticTokenTypes.macro,
  MagicArguments: SemanticTokenTypes.string,
  Operator: SemanticTokenTypes.operator,
  Pipe: SemanticTokenTypes.operator,
};

/** Token types by their numbers in a response. */
export const legend = {
  tokenTypes: [...new Set(Object.values(tokenTypes))],
  tokenModifiers: [],
};

/** Returns the tokens of a document; a multi-line token becomes one per line. */
export function semanticTokens(document: TextDocument): SemanticTokens {
  const builder = new SemanticTokensBuilder();
  const source = document.getText();
  parser.parse(source).iterate({
    enter: ({ name, from, to }) => {
      const type = tokenTypes[name];
      if (type === undefined) return;
      let at = from;
      for (const line of source.slice(from, to).split('\n')) {
        const length = line.replace(/\r$/, '').length;
        const { line: row, character } = document.positionAt(at);
        if (length > 0) builder.push(row, character, length, legend.tokenTypes.indexOf(type), 0);
        at += line.length + 1;
      }
    },
  });
  return builder.build();
}

/** Returns the cells, pipelines and brackets that span several lines. */
export function foldingRanges(document: TextDocument): FoldingRange[] {
  const source = document.getText();
  const found: FoldingRange[] = [];
  const add = ({ from, to }: Span, kind?: FoldingRangeKind) => {
    const end = from + source.slice(from, to).trimEnd().length;
    const [startLine, endLine] = [document.positionAt(from).line, document.positionAt(end).line];
    if (startLine < endLine) found.push({ startLine, endLine, ...present({ kind }) });
  };
  for (const cell of splitFile(source))
    if (cell.body > cell.from) add(cell, cell.prose ? FoldingRangeKind.Comment : FoldingRangeKind.Region);
  parser.parse(source).iterate({
    enter: node => {
      if (['Pipeline', 'Parens', 'Brackets', 'Braces'].includes(node.name)) add(node);
    },
  });
  return found;
}

/** Editor command that runs a file up to a line; its arguments are the document and the line, from 1. */
export const runCommand = 'apl.runInTerminal';

/** Returns a lens for each code cell of a file, which runs the file up to there; notebooks run their cells themselves. */
export function codeLenses(document: TextDocument): CodeLens[] {
  if (!document.uri.startsWith('file:')) return [];
  const source = document.getText();
  const cells = splitFile(source);
  const title = cells.length === 1 ? 'Run in terminal' : 'Run up to here in terminal';
  return cells
    .filter(({ prose, body, to }) => !prose && splitCell(source, body, to).statements.length > 0)
    .map(({ from, to }) => {
      const { start, end } = rangeOf(document, { from, to: from + source.slice(from, to).trimEnd().length });
      const command = { title, command: runCommand, arguments: [document.uri, end.line + 1] };
      return { range: { start, end: start }, command };
    });
}

/** Returns the cells of a document that has several, with their definitions and queries. */
export function symbolsOf(document: TextDocument): DocumentSymbol[] {
  const source = document.getText();
  const cells = splitFile(source);
  const statements = cells.map(({ prose, body, to }) => (prose ? [] : statementSymbols(document, body, to)));
  if (cells.length === 1) return statements.flat();
  return cells.flatMap(({ from, body, to, prose }, index) => {
    const children = statements[index] ?? [];
    if (body === from && children.length === 0) return [];
    const selection = { from, to: Math.max(from, body - 1) };
    return {
      name: titleOf(source.slice(from, body), source.slice(body, to), prose, index),
      kind: prose ? SymbolKind.String : SymbolKind.Module,
      range: rangeOf(document, { from, to }),
      selectionRange: rangeOf(document, selection),
      children,
    };
  });
}

function titleOf(marker: string, body: string, prose: boolean, index: number): string {
  const title = marker.replace(/^\/\/ %%(?: \[\w+\])?(?: tags=\[[^\]]*\])?/, '').trim();
  const first = prose ? body.replace(/^\/\/ ?#*\s*/gm, '').trim() : '';
  return oneLine(title || first, longestName) || `Cell ${index + 1}`;
}

function statementSymbols(document: TextDocument, body: number, to: number): DocumentSymbol[] {
  const source = document.getText();
  return splitCell(source, body, to).statements.map(statement => {
    const { result } = statement;
    const from = result?.from ?? statement.from;
    const text = source.slice(statement.from, statement.to);
    const [, defined] = /^let\s+([\w$]+)/.exec(text) ?? [];
    const name = result === undefined ? defined : source.slice(result.from, result.to);
    const range = rangeOf(document, { from, to: statement.to });
    return {
      name: name ?? (oneLine(text.replace(/\/\/.*$/gm, ''), longestName) || 'query'),
      kind: name === undefined ? SymbolKind.Event : SymbolKind.Variable,
      range,
      selectionRange: range,
    };
  });
}

/** Maximum length of a name in a list of symbols, in characters. */
const longestName = 60;
