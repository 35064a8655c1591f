import * as vega from 'vega';
import { describe, expect, test } from 'vitest';
import type { Annotation } from '../../../../kernel/api/wire.js';
import type { ChartOptions } from '../../../../kernel/apl/operators/drawing.js';
import { type Chart, toChart } from '../../../../kernel/result/chart/chart.js';
import { toTerminal } from '../../../../kernel/result/chart/chart-describe.js';
import { PAYLOADS } from '../../../browser/hostile/payloads.js';
import { cells, type SampleTable, sampleResult } from '../../sample.js';
import { buckets, minute, now, textsIn, time } from '../fixtures.js';

/** A measure over the hour from 9:00, in one-minute bins. */
const hour: SampleTable = { columns: [time(60), ['n', 'integer', cells(60, row => row)]], buckets };

function annotation(at: number, title: string, more: Partial<Annotation> = {}): Annotation {
  return { id: `ann_${at}`, datasets: ['d'], time: minute(at), title, type: 'deploy', ...more };
}

async function drawn(
  annotations: readonly Annotation[],
  options: ChartOptions = {},
  table: SampleTable = hour,
): Promise<Chart> {
  const chart = await toChart(sampleResult([table]), now, options, async () => ({ annotations }));
  if (chart?.kind !== 'chart') throw new Error(`no chart: ${chart?.reason}`);
  return chart;
}

/** Returns the rows of a chart's data, with times as minutes after 9:00. */
function rows({ spec }: Pick<Chart, 'spec'>, name: string): readonly Readonly<Record<string, unknown>>[] {
  const data = spec.data?.find(each => each.name === name);
  const values = data !== undefined && 'values' in data ? data.values : [];
  const minutes = (value: unknown) =>
    typeof value === 'number' ? (value - Date.parse(minute(0))) / 60_000 : value;
  return (values as readonly Readonly<Record<string, unknown>>[]).map(row =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key, minutes(value)])),
  );
}

/** Returns the times of a chart's annotation marks. */
const rulesIn = (chart: Chart) => rows(chart, 'ruleEdges').map(({ t }) => t);

/** Returns the labels that fit into an output of a width, over the visible part of the axis. */
async function labelsIn({ spec }: Chart, width = 766, window: readonly number[] | null = null) {
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  await view.signal('given', width).signal('shownWindow', window).runAsync();
  const svg = await view.toSVG();
  view.finalize();
  return releasesIn(svg);
}

