import { closeBrackets, completionStatus } from '@codemirror/autocomplete';
import {
  bidiIsolates,
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
import { EditorView, tooltips } from '@codemirror/view';
import { NodeProp, type SyntaxNode } from '@lezer/common';
import { aplParser } from '../../kernel/apl/editor/colors/highlight.js';
import { indentedNodes, indentLine } from './indent.js';
import { peerOf } from './link/peer.js';
import type { Workbench } from './link/workbench.js';
import { diagnostics } from './services/lint.js';
import { completions } from './services/service-complete.js';
import { explanations } from './services/service-hover.js';
import { isSignatureOpen, signatures } from './services/signature.js';
import { theme } from './services/theme.js';
import { welcome } from './services/welcome.js';

/** User settings that the editor follows. */
export interface EditorOptions {
  /** Closes brackets and quotes while typing. */
  readonly closeBrackets: boolean;
  /** Offers completions while typing; otherwise on request. */
  readonly completeWhileTyping: boolean;
  /** Marks errors while typing. */
  readonly markMistakes: boolean;
}

/** Returns the language with its editor support. */
export function aplSupport(workbench: Workbench, options: EditorOptions): LanguageSupport {
  const extensions: Extension[] = [
    ...[codeFolding(), foldGutter(), foldGutterStyle, theme, bidiIsolates()],
    ...[peerOf(workbench), explanations(workbench), signatures],
    completions(workbench, options.completeWhileTyping),
    tooltips({ parent: document.body }),
    popupAttribute,
    profileAttribute(workbench),
    welcome(workbench),
  ];
  if (options.markMistakes) extensions.push(diagnostics(workbench));
  if (options.closeBrackets) extensions.push(closeBrackets());
  return new LanguageSupport(aplLanguage(), extensions);
}

/**
 * Tells the front end's key bindings that a popup is open, since their selectors name this attribute: keys then go to the list before the
 * cell. A list about to open counts for Escape, which would otherwise leave the cell.
 */
const popupAttribute = EditorView.contentAttributes.of(({ state }) => {
  const status = completionStatus(state);
  if (status !== null) return { 'data-apl-popup': status === 'active' ? 'list' : 'pending' };
  return isSignatureOpen(state) ? { 'data-apl-popup': 'signature' } : null;
});

const foldGutterStyle = EditorView.theme({
  // JupyterLab's own folding option adds a second gutter; CodeMirror's base theme has `!important` here.
  '.cm-foldGutter ~ .cm-foldGutter': { display: 'none !important' },
  '.cm-foldGutter': { color: 'var(--jp-ui-font-color2)' },
});

/** Sets an attribute with the profile of the kernel, once it is known. */
function profileAttribute(workbench: Workbench): Extension {
  return EditorView.contentAttributes.of(view => {
    const profile = workbench.factsOf(view)?.profile;
    return profile === undefined ? null : { 'data-apl-profile': profile };
  });
}

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

/** Folds brackets; an unclosed one folds to its end. */
function foldBrackets(node: SyntaxNode): { from: number; to: number } | null {
  const open = node.firstChild;
  const last = node.lastChild;
  if (open === null || last === null || open.from === last.from) return null;
  const closed = open.type.prop(NodeProp.closedBy)?.includes(last.name) === true;
  return { from: open.to, to: closed ? last.from : node.to };
}
