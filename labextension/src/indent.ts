import { syntaxTree, type TreeIndentContext } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';

/** Nodes to which `indentLine` applies. */
export const indentedNodes = 'Document Statement Pipeline Parens Brackets Braces';

/**
 * Returns the indentation of a new line of APL, in columns: `|` is flush with the line where its pipeline starts; a continuation of
 * the line above, and the inside of brackets, is one unit further in. Null inside a string.
 */
export function indentLine(context: TreeIndentContext): number | null {
  const before = tokenBefore(context.state, context.pos);
  if (before === null) return 0;
  if (before.to > context.pos) return null;
  const holder = holderOf(before);
  if (holder === null) return 0;
  const base = context.lineIndent(holder.from);
  const further = isBracket(holder)
    ? !/^\s*[)\]}]/.test(context.textAfter)
    : goesOn(context.state, before) && !/^\s*\|/.test(context.textAfter);
  return further ? base + context.unit : base;
}

/** Returns the last token that starts before `position` and is not a comment. */
function tokenBefore(state: EditorState, position: number): SyntaxNode | null {
  let node: SyntaxNode = syntaxTree(state).topNode;
  let end = position;
  for (;;) {
    const child = node.childBefore(end);
    if (child === null) return node.type.isTop ? null : node;
    if (child.name === 'Comment') end = child.from;
    else node = child;
  }
}

/** Returns the statement, pipeline or open bracket that contains `token`. */
function holderOf(token: SyntaxNode): SyntaxNode | null {
  const parent = token.parent;
  const closed = parent !== null && isBracket(parent) && parent.lastChild?.from === token.from;
  const holder = closed && parent.firstChild?.from !== token.from ? parent.parent : parent;
  return holder === null || holder.type.isTop ? null : holder;
}

function isBracket(node: SyntaxNode): boolean {
  return node.name === 'Parens' || node.name === 'Brackets' || node.name === 'Braces';
}

const complete = new Set(['*', 'count', 'getschema']);

/** Returns true after a token that cannot be the last of a pipeline. */
function goesOn(state: EditorState, token: SyntaxNode): boolean {
  const openNames = ['Pipe', 'Comma', 'Operator', 'WordOperator', 'Keyword', 'Stage'];
  return openNames.includes(token.name) && !complete.has(state.sliceDoc(token.from, token.to));
}
