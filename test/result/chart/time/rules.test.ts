import * as vega from 'vega';
import { describe, expect, test } from 'vitest';
import type { Annotation } from '../../../../kernel/api/wire.js';
import type { ChartWish } from '../../../../kernel/apl/operators/drawing.js';
import { type Chart, toChart } from '../../../../kernel/result/chart/chart.js';
import { toTerminal } from '../../../../kernel/result/chart/describe.js';
import { drawnAsOne, labelSides } from '../../../../kernel/result/chart/draw/rules.js';
import { PAYLOADS } from '../../../browser/hostile/payloads.js';
import { cells, type SampleTable, sampleResult } from '../../sample.js';
import { buckets, minute, now, textsIn, time } from '../fixtures.js';

/** A measure over the hour from 9:00, in bins of a minute. */
const hour: SampleTable = { columns: [time(60), ['n', 'integer', cells(60, row => row)]], buckets };

function annotation(at: number, title: string, more: Partial<Annotation> = {}): Annotation {
  return { id: `ann_${at}`, datasets: ['d'], time: minute(at), title, type: 'deploy', ...more };
}

async function drawn(
  annotations: readonly Annotation[],
  wish: ChartWish = {},
  table: SampleTable = hour,
): Promise<Chart> {
  const chart = await toChart(sampleResult([table]), now, wish, async () => ({ annotations }));
  if (chart?.kind !== 'chart') throw new Error(`no chart: ${chart?.reason}`);
  return chart;
}

/** The places of the rules of a picture, in pixels from the left of their plot. */
function rulesIn(svg: string): readonly number[] {
  const dashed = /<line [^>]*translate\(([\d.]+),0\)"[^>]* stroke="#7b818c" stroke-width="1.3"/g;
  return [...svg.matchAll(dashed)].map(([, x]) => Number(x));
}

/** The plot is 674 pixels wide, for an hour. */
const pixel = (minutes: number) => Number(((minutes / 60) * 674).toFixed(1));

const release = annotation(12, 'Release 1.2');
const failover = annotation(30, 'Failover', { endTime: minute(42), type: 'incident' });

describe('rules', () => {
  test.each<[string, ChartWish]>([
    ['lines', { kind: 'line' }],
    ['areas', { kind: 'area' }],
    ['bars', { kind: 'bar' }],
    ['dots', { kind: 'scatter' }],
    ['a heatmap', { kind: 'heat' }],
  ])('stand at their times over %s, with a band where there is an end', async (_, wish) => {
    const { svg, model } = await drawn([release, failover], wish);
    const share = wish.kind === 'heat' ? pixel(30) / (rulesIn(svg)[1] ?? 0) : 1;
    expect(rulesIn(svg).map(x => Math.round(x * share))).toEqual(
      [pixel(12), pixel(30), pixel(42)].map(Math.round),
    );
    const band = /d="M([\d.]+),0h([\d.]+)v\d+h-[\d.]+Z" fill="#7b818c" fill-opacity="0.16"/.exec(svg);
    expect(band?.slice(1).map(x => Math.round(Number(x) * share))).toEqual(
      [pixel(30), pixel(12)].map(Math.round),
    );
    expect(textsIn(svg)).toEqual(expect.arrayContaining(['Release 1.2', 'Failover']));
    expect(model.rules?.length).toBe(2);
  });

  test('stand over every plot of small multiples, their labels over the first', async () => {
    const columns = [
      time(60),
      ['a', 'float', cells(60, row => row)],
      ['b', 'float', cells(60, row => row * 1e6)],
    ] as const;
    const { svg } = await drawn([release], {}, { columns, buckets });
    expect(rulesIn(svg)).toEqual([pixel(12), pixel(12)]);
    expect(textsIn(svg).filter(text => text === 'Release 1.2')).toEqual(['Release 1.2']);
  });

  test('are those that touch the axis; one that began before it has a band from its beginning on', async () => {
    const before = annotation(-10, 'Before');
    const after = annotation(70, 'After');
    const across = annotation(-5, 'Across', { endTime: minute(5) });
    const { model, svg } = await drawn([after, before, across, release]);
    expect(model.rules?.map(({ label }) => label)).toEqual(['Across', 'Release 1.2']);
    expect(rulesIn(svg)).toEqual([pixel(5), pixel(12)]);
  });

  test('are counted above the chart and listed in its description', async () => {
    const { svg, description } = await drawn([failover, release]);
    expect(textsIn(svg)).toContain('2 annotations.');
    expect(description).toContain(
      '; 2 annotations: Release 1.2 (2026-11-20 09:12:00), Failover (2026-11-20 09:30:00 to 2026-11-20 09:42:00)',
    );
  });

  test('a chart without any is the same as one that never asked', async () => {
    const { svg, spec, description } = await drawn([]);
    const plain = await toChart(sampleResult([hour]), now);
    expect(plain).toMatchObject({ kind: 'chart', svg, spec, description });
  });

  test.each<[string, ChartWish, SampleTable]>([
    ['where they are turned off', { annotations: false }, hour],
    ['for a chart of no chart', { kind: 'none' }, hour],
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
  ])('nothing is asked %s', async (_, wish, table) => {
    let asked = 0;
    await toChart(sampleResult([table]), now, wish, async () => {
      asked += 1;
      return { annotations: [] };
    });
    expect(asked).toBe(0);
  });

  test('why there are none is said only where they were asked for', async () => {
    const ask = async () => ({
      annotations: [],
      problem: 'the token of the profile prod may not list annotations',
    });
    const remarks = async (wish: ChartWish) => {
      const chart = await toChart(sampleResult([hour]), now, wish, ask);
      return chart?.kind === 'chart' ? chart.model.remarks : [];
    };
    expect(await remarks({})).toEqual([]);
    expect(await remarks({ annotations: true })).toEqual([
      'no annotations: the token of the profile prod may not list annotations',
    ]);
  });

  test('of very many the latest are drawn, and that is said', async () => {
    const many = Array.from({ length: 130 }, (_, index) => annotation(index * 0.4, `r${index}`));
    const { model, svg } = await drawn(many);
    expect([model.rules?.length, model.rules?.[0]?.label]).toEqual([100, 'r30']);
    expect(model.remarks).toContain('the latest 100 of 130 annotations are drawn');
    expect(textsIn(svg).some(text => /^100 annotations, \d+ of them not labelled\./.test(text))).toBe(true);
  });
});

