import {
  type Input,
  NodeProp,
  type NodePropSource,
  NodeSet,
  NodeType,
  Parser,
  type PartialParse,
  Tree,
  type TreeFragment,
} from '@lezer/common';
import { styleTags, tags } from '@lezer/highlight';
import { aggregateNamed, functionNamed } from '../../catalog/all-functions.js';
import type { Span } from '../../syntax/ast.js';
import { type MagicLine, splitCell } from '../../syntax/cell.js';
import { parseTokens } from '../../syntax/parse.js';
import { directivesIn } from '../../syntax/readers/charting.js';
import { splitFile } from '../../syntax/syntax-file.js';
import { typeNamed } from '../../syntax/syntax-types.js';
import { type Token, tokenize } from '../../syntax/tokens/lexer.js';
import { type Role, RoleMap, type Structure } from './color-roles.js';
import { contextualWords, operatorWords, sortWords } from './words.js';

/**
 * Returns a Lezer parser for a cell or file of APL, made from the kernel's own lexer and parser. Its nodes carry highlighting
 * tags and bracket pairs; `props` adds what an editor needs, such as folding. Inner nodes: Statement, Pipeline, Parens,
 * Brackets, Braces, MagicLine.
 */
export function aplParser(...props: NodePropSource[]): Parser {
  return new AplParser(nodeSet.extend(...props));
}

const innerNames = [
  'Document',
  'Statement',
  'Pipeline',
  'Parens',
  'Brackets',
  'Braces',
  'MagicLine',
] as const;
const leafNames = [
  ...(['(', ')', '[', ']', '{', '}', 'Pipe', 'Comma', 'Semicolon', 'Colon', 'Dot', 'Operator'] as const),
  ...(['Stage', 'Keyword', 'WordOperator', 'SortOrder', 'Function', 'Aggregate', 'UnknownFunction'] as const),
  ...([
    'Type',
    'Dataset',
    'Field',
    'Member',
    'Definition',
    'LetName',
    'OptionName',
    'OptionValue',
    'Name',
    'Bool',
    'Null',
  ] as const),
  ...(['Number', 'Timespan', 'Datetime', 'String', 'Comment', 'MagicName', 'MagicArguments'] as const),
  'Invalid',
] as const;
type NodeName = (typeof innerNames)[number] | (typeof leafNames)[number];

const nodeNames: readonly NodeName[] = [...innerNames, ...leafNames];
const nodeIds = Object.fromEntries(nodeNames.map((name, id) => [name, id])) as Record<NodeName, number>;

const bracketPairs = { '(': ')', '[': ']', '{': '}' } as const;
type OpenBracket = keyof typeof bracketPairs;
const closingBrackets = new Set<string>(Object.values(bracketPairs));
const bracketNodes: Readonly<Record<OpenBracket, NodeName>> = {
  '(': 'Parens',
  '[': 'Brackets',
  '{': 'Braces',
};

/** Names and free text, possibly by others: isolated, so that right-to-left words do not reorder the tokens of a line. */
const isolatedNodes: ReadonlySet<NodeName> = new Set([
  ...(['Dataset', 'Field', 'Member', 'Definition', 'LetName', 'OptionName', 'OptionValue', 'Name'] as const),
  ...(['UnknownFunction', 'Stage', 'String', 'Comment', 'MagicArguments', 'Invalid'] as const),
]);

const nodeSet = new NodeSet(nodeNames.map(defineNode)).extend(
  styleTags({
    Stage: tags.keyword,
    'Keyword SortOrder': tags.keyword,
    WordOperator: tags.operatorKeyword,
    'Function Aggregate': tags.standard(tags.function(tags.variableName)),
    UnknownFunction: tags.function(tags.variableName),
    Type: [tags.typeName, tags.standard(tags.variableName)],
    Dataset: tags.special(tags.variableName),
    LetName: tags.special(tags.variableName),
    // One color for all of a.b.c: it is usually one field of that name.
    'Field Member Name': tags.variableName,
    Definition: tags.definition(tags.variableName),
    OptionName: tags.attributeName,
    OptionValue: tags.standard(tags.variableName),
    Bool: tags.bool,
    Null: tags.null,
    'Number Timespan': tags.number,
    Datetime: tags.special(tags.string),
    String: tags.string,
    Comment: tags.lineComment,
    MagicName: tags.meta,
    MagicArguments: tags.special(tags.string),
    Pipe: tags.controlOperator,
    Operator: tags.operator,
    'Comma Semicolon Colon': tags.separator,
    Dot: tags.derefOperator,
    '( )': tags.paren,
    '[ ]': tags.squareBracket,
    '{ }': tags.brace,
    Invalid: tags.invalid,
  }),
);

