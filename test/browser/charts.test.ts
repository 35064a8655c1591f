import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from './gallery.js';
import { NEWEST_LAB, usually } from './lab.js';
import { drawTwice } from './page/drawn.js';
import { soon } from './page/soon.js';
import { frameOf, svgOf } from './page/svg.js';
import { openSession, type Session } from './session.js';

const hostile = '<img src=x onerror=window.hit=1>';
const queries = [
  "['sample-http-logs'] | summarize count(), avg(req_duration_ms) by bin_auto(_time)",
  "['sample-http-logs'] | summarize count() by bin_auto(_time), status",
  'range n from 1 to 80 step 1 | extend _time = datetime(2026-11-20T09:00:00Z) + (n % 4) * 1m, ms = 1500.0 * (n / 4) | summarize took = histogram(ms, 2) by bin(_time, 1m)',
  `datatable(name:string, n:long)["${hostile}", 3, "\\u202ejavascript:alert(1)", 2] | summarize sum(n) by name`,
  `// @viz pie\nrange n from 1 to 9 step 1 | extend name = substring("ihgfedcba", n - 1, 1) | summarize sum(n) by name`,
  '// @stack\nrange n from 1 to 11 step 1 | extend kind = iff(n > 9, "y", "x"), name = substring("ihgfedcbaba", n - 1, 1) | summarize sum(iff(n > 9, 30 * (n - 9), n)) by kind, name',
  '// @viz heat\ndatatable(kind:string, name:string, n:long)["k1", "a", 100, "k1", "b", 1, "k1", "c", 1, "k2", "b", 20, "k2", "c", 5, "k3", "b", 10, "k3", "c", 5] | summarize sum(n) by kind, name',
];

