/** Results side by side in the output of a cell: `// @beside`. A place that has no room, or knows no style sheets, shows them one below the other. */

/** The columns of an output that has two. */
export type Column = 1 | 2;

/** What stands side by side: a chart and its table, or this result, in a column, and those of the other queries. */
export type Beside = 'chart and table' | Column;

/** Returns what stands beside the result of the query at a place in its cell, from 0; `count` is how many queries show results. */
export function besideAt(place: number, count: number): Beside {
  return count < 2 ? 'chart and table' : place % 2 === 0 ? 1 : 2;
}

/** Returns the column of an output; undefined if nothing stands beside it. `outputs` is how many the result has. */
export function columnOf(beside: Beside | undefined, place: number, outputs: number): Column | undefined {
  if (beside !== 'chart and table') return beside;
  return outputs < 2 ? undefined : place === 0 ? 1 : 2;
}

/** The column that the metadata of an output, which a stranger may have written, name. */
export function columnIn(apl: unknown): Column | undefined {
  if (typeof apl !== 'object' || apl === null || !('beside' in apl)) return undefined;
  return apl.beside === 1 || apl.beside === 2 ? apl.beside : undefined;
}

/** The class of what stands in a column. */
export function besideClass(column: Column): string {
  return `apl-beside apl-beside-${column}`;
}

/** The class of a table below the chart of the same result, which pages without this extension cannot mark. */
export const UNDER_CHART = 'apl-under-chart';

const OUTPUT = '.jp-OutputArea-child';

/** Two columns in the outputs of JupyterLab, and of the pages that nbconvert makes; `room` is what holds an output area. */
export const BESIDE_STYLE = `
.jp-Cell-outputWrapper:has(.apl-beside),.apl-tile-body:has(.apl-beside){container-type:inline-size}
@container (min-width:820px){
.jp-OutputArea:has(.apl-beside){display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);grid-auto-flow:row dense;column-gap:16px;align-items:start}
.jp-OutputArea:has(.apl-beside)>*{grid-column:1/-1;min-width:0}
.jp-OutputArea:has(.apl-beside)>${OUTPUT}:is(:has(.apl-beside-1),:has(+${OUTPUT} .apl-beside-2):not(:has(+${OUTPUT} .${UNDER_CHART})):has(.jp-RenderedSVG),:has(+${OUTPUT} .apl-beside-1.${UNDER_CHART}):has(.jp-RenderedSVG)){grid-column:1}
.jp-OutputArea:has(.apl-beside)>${OUTPUT}:is(:has(.apl-beside-2),:has(+${OUTPUT} .apl-beside-2.${UNDER_CHART}):has(.jp-RenderedSVG)){grid-column:2}
.jp-OutputArea:has(.apl-beside)>${OUTPUT}:has(.apl-beside-2)>.jp-OutputPrompt{display:none}
}
`.trim();
