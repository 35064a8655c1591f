import { addStyle, QUIET } from '../ui/ui-style.js';

/** Adds the styles of grids. */
export function addGridStyle(): void {
  addStyle('apl-grid-style', RULES);
}

/** The table sets these on each scroll, for themes that move rows by less than one: if inherited, they would restyle every cell. */
const UNUSED = ['clip-x', 'clip-y', 'transform-x', 'transform-y'].map(
  name => `--regular-table--${name}: 0px;`,
);

const RULES = `
.apl-grid { position: relative; color: var(--jp-content-font-color1); font: 13px/1.4 var(--jp-ui-font-family); padding: 2px 0; }
.apl-grid-output { position: relative; }
.apl-grid-later { position: absolute; bottom: 40px; left: 50%; z-index: 3; transform: translateX(-50%); }
.apl-grid-later button { box-shadow: var(--jp-elevation-z4); border-color: var(--jp-brand-color1); }
.apl-grid p { margin: 4px 0; }
.apl-grid-notices { list-style: none; margin: 4px 0; padding: 0; }
.apl-grid-notices li { margin: 0 0 3px; padding: 3px 10px; border-left: 3px solid var(--jp-border-color0); background: var(--jp-layout-color2); }
.apl-grid-notices li.apl-grid-warn { border-left-color: var(--jp-warn-color1); background: color-mix(in srgb, var(--jp-warn-color1) 14%, var(--jp-layout-color1)); }
.apl-grid-notices code { background: none; color: inherit; font-size: inherit; padding: 0; }
.apl-grid-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; margin: 4px 0; }
.apl-grid-controls { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 6px; margin-left: auto; }
.apl-grid-heading { font-weight: 500; }
:is(.apl-grid-heading, .apl-stream-shared) span { display: inline-block; }
.apl-grid-status { color: ${QUIET}; overflow-wrap: anywhere; }
.apl-grid-busy .apl-grid-status::after { content: ' Reading all rows \u2026'; }
.apl-grid-input { font: inherit; font-size: 12px; color: var(--jp-content-font-color1); background: var(--jp-layout-color0); border: 1px solid var(--jp-border-color1); border-radius: 3px; padding: 1px 6px; min-width: 0; }
.apl-grid-search { flex: 1 1 70px; width: 150px; max-width: 150px; }
.apl-grid :is(button, input, summary):focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
.apl-grid regular-table table:focus-visible { outline: none; }
.apl-grid-frame:has(table:focus-visible)::after { content: ''; position: absolute; inset: 0; z-index: 2; border: 2px solid var(--jp-brand-color1); border-radius: 3px; pointer-events: none; }
.apl-grid-chips { display: flex; flex-wrap: wrap; gap: 4px; margin: 4px 0; }
.apl-grid-chips:empty, .apl-grid-kept:empty { display: none; }
.apl-grid-kept { margin: 4px 0; color: ${QUIET}; overflow-wrap: anywhere; }
.apl-grid-kept button { margin-left: 8px; }
.apl-grid-frame { position: relative; max-width: 100%; min-width: 64px; box-sizing: border-box; border: 1px solid var(--jp-border-color2); border-radius: 4px; background: var(--jp-layout-color0); overflow: hidden; resize: vertical; }
.apl-grid regular-table { font: 12px/18px var(--jp-ui-font-family); overflow: auto; scrollbar-width: thin; overscroll-behavior: auto; }
.apl-grid regular-table table { position: absolute; margin: 0; border: 0; border-collapse: separate; border-spacing: 0; table-layout: auto; width: max-content; font-size: 12px; color: inherit; }
.apl-grid regular-table tr { background: var(--jp-layout-color0); }
.apl-grid regular-table :is(thead, tbody) { ${UNUSED.join(' ')} }
.apl-grid regular-table tbody tr:nth-child(even) { background: color-mix(in srgb, var(--jp-layout-color2) 45%, var(--jp-layout-color0)); }
.apl-grid regular-table tbody tr:hover { background: var(--jp-layout-color2); }
.apl-grid regular-table :is(td, th) { box-sizing: border-box; height: 24px; padding: 3px 10px; border: 0; max-width: var(--apl-grid-long); white-space: pre; text-align: left; font-weight: 400; vertical-align: top; background: none; cursor: default; }
.apl-grid regular-table :is(.apl-grid-bounded, .rt-cell-clip, thead th) { overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.apl-grid regular-table thead th { height: 40px; max-width: 440px; position: relative; z-index: 1; background: var(--jp-layout-color2); border-bottom: 1px solid var(--jp-border-color1); font-weight: 600; line-height: 16px; padding-right: 24px; cursor: pointer; vertical-align: bottom; }
.apl-grid regular-table thead th > span:first-child { display: inline-block; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.apl-grid regular-table thead th > [data-order]:not([data-order=''])::before { content: attr(data-order) ' '; color: var(--jp-brand-color1); }
.apl-grid regular-table thead th small { display: block; font-size: 11px; font-weight: 400; color: ${QUIET}; }
.apl-grid regular-table thead th .apl-grid-menu { width: 18px; margin: 0 -18px 0 0; padding: 0; line-height: 16px; border: 0; background: none; color: ${QUIET}; }
.apl-grid regular-table .rt-column-resize { position: absolute; top: 0; right: 0; width: 6px; height: 100%; cursor: col-resize; }
.apl-grid regular-table tbody .apl-grid-number { color: ${QUIET}; text-align: right; cursor: pointer; font-variant-numeric: tabular-nums; }
.apl-grid regular-table tbody .apl-grid-number:hover { text-decoration: underline; }
.apl-grid regular-table tbody th:not(.apl-grid-number) { border-right: 1px solid var(--jp-border-color2); }
.apl-grid regular-table .apl-grid-numeric { text-align: right; font-variant-numeric: tabular-nums; }
.apl-grid regular-table tbody .apl-grid-null { color: ${QUIET}; font-style: italic; }
.apl-grid regular-table tbody :is(td, th).apl-grid-error { color: var(--jp-error-color1); font-weight: 600; }
.apl-grid regular-table tbody :is(td, th).apl-grid-warning { color: color-mix(in srgb, var(--jp-warn-color1) 80%, var(--jp-content-font-color1)); font-weight: 600; }
.apl-grid regular-table tbody :is(td, th).apl-grid-quiet { color: ${QUIET}; }
.apl-grid regular-table tr :is(td, th).apl-grid-selected { background: color-mix(in srgb, var(--jp-brand-color1) 24%, var(--jp-layout-color0)); }
.apl-grid-chevron { position: absolute; z-index: 1; width: 18px; height: 24px; padding: 0; border: 0; border-radius: 0; background: var(--jp-brand-color1); color: var(--jp-ui-inverse-font-color1, #fff); font-size: 11px; line-height: 24px; cursor: pointer; }
.apl-grid-trace { border: 0; border-radius: 0; background: var(--jp-brand-color1); color: var(--jp-ui-inverse-font-color1, #fff); font: 11px/24px var(--jp-ui-font-family); padding: 0 6px; cursor: pointer; }
.apl-grid-frame > .apl-grid-trace { position: absolute; z-index: 1; height: 24px; }
:is(.apl-grid-chevron, .apl-grid-trace)[hidden] { display: none; }
.apl-grid-wrap regular-table tbody td { white-space: pre-wrap; overflow-wrap: anywhere; height: var(--apl-grid-row); vertical-align: top; }
::highlight(apl-grid-search) { background-color: #ffd54f; color: #1f1f1f; }
.apl-grid-row { display: flex; flex-wrap: wrap; gap: 4px; margin: 0 0 6px; }
.apl-grid-row:last-child { margin: 0; }
.apl-grid-row > span { flex: 0 0 88px; align-self: center; color: ${QUIET}; }
.apl-grid-undo:empty { display: none; }
.apl-grid-row .apl-grid-input { flex: 1; }
.apl-grid-list { display: flex; flex-direction: column; max-height: 260px; overflow: auto; margin-top: 6px; }
.apl-grid-list label { display: flex; align-items: center; gap: 2px; }
.apl-grid-profile dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 10px; margin: 0 0 6px; }
.apl-grid-profile dt { color: ${QUIET}; }
.apl-grid-profile dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.apl-grid-histogram { display: block; width: 100%; height: 44px; margin-bottom: 6px; fill: var(--jp-brand-color1); }
.apl-grid-top { list-style: none; margin: 0; padding: 0; }
.apl-grid-top li { position: relative; display: flex; align-items: center; gap: 6px; padding: 1px 0; }
.apl-grid-top .apl-grid-share { position: absolute; left: 0; top: 0; bottom: 0; margin: 0; background: color-mix(in srgb, var(--jp-brand-color1) 16%, transparent); border-radius: 2px; pointer-events: none; }
.apl-grid-top .apl-grid-value { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre; padding-left: 4px; }
.apl-grid-top .apl-grid-count { color: ${QUIET}; font-variant-numeric: tabular-nums; white-space: nowrap; }
.apl-grid-details { border: 1px solid var(--jp-border-color2); border-radius: 4px; margin: 6px 0; padding: 6px 10px; max-height: 480px; overflow: auto; font-size: 12px; }
.apl-grid-details header { display: flex; justify-content: space-between; align-items: center; }
.apl-grid-details dl { display: grid; grid-template-columns: fit-content(min(260px, 40%)) minmax(0, 1fr); gap: 2px 14px; margin: 4px 0 0; }
.apl-grid dl > :is(dt, dd) { float: none; width: auto; }
.apl-grid-details dt { font-weight: 600; overflow-wrap: anywhere; color: ${QUIET}; }
.apl-grid-details dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.apl-grid-details dd.apl-grid-null { color: ${QUIET}; font-style: italic; }
.apl-grid-text { white-space: pre-wrap; }
.apl-grid-tree { list-style: none; margin: 0; padding-left: 12px; }
.apl-grid-tree details { display: inline; }
.apl-grid-tree summary { display: inline; cursor: pointer; color: ${QUIET}; }
.apl-grid-tree .apl-grid-key { border: 0; background: none; padding: 0 2px; color: ${QUIET}; }
.apl-grid-tree .apl-grid-key:hover { text-decoration: underline; }
.apl-grid-json-string { color: var(--jp-mirror-editor-string-color); white-space: pre-wrap; overflow-wrap: anywhere; }
.apl-grid-json-number, .apl-grid-json-boolean { color: var(--jp-mirror-editor-number-color); }
.apl-grid-more { margin: 4px 0; }
.apl-grid-more summary { cursor: pointer; color: ${QUIET}; }
.apl-grid-more :is(td, th) { padding: 2px 10px; text-align: right; font-size: 12px; }
.apl-grid-still { width: fit-content; max-width: 100%; overflow: auto; border: 1px solid var(--jp-border-color2); border-radius: 4px; }
.apl-grid-still table { margin: 0; font-size: 12px; }
.apl-grid-still :is(td, th) { padding: 3px 10px; text-align: right; white-space: pre; font-variant-numeric: tabular-nums; }
.apl-grid-still th[scope=row] { text-align: left; font-weight: 500; }
.apl-grid-foot { font-size: 12px; color: ${QUIET}; }
@media (forced-colors: active) {
.apl-grid regular-table tr :is(td, th).apl-grid-selected { forced-color-adjust: none; background: Highlight; color: HighlightText; }
.apl-grid-top .apl-grid-share { forced-color-adjust: none; }
}
@media print { .apl-grid :is(.apl-grid-bar, .apl-grid-kept) :is(button, input) { display: none; } .apl-grid-frame { border: 0; resize: none; } }
`;
