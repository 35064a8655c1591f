import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, usually } from '../lab.js';
import { type Cells, cellsOf, restartKernel } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const rows = (more: string): string =>
  `range n from 1 to 400 step 1 | extend host = strcat("host ", tostring(n % 4)), level = iff(n % 10 == 0, "error", "info"), size = n * 7 % 400${more}`;
const whole = rows('');
/** Log lines, one of them an attack. */
const log = Array.from({ length: 60 }, (_, index) =>
  JSON.stringify({
    _time: new Date(Date.UTC(2026, 10, 20, 9, 0, index)).toISOString(),
    sent: new Date(Date.UTC(2026, 10, 20, 9, 0, index, 20)).toISOString(),
    level: index % 10 === 3 ? 'error' : 'info',
    message: index === 1 ? '<img src=x onerror=window.pwned=1>\n\tat the second line' : `line ${index}`,
    host: index % 2 === 0 ? 'web-0' : null,
  }),
).join('\n');
const another = 'range n from 1 to 400 step 1 | extend host = "another", level = "info", size = n';

describe.each(usually(NEWEST_LAB))('the state of a grid in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: {
        'kept.ipynb': notebookOf([
          `${whole}\n\n${whole}`,
          another,
          '%import app.ndjson --dataset app',
          "%%time all\n['app'] | sort by _time asc",
        ]),
        'app.ndjson': log,
      },
      file: 'kept.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await grid(2).waitFor();
  });

  afterAll(() => session?.stop());

  const grid = (index: number): Locator => page.locator('.apl-grid').nth(index);
  const names = (index: number) =>
    grid(index).locator('thead th:has(small) > span:first-child').allTextContents();
  const status = (index: number) => grid(index).locator('.apl-grid-status').textContent();
  const chips = (index: number) => grid(index).locator('.apl-grid-chips button').allTextContents();
  const kept = (index: number) => grid(index).locator('.apl-grid-kept > span').allTextContents();
  const search = (index: number) => grid(index).getByRole('searchbox');
  const first = (index: number) => grid(index).locator('tbody tr').first().locator('td').allTextContents();
  const width = async (index: number, name: string) =>
    (await grid(index).locator('thead th', { hasText: name }).boundingBox())?.width;
  const menu = async (index: number, name: string, action: string) => {
    await grid(index)
      .getByRole('button', { name: `Menu of ${name}`, exact: true })
      .click();
    await page.locator('.apl-popover').getByTitle(action, { exact: true }).click();
  };
  const rerun = async (source: string) => {
    await cells.write(0, source);
    await cells.run(0);
    await grid(2).waitFor();
  };

  test('is restored when its cell runs again, and in no other grid', async () => {
    await grid(0).locator('thead th', { hasText: /^size/ }).locator('span').first().click();
    await soon(() => first(0)).toEqual(['400', 'host 0', 'error', '0']);
    await grid(0).locator('tbody td', { hasText: 'error' }).first().click({ button: 'right' });
    await page.getByRole('button', { name: /Show only rows with this/ }).click();
    await soon(() => status(0)).toBe('40 of 400 rows match.');
    await search(0).fill('host 2');
    await soon(() => status(0)).toBe('20 of 400 rows match.');
    await menu(0, 'level', 'Hide the column');
    await menu(0, 'host', 'Keep visible on the left');
    await grid(0).getByRole('button', { name: 'Menu of n', exact: true }).click();
    await page.getByRole('button', { name: 'Move right' }).click();
    await page.keyboard.press('Escape');
    await soon(() => names(0)).toEqual(['host', 'size', 'n']);
    await page.mouse.move(0, 0);
    // Two clicks in a row would be a double click, which resets the width.
    await page.waitForTimeout(600);
    const edge = await grid(0).locator('thead th', { hasText: /^size/ }).boundingBox();
    const [x, y] = [(edge?.x ?? 0) + (edge?.width ?? 0) - 2, (edge?.y ?? 0) + 10];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 100, y);
    await page.mouse.move(x + 120, y);
    await page.mouse.up();
    const wide = (edge?.width ?? 0) + 120;
    await soon(() => width(0, 'size')).toBeCloseTo(wide, 0);
    expect(await kept(0)).toEqual([]);

    await rerun(`${whole}\n\n${whole}`);
    await soon(() => status(0)).toBe('20 of 400 rows match.');
    expect(await chips(0)).toEqual(['level == error \u2715']);
    expect(await search(0).inputValue()).toBe('host 2');
    expect(await names(0)).toEqual(['host', 'size', 'n']);
    expect(await first(0)).toEqual(['10', '230']);
    await soon(() => width(0, 'size')).toBeCloseTo(wide, 0);
    expect(await kept(0)).toEqual([
      'Restored: sorted by size \u2191, 1 filter, search, 1 column hidden, 1 column pinned, columns moved, widths.',
    ]);
    for (const other of [1, 2]) {
      expect(await names(other)).toEqual(['n', 'host', 'level', 'size']);
      expect([await status(other), await chips(other), await kept(other)]).toEqual(['', [], []]);
    }
  });

  test('of a missing field is dropped, and restored along with the field', async () => {
    await rerun(`${whole} | project-away level\n\n${whole}`);
    await soon(() => status(0)).toBe('100 of 400 rows match.');
    expect(await chips(0)).toEqual([]);
    expect(await names(0)).toEqual(['host', 'size', 'n']);
    expect(await kept(0)).toEqual([
      'Restored: sorted by size \u2191, search, 1 column pinned, columns moved, widths.',
    ]);
    await rerun(`${rows(', more = 1')} | extend level = n\n\n${whole}`);
    // A string filter does not apply to a number column.
    await soon(() => status(0)).toBe('100 of 400 rows match.');
    expect(await names(0)).toEqual(['host', 'size', 'more', 'n']);
    await rerun(`${whole}\n\n${whole}`);
    await soon(() => status(0)).toBe('20 of 400 rows match.');
  });

  test('includes a search typed before the kernel answers', async () => {
    await page.evaluate(delayNext);
    await cells.run(1);
    await search(2).fill('399');
    await soon(() => status(2)).toBe('1 of 400 rows match.');
    expect(await first(2)).toEqual(['399', 'another', 'info', '399']);
  });

  test('shows raw log events as lines or as a table, with keys, search, menu and times', async () => {
    const events = cells.at(3).locator('.apl-grid');
    const lines = () => events.locator('.apl-stream-line');
    const texts = (index: number) => lines().nth(index).locator('[role=gridcell]').allTextContents();
    const said = () => events.locator('.apl-grid-status').textContent();
    await soon(() => texts(0)).toEqual(['09:00:00', 'info', 'line 0', 'host web-0']);
    expect(await events.getByRole('button', { name: 'Stream' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Stream' }).count()).toBe(1);
    expect((await texts(1))[2]).toBe('<img src=x onerror=window.pwned=1>\u21b5\u21e5at the second line');
    expect(await lines().nth(1).locator('img').count()).toBe(0);
    expect(await lines().nth(3).getAttribute('class')).toContain('apl-stream-error');
    await events.scrollIntoViewIfNeeded();
    expect(await findings(page, ['.apl-stream-frame'])).toEqual([]);
    // Beside a dashboard a notebook is narrow, but the day and the time jump are fully visible.
    await page.setViewportSize({ width: 560, height: 900 });
    await soon(() => page.evaluate(cutOff('.apl-stream-head'))).toEqual([]);
    await page.setViewportSize({ width: 1200, height: 900 });

    await events.locator('.apl-stream-lines').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await soon(() => events.locator('.apl-stream-selected').allTextContents()).toEqual([
      '<img src=x onerror=window.pwned=1>\u21b5\u21e5at the second line',
    ]);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: /Show only rows with this level/ }).press('Enter');
    await soon(said).toBe('54 of 60 rows match.');
    await events.getByLabel('Jump to time').first().fill('09:00:30');
    await page.keyboard.press('Enter');
    await soon(said).toBe('54 of 60 rows match. Row 28 of 54.');
    expect((await texts(0))[0]).toBe('09:00:30');
    await events.getByRole('searchbox').fill('line 59');
    await soon(said).toBe('1 of 60 rows match.');
    await soon(async () => (await texts(0))[2]).toBe('line 59');

    await events.getByRole('button', { name: 'Stream' }).click();
    await soon(() => events.locator('tbody tr').count()).toBe(1);
    expect(await lines().count()).toBe(0);
    await cells.run(3);
    await soon(() => events.locator('.apl-grid-kept > span').textContent()).toBe(
      'Restored: 1 filter, search, as a table.',
    );
    await events.getByRole('button', { name: 'Show the result as on a first run' }).click();
    await soon(() => lines().count()).toBeGreaterThan(10);
    expect(await said()).toBe('');
  });

  test('has no stream for aggregated events', async () => {
    await search(2).fill('');
    await cells.write(1, "%%time all\n['app'] | summarize count() by bin(_time, 10s)");
    await cells.run(1);
    const summary = cells.at(1).locator('.apl-grid');
    await soon(() => summary.locator('thead th:has(small) > span:first-child').allTextContents()).toEqual([
      '_time',
      'count_',
    ]);
    await soon(() => summary.locator('tbody tr').count()).toBe(6);
    expect(await summary.getByRole('button', { name: 'Wrap' }).count()).toBe(1);
    expect(await summary.getByRole('button', { name: 'Stream' }).count()).toBe(0);
    await cells.write(1, another);
    await cells.run(1);
    await grid(2).waitFor();
  });

  test('survives a kernel restart, and is reset by one button', async () => {
    await restartKernel(page);
    await soon(() => status(0)).toMatch(/run the cell again to see all\.$|^$/);
    await soon(() => chips(0)).toEqual([]);
    expect(await search(0).inputValue()).toBe('');
    await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ state: 'attached' });
    await rerun(`${whole}\n\n${whole}`);
    await soon(() => status(0)).toBe('20 of 400 rows match.');
    await grid(0).locator('.apl-grid-kept button').click();
    await soon(() => status(0)).toBe('');
    expect(await names(0)).toEqual(['n', 'host', 'level', 'size']);
    expect([await chips(0), await kept(0), await search(0).inputValue()]).toEqual([[], [], '']);
    await rerun(`${whole}\n\n${whole}`);
    await soon(() => first(0)).toEqual(['1', 'host 1', 'info', '7']);
    expect([await status(0), await kept(0)]).toEqual(['', []]);
    expect(session.complaints).toEqual([]);
  });
});

/** Lists the visible descendants that are cut off at one of their container's sides or narrower than their text. */
const cutOff = (
  selector: string,
) => `[...document.querySelectorAll(${JSON.stringify(selector)})].flatMap(box => {
  const { left, right } = box.getBoundingClientRect();
  return [...box.querySelectorAll('*')].filter(each => {
    const at = each.getBoundingClientRect();
    const hasNoRoom = each.tagName !== 'INPUT' && each.scrollWidth > each.clientWidth + 1;
    return each.clientWidth > 0 && (at.left < left || at.right > right + 0.5 || hasNoRoom);
  }).map(each => each.className + ': ' + each.textContent);
})`;

/** Delays the next grid's message to the kernel by two seconds. */
const delayNext = `(() => {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (...given) {
    const [data] = given;
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
    if (!text.includes('apl.results')) return send.apply(this, given);
    WebSocket.prototype.send = send;
    setTimeout(() => send.apply(this, given), 2000);
  };
})()`;
