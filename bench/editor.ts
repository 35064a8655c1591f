/**
 * The editor's services as a browser runs them, on a cell of 200 lines over a dataset of 2,000 fields: checking the whole cell,
 * completing a word at its end, coloring it. Each figure is the 95th percentile of runs in one warm process.
 */

import { diagnose } from '../kernel/apl/editor/check/diagnose.js';
import { aplParser } from '../kernel/apl/editor/colors/highlight.js';
import { completeCell } from '../kernel/apl/editor/editor-cell.js';
import { environmentOf } from '../kernel/apl/editor/known.js';
import type { FieldSchema } from '../kernel/apl/plan/plan.js';
import { magicFacts } from '../kernel/notebook/editor/editor-comm.js';
import { quantile, report } from './tools/row.js';

const FIELDS = 2_000;
const LINES = 200;
const RUNS = 200;
const GOAL_MS = 16;

const fields: readonly FieldSchema[] = [
  { name: '_time', type: 'datetime' },
  ...Array.from({ length: FIELDS - 1 }, (_, index) => ({
    name: `attributes.part_${index % 40}.field_${index}`,
    type: index % 2 === 0 ? ('string' as const) : ('long' as const),
  })),
];

const environment = environmentOf({
  facts: {
    profile: 'local',
    exact: true,
    datasets: ['wide', 'other'],
    results: [],
    magics: [],
    variables: {},
    tables: [],
  },
  fields: () => fields,
  now: 0n,
});

/** Returns `let` statements, then queries of eight lines. */
function cellOf(lines: number): string {
  const lets = Array.from({ length: 8 }, (_, index) => `let limit_${index} = ${index};`);
  const queries = Array.from({ length: Math.floor((lines - 8) / 8) }, (_, index) =>
    [
      '',
      `result_${index} << wide`,
      `| where attributes.part_${index % 40}.field_${index} == 'x' and _time > ago(1h)`,
      `| extend a = strlen(attributes.part_${index % 40}.field_${index}), b = limit_${index % 8} + 1`,
      `| summarize n = count(), m = max(b) by bin(_time, 5m), attributes.part_0.field_40`,
      '| where n > limit_0 and m < 100',
      '| sort by n desc',
      '| limit 20',
    ].join('\n'),
  );
  return [...lets, ...queries].join('\n');
}

const cell = cellOf(LINES);
const parser = aplParser();
const typed = `${cell}\n\nwide | where attributes.part_1.fi`;

const cases: readonly { readonly name: string; readonly run: () => unknown }[] = [
  { name: 'check the cell', run: () => diagnose(cell, environment, magicFacts) },
  { name: 'complete a field', run: () => completeCell(typed, typed.length, environment) },
  { name: 'complete at nothing', run: () => completeCell(`${cell}\n\n`, cell.length + 2, environment) },
  { name: 'color the cell', run: () => parser.parse(cell) },
];

for (const { name, run } of cases) {
  for (let warm = 0; warm < RUNS / 2; warm += 1) run();
  const times = Array.from({ length: RUNS }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
  report({
    figure: `editor: ${name}, p95`,
    unit: 'ms',
    ours: Math.round(quantile(times, 0.95) * 100) / 100,
    goal: { atMost: GOAL_MS },
  });
}
