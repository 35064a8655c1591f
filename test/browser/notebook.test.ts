import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endless } from '../setup/endless.js';
import { notebookOf } from './gallery.js';
import { changeTheme, NEWEST_LAB } from './lab.js';
import { soon } from './page/soon.js';
import { openSite, type Site } from './session.js';

const examples = new URL('../../examples/', import.meta.url);
const screenshots = fileURLToPath(new URL('../../test-output/screenshots/', import.meta.url));

const trials = ["['sample-http-logs'] | where staus == '500'", endless, 'print answer = 6 * 7'];

describe("a newcomer's examples and trials", () => {
  let site: Site;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    const names = ['01-first-look.ipynb', '02-own-data.ipynb', 'data/orders.ndjson', 'data/deployments.csv'];
    const files = names.map(name => [name, readFileSync(new URL(name, examples), 'utf8')]);
    site = await openSite(NEWEST_LAB, {
      files: { ...Object.fromEntries(files), 'trials.ipynb': notebookOf(trials) },
      browser: { viewport: { width: 1200, height: 860 }, deviceScaleFactor: 1.5 },
    });
  });

  afterAll(() => site?.stop());

  test.each([
    { file: '01-first-look.ipynb', charts: 10 },
    { file: '02-own-data.ipynb', charts: 4 },
  ])('$file runs from top to bottom, with charts and tables', async ({ file, charts }) => {
    const { page, complaints } = await site.open(file);
    await runAll(page);
    expect(await errors(page).allTextContents()).toEqual([]);
    expect(await page.locator('.jp-CodeCell .apl-chart-svg svg').count()).toBe(charts);
    const charted = page.locator('.jp-CodeCell:has(.apl-chart-svg)');
    expect(await charted.count()).toBe(charts);
    expect(await charted.filter({ has: page.locator('.apl-grid') }).count()).toBe(charts);
    expect(await emptyTables(page)).toBe(0);
    expect(complaints).toEqual([]);
    if (charts === 10) await takeScreenshots(page);
  });

  test('an error points into the cell, an interrupt ends a query, and the kernel keeps running', async () => {
    const { page, complaints } = await site.open('trials.ipynb');
    await kernelIdle(page);
    await page.locator('.jp-CodeCell .cm-content').first().focus();
    await runCell(page);
    expect(await outputOf(page, 0)).toContain('unknown field `staus`\n --> line 1, column 30 of the cell');
    await runCell(page);
    await prompt(page, 1, '[*]:');
    await page.locator('[data-command="notebook:interrupt-kernel"]').first().click();
    await soon(() => outputOf(page, 1)).toContain('Interrupted: the cell was stopped and its query canceled');
    await runCell(page);
    await soon(() => outputOf(page, 2)).toContain('42');
    expect(complaints).toEqual([]);
  });
});

/** Waits for the text too: the indicator alone reads idle before the kernel connects. A pinned range moves it to the overflow menu. */
async function kernelIdle(page: Page): Promise<void> {
  await page.getByText('APL (Axiom) | Idle').first().waitFor({ timeout: 60_000 });
  const indicator = page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  await indicator.waitFor({ state: 'attached' });
}

/** Runs every cell and waits until each has a number. */
async function runAll(page: Page): Promise<void> {
  await kernelIdle(page);
  await page.locator('.jp-Notebook .jp-Cell').first().click();
  await page.locator('.lm-MenuBar-itemLabel', { hasText: /^Run$/ }).click();
  await page.locator('.lm-Menu-itemLabel', { hasText: /^Run All Cells$/ }).click();
  const cells = await page.locator('.jp-CodeCell').count();
  await prompt(page, cells - 1, `[${cells}]:`);
  await kernelIdle(page);
}

/** Runs the active cell and selects the next. */
async function runCell(page: Page): Promise<void> {
  await page.locator('[data-command="notebook:run-cell-and-select-next"]').first().click();
}

async function prompt(page: Page, cell: number, text: string): Promise<void> {
  await page
    .locator('.jp-CodeCell')
    .nth(cell)
    .locator('.jp-InputArea-prompt', { hasText: text })
    .waitFor({ timeout: 90_000 });
}

function errors(page: Page): Locator {
  return page.locator(
    '[data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"]',
  );
}

/** Counts the result grids without rows. */
async function emptyTables(page: Page): Promise<number> {
  const tables = page.locator('.apl-grid');
  return (
    (await tables.count()) -
    (await tables.filter({ has: page.locator('tbody tr, .apl-stream-line') }).count())
  );
}

async function outputOf(page: Page, cell: number): Promise<string> {
  const output = page.locator('.jp-CodeCell').nth(cell).locator('.jp-OutputArea-output').first();
  await output.waitFor();
  return output.innerText();
}

/** Takes screenshots of the investigation in light and dark, with the sidebar closed; the README shows copies of them. */
async function takeScreenshots(page: Page): Promise<void> {
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  const heading = page.locator('.jp-MarkdownCell', { hasText: 'An investigation' });
  await page.mouse.move(0, 0);
  for (const theme of ['light', 'dark'] as const) {
    await changeTheme(page, theme);
    await heading.evaluate((element: { scrollIntoView(): void }) => element.scrollIntoView());
    await page.screenshot({ path: `${screenshots}first-look-${theme}.png` });
  }
}