/** Returns the visible labels of an image, from left to right. */
function releasesIn(svg: string): readonly { readonly x: number; readonly label: string | undefined }[] {
  const texts = svg.matchAll(/<text [^>]*?transform="translate\(([-\d.]+),[^>]*?>(Release[^<]*)<\/text>/g);
  return [...texts]
    .filter(([text]) => !text.includes('opacity="0"'))
    .map(([, x, label]) => ({ x: Number(x), label }));
}

const release = annotation(12, 'Release 1.2');
const failover = annotation(30, 'Failover', { endTime: minute(42), type: 'incident' });

describe('annotation marks', () => {
  test.each<[string, ChartOptions]>([
    ['lines', { kind: 'line' }],
    ['areas', { kind: 'area' }],
    ['bars', { kind: 'bar' }],
    ['dots', { kind: 'scatter' }],
    ['a heatmap', { kind: 'heat' }],
  ])('are at their times on %s, with a band if there is an end', async (_, options) => {
    const chart = await drawn([release, failover], options);
    expect(rulesIn(chart)).toEqual([12, 30, 42]);
    expect(rows(chart, 'ruleBands')).toEqual([{ t: 30, e: 42 }]);
    expect(textsIn(chart.svg)).toEqual(expect.arrayContaining(['Release 1.2', 'Failover']));
    // The band, and marks at three times.
    expect(chart.svg.match(/fill="#7b818c" fill-opacity="0.16"/g)).toHaveLength(1);
    expect(chart.svg.match(/stroke="#7b818c" stroke-width="1.3"/g)).toHaveLength(3);
    expect(chart.model.rules?.length).toBe(2);
  });

  test('are on every plot of small multiples, with labels on the first', async () => {
    const columns = [
      time(60),
      ['a', 'float', cells(60, row => row)],
      ['b', 'float', cells(60, row => row * 1e6)],
    ] as const;
    const { svg } = await drawn([release], {}, { columns, buckets });
    expect(svg.match(/stroke="#7b818c" stroke-width="1.3"/g)).toHaveLength(2);
    expect(textsIn(svg).filter(text => text === 'Release 1.2')).toEqual(['Release 1.2']);
  });

  test('are drawn if they overlap the axis, also if they began before it', async () => {
    const before = annotation(-10, 'Before');
    const after = annotation(70, 'After');
    const across = annotation(-5, 'Across', { endTime: minute(5) });
    const chart = await drawn([after, before, across, release]);
    expect(chart.model.rules?.map(({ label }) => label)).toEqual(['Across', 'Release 1.2']);
    expect(rulesIn(chart)).toEqual([5, 12]);
  });

  test('are counted above the chart and listed in its description', async () => {
    const { svg, description } = await drawn([failover, release]);
    expect(textsIn(svg)).toContain('2 annotations, labeled where there is room.');
    expect(description).toContain(
      '; 2 annotations: Release 1.2 (2026-11-20 09:12:00), Failover (2026-11-20 09:30:00 to 2026-11-20 09:42:00)',
    );
  });

  test('do not change a chart if there are none', async () => {
    const { svg, spec, description } = await drawn([]);
    const plain = await toChart(sampleResult([hour]), now);
    expect(plain).toMatchObject({ kind: 'chart', svg, spec, description });
  });

  test.each<[string, ChartOptions, SampleTable]>([
    ['if they are turned off', { annotations: false }, hour],
    ['if there is no chart', { kind: 'none' }, hour],
    [
      'for bars by name',
      {},
      {
        columns: [
          ['uri', 'string', '["/a","/b"]'],
          ['n', 'integer', '[1,2]'],
        ],
        groups: ['uri'],
      },
    ],
    ['for one number', { kind: 'stat' }, { columns: [['n', 'integer', '[1]']] }],
  ])('are not requested %s', async (_, options, table) => {
    let asked = 0;
    await toChart(sampleResult([table]), now, options, async () => {
      asked += 1;
      return { annotations: [] };
    });
    expect(asked).toBe(0);
  });

  test('have a note on why there are none if the cell requests them', async () => {
    const ask = async () => ({
      annotations: [],
      problem: 'the token of the profile prod may not list annotations',
    });
    const notes = async (options: ChartOptions) => {
      const chart = await toChart(sampleResult([hour]), now, options, ask);
      return chart?.kind === 'chart' ? chart.model.notes : [];
    };
    expect(await notes({})).toEqual([]);
    expect(await notes({ annotations: true })).toEqual([
      'no annotations: the token of the profile prod may not list annotations',
    ]);
  });

  test('are limited to the latest 100, with a note', async () => {
    const many = Array.from({ length: 130 }, (_, index) => annotation(index * 0.4, `r${index}`));
    const { model, svg } = await drawn(many);
    expect([model.rules?.length, model.rules?.[0]?.label]).toEqual([100, 'r30']);
    expect(model.notes).toContain('the latest 100 of 130 annotations are drawn');
    expect(textsIn(svg).some(text => text.startsWith('100 annotations, labeled where there is room.'))).toBe(
      true,
    );
  });
});

describe('annotation labels', () => {
  const many = Array.from({ length: 12 }, (_, index) => annotation(index * 5, `Release 1.2.${index}`));

  test('are as many as fit the width of the output, without overlapping', async () => {
    const chart = await drawn(many);
    const counts: number[] = [];
    for (const width of [400, 766, 1800]) {
      const shown = await labelsIn(chart, width);
      const steps = shown.slice(1).map(({ x }, index) => x - (shown[index]?.x ?? 0));
      // Without a screen, a character counts as 8.8 pixels wide.
      expect(Math.min(...steps)).toBeGreaterThanOrEqual(('Release 1.2.0'.length + 1) * 8.8);
      counts.push(shown.length);
    }
    expect(counts).toEqual([2, 4, 12]);
  });

  test.each([
    ['Release 1.2', 2],
    ['Release 1.23', 1],
  ])('keep a gap: %s, twice within 112 px', async (label, count) => {
    expect(await labelsIn(await drawn([annotation(10, label), annotation(20, label)]))).toHaveLength(count);
  });

  test('are placed again after zooming in and out', async () => {
    const { spec } = await drawn(many);
    const view = new vega.View(vega.parse(spec), { renderer: 'none' });
    const shown = async (window: readonly number[] | null) =>
      releasesIn(await (await view.signal('given', 766).signal('shownWindow', window).runAsync()).toSVG());
    const whole = await shown(null);
    const window = [18, 37].map(at => Date.parse(minute(at)));
    expect((await shown(window)).map(({ label }) => label)).toEqual([
      'Release 1.2.4',
      'Release 1.2.5',
      'Release 1.2.6',
    ]);
    expect((await shown([28, 47].map(at => Date.parse(minute(at))))).map(({ label }) => label)).toEqual([
      'Release 1.2.6',
      'Release 1.2.7',
      'Release 1.2.8',
    ]);
    expect(await shown(null)).toEqual(whole);
    view.finalize();
  });

  test('are to the left of a mark at the right end', async () => {
    expect(textsIn((await drawn([annotation(59, 'Release 1.2.3')])).svg)).toContain('Release 1.2.3');
    const [label] = await labelsIn(await drawn([annotation(59, 'Release 1.2.3')]));
    expect(label?.x).toBeLessThan((59 / 60) * 674);
  });

  test('in a zoomed range are those within it', async () => {
    const window = [18, 37].map(at => Date.parse(minute(at)));
    const shown = await labelsIn(await drawn(many), 766, window);
    expect(shown.map(({ label }) => label)).toEqual(['Release 1.2.4', 'Release 1.2.5', 'Release 1.2.6']);
  });
});

describe('annotation texts', () => {
  // A chart shows at most 100 annotations.
  const slices = Array.from({ length: Math.ceil(PAYLOADS.length / 90) }, (_, index) =>
    PAYLOADS.slice(index * 90, (index + 1) * 90),
  );

  test.each(slices.map(slice => [slice.length, slice] as const))(
    'that are hostile are drawn as text: %d',
    async (_, slice) => {
      const texts = slice.map((payload, index) =>
        annotation(index / 2, payload, { description: payload, url: payload, type: payload }),
      );
      const { svg, spec } = await drawn(texts);
      const tags = svg.match(/<[^>]*>/g) ?? [];
      expect([...new Set(tags.map(tag => /^<\/?(\w+)/.exec(tag)?.[1]))].sort()).toEqual([
        'desc',
        'g',
        'line',
        'path',
        'svg',
        'text',
        'title',
      ]);
      expect(tags.filter(tag => /\s(?:on\w+|href)=/i.test(tag))).toEqual([]);
      expect(rows({ spec }, 'ruleLabels')).toHaveLength(slice.length);
      expect(() => vega.parse(spec)).not.toThrow();
    },
  );

  test('are not in expressions: the specification differs only in strings', async () => {
    const specOf = async (text: string) => {
      const { spec } = await drawn([annotation(12, text, { description: text, type: text })]);
      return JSON.stringify({ ...spec, description: '' });
    };
    const odd = "'\\\\)";
    const escaped = JSON.stringify(odd).slice(1, -1);
    expect((await specOf(odd)).replaceAll(escaped, 'vvvv')).toBe(await specOf('vvvv'));
  });

  test('are in the tooltip with type and time; an address is text, not a link', async () => {
    const { spec } = await drawn([{ ...release, description: 'New form', url: 'javascript:alert(1)' }]);
    const facts = (spec.usermeta as { readonly apl: { readonly rules: unknown } }).apl;
    expect(facts.rules).toEqual([
      {
        t: Date.parse(minute(12)),
        label: 'Release 1.2',
        type: 'deploy',
        text: 'New form \u00b7 javascript:alert(1)',
      },
    ]);
    expect(JSON.stringify(spec)).not.toMatch(/"href"|"url"/);
  });

  test('without a title show the type', async () => {
    const { title: _, ...untitled } = release;
    expect((await drawn([untitled])).model.rules?.[0]?.label).toBe('deploy');
  });
});

test('a terminal chart marks annotated columns below its lines', async () => {
  const { model } = await drawn([release, failover], { kind: 'line' });
  const lines = toTerminal(model, 72).split('\n');
  expect(lines).toHaveLength(3);
  const column = (at: number) => lines[1]?.indexOf('\u25b2', at) ?? -1;
  expect(lines[1]?.startsWith('annotations')).toBe(true);
  expect(
    [...(lines[1]?.slice('annotations'.length).trim() ?? '')].filter(each => each !== ' ').join(''),
  ).toMatch(/^\u25b2\u25b2\u2500+$/);
  expect(column(column(0) + 1) - column(0)).toBe(18);
});
