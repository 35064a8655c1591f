import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from '../gallery.js';
import { FRONT_ENDS, type FrontEnd } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

/** Whether a page of the front end has the file browser, the launcher and the menu for new files. */
function showsFiles({ app, name }: FrontEnd): boolean {
  if (app === 'lab/tree') return true;
  console.log(
    `Left out in ${name}, whose notebooks stand alone: new APL files, and imports from files and launcher.`,
  );
  return false;
}

describe.each(FRONT_ENDS)('the first minute in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;
  const hasFiles = showsFiles(frontEnd);

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: {
        'new.ipynb': notebookOf(['']),
        'my app.ndjson': '{"_time":"2026-11-20T09:00:00Z","n":1}\n',
        'uk.csv': 'Date,Note\n05/11/2026 10:00,<b>\n06/11/2026 10:00,\n',
      },
      file: 'new.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
  });

  afterAll(() => session?.stop());

  test('a new notebook suggests what to write, until something is written', async () => {
    const words = page.locator('.apl-welcome');
    await cells.enter(0);
    await soon(() => words.textContent()).toMatch(/^Try {2}\['[\w-]+'\] \| limit 10\n/);
    expect(await cells.at(0).locator('.cm-content').getAttribute('aria-placeholder')).toContain('%datasets');
    expect(await findings(page, ['.apl-welcome'])).toEqual([]);
    const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
      "(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.querySelector('.jp-CodeCell .cm-scroller'))",
    );
    expect(scrollWidth).toBe(clientWidth);
    await page.keyboard.insertText('print 1');
    await soon(() => words.count()).toBe(0);
    await page.keyboard.press('Shift+Enter');
    await cells.at(0).locator('.apl-grid').waitFor();
    await cells.at(1).waitFor();
    expect(await words.count()).toBe(0);
  });

  const dialog = () => page.locator('.jp-Dialog:has(.apl-import)');
  const said = () => dialog().getByRole('status').locator('p').allTextContents();
  const importNow = () => dialog().getByRole('button', { name: 'Import', exact: true });
  const firstTime = () => dialog().locator('tbody tr').first().locator('td').nth(1).textContent();

  test.runIf(hasFiles)('a file is previewed before its import', async () => {
    await page.locator('.jp-DirListing-item', { hasText: 'uk.csv' }).click({ button: 'right' });
    await page.locator('.lm-Menu-item', { hasText: 'Import File into APL' }).click();
    await soon(said).toEqual([
      'uk.csv: CSV, 2 rows, 2 fields. Nothing is imported yet.',
      expect.stringMatching(
        /^Cannot be imported with these settings\. .* is 2026-11-05T10:00:00Z .* or 2026-05-11T10:00:00Z/,
      ),
      'Import with Dates: dmy or Dates: mdy.',
    ]);
    expect(await importNow().isDisabled()).toBe(true);
    expect(await dialog().locator('td', { hasText: '<b>' }).count()).toBe(1);
    expect(await findings(page, ['.apl-import'])).toEqual([]);
    await dialog().locator('[name=dates]').selectOption('dmy');
    await soon(firstTime).toBe('2026-11-05T10:00:00Z');
    await dialog().locator('[name=dataset]').fill('sales');
    expect(await dialog().locator('.apl-import-line').textContent()).toBe(
      '%import uk.csv --dataset sales --dates dmy',
    );
    await soon(() => importNow().isDisabled()).toBe(false);
    await importNow().click();
    await soon(() => cells.output(1)).toContain('sales: 2 rows, 4 fields');
    expect(await cells.source(1)).toBe('%import uk.csv --dataset sales --dates dmy');
  });

  test.runIf(hasFiles)('a file is imported from the panel, or by dropping it', async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+Shift+P');
    await page.locator('.apl-panel').getByRole('button', { name: 'Import a file' }).click();
    await page.locator('.jp-Dialog .jp-DirListing-item', { hasText: 'my app.ndjson' }).click();
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Select' }).click();
    await soon(said).toEqual([
      'my app.ndjson: JSON, 1 row, 1 field. Nothing is imported yet.',
      'Time from _time.',
    ]);
    await dialog().getByRole('button', { name: 'Add Cell' }).click();
    await soon(() => cells.source(2)).toBe('%import "my app.ndjson"');
    // Dropped from the desktop: the file is uploaded first.
    await page.evaluate(dropOnNotebook);
    await soon(said).toEqual([
      'dropped.csv: CSV, 1 row, 2 fields. Nothing is imported yet.',
      expect.stringMatching(/^No field contains timestamps/),
    ]);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    // Dragged from the file browser.
    await page.getByRole('tab', { name: 'File Browser' }).first().click();
    const from = await page
      .locator('.jp-DirListing-item:visible', { hasText: 'my app.ndjson' })
      .boundingBox();
    const to = await cells.at(0).boundingBox();
    await page.mouse.move((from?.x ?? 0) + 40, (from?.y ?? 0) + 8);
    await page.mouse.down();
    await page.mouse.move((to?.x ?? 0) + 100, (to?.y ?? 0) + 20, { steps: 5 });
    await page.locator('.apl-drop').waitFor();
    await page.mouse.up();
    await soon(said).toContain('my app.ndjson: JSON, 1 row, 1 field. Nothing is imported yet.');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(await page.locator('.apl-drop').count()).toBe(0);
  });

  test.runIf(hasFiles)('the File menu creates an APL file', async () => {
    await page.getByRole('menuitem', { name: 'File', exact: true }).click();
    await page.locator('.lm-Menu-item', { hasText: /^New$/ }).first().click();
    await page.locator('.lm-Menu-item', { hasText: 'APL File' }).click();
    await page.locator(".jp-FileEditor .cm-content[data-language='axiom-apl']").waitFor();
    expect(
      await page.locator('.lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel').allTextContents(),
    ).toContain('untitled.apl');
  });

  test.runIf(hasFiles)('the launcher creates an APL file', async () => {
    await page.locator('.lm-DockPanel-tabBar .lm-TabBar-addButton').first().click();
    await page.locator('.jp-LauncherCard', { hasText: 'APL File' }).click();
    await soon(() =>
      page.locator('.lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel').allTextContents(),
    ).toContain('untitled1.apl');
  });

  test.runIf(hasFiles)('the import card of the launcher opens a notebook for the import', async () => {
    await page.locator('.lm-DockPanel-tabBar .lm-TabBar-addButton').first().click();
    await page.locator('.jp-LauncherCard:visible', { hasText: 'Import File' }).last().click();
    await page.locator('.jp-Dialog .jp-DirListing-item', { hasText: 'uk.csv' }).click();
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Select' }).click();
    await soon(said).toContain('uk.csv: CSV, 2 rows, 2 fields. Nothing is imported yet.');
    await dialog().getByRole('button', { name: 'Add Cell' }).click();
    await soon(() =>
      page.locator('.jp-NotebookPanel:visible .jp-CodeCell .cm-line').allTextContents(),
    ).toEqual(['%import uk.csv']);
    expect(session.complaints).toEqual([]);
  });
});

/** Drops a file from the desktop on the notebook. */
const dropOnNotebook = `(() => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['a,b\\n1,2\\n'], 'dropped.csv'));
  const cell = document.querySelector('.jp-Notebook .jp-CodeCell');
  for (const type of ['dragover', 'drop'])
    cell.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
})()`;
