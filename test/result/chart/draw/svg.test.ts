import * as vega from 'vega';
import { describe, expect, test } from 'vitest';

import { toChart } from '../../../../kernel/result/chart/chart.js';
import { widest } from '../../../../kernel/result/chart/draw/draw-style.js';
import type { XyChart } from '../../../../kernel/result/chart/model.js';
import { cells, sampleResult } from '../../sample.js';
import { buckets, chartOf, minute, now, textsIn, time } from '../fixtures.js';
import { boxesIn } from '../marks.js';

describe('hostile names', () => {
  const hostile = [
    '<script>alert(1)</script>',
    "datum['x']",
    '__proto__',
    'constructor',
    'a.b[0]\\',
    '\\u0041"); alert(1)//',
    '\u202eevil',
    "'+alert(1)+'",
    '\\',
    '"',
  ];

  test.each(hostile)('%j as a measure and as a group is drawn as text', async name => {
    const columns = [
      time(6, 2),
      [`${name} key`, 'string', cells(6, row => (row % 2 === 0 ? name : 'other'))],
      [name, 'integer', '[1,2,3,4,5,6]'],
    ] as const;
    const { svg, spec } = await chartOf({ columns, groups: [`${name} key`], buckets });
    expect(svg).not.toMatch(/<(script|img)/);
    expect(textsIn(svg).filter(text => text?.includes(shown(name))).length).toBe(2);
    expect(() => vega.parse(spec)).not.toThrow();
  });

  test('are not in expressions or paths: the specification differs only in strings', async () => {
    const specOf = async (name: string, value: string) => {
      const columns = [
        time(4, 2),
        [`${name}2`, 'string', JSON.stringify([value, 'b', value, 'b'])],
        [name, 'integer', '[1,2,3,4]'],
      ] as const;
      const { spec } = await chartOf({ columns, groups: [`${name}2`], buckets });
      return JSON.stringify({ ...spec, description: '' });
    };
    const plain = await specOf('nnnn', 'vvvv');
    const odd = await specOf('\\"];', "'\\\\)");
    const text = (value: string) => JSON.stringify(value).slice(1, -1);
    expect(odd.replaceAll(text('\\"];'), 'nnnn').replaceAll(text("'\\\\)"), 'vvvv')).toBe(plain);
    // For the drawing, for reading along it and for explaining a series: the name's column with each of two values.
    expect(plain.split('nnnn').length - 1).toBe(4);
    expect(plain.split('vvvv').length - 1).toBe(3);
  });

  test('are drawn as they are, even if they read like attributes of the image', async () => {
    const names = ['x id="abc" d="1.23456"', 'y transform="9.87654" href="#abc"'];
    const { svg } = await chartOf({
      columns: [
        ['k', 'string', JSON.stringify(names)],
        ['n', 'integer', '[1,2]'],
      ],
      groups: ['k'],
    });
    expect(textsIn(svg).filter(text => /[xy] /.test(text))).toEqual(names.toReversed());
  });

  function shown(name: string): string {
    const escaped = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return escaped.replace('\u202e', '\u27e8U+202E\u27e9');
  }
});

test('the SVG is an image with a title, a description and a flexible width', async () => {
  const columns = [time(3), ['a<b', 'integer', '[1,2,3]'], ['s', 'string', '["a","b","c"]']] as const;
  const { svg, description } = await chartOf({ columns, buckets, aggs: { 'a<b': { name: 'count' } } });
  expect(svg).toMatch(
    /^<svg role="img" aria-labelledby="(apl-\w+)-t \1-d" style="max-width:100%;height:auto"[^>]* viewBox="/,
  );
  expect(svg).toContain('>Bar chart of a&#60;b</title><desc id="apl-');
  expect(description).toBe(
    'Bar chart of a<b; over time from 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC; a<b: lowest 1 at 2026-11-20 09:00:00, highest 3 at 2026-11-20 09:02:00; not drawn: s; bins without rows are 0 in a<b.',
  );
  expect(svg).toContain('Not drawn: s. Bins without rows are 0 in a&lt;b.');
});

test('the time axis is the searched range, wherever the data is', async () => {
  const { spec } = await chartOf({ columns: [time(3), ['n', 'integer', '[1,2,3]']], buckets });
  const plots = spec.marks?.flatMap(mark => (mark.type === 'group' ? [mark] : [])) ?? [];
  const scales = plots.flatMap(plot => plot.scales ?? []);
  expect(scales.flatMap(scale => (scale.type === 'utc' ? [scale.domain] : []))).toEqual([
    [Date.UTC(2026, 10, 20, 9), Date.UTC(2026, 10, 20, 10)],
  ]);
});

