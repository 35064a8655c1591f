/** Results side by side in the output of a cell: `// @beside`. Front ends without the room or without style sheets stack them. */

/** Columns of a two-column output. */
export type Column = 1 | 2;

/** Which outputs share a row: a chart with its table, or this result, in the given column, with those of the other queries. */
export type Beside = 'chart and table' | Column;

/** Returns the placement of the result of the query at index `place` of its cell; `count` is the number of queries that show results. */
export function besideAt(place: number, count: number): Beside {
  return count < 2 ? 'chart and table' : place % 2 === 0 ? 1 : 2;
}

/** Returns the column of an output; undefined if nothing is beside it. `outputs` is the number of outputs of the result. */
export function columnOf(beside: Beside | undefined, place: number, outputs: number): Column | undefined {
  if (beside !== 'chart and table') return beside;
  return outputs < 2 ? undefined : place === 0 ? 1 : 2;
}

/** Returns the column named by the metadata of an output, which is untrusted. */
export function columnIn(apl: unknown): Column | undefined {
  if (typeof apl !== 'object' || apl === null || !('beside' in apl)) return undefined;
  return apl.beside === 1 || apl.beside === 2 ? apl.beside : undefined;
}

/** Returns the class of an output in a column. */
export function besideClass(column: Column): string {
  return `apl-beside apl-beside-${column}`;
}

/** Class of a table below the chart of the same result, for pages that cannot be marked up without this extension. */
export const UNDER_CHART = 'apl-under-chart';

const OUTPUT = '.jp-OutputArea-child';

/** Styles for two columns in the outputs of JupyterLab and of pages by nbconvert; `room` matches the output area. */
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
