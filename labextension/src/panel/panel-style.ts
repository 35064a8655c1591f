import { addStyle, QUIET } from '../ui/ui-style.js';

/** Adds the styles of the panel. */
export function addPanelStyle(): void {
  addStyle('apl-panel-style', RULES);
}

const RULES = `
.apl-panel { display: flex; flex-direction: column; min-width: 180px; background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); font-family: var(--jp-ui-font-family); font-size: var(--jp-ui-font-size1); }
.apl-panel-head { display: flex; align-items: center; gap: 6px; padding: 6px 8px 4px; }
.apl-panel-name { flex: 1; min-width: 0; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.apl-panel-filter { margin: 0 8px 4px; flex: none; }
.apl-panel-status { margin: 0; padding: 2px 8px; color: ${QUIET}; overflow-wrap: anywhere; max-height: 6em; overflow: auto; flex: none; }
.apl-panel-status:empty { display: none; }
.apl-tree-note { color: ${QUIET}; font-style: italic; cursor: default; }
.apl-tree-none > .apl-tree-label { font-style: italic; color: ${QUIET}; }
:is(.apl-tree-history, .apl-tree-value) > .apl-tree-label { font-family: var(--jp-code-font-family); font-size: var(--jp-ui-font-size0); }
.apl-panel-details { flex: none; max-height: 45%; overflow: auto; border-top: 1px solid var(--jp-border-color2); padding: 6px 8px; }
.apl-panel-details:empty { display: none; }
.apl-panel-subject { display: block; margin-bottom: 4px; overflow-wrap: anywhere; unicode-bidi: isolate; line-height: 1.25; max-height: 5em; overflow: auto; }
.apl-panel-details dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 8px; margin: 0 0 6px; font-size: var(--jp-ui-font-size0); }
.apl-panel-details dt { color: ${QUIET}; }
.apl-panel-details dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.apl-panel-details pre { margin: 0; padding: 4px 6px; max-height: 220px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-family: var(--jp-code-font-family); font-size: var(--jp-code-font-size); line-height: 1.35; background: var(--jp-layout-color2); border-radius: 2px; unicode-bidi: isolate; }
`;
