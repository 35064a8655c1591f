import { addStyle, QUIET } from '../../ui/ui-style.js';

/** Adds the styles of the import dialog, and of a part of the page while a file is dragged over it. */
export function addImportStyle(): void {
  addStyle('apl-import-style', RULES);
}

const RULES = `
.apl-import-dialog .jp-Dialog-content { max-width: min(960px, 96vw); max-height: 92vh; width: 960px; }
.apl-import { display: flex; flex-direction: column; gap: 8px; min-height: 0; font-size: 12px; line-height: 1.4; }
.apl-import-options { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 6px 10px; }
.apl-import-options label { display: flex; flex-direction: column; gap: 2px; min-width: 0; color: ${QUIET}; }
.apl-import .apl-import-options .apl-input { height: 24px; width: 100%; font-size: 12px; line-height: 18px; padding: 2px 6px; border: 1px solid var(--jp-border-color1); background-color: var(--jp-layout-color0); background-size: 16px; background-position: right 2px center; box-shadow: none; text-overflow: ellipsis; }
.apl-import .apl-import-options select.apl-input { padding-right: 22px; }
.apl-import .jp-select-wrapper { margin: 0; height: auto; }
.apl-import :is(input, select, summary, .apl-import-table):focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
.apl-import-more > summary { cursor: pointer; color: ${QUIET}; width: max-content; }
.apl-import-more[open] > summary { margin-bottom: 6px; }
.apl-import-check { display: flex; align-items: center; gap: 6px; margin-top: 6px; }
.apl-import-said { max-height: 9.8em; overflow: auto; overflow-wrap: anywhere; flex: none; }
.apl-import-said p { margin: 0; }
.apl-import-said p:first-child { font-weight: 600; }
.apl-import-said code, .apl-import-line { font-family: var(--jp-code-font-family); font-size: var(--jp-code-font-size); unicode-bidi: isolate; }
.apl-import-said code { background: var(--jp-layout-color2); padding: 0 2px; border-radius: 2px; }
.apl-import-problem { border-left: 3px solid var(--jp-error-color1); padding-left: 8px; }
.apl-import-table { overflow: auto; min-height: 60px; max-height: 38vh; border: 1px solid var(--jp-border-color2); }
.apl-import-table:empty { display: none; }
.apl-import-table table { border-collapse: separate; border-spacing: 0; width: 100%; }
.apl-import-table :is(th, td) { text-align: left; padding: 2px 8px; max-width: 260px; overflow: hidden; text-overflow: ellipsis; white-space: pre; unicode-bidi: plaintext; border-bottom: 1px solid var(--jp-border-color3); color: var(--jp-content-font-color1); }
.apl-import-table tbody th { font-weight: 600; position: sticky; left: 0; background: var(--jp-layout-color1); max-width: 200px; }
.apl-import-table thead th { position: sticky; top: 0; z-index: 1; background: var(--jp-layout-color2); }
.apl-import-table tbody td:nth-child(2) { color: ${QUIET}; }
.apl-import-table td:nth-child(n+3) { font-family: var(--jp-code-font-family); }
.apl-import-line { display: block; padding: 4px 6px; background: var(--jp-layout-color2); border-radius: 2px; overflow-wrap: anywhere; max-height: 5em; overflow: auto; flex: none; }
.apl-import-dialog .jp-Dialog-button:disabled { opacity: .5; cursor: default; }
.apl-drop { outline: 2px dashed var(--jp-brand-color1); outline-offset: -3px; }
`;
