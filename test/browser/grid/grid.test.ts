import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ARROW_MIME } from '../../../labextension/src/grid/grid-mime.js';
import { columns, notebookOf, runEach } from '../gallery.js';
import { kernelReady, killKernels, NEWEST_LAB, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { drawTwice, openResults, outputsOf } from '../page/drawn.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const numbers =
  'range n from 1 to 20000 step 1\n| extend big = 9223372036854775000 + n % 7, name = strcat("user ", tostring(n % 10)), _time = datetime(2026-11-20T09:00:00.123456789Z) + n * 1s, x = iff(n % 100 == 0, real(null), n / 7.0), tags = bag_pack("a b", n, "list", pack_array(1, 9007199254740993))';
const long = 'print list = range(1, 5000), text = "after it"';
const wide = `print ${Array.from({ length: 1000 }, (_, index) => `column_${index} = ${index}`).join(', ')}`;
/** More rows than the tallest table a browser renders. */
const many = 'range n from 1 to 1000000 step 1';
/** Columns with fractional pixel widths. */
const narrow = 'print a = 1, b = 1, c = 1, d = 1, e = 1, f = 1';
/** A column of long values between two short columns; only its last row needs more than one line. */
const messages = `range n from 1 to 30 step 1 | extend message = iff(n < 30, "short", "${'a long message of a log '.repeat(40)}"), level = "info"`;
/** Columns that fit a wide window but not a narrow one. */
const shrinking = `print text = "${'a text of some length '.repeat(4)}", more = "${'another text, '.repeat(4)}", last = 1`;
/** Width of Chromium's thin scroll bar, in pixels. */
const SCROLL_BAR = 10;
/** One payload of each class; hostile.test.ts reads them all. */
const hostile = columns('<b onclick="window.pwned=1">name</b>');

describe.each(usually(NEWEST_LAB))('the grid of a result in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'grid.ipynb': notebookOf([numbers, hostile, wide, long, many, narrow, messages, shrinking]) },
      file: 'grid.ipynb',
      browser: { timezoneId: 'Asia/Kolkata', permissions: ['clipboard-read', 'clipboard-write'] },
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await grid(7).waitFor({ timeout: 90_000 });
  });

  afterAll(() => session?.stop());

  const grid = (index = 0): Locator => page.locator('.apl-grid').nth(index);
  /** Returns the 1-based position of a column among the cells of a row. */
  const placeOf = async (name: string): Promise<number> => {
    const heads = await grid().locator('thead th:has(small) > span:first-child').allTextContents();
    return heads.indexOf(name) + 1;
  };
  const column = async (name: string): Promise<string[]> =>
    grid()
      .locator(`tbody tr td:nth-of-type(${await placeOf(name)})`)
      .allTextContents();
  const first = async (name: string): Promise<Locator> =>
    grid()
      .locator('tbody tr')
      .first()
      .locator(`td:nth-of-type(${await placeOf(name)})`);
  const table = "document.querySelector('.apl-grid regular-table')";
  const scrollHeight = () => page.evaluate<number>(`${table}.scrollHeight`);
  const scrollTo = (top: number) => page.evaluate(`${table}.scrollTo(0, ${top})`);
  const status = (index = 0): Locator => grid(index).locator('.apl-grid-status');

  test('has all rows of the kernel, but renders few of them', async () => {
    await soon(scrollHeight).toBeGreaterThan(400_000);
    await scrollTo(1e9);
    await soon(() => column('n')).toContain('20,000');
    await grid().scrollIntoViewIfNeeded();
    await soon(() => page.evaluate(lastInSight)).toBe('14:33:20.123456789');
    expect(await grid().locator('td').count()).toBeLessThan(400);
    await scrollTo(0);
    await soon(async () => (await column('n'))[0]).toBe('1');
  });

  test('is as wide as its columns and as high as its rows, with room for scroll bars only if needed', async () => {
    await soon(() => page.evaluate(roomOf(5))).toEqual({ beside: 3, below: 2, bars: [0, 0] });
    const many = { beside: 3, below: 2, bars: [SCROLL_BAR, 0] };
    await soon(() => page.evaluate(roomOf(4))).toEqual(many);
    // Longer numbers widen the columns.
    const before = await page.evaluate<number>(widthOf(4));
    await page.evaluate("document.querySelectorAll('.apl-grid regular-table')[4].scrollTo(0, 1e9)");
    await soon(() => page.evaluate<number>(widthOf(4))).toBeGreaterThan(before);
    await soon(() => page.evaluate(roomOf(4))).toEqual(many);
    await page.evaluate("document.querySelectorAll('.apl-grid regular-table')[4].scrollTo(0, 0)");
    // The grid of 1,000 columns is wider than the page.
    await soon(() => page.evaluate(`${roomOf(2)}.bars`)).toEqual([0, SCROLL_BAR]);
  });

  test('gives a column of long values the remaining width, in a window of any width', async () => {
    await grid(6).getByRole('searchbox').fill('long');
    await soon(() => grid(6).locator('tbody tr').count()).toBe(1);
    const free = () =>
      page.evaluate<number>(`(() => {
        const node = document.querySelectorAll('regular-table')[6];
        return node.parentElement.parentElement.clientWidth - node.querySelector('table').offsetWidth;
      })()`);
    for (const width of [1400, 1000, 1200]) {
      await page.setViewportSize({ width, height: 900 });
      // The frame's border, a pixel to avoid scrolling, and another if the other columns have fractional widths.
      await soon(free).toBeOneOf([3, 4]);
    }
  });

  test('scrolls to columns that a narrower window has no room for', async () => {
    const node = "document.querySelectorAll('regular-table')[7]";
    const beyond = () => page.evaluate<number>(`${node}.scrollWidth - ${node}.clientWidth`);
    await page.setViewportSize({ width: 1600, height: 900 });
    await soon(beyond).toBe(0);
    await page.setViewportSize({ width: 800, height: 900 });
    await soon(beyond).toBeGreaterThan(0);
    await page.evaluate(`${node}.scrollTo(1e9, 0)`);
    const right = async (each: Locator) => {
      const { x = Number.NaN, width = 0 } = (await each.boundingBox()) ?? {};
      return x + width;
    };
    const last = grid(7).locator('thead th', { hasText: 'last' });
    await soon(async () => (await right(last)) <= (await right(grid(7)))).toBe(true);
    await page.setViewportSize({ width: 1200, height: 900 });
  });

  test('makes wrapped rows as high as their values, with a scroll bar only if needed', async () => {
    const heights = () =>
      page.evaluate<(number | boolean)[]>(`(() => {
        const node = document.querySelectorAll('regular-table')[6];
        const rows = [...node.querySelectorAll('tbody tr')].map(row => row.offsetHeight);
        return [node.scrollHeight > node.clientHeight, ...rows];
      })()`);
    const wrap = grid(6).getByRole('button', { name: 'Wrap' });
    const lines = Array.from({ length: 15 }, () => 24);
    await wrap.click();
    await soon(heights).toEqual([false, expect.toSatisfy(height => height > 50)]);
    const [, high] = await heights();
    await grid(6).getByRole('searchbox').fill('');
    await soon(heights).toEqual([true, ...lines]);
    const last = grid(6).locator('tbody tr', { hasText: /^30/ });
    await page.evaluate("document.querySelectorAll('regular-table')[6].scrollTo(0, 100_000)");
    await soon(async () => (await last.boundingBox())?.height).toBe(high);
    const ends = async (node: Locator) => {
      const { y = 0, height = 0 } = (await node.boundingBox()) ?? {};
      return y + height;
    };
    await soon(async () => (await ends(grid(6).locator('.apl-grid-frame'))) - (await ends(last))).toBe(1);
    await wrap.click();
    await soon(heights).toEqual([true, ...lines]);
  });

  test('does not change the toolbar while fetching rows', async () => {
    await page.evaluate(watchToolbar);
    await scrollTo(240_000);
    await soon(() => column('n')).toContain('10,002');
    await scrollTo(0);
    await soon(async () => (await column('n'))[0]).toBe('1');
    expect(await page.evaluate('window.toolbarChanges')).toBe(0);
  });

  test('sorts all rows by clicks on headers', async () => {
    const head = grid().locator('thead th', { hasText: /^n/ }).locator('span').first();
    await head.click();
    await head.click();
    await soon(async () => (await column('n'))[0]).toBe('20,000');
    const name = grid().locator('thead th', { hasText: /^name/ }).locator('span').first();
    await name.click();
    await head.click({ modifiers: ['Shift'] });
    await head.click({ modifiers: ['Shift'] });
    await soon(async () => [(await column('n'))[0], (await column('name'))[0]]).toEqual(['20,000', 'user 0']);
    await name.click();
    await name.click();
    await soon(async () => (await column('n'))[0]).toBe('1');
  });

  test('shows formatted numbers, and the exact ones in tooltips', async () => {
    const cell = await first('big');
    expect(await cell.textContent()).toBe('9,223,372,036,854,775,001');
    expect(await cell.getAttribute('title')).toBe('9223372036854775001');
  });

  test('filters by a value and searches, over all rows', async () => {
    await (await first('name')).click({ button: 'right' });
    await page.getByRole('button', { name: /Show only rows with this/ }).click();
    await soon(() => status().textContent()).toBe('2,000 of 20,000 rows match.');
    await grid().getByRole('searchbox').fill('19991');
    await soon(() => status().textContent()).toBe('1 of 20,000 rows match.');
    await grid().getByRole('searchbox').fill('');
    await grid().locator('.apl-grid-chips button').click();
    await soon(() => status().textContent()).toBe('');
  });

  test('shows the profile of a column', async () => {
    await grid().getByRole('button', { name: 'Menu of x', exact: true }).click();
    const profile = page.locator('.apl-grid-profile');
    await soon(() => profile.locator('dd').allTextContents()).toEqual([
      '20,000',
      '200 (1.0 %)',
      '19,800',
      '0.14285714285714285',
      '2857',
    ]);
    expect(await profile.locator('rect').count()).toBeGreaterThan(5);
    await soon(() => page.evaluate(isWhole)).toBe(true);
    await page.keyboard.press('Escape');
  });

  test('shows a whole row, with the digits and paths of its JSON', async () => {
    await grid().locator('tbody tr').first().locator('th').first().click();
    const details = grid().locator('.apl-grid-details');
    expect(await details.locator('.apl-grid-tree').first().textContent()).toContain('9007199254740993');
    await details.getByRole('button', { name: 'Copy the path tags["a b"]' }).click();
    await soon(() => page.evaluate('navigator.clipboard.readText()')).toBe('tags["a b"]');
    await details.getByRole('button', { name: 'Close the row' }).click();
  });

  test('copies exact values by keyboard', async () => {
    await (await first('big')).click();
    await page.keyboard.press('Shift+ArrowDown');
    // The menu of a selected value leaves the selection as it is.
    await (await first('big')).click({ button: 'right' });
    await page.locator('.apl-popover').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+c');
    await soon(() => status().textContent()).toBe('Copied 2 rows \u00d7 1 column.');
    await soon(() => page.evaluate('navigator.clipboard.readText()')).toBe(
      '9223372036854775001\n9223372036854775002',
    );
  });

  test("handles plain keys itself, but passes on the notebook's commands", async () => {
    const count = await page.locator('.jp-CodeCell').count();
    const table = grid().locator('table');
    await table.focus();
    for (const key of ['d', 'd', 'x', 'b', 'm', 'Shift+ArrowDown']) await page.keyboard.press(key);
    expect(await page.locator('.jp-CodeCell').count()).toBe(count);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TABLE');
    await grid().getByRole('button', { name: 'Columns' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.apl-popover').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+s');
    await soon(() => readFileSync(join(session.lab.notebookDir, 'grid.ipynb'), 'utf8')).toContain(
      'application/vnd.apache.arrow.stream',
    );
  });

  test('returns the keys to the notebook after a click on the prompt', async () => {
    await grid().getByRole('searchbox').click();
    await cells.at(0).locator('.jp-InputPrompt').click();
    expect(await page.evaluate("document.activeElement.closest('.apl-grid')")).toBe(null);
    const count = await page.locator('.jp-CodeCell').count();
    await page.keyboard.press('b');
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(count + 1);
    // JupyterLab 4.2 checks the toolbar of a new cell in the next frame; the cell must still exist then.
    await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await page.keyboard.press('d');
    await page.keyboard.press('d');
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(count);
  });

  test('removes a filter with one click, even if rows arrive between press and release', async () => {
    await (await first('name')).click({ button: 'right' });
    await page.getByRole('button', { name: /Show only rows with this/ }).click();
    await soon(() => status().textContent()).toBe('2,000 of 20,000 rows match.');
    await grid().locator('.apl-grid-chips button').hover();
    await page.mouse.down();
    await grid().getByRole('searchbox').fill('19991');
    await soon(() => status().textContent()).toBe('1 of 20,000 rows match.');
    await page.mouse.up();
    await grid().locator('.apl-grid-chips button').waitFor({ state: 'detached' });
    await grid().getByRole('searchbox').fill('');
    await soon(() => status().textContent()).toBe('');
  });

  test('shows times in UTC or local time, with all digits', async () => {
    await grid().getByRole('button', { name: 'Notebook times are in UTC; switch to local time' }).click();
    await soon(async () => (await column('_time'))[0]).toBe('14:30:01.123456789');
    await grid().getByRole('button', { name: 'Notebook times are in local time; switch to UTC' }).click();
    await soon(async () => (await column('_time'))[0]).toBe('09:00:01.123456789');
    const head = grid().locator('th[title="_time"] small');
    expect(await head.textContent()).toBe('datetime \u00b7 UTC \u00b7 2026-11-20');
    expect(await (await first('_time')).getAttribute('title')).toBe('2026-11-20T09:00:01.123456789Z');
  });

  test('adds a where line to the cell and removes it, each as one undo step', async () => {
    const line = '\n| where _time != datetime(2026-11-20T09:00:01.123456789Z)';
    // JupyterLab merges edits made within this time, in milliseconds, into one undo step.
    await page.evaluate(
      'jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.undoManager.captureTimeout = 1e9',
    );
    await (await first('_time')).click({ button: 'right' });
    await page.getByRole('button', { name: /that excludes this value$/ }).click();
    await soon(() => cells.source(0)).toBe(numbers + line);
    await grid().getByRole('button', { name: 'Remove the line from the query' }).click();
    await soon(() => cells.source(0)).toBe(numbers);
    await cells.enter(0);
    await page.keyboard.press('Control+z');
    await soon(() => cells.source(0)).toBe(numbers + line);
    await page.keyboard.press('Control+z');
    await soon(() => cells.source(0)).toBe(numbers);
  });

  test('never changes the cell on a click, arrow keys, Enter or a double click', async () => {
    await (await first('name')).click();
    expect(await page.locator('.apl-popover').count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await grid().locator('.apl-grid-details[aria-label="Row 2"]').waitFor();
    await page.keyboard.press('Escape');
    await (await first('name')).dblclick();
    await grid().locator('.apl-grid-details[aria-label="Row 1"]').waitFor();
    await grid().getByRole('button', { name: 'Close the row' }).click();
    // However it is opened, the menu begins with items that change nothing.
    for (const open of ['Space', 'chevron'] as const) {
      await (await first('name')).click();
      if (open === 'Space') await page.keyboard.press('Space');
      else await grid().getByRole('button', { name: 'Menu of the selected value' }).click();
      await page.locator('.apl-popover[aria-label="Value"]').waitFor();
      await soon(() => page.evaluate('document.activeElement.textContent')).toBe('Copy');
      await page.keyboard.press('Enter');
      await soon(() => status().textContent()).toBe('Copied.');
      await page.locator('.apl-popover').waitFor({ state: 'detached' });
    }
    expect(await cells.source(0)).toBe(numbers);
  });

  test('does not cover the selected value with its button', async () => {
    await grid().scrollIntoViewIfNeeded();
    for (const name of ['n', 'big', 'name', '_time']) {
      await (await first(name)).click();
      await grid().locator('.apl-grid-chevron').waitFor();
      expect([name, await page.evaluate<number>(coveredBy(await placeOf(name)))]).toEqual([name, 0]);
    }
  });

  test('loads a long list of a row in parts, and says how many members are left', async () => {
    await grid(3).locator('tbody tr').first().locator('th').first().click();
    const details = grid(3).locator('.apl-grid-details');
    await details.getByText('after it').waitFor();
    expect(await details.locator('.apl-grid-tree li').count()).toBe(201);
    await details.getByRole('button', { name: 'Show more (4,800 members left)' }).click();
    expect(await details.locator('.apl-grid-tree li').count()).toBe(401);
    expect(await details.locator('.apl-grid-tree li').nth(399).textContent()).toBe('399 400');
    await details.getByRole('button', { name: 'Close the row' }).click();
  });

  test('waits for the value before filtering from the menu of a cell that is loading', async () => {
    await page.evaluate(clickEarly);
    await page.getByRole('button', { name: /Show only rows with this/ }).click();
    await soon(() => grid().locator('.apl-grid-chips').textContent()).toMatch(/^_time == 2026-11-20T1\d:/);
    await grid().locator('.apl-grid-chips button').click();
    await soon(() => status().textContent()).toBe('');
  });

  test('does not run or render hostile values', async () => {
    const rows = grid(1).locator('tbody tr');
    expect(await rows.count()).toBeGreaterThan(5);
    expect(await grid(1).locator('img, script, iframe, h1, style, b, regular-table svg').count()).toBe(0);
    expect(await page.evaluate(cellsKeepWithin)).toBe(true);
    for (const row of [0, 3, 9]) {
      await rows.nth(row).locator('th').first().click();
      await rows.nth(row).locator('td').first().hover();
    }
    await grid(1).getByRole('button', { name: 'Menu of value', exact: true }).click();
    await page.locator('.apl-grid-top li').first().waitFor();
    expect(await page.locator('.apl-popover').locator('img, script, iframe, h1, style, b').count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await grid(1).locator('img, script, iframe, h1, style, b').count()).toBe(0);
    expect(await page.evaluate("'pwned' in window")).toBe(false);
  });

  test('keeps the menu of a column wider than the window in view', async () => {
    await page.setViewportSize({ width: 700, height: 900 });
    const menu = grid(1).getByRole('button', { name: 'Menu of value', exact: true });
    const ends = async () => {
      const boxes = await Promise.all([menu, grid(1)].map(each => each.boundingBox()));
      return boxes.map(box => (box === null ? Number.NaN : box.x + box.width));
    };
    await soon(async () => (await ends())[1]).toBeLessThan(700);
    const [end = 0, gridEnd = 0] = await ends();
    expect(end).toBeLessThan(gridEnd);
    await page.setViewportSize({ width: 1200, height: 900 });
  });

  test('shows all of 1,000 columns', async () => {
    await grid(2).getByRole('button', { name: 'Columns' }).click();
    await soon(() => page.locator('.apl-popover input[type=checkbox]').count()).toBe(1000);
    await page.keyboard.press('Escape');
    await grid(2).locator('table').focus();
    // The first key pressed in a grid already moves the selection.
    await page.keyboard.press('End');
    await soon(() => grid(2).locator('tbody td').last().textContent()).toBe('999');
  });

  test('scrolls a long result by as many rows per wheel turn as a short one', async () => {
    await grid(4).scrollIntoViewIfNeeded();
    const firstRow = () => grid(4).locator('tbody th').first().textContent();
    const turn = async (pixels: number) => {
      await grid(4).locator('regular-table').hover();
      for (let turns = 0; turns < 10; turns += 1) await page.mouse.wheel(0, pixels);
    };
    const height = "document.querySelectorAll('.apl-grid regular-table')[4].scrollHeight";
    await soon(() => page.evaluate(height)).toBe(10_000_000);
    await turn(49);
    await soon(firstRow).toBe('21');
    await turn(-24);
    await soon(firstRow).toBe('11');
  });

  test('gets rows that it requested when the connection broke, once it is back', async () => {
    await page.evaluate(loseNext);
    // Rows of a single request: the page would log an error for a second one on a broken connection.
    await scrollTo(366_000);
    await soon(() => column('n')).toContain('15,252');
    await scrollTo(0);
    await soon(async () => (await column('n'))[0]).toBe('1');
  });

  test('shows the last of two states of an output, even if the first takes longer', async () => {
    const shown = async () => [
      await cells.at(5).locator('.apl-grid-still').count(),
      await cells.at(5).locator('regular-table').count(),
    ];
    expect(await shown()).toEqual([0, 1]);
    const again = await drawTwice(page, {
      ...{ cell: 5, mime: 'application/vnd.apache.arrow.stream', first: '' },
      second: "output.data['text/html'] = '<table class=apl-across><tr><td>1</td></tr></table>'",
    });
    await soon(shown).toEqual([1, 0]);
    await again();
    await soon(shown).toEqual([0, 1]);
  });

  test('opens the row that was clicked, even if other rows have arrived by then', async () => {
    const clicked = await grid(4).locator('tbody td').nth(1).textContent();
    await grid(4).getByRole('searchbox').fill('8');
    await page.waitForFunction(menuOnceBusy);
    await soon(() => status(4).textContent()).toBe('468,559 of 1,000,000 rows match.');
    await page.getByRole('button', { name: 'Show every field of the row' }).click();
    const details = grid(4).locator('.apl-grid-details');
    await soon(() => details.locator('dl').textContent()).toBe(`n${clicked}`);
    await details.getByRole('button', { name: 'Close the row' }).click();
    await grid(4).getByRole('searchbox').fill('');
    await soon(() => status(4).textContent()).toBe('');
  });

  test('lets go of its rows in the kernel if it is removed while loading, or cannot load them', async () => {
    const count = () => page.evaluate<number>(openResults);
    const before = await count();
    const [place, output] = await page.evaluate<[number, object]>(`(() => {
      const all = ${outputsOf(5)}.toJSON();
      const place = all.findIndex(({ data }) => data !== undefined && '${ARROW_MIME}' in data);
      return [place, all[place]];
    })()`);
    const show = () => page.evaluate(`${outputsOf(5)}.set(${place}, ${JSON.stringify(output)})`);
    await page.evaluate(onNextPage('limit.set([53, 46, 53], 8)'));
    await show();
    await soon(() => cells.at(5).locator('.apl-grid-status').textContent()).toBe('');
    await soon(count).toBe(before - 1);
    await show();
    await soon(count).toBe(before);
    await page.evaluate(onNextPage(`${outputsOf(5)}.clear()`));
    await show();
    await soon(() => cells.at(5).locator('.apl-grid').count()).toBe(0);
    await soon(count).toBe(before - 1);
    await page.evaluate(`${outputsOf(5)}.add(${JSON.stringify(output)})`);
    await soon(count).toBe(before);
  });

  test('is collected once its output is gone, also if a menu was opened from it', async () => {
    await grid(5).getByRole('button', { name: 'Columns' }).click();
    await page.locator('.apl-popover').waitFor();
    await page.keyboard.press('Escape');
    // The page retains what was last clicked and focused.
    await cells.enter(4);
    const output = await page.evaluate<object>(`(() => {
      const outputs = ${outputsOf(5)};
      const [output] = outputs.toJSON();
      window.gone = new WeakRef(document.querySelectorAll('.apl-grid')[5]);
      outputs.clear();
      return output;
    })()`);
    const session = await page.context().newCDPSession(page);
    await soon(async () => {
      await session.send('HeapProfiler.collectGarbage');
      return page.evaluate('window.gone.deref() === undefined');
    }).toBe(true);
    await session.detach();
    await page.evaluate(`${outputsOf(5)}.add(${JSON.stringify(output)})`);
    await grid(7).waitFor();
  });

  test('cancels a search superseded by a sort, and shows no status of it', async () => {
    await page.evaluate(watchCanceled);
    await grid(4).getByRole('searchbox').fill('7');
    await page.waitForFunction(sortOnceBusy);
    await soon(() => status(4).textContent()).toBe('468,559 of 1,000,000 rows match.');
    expect(await page.evaluate('window.canceled')).toBe(1);
    expect(await page.evaluate('window.statuses')).toEqual(['468,559 of 1,000,000 rows match.']);
  });

  test('keeps the rows of the notebook if its kernel is killed, and gets all rows from a rerun', async () => {
    await killKernels(session.lab);
    await soon(() => status().textContent()).toMatch(
      /as saved in the notebook; run the cell again to see all\.$/,
    );
    await page.locator('.jp-Dialog').getByRole('button').first().click();
    await page
      .locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
      .waitFor({ state: 'attached', timeout: 60_000 });
    await kernelReady(page);
    await cells.write(0, numbers);
    await cells.run(0);
    const own = cells.at(0).locator('.apl-grid-status');
    await own.waitFor({ state: 'attached', timeout: 60_000 });
    await soon(scrollHeight).toBeGreaterThan(400_000);
    await soon(() => own.textContent()).toBe('');
  });

  test('shows the saved rows and says so if the kernel is shut down, and keeps the notebook small', async () => {
    await page.locator('.lm-MenuBar-itemLabel', { hasText: /^Kernel$/ }).click();
    await page.locator('.lm-Menu-itemLabel', { hasText: /^Shut Down Kernel$/ }).click();
    await soon(() => status().textContent()).toMatch(
      /^The first [\d,]+ of 20,000 rows, as saved in the notebook; run the cell again to see all\./,
    );
    expect((await column('n'))[0]).toBe('1');
    await soon(() => grid(2).locator('.apl-grid-status').textContent()).toMatch(
      /^The first \d{3} of 1,000 columns, as saved in the notebook; run the cell again to see all\.$/,
    );
    expect(readFileSync(join(session.lab.notebookDir, 'grid.ipynb')).length).toBeLessThan(640_000);
    expect(session.complaints).toEqual([]);
  });
});