function defineNode(name: NodeName, id: number): NodeType {
  const props: [NodeProp<unknown>, unknown][] = isolatedNodes.has(name) ? [[NodeProp.isolate, 'ltr']] : [];
  for (const [open, close] of Object.entries(bracketPairs)) {
    if (name === open) props.push([NodeProp.closedBy, [close]]);
    if (name === close) props.push([NodeProp.openedBy, [open]]);
  }
  return NodeType.define({ id, name, props, top: name === 'Document' });
}

class AplParser extends Parser {
  readonly #nodes: NodeSet;

  constructor(nodes: NodeSet) {
    super();
    this.#nodes = nodes;
  }

  createParse(
    input: Input,
    _fragments: readonly TreeFragment[],
    ranges: readonly { from: number; to: number }[],
  ): PartialParse {
    return new AplParse(this.#nodes, input, ranges);
  }
}

/** Parses the whole text in one step, too fast for a typist to notice even at ten thousand lines. */
class AplParse implements PartialParse {
  stoppedAt: number | null = null;
  parsedPos: number;
  readonly #nodes: NodeSet;
  readonly #input: Input;
  readonly #ranges: readonly Span[];

  constructor(nodes: NodeSet, input: Input, ranges: readonly Span[]) {
    this.#nodes = nodes;
    this.#input = input;
    this.#ranges = ranges;
    this.parsedPos = ranges[0]?.from ?? 0;
  }

