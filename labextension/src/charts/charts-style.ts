/** Styles of charts; colors are from the application's theme. */
export const STYLE = `
.apl-chart { overflow: hidden; }
.apl-chart-frame { position: relative; }
.apl-chart-svg { position: relative; touch-action: pan-y; }
.apl-chart-svg > svg { display: block; max-width: 100%; height: auto; user-select: none; }
.apl-chart-svg text { fill: var(--jp-content-font-color2); }
.apl-chart-svg text[font-weight="600"] { fill: var(--jp-content-font-color1); }
.apl-chart-marks { cursor: default; }
.apl-chart-marks .role-mark > path { cursor: pointer; }
.apl-chart-svg:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -2px; }
.apl-chart-chosen { position: absolute; box-sizing: border-box; border: 2px solid var(--jp-content-font-color1); border-radius: 2px; pointer-events: none; }
.apl-chart-chosen[hidden] { display: none; }
@media (forced-colors: active) { .apl-chart-svg text { fill: CanvasText; } }
.apl-chart-hair { position: absolute; top: 0; bottom: 0; width: 0; border-left: 1px dashed var(--jp-content-font-color2); pointer-events: none; }
.apl-chart-selection { position: absolute; top: 0; bottom: 0; background: var(--jp-brand-color1); opacity: 0.18; pointer-events: none; }
.apl-chart-tip { position: absolute; z-index: 10; max-width: min(420px, 90%); padding: 4px 8px; font-size: 12px; pointer-events: none; background: var(--jp-layout-color1); color: var(--jp-content-font-color1); border: 1px solid var(--jp-border-color1); border-radius: 3px; box-shadow: var(--jp-elevation-z4); }
.apl-chart-tip[hidden], .apl-chart-bar[hidden] { display: none; }
.apl-chart-tip-row { display: flex; gap: 8px; align-items: center; }
.apl-chart-tip-name { flex: 1; overflow-wrap: anywhere; }
.apl-chart-tip-value { font-variant-numeric: tabular-nums; white-space: nowrap; font-weight: 600; }
.apl-chart-swatch { flex: none; width: 10px; height: 10px; border-radius: 2px; }
.apl-chart-bar { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; padding: 4px 0; font-size: 12px; }
.apl-chart-menu { position: absolute; top: 0; right: 0; font-size: 12px; opacity: 0; }
.apl-chart-frame:hover .apl-chart-menu, .apl-chart-menu:focus-within, .apl-chart-menu[open] { opacity: 1; }
.apl-chart-menu > summary { list-style: none; cursor: pointer; padding: 0 6px; color: var(--jp-content-font-color1); background: var(--jp-layout-color1); border-radius: 3px; width: max-content; margin-left: auto; }
.apl-chart-choices { display: flex; flex-direction: column; gap: 2px; padding: 4px; background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); border-radius: 3px; }
@media print { .apl-chart-menu, .apl-chart-bar, .apl-chart-tip, .apl-chart-hair { display: none; } }
`;
