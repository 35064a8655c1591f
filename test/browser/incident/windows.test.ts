import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { FRONT_ENDS } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { frameOf, pictureOf } from '../page/pictures.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const sources = [
  '%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  "['sample-http-logs'] | summarize count() by bin(_time, 5m)",
  '%star "kept"\n[\'sample-http-logs\'] | count',
];

describe.each(FRONT_ENDS)('the window of a notebook in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'windows.ipynb': notebookOf(sources) },
      file: 'windows.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await pictureOf(page, 0).waitFor({ timeout: 60_000 });
  });

  afterAll(() => session?.stop());

  const button = (name: string) => page.locator('.apl-toolbar-move', { hasText: name });

  test('moves to the one before, and what only asks runs again', async () => {
    const [asked, kept] = [await cells.prompt(1), await cells.prompt(2)];
    await button('\u2039').click();
    await soon(() => cells.output(1)).toContain('2026-01-26T09:00:00Z to 2026-01-26T10:00:00Z');
    expect(await cells.source(0)).toBe('%time 2026-01-26T09:00:00Z..2026-01-26T10:00:00Z');
    expect(await cells.prompt(1)).not.toBe(asked);
    expect(await cells.prompt(2)).toBe(kept);
  });

  test('moves to the next one and doubles by keys, in the picker', async () => {
    await page.locator('.jp-InputPrompt').first().click();
    await page.keyboard.press('Alt+Shift+T');
    const picker = page.getByRole('dialog', { name: 'Time range' });
    expect(await findings(page, ['.apl-popover'])).toEqual([]);
    await picker.getByText('Zoom out').press('Enter');
    await soon(() => cells.output(1)).toContain('2026-01-26T08:30:00Z to 2026-01-26T10:30:00Z');
    await page.keyboard.press('Escape');
    await button('\u203a').press('Enter');
    await soon(() => cells.output(1)).toContain('2026-01-26T10:30:00Z to 2026-01-26T12:30:00Z');
  });

  test('a stretch over bins holds them whole, and runs the cells in the same press', async () => {
    const before = await cells.source(0);
    await pictureOf(page, 0).scrollIntoViewIfNeeded();
    const box = await pictureOf(page, 0).boundingBox();
    if (box === null) throw new Error('the chart is not on the page');
    await page.mouse.move(box.x + box.width * 0.4, box.y + 90);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 90, { steps: 4 });
    await page.mouse.up();
    await frameOf(page, 0).locator('.apl-chart-bar').getByText('Set range and run').click();
    await soon(() => cells.source(0)).not.toBe(before);
    expect(await cells.source(0)).toMatch(
      /^%time 2026-01-26T1[012]:[0-5][05]:00Z\.\.2026-01-26T1[012]:[0-5][05]:00Z$/,
    );
    const [, start = '', end = ''] = /^%time (\S+)\.\.(\S+)$/.exec(await cells.source(0)) ?? [];
    await soon(() => cells.output(1)).toContain(`${start} to ${end}`);
  });

  test('a choice that fails after its picker was closed says so', async () => {
    const before = await cells.source(0);
    await page.locator('.apl-toolbar-range').click();
    const picker = page.getByRole('dialog', { name: 'Time range' });
    await picker.getByLabel('Any range that %time takes').fill('last 90 moons');
    // In one task of the page: the kernel answers afterwards, however quick it is.
    await page.evaluate(`(() => {
      document.querySelector('.apl-popover form button').click();
      document.querySelector('.jp-InputPrompt').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    })()`);
    await soon(() => page.locator('.Toastify__toast').allInnerTexts()).toContainEqual(
      expect.stringContaining('90 moons'),
    );
    expect(await picker.count()).toBe(0);
    expect(await cells.source(0)).toBe(before);
  });

  test('runs again by hand, and from time to time once that is chosen', async () => {
    const first = await cells.prompt(1);
    await page.locator('.apl-toolbar-refresh').click();
    await soon(() => cells.prompt(1)).not.toBe(first);
    await soon(() => cells.prompt(1)).toMatch(/\[\d+\]/);
    const second = await cells.prompt(1);
    await page.locator('.apl-toolbar-range').click();
    await page
      .getByRole('dialog', { name: 'Time range' })
      .getByLabel('Refresh', { exact: true })
      .selectOption('10');
    await page.keyboard.press('Escape');
    await soon(() => page.locator('.apl-toolbar-refresh').innerText()).toBe('\u21bb 10s');
    await soon(() => cells.prompt(1)).not.toBe(second);
  });
});
