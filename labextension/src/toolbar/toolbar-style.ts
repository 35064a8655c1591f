import { addStyle, QUIET } from '../ui/ui-style.js';

/** Adds the styles of the items in the toolbars of notebooks and cells. */
export function addToolbarStyle(): void {
  addStyle('apl-toolbar-style', RULES);
}

/** Lines printed by magics wrap between words, as on a page. */
const RULES = `
:is(.apl-notebook, .apl-dashboard) .jp-RenderedText pre { word-break: normal; overflow-wrap: anywhere; }
.apl-toolbar-item { display: flex; align-items: center; }
.apl-toolbar-button { display: flex; align-items: center; gap: 4px; height: 24px; margin: 0 2px; padding: 0 6px; border: 1px solid transparent; border-radius: 2px; background: none; color: var(--jp-ui-font-color1); font-family: var(--jp-ui-font-family); font-size: var(--jp-ui-font-size1); cursor: pointer; white-space: nowrap; }
.apl-toolbar-button > * { pointer-events: none; }
.apl-toolbar-button:hover:not(:disabled) { background: var(--jp-layout-color2); }
.apl-toolbar-button:disabled { color: ${QUIET}; cursor: default; }
.apl-toolbar-range { max-width: 340px; }
.apl-toolbar-move { padding: 0 5px; font-size: 15px; margin: 0; }
.apl-toolbar-profile { max-width: 120px; }
.apl-toolbar-refresh, .apl-toolbar-stop { min-width: 44px; padding: 0 4px; justify-content: center; font-variant-numeric: tabular-nums; }
.jp-Toolbar-item:has(> .apl-toolbar-refresh):has(+ .jp-Toolbar-item:not(.lm-mod-hidden) > .apl-toolbar-stop) { display: none; }
.apl-toolbar-agents { border-color: currentcolor; font-weight: 600; }
.apl-toolbar-stop { color: var(--jp-error-color1); border-color: currentcolor; }
.apl-toolbar-stop::before { content: ''; width: 9px; height: 9px; flex: none; background: currentcolor; border-radius: 1px; }
.apl-toolbar-button[aria-haspopup], .apl-toolbar-refresh { border: 1px solid var(--jp-border-color2); }
.apl-toolbar-button[aria-haspopup]::after { content: '\\25BE'; margin-left: auto; flex: none; color: ${QUIET}; }
.apl-toolbar-profile.apl-remote::after { color: inherit; }
.apl-toolbar-text { overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.apl-toolbar-range::before { content: '\\25F7'; flex: none; }
.apl-toolbar-flag { flex: none; font-size: 10px; padding: 0 4px; border-radius: 6px; background: var(--jp-layout-color3); }
.apl-toolbar-profile.apl-remote { background: #b3261e; color: #fff; }
.apl-toolbar-profile.apl-remote:hover:not(:disabled) { background: #8f1d17; }
@media (forced-colors: active) { .apl-toolbar-profile.apl-remote, .apl-toolbar-stop { forced-color-adjust: none; } }
.apl-popover .apl-wide { flex: 1; }
.apl-popover .apl-times label { display: flex; align-items: center; justify-content: space-between; gap: 6px; margin-bottom: 4px; }
.apl-popover .apl-parameter { display: grid; grid-template-columns: 1fr auto; gap: 2px 8px; margin-bottom: 8px; }
.apl-popover .apl-parameter > strong { overflow-wrap: anywhere; unicode-bidi: isolate; }
.apl-popover .apl-parameter > .apl-input { grid-column: 1 / -1; width: 100%; max-width: 100%; font-family: var(--jp-code-font-family); }
.apl-parameter-type { color: ${QUIET}; }
.apl-popover .apl-title { margin: 0 0 6px; }
.apl-popover .apl-hint { margin: 0; color: ${QUIET}; }
.apl-choices { display: flex; flex-direction: column; gap: 3px; max-height: 300px; overflow: auto; padding: 2px; }
.apl-choices .apl-button { display: flex; gap: 8px; justify-content: space-between; text-align: left; white-space: normal; flex: none; }
.apl-choices .apl-button > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.apl-choices .apl-button > span { color: inherit; opacity: 0.8; }
.apl-choices .apl-button[aria-pressed="true"] > span { opacity: 1; }
.apl-choices .apl-button:disabled { cursor: default; opacity: 0.7; }
`;
