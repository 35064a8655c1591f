import { addStyle, QUIET } from '../../ui/ui-style.js';

/** Adds the styles of streams. */
export function addStreamStyle(): void {
  addStyle('apl-stream-style', RULES);
}

const RULES = `
.apl-stream-frame { display: flex; flex-direction: column; position: relative; box-sizing: border-box; min-height: 60px; border: 1px solid var(--jp-border-color2); border-radius: 4px; background: var(--jp-layout-color0); overflow: hidden; resize: vertical; }
.apl-stream-head { display: flex; flex: none; flex-wrap: wrap; align-items: center; gap: 2px 6px; padding: 3px 8px; background: var(--jp-layout-color2); border-bottom: 1px solid var(--jp-border-color1); font-size: 11px; color: ${QUIET}; }
.apl-stream-name { font-weight: 600; flex: 0 1 auto; min-width: 0; max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.apl-stream-shared { flex: 0 1 auto; min-width: 0; margin-right: 6px; }
.apl-stream-jump { display: flex; flex: 0 1 auto; min-width: 0; max-width: 100%; gap: 4px; margin-left: auto; }
.apl-stream-jump .apl-grid-input { flex: 0 1 110px; width: 110px; min-width: 40px; }
.apl-stream { position: relative; flex: 1; min-height: 0; overflow: hidden auto; scrollbar-width: thin; }
.apl-stream-lines { position: sticky; top: 0; overflow: hidden; outline: none; }
.apl-stream-frame:has(.apl-stream-lines:focus-visible)::after { content: ''; position: absolute; inset: 0; z-index: 2; border: 2px solid var(--jp-brand-color1); border-radius: 3px; pointer-events: none; }
.apl-stream-line { display: flex; align-items: flex-start; gap: 8px; box-sizing: border-box; min-height: 24px; padding: 2px 8px 2px 6px; border-left: 3px solid transparent; font: 12px/20px var(--jp-code-font-family); white-space: pre; cursor: default; }
.apl-stream-line:nth-child(even) { background: color-mix(in srgb, var(--jp-layout-color2) 45%, var(--jp-layout-color0)); }
.apl-stream-line:hover { background: var(--jp-layout-color2); }
.apl-stream-line.apl-stream-error { border-left-color: var(--jp-error-color1); }
.apl-stream-line.apl-stream-warning { border-left-color: var(--jp-warn-color1); }
.apl-stream-line > [role=gridcell] { flex: none; border-radius: 2px; unicode-bidi: isolate; }
.apl-stream-time { font-variant-numeric: tabular-nums; color: ${QUIET}; }
.apl-stream-line > .apl-stream-level { min-width: 42px; max-width: 84px; overflow: hidden; text-overflow: ellipsis; }
.apl-stream-line > .apl-stream-message { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; }
.apl-stream-rest { display: flex; flex: 1 1000 0; gap: 4px; min-width: 0; overflow: hidden; mask-image: linear-gradient(to right, #000 calc(100% - 24px), transparent); }
.apl-stream-chip { flex: none; max-width: 320px; padding: 0 5px; overflow: hidden; text-overflow: ellipsis; border-radius: 3px; font-size: 11px; line-height: 18px; margin: 1px 0; background: color-mix(in srgb, var(--jp-layout-color3) 55%, var(--jp-layout-color0)); unicode-bidi: isolate; }
.apl-stream-chip > .apl-grid-trace { margin: 0 -5px 0 5px; line-height: 18px; vertical-align: top; visibility: hidden; }
.apl-stream-line:hover .apl-grid-trace, .apl-stream-selected > .apl-grid-trace { visibility: visible; }
.apl-stream-chip > span { color: ${QUIET}; }
.apl-stream-line .apl-stream-null { color: ${QUIET}; font-style: italic; }
.apl-stream-line [role=gridcell].apl-stream-error { color: var(--jp-error-color1); font-weight: 600; }
.apl-stream-line [role=gridcell].apl-stream-warning { color: color-mix(in srgb, var(--jp-warn-color1) 80%, var(--jp-content-font-color1)); font-weight: 600; }
.apl-stream-line [role=gridcell].apl-stream-quiet { color: ${QUIET}; }
.apl-stream-line.apl-stream-chosen, .apl-stream-line [role=gridcell].apl-stream-selected { background: color-mix(in srgb, var(--jp-brand-color1) 24%, var(--jp-layout-color0)); }
.apl-stream-wrap .apl-stream-line { flex-wrap: wrap; gap: 0 8px; }
.apl-stream-wrap .apl-stream-line > .apl-stream-message { white-space: pre-wrap; overflow-wrap: anywhere; }
.apl-stream-wrap .apl-stream-message.apl-stream-long { flex: 1 1 60%; }
.apl-stream-wrap .apl-stream-rest { flex: 1 0 100%; flex-wrap: wrap; gap: 0 4px; padding-left: 12px; box-sizing: border-box; mask-image: none; }
.apl-stream-wrap .apl-stream-chip { max-width: 100%; white-space: pre-wrap; overflow-wrap: anywhere; flex: 0 1 auto; }
@media (forced-colors: active) { .apl-stream-line.apl-stream-chosen, .apl-stream-line [role=gridcell].apl-stream-selected { forced-color-adjust: none; background: Highlight; color: HighlightText; } }
@media print { .apl-stream-frame { border: 0; resize: none; } .apl-stream-jump { display: none; } }
`;
