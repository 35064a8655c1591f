import { readFileSync } from 'node:fs';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, usually } from '../lab.js';
import { clickIn } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { soon } from '../page/soon.js';
import { frameOf, svgOf } from '../page/svg.js';
import { openSession, type Session } from '../session.js';

const sources = [
  '%use local\n%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  "['sample-http-logs'] | summarize count() by bin(_time, 5m), status",
  'print n = 9223372036854775807, name = "<img src=x onerror=window.hit=1>"',
  "%compare -1w\n['sample-http-logs'] | summarize requests = count(), slowest = max(req_duration_ms)",
];

describe.each(usually(NEWEST_LAB))('handing over a finding in $name', frontEnd => {
  let session: Session;
  let page: Page;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'incident.ipynb': notebookOf(sources) },
      file: 'incident.ipynb',
    });
    ({ page } = session);
    await session.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await runEach(page);
    await svgOf(page, 0).waitFor({ timeout: 60_000 });
  });

  afterAll(() => session?.stop());

  test('Report saves a page with results and folded queries, without setup output', async () => {
    const download = await saved(() => page.locator('.apl-toolbar-report').click());
    expect(download.suggestedFilename()).toBe('incident.html');
    const html = await textOf(download);
    expect([html.includes('Using local'), html.includes('>local</dd>')]).toEqual([false, true]);
    expect(html.match(/<details class="code">/g)?.length).toBe(3);
    expect(html).not.toMatch(/<script/i);
  });

  test('the notification offers the page with queries shown', async () => {
    const button = page.locator('.Toastify').getByText('Show queries').last();
    const html = await textOf(await saved(() => button.click()));
    expect(html).toContain('<div class="source">');
    expect(html).not.toContain('<details class="code">');
  });

  test('tables of the page link to their data, and axe finds nothing', async () => {
    const report = await session.context.newPage();
    const html = await textOf(await saved(() => page.keyboard.press('Alt+Shift+R'), true));
    await report.setContent(html);
    expect(await findings(report, ['main'])).toEqual([]);
    const waiting = report.waitForEvent('download');
    await report.getByText('Data as CSV').nth(1).click();
    expect(await textOf(await waiting)).toBe(
      'n,name\n9223372036854775807,<img src=x onerror=window.hit=1>\n',
    );
    expect(await report.evaluate('window.hit')).toBe(undefined);
    // A chart wider than the screen scrolls on its own.
    await report.setViewportSize({ width: 500, height: 900 });
    expect((await report.locator('.output img').first().boundingBox())?.width).toBe(640);
    expect(await report.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await report.close();
  });

  test('a one-row comparison has a line for each figure', async () => {
    const lines = page.locator('.apl-grid-still tr');
    expect((await lines.allTextContents()).map(line => line.replace(/[\d.,-]+.*/, ''))).toEqual([
      'nowbeforechangepercent',
      'requests',
      'slowest',
    ]);
    expect(await findings(page, ['.apl-grid-still'])).toEqual([]);
  });

  test('a chart is copied as an image, and its menu closes on Escape and outside clicks', async () => {
    const menu = frameOf(page, 0).locator('.apl-chart-menu');
    await svgOf(page, 0).hover();
    await menu.locator('summary').click();
    await menu.getByText('Copy image').click();
    await soon(() => menu.getByRole('status').innerText()).toBe('Copied.');
    expect(await page.evaluate(SIZE_OF_COPIED)).toBeGreaterThan(5_000);
    await page.keyboard.press('Escape');
    await soon(() => menu.getAttribute('open')).toBe(null);
    await page.keyboard.press('Enter');
    await soon(() => menu.getAttribute('open')).toBe('');
    await clickIn(page.locator('.jp-CodeCell .cm-content').first());
    await soon(() => menu.getAttribute('open')).toBe(null);
  });

  /** Returns the file that the browser downloads after `act`; with `byKeys`, focuses the notebook first. */
  async function saved(act: () => Promise<unknown>, byKeys = false): Promise<Download> {
    if (byKeys) await page.locator('.jp-InputPrompt').first().click();
    const waiting = page.waitForEvent('download');
    await act();
    return waiting;
  }
});

const SIZE_OF_COPIED =
  "navigator.clipboard.read().then(([item]) => item.getType('image/png')).then(blob => blob.size)";

async function textOf(download: Download): Promise<string> {
  return readFileSync(await download.path(), 'utf8');
}
