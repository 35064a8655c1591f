import { closeBrackets } from '@codemirror/autocomplete';
import {
  codeFolding,
  defineLanguageFacet,
  foldGutter,
  foldInside,
  foldNodeProp,
  indentNodeProp,
  Language,
  LanguageSupport,
  languageDataProp,
  type TreeIndentContext,
} from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { aplParser } from '../../kernel/apl/highlight.js';

/** Returns the language with all that an editor needs for it; `closeBrackets` closes brackets and quotes on typing. */
export function aplSupport(options: { readonly closeBrackets: boolean }): LanguageSupport {
  const extensions: Extension[] = [codeFolding(), foldGutter(), oneFoldGutter];
  if (options.closeBrackets) extensions.push(closeBrackets());
  return new LanguageSupport(aplLanguage(), extensions);
}

/** JupyterLab's own folding option brings a second gutter. */
const oneFoldGutter = EditorView.baseTheme({ '.cm-foldGutter ~ .cm-foldGutter': { display: 'none' } });

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
      'Parens Brackets Braces': foldInside,
    }),
    indentNodeProp.add({
      Document: () => 0,
      Pipeline: indentPipeline,
      'Parens Brackets Braces': indentBrackets,
    }),
  );
  return new Language(languageData, parser, [], 'axiom-apl');
}

function foldAfterFirstLine(node: SyntaxNode, state: EditorState): { from: number; to: number } | null {
  const from = state.doc.lineAt(node.from).to;
  return from < node.to ? { from, to: node.to } : null;
}

/** Every line of a pipeline is flush with the line where its source stands. */
function indentPipeline(context: TreeIndentContext): number {
  return context.lineIndent(context.node.from);
}

/** One unit inside brackets; the closing bracket is flush with the line that opened it. */
function indentBrackets(context: TreeIndentContext): number {
  const closes = /^\s*[)\]}]/.test(context.textAfter);
  return context.lineIndent(context.node.from) + (closes ? 0 : context.unit);
}
