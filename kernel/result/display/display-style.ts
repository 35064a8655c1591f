/** Styles of a table: the colors of JupyterLab or VS Code if defined, otherwise a built-in light or dark set. */

import { createHash } from 'node:crypto';

const LIGHT = ['#ffffff', '#1f2328', '#59636e', '#d8dee4', '#f3f5f8', '#f8fafb', '#fff4d6', '#9a6700'];
const DARK = ['#14171c', '#e3e6ea', '#98a1ad', '#333a44', '#1f242c', '#191d23', '#2e2614', '#e3b341'];
/** Background, text, dim text, lines, header, alternate rows, notice, notice edge: names of the host's own colors. */
const HOST = [
  ['--jp-layout-color0', '--vscode-editor-background'],
  ['--jp-content-font-color1', '--vscode-editor-foreground'],
  ['--jp-content-font-color2', '--vscode-descriptionForeground'],
  ['--jp-border-color2', '--vscode-panel-border'],
  ['--jp-layout-color2', '--vscode-editorWidget-background'],
  ['--jp-rendermime-table-row-background', '--vscode-list-inactiveSelectionBackground'],
];

/** Custom properties --a0 ... --a7, one for each color. */
function properties(own: readonly string[]): string {
  const value = (color: string, [jupyter, vscode]: readonly string[]) =>
    `var(${jupyter},var(${vscode},${color}))`;
  return own
    .map((color, index) => `--a${index}:${HOST[index] ? value(color, HOST[index]) : color}`)
    .join(';');
}

const RULES = `
&{${properties(LIGHT)};color:var(--a1);font:13px/1.4 var(--jp-ui-font-family,system-ui,sans-serif);margin:0}
@media (prefers-color-scheme:dark){&{${properties(DARK)}}}
body[data-jp-theme-light="true"] &{color-scheme:light;--a6:${LIGHT[6]};--a7:${LIGHT[7]}}
body[data-jp-theme-light="false"] &{color-scheme:dark;--a6:${DARK[6]};--a7:${DARK[7]}}
& p.apl-size,& p.apl-foot{margin:4px 0;padding:2px 0;color:var(--a2);background:none}
& p.apl-size{color:var(--a1);font-weight:500}
& p.apl-size>span{display:inline-block}
& p.apl-foot{font-size:12px}
& .apl-dot{opacity:.6}
& ul.apl-notices{list-style:none;margin:4px 0;padding:0}
& ul.apl-notices li{margin:0 0 3px;padding:3px 10px;border-left:3px solid var(--a2);background:var(--a4);color:var(--a1)}
& ul.apl-notices li.apl-warn{border-left-color:var(--a7);background:var(--a6)}
& .apl-box{border:1px solid var(--a3);border-radius:4px;background:var(--a0);width:fit-content;max-width:100%;box-sizing:border-box}
& table.apl-table{border-collapse:separate;border-spacing:0;margin:0;border:0;font-size:12px;table-layout:auto;width:auto}
& table.apl-table thead tr th{position:sticky;top:0;z-index:2;background:var(--a4);color:var(--a1);vertical-align:bottom;font-weight:600;padding:4px 10px;border:0;border-bottom-color:var(--a3)!important;white-space:pre;max-width:none}
& table.apl-table thead tr th small{font-weight:400;font-size:11px;color:var(--a2)}
& table.apl-table thead tr th u{text-decoration:underline dotted;text-underline-offset:3px;cursor:help}
& table.apl-table thead tr th i{font-style:normal;color:var(--a2);padding-left:4px}
& table.apl-table tbody tr td{background:var(--a0);color:var(--a1);text-align:right;vertical-align:top;padding:3px 10px;border:0;white-space:pre;max-width:none;font-variant-numeric:tabular-nums;unicode-bidi:isolate}
& table.apl-table tbody tr:nth-child(even) td{background:linear-gradient(var(--a5),var(--a5)),var(--a0)}
& table.apl-table tbody tr:hover td{background:linear-gradient(var(--a4),var(--a4)),var(--a0)}
& table.apl-across tbody tr th{background:var(--a0);color:var(--a1);font-weight:500;padding:3px 10px;border:0;white-space:pre}
& ul.apl-notices code{background:none;color:inherit;font-size:inherit;padding:0}
& table.apl-table caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
& details.apl-more{margin:4px 0}
& details.apl-more summary{cursor:pointer;color:var(--a2);padding:2px 0}
& .apl-box:focus-visible,& details.apl-more summary:focus-visible{outline:2px solid var(--jp-brand-color1,#2a85c7);outline-offset:1px}
& table.apl-table tbody tr td.z{color:var(--a2);font-style:italic}
& table.apl-table.apl-pinned tr>:first-child{position:sticky;left:0;z-index:1;border-right:1px solid var(--a3)}
& table.apl-table.apl-pinned thead tr>:first-child{z-index:3}
.jp-OutputArea:has(&) .jp-RenderedSVG>img{max-width:100%;height:auto}
@media screen{
& table.apl-table thead wbr{display:none}
}
@media print{
& p.apl-size span[title]:not(.output *)::after{content:' (' attr(title) ')'}
& .apl-box{max-height:none!important;overflow:visible!important;border:0}
& details.apl-more::details-content{display:block;content-visibility:visible}
& details.apl-more summary{list-style:none}
& table.apl-table thead tr th,& table.apl-table tbody tr td{position:static!important;white-space:pre-wrap!important;overflow-wrap:anywhere;font-size:10.5px;padding:2px 6px}
& table.apl-table tbody tr td:not([style]){white-space:nowrap!important}
& table.apl-table:has(th:nth-child(41)) tbody tr td:not([style]){white-space:pre-wrap!important}
& table.apl-table thead tr th{min-width:9ch}
& table.apl-table thead tr th small{font-size:inherit}
& table.apl-table:has(th:nth-child(8)) tr>*{font-size:9px!important;padding:2px 4px!important}
& table.apl-table:has(th:nth-child(12)) tr>*{font-size:8px!important;padding:2px 3px!important}
& table.apl-table:has(th:nth-child(12)) th{min-width:6ch!important}
& table.apl-table:has(th:nth-child(17)) th{min-width:0!important}
& table.apl-table:has(th:nth-child(31)) tr>*{font-size:7px!important;padding:2px!important}
& table.apl-table tr{break-inside:avoid}
}
`;

/**
 * Class of every output with this style sheet, named by a hash of its rules: outputs of other versions of the kernel keep
 * their own.
 */
export const STYLE_CLASS = `apl-${createHash('sha256').update(RULES).digest('hex').slice(0, 6)}`;

/** Style sheet whose rules all apply only below `STYLE_CLASS`, and to the chart beside it that nbconvert has turned into an image. */
export const STYLE_SHEET = RULES.trim().replaceAll('&', `.${STYLE_CLASS}`);
