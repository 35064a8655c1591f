import { addStyle, QUIET } from '../ui/ui-style.js';

/** Adds the styles of traces. */
export function addTraceStyle(): void {
  addStyle('apl-trace-style', RULES);
}

const RULES = `
.apl-trace-view { container-type: inline-size; color: var(--jp-content-font-color1); font: 12px/1.5 var(--jp-ui-font-family); padding: 2px 0; }
.apl-trace-view :is(button, input):focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
.apl-trace-view [hidden] { display: none; }
.apl-trace-title { font-weight: 600; overflow-wrap: anywhere; }
.apl-trace-legend { display: flex; flex-wrap: wrap; gap: 0 12px; margin: 4px 0; }
.apl-trace-legend > span { max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.apl-trace-swatch { display: inline-block; flex: none; width: 8px; height: 8px; margin-right: 5px; }
.apl-trace-view .apl-trace-tools { margin: 4px 0; }
.apl-trace-tools .apl-input { width: 150px; }
.apl-trace-status { color: ${QUIET}; overflow-wrap: anywhere; }
.apl-trace-frame { --apl-trace-names: 38%; --apl-trace-took: 76px; border: 1px solid var(--jp-border-color2); border-radius: 4px; background: var(--jp-layout-color0); overflow: hidden; }
.apl-trace-axis { overflow: hidden; scrollbar-gutter: stable; scrollbar-width: thin; }
.apl-trace-axis > div { margin: 0 var(--apl-trace-took) 0 var(--apl-trace-names); border-left: 1px solid var(--jp-border-color2); }
.apl-trace-axis > .apl-trace-overview { position: relative; height: 36px; margin-block: 3px; cursor: crosshair; touch-action: pan-y; }
.apl-trace-overview canvas { position: absolute; inset: 0; width: 100%; height: 100%; }
.apl-trace-selection { position: absolute; top: -3px; bottom: -3px; min-width: 2px; box-sizing: border-box; background: color-mix(in srgb, var(--jp-brand-color1) 18%, transparent); border: solid var(--jp-brand-color1); border-width: 0 1px; pointer-events: none; }
.apl-trace-ticks { position: relative; height: 18px; border-bottom: 1px solid var(--jp-border-color2); color: ${QUIET}; font-size: 11px; font-variant-numeric: tabular-nums; white-space: nowrap; }
.apl-trace-ticks > span { position: absolute; padding: 0 3px; border-left: 1px solid var(--jp-border-color2); }
.apl-trace-ticks > span:last-child { transform: translateX(-100%); border: 0; }
.apl-trace-view .apl-tree { flex: none; scrollbar-gutter: stable; min-height: 66px; resize: vertical; }
.apl-trace-view .apl-tree-row { padding: 0 0 0 calc(2px + var(--apl-tree-level) * min(10px, 1.2cqw)); gap: 0; }
.apl-trace-view .apl-tree-hit { background: color-mix(in srgb, #ffd54f 35%, var(--jp-layout-color0)); }
.apl-trace-view .apl-tree-row[aria-selected="true"] { box-shadow: inset 3px 0 var(--jp-brand-color1); }
.apl-trace-view .apl-tree-twisty { width: 14px; color: inherit; }
.apl-trace-name { position: absolute; top: 0; bottom: 0; left: calc(18px + var(--apl-tree-level) * min(10px, 1.2cqw)); right: calc(100% - var(--apl-trace-names) + 6px); overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.apl-trace-failed { color: var(--jp-error-color1); font-weight: 600; }
.apl-trace-bars { position: absolute; top: 0; bottom: 0; left: var(--apl-trace-names); right: var(--apl-trace-took); --apl-trace-line: color-mix(in srgb, ${QUIET} 25%, transparent); border-left: 1px solid var(--apl-trace-line); background: linear-gradient(to right, var(--apl-trace-line) 1px, transparent 1px) 0 0 / 25% 100%; }
.apl-trace-bar { position: absolute; top: 5px; height: 12px; min-width: 2px; box-sizing: border-box; border-radius: 1px; forced-color-adjust: none; }
.apl-trace-segment { position: absolute; top: 8px; height: 6px; min-width: 1px; box-sizing: border-box; background: #111; border: solid #fff; border-width: 1px 0; forced-color-adjust: none; pointer-events: none; }
.apl-trace-critical { outline: 1.5px solid var(--jp-content-font-color1); outline-offset: -1px; }
.apl-trace-took { position: absolute; top: 0; right: 4px; width: calc(var(--apl-trace-took) - 8px); overflow: hidden; text-overflow: ellipsis; text-align: right; font-variant-numeric: tabular-nums; }
.apl-trace-details { box-sizing: border-box; max-height: 440px; overflow: hidden auto; padding: 6px 10px; border-top: 1px solid var(--jp-border-color2); }
.apl-trace-details:empty { display: none; }
.apl-trace-details header { display: flex; justify-content: space-between; align-items: flex-start; gap: 8px; margin-bottom: 4px; overflow-wrap: anywhere; unicode-bidi: isolate; }
.apl-trace-details dl { display: grid; grid-template-columns: fit-content(min(260px, 40%)) minmax(0, 1fr); gap: 1px 12px; width: auto; margin: 2px 0 6px; }
.apl-trace-details dl > :is(dt, dd) { float: none; width: auto; margin: 0; font-weight: 400; overflow-wrap: anywhere; unicode-bidi: isolate; }
.apl-trace-details dt { color: ${QUIET}; }
.apl-trace-details dd { white-space: pre-wrap; }
.apl-trace-details > ul { margin: 0 0 6px; padding-left: 18px; overflow-wrap: anywhere; }
.apl-trace-details > ul > li > dl { margin-left: 12px; }
.apl-trace-at { color: ${QUIET}; font-variant-numeric: tabular-nums; }
@container (min-width: 1000px) {
.apl-trace-body { display: flex; }
.apl-trace-body > .apl-trace-main { flex: 1 1 0; min-width: 0; }
.apl-trace-body > .apl-trace-details { flex: 0 0 36%; border-top: 0; border-left: 1px solid var(--jp-border-color2); max-height: 520px; }
}
@container (max-width: 760px) { .apl-trace-ticks > span:not(:first-child, :last-child) { display: none; } }
@container (max-width: 480px) { .apl-trace-frame { --apl-trace-names: 48%; --apl-trace-took: 76px; } }
@media print { .apl-trace-tools, .apl-trace-overview { display: none; } }
`;
