import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lab, openFile, startBrowser, startLab, venvPath } from './lab.js';

const queries = [
  "['sample-http-logs'] | summarize count(), avg(req_duration_ms) by bin_auto(_time)",
  "['sample-http-logs'] | summarize count() by bin_auto(_time), status",
];

const notebook = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { name: 'apl', display_name: 'APL (Axiom)', language: 'axiom-apl' } },
  cells: queries.map((source, index) => ({
    cell_type: 'code',
    id: `cell-${index}`,
    metadata: {},
    execution_count: null,
    outputs: [],
    source,
  })),
});

let lab: Lab;
let browser: Browser;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  browser = await startBrowser();
  lab = await startLab({ venv: venvPath('APL_TEST_VENV', '.venv'), files: { 'charts.ipynb': notebook } });
  lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  ({ page, complaints } = await openFile(context, lab, 'charts.ipynb'));
  await page.getByText('APL (Axiom) | Idle').first().waitFor({ timeout: 60_000 });
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  for (const _ of queries)
    await page.locator('[data-command="notebook:run-cell-and-select-next"]').first().click();
  await page
    .locator('svg.marks')
    .nth(queries.length - 1)
    .waitFor({ timeout: 60_000 });
});

afterAll(async () => {
  await browser?.close();
  await lab?.stop();
});

test.each([1400, 1000, 700, 460])(
  'in a window of %i px charts are as wide as their outputs and not cut',
  async width => {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(() => shares(page), { timeout: 10_000 }).toEqual(queries.map(() => 'fits'));
    expect(complaints).toEqual([]);
  },
);

test('the menu of a chart saves pictures and leads to no other site', async () => {
  const entries = page.locator('.vega-embed').first().locator('.vega-actions a');
  expect(await entries.allTextContents()).toEqual(['Save as SVG', 'Save as PNG']);
});

/** How each chart stands to its output, whose edge the menu shares. */
function shares(on: Page): Promise<readonly string[]> {
  return on.locator('.apl-chart').evaluateAll((outputs: readonly Output[]) =>
    outputs.map(output => {
      const drawn = output.querySelector('svg.marks')?.getBoundingClientRect().width ?? 0;
      const space = output.clientWidth;
      return drawn > space
        ? `cut: ${drawn} of ${space}`
        : drawn < space - 80
          ? `narrow: ${drawn} of ${space}`
          : 'fits';
    }),
  );
}

interface Output {
  readonly clientWidth: number;
  querySelector(selector: string): { getBoundingClientRect(): { readonly width: number } } | null;
}