test('the chart menu exports images and links to no other site', async () => {
  const { spec } = await chartOf({ columns: [time(3), ['n', 'integer', '[1,2,3]']], buckets });
  expect(spec.usermeta).toMatchObject({
    embedOptions: {
      renderer: 'svg',
      actions: { export: true, source: false, compiled: false, editor: false },
    },
  });
  expect(JSON.stringify(spec)).not.toMatch(/https?:(?!\/\/vega\.github\.io\/schema)/);
});

describe('a chart in a front end is as wide as its output', () => {
  const widths = async (container: number | undefined) => {
    const { spec } = await chartOf({ columns: [time(3), ['n', 'integer', '[1,2,3]']], buckets });
    const view = new vega.View(vega.parse(spec), { renderer: 'none' });
    if (container !== undefined)
      Object.assign(view, { container: () => ({ clientWidth: container, clientHeight: 300, style: {} }) });
    await view.runAsync();
    const svg = await view.toSVG();
    return [view.signal('width'), Number(/ width="(\d+)"/.exec(svg)?.[1])];
  };
  test.each([400, 700, 1400])('%i px', async container => {
    const [, drawn] = await widths(container);
    expect(drawn).toBeLessThanOrEqual(container);
    expect(drawn).toBeGreaterThan(container - 40);
  });
  test('has a plot of 674 px if the width is unknown', async () => {
    expect((await widths(undefined))[0]).toBe(674);
  });
});

test.each([300, 500, 1000])(
  'at %i px a negative value fits between its bar and its name',
  async container => {
    const columns = [
      ['name', 'string', '["up","down"]'],
      ['v', 'integer', '[30000000,-12345678]'],
    ] as const;
    const { spec } = await chartOf({ columns, groups: ['name'] });
    const view = new vega.View(vega.parse(spec), { renderer: 'none' });
    await view.signal('given', container).runAsync();
    const svg = await view.toSVG();
    view.finalize();
    const [, x, text = ''] = /translate\(([-\d.]+),[-\d.]+\)"[^>]*>(-12[^<]*)</.exec(svg) ?? [];
    expect(text).not.toBe('');
    expect(Number(x)).toBeGreaterThanOrEqual(widest([text]));
  },
);

test('stacked parts on a logarithmic axis are contiguous and start at the end of the axis', async () => {
  const columns = [
    time(4, 2),
    ['g', 'string', '["a","b","a","b"]'],
    ['n', 'integer', '[20,300,30,100]'],
  ] as const;
  const options = { kind: 'bar', stack: true, log: true } as const;
  const table = { columns, groups: ['g'], buckets, aggs: { n: { name: 'count' } } };
  const { svg } = await chartOf(table, options);
  const [boxes = []] = boxesIn(svg);
  const [above, below] = [boxes.slice(2), boxes.slice(0, 2)].map(all =>
    all.map(({ y, height }) => [y, y + height].map(Math.round)),
  );
  expect(boxes).toHaveLength(4);
  expect(below?.map(([, foot]) => foot)).toEqual([200, 200]);
  expect(above?.map(([, foot]) => foot)).toEqual(below?.map(([top]) => top));
});

test('a group with a single bin has a dot', async () => {
  const minutes = Array.from({ length: 61 }, (_, row) => minute(row % 60));
  const columns = [
    ['_time', 'datetime', JSON.stringify(minutes)],
    ['g', 'string', cells(61, row => (row === 60 ? 'alone' : 'all'))],
    ['x', 'float', cells(61, row => (row === 60 ? 50 : 5))],
  ] as const;
  const { spec } = await chartOf({ columns, groups: ['g'], buckets, aggs: { x: { name: 'avg' } } });
  const view = new vega.View(vega.parse(spec), { renderer: 'none' }).run();
  expect(view.data('dots_0')).toMatchObject([{ v: 50 }]);
  view.finalize();
});

test('in a line of many bins, only a bin between two gaps has a dot', async () => {
  const numbers = Array.from({ length: 60 }, (_, row) => row).filter(row => row !== 19 && row !== 21);
  const columns = [
    ['_time', 'datetime', JSON.stringify(numbers.map(minute))],
    ['x', 'float', JSON.stringify(numbers)],
  ] as const;
  const { spec } = await chartOf({ columns, buckets, aggs: { x: { name: 'avg' } } });
  const view = new vega.View(vega.parse(spec), { renderer: 'none' }).run();
  expect(view.data('dots_0').map(({ v }) => v)).toEqual([20]);
  view.finalize();
});

