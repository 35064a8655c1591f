/**
 * Color of text that is less prominent: JupyterLab's secondary text color is too pale for anything but a white page, such as the
 * header of a table, a selected row, or one under the pointer.
 */
export const QUIET = 'color-mix(in srgb, var(--jp-ui-font-color1) 70%, transparent)';

/** Adds rules to the page, once per id, with those of buttons and popovers; colors are from the application's theme. */
export function addStyle(id: string, rules: string): void {
  for (const [each, text] of [
    ['apl-ui-style', SHARED],
    [id, rules],
  ] as const) {
    if (document.getElementById(each) !== null) continue;
    const style = document.createElement('style');
    style.id = each;
    style.textContent = text;
    document.head.append(style);
  }
}

const SHARED = `
.apl-button { font: inherit; font-size: 12px; line-height: 18px; color: var(--jp-content-font-color1); background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color2); border-radius: 3px; padding: 1px 7px; cursor: pointer; white-space: nowrap; }
.apl-button:hover { background: var(--jp-layout-color2); }
.apl-button[aria-pressed="true"] { background: var(--jp-brand-color1); color: var(--jp-ui-inverse-font-color1); border-color: var(--jp-brand-color1); }
@media (forced-colors: active) { .apl-button[aria-pressed="true"] { forced-color-adjust: none; background: Highlight; color: HighlightText; border-color: Highlight; } }
.apl-popover { position: fixed; z-index: 1100; box-sizing: border-box; max-width: min(360px, 100vw); max-height: min(420px, 100vh); font-family: var(--jp-ui-font-family); overflow: auto; background: var(--jp-layout-color1); color: var(--jp-content-font-color1); border: 1px solid var(--jp-border-color1); border-radius: 4px; box-shadow: var(--jp-elevation-z6); padding: 8px; font-size: 12px; }
.apl-popover p { margin: 0 0 6px; }
.apl-popover .apl-said { margin: 4px 0 0; color: var(--jp-error-color1); overflow-wrap: anywhere; }
.apl-popover .apl-said:empty { display: none; }
.apl-popover header { margin-bottom: 6px; overflow-wrap: anywhere; color: ${QUIET}; }
.apl-popover header strong { color: var(--jp-content-font-color1); }
.apl-popover .apl-row, .apl-row { display: flex; flex-wrap: wrap; gap: 4px; margin: 0 0 6px; align-items: center; }
.apl-input { font: inherit; font-size: 12px; color: var(--jp-content-font-color1); background: var(--jp-layout-color0); border: 1px solid var(--jp-border-color1); border-radius: 3px; padding: 2px 6px; min-width: 0; box-sizing: border-box; }
:is(.apl-popover, .apl-row, .apl-panel) :is(button, input, select):focus-visible, .apl-toolbar-button:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
`;