/** Whether no cell's text runs into the next cell. */
const cellsKeepWithin = `[...document.querySelectorAll('.apl-grid regular-table :is(td, th)')].every(
  cell => cell.scrollWidth <= cell.clientWidth || getComputedStyle(cell).overflowX === 'hidden',
)`;

/** Counts from now on how often a toolbar item is hidden or shown; each change lays out the whole toolbar. */
const watchToolbar = `(() => {
  window.toolbarChanges = 0;
  const watch = new MutationObserver(changes => { window.toolbarChanges += changes.length; });
  for (const item of document.querySelectorAll('.apl-toolbar-item')) watch.observe(item, { attributeFilter: ['class'] });
})()`;

/** Measures the space of the nth grid beside its columns and below its rows, and the width and height of its scroll bars. */
const roomOf = (index: number) => `(() => {
  const table = document.querySelectorAll('.apl-grid regular-table')[${index}];
  const { offsetWidth: width, offsetHeight: height } = table.parentElement;
  const sum = (selector, size) =>
    [...table.querySelectorAll(selector)].reduce((all, each) => all + each[size], 0);
  const bars = [table.offsetWidth - table.clientWidth, table.offsetHeight - table.clientHeight];
  const rows = Math.min(sum('tbody tr', 'offsetHeight'), 14 * 24);
  return {
    beside: width - Math.ceil(table.querySelector('table').getBoundingClientRect().width) - bars[0],
    below: height - sum('thead', 'offsetHeight') - rows - bars[1],
    bars,
  };
})()`;

