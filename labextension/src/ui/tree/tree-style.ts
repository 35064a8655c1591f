import { QUIET } from '../ui-style.js';

/** Styles of trees; colors are from the application's theme. */
export const RULES = `
.apl-tree { flex: 1 1 0; min-height: 90px; overflow: auto; position: relative; outline-offset: -2px; scrollbar-width: thin; }
.apl-tree:focus-visible { outline: 2px solid var(--jp-brand-color1); }
.apl-tree-space { position: relative; min-width: 100%; }
.apl-tree-row { position: absolute; left: 0; right: 0; height: 22px; line-height: 22px; display: flex; align-items: center; gap: 4px; padding: 0 8px 0 calc(4px + var(--apl-tree-level) * 14px); cursor: pointer; white-space: nowrap; contain: strict; }
.apl-tree-row:hover { background: var(--jp-layout-color2); }
.apl-tree-row[aria-selected="true"] { background: color-mix(in srgb, var(--jp-brand-color1) 22%, var(--jp-layout-color1)); }
.apl-tree-twisty { width: 14px; flex: none; text-align: center; color: ${QUIET}; }
.apl-tree-row[aria-expanded] > .apl-tree-twisty::before { content: '\\25B8'; }
.apl-tree-row[aria-expanded="true"] > .apl-tree-twisty::before { content: '\\25BE'; }
.apl-tree-label { flex: 1 1 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.apl-tree-detail { flex: none; max-width: 60%; overflow: hidden; text-overflow: ellipsis; color: ${QUIET}; font-size: var(--jp-ui-font-size0); font-variant-numeric: tabular-nums; }
.apl-tree-section > .apl-tree-label { font-weight: 600; }
.apl-tree-row[aria-current] > .apl-tree-label { font-weight: 600; }
@media (forced-colors: active) { .apl-tree-row[aria-selected="true"], .apl-tree-row[aria-selected="true"] > * { forced-color-adjust: none; background: Highlight; color: HighlightText; } }
`;
