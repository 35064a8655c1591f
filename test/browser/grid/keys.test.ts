import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, NOTEBOOK_7, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const rows =
  'range n from 1 to 400 step 1 | extend host = strcat("host ", tostring(n % 4)), size = n * 7 % 400';

const columns = (count: number): string =>
  `range n from 1 to 30 step 1 | extend ${Array.from({ length: count - 1 }, (_, index) => `c${index + 2} = n + ${index}`).join(', ')}`;

describe.each(usually(NEWEST_LAB, NOTEBOOK_7))('a grid by keyboard only, in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'keys.ipynb': notebookOf([rows, columns(3), columns(60), columns(1_000)]) },
      file: 'keys.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await grid(3).waitFor();
  });

  afterAll(() => session?.stop());

  const grid = (index = 0): Locator => cells.at(index).locator('.apl-grid');
  const status = () => grid().locator('.apl-grid-status').textContent();
  const first = () => grid().locator('tbody tr').first().locator('td').allTextContents();
  const focused = (selector: string) => page.evaluate(`document.activeElement.matches('${selector}')`);
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  test('takes a fixed number of Tab stops, and has keys for headers and their menus', async () => {
    const stops = async (index: number) => {
      await grid(index).getByRole('searchbox').focus();
      const isWithin = `document.querySelectorAll('.apl-grid')[${index}].contains(document.activeElement)`;
      let count = 0;
      for (; count < 100 && (await page.evaluate(isWithin)); count += 1) await press('Tab');
      return count;
    };
    const few = await stops(1);
    expect([few, await stops(2), await stops(3)]).toEqual([few, few, few]);
    const table = grid(2).locator('table');
    const active = () =>
      page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent",
      );
    await table.focus();
    await press('ArrowDown', 'End');
    await soon(active).toBe('59');
    await press('ArrowUp');
    await soon(active).toMatch(/^c60/);
    const [head, edge] = await Promise.all(
      [grid(2).locator('th[title="c60"]'), grid(2)].map(each => each.boundingBox()),
    );
    expect((head?.x ?? 0) + (head?.width ?? 0)).toBeLessThan((edge?.x ?? 0) + (edge?.width ?? 0));
    await press('Enter');
    await soon(() => grid(2).locator('th[aria-sort="ascending"]').getAttribute('title')).toBe('c60');
    await press('Enter');
    await soon(() => grid(2).locator('th[aria-sort="descending"]').getAttribute('title')).toBe('c60');
    await press('Space');
    await page.locator('.apl-popover[aria-label="Column c60"]').waitFor();
    await press('Escape', 'Control+c');
    await soon(() => grid(2).locator('.apl-grid-status').textContent()).toBe(
      'Copied 30 rows \u00d7 1 column.',
    );
  });

  test('keeps the menus of its columns if filters leave no rows', async () => {
    await grid(1).locator('table').focus();
    await press('ArrowDown', 'Alt+ArrowDown');
    await page.getByLabel('Filter n').fill('> 100');
    await press('Enter');
    const status = grid(1).locator('.apl-grid-status');
    await soon(() => status.textContent()).toBe('0 of 30 rows match.');
    await press('ArrowRight', 'ArrowRight', 'Enter');
    await soon(() => grid(1).locator('th[aria-sort="ascending"]').getAttribute('title')).toBe('c2');
    // The arrow is before the name, not in the gray line below it.
    const arrows = await page.evaluate<string>(
      `[...document.querySelectorAll('th[aria-sort="ascending"] [data-order]')].map(name => getComputedStyle(name, '::before').content).join()`,
    );
    expect(arrows).toContain('\u2191');
    await press('Alt+ArrowDown');
    await page.locator('.apl-popover[aria-label="Column c2"]').waitFor();
    await press('Escape');
    expect(session.complaints).toEqual([]);
  });

  test('time range, chart, copy and report return the focus', async () => {
    const label = () =>
      page.evaluate("document.activeElement.closest('.jp-Cell')?.matches('.jp-mod-active')");
    await cells.at(0).locator('.jp-InputPrompt').click();
    await press('Alt+Shift+T');
    await page.locator('.apl-popover[aria-label="Time range"]').waitFor();
    // Tab stays within the open popover.
    await press('Shift+Tab', 'Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('5m');
    await press('Escape');
    expect(await label()).toBe(true);
    await press('Alt+Shift+V');
    await page.locator('.apl-popover[aria-label="Chart"]').waitFor();
    await press('Escape');
    expect(await label()).toBe(true);
    const waiting = page.waitForEvent('download');
    await press('Alt+Shift+R');
    expect((await waiting).suggestedFilename()).toBe('keys.html');
    expect(await label()).toBe(true);
    await grid().locator('table').focus();
    await press('Shift+Tab', 'Enter');
    await page.locator('.apl-popover[aria-label="Copy"]').waitFor();
    await page.getByRole('button', { name: 'All rows as Text for chat' }).press('Enter');
    await soon(status).toBe('Copied 400 rows \u00d7 3 columns.');
    expect(await page.evaluate('document.activeElement.title')).toBe('Copy rows');
    // The notebook's shortcuts work from its toolbar too.
    await page.locator('.apl-toolbar-range').focus();
    await press('Alt+Shift+T');
    await page.locator('.apl-popover[aria-label="Time range"]').waitFor();
    await press('Escape');
  });

  test('moves from the cell to a value, filters by it, and returns', async () => {
    await cells.at(0).locator('.jp-InputPrompt').click();
    for (let stops = 0; stops < 10 && !(await focused('.apl-grid table')); stops += 1) await press('Tab');
    await press('ArrowDown', 'ArrowRight', 'Space');
    await page.locator('.apl-popover').waitFor();
    for (const name of ['Whole row', 'Explain', 'Keep only']) {
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
    expect(await focused('.apl-grid table')).toBe(true);
    await press('Escape');
    expect(await page.evaluate("document.activeElement.closest('.apl-grid')")).toBe(null);
    const count = await page.locator('.jp-CodeCell').count();
    await press('b');
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(count + 1);
    expect(session.complaints).toEqual([]);
  });
});
