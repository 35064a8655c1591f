import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visible } from '../../kernel/text.js';
import { notebookOf, runEach } from './gallery.js';
import { SAMPLES } from './hostile/payloads.js';
import { NEWEST_LAB, usually } from './lab.js';
import { soon } from './page/soon.js';
import { frameOf, svgOf } from './page/svg.js';
import { openSession, type Session } from './session.js';

/** Hostile titles, one of each class, 20 minutes apart: each is hovered here. time-rules.test.ts draws them all. */
const hostile = SAMPLES;
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
const minutesOf = (index: number): number => 10 + 20 * index;
const at = (index: number): string => new Date(Date.UTC(2026, 5, 1, 0, minutesOf(index))).toISOString();

const cells = [
  [
    '%time 2026-06-01T00:00Z..2026-06-01T06:00Z',
    "%annotate Release 1.2 --type deploy --time 2026-06-01T02:00Z --dataset sample-http-logs --description 'The new form' --url https://example.org/1",
    '%annotate Failover --type incident --time 2026-06-01T04:00Z --end 2026-06-01T05:00Z --dataset sample-http-logs',
    ...hostile.map(
      (text, index) =>
        `%annotate ${quoted(text)} --time ${at(index)} --dataset otel-demo-traces --description ${quoted(text)}`,
    ),
  ].join('\n'),
  "['sample-http-logs'] | summarize count() by bin(_time, 10m)",
  "// @viz heat\n['sample-http-logs'] | summarize count() by bin(_time, 10m), status",
  "['otel-demo-traces'] | summarize count() by bin(_time, 10m)",
];

describe.each(usually(NEWEST_LAB))('annotations over charts in $name', frontEnd => {
  let session: Session;
  let page: Page;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'annotations.ipynb': notebookOf(cells) },
      file: 'annotations.ipynb',
    });
    ({ page } = session);
    await runEach(page);
    await svg(2).waitFor({ timeout: 60_000 });
  });

  afterAll(() => session?.stop());

  test('are drawn at their start and end times, with labels', async () => {
    await soon(() => rules(0)).toEqual([0.33, 0.67, 0.83]);
    expect((await labelsOf(0).allTextContents()).sort()).toEqual(['Failover', 'Release 1.2']);
    expect(await svg(0).textContent()).toContain('2 annotations, named under the pointer.');
    await soon(() => rules(1)).toEqual([0.33, 0.67, 0.83]);
    expect((await labelsOf(1).allTextContents()).sort()).toEqual(['Failover', 'Release 1.2']);
  });

  test('are described in a tooltip, with the URL as text', async () => {
    const tip = frame(0).locator('.apl-chart-tip');
    await hover(0, 2 / 6);
    await soon(() => tip.innerText()).toMatch(
      /^Release 1\.2 \(deploy\)\n+2026-06-01 02:00:00\n+The new form · https:\/\/example\.org\/1\n+2026-06-01 0[12]:\d0:00 UTC/,
    );
    await hover(0, 4.5 / 6);
    await soon(() => tip.innerText()).toMatch(
      /^Failover \(incident\)\n+2026-06-01 04:00:00 to 2026-06-01 05:00:00\n+2026-06-01 04:/,
    );
    await hover(0, 3 / 6);
    await soon(() => tip.innerText()).toMatch(/^2026-06-01 03:00:00 UTC/);
  });

  test.each([1400, 700, 560])(
    'in a window of %i px have labels that do not overlap, and are counted',
    async width => {
      await page.setViewportSize({ width, height: 900 });
      for (const chart of [0, 1, 2]) {
        // A chart is redrawn, perhaps more than once, while the page adopts the new width.
        await soon(async () => [chart, await isFitted(chart), await areApart(chart)]).toEqual([
          chart,
          true,
          true,
        ]);
        const all = chart === 2 ? hostile.length : 2;
        expect(await svg(chart).textContent()).toContain(`${all} annotations, named under the pointer.`);
      }
      expect(session.complaints).toEqual([]);
    },
  );

  test('of untrusted origin are plain text in the image and the tooltip', async () => {
    await page.setViewportSize({ width: 1200, height: 900 });
    const tip = frame(2).locator('.apl-chart-tip');
    for (const [index, text] of hostile.entries()) {
      await hover(2, minutesOf(index) / 360);
      await soon(() => tip.textContent()).toContain(visible(text).slice(0, 40));
    }
    expect(await page.evaluate('window.pwned')).toBe(undefined);
    expect(await frame(2).locator('a, script, iframe, img, h1').count()).toBe(0);
  });

  const frame = (chart: number): Locator => frameOf(page, chart);
  const svg = (chart: number): Locator => svgOf(page, chart);

  /** Returns the left edge and the width of a chart's plot, in page pixels. */
  async function plot(chart: number): Promise<readonly [left: number, width: number]> {
    const frames = svg(chart).locator('.role-frame > g > path.background');
    const [box] = await boxesOf(frames);
    if (box === undefined) throw new Error('the chart is not on the page');
    return [box.left, box.right - box.left];
  }

  /** Returns the positions of a chart's annotation marks, as fractions of its axis. */
  async function rules(chart: number): Promise<readonly number[]> {
    const [left, width] = await plot(chart);
    return (await ruleBoxes(chart)).map(box => Number(((box.left - left) / width).toFixed(2)));
  }

  function ruleBoxes(chart: number): Promise<readonly Box[]> {
    return boxesOf(svg(chart).locator('line[stroke="#7b818c"][stroke-width="1.3"]'));
  }

  const labelsOf = (chart: number) => svg(chart).locator('.ruleLabels text:not([opacity="0"])');

  /** Returns the boxes of a chart's labels, from left to right. */
  async function labelBoxes(chart: number): Promise<readonly Box[]> {
    return (await boxesOf(labelsOf(chart))).toSorted((a, b) => a.left - b.left);
  }

  /** Whether the labels of a chart do not overlap. */
  async function areApart(chart: number): Promise<boolean> {
    const boxes = await labelBoxes(chart);
    return boxes.every(({ left }, index) => index === 0 || left >= (boxes[index - 1]?.right ?? 0));
  }

  /** Whether a chart fills the width of its output. */
  async function isFitted(chart: number): Promise<boolean> {
    const [output] = await boxesOf(frame(chart));
    const [drawn] = await boxesOf(svg(chart));
    if (output === undefined || drawn === undefined) return false;
    return drawn.right <= output.right && drawn.right > output.right - 60;
  }

  /** Moves the pointer to a fraction of the axis, in the upper part of the first plot. */
  async function hover(chart: number, share: number): Promise<void> {
    await svg(chart).scrollIntoViewIfNeeded();
    const [left, width] = await plot(chart);
    const [rule] = await ruleBoxes(chart);
    await page.mouse.move(0, 0);
    await page.mouse.move(left + width * share, (rule?.top ?? 0) + 40);
  }
});

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** Returns the boxes of elements on the page. */
function boxesOf(elements: Locator): Promise<readonly Box[]> {
  return elements.evaluateAll((all: readonly { getBoundingClientRect(): Box }[]) =>
    all.map(each => {
      const { left, right, top } = each.getBoundingClientRect();
      return { left, right, top };
    }),
  );
}
