import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { LAB_42, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { type SidePanel, sidePanelOf } from '../page/side-panel.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const query = "['sample-http-logs'] | summarize n = count() by status";
const sources = [query, 'errs << print x = 1'];

describe.each(usually(LAB_42))('starring and the panel by keyboard only, in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;
  let panel: SidePanel;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'keys.ipynb': notebookOf(sources) },
      file: 'keys.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    panel = sidePanelOf(page);
    await runEach(page);
  });

  afterAll(() => session?.stop());

  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  const active = () =>
    page.evaluate<string>(
      "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.apl-tree-label').textContent ?? ''",
    );
  const status = () => page.locator('.apl-panel-status').textContent();
  const source = () => cells.at(0).locator('.cm-line').allTextContents();

  /** Focuses the list of the panel and moves down to a row. */
  const choose = async (label: string) => {
    await press('Alt+Shift+P', 'Tab', 'Home');
    for (let rows = 0; rows < 60 && (await active()) !== label; rows += 1) await press('ArrowDown');
    expect(await active()).toBe(label);
  };
  /** Tabs from the list to an action of the selected row and activates it. */
  const act = async (name: string) => {
    for (let stops = 0; stops < 8 && (await focused()) !== name; stops += 1) await press('Tab');
    expect(await focused()).toBe(name);
    await press('Enter');
  };
  /** Confirms a dialog, which opens with the focus on Cancel. */
  const agree = async (answer: string) => {
    await soon(focused).toBe('Cancel');
    await press('Tab');
    expect(await focused()).toBe(answer);
    await press('Enter');
  };
  /** Enters a cell and pauses as a person would: JupyterLab 4.2 focuses it again a few frames later. */
  const intoCell = async (index: number) => {
    await cells.enter(index);
    await page.waitForTimeout(300);
  };
  /**
   * Returns to the notebook and enters a cell. Cells are changed by the pointer: after arrow keys JupyterLab 4.2 focuses the cell late,
   * even if a faster key has opened something in the meantime.
   */
  const toCell = async (index: number) => {
    await press('Escape');
    await soon(() => page.evaluate("document.activeElement.closest('.jp-Notebook') !== null")).toBe(true);
    await intoCell(index);
  };

  test('stars the query at the cursor', async () => {
    await intoCell(0);
    await press('Alt+Shift+S');
    await soon(() => page.evaluate("document.activeElement.matches('.jp-Dialog input')")).toBe(true);
    await press('Control+a');
    await page.keyboard.insertText('By status');
    await press('Enter');
    await page.getByText('Starred as').first().waitFor();
  });

  test('finds a value below its dataset and field, and inserts it at the cursor', async () => {
    await press('Alt+Shift+P');
    await soon(() => panel.labels('dataset')).toContain('sample-http-logs');
    await choose('sample-http-logs');
    await press('ArrowRight');
    await soon(() => panel.labels('field')).toContain('method');
    await choose('method');
    await press('ArrowRight');
    await soon(() => panel.labels('value')).toContain('GET');
    await choose('GET');
    await toCell(0);
    await press('Control+End');
    await page.keyboard.insertText(' | where status != ');
    await press('Alt+Shift+P', 'Tab');
    expect(await active()).toBe('GET');
    await press('Enter');
    await soon(async () => (await source()).join('\n')).toBe(`${query} | where status != "GET"`);
    await press('Control+a');
    await page.keyboard.insertText(query);
    await choose('sample-http-logs');
    await press('ArrowLeft');
    await soon(() => panel.labels('field')).toEqual([]);
  });

  test('opens, runs, updates and deletes a starred query without losing the focus', async () => {
    await choose('Starred queries');
    await press('Enter');
    await soon(() => panel.labels('star')).toEqual(['By status']);
    await press('ArrowDown');
    await act('Open as cell');
    await soon(() => cells.source(1)).toBe(`%%time now-1h..now\n${query}`);
    await act('Run');
    await soon(() => cells.source(2)).toMatch(/^%run "star:\w+"$/);
    await soon(() => cells.output(2)).toContain('last 1h');
    await soon(() => cells.prompt(2)).toMatch(/\[\d+\]/);
    await toCell(1);
    await press('Control+a');
    await page.keyboard.insertText("['sample-http-logs'] | count");
    await choose('By status');
    await act('Update from cell\u2026');
    await agree('Update');
    await soon(status).toMatch(/^Updated the starred query /);
    await soon(() => panel.details().locator('pre').textContent()).toBe("['sample-http-logs'] | count");
    await soon(focused).toBe('Update from cell\u2026');
    await act('Delete\u2026');
    await agree('Delete');
    await soon(() => panel.labels('star')).toEqual([]);
    await soon(active).toBe('None yet.');
    await press('ArrowUp', 'Enter');
  });

  test('drops a result', async () => {
    await choose('errs');
    await act('Drop\u2026');
    await agree('Drop');
    await soon(() => panel.labels('result')).not.toContain('errs');
    await soon(() => page.evaluate("document.activeElement.getAttribute('role')")).toBe('tree');
  });

  test('reruns a query of the history, and Escape returns to a cell', async () => {
    await choose('History');
    await press('Enter');
    await soon(() => panel.rows('history').count()).toBeGreaterThan(2);
    await press('ArrowDown');
    const before = await page.locator('.jp-CodeCell').count();
    await act('Run again');
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(before + 1);
    await press('Escape');
    await soon(() => page.evaluate("document.activeElement.closest('.jp-CodeCell') !== null")).toBe(true);
    expect(session.complaints).toEqual([]);
  });
});
