import { addStyle } from '../ui/style.js';

/** Adds the look of the panel. */
export function addPanelStyle(): void {
  addStyle('apl-panel-style', RULES);
}

const RULES = `
.apl-panel { display: flex; flex-direction: column; min-width: 180px; background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); font-family: var(--jp-ui-font-family); font-size: var(--jp-ui-font-size1); }
.apl-panel-head { display: flex; align-items: center; gap: 6px; padding: 6px 8px 4px; }
.apl-panel-name { flex: 1; min-width: 0; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.apl-panel-filter { margin: 0 8px 4px; flex: none; }
.apl-panel-status { margin: 0; padding: 2px 8px; color: var(--jp-ui-font-color2); overflow-wrap: anywhere; max-height: 6em; overflow: auto; flex: none; }
.apl-panel-status:empty { display: none; }
.apl-tree { flex: 1 1 0; min-height: 90px; overflow: auto; position: relative; outline-offset: -2px; scrollbar-width: thin; }
.apl-tree:focus-visible { outline: 2px solid var(--jp-brand-color1); }
.apl-tree-space { position: relative; min-width: 100%; }
.apl-tree-row { position: absolute; left: 0; right: 0; height: 22px; line-height: 22px; display: flex; align-items: center; gap: 4px; padding-right: 8px; cursor: pointer; white-space: nowrap; contain: strict; }
.apl-tree-row:hover { background: var(--jp-layout-color2); }
.apl-tree-row[aria-selected="true"] { background: color-mix(in srgb, var(--jp-brand-color1) 22%, var(--jp-layout-color1)); }
.apl-tree-twisty { width: 14px; flex: none; text-align: center; color: var(--jp-ui-font-color2); }
.apl-tree-row[aria-expanded] > .apl-tree-twisty::before { content: '\\25B8'; }
.apl-tree-row[aria-expanded="true"] > .apl-tree-twisty::before { content: '\\25BE'; }
.apl-tree-label { flex: 1 1 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.apl-tree-detail { flex: none; max-width: 60%; overflow: hidden; text-overflow: ellipsis; color: var(--jp-ui-font-color2); font-size: var(--jp-ui-font-size0); font-variant-numeric: tabular-nums; }
.apl-tree-section > .apl-tree-label { font-weight: 600; }
.apl-tree-row[aria-current] > .apl-tree-label { font-weight: 600; }
.apl-tree-note { color: var(--jp-ui-font-color2); font-style: italic; cursor: default; }
.apl-tree-none > .apl-tree-label { font-style: italic; color: var(--jp-ui-font-color2); }
:is(.apl-tree-history, .apl-tree-value) > .apl-tree-label { font-family: var(--jp-code-font-family); font-size: var(--jp-ui-font-size0); }
.apl-panel-details { flex: none; max-height: 45%; overflow: auto; border-top: 1px solid var(--jp-border-color2); padding: 6px 8px; }
.apl-panel-details:empty { display: none; }
.apl-panel-subject { display: block; margin-bottom: 4px; overflow-wrap: anywhere; unicode-bidi: isolate; max-height: 4.5em; overflow: auto; }
.apl-panel-details dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 8px; margin: 0 0 6px; font-size: var(--jp-ui-font-size0); }
.apl-panel-details dt { color: var(--jp-ui-font-color2); }
.apl-panel-details dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
@media (forced-colors: active) { .apl-tree-row[aria-selected="true"], .apl-tree-row[aria-selected="true"] > * { forced-color-adjust: none; background: Highlight; color: HighlightText; } }
.apl-panel-details pre { margin: 0; padding: 4px 6px; max-height: 220px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-family: var(--jp-code-font-family); font-size: var(--jp-code-font-size); line-height: 1.35; background: var(--jp-layout-color2); border-radius: 2px; unicode-bidi: isolate; }
`;
