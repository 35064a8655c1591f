import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from '../gallery.js';
import { FRONT_ENDS } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

describe.each(FRONT_ENDS)('the first minute in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'new.ipynb': notebookOf(['']), 'my app.ndjson': '{"_time":"2026-11-20T09:00:00Z","n":1}\n' },
      file: 'new.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
  });

  afterAll(() => session?.stop());

  test('a new notebook says what can be written, until something is', async () => {
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

  test.runIf(frontEnd.app === 'lab/tree')('a file is imported from its menu and from the panel', async () => {
    await page.locator('.jp-DirListing-item', { hasText: 'my app.ndjson' }).click({ button: 'right' });
    await page.locator('.lm-Menu-item', { hasText: 'Import File into APL' }).click();
    await soon(() => cells.source(1)).toBe('%import "my app.ndjson"');
    expect(await cells.run(1)).toContain('my-app: 1 row, 3 fields');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+Shift+P');
    await page.locator('.apl-panel').getByRole('button', { name: 'Import a file' }).click();
    await page.locator('.jp-Dialog .jp-DirListing-item', { hasText: 'my app.ndjson' }).click();
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Select' }).click();
    await soon(() => cells.source(2)).toBe('%import "my app.ndjson"');
  });

  test.runIf(frontEnd.app === 'lab/tree')('a new APL file comes from the File menu', async () => {
    await page.getByRole('menuitem', { name: 'File', exact: true }).click();
    await page.locator('.lm-Menu-item', { hasText: /^New$/ }).first().click();
    await page.locator('.lm-Menu-item', { hasText: 'APL File' }).click();
    await page.locator(".jp-FileEditor .cm-content[data-language='axiom-apl']").waitFor();
    expect(
      await page.locator('.lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel').allTextContents(),
    ).toContain('untitled.apl');
  });

  test.runIf(frontEnd.app === 'lab/tree')('another comes from the card of the launcher', async () => {
    await page.locator('.lm-DockPanel-tabBar .lm-TabBar-addButton').first().click();
    await page.locator('.jp-LauncherCard', { hasText: 'APL File' }).click();
    await soon(() =>
      page.locator('.lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel').allTextContents(),
    ).toContain('untitled1.apl');
  });
});