test('a raw table has no chart', async () => {
  expect(await toChart(sampleResult([{ columns: [time(2), ['n', 'integer', '[1,2]']] }]), now)).toBe(
    undefined,
  );
});

describe('anomalies', () => {
  /** Returns the positions of the rings, in pixels, and their size. */
  function ringsIn(svg: string) {
    const found = svg.matchAll(
      /translate\((-?[\d.]+),(-?[\d.]+)\)" d="M([\d.]+),0[^"]*"[^>]*stroke="#d5443a"/g,
    );
    return [...found].map(([, x, y, radius]) => [x, y, radius].map(Number));
  }
  const flagged = (count: number, isFlagged: (row: number) => boolean, each = 1) => ({
    columns: [
      time(count, each),
      ...(each > 1 ? [['g', 'string', cells(count, row => 'ab'.charAt(row % 2))] as const] : []),
      ['n', 'float', cells(count, row => (row === 3 ? null : row % 5))],
      ['anomaly', 'integer', cells(count, row => (isFlagged(row) ? 1 : 0))],
    ] as const,
    groups: each > 1 ? ['g'] : [],
    buckets,
    aggs: { n: { name: 'sum' } },
    range: { start: minute(0), end: minute(count / each) },
  });

  test('have rings at the middle of their bars, except without a value', async () => {
    const { svg } = await chartOf(flagged(10, row => row === 3 || row === 4));
    const middle = (674 / 10) * (4 + 0.86 / 2);
    expect(ringsIn(svg)).toEqual([[expect.closeTo(middle, 0), 0, expect.closeTo(5.7, 1)]]);
  });

  test('are drawn on top of their stack', async () => {
    const { svg, model } = await chartOf(
      flagged(20, row => row === 9, 2),
      { kind: 'area', stack: true },
    );
    const [plot] = model.kind === 'xy' ? (model as XyChart).plots : [];
    // A `b` of 4 on top of an `a` of 3, with an axis up to 7.
    expect(plot?.high).toBe(7);
    expect(ringsIn(svg).map(([, y]) => y)).toEqual([0]);
  });

  test('have smaller rings if there are hundreds', async () => {
    const { svg } = await chartOf(flagged(600, row => row >= 200 && row < 400));
    const radii = new Set(ringsIn(svg).map(([, , radius]) => radius));
    expect([ringsIn(svg).length, ...radii]).toEqual([200, expect.closeTo(2.4, 1)]);
  });
});

test.each([
  [300, 48],
  [560, 94],
  [1000, 158],
])('at %i px a note fills lines of up to %i characters', async (container, most) => {
  const columns = [
    time(4),
    ['n', 'integer', '[1,2,3,4]'],
    ...Array.from({ length: 40 }, (_, index) => [`column${index}`, 'string', '["a","b","c","d"]'] as const),
  ] as const;
  const { spec } = await chartOf({ columns, buckets });
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  await view.signal('given', container).runAsync();
  const lengths = [...(await view.toSVG()).matchAll(/>([^<]+)</g)].map(([, text = '']) => text.length);
  view.finalize();
  expect(Math.max(...lengths)).toBeGreaterThan(most * 0.8);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(most);
});

test.each([
  ['a symbol one column wide', 'ms \u2265 36, '.repeat(7).trim(), [7]],
  ['wide characters', '\u8bed '.repeat(40).trim(), [34, 6]],
  ['right-to-left words', 'name = \u05d0 \u05d1, 4 of 5', [1]],
])('a title with %s wraps at full lines', async (_, title, counts) => {
  const { svg } = await chartOf({ columns: [time(4), ['n', 'integer', '[1,2,3,4]']], buckets }, { title });
  const lines = [...svg.matchAll(/>([^<]+)</g)].map(([, text = '']) => text);
  const shown = lines.filter(each => /\u2265|\u8bed|\u05d0/.test(each)).slice(1, 1 + counts.length);
  expect(shown.map(each => each.match(/\u2265|\u8bed|\u05d0/g)?.length)).toEqual(counts);
  for (const line of lines) expect(line.replace(/\u2068\u05d0 \u05d1\u2069/, '')).not.toMatch(/\u05d0/);
});
