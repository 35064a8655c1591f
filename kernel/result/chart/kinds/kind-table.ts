/** Lookups in the rows of the kinds of charts. */
import type { DrawnKind } from '../../../apl/operators/drawing.js';
import { type ShapeRow, shapes } from '../chart-shapes.js';
import type { ChartModel } from '../model.js';
import type { ChartForm, KindRow } from './kind.js';
import * as kinds from './kind-list.js';

/** The row of each kind by its name. */
export const kindRows: Readonly<Record<DrawnKind, KindRow>> = kinds;

const forms: ReadonlyMap<string, ChartForm> = new Map(
  Object.values(kindRows).map(({ form }) => [form.type, form]),
);

/** Returns the form that draws and describes a model. */
export function formOf({ kind }: ChartModel): ChartForm {
  // Every model is made by a row, and the forms of all rows are here.
  return forms.get(kind) as ChartForm;
}

/** Returns the kinds that can be requested for a shape, its default first. */
export function kindsFor({ shape, kind: own }: ShapeRow): readonly DrawnKind[] {
  const names = Object.keys(kindRows) as DrawnKind[];
  return [
    ...names.filter(name => name === own),
    ...names.filter(name => name !== own && Object.hasOwn(kindRows[name].draws, shape)),
  ];
}

/** Returns a sentence that says why a result of a shape cannot be drawn as requested, and what the kind needs. */
export function refusalOf(kind: DrawnKind, row: ShapeRow | undefined): string {
  const { title, needs } = kindRows[kind];
  const wanted = `No ${title}: it needs ${needs}`;
  if (row === undefined) return `${wanted}, and the result has none.`;
  const ways = kindsFor(row).map(each => `\`${each}\``);
  return `${wanted}. The result is ${row.shape}, which can be drawn as ${ways.join(', ')}.`;
}

/** Returns the source of `apl/operators/chart-kinds.ts`: the language also runs in the browser, which has no code that draws. */
export function kindNames(): string {
  const rows = Object.entries(kindRows);
  const names = rows.map(([name]) => `'${name}'`);
  return `/** Chart kinds, from \`result/chart/kinds/\`; \`npx tsx scripts/reference.ts\` writes this file. */
export const drawnKinds = [${names.join(', ')}] as const;

/** Menu labels of the chart kinds. */
export const kindLabels = {
${rows.map(([name, { label }]) => `  ${name}: '${label}',\n`).join('')}} as const;
`;
}

/** Returns the table of `docs/charts.md`: the charts of each shape. */
export function chartReference(): string {
  const rows = shapes.map(row => {
    const kinds = kindsFor(row).map(name => `\`${name}\``);
    return `| ${row.shape} | ${row.drawn} | ${kinds.join(', ')} |`;
  });
  return ['| a result of | is drawn as | kinds |', '|---|---|---|', ...rows].join('\n');
}