  advance(): Tree {
    const text = readRanges(this.#input, this.#ranges, this.stoppedAt ?? this.#input.length);
    this.parsedPos += text.length;
    return buildTree(text, this.#nodes);
  }

  stopAt(position: number): void {
    this.stoppedAt = position;
  }
}

/** Returns the text of the ranges up to `end`, with blanks between them to preserve offsets. */
function readRanges(input: Input, ranges: readonly Span[], end: number): string {
  let text = '';
  let at = ranges[0]?.from ?? 0;
  for (const range of ranges) {
    const to = Math.min(range.to, end);
    if (to <= range.from) break;
    text += ' '.repeat(range.from - at) + input.read(range.from, to);
    at = to;
  }
  return text;
}

function buildTree(text: string, nodes: NodeSet): Tree {
  const cells = splitFile(text).map(({ body, to }) => ({ body, ...splitCell(text, body, to) }));
  const roles = new RoleMap(text.length);
  for (const statement of cells.flatMap(({ statements }) => statements)) {
    const { result } = statement;
    if (result !== undefined) roles.addResult(result, text.slice(result.from, result.to));
    roles.addQuery(parseTokens(text, statement.tokens, statement));
  }
  const writer = new TreeWriter(text, roles);
  let at = 0;
  for (const { body, magics, tokens } of cells) {
    // The line that starts the cell.
    writer.addTokens(tokenize(text.slice(at, body)), at);
    at = body;
    for (const magic of magics) {
      writer.addTokens(tokenize(text.slice(at, magic.from)), at);
      writer.addMagic(magic);
      at = magic.to;
    }
    writer.addTokens(tokens, 0);
    at = Math.max(at, tokens.at(-1)?.to ?? at);
  }
  const buffer = writer.finish();
  const tree = Tree.build({ buffer, nodeSet: nodes, topID: nodeIds.Document, length: text.length });
  return tree.balance();
}

interface Frame {
  readonly name: NodeName;
  readonly from: number;
  /** End of a structure; a bracket ends at its partner. */
  readonly to: number;
  readonly close: string | undefined;
  /** Length of the buffer when the frame was opened. */
  readonly start: number;
}

/** Maximum depth; deeper nesting is left flat, as readers of a tree recurse. */
const maxFrames = 100;

/** Writes nodes in the order that `Tree.build` reads: children before parents, four numbers each. */
class TreeWriter {
  readonly #buffer: number[] = [];
  readonly #frames: Frame[] = [];
  readonly #structures: readonly Structure[];
  #nextStructure = 0;
  #lastTo = 0;
  readonly #text: string;
  readonly #roles: RoleMap;

  constructor(text: string, roles: RoleMap) {
    this.#text = text;
    this.#roles = roles;
    this.#structures = roles.structures;
  }

  addMagic(magic: MagicLine): void {
    const nameEnd = magic.from + (magic.cell ? 2 : 1) + magic.name.length;
    const argsFrom = magic.to - this.#text.slice(nameEnd, magic.to).trimStart().length;
    const start = this.#buffer.length;
    this.#addLeaf('MagicName', magic.from, nameEnd);
    if (argsFrom < magic.to) this.#addLeaf('MagicArguments', argsFrom, magic.to);
    this.#buffer.push(nodeIds.MagicLine, magic.from, magic.to, this.#buffer.length - start + 4);
  }

  /** Adds tokens with spans relative to `offset`. */
  addTokens(tokens: readonly Token[], offset: number): void {
    for (const [index, token] of tokens.entries()) this.#addToken(token, offset, tokens, index);
  }

  finish(): number[] {
    this.#closeFrames(0);
    return this.#buffer;
  }

  #addToken(token: Token, offset: number, tokens: readonly Token[], index: number): void {
    const from = token.from + offset;
    const to = token.to + offset;
    this.#closeEnded(from);
    this.#openStructures(from, to);
    const role = this.#roles.at(from);
    if (token.kind === 'symbol' && role !== 'stage') this.#addSymbol(token.text, from, to, role);
    else if (role === 'stage') this.#addStage(from, to);
    else if (isDirective(token, tokens[index - 1], this.#text.slice(this.#lastTo, from)))
      this.#addDirective(token.text, from, to);
    else this.#addLeaf(leafName(token, role, tokens, index), from, to);
    this.#lastTo = to;
  }

  /** Adds a directive such as `// @viz bar`: it is highlighted like a magic line. */
  #addDirective(text: string, from: number, to: number): void {
    const name = from + text.indexOf('@');
    const nameEnd = name + (/^@\w+/.exec(text.slice(text.indexOf('@')))?.[0].length ?? 0);
    const value = to - this.#text.slice(nameEnd, to).trimStart().length;
    this.#addLeaf('Comment', from, name);
    this.#addLeaf('MagicName', name, nameEnd);
    if (value < to) this.#addLeaf('MagicArguments', value, to);
  }

  /** Adds a stage word: `project-away` is three tokens and one node. */
  #addStage(from: number, to: number): void {
    const last = this.#buffer.length - 4;
    const continues = this.#lastTo === from && this.#buffer[last] === nodeIds.Stage;
    if (continues) this.#buffer[last + 2] = to;
    else this.#addLeaf('Stage', from, to);
  }

  #addSymbol(text: string, from: number, to: number, role: Role): void {
    // The brackets of ['a name'] are part of the name.
    const name = symbolNames[text] ?? 'Operator';
    if (role === 'none' && isOpenBracket(text))
      this.#openFrame(bracketNodes[text], from, to, bracketPairs[text]);
    this.#addLeaf(name, from, to);
    if (role === 'none') this.#closeBracket(text);
  }

  #addLeaf(name: NodeName, from: number, to: number): void {
    this.#buffer.push(nodeIds[name], from, to, 4);
  }

  #openFrame(name: NodeName, from: number, to: number, close: string | undefined): void {
    if (this.#frames.length < maxFrames)
      this.#frames.push({ name, from, to, close, start: this.#buffer.length });
  }

