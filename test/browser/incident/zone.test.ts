import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { soon } from '../page/soon.js';
import { svgOf } from '../page/svg.js';
import { openSession, type Session } from '../session.js';

const sources = [
  '%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  "['sample-http-logs'] | summarize count() by bin(_time, 5m)",
  "['sample-http-logs'] | summarize n = count(), p = max(req_duration_ms) by method | sort by method asc",
];

describe.each(usually(NEWEST_LAB))('the time zone of a notebook in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'zone.ipynb': notebookOf(sources) },
      file: 'zone.ipynb',
      browser: { timezoneId: 'Asia/Kolkata' },
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await svgOf(page, 0).waitFor({ timeout: 60_000 });
    await page.locator('.apl-grid').nth(1).waitFor();
  });

  afterAll(() => session?.stop());

  const zone = (name: string) => page.locator('.apl-grid').first().getByRole('button', { name });
  const heading = () => page.locator('.apl-grid-heading').first().textContent();
  const first = () => page.locator('.apl-grid tbody td').first().textContent();
  const range = () => page.locator('.apl-toolbar-range .apl-toolbar-text').textContent();
  const axis = async () => (await svgOf(page, 0).locator('text').allTextContents()).join(' ');

  test('applies to grids, headlines, charts and the toolbar, by pointer and by keys', async () => {
    await soon(axis).toContain('10:00');
    await zone('Notebook times are in UTC').click();
    await soon(first).toBe('15:30:00');
    expect(await heading()).toContain('2026-01-26T15:30:00+05:30 to 2026-01-26T16:30:00+05:30');
    await soon(range).toContain('15:30\u201316:30 UTC+05:30');
    await soon(axis).toMatch(/15:30|16:00/);
    expect(await axis()).not.toContain('10:15');
    expect(await axis()).toContain('2026-01-26, UTC+05:30');
    await zone('Notebook times are in local time').press('Enter');
    await soon(first).toBe('10:00:00');
    await soon(range).toContain('10:00\u201311:00 UTC');
    await soon(axis).toContain('10:15');
  });

  test('can be chosen in the picker, and is saved in the notebook', async () => {
    await page.locator('.apl-toolbar-range').click();
    await page.getByLabel('Time zone').selectOption('local');
    await soon(first).toBe('15:30:00');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+s');
    await soon(savedZone).toBe('local');
  });

  const savedZone = (): string | undefined => {
    const saved = JSON.parse(readFileSync(join(session.lab.notebookDir, 'zone.ipynb'), 'utf8'));
    return (saved as { readonly metadata: { readonly apl?: { readonly zone?: string } } }).metadata.apl?.zone;
  };

  test('bars follow the order of the query, below the table if there are several figures', async () => {
    const outputs = cells.at(2).locator('.jp-OutputArea-child');
    expect(await outputs.first().locator('.apl-grid').count()).toBe(1);
    const methods = await outputs.first().locator('tbody tr td:first-of-type').allTextContents();
    expect(methods).toEqual(methods.toSorted());
    const texts = await outputs.nth(1).locator('svg text').allTextContents();
    const names = texts.filter(text => methods.includes(text));
    expect(names.slice(0, methods.length)).toEqual(methods);
  });
});