describe('rules that would run into each other', () => {
  const axis = { start: 0, end: 1000, until: 1000, isSearched: true };
  const counts = (times: readonly number[], place: number) =>
    drawnAsOne(
      times.map(t => ({ t, label: 'r', type: 'deploy', text: '' })),
      axis,
      place,
    );

  // Place 6 is a plot of 674 pixels, 0 one of 120.
  test.each<[readonly number[], number, readonly number[]]>([
    [[100, 102, 104, 106], 6, [4, 0, 0, 0]],
    [[100, 102, 104, 106, 114, 300], 6, [4, 0, 0, 0, 1, 1]],
    [[100, 108, 116], 6, [2, 0, 1]],
    [[100, 108, 116], 0, [3, 0, 0]],
    [[-50, -10, 2, 500], 6, [3, 0, 0, 1]],
    [[], 6, []],
  ])('at %j of a thousand on plot %i are drawn as %j', (times, place, expected) =>
    expect(counts(times, place)).toEqual(expected),
  );

  /** Four within a quarter of a minute, of an hour. */
  const near = [0, 5, 10, 15].map(second => {
    const time = new Date(Date.parse(minute(12)) + second * 1000).toISOString();
    return annotation(12, `r${second}`, { time });
  });

  test('are one, whose label counts the others; every one of them is a fact that the pointer is told', async () => {
    const { svg, model } = await drawn([...near, release]);
    expect(rulesIn(svg)).toEqual([pixel(12)]);
    expect(textsIn(svg)).toEqual(
      expect.arrayContaining(['Release 1.2 +4', '5 annotations, 4 of them not labelled.']),
    );
    expect(model.rules?.length).toBe(5);
  });

  test('of a stretch that is looked at closer stand apart', async () => {
    const { spec } = await drawn(near);
    const at = async (window: readonly number[] | null) => {
      const view = new vega.View(vega.parse(spec), { renderer: 'none' });
      await view.signal('given', 766).signal('shownWindow', window).runAsync();
      const svg = await view.toSVG();
      view.finalize();
      return [rulesIn(svg).length, textsIn(svg).filter(text => /^r\d/.test(text))];
    };
    expect(await at(null)).toEqual([1, ['r0 +3']]);
    expect(await at([11, 13].map(minutes => Date.parse(minute(minutes))))).toEqual([4, ['r0', 'r10']]);
  });
});

