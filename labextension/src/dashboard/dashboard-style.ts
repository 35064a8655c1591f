import { addStyle, QUIET } from '../ui/ui-style.js';

/** Adds the styles of dashboards. */
export function addDashboardStyle(): void {
  addStyle('apl-dashboard-style', RULES);
}

/** The table of a result whose chart is directly above it. */
const TABLE = '.jp-OutputArea-child:has(.apl-chart) + .jp-OutputArea-child > .apl-grid-output';

const RULES = `
.apl-dashboard { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); grid-auto-rows: max-content; gap: 12px; padding: 12px; overflow: auto; background: var(--jp-layout-color2); outline: none; }
.apl-dashboard-empty { grid-column: 1 / -1; padding: 48px 16px; text-align: center; color: ${QUIET}; font-family: var(--jp-ui-font-family); }
.apl-tile { display: flex; flex-direction: column; min-width: 0; padding: 8px 12px 10px; border: 1px solid var(--jp-border-color2); border-radius: 6px; background: var(--jp-layout-color0); font-family: var(--jp-ui-font-family); overflow: hidden; }
.apl-tile-wide { grid-column: 1 / -1; }
.apl-tile-failed { border-color: var(--jp-error-color1); }
.apl-tile-head { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 2px 8px; min-height: 24px; }
.apl-tile-title { flex: 1 1 120px; min-width: 0; margin: 0; padding: 2px 0; font-size: 14px; font-weight: 600; line-height: 20px; color: var(--jp-ui-font-color1); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.apl-tile[aria-busy] > .apl-tile-head > .apl-tile-title::after { content: ' \\2026'; color: ${QUIET}; }
.apl-tile-before { box-shadow: -4px 0 0 0 var(--jp-brand-color1); }
.apl-tile-after { box-shadow: 4px 0 0 0 var(--jp-brand-color1); }
.apl-tile-row.apl-tile-before { box-shadow: 0 -4px 0 0 var(--jp-brand-color1); }
.apl-tile-row.apl-tile-after { box-shadow: 0 4px 0 0 var(--jp-brand-color1); }
.apl-tile-dragged { opacity: 0.6; }
.apl-tile-tools .apl-tile-move { cursor: grab; touch-action: none; }
.apl-tile-dragged .apl-tile-move { cursor: grabbing; }
.apl-dashboard-status { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.apl-tile-tools { display: flex; flex-wrap: wrap; gap: 4px; min-width: 0; }
.apl-tile-tools .apl-button { padding: 1px 5px; border-color: transparent; color: ${QUIET}; background: none; }
.apl-tile-tools .apl-button:is(:hover, :focus-visible) { border-color: var(--jp-border-color2); background: var(--jp-layout-color2); color: var(--jp-ui-font-color1); }
.apl-tile-tools .apl-button[aria-pressed="true"] { background: var(--jp-layout-color3); color: var(--jp-ui-font-color1); }
.apl-tile-tools button:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
.apl-tile-note { flex: 1 0 100%; margin: 2px 0; font-size: 12px; color: ${QUIET}; }
.apl-tile-note:empty { display: none; }
.apl-tile-body { min-width: 0; max-height: 460px; overflow: auto; scrollbar-width: thin; }
.apl-tile-wide > .apl-tile-body { max-height: 80vh; }
.apl-tile-body .jp-OutputPrompt, .apl-tile-body .jp-OutputArea-promptOverlay { display: none; }
.apl-tile-body .jp-OutputArea-output { padding: 0; margin: 0; }
.apl-tile:not(.apl-tile-tabular) ${TABLE} :is(.apl-grid-frame, .apl-grid-controls, .apl-grid-foot, .apl-grid-chips, .apl-grid-kept, .apl-grid-below) { display: none; }
`;