/** Measures the width of the nth grid's columns. */
const widthOf = (index: number) =>
  `document.querySelectorAll('.apl-grid regular-table')[${index}].querySelector('table').offsetWidth`;

/** Text of the first value in the last row of the first grid, empty unless that cell is fully visible. */
const lastInSight = `(() => {
  const table = document.querySelector('.apl-grid regular-table');
  const cell = [...table.querySelectorAll('tbody tr')].at(-1).querySelector('td');
  const { left, top, bottom } = cell.getBoundingClientRect();
  const isSeen = [top + 2, bottom - 2].every(y => cell.contains(document.elementFromPoint(left + 4, y)));
  return isSeen ? cell.textContent : '';
})()`;

/** Counts from now on the requests that the kernel cancels, and records each status of the grid of many rows. */
const watchCanceled = `(() => {
  window.canceled = 0;
  window.statuses = [];
  const status = document.querySelectorAll('.apl-grid')[4].querySelector('.apl-grid-status');
  new MutationObserver(() => window.statuses.push(status.textContent)).observe(status, { childList: true });
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (...given) {
    WebSocket.prototype.send = send;
    this.addEventListener('message', ({ data }) => {
      const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
      if (text.includes('the request was canceled')) window.canceled += 1;
    });
    return send.apply(this, given);
  };
})()`;

