import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from './gallery.js';
import { NEWEST_LAB, openFile, type Theme } from './lab.js';
import { soon } from './page/soon.js';
import { openSite, type Site } from './session.js';

const examples = new URL('../../examples/', import.meta.url);
const screenshots = fileURLToPath(new URL('../../test-output/screenshots/', import.meta.url));

const trials = [
  "['sample-http-logs'] | where staus == '500'",
  "%%time last 3650d\n['sample-http-logs'] | summarize percentile(req_duration_ms, 99)",
  'print answer = 6 * 7',
];

describe.each<{ theme: Theme }>([{ theme: 'light' }, { theme: 'dark' }])(
  'in the $theme theme',
  ({ theme }) => {
    let site: Site;

    beforeAll(async () => {
      mkdirSync(screenshots, { recursive: true });
      const names = [
        '01-first-look.ipynb',
        '02-own-data.ipynb',
        'data/orders.ndjson',
        'data/deployments.csv',
      ];
      const files = names.map(name => [name, readFileSync(new URL(name, examples), 'utf8')]);
      site = await openSite(NEWEST_LAB, {
        theme,
        files: { ...Object.fromEntries(files), 'trials.ipynb': notebookOf(trials) },
        browser: { viewport: { width: 1200, height: 860 }, deviceScaleFactor: 1.5 },
      });
    });

    afterAll(() => site?.stop());

    test.each([
      { file: '01-first-look.ipynb', charts: 10 },
      { file: '02-own-data.ipynb', charts: 4 },
    ])('$file runs from top to bottom, with charts and tables', async ({ file, charts }) => {
      const opened = await openFile(site.context, site.lab, file);
      await runAll(opened.page);
      expect(await errors(opened.page).allTextContents()).toEqual([]);
      expect(await opened.page.locator('.jp-CodeCell .apl-chart-picture svg').count()).toBe(charts);
      const charted = opened.page.locator('.jp-CodeCell:has(.apl-chart-picture)');
      expect(await charted.count()).toBe(charts);
      expect(await charted.filter({ has: opened.page.locator('.apl-grid') }).count()).toBe(charts);
      expect(await emptyTables(opened.page)).toBe(0);
      expect(opened.complaints).toEqual([]);
      if (charts === 10) await takeScreenshot(opened.page, theme);
      await opened.close();
    });

    test('an error points into the cell, an interrupt ends a query, and the kernel goes on', async () => {
      const opened = await openFile(site.context, site.lab, 'trials.ipynb');
      const { page } = opened;
      await kernelIdle(page);
      await page.locator('.jp-CodeCell .cm-content').first().click();
      await runCell(page);
      expect(await outputOf(page, 0)).toContain('unknown field `staus`\n --> line 1, column 30 of the cell');
      await runCell(page);
      await prompt(page, 1, '[*]:');
      await page.locator('[data-command="notebook:interrupt-kernel"]').first().click();
      await soon(() => outputOf(page, 1)).toContain(
        'Interrupted: the cell was stopped and its query cancelled',
      );
      await runCell(page);
      await soon(() => outputOf(page, 2)).toContain('42');
      expect(opened.complaints).toEqual([]);
      await opened.close();
    });
  },
);

/** The indicator alone also says so before the kernel is connected. */
async function kernelIdle(page: Page): Promise<void> {
  await page.getByText('APL (Axiom) | Idle').first().waitFor({ timeout: 60_000 });
  await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor();
}

/** Runs every cell and waits until each has its number. */
async function runAll(page: Page): Promise<void> {
  await kernelIdle(page);
  await page.locator('.jp-Notebook .jp-Cell').first().click();
  await page.locator('.lm-MenuBar-itemLabel', { hasText: /^Run$/ }).click();
  await page.locator('.lm-Menu-itemLabel', { hasText: /^Run All Cells$/ }).click();
  const cells = await page.locator('.jp-CodeCell').count();
  await prompt(page, cells - 1, `[${cells}]:`);
  await kernelIdle(page);
}

/** Runs the active cell and goes to the next. */
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

/** How many grids of results have no row. */
async function emptyTables(page: Page): Promise<number> {
  const tables = page.locator('.apl-grid');
  return (await tables.count()) - (await tables.filter({ has: page.locator('tbody tr') }).count());
}

async function outputOf(page: Page, cell: number): Promise<string> {
  const output = page.locator('.jp-CodeCell').nth(cell).locator('.jp-OutputArea-output').first();
  await output.waitFor();
  return output.innerText();
}

/** The investigation, with the side bar put away; what the README shows is a copy of it. */
async function takeScreenshot(page: Page, theme: Theme): Promise<void> {
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  const heading = page.locator('.jp-MarkdownCell', { hasText: 'An investigation' });
  await heading.evaluate((element: { scrollIntoView(): void }) => element.scrollIntoView());
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${screenshots}first-look-${theme}.png` });
}