  #openStructures(from: number, to: number): void {
    for (;;) {
      const structure = this.#structures[this.#nextStructure];
      if (structure === undefined || structure.from > from) return;
      this.#nextStructure += 1;
      if (structure.from === from && structure.to >= to)
        this.#openFrame(structure.kind, from, structure.to, undefined);
    }
  }

  /** Closes the structures that ended before `position`, and any unclosed brackets in them. */
  #closeEnded(position: number): void {
    for (let index = 0; index < this.#frames.length; index += 1) {
      const frame = this.#frames[index];
      if (frame !== undefined && frame.close === undefined && frame.to <= position) this.#closeFrames(index);
    }
  }

  #closeBracket(text: string): void {
    if (!closingBrackets.has(text)) return;
    const open = this.#frames.findLastIndex(frame => frame.close === text);
    if (open >= 0) this.#closeFrames(open);
  }

  #closeFrames(downTo: number): void {
    while (this.#frames.length > downTo) {
      const frame = this.#frames.pop();
      if (frame === undefined) return;
      const last = this.#buffer.length - 2;
      const to = Math.max(this.#buffer[last] ?? 0, frame.from);
      this.#buffer.push(nodeIds[frame.name], frame.from, to, this.#buffer.length - frame.start + 4);
    }
  }
}

const symbolNames: Readonly<Record<string, NodeName>> = {
  '(': '(',
  ')': ')',
  '[': '[',
  ']': ']',
  '{': '{',
  '}': '}',
  '|': 'Pipe',
  ',': 'Comma',
  ';': 'Semicolon',
  ':': 'Colon',
  '.': 'Dot',
};

function isOpenBracket(text: string): text is OpenBracket {
  return text in bracketPairs;
}

const roleNames: Readonly<Record<Exclude<Role, 'none' | 'callee'>, NodeName>> = {
  stage: 'Stage',
  dataset: 'Dataset',
  field: 'Field',
  member: 'Member',
  definition: 'Definition',
  letName: 'LetName',
  optionName: 'OptionName',
  optionValue: 'OptionValue',
  operator: 'WordOperator',
};

function leafName(token: Token, role: Role, tokens: readonly Token[], index: number): NodeName {
  switch (token.kind) {
    case 'word':
      return role === 'none'
        ? wordName(token.text, tokens[index + 1]?.text === '(')
        : nameOf(role, token.text);
    case 'string':
      return role === 'none' ? 'String' : nameOf(role, token.text);
    case 'number':
      return token.problem === undefined ? 'Number' : 'Invalid';
    case 'timespan':
      return 'Timespan';
    case 'raw':
      return tokens[index - 2]?.text.startsWith('date') === true ? 'Datetime' : 'Timespan';
    case 'comment':
      return 'Comment';
    case 'symbol':
      return symbolNames[token.text] ?? 'Operator';
    case 'error':
      return 'Invalid';
  }
}

function nameOf(role: Exclude<Role, 'none'>, text: string): NodeName {
  if (role !== 'callee') return roleNames[role];
  // A type called as a function converts to it: long(x).
  if (functionNamed(text) !== undefined || typeNamed(text) !== undefined) return 'Function';
  return aggregateNamed(text) === undefined ? 'UnknownFunction' : 'Aggregate';
}

/** Returns the node for a word that the parser did not read as a name. */
function wordName(word: string, called: boolean): NodeName {
  if (contextualWords.has(word)) return 'Keyword';
  if (sortWords.has(word)) return 'SortOrder';
  if (operatorWords.has(word)) return 'WordOperator';
  if (word === 'true' || word === 'false') return 'Bool';
  if (word === 'null') return 'Null';
  if (called) return 'Function';
  return typeNamed(word) === undefined ? 'Name' : 'Type';
}

/** True if the comment is above a query: at the start, or after a comment, a semicolon or a blank line. */
function isDirective(token: Token, before: Token | undefined, between: string): boolean {
  if (token.kind !== 'comment' || directivesIn(token.text).length === 0) return false;
  return before === undefined || before.kind === 'comment' || before.text === ';' || /\n\s*\n/.test(between);
}