/** Sorts the grid of many rows while it waits for its kernel. */
const sortOnceBusy = `(() => {
  const grid = document.querySelectorAll('.apl-grid')[4];
  if (!grid.classList.contains('apl-grid-busy')) return false;
  grid.querySelector('thead th:has(small) > span').dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
  return true;
})()`;

/** Opens the menu of the value in the second row of the grid of many rows, while that waits for its kernel. */
const menuOnceBusy = `(() => {
  const grid = document.querySelectorAll('.apl-grid')[4];
  if (!grid.classList.contains('apl-grid-busy')) return false;
  const cell = grid.querySelectorAll('tbody td')[1];
  cell.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, button: 2 }));
  return true;
})()`;

/** Runs JavaScript right before the next request of rows is sent, whose limit is in the bytes `limit`. */
const onNextPage = (act: string) => `(() => {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    const text = typeof data === 'string' ? data : new TextDecoder('latin1').decode(data);
    const place = text.indexOf('"limit":500');
    if (place < 0) return send.call(this, data);
    WebSocket.prototype.send = send;
    const limit = new Uint8Array(data, place, '"limit":500'.length);
    ${act};
    return send.call(this, data);
  };
})()`;

/** Loses the page's next message, and the connection with it. */
const loseNext = `(() => {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function () {
    WebSocket.prototype.send = send;
    this.close();
  };
})()`;

