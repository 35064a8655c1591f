import { EditorView } from '@codemirror/view';

/** Letters and colors of the kinds of completions. */
const kinds: Readonly<Record<string, readonly [letter: string, color: string]>> = {
  operator: ['|', 'var(--jp-mirror-editor-keyword-color)'],
  keyword: ['K', 'var(--jp-mirror-editor-keyword-color)'],
  function: ['ƒ', 'var(--jp-mirror-editor-builtin-color)'],
  aggregate: ['Σ', 'var(--jp-mirror-editor-builtin-color)'],
  dataset: ['D', 'var(--jp-mirror-editor-variable-2-color)'],
  field: ['F', 'var(--jp-mirror-editor-def-color)'],
  let: ['L', 'var(--jp-mirror-editor-variable-2-color)'],
  value: ['V', 'var(--jp-mirror-editor-string-color)'],
  type: ['T', 'var(--jp-mirror-editor-builtin-color)'],
  option: ['O', 'var(--jp-mirror-editor-attribute-color)'],
  snippet: ['S', 'var(--jp-ui-font-color2)'],
  magic: ['%', 'var(--jp-mirror-editor-meta-color)'],
};

const icons = Object.fromEntries(
  Object.entries(kinds).map(([kind, [letter, color]]) => [
    `.cm-completionIcon-${kind}`,
    { color, '&::after': { content: `"${letter}"` } },
  ]),
);

const box = {
  color: 'var(--jp-ui-font-color1)',
  backgroundColor: 'var(--jp-layout-color1)',
  border: '1px solid var(--jp-border-color1)',
  borderRadius: 'var(--jp-border-radius)',
  boxShadow: 'var(--jp-elevation-z6)',
};

/** Styles of lists, explanations and marks, in the colors of JupyterLab's theme. */
export const theme = EditorView.theme({
  '.cm-tooltip': {
    ...box,
    zIndex: '1000',
    fontFamily: 'var(--jp-ui-font-family)',
    fontSize: 'var(--jp-ui-font-size1)',
    lineHeight: '1.4',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--jp-code-font-family)',
    fontSize: 'var(--jp-code-font-size)',
    maxWidth: 'min(620px, 95vw)',
    maxHeight: '14em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    alignItems: 'baseline',
    gap: '6px',
    padding: '2px 8px 2px 4px',
    color: 'var(--jp-ui-font-color1)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--jp-layout-color3)',
    color: 'var(--jp-ui-font-color1)',
  },
  '.cm-completionIcon': {
    width: '1.4em',
    flexShrink: '0',
    padding: '0',
    fontSize: '90%',
    fontWeight: '700',
    opacity: '1',
    textAlign: 'center',
  },
  ...icons,
  '.cm-completionLabel': { flexShrink: '0', maxWidth: '420px', overflow: 'hidden', textOverflow: 'ellipsis' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': {
    flex: '1',
    marginLeft: '8px',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    textAlign: 'right',
    fontStyle: 'normal',
    fontSize: '90%',
    color: 'var(--jp-ui-font-color2)',
  },
  '.cm-tooltip.cm-completionInfo': { ...box, padding: '8px 10px', maxWidth: '380px', width: 'max-content' },
  '.apl-doc, .apl-signature': {
    maxWidth: 'min(560px, 90vw)',
    maxHeight: '320px',
    overflow: 'auto',
    overflowWrap: 'anywhere',
    padding: '6px 10px',
  },
  '.cm-completionInfo .apl-doc, .apl-signature .apl-doc': { padding: '0', maxHeight: '240px' },
  '.apl-doc p, .apl-doc ul, .apl-doc pre': { margin: '0 0 6px' },
  '.apl-doc > :last-child': { marginBottom: '0' },
  '.apl-doc ul': { paddingLeft: '18px' },
  '.apl-doc pre': { padding: '4px 6px', overflow: 'auto', background: 'var(--jp-layout-color2)' },
  '.apl-doc code, .apl-signature > code': {
    fontFamily: 'var(--jp-code-font-family)',
    fontSize: 'var(--jp-code-font-size)',
    color: 'inherit',
    background: 'none',
    whiteSpace: 'pre-wrap',
  },
  '.apl-signature strong': { color: 'var(--jp-mirror-editor-keyword-color)' },
  '.cm-tooltip-lint': { padding: '0', maxWidth: 'min(560px, 90vw)' },
  '.cm-diagnostic': { padding: '6px 10px', overflowWrap: 'anywhere' },
  '.cm-diagnosticAction': {
    margin: '6px 0 0',
    padding: '2px 8px',
    color: 'var(--jp-ui-inverse-font-color0)',
    background: 'var(--jp-brand-color1)',
    borderRadius: 'var(--jp-border-radius)',
    fontSize: 'inherit',
  },
  '.apl-hint': { color: 'var(--jp-ui-font-color2)' },
  '.apl-unused': { opacity: '0.55' },
});
