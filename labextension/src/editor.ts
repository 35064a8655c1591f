import { closeBrackets } from '@codemirror/autocomplete';
import {
  codeFolding,
  defineLanguageFacet,
  foldGutter,
  foldNodeProp,
  indentNodeProp,
  Language,
  LanguageSupport,
  languageDataProp,
} from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { NodeProp, type SyntaxNode } from '@lezer/common';
import { aplParser } from '../../kernel/apl/editor/highlight.js';
import { indentedNodes, indentLine } from './indent.js';

/** Returns the language with all that an editor needs for it; `closeBrackets` closes brackets and quotes on typing. */
export function aplSupport(options: { readonly closeBrackets: boolean }): LanguageSupport {
  const extensions: Extension[] = [codeFolding(), foldGutter(), foldGutterStyle];
  if (options.closeBrackets) extensions.push(closeBrackets());
  return new LanguageSupport(aplLanguage(), extensions);
}

const foldGutterStyle = EditorView.theme({
  // JupyterLab's own folding option brings a second gutter; CodeMirror's base theme has `!important` here.
  '.cm-foldGutter ~ .cm-foldGutter': { display: 'none !important' },
  '.cm-foldGutter': { color: 'var(--jp-ui-font-color2)' },
});

const languageData = defineLanguageFacet({
  commentTokens: { line: '//' },
  closeBrackets: { brackets: ['(', '[', '{', "'", '"'] },
  indentOnInput: /^\s*[|)\]}]$/,
  wordChars: '$',
});

function aplLanguage(): Language {
  const parser = aplParser(
    languageDataProp.add(type => (type.isTop ? languageData : undefined)),
    foldNodeProp.add({
      Pipeline: foldAfterFirstLine,
      'Parens Brackets Braces': foldBrackets,
    }),
    indentNodeProp.add({ [indentedNodes]: indentLine }),
  );
  return new Language(languageData, parser, [], 'axiom-apl');
}

function foldAfterFirstLine(node: SyntaxNode, state: EditorState): { from: number; to: number } | null {
  const from = state.doc.lineAt(node.from).to;
  return from < node.to ? { from, to: node.to } : null;
}

/** An unclosed bracket folds to its end. */
function foldBrackets(node: SyntaxNode): { from: number; to: number } | null {
  const open = node.firstChild;
  const last = node.lastChild;
  if (open === null || last === null || open.from === last.from) return null;
  const closed = open.type.prop(NodeProp.closedBy)?.includes(last.name) === true;
  return { from: open.to, to: closed ? last.from : node.to };
}