/** Scrolls far down the first grid and right-clicks a cell of its first column as soon as one is drawn there. */
const clickEarly = `(async () => {
  const table = document.querySelector('.apl-grid regular-table');
  const seen = table.querySelector('tbody td').textContent;
  table.scrollTo(0, table.scrollHeight * 0.7);
  const cell = () => table.querySelector('tbody td');
  while (cell().textContent === seen) await new Promise(done => requestAnimationFrame(done));
  cell().dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, button: 2 }));
})()`;

/** Whether every corner of the open popover is visible: neither outside the window nor clipped by a container. */
const isWhole = `(() => {
  const popover = document.querySelector('.apl-popover');
  const { left, right, top, bottom } = popover.getBoundingClientRect();
  return [[left, top], [right, top], [left, bottom], [right, bottom]].every(([x, y]) => {
    const [dx, dy] = [x === left ? 4 : -4, y === top ? 4 : -4];
    return popover.contains(document.elementFromPoint(x + dx, y + dy));
  });
})()`;

/** Returns how many pixels of a first-row cell's text lie under the button of the selected value. */
function coveredBy(place: number): string {
  return `(() => {
    const grid = document.querySelector('.apl-grid');
    const text = document.createRange();
    text.selectNodeContents(grid.querySelector('tbody tr td:nth-of-type(${place})'));
    const { left } = grid.querySelector('.apl-grid-chevron').getBoundingClientRect();
    return Math.max(0, Math.round(text.getBoundingClientRect().right - left));
  })()`;
}
