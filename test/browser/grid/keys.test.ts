import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { FRONT_ENDS } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const rows =
  'range n from 1 to 400 step 1 | extend host = strcat("host ", tostring(n % 4)), size = n * 7 % 400';

describe.each(FRONT_ENDS)('a grid by keys alone, in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'keys.ipynb': notebookOf([rows]) },
      file: 'keys.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await grid().waitFor();
  });

  afterAll(() => session?.stop());

  const grid = (): Locator => page.locator('.apl-grid');
  const status = () => grid().locator('.apl-grid-status').textContent();
  const first = () => grid().locator('tbody tr').first().locator('td').allTextContents();
  const focused = (selector: string) => page.evaluate(`document.activeElement.matches('${selector}')`);
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  test('from the cell to a value that is kept, and back', async () => {
    await cells.at(0).locator('.jp-InputPrompt').click();
    while (!(await focused('.apl-grid regular-table'))) await press('Tab');
    await press('ArrowDown', 'ArrowRight', 'Space');
    await page.locator('.apl-popover').waitFor();
    for (const name of ['Leave out', 'Only here']) {
      await press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe(name);
    }
    await press('Enter');
    await soon(status).toBe('100 of 400 rows match.');
    await press('ArrowDown', 'ArrowRight', 'ArrowRight', 'Alt+ArrowDown');
    await page.locator('.apl-popover[aria-label="Column size"]').waitFor();
    await press('Tab', 'Enter');
    await soon(first).toEqual(['57', 'host 1', '399']);
    await press('ArrowDown', 'Enter');
    await grid().locator('.apl-grid-details').waitFor();
    await press('Escape');
    await grid().locator('.apl-grid-details').waitFor({ state: 'detached' });
    expect(await focused('.apl-grid regular-table')).toBe(true);
    await press('Escape');
    expect(await page.evaluate("document.activeElement.closest('.apl-grid')")).toBe(null);
    const count = await page.locator('.jp-CodeCell').count();
    await press('b');
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(count + 1);
    expect(session.complaints).toEqual([]);
  });
});
