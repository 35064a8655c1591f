import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { soon } from '../page/soon.js';
import { frameOf, svgOf } from '../page/svg.js';
import { openSession, type Session } from '../session.js';

const sources = [
  '%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  "['sample-http-logs'] | summarize count() by bin(_time, 5m)",
  '%star "kept"\n[\'sample-http-logs\'] | count',
  "// @beside\n// By status\n['sample-http-logs'] | summarize count() by status\n\n['sample-http-logs'] | take 3",
];

describe.each(usually(NEWEST_LAB))('the window of a notebook in $name', frontEnd => {
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
    await svgOf(page, 0).waitFor({ timeout: 60_000 });
  });

  afterAll(() => session?.stop());

  const button = (name: string) => page.locator('.apl-toolbar-move', { hasText: name });

  test('moves to the previous one, and reruns only cells that just query', async () => {
    const [asked, kept] = [await cells.prompt(1), await cells.prompt(2)];
    await button('\u2039').click();
    await soon(() => cells.output(1)).toContain('2026-01-26T09:00:00Z to 2026-01-26T10:00:00Z');
    expect(await cells.source(0)).toBe('%time 2026-01-26T09:00:00Z..2026-01-26T10:00:00Z');
    expect(await cells.prompt(1)).not.toBe(asked);
    expect(await cells.prompt(2)).toBe(kept);
  });

  test('a click opens the picker even if a cell ends during it', async () => {
    await page.locator('.apl-toolbar-range').hover();
    const before = await cells.prompt(1);
    await page.mouse.down();
    await page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')");
    await soon(() => cells.prompt(1)).not.toBe(before);
    await soon(() => cells.prompt(3)).toMatch(/\[\d+\]/);
    await page.mouse.up();
    await page.getByRole('dialog', { name: 'Time range' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('doubles in the picker and moves to the next one, by keyboard', async () => {
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

  test('a selection over bins covers whole bins, and runs the cells at once', async () => {
    const before = await cells.source(0);
    await svgOf(page, 0).scrollIntoViewIfNeeded();
    const box = await svgOf(page, 0).boundingBox();
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

  test('a choice that fails after its picker was closed is reported', async () => {
    const before = await cells.source(0);
    await page.locator('.apl-toolbar-range').click();
    const picker = page.getByRole('dialog', { name: 'Time range' });
    await picker.getByLabel('Any range that %time accepts').fill('last 90 moons');
    // In one task of the page, so that even a quick kernel answers afterwards.
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

  test('cells rerun on request, and at an interval once one is chosen', async () => {
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

  test('two results stand side by side if there is room, else one below the other', async () => {
    await page.locator('.apl-toolbar-range').click();
    await page
      .getByRole('dialog', { name: 'Time range' })
      .getByLabel('Refresh', { exact: true })
      .selectOption('0');
    await page.keyboard.press('Escape');
    await soon(() => page.locator('.apl-toolbar-refresh').innerText()).toBe('\u21bb');
    await soon(() => cells.prompt(3)).toMatch(/\[\d+\]/);
    const chart = cells.at(3).locator('.apl-chart');
    const tables = cells.at(3).locator('.apl-grid-output');
    const lefts = async () =>
      (await Promise.all([chart, tables.first(), tables.last()].map(each => each.boundingBox()))).map(
        box => box?.x,
      );
    await tables.last().scrollIntoViewIfNeeded();
    await page.setViewportSize({ width: 1500, height: 900 });
    await soon(async () => {
      const [first, below, beside] = await lefts();
      return first === below && Number(beside) > Number(first) + 300;
    }).toBe(true);
    await page.setViewportSize({ width: 760, height: 900 });
    await soon(async () => new Set(await lefts()).size).toBe(1);
    await page.setViewportSize({ width: 1200, height: 900 });
  });

  const dashboard = () => page.locator('.apl-dashboard-view');
  /** Presses the report button in a view's toolbar, opening the overflow menu if it is folded away. */
  const pressReport = async (view: Locator) => {
    const opener = view.locator('.jp-Toolbar-responsive-opener');
    const isFolded = !(await view.locator('.apl-toolbar-report').isVisible());
    if (isFolded) await opener.click();
    await page.locator('.apl-toolbar-report:visible').last().click();
    if (isFolded) await opener.click();
  };
  const tile = (name: string) => dashboard().getByRole('region', { name, exact: true });
  const opener = () => page.locator('.apl-toolbar-item:not(.lm-mod-hidden) > .apl-toolbar-dashboard');
  const first = sources[1] ?? '';

  test('cells are pinned to the dashboard by a key and by their toolbars', async () => {
    await cells.at(3).locator('.jp-InputPrompt').click();
    const pin = cells.at(3).locator('[data-jp-item-name="apl-pin"]');
    await pin.getByText('Pin').click();
    // The dashboard takes half the width: narrow cells and toolbars fold away whatever does not fit.
    await soon(() => pin.locator('.jp-mod-toggled, [aria-pressed="true"]').count()).toBeGreaterThan(0);
    await soon(() => opener().count()).toBe(1);
    await cells.at(1).locator('.jp-InputPrompt').click();
    await page.keyboard.press('Alt+Shift+O');
    if (frontEnd.app === 'notebooks')
      await soon(() => page.locator('.Toastify__toast').allInnerTexts()).toContainEqual(
        expect.stringContaining('this front end shows one document at a time.'),
      );
    else await tile(first).locator('.apl-chart-svg > svg').waitFor();
    await page.keyboard.press('Control+s');
  });

  if (frontEnd.app === 'lab/tree') {
    test('the dashboard moves the range of the notebook and runs only pinned cells', async () => {
      await tile('By status').locator('.apl-grid-heading').first().waitFor();
      // Excludes the overflow menu, which is JupyterLab's own.
      expect(await findings(page, ['.apl-dashboard', '.apl-dashboard-view .apl-toolbar-item'])).toEqual([]);
      const before = await Promise.all([1, 2, 3].map(cells.prompt));
      await cells.at(0).locator('.jp-InputPrompt').click();
      const { start, end } = await windowOf(cells);
      await dashboard().locator('.apl-toolbar-move', { hasText: '\u2039' }).click();
      const moved = `${new Date(start - (end - start)).toISOString().slice(0, 19)}Z`;
      await soon(() => cells.source(0)).toContain(`%time ${moved}`);
      await soon(() => tile(first).locator('.apl-grid-heading').textContent()).toContain(moved);
      await soon(() => tile('By status').locator('.apl-grid-heading').last().textContent()).toContain(moved);
      const after = await Promise.all([1, 2, 3].map(cells.prompt));
      expect(after.map((each, place) => each === before[place])).toEqual([false, true, false]);
    });

    test('the dashboard works by keyboard', async () => {
      await page.locator('.jp-InputPrompt').first().click();
      await page.keyboard.press('Alt+Shift+B');
      await page.keyboard.press('Alt+Shift+T');
      const picker = page.getByRole('dialog', { name: 'Time range' });
      await picker.getByLabel('Any range that %time accepts').fill('2026-01-26T15:00Z..2026-01-26T15:30Z');
      await page.keyboard.press('Enter');
      await soon(() => tile(first).locator('.apl-grid-heading').textContent()).toContain('T15:00:00Z');
      expect(await tile(first).locator('.apl-grid-frame').isVisible()).toBe(false);
      await tile(first).getByRole('button', { name: 'Show the rows below the chart' }).press('Enter');
      await tile(first).locator('.apl-grid-frame').waitFor();
      await soon(() => tile('By status').locator('.apl-grid-heading').last().textContent()).toContain(
        'T15:00:00Z',
      );
      await soon(() => cells.prompt(3)).toMatch(/\[\d+\]/);
      const before = await Promise.all([1, 3].map(cells.prompt));
      await page.keyboard.press('Alt+Shift+E');
      // Both have ended: a cell that is still running is saved without its outputs.
      for (const [place, cell] of [1, 3].entries()) {
        await soon(() => cells.prompt(cell)).not.toBe(before[place]);
        await soon(() => cells.prompt(cell)).toMatch(/\[\d+\]/);
      }
    });

    test('the report is saved from the dashboard by key and button, and from the notebook beside it', async () => {
      const named = async (act: () => Promise<unknown>) => {
        const [download] = await Promise.all([page.waitForEvent('download'), act()]);
        return download.suggestedFilename();
      };
      await tile(first).getByRole('button', { name: 'Use the full width' }).focus();
      expect(await named(() => page.keyboard.press('Alt+Shift+R'))).toBe('windows.html');
      expect(await named(() => pressReport(dashboard()))).toBe('windows.html');
      expect(await named(() => pressReport(page.locator('.jp-NotebookPanel')))).toBe('windows.html');
    });

    test('tiles are reordered by keys and by pointer', async () => {
      const order = () => dashboard().locator('.apl-tile-title').allTextContents();
      const handle = (name: string) => tile(name).getByRole('button', { name: 'Move: drag, or press' });
      expect(await order()).toEqual([first, 'By status']);
      await handle('By status').press('ArrowUp');
      await soon(order).toEqual(['By status', first]);
      // The focus follows the tile, so that it can be moved again.
      await page.keyboard.press('End');
      await soon(order).toEqual([first, 'By status']);
      const drag = async (name: string, over: string, share: number) => {
        const from = await handle(name).boundingBox();
        const to = await tile(over).boundingBox();
        if (from === null || to === null) throw new Error('a tile is out of view');
        await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
        await page.mouse.down();
        await page.mouse.move(to.x + to.width / 2, to.y + to.height * share, { steps: 4 });
        await dashboard().locator('.apl-tile-row').waitFor();
      };
      await handle('By status').scrollIntoViewIfNeeded();
      await drag('By status', first, 0.1);
      await page.keyboard.press('Escape');
      await page.mouse.up();
      expect(await order()).toEqual([first, 'By status']);
      await handle(first).scrollIntoViewIfNeeded();
      await drag(first, 'By status', 0.9);
      await page.mouse.up();
      await soon(order).toEqual(['By status', first]);
    });

    test('the dashboard is restored on reload, and the notebook saves its pins', async () => {
      await page.locator('.jp-InputPrompt').first().click();
      await page.keyboard.press('Control+s');
      await soon(() => savedPins(session)).toEqual([
        undefined,
        { table: true, place: 1 },
        undefined,
        { place: 0 },
      ]);
      // JupyterLab saves the layout of views some time after it has changed.
      await soon(() => page.evaluate(placesOfViews)).toContain('apl-dashboards:windows.ipynb');
      await page.reload();
      await tile(first).locator('.apl-grid-frame').waitFor({ timeout: 60_000 });
      // JupyterLab focuses a document once all of them are restored.
      await page.evaluate('jupyterapp.restored.then(() => undefined)');
      await soon(() => page.locator('.jp-Notebook-ExecutionIndicator').getAttribute('data-status')).toBe(
        'idle',
      );
      expect(await dashboard().locator('.apl-tile-title').first().textContent()).toBe('By status');
      // By pointer: JupyterLab may still move the focus.
      await tile('By status').getByRole('button', { name: 'Unpin from the dashboard' }).click();
      await tile('By status').waitFor({ state: 'detached' });
      await tile(first).getByRole('button', { name: 'Unpin from the dashboard' }).click();
      await dashboard().getByText('No pinned cells.').waitFor();
      await soon(() => opener().count()).toBe(0);
    });
  }
});

/** Reads the layout that JupyterLab has saved for restoring the page. */
const placesOfViews =
  "jupyterapp.serviceManager.workspaces.list().then(({ values }) => JSON.stringify(values.map(({ data }) => data['layout-restorer:data'])))";

/** Returns the time range on the notebook's first line, in milliseconds since 1970. */
async function windowOf(cells: Cells): Promise<{ readonly start: number; readonly end: number }> {
  const [, start = '', end = ''] = /^%time (\S+)\.\.(\S+)$/.exec(await cells.source(0)) ?? [];
  return { start: Date.parse(start), end: Date.parse(end) };
}

/** Returns the dashboard entries that the notebook file stores for each cell and for the notebook. */
function savedPins({ lab }: Session): readonly unknown[] {
  const text = readFileSync(join(lab.notebookDir, 'windows.ipynb'), 'utf8');
  const saved = JSON.parse(text) as {
    readonly cells: readonly { readonly metadata: { readonly apl?: { readonly dashboard?: unknown } } }[];
  };
  return saved.cells.slice(0, sources.length).map(({ metadata }) => metadata.apl?.dashboard);
}
