import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VEGA_MIME } from '../../../../kernel/result/mime.js';
import type { Seen } from '../../../api/service.js';
import { type Bench, type CellRun, everyday, queries, shown, startBench, traceback } from '../../session.js';

/** Counts by name only. */
const counts = {
  format: 'tabular',
  status: {},
  tables: [
    {
      name: '0',
      fields: [
        { name: 'uri', type: 'string' },
        { name: 'n', type: 'integer', agg: { name: 'count' } },
      ],
      groups: [{ name: 'uri' }],
      columns: [
        ['/a', '/b'],
        [1, 3],
      ],
    },
  ],
  datasetNames: ['web'],
  fieldsMetaMap: {},
};

let bench: Bench;

beforeAll(async () => {
  bench = await startBench({
    reply: (seen: Seen) => (seen.path.endsWith('_apl') ? { body: counts } : everyday(seen)),
  });
});

afterAll(() => bench.close());

const query = "['web'] | summarize n = count() by uri";
/** Returns the first line of each chart that a cell showed. */
const charts = (run: CellRun) =>
  run.outputs.flatMap(output =>
    'data' in output && VEGA_MIME in output.data ? [String(output.data['text/plain']).split('; ')[0]] : [],
  );

test('comments in the cell choose the chart; the table stays', async () => {
  expect(charts(await bench.run(query))).toEqual(['Bar chart of n by uri for /b, /a']);
  const pie = await bench.run(`// @viz pie\n// @unit bytes\n${query}`);
  expect(charts(pie)).toEqual(['Pie chart of n for /b, /a']);
  expect(shown(pie)[0]).toContain('; /b: 3 B; /a: 1 B');
  const none = await bench.run(`// @viz none\n${query}`);
  expect([charts(none), shown(none).length]).toEqual([[], 1]);
});

test('an @beside comment places results side by side', async () => {
  const columns = async (code: string) =>
    (await bench.run(code)).outputs.flatMap(output => ('data' in output ? [beside(output)] : []));
  expect(await columns(query)).toEqual([undefined, undefined]);
  expect(await columns(`// @beside\n${query}`)).toEqual([1, 2]);
  expect(await columns(`// @beside\n// @viz none\n${query}`)).toEqual([undefined]);
  // Anywhere in the cell; there, a chart is above its table.
  const two = [1, 1, 2, 2];
  expect(await columns(`${query}\n\n// @beside\n${query}`)).toEqual(two);
  expect(await columns(`// @beside\n%%rows 5\n${query}\n\n${query}`)).toEqual(two);
  expect(await columns(`// @beside\n${query}\n\n${query}\n\n${query}`)).toEqual([...two, 1, 1]);
  expect(await columns(`// @beside\n${query}\n\n${query};`)).toEqual([1, 2]);
});

/** Returns the column that an output names. */
const beside = ({ metadata }: { readonly metadata?: Readonly<Record<string, unknown>> }) =>
  (metadata?.apl as { readonly beside?: unknown } | undefined)?.beside;

test('a comment applies to the query below it; among the magic lines, to all queries', async () => {
  const each = await bench.run(`// @viz pie\n${query}\n\n// @viz none\n${query}\n\n${query}`);
  expect(charts(each)).toEqual(['Pie chart of n for /b, /a', 'Bar chart of n by uri for /b, /a']);
  const all = await bench.run(`// @viz pie\n%%rows 5\n${query}\n\n${query}`);
  expect(charts(all)).toEqual(['Pie chart of n for /b, /a', 'Pie chart of n for /b, /a']);
});

test('render in a query takes precedence over a comment, and is not sent', async () => {
  const run = await bench.run(`// @viz bar\n${query} | render piechart`);
  expect(charts(run)).toEqual(['Pie chart of n for /b, /a']);
  expect(queries(bench.service).filter(({ apl }) => String(apl).includes('render'))).toEqual([]);
  expect(queries(bench.service).map(({ apl }) => apl)).toContain(`// @viz bar\n${query}`);
});

test('a warning above the table explains why a chart cannot be drawn', async () => {
  const run = await bench.run(`// @viz line\n${query}`);
  expect(charts(run)).toEqual([]);
  expect(shown(run).join('\n')).toContain(
    'Warning: No line chart: it needs numbers over time. The result is numbers by name, which can be drawn as bar, heat, pie, scatter.',
  );
});

test('a misspelled comment fails the cell before its query runs', async () => {
  const before = queries(bench.service).length;
  expect(traceback(await bench.run(`// @viz pice\n${query}`)).join('\n')).toContain(
    'unknown chart type `pice`',
  );
  expect(queries(bench.service).length).toBe(before);
});

describe('%viz', () => {
  test('draws the last result or a named one again, without a request', async () => {
    await bench.run(`kept << ${query}`);
    const before = queries(bench.service).length;
    expect(charts(await bench.run('%viz pie'))).toEqual(['Pie chart of n for /b, /a']);
    expect(charts(await bench.run('%viz --from kept --title "by name"'))).toEqual([
      'Bar chart of n by uri for /b, /a',
    ]);
    expect(queries(bench.service).length).toBe(before);
  });

  test('draws SVG only for a front end without Vega, above the table as ever', async () => {
    const voila = await startBench({ reply: () => ({ body: counts }), svgOnly: true });
    try {
      const run = await voila.run(`%viz pie\n${query}`);
      expect(run.outputs.map(output => ('data' in output ? Object.keys(output.data)[0] : ''))).toEqual([
        'image/svg+xml',
        'text/html',
        'image/svg+xml',
      ]);
      expect(run.outputs.map(output => output.kind)).toEqual(['display', 'result', 'display']);
    } finally {
      await voila.close();
    }
  });

  test('draws the result of the query below it', async () => {
    expect(charts(await bench.run(`%viz pie\n${query}`))).toEqual([
      'Bar chart of n by uri for /b, /a',
      'Pie chart of n for /b, /a',
    ]);
  });

  test.each<[string, string]>([
    ['%viz pice', 'Did you mean `pie`?'],
    ['%viz none', 'there is nothing to draw'],
    ['%viz line', 'No line chart: it needs numbers over time'],
    ['%viz bar --from nobody', 'there is no result nobody'],
  ])('refuses %s', async (line, words) => {
    expect(traceback(await bench.run(line)).join('\n')).toContain(words);
  });
});
