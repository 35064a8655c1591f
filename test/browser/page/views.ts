import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { AROUND, CAUSES, GALLERY, notebookOf, runEach } from '../gallery.js';
import { cellsOf } from './cells.js';

/** A view beyond outputs and their popovers: a page, a document, a dialog. */
export interface View {
  readonly name: string;
  /** Cells of the notebook that it starts from. */
  readonly cells: readonly string[];
  /** Opens the view; resolves with the page that shows it. */
  readonly show: (page: Page) => Promise<Page>;
}

/** Files for the import views. */
export const VIEWED_FILES: Readonly<Record<string, string>> = {
  [`${'odd & long name of a file, '.repeat(4)}.csv`]: [
    `Date,<b>Note</b>,${'a name of a field that goes on '.repeat(4)},empty,n`,
    `05/11/2026 10:00,${'long text '.repeat(30)},\u05e9\u05dc\u05d5\u05dd,,9223372036854775807`,
    '06/11/2026 10:00,"a, b",<img src=x onerror=window.pwned=1>,,x',
  ].join('\n'),
};

/** Every kind of output in one notebook, for a report. */
const REPORTED: readonly string[] = [
  ...(GALLERY.charts ?? []),
  ...(GALLERY.tables ?? []),
  ...(GALLERY.messages ?? []),
  ...(CAUSES.causes ?? []),
];

export const VIEWS: readonly View[] = [
  {
    name: 'empty',
    cells: [''],
    show: async page => {
      await page.locator('.apl-welcome').waitFor();
      return page;
    },
  },
  {
    name: 'report',
    cells: REPORTED,
    show: async page => {
      await runEach(page);
      const waiting = page.waitForEvent('download');
      await page.locator('.jp-InputPrompt').first().click();
      await page.keyboard.press('Alt+Shift+R');
      const report = await page.context().newPage();
      await report.setContent(readFileSync(await (await waiting).path(), 'utf8'));
      return report;
    },
  },
  {
    name: 'dashboard',
    cells: [
      ...AROUND.slice(0, 3),
      "%%time 2026-01-26T15:10Z..2026-01-26T15:20Z\n['otel-demo-logs'] | take 100",
    ],
    show: async page => {
      await runEach(page);
      for (const cell of [0, 1, 3]) {
        await cellsOf(page).at(cell).locator('.jp-InputPrompt').click();
        await page.keyboard.press('Alt+Shift+O');
      }
      await page.locator('.apl-tile').nth(2).waitFor();
      return page;
    },
  },
  {
    name: 'launcher',
    cells: [''],
    show: async page => {
      await page.locator('.lm-DockPanel-tabBar .lm-TabBar-addButton').first().click();
      await page.locator('.jp-LauncherCard', { hasText: 'Import File' }).first().waitFor();
      return page;
    },
  },
  {
    name: 'import',
    cells: [''],
    show: async page => {
      await page.evaluate("jupyterapp.commands.execute('filebrowser:toggle-main')");
      const file = page.locator('.jp-DirListing-item', { hasText: 'odd & long' }).first();
      await file.click({ button: 'right' });
      await page.locator('.lm-Menu-item', { hasText: 'Import File into APL' }).click();
      await page.locator('.jp-Dialog .apl-import-table tbody tr').first().waitFor();
      return page;
    },
  },
];

/** Returns the notebooks of the views, by file name. */
export function viewNotebooks(): Readonly<Record<string, string>> {
  return Object.fromEntries(VIEWS.map(({ name, cells }) => [`view-${name}.ipynb`, notebookOf(cells)]));
}