describe('labels', () => {
  const axis = { start: 0, end: 1000, until: 1000, isSearched: true };
  const rule = (t: number, label = 'Release 1.2.3') => ({ t, label, type: 'deploy', text: '' });
  const sides = (times: readonly number[], place: number) =>
    labelSides(
      times.map(t => rule(t)),
      axis,
      place,
    )
      .map(side => side?.charAt(0) ?? '-')
      .join('');

  // Places 0, 3 and 6 are plots of 120, 360 and 674 pixels.
  test.each<[readonly number[], number, string]>([
    [[0, 500], 6, 'rr'],
    [[0, 500], 0, 'r-'],
    [[0, 100, 200, 300, 400, 500, 600, 700, 800, 900], 6, 'r-r-r-r-r-'],
    [[0, 100, 200, 300, 400, 500, 600, 700, 800, 900], 3, 'r--r--r---'],
    [[990], 6, 'l'],
    [[850, 990], 6, 'r-'],
    [[990], 0, 'l'],
  ])('at %j of a thousand on plot %i stand at %s', (times, place, expected) =>
    expect(sides(times, place)).toBe(expected),
  );

  test('of which a long one leaves the room to others, as more of them can stand there', () => {
    const rules = [rule(100, 'a label that is longer than most'), ...[rule(115, 'a'), rule(300), rule(500)]];
    expect(labelSides(rules, axis, 6)).toEqual([undefined, 'right', 'right', 'right']);
  });

  test('that have no room are counted: never silently left out', async () => {
    const many = Array.from({ length: 15 }, (_, index) => annotation(index * 4, `Release 1.2.${index}`));
    const { svg } = await drawn(many);
    const shown = textsIn(svg).filter(text => text.startsWith('Release'));
    expect(textsIn(svg)).toContain(`15 annotations, ${15 - shown.length} of them not labelled.`);
    expect(shown.length).toBeGreaterThan(3);
    expect(rulesIn(svg).length).toBe(15);
  });

  test('and their count follow the width of the output', async () => {
    const many = Array.from({ length: 12 }, (_, index) => annotation(index * 5, `Release 1.2.${index}`));
    const { spec } = await drawn(many);
    const at = async (width: number) => {
      const view = new vega.View(vega.parse(spec), { renderer: 'none' });
      await view.signal('given', width).runAsync();
      const texts = textsIn(await view.toSVG());
      view.finalize();
      const shown = texts.filter(text => text.startsWith('Release')).length;
      return [shown, texts.find(text => text.includes('annotations'))];
    };
    expect(await at(1800)).toEqual([12, '12 annotations.']);
    expect(await at(900)).toEqual([6, '12 annotations, 6 of them not labelled.']);
    expect(await at(400)).toEqual([2, '12 annotations, 10 of them not labelled.']);
  });

  test('of a stretch that is looked at closer are more, and stay on the plot', async () => {
    const many = Array.from({ length: 12 }, (_, index) => annotation(index * 5, `Release 1.2.${index}`));
    const { spec } = await drawn(many);
    const view = new vega.View(vega.parse(spec), { renderer: 'none' });
    const window = [18, 37].map(at => Date.parse(minute(at)));
    await view.signal('given', 766).signal('shownWindow', window).runAsync();
    const shown = textsIn(await view.toSVG()).filter(text => text.startsWith('Release'));
    view.finalize();
    expect(shown).toEqual(['Release 1.2.4', 'Release 1.2.5', 'Release 1.2.6']);
  });
});

describe('texts of an annotation', () => {
  test.each(PAYLOADS)('%j is drawn as text', async payload => {
    const { svg, spec } = await drawn([
      annotation(12, payload, { description: payload, url: payload, type: payload }),
    ]);
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
    expect(() => vega.parse(spec)).not.toThrow();
  });

  test('are in no expression: the specification differs in texts alone', async () => {
    const specOf = async (text: string) => {
      const { spec } = await drawn([annotation(12, text, { description: text, type: text })]);
      return JSON.stringify({ ...spec, description: '' });
    };
    const odd = "'\\\\)";
    const escaped = JSON.stringify(odd).slice(1, -1);
    expect((await specOf(odd)).replaceAll(escaped, 'vvvv')).toBe(await specOf('vvvv'));
  });

  test('stand under the pointer with type, time and what is said of it; an address is text, never a link', async () => {
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

  test('without a title its type stands for it', async () => {
    const { title: _, ...untitled } = release;
    expect((await drawn([untitled])).model.rules?.[0]?.label).toBe('deploy');
  });
});

test('a chart in characters marks their columns, below its lines', async () => {
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