describe.each(usually(NEWEST_LAB))('charts in $name', frontEnd => {
  let session: Session;
  let page: Page;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'charts.ipynb': notebookOf(queries) },
      file: 'charts.ipynb',
    });
    ({ page } = session);
    if (frontEnd.app === 'lab/tree') {
      await page.keyboard.press('Control+b');
      await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
    }
    await runEach(page);
    await svg(queries.length - 1).waitFor({ timeout: 60_000 });
  });

  afterAll(() => session?.stop());

  test.each([1400, 1000, 700, 400])(
    'in a window of %i px fill their outputs and are not cut off',
    async width => {
      await page.setViewportSize({ width, height: 900 });
      await soon(() => shares(page)).toEqual(queries.map(() => 'fits'));
      expect(session.complaints).toEqual([]);
    },
  );

  test('show the time and the value of every series at the pointer', async () => {
    await page.setViewportSize({ width: 1200, height: 900 });
    const tip = frame(1).locator('.apl-chart-tip');
    await hover(1, 0.5);
    await soon(() => tip.innerText()).toMatch(/UTC\s+[\s\S]*200\s+\d/);
    expect(await frame(1).locator('.apl-chart-hair').isVisible()).toBe(true);
  });

  test('a click on a legend entry isolates its series, and another restores all', async () => {
    const faded = () => svg(1).locator('path[opacity="0.07"]').count();
    const name = svg(1).locator('.role-legend-label text').first();
    await name.click();
    await soon(faded).toBeGreaterThan(0);
    await name.click();
    await soon(faded).toBe(0);
  });

  test('a selection in a chart zooms in, or sets the range of the notebook', async () => {
    const bar = frame(0).locator('.apl-chart-bar');
    const ticks = async () =>
      (await svg(0).locator('.role-axis-label').first().locator('text').allTextContents()).sort().join();
    const before = await ticks();
    await drag(0, 0.3, 0.6);
    await bar.getByText('Zoom in').click();
    await soon(ticks).not.toBe(before);
    await bar.getByText('Reset zoom').click();
    await soon(ticks).toBe(before);
    await drag(0, 0.3, 0.6);
    await bar.getByText("Set the notebook's range").click();
    const first = page.locator('.jp-CodeCell .cm-content').first();
    await soon(() => first.innerText()).toMatch(
      /^%time \d{4}-\d\d-\d\dT\d\d:\d\d:[03]0Z\.\.\d{4}-\d\d-\d\dT\d\d:\d\d:[03]0Z/,
    );
    expect(await bar.getByRole('status').innerText()).toContain('Time range set');
  });

  test('names from data are plain text in the image and the tooltip', async () => {
    expect(await svg(3).textContent()).toContain(hostile);
    await svg(3).locator('path[aria-roledescription="bar"], .mark-rect path').first().hover();
    await soon(() => frame(3).locator('.apl-chart-tip').innerText()).toContain(hostile);
    expect(await page.evaluate('window.hit')).toBe(undefined);
    expect(await frame(3).textContent()).not.toContain('\u202e');
  });

  test.each<[string, number, readonly (readonly [key: string, text: string])[]]>([
    [
      'slices in order, wrapping around',
      4,
      [
        ['ArrowDown', 'a: 9 (20.0 %)'],
        ['ArrowRight', 'b: 8 (17.8 %)'],
        ['ArrowUp', 'a: 9 (20.0 %)'],
        ['ArrowLeft', 'g: 3 (6.7 %)'],
        ['ArrowDown', 'a: 9 (20.0 %)'],
      ],
    ],
    [
      'bar segments by row, except one of several groups',
      5,
      [
        ['ArrowDown', 'y \u00b7 a: 60'],
        ['ArrowDown', 'x \u00b7 e: 5'],
        ['ArrowRight', 'x \u00b7 f: 4'],
        ['ArrowRight', 'x \u00b7 g: 3'],
        ['ArrowRight', 'x \u00b7 g: 3'],
      ],
    ],
    [
      'heatmap cells by row and column, skipping missing ones',
      6,
      [
        ['ArrowDown', 'k1 \u00b7 a: 100'],
        ['ArrowDown', 'k1 \u00b7 a: 100'],
        ['ArrowRight', 'k1 \u00b7 b: 1'],
        ['ArrowDown', 'k2 \u00b7 b: 20'],
        ['ArrowDown', 'k3 \u00b7 b: 10'],
        ['ArrowRight', 'k3 \u00b7 c: 5'],
        ['ArrowUp', 'k2 \u00b7 c: 5'],
      ],
    ],
  ])('arrow keys select %s', async (_, chart, steps) => {
    const chosen = frame(chart).locator('.apl-chart-bar > [role=status]').first();
    await svg(chart).locator('..').focus();
    for (const [key, text] of steps) {
      await page.keyboard.press(key);
      expect(await chosen.textContent()).toBe(text);
    }
    await page.keyboard.press('Escape');
    expect(await chosen.isVisible()).toBe(false);
    // Enter would press it.
    expect(await frame(chart).locator('.apl-chart-bar button').count()).toBe(0);
  });

  test('a click beside a bar selects it, and another clears the selection', async () => {
    const chosen = frame(5).locator('.apl-chart-bar > [role=status]').first();
    await svg(5).scrollIntoViewIfNeeded();
    const [all, last] = await Promise.all([
      svg(5).boundingBox(),
      svg(5).locator('.mark-rect.role-mark path').last().boundingBox(),
    ]);
    const press = () => page.mouse.click((all?.x ?? 0) + (all?.width ?? 0) * 0.8, (last?.y ?? 0) + 4);
    await press();
    expect([await chosen.isVisible(), await chosen.textContent()]).toEqual([true, 'x \u00b7 g: 3']);
    await press();
    expect(await chosen.isVisible()).toBe(false);
  });

  test('arrow keys select a bar, and Enter adds a cell that explains its events', async () => {
    const bar = frame(3).locator('.apl-chart-bar');
    await svg(3).locator('..').focus();
    await page.keyboard.press('ArrowDown');
    await soon(() => bar.innerText()).toContain(`${hostile}: 3`);
    await page.keyboard.press('ArrowDown');
    await soon(() => bar.innerText()).toContain('javascript:alert(1): 2');
    await svg(3).locator('.mark-rect path').first().click();
    await soon(() => bar.innerText()).toContain(`${hostile}: 3`);
    await page.keyboard.press('Enter');
    await soon(() => bar.innerText()).toContain('The explanation is in the cell below.');
    const added = page.locator('.jp-CodeCell').nth(4).locator('.cm-content');
    await soon(() => added.innerText()).toContain(`%%explain name == "${hostile}"`);
  });

  test('a histogram cell is selected by pointer and keys, and explained by its bin and bucket', async () => {
    const bar = frame(2).locator('.apl-chart-bar');
    const cells = svg(2).locator('.mark-rect.role-mark path');
    expect(await cells.count()).toBe(8);
    // The buckets of the first minute, from the bottom.
    await cells.nth(0).click();
    await soon(() => bar.innerText()).toContain('took from 1,500 to 15,750: 10');
    for (const [key, text] of [
      ['ArrowUp', '2026-11-20 09:00:00 to 2026-11-20 09:01:00 UTC \u00b7 took from 15,750 to 30,000: 10'],
      ['ArrowRight', '2026-11-20 09:01:00 to 2026-11-20 09:02:00 UTC \u00b7 took from 14,250 to 28,500: 10'],
      ['ArrowDown', '2026-11-20 09:01:00 to 2026-11-20 09:02:00 UTC \u00b7 took from 0 to 14,250: 10'],
      ['ArrowLeft', '2026-11-20 09:00:00 to 2026-11-20 09:01:00 UTC \u00b7 took from 1,500 to 15,750: 10'],
    ] as const) {
      await page.keyboard.press(key);
      await soon(() => bar.innerText()).toContain(text);
    }
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await soon(() => bar.innerText()).toContain('The explanation is in the cell below.');
    const added = page.locator('.jp-CodeCell').nth(3).locator('.cm-content');
    await soon(() => added.innerText()).toContain(
      '%%explain _time >= datetime(2026-11-20T09:00:00.000Z) and _time < datetime(2026-11-20T09:01:00.000Z) and ms >= 15750 and ms <= 30000',
    );
  });

  test('the menu of a chart saves images and has no links', async () => {
    const menu = frame(0).locator('.apl-chart-menu');
    expect(await menu.locator('button').allTextContents()).toEqual([
      'Copy image',
      'Save as SVG',
      'Save as PNG',
    ]);
    expect(await frame(0).locator('a').count()).toBe(0);
  });

  test('an output that is updated twice shows the last chart, even if the first takes longer', async () => {
    const cell = await page.evaluate<number>(
      "[...document.querySelectorAll('.jp-CodeCell')].findLastIndex(each => each.querySelector('.apl-chart'))",
    );
    const shown = () => page.locator('.jp-CodeCell').nth(cell).locator('.apl-chart').textContent();
    const again = await drawTwice(page, {
      ...{ cell, mime: 'application/vnd.vega.v5+json', first: '' },
      second: "output.data['application/vnd.vega.v5+json'].scales = [{ name: 'x', type: 'none' }]",
    });
    await soon(shown).toBe('This chart cannot be drawn here.');
    await again();
    await soon(shown).toContain('k1');
  });

  const frame = (chart: number): Locator => frameOf(page, chart);
  const svg = (chart: number): Locator => svgOf(page, chart);

  /** Returns the page position at a fraction of a chart's width, in the middle of its first plot. */
  async function pointOf(chart: number, share: number): Promise<readonly [number, number]> {
    await svg(chart).scrollIntoViewIfNeeded();
    const box = await svg(chart).boundingBox();
    if (box === null) throw new Error('the chart is not on the page');
    return [box.x + box.width * share, box.y + 90];
  }

  async function hover(chart: number, share: number): Promise<void> {
    await page.mouse.move(0, 0);
    await page.mouse.move(...(await pointOf(chart, share)));
  }

  async function drag(chart: number, from: number, to: number): Promise<void> {
    await page.mouse.move(...(await pointOf(chart, from)));
    await page.mouse.down();
    await page.mouse.move(...(await pointOf(chart, to)), { steps: 4 });
    await page.mouse.up();
  }
});

/** Compares the width of each chart with its output's. */
function shares(on: Page): Promise<readonly string[]> {
  return on.locator('.apl-chart').evaluateAll((outputs: readonly Output[]) =>
    outputs.map(output => {
      const drawn = output.querySelector('.apl-chart-svg > svg')?.getBoundingClientRect().width ?? 0;
      const space = output.clientWidth;
      return drawn > space
        ? `cut: ${drawn} of ${space}`
        : drawn < space - 60
          ? `narrow: ${drawn} of ${space}`
          : 'fits';
    }),
  );
}

interface Output {
  readonly clientWidth: number;
  querySelector(selector: string): { getBoundingClientRect(): { readonly width: number } } | null;
}
